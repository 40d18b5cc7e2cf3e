//! Which run this is: machine, data, ceilings, length.

use record::{Captured, Ceiling, Environment, Run, RunRecord, Target, Tool};

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::lines::Lines;
use crate::cell::looks;
use crate::cell::validity::is_known;

/// The head of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Head {
    /// Sortable and unique.
    pub run_id: String,
    /// Start, RFC 3339 UTC.
    pub started: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Title of the scenario, if it has one.
    pub title: Option<String>,
    /// Command line, redacted.
    pub command: Vec<String>,
    /// SHA-256 of the access plan, hex.
    pub plan_hash: String,
    /// What made the record.
    pub tool: Tool,
    /// What it ran on.
    pub machine: Machine,
    /// Cells that were planned.
    pub cells_planned: usize,
    /// Cells of which at least one repetition was made.
    pub cells_run: usize,
    /// Processes that measured together.
    pub ranks: u32,
    /// Planned repetitions of each cell.
    pub repetitions: u32,
    /// Most rounds of fresh repetitions.
    pub fresh_rounds: u32,
    /// Length of the run after preparation; absent when the run was cut.
    pub elapsed_ns: Option<u64>,
    /// Whether a signal ended the run.
    pub interrupted: bool,
    /// Slowest and fastest null ceiling of direct reads, which move no byte by processor: reads per second.
    pub ceiling_ops_per_s: Option<(f64, f64)>,
    /// Slowest and fastest null ceiling of reads that are copied, as through the page cache: bytes per second.
    pub ceiling_bps: Option<(f64, f64)>,
}

/// A machine; what the record does not know of it is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Machine {
    /// Its processor.
    pub cpu_model: Option<String>,
    /// Processors that the process may use.
    pub cores: Option<u32>,
    /// Its memory.
    pub memory_bytes: Option<u64>,
    /// Release of its kernel.
    pub kernel: Option<String>,
    /// The hypervisor below it; absent without one.
    pub virtualization: Option<String>,
    /// The container around the process; absent without one.
    pub container: Option<String>,
}

/// What this client does without storage.
#[derive(Debug, Clone, PartialEq)]
pub struct CeilingFigures {
    /// Name of the null target.
    pub target: String,
    /// Its fastest cell; absent when none was measured.
    pub fastest: Option<Fastest>,
}

/// The fastest cell of a null target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fastest {
    /// Bytes per second.
    pub bps: f64,
    /// Reads per second.
    pub ops_per_s: f64,
    /// Reads outstanding.
    pub queue_depth: u32,
    /// Processor time by read, nanoseconds.
    pub cpu_ns_per_op: Option<f64>,
}

pub(crate) fn of_record(record: &RunRecord, lines: &Lines<'_>, cells: &[CellSummary]) -> Head {
    let run = &record.run;
    Head {
        run_id: run.run_id.clone(),
        started: run.started.clone(),
        scenario: run.scenario.clone(),
        title: run.title.clone(),
        command: run.command.clone(),
        plan_hash: run.plan_hash.clone(),
        tool: run.tool.clone(),
        machine: Machine::of(&record.env),
        cells_planned: cells.len(),
        // Failed cells count as run: they were tried, and their reason stands in their row.
        cells_run: cells.iter().filter(|cell| !matches!(cell.measured, Measurement::NotRun { .. })).count(),
        ranks: run.ranks.max(1),
        repetitions: run.measure.repetitions,
        fresh_rounds: looks::most_rounds(&run.measure),
        elapsed_ns: lines.end.map(|end| end.elapsed_ns),
        interrupted: lines.end.is_some_and(|end| end.interrupted),
        ceiling_ops_per_s: ceilings(lines, false, |ceiling| ceiling.ops),
        ceiling_bps: ceilings(lines, true, |ceiling| ceiling.bytes),
    }
}

/// Storages under test as reports may show them: what the user says of one only where it may be published. Records before
/// format 1.2 do not tell, and were never shown with it.
pub(crate) fn targets(run: &Run) -> Vec<Target> {
    // What a user wrote of a storage before there was a switch for it was never meant for a published page.
    let may_tell = (run.format.major, run.format.minor) >= (1, 2);
    let shown = |target: &Target| Target {
        about: target.about.clone().filter(|_| may_tell && target.about_published),
        ..target.clone()
    };
    run.targets.iter().map(shown).collect()
}

impl Machine {
    /// What `env` knows of it.
    pub fn of(env: &Environment) -> Self {
        // The record says `none` of a machine without a hypervisor or a container, which is no part of its name.
        let known = |value: &Captured<String>| value.value().filter(|value| *value != "none").cloned();
        Self {
            cpu_model: env.cpu_model.value().cloned(),
            cores: env.cores_usable.value().copied(),
            memory_bytes: env.memory_bytes.value().copied(),
            kernel: env.kernel.value().cloned(),
            virtualization: known(&env.virtualization),
            container: known(&env.container),
        }
    }
}

/// Slowest and fastest ceiling of one kind, counted by `count`, per second.
fn ceilings(lines: &Lines<'_>, copies: bool, count: fn(&Ceiling) -> u64) -> Option<(f64, f64)> {
    // A training job takes what it needs and no more: it shows no ceiling.
    let of_kind = lines
        .ceilings
        .iter()
        .filter(|ceiling| ceiling.copies == copies && ceiling.trained.is_none() && is_known(ceiling));
    let rates = of_kind.map(|ceiling| count(ceiling) as f64 / (ceiling.window_ns as f64 / 1e9));
    rates.fold(None, |range, rate| {
        // Both ends: controls are made at the depths and blocks of the cells, and differ as those do.
        let (low, high) = range.unwrap_or((rate, rate));
        Some((rate.min(low), rate.max(high)))
    })
}

pub(crate) fn null_targets(targets: &[Target], cells: &[CellSummary]) -> Vec<CeilingFigures> {
    let null = targets.iter().filter(|target| !target.storage);
    null.map(|target| CeilingFigures { target: target.name.clone(), fastest: fastest(&target.name, cells) })
        .collect()
}

fn fastest(target: &str, cells: &[CellSummary]) -> Option<Fastest> {
    // A job takes what its accelerators ask for, which is no ceiling.
    let of_target = cells.iter().filter(|cell| cell.cell.target == target && cell.cell.training.is_none());
    of_target
        .filter_map(|cell| cell.figures().map(|figures| (cell.cell.queue_depth, figures)))
        .max_by(|a, b| a.1.bps.mean.total_cmp(&b.1.bps.mean))
        .map(|(queue_depth, figures)| Fastest {
            bps: figures.bps.mean,
            ops_per_s: figures.ops_per_s,
            queue_depth,
            cpu_ns_per_op: figures.cpu_ns_per_op,
        })
}
