//! Storage behind a network: connections, messages, bytes on the wire, attempts, and the interface they cross.

mod counts;
mod flags;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::BTreeMap;

use record::{Cell, Rep, counter};

use feed::counted_noun;

use crate::cell::counters::{cpu_ns, sum};
use crate::cell::latency::Latency;
use crate::cell::operation;

use counts::{addresses, attempt_errors, busiest_core, by_kind, is_remote};
pub(crate) use flags::{core_share, flags, nic_share};
pub(crate) use wire::LOOPBACK;
pub use wire::{Wire, WireFinding};

/// Messages of one operation from which on it is said that there are several.
const SEVERAL_MIN: f64 = 1.2;

/// Share of the bytes on the wire from which on those of failed operations are said.
const WASTED_MIN: f64 = 0.001;

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
        let planned = u64::from(cell.connections) * used.len() as u64;
        Some(Self {
            connections: cell.connections,
            redials: sum(used, counter::CONNECTIONS_OPENED).saturating_sub(planned),
            messages_per_op: per_op(sum(used, counter::MESSAGES)),
            addresses: addresses(used),
            wire: Wire::of(cell, used),
            nic_share: nic_share(used),
            busiest_core: busiest_core(used),
            retransmitted: retransmitted(used),
            attempts: Attempts::of(used),
            ops_per_wait: (enters > 0).then(|| all as f64 / enters as f64),
            cpu_ns_per_op: (ops > 0).then(|| cpu_ns(used) / ops as f64),
            mount,
        })
    }

    /// What a row says of it, in a few words: how many connections, what an operation took, what was made good.
    pub fn words(&self, cell: &Cell) -> Vec<String> {
        let mut words = Vec::new();
        if self.connections > 0 {
            words.push(counted_noun(u64::from(self.connections), "connection"));
        }
        words.extend(self.mount.map(|mount| format!("nconnect={}", mount.connections)));
        words.extend(self.messages_words(cell));
        let is_flagged = self.attempts.as_ref().is_some_and(|attempts| attempts.is_flagged);
        if let Some(attempts) =
            self.attempts.as_ref().filter(|attempts| attempts.recovered > 0 && !is_flagged)
        {
            let recovered = feed::group_digits(attempts.recovered);
            words.push(format!("{recovered} recovered by another attempt"));
        }
        if let Some(wire) = self.wire.filter(|wire| wire.wasted_share() >= WASTED_MIN) {
            words.push(format!("{} wasted on failures", feed::format_bytes(wire.wasted_bytes)));
        }
        // Throttled attempts are a flag of their own, and the flag of recovered ones names all kinds.
        words.extend(self.failed_words(|kind| kind != "throttled" && !is_flagged));
        words.extend(self.redialled_words());
        let timeouts = self.mount.map_or(0, |mount| mount.timeouts);
        words.extend((timeouts > 0).then(|| format!("{} timed out", counted_noun(timeouts, "READ"))));
        words
    }

    /// `attempts failed: 12 timed out, 3 reset`, of those kinds that are asked for.
    pub fn failed_words(&self, of: impl Fn(&str) -> bool) -> Option<String> {
        let kinds = self.attempts.as_ref().map(|attempts| by_kind(&attempts.errors, of));
        kinds.filter(|kinds| !kinds.is_empty()).map(|kinds| format!("attempts failed: {kinds}"))
    }

    /// `12 TCP segments sent again`: of the whole machine.
    pub fn retransmitted_words(&self) -> Option<String> {
        let segments = self.retransmitted.filter(|segments| *segments > 0)?;
        Some(format!("{} sent again", counted_noun(segments, "TCP segment")))
    }

    /// `3 connections made again`.
    pub fn redialled_words(&self) -> Option<String> {
        (self.redials > 0).then(|| format!("{} made again", counted_noun(self.redials, "connection")))
    }

    /// `each block takes 2.0 messages of at most 64 KiB`, where one alone does not do.
    fn messages_words(&self, cell: &Cell) -> Option<String> {
        let count = self.messages_per_op.filter(|count| *count >= SEVERAL_MIN)?;
        if operation::is_metadata(cell) || operation::is_whole_file(cell) {
            return Some(format!("{count:.1} messages each"));
        }
        let each = feed::format_bytes((cell.block_bytes as f64 / count.round()).round() as u64);
        Some(format!("each block takes {count:.1} messages, of {each} of data"))
    }
}

/// Attempts that ended in the whole of the repetitions, warm-up included: what messages are counted by.
fn ended(used: &[&Rep]) -> u64 {
    let failed: u64 = used.iter().map(|rep| rep.errors.values().sum::<u64>()).sum();
    let attempts: u64 = attempt_errors(used).values().sum();
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
            retransmitted: total(|mount| mount.read_transmissions).saturating_sub(reads),
            timeouts: total(|mount| mount.read_timeouts),
        })
    }
}
