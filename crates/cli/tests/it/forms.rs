//! Datasets of several forms: a list of shard sizes and one of codecs, each combination a dataset of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::harness::{Bench, DISK, finish};
use crate::local::{ONCE, count};
use crate::resume::stopped;

/// Of two codecs. Half of the bytes compress.
const CODECS: &str = "codec = [\"none\", \"gzip\"]\ncompressibility = \"50 %\"";
/// Of two shares that compress, and as many bytes: nothing packs them.
const SHARES: &str = "compressibility = [\"0 %\", \"50 %\"]";

/// 64 samples in tar shards of two sizes, and in each in several forms more.
fn bench(measure: &str, forms: &str) -> Bench {
    let bench = Bench::new();
    bench.write(
        "s.toml",
        &format!(
            r#"version = 1
need = {{ rate = "1 MB/s" }}
measure = {{ {measure} }}
{DISK}
[load]
queue_depth = 2
block_size = "64 KiB"
cache = "warm"
[dataset]
size = "4 MiB"
sample_size = "64 KiB"
layout = "webdataset"
shard_size = ["512 KiB", "1 MiB"]
{forms}
"#
        ),
    );
    bench
}

/// Shards of a folder, by the end of their names.
fn shards(bench: &Bench, folder: &str, extension: &str) -> usize {
    let shards = fs::read_dir(bench.path("data").join(folder).join("000000")).unwrap();
    shards.filter(|shard| shard.as_ref().unwrap().file_name().to_string_lossy().ends_with(extension)).count()
}

#[test]
fn each_form_is_written_read_whole_named_and_cleaned() {
    let bench = bench(ONCE, CODECS);
    bench.run(&["prepare", "s.toml"]).exits(0);
    let folders = || {
        let entries = fs::read_dir(bench.path("data")).into_iter().flatten();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("feedline-")).collect::<Vec<_>>()
    };
    let mut written: Vec<[usize; 2]> =
        folders().iter().map(|folder| [".tar", ".tar.gz"].map(|end| shards(&bench, folder, end))).collect();
    written.sort_unstable();
    assert_eq!(written, [[0, 4], [0, 8], [4, 0], [8, 0]]);
    let page = bench.run(&["run", "s.toml", "--full"]).exits(0).says("1 MiB shards").says("codec gzip");
    assert!(page.prints("512 KiB shards") && page.prints("codec none"), "{}", page.out);

    let run = bench.run_json();
    let datasets = run["datasets"].as_array().unwrap();
    let is_smaller = |at: usize| datasets[at]["bytes"].as_u64() < datasets[at - 1]["bytes"].as_u64();
    assert_eq!(datasets.iter().map(|one| one["files"].as_u64().unwrap()).collect::<Vec<_>>(), [8, 8, 4, 4]);
    assert!(
        datasets.iter().all(|one| one["samples"] == 64) && is_smaller(1) && is_smaller(3),
        "{datasets:?}"
    );

    let cells = run["cells"].as_array().unwrap();
    let names: BTreeSet<&str> = cells.iter().map(|cell| cell["cell"].as_str().unwrap()).collect();
    assert_eq!((cells.len(), names.len()), (4, 4));
    for rep in bench.reps() {
        let cell = cells.iter().find(|cell| cell["cell"] == rep["cell"]).unwrap();
        let dataset = &datasets[cell["dataset"].as_u64().unwrap() as usize];
        assert_eq!((&rep["outcome"], &rep["errors"]), (&"complete".into(), &serde_json::json!({})), "{rep}");
        assert_eq!(Some(count(&rep, "bytes")), dataset["bytes"].as_u64(), "{rep}");
    }
    exported(&bench);
    bench.run(&["clean", "s.toml"]).exits(0);
    assert_eq!(folders(), Vec::<String>::new());
}

