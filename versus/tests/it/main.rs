//! The program with stand-ins for both tools: what it runs, in which order, and what it keeps of it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;

use std::fs;

use bench::Bench;
use serde_json::Value;

/// Lines of the log that are runs of the case, not questions about versions or preparations.
fn runs(log: &str) -> Vec<&str> {
    log.lines()
        .filter(|line| ["run ", "--runtime=", "loop "].iter().any(|word| line.contains(word)))
        .collect()
}

/// Who ran, in order: `f` is feedline, `d` fio at its defaults, `b` fio at its best, `l` a bare
/// loop; the long run is a capital.
fn order(log: &str) -> String {
    let letter = |line: &&str| {
        let long = ["40ms", "0.04s", "--seconds=0.04"].iter().any(|length| line.contains(length));
        let who = match *line {
            line if line.starts_with("feedline") => 'f',
            line if line.starts_with("loop") => 'l',
            line if line.contains("--fixedbufs=1") => 'b',
            _ => 'd',
        };
        if long { who.to_ascii_uppercase() } else { who }
    };
    runs(log).iter().map(letter).collect()
}

#[test]
fn rounds_alternate() {
    let bench = Bench::new();
    let ended = bench.versus(&["page-cache-4k-qd32-64m", "--rounds", "5"]);
    assert!(ended.ok, "{}", ended.err);
    let (there, back) = ("fFdDbBlL", "lLbBdDfF");
    assert_eq!(order(&bench.log()), ["fdbl", there, back, there, back, there].concat(), "{}", bench.log());
}

