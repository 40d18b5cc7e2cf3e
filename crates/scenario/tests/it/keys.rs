//! Every key that is accepted changes what happens: a key that nothing reads would be a trap.

use std::collections::BTreeSet;

use plan::Plan;

use crate::machine::resolve_on;
use crate::schema::{accepted_keys, schema_keys};

const BASE: &str = "version = 1\nneed = \"8xh100:resnet50\"\ntargets.t = { at = \"/mnt/t\", engine = [\"io_uring\", \
                    \"pread\"] }\n";
const PROFILE: &str = "need={ workload = \"resnet50\", accelerator = \"h100\", count = 8 }";
const BATCH: &str = "need={ batch = 400, step_time = \"1s\", sample_size = \"1 MB\", count = 8 }";
const TOKENS: &str = "need={ tokens_per_second = 1e6, token_size = \"2 B\" }";
/// What may be needed for a key to mean something.
const PACED: &str = "load.mode=paced";
const LOGNORMAL: &str = "dataset={ distribution = \"lognormal\", sample_size_stdev = \"50 kB\" }";
const FEEDS: &str = "gate.feeds=[\"t\"]";
const NO_RING: &str = "no io_uring";

/// Key, overrides on which it builds, and the override that must change the outcome.
const CHANGES: &[(&str, &[&str], &str)] = &[
    ("version", &[], "version=2"),
    ("title", &[], "title=other"),
    ("need", &[], "need=2 GB/s"),
    ("need.workload", &[PROFILE], "need.workload=unet3d"),
    ("need.accelerator", &[PROFILE], "need.accelerator=a100"),
    ("need.count", &[PROFILE], "need.count=4"),
    ("need.hosts", &[PROFILE], "need.hosts=2"),
    ("need.utilization", &[PROFILE], "need.utilization=0.5"),
    ("need.rate", &["need={ rate = \"2 GB/s\" }"], "need.rate=3 GB/s"),
    ("need.batch", &[BATCH], "need.batch=200"),
    ("need.step_time", &[BATCH], "need.step_time=2s"),
    ("need.sample_size", &[BATCH], "need.sample_size=2 MB"),
    ("need.tokens_per_second", &[TOKENS], "need.tokens_per_second=2e6"),
    ("need.token_size", &[TOKENS], "need.token_size=4 B"),
    ("dataset", &[], "dataset={ size = \"1 GiB\" }"),
    ("dataset.source", &[], "dataset.source=existing"),
    ("dataset.samples", &[], "dataset.samples=10"),
    ("dataset.size", &[], "dataset.size=1 GiB"),
    ("dataset.sample_size", &[], "dataset.sample_size=1 MiB"),
    ("dataset.distribution", &[LOGNORMAL], "dataset={ distribution = \"fixed\" }"),
    ("dataset.sample_size_stdev", &[LOGNORMAL], "dataset.sample_size_stdev=60 kB"),
    ("dataset.files_per_folder", &[], "dataset.files_per_folder=1000000"),
    ("dataset.seed", &[], "dataset.seed=2"),
    ("targets", &[], "targets={ u = { at = \"/mnt/u\" } }"),
    ("targets.*.at", &[], "targets.t.at=/mnt/other"),
    ("targets.*.title", &[], "targets.t.title=other"),
    ("targets.*.about", &[], "targets.t.about=a disk"),
    ("targets.*.engine", &[], "targets.t.engine=pread"),
    ("targets.*.madvise", &["targets.t.engine=mmap"], "targets.t.madvise=random"),
    ("targets.*.direct", &[], "targets.t.direct=false"),
    ("targets.*.registered", &[], "targets.t.registered=off"),
    ("targets.*.on_unavailable", &[NO_RING], "targets.t.on_unavailable=skip"),
    ("load", &[], "load={ queue_depth = 4 }"),
    ("load.operation", &[], "load.operation=read_file"),
    ("load.mode", &[], PACED),
    ("load.rate", &[PACED], "load.rate=80 %"),
    ("load.arrivals", &[PACED], "load.arrivals=poisson"),
    ("load.batch", &[PACED, "load.arrivals=batch"], "load.batch=100"),
    ("load.spin", &[PACED], "load.spin=60us"),
    ("load.queue_depth", &[], "load.queue_depth=4"),
    ("load.threads", &["targets.t.engine=io_uring", "load.queue_depth=8"], "load.threads=3"),
    ("load.submit_batch", &["load.queue_depth=8"], "load.submit_batch=4"),
    ("load.complete_batch", &["load.queue_depth=8"], "load.complete_batch=4"),
    ("load.block_size", &[], "load.block_size=4 KiB"),
    ("load.access", &[], "load.access=random"),
    ("load.cache", &[], "load.cache=cold"),
    ("measure", &[], "measure={ repetitions = 6 }"),
    ("measure.warmup", &[], "measure.warmup=1s"),
    ("measure.duration", &[], "measure.duration=1s"),
    ("measure.bytes", &[], "measure.bytes=1 GB"),
    ("measure.epochs", &[], "measure.epochs=1"),
    ("measure.repetitions", &[], "measure.repetitions=6"),
    ("measure.budget", &[], "measure.budget=1h"),
    ("measure.cell_order", &[], "measure.cell_order=file"),
    ("measure.seed", &[], "measure.seed=2"),
    ("gate", &[], "gate={ feeds = [\"t\"] }"),
    ("gate.feeds", &[], FEEDS),
    ("gate.p99", &[FEEDS], "gate.p99=10ms"),
];

/// Keys that may only have one value, so that any other is refused.
const REFUSED: &[&str] = &["version"];

fn outcome(overrides: &[&str]) -> Result<Plan, String> {
    let no_ring = overrides.contains(&NO_RING);
    let overrides: Vec<_> = overrides.iter().copied().filter(|text| *text != NO_RING).collect();
    let resolved = resolve_on(BASE, &overrides, |host| {
        if no_ring {
            host.io_uring = Err("forbidden".to_owned());
        }
    });
    resolved.map_err(|diagnostics| diagnostics.to_string())
}

#[test]
fn every_key_changes_the_outcome() {
    for (key, base, change) in CHANGES {
        let before = outcome(base);
        let after = outcome(&[base, &[*change][..]].concat());
        assert_ne!(before, after, "{key} changes nothing");
        assert_eq!(after.is_err(), REFUSED.contains(key), "{key}: {after:?}");
    }
}

#[test]
fn the_list_of_changes_is_complete() {
    let tested: BTreeSet<String> = CHANGES.iter().map(|(key, ..)| (*key).to_owned()).collect();
    assert_eq!(tested, schema_keys());
    assert_eq!(tested, accepted_keys());
}
