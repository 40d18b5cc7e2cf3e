//! JUnit XML: a test case for each demand of the gate, each verdict without one, and each comparison.
//!
//! Schemas of JUnit disagree; this keeps to what all of them have: `testsuites`, `testsuite`, `properties`, `testcase`,
//! `failure`, `skipped` and `system-out`.

use std::fmt::Write as _;

use analysis::{
    Change, Comparison, Demand, Effect, Excluded, GateResult, RegressionResult, Summary, Verdict, demands,
};
use feed::Judgement;
use record::Gate;

use super::gap;
use super::measure::measures;
use crate::markup::text;
use crate::words::{self, machine::machine};

/// What became of a test case.
enum Result {
    Passed(String),
    Failed { kind: &'static str, words: String },
    Skipped(String),
}

struct Case {
    class: String,
    name: String,
    result: Result,
}

struct Suite {
    name: String,
    timestamp: String,
    seconds: f64,
    properties: Vec<(String, String)>,
    cases: Vec<Case>,
}

/// The verdicts of a run, and how it compares where it was compared. What could not be decided is skipped: it is neither
/// a pass nor a failure.
pub fn junit(summary: &Summary, comparison: Option<&Comparison>) -> String {
    let suites: Vec<Suite> =
        std::iter::once(verdicts(summary)).chain(comparison.map(|one| compared(summary, one))).collect();
    let all = || suites.iter().flat_map(|suite| &suite.cases);
    let seconds: f64 = suites.iter().map(|suite| suite.seconds).sum();
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let _ = writeln!(xml, "<testsuites name=\"feedline\" {} time=\"{seconds:.3}\">", counts(all()));
    for suite in &suites {
        write_suite(&mut xml, suite);
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn verdicts(summary: &Summary) -> Suite {
    let head = &summary.head;
    let class = format!("{}.verdict", head.scenario);
    let asked = demands(summary);
    let is_gated = |verdict: &&Verdict| {
        asked.iter().any(|demand| demand.what == "feeds" && demand.target == verdict.target)
    };
    let gated = asked.iter().map(|demand| of_demand(summary, &head.scenario, demand));
    // A verdict that a gate demands is its own test case already: twice it would count as two failures.
    let free = summary.verdicts.iter().filter(|verdict| !is_gated(verdict));
    let free = free.map(|verdict| of_verdict(class.clone(), verdict));
    let unjudged = summary.unjudged.iter().map(|one| Case {
        class: class.clone(),
        name: one.target.clone(),
        result: Result::Skipped(words::read_verdict::no_verdict(&one.reason)),
    });
    Suite {
        name: head.scenario.clone(),
        timestamp: head.started.clone(),
        seconds: head.elapsed_ns.unwrap_or(0) as f64 / 1e9,
        cases: gated.chain(free).chain(unjudged).collect(),
        properties: properties(summary),
    }
}

fn properties(summary: &Summary) -> Vec<(String, String)> {
    let head = &summary.head;
    let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut properties = vec![
        named("run_id", &head.run_id),
        named("plan_hash", &head.plan_hash),
        named("machine", &machine(&head.machine)),
        named("feedline", &head.tool.version),
    ];
    // Of judged cells alone: viewers show properties one by one, and hundreds hide the few that matter.
    for cell in summary.cells.iter().filter(|cell| summary.is_judged(cell)) {
        let name = |kind: &str| format!("{} {kind}", cell.cell.cell);
        for one in measures(cell).0 {
            properties.push((name(one.tracked.name), one.value.to_string()));
            if let Some((low, high)) = one.interval {
                properties.push((name(&format!("{} 95 %", one.tracked.name)), format!("{low} {high}")));
            }
        }
    }
    properties.extend(summary.cells.iter().filter_map(gap).map(|gap| ("gap".to_owned(), gap)));
    properties
}

fn of_demand(summary: &Summary, scenario: &str, demand: &Demand) -> Case {
    let verdict = summary.verdicts.iter().find(|verdict| verdict.target == demand.target);
    let result = match &demand.result {
        GateResult::None | GateResult::Met => {
            Result::Passed(verdict.map(words::verdict::sentence).unwrap_or_default())
        }
        GateResult::Missed(unmet) => {
            Result::Failed { kind: "gate missed", words: words::gate::all(unmet).join("; ") }
        }
        GateResult::Inconclusive(unmet) => {
            Result::Skipped(format!("inconclusive: {}", words::gate::all(unmet).join("; ")))
        }
    };
    let name = format!("{} {}", demand.target, demand.what);
    Case { class: format!("{scenario}.gate"), name, result }
}

/// Nothing was demanded of this target: its verdict is shown, and only one that FEEDS counts as a pass.
fn of_verdict(class: String, verdict: &Verdict) -> Case {
    let words = format!("{}: {}", verdict.word(), words::verdict::sentence(verdict));
    let result = if verdict.judgement() == Judgement::Feeds && !verdict.demo {
        Result::Passed(words)
    } else {
        Result::Skipped(format!("no gate demands it: {words}"))
    };
    Case { class, name: verdict.target.clone(), result }
}

fn compared(summary: &Summary, comparison: &Comparison) -> Suite {
    let gate = &summary.gate;
    let mut cases = Vec::new();
    for headline in &comparison.headlines {
        let class = format!("{}.compare", comparison.scenario);
        cases.push(of_effect(class, &headline.target, &headline.effect, None, gate));
    }
    for cell in &comparison.cells {
        for effect in &cell.effects {
            let class = format!("{}.compare.cells", comparison.scenario);
            cases.push(of_effect(class, &cell.cell, effect, cell.excluded.as_ref(), gate));
        }
    }
    let properties = [
        ("before", comparison.before.name.clone()),
        ("before runs", comparison.before.run_ids.join(" ")),
        ("after", comparison.after.name.clone()),
        ("after runs", comparison.after.run_ids.join(" ")),
    ];
    let gaps = words::comparison::gaps(&comparison.gaps).into_iter().map(|gap| ("gap".to_owned(), gap));
    let notes = words::comparison::notes(&comparison.notes).into_iter().map(|note| ("note".to_owned(), note));
    Suite {
        name: format!("{} against {}", comparison.scenario, comparison.before.name),
        timestamp: summary.head.started.clone(),
        seconds: 0.0,
        properties: properties
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .chain(gaps)
            .chain(notes)
            .collect(),
        cases,
    }
}

/// A metric that the gate of the run does not name gates nothing: its regression is told and fails no test.
fn of_effect(class: String, name: &str, effect: &Effect, excluded: Option<&Excluded>, gate: &Gate) -> Case {
    let words = effect_words(effect);
    let because = || {
        let because = effect.because.and_then(words::comparison::because);
        because.unwrap_or_else(|| "the data cannot tell".to_owned())
    };
    let result = match (excluded, effect.change) {
        (Some(why), _) => {
            let why = words::comparison::excluded(why);
            Result::Skipped(format!("nothing may rest on it: {why}; {words}"))
        }
        // The same rule as the exit code: a pipeline must not be red in one place and green in the other.
        (None, Change::Regressed) if !RegressionResult::is_gated(gate, effect.metric.word()) => {
            Result::Passed(format!("regressed, and no gate names it: {words}"))
        }
        (None, Change::Regressed) => Result::Failed { kind: "regression", words },
        (None, Change::Inconclusive) => Result::Skipped(format!("inconclusive: {}; {words}", because())),
        (None, Change::Improved) => Result::Passed(format!("improved: {words}")),
        (None, Change::Unchanged) => Result::Passed(format!("unchanged: {words}")),
    };
    Case { class, name: format!("{name} {}", effect.metric.word()), result }
}

/// `throughput 0.852 times that before, 95 % interval 0.831 to 0.874, margin 5 %`.
fn effect_words(effect: &Effect) -> String {
    let ratio = effect.ratio;
    let interval = if ratio.low > 0.0 && ratio.high.is_finite() {
        format!(", 95 % interval {:.3} to {:.3}", ratio.low, ratio.high)
    } else {
        ", no interval".to_owned()
    };
    let direction = if effect.metric.higher_is_better() { "more is better" } else { "less is better" };
    let margin = effect.margin * 100.0;
    let metric = effect.metric.word();
    format!("{metric} {:.3} times that before{interval}, margin {margin:.1} %, {direction}", ratio.mean)
}

fn counts<'a>(cases: impl Iterator<Item = &'a Case>) -> String {
    let (mut tests, mut failures, mut skipped) = (0, 0, 0);
    for case in cases {
        tests += 1;
        failures += u32::from(matches!(case.result, Result::Failed { .. }));
        skipped += u32::from(matches!(case.result, Result::Skipped(_)));
    }
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"")
}

fn write_suite(xml: &mut String, suite: &Suite) {
    let _ = writeln!(
        xml,
        "  <testsuite name=\"{}\" {} time=\"{:.3}\" timestamp=\"{}\">",
        text(&suite.name),
        counts(suite.cases.iter()),
        suite.seconds,
        text(&suite.timestamp)
    );
    xml.push_str("    <properties>\n");
    for (name, value) in &suite.properties {
        let (name, value) = (text(name), text(value));
        let _ = writeln!(xml, "      <property name=\"{name}\" value=\"{value}\"/>");
    }
    xml.push_str("    </properties>\n");
    for case in &suite.cases {
        let (class, name) = (text(&case.class), text(&case.name));
        let _ = write!(xml, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"0\">");
        let _ = match &case.result {
            Result::Passed(words) => write!(xml, "<system-out>{}</system-out>", text(words)),
            Result::Skipped(words) => write!(xml, "<skipped message=\"{}\"/>", text(words)),
            Result::Failed { kind, words } => {
                let words = text(words);
                write!(xml, "<failure message=\"{words}\" type=\"{kind}\">{words}</failure>")
            }
        };
        xml.push_str("</testcase>\n");
    }
    xml.push_str("  </testsuite>\n");
}
