//! The datasets: one for each layout, sample size and form.

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
use super::forms::{self, Form, Forms};
use super::packing::{self, Content, Written};
use super::schedule::List;
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
    /// The lists that multiply them.
    pub(super) lists: Vec<List>,
    /// What is written over begins here in `specs`, in the order of `samples`; 0 where nothing is only read.
    written_from: usize,
}

impl Datasets {
    /// The dataset of an operation: what is written over, or has names made beside it, is apart from what is read, which is held
    /// against its bytes.
    pub(super) fn of_operation(&self, index: usize, operation: Operation) -> usize {
        if operation.changes_storage() { self.written_from + index } else { index }
    }

    /// Adds what is written over.
    fn with_written(mut self, tasks: &[Task]) -> Self {
        let is_write = |task: &Task| task.operation.changes_storage();
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
    packing::refuse_columns(written, &layouts, problems)?;
    let distribution = spread::resolve(written, &document.need, &sizes, problems);
    let shared = plan::Generate {
        distribution: distribution?,
        files_per_folder: written.files_per_folder.value_or(FILES_PER_FOLDER)?,
        seed: written.seed.value_or(SEED_DEFAULT)?,
        beside_others: written.beside_others.value_or(false)?,
        ..plan::Generate::NONE
    };
    let of_layouts: Vec<_> =
        layouts.iter().map(|layout| Forms::of_layout(written, layout.layout)).collect::<Option<_>>()?;
    let count = sizes.len() * of_layouts.iter().map(Forms::count).sum::<usize>();
    let lists = lists(written, (&layouts, &sizes), count);
    // Before any is made: each is read by a cell or more, and a product of lists can be larger than the memory.
    if let Some(problem) = amounts::too_many_cells(count as u128, &lists) {
        problems.push(problem);
        return None;
    }
    let (mut specs, mut samples) = (Vec::new(), Vec::new());
    for (layout, forms) in layouts.iter().zip(&of_layouts) {
        spread::refuse_layout(written, *layout, shared.distribution, problems)?;
        for sample in &sizes {
            packing::refuse_same_shards(forms, sample, problems)?;
            for form in forms.all() {
                let sample = Sample { layout: Some(layout.layout), form, ..*sample };
                specs.push(of_sample(written, *layout, &sample, shared, problems)?);
                samples.push(sample);
            }
        }
    }
    let layouts = layouts.len();
    Some(Datasets { origin: Origin::Generate, specs, samples, layouts, lists, written_from: 0 })
}

/// The lists that multiply to `count` datasets.
fn lists(written: &Dataset, (layouts, sizes): (&[Written], &[Sample]), count: usize) -> Vec<List> {
    let list = |span, length, what| List { span, length, what };
    let sample_size = sizes.first().and_then(|sample| sample.span);
    let mut lists = vec![
        list(written.layout.span(), layouts.len(), "layouts"),
        list(sample_size, sizes.len(), "sample sizes"),
    ];
    lists.extend(forms::lists(written));
    if lists.iter().map(|list| list.length).product::<usize>() == count {
        return lists;
    }
    // No product: a list means nothing in one of the layouts.
    vec![list(written.layout.span(), count, "datasets")]
}

/// One dataset.
fn of_sample(
    written: &Dataset,
    layout: Written,
    sample: &Sample,
    shared: plan::Generate,
    problems: &mut Problems,
) -> Option<DatasetSpec> {
    let sample_bytes = sample.bytes?;
    let samples = sample_count(written, sample_bytes)?;
    if let Some(problem) = amounts::too_much_data(written, samples, (sample_bytes, sample.span)) {
        problems.push(problem);
        return None;
    }
    let content = Content { samples, sample_bytes, form: sample.form };
    let packing = packing::of_layout(written, layout, &content, problems)?;
    let compressible_percent = sample.form.compressible_percent.map_or(0, |choice| choice.value);
    Some(DatasetSpec::Generate(plan::Generate {
        samples,
        sample_bytes,
        packing,
        compressible_percent,
        ..shared
    }))
}

fn sample_sizes(written: &Field<crate::list::Axis<Size>>, need: Option<&feed::Need>) -> Option<Vec<Sample>> {
    if let Some(axis) = written.entry()? {
        return Some(axis.value.0.iter().map(written_sample).collect());
    }
    let bytes = need?.sample_bytes().map_or(SAMPLE_DEFAULT_BYTES, |bytes| (bytes.round() as u64).max(1));
    Some(vec![of_bytes(bytes, None)])
}

fn written_sample(item: &Item<Size>) -> Sample {
    of_bytes(item.value.0, Some(item.span))
}

fn of_bytes(bytes: u64, span: Option<Span>) -> Sample {
    Sample { bytes: Some(bytes), span, layout: None, form: Form::default() }
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
    Some(Datasets {
        origin: Origin::Existing,
        specs,
        samples,
        layouts: 1,
        lists: Vec::new(),
        written_from: 0,
    })
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
