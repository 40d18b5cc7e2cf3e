//! Bytes asked, bytes this process read from storage, bytes the device read: do they fit, and if not, why.

use record::{Cell, Rep, counter};

use super::traffic::{Traffic, seconds, total};
use crate::cell::counters::counted;
use crate::cell::{mix, operation};

// File systems read metadata for what was asked, and both ends of a window cut requests that are under way.
/// Share by which two counts may differ before anything is said.
const TOLERANCE: f64 = 0.02;

/// Requests of the device that may be in one count and not in the other: the kernel counts a request as it ends, so
/// those in flight at either end of the window.
const DEVICE_EDGES: f64 = 2.0;

// Without it, a deep queue in a short window would explain any difference.
/// What is in flight explains no more than this share of the bytes.
const TOLERANCE_MAX: f64 = 0.05;

/// Granularity of the page cache, and of direct reads on most file systems.
const PAGE_BYTES: u64 = 4_096;

/// How the bytes asked, those of this process and those of the device fit together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reconciliation {
    /// All three are known and agree.
    Agrees {
        /// Share by which they may differ: 0.02, or what was in flight as the windows opened and closed, at most 0.05.
        within: f64,
    },
    /// Less was read from storage than was asked.
    CacheServed {
        /// Share of the bytes asked that storage was not asked for.
        share: f64,
        /// Whether the reads were direct, so that the page cache had no part in it.
        direct: bool,
    },
    /// The kernel counts no read of this process, while the device read what was asked.
    NotCounted,
    /// The kernel counts no read of this process, and no device is known that could have read.
    NothingCounted,
    /// More was read than asked, and no more than reading whole pages explains.
    Rounded {
        /// Bytes read by byte asked.
        factor: f64,
    },
    /// More was read than asked, and more than whole pages explain.
    ReadMore {
        /// Bytes read by byte asked.
        factor: f64,
    },
    /// The device read more than this process made it read.
    OthersRead {
        /// Bytes beyond those of this process, over all repetitions.
        bytes: u64,
        /// Their share of all that the device read.
        share: f64,
    },
    /// The device read less than this process made storage deliver.
    DeviceShort {
        /// Share of the process's bytes that the device's counter does not hold.
        share: f64,
    },
    /// The kernel does not say what this process read.
    ProcessUnknown,
    /// No block device is known below the target, or its counters could not be read.
    DeviceUnknown,
}

impl Reconciliation {
    /// Whether there is nothing to explain.
    pub fn agrees(&self) -> bool {
        matches!(self, Self::Agrees { .. })
    }

    /// How far the counts are apart, to find the worst of a kind.
    pub fn extent(&self) -> f64 {
        match self {
            Self::CacheServed { share, .. }
            | Self::OthersRead { share, .. }
            | Self::DeviceShort { share } => *share,
            Self::Rounded { factor } | Self::ReadMore { factor } => *factor,
            Self::Agrees { .. }
            | Self::NotCounted
            | Self::NothingCounted
            | Self::ProcessUnknown
            | Self::DeviceUnknown => 0.0,
        }
    }

    /// The share of [`Reconciliation::CacheServed`].
    pub fn cache_share(&self) -> Option<f64> {
        if let Self::CacheServed { share, .. } = self { Some(*share) } else { None }
    }
}

/// Sums over the repetitions of a cell in which some counter is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Crossing {
    /// Bytes read, or written where nothing is read.
    pub(super) asked: Traffic,
    /// Bytes written over blocks.
    pub(super) written: Traffic,
    /// Absent unless known in all of them.
    pub(super) process: Option<Traffic>,
    /// Absent unless known in all of them.
    pub(super) device: Option<Traffic>,
    span_ns: u64,
    /// Most that whole pages add to the bytes asked.
    rounding_bytes: u64,
    /// What may be in flight as the windows open and close.
    edge_bytes: f64,
}

impl Crossing {
    /// Over those of `reps` that are `known`.
    pub(super) fn of(reps: &[&Rep], cell: &Cell, known: impl Fn(&Rep) -> bool) -> Self {
        let reps: Vec<&Rep> = reps.iter().copied().filter(|rep| known(rep)).collect();
        let moved = total(reps.iter().map(|rep| counted(rep, counter::BYTES)));
        let written = total(reps.iter().map(|rep| mix::written_bytes(cell, rep).unwrap_or(0)));
        let span_ns = total(reps.iter().map(|rep| rep.window_ns));
        let traffic = |bytes| Traffic::of(bytes, span_ns).unwrap_or(Traffic { bytes, bps: 0.0 });
        Self {
            asked: traffic(if operation::is_write(cell) { moved } else { moved - written }),
            written: traffic(written),
            process: sum(&reps, |rep| Some((rep.system.process_read_bytes?, rep.usage.wall_ns))),
            device: sum(&reps, |rep| rep.system.device.as_ref().map(|one| (one.read_bytes, one.wall_ns))),
            span_ns,
            rounding_bytes: total(reps.iter().map(|rep| rounding_bytes(rep, cell))),
            edge_bytes: reps.iter().map(|rep| in_flight_bytes(rep, cell)).sum(),
        }
    }

    /// By byte asked; by rates, because each was counted over a span of its own.
    pub(super) fn ratio(&self, read: Option<Traffic>) -> Option<f64> {
        // Each counter is read over a span of its own, some longer than the window by a read of `/proc`: rates compare, sums
        // would not.
        (self.asked.bps > 0.0).then_some(read?.bps / self.asked.bps)
    }

