//! Which fresh repetitions a run makes next.

use std::ops::Range;

use record::{Role, RunRecord};

use crate::cell::cell_summary::CellSummary;
use crate::cell::fresh::Saving;
use crate::cell::lines::Lines;
use crate::cell::looks;
use crate::choice::{self, Fresh};
use crate::summary::{Summary, summarise};
use crate::verdict::Verdict;
use crate::verdict::read_verdict::ReadVerdict;

/// Fresh repetitions to make: one of each cell in each round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Names of the cells, in the order of the scenario.
    pub cells: Vec<String>,
    /// Numbers of the rounds.
    pub rounds: Range<u32>,
}

/// Rounds that are added to a run that came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoreRounds {
    /// Targets that get them; all that are open where empty.
    pub targets: Vec<String>,
    /// How many each of them gets at most.
    pub rounds: u32,
    /// Where they begin, on the run's clock, nanoseconds.
    pub since_ns: u64,
}

impl MoreRounds {
    /// Whether a target gets them.
    pub fn is_for(&self, target: &str) -> bool {
        self.targets.is_empty() || self.targets.iter().any(|name| name == target)
    }
}

/// A target whose verdict further rounds may decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTarget {
    /// Its name.
    pub target: String,
    /// Its cells that are measured afresh.
    pub cells: Vec<String>,
    /// Rounds that were made of them.
    pub made: u32,
    /// Rounds that the run planned at most: after them all of the error is spent.
    pub most: u32,
}

/// The targets of a run whose verdicts further rounds may decide. A server of feedline's own is never among them.
pub fn open_targets(record: &RunRecord) -> Vec<OpenTarget> {
    let (summary, lines) = (summarise(record), Lines::of(record));
    let is_judged = |target: &&record::Target| target.storage && !target.demo;
    let judged = summary.targets.iter().filter(is_judged);
    let open = judged.filter_map(|target| {
        let made = rounds_made(record, &lines, &target.name, u64::MAX);
        if made > 0 && !is_open(&summary, &target.name) {
            return None;
        }
        let cells = fresh_cells(&summary, target, made == 0);
        let most = looks::most_rounds(&record.run.measure);
        (!cells.is_empty()).then(|| OpenTarget { target: target.name.clone(), cells, made, most })
    });
    open.collect()
}

/// The fresh repetitions that a run makes after what its record holds so far; `None` once every verdict is decided, or no
/// round is left.
///
/// The first look is taken of the candidates of every storage target and of their controls. Further rounds are made of
/// those targets that more of them may decide. A server of feedline's own is shown and not judged: it gets the first look,
/// of one cell.
pub fn next_look(record: &RunRecord) -> Option<Look> {
    let (summary, lines) = (summarise(record), Lines::of(record));
    let storages = || summary.targets.iter().filter(|target| target.storage);
    let from = storages().map(|target| rounds_made(record, &lines, &target.name, u64::MAX)).max()?;
    // From the record and not from a counter of the session: a run that is gone on with after a crash asks the same question
    // and gets the same answer.
    let to = looks::next(&record.run.measure, from)?;
    // Rounds cost minutes and, on S3, money: a target that is decided gets no more of them.
    let takes_part = |target: &&record::Target| from == 0 || is_open(&summary, &target.name);
    let chosen: Vec<String> =
        storages().filter(takes_part).flat_map(|target| fresh_cells(&summary, target, from == 0)).collect();
    look(record, &chosen, from..to)
}

/// The same of rounds that are added to a run. Targets that were left after different numbers of rounds are gone on with
/// one after the other, each from where it was.
pub fn next_added_look(record: &RunRecord, more: &MoreRounds) -> Option<Look> {
    let lines = Lines::of(record);
    let open = open_targets(record).into_iter().filter(|one| more.is_for(&one.target));
    let rounds = |one: &OpenTarget| {
        let until = rounds_made(record, &lines, &one.target, more.since_ns) + more.rounds;
        let to = looks::next(&record.run.measure, one.made)?.min(until);
        (one.made < to).then_some((one.made, to))
    };
    let left: Vec<((u32, u32), OpenTarget)> = open.filter_map(|one| Some((rounds(&one)?, one))).collect();
    let (from, to) = left.iter().map(|(rounds, _)| *rounds).min()?;
    let together = left.into_iter().filter(|(rounds, _)| *rounds == (from, to));
    let chosen: Vec<String> = together.flat_map(|(_, one)| one.cells).collect();
    look(record, &chosen, from..to)
}

/// In the order of the scenario.
fn look(record: &RunRecord, chosen: &[String], rounds: Range<u32>) -> Option<Look> {
    let names = record.run.cells.iter().map(|cell| &cell.cell);
    let cells: Vec<String> = names.filter(|cell| chosen.contains(cell)).cloned().collect();
    (!cells.is_empty()).then_some(Look { cells, rounds })
}

