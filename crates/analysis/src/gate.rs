//! What the gate of a scenario makes of a summary: the only thing that turns a verdict into an exit code.

mod demand;
mod latency;
pub(crate) mod proof;

use std::collections::BTreeSet;

use feed::Judgement;

use crate::cell::cell_summary::CellSummary;
use crate::cell::figures::Figures;
use crate::summary::Summary;
use crate::verdict::checkpoint_verdict::CheckpointVerdict;
use crate::verdict::read_verdict::ReadVerdict;
use crate::verdict::{self, Cause, Verdict};

pub use demand::{AtDepth, Demand, GateResult, NotJudged, Requirement, Unmet, WhyUnmet};
use demand::{Outcome, confirmed, holds_if_steady};

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
    // By name, as it always was: the order in which the record lists what was left out says nothing.
    let without_verdict: BTreeSet<&str> = without_verdict(summary).into_iter().collect();
    GateResult::of(outcomes(summary, without_verdict).into_iter().map(|(_, outcome)| outcome))
}

/// Every demand that the gate makes on a target, in the order of the gate, with what became of it: a line each of a test
/// report.
pub fn demands(summary: &Summary) -> Vec<Demand> {
    let mut demands: Vec<((String, &'static str), Vec<Outcome>)> = Vec::new();
    for (of, outcome) in outcomes(summary, without_verdict(summary)) {
        match demands.iter_mut().find(|(known, _)| *known == of) {
            Some((_, outcomes)) => outcomes.push(outcome),
            None => demands.push((of, vec![outcome])),
        }
    }
    let demand = |((target, what), outcomes)| Demand { target, what, result: GateResult::of(outcomes) };
    demands.into_iter().map(demand).collect()
}

/// What became of each demand, with its target and what is demanded of it: one outcome or, of latency at a depth, one for
/// each cell.
fn outcomes<'a>(
    summary: &Summary,
    without_verdict: impl IntoIterator<Item = &'a str>,
) -> Vec<((String, &'static str), Outcome)> {
    let gate = &summary.gate;
    let mut all = Vec::new();
    for target in &gate.feeds {
        let outcome = match feeds(summary, target) {
            // Only what FEEDS has to be proven: what starves in one run misses the gate whatever more runs would say.
            Outcome::Holds => proven(gate, target),
            outcome => outcome,
        };
        all.push(((target.clone(), "feeds"), outcome));
    }
    let Some(limit_ns) = gate.p99_ns else { return all };
    for verdict in gated(summary) {
        let of_verdict = latency::outcomes(summary, verdict, limit_ns).into_iter();
        all.extend(of_verdict.map(|outcome| ((verdict.target.clone(), "p99"), outcome)));
    }
    for target in without_verdict {
        let requirement = Requirement::P99 { limit_ns, at: None };
        let unmet = Unmet::of(target, requirement, WhyUnmet::NotJudged(not_judged(summary, target)));
        let outcome = if is_demo(summary, target) { Outcome::Open(unmet) } else { Outcome::Fails(unmet) };
        all.push(((target.to_owned(), "p99"), outcome));
    }
    all
}

/// The grade of evidence that one run does not have.
const PROOF: &str = "proof";

fn feeds(summary: &Summary, target: &str) -> Outcome {
    let unmet = |why| Unmet::of(target, Requirement::Feeds, why);
    if is_demo(summary, target) {
        return Outcome::Open(unmet(WhyUnmet::Demo));
    }
    let Some(verdict) = summary.verdicts.iter().find(|verdict| verdict.target == target) else {
        return Outcome::Fails(unmet(WhyUnmet::NotJudged(not_judged(summary, target))));
    };
    let cell = verdict.cell().and_then(|name| summary.cell(name));
    if let Some((share, cell)) = summary.gate.utilization.zip(cell)
        && let Some(outcome) = utilization(summary, verdict, cell, share)
    {
        return with_checkpoints(verdict, outcome, unmet);
    }
    let said = || unmet(WhyUnmet::Verdict(Box::new(verdict.clone())));
    // What could not be measured fails and is not in doubt: a gate that passes a storage which never answered is worse than
    // none.
    let is_unmeasured = |reads: &ReadVerdict| matches!(reads.cause, Cause::NothingMeasured(_));
    match verdict.judgement() {
        Judgement::Feeds => holds_if_steady(cell, unmet),
        Judgement::Starves => Outcome::Fails(said()),
        Judgement::Uncertain if verdict.has_failed() || verdict.of_reads().is_some_and(is_unmeasured) => {
            Outcome::Fails(said())
        }
        Judgement::Uncertain => Outcome::Open(said()),
    }
}

/// What became of a demand on the reads, where checkpoints are asked for too: they have times of their own, which no other
/// utilization changes.
fn with_checkpoints(verdict: &Verdict, reads: Outcome, unmet: impl Fn(WhyUnmet) -> Unmet) -> Outcome {
    let judged = verdict.checkpoints.iter().map(|one| one.judgement).reduce(Judgement::graver);
    let said = || unmet(WhyUnmet::Verdict(Box::new(verdict.clone())));
    let has_failed = verdict.checkpoints.iter().any(CheckpointVerdict::has_failed);
    match (reads, judged) {
        (Outcome::Fails(why), _) => Outcome::Fails(why),
        (_, Some(Judgement::Starves)) => Outcome::Fails(said()),
        (_, Some(Judgement::Uncertain)) if has_failed => Outcome::Fails(said()),
        (Outcome::Holds, Some(Judgement::Uncertain)) => Outcome::Open(said()),
        (reads, _) => reads,
    }
}

/// Whether a FEEDS rests on what the gate asks for: a summary is that of one run, which is a screen.
fn proven(gate: &record::Gate, target: &str) -> Outcome {
    if gate.evidence != PROOF {
        return Outcome::Holds;
    }
    Outcome::Fails(Unmet::of(target, Requirement::Proof(gate.proof), WhyUnmet::OneRun))
}

/// A share of the demand in place of the need's utilization; `None` where there are no figures to hold against it, and the
/// verdict says why.
fn utilization(summary: &Summary, verdict: &Verdict, cell: &CellSummary, share: f64) -> Option<Outcome> {
    let (figures, line) = (confirmed(cell)?, cell.line?);
    // The line is the demand times the utilization of the need, and the gate names another share of the same demand.
    let demand_samples_per_s = line.samples_per_s * line.demand_bps / line.bps;
    let asked = share * demand_samples_per_s;
    let unmet = |why| Unmet::of(&verdict.target, Requirement::Utilization(share), why);
    // Arrivals serve no more than they offer, so that such a load can confirm a share up to its offer and deny none
    // above it.
    if let Some(offered) =
        offered_samples_per_s(figures, line.samples_per_s).filter(|offered| *offered < asked)
    {
        return Some(Outcome::Open(unmet(WhyUnmet::Offered(offered / demand_samples_per_s))));
    }
    let (judgement, cause) = verdict::judged(summary.as_cells(), cell, figures, asked);
    let reached = figures.samples_per_s.interval.map_or(WhyUnmet::TooFewRepetitions, |interval| {
        let of_demand = |samples_per_s: f64| samples_per_s / demand_samples_per_s;
        WhyUnmet::Reached(of_demand(interval.low), of_demand(interval.high))
    });
    Some(match (judgement, cause) {
        (Judgement::Feeds, _) => match otherwise(summary, verdict, cell, share) {
            Some(verdict) => Outcome::Open(unmet(WhyUnmet::Verdict(Box::new(verdict)))),
            None => holds_if_steady(Some(cell), unmet),
        },
        (Judgement::Starves, _) => Outcome::Fails(unmet(reached)),
        (_, Some(Cause::Flagged(flag))) => Outcome::Open(unmet(WhyUnmet::Flagged(flag))),
        (Judgement::Uncertain, _) => Outcome::Open(unmet(reached)),
    })
}

/// The verdict on a share of the demand that is reached, where the test was narrower than the need, or the storage reached it
/// for a part of the run only; `None` where nothing is in doubt.
fn otherwise(summary: &Summary, verdict: &Verdict, cell: &CellSummary, share: f64) -> Option<Verdict> {
    let reads = verdict.of_reads()?;
    let asked_bps = share * cell.line?.demand_bps;
    let changed = reads.changed.filter(|(before, after)| (*before >= asked_bps) != (*after >= asked_bps));
    let narrower = || verdict::narrower(&summary.as_cells(), cell, reads.scope.as_ref(), share);
    let cause = changed.map(|bps| Cause::Changed { bps }).or_else(narrower)?;
    let reads = ReadVerdict { judgement: Judgement::Uncertain, cause, feeds: None, ..reads.clone() };
    Some(Verdict { reads: Some(reads), checkpoints: Vec::new(), ..verdict.clone() })
}

/// What arrivals offer at most; absent for a closed loop and a job.
fn offered_samples_per_s(figures: &Figures, line_samples_per_s: f64) -> Option<f64> {
    Some(figures.paced?.of_line? * line_samples_per_s)
}

fn is_demo(summary: &Summary, target: &str) -> bool {
    summary.targets.iter().any(|one| one.name == target && one.demo)
}

/// Why a target has no verdict.
fn not_judged(summary: &Summary, target: &str) -> NotJudged {
    if let Some(unjudged) = summary.unjudged.iter().find(|one| one.target == target) {
        return NotJudged::NoVerdict(unjudged.reason.clone());
    }
    let skipped = summary.skipped.iter().find(|skipped| skipped.target == target);
    skipped.map_or(NotJudged::NoTarget, |skipped| NotJudged::Skipped(skipped.clone()))
}

/// Targets without a verdict: left out before the run altogether, so that the record does not even hold them, or
/// measured in ways that no verdict can rest on. Those that the gate names are among its demands already, and fail
/// there.
fn without_verdict(summary: &Summary) -> Vec<&str> {
    if !summary.gate.feeds.is_empty() {
        return Vec::new();
    }
    let skipped = summary.skipped.iter().map(|skipped| skipped.target.as_str());
    let skipped = skipped.filter(|name| summary.targets.iter().all(|one| one.name != *name));
    let unjudged = summary.unjudged.iter().map(|unjudged| unjudged.target.as_str());
    let mut seen = BTreeSet::new();
    unjudged.chain(skipped).filter(|name| seen.insert(*name)).collect()
}

/// The verdicts that a demand on latency applies to: the gated targets, or all when none is named.
fn gated(summary: &Summary) -> impl Iterator<Item = &Verdict> {
    let names = &summary.gate.feeds;
    summary.verdicts.iter().filter(move |verdict| names.is_empty() || names.contains(&verdict.target))
}

#[cfg(test)]
mod tests;
