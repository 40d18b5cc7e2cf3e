//! Every repetition by itself, in figures: what other tools take when they want the samples and not the summary.

use record::{Cell, Measure, Rep, Role, RunRecord};

use crate::cell;
use crate::cell::checkpoints::{self, Written};
use crate::cell::context::Context;
use crate::cell::epochs;
use crate::cell::figures::Figures;
use crate::cell::gap::{Gap, GapCause};
use crate::cell::lines::Lines;
use crate::cell::metric::{METRICS, Metric, View};
use crate::cell::operation;
use crate::cell::operations::Operations;
use crate::cell::repetitions::Repetitions;
use crate::cell::system::SystemFigures;

/// One repetition of one cell, whatever became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RepFigures<'a> {
    /// Its cell.
    pub cell: &'a Cell,
    /// What was recorded.
    pub rep: &'a Rep,
    /// Its metrics in the order of [`METRICS`]; all are finite, and what too few operations say nothing of is absent.
    pub values: Vec<(&'static Metric, f64)>,
    /// Why it makes no point; absent where it makes one.
    pub gap: Option<Gap>,
}

/// Every repetition, fresh ones that confirm included, in the order of the scenario's cells. The rules are those of the
/// summary: a repetition without a point has a gap and no figure. Of a run of several ranks each rank's part stands by
/// itself.
pub fn by_repetition(record: &RunRecord) -> Vec<RepFigures<'_>> {
    let lines = Lines::of(record);
    let mut figures = Vec::new();
    for cell in &record.run.cells {
        let context = cell::context(record, &lines, cell, &record.run.measure);
        for role in [Role::Measure, Role::Confirm] {
            let of_role = lines.of_cell(&cell.cell).iter().filter(|rep| rep.role == role);
            figures.extend(of_role.map(|rep| of_rep(context.as_ref(), cell, rep, &record.run.measure)));
        }
    }
    figures
}

fn of_rep<'a>(
    context: Option<&Context<'_>>,
    cell: &'a Cell,
    rep: &'a Rep,
    measure: &Measure,
) -> RepFigures<'a> {
    // The summary's own rule on a single repetition: an export that kept what the summary drops would give other means than the
    // page.
    let sorted = Repetitions::of(&[rep], cell, rep.role, measure);
    let (values, gap) = match (sorted.used.is_empty(), sorted.gaps.into_iter().next()) {
        (true, Some(gap)) => (Vec::new(), Some(gap)),
        (true, None) => (Vec::new(), Some(GapCause::Interrupted.into())),
        (false, _) => (context.map(|context| values(context, rep)).unwrap_or_default(), None),
    };
    let gap = gap.or_else(|| values.is_empty().then(|| GapCause::NotComputed.into()));
    RepFigures { cell, rep, values, gap }
}

/// The metrics of a repetition that makes a point.
fn values(context: &Context<'_>, rep: &Rep) -> Vec<(&'static Metric, f64)> {
    let point = Point::of(context, rep);
    let epochs = epochs::of_rep(context.cell, rep);
    let written = Written::of(&[rep]);
    let system = context.storage.then(|| SystemFigures::of_reps(&[rep], context.cell)).flatten();
    let view = View {
        system: system.as_ref(),
        epochs: &epochs,
        written: written.as_ref(),
        checkpoint_stall: checkpoints::stall_share(&[rep]).map(|rate| rate.mean),
        ..point.view()
    };
    let of_metric = |metric: &'static Metric| Some((metric, metric.read(&view)?.value()?));
    // A damaged record may hold a window of one nanosecond; JSON has no infinity.
    METRICS.iter().filter_map(of_metric).filter(|(_, value)| value.is_finite()).collect()
}

/// What one repetition that makes a point says by itself.
pub(crate) struct Point {
    figures: Option<Figures>,
    operations: Option<Operations>,
}

impl Point {
    pub(crate) fn of(context: &Context<'_>, rep: &Rep) -> Self {
        let one = Repetitions { used: vec![rep], ..Repetitions::default() };
        if operation::is_metadata(context.cell) {
            Self { figures: None, operations: Operations::of(context, &one) }
        } else {
            Self { figures: Figures::of(context, &one), operations: None }
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        View { figures: self.figures.as_ref(), operations: self.operations.as_ref(), ..View::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, figures, rep};

    fn value(one: &RepFigures<'_>, metric: &str) -> Option<f64> {
        one.values.iter().find(|(known, _)| known.name == metric).map(|(_, value)| *value)
    }

    #[test]
    fn the_mean_over_its_repetitions_is_the_figure_of_a_cell() {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        for (number, bps) in [1e9, 2e9, 3e9].into_iter().enumerate() {
            builder.push(rep("c", number as u32, bps));
        }
        let record = builder.record();
        let all = by_repetition(&record);
        let points: Vec<f64> = all.iter().filter_map(|one| value(one, "throughput_bps")).collect();
        assert_eq!(points, [1e9, 2e9, 3e9]);
        assert!((figures(&builder, "c").bps.mean - 2e9).abs() < 1e-3);
        assert!(all.iter().all(|one| one.gap.is_none() && value(one, "latency_p50_ns").is_some()));
    }

    #[test]
    fn a_repetition_that_failed_has_a_gap_and_no_figure() {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        let mut failed = rep("c", 0, 1e9);
        failed.outcome = record::Outcome::Failed { reason: "the mount went away".to_owned() };
        let mut empty = rep("c", 1, 1e9);
        empty.window_ns = 0;
        builder.push(failed);
        builder.push(empty);
        let record = builder.record();
        let all = by_repetition(&record);
        assert_eq!(all[0].gap, Some(GapCause::Recorded("the mount went away".to_owned()).into()));
        assert_eq!(all[1].gap, Some(GapCause::EmptyWindow.into()));
        assert!(all.iter().all(|one| one.values.is_empty()));
    }

    #[test]
    fn a_percentile_that_too_few_operations_say_nothing_of_is_absent() {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        let mut few = rep("c", 0, 1e9);
        let mut service = record::new_histogram();
        service.record_n(1_000_000, 50).unwrap();
        few.histograms.insert("service_ns".to_owned(), record::encode(&service));
        builder.push(few);
        let record = builder.record();
        let one = &by_repetition(&record)[0];
        assert!(value(one, "latency_p50_ns").is_some());
        assert_eq!((value(one, "latency_p99_ns"), value(one, "latency_p999_ns")), (None, None));
    }
}
