//! Utilization by the number of accelerators: a panel for each target, a curve for each way of fetching.

use analysis::{CellSummary, Summary};
use record::Axis;

use super::super::canvas::Stroke;
use super::super::chart::{At, Chart, FEED_LINE, Label, Mark, PlotPanel, Point, height_of, packed, span_of};
use super::super::scale::Scale;
use super::super::sign::{Sample, Sign};
use super::super::theme::Ink;
use super::jobs::{shared_but_accelerators, target};
use super::tables;
use crate::group::{by_key, distinct, place};
use crate::number::cut_percent;
use crate::side::Apart;
use crate::training::{Job, jobs};

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (340, 250);
/// Steps of the scale of utilization.
const STEP: f64 = 0.2;

struct Target<'a> {
    name: String,
    series: Vec<Series<'a>>,
}

/// Jobs that differ in their accelerators alone.
struct Series<'a> {
    /// The same for one way in all panels.
    number: usize,
    way: String,
    jobs: Vec<Job<'a>>,
}

/// Describes the plot; `None` where no target was measured with more than one number of accelerators.
pub(super) fn chart(summary: &Summary) -> Option<Chart> {
    let jobs = jobs(summary);
    let targets = targets(summary, &jobs);
    if targets.is_empty() {
        return None;
    }
    let is_of_ranks = summary.head.ranks > 1;
    let on = if is_of_ranks { "accelerators of all processes" } else { "accelerators on this client" };
    let of_panel = |target: &Target<'_>| {
        let marks = marks(target);
        let x = Scale::counts(numbers(target), on);
        let y = Scale::percents(Mark::heights(&marks), STEP, "accelerator utilization (AU), %");
        PlotPanel::new(vec![target.name.clone()], (x, y), height_of(targets.len(), PLOT), marks)
            // The lowest where a scenario varies it: below that none is fed.
            .starving_below(thresholds(target).into_iter().reduce(f64::min))
            .labelled(labels(target))
    };
    let panels = targets.iter().map(of_panel).collect();
    let heading = ("training-accelerators", "utilization by accelerators");
    let chart = Chart::of(summary, heading, shared_but_accelerators(&jobs))
        .with(panels, tables::utilization(summary))
        .key_of_means(summary.head.repetitions)
        .key(Sample::HOLLOW, "hollow: client-limited or not valid, see the table")
        .key(Sample::Sign(Sign::Dash), "dash: predicted from reads in a closed loop")
        .key(Sample::STARVING, "below the threshold: accelerators starve");
    Some(chart)
}

fn targets<'a>(summary: &Summary, jobs: &[Job<'a>]) -> Vec<Target<'a>> {
    let mut ways: Vec<String> = Vec::new();
    let mut targets: Vec<Target<'a>> = Vec::new();
    let by_target = by_key(jobs.iter().map(|job| (job.cell.cell.target.as_str(), job.cell)));
    let beside: Vec<(&str, Beside<'_>)> =
        by_target.iter().map(|(target, cells)| (*target, Beside::of(cells))).collect();
    for job in jobs {
        let name = target(summary, job.cell);
        let of_target = beside.iter().find(|(target, _)| *target == job.cell.cell.target);
        let way = of_target.map(|(_, beside)| way(job, beside)).unwrap_or_default();
        let number = place(&mut ways, |known| *known == way, || way.clone());
        let is_named = |target: &Target<'_>| target.name == name;
        let at = place(&mut targets, is_named, || Target { name: name.clone(), series: Vec::new() });
        let series = &mut targets[at].series;
        match series.iter_mut().find(|series| series.number == number) {
            Some(series) => series.jobs.push(*job),
            None => series.push(Series { number, way, jobs: vec![*job] }),
        }
    }
    for series in targets.iter_mut().flat_map(|target| &mut target.series) {
        series.jobs.sort_by_key(|job| job.plan.accelerators);
    }
    // A point alone is a row of the table.
    targets.retain(|target| numbers(target).len() > 1);
    targets
}

/// What the jobs of one target differ in.
struct Beside<'a> {
    several_engines: bool,
    apart: Apart<'a>,
}

impl<'a> Beside<'a> {
    fn of(cells: &[&'a CellSummary]) -> Self {
        // More hosts have more accelerators, which lie along the curve.
        let several_engines = cells.iter().any(|cell| cell.engine_label() != cells[0].engine_label());
        Self { several_engines, apart: Apart::among(cells).without(Axis::Hosts) }
    }
}

/// Engine, fetch and prefetch of a job, and its other settings where those of its target differ.
fn way(job: &Job<'_>, beside: &Beside<'_>) -> String {
    let engine = beside.several_engines.then(|| job.cell.engine_label());
    // The depth of reads that share one grows with the accelerators; it is not what tells the ways apart.
    let fetch = match job.plan.readers {
        Some(readers) => crate::training::readers(readers, job.plan.fetches),
        None => "shared".to_owned(),
    };
    let settings = format!("{fetch}, prefetch {}", job.plan.prefetch);
    let parts = engine.into_iter().chain([settings, beside.apart.words(job.cell)]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The numbers of accelerators of a target, sorted.
fn numbers(target: &Target<'_>) -> Vec<u32> {
    let jobs = target.series.iter().flat_map(|series| &series.jobs);
    let mut numbers: Vec<u32> = jobs.map(|job| job.plan.accelerators).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The thresholds of a target: one, unless it was varied.
fn thresholds(target: &Target<'_>) -> Vec<f64> {
    let jobs = target.series.iter().flat_map(|series| &series.jobs);
    distinct(jobs.map(|job| job.plan.threshold))
}

/// `90`, `92.5`.
pub(super) fn whole(share: f64) -> String {
    let percent = cut_percent(share);
    percent.strip_suffix(".0").map_or(percent.clone(), str::to_owned)
}

fn spot(job: &Job<'_>, au: f64) -> At {
    (f64::from(job.plan.accelerators), au)
}

fn point(job: &Job<'_>) -> Point {
    Point {
        at: spot(job, job.training.au.mean),
        span: span_of(&job.training.au),
        is_hollow: job.figures.is_client_limited() || !job.figures.is_valid(),
    }
}

fn marks(target: &Target<'_>) -> Vec<Mark> {
    let mut marks: Vec<Mark> =
        thresholds(target).into_iter().map(|share| Mark::Across(share, FEED_LINE)).collect();
    for series in &target.series {
        let points: Vec<Point> = series.jobs.iter().map(point).collect();
        marks.push(Mark::Line(Point::line(&points), Stroke::curve(series.number)));
        let predicted = |job: &Job<'_>| {
            let au = job.training.predicted.as_ref()?.au;
            Some(Mark::sign(spot(job, au), Sign::Dash, Ink::Series(series.number)))
        };
        marks.extend(series.jobs.iter().filter_map(predicted));
        marks.extend(points.iter().map(|point| Mark::point(point, series.number)));
    }
    marks
}

fn labels(target: &Target<'_>) -> Vec<Label> {
    let of_series = |series: &Series<'_>| {
        let end = point(series.jobs.last()?).at;
        Some(Label::of_series(packed(&series.way), series.number, end))
    };
    let of_line = |share| Label::of_line(vec![format!("AU {} %", whole(share))], Ink::Line, share);
    target.series.iter().filter_map(of_series).chain(thresholds(target).into_iter().map(of_line)).collect()
}
