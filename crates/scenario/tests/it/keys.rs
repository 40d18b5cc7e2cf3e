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
const SHARDS: &str = "load.access=shuffled_shards";
const PACED: &str = "load.mode=paced";
const TRAINING: &str = "load.mode=training";
const DECODE: &str = "training.decode={ with = \"checksum\" }";
const COST: &str = "training.decode={ cost = \"6ms\" }";
const CPU: &str = "training.decode={ cpu = \"6ms\" }";
const LOGNORMAL: &str = "dataset={ distribution = \"lognormal\", sample_size_stdev = \"50 kB\" }";
const WEBDATASET: &str = "dataset={ layout = \"webdataset\" }";
const PARQUET: &str = "dataset={ layout = \"parquet\" }";
const EXISTING: &str = "dataset={ source = \"existing\" }";
const FEEDS: &str = "gate.feeds=[\"t\"]";
const PROVEN: &str = "gate.evidence=proof";
const P50: &str = "gate.regression={ p50 = \"15 %\" }";
const EXPECT: &str = "expect={ claim = \"slow\", first_byte = \"30ms\" }";
const S3: &str = "targets={ t = { at = \"s3://train/bench\" } }";
const TIER: &str = "cache_tier={ at = \"/mnt/cache\", capacity = \"2 GB\" }";
const TIER_OF_T: &str = "cache_tier={ at = \"/mnt/cache\", capacity = \"2 GB\", targets = [\"t\"] }";
const ABOUT: &str = "targets.t.about={ product = \"a filer\" }";
const PRICE: &str = "targets.t.price={ currency = \"EUR\" }";
const EMULATE: &str = "targets.t.emulate={ profile = \"s3-like\" }";
const EVEN: &str = "targets.t.emulate={ first_byte = { from = \"1ms\", to = \"9ms\" }, metadata = { from = \"1ms\", \
                    to = \"9ms\" } }";
const SKEWED: &str = "targets.t.emulate={ first_byte = { p50 = \"1ms\", p99 = \"9ms\" }, metadata = { p50 = \"1ms\", \
                      p99 = \"9ms\" } }";
const FAULTS: &str = "targets.t.emulate={ faults = { reset = 0.1 } }";
const REQUEST_BURST: &str =
    "targets.t.emulate={ requests_per_second = 300, request_burst = { per_second = 3000, credits = 5.4e6 } }";
