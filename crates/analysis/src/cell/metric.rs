//! The metrics of a repetition and of a cell, one row each: columns, comparisons, gates, histories and exports read
//! this table.
//!
//! A metric is read from a [`View`]: figures of one repetition, or of all of a cell that make a point. How repetitions
//! fold is therefore decided once, where the figures are computed: rates are means of repetitions, percentiles are those
//! of the merged histograms, and what is said by operation is a sum by a sum.

#[cfg(test)]
mod tests;

use feed::{Compared, Interval};

use crate::cell::cell_summary::CellSummary;
use crate::cell::checkpoints::Written;
use crate::cell::epochs::EpochFigures;
use crate::cell::figures::Figures;
use crate::cell::latency::Latency;
use crate::cell::latency::Percentile;
use crate::cell::operations::Operations;
use crate::cell::paced::Paced;
use crate::cell::system::{DeviceFigures, MemoryFigures, SystemFigures};
use crate::cell::training::TrainingFigures;

use Better::{Less, More, Neither};
use Reading::{Rate, Value};
use Unit::{Bytes, BytesPerSecond, Count, Nanoseconds, PerSecond, Seconds, Share};

/// What a value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes per second.
    BytesPerSecond,
    /// Operations, samples or names per second.
    PerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A share of a whole, most often 0 to 1.
    Share,
    /// A number of things.
    Count,
}

impl Unit {
    /// As exports write it; empty for a number of things.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::BytesPerSecond => "B/s",
            Self::PerSecond => "1/s",
            Self::Nanoseconds => "ns",
            Self::Seconds => "s",
            Self::Bytes => "B",
            Self::Share => "share",
            Self::Count => "",
        }
    }
}

/// In which direction a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The larger, the better.
    More,
    /// The smaller, the better.
    Less,
    /// It says what was done, not how well.
    Neither,
}

/// One metric.
#[derive(Debug)]
pub struct Metric {
    /// As exports of repetitions name it, its unit last: `latency_p99_ns`.
    pub name: &'static str,
    /// The unit of its values.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Better,
    /// What it is, a sentence.
    pub help: &'static str,
    /// How it is followed from run to run; absent for most.
    pub tracked: Option<Tracked>,
    /// The column that it has on pages; absent where it has none, or is more than a column.
    pub column: Option<Column>,
    of: fn(&View<'_>) -> Option<Reading>,
}

/// Tables of cells on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// Every cell with its rate; cells that move no bytes have one of their own kind.
    Cells,
    /// The device below, and the machine around it.
    Device,
    /// Training jobs.
    Training,
}

/// Where a metric stands on a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// In which table.
    pub table: Table,
    /// Its heading, with the unit in which the table writes it.
    pub heading: &'static str,
    /// Whether a page of 80 columns has no room for it.
    pub wide: bool,
}

/// How a metric is followed from run to run.
#[derive(Debug, Clone, Copy)]
pub struct Tracked {
    /// As trackers of performance name it. Of two metrics of one name that a cell has, the later row stands: what a
    /// caller of a paced load waits for is its response.
    pub name: &'static str,
    /// As Prometheus names it, in base units.
    pub gauge: &'static str,
    /// What it is in comparisons and gates.
    pub compared: Compared,
    /// How much worse it may be between interleaved repetitions, as a share.
    margin: f64,
    /// Operations of one repetition from which on it is compared.
    operations_min: u64,
}

/// What a metric says of a repetition or a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    /// One value.
    Value(f64),
    /// The mean over repetitions.
    Rate(crate::cell::rate::Rate),
    /// None, and why.
    Absent(&'static str),
}

impl Reading {
    /// The value, which may be anything that a record led to; `None` where it is absent.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value),
            Self::Rate(rate) => Some(rate.mean),
            Self::Absent(_) => None,
        }
    }

    /// The 95 % interval over repetitions, where there is one.
    pub fn interval(&self) -> Option<Interval> {
        if let Self::Rate(rate) = self { rate.interval } else { None }
    }
}

