//! What the machine did while a cell was measured, in the figures that `iostat -x` prints.
//!
//! Every figure is a sum over the repetitions by the sum of their spans, never a mean of their means. Each span is
//! that of its own reading: the kernel's counters are read a moment after the window opens and closes.

mod device;
mod gpu;
mod reconciliation;
#[cfg(test)]
mod tests;
mod traffic;

use feed::Operation;
use record::{Cell, Memory, Rep, Usage, counter};

pub use device::DeviceFigures;
pub use gpu::GpuFigures;
pub use reconciliation::Reconciliation;
pub use traffic::Traffic;

use crate::cell::counters::counted;
use crate::cell::operation;
use crate::cell::repetitions::WINDOW_NS_MIN;
use reconciliation::{Crossing, findings};
use traffic::{by_time, total};

// A window of a second whose counters were read 50 ms late counts what was not in it.
/// Share of its window by which the span of a repetition's readings may differ from it.
const SPAN_APART_MAX: f64 = 0.05;

/// What the kernel counted over the repetitions of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct SystemFigures {
    /// Bytes that the reads of the cell brought, over all repetitions with a window of 100 ms or more.
    pub asked: Traffic,
    /// Bytes that it wrote over blocks in those repetitions alone in which the device was counted.
    pub written_beside_device: Traffic,
    /// Bytes that this process made storage deliver; absent where the kernel does not say.
    pub process: Option<Traffic>,
    /// Bytes that storage delivered to this process by byte asked. Above 1: read-ahead, whole pages, metadata.
    pub process_amplification: Option<f64>,
    /// Bytes that the device read, for whomever, by byte asked.
    pub device_amplification: Option<f64>,
    /// Share of the bytes asked that storage was not asked for; absent unless that is more than the
    /// tolerance of [`Reconciliation::Agrees`], and where nothing counts what this process reads.
    pub cache_share: Option<f64>,
    /// The block device below the target; absent where it is not known.
    pub device: Option<DeviceFigures>,
    /// How the three counts of bytes fit together: what this process read first, then what the device did. Empty
    /// where no bytes were asked (`stat`, `list`, `checkpoint`) and with a cache tier, else never; [`Reconciliation::Agrees`] is always alone.
    pub reconciliation: Vec<Reconciliation>,
    /// Time in which tasks of the machine waited.
    pub pressure: Pressure,
    /// The machine's processors; absent where the kernel does not say.
    pub cores: Option<CoreFigures>,
    /// The machine's memory; absent where the kernel does not say.
    pub memory: Option<MemoryFigures>,
    /// The machine's GPUs, whoever used them; empty where there are none.
    pub gpus: Vec<GpuFigures>,
    /// Page faults served from memory, by operation; absent without one.
    pub minor_faults_per_op: Option<f64>,
    /// Page faults that read, by operation; absent without one.
    pub major_faults_per_op: Option<f64>,
}

/// Shares of time in which some task of the machine waited (PSI); absent where the kernel does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pressure {
    /// For a processor.
    pub cpu: Option<f64>,
    /// For I/O. Reads in flight on `io_uring` are not waited for by a task until it sleeps for them.
    pub io: Option<f64>,
    /// For memory.
    pub memory: Option<f64>,
}

/// Processors of the machine, whoever kept them busy; 1 is one processor busy all the time.
#[derive(Debug, Clone, PartialEq)]
pub struct CoreFigures {
    /// Busy share of each, in the kernel's order.
    pub busy: Vec<f64>,
    /// Mean of them.
    pub mean: f64,
    /// The busiest.
    pub max: f64,
}

/// The machine's memory over the repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryFigures {
    /// The least that could be had without swapping, at any reading.
    pub available_min_bytes: u64,
    /// The most that the page cache grew in a repetition; negative where it shrank in each.
    pub cached_growth_max_bytes: i64,
    /// The most that was written and not yet on storage, at any reading: writes that may disturb the reads.
    pub dirty_max_bytes: u64,
}