/// The cells of a target that are measured afresh: all that it is judged by at the first look, later those of what is open.
fn fresh_cells(summary: &Summary, target: &record::Target, is_first: bool) -> Vec<String> {
    let cells = summary.as_cells();
    let verdict = summary.verdicts.iter().find(|verdict| verdict.target == target.name);
    let fresh = choice::fresh(&cells, &target.name);
    let named = fresh.as_ref().and_then(|fresh| fresh.candidates.first().copied());
    let reads_open = is_first || verdict.and_then(Verdict::of_reads).is_some_and(ReadVerdict::is_open);
    // It is shown once, as nothing is decided by it.
    let most = if target.demo { 1 } else { usize::MAX };
    let reads = fresh.iter().filter(|_| reads_open).flat_map(Fresh::cells).take(most);
    let saving = Saving::of(&cells, &target.name, named);
    let is_open = |cell: &&CellSummary| {
        let mut parts = verdict.into_iter().flat_map(|verdict| &verdict.checkpoints);
        is_first || parts.any(|part| part.cell == cell.cell.cell && part.is_open())
    };
    let saves = saving.cells().filter(is_open);
    reads.chain(saves).map(|cell| cell.cell.cell.clone()).collect()
}

/// Rounds of fresh repetitions of a target that had begun by then, on the run's clock.
fn rounds_made(record: &RunRecord, lines: &Lines<'_>, target: &str, before_ns: u64) -> u32 {
    let of_target: Vec<&str> =
        record.run.cells.iter().filter(|cell| cell.target == target).map(|cell| cell.cell.as_str()).collect();
    let fresh = lines.reps.iter().filter(|rep| rep.role == Role::Confirm && rep.window_start_ns < before_ns);
    let fresh = fresh.filter(|rep| of_target.contains(&rep.cell.as_str()));
    fresh.map(|rep| rep.rep + 1).max().unwrap_or(0)
}

/// Whether further rounds may decide the verdict of a target.
fn is_open(summary: &Summary, target: &str) -> bool {
    let mut verdicts = summary.verdicts.iter().filter(|verdict| !verdict.demo);
    verdicts.any(|verdict| verdict.target == target && Verdict::is_open(verdict))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, confirmation, rep};

    /// Two targets that straddle the line after so many of the 28 rounds that were planned.
    fn open_after(rounds: [u32; 2]) -> RunRecord {
        let mut builder = Builder::new();
        (builder.run.measure.repetitions, builder.run.measure.fresh_rounds) = (5, Some(28));
        let filer = record::Target { name: "filer".to_owned(), ..builder.run.targets[0].clone() };
        builder.run.targets.push(filer);
        for (target, rounds) in ["disk", "filer"].into_iter().zip(rounds) {
            builder.cell(target, target, 8);
            let share = |number: u32| if number.is_multiple_of(2) { 0.9 } else { 1.1 };
            (0..5).for_each(|n| builder.push(rep(target, n, share(n) * Builder::LINE_BPS)));
            (0..rounds).for_each(|n| builder.push(confirmation(target, n, share(n) * Builder::LINE_BPS)));
        }
        builder.record()
    }

    fn added(record: &RunRecord, targets: &[&str], rounds: u32) -> Option<(Vec<String>, Range<u32>)> {
        let targets = targets.iter().map(|name| (*name).to_owned()).collect();
        let more = MoreRounds { targets, rounds, since_ns: u64::MAX };
        next_added_look(record, &more).map(|look| (look.cells, look.rounds))
    }

    #[test]
    fn added_rounds_go_from_look_to_look_of_the_plan_and_never_beyond_it() {
        let both = vec!["disk".to_owned(), "filer".to_owned()];
        let record = open_after([10, 10]);
        assert_eq!(added(&record, &[], 9), Some((both.clone(), 10..14)));
        assert_eq!(added(&record, &[], 3), Some((both, 10..13)));
        assert_eq!(added(&record, &["filer"], 9), Some((vec!["filer".to_owned()], 10..14)));
        assert_eq!(added(&open_after([28, 28]), &[], 9), None);
    }

    #[test]
    fn targets_that_were_left_after_different_rounds_are_gone_on_with_one_after_the_other() {
        let record = open_after([10, 14]);
        assert_eq!(added(&record, &[], 9), Some((vec!["disk".to_owned()], 10..14)));
        assert_eq!(added(&record, &["filer"], 9), Some((vec!["filer".to_owned()], 14..20)));
        let open: Vec<(String, u32)> =
            open_targets(&record).into_iter().map(|one| (one.target, one.made)).collect();
        assert_eq!(open, [("disk".to_owned(), 10), ("filer".to_owned(), 14)]);
    }

    #[test]
    fn a_look_at_an_end_is_taken_from_the_next() {
        let width = |record: &RunRecord| {
            let interval = summarise(record).verdicts[0].of_reads().unwrap().samples_per_s.unwrap();
            interval.high - interval.low
        };
        let mut record = open_after([14, 14]);
        let undisturbed = width(&record);
        let begins_ns = |rep: &record::Rep| u64::from(rep.rep) * 2_000_000_000;
        for line in &mut record.lines {
            if let record::Line::Rep(rep) = line {
                rep.window_start_ns = begins_ns(rep);
            }
        }
        assert!((width(&record) - undisturbed).abs() < 1e-9);
        // After 12 rounds, between the looks at 10 and 14.
        let segment = record::testing::segment(&record, 23_000_000_000);
        record.segments.push(segment);
        assert!(width(&record) > undisturbed * 1.05, "{} {undisturbed}", width(&record));
    }
}
