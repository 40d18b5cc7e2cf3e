//! The demand on the 99th percentile of latency.

use feed::Flow;

use super::demand::{AtDepth, Outcome, Requirement, Unmet, WhyUnmet, confirmed, holds_if_steady};
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::figures::Figures;
use crate::cell::flag::{Flag, Gravity};
use crate::cell::latency::Percentile;
use crate::cell::operation;
use crate::cell::paced::KindResponse;
use crate::summary::Summary;
use crate::verdict::{Cause, Verdict};

/// What a mix does, as its phases are called.
const KINDS: [&str; 2] = ["reads", "writes"];

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
    match p99(figures, limit_ns) {
        Ok(p99_ns) if p99_ns <= limit_ns => holds_if_steady(Some(cell), unmet),
        Ok(p99_ns) => Outcome::Fails(unmet(too_late(figures, p99_ns, limit_ns))),
        Err(WhyUnmet::NotServed) => Outcome::Fails(unmet(WhyUnmet::NotServed)),
        Err(why) => Outcome::Open(unmet(why)),
    }
}

/// A percentile beyond the limit, which the table may show within it: that one is of the reads that ended.
fn too_late(figures: &Figures, p99_ns: u64, limit_ns: u64) -> WhyUnmet {
    let shown = figures.latency.p99_ns.filter(|_| figures.paced.is_none() && figures.mix.is_none());
    match shown {
        Some(shown_ns) if shown_ns <= limit_ns => WhyUnmet::TooLateWithFailed(p99_ns),
        _ => WhyUnmet::TooLate(p99_ns),
    }
}

/// What a caller waits for, or why it is not known: of a mix that of its slower kind.
fn p99(figures: &Figures, limit_ns: u64) -> Result<u64, WhyUnmet> {
    let of_all = of_all(figures);
    // Of what is beyond a limit together one kind is too, by more than its share of it.
    let is_kept = of_all.as_ref().is_ok_and(|p99_ns| *p99_ns <= limit_ns);
    if figures.mix.is_none() || of_all == Err(WhyUnmet::NotServed) {
        return of_all;
    }
    let Some(kinds) = kinds(figures) else {
        return if is_kept { Err(WhyUnmet::ResponsesTogether) } else { of_all };
    };
    // A limit holds for reads and for writes: where the one are few the other would hide them.
    let slower = kinds.iter().filter_map(|kind| kind.as_ref().ok()).copied().max();
    match slower {
        Some(p99_ns) if p99_ns > limit_ns => Ok(p99_ns),
        _ => kinds.into_iter().try_fold(0, |slower, kind| kind.map(|p99_ns| slower.max(p99_ns))),
    }
}

/// What a caller waits for, whatever it does: from the intended time on where there is one, else from the submission on.
fn of_all(figures: &Figures) -> Result<u64, WhyUnmet> {
    // Response and not service time where there is a schedule: service time leaves out the wait of arrivals for a free
    // place, which is coordinated omission (Gil Tene).
    match figures.paced.map_or(figures.latency.asked_p99, |paced| paced.response_p99) {
        Percentile::At(p99_ns) => Ok(p99_ns),
        Percentile::NotServed => Err(WhyUnmet::NotServed),
        Percentile::Unknown => Err(WhyUnmet::FewReads),
    }
}

/// The same of reads and of writes; `None` where they were not recorded apart.
fn kinds(figures: &Figures) -> Option<[Result<u64, WhyUnmet>; 2]> {
    let Some(paced) = figures.paced else {
        return Some(KINDS.map(|kind| {
            let phase = figures.phases.iter().find(|phase| phase.name == kind);
            let latency = phase.map(|phase| phase.latency).unwrap_or_default();
            of_kind(kind, latency.asked_p99, latency.count)
        }));
    };
    let of_response = |kind, response: KindResponse| of_kind(kind, response.p99, response.served);
    let [reads, writes] = paced.kinds?;
    Some([of_response(KINDS[0], reads), of_response(KINDS[1], writes)])
}

fn of_kind(kind: &'static str, p99: Percentile, count: u64) -> Result<u64, WhyUnmet> {
    match p99 {
        Percentile::At(p99_ns) => Ok(p99_ns),
        Percentile::NotServed => Err(WhyUnmet::NotServedOfKind(kind)),
        Percentile::Unknown => Err(WhyUnmet::FewOfKind { kind, count }),
    }
}
