//! The table behind the plot of throughput against queue depth.

use analysis::{CellSummary, Summary};

use super::plan::{self, PanelPlan};
use crate::number::{RateUnit, milliseconds, three_digits};
use crate::plot::PlotTable;
use crate::side;

/// Every point of the plot, and every depth that failed.
pub(crate) fn table(summary: &Summary) -> PlotTable {
    let plans = plan::panels(summary);
    let unit = RateUnit::for_largest(plans.iter().map(|plan| plan.extent().high).fold(0.0, f64::max));
    let names = ["target", "engine", "depth", unit.name, "low", "high", "of line, %", "p50 ms", "p99 ms"];
    let mut columns = names.map(str::to_owned).to_vec();
    columns.extend((plans.len() > 1).then(|| "conditions".to_owned()));
    columns.push("note".to_owned());
    let mut rows = Vec::new();
    for plan in &plans {
        for series in &plan.series {
            for index in &series.curve.cells {
                rows.push(row(&summary.cells[*index], plan, unit, plans.len() > 1));
            }
        }
    }
    PlotTable { columns, rows }
}

fn row(cell: &CellSummary, plan: &PanelPlan, unit: RateUnit, conditions: bool) -> Vec<String> {
    let figures = cell.figures();
    let rate = |bps: Option<f64>| bps.map_or_else(|| "-".to_owned(), |bps| unit.write(bps));
    let interval = figures.and_then(|figures| figures.bps.interval);
    let share = figures.and_then(|figures| figures.of_line);
    let mut row = vec![
        cell.cell.target.clone(),
        cell.engine_label(),
        cell.cell.queue_depth.to_string(),
        rate(figures.map(|figures| figures.bps.mean)),
        rate(interval.map(|interval| interval.low)),
        rate(interval.map(|interval| interval.high)),
        share.map_or_else(|| "-".to_owned(), |share| three_digits(share * 100.0)),
        milliseconds(figures.and_then(|figures| figures.latency.p50_ns)),
        milliseconds(figures.and_then(|figures| figures.latency.p99_ns)),
    ];
    row.extend(conditions.then(|| plan.conditions.join(", ")));
    let doubts = cell.doubts().into_iter().map(|(_, words)| words).collect::<Vec<_>>().join("; ");
    row.push(side::absent(cell).unwrap_or(doubts));
    row
}
