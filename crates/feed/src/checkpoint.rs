//! What checkpoints ask of a storage: how much a host writes, within which time, and what that leaves of a job's time.

use crate::formula;
use crate::units::{format_bytes, format_duration_ns};

/// Bytes of a GiB.
const GIB: u64 = 1 << 30;

/// ZeRO from this stage on also shares weights out among all processes.
const ZERO_OF_WEIGHTS: u8 = 3;

/// A model whose checkpoint is written: parameters in 16 bits, and the state of its optimizer in 32.
///
/// Sizes and shapes are those of the checkpointing workloads of `MLPerf Storage` (`configs/dlio/workload/llama3_*.yaml`):
/// there the sizes are labelled GB, and count in units of 2^30.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointModel {
    /// `llama3-70b`.
    pub name: &'static str,
    /// Weights, GiB.
    pub weights_gib: u64,
    /// State of the optimizer, GiB.
    pub optimizer_gib: u64,
    /// Processes that share each layer.
    pub tensor: u32,
    /// Processes that share the layers.
    pub pipeline: u32,
    /// Replicas of the model.
    pub replicas: u32,
    /// Stage of ZeRO: from 1 on the optimizer's state is shared out among the replicas, from 3 on the weights too.
    pub zero: u8,
}

impl CheckpointModel {
    /// Those that are known, the smallest first.
    pub const ALL: [Self; 4] = [
        Self::new("llama3-8b", (15, 90), [1, 1, 8], 3),
        Self::new("llama3-70b", (130, 781), [8, 1, 8], 3),
        Self::new("llama3-405b", (755, 4_533), [8, 32, 2], 1),
        Self::new("llama3-1t", (2_571, 15_426), [8, 64, 2], 1),
    ];

    const fn new(
        name: &'static str,
        (weights_gib, optimizer_gib): (u64, u64),
        [tensor, pipeline, replicas]: [u32; 3],
        zero: u8,
    ) -> Self {
        Self { name, weights_gib, optimizer_gib, tensor, pipeline, replicas, zero }
    }

    /// Processes of the job, one for each accelerator.
    pub const fn processes(&self) -> u32 {
        self.tensor * self.pipeline * self.replicas
    }

    /// Processes that write weights: all where they are shared out among the replicas, else those of the first replica.
    pub const fn weight_writers(&self) -> u32 {
        if self.zero >= ZERO_OF_WEIGHTS { self.processes() } else { self.tensor * self.pipeline }
    }

    /// Bytes of a checkpoint, of all processes.
    pub const fn bytes(&self) -> u64 {
        (self.weights_gib + self.optimizer_gib) * GIB
    }

    /// What falls to a host with so many of its processes, at most all of them.
    ///
    /// It is the host that writes most: one of the first replica, where that alone writes weights. As much is read back on every
    /// host, since each replica loads its weights.
    pub fn host_share(&self, processes: u32) -> HostShare {
        let processes = processes.clamp(1, self.processes());
        let part =
            |gib: u64, of: u32| (u128::from(gib * GIB) * u128::from(processes.min(of))).div_ceil(of.into());
        let bytes =
            part(self.weights_gib, self.weight_writers()) + part(self.optimizer_gib, self.processes());
        // Weights and the optimizer's state of each process.
        HostShare { processes, bytes: bytes as u64, files: 2 * processes }
    }
}

/// What one host writes of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostShare {
    /// Processes of the host.
    pub processes: u32,
    /// Bytes of all of its files.
    pub bytes: u64,
    /// Its files.
    pub files: u32,
}

/// Who waits while a checkpoint is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SaveKind {
    /// Accelerators stand still until it is whole.
    #[default]
    Sync,
    /// Accelerators stand still while their state is copied.
    Async,
}

crate::words!(SaveKind { Sync = "sync", Async = "async" });

/// What checkpoints of a job ask of its storage.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckpointNeed {
    /// What is written: `llama3-70b`, `912 GB`.
    pub label: String,
    /// Bytes of one checkpoint, of all hosts.
    pub bytes: u64,
    /// Bytes of the host that writes most. As many are read back.
    pub host_bytes: u64,
    /// Hosts that write it together.
    pub hosts: u32,
    /// Time from when a checkpoint is due until it is durable.
    pub within_ns: u64,
    /// Time from one due checkpoint to the next; `None` where nobody said.
    pub every_ns: Option<u64>,
    /// Time in which one is read back; `None` where nobody asks for it.
    pub restore_within_ns: Option<u64>,
    /// Who waits.
    pub kind: SaveKind,
    /// Whether other jobs use the storage at the same time: what they read and write goes on while one is written or read back.
    pub beside_others: bool,
}

impl CheckpointNeed {
    /// Bytes per second that one host must write (F47).
    pub fn write_bps(&self) -> f64 {
        self.host_bytes as f64 / seconds(self.within_ns)
    }

    /// Bytes per second that all hosts together must write (F47).
    pub fn job_write_bps(&self) -> f64 {
        self.bytes as f64 / seconds(self.within_ns)
    }

    /// Bytes per second that one host must read to restore (F47); `None` where no restore is asked for.
    pub fn restore_bps(&self) -> Option<f64> {
        Some(self.host_bytes as f64 / seconds(self.restore_within_ns?))
    }

    /// Seconds for which a checkpoint stops the accelerators that write it within its time: all of it, or the copy of the
    /// state by `links` side by side, `link_bps` each (F48).
    pub fn blocked_s(&self, links: u32, link_bps: f64) -> f64 {
        match self.kind {
            SaveKind::Sync => seconds(self.within_ns),
            SaveKind::Async => formula::checkpoint_copy_s(self.host_bytes as f64, links, link_bps),
        }
    }

