//! Which repetitions of a cell make a throughput point, and what became of the others.

use std::collections::BTreeSet;

use record::{Cell, Measure, Outcome, Rep, Role, RunRecord, counter};

use crate::cell::counters::{counted, errors};
use crate::cell::gap::{Gap, GapCause, JobGap};
use crate::cell::mix;
use crate::cell::operation;
use crate::cell::training;

// Half a window has half the reads, so that what it says scatters by two fifths more. Kept below that, a run that was stopped
// early would be one of its worst repetition.
/// Share of the planned window that an interrupted repetition must have measured to be kept.
const INTERRUPTED_MIN: f64 = 0.5;

// The machine's counters are read a moment after a window opens and closes: in shorter ones that moment is a good part of what
// they count.
/// A window shorter than this is too short whatever was planned, nanoseconds.
pub(crate) const WINDOW_NS_MIN: u64 = 100_000_000;

/// The repetitions of one cell and role, sorted out.
#[derive(Debug, Default)]
pub(crate) struct Repetitions<'a> {
    /// Those that make a throughput point.
    pub(crate) used: Vec<&'a Rep>,
    /// Those that failed.
    pub(crate) failed: Vec<&'a Rep>,
    /// Why each of them failed, in the same order.
    pub(crate) gaps: Vec<Gap>,
    /// Interrupted too early to say anything.
    pub(crate) cut: u32,
}

impl<'a> Repetitions<'a> {
    /// The repetitions of `cell` in `role`, whatever the order of lines in the record.
    pub(crate) fn of(all: &[&'a Rep], cell: &Cell, role: Role, measure: &Measure) -> Self {
        let mut sorted = Self::default();
        for rep in all.iter().filter(|rep| rep.cell == cell.cell && rep.role == role) {
            match gap(cell, rep) {
                Some(gap) => {
                    sorted.failed.push(rep);
                    sorted.gaps.push(gap);
                }
                None if is_cut(cell, rep, measure) => sorted.cut += 1,
                None => sorted.used.push(rep),
            }
        }
        sorted
    }

    /// Rounds in which they were made.
    pub(crate) fn rounds(&self) -> u32 {
        self.rounds_before(u64::MAX)
    }

    /// Rounds in which those were made that had begun by then, on the run's clock.
    pub(crate) fn rounds_before(&self, ns: u64) -> u32 {
        let made = self.used.iter().chain(&self.failed).filter(|rep| rep.window_start_ns < ns);
        made.map(|rep| rep.rep + 1).max().unwrap_or(0)
    }

    /// No repetition of any kind.
    pub(crate) fn is_empty(&self) -> bool {
        self.used.is_empty() && self.failed.is_empty() && self.cut == 0
    }
}

/// The repetitions of a record.
#[derive(Debug, Default)]
pub(crate) struct OfRecord<'a> {
    /// Those that figures are made of, in one fixed order, so that sums do not depend on the order of lines.
    pub(crate) reps: Vec<&'a Rep>,
    /// How many are left to a comparison because they belong to another variant.
    pub(crate) other_variants: usize,
    /// How many lines were left out because the record has the same repetition before.
    pub(crate) twice: usize,
    /// Those that met an outage, and whether another was made in their place.
    pub(crate) met_outages: Vec<(&'a Rep, bool)>,
}

/// Sorts out the repetitions of a record. One that met an outage and was not made again counts as what it is.
pub(crate) fn of_record(record: &RunRecord) -> OfRecord<'_> {
    let mut reps: Vec<&Rep> = record
        .lines
        .iter()
        .filter_map(|line| match line {
            record::Line::Rep(rep) => Some(rep.as_ref()),
            _ => None,
        })
        .collect();
    reps.sort_by(|a, b| order_key(a).cmp(&order_key(b)));
    // Variants of one record are other settings. Averaged they would be a configuration that nobody ran; the base is shown, and
    // `compare --by variant` has the others.
    let Some(first) = reps.iter().map(|rep| rep.variant.as_str()).min_by_key(|name| (*name != "base", *name))
    else {
        return OfRecord::default();
    };
    let of_all_variants = reps.len();
    reps.retain(|rep| rep.variant == first);
    let other_variants = of_all_variants - reps.len();
    let of_variant = reps.len();
    // A file that was copied together wrongly: counted twice, one measurement would pass for two that agree.
    let mut known = BTreeSet::new();
    reps.retain(|rep| known.insert((&rep.cell, rep.role == Role::Confirm, rep.rep, rep.rank, rep.order)));
    let twice = of_variant - reps.len();
    let met_outages = met_outages(&reps);
    // An outage or a signal ended it; of the latter the run was gone on with.
    // Dropped only where its successor is there: what was not made again is the only word on its round, and its failure counts.
    let is_broken_off = |rep: &Rep| rep.outage.is_some() || rep.outcome == Outcome::Interrupted;
    let all = reps.clone();
    reps.retain(|rep| !(is_broken_off(rep) && is_made_again(rep, &all)));
    OfRecord { reps, other_variants, twice, met_outages }
}

