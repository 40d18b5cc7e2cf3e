//! How a latency distribution moved between two variants: the ratio of each percentile, after by before.

use std::collections::BTreeMap;

use record::{Cell, HistogramSum, Rep, Role, RunRecord, counter};

use super::paired::{Key, Pair};
use super::student::Estimate;
use super::{NotComparable, Ratio, RunSample, comparable, variants};
use crate::cell::counters::counted;
use crate::cell::interval::mean;
use crate::cell::latency::steps;
use crate::cell::latency::{Percentile, percentile};
use crate::cell::latency::{SERVICE, merged};
use crate::cell::lines::Lines;
use crate::cell::operation;
use crate::cell::paced;
use crate::cell::ranks;
use crate::cell::repetitions::Repetitions;

/// One cell on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    /// Its name in the record before.
    pub cell: String,
    /// Name of its target before.
    pub target: String,
    /// What tells it from its neighbours, in words: `io_uring, depth 32`.
    pub label: String,
    /// Whether it is the response of a paced load, from the intended start on.
    pub is_response: bool,
    /// Repetitions of both sides that meet.
    pub pairs: u32,
    /// The ratio at each quantile, which rises up to 1 - 10 / n of the shorter repetitions. Arrivals of a paced load that were
    /// not served count as slower than any that was: the curve ends before the first quantile that falls among them.
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

/// The cells that both variants have, by their place in the plan, with their repetitions paired as a comparison of variants
/// pairs them.
///
/// The logarithm of the ratio of a quantile is one sample for each pair; the interval is Student's t over pairs, as in
/// a comparison of variants.
///
/// # Errors
/// When the two must not be compared, as [`compare_variants`](super::compare_variants) says.
pub fn shift(before: &RunRecord, after: &RunRecord) -> Result<Vec<Shift>, NotComparable> {
    let samples = [RunSample::of(before), RunSample::of(after)];
    comparable::variants(&samples[0], &samples[1])?;
    let pairs = variants::pairs(&samples[0], &samples[1]);
    // As the comparison pairs them, so that plot and table are of the same repetitions.
    let key = Key::best(&pairs);
    let folded = [ranks::fold_ranks(before), ranks::fold_ranks(after)];
    let lines = [Lines::of(&folded[0]), Lines::of(&folded[1])];
    let of_pair = |pair: &Pair<'_>| {
        let befores = by_key(&folded[0], &lines[0], pair.before.cell, key);
        let afters = by_key(&folded[1], &lines[1], pair.after.cell, key);
        of_cell(pair, &befores, &afters)
    };
    Ok(pairs.iter().filter(|pair| !operation::is_metadata(pair.before.cell)).filter_map(of_pair).collect())
}

/// The repetitions of a cell that make a point; of several under one key the first.
fn by_key<'a>(record: &RunRecord, lines: &Lines<'a>, cell: &Cell, key: Key) -> BTreeMap<u32, &'a Rep> {
    let reps = Repetitions::of(lines.of_cell(&cell.cell), cell, Role::Measure, &record.run.measure).used;
    let mut found = BTreeMap::new();
    for rep in reps {
        found.entry(key.among(rep.rep, rep.round)).or_insert(rep);
    }
    found
}

/// Latencies of one repetition, and over how many operations their quantiles are.
struct Course {
    histogram: HistogramSum,
    /// Arrivals of a paced load; else the operations themselves.
    count: u64,
    served: u64,
}

impl Course {
    fn of(rep: &Rep, is_response: bool) -> Option<Self> {
        let name = if is_response { paced::RESPONSE } else { SERVICE };
        let (histogram, _) = merged(&[rep], name);
        let (count, served) = if is_response {
            (counted(rep, counter::ARRIVALS), counted(rep, counter::SERVED))
        } else {
            (histogram.len(), histogram.len())
        };
        (!histogram.is_empty()).then_some(Self { histogram, count, served })
    }

