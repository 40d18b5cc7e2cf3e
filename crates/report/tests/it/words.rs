//! What is said of the golden records, sentence by sentence.

use std::path::Path;

use analysis::{Summary, summarise};
use report::words::verdict::sentence;

use crate::records::golden_summary;

fn said(summary: &Summary) -> Vec<String> {
    let verdicts = summary.verdicts.iter();
    verdicts.map(|one| format!("{} {}: {}", one.judgement(), one.target, sentence(one))).collect()
}

#[test]
fn every_target_is_told_why() {
    let words = said(&golden_summary());
    assert_eq!(
        words,
        [
            "FEEDS nvme: 8 x h100 resnet50 from depth 32 (io_uring); 32 outstanding take 4 workers \
             for each of 8 accelerators with blocking reads; screen, cache open",
            "STARVES filer: 19 % short at depth 128 (io_uring); feeds 6 by division; flat from 32: \
             bandwidth-bound; screen, cache open",
            "UNCERTAIN array: interval straddles the line at depth 128 (io_uring): 93 to 108 % of it; \
             no number of rounds that pays would decide (5 rounds made); feeds 7 by division; screen, cache open",
            "FEEDS tree: 8 x h100 resnet50 from depth 32 (io_uring); 32 outstanding take 4 workers \
             for each of 8 accelerators with blocking reads; files opened one by one, names possibly in memory; screen, cache open",
            "STARVES stream: 2.0 % short at depth 64 (io_uring); feeds 7 by division; served 98 % of \
             100 % of the line, poisson arrivals; response p99 not served; screen, cache open",
        ]
    );
}

#[test]
fn every_job_is_told_why() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/fixtures/training");
    let record = record::read_run(&dir).unwrap();
    let words = said(&summarise(&record));
    assert_eq!(
        words,
        [
            "FEEDS nvme: 8 x h100 resnet50 with 8 readers, prefetch 8: AU 96.1 % (target 90 %), io_uring; \
             files opened one by one; screen, cache open",
            "STARVES filer: AU 71.3 % of the 90 % it needs with 8 readers, prefetch 8 (io_uring); \
             latency-bound: 1.3 times as much in flight would do (11 readers); files opened one by one; screen, cache open",
            "STARVES bucket: AU 62.0 % of the 90 % it needs with 8 readers, prefetch 8 (lean); \
             rate-bound: more prefixes, a higher limit, or larger objects; more in flight is refused more often; files \
             opened one by one, names possibly in memory; screen, cache open",
            "UNCERTAIN images: not the storage: decode-bound for 28 % of the time with 8 readers, prefetch 8 (io_uring); storage is not judged by it: use faster decoding, more threads for it, or none; \
             files opened one by one; screen, cache open",
        ]
    );
}
