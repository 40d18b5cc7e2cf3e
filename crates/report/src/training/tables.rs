//! Tables of training jobs: how well the accelerators were used, and what they waited for.

use analysis::{CellSummary, Measurement, Rate, Stall, Summary, Table, View};

use super::{Job, cells, chosen, fetch, is_demo};
use crate::grid::{Column, Filling, Grid, Width};
use crate::number::{cut_percent, latency, part, percent};
use crate::side::{Apart, absent, doubts, noted, of_phase};
use crate::words::gap;

/// Cells up to which every one of them is shown on a terminal.
const SHOWN_MAX: usize = 24;

/// Every cell that played a training job; on a terminal one of each target where there are many.
pub(crate) fn table(summary: &Summary) -> Grid {
    let cells = cells(summary);
    let chosen: Vec<&str> = chosen(summary).iter().map(|job| job.cell.cell.cell.as_str()).collect();
    // Where none has figures every row says why.
    let is_shown = |cell: &CellSummary| chosen.is_empty() || chosen.contains(&cell.cell.cell.as_str());
    let title = "training: samples per s; AU % of all accelerators, of the worst, and as DLIO counts; batches that came \
                 late; waits in ms";
    let wide = |heading: &str| Column::figure(heading).only(Width::Wide);
    // There is no room for the marks between thousands on a terminal.
    let short_rate = Column::figure("per s").only(Width::Narrow);
    let grid = of_jobs(title, &cells)
        .column(wide("samples/s"), |cell| Some(feed::format_count(job(cell)?.figures.samples_per_s.mean)))
        .column(short_rate, |cell| Some(format!("{:.0}", job(cell)?.figures.samples_per_s.mean)))
        .figure("AU", |cell| Some(cut_percent(job(cell)?.training.au.mean)))
        .column(Column::figure("95 % interval").short("95 %"), |cell| interval(&job(cell)?.training.au))
        .figure("worst", |cell| Some(cut_percent(job(cell)?.training.worst_au)))
        .figure("DLIO", |cell| job(cell)?.training.dlio_au.map(cut_percent))
        .figure("late", |cell| job(cell).map(|job| late(job.training.late, job.training.steps)))
        .column(wide("first batch ms"), |cell| latency(Some(job(cell)?.training.first_batch_ns)))
        .column(wide("wait p50 ms"), |cell| Some(of_phase(job(cell)?.training.wait_p50_ns)))
        .column(Column::figure("wait p99 ms").short("p99"), |cell| {
            Some(of_phase(job(cell)?.training.wait_p99_ns))
        })
        .column(wide("longest wait ms"), |cell| Some(of_phase(job(cell)?.training.wait_max_ns)))
        .column(wide("fetch p50 ms"), |cell| latency(job(cell)?.training.fetch_p50_ns))
        .metrics(Table::Training, |cell| View::of_cell(cell))
        .column(wide("AU without storage"), |cell| job(cell)?.training.null_au.map(cut_percent))
        .column(wide("steps"), |cell| Some(feed::group_digits(job(cell)?.training.steps)));
    let apart = Apart::among(&cells);
    grid.brief(SHOWN_MAX, "one cell of each target", |cell| is_shown(cell))
        .note(|cell| absent(cell).unwrap_or_else(|| noted([apart.words(cell), note(summary, cell)])))
        .done()
}

fn job(cell: &CellSummary) -> Option<Job<'_>> {
    Job::measured(cell)
}

/// A table of training jobs, with the columns that tell them apart.
fn of_jobs<'a>(title: &str, cells: &'a [&CellSummary]) -> Filling<'a, &'a CellSummary> {
    let accelerators = Column::number("accelerators").short("acc");
    let prefetch = Column::number("prefetch").short("ahead");
    Grid::of(title, cells)
        .name("target", |cell| cell.cell.target.clone())
        .name("engine", |cell| cell.engine_label())
        .number("fetch", |cell| fetch(cell))
        .column(accelerators, |cell| Some(job(cell)?.plan.accelerators.to_string()))
        .column(prefetch, |cell| Some(job(cell)?.plan.prefetch.to_string()))
}

fn interval(au: &Rate) -> Option<String> {
    au.interval.map(|interval| format!("{}-{}", cut_percent(interval.low), cut_percent(interval.high)))
}

/// Few is not none.
fn late(late: u64, steps: u64) -> String {
    match late as f64 / steps.max(1) as f64 {
        0.0 => "0 %".to_owned(),
        ..0.01 => "<1 %".to_owned(),
        share => percent(share),
    }
}

/// The verdict that rests on it, what its fresh repetitions say, what was lost, and reasons to doubt it.
fn note(summary: &Summary, cell: &CellSummary) -> String {
    let demo = is_demo(summary, cell).then(|| "DEMO".to_owned());
    let verdict = summary.verdict_on(cell).map(|verdict| verdict.word().to_owned()).or(demo);
    let lost = Job::measured(cell).map(|job| job.training.lost_samples).filter(|lost| *lost > 0);
    let lost = lost.map(|lost| format!("{} lost", feed::counted_noun(lost, "sample")));
    let first = verdict.into_iter().chain(cell.confirmed.as_ref().map(confirmed)).chain(lost);
    first.chain(Some(doubts(cell)).filter(|words| !words.is_empty())).collect::<Vec<_>>().join("; ")
}

/// `confirmed 91.2-92.4`.
fn confirmed(fresh: &Measurement) -> String {
    match fresh {
        Measurement::Figures(figures) => match &figures.training {
            Some(training) => {
                format!("confirmed {}", interval(&training.au).unwrap_or_else(|| "-".to_owned()))
            }
            None => "not confirmed: no step was counted".to_owned(),
        },
        Measurement::Failed { reason, .. } => format!("confirmation failed: {}", gap::words(reason)),
        Measurement::NotRun { reason } => format!("not confirmed: {}", gap::words(reason)),
        Measurement::Operations(_) => "not confirmed: it moves no bytes".to_owned(),
    }
}

/// What is waited for, and its share of the time; in the order of a batch's way.
pub(super) fn causes(stall: &Stall) -> [(&'static str, f64); 6] {
    [
        ("storage", stall.storage),
        ("decode", stall.decode),
        ("client", stall.client),
        ("startup", stall.startup),
        ("barrier", stall.barrier),
        ("checkpoint", stall.checkpoint),
    ]
}

/// What the accelerators of every cell waited for.
pub(crate) fn stall(summary: &Summary) -> Grid {
    let of_kind = cells(summary);
    let cells: Vec<&CellSummary> = of_kind.iter().copied().filter(|cell| job(cell).is_some()).collect();
    let grid = of_jobs("where the accelerators' time went: computing, and waiting by cause", &cells)
        .figure("computed", |cell| Some(format!("{} %", cut_percent(job(cell)?.training.au.mean))));
    // The names alone are asked for here; shares are read row by row.
    let grid = causes(&Stall::default()).iter().enumerate().fold(grid, |grid, (index, (name, _))| {
        grid.figure(name, |cell| Some(part(causes(&job(cell)?.training.stall)[index].1)))
    });
    let apart = Apart::among(&of_kind);
    grid.note(|cell| apart.words(cell)).done()
}