    fn logarithm(&self, q: f64) -> Option<f64> {
        match percentile(&self.histogram, self.count, self.served, q) {
            // A histogram records what took no time as 1; of 0 there is no logarithm.
            Percentile::At(ns) => Some((ns.max(1) as f64).ln()),
            Percentile::NotServed | Percentile::Unknown => None,
        }
    }
}

fn of_cell(pair: &Pair<'_>, before: &BTreeMap<u32, &Rep>, after: &BTreeMap<u32, &Rep>) -> Option<Shift> {
    let cell = pair.before.cell;
    let is_response = cell.pace.is_some();
    let both = |(key, one): (&u32, &&Rep)| {
        Some((Course::of(one, is_response)?, Course::of(after.get(key)?, is_response)?))
    };
    let met: Vec<(Course, Course)> = before.iter().filter_map(both).collect();
    let shortest = met.iter().map(|(one, two)| one.count.min(two.count)).min()?;
    // A quantile that some pair lacks would be one of other pairs than its neighbours.
    let point = |q: f64| {
        let difference = |(one, two): &(Course, Course)| Some(two.logarithm(q)? - one.logarithm(q)?);
        let differences: Vec<f64> = met.iter().map(difference).collect::<Option<_>>()?;
        Some(ShiftPoint { q, ratio: ratio(&differences)? })
    };
    // The curve ends at the first quantile that some pair lacks: beyond it the ratio would be one of fewer pairs, and
    // jump.
    let points: Vec<ShiftPoint> = steps(shortest, 1.0).map_while(point).collect();
    // One point is no curve.
    (points.len() > 1).then(|| Shift {
        cell: cell.cell.clone(),
        target: cell.target.clone(),
        label: pair.label.clone(),
        is_response,
        pairs: met.len() as u32,
        points,
    })
}

/// The ratio whose logarithm is the mean of these.
fn ratio(logarithms: &[f64]) -> Option<Ratio> {
    Some(Ratio::of(mean(logarithms)?.exp(), Estimate::of_pairs(logarithms)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, rep};

    /// A record of one cell whose latencies are 1 ms, and ten times that above the 90th percentile, times `factors`.
    fn record(factors: &[f64]) -> RunRecord {
        let mut builder = Builder::new();
        builder.run.variant = Some(record::Variant {
            name: "v".to_owned(),
            group: "g".to_owned(),
            number: 0,
            settings: Vec::new(),
        });
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
        let found = shift(&record(&[1.0, 1.1, 0.9]), &record(&[1.25, 1.375, 1.125])).unwrap();
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
        let found = shift(&record(&[1.0, 1.0]), &record(&[2.0, 2.0])).unwrap();
        let ratio = found[0].points[0].ratio;
        assert!(ratio.low.abs() < f64::EPSILON && ratio.high.is_infinite());
        assert!(shift(&record(&[1.0]), &record(&[])).unwrap().is_empty());
    }

    #[test]
    fn a_run_against_itself_is_no_shift() {
        let one = record(&[1.0, 1.3, 0.8, 1.0]);
        for point in &shift(&one, &one).unwrap()[0].points {
            assert!((point.ratio.mean - 1.0).abs() < 1e-12 && (point.ratio.high - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_no_variant_of_the_same_run_is_refused() {
        let (one, mut other) = (record(&[1.0]), record(&[1.0]));
        other.run.variant = None;
        assert!(shift(&one, &other).is_err());
    }

    #[test]
    fn arrivals_that_were_not_served_end_the_curve() {
        let made = |served: f64| {
            let mut builder = Builder::new();
            builder.run.variant = record(&[]).run.variant;
            builder.cell("c", "disk", 8);
            for number in 0..3 {
                let mut one = rep("c", number, 1e9);
                one.round = number;
                builder.push(one);
            }
            builder.pace("c", 1.0, served);
            builder.record()
        };
        let found = shift(&made(1.0), &made(0.8)).unwrap();
        assert!(found[0].is_response && found[0].points.last().unwrap().q <= 0.8, "{:?}", found[0].points);
        let whole = shift(&made(1.0), &made(1.0)).unwrap();
        assert!(whole[0].points.last().unwrap().q > 0.99);
    }
}
