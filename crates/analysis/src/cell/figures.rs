//! The figures of one cell from its repetitions.

use std::collections::BTreeMap;

use record::{Rep, counter};

use crate::cell::context::Context;
use crate::cell::counters::{cpu_ns, per_s, sum};
use crate::cell::flag::{Flag, Gravity};
use crate::cell::interval;
use crate::cell::latency::{Latency, Merged, Phase, phases};
use crate::cell::mix::MixFigures;
use crate::cell::network;
use crate::cell::paced::Paced;
use crate::cell::page_cache::PageCache;
use crate::cell::point::point_bps;
use crate::cell::rate::Rate;
use crate::cell::repetitions::Repetitions;
use crate::cell::training::{self, TrainingFigures};
use crate::cell::validity::names_dropped;
use crate::cell::validity::{self, ClientShares, available_ns};

/// What the repetitions of one cell, in one role, say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Repetitions that make a throughput point.
    pub repetitions: u32,
    /// Samples per second: bytes per second by the dataset's bytes per sample.
    pub samples_per_s: Rate,
    /// Bytes per second of reads that ended well inside the window; of a paced load, what was offered by the
    /// share of it that was served; of a training job, what it takes by its utilization; of a mix, what reads and writes come to
    /// by the one that got less of its part.
    pub bps: Rate,
    /// Reads per second, mean; whole files where those are read.
    pub ops_per_s: f64,
    /// Mean samples per second by the line; absent without a line.
    pub of_line: Option<f64>,
    /// Latency of single reads, from the submission on.
    pub latency: Latency,
    /// Where the time of a whole file goes, and of reads and writes at once; empty for other cells that move blocks.
    pub phases: Vec<Phase>,
    /// What an open loop offered and got; absent for a closed one.
    pub paced: Option<Paced>,
    /// What was read and what was written, where both were done at once.
    pub mix: Option<MixFigures>,
    /// The training job that was played; absent for other loads.
    pub training: Option<TrainingFigures>,
    /// Reads that ended well.
    pub ops: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Failed reads by kind, failed repetitions included.
    pub errors: BTreeMap<String, u64>,
    /// Processor time of this process by read, nanoseconds.
    pub cpu_ns_per_op: Option<f64>,
    /// Share of the processor time that its threads may use; kernel threads may take it beyond 1.
    pub cpu_share: Option<f64>,
    /// Share of the null ceiling; absent without one.
    pub ceiling_share: Option<f64>,
    /// What is known of the client's page cache.
    pub cache: PageCache,
    /// Whether every repetition began without names and inodes in memory; absent where that is not known, and for
    /// cells that ask for no names, or not for cold ones.
    pub names_dropped: Option<bool>,
    /// Reasons to doubt these figures, gravest first.
    pub flags: Vec<Flag>,
}

impl Figures {
    /// The figures of `reps`; `None` when no repetition makes a point.
    pub(crate) fn of(context: &Context<'_>, reps: &Repetitions<'_>) -> Option<Self> {
        let used = reps.used.as_slice();
        let points: Vec<f64> = used.iter().map(|rep| point_bps(context, rep)).collect();
        let bps = Rate::at(&points, context.error)?;
        let samples: Vec<f64> = points.iter().map(|bps| bps / context.sample_bytes).collect();
        let samples_per_s = Rate::at(&samples, context.error)?;
        let ops_per_s = interval::mean(&used.iter().map(|rep| per_s(rep, counter::OPS)).collect::<Vec<_>>())?;
        let merged = Merged::of(used);
        let latency = merged.latency();
        let client = client_shares(context, used, ops_per_s, bps.mean);
        let paced = Paced::of(context, used, &merged);
        let mut flags = validity::flags(context, reps, client, &merged);
        flags.extend(paced.iter().flat_map(|paced| validity::paced(paced, context.cell)));
        let training = TrainingFigures::of(context, used, &merged);
        flags.extend(training.iter().flat_map(|training| training::flags::flags(context, used, training)));
        if latency.unreadable > 0 {
            flags.push(Flag::NoHistogram { repetitions: latency.unreadable });
        }
        flags.sort_by_key(|flag| flag.gravity() == Gravity::Informs);
        let ops = sum(used, counter::OPS);
        Some(Self {
            repetitions: used.len() as u32,
            samples_per_s,
            bps,
            ops_per_s,
            of_line: context.line_samples_per_s.map(|line| samples_per_s.mean / line),
            latency,
            // The time in which a checkpoint is written is no phase of a request.
            phases: if context.cell.operation == feed::Operation::Checkpoint {
                Vec::new()
            } else {
                phases(&merged)
            },
            paced,
            mix: MixFigures::of(context.cell, used, context.error),
            training,
            ops,
            bytes: sum(used, counter::BYTES),
            errors: errors_by_kind(reps),
            cpu_ns_per_op: (ops > 0).then(|| cpu_ns(used) / ops as f64),
            cpu_share: client.cpu,
            ceiling_share: client.ceiling,
            cache: PageCache::of(context, used),
            names_dropped: names_dropped(context.cell, used),
            flags,
        })
    }

