//! The datasets: one for each sample size.

use plan::{DatasetSpec, Distribution, FILES_PER_FOLDER, FileOrder, Layout, Operation};

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::Item;
use crate::reader::{Field, Plain as _};
use crate::value::Size;
use crate::words::Origin;
use crate::written::{Columns, Dataset, Document};

use super::amounts;
use super::block::{Blocks, Sample};
use super::device::Devices;
use super::packing::{self, Content, Written};
use super::spread;
use super::task::Task;

/// Bytes of a dataset by default. Written in seconds to a fast disk, in a minute or two to a slow one; a scenario that is to
/// decide something about a server with memory of its own names a larger one.
pub const SIZE_DEFAULT_BYTES: u64 = 8 << 30;

/// The sample size where the need names none.
// A rate of bytes has no samples. 1 MiB is large enough that latency is not all that is measured, and no
// larger than a default block.
const SAMPLE_DEFAULT_BYTES: u64 = 1 << 20;

// Fixed: a second run has to find the dataset of the first, which it knows by its seed.
const SEED_DEFAULT: u64 = 1;

/// The datasets of the scenario; `samples[i]` belongs to `specs[i]`.
#[derive(Debug)]
pub(super) struct Datasets {
    pub(super) origin: Origin,
    pub(super) specs: Vec<DatasetSpec>,
    pub(super) samples: Vec<Sample>,
    /// Layouts that are compared.
    pub(super) layouts: usize,
    /// What is written over begins here in `specs`, in the order of `samples`; 0 where nothing is only read.
    written_from: usize,
}

impl Datasets {
    /// The dataset of an operation: what is written over is apart from what is read, which is held against its bytes.
    pub(super) fn of_operation(&self, index: usize, operation: Operation) -> usize {
        if operation == Operation::Write { self.written_from + index } else { index }
    }

    /// Adds what is written over.
    fn with_written(mut self, tasks: &[Task]) -> Self {
        let is_write = |task: &Task| task.operation == Operation::Write;
        let written_over = |spec: &DatasetSpec| match spec {
            DatasetSpec::Generate(generate) => {
                DatasetSpec::Generate(plan::Generate { written_over: true, ..*generate })
            }
            existing @ DatasetSpec::Existing(_) => existing.clone(),
        };
        let written: Vec<DatasetSpec> = self.specs.iter().map(written_over).collect();
        if tasks.iter().all(is_write) {
            self.specs = written;
        } else if tasks.iter().any(is_write) {
            self.written_from = self.specs.len();
            self.specs.extend(written);
        }
        self
    }

    /// Whether all files have the sample size.
    pub(super) fn is_uniform(&self) -> bool {
        let fixed = |spec: &DatasetSpec| {
            matches!(spec, DatasetSpec::Generate(plan::Generate { distribution: Distribution::Fixed, .. }))
        };
        self.specs.iter().all(fixed)
    }

    /// Whether one block size serves shards and files alike: a file smaller than the block is then read at once.
    pub(super) fn fits(&self, blocks: &Blocks) -> bool {
        self.layouts > 1 && blocks.count(Operation::Read) == 1
    }

    /// Bytes that feedline writes below each path, as a disk allocates them.
    pub(super) fn bytes_to_write(&self) -> u64 {
        self.specs.iter().map(DatasetSpec::disk_bytes).fold(0, u64::saturating_add)
    }
}

/// Where a layout was written.
pub(super) fn place_of(document: &Document, layout: Layout) -> Option<Span> {
    let mut listed = document.dataset.layout.given()?.value.0.iter();
    listed.find(|item| item.value.0 == layout).map(|item| item.span)
}

pub(super) fn resolve(
    document: &Document,
    need: Option<&feed::Need>,
    devices: &Devices,
    (tasks, order): (&[Task], Option<FileOrder>),
    problems: &mut Problems,
) -> Option<Datasets> {
    let written = &document.dataset;
    match written.source.value_or(Origin::default())? {
        Origin::Generate => Some(generated(document, need, problems)?.with_written(tasks)),
        Origin::Existing => existing(written, need, devices, order, problems),
    }
}

fn generated(document: &Document, need: Option<&feed::Need>, problems: &mut Problems) -> Option<Datasets> {
    let written = &document.dataset;
    if let (Some(samples), Some(size)) = (written.samples.key(), written.size.key()) {
        let problem = Problem::new("`dataset.samples` and `dataset.size` both say how much to write");
        problems.push(problem.at(samples, "remove this").at(size, "or this"));
        return None;
    }
    let sizes = sample_sizes(&written.sample_size, need)?;
    let layouts = packing::layouts(written)?;
    let distribution = spread::resolve(written, &document.need, &sizes, problems);
    let shared = plan::Generate {
        distribution: distribution?,
        files_per_folder: written.files_per_folder.value_or(FILES_PER_FOLDER)?,
        seed: written.seed.value_or(SEED_DEFAULT)?,
        compressible_percent: written.compressibility.value_or(0)?,
        beside_others: written.beside_others.value_or(false)?,
        ..plan::Generate::NONE
    };
    let (mut specs, mut samples) = (Vec::new(), Vec::new());
    for layout in &layouts {
        spread::refuse_layout(written, *layout, shared.distribution, problems)?;
        for sample in &sizes {
            specs.push(of_size(written, *layout, *sample, shared, problems)?);
            samples.push(Sample { layout: Some(layout.layout), ..*sample });
        }
    }
    Some(Datasets { origin: Origin::Generate, specs, samples, layouts: layouts.len(), written_from: 0 })
}

