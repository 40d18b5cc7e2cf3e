//! Utilization while one setting after another is changed, with the gain of each over what was there before.

use analysis::{CellSummary, Ladder, LadderOrder, Summary, ladders};
use feed::counted_noun;
use record::Axis;

use super::super::canvas::Stroke;
use super::super::chart::{Chart, FEED_LINE, Label, Mark, PlotPanel, Point, height_of, span_of};
use super::super::scale::Scale;
use super::super::sign::Sample;
use super::super::stored::title::layout;
use super::super::theme::Ink;
use super::accelerators::whole;
use super::jobs::{shared_but_accelerators, target};
use crate::number::{cut_percent, times};
use crate::plot::PlotTable;
use crate::training::{Job, fetch, is_demo};

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (320, 240);
/// Steps of the scale of utilization.
const STEP: f64 = 0.2;
/// Size of the gains inside the plot.
const GAIN_SIZE: f64 = 12.0;

/// A job of a ladder.
struct Stage<'a> {
    job: Job<'a>,
    /// The setting that was changed to come to it.
    step: Option<(Axis, f64)>,
}

/// Describes the plot; `None` where no three settings of jobs were varied, each beside all values of the others.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let ladders = ladders(summary);
    let staged: Vec<(&Ladder, Vec<Stage<'_>>)> =
        ladders.iter().filter_map(|ladder| Some((ladder, stages(summary, ladder)?))).collect();
    let first = staged.first()?.1.first()?.job;
    let panels = staged.iter().map(|(ladder, stages)| {
        vec![panel(summary, stages, title(ladder.order, staged.len()), height_of(staged.len(), PLOT))]
    });
    let all: Vec<Job<'_>> = staged.iter().flat_map(|(_, stages)| stages).map(|stage| stage.job).collect();
    let start = format!("start: the first of the jobs that wait most ({})", words(summary, &staged[0].1));
    let conditions = shared_but_accelerators(&all).into_iter().chain([
        start,
        "each job differs from the one before it in the setting below it, which is changed once, to its best value"
            .to_owned(),
        "numbers: its utilization by that of the one before it".to_owned(),
    ]);
    let chart = Chart::of(
        summary,
        ("training-ladder", "what each setting gains over what was there before"),
        conditions,
    )
    .with_rows(panels.collect(), 1, table(summary, &staged))
    .key_of_means(first.figures.repetitions)
    .key(Sample::HOLLOW, "hollow: client-limited, not valid or a DEMO")
    .key(Sample::Stroke(FEED_LINE), "threshold of utilization")
    .key(Sample::STARVING, "below it: accelerators starve");
    Some(chart)
}

fn stages<'a>(summary: &'a Summary, ladder: &Ladder) -> Option<Vec<Stage<'a>>> {
    let stage = |rung: &analysis::Rung| {
        Some(Stage { job: Job::measured(summary.cells.get(rung.cell)?)?, step: rung.step })
    };
    ladder.rungs.iter().map(stage).collect()
}

fn title(order: LadderOrder, ladders: usize) -> Vec<String> {
    let words = match order {
        _ if ladders == 1 => "the same whether what gains most comes first or last",
        LadderOrder::MostFirst => "of the settings that are left, that which gains most",
        LadderOrder::LeastFirst => "of the settings that are left, that which gains least",
    };
    vec![words.to_owned()]
}