/// Each line of the export says of which form its cell is.
fn exported(bench: &Bench) {
    let folder = bench.run_folder();
    let lines = bench.run(&["export", folder.to_str().unwrap(), "--format", "jsonl"]).exits(0).out;
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let forms: BTreeSet<(u64, String)> = lines
        .map(|line| (line["shard_bytes"].as_u64().unwrap(), line["codec"].as_str().unwrap().to_owned()))
        .collect();
    let expected = [512 << 10, 1 << 20].map(|bytes| ["gzip", "none"].map(|codec| (bytes, codec.to_owned())));
    assert_eq!(forms, expected.into_iter().flatten().collect());
}

/// Words of whatever is printed, however it is folded.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_plan_tells_datasets_of_as_many_bytes_apart() {
    let plan = bench(ONCE, SHARES).run(&["plan", "s.toml"]).exits(0).out;
    let data: BTreeSet<&str> = plan.lines().filter(|line| line.starts_with("data ")).collect();
    assert_eq!(data.len(), 4, "{plan}");
    for form in ["512 KiB shards, 0 % compressible", "1 MiB shards, 50 % compressible"] {
        assert!(data.iter().any(|line| line.contains(&format!("disk, {form}: "))), "{plan}");
    }
}

#[test]
fn every_page_of_a_verdict_says_of_which_form_it_is() {
    let bench = bench(r#"bytes = "64 MiB", repetitions = 7"#, SHARES);
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    // From memory a thousand times the line; where others take the processors the page says so.
    ran.feeds();
    let run = bench.run_json();
    assert_eq!(run["datasets"].as_array().unwrap().len(), 4);
    let sizes: BTreeSet<u64> = run["datasets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["sample_bytes"].as_f64().unwrap() as u64)
        .collect();
    assert!(sizes.len() <= 2, "forms of one shard size store as much: {sizes:?}");

    let folder = bench.run_folder();
    let folder = folder.to_str().unwrap();
    let judged = bench.reps().into_iter().find(|rep| rep["role"] == "confirm").expect("a cell was confirmed");
    let cell = run["cells"].as_array().unwrap().iter().find(|cell| cell["cell"] == judged["cell"]).unwrap();
    let value = |name: &str| {
        let axes = cell["axes"].as_array().unwrap();
        axes.iter().find(|axis| axis["name"] == name).unwrap()["value"].as_str().unwrap().to_owned()
    };
    let shards = if value("shard_size") == "524288" { "512 KiB" } else { "1 MiB" };
    let form = format!("(pread, {shards} shards, {} % compressible)", value("compressibility"));
    let answer = finish(bench.bare(&["report", folder])).exits(0).out;
    let pages =
        ["report.md", "report.html"].map(|name| fs::read_to_string(bench.run_folder().join(name)).unwrap());
    for page in pages.iter().chain([&ran.out, &answer]) {
        assert!(words(page).contains(&form), "{form}:\n{page}");
    }
    let object = finish(bench.bare(&["report", folder, "--json"])).exits(0).out;
    let object: Value = serde_json::from_str(&object).unwrap();
    assert!(object["verdicts"][0]["sentence"].as_str().unwrap().contains(&form), "{object:#}");
}

#[test]
fn a_run_that_was_killed_goes_on_with_the_forms_that_are_missing() {
    let bench = bench(r#"bytes = "1 MiB", repetitions = 12"#, SHARES);
    let folder = stopped(&bench, &["run", "s.toml"], libc::SIGKILL, 5);
    bench.run(&["run", "--resume", &folder]).exits(0);
    let mut made: BTreeMap<(String, String), u32> = BTreeMap::new();
    for rep in bench.reps().iter().filter(|rep| rep["role"] == "measure") {
        let cell = rep["cell"].as_str().unwrap();
        let part = |word: &str| cell.split('/').find(|part| part.starts_with(word)).unwrap().to_owned();
        *made.entry((part("shards-"), part("compressible-"))).or_default() += 1;
    }
    assert_eq!(made.into_values().collect::<Vec<_>>(), [12; 4]);
}
