//! Loads that write, from the scenario to the verdict.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::emulated::verdict;
use crate::ganesha;
use crate::harness::{Bench, DISK, by_count, network, scenario};
use crate::local::{GENERATED, ONCE, count, counted};

/// Reads and writes of one folder, through the page cache, kept as they end.
const BOTH: &str = r#"operation = ["read", "write"], "#;

/// The small scenario with a need of writes.
fn bench(load: &str) -> Bench {
    let bench = Bench::new();
    let text = scenario(DISK)
        .replace("need = { rate", "need = { write_rate")
        .replace("load = { ", &format!("load = {{ {load}"));
    bench.write("s.toml", &by_count(&text, r#"bytes = "1 MiB", repetitions = 3"#));
    bench
}

/// Every file of generated data, with its bytes.
fn bytes(bench: &Bench) -> BTreeMap<PathBuf, Vec<u8>> {
    bench.data_files().into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn writes_are_counted_read_again_and_change_no_data_that_is_read() {
    let bench = bench(BOTH);
    bench.run(&["prepare", "s.toml"]).exits(0);
    let before = bytes(&bench);
    bench.run(&["run", "s.toml"]).exits(0).says("written");
    let after = bytes(&bench);
    let changed = before.iter().filter(|(path, bytes)| after[*path] != **bytes).count();
    // Of two datasets of 64 files each; every window writes over a quarter of the second.
    assert_eq!((before.len(), after.len()), (128, 128));
    assert!((1..=64).contains(&changed), "{changed}");
    for rep in bench.reps() {
        assert_eq!(count(&rep, "bytes"), 1 << 20, "{rep}");
        assert!(count(&rep, "verified") > 0 && rep["errors"] == serde_json::json!({}), "{rep}");
    }
    let run = bench.run_json();
    assert_eq!(run["need"]["writes"], true);
    let cells = run["cells"].as_array().unwrap();
    let durability = |cell: &serde_json::Value| cell["durability"].as_str().map(str::to_owned);
    assert_eq!(cells.iter().filter_map(durability).collect::<Vec<_>>(), ["data", "data"]);
}

#[test]
fn what_was_written_over_is_used_again_and_cleaned_away() {
    let bench = bench("");
    let written = "disk: blocks of the dataset of 4 MiB, again and again";
    let first = bench.run(&["run", "s.toml"]).exits(0);
    assert!(first.err.contains(written), "{}", first.err);
    bench.run(&["plan", "s.toml"]).exits(0).says(written);
    let again = bench.run(&["prepare", "s.toml"]).exits(0);
    assert!(again.err.contains("WRITE nothing"), "it is complete although it was changed: {}", again.err);
    fs::write(bench.path("data/mine.txt"), "keep me").unwrap();
    bench.run(&["clean", "data"]).exits(0).says("removed 1 dataset");
    assert_eq!(fs::read_dir(bench.path("data")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(bench.path("data/mine.txt")).unwrap(), "keep me");
}

#[test]
fn a_plan_shows_the_line_of_each_share_that_is_judged() {
    let bench = Bench::new();
    let text = "version = 1\nneed = { rate = \"1 MB/s\", write_rate = \"1 MB/s\" }\n\
                dataset = { size = \"16 MiB\", sample_size = \"64 KiB\" }\n\
                load = { operation = \"mix\", mix = { write = [\"50 %\", \"10 %\"] } }\ntargets.disk.at = \"data\"\n";
    bench.write("s.toml", text);
    // The part that gets less of what it asks for decides.
    let ended =
        bench.run(&["check", "s.toml"]).exits(0).says("2 MB/s at 65,536 B a sample, 50 % of it written");
    ended.says("10 MB/s at 65,536 B a sample, 10 % of it written");
}

#[test]
fn data_of_the_users_are_never_written_over() {
    let bench = bench(BOTH);
    fs::create_dir(bench.path("data")).unwrap();
    fs::write(bench.path("data/photo.jpg"), [7; 9_000]).unwrap();
    let ended = bench.run(&["run", "s.toml", "--existing"]).exits(2);
    assert!(ended.err.contains("would change data of the user's"), "{}", ended.err);
    assert_eq!(fs::read(bench.path("data/photo.jpg")).unwrap(), [7; 9_000]);
}

#[test]
fn whole_files_are_written_anew_beside_blocks_and_reads_and_nothing_else_is_left() {
    let bench = bench(r#"operation = ["read", "write", "write_file"], "#);
    bench.run(&["prepare", "s.toml"]).exits(0);
    let before = bytes(&bench);
    let ran = bench.run(&["run", "s.toml"]).exits(0).says("files written anew");
    for parts in ["blocks", "files"] {
        let written = format!("disk: {parts} of the dataset of 4 MiB, again and again");
        assert!(ran.err.contains(&written), "{}", ran.err);
    }
    let after = bytes(&bench);
    // The read files, those that are written over, and no file of another name.
    assert!(before.len() == 128 && after.keys().eq(before.keys()));
    assert!(after.values().all(|bytes| bytes.len() == 64 << 10));
    let changed = before.iter().filter(|(path, bytes)| after[*path] != **bytes).count();
    assert!((1..=64).contains(&changed), "{changed}");
    for rep in bench.reps() {
        assert_eq!(count(&rep, "bytes"), 1 << 20, "{rep}");
        assert!(count(&rep, "verified") > 0 && rep["errors"] == serde_json::json!({}), "{rep}");
        if rep["cell"].as_str().unwrap().contains("write_file") {
            assert_eq!((count(&rep, "ops"), count(&rep, "opens")), (16, 16), "{rep}");
            for phase in ["create_ns", "write_ns", "sync_ns", "rename_ns"] {
                assert!(rep["histograms"][phase].is_string(), "{phase}: {rep}");
            }
        }
    }
}

#[test]
fn names_are_made_beside_files_that_stay_as_they_are_and_none_is_left() {
    let load = r#"operation = "names", queue_depth = 3"#;
    let bench = counted(GENERATED, load, r#"engine = "pread""#, ONCE);
    bench.run(&["prepare", "s.toml"]).exits(0);
    let (before, lay_there) = (bytes(&bench), bench.all_files());
    let ran = bench.run(&["run", "s.toml", "--full"]).exits(0);
    assert!(ran.prints("UNJUDGED  disk only names were asked for (names)"), "{}", ran.out);
    assert!(ran.err.contains("disk: names beside the files of the dataset of 4 MiB, again and again"));
    assert!(before.len() == 64 && bytes(&bench) == before);
    assert_eq!(bench.all_files(), lay_there, "not even under a name that no listing shows");
    for rep in bench.reps() {
        assert_eq!(
            (count(&rep, "ops"), count(&rep, "bytes"), &rep["errors"]),
            (64, 0, &serde_json::json!({}))
        );
        for phase in ["create_ns", "rename_ns", "remove_ns"] {
            assert!(rep["histograms"][phase].is_string(), "{phase}: {rep}");
        }
    }
    ran.says("where a request's time goes");
    bench.run(&["clean", "data"]).exits(0).says("removed 1 dataset");
}

#[test]
fn what_a_killed_process_has_not_renamed_is_cleaned_away() {
    let bench = bench(r#"operation = "write_file", "#);
    bench.run(&["run", "s.toml"]).exits(0);
    let beside = bench.data_files().into_iter().next().unwrap();
    fs::write(beside.parent().unwrap().join(".anew.0123456789abcdef.feedline-tmp"), "half").unwrap();
    let again = bench.run(&["prepare", "s.toml"]).exits(0);
    assert!(again.err.contains("WRITE nothing"), "it is no file of the dataset: {}", again.err);
    bench.run(&["clean", "data"]).exits(0).says("removed 1 dataset");
    assert_eq!(fs::read_dir(bench.path("data")).unwrap().count(), 0);
}

#[test]
fn whole_objects_of_different_sizes_are_put_into_a_bucket() {
    let bench = Bench::new();
    let targets = r#"targets.bucket = { at = "s3://demo/run", emulate = {} }
targets.disk = { at = "data" }"#;
    let text = network(r#"operation = "write_file""#, targets)
        .replace("need = { rate", "need = { write_rate")
        .replace(
            r#"sample_size = "64 KiB""#,
            r#"sample_size = "64 KiB", distribution = "lognormal", sample_size_stdev = "32 KiB""#,
        )
        // A disk of any kind: not all have direct I/O.
        .replace(r#"cache = "bypass", "#, "");
    bench.write("s.toml", &text);
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    assert_eq!(verdict(&ran.out, "bucket"), "DEMO");
    let run = bench.run_json();
    assert_eq!(run["need"]["writes"], true);
    let mut engines = Vec::new();
    for rep in bench.reps() {
        let cell = rep["cell"].as_str().unwrap().to_owned();
        assert!(count(&rep, "bytes") >= 900_000 && rep["errors"] == serde_json::json!({}), "{rep}");
        assert!(count(&rep, "verified") > 0, "{rep}");
        if cell.starts_with("bucket/") {
            assert!(rep["emulated"]["requests"].as_u64().unwrap() >= count(&rep, "ops"), "{rep}");
            assert!(
                rep["histograms"]["send_ns"].is_string() && rep["histograms"]["reply_ns"].is_string(),
                "{rep}"
            );
        }
        engines.push(cell.split('/').nth(1).unwrap().to_owned());
    }
    engines.sort();
    engines.dedup();
    assert_eq!(engines, ["lean", "pread"], "each by the engine that can");
}

#[test]
fn blocks_are_written_to_a_real_server_as_durable_as_is_asked() {
    let Some(server) = ganesha::start() else { return };
    let bench =
        ganesha::bench(&server, r#"operation = ["read", "write"], durability = ["data", "none"]"#, "");
    bench.run(&["run", "s.toml"]).exits(0);
    for rep in bench.reps() {
        assert!(count(&rep, "ops") > 0 && rep["errors"] == serde_json::json!({}), "{rep}");
        assert!(count(&rep, "verified") > 0, "{rep}");
    }
}

#[test]
fn a_mix_reads_and_writes_a_real_server_at_once() {
    let Some(server) = ganesha::start() else { return };
    let bench = ganesha::bench(&server, r#"operation = "mix", mix = { write = ["30 %", "70 %"] }"#, "");
    let text = fs::read_to_string(bench.path("s.toml")).unwrap();
    bench.write("s.toml", &text.replace("need = { rate", "need = { write_rate = \"1 MB/s\", rate"));
    let ended = bench.run(&["run", "s.toml"]).exits(0);
    ended.says("30 % of them written").says("at once");
    let reps = bench.reps();
    // In a repetition the last of each place may have been a read, which leaves no write to look for.
    assert!(reps.iter().map(|rep| count(rep, "verified")).sum::<u64>() > 0);
    for rep in reps {
        let share = count(&rep, "written_bytes") as f64 / count(&rep, "bytes") as f64;
        let asked = if rep["cell"].as_str().unwrap().contains("write-30%") { 0.3 } else { 0.7 };
        assert!((share - asked).abs() < 0.03, "{rep}");
        assert_eq!(rep["errors"], serde_json::json!({}), "{rep}");
    }
}
