//! How samples that feedline writes are packed into files: one packing for each layout.

use plan::{Codec, Layout, Packing};

use crate::diagnostic::{Problem, Problems, Span};
use crate::written::{Columns, Dataset};

use super::block::Sample;
use super::forms::{Choice, Form, Forms};

/// Large enough that opening a shard is no part of reading it, small enough that many readers find one each: what
/// `WebDataset` and `MosaicML` Streaming advise lies between 100 MB and 1 GB.
pub(super) const SHARD_DEFAULT_BYTES: u64 = 256 << 20;

/// A sample and one small member beside it, as an image and its label.
pub(super) const MEMBERS_DEFAULT: u32 = 2;

// Several, so that reading some of them differs from reading all; few, so that each chunk is still worth a
// read.
pub(super) const COLUMNS_DEFAULT: u32 = 4;

/// Between the 128 MiB that Spark writes and the 1 Mi rows of `PyArrow`, which for images is a file.
pub(super) const ROW_GROUP_DEFAULT_BYTES: u64 = 64 << 20;

/// A layout, and where it was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written {
    pub(super) layout: Layout,
    pub(super) span: Option<Span>,
}

/// The layouts as written; `None` when one was wrong.
pub(super) fn layouts(written: &Dataset) -> Option<Vec<Written>> {
    let layouts = written.layout.placed_or(Layout::Files)?;
    Some(layouts.into_iter().map(|(layout, span)| Written { layout, span }).collect())
}

/// What is to be packed.
pub(super) struct Content {
    pub(super) samples: u64,
    pub(super) sample_bytes: u64,
    pub(super) form: Form,
}

/// The packing of one layout; `Some(None)` where each sample is a file, `None` when a key was wrong, after saying why.
#[expect(clippy::option_option, reason = "files and wrong differ")]
pub(super) fn of_layout(
    written: &Dataset,
    of: Written,
    content: &Content,
    problems: &mut Problems,
) -> Option<Option<Packing>> {
    if of.layout == Layout::Files {
        return Some(None);
    }
    if !of.layout.is_written() {
        let problem = Problem::new(format!("feedline reads {} and does not write it", of.layout.name()));
        let problem = of.span.into_iter().fold(problem, |problem, at| problem.at(at, "only read"));
        problems.push(problem.help(
            "read files that are there with dataset.source = \"existing\", or write layout = \"indexed\"",
        ));
        return None;
    }
    refuse_large_chunk(of, content, problems)?;
    let parquet = of.layout == Layout::Parquet;
    let total_bytes = content.samples.saturating_mul(content.sample_bytes);
    let form = &content.form;
    let shard_bytes = shard_bytes(written, form, total_bytes, problems)?;
    let columns = if parquet { columns(written, problems)? } else { 1 };
    let columns_read = if parquet { columns_read(written, columns, problems)? } else { 1 };
    let row_group_bytes =
        if parquet { row_group_bytes(written, form, shard_bytes, problems)? } else { shard_bytes };
    let members = form.members.map_or(MEMBERS_DEFAULT, |choice| choice.value);
    Some(Some(Packing {
        layout: of.layout,
        shard_bytes,
        members: if of.layout == Layout::WebDataset { members } else { 1 },
        codec: codec(form.codec, of, problems)?,
        columns,
        columns_read,
        row_group_bytes,
    }))
}

/// A sample of HDF5 is a chunk, which has a limit.
fn refuse_large_chunk(of: Written, content: &Content, problems: &mut Problems) -> Option<()> {
    if of.layout != Layout::Hdf5 || content.sample_bytes <= plan::HDF5_SAMPLE_BYTES_MAX {
        return Some(());
    }
    let sample = feed::format_bytes(content.sample_bytes);
    let problem =
        Problem::new(format!("a sample of {sample} is a chunk of HDF5, whose bytes are stated in 32 bits"));
    let problem = of.span.into_iter().fold(problem, |problem, at| problem.at(at, "this layout"));
    let most = feed::group_digits(plan::HDF5_SAMPLE_BYTES_MAX);
    problems.push(problem.help(format!(
        "write a dataset.sample_size of at most \"{most} B\", or layout = \"indexed\", whose records may be larger"
    )));
    None
}

/// Refuses a number of columns where no Parquet file is written: of HDF5, columns are datasets of the user's.
pub(super) fn refuse_columns(written: &Dataset, layouts: &[Written], problems: &mut Problems) -> Option<()> {
    let of = |wanted| layouts.iter().find(|written| written.layout == wanted);
    let (Some(columns), Some(hdf5), None) = (written.columns.key(), of(Layout::Hdf5), of(Layout::Parquet))
    else {
        return Some(());
    };
    let problem = Problem::new("feedline writes one dataset into a file of HDF5, and no columns")
        .at(columns, "remove this")
        .also_if(hdf5.span, "this layout");
    problems.push(problem.help("write layout = \"parquet\", which has columns"));
    None
}

