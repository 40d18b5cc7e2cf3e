//! What runs are compared by, and what a gate may name.

/// A metric of comparisons and gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compared {
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

impl Compared {
    /// Every metric, in the order of tables.
    // P99.9 is missing on purpose: a finite 95 % bound of it takes 3,688 reads in each repetition, and a
    // gate that is silent on short runs would look like one that passes.
    pub const ALL: [Self; 5] = [Self::Throughput, Self::P50, Self::P99, Self::Au, Self::Cpu];

    /// As scenarios and records write it.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// What it is, for the reference of scenarios.
    pub const fn meaning(self) -> &'static str {
        self.words().1
    }

    /// The metric of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Throughput => {
                ("throughput", "Bytes per second, or operations per second where no bytes are moved.")
            }
            Self::P50 => ("p50", "Median latency."),
            Self::P99 => ("p99", "99th percentile of latency."),
            Self::Au => ("au", "Accelerator utilization, with `load.mode = \"training\"`."),
            Self::Cpu => ("cpu", "Processor time of the client by operation."),
        }
    }
}

/// What may differ between runs that are compared all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
// Not the dataset, the scenario or the device: with those the question itself is another.
pub enum MayDiffer {
    /// The machine that measures: its processor, memory and identity.
    Host,
    /// The release of its kernel.
    Kernel,
    /// The driver and the firmware of the device.
    Driver,
}

crate::words!(MayDiffer { Host = "host", Kernel = "kernel", Driver = "driver" });

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_name_of_its_own_and_is_found_by_it() {
        let names = Compared::ALL.map(Compared::name);
        assert_eq!(names, ["throughput", "p50", "p99", "au", "cpu"]);
        assert_eq!(Compared::ALL.map(|metric| Compared::of_name(metric.name())), Compared::ALL.map(Some));
        assert_eq!(Compared::of_name("p95"), None);
        assert!(Compared::ALL.iter().all(|metric| metric.meaning().ends_with('.')));
    }
}
