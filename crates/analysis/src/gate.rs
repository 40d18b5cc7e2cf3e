//! What the gate of a scenario makes of a summary: the only thing that turns a verdict into an exit code.

use std::collections::BTreeSet;

use feed::Judgement;

use crate::paced::Percentile;
use crate::summary::{CellSummary, Measurement, Summary};
use crate::verdict::{Cause, Verdict};

/// How a run stands against its gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GateResult {
    /// The scenario has no gate.
    None,
    /// All that it asks holds.
    Met,
    /// At least one demand does not hold; these first, then those that could not be decided.
    Missed(Vec<String>),
    /// No demand is known not to hold, and these could not be decided.
    Inconclusive(Vec<String>),
}

/// Evaluates the gate of a run.
///
/// A target whose cells or whose confirmation failed, or whose cells were all skipped, misses the gate: what
/// could not be measured must not pass as doubt.
pub fn gate(summary: &Summary) -> GateResult {
    let gate = &summary.gate;
    if gate.feeds.is_empty() && gate.p99_ns.is_none() {
        return GateResult::None;
    }
    let mut missed = Vec::new();
    let mut open = Vec::new();
    for target in &gate.feeds {
        sort(feeds(summary, target), &mut missed, &mut open);
    }
    if let Some(limit_ns) = gate.p99_ns {
        for verdict in gated(summary) {
            sort(latency(summary, verdict, limit_ns), &mut missed, &mut open);
        }
        for target in without_verdict(summary) {
            let words = format!("{target} p99: {}", absent(summary, target));
            let demand = if is_demo(summary, target) { Demand::Open(words) } else { Demand::Fails(words) };
            sort(demand, &mut missed, &mut open);
        }
    }
    if !missed.is_empty() {
        missed.append(&mut open);
        return GateResult::Missed(missed);
    }
    if open.is_empty() { GateResult::Met } else { GateResult::Inconclusive(open) }
}

enum Demand {
    Holds,
    Fails(String),
    Open(String),
}

fn sort(demand: Demand, missed: &mut Vec<String>, open: &mut Vec<String>) {
    match demand {
        Demand::Holds => {}
        Demand::Fails(words) => missed.push(words),
        Demand::Open(words) => open.push(words),
    }
}

fn feeds(summary: &Summary, target: &str) -> Demand {
    if is_demo(summary, target) {
        return Demand::Open(format!("{target} must FEED: {DEMO_WORDS}"));
    }
    let Some(verdict) = summary.verdicts.iter().find(|verdict| verdict.target == target) else {
        return Demand::Fails(format!("{target} must FEED: {}", absent(summary, target)));
    };
    let words = format!("{target} must FEED: {}", verdict.sentence());
    match (&verdict.judgement, &verdict.cause) {
        (Judgement::Feeds, _) => Demand::Holds,
        (Judgement::Starves, _) | (_, Cause::NothingMeasured { .. } | Cause::ConfirmationFailed { .. }) => {
            Demand::Fails(words)
        }
        (Judgement::Uncertain, _) => Demand::Open(words),
    }
}

/// What is said of a server that feedline started, whatever is asked of it.
const DEMO_WORDS: &str = "not decided: a demo cannot be judged, its server was started by feedline";

fn is_demo(summary: &Summary, target: &str) -> bool {
    summary.targets.iter().any(|one| one.name == target && one.demo)
}

/// Why a target has no verdict.
fn absent(summary: &Summary, target: &str) -> String {
    if let Some(unjudged) = summary.unjudged.iter().find(|one| one.target == target) {
        return unjudged.reason.clone();
    }
    let skipped = summary.skipped.iter().find(|skipped| skipped.target == target);
    skipped.map_or_else(
        || "the run has no such storage target".to_owned(),
        |skipped| format!("nothing was measured: {}: {}", skipped.engine, skipped.reason),
    )
}

/// Targets without a verdict: left out before the run altogether, so that the record does not even hold them, or
/// measured in ways that no verdict can rest on. Those that the gate names are among its demands already, and fail
/// there.
fn without_verdict(summary: &Summary) -> BTreeSet<&str> {
    if !summary.gate.feeds.is_empty() {
        return BTreeSet::new();
    }
    let skipped = summary.skipped.iter().map(|skipped| skipped.target.as_str());
    let skipped = skipped.filter(|name| summary.targets.iter().all(|one| one.name != *name));
    skipped.chain(summary.unjudged.iter().map(|unjudged| unjudged.target.as_str())).collect()
}

/// The verdicts that a demand on latency applies to: the gated targets, or all when none is named.
fn gated(summary: &Summary) -> impl Iterator<Item = &Verdict> {
    let names = &summary.gate.feeds;
    summary.verdicts.iter().filter(move |verdict| names.is_empty() || names.contains(&verdict.target))
}