/// Those of a cell, of repetitions that are sorted by their cells.
pub(crate) fn of_cell<'r, 'a>(reps: &'r [&'a Rep], cell: &str) -> &'r [&'a Rep] {
    // A scan for each cell would make a run of 1,000 cells quadratic.
    let from = reps.partition_point(|rep| rep.cell.as_str() < cell);
    let length = reps[from..].partition_point(|rep| rep.cell == cell);
    &reps[from..from + length]
}

fn met_outages<'a>(reps: &[&'a Rep]) -> Vec<(&'a Rep, bool)> {
    let met = reps.iter().filter(|rep| rep.outage.is_some());
    met.map(|rep| (*rep, is_made_again(rep, reps))).collect()
}

/// Whether another was made in the place of a repetition; `reps` are sorted by their cells.
fn is_made_again(rep: &Rep, reps: &[&Rep]) -> bool {
    let key = |rep: &Rep| (rep.role == Role::Confirm, rep.rep, rep.rank);
    of_cell(reps, &rep.cell).iter().any(|other| key(other) == key(rep) && other.order > rep.order)
}

fn order_key(rep: &Rep) -> (&str, u32, u32, u32, u32, u64, u64) {
    (&rep.cell, rep.rank, rep.rep, rep.order, rep.round, rep.window_start_ns, rep.window_ns)
}

/// Whether a repetition of `cell` counted anything to make a point of.
pub(crate) fn counted_anything(cell: &Cell, rep: &Rep) -> bool {
    let needed =
        if operation::is_metadata(cell) { &[counter::OPS][..] } else { &[counter::OPS, counter::BYTES] };
    needed.iter().all(|name| counted(rep, name) > 0)
}

/// Why nothing can be said of the training job that a repetition was to play.
fn job_gap(cell: &Cell, rep: &Rep) -> Option<JobGap> {
    training::figures::gap(cell.training.as_ref()?, rep)
}

/// Why a repetition makes no point.
fn gap(cell: &Cell, rep: &Rep) -> Option<Gap> {
    let cause = cause(cell, rep)?;
    Some(Gap { cause, first: rep.granted.get("first_failure").filter(|_| cell.connections > 0).cloned() })
}

fn cause(cell: &Cell, rep: &Rep) -> Option<GapCause> {
    if let Outcome::Failed { reason } = &rep.outcome {
        return Some(GapCause::Recorded(reason.clone()));
    }
    // Interrupted is judged by how much was measured, and not by what is missing: no read in a window of a millisecond is no
    // failure of the storage.
    let early = rep.outcome == Outcome::Interrupted;
    let counted_nothing = !counted_anything(cell, rep);
    if rep.outcome == Outcome::Exhausted && (rep.window_ns == 0 || counted_nothing) && errors(rep) == 0 {
        return Some(GapCause::AllWarmup);
    }
    if rep.window_ns == 0 && !early {
        return Some(GapCause::EmptyWindow);
    }
    let operation = || cell.operation.clone();
    match errors(rep) {
        failed if counted_nothing && failed > 0 => {
            Some(GapCause::AllFailed { operation: operation(), kinds: rep.errors.clone() })
        }
        _ if counted_nothing && !early => Some(GapCause::NothingEnded { operation: operation() }),
        _ if mix::written_bytes(cell, rep).is_none() => Some(GapCause::NotApart),
        _ if !early => job_gap(cell, rep).map(GapCause::Job),
        _ => None,
    }
}

