//! What each process of a run did by itself, cell by cell, and which of them were slow.

mod hosts;
mod stragglers;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use record::{Member, Rep, Role, RunRecord, counter};

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::context;
use crate::cell::counters::per_s;
use crate::cell::flag::Flag;
use crate::cell::interval::mean;
use crate::cell::lines::Lines;
use crate::cell::operation;
use crate::cell::ranks::{Key, by_turn, key};
use crate::cell::rate::Rate;
use crate::cell::repetitions::Repetitions;
use crate::cell::slow_rank::SlowRanks;
use crate::cell::training;

use stragglers::ByRank;

/// The processes that measured a cell together, each by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct CellRanks {
    /// Name of the cell.
    pub cell: String,
    /// Repetitions that all of them made at one time, interleaved and fresh.
    pub repetitions: u32,
    /// What each did, in the order of their numbers.
    pub each: Vec<RankFigures>,
    /// Those that were clearly slower than the others.
    pub slow: Option<SlowRanks>,
    /// Hosts that had less than their part of the line in fresh repetitions, which is [`Flag::HostsBelow`].
    pub below: Option<Flag>,
}

/// What one process did in a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct RankFigures {
    /// Its number.
    pub rank: u32,
    /// Name of its host, redacted; absent where the record does not say.
    pub host: Option<String>,
    /// Bytes per second of its own windows, or operations where names are looked up.
    pub per_s: Rate,
    /// The mean of that by the mean over all processes.
    pub of_mean: f64,
    /// Utilization of its accelerators, and of the least of them, 0 to 1, means over repetitions; absent where it trains nothing.
    pub au: Option<(f64, f64)>,
    /// How much later than the first of all its windows opened, nanoseconds: median and most. Absent where the record does not
    /// say when they did.
    pub late_ns: Option<(u64, u64)>,
}

/// The processes of each cell that several measured, in the order of the cells. `record` holds the repetitions of each, `lines`
/// those of all together.
pub(crate) fn of_run(record: &RunRecord, lines: &Lines<'_>, cells: &[CellSummary]) -> Vec<CellRanks> {
    let turns = by_turn(record);
    // Of a run of one process, or of one rank alone, there is nothing to compare.
    if turns.values().all(|of_ranks| of_ranks.len() < 2) {
        return Vec::new();
    }
    let members = record.run.team.as_ref().map_or(&[][..], |team| &team.members);
    cells.iter().filter_map(|cell| of_cell(record, lines, &turns, (cell, members))).collect()
}

/// Adds to each cell which of its processes were slow.
pub(crate) fn complete(ranks: &[CellRanks], cells: &mut [CellSummary]) {
    let slow: BTreeMap<&str, &SlowRanks> =
        ranks.iter().filter_map(|of| Some((of.cell.as_str(), of.slow.as_ref()?))).collect();
    let below: BTreeMap<&str, &Flag> =
        ranks.iter().filter_map(|of| Some((of.cell.as_str(), of.below.as_ref()?))).collect();
    for cell in cells {
        if let Some(Measurement::Figures(fresh)) = &mut cell.confirmed {
            fresh.flags.extend(below.get(cell.cell.cell.as_str()).map(|flag| (*flag).clone()));
        }
        let flags = match &mut cell.measured {
            Measurement::Figures(figures) => &mut figures.flags,
            Measurement::Operations(operations) => &mut operations.flags,
            Measurement::Failed { .. } | Measurement::NotRun { .. } => continue,
        };
        flags.extend(slow.get(cell.cell.cell.as_str()).map(|slow| Flag::SlowRanks((*slow).clone())));
    }
}

fn of_cell(
    record: &RunRecord,
    lines: &Lines<'_>,
    turns: &BTreeMap<Key<'_>, Vec<&Rep>>,
    (cell, members): (&CellSummary, &[Member]),
) -> Option<CellRanks> {
    let reps = lines.of_cell(&cell.cell.cell);
    // What counts for the cell counts for its processes.
    let used = [Role::Measure, Role::Confirm]
        .map(|role| Repetitions::of(reps, &cell.cell, role, &record.run.measure).used);
    let [measured, fresh] =
        used.each_ref().map(|used| used.iter().filter_map(|rep| turns.get(&key(rep))).collect::<Vec<_>>());
    let of_ranks = [&measured[..], &fresh[..]].concat();
    let ranks = record.run.ranks_of(&cell.cell) as usize;
    // Of one process there is nothing to compare.
    if ranks < 2 || of_ranks.is_empty() || of_ranks.iter().any(|of_rep| of_rep.len() != ranks) {
        return None;
    }
    let moved = if operation::is_metadata(&cell.cell) { counter::OPS } else { counter::BYTES };
    let rates = ByRank::of(&of_ranks, |rep| Some(per_s(rep, moved)).filter(|rate| rate.is_finite()))?;
    let utilizations = |of: fn(&[f64]) -> Option<f64>| {
        ByRank::of(&of_ranks, |rep| of(&training::figures::utilizations(rep.trained.as_ref()?)))
    };
    let (aus, least) = (utilizations(mean), utilizations(|of| of.iter().copied().reduce(f64::min)));
    let hosts: Vec<Option<String>> =
        (0..ranks).map(|rank| members.get(rank).map(|member| member.host.clone())).collect();
    let of_all = mean(&(0..ranks).filter_map(|rank| rates.mean(rank)).collect::<Vec<_>>())?;
    let late = late(&of_ranks);
    let figures = |rank: usize| {
        let per_s = Rate::of(&rates.of_rank(rank))?;
        Some(RankFigures {
            rank: rank as u32,
            host: hosts[rank].clone(),
            per_s,
            of_mean: per_s.mean / of_all,
            au: aus.as_ref().and_then(|of| of.mean(rank)).zip(least.as_ref().and_then(|of| of.mean(rank))),
            late_ns: late.as_ref().map(|of| of[rank]),
        })
    };
    Some(CellRanks {
        cell: cell.cell.cell.clone(),
        repetitions: of_ranks.len() as u32,
        each: (0..ranks).map(figures).collect::<Option<_>>()?,
        slow: stragglers::slow(&rates, least.as_ref(), &hosts),
        // A search looks for how many are fed, and the line is that of all.
        below: context(record, lines, &cell.cell, &record.run.measure)
            .filter(|_| record.run.size.is_none())
            .and_then(|context| hosts::below(&context, &fresh, members)),
    })
}

/// How much later than the first window of a repetition each rank's opened: median and most over repetitions.
fn late(of_ranks: &[&Vec<&Rep>]) -> Option<Vec<(u64, u64)>> {
    let of_rep = |of_rep: &&Vec<&Rep>| {
        let opened: Vec<u64> = of_rep.iter().map(|rep| rep.window_unix_ns).collect::<Option<_>>()?;
        let first = opened.iter().copied().min()?;
        Some(opened.into_iter().map(|opened| opened - first).collect::<Vec<u64>>())
    };
    let late: Vec<Vec<u64>> = of_ranks.iter().map(of_rep).collect::<Option<_>>()?;
    let of_rank = |rank: usize| {
        let mut own: Vec<u64> = late.iter().map(|of_rep| of_rep[rank]).collect();
        own.sort_unstable();
        Some((own[own.len() / 2], *own.last()?))
    };
    (0..late.first()?.len()).map(of_rank).collect()
}
