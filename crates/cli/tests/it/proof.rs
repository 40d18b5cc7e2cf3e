//! `run --proof`: what the runs cost is said before they begin, and what is there is added up.

use std::fs;

use serde_json::Value;

use crate::harness::{Bench, Ended, finish};

/// A proof of two runs, however close they are.
const GATE: &str = r#"gate = { feeds = ["disk"], evidence = "proof", proof = { runs = 2, span = "1ns" } }"#;

/// A disk below which no cache holds the data, whatever machine this is.
const DISK: &str = r#"targets.disk = { at = "data", engine = "pread", server_memory = "1 MiB" }"#;

fn bench() -> Bench {
    Bench::judged(&format!("{GATE}\n{DISK}"))
}

fn prove(bench: &Bench, more: &[&str]) -> Ended {
    bench.run(&[&["run", "s.toml", "--proof"], more].concat())
}

#[test]
fn the_runs_of_a_proof_are_planned_counted_and_added_up() {
    let bench = bench();
    // Two cells of seven repetitions, and as many fresh ones, of 256 MiB each.
    prove(&bench, &[])
        .exits(3)
        .says("proof: 2 runs over 1 ns; each ")
        .says("; each reads about 7 GiB, writes 4 MiB at most")
        .says("proof: 0 of this plan there, this is the next; 2 runs to make")
        .says("disk screen: 1 run over")
        .says("lacks 1 run more");
    let second = prove(&bench, &[]).says("1 of this plan there, this is the next; 1 run to make");
    let third = finish(bench.bare(&["run", "s.toml", "--proof", "--json"]));
    let object: Value = serde_json::from_str(&third.out).unwrap();
    let proof = &object["proofs"][0];
    assert_eq!((proof["target"].as_str(), proof["runs"].as_u64()), (Some("disk"), Some(3)), "{object}");
    // On a crowded machine runs decide nothing, and so do they together.
    if proof["word"] == "UNCERTAIN" {
        return;
    }
    let second = second.exits(0).says("; the last of them read");
    assert!(second.prints("FEEDS disk proof: 2 runs over"), "{second:?}");
    assert_eq!((third.code, proof["is_proven"].as_bool()), (Some(0), Some(true)), "{object}");
}

#[test]
fn runs_of_another_need_too_close_together_or_cut_short_prove_nothing_together() {
    let bench = bench();
    prove(&bench, &[]).exits(3);
    // The same scenario by its name, and another need.
    prove(&bench, &["--set", "need.rate=\"2 MB/s\""])
        .exits(3)
        .says("proof: 0 of this plan there, this is the next; 2 runs to make")
        .says("disk screen: 1 run over");
    let day = ["--set", "gate.proof={ runs = 2, span = \"24h\" }"];
    prove(&bench, &day).exits(3).says("disk screen: 2 runs over").says("more between the first and the last");
    // Runs that were interrupted count for nothing.
    for run in fs::read_dir(bench.path("results")).unwrap() {
        let path = run.unwrap().path().join("cells.jsonl");
        let lines = fs::read_to_string(&path).unwrap();
        let cut = lines.lines().map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            if line["line"] == "end" {
                line["interrupted"] = true.into();
            }
            format!("{line}\n")
        });
        fs::write(&path, cut.collect::<String>()).unwrap();
    }
    prove(&bench, &[])
        .exits(3)
        .says("proof: 0 of this plan there, this is the next; 2 runs to make")
        .says("disk screen: 1 run over");
}