    /// Whether the client, or who else used its processors, was measured and not the storage.
    pub fn is_client_limited(&self) -> bool {
        self.flags.iter().any(|flag| flag.is_client_limit() || matches!(flag, Flag::Waited { .. }))
    }

    /// Whether they are of a change, within windows or over the run, and not of a state.
    pub fn is_unsteady(&self) -> bool {
        self.flags.iter().any(Flag::is_unsteady)
    }

    /// Whether nothing but the client's own limit may stand between these figures and a verdict.
    pub fn is_valid(&self) -> bool {
        self.flags.iter().all(|flag| matches!(flag.gravity(), Gravity::Informs | Gravity::ForbidsStarves))
    }
}

/// Processor time of threads that decode, which are not those that read.
fn decoding_ns(used: &[&Rep]) -> f64 {
    used.iter().filter_map(|rep| rep.trained.as_ref()).map(|trained| trained.decode_cpu_ns as f64).sum()
}

pub(crate) fn client_shares(context: &Context<'_>, used: &[&Rep], ops_per_s: f64, bps: f64) -> ClientShares {
    let available: f64 = used.iter().map(|rep| available_ns(rep, context.cell.threads)).sum();
    // The rate of a job is the job's own: what share of the client's it is says nothing.
    let is_job = context.cell.training.is_some();
    let ceiling = || validity::ceiling_share(ops_per_s, bps, context.ceilings);
    ClientShares {
        // The null target feeds the same job at the same rate by design: 100 % of the ceiling is the good case.
        ceiling: if is_job { None } else { ceiling() },
        // Decoding is the job's work, not the client's overhead: with it, every job that decodes on all cores would be client-
        // limited.
        cpu: (available > 0.0).then(|| (cpu_ns(used) - decoding_ns(used)).max(0.0) / available),
        nic: network::nic_share(used),
        core: network::core_share(context.cell, used),
        null_au: if is_job { training::figures::null_au(context) } else { None },
    }
}