/// One dataset: a layout and a sample size.
fn of_size(
    written: &Dataset,
    layout: Written,
    sample: Sample,
    shared: plan::Generate,
    problems: &mut Problems,
) -> Option<DatasetSpec> {
    let sample_bytes = sample.bytes?;
    let samples = sample_count(written, sample_bytes)?;
    if let Some(problem) = amounts::too_much_data(written, samples, (sample_bytes, sample.span)) {
        problems.push(problem);
        return None;
    }
    let packing = packing::of_layout(written, layout, &Content { samples, sample_bytes }, problems)?;
    Some(DatasetSpec::Generate(plan::Generate { samples, sample_bytes, packing, ..shared }))
}

fn sample_sizes(written: &Field<crate::list::Axis<Size>>, need: Option<&feed::Need>) -> Option<Vec<Sample>> {
    if let Some(axis) = written.entry()? {
        return Some(axis.value.0.iter().map(written_sample).collect());
    }
    let bytes = need?.sample_bytes().map_or(SAMPLE_DEFAULT_BYTES, |bytes| (bytes.round() as u64).max(1));
    Some(vec![Sample { bytes: Some(bytes), span: None, layout: None }])
}

fn written_sample(item: &Item<Size>) -> Sample {
    Sample { bytes: Some(item.value.0), span: Some(item.span), layout: None }
}

/// As many samples as reach the size, at least one.
fn sample_count(written: &Dataset, sample_bytes: u64) -> Option<u64> {
    match written.samples.optional()? {
        // Rounded up, as "at least so much data" is what keeps a cache out.
        None => Some(written.size.value_or(SIZE_DEFAULT_BYTES)?.div_ceil(sample_bytes).max(1)),
        samples => samples,
    }
}

fn existing(
    written: &Dataset,
    need: Option<&feed::Need>,
    devices: &Devices,
    order: Option<FileOrder>,
    problems: &mut Problems,
) -> Option<Datasets> {
    let source = written.source.key()?;
    let sample = match &written.sample_size {
        Field::Absent => devices.sample(need, problems)?,
        Field::Given(axis) => {
            if let [item] = axis.value.0.as_slice() {
                written_sample(item)
            } else {
                let problem = Problem::new("files of the user's have one sample size, not a list of them");
                problems.push(problem.at(axis.span, "write one size").also(source, "says whose files"));
                return None;
            }
        }
        Field::Wrong(_) => return None,
    };
    let layout = existing_layout(written, source, devices, problems)?;
    let spec = plan::Existing {
        sample_bytes: sample.bytes,
        layout,
        shards: written.shards.optional()?,
        columns: existing_columns(written, source, problems)?,
        order,
    };
    let samples = vec![Sample { layout, ..sample }];
    let specs = vec![DatasetSpec::Existing(spec)];
    Some(Datasets { origin: Origin::Existing, specs, samples, layouts: 1, written_from: 0 })
}

/// The layout of the user's files. Where it is absent it is found later, unless a stated sample size says that files
/// are read as they are.
#[expect(clippy::option_option, reason = "not stated and wrong differ")]
fn existing_layout(
    written: &Dataset,
    source: Span,
    devices: &Devices,
    problems: &mut Problems,
) -> Option<Option<Layout>> {
    // A device is one object without a format: what lies on it is read as blocks.
    if !devices.all.is_empty() {
        return Some(Some(Layout::Files));
    }
    match &written.layout {
        Field::Wrong(_) => None,
        Field::Absent => {
            let files = !written.sample_size.is_absent() && written.columns.is_absent();
            // Who states the size of a sample says that files are samples, or blocks of them; detection
            // would overrule it.
            Some(files.then_some(Layout::Files))
        }
        Field::Given(axis) => {
            if let [item] = axis.value.0.as_slice() {
                return Some(Some(item.value.0));
            }
            let problem = Problem::new("files of the user's have one layout, not a list of them");
            problems.push(problem.at(axis.span, "write one word").also(source, "says whose files"));
            None
        }
    }
}

fn existing_columns(written: &Dataset, source: Span, problems: &mut Problems) -> Option<Vec<String>> {
    let Some(entry) = written.columns.entry()? else { return Some(Vec::new()) };
    match &entry.value {
        Columns::Names(names) => Some(names.plain()),
        Columns::Count(_) => {
            let problem = Problem::new("columns of the user's files are named, not counted")
                .at(entry.span, "counts them")
                .also(source, "here the data is the user's");
            problems.push(problem.help("for example dataset.columns = [\"image\", \"label\"]"));
            None
        }
    }
}