/// Interrupted before half of the planned window; without a planned length there is no half to compare with.
fn is_cut(cell: &Cell, rep: &Rep, measure: &Measure) -> bool {
    let enough = measure
        .duration_ns
        .is_some_and(|planned| rep.window_ns as f64 >= INTERRUPTED_MIN * planned as f64 && rep.window_ns > 0);
    let says_something = counted_anything(cell, rep) && job_gap(cell, rep).is_none();
    rep.outcome == Outcome::Interrupted && !(enough && says_something)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, rep};

    fn sorted(reps: &[Rep]) -> (usize, Vec<GapCause>, u32) {
        let all: Vec<&Rep> = reps.iter().collect();
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        let found = Repetitions::of(&all, &builder.run.cells[0], Role::Measure, &builder.run.measure);
        (found.used.len(), found.gaps.into_iter().map(|gap| gap.cause).collect(), found.cut)
    }

    #[test]
    fn a_failed_repetition_makes_no_point_and_keeps_its_reason() {
        let mut failed = rep("c", 0, 1e9);
        failed.outcome = Outcome::Failed { reason: "file is gone".to_owned() };
        assert_eq!(
            sorted(&[failed, rep("c", 1, 1e9)]),
            (1, vec![GapCause::Recorded("file is gone".to_owned())], 0)
        );
    }

    #[test]
    fn an_empty_window_and_a_window_of_errors_are_failures() {
        let mut empty = rep("c", 0, 1e9);
        empty.window_ns = 0;
        assert_eq!(sorted(std::slice::from_ref(&empty)).1, [GapCause::EmptyWindow]);
        empty.outcome = Outcome::Exhausted;
        assert_eq!(sorted(&[empty]).1, [GapCause::AllWarmup]);
        let mut nothing_left = rep("c", 0, 0.0);
        nothing_left.outcome = Outcome::Exhausted;
        assert_eq!(sorted(&[nothing_left]).1, [GapCause::AllWarmup]);

        let mut errors = rep("c", 0, 0.0);
        errors.errors.insert("io".to_owned(), 1_200);
        let kinds = errors.errors.clone();
        assert_eq!(sorted(&[errors]).1, [GapCause::AllFailed { operation: "read".into(), kinds }]);

        assert_eq!(sorted(&[rep("c", 0, 0.0)]).1, [GapCause::NothingEnded { operation: "read".into() }]);
    }

    #[test]
    fn a_cell_that_moves_no_bytes_needs_operations_alone() {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.edit_cell("c", |cell| cell.operation = "stat".into());
        let mut one = rep("c", 0, 1e9);
        one.counters.remove(counter::BYTES);
        let idle = rep("c", 1, 0.0);
        let found =
            Repetitions::of(&[&one, &idle], &builder.run.cells[0], Role::Measure, &builder.run.measure);
        assert_eq!(found.used, [&one]);
        assert_eq!(found.gaps, [GapCause::NothingEnded { operation: "stat".into() }.into()]);
    }

    #[test]
    fn an_interrupted_repetition_is_kept_from_half_of_the_plan_on() {
        let mut half = rep("c", 0, 1e9);
        half.outcome = Outcome::Interrupted;
        half.window_ns = 500_000_000;
        assert_eq!(sorted(std::slice::from_ref(&half)), (1, vec![], 0));
        half.window_ns -= 1;
        assert_eq!(sorted(&[half]), (0, vec![], 1));
    }

    #[test]
    fn other_variants_are_left_to_a_comparison() {
        let mut builder = Builder::new();
        builder.push(rep("c", 0, 1e9));
        let mut other = rep("c", 0, 9e9);
        other.variant = "a-larger-buffer".to_owned();
        builder.push(other);
        let record = builder.record();
        let found = of_record(&record);
        assert_eq!((found.reps.len(), found.other_variants, found.reps[0].variant.as_str()), (1, 1, "base"));
    }

    #[test]
    fn a_line_that_stands_twice_in_a_record_counts_once() {
        let mut builder = Builder::new();
        for number in [0, 1, 1, 1] {
            builder.push(rep("c", number, 1e9));
        }
        // Of another process, made again, of the confirmation: not the same line.
        builder.push(Rep { rank: 1, ..rep("c", 1, 1e9) });
        builder.push(Rep { order: 7, ..rep("c", 1, 1e9) });
        builder.push(Rep { role: Role::Confirm, ..rep("c", 1, 1e9) });
        let record = builder.record();
        let found = of_record(&record);
        assert_eq!((found.reps.len(), found.twice), (5, 2));
    }

    #[test]
    fn no_figure_rests_on_what_met_an_outage_and_was_made_again() {
        let failed = |order, number| Rep {
            order,
            outcome: Outcome::Failed { reason: "refused".to_owned() },
            outage: Some(record::Outage { away_ns: 2_000_000_000, suspended: false }),
            ..rep("c", number, 0.0)
        };
        let mut builder = Builder::new();
        for one in [failed(0, 0), failed(1, 1), failed(2, 0), Rep { order: 3, ..rep("c", 0, 1e9) }] {
            builder.push(one);
        }
        let record = builder.record();
        let found = of_record(&record);
        let met: Vec<(u32, bool)> =
            found.met_outages.iter().map(|(rep, again)| (rep.order, *again)).collect();
        let kept: Vec<u32> = found.reps.iter().map(|rep| rep.order).collect();
        assert_eq!((met, kept), (vec![(0, true), (2, true), (1, false)], vec![3, 1]));
    }
}
