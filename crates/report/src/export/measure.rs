//! The figures of a cell that trackers of performance follow from run to run.

use analysis::{CellSummary, Metric, Reading, Tracked, View};

use super::gap;

/// One figure of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    pub(super) metric: &'static Metric,
    pub(super) tracked: Tracked,
    /// Finite; rates are above 0.
    pub(super) value: f64,
    /// 95 % interval over repetitions, where there is one.
    pub(super) interval: Option<(f64, f64)>,
}

/// The figures of a cell, and what it does not have, in words.
pub(super) fn measures(cell: &CellSummary) -> (Vec<Measure>, Vec<String>) {
    let mut measures = Vec::new();
    let mut gaps: Vec<String> = gap(cell).into_iter().collect();
    for (metric, tracked, reading) in View::of_cell(cell).tracked() {
        match known(&reading) {
            Ok(value) => {
                let interval = reading.interval().map(|of| (of.low, of.high));
                let interval = interval.filter(|(low, high)| low.is_finite() && high.is_finite());
                measures.push(Measure { metric, tracked, value, interval });
            }
            Err(why) => gaps.push(format!("{}: no {}: {why}", cell.cell.cell, tracked.name)),
        }
    }
    (measures, gaps)
}

fn known(reading: &Reading) -> Result<f64, &'static str> {
    match reading {
        Reading::Absent(why) => Err(why),
        Reading::Value(value) if value.is_finite() => Ok(*value),
        // Trackers divide by the figure before.
        Reading::Rate(rate) if rate.mean.is_finite() && rate.mean > 0.0 => Ok(rate.mean),
        Reading::Rate(_) => Err("its rate is no positive number"),
        Reading::Value(_) => Err("it is no number"),
    }
}