    /// Share of a job's time that checkpoints take, each stopping it for `blocked_s` (F49); `None` where nobody said how often
    /// one is due.
    pub fn overhead(&self, blocked_s: f64) -> Option<f64> {
        Some(formula::checkpoint_overhead(blocked_s, seconds(self.every_ns?)).min(1.0))
    }

    /// Share of its time for which a job is busy that reads leave busy for `utilization` of what checkpoints leave.
    pub fn busy_share(&self, utilization: f64, blocked_s: f64) -> Option<f64> {
        Some(utilization * (1.0 - self.overhead(blocked_s)?))
    }

    /// `checkpoints of llama3-70b`.
    pub fn words(&self) -> String {
        format!("checkpoints of {}", self.label)
    }

    /// `15.3 GB within 30 s, read back within 5 min`: what one host is held against.
    pub fn host_words(&self) -> String {
        let restore =
            self.restore_within_ns.map(|ns| format!(", read back within {}", format_duration_ns(ns)));
        format!(
            "{} within {}{}",
            format_bytes(self.host_bytes),
            format_duration_ns(self.within_ns),
            restore.unwrap_or_default()
        )
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn model(name: &str) -> CheckpointModel {
        CheckpointModel::ALL.into_iter().find(|model| model.name == name).unwrap()
    }

    fn need(bytes: u64, hosts: u32, within_s: u64) -> CheckpointNeed {
        CheckpointNeed {
            label: format_bytes(bytes),
            bytes,
            host_bytes: bytes.div_ceil(hosts.into()),
            hosts,
            within_ns: within_s * SECOND_NS,
            every_ns: None,
            restore_within_ns: None,
            kind: SaveKind::Sync,
            beside_others: false,
        }
    }

    #[track_caller]
    fn assert_close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-3, "{value} is not {expected}");
    }

    #[test]
    fn models_are_those_of_mlperf() {
        let found = CheckpointModel::ALL
            .map(|model| (model.processes(), model.weight_writers(), model.bytes() / GIB));
        // 105 GB, 912 GB, 5.29 TB and 18 TB in the rules, from figures that were rounded before they were added.
        assert_eq!(found, [(8, 8, 105), (64, 64, 911), (512, 256, 5_288), (1_024, 512, 17_997)]);
    }

    #[test]
    fn a_host_of_the_first_replica_writes_weights_that_the_others_do_not() {
        let large = model("llama3-405b").host_share(8);
        let (weights, optimizer) = (755 * GIB * 8 / 256, 4_533 * GIB * 8 / 512);
        assert!((weights + optimizer..weights + optimizer + 2).contains(&large.bytes), "{large:?}");
        assert_eq!((large.files, large.processes), (16, 8));
        let shared = model("llama3-70b").host_share(8);
        assert!(shared.bytes * 8 >= 911 * GIB && shared.bytes * 8 < 911 * GIB + 16);
        assert_eq!(
            model("llama3-8b").host_share(64),
            HostShare { processes: 8, bytes: 105 * GIB, files: 16 }
        );
    }

    /// The collection's example of F46 and F47: 70e9 parameters of 2 B and of 16 B, at 10 GB/s.
    #[test]
    fn f47_the_rate_of_a_time_writes_in_that_time() {
        let weights = formula::checkpoint_bytes(70e9, 2.0) as u64;
        assert_close(need(weights, 1, 14).write_bps(), 10e9);
        let whole = formula::checkpoint_bytes(70e9, 16.0) as u64;
        assert_close(need(whole, 1, 112).write_bps(), 10e9);
        let job = need(912_000_000_000, 64, 30);
        assert_close(job.job_write_bps(), 30.4e9);
        assert_close(job.write_bps(), 475e6);
    }

    /// The collection's example of F48: 1.12 TB by 1,024 links of 28 GB/s.
    #[test]
    fn f48_an_asynchronous_save_stops_accelerators_for_the_copy() {
        let one = CheckpointNeed { kind: SaveKind::Async, ..need(1_120_000_000_000, 1, 120) };
        assert_close(one.blocked_s(1_024, 28e9), 39.06e-3);
        assert_close(one.blocked_s(8, 28e9), 5.0);
    }

    /// The collection's example of F49: 15 to 30 s each hour, 60 s each quarter of one.
    #[test]
    fn f49_what_checkpoints_leave_of_a_job() {
        let every = |seconds: u64| CheckpointNeed { every_ns: Some(seconds * SECOND_NS), ..need(1, 1, 60) };
        assert_close(every(3_600).overhead(15.0).unwrap(), 0.004_167);
        assert_close(every(900).overhead(60.0).unwrap(), 0.066_67);
        assert_close(every(900).busy_share(0.9, every(900).blocked_s(8, 1.0)).unwrap(), 0.84);
        assert_eq!(need(1, 1, 60).overhead(60.0), None);
    }

    #[test]
    fn a_restore_is_asked_for_or_not() {
        let one = CheckpointNeed { restore_within_ns: Some(300 * SECOND_NS), ..need(15_000_000_000, 1, 30) };
        assert_close(one.restore_bps().unwrap(), 50e6);
        assert_eq!(one.host_words(), "15 GB within 30 s, read back within 5 min");
        assert_eq!(need(15_000_000_000, 1, 30).restore_bps(), None);
    }

    proptest! {
        #[test]
        fn hosts_together_write_at_least_the_whole(hosts in 1..2_000_u32, index in 0..4_usize) {
            let model = CheckpointModel::ALL[index];
            let share = model.host_share(model.processes().div_ceil(hosts));
            prop_assert!(u128::from(share.bytes) * u128::from(hosts) >= u128::from(model.bytes()));
            prop_assert!(share.bytes <= model.bytes() && share.processes <= model.processes());
        }
    }
}
