//! From a plan to the head of its record, in words that outlive the plan's types.
//!
//! It is shared by whoever makes a run: the command line, and the harness that plays known storages.

mod data;
mod expected;
pub mod packing;

use feed::Demand;
use plan::{Arrivals, DatasetSpec, Distribution, Evidence, Fetch, Layout, Limit, Plan, Rate, Work};
use record::{
    AxisWords, Cell, Dataset, Emulation, Fact, Format, Gate, Margin, Measure, Need, Proof, Run, Skipped,
    Target, Tool,
};

pub use data::{Datasets, OnTarget, plan_hash, sample_bytes};

/// What a store says of itself: names and values.
pub type StoreFacts = Vec<(&'static str, String)>;

/// How a run begins.
#[derive(Debug, Clone)]
pub struct Begun {
    /// Its name.
    pub run_id: String,
    /// When, as RFC 3339.
    pub started: String,
    /// The command line that began it.
    pub command: Vec<String>,
    /// Whether names are redacted.
    pub redacted: bool,
    /// Processes that measure together.
    pub ranks: u32,
}

/// Describes a run; `stores` are the facts of each target, in the order of the plan.
pub fn run(plan: &Plan, data: &Datasets, stores: Vec<StoreFacts>, begun: Begun) -> Run {
    let Begun { run_id, started, command, redacted, ranks } = begun;
    Run {
        format: Format::CURRENT,
        run_id,
        started,
        tool: tool(),
        command,
        scenario: plan.name.clone(),
        title: plan.title.clone(),
        plan_hash: data.plan_hash(plan),
        need: need(&plan.need),
        datasets: datasets(plan, data),
        targets: plan.targets.iter().zip(stores).map(|(of, facts)| target(of, facts)).collect(),
        cells: plan.cells.iter().map(|of| cell(plan, data, of, ranks)).collect(),
        skipped: skipped(plan),
        measure: measure(&plan.measure),
        gate: gate(&plan.gate),
        expect: expected::of(plan),
        size: None,
        variant: None,
        team: None,
        rank: 0,
        ranks,
        redacted,
    }
}

fn gate(gate: &plan::Gate) -> Gate {
    let margin =
        |margin: &plan::Margin| Margin { metric: margin.metric.name().to_owned(), share: margin.share };
    Gate {
        feeds: gate.feeds.clone(),
        p99_ns: gate.p99_ns,
        utilization: gate.utilization,
        at_depth: gate.at_depth,
        regression: gate.regression.iter().map(margin).collect(),
        baseline: gate.baseline.clone(),
        runs: gate.runs,
        may_differ: gate.may_differ.iter().map(|one| one.name().to_owned()).collect(),
        evidence: gate.evidence.name().to_owned(),
        proof: match gate.evidence {
            Evidence::Screen => None,
            Evidence::Proof { runs, span_ns } => Some(Proof { runs, span_ns }),
        },
    }
}

fn tool() -> Tool {
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        // By the environment of the build and not by asking git: a package is built outside any repository.
        commit: option_env!("FEEDLINE_COMMIT").map(str::to_owned),
        // A debug build is several times slower per operation; whoever reads a record must see it.
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
    }
}

fn need(need: &feed::Need) -> Need {
    // Either samples or bytes are held; which of them follows from which field is set, so there is no third field
    // that could contradict.
    let (samples_per_s, sample_bytes, bytes_per_s) = match need.demand {
        Demand::Samples { per_s, sample_bytes } => (Some(per_s), Some(sample_bytes), None),
        Demand::Bytes { per_s, sample_bytes } => (None, sample_bytes, Some(per_s)),
        Demand::Nothing => (None, None, None),
    };
    Need {
        label: need.label.clone(),
        samples_per_s,
        sample_bytes,
        bytes_per_s,
        utilization: need.utilization,
        accelerators: need.accelerators,
        hosts: need.hosts,
        source: need.source.clone(),
        caveats: need.caveats.clone(),
        // 0 stands for a need that names no accelerators; a record says nothing rather than 0.
        count: (need.count > 0).then_some(need.count),
        hold: need.hold.map(|hold| hold.name().to_owned()).unwrap_or_default(),
        scope: need.scope.name().to_owned(),
        provenance: need.provenance.map(|one| one.name().to_owned()).unwrap_or_default(),
        loader_depth: need.loader_depth,
        checkpoint: need.checkpoint.as_ref().map(checkpoint_need),
        writes: need.writes,
        write_bytes_per_s: need.write_bps,
        parts: need.parts.iter().map(part).collect(),
    }
}

