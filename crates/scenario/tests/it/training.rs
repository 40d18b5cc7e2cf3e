//! Training loads: what is played, what is read beside it, and what is refused.

use std::fmt::Write as _;

use plan::{Cell, Decode, Fetch, Limit, Load, Operation, Plan, Training, Work};

use crate::machine::{resolve, resolve_on, with};
use crate::plans::describe;

/// The shortest training scenario, with lines added.
fn training(lines: &str) -> String {
    with(&format!("load.mode = \"training\"\n{lines}"))
}

fn resolved(text: &str) -> Plan {
    resolve(text).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn jobs(plan: &Plan) -> Vec<(&Cell, Training)> {
    let job = |cell: &Cell| match cell.load {
        Load::Training(training) => Some(training),
        Load::Closed | Load::Paced(_) => None,
    };
    plan.cells.iter().filter_map(|cell| Some((cell, job(cell)?))).collect()
}

fn closed_depths(plan: &Plan) -> Vec<u32> {
    plan.cells.iter().filter(|cell| cell.load == Load::Closed).map(|cell| cell.queue_depth).collect()
}

/// Accelerators, readers (0: shared), batches ahead, depth, threads.
fn shapes(plan: &Plan) -> Vec<(u32, u32, u32, u32, u32)> {
    let shape = |(cell, job): &(&Cell, Training)| {
        let readers = match job.fetch {
            Fetch::Readers { count } => count,
            Fetch::Shared => 0,
        };
        (job.accelerators, readers, job.prefetch, cell.queue_depth, cell.threads)
    };
    jobs(plan).iter().map(shape).collect()
}

#[test]
fn a_job_is_the_needs_with_the_readers_of_its_profile() {
    insta::assert_snapshot!(describe(&resolved(&training(""))));
}

#[test]
fn every_key_of_a_job_reaches_its_cells() {
    insta::assert_snapshot!(describe(&resolved(&training(
        "load.queue_depth = 16\ntargets.b = { at = \"/mnt/b\", engine = \"pread\" }\ntargets.none.at = \"null:\"\n\
         training = { accelerators = [2, 8], readers = 1, prefetch = [0, 3], steps = 10, barrier = true, \
         startup = \"1s\", price = 2.5, decode = { cost = \"6ms\" } }\ngate.feeds = [\"data\"]",
    ))));
}

#[test]
fn readers_fetch_as_far_ahead_as_the_loader_of_their_profile() {
    let shapes_of = |need: &str| shapes(&resolved(&training("").replace("8xh100:resnet50", need)));
    assert_eq!(shapes_of("2xh100:resnet50"), [(2, 8, 8, 16, 1)]);
    assert_eq!(shapes_of("1xh100:unet3d"), [(1, 4, 4, 4, 1)]);
    let readers = resolved(&training("training.readers = [1, 2, 3]"));
    assert_eq!(shapes(&readers), [(8, 1, 2, 8, 1), (8, 2, 2, 16, 1), (8, 3, 3, 24, 1)]);
}

#[test]
fn without_a_profile_a_loader_is_pytorchs() {
    let need = "need = { batch = 40, step_time = \"1s\", sample_size = \"1 MB\", count = 2 }";
    let plan = resolved(&training("").replace("need = \"8xh100:resnet50\"", need));
    assert_eq!(shapes(&plan), [(2, 4, 8, 8, 1)]);
}

#[test]
fn depths_are_shared_unless_readers_are_written_too() {
    let shared = resolved(&training("load.queue_depth = [16, 200]"));
    assert_eq!(shapes(&shared), [(8, 0, 8, 16, 1), (8, 0, 8, 200, 4)]);
    let both = resolved(&training("load.queue_depth = 16\ntraining.readers = 2"));
    assert_eq!(shapes(&both), [(8, 2, 2, 16, 1), (8, 0, 8, 16, 1)]);
}

#[test]
fn a_thread_feeds_whole_accelerators_and_one_thread_those_that_wait_for_each_other() {
    let threads =
        |lines: &str| shapes(&resolved(&training(lines))).iter().map(|shape| shape.4).max().unwrap();
    assert_eq!(threads("training.readers = 128"), 8, "1,024 reads outstanding are worth 16");
    assert_eq!(threads("training = { readers = 128, barrier = true }"), 1);
    assert_eq!(threads("load.threads = 4\ntraining.readers = 128"), 4);
    let blocking = training("").replace("bench\" }", "bench\", engine = \"pread\" }");
    assert_eq!(shapes(&resolved(&blocking)), [(8, 8, 8, 64, 64)]);
}

#[test]
fn the_same_reads_are_closed_loops_at_the_depth_of_the_need_and_deeper() {
    let closed = |lines: &str| closed_depths(&resolved(&training(lines)));
    assert_eq!(closed(""), [64, 256]);
    assert_eq!(closed("training = { accelerators = [1, 8, 64] }"), [64, 256]);
    assert_eq!(closed("training = { accelerators = [1, 2] }"), [16, 64]);
    assert_eq!(closed("training = { readers = [1, 4] }"), [8, 32, 128]);
    // Two batches ahead let two of eight readers read, and of readers that decode fewer read.
    assert_eq!(closed("training = { readers = 8, prefetch = 2 }"), [16, 64, 256]);
    assert_eq!(closed("training = { readers = 8, prefetch = 0 }"), [8, 64, 256]);
    assert_eq!(closed("training.decode = { cost = \"6ms\" }"), [8, 64, 256]);
    assert_eq!(closed("training.decode = \"jpeg\""), [64, 256]);
    let deep =
        resolve_on(&training("load.queue_depth = [2000, 4096]"), &[], |host| host.open_files_max = 1 << 20);
    assert_eq!(closed_depths(&deep.unwrap()), [2000, 4096]);
    let few_files = resolve_on(&training(""), &[], |host| host.open_files_max = 316);
    assert_eq!(closed_depths(&few_files.unwrap()), [64, 100], "no deeper than there are files");
    let plan = resolved(&training("load.block_size = [\"16 KiB\", \"1 MiB\"]"));
    let described = |cell: &Cell| (cell.operation(), cell.block_bytes, cell.load.name());
    let cells: Vec<_> = plan.cells.iter().map(described).collect();
    let whole = Operation::ReadFile;
    let small = [(whole, 16 << 10, "training"), (whole, 16 << 10, "closed"), (whole, 16 << 10, "closed")];
    let large = [(whole, 1 << 20, "training"), (whole, 1 << 20, "closed"), (whole, 1 << 20, "closed")];
    assert_eq!(cells, [small, large].concat());
}

#[test]
fn closed_loops_beside_a_job_last_as_long_as_it_would_at_best() {
    let measure = |lines: &str| resolved(&training(lines)).measure;
    let steps = measure("training.steps = 100");
    assert_eq!(steps.limit, Limit::Steps { steps: 100, otherwise_ns: 22_400_000_000 });
    assert_eq!(measure("training.epochs = 3").limit, Limit::Epochs { epochs: 3 });
    assert_eq!(measure("measure.epochs = 3").limit, Limit::Epochs { epochs: 3 });
    assert_eq!(measure("").limit, Limit::Duration { duration_ns: 10_000_000_000 });
    assert_eq!(measure("").warmup_ns, 0, "the first fill is part of the job");
    assert_eq!(measure("measure.warmup = \"0s\"").warmup_ns, 0);
}

/// The line of the need is that of the step which is played: AU at its threshold is the line, whatever the batch.
#[test]
fn a_step_of_the_scenarios_own_is_that_of_the_need_and_said_to_be() {
    let plan = |lines: &str| resolved(&training(lines));
    let caveats = |lines: &str| plan(lines).need.caveats;
    assert!(caveats("training = { batch = 400, compute_time = \"224ms\" }").is_empty());
    assert_eq!(
        caveats("training.batch = 200"),
        ["batch 200 with the step time measured at batch 400: a guess"]
    );
    assert_eq!(
        caveats("training.compute_time = \"100ms\""),
        ["a step time of 100 ms with batch 400, for which 224 ms were measured: a guess"]
    );
    assert_eq!(
        caveats("training = { batch = 200, compute_time = \"100ms\" }"),
        ["batch 200 and a step time of 100 ms are the scenario's own, in place of 400 and 224 ms"]
    );
    for (lines, per_s) in [("", 3_200.0 / 0.224), ("training.batch = 200", 1_600.0 / 0.224)] {
        let plan = plan(lines);
        let demand = plan.need.demand_samples_per_s(114_660.0);
        assert!((demand / per_s - 1.0).abs() < 1e-12, "{demand}");
        assert!((demand / jobs(&plan)[0].1.demand_samples_per_s() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_need_in_bytes_stays_and_the_job_beside_it_is_named() {
    let text = training("training = { accelerators = 8, batch = 32, compute_time = \"100ms\" }")
        .replace("8xh100:resnet50", "1 GB/s");
    let plan = resolved(&text);
    assert_eq!(
        plan.need.caveats,
        ["a job of 8 accelerators takes 2.68 GB/s at full use, the need is 1 GB/s"]
    );
    assert_eq!(plan.need.demand, feed::Demand::Bytes { per_s: 1e9, sample_bytes: None });
    assert!((plan.need.utilization - 0.9).abs() < 1e-12, "no job is busy all the time");
    let near = text.replace("\"1 GB/s\"", "\"2.68 GB/s\"");
    assert!(resolved(&near).need.caveats.is_empty());
}

#[test]
fn a_decoder_is_a_word_or_a_table() {
    let decode = |lines: &str| {
        let text = training(lines).replace("/mnt/bench", "/readonly/a");
        jobs(&resolved(&format!("{text}dataset.source = \"existing\"\n")))[0].1.decode
    };
    let by_readers = |work| Some(Decode { work, threads: None });
    assert_eq!(decode(""), None);
    assert_eq!(decode("training.decode = \"jpeg\""), by_readers(Work::Jpeg));
    assert_eq!(decode("training.decode = { with = \"zstd\" }"), by_readers(Work::Zstd));
    let cost = Work::Cost { per_sample_ns: 6_000_000 };
    assert_eq!(
        decode("training.decode = { cost = \"6ms\", threads = 4 }"),
        Some(Decode { work: cost, threads: Some(4) })
    );
    let shared = |decode_as: &str| decode(&format!("load.queue_depth = 16\ntraining.decode = {decode_as}"));
    assert_eq!(shared("\"jpeg\""), Some(Decode { work: Work::Jpeg, threads: Some(16) }), "one per core");
    assert_eq!(
        shared("{ cost = \"6ms\" }"),
        Some(Decode { work: cost, threads: Some(64) }),
        "one per reader"
    );
    let cpu = Work::Processor { per_sample_ns: 6_000_000 };
    assert_eq!(decode("training.decode = { cpu = \"6ms\" }"), by_readers(cpu));
    assert_eq!(shared("{ cpu = \"6ms\" }"), Some(Decode { work: cpu, threads: Some(16) }), "one per core");
}

#[test]
fn blocks_of_equal_samples_may_be_read_one_by_one() {
    let plan = resolved(
        &training("load = { operation = \"read\", block_size = \"16 KiB\" }")
            .replace("load.mode = \"training\"\nload = {", "load = { mode = \"training\","),
    );
    assert!(plan.cells.iter().all(|cell| cell.operation() == Operation::Read));
    let device = "version = 1\nneed = \"8xh100:resnet50\"\ntargets.raw = { at = \"/dev/nvme0n1\" }\n\
                  dataset.source = \"existing\"\nload = { mode = \"training\", operation = \"read\" }\n";
    assert_eq!(shapes(&resolved(device)), [(8, 8, 8, 64, 1)]);
}

#[test]
fn jobs_are_named_apart() {
    let plan = resolved(&training(
        "load.queue_depth = [8, 16]\ntraining = { accelerators = [1, 2], readers = [2, 4], prefetch = [1, 2] }\n\
         targets.s = { at = \"s3://bucket/x\", connections = [16, 64] }",
    ));
    let slugs: std::collections::BTreeSet<_> = plan.cells.iter().map(|cell| &cell.slug).collect();
    assert_eq!((plan.cells.len(), slugs.len()), (66, 66));
    let axes = |cell: &Cell| -> Vec<String> {
        let axes =
            cell.axes.iter().filter(|axis| ["accelerators", "readers", "prefetch"].contains(&axis.name));
        axes.map(|axis| format!("{} {}", axis.name, axis.value)).collect()
    };
    let (first, last) = (&plan.cells[0], &plan.cells[20]);
    assert_eq!(first.slug, "data/io_uring/read_file/114660B/112KiB/shuffled_epoch/bypass/a1-r2-p1/qd2");
    assert_eq!(axes(first), ["accelerators 1", "readers 2", "prefetch 1"]);
    assert!(axes(last).is_empty(), "{last:?}");
    assert!(plan.cells.iter().any(|cell| axes(cell).contains(&"readers shared".to_owned())));
}

#[test]
fn more_jobs_than_can_be_meant() {
    let list = |length: u32| (1..=length).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let lines = format!(
        "training = {{ accelerators = [{}], readers = [{}], prefetch = [{}] }}",
        list(1000),
        list(512),
        list(1000)
    );
    let diagnostics = resolve(&training(&lines)).unwrap_err();
    let messages: Vec<_> = diagnostics.messages().collect();
    let sum = "1000 accelerators x 512 readers x 1000 batches ahead = 512,000,000 cells; at most 10,000 are measured in \
               one run";
    assert_eq!(messages, [sum]);
}

fn refusals(texts: &[String]) -> String {
    let mut shown = String::new();
    for text in texts {
        match resolve(text) {
            Ok(plan) => panic!("accepted with {} cells:\n{text}", plan.cells.len()),
            Err(refused) => writeln!(shown, "{refused}\n{}\n", "-".repeat(60)).unwrap(),
        }
    }
    shown
}

#[test]
fn keys_of_other_modes_are_refused() {
    insta::assert_snapshot!(refusals(&[
        with("training = { readers = 4, steps = 100, barrier = true }"),
        with("training.readers = [4, 8]"),
        with("training.readers = 4\nload.operation = \"stat\""),
        with("training.readers = 4").replace("8xh100:resnet50", "2.5 GB/s"),
        with("load = { mode = \"paced\" }\ntraining.readers = 4"),
        with("load = { mode = \"paced\" }\ntraining.prefetch = 2"),
        with(
            "load = { mode = \"training\", rate = \"line\", arrivals = \"batch\", batch = 400, spin = \"60us\" }"
        ),
        with("load = { mode = \"training\", queue_depth = \"auto\" }"),
        with("load = { mode = \"training\", complete_batch = 4 }"),
        with("load = { mode = \"training\", operation = [\"read_file\", \"stat\"] }"),
        with("load = { mode = \"training\", threads = 9 }"),
        with("load = { mode = \"training\", threads = 2 }\ntraining.barrier = true"),
        training("measure = { warmup = \"2s\", duration = \"10s\" }"),
        training("training = { steps = 100, epochs = 1 }\nmeasure.duration = \"10s\""),
        training("training.steps = 100\nmeasure = { epochs = 1, budget = \"1h\" }"),
        training("measure.bytes = \"1 GB\""),
    ]));
}

#[test]
fn jobs_that_nobody_described_are_refused() {
    let rate = |lines: &str| training(lines).replace("8xh100:resnet50", "2.5 GB/s");
    insta::assert_snapshot!(refusals(&[
        rate(""),
        rate("training = { accelerators = 8, batch = 400 }"),
        training(
            "training = { compute_time = \"0s\", batch = 0, accelerators = 0, readers = 0, prefetch = -1 }"
        ),
        training("training = { startup = \"5\", price = 0, steps = 0, barrier = 1 }"),
        training("").replace("8xh100", "5000xh100"),
    ]));
}

#[test]
fn jobs_that_do_not_fit_are_refused_with_the_arithmetic() {
    insta::assert_snapshot!(refusals(&[
        training("dataset.samples = 1000"),
        training("dataset.samples = 1000\ntraining = { accelerators = [1, 2], batch = 501 }"),
        training("training.readers = [8, 512]\ntraining.accelerators = [1, 64]"),
        training("").replace("8xh100", "1024xh100"),
        training("training.prefetch = [2, 1024]"),
        training("training.prefetch = 64").replace("resnet50", "unet3d"),
        training("training.accelerators = [2, 4]\ngate.feeds = [\"data\"]"),
    ]));
}

#[test]
fn samples_that_a_job_cannot_use_are_refused() {
    let read = "load = { mode = \"training\", operation = \"read\" }";
    let lognormal = "dataset = { distribution = \"lognormal\", sample_size_stdev = \"50 kB\" }";
    insta::assert_snapshot!(refusals(&[
        with(&format!("{read}\n{lognormal}")),
        with(&format!("{read}\ndataset.source = \"existing\"")),
        training("").replace("bench\" }", "bench\", engine = \"mmap\" }"),
        training("dataset.source = \"existing\"").replace("/mnt/bench", "/dev/sda"),
    ]));
}

#[test]
fn decoders_that_are_none_are_refused() {
    insta::assert_snapshot!(refusals(&[
        training("training.decode = \"webp\""),
        training("training.decode = 6"),
        training("training.decode = { with = \"checksum\", cost = \"6ms\" }"),
        training("training.decode = { cpu = \"2ms\", cost = \"6ms\" }"),
        training("training.decode = { threads = 4 }"),
        training("training.decode = { work = \"jpeg\", cost = \"0s\", threads = 0 }"),
    ]));
}

#[test]
fn decoders_that_get_no_whole_sample_are_refused() {
    let small = "block_size = \"16 KiB\"";
    let read = format!("load = {{ mode = \"training\", operation = \"read\", {small} }}");
    insta::assert_snapshot!(refusals(&[
        training(&format!("load.{small}\ntraining.decode = \"checksum\"")),
        with(&format!("{read}\ntraining.decode = {{ with = \"jpeg\", threads = 4 }}")),
        with(&format!(
            "load = {{ mode = \"training\", access = \"shuffled_epoch\", {small} }}\ndataset.layout = \"records\"\n\
             training.decode = \"zstd\""
        )),
        with(
            "load = { mode = \"training\", access = \"sequential\" }\ntraining.decode = \"jpeg\"\n\
             dataset = { source = \"existing\", layout = \"webdataset\" }"
        ),
        // Nothing stands in for the user's own samples.
        with(&format!(
            "load = {{ mode = \"training\", {small} }}\ntraining.decode = \"jpeg\"\n\
             dataset = {{ source = \"existing\", sample_size = \"114660 B\" }}"
        )),
    ]));
    for taken in [
        training(&format!("load.{small}\ntraining.decode = \"jpeg\"")),
        training("training.decode = \"checksum\""),
        with(&format!("{read}\ntraining.decode = {{ cost = \"6ms\" }}")),
        with(&format!(
            "load = {{ mode = \"training\", access = \"shuffled_shards\", {small} }}\n\
             dataset.layout = \"webdataset\"\ntraining.decode = \"jpeg\""
        )),
    ] {
        resolved(&taken);
    }
}

#[test]
fn a_step_of_other_bytes_than_those_that_are_held_is_refused() {
    let held = "dataset.sample_size = \"1 MiB\"\ntraining.batch = 400";
    insta::assert_snapshot!(refusals(&[training(held).replace(
        "\"8xh100:resnet50\"",
        "{ workload = \"resnet50\", accelerator = \"h100\", count = 8, hold = \"bytes\" }"
    )]));
}
