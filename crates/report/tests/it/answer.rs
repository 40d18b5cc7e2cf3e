use analysis::{Cause, Edge, Played, RegressionResult, Sizing, Summary, Undecided, WayApart, summarise};
use record::{Line, RunRecord};
use report::{Paths, Screen, Surroundings, answer, answer_json};
use serde_json::Value;

use crate::records;

pub(crate) fn at(summary: &Summary, columns: usize) -> String {
    let surroundings = Surroundings {
        screen: Screen { columns, is_coloured: false },
        folder: "results/golden",
        page: "results/golden/report.html",
        full: "feedline report results/golden --full",
        past: None,
    };
    answer(summary, surroundings).expect("a judged run has an answer")
}

/// At most 20 lines, none wider than the terminal.
pub(crate) fn assert_answer(record: &RunRecord) {
    let summary = summarise(record);
    for columns in [72, 80, 100, 160] {
        let answer = at(&summary, columns);
        assert!(answer.lines().count() <= 20, "{answer}");
        for line in answer.lines() {
            assert!(line.len() <= columns, "{} columns of {columns}: {line}", line.len());
            assert!(line.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "not plain ASCII: {line}");
        }
        // Nobody goes without a word.
        for verdict in summary.verdicts.iter().filter(|_| summary.verdicts.len() <= 7) {
            assert!(answer.contains(verdict.word()), "{} of {}:\n{answer}", verdict.word(), verdict.target);
        }
    }
}

#[test]
fn the_answer_of_the_golden_record() {
    let summary = records::golden_summary();
    insta::assert_snapshot!("the_answer_in_80_columns", at(&summary, 80));
    insta::assert_snapshot!("the_answer_in_100_columns", at(&summary, 100));
    insta::assert_snapshot!("the_answer_in_160_columns", at(&summary, 160));
}

#[test]
fn an_answer_is_short_and_narrow_whatever_was_measured() {
    for factor in [1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6] {
        assert_answer(&records::scaled(factor));
    }
    assert_answer(&records::with_targets(&[0.1; 12]));
    assert_answer(&records::at_one_depth(128));
    assert_answer(&records::networks());
    assert_answer(&records::in_ways(&[
        ("random", "bypass", 131_072, 0.1),
        ("sequential", "warm", 1_048_576, 1.4),
    ]));
}

#[test]
fn an_answer_is_short_and_narrow_whatever_the_names() {
    let mut record = records::with_long_names();
    record.run.command = vec!["feedline".to_owned(), "run".to_owned(), "y".repeat(300)];
    assert_answer(&record);
}

#[test]
fn what_went_wrong_at_a_server_of_feedlines_own_is_said() {
    let mut record = records::networks();
    let of_lab: Vec<String> =
        record.run.cells.iter().filter(|cell| cell.target == "lab").map(|cell| cell.cell.clone()).collect();
    assert!(!at(&summarise(&record), 160).contains(" lab: "), "it is shown, and not judged");
    for line in &mut record.lines {
        if let Line::Rep(rep) = line
            && of_lab.contains(&rep.cell)
        {
            rep.counters.insert("ops".to_owned(), 0);
        }
    }
    let answer = at(&summarise(&record), 160);
    assert!(answer.contains(" lab: no "), "{answer}");
}

#[test]
fn what_keeps_the_job_of_a_server_of_feedlines_own_from_the_line_is_said() {
    let mut summary = crate::trained::two_targets();
    let cell = summary.verdicts[1].cell().unwrap().to_owned();
    let diagnosis =
        summary.cell(&cell).unwrap().figures().unwrap().training.as_ref().unwrap().diagnosis.clone();
    assert!(diagnosis.is_some());
    let demo = &mut summary.verdicts[1];
    demo.demo = true;
    let reads = demo.reads.as_mut().unwrap();
    reads.played =
        Some(Played { au: 0.6, target: 0.9, readers: Some(8), fetches: 1, prefetch: 8, diagnosis });
    let mut of_line = |of_line| {
        summary.verdicts[1].reads.as_mut().unwrap().cause = Cause::Demo { of_line: Some(of_line) };
        at(&summary, 160)
    };
    let below = of_line(0.6);
    assert!(below.contains("filer: latency-bound: "), "{below}");
    assert!(!of_line(1.2).contains("latency-bound"), "nothing did");
}

/// A search that found that so many accelerators are fed, of which no repetition is left.
pub(crate) fn fed(accelerators: u32) -> Sizing {
    let cut = analysis::GapCause::Recorded("cut".to_owned()).into();
    Sizing {
        target: "nvme".to_owned(),
        engine: "io_uring".to_owned(),
        demo: false,
        apart: WayApart::default(),
        axis: "accelerators".to_owned(),
        on_hosts: true,
        meets: Some(Edge {
            value: accelerators,
            cell: format!("nvme/{accelerators}"),
            au: Err(analysis::NoUtilization::Unmeasured(cut)),
            least_au: None,
            doubt: None,
        }),
        misses: None,
        threshold: 0.9,
        tried: 5,
        untried: None,
        scaling: Vec::new(),
        full: None,
    }
}

#[test]
fn a_search_ends_with_what_it_found() {
    let mut summary = records::golden_summary();
    summary.sizings = vec![fed(21)];
    let found = "SIZE nvme io_uring: feeds at least 21 accelerators, the most tried; not sure";
    assert_eq!(at(&summary, 80).lines().last(), Some(found));
    summary.verdicts.clear();
    let alone = at(&summary, 80);
    assert!(alone.starts_with("NEED ") && alone.ends_with(&format!("{found}\n")), "{alone}");
}

