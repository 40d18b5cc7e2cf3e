//! The figures of `iostat -x` for one block device.

use record::{Device, Rep};

use super::traffic::{Traffic, seconds, total};

/// A block device over the repetitions of a cell, whoever used it.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceFigures {
    /// As the kernel calls it: `nvme0n1`.
    pub name: String,
    /// Requests read per second (`r/s`), after merging.
    pub reads_per_s: f64,
    /// Bytes read (`rMB/s`).
    pub read: Traffic,
    /// Mean bytes of a read request (`rareq-sz`); absent without one.
    pub request_bytes: Option<f64>,
    /// Mean time of a read request from its queueing in the kernel to its end (`r_await`); absent without one.
    pub read_await_ns: Option<f64>,
    /// Reads merged into another before they reached the device, per second (`rrqm/s`).
    pub merges_per_s: f64,
    /// Their share of all reads handed to the block layer (`%rrqm`); absent without one.
    pub merged_share: Option<f64>,
    /// Requests written per second (`w/s`): what may have disturbed the reads.
    pub writes_per_s: f64,
    /// Bytes written (`wMB/s`).
    pub write: Traffic,
    /// Mean time of a write request (`w_await`); absent without one.
    pub write_await_ns: Option<f64>,
    /// Flushes of its cache per second (`f/s`); absent where the device counts none.
    pub flushes_per_s: Option<f64>,
    /// Mean time of a flush (`f_await`); absent without one.
    pub flush_await_ns: Option<f64>,
    /// Mean number of requests outstanding, of all kinds (`aqu-sz`).
    pub queue: f64,
    /// Share of time with a request outstanding (`%util`), at most 1; read it with [`DeviceFigures::UTIL_CAVEAT`].
    pub util: f64,
}

impl DeviceFigures {
    /// What `util` does not say; `iostat(1)` says the same of its `%util`.
    pub const UTIL_CAVEAT: &str = "%util is the share of time with a request outstanding: SSDs, RAID and virtual \
                                   disks serve many at once, and at 100 % may still have room";

    /// Over those repetitions that name the same device as the first that names one.
    pub(super) fn of(reps: &[&Rep]) -> Option<Self> {
        let all: Vec<&Device> = reps.iter().filter_map(|rep| rep.system.device.as_ref()).collect();
        // A path that moved to another device, as a multipath does, has counters of two devices that do not add up to one's
        // queue.
        let name = all.first()?.name.clone();
        let seen = Counters(all.into_iter().filter(|device| device.name == name).collect());
        let wall_ns = seen.total(|device| device.wall_ns);
        let reads = seen.total(|device| device.reads);
        let writes = seen.total(|device| device.writes);
        let merged = seen.total(|device| device.reads_merged);
        let counts_flushes = seen.0.iter().all(|device| device.flushes.is_some());
        let flushes = counts_flushes.then(|| seen.total(|device| device.flushes.unwrap_or(0)));
        let read = Traffic::of(seen.total(|device| device.read_bytes), wall_ns)?;
        Some(Self {
            name,
            reads_per_s: reads as f64 / seconds(wall_ns),
            read,
            request_bytes: by(read.bytes, reads),
            read_await_ns: by(seen.total(|device| device.read_ns), reads),
            merges_per_s: merged as f64 / seconds(wall_ns),
            merged_share: by(merged, reads.saturating_add(merged)),
            writes_per_s: writes as f64 / seconds(wall_ns),
            write: Traffic::of(seen.total(|device| device.write_bytes), wall_ns)?,
            write_await_ns: by(seen.total(|device| device.write_ns), writes),
            flushes_per_s: flushes.map(|count| count as f64 / seconds(wall_ns)),
            flush_await_ns: flushes
                .and_then(|count| by(seen.total(|device| device.flush_ns.unwrap_or(0)), count)),
            queue: seen.total(|device| device.weighted_ns) as f64 / wall_ns as f64,
            // The kernel counts busy time in ticks, which may reach a little beyond the span.
            util: (seen.total(|device| device.busy_ns) as f64 / wall_ns as f64).min(1.0),
        })
    }
}

struct Counters<'a>(Vec<&'a Device>);

impl Counters<'_> {
    fn total(&self, of: impl Fn(&Device) -> u64) -> u64 {
        total(self.0.iter().map(|device| of(device)))
    }
}

fn by(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}
