//! The demand on the 99th percentile of latency.

use super::demand::{DEMO_WORDS, Demand, confirmed, holds_if_steady};
use crate::bridge;
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::figures::Figures;
use crate::cell::flag::Gravity;
use crate::cell::operation;
use crate::cell::paced::Percentile;
use crate::summary::Summary;
use crate::verdict::{Cause, Verdict};

/// One demand for the cell that a verdict rests on, or one for each of the target's cells at the depth that the gate
/// names.
pub(super) fn demands(summary: &Summary, verdict: &Verdict, limit_ns: u64) -> Vec<Demand> {
    let Some(depth) = summary.gate.at_depth.filter(|_| !verdict.demo) else {
        return vec![of_verdict(summary, verdict, limit_ns)];
    };
    let target = &verdict.target;
    let is_at_depth = |cell: &&CellSummary| {
        cell.cell.target == *target && cell.cell.queue_depth == depth && operation::reads_samples(&cell.cell)
    };
    let cells: Vec<&CellSummary> = summary.cells.iter().filter(is_at_depth).collect();
    if cells.is_empty() {
        let limit = feed::format_duration_ns(limit_ns);
        let words = format!("{target} p99 against {limit}: no read was measured at depth {depth}");
        return vec![Demand::Fails(words)];
    }
    let place = |cell: &CellSummary| match cells.len() {
        1 => format!("{target} p99 at depth {depth}"),
        _ => format!("{target} p99 at depth {depth} ({})", cell.cell.cell),
    };
    cells.iter().map(|cell| at_depth(cell, &place(cell), limit_ns)).collect()
}

/// The interleaved repetitions of one cell: only the chosen ones were measured again.
fn at_depth(cell: &CellSummary, place: &str, limit_ns: u64) -> Demand {
    let against = format!("{place} against {}", feed::format_duration_ns(limit_ns));
    match &cell.measured {
        Measurement::Figures(figures) => match of_figures(figures, cell, place, limit_ns) {
            // A verdict would be refused for this, and none rests on these figures.
            Demand::Holds => forbidding(figures)
                .map_or(Demand::Holds, |words| Demand::Open(format!("{against}: not decided: {words}"))),
            decided => decided,
        },
        Measurement::Failed { reason, .. } => {
            Demand::Fails(format!("{against}: {}", bridge::gap::words(reason)))
        }
        Measurement::NotRun { reason } => Demand::Open(format!("{against}: {}", bridge::gap::words(reason))),
        Measurement::Operations(_) => Demand::Open(format!("{against}: no bytes were read")),
    }
}

fn forbidding(figures: &Figures) -> Option<String> {
    let forbids = |gravity| matches!(gravity, Gravity::ForbidsVerdict | Gravity::ForbidsFeeds);
    figures.flags.iter().find(|flag| forbids(flag.gravity())).map(bridge::flag::words)
}

fn of_verdict(summary: &Summary, verdict: &Verdict, limit_ns: u64) -> Demand {
    let target = &verdict.target;
    let limit = feed::format_duration_ns(limit_ns);
    if verdict.demo {
        return Demand::Open(format!("{target} p99 against {limit}: {DEMO_WORDS}"));
    }
    let cell = verdict.cell.as_deref().and_then(|name| summary.cell(name));
    if let Some((cell, figures)) = cell.and_then(|cell| Some((cell, confirmed(cell)?))) {
        return of_figures(figures, cell, &format!("{target} p99"), limit_ns);
    }
    let words = format!("{target} p99 against {limit}: {}", verdict.sentence());
    match verdict.cause {
        Cause::NothingMeasured { .. } | Cause::ConfirmationFailed { .. } => Demand::Fails(words),
        _ => Demand::Open(words),
    }
}

fn of_figures(figures: &Figures, cell: &CellSummary, place: &str, limit_ns: u64) -> Demand {
    let limit = feed::format_duration_ns(limit_ns);
    match p99(figures) {
        Percentile::NotServed => {
            Demand::Fails(format!("{place} is beyond {limit}: more than 1 % of the arrivals were not served"))
        }
        Percentile::At(p99_ns) if p99_ns <= limit_ns => {
            holds_if_steady(Some(cell), || format!("{place} against {limit}"))
        }
        Percentile::At(p99_ns) => {
            Demand::Fails(format!("{place} is {}, the gate allows {limit}", feed::format_duration_ns(p99_ns)))
        }
        Percentile::Unknown => {
            Demand::Open(format!("{place} against {limit}: fewer than 1,000 reads were measured"))
        }
    }
}

/// What a caller waits for: from the intended time on where there is one, else from the submission on.
fn p99(figures: &Figures) -> Percentile {
    let service = figures.latency.p99_ns.map_or(Percentile::Unknown, Percentile::At);
    figures.paced.map_or(service, |paced| paced.response_p99)
}
