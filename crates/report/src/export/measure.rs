//! The figures of a cell that trackers of performance follow from run to run.

use analysis::{CellSummary, Figures, Measurement, Operations, Percentile, Rate};

use super::gap;

/// What is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bytes per second.
    Throughput,
    /// Operations per second of cells that move no bytes.
    Operations,
    /// Median latency, nanoseconds.
    P50,
    /// 99th percentile of latency, nanoseconds.
    P99,
    /// Accelerator utilization, 0 to 1.
    Au,
    /// Processor time by operation, nanoseconds.
    Cpu,
}

impl Kind {
    /// As trackers name it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput-bytes",
            Self::Operations => "throughput",
            Self::P50 => "latency-p50",
            Self::P99 => "latency-p99",
            Self::Au => "accelerator-utilization",
            Self::Cpu => "cpu-per-operation",
        }
    }

    pub(super) const fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "B/s",
            Self::Operations => "1/s",
            Self::P50 | Self::P99 | Self::Cpu => "ns",
            Self::Au => "share",
        }
    }

    pub(super) const fn bigger_is_better(self) -> bool {
        matches!(self, Self::Throughput | Self::Operations | Self::Au)
    }
}

/// One figure of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measure {
    pub(super) kind: Kind,
    /// Finite; rates are above 0.
    pub(super) value: f64,
    /// 95 % interval over repetitions, where there is one.
    pub(super) interval: Option<(f64, f64)>,
}

/// The figures of a cell, and what it does not have, in words.
pub(super) fn measures(cell: &CellSummary) -> (Vec<Measure>, Vec<String>) {
    let mut found = Found { cell: &cell.cell.cell, measures: Vec::new(), gaps: Vec::new() };
    found.gaps.extend(gap(cell));
    match &cell.measured {
        Measurement::Figures(figures) => found.figures(figures),
        Measurement::Operations(operations) => found.operations(operations),
        Measurement::Failed { .. } | Measurement::NotRun { .. } => {}
    }
    (found.measures, found.gaps)
}

struct Found<'a> {
    cell: &'a str,
    measures: Vec<Measure>,
    gaps: Vec<String>,
}

impl Found<'_> {
    fn figures(&mut self, figures: &Figures) {
        self.rate(Kind::Throughput, figures.bps);
        let (p50, p99) = figures.paced.map_or_else(
            || (at(figures.latency.p50_ns), at(figures.latency.p99_ns)),
            |paced| (paced.response_p50, paced.response_p99),
        );
        self.latency(Kind::P50, p50);
        self.latency(Kind::P99, p99);
        if let Some(training) = &figures.training {
            self.rate(Kind::Au, training.au);
        }
        self.plain(Kind::Cpu, figures.cpu_ns_per_op);
    }

    fn operations(&mut self, operations: &Operations) {
        self.rate(Kind::Operations, operations.ops_per_s);
        self.latency(Kind::P50, at(operations.latency.p50_ns));
        self.latency(Kind::P99, at(operations.latency.p99_ns));
        self.plain(Kind::Cpu, operations.cpu_ns_per_op);
    }

    fn rate(&mut self, kind: Kind, rate: Rate) {
        if !(rate.mean.is_finite() && rate.mean > 0.0) {
            self.absent(kind, "its rate is no positive number");
            return;
        }
        let interval = rate.interval.map(|interval| (interval.low, interval.high));
        let interval = interval.filter(|(low, high)| low.is_finite() && high.is_finite());
        self.measures.push(Measure { kind, value: rate.mean, interval });
    }

    fn latency(&mut self, kind: Kind, percentile: Percentile) {
        match percentile {
            Percentile::At(ns) => self.plain(kind, Some(ns as f64)),
            Percentile::Unknown => self.absent(kind, "too few operations say anything of it"),
            Percentile::NotServed => self.absent(kind, "it falls among arrivals that were not served"),
        }
    }

    fn plain(&mut self, kind: Kind, value: Option<f64>) {
        let finite = value.filter(|value| value.is_finite());
        self.measures.extend(finite.map(|value| Measure { kind, value, interval: None }));
    }

    fn absent(&mut self, kind: Kind, why: &str) {
        self.gaps.push(format!("{}: no {}: {why}", self.cell, kind.name()));
    }
}

fn at(ns: Option<u64>) -> Percentile {
    ns.map_or(Percentile::Unknown, Percentile::At)
}
