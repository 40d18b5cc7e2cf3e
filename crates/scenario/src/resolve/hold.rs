//! What stays of a workload's need where samples are not of its size. The line must not move with the size of generated
//! files unless the scenario asks for it.

use feed::{Hold, Need, format_bps, format_count, group_digits};
use plan::{DatasetSpec, Generate};

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::Item;
use crate::words::Origin;
use crate::written::{Document, Need as Written};

use super::dataset::Datasets;
use super::task::Task;

/// What was written of the need, and what is read of it.
pub(super) struct HoldInput<'a> {
    pub(super) document: &'a Document,
    pub(super) need: &'a Need,
    pub(super) datasets: &'a Datasets,
    pub(super) tasks: &'a [Task],
}

/// A size of samples that are read.
struct Read {
    bytes: f64,
    span: Option<Span>,
    /// Whether they are packed, so that more is read than the samples.
    packed: bool,
}

/// Refuses samples of another size than the workload's where `need.hold` does not say what stays, and `need.hold` where it
/// changes nothing or cannot be kept.
pub(super) fn refuse(asked: &HoldInput<'_>, problems: &mut Problems) {
    let HoldInput { document, need, datasets, tasks } = asked;
    // Data of the user's is what the job reads, whatever its size: there the samples are held, as a job
    // takes samples.
    let Some(own_bytes) = need.sample_bytes().filter(|_| datasets.origin == Origin::Generate) else { return };
    let held =
        document.need.given().and_then(|entry| entry.value.tables().find_map(|table| table.hold.span()));
    let reads = if tasks.iter().any(|task| task.operation.reads_bytes()) { reads(asked) } else { Vec::new() };
    // Within a byte, as means are fractions; a tenth is the tolerance for silence, not for a word that was
    // written.
    let is_own = |read: &Read| (read.bytes - own_bytes).abs() < 1.0;
    match (held, need.hold) {
        (Some(span), _) if reads.iter().all(is_own) => {
            let why =
                if reads.is_empty() { "no samples are read" } else { "samples are of the need's own size" };
            problems
                .push(Problem::new(format!("`need.hold` changes nothing: {why}")).at(span, "remove this"));
        }
        (Some(span), Some(Hold::Bytes)) => {
            if let Some(read) = reads.iter().find(|read| read.packed) {
                let problem = Problem::new(
                    "bytes cannot be held of samples in shards: what packs them would count too",
                )
                .at(span, "holds bytes")
                .also_if(document.dataset.layout.span().or(read.span), "packs them");
                problems.push(
                    problem.help("write hold = \"samples\", or need = { rate = ... } of bytes as stored"),
                );
            }
        }
        (Some(_), _) => {}
        (None, _) => {
            let apart: Vec<&Read> = reads.iter().filter(|read| !need.is_own_sample(read.bytes)).collect();
            if !apart.is_empty() {
                problems.push(unheld(asked, own_bytes, &apart));
            }
        }
    }
}

/// The distinct sizes of samples as they are read; of shards with columns, the size of the columns that are read.
fn reads(asked: &HoldInput<'_>) -> Vec<Read> {
    let datasets = asked.datasets;
    let mut reads: Vec<Read> = Vec::new();
    for (spec, sample) in datasets.specs.iter().zip(&datasets.samples) {
        let DatasetSpec::Generate(Generate { sample_bytes, packing, .. }) = spec else { continue };
        let share = packing.map_or(1.0, |of| f64::from(of.columns_read) / f64::from(of.columns));
        let bytes = *sample_bytes as f64 * share;
        let span = sample.span.or(asked.document.dataset.read_columns.span());
        match reads.iter_mut().find(|read| (read.bytes - bytes).abs() < 1.0) {
            Some(read) => read.packed |= packing.is_some(),
            None => reads.push(Read { bytes, span, packed: packing.is_some() }),
        }
    }
    reads
}

fn unheld(asked: &HoldInput<'_>, own_bytes: f64, apart: &[&Read]) -> Problem {
    let digits = |bytes: f64| group_digits(bytes.round() as u64);
    let message = format!(
        "samples are not of the {} B of the need: `need.hold` must say what stays, samples or bytes per second",
        digits(own_bytes)
    );
    let problem = Problem::new(message);
    let problem = apart.iter().fold(problem, |problem, read| match read.span {
        Some(span) => problem.at(span, format!("{} B each", digits(read.bytes))),
        None => problem,
    });
    // Both lines in the message: they may differ by orders of magnitude, and the choice is then easy.
    let line = |hold: Hold, bytes: f64| {
        let need = asked.need.clone().holding(hold);
        let (samples, bps) = (need.line_samples_per_s(bytes), need.line_bps(bytes));
        format!("hold = \"{}\": {} samples/s = {}", hold.name(), format_count(samples), format_bps(bps))
    };
    let lines = apart.iter().map(|read| {
        let (samples, bytes) = (line(Hold::Samples, read.bytes), line(Hold::Bytes, read.bytes));
        format!("the line {} for {} B each: {samples}; {bytes}", asked.need.at_line(), digits(read.bytes))
    });
    let problem = lines.fold(problem, Problem::help);
    problem.help(what_to_write(asked.document))
}

/// The hint. A short form has no room for the key, so it is written out as a table.
fn what_to_write(document: &Document) -> String {
    let short = match document.need.given().map(|entry| entry.value.0.as_slice()) {
        Some([Item { value: Written::Short(text), .. }]) => feed::NeedSpec::parse_short(text).ok(),
        _ => None,
    };
    let key = match short {
        Some(feed::NeedSpec::Profile { workload, accelerator, count, .. }) => format!(
            "need = {{ workload = \"{workload}\", accelerator = \"{accelerator}\", count = {count}, hold = \"samples\" }}"
        ),
        _ => "need.hold = \"samples\"".to_owned(),
    };
    format!("write {key} (or \"bytes\"; on the command line --hold), or leave the sample size to the need")
}
