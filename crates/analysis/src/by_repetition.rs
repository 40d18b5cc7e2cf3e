//! Every repetition by itself, in figures: what other tools take when they want the samples and not the summary.

use record::{Cell, Measure, Rep, Role, RunRecord};

use crate::checkpoints::{self, Written};
use crate::epochs;
use crate::figures::{Context, Figures};
use crate::latency::Latency;
use crate::lines::Lines;
use crate::operation;
use crate::operations::Operations;
use crate::paced::{Paced, Percentile};
use crate::repetitions::Repetitions;
use crate::summary;

/// One repetition of one cell, whatever became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RepFigures<'a> {
    /// Its cell.
    pub cell: &'a Cell,
    /// What was recorded.
    pub rep: &'a Rep,
    /// Its figures in a fixed order; all are finite, and what too few operations say nothing of is absent.
    pub values: Vec<RepValue>,
    /// Why it makes no point; absent where it makes one.
    pub gap: Option<String>,
}

/// One figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepValue {
    /// What it is, with its unit last: `latency_p99_ns`.
    pub metric: &'static str,
    /// Its unit: `B/s`, `1/s`, `ns`, `s`, or empty for a share or a count.
    pub unit: &'static str,
    /// How much.
    pub value: f64,
}

/// Every repetition, fresh ones that confirm included, in the order of the scenario's cells. The rules are those of the
/// summary: a repetition without a point has a gap and no figure. Of a run of several ranks each rank's part stands by
/// itself.
pub fn by_repetition(record: &RunRecord) -> Vec<RepFigures<'_>> {
    let lines = Lines::of(record);
    let mut figures = Vec::new();
    for cell in &record.run.cells {
        let context = summary::context(record, &lines, cell, &record.run.measure);
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
    let sorted = Repetitions::of(&[rep], cell, rep.role, measure);
    let (values, gap) = match (sorted.used.is_empty(), sorted.reasons.into_iter().next()) {
        (true, Some(reason)) => (Vec::new(), Some(reason)),
        (true, None) => (Vec::new(), Some("interrupted too early to count".to_owned())),
        (false, _) => (context.map(|context| values(context, rep)).unwrap_or_default(), None),
    };
    let gap = gap.or_else(|| values.is_empty().then(|| "its figures cannot be computed".to_owned()));
    RepFigures { cell, rep, values, gap }
}

/// The figures of a repetition that makes a point.
fn values(context: &Context<'_>, rep: &Rep) -> Vec<RepValue> {
    let one = Repetitions { used: vec![rep], ..Repetitions::default() };
    let mut values = Values::default();
    if operation::is_metadata(context.cell) {
        if let Some(operations) = Operations::of(context, &one) {
            values.operations(&operations);
        }
    } else if let Some(figures) = Figures::of(context, &one) {
        values.figures(&figures);
    }
    values.passes(context.cell, rep);
    values.checkpoints(rep);
    values.0
}

#[derive(Default)]
struct Values(Vec<RepValue>);

impl Values {
    fn push(&mut self, metric: &'static str, unit: &'static str, value: Option<f64>) {
        let finite = value.filter(|value| value.is_finite());
        self.0.extend(finite.map(|value| RepValue { metric, unit, value }));
    }

    fn figures(&mut self, figures: &Figures) {
        self.push("throughput_bps", "B/s", Some(figures.bps.mean));
        self.push("samples_per_s", "1/s", Some(figures.samples_per_s.mean));
        self.push("ops_per_s", "1/s", Some(figures.ops_per_s));
        self.latency(&figures.latency);
        if let Some(paced) = &figures.paced {
            self.paced(paced);
        }
        if let Some(training) = &figures.training {
            self.push("au", "", Some(training.au.mean));
            self.push("wait_p99_ns", "ns", training.wait_p99_ns.map(|ns| ns as f64));
        }
        self.push("cpu_ns_per_op", "ns", figures.cpu_ns_per_op);
    }

    /// The first and the last whole pass over the data.
    fn passes(&mut self, cell: &Cell, rep: &Rep) {
        let passes = epochs::of_rep(cell, rep);
        let whole = || passes.iter().filter(|pass| pass.complete);
        let (first, last) = (whole().next(), whole().next_back());
        self.push("epochs", "", (!passes.is_empty()).then(|| whole().count() as f64));
        self.push("epoch_first_bps", "B/s", first.map(|pass| pass.bps.mean));
        self.push("epoch_last_bps", "B/s", last.map(|pass| pass.bps.mean));
        self.push("epoch_first_operation_s", "s", first.map(|pass| pass.first_s.mean));
        self.push("cache_share_last", "", last.and_then(|pass| pass.cache_share).map(|rate| rate.mean));
        self.push("tier_hits_last", "", last.and_then(|pass| pass.tier_hits).map(|rate| rate.mean));
    }

    fn checkpoints(&mut self, rep: &Rep) {
        let Some(written) = Written::of(&[rep]) else { return };
        let outcomes = &written.outcomes;
        self.push("checkpoint_bps", "B/s", written.bps.map(|rate| rate.mean));
        self.push("checkpoint_s", "s", written.checkpoint_s.map(|rate| rate.mean));
        self.push("checkpoint_publish_share", "", written.publish_share);
        self.push("checkpoint_stall_share", "", checkpoints::stall_share(&[rep]).map(|rate| rate.mean));
        self.push("checkpoints_whole", "", Some(outcomes.complete as f64));
        self.push("checkpoints_overrun", "", Some(outcomes.overrun as f64));
        self.push("checkpoints_unfinished", "", Some(outcomes.unfinished as f64));
        self.push("checkpoints_failed", "", Some(outcomes.failed as f64));
    }

    fn operations(&mut self, operations: &Operations) {
        self.push("ops_per_s", "1/s", Some(operations.ops_per_s.mean));
        self.push("entries_per_s", "1/s", operations.entries_per_s.map(|rate| rate.mean));
        self.latency(&operations.latency);
        self.push("cpu_ns_per_op", "ns", operations.cpu_ns_per_op);
    }

    fn latency(&mut self, latency: &Latency) {
        self.push("latency_mean_ns", "ns", latency.mean_ns);
        let quantiles = [
            ("latency_p50_ns", latency.p50_ns),
            ("latency_p99_ns", latency.p99_ns),
            ("latency_p999_ns", latency.p999_ns),
            ("latency_max_ns", latency.max_ns),
        ];
        for (metric, ns) in quantiles {
            self.push(metric, "ns", ns.map(|ns| ns as f64));
        }
    }

    fn paced(&mut self, paced: &Paced) {
        let at = |percentile| match percentile {
            Percentile::At(ns) => Some(ns as f64),
            Percentile::Unknown | Percentile::NotServed => None,
        };
        self.push("offered_bps", "B/s", Some(paced.offered_bps));
        self.push("response_p50_ns", "ns", at(paced.response_p50));
        self.push("response_p99_ns", "ns", at(paced.response_p99));
        self.push("served_share", "", Some(paced.served_share()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, figures, rep};

    fn value(one: &RepFigures<'_>, metric: &str) -> Option<f64> {
        one.values.iter().find(|value| value.metric == metric).map(|value| value.value)
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
        assert_eq!(all[0].gap.as_deref(), Some("the mount went away"));
        assert_eq!(all[1].gap.as_deref(), Some("the window was empty"));
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
