//! What the gate of a scenario makes of a summary: the only thing that turns a verdict into an exit code.

mod demand;
pub(crate) mod demands;
mod latency;
pub(crate) mod proof;

use std::collections::BTreeSet;

use feed::Judgement;

use crate::bridge;
use crate::bridge::share::percent;
use crate::cell::cell_summary::CellSummary;
use crate::cell::figures::Figures;
use crate::summary::Summary;
use crate::verdict::{self, Cause, Verdict};

use demand::{DEMO_WORDS, Demand, confirmed, holds_if_steady};

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
/// could not be measured must not pass as doubt. What would hold of a cell that is in no steady state is not decided; what
/// does not hold of it fails all the same.
pub fn gate(summary: &Summary) -> GateResult {
    let gate = &summary.gate;
    if gate.feeds.is_empty() && gate.p99_ns.is_none() {
        return GateResult::None;
    }
    let mut missed = Vec::new();
    let mut open = Vec::new();
    for target in &gate.feeds {
        let demand = match feeds(summary, target) {
            Demand::Holds => proven(gate, target),
            demand => demand,
        };
        sort(demand, &mut missed, &mut open);
    }
    if let Some(limit_ns) = gate.p99_ns {
        for verdict in gated(summary) {
            for demand in latency::demands(summary, verdict, limit_ns) {
                sort(demand, &mut missed, &mut open);
            }
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

/// The grade of evidence that one run does not have.
const PROOF: &str = "proof";

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
    let cell = verdict.cell.as_deref().and_then(|name| summary.cell(name));
    if let Some((share, cell)) = summary.gate.utilization.zip(cell)
        && let Some(demand) = utilization(summary, verdict, cell, share)
    {
        return demand;
    }
    let words = format!("{target} must FEED: {}", verdict.sentence());
    match (&verdict.judgement, &verdict.cause) {
        (Judgement::Feeds, _) => holds_if_steady(cell, || format!("{target} must FEED")),
        (Judgement::Starves, _)
        | (_, Cause::NothingMeasured { .. } | Cause::ConfirmationFailed { .. } | Cause::AskedFailed { .. }) => {
            Demand::Fails(words)
        }
        (Judgement::Uncertain, _) => Demand::Open(words),
    }
}

/// Whether a FEEDS rests on what the gate asks for: a summary is that of one run, which is a screen.
fn proven(gate: &record::Gate, target: &str) -> Demand {
    if gate.evidence != PROOF {
        return Demand::Holds;
    }
    let takes = gate.proof.map_or_else(String::new, |proof| {
        let runs = feed::counted_noun(u64::from(proof.runs), "run");
        format!(" of {runs} over {}", feed::format_duration_ns(proof.span_ns))
    });
    Demand::Fails(format!("{target} must FEED by a proof{takes}: one run is a screen"))
}

/// A share of the demand in place of the need's utilization; `None` where there are no figures to hold against it, and the
/// verdict says why.
fn utilization(summary: &Summary, verdict: &Verdict, cell: &CellSummary, share: f64) -> Option<Demand> {
    let (figures, line) = (confirmed(cell)?, cell.line?);
    let demand_samples_per_s = line.samples_per_s * line.demand_bps / line.bps;
    let asked = share * demand_samples_per_s;
    let words = format!("{} must reach {} of the demand", verdict.target, percent(share));
    if let Some(offered) =
        offered_samples_per_s(figures, line.samples_per_s).filter(|offered| *offered < asked)
    {
        let offered = percent(offered / demand_samples_per_s);
        return Some(Demand::Open(format!("{words}: not decided: {offered} of it was offered")));
    }
    let (judgement, cause) = verdict::judged(summary.as_cells(), cell, figures, asked);
    let reached = figures.samples_per_s.interval.map(|interval| {
        let of_demand = |samples_per_s: f64| samples_per_s / demand_samples_per_s * 100.0;
        format!("{:.1} to {:.1} % of it", of_demand(interval.low), of_demand(interval.high))
    });
    let reached = reached.unwrap_or_else(|| "too few repetitions".to_owned());
    Some(match (judgement, cause) {
        (Judgement::Feeds, _) => holds_if_steady(Some(cell), || words.clone()),
        (Judgement::Starves, _) => Demand::Fails(format!("{words}: {reached}")),
        (_, Some(Cause::Flagged(flag))) => {
            Demand::Open(format!("{words}: not decided: {}", bridge::flag::words(&flag)))
        }
        (Judgement::Uncertain, _) => Demand::Open(format!("{words}: {reached}")),
    })
}

/// What arrivals offer at most; absent for a closed loop and a job.
fn offered_samples_per_s(figures: &Figures, line_samples_per_s: f64) -> Option<f64> {
    Some(figures.paced?.of_line? * line_samples_per_s)
}

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

#[cfg(test)]
mod tests;