fn part(part: &feed::Part) -> record::NeedPart {
    record::NeedPart { label: part.label.clone(), bytes_per_s: part.bytes_per_s }
}

fn checkpoint_need(need: &feed::CheckpointNeed) -> record::CheckpointNeed {
    record::CheckpointNeed {
        label: need.label.clone(),
        bytes: need.bytes,
        host_bytes: need.host_bytes,
        hosts: need.hosts,
        within_ns: need.within_ns,
        every_ns: need.every_ns,
        restore_within_ns: need.restore_within_ns,
        kind: need.kind.name().to_owned(),
        beside_others: need.beside_others,
    }
}

fn datasets(plan: &Plan, data: &Datasets) -> Vec<Dataset> {
    let describe = |one: &OnTarget| Dataset {
        source: match plan.datasets[one.dataset] {
            DatasetSpec::Generate(_) => "generate",
            DatasetSpec::Existing(_) => "existing",
        }
        .to_owned(),
        target: plan.targets[one.target].name.clone(),
        files: u64::from(one.prepared.data.objects().count()),
        bytes: one.prepared.data.objects().total_bytes(),
        sample_bytes: one.prepared.sample_bytes,
        fingerprint: one.prepared.fingerprint.clone(),
        empty_files: one.prepared.empty_files,
        unallocated_bytes: one.prepared.unallocated_bytes,
        lognormal_stdev_bytes: lognormal_stdev_bytes(&plan.datasets[one.dataset]),
        layout: one.prepared.layout.name().to_owned(),
        // A list may name a file several times, which is then a sample so often.
        samples: (one.prepared.layout != Layout::Files || one.prepared.order_digest.is_some())
            .then(|| one.prepared.data.sample_count()),
        packing: facts(packing::facts(&plan.datasets[one.dataset], &one.prepared)),
    };
    data.all().iter().map(describe).collect()
}

fn lognormal_stdev_bytes(spec: &DatasetSpec) -> Option<u64> {
    match spec {
        DatasetSpec::Generate(plan::Generate {
            distribution: Distribution::LogNormal { stdev_bytes },
            ..
        }) => Some(*stdev_bytes),
        DatasetSpec::Generate(_) | DatasetSpec::Existing(_) => None,
    }
}

fn target(target: &plan::Target, facts_of_store: StoreFacts) -> Target {
    let facts = facts(facts_of_store);
    Target {
        name: target.name.clone(),
        title: target.title.clone(),
        about: target.about.line(),
        at: target.at.clone(),
        storage: target.config.is_storage(),
        // Either is enough: figures of feedline's own server must never stand as a storage's.
        demo: target.emulate.is_some() || is_emulated(&facts),
        about_published: target.about.publish,
        // As stated: no protocol tells how much a server caches.
        server_memory_bytes: target.server_memory_bytes,
        emulation: target.emulate.as_ref().map(emulation),
        facts,
    }
}

/// Whether the server says that it is `feedline emulate`, as one does whose address was given by hand.
fn is_emulated(facts: &[Fact]) -> bool {
    facts.iter().any(|fact| fact.name == "emulated_by" && fact.value == "feedline")
}

fn emulation(emulation: &plan::Emulation) -> Emulation {
    Emulation { profile: emulation.profile.clone(), settings: facts(emulation.words()) }
}