/// The line of the gate, whole, and the outcome for programs.
fn gate_of(record: &RunRecord, past: Option<&RegressionResult>) -> (String, String) {
    let summary = summarise(record);
    let surroundings =
        Surroundings { screen: Screen::PLAIN, folder: "results/a1", page: "p", full: "f", past };
    let answer = answer(&summary, surroundings).unwrap();
    assert!(answer.lines().count() <= 20, "{answer}");
    let lines = answer.lines().skip_while(|line| !line.starts_with("GATE"));
    let own: Vec<&str> = lines
        .enumerate()
        .take_while(|(number, line)| *number == 0 || line.starts_with("     "))
        .map(|(_, line)| line.trim())
        .collect();
    let paths = Paths { run: "results/a1".to_owned(), page: None };
    let object: Value = serde_json::from_str(&answer_json(&summary, &[], past, &paths)).unwrap();
    (own.join(" "), object["gate"]["outcome"].as_str().unwrap().to_owned())
}

#[test]
fn a_gate_on_regressions_says_with_the_runs_before_what_the_exit_says() {
    let mut record = records::golden();
    let of = |record: &RunRecord, past: Option<&RegressionResult>| gate_of(record, past);
    assert_eq!(of(&record, None), ("GATE met".to_owned(), "met".to_owned()));
    record.run.gate.baseline = Some("nightly".to_owned());
    // Compared and not judged.
    assert_eq!(of(&record, None).1, "met");
    record.run.gate.regression = vec![record::Margin { metric: "throughput".to_owned(), share: 0.1 }];
    let unknown = "GATE inconclusive: against the baseline nightly: not compared here";
    assert_eq!(of(&record, None), (unknown.to_owned(), "inconclusive".to_owned()));
    assert_eq!(of(&record, Some(&RegressionResult::Met)), ("GATE met".to_owned(), "met".to_owned()));
    let open = RegressionResult::Inconclusive(vec![Undecided::Metric(feed::Compared::Throughput)]);
    let said = "GATE inconclusive: throughput: no cell can tell";
    assert_eq!(of(&record, Some(&open)), (said.to_owned(), "inconclusive".to_owned()));
    let worse = RegressionResult::Regressed(Vec::new());
    assert_eq!(of(&record, Some(&worse)).1, "regressed");
    // A gate that is missed is graver.
    record.run.gate.feeds = vec!["filer".to_owned()];
    let (said, outcome) = of(&record, Some(&open));
    assert!(said.starts_with("GATE missed: filer must FEED: "), "{said}");
    assert_eq!(outcome, "missed");
}

#[test]
fn a_demand_that_names_a_cell_is_told_to_its_end() {
    let mut record = records::golden();
    record.run.gate.p99_ns = Some(1);
    record.run.gate.at_depth = Some(128);
    let (said, _) = gate_of(&record, None);
    assert!(said.contains(", the gate allows 1 ns") && !said.contains(".."), "{said}");
}

#[test]
fn a_run_that_judges_nothing_has_no_answer() {
    let mut record = records::golden();
    record.run.cells.retain(|cell| cell.operation == feed::Operation::Stat);
    record.run.targets.retain(|target| target.name == "tree");
    let surroundings =
        Surroundings { screen: Screen::PLAIN, folder: "results/a1", page: "p", full: "f", past: None };
    assert_eq!(answer(&summarise(&record), surroundings), None);
}

#[test]
fn a_colour_is_beside_a_word_and_never_in_its_place() {
    let summary = records::golden_summary();
    let screen = Screen { is_coloured: true, ..Screen::PLAIN };
    let surroundings = Surroundings { screen, folder: "results/a1", page: "p", full: "f", past: None };
    let coloured = answer(&summary, surroundings).unwrap();
    assert!(coloured.contains("\u{1b}[1;32mFEEDS\u{1b}[0m"), "{coloured}");
    let plain = answer(&summary, Surroundings { screen: Screen::PLAIN, ..surroundings }).unwrap();
    let stripped =
        ["32", "31", "33"].iter().fold(coloured, |text, code| text.replace(&format!("\u{1b}[1;{code}m"), ""));
    assert_eq!(stripped.replace("\u{1b}[0m", ""), plain);
}

#[test]
fn data_that_two_targets_read_are_kept_once() {
    let cost = |record: &RunRecord| {
        let answer = at(&summarise(record), 80);
        answer.lines().find(|line| line.starts_with("COST")).unwrap().to_owned()
    };
    let mut record = records::golden();
    let before = cost(&record);
    assert!(before.contains("of generated data kept"), "{before}");
    let mut dataset = record.run.datasets[0].clone();
    let mut target = record.run.targets.iter().find(|target| target.name == dataset.target).unwrap().clone();
    target.name = "twin".to_owned();
    dataset.target.clone_from(&target.name);
    record.run.targets.push(target);
    record.run.datasets.push(dataset);
    assert_eq!(cost(&record), before);
}

#[test]
fn a_run_that_ended_before_its_last_look_is_added_to() {
    let mut record = records::golden();
    record.run.measure.fresh_rounds = Some(28);
    records::scale_reps(&mut record, |cell| cell.starts_with("array"), 1.08);
    let added = "array: feedline run --resume results/golden --only array --rounds +";
    let answer = at(&summarise(&record), 160);
    assert!(answer.contains(added), "{answer}");
    // One process neither goes on with what several measured, nor proves it.
    let mut together = summarise(&record);
    assert!(answer.contains("--proof"), "{answer}");
    together.head.ranks = 4;
    let alone = at(&together, 160);
    assert!(!alone.contains("--resume") && !alone.contains("--proof"), "{alone}");
    // What is missing of one that was interrupted comes first.
    let Some(record::Line::End(end)) = record.lines.last_mut() else { unreachable!("it came to its end") };
    end.interrupted = true;
    let answer = at(&summarise(&record), 160);
    assert!(!answer.contains("--resume"), "{answer}");
}
