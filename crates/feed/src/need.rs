//! What one client has to deliver.

use crate::Provenance;

/// How fast one client has to read, at a utilization of 1.00.
#[derive(Debug, Clone, PartialEq)]
pub enum Demand {
    /// A fixed rate of samples; the bytes follow from the sample size of what is read.
    Samples {
        /// Samples per second.
        per_s: f64,
        /// Bytes of one sample, as the workload stores it.
        sample_bytes: f64,
    },
    /// A fixed rate of bytes; the samples follow from the sample size of what is read.
    Bytes {
        /// Bytes per second.
        per_s: f64,
    },
}

/// What the accelerators behind one client consume, and where the line is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// `8 x h100 resnet50`, `2.5 GB/s`, `batch 400 / 0.224 s x 8`, `2 M tokens/s`.
    pub label: String,
    /// The demand of this client: the whole one divided by `hosts`.
    pub demand: Demand,
    /// The share of the demand at which the line is drawn, above 0 and at most 1.
    pub utilization: f64,
    /// Accelerators behind this client; 0 when the need names none.
    pub accelerators: u32,
    /// Clients that share the whole need.
    pub hosts: u32,
    /// Where a profile's figures come from; `None` for what the user stated.
    pub provenance: Option<Provenance>,
    /// `MLPerf Storage 2.0, measured`, or `stated by the user`.
    pub source: String,
    /// What a reader must know before trusting the need.
    pub caveats: Vec<String>,
    /// Samples per step and accelerator, where the need names them.
    pub batch: Option<u32>,
    /// Seconds per step, where the need names them.
    pub step_time_s: Option<f64>,
    /// Readers of one accelerator, where a profile names them.
    pub readers: Option<u32>,
    /// Batches that the readers of one accelerator fetch ahead, where a profile names them: [`Profile::prefetch`].
    ///
    /// [`Profile::prefetch`]: crate::Profile::prefetch
    pub prefetch: Option<u32>,
}

impl Need {
    /// Samples per second at a utilization of 1.00, when one sample read is `sample_bytes`.
    pub fn demand_samples_per_s(&self, sample_bytes: f64) -> f64 {
        match self.demand {
            Demand::Samples { per_s, .. } => per_s,
            Demand::Bytes { per_s } => per_s / sample_bytes,
        }
    }

    /// Samples per second at the utilization target.
    pub fn line_samples_per_s(&self, sample_bytes: f64) -> f64 {
        self.demand_samples_per_s(sample_bytes) * self.utilization
    }

    /// Bytes per second at a utilization of 1.00, when one sample read is `sample_bytes`.
    pub fn demand_bps(&self, sample_bytes: f64) -> f64 {
        match self.demand {
            Demand::Samples { per_s, .. } => per_s * sample_bytes,
            Demand::Bytes { per_s } => per_s,
        }
    }

    /// Bytes per second at the utilization target.
    pub fn line_bps(&self, sample_bytes: f64) -> f64 {
        self.demand_bps(sample_bytes) * self.utilization
    }

    /// Bytes of one sample as the workload stores it; `None` when the need is a plain rate.
    pub fn sample_bytes(&self) -> Option<f64> {
        match self.demand {
            Demand::Samples { sample_bytes, .. } => Some(sample_bytes),
            Demand::Bytes { .. } => None,
        }
    }

    /// The arithmetic from accelerators to bytes per second, requests, depth and drives: several lines,
    /// without a final newline.
    pub fn explain(&self) -> String {
        crate::explain::explain(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn need(demand: Demand, utilization: f64) -> Need {
        Need {
            label: String::new(),
            demand,
            utilization,
            accelerators: 0,
            hosts: 1,
            provenance: None,
            source: String::new(),
            caveats: Vec::new(),
            batch: None,
            step_time_s: None,
            readers: None,
            prefetch: None,
        }
    }

    #[track_caller]
    fn assert_close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-12, "{value} is not {expected}");
    }

    #[test]
    fn samples_stay_and_bytes_follow_the_cell() {
        let need = need(Demand::Samples { per_s: 100.0, sample_bytes: 1_000.0 }, 0.5);
        assert_close(need.demand_samples_per_s(4_000.0), 100.0);
        assert_close(need.demand_bps(4_000.0), 400_000.0);
        assert_close(need.line_bps(4_000.0), 200_000.0);
        assert_eq!(need.sample_bytes(), Some(1_000.0));
    }

    #[test]
    fn bytes_stay_and_samples_follow_the_cell() {
        let need = need(Demand::Bytes { per_s: 400_000.0 }, 0.5);
        assert_close(need.demand_samples_per_s(4_000.0), 100.0);
        assert_close(need.line_samples_per_s(4_000.0), 50.0);
        assert_close(need.demand_bps(1.0), 400_000.0);
        assert_eq!(need.sample_bytes(), None);
    }

    proptest! {
        #[test]
        fn samples_times_size_is_bytes(
            per_s in 1e-3..1e12f64, own_bytes in 1.0..1e9f64, cell_bytes in 1.0..1e9f64,
            utilization in 0.01..=1.0f64, in_samples: bool,
        ) {
            let demand = if in_samples {
                Demand::Samples { per_s, sample_bytes: own_bytes }
            } else {
                Demand::Bytes { per_s }
            };
            let need = need(demand, utilization);
            let bps = need.line_samples_per_s(cell_bytes) * cell_bytes;
            prop_assert!((bps / need.line_bps(cell_bytes) - 1.0).abs() < 1e-12);
            prop_assert!(need.line_bps(cell_bytes) <= need.demand_bps(cell_bytes));
        }
    }
}
