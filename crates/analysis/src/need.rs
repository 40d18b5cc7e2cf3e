//! The need of the record as a feed line for each cell.

use feed::{Demand, Need};

/// The line of one cell, from the need and the cell's own sample size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineAt {
    /// Samples per second at the utilization target: what a verdict compares with.
    pub samples_per_s: f64,
    /// The same in bytes per second of this cell's samples.
    pub bps: f64,
    /// Bytes per second at full utilization: the thin second line.
    pub demand_bps: f64,
}

impl LineAt {
    /// The line of `need` for samples of `sample_bytes`.
    pub(crate) fn of(need: &Need, sample_bytes: f64) -> Self {
        Self {
            samples_per_s: need.line_samples_per_s(sample_bytes),
            bps: need.line_bps(sample_bytes),
            demand_bps: need.demand_bps(sample_bytes),
        }
    }
}

/// The need that a record states, or why it states none.
pub(crate) fn of_record(need: &record::Need) -> Result<Need, String> {
    let demand = match (need.samples_per_s, need.sample_bytes, need.bytes_per_s) {
        (Some(per_s), sample_bytes, _) if positive(per_s) => {
            Demand::Samples { per_s, sample_bytes: sample_bytes.unwrap_or(0.0) }
        }
        (_, _, Some(per_s)) if positive(per_s) => Demand::Bytes { per_s },
        _ => return Err("the record states no need, so no line can be drawn".to_owned()),
    };
    if !positive(need.utilization) || need.utilization > 1.0 {
        return Err(format!("the record's utilization target is {}, not within 0 to 1", need.utilization));
    }
    Ok(Need {
        label: need.label.clone(),
        demand,
        utilization: need.utilization,
        accelerators: need.accelerators,
        hosts: need.hosts,
        provenance: None,
        source: need.source.clone(),
        caveats: need.caveats.clone(),
        batch: None,
        step_time_s: None,
        readers: None,
        prefetch: None,
    })
}

pub(crate) fn positive(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_need_in_samples_follows_the_sample_size_and_one_in_bytes_does_not() {
        let samples = of_record(&fixture::need_in_samples(1_000.0)).unwrap();
        let small = LineAt::of(&samples, 100.0);
        let large = LineAt::of(&samples, 1_000.0);
        assert_eq!((small.samples_per_s, small.bps, small.demand_bps), (900.0, 90_000.0, 100_000.0));
        assert_eq!((large.samples_per_s, large.bps), (900.0, 900_000.0));

        let bytes = of_record(&fixture::need_in_bytes(1e6)).unwrap();
        let small = LineAt::of(&bytes, 100.0);
        assert_eq!((small.samples_per_s, small.bps, small.demand_bps), (9_000.0, 900_000.0, 1e6));
    }

    #[test]
    fn a_record_without_a_usable_need_says_so() {
        let mut need = fixture::need_in_samples(1_000.0);
        need.samples_per_s = Some(f64::NAN);
        assert!(of_record(&need).unwrap_err().contains("no need"));
        let mut need = fixture::need_in_bytes(1e6);
        need.utilization = 90.0;
        assert!(of_record(&need).unwrap_err().contains("utilization target is 90"));
    }
}
