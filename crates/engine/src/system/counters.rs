//! What the kernel counts of a device.

use record::Device;

/// A device's counters since it appeared, in the units of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DeviceCounters {
    pub(super) reads: u64,
    pub(super) reads_merged: u64,
    pub(super) read_bytes: u64,
    pub(super) read_ns: u64,
    pub(super) writes: u64,
    pub(super) write_bytes: u64,
    pub(super) write_ns: u64,
    pub(super) busy_ns: u64,
    pub(super) weighted_ns: u64,
    pub(super) flushes: Option<Flushes>,
}

/// What a device counts of the flushes of its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flushes {
    pub(super) count: u64,
    pub(super) time_ns: u64,
}

impl DeviceCounters {
    /// `None` where any counter went backwards: it wrapped (the kernel's milliseconds have 32 bits), or another
    /// device has this name now.
    pub(super) fn since(&self, before: &Self, name: &str, wall_ns: u64) -> Option<Device> {
        let flushes = self.flushes.zip(before.flushes);
        let flushes = |of: fn(&Flushes) -> u64| match flushes {
            Some((after, before)) => of(&after).checked_sub(of(&before)).map(Some),
            None => Some(None),
        };
        Some(Device {
            name: name.to_owned(),
            reads: self.reads.checked_sub(before.reads)?,
            reads_merged: self.reads_merged.checked_sub(before.reads_merged)?,
            read_bytes: self.read_bytes.checked_sub(before.read_bytes)?,
            read_ns: self.read_ns.checked_sub(before.read_ns)?,
            writes: self.writes.checked_sub(before.writes)?,
            write_bytes: self.write_bytes.checked_sub(before.write_bytes)?,
            write_ns: self.write_ns.checked_sub(before.write_ns)?,
            busy_ns: self.busy_ns.checked_sub(before.busy_ns)?,
            weighted_ns: self.weighted_ns.checked_sub(before.weighted_ns)?,
            flushes: flushes(|flushes| flushes.count)?,
            flush_ns: flushes(|flushes| flushes.time_ns)?,
            wall_ns,
        })
    }
}
