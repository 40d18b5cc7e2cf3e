//! What is compared, and how much of it may be lost.

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Bytes per second, or operations per second where no bytes are moved.
    Throughput,
    /// Median latency, from submission; of a paced load from the intended start.
    P50,
    /// 99th percentile of the same.
    P99,
    /// Accelerator utilization of a training load.
    Au,
    /// Processor time of the client by operation.
    Cpu,
}

impl Metric {
    /// Every metric, in the order of tables.
    pub const ALL: [Self; 5] = [Self::Throughput, Self::P50, Self::P99, Self::Au, Self::Cpu];

    /// As scenarios and records write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::Au => "au",
            Self::Cpu => "cpu",
        }
    }

    /// The metric of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Whether more of it is better.
    pub const fn higher_is_better(self) -> bool {
        matches!(self, Self::Throughput | Self::Au)
    }
}

/// How much worse each metric may be before it counts as a regression, as shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margins {
    /// In the order of [`Metric::ALL`].
    pub shares: [f64; 5],
}

impl Margins {
    /// For interleaved repetitions: 5 % for throughput and the median, 10 % for the 99th percentile and processor time,
    /// 2 % for AU.
    pub const INTERLEAVED: Self = Self { shares: [0.05, 0.05, 0.10, 0.02, 0.10] };

    /// For stored runs twice as much: another day is another machine.
    pub const STORED: Self = Self { shares: [0.10, 0.10, 0.20, 0.04, 0.20] };

    /// The margin of a metric.
    pub fn of(&self, metric: Metric) -> f64 {
        self.shares[metric as usize]
    }

    /// The same with another margin for one metric.
    #[must_use]
    pub fn with(mut self, metric: Metric, share: f64) -> Self {
        self.shares[metric as usize] = share;
        self
    }
}