const RATE_BURST: &str = "targets.t.emulate={ total_rate = \"40 MB/s\", rate_burst = { rate = \"250 MB/s\", credits = \"1 TiB\" } }";
const BESIDE: &str = "targets.u={ at = \"/mnt/u\" }";
const COPY: &str = "copy={ from = \"t\", to = \"u\" }";
const PACK: &str = "copy.pack=webdataset";
const WHOLE: &str = "load.operation=read_file";
const SAVES: &str = "checkpoint={ size = \"1 GB\", scale = \"1/2\" }";
const SAVES_MODEL: &str = "checkpoint={ model = \"llama3-8b\", scale = \"1/64\" }";
const NEEDED: &str = "need={ rate = \"1 GB/s\", checkpoint = { bytes = \"1 GB\", within = \"5s\" } }";
const NEEDED_MODEL: &str = "need={ checkpoint = { model = \"llama3-8b\", within = \"5s\", hosts = 8 } }";
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
    ("need.hold", &[PROFILE, "dataset.sample_size=1 MiB", "need.hold=samples"], "need.hold=bytes"),
    ("need.scope", &[PROFILE, "need.hosts=2"], "need.scope=host"),
    ("need.checkpoint", &["need={ rate = \"1 GB/s\" }"], NEEDED),
    ("need.checkpoint.model", &[NEEDED_MODEL], "need.checkpoint.model=llama3-70b"),
    ("need.checkpoint.bytes", &[NEEDED], "need.checkpoint.bytes=2 GB"),
    ("need.checkpoint.within", &[NEEDED], "need.checkpoint.within=7s"),
    ("need.checkpoint.every", &[NEEDED], "need.checkpoint.every=30m"),
    ("need.checkpoint.hosts", &[NEEDED], "need.checkpoint.hosts=4"),
    ("need.checkpoint.restore_within", &[NEEDED], "need.checkpoint.restore_within=9s"),
    ("need.checkpoint.kind", &[NEEDED], "need.checkpoint.kind=async"),
    ("need.rate", &["need={ rate = \"2 GB/s\" }"], "need.rate=3 GB/s"),
    ("need.write_rate", &["need={ write_rate = \"2 GB/s\" }"], "need.write_rate=3 GB/s"),
    ("need.batch", &[BATCH], "need.batch=200"),
    ("need.step_time", &[BATCH], "need.step_time=2s"),
    ("need.sample_size", &[BATCH], "need.sample_size=2 MB"),
    ("need.tokens_per_second", &[TOKENS], "need.tokens_per_second=2e6"),
    ("need.token_size", &[TOKENS], "need.token_size=4 B"),
    ("copy", &[BESIDE], COPY),
    ("copy.from", &[BESIDE, "targets.v={ at = \"/mnt/v\" }", COPY], "copy.from=v"),
    ("copy.to", &[BESIDE, "targets.v={ at = \"/mnt/v\" }", COPY], "copy.to=v"),
    ("copy.threads", &[BESIDE, COPY], "copy.threads=3"),
    ("copy.block_size", &[BESIDE, COPY], "copy.block_size=64 KiB"),
    ("copy.size", &[BESIDE, COPY], "copy.size=1 GiB"),
    ("copy.pack", &[BESIDE, COPY], PACK),
    ("copy.shard_size", &[BESIDE, COPY, PACK], "copy.shard_size=64 MiB"),
    ("copy.members", &[BESIDE, COPY, PACK], "copy.members=3"),
    ("copy.codec", &[BESIDE, COPY, PACK], "copy.codec=gzip"),
    ("copy.keep", &[BESIDE, COPY], "copy.keep=true"),
    ("dataset", &[], "dataset={ size = \"1 GiB\" }"),
    ("dataset.source", &[], "dataset.source=existing"),
    ("dataset.samples", &[], "dataset.samples=10"),
    ("dataset.size", &[], "dataset.size=1 GiB"),
    ("dataset.sample_size", &[], "dataset.sample_size=110 kB"),
    ("dataset.distribution", &[LOGNORMAL], "dataset={ distribution = \"fixed\" }"),
    ("dataset.sample_size_stdev", &[LOGNORMAL], "dataset.sample_size_stdev=60 kB"),
    ("dataset.files_per_folder", &[], "dataset.files_per_folder=1000000"),
    ("dataset.seed", &[], "dataset.seed=2"),
    ("dataset.beside_others", &[], "dataset.beside_others=true"),
    ("dataset.layout", &[], "dataset.layout=records"),
    ("dataset.shard_size", &[WEBDATASET], "dataset.shard_size=64 MiB"),
    ("dataset.members", &[WEBDATASET], "dataset.members=3"),
    ("dataset.codec", &[WEBDATASET], "dataset.codec=zstd"),
    ("dataset.columns", &[PARQUET], "dataset.columns=8"),
    ("dataset.read_columns", &[PARQUET, "need=1 GB/s"], "dataset.read_columns=1"),
    ("dataset.row_group_size", &[PARQUET], "dataset.row_group_size=1 MiB"),
    ("dataset.compressibility", &[], "dataset.compressibility=50 %"),
    ("dataset.order", &[EXISTING, "dataset.order=order.txt", "load.access=list"], "dataset.order=other.txt"),
    ("dataset.shards", &[EXISTING], "dataset.shards=train-*.tar"),
    ("targets", &[], "targets={ u = { at = \"/mnt/u\" } }"),
    ("targets.*.at", &[], "targets.t.at=/mnt/other"),
    ("targets.*.title", &[], "targets.t.title=other"),
    ("targets.*.about", &[], "targets.t.about=a disk"),
    ("targets.*.engine", &[], "targets.t.engine=pread"),
    ("targets.*.madvise", &["targets.t.engine=mmap"], "targets.t.madvise=random"),
    ("targets.*.direct", &[], "targets.t.direct=false"),
    ("targets.*.registered", &[], "targets.t.registered=off"),
    ("targets.*.open_files", &["load.queue_depth=8"], "targets.t.open_files=16"),
    ("targets.*.on_unavailable", &[NO_RING], "targets.t.on_unavailable=skip"),
    ("targets.*.connections", &[S3], "targets.t.connections=[4, 8]"),
    ("targets.*.addresses", &[S3], "targets.t.addresses=all"),
    ("targets.*.prefixes", &[S3], "targets.t.prefixes=16"),
    ("targets.*.part_size", &[S3, WHOLE], "targets.t.part_size=16 KiB"),
    ("targets.*.region", &[S3], "targets.t.region=eu-central-1"),
    ("targets.*.endpoint", &[S3], "targets.t.endpoint=https://s3.example.com"),
    ("targets.*.style", &[S3], "targets.t.style=virtual"),
    ("targets.*.ca", &[S3], "targets.t.ca=/etc/ca.pem"),
    ("targets.*.profile", &[S3], "targets.t.profile=other"),
    ("targets.*.anonymous", &[S3], "targets.t.anonymous=true"),
    ("targets.*.head", &[S3, WHOLE], "targets.t.head=true"),
    ("targets.*.checksum", &[S3], "targets.t.checksum=true"),
    ("targets.*.retries", &[S3], "targets.t.retries=5"),
    ("targets.*.server_memory", &[], "targets.t.server_memory=128 GiB"),
    ("targets.*.about.product", &[ABOUT], "targets.t.about.product=another"),
    ("targets.*.about.firmware", &[ABOUT], "targets.t.about.firmware=v9"),
    ("targets.*.about.media", &[ABOUT], "targets.t.about.media=TLC"),
    ("targets.*.about.nodes", &[ABOUT], "targets.t.about.nodes=4"),
    ("targets.*.about.publish", &[ABOUT], "targets.t.about.publish=false"),
    ("targets.*.price", &[S3], PRICE),
    ("targets.*.price.currency", &[S3, PRICE], "targets.t.price.currency=USD"),
    ("targets.*.price.per_1000_reads", &[S3, PRICE], "targets.t.price.per_1000_reads=0.0004"),
    ("targets.*.price.per_1000_writes", &[S3, PRICE], "targets.t.price.per_1000_writes=0.005"),
    ("targets.*.price.per_gb", &[S3, PRICE], "targets.t.price.per_gb=0.09"),
    ("targets.*.emulate", &[S3], EMULATE),
    ("targets.*.emulate.profile", &[S3, EMULATE], "targets.t.emulate.profile=hdd-like"),
    ("targets.*.emulate.first_byte", &[S3, EMULATE], "targets.t.emulate.first_byte=20ms"),
    ("targets.*.emulate.first_byte.from", &[S3, EVEN], "targets.t.emulate.first_byte.from=2ms"),
    ("targets.*.emulate.first_byte.to", &[S3, EVEN], "targets.t.emulate.first_byte.to=8ms"),
    ("targets.*.emulate.first_byte.p50", &[S3, SKEWED], "targets.t.emulate.first_byte.p50=2ms"),
    ("targets.*.emulate.first_byte.p99", &[S3, SKEWED], "targets.t.emulate.first_byte.p99=8ms"),
    ("targets.*.emulate.metadata", &[S3, EMULATE], "targets.t.emulate.metadata=20ms"),
    ("targets.*.emulate.metadata.from", &[S3, EVEN], "targets.t.emulate.metadata.from=2ms"),
    ("targets.*.emulate.metadata.to", &[S3, EVEN], "targets.t.emulate.metadata.to=8ms"),
    ("targets.*.emulate.metadata.p50", &[S3, SKEWED], "targets.t.emulate.metadata.p50=2ms"),
    ("targets.*.emulate.metadata.p99", &[S3, SKEWED], "targets.t.emulate.metadata.p99=8ms"),
    ("targets.*.emulate.requests_per_second", &[S3, EMULATE], "targets.t.emulate.requests_per_second=100"),
    (
        "targets.*.emulate.request_burst",
        &[REQUEST_BURST],
        "targets.t.emulate.request_burst={ per_second = 900, credits = 1e3 }",
    ),
    (
        "targets.*.emulate.request_burst.per_second",
        &[REQUEST_BURST],
        "targets.t.emulate.request_burst.per_second=900",
    ),
    (
        "targets.*.emulate.request_burst.credits",
        &[REQUEST_BURST],
        "targets.t.emulate.request_burst.credits=1000",
    ),
    (
        "targets.*.emulate.rate_burst",
        &[RATE_BURST],
        "targets.t.emulate.rate_burst={ rate = \"90 MB/s\", credits = \"1 GB\" }",
    ),
    ("targets.*.emulate.rate_burst.rate", &[RATE_BURST], "targets.t.emulate.rate_burst.rate=90 MB/s"),
    ("targets.*.emulate.rate_burst.credits", &[RATE_BURST], "targets.t.emulate.rate_burst.credits=1 GB"),
    ("targets.*.emulate.connection_rate", &[S3, EMULATE], "targets.t.emulate.connection_rate=10 MB/s"),
    ("targets.*.emulate.total_rate", &[S3, EMULATE], "targets.t.emulate.total_rate=1 Gb/s"),
    ("targets.*.emulate.seek", &[S3, EMULATE], "targets.t.emulate.seek=8ms"),
    ("targets.*.emulate.faults", &[S3, EMULATE], "targets.t.emulate.faults={ stall = 0.01 }"),
    ("targets.*.emulate.faults.reset", &[S3, FAULTS], "targets.t.emulate.faults.reset=0.2"),
    ("targets.*.emulate.faults.server_error", &[S3, FAULTS], "targets.t.emulate.faults.server_error=0.2"),
    ("targets.*.emulate.faults.stall", &[S3, FAULTS], "targets.t.emulate.faults.stall=0.2"),
    ("targets.*.emulate.faults.truncated", &[S3, FAULTS], "targets.t.emulate.faults.truncated=0.2"),
    ("targets.*.emulate.faults.slow_down", &[S3, FAULTS], "targets.t.emulate.faults.slow_down=0.2"),
    ("targets.*.emulate.faults.stale", &[S3, FAULTS], "targets.t.emulate.faults.stale=0.2"),
    ("targets.*.emulate.faults.corrupted", &[S3, FAULTS], "targets.t.emulate.faults.corrupted=0.2"),
    ("targets.*.emulate.seed", &[S3, EMULATE], "targets.t.emulate.seed=7"),
    ("load", &[], "load={ queue_depth = 4 }"),
    ("load.operation", &[], "load.operation=read_file"),
    ("load.mode", &[], PACED),
    ("cache_tier", &[S3], TIER),
    ("cache_tier.at", &[S3, TIER], "cache_tier.at=/mnt/other"),
    ("cache_tier.capacity", &[S3, TIER], "cache_tier.capacity=1 GB"),
    ("cache_tier.policy", &[S3, TIER], "cache_tier.policy=[\"none\", \"random\"]"),
    ("cache_tier.targets", &["targets.u.at=/mnt/u", TIER_OF_T], "cache_tier.targets=[\"u\"]"),
    ("training", &[TRAINING], "training={ readers = 2 }"),
    ("training.accelerators", &[TRAINING], "training.accelerators=[2, 8]"),
    ("training.batch", &[TRAINING], "training.batch=200"),
    ("training.compute_time", &[TRAINING], "training.compute_time=100ms"),
    ("training.readers", &[TRAINING], "training.readers=[2, 4]"),
    ("training.fetches", &[TRAINING], "training.fetches=[1, 4]"),
    ("training.prefetch", &[TRAINING], "training.prefetch=0"),
    ("training.steps", &[TRAINING], "training.steps=100"),
    ("training.epochs", &[TRAINING], "training.epochs=2"),
    ("training.barrier", &[TRAINING], "training.barrier=true"),
    ("training.decode", &[TRAINING], "training.decode=checksum"),
    ("training.decode.with", &[TRAINING, "dataset.source=existing", DECODE], "training.decode.with=jpeg"),
    ("training.decode.cost", &[TRAINING, COST], "training.decode.cost=7ms"),
    ("training.decode.cpu", &[TRAINING, CPU], "training.decode.cpu=7ms"),
    ("training.decode.threads", &[TRAINING, DECODE], "training.decode.threads=4"),
    ("training.drop_last", &[TRAINING], "training.drop_last=false"),
    ("training.startup", &[TRAINING], "training.startup=2s"),
    ("training.price", &[TRAINING], "training.price=2.5"),
    ("checkpoint", &[], SAVES),
    ("checkpoint.model", &[SAVES_MODEL], "checkpoint.model=llama3-70b"),
    ("checkpoint.size", &[SAVES], "checkpoint.size=2 GB"),
    ("checkpoint.scale", &[SAVES], "checkpoint.scale=0.25"),
    ("checkpoint.files", &[SAVES], "checkpoint.files=3"),
    ("checkpoint.every", &[SAVES, TRAINING], "checkpoint.every=7"),
    ("checkpoint.mode", &[SAVES, TRAINING], "checkpoint.mode=sync"),
    ("checkpoint.copy_time", &[SAVES, TRAINING], "checkpoint.copy_time=39ms"),
    ("checkpoint.copy_bandwidth", &[SAVES, TRAINING], "checkpoint.copy_bandwidth=28 GB/s"),
    ("checkpoint.durable", &[SAVES], "checkpoint.durable=false"),
    ("checkpoint.keep", &[SAVES], "checkpoint.keep=1"),
    ("checkpoint.restore", &[SAVES], "checkpoint.restore=false"),
    ("checkpoint.block_size", &[SAVES], "checkpoint.block_size=1 MiB"),
    ("checkpoint.to", &[SAVES, "targets.u={ at = \"/mnt/u\" }"], "checkpoint.to=u"),
    ("load.rate", &[PACED], "load.rate=80 %"),
    ("load.arrivals", &[PACED], "load.arrivals=poisson"),
    ("load.batch", &[PACED, "load.arrivals=batch"], "load.batch=100"),
    ("load.spin", &[PACED], "load.spin=60us"),
    ("load.spin", &[TRAINING], "load.spin=60us"),
    ("load.queue_depth", &[], "load.queue_depth=4"),
    ("load.threads", &["targets.t.engine=io_uring", "load.queue_depth=8"], "load.threads=3"),
    ("load.submit_batch", &["load.queue_depth=8"], "load.submit_batch=4"),
    ("load.complete_batch", &["load.queue_depth=8"], "load.complete_batch=4"),
    ("load.block_size", &[], "load.block_size=4 KiB"),
    ("load.pages", &[], "load.pages=huge"),
    ("load.numa", &[], "load.numa=device"),
    ("load.durability", &["need={ write_rate = \"2 GB/s\" }"], "load.durability=full"),
    ("load.mix", &["need={ rate = \"2 GB/s\", write_rate = \"1 GB/s\" }"], "load.mix={ write = \"30 %\" }"),
    ("load.mix.write", &["need={ rate = \"2 GB/s\", write_rate = \"1 GB/s\" }"], "load.mix.write=30 %"),
    ("load.access", &[], "load.access=random"),
    ("load.streams", &[SHARDS], "load.streams=3"),
    ("load.shuffle_buffer", &[SHARDS], "load.shuffle_buffer=1000"),
    ("load.run_length", &["load.access=neighbours"], "load.run_length=4"),
    ("load.cache", &[], "load.cache=cold"),
    ("load.fadvise", &["load.cache=cold"], "load.fadvise=random"),
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
    ("gate.utilization", &[FEEDS], "gate.utilization=95 %"),
    ("gate.p99", &[FEEDS], "gate.p99=10ms"),
    ("gate.at", &[FEEDS, "load.queue_depth=[1, 8]", "gate.p99=10ms"], "gate.at=8"),
    ("gate.evidence", &[FEEDS], "gate.evidence=proof"),
    ("gate.proof", &[FEEDS, PROVEN], "gate.proof={ runs = 5 }"),
    ("gate.proof.runs", &[FEEDS, PROVEN], "gate.proof.runs=5"),
    ("gate.proof.span", &[FEEDS, PROVEN], "gate.proof.span=8h"),
    ("gate.regression", &[], "gate={ regression = \"noise.json\" }"),
    ("gate.regression.throughput", &[P50], "gate.regression.throughput=10 %"),
    ("gate.regression.p50", &[P50], "gate.regression.p50=20 %"),
    ("gate.regression.p99", &[P50], "gate.regression.p99=10 %"),
    ("gate.regression.au", &[P50, TRAINING], "gate.regression.au=10 %"),
    ("gate.regression.cpu", &[P50], "gate.regression.cpu=10 %"),
    ("gate.baseline", &[P50], "gate.baseline=nightly"),
    ("gate.runs", &[P50], "gate.runs=12"),
    ("gate.may_differ", &[P50], "gate.may_differ=[\"host\", \"kernel\"]"),
    ("expect", &[], EXPECT),
    ("expect.claim", &[EXPECT], "expect.claim=other"),
    ("expect.source", &[EXPECT], "expect.source=an article"),
    ("expect.first_byte", &[EXPECT], "expect.first_byte=10ms"),
    ("expect.metadata", &[EXPECT], "expect.metadata=1ms"),
    ("expect.connection_rate", &[EXPECT], "expect.connection_rate=90 MB/s"),
    ("expect.total_rate", &[EXPECT], "expect.total_rate=25 Gb/s"),
    ("expect.requests_per_second", &[EXPECT], "expect.requests_per_second=5500"),
    ("expect.seek", &[EXPECT], "expect.seek=7.5ms"),
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