    /// Share by which two rates may lie apart.
    fn tolerance(&self) -> f64 {
        (self.edge_bytes / self.asked.bytes as f64).clamp(TOLERANCE, TOLERANCE_MAX)
    }

    /// How far two rates may lie apart, where `bps` is the larger.
    fn tolerance_bps(&self, bps: f64) -> f64 {
        self.tolerance() * bps
    }

    /// The most that whole pages make of the bytes asked.
    fn rounded_bps(&self) -> f64 {
        self.asked.bps * (1.0 + self.rounding_bytes as f64 / self.asked.bytes as f64)
    }
}

/// The sum of what `of` gives for each repetition, with its span; `None` unless all give it.
fn sum(reps: &[&Rep], of: impl Fn(&Rep) -> Option<(u64, u64)>) -> Option<Traffic> {
    let read: Vec<(u64, u64)> = reps.iter().map(|rep| of(rep)).collect::<Option<_>>()?;
    Traffic::of(total(read.iter().map(|one| one.0)), total(read.iter().map(|one| one.1)))
}

/// The most that whole pages add to what a repetition asked, in the mean: a page for each read, and no more than what
/// is missing to whole blocks where those begin and end at pages.
fn rounding_bytes(rep: &Rep, cell: &Cell) -> u64 {
    let (ops, bytes) = (counted(rep, counter::OPS), counted(rep, counter::BYTES));
    let pages = ops.saturating_mul(PAGE_BYTES - 1);
    if cell.operation == feed::Operation::Read && cell.block_bytes.is_multiple_of(PAGE_BYTES) {
        return pages.min(ops.saturating_mul(cell.block_bytes).saturating_sub(bytes));
    }
    pages
}

/// Bytes in flight: those of a queue that is always full, or those of the device's own queue at either end of the
/// window, whichever are more.
fn in_flight_bytes(rep: &Rep, cell: &Cell) -> f64 {
    let mean_bytes = counted(rep, counter::BYTES) / counted(rep, counter::OPS).max(1);
    // The reads that a closed loop has outstanding were asked before the window and counted by the device in it, or the
    // reverse.
    let depth = if cell.pace.is_none() { cell.queue_depth } else { 0 };
    let of_queue = f64::from(depth) * mean_bytes.max(cell.block_bytes) as f64;
    let of_device = rep.system.device.as_ref().map_or(0.0, |device| {
        let queue = device.weighted_ns as f64 / device.wall_ns.max(1) as f64;
        DEVICE_EDGES * queue * device.read_bytes as f64 / device.reads.max(1) as f64
    });
    of_queue.max(of_device)
}

/// What does not fit, or that all does, in repetitions that asked for some bytes.
pub(super) fn findings(by_process: &Crossing, by_device: &Crossing, cell: &Cell) -> Vec<Reconciliation> {
    let asked = asked_and_process(by_process, cell.cache == feed::Cache::Bypass);
    let crossed = match asked {
        // What the device read can only be compared with what was asked, which just did fit.
        // A count of zero cannot be short of the device's.
        Some(Reconciliation::NotCounted | Reconciliation::NothingCounted) => None,
        _ => process_and_device(by_device),
    };
    let found: Vec<Reconciliation> = asked.into_iter().chain(crossed).collect();
    let within = by_process.tolerance().max(by_device.tolerance());
    if found.is_empty() { vec![Reconciliation::Agrees { within }] } else { found }
}

fn asked_and_process(crossing: &Crossing, direct: bool) -> Option<Reconciliation> {
    let Some(process) = crossing.process else { return Some(Reconciliation::ProcessUnknown) };
    let factor = crossing.ratio(Some(process))?;
    let tolerance_bps = crossing.tolerance_bps(crossing.asked.bps);
    let least_bps = crossing.asked.bps - tolerance_bps;
    // FUSE and some overlays read on behalf of others: zero is then no cache that served all.
    if process.bytes == 0 && crossing.device.is_none() {
        return Some(Reconciliation::NothingCounted);
    }
    // The page cache would have left the device idle.
    if process.bytes == 0 && crossing.device.is_some_and(|device| device.bps >= least_bps) {
        return Some(Reconciliation::NotCounted);
    }
    if process.bps < least_bps {
        return Some(Reconciliation::CacheServed { share: 1.0 - factor, direct });
    }
    if process.bps <= crossing.asked.bps + tolerance_bps {
        return None;
    }
    let rounded_bps = crossing.rounded_bps();
    let whole_pages = process.bps <= rounded_bps + crossing.tolerance_bps(rounded_bps);
    Some(if whole_pages { Reconciliation::Rounded { factor } } else { Reconciliation::ReadMore { factor } })
}

fn process_and_device(crossing: &Crossing) -> Option<Reconciliation> {
    let Some(device) = crossing.device else { return Some(Reconciliation::DeviceUnknown) };
    let process = crossing.process?;
    let tolerance_bps = crossing.tolerance_bps(process.bps.max(crossing.asked.bps));
    if device.bps > process.bps + tolerance_bps {
        let others_bps = device.bps - process.bps;
        let bytes = (others_bps * seconds(crossing.span_ns)).round() as u64;
        return Some(Reconciliation::OthersRead { bytes, share: others_bps / device.bps });
    }
    let short = device.bps < process.bps - tolerance_bps;
    short.then(|| Reconciliation::DeviceShort { share: 1.0 - device.bps / process.bps })
}