/// The settings of the first stage that are changed on the way.
fn words(summary: &Summary, stages: &[Stage<'_>]) -> String {
    let changed = stages.iter().filter_map(|stage| stage.step).map(|(axis, _)| axis);
    let mut changed: Vec<Axis> = changed.collect();
    changed.sort_unstable();
    changed.into_iter().map(|axis| setting(summary, stages[0].job.cell, axis)).collect::<Vec<_>>().join(", ")
}

/// The value of a setting.
fn setting(summary: &Summary, cell: &CellSummary, axis: Axis) -> String {
    let job = cell.cell.training.as_ref();
    match axis {
        Axis::Layout => layout(summary, cell).to_owned(),
        Axis::Target => target(summary, cell),
        Axis::Tier => {
            cell.cell.tier.as_ref().map_or("no cache".to_owned(), |tier| format!("{} cache", tier.policy))
        }
        Axis::Readers | Axis::Fetches => fetch(cell),
        Axis::Prefetch => format!("{} ahead", job.map_or(0, |job| job.prefetch)),
        _ => match job.and_then(|job| job.decode_threads) {
            Some(threads) => counted_noun(threads.into(), "decoder"),
            None => "readers decode".to_owned(),
        },
    }
}

fn panel(summary: &Summary, stages: &[Stage<'_>], title: Vec<String>, height: i32) -> PlotPanel {
    let threshold = stages[0].job.plan.threshold;
    let points: Vec<Point> =
        stages.iter().enumerate().map(|(number, stage)| point(summary, number, stage)).collect();
    let mut marks =
        vec![Mark::Across(threshold, FEED_LINE), Mark::Line(Point::line(&points), Stroke::curve(0))];
    marks.extend(points.iter().map(|point| Mark::point(point, 0)));
    // Halfway between two jobs: a gain is of a step, and the intervals of both stay free.
    let gain = |(pair, stage): (&[Point], &Stage<'_>)| {
        let (_, gain) = stage.step?;
        let [before, after] = [pair[0].at, pair[1].at];
        let halfway = (f64::midpoint(before.0, after.0), f64::midpoint(before.1, after.1));
        Some(Mark::beside(halfway, format!("{} x", times(gain)), GAIN_SIZE, Ink::Series(0)))
    };
    marks.extend(points.windows(2).zip(&stages[1..]).filter_map(gain));
    let name = |stage: &Stage<'_>| match stage.step {
        Some((axis, _)) => setting(summary, stage.job.cell, axis),
        None => "start".to_owned(),
    };
    let x = Scale::names(stages.iter().map(name).collect(), "");
    let y = Scale::percents(Mark::heights(&marks), STEP, "accelerator utilization (AU), %");
    let label = Label::of_line(vec![format!("AU {} %", whole(threshold))], Ink::Line, threshold);
    PlotPanel::new(title, (x, y), height, marks).starving_below(Some(threshold)).labelled(vec![label])
}

fn point(summary: &Summary, number: usize, stage: &Stage<'_>) -> Point {
    let job = &stage.job;
    Point {
        at: (number as f64, job.training.au.mean),
        span: span_of(&job.training.au),
        is_hollow: is_demo(summary, job.cell) || job.figures.is_client_limited() || !job.figures.is_valid(),
    }
}

fn table(summary: &Summary, staged: &[(&Ladder, Vec<Stage<'_>>)]) -> PlotTable {
    let columns = ["order", "step", "setting", "AU %", "low", "high", "gain", "threshold %", "cell"];
    let dash = || "-".to_owned();
    let row = |(ladder, number, stage): (&Ladder, usize, &Stage<'_>)| {
        let au = &stage.job.training.au;
        let order = match ladder.order {
            LadderOrder::MostFirst => "most first",
            LadderOrder::LeastFirst => "least first",
        };
        vec![
            order.to_owned(),
            number.to_string(),
            stage.step.map_or("start".to_owned(), |(axis, _)| setting(summary, stage.job.cell, axis)),
            cut_percent(au.mean),
            au.interval.map_or_else(dash, |interval| cut_percent(interval.low)),
            au.interval.map_or_else(dash, |interval| cut_percent(interval.high)),
            stage.step.map_or_else(dash, |(_, gain)| times(gain)),
            cut_percent(stage.job.plan.threshold),
            stage.job.cell.cell.cell.clone(),
        ]
    };
    let rows = staged.iter().flat_map(|(ladder, stages)| {
        stages.iter().enumerate().map(move |(number, stage)| (*ladder, number, stage))
    });
    PlotTable { columns: columns.map(str::to_owned).into(), rows: rows.map(row).collect() }
}