fn latency(summary: &Summary, verdict: &Verdict, limit_ns: u64) -> Demand {
    let target = &verdict.target;
    let limit = feed::format_duration_ns(limit_ns);
    if verdict.demo {
        return Demand::Open(format!("{target} p99 against {limit}: {DEMO_WORDS}"));
    }
    let cell = verdict.cell.as_deref().and_then(|name| summary.cell(name));
    let figures = cell.and_then(confirmed);
    match figures.map(p99) {
        Some(Percentile::NotServed) => Demand::Fails(format!(
            "{target} p99 is beyond {limit}: more than 1 % of the arrivals were not served"
        )),
        Some(Percentile::At(p99_ns)) if p99_ns <= limit_ns => Demand::Holds,
        Some(Percentile::At(p99_ns)) => Demand::Fails(format!(
            "{target} p99 is {}, the gate allows {limit}",
            feed::format_duration_ns(p99_ns)
        )),
        Some(Percentile::Unknown) => {
            Demand::Open(format!("{target} p99 against {limit}: fewer than 1,000 reads were measured"))
        }
        None => {
            let words = format!("{target} p99 against {limit}: {}", verdict.sentence());
            match verdict.cause {
                Cause::NothingMeasured { .. } | Cause::ConfirmationFailed { .. } => Demand::Fails(words),
                _ => Demand::Open(words),
            }
        }
    }
}

/// What a caller waits for: from the intended time on where there is one, else from the submission on.
fn p99(figures: &crate::Figures) -> Percentile {
    let service = figures.latency.p99_ns.map_or(Percentile::Unknown, Percentile::At);
    figures.paced.map_or(service, |paced| paced.response_p99)
}

fn confirmed(cell: &CellSummary) -> Option<&crate::Figures> {
    cell.confirmed.as_ref().and_then(Measurement::figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, confirmed_at};
    use crate::summarise;

    fn gate_of(of_line: &[f64], edit: impl FnOnce(&mut Builder)) -> GateResult {
        let mut builder = confirmed_at(of_line);
        builder.run.gate.feeds = vec!["disk".to_owned()];
        edit(&mut builder);
        gate(&summarise(&builder.record()))
    }

    #[test]
    fn no_gate_decides_nothing() {
        assert_eq!(gate_of(&[0.5, 0.5, 0.5], |b| b.run.gate.feeds.clear()), GateResult::None);
    }

    #[test]
    fn feeds_meets_starves_misses_and_doubt_is_inconclusive() {
        assert_eq!(gate_of(&[1.1, 1.1, 1.1], |_| {}), GateResult::Met);
        let GateResult::Missed(words) = gate_of(&[0.8, 0.8, 0.8], |_| {}) else { panic!("not missed") };
        assert!(words[0].starts_with("disk must FEED: 20 % short"), "{words:?}");
        assert!(
            matches!(gate_of(&[0.9, 1.0, 1.1], |_| {}), GateResult::Inconclusive(list) if list.len() == 1)
        );
    }

    #[test]
    fn a_target_without_figures_or_without_a_name_misses() {
        assert!(matches!(gate_of(&[0.0, 0.0, 0.0], |b| b.edit_reps("c", |rep| {
            rep.outcome = record::Outcome::Failed { reason: "gone".to_owned() };
        })), GateResult::Missed(list) if list[0].contains("gone")));
        let unknown = |b: &mut Builder| b.run.gate.feeds = vec!["tape".to_owned()];
        assert!(
            matches!(gate_of(&[1.1, 1.1, 1.1], unknown), GateResult::Missed(list) if list[0].contains("tape"))
        );
    }

    fn skip_all(builder: &mut Builder) {
        builder.run.cells.clear();
        builder.lines.clear();
        builder.run.skipped.push(record::Skipped {
            target: "disk".to_owned(),
            engine: "io_uring".to_owned(),
            reason: "the kernel forbids it".to_owned(),
        });
    }

    #[test]
    fn a_target_of_which_all_was_skipped_misses_with_its_reason() {
        let known = |b: &mut Builder| skip_all(b);
        let without_its_target = |b: &mut Builder| {
            skip_all(b);
            b.run.targets.clear();
        };
        let words = "disk must FEED: nothing was measured: io_uring: the kernel forbids it";
        let missed = GateResult::Missed(vec![words.to_owned()]);
        assert_eq!(gate_of(&[1.1, 1.1, 1.1], known), missed);
        assert_eq!(gate_of(&[1.1, 1.1, 1.1], without_its_target), missed);
    }

    #[test]
    fn a_skipped_target_does_not_slip_past_a_demand_on_latency_alone() {
        let by_latency = |edit: fn(&mut Builder)| {
            move |b: &mut Builder| {
                b.run.gate.feeds.clear();
                b.run.gate.p99_ns = Some(2_000_000);
                skip_all(b);
                edit(b);
            }
        };
        for edit in [|_: &mut Builder| {}, |b: &mut Builder| b.run.targets.clear()] {
            let GateResult::Missed(words) = gate_of(&[1.1, 1.1, 1.1], by_latency(edit)) else {
                panic!("not missed")
            };
            assert!(words[0].contains("the kernel forbids it") && words.len() == 1, "{words:?}");
        }
    }

    #[test]
    fn latency_is_taken_from_the_confirmation() {
        // The fixture's reads take 1 ms.
        let limit = |ns| move |b: &mut Builder| b.run.gate.p99_ns = Some(ns);
        assert_eq!(gate_of(&[1.1, 1.1, 1.1], limit(2_000_000)), GateResult::Met);
        let GateResult::Missed(words) = gate_of(&[1.1, 1.1, 1.1], limit(500_000)) else {
            panic!("not missed")
        };
        assert!(words[0].starts_with("disk p99 is 1"), "{words:?}");
        let blank = |b: &mut Builder| {
            b.run.gate.p99_ns = Some(500_000);
            b.edit_reps("c", |rep| rep.histograms.clear());
        };
        assert!(matches!(gate_of(&[1.1, 1.1, 1.1], blank), GateResult::Inconclusive(_)));
    }
}
