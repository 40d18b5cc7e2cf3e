//! Repetitions that several hosts made at the same time, folded into one.
//!
//! Each rank of a run writes a record of its own, and `feedline merge` puts their lines into one. Together they show what
//! the storage gives all of them, but only where they measured at one time: each repetition whose windows do not overlap
//! is a failed one.

mod merged;
mod sums;
#[cfg(test)]
mod tests;
mod together;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use record::{Ceiling, Cell, Line, Outcome, Rep, Role, Run, RunRecord};

use crate::cell::counters::errors;
use crate::cell::repetitions::counted_anything;

use together::{Asked, OVERLAP_MIN, apart, overlap};

/// Ranks that a reason names one by one.
const NAMED_MAX: usize = 8;

const NS_PER_S: u64 = 1_000_000_000;

/// What makes one repetition of several ranks: cell, whether it confirms, number, variant.
pub(crate) type Key<'a> = (&'a str, bool, u32, &'a str);

/// The record with one repetition, and one ceiling, where each rank has made one; a record of a single process, or of one
/// rank alone, as it is. Everything that reads figures from a merged record reads them from this.
pub fn fold_ranks(record: &RunRecord) -> Cow<'_, RunRecord> {
    if !is_merged(record) {
        return alone(record);
    }
    let mut reps: BTreeMap<Key<'_>, Vec<&Rep>> = BTreeMap::new();
    let mut ceilings: BTreeMap<(&[String], bool), Vec<&Ceiling>> = BTreeMap::new();
    for line in &record.lines {
        match line {
            Line::Rep(rep) => reps.entry(key(rep)).or_default().push(rep),
            Line::Ceiling(ceiling) => {
                ceilings.entry((&ceiling.cells, ceiling.copies)).or_default().push(ceiling);
            }
            Line::End(_) => {}
        }
    }
    let planned = Planned::of(&record.run);
    // A ceiling that one of the hosts lacks is none of them together.
    // The sum of some hosts' ceilings would be too low, and call the others client-limited.
    let is_whole = |((cells, _), of_ranks): &((&[String], bool), Vec<&Ceiling>)| {
        of_ranks.len() == cells.first().map_or(record.run.ranks, |cell| planned.ranks(cell)) as usize
    };
    let whole = ceilings.into_iter().filter(is_whole);
    let mut lines: Vec<Line> = whole.map(|(_, of_ranks)| Line::Ceiling(sums::ceiling(&of_ranks))).collect();
    let mut folded: Vec<Rep> = reps.into_values().map(|of_ranks| fold(of_ranks, record, &planned)).collect();
    folded.sort_by_key(|rep| rep.order);
    lines.extend(folded.into_iter().map(|rep| Line::Rep(Box::new(rep))));
    lines.extend(record.lines.iter().filter(|line| matches!(line, Line::End(_))).cloned());
    Cow::Owned(RunRecord { lines, ..record.clone() })
}

/// The record of one process of several by itself: its job is as long as its own accelerators made it.
fn alone(record: &RunRecord) -> Cow<'_, RunRecord> {
    if record.run.ranks <= 1 {
        return Cow::Borrowed(record);
    }
    let mut own = record.clone();
    for line in &mut own.lines {
        if let Line::Rep(rep) = line {
            rep.ranks = 1;
        }
    }
    Cow::Owned(own)
}

/// What a reader must know of the ranks of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Ranks {
    /// The record is of one of them alone.
    Alone {
        /// Which.
        rank: u32,
        /// How many there are.
        ranks: u32,
    },
    /// The record is of them all, and each repetition is the sum of theirs.
    Together {
        /// How many there are.
        ranks: u32,
        /// Whether fewer of them, the first ones, took part in some cells.
        fewer: bool,
        /// Least share of the longest window that the windows of all ranks have in common, of repetitions that all made;
        /// absent where that is not known of any.
        overlap: Option<f64>,
    },
}

impl Ranks {
    /// `None` for a run of a single process.
    pub(crate) fn of(record: &RunRecord) -> Option<Self> {
        let (rank, ranks) = (record.run.rank, record.run.ranks);
        if ranks <= 1 {
            return None;
        }
        if !is_merged(record) {
            return Some(Self::Alone { rank, ranks });
        }
        let turns = by_turn(record);
        let planned = Planned::of(&record.run);
        let whole = turns.iter().filter(|(turn, made)| gap(made, turn.0, &planned).is_none());
        let overlap =
            whole.filter_map(|(_, of_ranks)| overlap(of_ranks)).map(|(share, _)| share).reduce(f64::min);
        let fewer = turns.keys().any(|(cell, ..)| planned.ranks(cell) < ranks);
        Some(Self::Together { ranks, fewer, overlap })
    }
}

