//! The committed JSON Schema: fresh, and equal to what the reader accepts.

use std::collections::BTreeSet;
use std::path::PathBuf;

use scenario::Source;
use serde_json::Value;

use crate::machine::machine;

const REGENERATE: &str = "FEEDLINE_SCHEMA=write cargo test -p scenario";

fn committed() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schema/scenario-v1.json")
}

#[test]
fn the_committed_schema_is_fresh() {
    let fresh = scenario::schema_json();
    if std::env::var_os("FEEDLINE_SCHEMA").is_some_and(|value| value == "write") {
        std::fs::write(committed(), &fresh).unwrap();
    }
    let found = std::fs::read_to_string(committed()).unwrap_or_default();
    assert!(found == fresh, "schema/scenario-v1.json is stale; run: {REGENERATE}");
}

pub(crate) fn schema() -> Value {
    serde_json::from_str(&scenario::schema_json()).unwrap()
}

/// Dotted keys of the schema; the tables of `targets` are `targets.*`.
pub(crate) fn schema_keys() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    collect(&schema(), "", &mut keys);
    keys
}

fn collect(schema: &Value, path: &str, keys: &mut BTreeSet<String>) {
    let dotted = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for (key, below) in schema["properties"].as_object().into_iter().flatten() {
        keys.insert(dotted(key));
        collect(below, &dotted(key), keys);
    }
    for form in schema["anyOf"].as_array().into_iter().flatten() {
        collect(form, path, keys);
    }
    if schema["additionalProperties"].is_object() {
        collect(&schema["additionalProperties"], &dotted("*"), keys);
    }
}

/// Dotted keys that the reader knows, from what it says of an unknown key in each table.
pub(crate) fn accepted_keys() -> BTreeSet<String> {
    let text = "_ = 1\nneed._ = 1\nneed.checkpoint._ = 1\ndataset._ = 1\ntargets.t._ = 1\n\
                targets.t.about._ = 1\ntargets.t.price._ = 1\ntargets.t.emulate._ = 1\n\
                targets.t.emulate.first_byte._ = 1\ntargets.t.emulate.metadata._ = 1\n\
                targets.t.emulate.faults._ = 1\ntargets.t.emulate.request_burst._ = 1\n\
                targets.t.emulate.rate_burst._ = 1\nload._ = 1\nload.mix._ = 1\ncache_tier._ = 1\ntraining._ = 1\ntraining.decode._ = 1\ncheckpoint._ = 1\nmeasure._ = 1\ngate._ = 1\n\
                gate.regression._ = 1\ngate.proof._ = 1\nexpect._ = 1\ncopy._ = 1\n";
    let source = Source { name: "keys.toml".to_owned(), text: text.to_owned() };
    let scenario = scenario::parse(&source, &[]);
    let shown = scenario::resolve(&scenario, &machine(&[])).unwrap_err().to_string();
    let mut keys = BTreeSet::new();
    let mut table = String::new();
    for line in shown.lines() {
        if let Some(rest) = line.strip_prefix("error: ") {
            let place = rest.strip_prefix("unknown key `_` in `").and_then(|rest| rest.strip_suffix('`'));
            table = place
                .map(|place| format!("{}.", place.replace("targets.t", "targets.*")))
                .unwrap_or_default();
        }
        if let Some((_, known)) = line.split_once("known keys: ") {
            keys.extend(known.split(", ").map(|key| format!("{table}{key}")));
        }
    }
    keys
}

/// Every object of the schema is closed, so that an editor marks what the reader refuses.
#[test]
fn tables_of_the_schema_are_closed_and_every_key_is_described() {
    fn visit(schema: &Value, place: &str) {
        if let Some(properties) = schema["properties"].as_object() {
            assert_eq!(schema["additionalProperties"], Value::Bool(false), "{place} is open");
            for (key, below) in properties {
                assert!(below["description"].is_string(), "{place}.{key} has no description");
                visit(below, &format!("{place}.{key}"));
            }
        }
        for form in schema["anyOf"].as_array().into_iter().flatten() {
            visit(form, place);
        }
        if schema["additionalProperties"].is_object() {
            visit(&schema["additionalProperties"], place);
        }
    }
    visit(&schema(), "scenario");
}

