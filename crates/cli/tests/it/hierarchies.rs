//! Datasets of HDF5 that feedline writes, beside tar shards: read by index and as streams.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Bench, DISK};
use crate::local::{ONCE, count};

const SAMPLES: u64 = 100;
const SAMPLE_BYTES: u64 = 8192;

/// 100 samples in shards of 80 and of 20: two leaves of an index, and one.
fn bench(layouts: &str, codecs: &str, access: &str) -> Bench {
    let bench = Bench::new();
    let scenario = format!(
        r#"version = 1
need = {{ rate = "1 MB/s" }}
measure = {{ {ONCE} }}
{DISK}
dataset = {{ samples = {SAMPLES}, sample_size = "{SAMPLE_BYTES} B", shard_size = "640 KiB", layout = {layouts}{codecs} }}
load = {{ queue_depth = 2, cache = "warm", access = {access} }}
"#
    );
    bench.write("s.toml", &scenario);
    bench
}

/// Runs it, and gives each repetition with its dataset.
fn run(bench: &Bench) -> Vec<(Value, Value)> {
    bench.run(&["run", "s.toml"]).exits(0);
    let run = bench.run_json();
    let dataset_of = |rep: &Value| {
        let cells = run["cells"].as_array().unwrap();
        let cell = cells.iter().find(|cell| cell["cell"] == rep["cell"]).unwrap();
        run["datasets"][cell["dataset"].as_u64().unwrap() as usize].clone()
    };
    let reps: Vec<_> = bench.reps().into_iter().map(|rep| (dataset_of(&rep), rep)).collect();
    for (_, rep) in &reps {
        assert_eq!((&rep["outcome"], &rep["errors"]), (&"complete".into(), &json!({})), "{rep}");
    }
    reps
}

#[test]
fn a_sample_is_a_chunk_that_is_read_by_index_packed_or_not() {
    let bench = bench(
        r#""hdf5""#,
        r#", codec = ["none", "gzip"], compressibility = "50 %""#,
        r#"["random", "shuffled_epoch"]"#,
    );
    let reps = run(&bench);
    assert!(!reps.is_empty());
    for (dataset, rep) in &reps {
        assert_eq!((&dataset["layout"], &dataset["samples"]), (&"hdf5".into(), &SAMPLES.into()), "{dataset}");
        assert_eq!(count(rep, "ops"), SAMPLES, "{rep}");
        let is_packed = dataset["packing"].to_string().contains("gzip");
        let plain = SAMPLES * SAMPLE_BYTES;
        let read = count(rep, "bytes");
        assert!(if is_packed { (plain / 3..plain * 2 / 3).contains(&read) } else { read == plain }, "{rep}");
        // Nothing says what packed bytes should be.
        assert_eq!(count(rep, "verified") > 0, !is_packed, "{rep}");
    }
    bench.run(&["clean", "s.toml"]).exits(0);
    assert_eq!(fs::read_dir(bench.path("data")).into_iter().flatten().count(), 0);
}

#[test]
fn files_of_hdf5_are_streamed_from_end_to_end_beside_tar_shards() {
    let bench = bench(r#"["webdataset", "hdf5"]"#, "", r#""shuffled_shards""#);
    let reps = run(&bench);
    for layout in ["webdataset", "hdf5"] {
        assert!(reps.iter().any(|(dataset, _)| dataset["layout"] == layout), "{layout}");
    }
    for (dataset, rep) in &reps {
        assert_eq!(Some(count(rep, "bytes")), dataset["bytes"].as_u64(), "{rep}");
    }
}
