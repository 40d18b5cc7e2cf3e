//! Tables of training jobs: how well the accelerators were used, and what they waited for.

use analysis::{CellSummary, Measurement, Rate, Stall, Summary};

use super::{Job, cells, chosen, fetch, is_demo};
use crate::grid::{Grid, GridRow};
use crate::number::{cut_percent, milliseconds, part, percent};
use crate::side::{absent, apart, noted, of_phase};

/// Cells up to which every one of them is shown on a terminal.
const SHOWN_MAX: usize = 24;

/// Every cell that played a training job; on a terminal one of each target where there are many.
pub(crate) fn table(summary: &Summary, all: bool) -> Grid {
    let of_kind = cells(summary);
    let fits = all || of_kind.len() <= SHOWN_MAX;
    let chosen: Vec<&CellSummary> = chosen(summary).into_iter().map(|job| job.cell).collect();
    let shown: Vec<&CellSummary> = if fits || chosen.is_empty() { of_kind.clone() } else { chosen };
    let row = |cell: &&CellSummary| {
        let job = Job::measured(cell);
        GridRow {
            names: names(cell),
            figures: job.map_or_else(Vec::new, |job| figures(&job, all)),
            note: absent(cell).unwrap_or_else(|| noted([apart(cell, &of_kind), note(summary, cell)])),
        }
    };
    let hidden = if shown.len() == of_kind.len() {
        String::new()
    } else {
        format!(" (one cell of each target; all {} in report.md)", of_kind.len())
    };
    let headings: &[&str] = if all { &HEADINGS_ALL } else { &HEADINGS };
    Grid {
        title: format!(
            "training: samples per s; AU % of all accelerators, of the worst, and as DLIO counts; batches that came \
             late; waits in ms{hidden}"
        ),
        names: vec!["target", "engine", "fetch"],
        figures: headings.iter().map(|heading| (*heading).to_owned()).collect(),
        rows: shown.iter().map(row).collect(),
        foot: String::new(),
    }
}

/// As a terminal has room for them.
const HEADINGS: [&str; 9] = ["acc", "ahead", "per s", "AU", "95 %", "worst", "DLIO", "late", "p99"];

const HEADINGS_ALL: [&str; 15] = [
    "accelerators",
    "prefetch",
    "samples/s",
    "AU",
    "95 % interval",
    "worst",
    "DLIO",
    "late",
    "first batch ms",
    "wait p50 ms",
    "wait p99 ms",
    "longest wait ms",
    "fetch p50 ms",
    "AU without storage",
    "steps",
];

fn names(cell: &CellSummary) -> Vec<String> {
    vec![cell.cell.target.clone(), cell.engine_label(), fetch(cell)]
}

fn figures(job: &Job<'_>, all: bool) -> Vec<String> {
    let of = job.training;
    let known = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), cut_percent);
    let mut row = vec![
        job.plan.accelerators.to_string(),
        job.plan.prefetch.to_string(),
        rate(job.figures.samples_per_s.mean, all),
        cut_percent(of.au.mean),
        interval(&of.au),
        cut_percent(of.worst_au),
        known(of.dlio_au),
        late(of.late, of.steps),
    ];
    if all {
        row.push(milliseconds(Some(of.first_batch_ns)));
        row.extend([of.wait_p50_ns, of.wait_p99_ns, of.wait_max_ns].map(of_phase));
        row.extend([milliseconds(of.fetch_p50_ns), known(of.null_au)]);
        row.push(feed::group_digits(of.steps));
    } else {
        row.push(of_phase(of.wait_p99_ns));
    }
    row
}

/// Samples per second; on a terminal there is no room for the marks between thousands.
fn rate(samples_per_s: f64, all: bool) -> String {
    if all { feed::format_count(samples_per_s) } else { format!("{samples_per_s:.0}") }
}

fn interval(au: &Rate) -> String {
    au.interval.map_or_else(
        || "-".to_owned(),
        |interval| format!("{}-{}", cut_percent(interval.low), cut_percent(interval.high)),
    )
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
    let verdict =
        summary.verdicts.iter().find(|verdict| verdict.cell.as_deref() == Some(cell.cell.cell.as_str()));
    let demo = is_demo(summary, cell).then(|| "DEMO".to_owned());
    let verdict = verdict.map(|verdict| verdict.word().to_owned()).or(demo);
    let lost = Job::measured(cell).map(|job| job.training.lost_samples).filter(|lost| *lost > 0);
    let lost = lost.map(|lost| format!("{} lost", feed::counted_noun(lost, "sample")));
    let first = verdict.into_iter().chain(cell.confirmed.as_ref().map(confirmed)).chain(lost);
    first.chain(cell.doubts().into_iter().map(|(_, words)| words)).collect::<Vec<_>>().join("; ")
}

/// `confirmed 91.2-92.4`.
fn confirmed(fresh: &Measurement) -> String {
    match fresh {
        Measurement::Figures(figures) => match &figures.training {
            Some(training) => format!("confirmed {}", interval(&training.au)),
            None => "not confirmed: no step was counted".to_owned(),
        },
        Measurement::Failed { reason, .. } => format!("confirmation failed: {reason}"),
        Measurement::NotRun { reason } => format!("not confirmed: {reason}"),
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
    let row = |job: Job<'_>| {
        let shares = causes(&job.training.stall).map(|(_, share)| part(share));
        let first = [
            job.plan.accelerators.to_string(),
            job.plan.prefetch.to_string(),
            format!("{} %", cut_percent(job.training.au.mean)),
        ];
        GridRow {
            names: names(job.cell),
            figures: first.into_iter().chain(shares).collect(),
            note: apart(job.cell, &of_kind),
        }
    };
    let first = ["accelerators", "prefetch", "computed"].into_iter();
    Grid {
        title: "where the accelerators' time went: computing, and waiting by cause".to_owned(),
        names: vec!["target", "engine", "fetch"],
        figures: first.chain(causes(&Stall::default()).map(|(name, _)| name)).map(str::to_owned).collect(),
        rows: of_kind.iter().filter_map(|cell| Job::measured(cell)).map(row).collect(),
        foot: String::new(),
    }
}
