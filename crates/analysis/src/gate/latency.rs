//! The demand on the 99th percentile of latency.

use feed::Flow;

use super::demand::{AtDepth, Outcome, Requirement, Unmet, WhyUnmet, confirmed, holds_if_steady};
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::figures::Figures;
use crate::cell::flag::{Flag, Gravity};
use crate::cell::latency::Latency;
use crate::cell::operation;
use crate::cell::paced::Percentile;
use crate::summary::Summary;
use crate::verdict::{Cause, Verdict};

/// One outcome for the cell that a verdict rests on, or one for each of the target's cells at the depth that the gate
/// names.
pub(super) fn outcomes(summary: &Summary, verdict: &Verdict, limit_ns: u64) -> Vec<Outcome> {
    let target = verdict.target.as_str();
    let unmet = |at, why| Unmet::of(target, Requirement::P99 { limit_ns, at }, why);
    let Some(queue_depth) = summary.gate.at_depth.filter(|_| !verdict.demo) else {
        return vec![of_verdict(summary, verdict, limit_ns, |why| unmet(None, why))];
    };
    let asked = summary.need.as_ref().map_or(Flow::Reads, feed::Need::flow);
    let is_at_depth = |cell: &&CellSummary| {
        cell.cell.target == target
            && cell.cell.queue_depth == queue_depth
            && operation::is_asked_for(&cell.cell, asked)
    };
    let cells: Vec<&CellSummary> = summary.cells.iter().filter(is_at_depth).collect();
    if cells.is_empty() {
        let at = AtDepth { queue_depth, cell: None };
        return vec![Outcome::Fails(unmet(Some(at), WhyUnmet::NothingAtDepth))];
    }
    let place = |cell: &CellSummary| {
        let cell = (cells.len() > 1).then(|| cell.cell.cell.clone());
        Some(AtDepth { queue_depth, cell })
    };
    cells.iter().map(|cell| at_depth(cell, limit_ns, |why| unmet(place(cell), why))).collect()
}

/// The interleaved repetitions of one cell: only the chosen ones were measured again.
fn at_depth(cell: &CellSummary, limit_ns: u64, unmet: impl Fn(WhyUnmet) -> Unmet) -> Outcome {
    match &cell.measured {
        Measurement::Figures(figures) => match of_figures(figures, cell, limit_ns, &unmet) {
            // A verdict would be refused for this, and none rests on these figures.
            Outcome::Holds => forbidding(figures)
                .map_or(Outcome::Holds, |flag| Outcome::Open(unmet(WhyUnmet::Flagged(flag.clone())))),
            decided => decided,
        },
        // Reads that all failed have no latency, and a limit on it is missed by them.
        Measurement::Failed { reason, .. } => Outcome::Fails(unmet(WhyUnmet::Unmeasured(reason.clone()))),
        Measurement::NotRun { reason } => Outcome::Open(unmet(WhyUnmet::Unmeasured(reason.clone()))),
        Measurement::Operations(_) => Outcome::Open(unmet(WhyUnmet::NoBytes)),
    }
}

fn forbidding(figures: &Figures) -> Option<&Flag> {
    let forbids = |gravity| matches!(gravity, Gravity::ForbidsVerdict | Gravity::ForbidsFeeds);
    figures.flags.iter().find(|flag| forbids(flag.gravity()))
}

fn of_verdict(
    summary: &Summary,
    verdict: &Verdict,
    limit_ns: u64,
    unmet: impl Fn(WhyUnmet) -> Unmet,
) -> Outcome {
    if verdict.demo {
        return Outcome::Open(unmet(WhyUnmet::Demo));
    }
    let cell = verdict.cell().and_then(|name| summary.cell(name));
    if let Some((cell, figures)) = cell.and_then(|cell| Some((cell, confirmed(cell)?))) {
        return of_figures(figures, cell, limit_ns, unmet);
    }
    let said = unmet(WhyUnmet::Verdict(Box::new(verdict.clone())));
    match verdict.of_reads().map(|reads| &reads.cause) {
        Some(Cause::NothingMeasured(_) | Cause::ConfirmationFailed { .. }) => Outcome::Fails(said),
        _ => Outcome::Open(said),
    }
}

fn of_figures(
    figures: &Figures,
    cell: &CellSummary,
    limit_ns: u64,
    unmet: impl Fn(WhyUnmet) -> Unmet,
) -> Outcome {
    match p99(figures) {
        Percentile::NotServed => Outcome::Fails(unmet(WhyUnmet::NotServed)),
        Percentile::At(p99_ns) if p99_ns <= limit_ns => holds_if_steady(Some(cell), unmet),
        Percentile::At(p99_ns) => Outcome::Fails(unmet(WhyUnmet::TooLate(p99_ns))),
        Percentile::Unknown => Outcome::Open(unmet(WhyUnmet::FewReads)),
    }
}

/// What a caller waits for: from the intended time on where there is one, else from the submission on.
fn p99(figures: &Figures) -> Percentile {
    // Response and not service time where there is a schedule: service time leaves out the wait of arrivals for a free
    // place, which is coordinated omission (Gil Tene).
    let of = |latency: &Latency| latency.p99_ns.map_or(Percentile::Unknown, Percentile::At);
    // A limit holds for reads and for writes: where the one are few the other would hide them.
    if figures.mix.is_some() && figures.paced.is_none() {
        let each: Option<Vec<u64>> = figures.phases.iter().map(|kind| kind.latency.p99_ns).collect();
        let slower = each.and_then(|each| each.into_iter().max());
        return slower.map_or(Percentile::Unknown, Percentile::At);
    }
    let service = of(&figures.latency);
    figures.paced.map_or(service, |paced| paced.response_p99)
}
