//! How data lie, pass by pass, what is written beside, and what copying them takes: tables and sentences below them.

mod checkpoints;
mod copies;
mod epochs;
mod layouts;

use analysis::{CellSummary, Rate, Summary};

use crate::grid::Grid;
use crate::number::{RateUnit, percent, three_digits};

/// A part of a report: tables, and what is said below them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// Its heading.
    pub(crate) name: &'static str,
    /// Its name in a page.
    pub(crate) id: &'static str,
    /// Tables, none of them empty.
    pub(crate) grids: Vec<Grid>,
    /// Sentences.
    pub(crate) lines: Vec<String>,
}

/// The parts that a run has; with fewer columns where not `all` are asked for.
pub(crate) fn parts(summary: &Summary, all: bool) -> Vec<Part> {
    let parts = [
        layouts::part(summary, all),
        epochs::part(summary, all),
        checkpoints::part(summary, all),
        copies::part(summary, all),
    ];
    let mut parts: Vec<Part> = parts.into();
    for part in &mut parts {
        part.grids.retain(|grid| !grid.rows.is_empty());
    }
    parts.retain(|part| !part.grids.is_empty() || !part.lines.is_empty());
    parts
}

/// Target, engine and depth of a cell.
fn names(cell: &CellSummary) -> Vec<String> {
    vec![cell.cell.target.clone(), cell.engine_label(), cell.cell.queue_depth.to_string()]
}

/// A layout, an order and a tier of a cell, as far as they are not the usual ones.
fn way(summary: &Summary, cell: &CellSummary) -> String {
    let layout = summary.datasets.get(cell.cell.dataset).map(|figures| figures.dataset.layout.as_str());
    let packed = summary.datasets.iter().any(|figures| figures.dataset.layout != "files");
    let layout = layout.filter(|_| packed).map(str::to_owned);
    let tier = cell.cell.tier.as_ref().map(|tier| {
        format!(
            "through a cache of {} ({}) at {}",
            feed::format_bytes(tier.capacity_bytes),
            tier.policy,
            tier.at
        )
    });
    let sample = sample(summary, cell);
    let job = cell.cell.training.is_some().then(|| "training".to_owned());
    let parts = layout.into_iter().chain(sample).chain([cell.cell.access.to_string()]).chain(job).chain(tier);
    parts.collect::<Vec<_>>().join(", ")
}

/// `16 KiB samples`, before packing, where those of a run differ.
pub(crate) fn sample(summary: &Summary, cell: &CellSummary) -> Option<String> {
    let own = cell.payload_bytes()?;
    let mut all = summary.cells.iter().filter_map(CellSummary::payload_bytes);
    let differ = all.any(|bytes| bytes.total_cmp(&own).is_ne());
    differ.then(|| format!("{} samples", feed::format_bytes(own as u64)))
}

fn headings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn rate(unit: RateUnit, rate: Option<&Rate>) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| unit.write(rate.mean))
}

fn interval(rate: Option<&Rate>, write: impl Fn(f64) -> String) -> String {
    rate.and_then(|rate| rate.interval).map_or_else(
        || "-".to_owned(),
        |interval| format!("{} - {}", write(interval.low), write(interval.high)),
    )
}

fn share(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), percent)
}

fn seconds(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".to_owned(), three_digits)
}

/// Seconds in words: `1.4 s`, `83 s`, `2.1 h`.
fn duration(seconds: f64) -> String {
    feed::format_duration_ns((seconds.max(0.0) * 1e9).round() as u64)
}

/// Rates of one table in one unit.
fn unit<'a>(rates: impl Iterator<Item = Option<&'a Rate>>) -> RateUnit {
    RateUnit::for_largest(rates.flatten().map(|rate| rate.mean).fold(0.0, f64::max))
}
