//! Orders of the reads, and what orders of shards and of neighbours take besides.

use feed::Access;
use plan::{DatasetSpec, Fetch, Layout, Load, Streams};

use crate::diagnostic::{Problem, Problems, Span};
use crate::written;

use super::dataset::Datasets;
use super::schedule::Schedule;

/// Shards side by side by default, at most: as many as loaders have readers on a host, and no more files open.
// Each stream is a file and a buffer; WebDataset's loaders run one for each worker, and 16 workers are many
// for a host.
const STREAMS_DEFAULT_MAX: u32 = 16;

/// Samples of a run of neighbours by default.
// With samples of 110 kB a run is 1.8 MB: long enough to show read-ahead, short against a shard.
const RUN_LENGTH_DEFAULT: u32 = 16;

/// The orders of a scenario.
#[derive(Debug)]
pub(super) struct Orders {
    /// As written. Where no order is written, each dataset has the one in which its layout is read.
    listed: Option<Vec<Access>>,
    pub(super) span: Option<Span>,
    streams: Option<u32>,
    shuffle_buffer: u32,
    run_length: u32,
}

impl Orders {
    /// Orders of each dataset.
    pub(super) fn count(&self) -> usize {
        self.listed.as_ref().map_or(1, Vec::len)
    }

    /// The order at `index` of a dataset.
    pub(super) fn at(&self, index: usize, spec: &DatasetSpec) -> Access {
        self.listed.as_ref().map_or_else(|| default_access(layout(spec)), |listed| listed[index])
    }

    /// Whether blocks of files make up samples one by one, which they do not where shards are streamed.
    pub(super) fn take_samples_of_files(&self, datasets: &Datasets) -> bool {
        let files = datasets.specs.iter().filter(|spec| layout(spec) == Layout::Files);
        files.into_iter().any(|spec| (0..self.count()).any(|index| !self.at(index, spec).streams()))
    }

    /// Whether a read of the user's own data holds a part of a sample, or many: reads of streams, row groups and chunks.
    pub(super) fn take_existing_apart(&self, datasets: &Datasets) -> bool {
        let existing = datasets.specs.iter().filter(|spec| matches!(spec, DatasetSpec::Existing(_)));
        existing.into_iter().any(|spec| {
            let layout = layout(spec);
            let is_grouped = matches!(layout, Layout::Parquet | Layout::Zarr | Layout::Hdf5);
            let is_apart = |access: Access| {
                let in_order = access == Access::Sequential && layout != Layout::Files;
                access.streams() || in_order || is_grouped
            };
            (0..self.count()).any(|index| is_apart(self.at(index, spec)))
        })
    }

    /// An order with what makes it, for a cell.
    pub(super) fn access(&self, order: Access, load: &Load, depth: u32) -> plan::Access {
        let streams = || Streams { count: self.streams(load, depth), shuffle_buffer: self.shuffle_buffer };
        match order {
            Access::Sequential => plan::Access::Sequential,
            Access::Random => plan::Access::Random,
            Access::ShuffledEpoch => plan::Access::ShuffledEpoch,
            Access::ShuffledShards => plan::Access::ShuffledShards(streams()),
            Access::ResampledShards => plan::Access::ResampledShards(streams()),
            Access::Neighbours => plan::Access::Neighbours { run_length: self.run_length },
            Access::List => plan::Access::List,
        }
    }

    /// Shards that a cell reads side by side: every reader of a training job has a stream of its own.
    fn streams(&self, load: &Load, depth: u32) -> u32 {
        match load {
            Load::Training(training) => match training.fetch {
                Fetch::Readers { count } => training.accelerators.saturating_mul(count),
                // Each accelerator has as many of its own.
                Fetch::Shared => {
                    // At least one for each accelerator, or some would starve by arithmetic alone.
                    let each = self.streams_of(depth) / training.accelerators.max(1);
                    training.accelerators.saturating_mul(each.max(1))
                }
            },
            Load::Closed | Load::Paced(_) => self.streams_of(depth),
        }
    }

    fn streams_of(&self, depth: u32) -> u32 {
        self.streams.unwrap_or_else(|| depth.min(STREAMS_DEFAULT_MAX))
    }
}

/// The order in which a loader reads this layout, unless something else is asked for.
pub(super) fn default_access(layout: Layout) -> Access {
    // Measuring tar shards by index would show what no loader can do: it has no index of them.
    if layout.is_streamed() { Access::ShuffledShards } else { Access::ShuffledEpoch }
}

/// How samples lie in a dataset, as far as the scenario says.
fn layout(spec: &DatasetSpec) -> Layout {
    match spec {
        DatasetSpec::Generate(generate) => generate.packing.map_or(Layout::Files, |packing| packing.layout),
        DatasetSpec::Existing(existing) => existing.layout.unwrap_or_default(),
    }
}

/// The orders; `None` when something was wrong, after saying why.
pub(super) fn resolve(
    written: &written::Load,
    schedule: &Schedule,
    problems: &mut Problems,
) -> Option<Orders> {
    let before = problems.len();
    let listed: Option<Vec<Access>> = written.access.optional()?;
    // An absent order may still be a stream, by the layout; that is known only with the data.
    let streams_any = listed.as_ref().is_none_or(|listed| listed.iter().any(|access| access.streams()));
    if let Some(at) = written.streams.key().filter(|_| has_readers(schedule) && streams_any) {
        let problem = Problem::new("each reader of a training job reads a stream of its own");
        let help = "write training.readers, or load.queue_depth, which streams share";
        problems.push(problem.at(at, "remove this").help(help));
    }
    let streams = written.streams.optional()?;
    if let Some((streams, at)) = streams.zip(written.streams.key()) {
        refuse_split(streams, at, schedule, problems);
    }
    let orders = Orders {
        listed,
        span: written.access.span(),
        streams,
        shuffle_buffer: written.shuffle_buffer.value_or(0)?,
        run_length: written.run_length.value_or(RUN_LENGTH_DEFAULT)?,
    };
    (problems.len() == before).then_some(orders)
}

/// Refuses a number of streams that accelerators would have to share: none takes a sample that another has begun.
fn refuse_split(streams: u32, at: Span, schedule: &Schedule, problems: &mut Problems) {
    let accelerators = schedule.series.iter().filter_map(|series| match &series.load {
        Load::Training(job) if job.fetch == Fetch::Shared => Some(job.accelerators),
        Load::Training(_) | Load::Closed | Load::Paced(_) => None,
    });
    if let Some(split) = accelerators.into_iter().find(|number| !streams.is_multiple_of(*number)) {
        let message =
            format!("{streams} streams for {}", feed::counted_noun(u64::from(split), "accelerator"));
        let problem = Problem::new(message).at(at, "each has as many streams of its own");
        problems.push(problem.help(format!("write a multiple of {split}, or remove it")));
    }
}

fn has_readers(schedule: &Schedule) -> bool {
    let readers = |load: &Load| matches!(load, Load::Training(job) if job.fetch != Fetch::Shared);
    schedule.series.iter().any(|series| readers(&series.load))
}
