//! Whether a storage changed during a run, and what the deciding cell read before and after.

use record::Role;

use super::source::Source;
use crate::cell;
use crate::cell::cell_summary::CellSummary;
use crate::cell::context::Context;
use crate::cell::operation;
use crate::cell::point::point_bps;
use crate::cell::repetitions::Repetitions;
use crate::cell::steadiness::level::{self, Change, Point};
use crate::curve::treatment::{self, FromMemory};

/// Where the level of a target changed, if it did. The repetitions of all its cells tell, but for those that may come from
/// this client's memory; cells in `chosen` were chosen by their figures.
pub(super) fn of_target(source: &Source<'_>, target: &str, chosen: &[&CellSummary]) -> Option<Change> {
    // Where another client went on, it is no more the storage that changed than what reads it.
    if !source.lines.elsewhere.is_empty() {
        return None;
    }
    let cells = source.cells.all.iter().enumerate();
    let of_target = cells.filter(|(_, cell)| {
        cell.cell.target == target
            && operation::moves_samples(&cell.cell)
            && treatment::from_cache(&cell.cell) == FromMemory::Nothing
    });
    // All cells of the target: a change of the storage shows in each, and any one alone has too few repetitions to tell
    // it from noise.
    let points: Vec<Point> = of_target
        .flat_map(|(index, cell)| {
            let is_chosen = chosen.iter().any(|one| std::ptr::eq(*one, cell));
            [Role::Measure, Role::Confirm].into_iter().flat_map(move |role| {
                of_cell(source, cell, role, |context, reps| {
                    level::points(index, context, &reps.used, is_chosen).collect()
                })
            })
        })
        .collect();
    level::change(&points)
}

/// Bytes per second of a cell before and after a change, by its fresh repetitions; `None` without any.
pub(super) fn before_and_after(
    source: &Source<'_>,
    cell: &CellSummary,
    change: Change,
) -> Option<(f64, f64)> {
    let before: Vec<f64> = of_cell(source, cell, Role::Confirm, |context, reps| {
        let used = reps.used.iter();
        used.map(|rep| point_bps(context, rep).ln() - change.at(rep.order)).collect()
    });
    let before = crate::cell::interval::mean(&before)?;
    Some((before.exp(), (before + change.in_all()).exp()))
}

fn of_cell<T>(
    source: &Source<'_>,
    cell: &CellSummary,
    role: Role,
    read: impl FnOnce(&Context<'_>, &Repetitions<'_>) -> Vec<T>,
) -> Vec<T> {
    let measure = &source.record.run.measure;
    let Some(context) = cell::context(source.record, source.lines, &cell.cell, measure) else {
        return Vec::new();
    };
    let reps = Repetitions::of(source.lines.of_cell(&cell.cell.cell), &cell.cell, role, measure);
    read(&context, &reps)
}

#[cfg(test)]
mod tests {
    use feed::Judgement;
    use record::testing;

    use crate::fixture::{Builder, confirmation, reads_of, rep};
    use crate::{Cause, Flag, ReadVerdict, summarise};

    /// One cell whose interleaved repetitions stood at a share of the line, and the fresh ones at another.
    fn changing(before: f64, after: f64) -> Builder {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        for number in 0..3 {
            builder.push(rep("c", number, before * Builder::LINE_BPS));
            builder.push(confirmation("c", number, after * Builder::LINE_BPS));
        }
        builder
    }

    /// Before and after, in hundredths of the line.
    fn changed(verdict: &ReadVerdict) -> Option<(f64, f64)> {
        let hundredths = |bps: f64| (bps / Builder::LINE_BPS * 100.0).round();
        verdict.changed.map(|(before, after)| (hundredths(before), hundredths(after)))
    }

    /// A cell that stood at half the line in the interleaved rounds, and was not measured afresh.
    fn steady(builder: &mut Builder, target: &str) {
        builder.cell("steady", target, 4);
        (0..3).for_each(|number| builder.push(rep("steady", number, 0.5 * Builder::LINE_BPS)));
    }

    #[test]
    fn a_storage_that_crossed_the_line_has_no_answer() {
        for (before, after) in [(1.2, 0.8), (0.8, 1.2)] {
            let verdict = reads_of(&changing(before, after));
            assert_eq!((verdict.judgement, verdict.feeds), (Judgement::Uncertain, None));
            assert_eq!(changed(&verdict), Some((before * 100.0, after * 100.0)));
            assert_eq!(verdict.cause, Cause::Changed { bps: verdict.changed.unwrap() });
        }
    }

    #[test]
    fn where_another_client_went_on_no_storage_is_said_to_have_changed() {
        let mut record = changing(1.2, 0.8).record();
        let mut segment = testing::segment(&record, 0);
        segment.env.kernel = record::Captured::Value("2.6.32".to_owned());
        record.segments.push(segment);
        let verdict = summarise(&record).verdicts[0].of_reads().unwrap().clone();
        assert_eq!((verdict.judgement, verdict.changed), (Judgement::Uncertain, None));
        assert!(matches!(verdict.cause, Cause::Flagged(Flag::GoneOnElsewhere(_))), "{:?}", verdict.cause);
    }

    #[test]
    fn a_change_on_one_side_of_the_line_is_said_unless_it_is_small_and_decides_nothing() {
        let said = |before, after| {
            let verdict = reads_of(&changing(before, after));
            assert_eq!(verdict.judgement, Judgement::Feeds);
            changed(&verdict)
        };
        assert_eq!(said(1.5, 1.2), Some((150.0, 120.0)));
        assert_eq!(said(1.23, 1.2), None);
    }

    #[test]
    fn a_change_is_not_the_reason_where_nothing_was_judged() {
        let mut builder = changing(1.2, 0.8);
        builder.edit_reps("c", |rep| rep.errors = testing::counts([("io", 300)]));
        let verdict = reads_of(&builder);
        assert!(matches!(verdict.cause, Cause::Flagged(_)), "{:?}", verdict.cause);
    }

    #[test]
    fn another_target_says_nothing_of_a_change() {
        let mut builder = changing(1.2, 0.8);
        builder.run.targets.push(testing::target("elsewhere"));
        steady(&mut builder, "elsewhere");
        let fresh = |number| confirmation("steady", number, 0.5 * Builder::LINE_BPS);
        (0..3).for_each(|number| builder.push(fresh(number)));
        assert_eq!(changed(&reads_of(&builder)), Some((120.0, 80.0)));
    }

    #[test]
    fn a_cell_that_was_chosen_for_its_luck_is_no_change() {
        let mut builder = changing(1.2, 0.8);
        steady(&mut builder, "disk");
        let verdict = reads_of(&builder);
        assert_eq!((verdict.judgement, verdict.changed), (Judgement::Starves, None));
    }
}