/// What the schema refuses is refused by the reader, and the reverse, as far as single values go.
#[test]
fn the_schema_agrees_with_the_reader_on_values() {
    assert_agreed(&[
        "checkpoint = { model = \"llama3-8b\", scale = \"1/64\" }",
        "checkpoint = { model = \"llama3-8b\", size = \"1 GB\" }",
        "checkpoint = { scale = 0.5 }",
        "checkpoint = { size = \"1 GB\", scale = 1.5 }",
        "checkpoint = { size = \"1 GB\", scale = \"half\" }",
        "checkpoint = { size = \"1 GB\", keep = 0 }",
        "checkpoint = { model = \"llama3-9b\" }",
        "load.queue_depth = \"auto\"",
        "load.queue_depth = [1, 8]",
        "load.queue_depth = [1, 1]",
        "load.queue_depth = []",
        "load.queue_depth = 0",
        "load.queue_depth = 4097",
        "load.queue_depth = \"8\"",
        "load.block_size = \"64 KiB\"",
        "load.block_size = \"64KiB\"",
        "load.block_size = \"4k\"",
        "load.block_size = 4096",
        "load.access = [\"random\", \"sequential\"]",
        "load.access = \"zipf\"",
        "load.mode = \"training\"",
        "load.mode = \"trained\"",
        "load.mode = \"paced\"",
        "load = { mode = \"paced\", rate = \"line\" }",
        "load = { mode = \"paced\", rate = [\"80 %\", \"2.5%\", \"2 GB/s\", \"25 Gb/s\"] }",
        "load = { mode = \"paced\", rate = \"half\" }",
        "load = { mode = \"paced\", rate = \"80\" }",
        "load = { mode = \"paced\", rate = 0.8 }",
        "load = { mode = \"paced\", arrivals = \"poisson\", spin = \"60us\" }",
        "load = { mode = \"paced\", arrivals = [\"poisson\"] }",
        "load = { mode = \"paced\", arrivals = \"batch\", batch = 0 }",
        "load.operation = [\"read\", \"read_file\", \"stat\"]",
        "load.operation = \"erase\"",
        "load.cache = \"dontcache\"",
        "load.submit_batch = 0",
        "load = { queue_depth = 8, submit_batch = 8 }",
        "targets.u = { at = \"/mnt/u\", engine = \"mmap\", madvise = [\"random\", \"willneed\"] }",
        "targets.u = { at = \"/mnt/u\", engine = \"mmap\", madvise = \"dontneed\" }",
        "dataset = { distribution = \"lognormal\", sample_size_stdev = \"50 kB\" }",
        "dataset.distribution = \"normal\"",
        "dataset.files_per_folder = 1000000",
        "dataset.files_per_folder = 0",
        "measure.duration = \"250ms\"",
        "measure.duration = \"1.5 min\"",
        "measure.duration = 10",
        "measure.duration = \"10\"",
        "measure.repetitions = 0",
        "measure.repetitions = 100",
        "measure.unknown = 1",
        "targets.u = { at = \"s3://b\" }",
        "targets.u = { at = \"s3://bucket/a/b\" }",
        "targets.u = { at = \"s3://bucket?region=x\" }",
        "targets.u = { at = \"s3://-bucket\" }",
        "targets.u = { at = \"nfs://filer/export\" }",
        "targets.u = { at = \"nfs://[fd00::1]:2049/export\" }",
        "targets.u = { at = \"nfs://filer/export?nfsport=2049&mountport=20048\" }",
        "targets.u = { at = \"nfs://filer\" }",
        "targets.u = { at = \"nfs://user@filer/export\" }",
        "targets.u = { at = \"gs://bucket\" }",
        "targets.u = { at = \"gs://bucket/a\", endpoint = \"https://private.googleapis.com\" }",
        "targets.u = { at = \"az://container\" }",
        "targets.u = { at = \"nfs://filer/e\", connections = [1, 4000] }",
        "targets.u = { at = \"s3://bucket\", connections = 4097 }",
        "targets.u = { at = \"s3://bucket\", connections = 0 }",
        "targets.u = { at = \"s3://bucket\", retries = 11 }",
        "targets.u = { at = \"s3://bucket\", retries = 0, addresses = \"all\", style = \"path\" }",
        "targets.u = { at = \"s3://bucket\", style = \"dns\" }",
        "targets.u = { at = \"s3://bucket\", endpoint = \"https://10.0.0.1:9000\" }",
        "targets.u = { at = \"s3://bucket\", endpoint = \"10.0.0.1:9000\" }",
        "targets.u = { at = \"s3://bucket\", endpoint = \"https://key:secret@host\" }",
        "targets.u = { at = \"s3://bucket\", price = { currency = \"USD\", per_gb = 0 } }",
        "targets.u = { at = \"s3://bucket\", price = { per_gb = 0.09 } }",
        "targets.u = { at = \"s3://bucket\", price = { currency = \"USD\", per_gb = -1 } }",
        "targets.u = { at = \"/mnt/u\", about = { product = \"x\", nodes = 3, publish = false } }",
        "targets.u = { at = \"/mnt/u\", about = { model = \"x\" } }",
        "targets.u = { at = \"/mnt/u\", about = 3 }",
        "targets.u = { at = \"nfs://a/b\", emulate = { profile = \"nfs-1gbe-like\", first_byte = \"20ms\" } }",
        "targets.u = { at = \"nfs://a/b\", emulate = { profile = \"tape-like\" } }",
        "targets.u = { at = \"nfs://a/b\", emulate = { metadata = { from = \"1ms\", to = \"2ms\" } } }",
        "targets.u = { at = \"nfs://a/b\", emulate = { metadata = { from = \"1ms\" } } }",
        "targets.u = { at = \"nfs://a/b\", emulate = { metadata = 20 } }",
        "targets.u = { at = \"nfs://a/b\", emulate = { faults = { stale = 0, reset = 1 } } }",
        "targets.u = { at = \"nfs://a/b\", emulate = { faults = { reset = 1.5 } } }",
        "targets.u = { at = \"/mnt/u\", emulate = { requests_per_second = 300, request_burst = { per_second = 3000, credits = 5.4e6 } } }",
        "targets.u = { at = \"/mnt/u\", emulate = { total_rate = \"40 MB/s\", rate_burst = { rate = \"250 MB/s\" } } }",
        "targets.u = { at = \"/mnt/u\", emulate = { total_rate = \"40 MB/s\", rate_burst = { credits = \"1 TiB\" } } }",
        "targets.u = { at = \"nfs://a/b\", emulate = {} }",
        "targets.u = { at = \"~/b\" }",
        "targets.u = { at = \"null:\" }",
        "targets.u = { title = \"no address\" }",
        "targets.\"a b\" = { at = \"/mnt/u\" }",
        "dataset.size = \"1,024 MiB\"",
        "dataset.seed = -1",
        "title = \"\"",
    ]);
}

