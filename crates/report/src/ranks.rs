//! The table of processes that measured together.

use analysis::{CellRanks, CellSummary, RankFigures, SlowRank, Summary};

use crate::grid::{Column, Grid, Width};
use crate::number::{RateUnit, percent, three_digits};
use crate::side;
use crate::words::share::utilization;

/// Cells whose processes are shown where no verdict rests on any.
// Enough to see whether it is always the same host, and no table that is longer than that of the cells.
const CELLS_MAX: usize = 4;
/// Processes of a cell that are shown: of more, the slowest.
// A page of a thousand rows is looked through by nobody, and the slowest are what is looked for.
const RANKS_MAX: usize = 64;
/// Rows up to which a terminal shows all.
const SHOWN_MAX: usize = 16;

/// One process in one cell.
struct Row<'a> {
    cell: &'a CellSummary,
    of: &'a RankFigures,
    slow: Option<&'a SlowRank>,
}

/// The cells whose processes are shown: those that are judged, else the first.
pub(crate) fn shown(summary: &Summary) -> Vec<(&CellSummary, &CellRanks)> {
    let by_name = summary.by_name();
    let all = || summary.ranks.iter().filter_map(|of| Some((*by_name.get(of.cell.as_str())?, of)));
    let judged: Vec<_> = all().filter(|(cell, _)| summary.is_judged(cell)).collect();
    if judged.is_empty() { all().take(CELLS_MAX).collect() } else { judged }
}

/// What each process did: rate, share of the mean, utilization, and how late it began.
pub(crate) fn table(summary: &Summary) -> Grid {
    let shown = shown(summary);
    let rows: Vec<Row<'_>> = shown.iter().flat_map(|(cell, of)| rows(cell, of)).collect();
    let largest = rows.iter().filter(|row| !row.names()).map(|row| row.of.per_s.mean).fold(0.0, f64::max);
    let unit = RateUnit::for_largest(largest);
    let late = |of: &RankFigures| of.late_ns.map(|(p50, most)| format!("{}/{}", ms(p50), ms(most)));
    let many = shown.iter().any(|(_, of)| of.each.len() > RANKS_MAX);
    let foot = if many { format!("of each cell the {RANKS_MAX} slowest processes") } else { String::new() };
    side::of_cells(title(summary, &shown), &rows, |row| row.cell)
        .number("rank", |row| row.of.rank.to_string())
        .name("host", |row| row.of.host.clone().unwrap_or_default())
        .figure(unit.name, |row| (!row.names()).then(|| unit.write(row.of.per_s.mean)))
        .figure("ops/s", |row| row.names().then(|| feed::format_count(row.of.per_s.mean)))
        .column(Column::figure("least - most").only(Width::Wide), |row| {
            let (write, of) = (|rate| row.write(rate, unit), row.of.per_s);
            Some(format!("{} - {}", write(of.min), write(of.max)))
        })
        .figure("of mean", |row| Some(percent(row.of.of_mean)))
        .figure("AU", |row| row.of.au.map(|(au, _)| utilization(au)))
        .column(Column::figure("least AU").only(Width::Wide), |row| {
            row.of.au.map(|(_, least)| utilization(least))
        })
        .figure("late ms", |row| late(row.of))
        .note(|row| {
            row.slow
                .map_or_else(String::new, |slow| format!("slow: {} of the others", percent(slow.of_others)))
        })
        .brief(SHOWN_MAX, "those that were slow, and the slowest and fastest of each cell", |row| {
            row.is_kept(&shown)
        })
        .foot(&foot)
        .done()
        .without_unknown()
}

fn title(summary: &Summary, shown: &[(&CellSummary, &CellRanks)]) -> String {
    let of = if shown.len() < summary.ranks.len() { " in the judged cells" } else { "" };
    format!("processes{of}, over all repetitions; late: behind the first to begin, median/most")
}

impl Row<'_> {
    /// Whether it looked names up.
    fn names(&self) -> bool {
        self.cell.operations().is_some()
    }

    fn write(&self, rate: f64, unit: RateUnit) -> String {
        if self.names() { feed::format_count(rate) } else { unit.write(rate) }
    }

    fn is_kept(&self, shown: &[(&CellSummary, &CellRanks)]) -> bool {
        let Some((_, of)) = shown.iter().find(|(cell, _)| cell.cell.cell == self.cell.cell.cell) else {
            return false;
        };
        let ends = [f64::min, f64::max].map(|end| of.each.iter().map(|one| one.of_mean).reduce(end));
        self.slow.is_some() || ends.contains(&Some(self.of.of_mean))
    }
}

/// The rows of a cell, in the order of the numbers.
fn rows<'a>(cell: &'a CellSummary, of: &'a CellRanks) -> Vec<Row<'a>> {
    let mut each: Vec<&RankFigures> = of.each.iter().collect();
    if each.len() > RANKS_MAX {
        each.sort_by(|a, b| a.of_mean.total_cmp(&b.of_mean));
        each.truncate(RANKS_MAX);
        each.sort_by_key(|one| one.rank);
    }
    let slow = |rank: u32| of.slow.as_ref()?.slow.iter().find(|one| one.rank == rank);
    each.into_iter().map(|one| Row { cell, of: one, slow: slow(one.rank) }).collect()
}

fn ms(ns: u64) -> String {
    three_digits(ns as f64 / 1e6)
}
