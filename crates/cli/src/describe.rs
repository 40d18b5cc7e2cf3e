//! From a plan to the head of its record, in words that outlive the plan's types.

use feed::Demand;
use plan::{Arrivals, DatasetSpec, Distribution, Fetch, Layout, Limit, Plan, Rate, Work};
use record::{
    Axis, Cell, Dataset, Emulation, Fact, Format, Gate, Margin, Measure, Need, Run, Skipped, Target, Tool,
};

use crate::data::Data;
use crate::host;
use crate::open::Stores;
use crate::packing;

/// Describes a run that begins now, on one of so many ranks.
pub(crate) fn run(plan: &Plan, data: &Data, stores: &Stores, (redacted, ranks): (bool, u32)) -> Run {
    let started = host::now_utc();
    Run {
        format: Format::CURRENT,
        run_id: host::run_id(&started, &plan.name),
        started,
        tool: tool(),
        command: command(),
        scenario: plan.name.clone(),
        title: plan.title.clone(),
        plan_hash: data.plan_hash(plan),
        need: need(&plan.need),
        datasets: datasets(plan, data),
        targets: (0..plan.targets.len()).map(|index| target(plan, stores, index)).collect(),
        cells: plan.cells.iter().map(|of| cell(plan, data, of, ranks)).collect(),
        skipped: skipped(plan),
        measure: measure(&plan.measure),
        gate: gate(&plan.gate),
        expect: crate::expected::of(plan),
        size: None,
        variant: None,
        rank: 0,
        ranks,
        redacted,
    }
}

/// The command line of this process, under the name that everyone has for it.
pub(crate) fn command() -> Vec<String> {
    std::iter::once("feedline".to_owned()).chain(std::env::args().skip(1)).collect()
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
    }
}

fn tool() -> Tool {
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("FEEDLINE_COMMIT").map(str::to_owned),
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
    }
}

fn need(need: &feed::Need) -> Need {
    let (samples_per_s, sample_bytes, bytes_per_s) = match need.demand {
        Demand::Samples { per_s, sample_bytes } => (Some(per_s), Some(sample_bytes), None),
        Demand::Bytes { per_s } => (None, None, Some(per_s)),
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
    }
}

fn datasets(plan: &Plan, data: &Data) -> Vec<Dataset> {
    let describe = |slot: &crate::data::Slot| Dataset {
        source: match plan.datasets[slot.dataset] {
            DatasetSpec::Generate(_) => "generate",
            DatasetSpec::Existing(_) => "existing",
        }
        .to_owned(),
        target: plan.targets[slot.target].name.clone(),
        files: u64::from(slot.prepared.data.objects().count()),
        bytes: slot.prepared.data.objects().total_bytes(),
        sample_bytes: slot.prepared.sample_bytes,
        fingerprint: slot.prepared.fingerprint.clone(),
        empty_files: slot.prepared.empty_files,
        unallocated_bytes: slot.prepared.unallocated_bytes,
        lognormal_stdev_bytes: lognormal_stdev_bytes(&plan.datasets[slot.dataset]),
        layout: slot.prepared.layout.name().to_owned(),
        samples: (slot.prepared.layout != Layout::Files).then(|| slot.prepared.data.sample_count()),
        packing: facts(packing::facts(&plan.datasets[slot.dataset], &slot.prepared)),
    };
    data.slots().iter().map(describe).collect()
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

fn target(plan: &Plan, stores: &Stores, index: usize) -> Target {
    let target = &plan.targets[index];
    let facts = facts(stores.data(index).facts());
    Target {
        name: target.name.clone(),
        title: target.title.clone(),
        about: target.about.line(),
        at: target.at.clone(),
        storage: target.config.is_storage(),
        demo: target.emulate.is_some() || is_emulated(&facts),
        about_published: target.about.publish,
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

fn cell(plan: &Plan, data: &Data, cell: &plan::Cell, ranks: u32) -> Cell {
    Cell {
        cell: cell.slug.clone(),
        target: plan.target(cell).name.clone(),
        dataset: data.index(cell),
        engine: cell.engine.name().to_owned(),
        stands_in_for: cell.stands_in_for.clone(),
        queue_depth: cell.queue_depth,
        threads: cell.threads,
        connections: cell.connections,
        retries: cell.retries,
        block_bytes: u64::from(cell.block_bytes),
        access: cell.access.name().to_owned(),
        cache: cell.cache.name().to_owned(),
        operation: cell.operation.name().to_owned(),
        pace: pace(&cell.load),
        training: training(&cell.load),
        submit_batch: Some(cell.submit_batch),
        complete_batch: Some(cell.complete_batch),
        auto_group: cell.auto_group,
        axes: cell.axes.iter().map(axis).collect(),
        streams: cell.access.streams().then_some(cell.streams),
        shuffle_buffer: cell.access.streams().then_some(cell.shuffle_buffer),
        run_length: (cell.access == plan::Access::Neighbours).then_some(cell.run_length),
        mixing: mixing(&data.of(cell).data, cell, ranks),
        checkpoint: checkpoint(cell),
        tier: cell.tier.as_ref().map(tier),
        copy: cell.copy.map(|copy| copy_plan(plan, copy)),
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
    let decode_cost_ns = training.decode.and_then(|decode| match decode.work {
        Work::Cost { per_sample_ns } => Some(per_sample_ns),
        Work::Checksum | Work::Gzip | Work::Zstd | Work::Jpeg => None,
    });
    Some(record::Training {
        accelerators: training.accelerators,
        batch: training.batch,
        compute_ns: training.compute_ns,
        fetch: training.fetch.name().to_owned(),
        readers,
        prefetch: training.prefetch,
        barrier: training.barrier,
        decode: training.decode.map(|decode| decode.work.name().to_owned()),
        decode_cost_ns,
        decode_threads: training.decode.and_then(|decode| decode.threads),
        drop_last: training.drop_last,
        startup_ns: training.startup_ns,
        threshold: training.threshold,
        price_per_hour: training.price_per_hour,
    })
}

fn checkpoint(cell: &plan::Cell) -> Option<record::CheckpointPlan> {
    let of = cell.checkpoint.as_ref()?;
    let price_per_hour = match &cell.load {
        plan::Load::Training(training) => training.price_per_hour,
        plan::Load::Closed | plan::Load::Paced(_) => None,
    };
    Some(record::CheckpointPlan {
        label: of.label.clone(),
        bytes: of.bytes(),
        files: of.files,
        mode: of.mode.name().to_owned(),
        every_steps: of.every_steps,
        copy_ns: of.mode.copy_ns(),
        durable: of.durable,
        keep: of.keep,
        price_per_hour,
    })
}

fn axis(axis: &plan::Axis) -> Axis {
    Axis { name: axis.name.to_owned(), value: axis.value.clone(), unit: axis.unit.to_owned() }
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
        budget_ns: measure.budget_ns,
        seed: measure.seed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_says_it_is_feedlines_is_a_demo() {
        let of =
            |name, value: &str| is_emulated(&facts(vec![("tls", "no".to_owned()), (name, value.to_owned())]));
        assert!(of("emulated_by", "feedline"));
        assert!(!of("emulated_by", "another") && !of("server", "feedline"));
    }
}