/// What metrics are read from: the figures of one repetition, or of all of a cell.
#[derive(Debug, Clone, Copy, Default)]
pub struct View<'a> {
    pub(crate) figures: Option<&'a Figures>,
    pub(crate) operations: Option<&'a Operations>,
    pub(crate) system: Option<&'a SystemFigures>,
    pub(crate) epochs: &'a [EpochFigures],
    pub(crate) written: Option<&'a Written>,
    pub(crate) checkpoint_stall: Option<f64>,
}

impl<'a> View<'a> {
    /// The interleaved repetitions of a cell. Epochs and checkpoints are told by repetition alone.
    pub fn of_cell(cell: &'a CellSummary) -> Self {
        Self {
            figures: cell.figures(),
            operations: cell.operations(),
            system: cell.system.as_ref(),
            ..Self::default()
        }
    }

    /// Figures that are not those of the interleaved repetitions, such as the fresh ones on which a verdict rests.
    pub fn of_figures(figures: &'a Figures) -> Self {
        Self { figures: Some(figures), ..Self::default() }
    }

    /// What is followed from run to run, in the order of [`METRICS`], each under a name of its own.
    pub fn tracked(&self) -> Vec<(&'static Metric, Tracked, Reading)> {
        let mut found: Vec<(&'static Metric, Tracked, Reading)> = Vec::new();
        for metric in METRICS {
            let Some((tracked, reading)) = metric.tracked.zip(metric.read(self)) else { continue };
            match found.iter_mut().find(|(_, known, _)| known.name == tracked.name) {
                Some(known) => *known = (metric, tracked, reading),
                None => found.push((metric, tracked, reading)),
            }
        }
        found
    }

    /// Values by which this repetition is compared with others: positive numbers that rest on enough operations.
    pub(crate) fn compared(&self) -> impl Iterator<Item = (Compared, f64)> {
        let served = self.latency().map_or(0, |latency| latency.count);
        let operations = self.paced().map_or(served, |paced| paced.arrivals);
        let rests = self.tracked().into_iter().filter(move |one| operations >= one.1.operations_min);
        rests.filter_map(|(_, tracked, reading)| {
            Some((tracked.compared, reading.value().filter(|value| crate::cell::need::positive(*value))?))
        })
    }

    fn latency(&self) -> Option<&'a Latency> {
        let of_names = self.operations.map(|operations| &operations.latency);
        self.figures.map(|figures| &figures.latency).or(of_names)
    }

    fn paced(&self) -> Option<&'a Paced> {
        self.figures?.paced.as_ref()
    }

    fn training(&self) -> Option<&'a TrainingFigures> {
        self.figures?.training.as_ref()
    }

    fn device(&self) -> Option<&'a DeviceFigures> {
        self.system?.device.as_ref()
    }

    fn memory(&self) -> Option<&'a MemoryFigures> {
        self.system?.memory.as_ref()
    }

    fn cpu_ns_per_op(&self) -> Option<f64> {
        let of_names = self.operations.and_then(|operations| operations.cpu_ns_per_op);
        self.figures.and_then(|figures| figures.cpu_ns_per_op).or(of_names)
    }

    fn first_epoch(&self) -> Option<&'a EpochFigures> {
        self.epochs.iter().find(|epoch| epoch.complete)
    }

    fn last_epoch(&self) -> Option<&'a EpochFigures> {
        // A cut epoch holds only the part of the data that came first.
        self.epochs.iter().rfind(|epoch| epoch.complete)
    }
}

impl Metric {
    /// What it says of a repetition or a cell; `None` where it is no metric of such a one.
    pub fn read(&self, view: &View<'_>) -> Option<Reading> {
        (self.of)(view)
    }

