//! Storage behind a network: connections, messages, bytes on the wire, attempts, and the interface they cross.

mod counts;
mod flags;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::BTreeMap;

use record::{Cell, Rep, counter};

use crate::cell::counters::{cpu_ns, sum};
use crate::cell::latency::Latency;

use counts::{addresses, attempt_errors, busiest_core, is_remote};
pub(crate) use flags::{core_share, flags, nic_share};
pub(crate) use wire::LOOPBACK;
pub use wire::{Wire, WireCause, WireFinding};

/// What the repetitions of one cell say of the way to its storage.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkFigures {
    /// Connections of the whole client.
    pub connections: u32,
    /// Connections made in a repetition beyond these: what was lost or closed was made again.
    pub redials: u64,
    /// Messages that an operation took, mean; absent where they were not counted.
    pub messages_per_op: Option<f64>,
    /// Messages to each address, where there are several.
    pub addresses: Vec<(String, u64)>,
    /// Bytes delivered beside those on the wire; absent where they were not counted.
    pub wire: Option<Wire>,
    /// Share of the interface's rate in its busier direction, 0 to 1; absent where it has none.
    pub nic_share: Option<f64>,
    /// Share of the windows in which the busiest processor of the machine worked, whoever for, 0 to 1; absent where it
    /// was not read.
    pub busiest_core: Option<f64>,
    /// TCP segments that this machine sent again, by those repetitions that say.
    pub retransmitted: Option<u64>,
    /// Single attempts; absent where each operation has one alone.
    pub attempts: Option<Attempts>,
    /// Operations by call into the kernel; absent where those were not counted.
    pub ops_per_wait: Option<f64>,
    /// Processor time of this process by operation, nanoseconds.
    pub cpu_ns_per_op: Option<f64>,
    /// The kernel's NFS client, where the target is on such a mount.
    pub mount: Option<MountFigures>,
}

/// Single attempts at operations, where these may be repeated.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempts {
    /// How many, the first ones included.
    pub count: u64,
    /// Operations that ended well after more than one.
    pub recovered: u64,
    /// Those that failed, by kind.
    pub errors: BTreeMap<String, u64>,
    /// How long one took, well or not.
    pub latency: Latency,
    /// Whether those that were recovered are so many that they are a flag.
    pub is_flagged: bool,
}

/// What the kernel's NFS client did for reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MountFigures {
    /// Connections (`nconnect`).
    pub connections: u32,
    /// READ calls per operation of the cell.
    pub reads_per_op: f64,
    /// Mean time of a READ, from being queued to its end, nanoseconds; absent without one.
    pub read_ns: Option<f64>,
    /// READs that were sent again.
    pub retransmitted: u64,
    /// READs that timed out.
    pub timeouts: u64,
}

impl NetworkFigures {
    /// The figures of `used`, repetitions of `cell` that make a point; `None` for storage that is not behind a network
    /// as far as the record knows.
    pub(crate) fn of(cell: &Cell, used: &[&Rep]) -> Option<Self> {
        let mount = MountFigures::of(used);
        if !is_remote(cell, used) || used.is_empty() {
            return None;
        }
        let ended = ended(used);
        let per_op = |count: u64| (count > 0 && ended > 0).then(|| count as f64 / ended as f64);
        let enters = sum(used, counter::ENTERS);
        let ops = sum(used, counter::OPS);
        let all = sum(used, counter::OPS) + sum(used, counter::WARMUP_OPS);
        // Connections are opened anew for each repetition: that many are no redials.
        let planned = u64::from(cell.connections) * used.len() as u64;
        Some(Self {
            connections: cell.connections,
            redials: sum(used, counter::CONNECTIONS_OPENED).saturating_sub(planned),
            messages_per_op: per_op(sum(used, counter::MESSAGES)),
            addresses: addresses(used),
            wire: Wire::of(cell, used),
            // Of the interface and not of the cell: a neighbour's traffic takes the same wire.
            nic_share: nic_share(used),
            busiest_core: busiest_core(used),
            retransmitted: retransmitted(used),
            attempts: Attempts::of(used),
            ops_per_wait: (enters > 0).then(|| all as f64 / enters as f64),
            cpu_ns_per_op: (ops > 0).then(|| cpu_ns(used) / ops as f64),
            mount,
        })
    }
}

/// Attempts that ended in the whole of the repetitions, warm-up included: what messages are counted by.
fn ended(used: &[&Rep]) -> u64 {
    let failed: u64 = used.iter().map(|rep| rep.errors.values().sum::<u64>()).sum();
    let attempts: u64 = attempt_errors(used).values().sum();
    // Messages are counted from the opening of the queues on, so that operations of the warm-up, and those that failed, belong
    // under them. A failed operation without further attempts is in both counts.
    sum(used, counter::OPS) + sum(used, counter::WARMUP_OPS) + failed.max(attempts)
}

fn retransmitted(used: &[&Rep]) -> Option<u64> {
    let counts = used.iter().filter_map(|rep| rep.system.network.as_ref()?.tcp_retransmitted);
    counts.reduce(u64::saturating_add)
}

impl Attempts {
    fn of(used: &[&Rep]) -> Option<Self> {
        let count = sum(used, counter::ATTEMPTS);
        (count > 0).then(|| Self {
            count,
            recovered: sum(used, counter::RECOVERED),
            errors: attempt_errors(used),
            latency: Latency::named(used, "attempt_ns"),
            is_flagged: flags::recovered(used).is_some(),
        })
    }
}

impl MountFigures {
    fn of(used: &[&Rep]) -> Option<Self> {
        let mounts: Vec<&record::NfsMount> =
            used.iter().filter_map(|rep| rep.system.nfs_mount.as_ref()).collect();
        let connections = mounts.last()?.connections;
        let total = |of: fn(&record::NfsMount) -> u64| {
            mounts.iter().map(|mount| of(mount)).fold(0, u64::saturating_add)
        };
        let reads = total(|mount| mount.reads);
        Some(Self {
            connections,
            reads_per_op: reads as f64 / sum(used, counter::OPS).max(1) as f64,
            read_ns: (reads > 0).then(|| total(|mount| mount.read_ns) as f64 / reads as f64),
            // `/proc/self/mountstats` counts transmissions of an operation, first ones included.
            retransmitted: total(|mount| mount.read_transmissions).saturating_sub(reads),
            timeouts: total(|mount| mount.read_timeouts),
        })
    }
}
