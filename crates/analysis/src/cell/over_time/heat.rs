//! Latencies over time as a grid: columns of seconds, rows of latencies, and in each the share of the operations.

use record::{HistogramSum, Rep, RepIntervals};

use super::step::step;
use crate::cell::latency::quantile;

/// Columns and rows, at most.
const COLUMNS_MAX: u32 = 120;
const ROWS_MAX: u32 = 60;
/// Rows to a decade of latency, from the finest on.
const ROWS_BY_DECADE: [u32; 5] = [20, 15, 10, 8, 5];

/// Latencies over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Heat {
    /// Seconds that a column stands for, 1 but for long windows.
    pub step_s: u32,
    /// Lower edge of the lowest row, decimal logarithm of nanoseconds.
    pub low_log10_ns: f64,
    /// Rows to a factor of ten.
    pub rows_by_decade: u32,
    /// Number of rows.
    pub rows: u32,
    /// Columns, in the order in which they ran.
    pub columns: Vec<HeatColumn>,
}

/// One stretch of a repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatColumn {
    /// Number of the repetition, from 0.
    pub rep: u32,
    /// Its first second, from the opening of the window.
    pub second: u32,
    /// Operations that ended in it.
    pub ops: u64,
    /// Median, where there are enough operations.
    pub p50_ns: Option<u64>,
    /// 99th percentile, where there are enough.
    pub p99_ns: Option<u64>,
    /// The slowest.
    pub max_ns: Option<u64>,
    /// Rows that hold operations, from the lowest on, with the share of the column's operations in each.
    pub shares: Vec<(u32, f64)>,
}

impl Heat {
    /// From the seconds of the repetitions; `None` where none of them holds an operation.
    pub(super) fn of(kept: &[(&Rep, Option<&RepIntervals>)]) -> Option<Self> {
        let with_seconds: Vec<(&Rep, &RepIntervals)> = kept
            .iter()
            .filter_map(|(rep, seconds)| Some((*rep, (*seconds)?)))
            .filter(|(_, seconds)| !seconds.seconds.is_empty())
            .take(COLUMNS_MAX as usize)
            .collect();
        let lengths: Vec<u32> = with_seconds.iter().map(|(rep, _)| length(rep)).collect();
        let step_s = step(&lengths, COLUMNS_MAX);
        let columns: Vec<(u32, u32, HistogramSum)> =
            with_seconds.iter().flat_map(|(rep, seconds)| columns(rep, seconds, step_s)).collect();
        let filled = || columns.iter().filter(|(.., histogram)| !histogram.is_empty());
        let low = filled().map(|(.., histogram)| histogram.min().max(1)).min()? as f64;
        let high = filled().map(|(.., histogram)| histogram.max().max(1)).max()? as f64;
        let (low_log10_ns, rows_by_decade, rows) = rows(low.log10(), high.log10());
        let mut heat = Self { step_s, low_log10_ns, rows_by_decade, rows, columns: Vec::new() };
        heat.columns = columns.iter().map(|column| heat.column(column)).collect();
        Some(heat)
    }

    fn column(&self, (rep, second, histogram): &(u32, u32, HistogramSum)) -> HeatColumn {
        let mut shares: Vec<(u32, f64)> = Vec::new();
        for (ns, count) in histogram.recorded() {
            let row = self.row(ns);
            let share = count as f64 / histogram.len() as f64;
            match shares.last_mut().filter(|last| last.0 == row) {
                Some(last) => last.1 += share,
                None => shares.push((row, share)),
            }
        }
        HeatColumn {
            rep: *rep,
            second: *second,
            ops: histogram.len(),
            p50_ns: quantile(histogram, 0.5),
            p99_ns: quantile(histogram, 0.99),
            max_ns: (!histogram.is_empty()).then(|| histogram.max()),
            shares,
        }
    }

    /// The row of a latency.
    fn row(&self, ns: u64) -> u32 {
        let above = (ns.max(1) as f64).log10() - self.low_log10_ns;
        ((above * f64::from(self.rows_by_decade)).floor().max(0.0) as u32).min(self.rows - 1)
    }
}

/// Whole seconds of a window, the last of which may be cut short.
fn length(rep: &Rep) -> u32 {
    u32::try_from(rep.window_ns.div_ceil(1_000_000_000)).unwrap_or(u32::MAX).max(1)
}

/// Every stretch of a repetition with what ended in it; an empty one is a stall, not a gap.
fn columns(rep: &Rep, kept: &RepIntervals, step_s: u32) -> Vec<(u32, u32, HistogramSum)> {
    let count = length(rep).div_ceil(step_s).min(COLUMNS_MAX);
    let mut found: Vec<(u32, u32, HistogramSum)> =
        (0..count).map(|number| (rep.rep, number * step_s, HistogramSum::of_seconds())).collect();
    for second in &kept.seconds {
        if let Some((.., column)) = found.get_mut((second.second / step_s) as usize) {
            // What is beyond the range of the sum cannot be drawn, and no second that feedline wrote is.
            let _ = column.add(&second.service_ns);
        }
    }
    found
}

/// Lower edge, rows to a decade and rows of a grid that holds both ends.
fn rows(low: f64, high: f64) -> (f64, u32, u32) {
    let of = |by_decade: u32| {
        let first = (low * f64::from(by_decade)).floor();
        let rows = ((high * f64::from(by_decade)).floor() - first) as u32 + 1;
        (first / f64::from(by_decade), by_decade, rows)
    };
    let mut found = ROWS_BY_DECADE.map(of).into_iter();
    found.find(|(.., rows)| *rows <= ROWS_MAX).unwrap_or_else(|| {
        let (first, by_decade, rows) = of(ROWS_BY_DECADE[4]);
        (first, by_decade, rows.min(ROWS_MAX))
    })
}
