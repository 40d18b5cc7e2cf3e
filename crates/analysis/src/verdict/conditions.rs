//! How the cell was read that a verdict rests on.

use feed::{Cache, Pages};

use crate::bridge::share::{of_line, percent};
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::cells::Cells;
use crate::cell::figures::Figures;
use crate::cell::operation;
use crate::cell::paced::Percentile;
use crate::curve::Panel;

/// In words, when without them the verdict could be taken for another way of reading the target.
pub(super) fn of_cell(cells: &Cells<'_>, cell: &CellSummary) -> Option<String> {
    let fresh = cell.confirmed.as_ref().and_then(Measurement::figures);
    let figures = fresh.or_else(|| cell.figures());
    let paced = cell.cell.pace.as_ref().zip(figures).and_then(|(pace, figures)| paced_words(pace, figures));
    let way = if cell.cell.cache == Cache::Warm {
        Some("from the client's page cache (warm), not from storage".to_owned())
    } else if let Some(tier) = &cell.cell.tier {
        let capacity = feed::format_bytes(tier.capacity_bytes);
        Some(format!("through a local cache of {capacity} ({}) that begins empty", tier.policy))
    } else if cell.cell.cache == Cache::ColdStart {
        Some(
            "over passes of which the first alone is cold: later ones may come from the client's page cache"
                .to_owned(),
        )
    } else {
        has_other_ways(cells, cell).then(|| Panel::of(cell).conditions())
    };
    let files = cell.reads_whole_files().then(|| files_words(cell));
    let huge = cell.cell.pages.as_ref().is_some_and(|pages| *pages == Pages::Huge);
    let pages = huge.then(|| "into buffers of huge pages, which loaders do not have".to_owned());
    let parts: Vec<String> = paced.into_iter().chain(way).chain(files).chain(pages).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Whether the cell's target was read in another way too.
fn has_other_ways(cells: &Cells<'_>, cell: &CellSummary) -> bool {
    let own = Panel::of(cell);
    let of_target = cells.all.iter().filter(|other| other.cell.target == cell.cell.target);
    of_target.filter(|other| operation::reads_samples(&other.cell)).any(|other| !own.is_way_of(cells, other))
}

/// What a verdict by whole files rests on, besides the reads.
fn files_words(cell: &CellSummary) -> String {
    let names = if cell.names_are_dropped() { "" } else { ", names possibly in memory" };
    format!("files opened one by one{names}")
}

/// `offered 100 % of the line, constant arrivals`, `served 62 % of 300 % of the line, ...; response p99 not served`.
fn paced_words(pace: &record::Pace, figures: &Figures) -> Option<String> {
    let paced = figures.paced?;
    let line = of_line(paced.of_line?);
    let did = if paced.keeps_up() {
        format!("offered {line}")
    } else {
        format!("served {} of {line}", cut(paced.kept_share))
    };
    let p99 = if paced.response_p99 == Percentile::NotServed { "; response p99 not served" } else { "" };
    Some(format!("{did} of the line, {} arrivals{p99}", pace.arrivals))
}

/// Cut and not rounded near the whole: 99.8 % is not all.
fn cut(share: f64) -> String {
    if share < 0.99 { percent(share) } else { format!("{:.1} %", (share * 1e3).floor() / 10.0) }
}
