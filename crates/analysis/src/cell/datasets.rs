//! How often each dataset was read, and how much of it was written over.

use std::collections::BTreeSet;

use record::{Cell, Dataset, Run, counter};

use crate::cell::counters::counted;
use crate::cell::lines::Lines;
use crate::cell::{mix, operation, samples};

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
    /// Bytes written over it in the whole run, warm-up included.
    pub written_over_bytes: f64,
    /// Whether any byte may have been read twice from storage: by two repetitions, by more than one pass,
    /// by reads drawn with replacement, or by a list that names files again.
    pub reads_repeat: bool,
}

/// Each dataset of a run, in the order of the record.
pub(crate) fn of_run(run: &Run, lines: &Lines<'_>) -> Vec<DatasetFigures> {
    let is_storage = |name: &str| run.targets.iter().any(|target| target.name == name && target.storage);
    let of_dataset = |(index, dataset): (usize, &Dataset)| {
        // The null target answers without reading, and neither names nor checkpoints are bytes of the dataset.
        let reads =
            |cell: &&Cell| is_storage(&cell.target) && (operation::reads_any_samples(cell) || is_copy(cell));
        let cells = || run.cells.iter().filter(move |cell| cell.dataset == index).filter(reads);
        let mut access: Vec<String> = cells().map(|cell| cell.access.to_string()).collect();
        access.sort();
        access.dedup();
        let moved = |cell: &Cell| Moved::of(lines, cell, dataset);
        let read: f64 = cells().map(|cell| moved(cell).read).sum();
        let of_dataset = run.cells.iter().filter(|cell| cell.dataset == index && is_storage(&cell.target));
        let written_over_bytes = of_dataset.map(|cell| moved(cell).written).sum();
        let counters =
            |cell: &Cell, of| lines.of_cell(&cell.cell).iter().map(move |rep| counted(rep, of)).sum::<u64>();
        let reads = cells().map(|cell| {
            let ops = counters(cell, counter::OPS) + counters(cell, counter::WARMUP_OPS);
            let Moved { read, written } = moved(cell);
            // Blocks of one size: as many operations as bytes.
            if written > 0.0 { (ops as f64 * read / (read + written)).round() as u64 } else { ops }
        });
        let reads = reads.sum();
        let copies = cells().filter(|cell| is_copy(cell));
        let written_bytes = copies.map(|cell| counters(cell, counter::WRITTEN_BYTES)).sum();
        let reads_per_byte = (dataset.bytes > 0).then(|| read / dataset.bytes as f64);
        // Repetitions do not share out the dataset: each may read what another has read.
        // Repetitions, and not the bytes alone: two of them that read a quarter each may have read the same quarter.
        let names: BTreeSet<&str> = cells().map(|cell| cell.cell.as_str()).collect();
        let repetitions: usize = names.into_iter().map(|name| lines.of_cell(name).len()).sum();
        let reads_repeat = repetitions > 1
            // What was written may be read again as well as what was read.
            || (read > 0.0 && read + written_over_bytes > dataset.bytes as f64)
            // Draws with replacement repeat within one pass: of as many draws as there are samples, 63 % are distinct.
            || (repetitions > 0 && access.iter().any(|access| access == "random"))
            || (repetitions > 0 && samples::are_read_again(dataset));
        DatasetFigures {
            dataset: dataset.clone(),
            access,
            reads_per_byte,
            reads,
            written_bytes,
            written_over_bytes,
            reads_repeat,
        }
    };
    run.datasets.iter().enumerate().map(of_dataset).collect()
}

fn is_copy(cell: &Cell) -> bool {
    cell.operation == feed::Operation::Copy
}

/// Bytes that all repetitions of a cell read, and those that they wrote over.
struct Moved {
    read: f64,
    written: f64,
}

impl Moved {
    /// An operation of the warm-up counts as a whole block, or as a file of mean size where that is less.
    fn of(lines: &Lines<'_>, cell: &Cell, dataset: &Dataset) -> Self {
        let file_bytes = dataset.bytes as f64 / dataset.files.max(1) as f64;
        let whole = operation::is_of_whole_objects(cell);
        let block_bytes = if whole { file_bytes } else { file_bytes.min(cell.block_bytes as f64) };
        // Those of the warm-up are not counted apart.
        let share = mix::share(cell).unwrap_or(if operation::is_write(cell) { 1.0 } else { 0.0 });
        let mut sum = Self { read: 0.0, written: 0.0 };
        for rep in lines.of_cell(&cell.cell) {
            let warmup = counted(rep, counter::WARMUP_OPS) as f64 * block_bytes;
            let written = mix::written_bytes(cell, rep).unwrap_or(0) as f64;
            sum.read += counted(rep, counter::BYTES) as f64 - written + warmup * (1.0 - share);
            sum.written += written + warmup * share;
        }
        sum
    }
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