/// Processes of one launcher, and how well their clocks agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamFacts {
    /// Who started them.
    pub launcher: String,
    /// How many there are.
    pub ranks: u32,
    /// Machines that they ran on.
    pub machines: u32,
    /// The most by which two of their clocks differed, nanoseconds.
    pub apart_ns: u64,
    /// How far off that may be for one of them, nanoseconds.
    pub uncertainty_ns: u64,
}

impl TeamFacts {
    pub(crate) fn of(team: &record::Team) -> Self {
        let ahead = || team.members.iter().map(|member| member.clock_ahead_ns);
        let (least, most) = (ahead().min().unwrap_or(0), ahead().max().unwrap_or(0));
        Self {
            launcher: team.launcher.clone(),
            ranks: team.members.len() as u32,
            machines: team.machines(),
            apart_ns: most.abs_diff(least),
            uncertainty_ns: team.members.iter().map(|one| one.clock_uncertainty_ns).max().unwrap_or(0),
        }
    }
}

/// Whether it holds what all ranks made. What processes that met have made, the first of them alone included, is in one record.
fn is_merged(record: &RunRecord) -> bool {
    let ranks: BTreeSet<u32> = reps(record).map(|rep| rep.rank).collect();
    record.run.ranks > 1 && (ranks.len() > 1 || record.run.team.is_some() && !ranks.is_empty())
}

/// The cells of a run by their names.
// Made once: looked for turn by turn, a report of many cells would take the square of their number.
struct Planned<'a> {
    run: &'a Run,
    cells: BTreeMap<&'a str, &'a Cell>,
}

impl<'a> Planned<'a> {
    fn of(run: &'a Run) -> Self {
        // From the last on: of two that a damaged record calls alike the first counts.
        Self { run, cells: run.cells.iter().rev().map(|cell| (cell.cell.as_str(), cell)).collect() }
    }

    /// How many ranks take part in a cell; all of them in one that the run does not have.
    fn ranks(&self, cell: &str) -> u32 {
        self.cells.get(cell).map_or(self.run.ranks, |cell| self.run.ranks_of(cell))
    }

    /// What was asked of a repetition.
    fn asked(&self, rep: &Rep) -> Asked<'a> {
        let Run { team, measure, .. } = self.run;
        Asked { met: team.is_some(), measure, cell: self.cells.get(rep.cell.as_str()).copied() }
    }
}

fn reps(record: &RunRecord) -> impl Iterator<Item = &Rep> {
    record.lines.iter().filter_map(|line| match line {
        Line::Rep(rep) => Some(&**rep),
        Line::Ceiling(_) | Line::End(_) => None,
    })
}

/// What the ranks made of each repetition, in the order of their numbers.
pub(crate) fn by_turn(record: &RunRecord) -> BTreeMap<Key<'_>, Vec<&Rep>> {
    let mut turns: BTreeMap<Key<'_>, Vec<&Rep>> = BTreeMap::new();
    reps(record).for_each(|rep| turns.entry(key(rep)).or_default().push(rep));
    for of_ranks in turns.values_mut() {
        of_ranks.sort_by_key(|rep| rep.rank);
    }
    turns
}

/// Which repetition of all ranks one is of.
pub(crate) fn key(rep: &Rep) -> Key<'_> {
    (&rep.cell, rep.role == Role::Confirm, rep.rep, &rep.variant)
}

/// One repetition of those that the ranks of a run made, at least one of them. It has failed where they were not made together.
fn fold(mut of_ranks: Vec<&Rep>, record: &RunRecord, planned: &Planned<'_>) -> Rep {
    of_ranks.sort_by_key(|rep| rep.rank);
    let mut folded = sums::rep(&of_ranks, record);
    let outcomes = || of_ranks.iter().map(|rep| &rep.outcome);
    let overlap = overlap(&of_ranks);
    folded.outcome = if let Some(reason) = gap(&of_ranks, &folded.cell, planned) {
        Outcome::Failed { reason }
    } else if outcomes().any(|outcome| *outcome == Outcome::Interrupted) {
        // A signal reaches the ranks at different times: what they measured together is what counts.
        // The part that all measured is not known in counts, only its length: kept where it is nearly all, nothing where it is
        // not.
        folded.window_ns = overlap.filter(|(share, _)| *share >= OVERLAP_MIN).map_or(0, |(_, ns)| ns);
        Outcome::Interrupted
    } else if let Some(reason) = apart(&of_ranks, planned.asked(&folded)) {
        Outcome::Failed { reason }
    } else if outcomes().any(|outcome| *outcome == Outcome::Exhausted) {
        Outcome::Exhausted
    } else {
        Outcome::Complete
    };
    if overlap.is_some() {
        folded.second_ops = by_second(&of_ranks, |rep| &rep.second_ops);
        folded.second_bytes = by_second(&of_ranks, |rep| &rep.second_bytes);
    }
    folded
}