#[test]
fn the_schema_agrees_with_the_reader_on_gates() {
    assert_agreed(&[
        "gate.feeds = [\"t\"]",
        "gate.feeds = \"t\"",
        "gate.p99 = \"1ms\"",
        "gate = {}",
        "gate = { feeds = [\"t\"], utilization = 0.95 }",
        "gate = { feeds = [\"t\"], utilization = \"95 %\" }",
        "gate = { feeds = [\"t\"], utilization = 95 }",
        "gate.utilization = 0.95",
        "load.queue_depth = [1, 8]\ngate = { feeds = [\"t\"], p99 = \"1ms\", at = 8 }",
        "gate = { feeds = [\"t\"], at = 8 }",
        "gate.regression = \"noise.json\"",
        "gate.regression = \"10 %\"",
        "gate.regression = {}",
        "gate.regression = { throughput = \"10 %\", p50 = \"0.5 %\", p99 = \"25%\", cpu = \"100 %\" }",
        "gate.regression = { throughput = 0.1 }",
        "gate.regression = { latency = \"10 %\" }",
        "gate = { regression = { p50 = \"1 %\" }, baseline = \"nightly\", runs = 3, may_differ = [\"driver\"] }",
        "gate = { regression = { p50 = \"1 %\" }, baseline = \"../runs of May/\" }",
        "gate = { regression = { p50 = \"1 %\" }, baseline = \"runs of May\" }",
        "gate = { regression = { p50 = \"1 %\" }, baseline = \"..\" }",
        "gate = { regression = { p50 = \"1 %\" }, runs = 2 }",
        "gate = { regression = { p50 = \"1 %\" }, may_differ = \"host\" }",
        "gate = { regression = { p50 = \"1 %\" }, may_differ = [\"device\"] }",
        "gate = { feeds = [\"t\"], baseline = \"nightly\" }",
        "gate = { feeds = [\"t\"], runs = 8 }",
        "gate = { feeds = [\"t\"], may_differ = [\"host\"] }",
    ]);
}

#[test]
fn the_schema_agrees_with_the_reader_on_training_jobs() {
    assert_agreed(&[
        "load.mode = \"training\"\ntraining = { readers = [1, 64], prefetch = [0, 100], steps = 10 }",
        "load.mode = \"training\"\ntraining.readers = 0",
        "load.mode = \"training\"\ntraining.readers = 513",
        "load.mode = \"training\"\ntraining.prefetch = 1025",
        "load.mode = \"training\"\ntraining.accelerators = [1, 8]",
        "load.mode = \"training\"\ntraining.accelerators = 4097",
        "load.mode = \"training\"\ntraining = { batch = 200, compute_time = \"112ms\", barrier = true }",
        "load.mode = \"training\"\ntraining.batch = 0",
        "load.mode = \"training\"\ntraining.compute_time = 224",
        "load.mode = \"training\"\ntraining.decode = \"checksum\"",
        "load.mode = \"training\"\ntraining.decode = \"png\"",
        "load.mode = \"training\"\ntraining.decode = \"webp\"",
        "load.mode = \"training\"\ntraining.decode = { cost = \"6ms\", threads = 4 }",
        "load.mode = \"training\"\ntraining.decode = { with = \"checksum\", cost = \"6ms\" }",
        "load.mode = \"training\"\ntraining.decode = { threads = 4 }",
        "load.mode = \"training\"\ntraining.decode = { with = \"checksum\", threads = 0 }",
        "load.mode = \"training\"\ntraining = { startup = \"0s\", price = 2.5 }",
        "load.mode = \"training\"\ntraining.price = 0",
    ]);
}

/// Each line is added to a short scenario.
fn assert_agreed(cases: &[&str]) {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    for case in cases {
        let text =
            format!("version = 1\nneed = \"8xh100:resnet50\"\ntargets.t = {{ at = \"/mnt/t\" }}\n{case}\n");
        let value: toml::Value = toml::from_str(&text).unwrap();
        let valid = validator.is_valid(&serde_json::to_value(value).unwrap());
        let resolved = crate::machine::resolve(&text);
        assert_eq!(
            valid,
            resolved.is_ok(),
            "{case}: {}",
            resolved.err().map(|e| e.to_string()).unwrap_or_default()
        );
    }
}