fn errors_by_kind(reps: &Repetitions<'_>) -> BTreeMap<String, u64> {
    let mut kinds = BTreeMap::new();
    for (kind, count) in reps.used.iter().chain(&reps.failed).flat_map(|rep| &rep.errors) {
        *kinds.entry(kind.clone()).or_insert(0) += count;
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::counters::counted;
    use crate::fixture::{Builder, ceiling, figures, rep};

    fn figures_of(reps: Vec<Rep>, edit: impl FnOnce(&mut Builder)) -> Figures {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        for one in reps {
            builder.push(one);
        }
        edit(&mut builder);
        figures(&builder, "c")
    }

    #[test]
    fn throughput_is_bytes_by_window_and_samples_by_the_datasets_sample() {
        let figures = figures_of(vec![rep("c", 0, 1e9), rep("c", 1, 2e9), rep("c", 2, 3e9)], |_| {});
        assert_eq!((figures.bps.mean, figures.bps.min, figures.bps.max), (2e9, 1e9, 3e9));
        assert!((figures.samples_per_s.mean - 2e9 / 100_000.0).abs() < 1e-9);
        assert_eq!(figures.repetitions, 3);
        let interval = figures.bps.interval.unwrap();
        assert!((interval.high - 2e9 - 4.302_653e9 / 3.0_f64.sqrt()).abs() < 1e4);
        let ratio = figures.samples_per_s.interval.unwrap().high * 100_000.0 / interval.high;
        assert!((ratio - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_share_of_the_line_is_the_mean_by_the_line() {
        // 10,000 samples/s at 90 % are 9,000 samples/s of 100 kB: 0.9 GB/s.
        let figures = figures_of(vec![rep("c", 0, 1.8e9)], |_| {});
        assert_eq!(figures.of_line, Some(2.0));
        assert!(figures.bps.interval.is_none());
    }

    #[test]
    fn processor_time_is_per_read_and_per_core_that_its_threads_can_use() {
        let mut one = rep("c", 0, 1e9);
        one.usage.cpu_user_ns = 300_000_000;
        one.usage.cpu_system_ns = 100_000_000;
        one.usage.wall_ns = 1_000_000_000;
        one.usage.cores = 4;
        let ops = counted(&one, counter::OPS) as f64;
        let figures = figures_of(vec![one.clone()], |_| {});
        assert_eq!(figures.cpu_share, Some(0.1), "four cores bound eight threads");
        assert_eq!(figures.cpu_ns_per_op, Some(4e8 / ops));
        let single = figures_of(vec![one], |b| b.edit_cell("c", |cell| cell.threads = 1));
        assert_eq!(single.cpu_share, Some(0.4), "one thread bounds four cores");
    }

    #[test]
    fn the_ceiling_is_in_reads_for_direct_cells_and_in_bytes_for_copies() {
        let one = rep("c", 0, 1e9);
        let ops = counted(&one, counter::OPS);
        let direct = figures_of(vec![one.clone()], |b| b.push_ceiling(ceiling("c", false, ops * 4, 1)));
        assert_eq!(direct.ceiling_share, Some(0.25));
        let copied = figures_of(vec![one], |b| b.push_ceiling(ceiling("c", true, 1, 2_000_000_000)));
        assert_eq!(copied.ceiling_share, Some(0.5));
    }

    #[test]
    fn a_ceiling_without_a_read_is_unknown() {
        let unknown = figures_of(vec![rep("c", 0, 1e9)], |b| b.push_ceiling(ceiling("c", false, 0, 0)));
        assert_eq!(unknown.ceiling_share, None);
        assert!(!unknown.is_client_limited());
    }

    #[test]
    fn of_the_page_cache_the_worst_repetition_is_told_at_the_time_that_matters() {
        let resident = |cache: &str, before: [Option<u64>; 2], after: [Option<u64>; 2]| {
            let one = |number: usize| {
                let mut one = rep("c", number as u32, 1e9);
                one.cache = record::CacheProof {
                    method: "mincore".to_owned(),
                    total_bytes: 1_000,
                    before_bytes: before[number],
                    after_bytes: after[number],
                    names_dropped: None,
                };
                one
            };
            let figures =
                figures_of(vec![one(0), one(1)], |b| b.edit_cell("c", |cell| cell.cache = cache.into()));
            assert_eq!((figures.cache.asked, figures.cache.method.as_str()), (cache.into(), "mincore"));
            figures.cache.resident
        };
        let (none, known) = ([None; 2], [Some(900), Some(800)]);
        for cache in ["bypass", "dontcache"] {
            assert_eq!(resident(cache, known, [Some(2), Some(1)]), Some(0.002), "what reads left: {cache}");
            assert_eq!(resident(cache, known, [Some(0), None]), None, "{cache}");
        }
        for cache in ["cold", "cold_start", "tape"] {
            assert_eq!(resident(cache, [Some(1), Some(3)], known), Some(0.003), "{cache}");
            assert_eq!(resident(cache, none, known), None, "{cache}");
        }
        assert_eq!(resident("warm", known, none), Some(0.8));
    }

    #[test]
    fn a_cold_file_says_whether_its_name_was_cold_too() {
        let dropped = |operation: &str, dropped| {
            let mut one = rep("c", 0, 1e9);
            one.cache.names_dropped = dropped;
            let edit = |cell: &mut record::Cell| {
                (cell.cache, cell.operation) = ("cold".into(), operation.into());
            };
            figures_of(vec![one], |b| b.edit_cell("c", edit)).names_dropped
        };
        for known in [Some(true), Some(false), None] {
            assert_eq!(dropped("read_file", known), known);
        }
        assert_eq!(dropped("read", Some(false)), None, "its files are open before the window");
    }

    #[test]
    fn a_cell_without_a_point_has_no_figures() {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.push(rep("c", 0, 0.0));
        let summary = crate::summarise(&builder.record());
        assert!(summary.cells[0].figures().is_none());
    }
}
