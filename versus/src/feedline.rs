//! feedline as one of the two: its scenario, its command lines, its record.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use crate::case::{Access, Case, Data, Kept, Moves};
use crate::data::Place;
use crate::fio;
use crate::process::{Call, Report};

const HINT: &str = "cargo build --release -p feedline, or --feedline PATH";

/// A call of feedline.
pub(crate) fn call(program: &Path, args: &[&str]) -> Call {
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    Call { program: program.to_owned(), args, env: Vec::new(), hint: HINT }
}

/// A call of one process of feedline's for each of these folders of results, all at once. The shell waits for them, so that what they
/// used is counted, fails where one of them does, and ends them where it is ended.
pub(crate) fn side_by_side(program: &Path, scenario: &str, results: impl Iterator<Item = PathBuf>) -> Call {
    let script = r#"program=$1 scenario=$2 pids=; shift 2
trap 'kill $pids; exit 130' INT TERM
for results; do "$program" run "$scenario" --results "$results" --no-progress & pids="$pids $!"; done
for pid in $pids; do wait "$pid" || exit; done"#;
    let args = ["-c", script, "sh"].map(str::to_owned).into_iter();
    let named = [program.display().to_string(), scenario.to_owned()].into_iter();
    let results = results.map(|path| path.display().to_string());
    let args = args.chain(named).chain(results).collect();
    Call { program: "/bin/sh".into(), args, env: Vec::new(), hint: HINT }
}

/// The scenario of a case by so many threads, with a window of this length: each has its share of the depth.
pub(crate) fn scenario(case: &Case, place: &Place, window_s: f64, threads: u32) -> String {
    let at = quoted(&place.at.to_string_lossy());
    format!(
        "version = 1\n\
         title = {title}\n\
         need = {{ {need} }}\n\
         dataset = {{ {dataset} }}\n\
         targets.data = {{ at = {at}{engine} }}\n\
         load = {{ {load} }}\n\
         measure = {{ warmup = \"0s\", duration = \"{window_s}s\", repetitions = 1 }}\n",
        need = need(case),
        dataset = dataset(place.data),
        title = quoted(&format!("versus: {}", case.name)),
        engine = engine(case),
        load = load(case, threads),
    )
}

/// A rate that is read, written, or both: what is asked for decides what is done by default.
fn need(case: &Case) -> &'static str {
    match case.work.moves() {
        Moves::Reads => "rate = \"1 GB/s\"",
        Moves::Writes => "write_rate = \"1 GB/s\"",
        Moves::Both => "rate = \"1 GB/s\", write_rate = \"1 GB/s\"",
    }
}

fn dataset(data: Data) -> String {
    match data {
        Data::File { bytes } | Data::Written { bytes } => format!("samples = 1, sample_size = \"{bytes} B\""),
        Data::Files { count, bytes } => format!("samples = {count}, sample_size = \"{bytes} B\""),
        Data::Null => "samples = 1, sample_size = \"64 MiB\"".to_owned(),
        Data::Device => "source = \"existing\", sample_size = \"1 MiB\"".to_owned(),
    }
}

/// The null target has one of its own.
fn engine(case: &Case) -> String {
    if case.data == Data::Null { String::new() } else { format!(", engine = {}", quoted(case.work.engine)) }
}

fn load(case: &Case, threads: u32) -> String {
    let work = &case.work;
    let access = match work.access {
        Access::Random => "random",
        Access::Sequential => "sequential",
    };
    let mut keys = vec![
        format!("queue_depth = {}", work.queue_depth / work.threads * threads),
        format!("threads = {threads}"),
        format!("block_size = \"{} B\"", work.block_bytes),
        format!("access = \"{access}\""),
    ];
    if case.data != Data::Null {
        let cache = if work.direct { "bypass" } else { "warm" };
        keys.push(format!("cache = \"{cache}\""));
    }
    keys.extend(work.writes.map(|kept| {
        let word = match kept {
            Kept::Unpromised => "none",
            Kept::Dsync => "data",
        };
        format!("durability = \"{word}\"")
    }));
    keys.extend(work.mixed.map(|percent| format!("mix = {{ write = \"{percent} %\" }}")));
    if matches!(case.data, Data::Files { .. }) {
        keys.push("operation = \"read_file\"".to_owned());
    }
    if fio::takes_huge_pages(case) {
        // As fio has them at its best.
        keys.push("pages = \"huge\"".to_owned());
    }
    keys.extend(work.submit_batch.map(|batch| format!("submit_batch = {batch}")));
    keys.extend(work.complete_batch.map(|batch| format!("complete_batch = {batch}")));
    keys.join(", ")
}