fn facts(named: Vec<(&'static str, String)>) -> Vec<Fact> {
    named.into_iter().map(|(name, value)| Fact { name: name.to_owned(), value }).collect()
}

fn cell(plan: &Plan, data: &Datasets, cell: &plan::Cell, ranks: u32) -> Cell {
    Cell {
        cell: cell.slug.clone(),
        target: plan.target(cell).name.clone(),
        dataset: data.index(cell),
        engine: cell.engine.name().to_owned(),
        // A fall-back is a cell of its own; without this word its figures would pass for the engine that was asked
        // for.
        stands_in_for: cell.stands_in_for.clone(),
        queue_depth: cell.queue_depth,
        threads: cell.threads,
        connections: cell.connections,
        retries: cell.retries,
        // Wider than the plan has it: records are read for ever, and reads beyond 4 GiB may come.
        block_bytes: u64::from(cell.block_bytes),
        access: cell.access.order().into(),
        cache: cell.cache.into(),
        operation: cell.operation().into(),
        pace: pace(&cell.load),
        training: training(&cell.load),
        submit_batch: Some(cell.submit_batch),
        complete_batch: Some(cell.complete_batch),
        pages: Some(cell.pages.into()),
        durability: cell.task.durability().map(Into::into),
        write_percent: cell.task.mix().map(|mix| mix.write_percent),
        ranks: cell.ranks,
        auto_group: cell.auto_group,
        axes: cell.axes.iter().map(axis).collect(),
        streams: cell.access.streams().map(|streams| streams.count),
        shuffle_buffer: cell.access.streams().map(|streams| streams.shuffle_buffer),
        run_length: match cell.access {
            plan::Access::Neighbours { run_length } => Some(run_length),
            _ => None,
        },
        // Reckoned before the run, as it follows from plan and dataset alone.
        mixing: mixing(&data.of(cell).data, cell, cell.ranks.unwrap_or(ranks)),
        checkpoint: checkpoint(cell),
        tier: cell.tier.as_ref().map(tier),
        copy: cell.task.copy().map(|copy| copy_plan(plan, copy)),
    }
}

fn mixing(data: &dataset::Data, cell: &plan::Cell, ranks: u32) -> Option<record::Mixing> {
    let found = dataset::mixing(data, cell, ranks)?;
    Some(record::Mixing {
        buffer_samples: found.buffer_samples,
        displacement: found.displacement,
        neighbours_kept: found.neighbours_kept,
        imbalance: found.imbalance,
    })
}

fn copy_plan(plan: &Plan, copy: plan::Copy) -> record::CopyPlan {
    let layout = copy.packing.map(|packing| packing.layout.name().to_owned());
    record::CopyPlan { to: plan.targets[copy.to].name.clone(), layout }
}

fn tier(tier: &plan::Tier) -> record::Tier {
    record::Tier {
        at: tier.at.display().to_string(),
        capacity_bytes: tier.capacity_bytes,
        policy: tier.policy.name().to_owned(),
    }
}

fn pace(load: &plan::Load) -> Option<record::Pace> {
    let plan::Load::Paced(pace) = load else { return None };
    let (rate_bps, of_line) = match pace.rate {
        Rate::Bytes { per_s } => (Some(per_s), None),
        Rate::OfLine { share } => (None, Some(share)),
    };
    let batch_samples = match pace.arrivals {
        Arrivals::Batch { samples } => Some(samples),
        Arrivals::Constant | Arrivals::Poisson => None,
    };
    let arrivals = pace.arrivals.name().to_owned();
    Some(record::Pace { rate_bps, of_line, arrivals, batch_samples, spin_ns: pace.spin_ns })
}

fn training(load: &plan::Load) -> Option<record::Training> {
    let plan::Load::Training(training) = load else { return None };
    let readers = match training.fetch {
        Fetch::Readers { count } => Some(count),
        Fetch::Shared => None,
    };
    // Measured work has its time in the histograms; only a stated time is part of the plan.
    let decode_cost_ns = training.decode.and_then(|decode| match decode.work {
        Work::Cost { per_sample_ns } | Work::Processor { per_sample_ns } => Some(per_sample_ns),
        Work::Checksum | Work::Copy | Work::Gzip | Work::Zstd | Work::Jpeg | Work::Png => None,
    });
    Some(record::Training {
        accelerators: training.accelerators,
        batch: training.batch,
        compute_ns: training.compute_ns,
        fetch: training.fetch.name().to_owned(),
        readers,
        fetches: training.fetches,
        prefetch: training.prefetch,
        barrier: training.barrier,
        decode: training.decode.map(|decode| decode.work.name().to_owned()),
        decode_cost_ns,
        decode_threads: training.decode.and_then(|decode| decode.threads),
        drop_last: training.drop_last,
        startup_ns: training.startup_ns,
        spin_ns: training.spin_ns,
        threshold: training.threshold,
        price_per_hour: training.price_per_hour,
    })
}

fn checkpoint(cell: &plan::Cell) -> Option<record::CheckpointPlan> {
    let (of, job) = match (&cell.task, &cell.job_checkpoints) {
        (plan::Task::Checkpoint(alone) | plan::Task::Restore(alone), _) => (alone, None),
        (_, Some(job)) => (&job.checkpoint, Some(job)),
        _ => return None,
    };
    // Who writes nothing but checkpoints waits for each.
    let mode = job.map_or(plan::Saving::Sync, |job| job.mode);
    let price_per_hour = match &cell.load {
        plan::Load::Training(training) => training.price_per_hour,
        plan::Load::Closed | plan::Load::Paced(_) => None,
    };
    Some(record::CheckpointPlan {
        label: of.label.clone(),
        bytes: of.bytes(),
        files: of.files,
        mode: mode.name().to_owned(),
        every_steps: job.map(|job| job.every_steps),
        copy_ns: mode.copy_ns(),
        durable: of.durable,
        keep: of.keep,
        price_per_hour,
    })
}

/// A coordinate of a cell as it is recorded.
pub fn axis(axis: &plan::Axis) -> AxisWords {
    AxisWords { name: axis.name.to_owned(), value: axis.value.clone(), unit: axis.unit.to_owned() }
}

fn skipped(plan: &Plan) -> Vec<Skipped> {
    let describe = |of: &plan::Skipped| Skipped {
        target: of.target.clone(),
        engine: of.engine.name().to_owned(),
        reason: of.reason.clone(),
    };
    plan.skipped.iter().map(describe).collect()
}

fn measure(measure: &plan::Measure) -> Measure {
    Measure {
        warmup_ns: measure.warmup_ns,
        // One field for each kind of limit, of which one is set: the fields came with versions of the record, and
        // older readers know the first alone.
        duration_ns: match measure.limit {
            Limit::Duration { duration_ns } => Some(duration_ns),
            Limit::Bytes { .. } | Limit::Epochs { .. } | Limit::Steps { .. } => None,
        },
        steps: match measure.limit {
            Limit::Steps { steps, .. } => Some(steps),
            Limit::Duration { .. } | Limit::Bytes { .. } | Limit::Epochs { .. } => None,
        },
        epochs: match measure.limit {
            Limit::Epochs { epochs } => Some(epochs),
            Limit::Duration { .. } | Limit::Bytes { .. } | Limit::Steps { .. } => None,
        },
        bytes: match measure.limit {
            Limit::Bytes { bytes } => Some(bytes),
            Limit::Duration { .. } | Limit::Epochs { .. } | Limit::Steps { .. } => None,
        },
        repetitions: measure.repetitions,
        fresh_rounds: Some(measure.fresh_rounds),
        budget_ns: measure.budget_ns,
        seed: measure.seed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_is_recorded_with_what_it_holds_its_scope_and_where_its_figures_come_from() {
        let spec = feed::NeedSpec::parse_short("8xb200:unet3d").unwrap();
        let resolved = spec.resolve().unwrap();
        let recorded = need(&feed::Need {
            scope: feed::Scope::Host,
            loader_depth: Some(32),
            ..resolved.clone().holding(feed::Hold::Bytes)
        });
        assert_eq!((recorded.samples_per_s, recorded.sample_bytes), (None, Some(146_600_628.0)));
        assert_eq!(recorded.bytes_per_s, Some(resolved.demand_bps(146_600_628.0)));
        assert_eq!((recorded.hold.as_str(), recorded.scope.as_str()), ("bytes", "host"));
        assert_eq!((recorded.provenance.as_str(), recorded.loader_depth), ("extrapolated", Some(32)));
        assert_eq!(recorded.count, Some(8));
        let unheld = need(&resolved);
        assert_eq!((unheld.hold.as_str(), unheld.scope.as_str(), unheld.loader_depth), ("", "cluster", None));
        assert!(unheld.samples_per_s.is_some() && unheld.bytes_per_s.is_none());
    }

    #[test]
    fn a_gate_is_recorded_with_the_proof_that_it_asks_for() {
        let screen = gate(&plan::Gate::default());
        assert_eq!((screen.evidence.as_str(), screen.proof), ("screen", None));
        let evidence = Evidence::Proof { runs: 5, span_ns: 7 };
        let proven = gate(&plan::Gate { evidence, ..plan::Gate::default() });
        assert_eq!((proven.evidence.as_str(), proven.proof), ("proof", Some(Proof { runs: 5, span_ns: 7 })));
    }

    #[test]
    fn a_server_that_says_it_is_feedlines_is_a_demo() {
        let of =
            |name, value: &str| is_emulated(&facts(vec![("tls", "no".to_owned()), (name, value.to_owned())]));
        assert!(of("emulated_by", "feedline"));
        assert!(!of("emulated_by", "another") && !of("server", "feedline"));
    }
}
