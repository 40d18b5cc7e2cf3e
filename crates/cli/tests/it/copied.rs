//! Datasets that are copied from one target to another.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Bench, network};
use crate::local::count;

const NEAR: &str = r#"targets.near = { at = "near", engine = "pread" }"#;
const FAR: &str = r#"targets.far = { at = "far", engine = "pread" }"#;
const BUCKET: &str = r#"targets.far = { at = "s3://demo/run", emulate = { first_byte = "1ms" } }"#;

fn bench(far: &str, copy: &str) -> Bench {
    let bench = Bench::new();
    let copy = format!(r#"copy = {{ from = "far", to = "near", threads = 3, {copy} }}"#);
    bench.write("s.toml", &network("", &[far, NEAR, &copy].join("\n")));
    bench
}

/// The repetitions of the copy.
fn copies(bench: &Bench) -> Vec<Value> {
    let cell = bench.run_json()["cells"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&cell["operation"], &cell["copy"]["to"]), (&"copy".into(), &"near".into()), "{cell}");
    let reps = bench.reps();
    reps.into_iter().filter(|rep| rep["cell"] == cell["cell"]).collect()
}

fn copied_folders(bench: &Bench) -> Vec<PathBuf> {
    let entries = fs::read_dir(bench.path("near")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("feedline-copy-")).collect()
}

#[test]
fn a_dataset_is_copied_whole_in_each_repetition_and_nothing_is_left() {
    for far in [FAR, BUCKET] {
        let bench = bench(far, "");
        bench.run(&["run", "s.toml"]).exits(0);
        bench.assert_looked_at();
        let copies = copies(&bench);
        assert!(copies.len() >= 3, "{copies:?}");
        for rep in &copies {
            assert_eq!(
                (&rep["outcome"], &rep["errors"]),
                (&"complete".into(), &serde_json::json!({})),
                "{rep}"
            );
            assert_eq!(
                [count(rep, "ops"), count(rep, "bytes"), count(rep, "written_bytes")],
                [16, 1 << 20, 1 << 20]
            );
            assert!(count(rep, "first_object_ns") > 0 && count(rep, "verified") > 0, "{rep}");
        }
        assert_eq!(copied_folders(&bench), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_copy_that_is_kept_is_the_last_one_and_is_cleaned_up() {
    let bench = bench(FAR, r#"keep = true, pack = "webdataset", shard_size = "300 kB""#);
    bench.run(&["run", "s.toml"]).exits(0);
    let cell = bench.run_json()["cells"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(cell["copy"]["layout"], "webdataset");
    for rep in copies(&bench) {
        assert_eq!([count(&rep, "ops"), count(&rep, "bytes")], [4, 1 << 20], "{rep}");
        assert!(count(&rep, "written_bytes") > 1 << 20, "{rep}");
    }
    let folders = copied_folders(&bench);
    assert_eq!(folders.len(), 1, "{folders:?}");
    let shards = fs::read_dir(folders[0].join("000000")).unwrap().count();
    assert_eq!(shards, 4);
    let cleaned = bench.run(&["clean", "s.toml"]).exits(0).out;
    assert!(!cleaned.contains("left, not made by feedline"), "{cleaned}");
    assert_eq!(fs::read_dir(bench.path("near")).unwrap().count(), 0, "{cleaned}");
}
