//! Cells as rows of text, for any kind of page.

use analysis::{CellSummary, Curve, Figures, Measurement, Panel, Summary};

use crate::number::{RateUnit, milliseconds, of_line};
use crate::side;

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) target: String,
    /// `> fresh` in the row that decides, which stands below that of its cell.
    pub(crate) engine: String,
    /// What a filter by engine finds the row by.
    pub(crate) found_by: String,
    /// One depth, or `512-4096` where several share one fate.
    pub(crate) depth: String,
    pub(crate) content: Content,
}

/// What a row says of its cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Measured(Measured),
    /// `failed: …`, `not run: …`, `skipped: …`.
    Absent(String),
}

/// The figures of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    pub(crate) rate: String,
    pub(crate) interval: String,
    pub(crate) p50: String,
    pub(crate) p99: String,
    pub(crate) of_line: String,
    /// The same as a number, for a bar; absent without a line.
    pub(crate) share: Option<f64>,
    pub(crate) note: String,
}

/// The unit for all rates of a summary.
pub(crate) fn unit(summary: &Summary) -> RateUnit {
    let rates = summary.cells.iter().filter_map(CellSummary::figures).map(|figures| figures.bps.mean);
    RateUnit::for_largest(rates.fold(0.0, f64::max))
}

/// All rows of a panel; depths of a curve that were not run for one reason share a row.
pub(crate) fn rows(summary: &Summary, panel: &Panel, unit: RateUnit) -> Vec<Row> {
    panel.curves.iter().flat_map(|curve| curve_rows(summary, curve, unit)).collect()
}

/// One row for each curve, and one for each failed cell: a long table in short.
pub(crate) fn short_rows(summary: &Summary, panel: &Panel, unit: RateUnit) -> Vec<Row> {
    let of_curve = |curve: &Curve| {
        let chosen = representative(summary, curve);
        let keep = move |index: usize| {
            Some(index) == chosen || !matches!(summary.cells[index].measured, Measurement::Figures(_))
        };
        let cells: Vec<usize> = curve.cells.iter().copied().filter(|index| keep(*index)).collect();
        curve_rows(summary, &Curve { cells, ..curve.clone() }, unit)
    };
    panel.curves.iter().flat_map(of_curve).collect()
}

/// The cell that stands for its curve: the judged one, else the first to clear, else the fastest.
fn representative(summary: &Summary, curve: &Curve) -> Option<usize> {
    let judged = |index: &usize| {
        summary
            .verdicts
            .iter()
            .any(|verdict| verdict.cell.as_deref() == Some(&summary.cells[*index].cell.cell))
    };
    let mean = |index: &usize| summary.cells[*index].figures().map_or(-1.0, |figures| figures.bps.mean);
    let fastest = || curve.cells.iter().copied().max_by(|a, b| mean(a).total_cmp(&mean(b)));
    curve.cells.iter().copied().find(judged).or(curve.clears_at).or_else(fastest)
}

/// Combinations that were left out before the run.
pub(crate) fn skipped_rows(summary: &Summary) -> Vec<Row> {
    let row = |skipped: &record::Skipped| Row {
        target: skipped.target.clone(),
        engine: skipped.engine.clone(),
        found_by: skipped.engine.clone(),
        depth: "-".to_owned(),
        content: Content::Absent(format!("skipped: {}", skipped.reason)),
    };
    summary.skipped.iter().map(row).collect()
}

fn curve_rows(summary: &Summary, curve: &Curve, unit: RateUnit) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for index in &curve.cells {
        let cell = &summary.cells[*index];
        let row = Row {
            target: curve.target.clone(),
            engine: engine(curve),
            found_by: engine(curve),
            depth: cell.cell.queue_depth.to_string(),
            content: content(summary, cell, (curve.clears_at == Some(*index), curve.demo), unit),
        };
        match rows.last_mut() {
            Some(last) if is_not_run(&row) && last.content == row.content => extend(last, &row.depth),
            _ => rows.push(row),
        }
        rows.extend(summary.deciding(cell).map(|figures| deciding_row((cell, curve), figures, unit)));
    }
    rows
}