/// Why the ranks that take part did not all make a repetition of `cell`: one is missing, there twice, has failed, or counted nothing.
fn gap(of_ranks: &[&Rep], cell: &str, planned: &Planned<'_>) -> Option<String> {
    let ranks = planned.ranks(cell);
    let mut made: BTreeMap<u32, u32> = BTreeMap::new();
    for rep in of_ranks {
        *made.entry(rep.rank).or_default() += 1;
    }
    // These reasons are words, since a folded record is a record: whoever reads it finds a failed repetition as in any other.
    if let Some((rank, _)) = made.range(ranks..).next() {
        return Some(format!("rank {rank} is none of {ranks} ranks"));
    }
    if made.len() < ranks as usize {
        let missing = (0..ranks).filter(|rank| !made.contains_key(rank));
        let words = listed(missing, ranks as usize - made.len());
        return Some(format!("rank {words} of {ranks} did not make this repetition"));
    }
    let double = || made.iter().filter(|(_, times)| **times > 1).map(|(rank, _)| *rank);
    if double().next().is_some() {
        return Some(format!("rank {} has this repetition twice", listed(double(), double().count())));
    }
    let cell = planned.cells.get(cell);
    of_ranks.iter().find_map(|rep| match &rep.outcome {
        Outcome::Failed { reason } => Some(format!("rank {}: {reason}", rep.rank)),
        // As of one process: others that counted make no repetition of one that did not.
        Outcome::Complete | Outcome::Exhausted if cell.is_some_and(|cell| !counted_anything(cell, rep)) => {
            let why = match (errors(rep), &rep.outcome) {
                (0, Outcome::Exhausted) => "its warm-up read all of its data".to_owned(),
                (0, _) => "nothing ended in its window".to_owned(),
                (failed, _) => format!("{failed} operations failed, and none ended in its window"),
            };
            Some(format!("rank {}: {why}", rep.rank))
        }
        Outcome::Complete | Outcome::Exhausted | Outcome::Interrupted => None,
    })
}

/// The first of `count` ranks, and how many more there are.
fn listed(ranks: impl Iterator<Item = u32>, count: usize) -> String {
    let named: Vec<String> = ranks.take(NAMED_MAX).map(|rank| rank.to_string()).collect();
    let more = count.saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join(", ") + &more
}

/// Counts of all ranks second by second, from the first that all measured to the last. Windows open at different parts of a
/// second: each is moved by whole seconds to where it fits best.
fn by_second(of_ranks: &[&Rep], counts: fn(&Rep) -> &Vec<u64>) -> Vec<u64> {
    if of_ranks.iter().all(|rep| counts(rep).is_empty()) {
        return Vec::new();
    }
    let opened = |rep: &Rep| rep.window_unix_ns.unwrap_or(0);
    let first = of_ranks.iter().map(|rep| opened(rep)).min().unwrap_or(0);
    let late =
        |rep: &Rep| (opened(rep).saturating_sub(first).saturating_add(NS_PER_S / 2) / NS_PER_S) as usize;
    // Counts end with the last second that had any: a second within the window that is not there is a zero.
    let ends = |rep: &Rep| late(rep) + rep.window_ns.div_ceil(NS_PER_S) as usize;
    // Seconds in which a host is missing would show a rise that only its absence made.
    let begin = of_ranks.iter().map(|rep| late(rep)).max().unwrap_or(0);
    let end = of_ranks.iter().map(|rep| ends(rep)).min().unwrap_or(0);
    let longest = of_ranks.iter().map(|rep| late(rep) + counts(rep).len()).max().unwrap_or(0);
    let count = |rep: &Rep, second: usize| counts(rep).get(second - late(rep)).copied().unwrap_or(0);
    (begin..end.min(longest))
        .map(|second| of_ranks.iter().map(|rep| count(rep, second)).fold(0, u64::saturating_add))
        .collect()
}
