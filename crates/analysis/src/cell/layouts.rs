//! How samples lie in the objects of each dataset, and what packing them gains over a file for each.

mod gain;
mod samples;
#[cfg(test)]
mod tests;

use record::{Cell, Dataset, RunRecord};

use crate::cell::cell_summary::CellSummary;
use crate::cell::operation;

pub(crate) use samples::{FILES, payload, samples};

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
    /// How they are packed, in words: `shard size 256 MiB, codec zstd`.
    pub packing: String,
}

/// A cell that reads shards as streams.
#[derive(Debug, Clone, PartialEq)]
pub struct Streamed {
    /// Index into [`crate::Summary::cells`].
    pub cell: usize,
    /// What a reader must know of its order, a sentence each.
    pub notes: Vec<String>,
}

pub(crate) fn of_run(record: &RunRecord, cells: &[CellSummary]) -> Layouts {
    let datasets = &record.run.datasets;
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
        let notes = notes(&cell.cell, datasets.get(cell.cell.dataset), record.run.ranks);
        (cell.storage && !notes.is_empty()).then_some(Streamed { cell: index, notes })
    });
    Layouts {
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
        let words: Vec<String> = dataset
            .packing
            .iter()
            .map(|fact| format!("{} {}", fact.name.replace('_', " "), fact.value))
            .collect();
        Some(Self {
            target: dataset.target.clone(),
            layout: dataset.layout.clone(),
            objects: dataset.files,
            samples,
            read_bytes: dataset.sample_bytes,
            stored_bytes,
            payload_bytes,
            overhead: payload_bytes.map(|payload| stored_bytes / payload - 1.0),
            packing: words.join(", "),
        })
    }
}

/// What is known of the order in which streams bring samples, in words.
fn notes(cell: &Cell, dataset: Option<&Dataset>, ranks: u32) -> Vec<String> {
    if !operation::reads_samples(cell) {
        return Vec::new();
    }
    let mut notes = Vec::new();
    if let Some(streams) = cell.streams {
        let buffer = match cell.shuffle_buffer {
            Some(0) | None => "no shuffle buffer".to_owned(),
            Some(samples) => format!("each with a shuffle buffer of {}", counted(samples)),
        };
        let asked = u64::from(streams);
        let there = dataset.map_or(asked, |dataset| dataset.files).max(1);
        let of_asked = if there < asked { format!(" of the {asked} asked for") } else { String::new() };
        let shards = feed::counted_noun(asked.min(there), "shard");
        notes.push(format!("{shards} side by side{of_asked}, {buffer}"));
    }
    if let Some(length) = cell.run_length {
        notes.push(format!("runs of {} that follow each other", counted(length)));
    }
    notes.extend(cell.mixing.as_ref().filter(|mixing| is_finite(mixing)).map(mixed));
    if let Some(dataset) = dataset.filter(|_| ranks > 1 && cell.streams.is_some()) {
        let most = feed::formula::shards_per_rank(dataset.files, ranks.into());
        let tail = feed::formula::shard_tail(dataset.files, ranks.into());
        let shards = feed::counted_noun(most, "shard");
        notes.push(format!(
            "{shards} for the rank that has most; the mean one has nothing left for {:.1} % of an epoch",
            tail * 100.0
        ));
    }
    notes
}

fn counted(samples: u32) -> String {
    feed::counted_noun(samples.into(), "sample")
}

fn is_finite(mixing: &record::Mixing) -> bool {
    [mixing.displacement, mixing.neighbours_kept, mixing.imbalance].iter().all(|value| value.is_finite())
}

/// `samples move 62 % as far as a whole shuffle moves them, ...`.
fn mixed(mixing: &record::Mixing) -> String {
    let moved = mixing.displacement * 100.0;
    let kept = mixing.neighbours_kept * 100.0;
    let held = match mixing.buffer_samples {
        0 => String::new(),
        samples => format!(" ({} held by all readers)", feed::group_digits(samples)),
    };
    let uneven = if mixing.imbalance > 0.0 {
        format!("; the largest share of a reader is {:.1} % above the mean one", mixing.imbalance * 100.0)
    } else {
        String::new()
    };
    format!(
        "samples move {moved:.0} % as far as a whole shuffle moves them, and {kept:.1} % still follow their \
         neighbour{held}{uneven}"
    )
}