/// The row of the fresh repetitions on which a verdict rests: the figure that its sentence speaks of.
fn deciding_row((cell, curve): (&CellSummary, &Curve), figures: &Figures, unit: RateUnit) -> Row {
    let word =
        format!("decides: {} of fresh repetitions", feed::counted_noun(figures.repetitions.into(), "round"));
    Row {
        target: cell.cell.target.clone(),
        engine: "> fresh".to_owned(),
        found_by: engine(curve),
        depth: cell.cell.queue_depth.to_string(),
        content: Content::Measured(of_small_share(
            cell,
            measured(figures, std::iter::once(word), unit),
            figures,
        )),
    }
}

fn is_not_run(row: &Row) -> bool {
    matches!(&row.content, Content::Absent(words) if words.starts_with("not run"))
}

fn extend(row: &mut Row, depth: &str) {
    let first = row.depth.split('-').next().unwrap_or_default().to_owned();
    row.depth = format!("{first}-{depth}");
}

fn engine(curve: &Curve) -> String {
    if curve.distinction.is_empty() {
        return curve.engine.clone();
    }
    format!("{} ({})", curve.engine, curve.distinction)
}

fn content(
    summary: &Summary,
    cell: &CellSummary,
    (clears_first, demo): (bool, bool),
    unit: RateUnit,
) -> Content {
    match &cell.measured {
        Measurement::Figures(figures) => {
            // What decides has a row of its own.
            let beside = cell.confirmed.as_ref().filter(|_| summary.deciding(cell).is_none());
            let confirmed = beside.map(|fresh| confirmed_words(fresh, unit));
            let files = cell
                .reads_whole_files()
                .then(|| format!("read_file: {} files/s", feed::format_count(figures.ops_per_s)));
            let first = clears_first.then(|| "first to clear".to_owned());
            let demo = demo.then(|| "DEMO".to_owned());
            let way = cell.network.as_ref().map(|network| network.words(&cell.cell)).unwrap_or_default();
            let words = demo.into_iter().chain(files).chain(first).chain(confirmed).chain(way);
            let words = words.chain(side::faults(cell));
            Content::Measured(of_small_share(cell, measured(figures, words, unit), figures))
        }
        Measurement::Failed { reason, .. } => Content::Absent(format!("failed: {reason}")),
        Measurement::NotRun { reason } => Content::Absent(format!("not run: {reason}")),
        Measurement::Operations(_) => Content::Absent("names alone: see the table of metadata".to_owned()),
    }
}

/// Of storage behind a network, `0.4 %` and not `0 %`: a single connection may bring as little.
fn of_small_share(cell: &CellSummary, row: Measured, figures: &Figures) -> Measured {
    let small = figures.of_line.filter(|share| cell.network.is_some() && *share < 0.01);
    match small {
        Some(..0.0005) => Measured { of_line: "<0.1 %".to_owned(), ..row },
        Some(share) => Measured { of_line: format!("{:.1} %", share * 100.0), ..row },
        None => row,
    }
}

/// What fresh repetitions say on which no verdict rests: `afresh 3.92 - 4.24`.
fn confirmed_words(confirmed: &Measurement, unit: RateUnit) -> String {
    match confirmed {
        Measurement::Figures(figures) => format!("afresh {}", interval_words(figures, unit)),
        Measurement::Failed { reason, .. } => format!("fresh repetitions failed: {reason}"),
        Measurement::NotRun { reason } => format!("not measured afresh: {reason}"),
        Measurement::Operations(_) => "not measured afresh: it moves no bytes".to_owned(),
    }
}

fn interval_words(figures: &Figures, unit: RateUnit) -> String {
    figures.bps.interval.map_or_else(
        || "-".to_owned(),
        |interval| format!("{} - {}", unit.write(interval.low), unit.write(interval.high)),
    )
}

fn measured(figures: &Figures, first: impl Iterator<Item = String>, unit: RateUnit) -> Measured {
    let notes: Vec<String> = first.chain(figures.flags.iter().map(ToString::to_string)).collect();
    Measured {
        rate: unit.write(figures.bps.mean),
        interval: interval_words(figures, unit),
        p50: milliseconds(figures.latency.p50_ns),
        p99: milliseconds(figures.latency.p99_ns),
        of_line: figures.of_line.map_or_else(|| "-".to_owned(), of_line),
        share: figures.of_line,
        note: notes.join("; "),
    }
}