    /// The metric that comparisons know as `compared`, of cells that move bytes or of those that do not.
    pub fn of(compared: Compared, moves_bytes: bool) -> &'static Self {
        let is_meant = |metric: &&Self| metric.compared() == Some(compared);
        let is_of_cell = |metric: &&Self| moves_bytes || metric.unit != BytesPerSecond;
        METRICS
            .iter()
            .find(|metric| is_meant(metric) && is_of_cell(metric))
            .expect("a test holds the table to the names of comparisons")
    }

    /// What it is in comparisons; absent where nothing is compared by it.
    pub fn compared(&self) -> Option<Compared> {
        self.tracked.map(|tracked| tracked.compared)
    }

    /// As comparisons, gates and histories call it.
    pub fn word(&self) -> &'static str {
        self.compared().map_or(self.name, Compared::name)
    }

    /// Whether more of it is better.
    pub fn higher_is_better(&self) -> bool {
        self.better == More
    }

    const fn tracked(self, tracked: Tracked) -> Self {
        Self { tracked: Some(tracked), ..self }
    }

    /// On every page.
    const fn shown(self, table: Table, heading: &'static str) -> Self {
        Self { column: Some(Column { table, heading, wide: false }), ..self }
    }

    /// On pages that scroll.
    const fn shown_wide(self, table: Table, heading: &'static str) -> Self {
        Self { column: Some(Column { table, heading, wide: true }), ..self }
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// How much worse each metric may be before it counts as a regression, as shares.
#[derive(Debug, Clone, PartialEq)]
pub struct Margins {
    /// What the margins of the table are multiplied by.
    times: f64,
    /// Others than those of the table; of one metric the last counts.
    others: Vec<(Compared, f64)>,
}

impl Margins {
    /// For interleaved repetitions: those of the table.
    pub const INTERLEAVED: Self = Self { times: 1.0, others: Vec::new() };

    /// For stored runs twice as much: another day is another machine.
    pub const STORED: Self = Self { times: 2.0, others: Vec::new() };

    /// Every change counts.
    pub const NONE: Self = Self { times: 0.0, others: Vec::new() };

    /// The margin of a metric.
    pub fn of(&self, metric: &Metric) -> f64 {
        let other = self.others.iter().rfind(|(compared, _)| metric.compared() == Some(*compared));
        let of_table = || metric.tracked.map_or(0.0, |tracked| tracked.margin * self.times);
        other.map_or_else(of_table, |(_, share)| *share)
    }

    /// The same with another margin for one metric.
    #[must_use]
    pub fn with(mut self, metric: Compared, share: f64) -> Self {
        self.others.push((metric, share));
        self
    }
}

const TOO_FEW: &str = "too few operations say anything of it";
const NOT_SERVED: &str = "it falls among arrivals that were not served";

const fn metric(
    name: &'static str,
    unit: Unit,
    better: Better,
    help: &'static str,
    of: fn(&View<'_>) -> Option<Reading>,
) -> Metric {
    Metric { name, unit, better, help, tracked: None, column: None, of }
}

const fn tracked(name: &'static str, gauge: &'static str, compared: Compared, margin: f64) -> Tracked {
    Tracked { name, gauge, compared, margin, operations_min: 0 }
}

const fn percentile_from(
    operations_min: u64,
    name: &'static str,
    gauge: &'static str,
    compared: Compared,
    margin: f64,
) -> Tracked {
    Tracked { operations_min, ..tracked(name, gauge, compared, margin) }
}

const P50: Tracked = percentile_from(100, "latency-p50", "feedline_latency_p50_seconds", Compared::P50, 0.05);
const P99: Tracked =
    percentile_from(1_000, "latency-p99", "feedline_latency_p99_seconds", Compared::P99, 0.10);

/// Every metric, in the order in which exports list them.
pub static METRICS: &[Metric] = &[
    metric("throughput_bps", BytesPerSecond, More, "Mean throughput over repetitions.", |view| {
        Some(Rate(view.figures?.bps))
    })
    .tracked(tracked(
        "throughput-bytes",
        "feedline_throughput_bytes_per_second",
        Compared::Throughput,
        0.05,
    )),
    metric("samples_per_s", PerSecond, More, "Mean rate of samples.", |view| {
        Some(Rate(view.figures?.samples_per_s))
    }),
    metric("ops_per_s", PerSecond, More, "Mean rate of reads that ended well.", |view| {
        Some(Value(view.figures?.ops_per_s))
    }),
    metric("ops_per_s", PerSecond, More, "Mean rate of operations that move no bytes.", |view| {
        Some(Rate(view.operations?.ops_per_s))
    })
    .tracked(tracked("throughput", "feedline_operations_per_second", Compared::Throughput, 0.05)),
    metric("entries_per_s", PerSecond, More, "Mean rate of names found by listing.", |view| {
        Some(Rate(view.operations?.entries_per_s?))
    }),
    metric("latency_mean_ns", Nanoseconds, Less, "Mean latency, from submission.", |view| {
        Some(Value(view.latency()?.mean_ns?))
    }),
    metric("latency_p50_ns", Nanoseconds, Less, "Median latency.", |view| {
        Some(quantile(view.latency()?.p50_ns))
    })
    .shown(Table::Cells, "p50 ms")
    .tracked(P50),
    metric("latency_p99_ns", Nanoseconds, Less, "99th percentile of latency.", |view| {
        Some(quantile(view.latency()?.p99_ns))
    })
    .shown(Table::Cells, "p99 ms")
    .tracked(P99),
    metric("latency_p999_ns", Nanoseconds, Less, "99.9th percentile of latency.", |view| {
        Some(quantile(view.latency()?.p999_ns))
    }),
    metric("latency_max_ns", Nanoseconds, Less, "Largest latency.", |view| {
        Some(quantile(view.latency()?.max_ns))
    }),
    metric("offered_bps", BytesPerSecond, Neither, "Rate that a paced load offers.", |view| {
        Some(Value(view.paced()?.offered_bps))
    }),
    metric("response_p50_ns", Nanoseconds, Less, "Median from the intended start, all arrivals.", |view| {
        Some(response(view.paced()?.response_p50))
    })
    .tracked(P50),
    metric("response_p99_ns", Nanoseconds, Less, "99th percentile of the same.", |view| {
        Some(response(view.paced()?.response_p99))
    })
    .tracked(P99),
    metric("served_share", Share, More, "Arrivals of a paced load that were served.", |view| {
        Some(Value(view.paced()?.served_share()))
    }),
    metric("au", Share, More, "Mean accelerator utilization, 0 to 1.", |view| {
        Some(Rate(view.training()?.au))
    })
    .tracked(tracked(
        "accelerator-utilization",
        "feedline_accelerator_utilization_ratio",
        Compared::Au,
        0.02,
    )),
    metric("wait_p99_ns", Nanoseconds, Less, "99th percentile of waits for a batch.", |view| {
        Some(quantile(view.training()?.wait_p99_ns))
    }),
    metric("batch_mean_ns", Nanoseconds, Less, "Mean time until an allowed batch is ready.", |view| {
        Some(Value(view.training()?.fetch_mean_ns?))
    })
    .shown_wide(Table::Training, "batch mean ms"),
    metric("cpu_ns_per_op", Nanoseconds, Less, "Processor time of the client by operation.", |view| {
        Some(Value(view.cpu_ns_per_op()?))
    })
    .tracked(tracked("cpu-per-operation", "feedline_cpu_seconds_per_operation", Compared::Cpu, 0.10)),
    metric(
        "device_written_bps",
        BytesPerSecond,
        Neither,
        "Written to the device below, by whomever.",
        |view| Some(Value(view.device()?.write.bps)),
    )
    .shown_wide(Table::Device, "written MB/s"),
    metric("device_write_await_ns", Nanoseconds, Less, "Mean time of a write request (w_await).", |view| {
        Some(Value(view.device()?.write_await_ns?))
    })
    .shown_wide(Table::Device, "w_await ms"),
    metric(
        "device_flushes_per_s",
        PerSecond,
        Neither,
        "Flushes of the device's cache per second (f/s).",
        |view| Some(Value(view.device()?.flushes_per_s?)),
    )
    .shown_wide(Table::Device, "f/s"),
    metric("device_flush_await_ns", Nanoseconds, Less, "Mean time of a flush (f_await).", |view| {
        Some(Value(view.device()?.flush_await_ns?))
    })
    .shown_wide(Table::Device, "f_await ms"),
    metric("memory_available_min_bytes", Bytes, More, "Least memory to be had without swapping.", |view| {
        Some(count(view.memory()?.available_min_bytes))
    })
    .shown_wide(Table::Device, "least memory available"),
    metric("memory_cached_growth_max_bytes", Bytes, Neither, "Most by which the page cache grew.", |view| {
        Some(Value(view.memory()?.cached_growth_max_bytes as f64))
    }),
    metric(
        "memory_dirty_max_bytes",
        Bytes,
        Neither,
        "Most that was written and not yet on storage.",
        |view| Some(count(view.memory()?.dirty_max_bytes)),
    )
    .shown_wide(Table::Device, "most not yet written back"),
    metric("epochs", Count, Neither, "Whole passes over the data.", |view| {
        let whole = || view.epochs.iter().filter(|epoch| epoch.complete).count() as u64;
        (!view.epochs.is_empty()).then(|| Reading::Value(whole() as f64))
    }),
    metric("epoch_first_bps", BytesPerSecond, More, "Throughput of the first whole pass.", |view| {
        Some(Rate(view.first_epoch()?.bps))
    }),
    metric("epoch_last_bps", BytesPerSecond, More, "Throughput of the last whole pass.", |view| {
        Some(Rate(view.last_epoch()?.bps))
    }),
    metric("epoch_first_operation_s", Seconds, Less, "First operation of the first whole pass.", |view| {
        Some(Rate(view.first_epoch()?.first_s))
    }),
    metric("cache_share_last", Share, Neither, "Bytes of the last whole pass that a cache served.", |view| {
        Some(Rate(view.last_epoch()?.cache_share?))
    }),
    metric(
        "tier_hits_last",
        Share,
        More,
        "Bytes of the last whole pass that the cache tier served.",
        |view| Some(Rate(view.last_epoch()?.tier_hits?)),
    ),
    metric("checkpoint_bps", BytesPerSecond, More, "Rate of writing and publishing a checkpoint.", |view| {
        Some(Rate(view.written?.bps?))
    }),
    metric("checkpoint_s", Seconds, Less, "A checkpoint from its first byte until it is durable.", |view| {
        Some(Rate(view.written?.checkpoint_s?))
    }),
    metric(
        "checkpoint_publish_share",
        Share,
        Less,
        "Part of that after the last byte was written.",
        |view| Some(Value(view.written?.publish_share?)),
    ),
    metric("checkpoint_stall_share", Share, Less, "Time in which accelerators stood still for it.", |view| {
        Some(Value(view.written.and(view.checkpoint_stall)?))
    }),
    metric("checkpoints_whole", Count, More, "Checkpoints that are whole.", |view| {
        Some(count(view.written?.outcomes.complete))
    }),
    metric("checkpoints_overrun", Count, Less, "Left out while the one before was being written.", |view| {
        Some(count(view.written?.outcomes.overrun))
    }),
    metric("checkpoints_unfinished", Count, Less, "Being written as the window closed.", |view| {
        Some(count(view.written?.outcomes.unfinished))
    }),
    metric("checkpoints_failed", Count, Less, "Checkpoints that were not written.", |view| {
        Some(count(view.written?.outcomes.failed))
    }),
];

fn count(count: u64) -> Reading {
    Reading::Value(count as f64)
}

fn quantile(ns: Option<u64>) -> Reading {
    ns.map_or(Reading::Absent(TOO_FEW), count)
}

fn response(percentile: Percentile) -> Reading {
    match percentile {
        Percentile::At(ns) => count(ns),
        Percentile::Unknown => Reading::Absent(TOO_FEW),
        Percentile::NotServed => Reading::Absent(NOT_SERVED),
    }
}
