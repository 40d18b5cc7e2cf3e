//! The latencies of one cell over its repetitions, as a whole distribution.

use hdrhistogram::Histogram;
use record::{Cell, Rep, Role, RunRecord, counter};

use crate::cell::counters::{per_s, sum};
use crate::cell::interval::spread;
use crate::cell::latency::{SERVICE, enough, merged};
use crate::cell::lines::Lines;
use crate::cell::paced;
use crate::cell::repetitions::Repetitions;

/// Latencies of the interleaved repetitions that make a point, merged: for display, never for a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution<'a> {
    /// Its cell.
    pub cell: &'a Cell,
    /// Submission to completion, nanoseconds.
    pub service: Histogram<u64>,
    /// Intended start to completion of a paced load, nanoseconds; absent for other loads.
    pub response: Option<Histogram<u64>>,
    /// Arrivals of a paced load that were never served, so that they are in no histogram.
    pub not_served: u64,
    /// Repetitions whose histogram was missing or could not be read.
    pub unreadable: u32,
    /// Operations that ended well in the windows.
    pub ops: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Length of all windows together.
    pub window_ns: u64,
    /// Standard deviation of operations per second from repetition to repetition; 0 for one alone.
    pub ops_per_s_stddev: f64,
    /// User and kernel time of this process by the time of the windows, 1 for one processor.
    pub cpu_shares: (f64, f64),
}

impl Distribution<'_> {
    /// Quantile `q` of the service time, as far as the operations say something of it: up to 1 - 10/n.
    pub fn service_ns(&self, q: f64) -> Option<u64> {
        enough(self.service.len(), q).then(|| self.service.value_at_quantile(q))
    }

    /// What a caller waits for: from the intended time on where there is one, else from the submission on.
    pub fn waited(&self) -> &Histogram<u64> {
        self.response.as_ref().unwrap_or(&self.service)
    }
}

/// One step of a course of percentiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuantileStep {
    /// The quantile, 0 to 1.
    pub q: f64,
    /// Its value, nanoseconds.
    pub value_ns: u64,
    /// Operations at most as long.
    pub count: u64,
}

/// The course of percentiles in `ticks` steps for each halving of the distance to 1, up to 1 - 10/n.
pub fn quantile_steps(histogram: &Histogram<u64>, ticks: u32) -> Vec<QuantileStep> {
    let at = halvings(ticks).take_while(|q| enough(histogram.len(), *q));
    let mut recorded = histogram.iter_recorded().peekable();
    let mut count = 0;
    let values = at.clone().zip(histogram.value_at_quantiles(at));
    let step = |(q, value_ns)| {
        // Up to and with the slot of the value: one pass for all steps, because both rise.
        let within = |ns| histogram.lowest_equivalent(ns) <= value_ns;
        while let Some(slot) = recorded.next_if(|slot| within(slot.value_iterated_to())) {
            count += slot.count_since_last_iteration();
        }
        QuantileStep { q, value_ns, count }
    };
    values.map(step).collect()
}

/// Quantiles in `ticks` steps for each halving of the distance to 1, without end.
fn halvings(ticks: u32) -> impl Iterator<Item = f64> + Clone {
    (0..i32::MAX).flat_map(move |halving| {
        let distance = 0.5_f64.powi(halving);
        // As many digits as are printed, so that a reader computes the same value from the printed quantile.
        let digits = |q: f64| (q * 1e12).round() / 1e12;
        (0..ticks)
            .map(move |tick| digits(1.0 - distance + distance / 2.0 * f64::from(tick) / f64::from(ticks)))
    })
}

/// The distribution of each cell that has one, in the order of the scenario. One is in memory at a time.
/// Of a run of several ranks, pass the record with its ranks folded.
pub fn distributions(record: &RunRecord) -> impl Iterator<Item = Distribution<'_>> {
    let lines = Lines::of(record);
    record.run.cells.iter().filter_map(move |cell| of_cell(record, cell, lines.of_cell(&cell.cell)))
}

fn of_cell<'a>(record: &'a RunRecord, cell: &'a Cell, all: &[&'a Rep]) -> Option<Distribution<'a>> {
    let used = Repetitions::of(all, cell, Role::Measure, &record.run.measure).used;
    if used.is_empty() {
        return None;
    }
    let (service, unreadable) = merged(&used, SERVICE);
    let window_ns: u64 = used.iter().map(|rep| rep.window_ns).fold(0, u64::saturating_add);
    let share = |of: fn(&Rep) -> u64| used.iter().map(|rep| of(rep) as f64).sum::<f64>() / window_ns as f64;
    let rates: Vec<f64> = used.iter().map(|rep| per_s(rep, counter::OPS)).collect();
    Some(Distribution {
        cell,
        service: service.histogram(),
        response: cell.pace.as_ref().map(|_| merged(&used, paced::RESPONSE).0.histogram()),
        not_served: sum(&used, counter::ARRIVALS).saturating_sub(sum(&used, counter::SERVED)),
        unreadable,
        ops: sum(&used, counter::OPS),
        bytes: sum(&used, counter::BYTES),
        window_ns,
        ops_per_s_stddev: deviation(&rates),
        cpu_shares: (share(|rep| rep.usage.cpu_user_ns), share(|rep| rep.usage.cpu_system_ns)),
    })
}

fn deviation(rates: &[f64]) -> f64 {
    spread(rates).map_or(0.0, |(_, deviation)| deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, rep};

    #[test]
    fn repetitions_are_added_and_percentiles_end_where_samples_do() {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        for number in 0..3 {
            builder.push(rep("c", number, 1e9));
        }
        let record = builder.record();
        let one = distributions(&record).next().unwrap();
        assert_eq!((one.unreadable, one.ops), (0, 30_000));
        assert_eq!(one.service.len(), 30_000);
        assert!(one.service_ns(0.999).is_some() && one.service_ns(0.9999).is_none());
        let steps = quantile_steps(&one.service, 5);
        let last = steps.last().unwrap();
        assert!(last.q <= 1.0 - 10.0 / 30_000.0 + 1e-9 && last.q > 0.999, "{}", last.q);
        assert!(steps[0].q.abs() < f64::EPSILON && (steps[5].q - 0.5).abs() < 1e-12);
        assert_eq!(quantile_steps(&record::new_histogram(), 5), []);
        assert!(steps.windows(2).all(|pair| pair[0].q < pair[1].q && pair[0].value_ns <= pair[1].value_ns));
    }

    #[test]
    fn a_cell_without_a_point_has_no_distribution() {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        let mut failed = rep("c", 0, 1e9);
        failed.outcome = record::Outcome::Failed { reason: "gone".to_owned() };
        builder.push(failed);
        assert_eq!(distributions(&builder.record()).count(), 0);
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert!((deviation(&[1.0, 2.0, 3.0]) - 1.0).abs() < 1e-12);
        assert!(deviation(&[7.0]).abs() < f64::EPSILON);
    }
}
