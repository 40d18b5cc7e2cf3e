//! How samples lie in the objects of each dataset, and what packing them gains over a file for each.

mod gain;
#[cfg(test)]
mod tests;

use record::{Cell, Dataset, Fact, Mixing, RunRecord};

use crate::cell::cell_summary::CellSummary;
use crate::cell::operation;
use crate::cell::samples::{FILES, payload, samples};

pub use gain::{LayoutGain, PredictedGain};

/// The layouts of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layouts {
    /// Each dataset of a storage target that is packed, or whose samples lie as files beside a packed one; empty where
    /// all are files.
    pub datasets: Vec<LayoutFigures>,
    /// Packed cells against files of the same samples on the same target, in the order of the scenario.
    pub gains: Vec<LayoutGain>,
    /// Cells that read streams, with what is known of their order.
    pub streamed: Vec<Streamed>,
    /// Whether the scenario asks for samples of several sizes.
    pub samples_differ: bool,
}

/// How one dataset lies.
#[derive(Debug, Clone, PartialEq)]
pub struct LayoutFigures {
    /// Name of the target that holds it.
    pub target: String,
    /// `files`, `webdataset`, …
    pub layout: String,
    /// Objects that hold it.
    pub objects: u64,
    /// Samples in them.
    pub samples: u64,
    /// Bytes that are read for one sample.
    pub read_bytes: f64,
    /// Bytes stored for one sample: those of all objects by the samples.
    pub stored_bytes: f64,
    /// Bytes of a sample without headers and padding; absent where the scenario does not give them.
    pub payload_bytes: Option<f64>,
    /// What is stored beyond the payload, as a share of it: below 0 where it is compressed.
    pub overhead: Option<f64>,
    /// How they are packed, as recorded.
    pub packing: Vec<Fact>,
}

/// A cell that reads shards as streams.
#[derive(Debug, Clone, PartialEq)]
pub struct Streamed {
    /// Index into [`crate::Summary::cells`].
    pub cell: usize,
    /// What a reader must know of its order.
    pub order: Vec<OrderFact>,
}

/// Something that a reader must know of the order in which samples come.
#[derive(Debug, Clone, PartialEq)]
pub enum OrderFact {
    /// Shards that are read side by side.
    SideBySide {
        /// How many.
        shards: u64,
        /// How many were asked for, where there are fewer.
        asked: Option<u64>,
        /// Samples that the shuffle buffer of each holds; 0 without one.
        buffer_samples: u32,
    },
    /// Runs of samples that follow each other.
    Runs {
        /// Samples of one.
        samples: u32,
    },
    /// How far samples are mixed.
    Mixed(Mixing),
    /// What is left to the ranks at the end of an epoch.
    Tail {
        /// Shards of the rank that has most.
        shards: u64,
        /// Share of an epoch for which the mean rank has nothing left.
        share: f64,
    },
}

pub(crate) fn of_run(record: &RunRecord, cells: &[CellSummary]) -> Layouts {
    let datasets = &record.run.datasets;
    // A table of files alone would say that a file holds a file.
    let any_packed = datasets.iter().any(|dataset| dataset.layout != FILES);
    let is_storage = |dataset: &&Dataset| {
        let held_by = record.run.targets.iter().find(|target| target.name == dataset.target);
        held_by.is_none_or(|target| target.storage)
    };
    let shown = datasets.iter().enumerate().filter(|(_, dataset)| any_packed && is_storage(dataset));
    let figures = |(index, dataset): (usize, &Dataset)| {
        let payload =
            cells.iter().find(|cell| cell.cell.dataset == index).and_then(|cell| payload(&cell.cell));
        LayoutFigures::of(dataset, payload)
    };
    let streamed = cells.iter().enumerate().filter_map(|(index, cell)| {
        let order = order(&cell.cell, datasets.get(cell.cell.dataset), record.run.ranks_of(&cell.cell));
        (cell.storage && !order.is_empty()).then_some(Streamed { cell: index, order })
    });
    // Here and not where a cell is named: a run of 10,000 cells names each of them several times.
    let mut payloads = cells.iter().filter_map(|cell| payload(&cell.cell));
    let samples_differ =
        payloads.next().is_some_and(|first| payloads.any(|bytes| bytes.total_cmp(&first).is_ne()));
    Layouts {
        samples_differ,
        datasets: shown.filter_map(figures).collect(),
        gains: if any_packed { gain::of_cells(record, cells) } else { Vec::new() },
        streamed: streamed.collect(),
    }
}

impl LayoutFigures {
    fn of(dataset: &Dataset, payload_bytes: Option<f64>) -> Option<Self> {
        let samples = samples(dataset);
        if samples == 0 || dataset.bytes == 0 {
            return None;
        }
        let stored_bytes = dataset.bytes as f64 / samples as f64;
        // What a file holds is its sample.
        let payload_bytes = payload_bytes.or_else(|| (dataset.layout == FILES).then_some(stored_bytes));
        Some(Self {
            target: dataset.target.clone(),
            layout: dataset.layout.clone(),
            objects: dataset.files,
            samples,
            read_bytes: dataset.sample_bytes,
            stored_bytes,
            payload_bytes,
            overhead: payload_bytes.map(|payload| stored_bytes / payload - 1.0),
            packing: dataset.packing.clone(),
        })
    }
}

/// What is known of the order in which streams bring samples.
fn order(cell: &Cell, dataset: Option<&Dataset>, ranks: u32) -> Vec<OrderFact> {
    if !operation::reads_samples(cell) {
        return Vec::new();
    }
    let mut facts = Vec::new();
    if let Some(streams) = cell.streams.map(u64::from) {
        // More streams than shards are asked for in sweeps; the rest of them have nothing to read.
        let there = dataset.map_or(streams, |dataset| dataset.files).max(1);
        facts.push(OrderFact::SideBySide {
            shards: streams.min(there),
            asked: (there < streams).then_some(streams),
            buffer_samples: cell.shuffle_buffer.unwrap_or(0),
        });
    }
    facts.extend(cell.run_length.map(|samples| OrderFact::Runs { samples }));
    facts.extend(cell.mixing.as_ref().filter(|mixing| is_finite(mixing)).copied().map(OrderFact::Mixed));
    if let Some(dataset) = dataset.filter(|_| ranks > 1 && cell.streams.is_some()) {
        facts.push(OrderFact::Tail {
            shards: feed::formula::shards_per_rank(dataset.files, ranks.into()),
            share: feed::formula::shard_tail(dataset.files, ranks.into()),
        });
    }
    facts
}

fn is_finite(mixing: &Mixing) -> bool {
    [mixing.displacement, mixing.neighbours_kept, mixing.imbalance].iter().all(|value| value.is_finite())
}
