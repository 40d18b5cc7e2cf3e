//! How a latency distribution moved between two runs: the ratio of each percentile, after by before.

use record::{Cell, Rep, Role, RunRecord};

use crate::comparison::Ratio;
use crate::interval;
use crate::latency::{SERVICE, enough, merged};
use crate::operation;
use crate::quantiles::steps;
use crate::repetitions::{self, Repetitions};

/// One cell on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    /// Its name in the record before.
    pub cell: String,
    /// Name of its target before.
    pub target: String,
    /// Engine and depth: `io_uring, depth 32`.
    pub label: String,
    /// Whether it is the response of a paced load, from the intended start on.
    pub is_response: bool,
    /// Repetitions that both sides have.
    pub pairs: u32,
    /// The ratio at each quantile, which rises up to 1 - 10 / n of the shorter repetitions.
    pub points: Vec<ShiftPoint>,
}

/// The ratio at one quantile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShiftPoint {
    /// Quantile, 0 to below 1.
    pub q: f64,
    /// After by before: the geometric mean over pairs of repetitions with its 95 % interval, which is 0 to infinity
    /// below three pairs.
    pub ratio: Ratio,
}

/// The cells that both runs have, by their place in the plan, with their repetitions paired by round.
///
/// The logarithm of the ratio of a quantile is one sample for each pair; the interval is Student's t over pairs, as in
/// a comparison of variants.
pub fn shift(before: &RunRecord, after: &RunRecord) -> Vec<Shift> {
    let (of_before, of_after) = (repetitions::of_record(before).0, repetitions::of_record(after).0);
    let cells = before.run.cells.iter().zip(&after.run.cells);
    let of_cells = |(one, two): (&Cell, &Cell)| {
        let befores = Repetitions::of(&of_before, one, Role::Measure, &before.run.measure).used;
        let afters = Repetitions::of(&of_after, two, Role::Measure, &after.run.measure).used;
        of_cell(one, &befores, &afters)
    };
    cells.filter(|(one, _)| !operation::is_metadata(one)).filter_map(of_cells).collect()
}

fn of_cell(cell: &Cell, before: &[&Rep], after: &[&Rep]) -> Option<Shift> {
    let is_response = cell.pace.is_some();
    let name = if is_response { "response_ns" } else { SERVICE };
    let mut pairs = Vec::new();
    for one in before {
        let Some(two) = after.iter().find(|two| two.round == one.round) else { continue };
        let (first, _) = merged(&[one], name);
        let (second, _) = merged(&[two], name);
        if first.len().min(second.len()) > 0 {
            pairs.push((first, second));
        }
    }
    let shortest = pairs.iter().map(|(one, two)| one.len().min(two.len())).min()?;
    let point = |q: f64| {
        let logs: Vec<f64> = pairs
            .iter()
            .filter(|(one, two)| enough(one.len(), q) && enough(two.len(), q))
            .map(|(one, two)| {
                let ns = |of: &hdrhistogram::Histogram<u64>| of.value_at_quantile(q).max(1) as f64;
                (ns(two) / ns(one)).ln()
            })
            .collect();
        Some(ShiftPoint { q, ratio: ratio(&logs)? })
    };
    let points: Vec<ShiftPoint> = steps(shortest, 1.0).filter_map(point).collect();
    (points.len() > 1).then(|| Shift {
        cell: cell.cell.clone(),
        target: cell.target.clone(),
        label: format!("{}, depth {}", cell.engine, cell.queue_depth),
        is_response,
        pairs: pairs.len() as u32,
        points,
    })
}

/// The ratio whose logarithm is the mean of `logs`.
fn ratio(logs: &[f64]) -> Option<Ratio> {
    let mean = interval::mean(logs)?;
    let half = interval::half_width(logs);
    Some(match half {
        Some(half) => Ratio { low: (mean - half).exp(), mean: mean.exp(), high: (mean + half).exp() },
        None => Ratio { low: 0.0, mean: mean.exp(), high: f64::INFINITY },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, rep};

    /// A record of one cell whose latencies are 1 ms, and ten times that above the 90th percentile, times `factors`.
    fn record(factors: &[f64]) -> RunRecord {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        for (number, factor) in factors.iter().enumerate() {
            let mut one = rep("c", number as u32, 1e9);
            one.round = number as u32;
            let mut service = record::new_histogram();
            service.record_n((1e6 * factor) as u64, 9_000).unwrap();
            service.record_n((1e7 * factor) as u64, 1_000).unwrap();
            one.histograms.insert(SERVICE.to_owned(), record::encode(&service));
            builder.push(one);
        }
        builder.record()
    }

    #[test]
    fn what_became_slower_by_a_quarter_says_so_at_every_quantile() {
        let found = shift(&record(&[1.0, 1.1, 0.9]), &record(&[1.25, 1.375, 1.125]));
        assert_eq!((found.len(), found[0].pairs), (1, 3));
        assert_eq!(found[0].label, "io_uring, depth 8");
        for point in &found[0].points {
            let Ratio { low, mean, high } = point.ratio;
            assert!((mean / 1.25 - 1.0).abs() < 3e-3 && low <= mean && mean <= high, "{point:?}");
        }
        assert!((found[0].points.last().unwrap().q - 0.999).abs() < 1e-9);
    }

    #[test]
    fn two_pairs_have_no_interval_and_no_pair_has_no_shift() {
        let found = shift(&record(&[1.0, 1.0]), &record(&[2.0, 2.0]));
        let ratio = found[0].points[0].ratio;
        assert!(ratio.low.abs() < f64::EPSILON && ratio.high.is_infinite());
        assert!(shift(&record(&[1.0]), &record(&[])).is_empty());
    }

    #[test]
    fn a_run_against_itself_is_no_shift() {
        let one = record(&[1.0, 1.3, 0.8, 1.0]);
        for point in &shift(&one, &one)[0].points {
            assert!((point.ratio.mean - 1.0).abs() < 1e-12 && (point.ratio.high - 1.0).abs() < 1e-12);
        }
    }
}