fn shard_bytes(written: &Dataset, form: &Form, total_bytes: u64, problems: &mut Problems) -> Option<u64> {
    let Some(shard) = form.shard_bytes else { return Some(SHARD_DEFAULT_BYTES.min(total_bytes)) };
    // A shard that is never full would be called by a size that it does not have.
    if shard.value <= total_bytes {
        return Some(shard.value);
    }
    let total = feed::format_bytes(total_bytes);
    let problem = Problem::new(format!("a shard is larger than the dataset of {total}"))
        .at(shard.span, "larger than all samples")
        .also_if(written.samples.span().or(written.size.span()), "this much is written");
    problems.push(problem.help("write a smaller dataset.shard_size, or a larger dataset.size"));
    None
}

/// Refuses shard sizes of which each shard holds the same samples of one size; `None` when some do.
pub(super) fn refuse_same_shards(forms: &Forms, sample: &Sample, problems: &mut Problems) -> Option<()> {
    let sample_bytes = sample.bytes?;
    let Some([one, other]) = forms.same_shards(sample_bytes) else { return Some(()) };
    // Two names for one thing: what sets their figures apart would be chance.
    let samples = feed::counted_noun(other.value.div_ceil(sample_bytes), "sample");
    let problem = Problem::new(format!("two shard sizes make the same shards, of {samples} each"))
        .at(other.span, "reached by as many")
        .also(one.span, "this")
        .also_if(sample.span, "of this size");
    problems.push(problem.help("write shard sizes that differ by a sample and more, or one of them"));
    None
}

fn row_group_bytes(written: &Dataset, form: &Form, shard_bytes: u64, problems: &mut Problems) -> Option<u64> {
    let Some(entry) = written.row_group_size.entry()? else {
        return Some(ROW_GROUP_DEFAULT_BYTES.min(shard_bytes));
    };
    if entry.value.0 <= shard_bytes {
        return Some(entry.value.0);
    }
    let shard = feed::format_bytes(shard_bytes);
    let problem = Problem::new(format!("a row group is larger than its shard of {shard}"))
        .at(entry.span, "larger than a shard")
        .also_if(form.shard_bytes.map(|choice| choice.span), "one shard");
    problems.push(problem.help("write a smaller dataset.row_group_size"));
    None
}

fn columns(written: &Dataset, problems: &mut Problems) -> Option<u32> {
    let Some(entry) = written.columns.entry()? else { return Some(COLUMNS_DEFAULT) };
    match &entry.value {
        Columns::Count(count) => Some(*count),
        Columns::Names(_) => {
            let problem = Problem::new("columns that feedline writes are counted, not named")
                .at(entry.span, "names them")
                .also_if(written.source.span(), "here feedline writes them");
            problems.push(problem.help("for example dataset.columns = 4"));
            None
        }
    }
}

fn columns_read(written: &Dataset, columns: u32, problems: &mut Problems) -> Option<u32> {
    let Some(entry) = written.read_columns.entry()? else { return Some(columns) };
    if entry.value.0 <= u64::from(columns) {
        return Some(entry.value.0 as u32);
    }
    let problem = Problem::new(format!("{} of {columns} columns cannot be read", entry.value.0))
        .at(entry.span, "more than there are")
        .also_if(written.columns.span(), "so many are written");
    problems.push(problem.help(format!("write at most {columns}, or more dataset.columns")));
    None
}

/// A codec that one of several layouts does not have is refused, and not left out there: figures of two codecs would
/// stand side by side as those of two layouts.
fn codec(choice: Option<Choice<Codec>>, of: Written, problems: &mut Problems) -> Option<Codec> {
    let Some(Choice { value: codec, span, .. }) = choice else { return Some(Codec::None) };
    let possible = match of.layout {
        Layout::WebDataset => true,
        // TensorFlow reads GZIP and ZLIB; h5py takes a plugin for Zstandard.
        Layout::TfRecord | Layout::Hdf5 => codec != Codec::Zstd,
        // Formats that are read by offset cannot be compressed as a whole; Parquet and Zarr compress inside, which
        // is not written here.
        _ => codec == Codec::None,
    };
    if possible {
        return Some(codec);
    }
    let (name, layout) = (codec.name(), of.layout.name());
    let problem = Problem::new(format!("no reader of {layout} shards takes them compressed with {name}"))
        .at(span, format!("not {layout}"))
        .also_if(of.span, "this layout");
    problems.push(problem.help(
        "webdataset shards may be compressed with gzip or zstd, tfrecord and hdf5 shards with gzip; write a scenario for \
         each codec",
    ));
    None
}
