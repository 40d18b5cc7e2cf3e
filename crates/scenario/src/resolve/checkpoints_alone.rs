//! A scenario whose need is checkpoints alone: nothing is read but what is restored.

use feed::Flow;
use plan::Plan;

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::HostFacts;
use crate::table::Keys;
use crate::written::Document;

use super::meaning::Scenario;
use super::work::Work;
use super::{checkpoint, device, gate, limits, measure, target, targets, task, tier};

/// The plan of a scenario without reads.
pub(super) fn plan(
    name: &str,
    written: &Document,
    need: feed::Need,
    host: &HostFacts,
    problems: &mut Problems,
) -> Option<Plan> {
    refuse_reads(written, problems);
    let (tasks, devices) = (task::tasks(written, (Flow::Reads, None)), device::Devices::of(written, host));
    Scenario { document: written, tasks: &tasks, devices: &devices }.refuse_keys(problems);
    let tiers = tier::resolve(written, host, problems);
    let targets = targets::resolve(written, &tasks, &tiers?, host, problems);
    let measure = measure::resolve(written, None, problems);
    let gate = gate::resolve(written, problems);
    let usable: Vec<&target::Resolved<'_>> = targets.iter().flatten().collect();
    for target in &usable {
        limits::held_open(target, &[], target.at(), problems);
    }
    let asked = checkpoint::CheckpointInput {
        written,
        need: Some(&need),
        load: None,
        targets: &usable,
        dataset_bytes: 0,
        host,
    };
    let checkpoints = checkpoint::resolve(&asked, measure.as_ref(), problems);
    let (checkpoints, measure) = (checkpoints?, measure?);
    let mut specs = Vec::new();
    checkpoint::room(&checkpoints, &usable, &specs, host, problems);
    let cells = checkpoint::add(&checkpoints, &usable, Vec::new(), (&mut specs, measure.seed), host);
    Some(Work { need, datasets: specs, cells, measure }.on(targets, (name, written), gate?))
}

/// Refuses what is about reads.
fn refuse_reads(written: &Document, problems: &mut Problems) {
    let Document { dataset, load, training, copy, cache_tier, expect, .. } = written;
    let tables: [(&str, Option<Span>); 6] = [
        ("dataset", place(dataset, &dataset.name)),
        ("load", place(load, &load.name)),
        ("training", place(training, &training.name)),
        ("copy", place(copy, &copy.name)),
        ("cache_tier", place(cache_tier, &cache_tier.name)),
        ("expect", place(expect, &expect.name)),
    ];
    let asks = written.need.span();
    for (name, at) in tables {
        let Some(at) = at else { continue };
        let problem = Problem::new(format!("`{name}` is about reads, and the need asks for none"))
            .at(at, "remove this")
            .also_if(asks, "asks for checkpoints alone");
        problems.push(problem.help("or add what is read to the need, for example rate = \"2.5 GB/s\""));
    }
    let gate = &written.gate;
    let of_reads = [("p99", gate.p99.key()), ("utilization", gate.utilization.key())];
    for (name, at) in of_reads.into_iter().filter_map(|(name, at)| Some((name, at?))) {
        let problem = Problem::new(format!("`gate.{name}` is about reads, and the need asks for none"));
        problems.push(problem.at(at, "remove this").also_if(asks, "asks for checkpoints alone"));
    }
    if let Some(restore) = written.checkpoint.restore.given().filter(|restore| !restore.value.0) {
        let problem = Problem::new("a need of checkpoints alone also reads one back");
        problems.push(problem.at(restore.span, "remove this").also_if(asks, "asks for checkpoints alone"));
    }
}

/// Where a table was written, if it was.
fn place(table: &impl Keys, name: &crate::document::Key) -> Option<Span> {
    table.is_written().then_some(name.span)
}
