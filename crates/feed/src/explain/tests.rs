use crate::{CheckpointModel, CheckpointNeed, Need, NeedSpec, SaveKind};

fn explained(short: &str) -> String {
    NeedSpec::parse_short(short).and_then(|spec| spec.resolve()).expect("a known need").explain()
}

#[test]
fn the_arithmetic_of_eight_h100() {
    let expected = "\
8 x h100 resnet50 (MLPerf Storage 2.0, measured)
need
  samples/s accelerators x batch / step time = 8 x 400 / 0.224 s = 14,286
  bytes/s   samples/s x sample = 14,286 x 114,660 B = 1.64 GB/s
  line      at 90 % busy (0.8 of 8 accelerators' worth idle): 12,857 samples/s = 1.47 GB/s
requests
  reads     ceil(114,660 B / 128 KiB) = 1 per sample: 14,286 reads/s
  calls     open, stat, read, close: 57,143 calls/s if each sample is a file
in flight   rate x latency (Little's law)
  100 us    1.43 reads, 164 kB: local NVMe drive
  1 ms      14.3 reads, 1.64 MB: NFS in the same hall
  30 ms     429 reads, 49.1 MB: object store in the same region
drives      for example of 7 GB/s, 82 us per read
  number    ceil(1.64 GB/s / (7 GB/s x 70 %)) = 1
  depth     7 GB/s x 82 us = 574 kB in flight fill one: 6 reads of 114,660 B
            one read at a time gets 1.4 GB/s of it";
    assert_eq!(explained("8xh100:resnet50"), expected);
}

#[test]
fn large_samples_are_split_into_reads() {
    let text = explained("8xh100:unet3d");
    assert!(text.contains("ceil(147 MB / 128 KiB) = 1,119 per sample: 194,006 reads/s"), "{text}");
    assert!(text.contains("ceil(25.4 GB/s / (7 GB/s x 70 %)) = 6"), "{text}");
    assert!(text.contains("574 kB in flight fill one: 5 reads of 131,010 B"), "{text}");
}

#[test]
fn samples_smaller_than_a_page_are_read_in_blocks_and_caveats_come_last() {
    let text = explained("b200:dlrm");
    assert!(text.contains("of 128 KiB, a sample being smaller than a page: 53,333 reads/s"), "{text}");
    assert!(!text.contains("if each sample is a file"), "{text}");
    let last = text.lines().last().expect("lines");
    assert!(last.starts_with("caveat      counts the 160 B"), "{last}");
}

#[test]
fn a_plain_rate_has_no_samples() {
    let text = explained("2.5 GB/s");
    assert!(text.starts_with("2.5 GB/s (stated by the user)\n"), "{text}");
    assert!(text.contains("\n  line      at 100 % of the need: 2.5 GB/s\n"), "{text}");
    assert!(text.contains("\n  reads     of 128 KiB: 19,073 reads/s\n"), "{text}");
    assert!(!text.contains("samples"), "{text}");
}

#[test]
fn a_token_stream_shows_its_own_arithmetic() {
    let spec = NeedSpec::Tokens { tokens_per_s: 2e6 / 3.0, token_bytes: 2.0, hosts: 64, utilization: None };
    let text = spec.resolve().expect("possible").explain();
    let title = "667 k tokens/s, one of 64 hosts (stated by the user: 666,667 tokens/s x 2 B / 64 hosts; \
                 2 T tokens last 34.7 d)\n";
    assert!(text.starts_with(title), "{text}");
    assert!(text.contains("\n  bytes/s   20.8 kB/s\n"), "{text}");
}

#[test]
fn samples_without_a_step_are_still_explained() {
    let need = NeedSpec::parse_short("8xh100:resnet50").and_then(|spec| spec.resolve()).expect("known");
    let text = Need { batch: None, step_time_s: None, ..need }.explain();
    assert!(text.contains("\n  samples/s 14,286\n"), "{text}");
}

fn checkpoint(kind: SaveKind) -> CheckpointNeed {
    let model = CheckpointModel::ALL[1];
    CheckpointNeed {
        label: model.name.to_owned(),
        bytes: model.bytes(),
        host_bytes: model.host_share(1).bytes,
        hosts: 64,
        within_ns: 30_000_000_000,
        every_ns: Some(1_800_000_000_000),
        restore_within_ns: Some(300_000_000_000),
        kind,
        beside_others: false,
    }
}

#[test]
fn checkpoints_alone_have_lines_for_writing_and_restoring() {
    let expected = "\
checkpoints of llama3-70b, one of 64 hosts (stated by the user)
checkpoint  llama3-70b, sync
  bytes     911 GiB by 64 hosts; 15.3 GB by the one with most
  write     bytes / time = 15.3 GB / 30 s = 509 MB/s; all hosts 32.6 GB/s
  restore   bytes / time = 15.3 GB / 5 min = 50.9 MB/s
  stopped   30 s every 30 min = 1.67 % of the time";
    assert_eq!(Need::of_checkpoints(checkpoint(SaveKind::Sync)).explain(), expected);
}

#[test]
fn checkpoints_beside_reads_say_what_they_leave_of_the_job() {
    let need = |kind| {
        let need =
            NeedSpec::parse_short("8xh100:resnet50").and_then(|spec| spec.resolve()).expect("a known need");
        need.with_checkpoints(checkpoint(kind)).explain()
    };
    let sync = need(SaveKind::Sync);
    assert!(sync.contains("\n  line      at 90 % busy"), "{sync}");
    assert!(sync.contains("\n  busy      90 % x (100 % - 1.67 %) = 88.5 %\n"), "{sync}");
    assert!(sync.ends_with("8 accelerators x 30 s = 0.067 hours of one for each"), "{sync}");
    let copied = need(SaveKind::Async);
    assert!(copied.contains("\n  copy      15.3 GB / (8 links x 25 GB/s) = 76.4 ms\n"), "{copied}");
}

#[test]
fn a_need_of_writes_is_told_without_what_reads_ask_of_a_device() {
    let need = crate::NeedSpec::WriteRate { bytes_per_s: 2e9, utilization: None }.resolve().unwrap();
    let text = need.explain();
    assert!(text.starts_with("2 GB/s written (stated by the user)"), "{text}");
    assert!(!text.contains("read") && !text.contains("drives"), "{text}");
}