/// A TOML basic string. JSON's escapes are among those of TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Reads the record of the one run in `results`.
pub(crate) fn report(results: &Path) -> Result<Report> {
    let runs: Vec<PathBuf> = fs::read_dir(results)
        .with_context(|| format!("feedline left no record in {}", results.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    let [run] = runs.as_slice() else {
        bail!("feedline left {} records in {}, not one", runs.len(), results.display())
    };
    let cells = run.join("cells.jsonl");
    let text = fs::read_to_string(&cells).with_context(|| format!("cannot read {}", cells.display()))?;
    parse(&text)
}

/// The parts of a line of `cells.jsonl` that count here.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(rename = "line")]
    kind: String,
    #[serde(default)]
    outcome: serde_json::Value,
    #[serde(default)]
    window_ns: u64,
    #[serde(default)]
    counters: BTreeMap<String, u64>,
    #[serde(default)]
    errors: BTreeMap<String, u64>,
    #[serde(default)]
    granted: BTreeMap<String, String>,
}

/// Adds up all repetitions of a run: the judged process made them all. The window is theirs together.
fn parse(cells: &str) -> Result<Report> {
    let mut total = Report::default();
    for text in cells.lines() {
        let line: Line = serde_json::from_str(text).context("cannot read a line of cells.jsonl")?;
        if line.kind != "rep" {
            continue;
        }
        if line.outcome != "complete" {
            bail!("a repetition of feedline's was not completed: {}", line.outcome);
        }
        if !line.errors.is_empty() {
            bail!("reads of feedline's failed: {:?}", line.errors);
        }
        let counted = |name: &str| line.counters.get(name).copied();
        let (Some(ops), Some(bytes)) = (counted("ops"), counted("bytes")) else {
            bail!("a repetition in cells.jsonl has no counters `ops` and `bytes`")
        };
        total.ops += ops + counted("warmup_ops").unwrap_or(0);
        total.bytes += bytes;
        total.window_s += line.window_ns as f64 / 1e9;
        total.granted = line.granted;
    }
    if total.ops == 0 {
        bail!("feedline made no read");
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::CASES;

    fn case(name: &str) -> &'static Case {
        CASES.iter().find(|case| case.name == name).unwrap()
    }

    #[test]
    fn the_scenario_says_all_that_the_case_says() {
        let case = case("seq-direct-128k-qd8-batch2");
        let place = Place { at: "a \"b\"".into(), data: case.data };
        let expected = r#"version = 1
title = "versus: seq-direct-128k-qd8-batch2"
need = { rate = "1 GB/s" }
dataset = { samples = 1, sample_size = "4294967296 B" }
targets.data = { at = "a \"b\"", engine = "io_uring" }
load = { queue_depth = 8, threads = 1, block_size = "131072 B", access = "sequential", cache = "bypass", pages = "huge", submit_batch = 2 }
measure = { warmup = "0s", duration = "0.5s", repetitions = 1 }
"#;
        assert_eq!(scenario(case, &place, 0.5, 1), expected);
    }

    #[test]
    fn whole_files_and_devices_say_so() {
        let files = case("files-4k-warm-pread");
        let text = scenario(files, &Place { at: "d".into(), data: files.data }, 3.0, 1);
        assert!(text.contains("samples = 20000, sample_size = \"4096 B\""), "{text}");
        assert!(!text.contains("pages"), "a blocking engine of fio has ordinary ones: {text}");
        assert!(text.contains("operation = \"read_file\"") && text.contains("\"3s\""), "{text}");
        let device = case("direct-4k-qd32");
        let text = scenario(device, &Place { at: "/dev/zram9".into(), data: device.data }, 3.0, 1);
        assert!(text.contains("source = \"existing\"") && text.contains("at = \"/dev/zram9\""), "{text}");
        let null = case("workers-null");
        let depths = [2, 1].map(|threads| {
            let text = scenario(null, &Place { at: "null:".into(), data: null.data }, 3.0, threads);
            assert!(text.contains("at = \"null:\" }") && !text.contains("cache"), "{text}");
            [64, 32]
                .into_iter()
                .find(|depth| text.contains(&format!("queue_depth = {depth}, threads = {threads},")))
        });
        assert_eq!(depths, [Some(64), Some(32)]);
    }

    #[test]
    fn repetitions_and_confirmations_are_added_up() {
        let cells = r#"{"line":"ceiling","cells":["a"],"copies":true,"ops":9,"bytes":9,"window_ns":9,"cpu_ns":9}
{"line":"rep","role":"measure","outcome":"complete","window_ns":500000000,"counters":{"ops":100,"bytes":409600,"warmup_ops":7},"errors":{},"granted":{"files":"registered"}}
{"line":"rep","role":"confirm","outcome":"complete","window_ns":500000000,"counters":{"ops":50,"bytes":204800,"warmup_ops":0},"errors":{},"granted":{"files":"registered"},"later":{"field":1}}
{"line":"end","interrupted":false}
"#;
        let report = parse(cells).unwrap();
        assert_eq!((report.ops, report.bytes), (157, 614_400));
        assert!((report.window_s - 1.0).abs() < 1e-12);
        assert_eq!(report.granted["files"], "registered");
    }

    #[test]
    fn a_run_that_went_wrong_is_no_figure() {
        let rep = |rest: &str| format!("{{\"line\":\"rep\",\"window_ns\":1,{rest}}}\n");
        let failed = rep(r#""outcome":{"failed":{"reason":"no memory"}}"#);
        assert!(parse(&failed).unwrap_err().to_string().contains("no memory"));
        let errors = rep(r#""outcome":"complete","counters":{"ops":1,"bytes":1},"errors":{"io":3}"#);
        assert!(parse(&errors).unwrap_err().to_string().contains("\"io\": 3"));
        let bare = rep(r#""outcome":"complete""#);
        assert!(parse(&bare).unwrap_err().to_string().contains("no counters"));
        assert!(parse("{\"line\":\"end\"}\n").is_err());
        assert!(parse("{\"line\":\"re").is_err(), "a line cut short");
    }
}