#[test]
fn the_record_holds_what_ran() {
    let bench = Bench::new();
    let ended = bench.versus(&["page-cache-4k-qd32-64m", "--quick", "--best-arg=--norandommap=0"]);
    assert!(ended.ok, "{}", ended.err);
    let record = bench.record("page-cache-4k-qd32-64m.quick.json");
    assert_eq!(record["quick"], Value::Bool(true));
    let log = bench.log();
    let last_of = |words: &str| runs(&log).into_iter().rfind(|line| line.contains(words)).unwrap().to_owned();

    let [feedline, default, best, bare] = record["contestants"].as_array().unwrap().as_slice() else {
        panic!()
    };
    assert_eq!(feedline["version"], "feedline 9.9.9");
    assert_eq!(best["version"], "fio-0.0");
    // The stand-in logs the scenario that it was given, on one line.
    let scenario = feedline["scenario"].as_str().unwrap().replace('\n', " ");
    let long_run =
        log.lines().rfind(|line| line.starts_with("feedline run") && line.contains("0.04s")).unwrap();
    assert!(long_run.ends_with(scenario.trim()), "{long_run}\n{scenario}");
    assert_eq!(feedline["variant"][0], "files: registered");

    let line = |contestant: &Value| {
        let words: Vec<&str> =
            contestant["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        words.join(" ")
    };
    // The short run of the first round of best is the last of all; its long run comes before it in the record.
    assert_eq!(line(best).replace("GLIBC_TUNABLES=glibc.malloc.hugetlb=1 ", ""), last_of("--norandommap=0"));
    assert!(line(best).ends_with("--norandommap=0"));
    assert_eq!(
        line(default),
        runs(&log).into_iter().rfind(|l| !l.contains("--fixedbufs") && l.contains("40ms")).unwrap()
    );

    assert_eq!(
        line(bare).replacen("bare ", "loop ", 1),
        runs(&log).into_iter().rfind(|l| l.contains("--seconds=0.04")).unwrap()
    );

    let round = &record["rounds"][1];
    assert_eq!(round["order"], serde_json::json!(["bare loop", "fio best", "fio default", "feedline"]));
    let long = &round["pairs"]["feedline"]["long"];
    assert_eq!((&long["ops"], &long["bytes"]), (&Value::from(12_000), &Value::from(49_152_000)));
    assert_eq!(round["pairs"]["fio default"]["short"]["ops"], 1000);
    // feedline: 2 windows of 1 s with 24.576 MB each; fio: 24.576 MB in 2 s.
    assert_eq!(record["summary"]["figures"][0]["mb_per_s"]["median"], 24.576);
    assert_eq!(record["summary"]["figures"][1]["mb_per_s"]["median"], 12.288);
    assert!(ended.out.contains("throughput   2.00 [2.00..2.00]"), "{}", ended.out);
    assert!(ended.out.contains("a quick look"), "{}", ended.out);
    bench.nothing_is_left();
}

#[test]
fn a_quick_look_does_not_replace_a_record() {
    let bench = Bench::new();
    assert!(bench.versus(&["mmap-128k"]).err.contains("wrote no dataset"), "the stand-in writes 64 MiB only");
    assert!(bench.versus(&["page-cache-4k-qd32-64m"]).ok);
    let kept = bench.record("page-cache-4k-qd32-64m.json");
    assert_eq!(kept["rounds"].as_array().unwrap().len(), 5);
    assert!(bench.versus(&["page-cache-4k-qd32-64m", "--quick"]).ok);
    assert_eq!(bench.record("page-cache-4k-qd32-64m.json"), kept);
}

#[test]
fn too_few_rounds_run_nothing() {
    let bench = Bench::new();
    let ended = bench.versus(&["--rounds", "4"]);
    assert!(!ended.ok && ended.err.contains("--quick"), "{}", ended.err);
    assert_eq!(bench.log(), "");
}

#[test]
fn a_tool_that_fails_is_an_error_with_its_words() {
    let bench = Bench::new();
    bench.write_tool(
        "fio",
        "[ \"$1\" = --version ] && echo fio-0.0 && exit\necho 'no such engine' >&2\nexit 1",
    );
    let ended = bench.versus(&["page-cache-4k-qd32-64m"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("no such engine") && ended.err.contains("--iodepth=32"), "{}", ended.err);
    assert!(ended.err.contains("no record of page-cache-4k-qd32-64m"), "{}", ended.err);
    bench.nothing_is_left();
}

#[test]
fn a_missing_fio_says_how_to_get_it() {
    let bench = Bench::new();
    fs::remove_file(bench.path("fio")).unwrap();
    let ended = bench.versus(&["page-cache-4k-qd32-64m"]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("apt-get install fio"), "{}", ended.err);
    bench.nothing_is_left();
}

#[test]
fn a_signal_ends_the_tool_and_cleans_up() {
    let bench = Bench::new();
    // Longer than any test may last: it ends because versus ends it.
    bench.write_tool(
        "fio",
        "[ \"$1\" = --version ] && echo fio-0.0 && exit\nkill -INT $PPID\nexec sleep 3600",
    );
    let ended = bench.versus(&["page-cache-4k-qd32-64m"]);
    assert_eq!(ended.code, Some(130), "{}", ended.err);
    assert!(ended.err.contains("interrupted"), "{}", ended.err);
    bench.nothing_is_left();
    assert!(!bench.path("out").exists(), "a record was written");
}

#[test]
fn records_are_shown_again() {
    let bench = Bench::new();
    assert!(bench.versus(&["page-cache-4k-qd32-64m", "--quick"]).ok);
    let name = "out/page-cache-4k-qd32-64m.quick.json";
    let shown = bench.program(&["show", name]);
    let rows: Vec<&str> = shown.out.lines().collect();
    assert_eq!(rows.len(), 5, "{}", shown.out);
    assert!(
        rows[2].starts_with("| page-cache-4k-qd32-64m (quick) | CPU ns per operation |"),
        "{}",
        shown.out
    );

    let newer = fs::read_to_string(bench.path(name)).unwrap().replacen("\"format\": 1", "\"format\": 2", 1);
    fs::write(bench.path(name), newer).unwrap();
    let refused = bench.program(&["show", name]);
    assert!(!refused.ok && refused.err.contains("newer versus"), "{}", refused.err);
}

#[test]
fn threads_run_beside_as_many_processes_that_are_counted_together() {
    let bench = Bench::new();
    let ended = bench.versus(&["workers-null", "--quick"]);
    assert!(ended.ok, "{}", ended.err);
    // Both once before the rounds, and twice in each of two.
    let log = bench.log();
    let threads =
        |count: u32| runs(&log).iter().filter(|line| line.contains(&format!("threads = {count},"))).count();
    assert_eq!((threads(2), threads(1)), (5, 10), "{log}");
    let record = bench.record("workers-null.quick.json");
    let [feedline, processes] = record["contestants"].as_array().unwrap().as_slice() else { panic!() };
    assert_eq!((&feedline["name"], &processes["name"]), (&"feedline".into(), &"processes".into()));
    let long = &record["rounds"][0]["pairs"]["processes"]["long"];
    assert_eq!((&long["ops"], &long["window_s"]), (&24_000.into(), &2.0.into()), "of two windows each");
    bench.nothing_is_left();
}

#[test]
fn a_case_over_a_network_has_its_server_and_its_peers() {
    let bench = Bench::new();
    bench.write_tool(
        "peers",
        r#"echo "peer $*" >> log
ops=1000
case "$*" in *"--seconds 0.04"*) ops=6000 ;; esac
echo "{\"ops\":$ops,\"bytes\":$((ops * 4096)),\"window_s\":1,\"errors\":0}""#,
    );
    let ended = bench.versus(&["s3-4k-qd8", "--quick", "--peers", "./peers"]);
    assert!(ended.ok, "{}", ended.err);
    let log = bench.log();
    for who in ["object-store", "sdk", "raw"] {
        // Once before the rounds, and twice in each.
        let calls = log.lines().filter(|line| line.starts_with(&format!("peer {who} --address 127.0.0.1:")));
        assert_eq!(calls.count(), 5, "{who}: {log}");
    }
    let record = bench.record("s3-4k-qd8.quick.json");
    let scenario = record["contestants"][0]["scenario"].as_str().unwrap();
    assert!(scenario.contains("at = \"s3://bench/x\", endpoint = \"http://127.0.0.1:"), "{scenario}");
    assert_eq!(record["rounds"][1]["order"][0], "raw sockets");
    assert_eq!(record["contestants"][1]["name"], "object_store");
    assert_eq!(record["summary"]["targets"].as_array().unwrap().len(), 3);
    assert_eq!(fs::read_dir(bench.path("data")).unwrap().count(), 0);
}
