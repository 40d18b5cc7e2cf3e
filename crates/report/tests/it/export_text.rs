//! Pages for people and for test reports, and secrets that must be in none of them.

use analysis::{
    Because, CellComparison, Change, Comparison, Effect, Excluded, Exclusion, GapCause, Headline, Metric,
    Pairing, Ratio, Side, Summary, Uncompared, UncomparedReason, distributions, summarise,
};
use feed::Compared;
use record::{Gate, Line, RunRecord};
use report::export::{self, Direction, JOB_SUMMARY_BYTES_MAX, MARKDOWN_BYTES_MIN};
use roxmltree::{Document, Node};

use crate::records::{golden, golden_summary, networks};

/// Elements with the attributes that they may have, as all schemas of JUnit agree.
const MAY_HAVE: [(&str, &[&str]); 8] = [
    ("testsuites", &["name", "tests", "failures", "errors", "skipped", "time"]),
    ("testsuite", &["name", "tests", "failures", "errors", "skipped", "time", "timestamp"]),
    ("properties", &[]),
    ("property", &["name", "value"]),
    ("testcase", &["classname", "name", "time"]),
    ("failure", &["message", "type"]),
    ("skipped", &["message"]),
    ("system-out", &[]),
];

/// Parses a report, and holds elements, attributes and counts against the subset.
fn checked(xml: &str) -> Document<'_> {
    let document = Document::parse(xml).unwrap();
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        let (_, attributes) = MAY_HAVE.iter().find(|(known, _)| *known == name).unwrap();
        for attribute in node.attributes() {
            assert!(attributes.contains(&attribute.name()), "{} of {name}", attribute.name());
        }
        if matches!(name, "testsuite" | "testsuites") {
            let count = |tag: &str| node.descendants().filter(|one| one.has_tag_name(tag)).count();
            let stated = |name: &str| node.attribute(name).unwrap().parse::<usize>().unwrap();
            assert_eq!(stated("tests"), count("testcase"));
            assert_eq!(stated("failures"), count("failure"));
            assert_eq!(stated("skipped"), count("skipped"));
            node.attribute("time").unwrap().parse::<f64>().unwrap();
        }
    }
    document
}

/// What a test case came to, and its words.
fn case<'a>(document: &'a Document<'_>, name: &str) -> (&'a str, String) {
    let node = document
        .descendants()
        .find(|node| node.has_tag_name("testcase") && node.attribute("name") == Some(name))
        .unwrap_or_else(|| panic!("no case {name}"));
    let result = node.children().find(Node::is_element).unwrap();
    let words = result.attribute("message").or(result.text()).unwrap_or_default();
    (result.tag_name().name(), words.to_owned())
}

fn gated(gate: Gate) -> Summary {
    let mut record = golden();
    record.run.gate = gate;
    summarise(&record)
}

#[test]
fn every_demand_is_a_test_case_of_its_own() {
    let feeds = ["nvme", "filer", "tape"].map(str::to_owned).to_vec();
    let summary = gated(Gate { feeds, p99_ns: Some(1), ..Gate::default() });
    let xml = export::junit(&summary, None);
    let document = checked(&xml);
    assert_eq!(case(&document, "nvme feeds").0, "system-out");
    let (result, words) = case(&document, "filer feeds");
    assert!(result == "failure" && words.starts_with("filer must FEED"), "{words}");
    assert_eq!(case(&document, "tape feeds").0, "failure", "a target that is not there misses its gate");
    let (result, words) = case(&document, "nvme p99");
    assert!(result == "failure" && words.contains("p99"), "{words}");
    assert_eq!(case(&document, "array").0, "skipped", "nothing is demanded of it");
}

#[test]
fn a_verdict_that_is_not_demanded_fails_nothing() {
    for record in [golden(), networks()] {
        let mut record = record;
        record.run.gate = Gate::default();
        let xml = export::junit(&summarise(&record), None);
        let document = checked(&xml);
        assert!(document.descendants().all(|node| !node.has_tag_name("failure")));
        assert!(document.descendants().any(|node| node.has_tag_name("testcase")));
    }
}