impl SystemFigures {
    /// The figures of `reps`, repetitions of `cell` that make a throughput point, on a target that is storage.
    ///
    /// Of those of them whose readings were taken over their windows; windows below 100 ms tell neither what a device
    /// did nor what crossed it. `None` where the record holds nothing of the machine, as those of format 1.0 do.
    pub fn of_reps(reps: &[&Rep], cell: &Cell) -> Option<Self> {
        let reps: Vec<&Rep> = reps.iter().copied().filter(|rep| is_over_its_window(rep)).collect();
        let reps = reps.as_slice();
        if !reps.iter().any(|rep| holds_system(rep)) {
            return None;
        }
        let long: Vec<&Rep> = reps.iter().copied().filter(|rep| rep.window_ns >= WINDOW_NS_MIN).collect();
        let by_process = Crossing::of(&long, cell, |rep| rep.system.process_read_bytes.is_some());
        let by_device = Crossing::of(&long, cell, |rep| rep.system.device.is_some());
        // Three sets of repetitions, as each counter may be missing in some: a ratio is of those alone that have both of its
        // sides.
        let asked = Crossing::of(&long, cell, |_| true).asked;
        // What a tier serves is read from a disk of its own, which the kernel counts for this process too; and what a
        // checkpoint or a write moves is no read at all.
        let is_counted =
            cell.tier.is_none() && cell.operation != Operation::Checkpoint && !operation::is_write(cell);
        let reconciliation =
            if asked.bytes > 0 && is_counted { findings(&by_process, &by_device, cell) } else { Vec::new() };
        let ratio = |crossing: &Crossing, read| crossing.ratio(read).filter(|_| is_counted);
        Some(Self {
            asked,
            written_beside_device: by_device.written,
            process: by_process.process,
            process_amplification: ratio(&by_process, by_process.process),
            device_amplification: ratio(&by_device, by_device.device),
            cache_share: reconciliation.iter().find_map(Reconciliation::cache_share),
            device: DeviceFigures::of(&long),
            reconciliation,
            pressure: Pressure::of(reps),
            cores: CoreFigures::of(reps),
            memory: MemoryFigures::of(reps),
            gpus: GpuFigures::of(reps),
            minor_faults_per_op: per_op(reps, |usage| usage.minor_faults),
            major_faults_per_op: per_op(reps, |usage| usage.major_faults),
        })
    }
}

/// Counters that were read long before or after their window tell of something else.
pub(crate) fn is_over_its_window(rep: &Rep) -> bool {
    let Some(device) = &rep.system.device else { return true };
    let apart = device.wall_ns.abs_diff(rep.window_ns) as f64;
    apart <= SPAN_APART_MAX * rep.window_ns as f64
}

fn holds_system(rep: &Rep) -> bool {
    let system = &rep.system;
    system.process_read_bytes.is_some()
        || system.device.is_some()
        || !system.core_busy_ns.is_empty()
        || system.memory_before.is_some()
}

impl Pressure {
    fn of(reps: &[&Rep]) -> Self {
        Self {
            cpu: waited(reps, |usage| usage.psi_cpu_some_ns),
            io: waited(reps, |usage| usage.psi_io_some_ns),
            memory: waited(reps, |usage| usage.psi_memory_some_ns),
        }
    }
}

/// A share of the time of those repetitions in which it is known.
fn waited(reps: &[&Rep], of: impl Fn(&Usage) -> Option<u64>) -> Option<f64> {
    by_time(reps.iter().filter_map(|rep| Some((of(&rep.usage)? as f64, rep.usage.wall_ns))))
}

impl CoreFigures {
    /// Over those repetitions that saw as many processors as the first that saw any.
    fn of(reps: &[&Rep]) -> Option<Self> {
        let seen: Vec<&&Rep> = reps.iter().filter(|rep| rep.usage.wall_ns > 0).collect();
        let count = seen.iter().map(|rep| rep.system.core_busy_ns.len()).find(|count| *count > 0)?;
        // A processor that was switched off meanwhile shifts all behind it in the kernel's list.
        let same: Vec<&&Rep> =
            seen.into_iter().filter(|rep| rep.system.core_busy_ns.len() == count).collect();
        let wall_ns = total(same.iter().map(|rep| rep.usage.wall_ns));
        let busy_ns = |core: usize| total(same.iter().map(|rep| rep.system.core_busy_ns[core]));
        let busy: Vec<f64> = (0..count).map(|core| busy_ns(core) as f64 / wall_ns as f64).collect();
        let mean = busy.iter().sum::<f64>() / count as f64;
        let max = busy.iter().copied().fold(0.0, f64::max);
        Some(Self { busy, mean, max })
    }
}

impl MemoryFigures {
    fn of(reps: &[&Rep]) -> Option<Self> {
        let around: Vec<(Memory, Memory)> = reps
            .iter()
            .filter_map(|rep| Some((rep.system.memory_before?, rep.system.memory_after?)))
            .collect();
        let readings = || around.iter().flat_map(|(before, after)| [before, after]);
        let growth = |(before, after): &(Memory, Memory)| {
            after.cached_bytes.cast_signed().saturating_sub(before.cached_bytes.cast_signed())
        };
        Some(Self {
            available_min_bytes: readings().map(|memory| memory.available_bytes).min()?,
            cached_growth_max_bytes: around.iter().map(growth).max()?,
            dirty_max_bytes: readings().map(|memory| memory.dirty_bytes).max()?,
        })
    }
}

fn per_op(reps: &[&Rep], of: impl Fn(&Usage) -> u64) -> Option<f64> {
    let ops = total(reps.iter().map(|rep| counted(rep, counter::OPS)));
    (ops > 0).then(|| total(reps.iter().map(|rep| of(&rep.usage))) as f64 / ops as f64)
}
