//! What the cells of NFS come to together.

use crate::case::{Bound, Measure};
use crate::record::Record;

/// Cells of a table, which alone say little, by the beginning of their names; other cases that begin so; against whom;
/// and what the geometric mean of their ratios must be.
const CELLS: (&str, &str, &str) = ("nfs-", "nfs-default-", "libnfs");
const BOUNDS: [(Measure, Bound); 2] =
    [(Measure::Throughput, Bound::AtLeast(1.0)), (Measure::CpuPerOp, Bound::AtMost(0.95))];

/// A line for each geometric mean, where there are at least two cells. A cell without a figure is none that is met.
pub(crate) fn means(records: &[Record]) -> Vec<String> {
    BOUNDS.iter().filter_map(|(measure, bound)| line(records, *measure, *bound)).collect()
}

fn line(records: &[Record], measure: Measure, bound: Bound) -> Option<String> {
    let (begins, but, against) = CELLS;
    let cells: Vec<&Record> = records
        .iter()
        .filter(|record| record.case.starts_with(begins) && !record.case.starts_with(but))
        .collect();
    if cells.len() < 2 {
        return None;
    }
    let ratios: Vec<f64> = cells
        .iter()
        .flat_map(|record| &record.summary.ratios)
        .filter(|ratio| ratio.against == against && ratio.measure == measure.name())
        .map(|ratio| ratio.spread.median)
        .collect();
    let mean = geometric(&ratios);
    let met = if ratios.len() == cells.len() && bound.met(mean) { "met" } else { "MISSED" };
    Some(format!(
        "{} of {} cells {begins}* ({} with a figure), geometric mean of feedline / {against}: {mean:.3}, {} {met}",
        measure.name(),
        cells.len(),
        ratios.len(),
        bound.text()
    ))
}

fn geometric(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_and_doubles_cancel() {
        assert!((geometric(&[0.5, 2.0]) - 1.0).abs() < 1e-12);
        assert!((geometric(&[1.0, 4.0]) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn without_cells_there_is_no_mean() {
        assert!(means(&[]).is_empty());
    }
}