fn effect(metric: Compared, change: Change, ratio: f64) -> Effect {
    Effect {
        metric: Metric::of(metric, true),
        before: 1e9,
        after: 1e9 * ratio,
        ratio: Ratio { low: ratio * 0.98, mean: ratio, high: ratio * 1.02 },
        samples_before: 10,
        samples_after: 10,
        detectable: Some(0.04),
        margin: 0.05,
        change,
        because: (change == Change::Inconclusive).then_some(Because::FewRuns { runs: 3, wanted: 8 }),
    }
}

fn comparison() -> Comparison {
    let cell = |name: &str, effects: Vec<Effect>, excluded: Option<&str>| CellComparison {
        cell: name.to_owned(),
        target: "nvme".to_owned(),
        label: "io_uring".to_owned(),
        effects,
        excluded: excluded.map(|reason| {
            Excluded::After(vec![Exclusion::Gap(GapCause::Recorded(reason.to_owned()).into())])
        }),
        falls_count: false,
    };
    let side = |name: &str| Side { name: name.to_owned(), run_ids: vec![format!("run-of-{name}")] };
    Comparison {
        pairing: Pairing::Variants,
        scenario: "three-stores".to_owned(),
        before: side("base"),
        after: side("head & <more>"),
        cells: vec![
            cell("a", vec![effect(Compared::Throughput, Change::Regressed, 0.85)], None),
            cell("b", vec![effect(Compared::P99, Change::Inconclusive, 1.02)], None),
            cell("c", vec![effect(Compared::Throughput, Change::Regressed, 0.5)], Some("drifting")),
            cell("d", vec![effect(Compared::Cpu, Change::Improved, 0.8)], None),
        ],
        headlines: vec![Headline {
            target: "nvme".to_owned(),
            cells: 4,
            effect: effect(Compared::Throughput, Change::Unchanged, 1.0),
        }],
        lost: Vec::new(),
        gaps: vec![Uncompared::Of { name: "e".to_owned(), reason: UncomparedReason::NotAfter }],
        notes: Vec::new(),
    }
}

#[test]
fn a_regression_is_a_failure_and_what_cannot_be_told_is_skipped() {
    let xml = export::junit(&golden_summary(), Some(&comparison()));
    let document = checked(&xml);
    let (result, words) = case(&document, "a throughput");
    assert_eq!(result, "failure");
    assert_eq!(
        words,
        "throughput 0.850 times that before, 95 % interval 0.833 to 0.867, margin 5.0 %, more is better"
    );
    let (result, words) = case(&document, "b p99");
    assert!(result == "skipped" && words.starts_with("inconclusive: 3 of 8 runs before"), "{words}");
    assert_eq!(case(&document, "c throughput").0, "skipped", "nothing rests on a cell that drifts");
    assert_eq!(case(&document, "d cpu").0, "system-out");
    assert_eq!(case(&document, "nvme throughput").0, "system-out");
    let after = document.descendants().find(|node| node.attribute("name") == Some("after")).unwrap();
    assert_eq!(after.attribute("value"), Some("head & <more>"));
    let gaps = document.descendants().filter(|node| node.attribute("name") == Some("gap"));
    assert!(gaps.filter_map(|node| node.attribute("value")).any(|gap| gap == "e: not in the run after"));
}

#[test]
fn a_regression_of_a_metric_that_the_gate_does_not_name_fails_nothing() {
    let mut summary = golden_summary();
    summary.gate.regression = vec![record::Margin { metric: "p99".to_owned(), share: 0.1 }];
    let xml = export::junit(&summary, Some(&comparison()));
    let document = checked(&xml);
    let (result, words) = case(&document, "a throughput");
    assert!(result == "system-out" && words.starts_with("regressed, and no gate names it: "), "{words}");
}

#[test]
fn control_characters_leave_a_report_well_formed() {
    let mut record = golden();
    record.run.scenario = "a\u{0}b\u{1b}[31m<c>&\"\u{ffff}".to_owned();
    let xml = export::junit(&summarise(&record), None);
    let document = checked(&xml);
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
    assert_eq!(suite.attribute("name"), Some("a b [31m<c>&\" "));
}

#[test]
fn a_page_that_fits_is_left_as_it_is() {
    let page = report::markdown(&golden_summary());
    let export = export::markdown_within(&page, JOB_SUMMARY_BYTES_MAX);
    assert_eq!((export.text, export.gaps), (page, Vec::new()));
}

