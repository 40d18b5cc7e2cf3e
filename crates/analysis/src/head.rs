//! Which run this is: machine, data, ceilings, length.

use std::collections::BTreeSet;

use record::{Ceiling, Cell, Dataset, Environment, Run, RunRecord, Target, Tool, counter};

use crate::lines::Lines;
use crate::operation;
use crate::repetitions::counted;
use crate::summary::{CellSummary, Measurement};
use crate::validity::is_known;

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
    /// Processor, kernel and memory, in words; empty when the record knows none of them.
    pub machine: String,
    /// Cells that were planned.
    pub cells_planned: usize,
    /// Cells of which at least one repetition was made.
    pub cells_run: usize,
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

/// A dataset and how often it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetFigures {
    /// As recorded.
    pub dataset: Dataset,
    /// Access orders of the storage cells that read it, as words.
    pub access: Vec<String>,
    /// Bytes read from storage in the whole run, warm-up included, by bytes of the dataset; absent for an
    /// empty one.
    pub reads_per_byte: Option<f64>,
    /// Operations that read these bytes.
    pub reads: u64,
    /// Bytes that copies of it wrote.
    pub written_bytes: u64,
    /// Whether any byte may have been read twice from storage: by two repetitions, by more than one pass,
    /// or by reads drawn with replacement.
    pub reads_repeat: bool,
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
        machine: machine(&record.env),
        cells_planned: cells.len(),
        cells_run: cells.iter().filter(|cell| !matches!(cell.measured, Measurement::NotRun { .. })).count(),
        repetitions: run.measure.repetitions,
        fresh_rounds: run.measure.fresh_rounds.unwrap_or(run.measure.repetitions),
        elapsed_ns: lines.end.map(|end| end.elapsed_ns),
        interrupted: lines.end.is_some_and(|end| end.interrupted),
        ceiling_ops_per_s: ceilings(lines, false, |ceiling| ceiling.ops),
        ceiling_bps: ceilings(lines, true, |ceiling| ceiling.bytes),
    }
}

/// Storages under test as reports may show them: what the user says of one only where it may be published. Records before
/// format 1.2 do not tell, and were never shown with it.
pub(crate) fn targets(run: &Run) -> Vec<Target> {
    let may_tell = (run.format.major, run.format.minor) >= (1, 2);
    let shown = |target: &Target| Target {
        about: target.about.clone().filter(|_| may_tell && target.about_published),
        ..target.clone()
    };
    run.targets.iter().map(shown).collect()
}

/// Processor, cores, memory and kernel of a machine in words; empty when none of them is known.
pub fn machine(env: &Environment) -> String {
    let cores = env.cores_usable.value().map(|cores| format!("{cores} cores"));
    let memory = env.memory_bytes.value().map(|bytes| feed::format_bytes(*bytes));
    let kernel = env.kernel.value().map(|release| format!("kernel {release}"));
    let known = |value: &String| (value != "none").then(|| value.clone());
    let parts = [
        env.cpu_model.value().cloned(),
        cores,
        memory,
        kernel,
        env.virtualization.value().and_then(known),
        env.container.value().and_then(known),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
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
        let (low, high) = range.unwrap_or((rate, rate));
        Some((rate.min(low), rate.max(high)))
    })
}

pub(crate) fn datasets(run: &Run, lines: &Lines<'_>) -> Vec<DatasetFigures> {
    let is_storage = |name: &str| run.targets.iter().any(|target| target.name == name && target.storage);
    let of_dataset = |(index, dataset): (usize, &Dataset)| {
        // The null target answers without reading, and neither names nor checkpoints are bytes of the dataset.
        let reads = |cell: &&Cell| {
            is_storage(&cell.target)
                && (operation::reads_samples(cell) || cell.operation == feed::Operation::Copy)
        };
        let cells = || run.cells.iter().filter(move |cell| cell.dataset == index).filter(reads);
        let mut access: Vec<String> = cells().map(|cell| cell.access.to_string()).collect();
        access.sort();
        access.dedup();
        let read: f64 = cells().map(|cell| bytes_read(lines, cell, dataset)).sum();
        let counters =
            |cell: &Cell, of| lines.of_cell(&cell.cell).iter().map(move |rep| counted(rep, of)).sum::<u64>();
        let sum = |of| cells().map(|cell| counters(cell, of)).sum::<u64>();
        let (reads, written_bytes) =
            (sum(counter::OPS) + sum(counter::WARMUP_OPS), sum(counter::WRITTEN_BYTES));
        let reads_per_byte = (dataset.bytes > 0).then(|| read / dataset.bytes as f64);
        // Repetitions do not share out the dataset: each may read what another has read.
        let names: BTreeSet<&str> = cells().map(|cell| cell.cell.as_str()).collect();
        let repetitions: usize = names.into_iter().map(|name| lines.of_cell(name).len()).sum();
        let reads_repeat = repetitions > 1
            || reads_per_byte.is_some_and(|reads| reads > 1.0)
            || (repetitions > 0 && access.iter().any(|access| access == "random"));
        DatasetFigures {
            dataset: dataset.clone(),
            access,
            reads_per_byte,
            reads,
            written_bytes,
            reads_repeat,
        }
    };
    run.datasets.iter().enumerate().map(of_dataset).collect()
}

/// Bytes of all repetitions of a cell; a read of the warm-up counts as a whole block, or as a file of mean
/// size where that is less.
fn bytes_read(lines: &Lines<'_>, cell: &Cell, dataset: &Dataset) -> f64 {
    let file_bytes = dataset.bytes as f64 / dataset.files.max(1) as f64;
    let whole = operation::is_whole_file(cell);
    let read_bytes = if whole { file_bytes } else { file_bytes.min(cell.block_bytes as f64) };
    let of_cell = lines.of_cell(&cell.cell).iter();
    of_cell
        .map(|rep| {
            let warmup = counted(rep, counter::WARMUP_OPS) as f64 * read_bytes;
            counted(rep, counter::BYTES) as f64 + warmup
        })
        .sum()
}

pub(crate) fn null_targets(targets: &[Target], cells: &[CellSummary]) -> Vec<CeilingFigures> {
    let null = targets.iter().filter(|target| !target.storage);
    null.map(|target| CeilingFigures { target: target.name.clone(), fastest: fastest(&target.name, cells) })
        .collect()
}

fn fastest(target: &str, cells: &[CellSummary]) -> Option<Fastest> {
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

#[cfg(test)]
mod tests {
    use record::counter;

    use crate::fixture::{Builder, rep};
    use crate::summarise;

    #[test]
    fn a_warm_up_read_counts_as_a_block_or_as_a_smaller_file() {
        let reads = |block_bytes| {
            let mut builder = Builder::new();
            builder.cell("c", "disk", 8);
            builder.edit_cell("c", |cell| cell.block_bytes = block_bytes);
            let mut one = rep("c", 0, 0.0);
            one.counters.insert(counter::WARMUP_OPS.to_owned(), 10_000);
            builder.push(one);
            summarise(&builder.record()).datasets[0].reads_per_byte
        };
        // 10,000 files of 100 kB.
        assert_eq!(reads(1_000_000), Some(1.0));
        assert_eq!(reads(50_000), Some(0.5));
    }
}