#[test]
fn a_page_ends_after_a_whole_row_and_says_what_is_missing() {
    let page = report::markdown(&golden_summary());
    assert!(page.len() > 4_096, "the page is long enough to be cut");
    for bytes_max in (MARKDOWN_BYTES_MIN..page.len()).step_by(97) {
        let export = export::markdown_within(&page, bytes_max);
        assert!(export.text.len() <= bytes_max, "{} of {bytes_max}", export.text.len());
        let gap = &export.gaps[0];
        let kept = export.text.strip_suffix(&format!("\n*{gap}*\n")).unwrap();
        assert!(
            page.starts_with(kept) && (kept.is_empty() || kept.ends_with('\n')),
            "whole lines of the page"
        );
        let left: usize = gap.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(kept.lines().count() + left, page.lines().count());
        assert_eq!(export.gaps.len(), 1);
    }
}

#[test]
fn tuning_says_what_was_set_and_what_was_granted() {
    let mut record = golden();
    for line in &mut record.lines {
        if let Line::Rep(rep) = line {
            rep.granted.insert("buffers".to_owned(), "registered".to_owned());
            rep.granted.insert("first_failure".to_owned(), "503".to_owned());
        }
    }
    let page = export::tuning(&record);
    for words in [
        "| granted: buffers | registered |",
        "| file system | ext4 |",
        "## io\\_uring on nvme",
        "| queue depth | 128; 32; 512; 8 |",
        "| kernel |",
        "unknown: ",
    ] {
        let words = words.replace("io\\_uring", "io_uring");
        assert!(page.contains(&words), "{words} is not in:\n{page}");
    }
    assert!(!page.contains("503") && !page.contains("Target null"));
}

/// What is planted in every text of a record, and must come out of no form.
const CANARIES: [&str; 4] = ["canaryuser", "canarypass", "AKIACANARYCANARY1234", "canarybearer"];
const PLANTED: &str =
    "https://canaryuser:canarypass@h/p AKIACANARYCANARY1234 Authorization: Bearer canarybearer";

/// The golden record as a run with that in its inputs would have written it.
fn planted() -> RunRecord {
    let mut record = golden();
    let redactor = record::Redactor::default();
    let plant = |text: &mut String| *text = redactor.text(&format!("{text} {PLANTED}"));
    plant(&mut record.run.scenario);
    record.run.command.push(String::new());
    record.run.command.iter_mut().for_each(plant);
    for target in &mut record.run.targets {
        plant(&mut target.title);
        plant(&mut target.at);
        target.facts.iter_mut().for_each(|fact| plant(&mut fact.value));
    }
    for line in &mut record.lines {
        let Line::Rep(rep) = line else { continue };
        rep.granted.insert("buffers".to_owned(), redactor.text(PLANTED));
        if rep.cell == "filer/pread/qd8" {
            rep.outcome = record::Outcome::Failed { reason: redactor.text(PLANTED) };
        }
    }
    record
}

#[test]
fn no_form_holds_a_secret_that_the_record_does_not() {
    let record = planted();
    let summary = summarise(&record);
    let mut forms = vec![
        export::csv(&record, &summary),
        export::jsonl(&record, &summary),
        export::bmf(&summary),
        export::prometheus(&summary),
        export::fio(&record, &summary),
        export::otava(std::slice::from_ref(&summary)),
        export::markdown_within(&report::markdown(&summary), JOB_SUMMARY_BYTES_MAX),
    ];
    forms.extend(export::github_action_benchmark(&summary, Direction::Bigger));
    forms.extend(export::github_action_benchmark(&summary, Direction::Smaller));
    let texts = forms.into_iter().flat_map(|export| export.gaps.into_iter().chain([export.text]));
    let pages = [export::junit(&summary, None), export::tuning(&record)];
    let percentiles = distributions(&record).map(|one| export::hgrm(&one));
    let mut marked = 0;
    for text in texts.chain(pages).chain(percentiles) {
        marked += usize::from(text.contains("redacted"));
        for canary in CANARIES {
            assert!(!text.contains(canary), "{canary} in:\n{text}");
        }
    }
    assert!(marked > 5, "what was planted came through the forms, redacted");
}
