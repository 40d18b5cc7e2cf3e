//! What must be equal for two runs to be compared.

mod facts;

use feed::MayDiffer;
use record::{Dataset, Run};

use super::difference::{Difference, Differences};
use super::sample::RunSample;

// Crash kernels, firmware and page tables differ by tens of megabytes; the next smaller memory module is far more than
// a hundredth away.
/// Memory of one machine as two kernels see it: they keep different parts of it to themselves.
const MEMORY_APART_MAX: f64 = 0.01;

/// What is called different where a run has no such target.
pub(super) const TARGETS: &str = "targets";

/// What is called different where repetitions were not interleaved.
const GROUP: &str = "run of the variants";

/// Two runs that must not be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotComparable {
    /// Every difference, gravest first; never empty.
    pub differences: Vec<Difference>,
}

/// What lets two runs be compared that must not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalHint {
    /// To declare what may differ.
    Declare,
    /// To name two targets of the run.
    NameTargets,
    /// To name two variants of one run.
    NameVariants,
    /// To take runs of one scenario on one storage.
    OtherRuns,
}

impl NotComparable {
    /// What helps.
    pub fn hint(&self) -> RefusalHint {
        match self.differences.first() {
            _ if self.differences.iter().all(|one| one.may.is_some()) => RefusalHint::Declare,
            Some(first) if first.what == TARGETS => RefusalHint::NameTargets,
            Some(first) if first.what == GROUP => RefusalHint::NameVariants,
            _ => RefusalHint::OtherRuns,
        }
    }
}

/// What differs between two stored runs and must not, gravest first.
pub(super) fn stored(before: &RunSample, after: &RunSample) -> Vec<Difference> {
    let mut found = Differences::default();
    let (one, other) = (&before.run, &after.run);
    found.check("scenario", &one.scenario, &other.scenario, None);
    found.check("plan", &short(&one.plan_hash), &short(&other.plan_hash), None);
    datasets(&mut found, one, other);
    found.check("measure", &measure_words(one), &measure_words(other), None);
    found.check("pages of buffers", &pages_words(one), &pages_words(other), None);
    if let (Some(before), Some(after)) = (open_end(one), open_end(other)) {
        found.check("end of the window", &before, &after, None);
    }
    found.check("variant", &settings(one), &settings(other), None);
    found.check("ranks", &one.ranks, &other.ranks, None);
    facts::targets(&mut found, one, other);
    // The major version alone: a gate would otherwise lose its baseline with each release.
    found.check("tool", &major(&one.tool.version), &major(&other.tool.version), None);
    // A debug build is several times slower on the client side, which is then what is compared.
    found.check("profile", &one.tool.profile, &other.tool.profile, None);
    host(&mut found, before, after);
    found.known("kernel", &before.env.kernel, &after.env.kernel, MayDiffer::Kernel);
    found.0
}

/// What differs between two variants of one run and must not. What their settings change may; machine, need and the
/// number of cells may not, and only repetitions of one run are interleaved.
pub(super) fn variants(before: &RunSample, after: &RunSample) -> Result<(), NotComparable> {
    let mut found = Differences::default();
    let (one, other) = (&before.run, &after.run);
    found.check("scenario", &one.scenario, &other.scenario, None);
    let group = |run: &Run| run.variant.as_ref().map_or("none", |variant| variant.group.as_str()).to_owned();
    if one.variant.is_none() || other.variant.is_none() || group(one) != group(other) {
        found.0.push(Difference {
            what: GROUP.to_owned(),
            before: group(one),
            after: group(other),
            may: None,
        });
    }
    // Variants may set anything, so that their cells are paired by place and not by name. That needs as many of them.
    found.check("cells", &one.cells.len(), &other.cells.len(), None);
    found.check("need", &need_words(one), &need_words(other), None);
    host(&mut found, before, after);
    found.known("kernel", &before.env.kernel, &after.env.kernel, MayDiffer::Kernel);
    // Nothing may be declared of one run: a difference here is a mistake.
    found.0.iter_mut().for_each(|difference| difference.may = None);
    refused(found)
}

/// What differs between two variants that are to be the same.
pub(super) fn same(a: &RunSample, b: &RunSample) -> Result<(), NotComparable> {
    variants(a, b)?;
    let mut found = Differences::default();
    found.check("plan", &short(&a.run.plan_hash), &short(&b.run.plan_hash), None);
    found.check("settings", &settings(&a.run), &settings(&b.run), None);
    found.check("tool", &a.run.tool.version, &b.run.tool.version, None);
    found.check("profile", &a.run.tool.profile, &b.run.tool.profile, None);
    refused(found)
}

fn host(found: &mut Differences, before: &RunSample, after: &RunSample) {
    let (one, other) = (&before.env, &after.env);
    found.known("machine", &one.machine, &other.machine, MayDiffer::Host);
    found.known("architecture", &one.architecture, &other.architecture, MayDiffer::Host);
    found.known("cpu_model", &one.cpu_model, &other.cpu_model, MayDiffer::Host);
    found.known("cores_online", &one.cores_online, &other.cores_online, MayDiffer::Host);
    found.known("cores_usable", &one.cores_usable, &other.cores_usable, MayDiffer::Host);
    found.known("virtualization", &one.virtualization, &other.virtualization, MayDiffer::Host);
    let memory = |env: &record::Environment| env.memory_bytes.value().map(|bytes| *bytes as f64);
    if let (Some(one), Some(other)) = (memory(one), memory(other))
        && (one - other).abs() > MEMORY_APART_MAX * one.max(other)
    {
        let words = |bytes: f64| feed::format_bytes(bytes as u64);
        found.check("memory", &words(one), &words(other), Some(MayDiffer::Host));
    }
}

fn datasets(found: &mut Differences, before: &Run, after: &Run) {
    found.check("datasets", &before.datasets.len(), &after.datasets.len(), None);
    for (one, other) in before.datasets.iter().zip(&after.datasets) {
        let what = format!("dataset of {}", one.target);
        found.check(what, &dataset_words(one), &dataset_words(other), None);
    }
}

/// Generated datasets are equal where they have as many files of the same sizes; a user's where its files are the same.
fn dataset_words(dataset: &Dataset) -> String {
    let Dataset { source, files, bytes, sample_bytes, fingerprint, .. } = dataset;
    let identity = if source == "generate" { String::new() } else { format!(", {}", short(fingerprint)) };
    let files = feed::counted_noun(*files, "file");
    let lies = lies_words(dataset);
    format!(
        "{source}, {files}, {} B, samples of {sample_bytes} B{identity}{lies}",
        feed::group_digits(*bytes)
    )
}

/// How samples lie in shards, and what their content is like; nothing of plain files.
fn lies_words(dataset: &Dataset) -> String {
    let layout = Some(dataset.layout.clone()).filter(|layout| layout != "files");
    let samples = dataset.samples.filter(|samples| *samples != dataset.files);
    let samples = samples.map(|samples| feed::counted_noun(samples, "sample"));
    let packing = dataset.packing.iter().map(|fact| format!("{} {}", fact.name, fact.value));
    let words: Vec<String> = layout.into_iter().chain(samples).chain(packing).collect();
    if words.is_empty() { String::new() } else { format!(", {}", words.join(", ")) }
}

/// Longer windows and longer warm-ups measure something else; more repetitions measure it better.
fn measure_words(run: &Run) -> String {
    let record::Measure { warmup_ns, duration_ns, steps, .. } = &run.measure;
    let duration = duration_ns.map_or_else(|| "open".to_owned(), feed::format_duration_ns);
    let steps = steps.map_or_else(String::new, |steps| format!(", {steps} steps"));
    format!("window {duration}{steps} after {}", feed::format_duration_ns(*warmup_ns))
}

/// Direct reads of large blocks into huge pages may be twice as fast as into others. Before format 1.6 nobody looked whether
/// the kernel gave what it was asked for.
fn pages_words(run: &Run) -> String {
    let pages =
        run.cells.iter().map(|cell| cell.pages.as_ref().map_or("huge if given", record::Word::as_str));
    let pages: std::collections::BTreeSet<&str> = pages.collect();
    pages.into_iter().collect::<Vec<_>>().join(", ")
}

/// What ends a window that has no length: epochs, of which the first may be cold alone, or bytes. `None`
/// where the record does not say.
fn open_end(run: &Run) -> Option<String> {
    let epochs = run.measure.epochs.map(|epochs| feed::counted_noun(epochs, "epoch"));
    epochs.or_else(|| run.measure.bytes.map(|bytes| format!("{} B", feed::group_digits(bytes))))
}

fn need_words(run: &Run) -> String {
    let need = &run.need;
    let rate =
        need.samples_per_s.or(need.bytes_per_s).map_or_else(|| "none".to_owned(), |rate| rate.to_string());
    format!("{}: {rate} at {}", need.label, need.utilization)
}

fn settings(run: &Run) -> String {
    let settings = run.variant.as_ref().map(|variant| variant.settings.join(" ")).unwrap_or_default();
    if settings.is_empty() { "none".to_owned() } else { settings }
}

fn major(version: &str) -> String {
    version.split('.').next().unwrap_or_default().to_owned()
}

/// The beginning of a hash, which tells it from others.
fn short(hash: &str) -> String {
    hash.chars().take(12).collect()
}

/// Those that the user did not declare, and those that are declared.
pub(super) fn split(
    differences: Vec<Difference>,
    may_differ: &[MayDiffer],
) -> (Vec<Difference>, Vec<Difference>) {
    let is_declared = |difference: &Difference| difference.may.is_some_and(|may| may_differ.contains(&may));
    let (declared, refused) = differences.into_iter().partition(is_declared);
    (refused, declared)
}

/// Differences as a refusal, or nothing to refuse.
fn refused(found: Differences) -> Result<(), NotComparable> {
    let differences = found.0;
    if differences.is_empty() { Ok(()) } else { Err(NotComparable { differences }) }
}

#[cfg(test)]
mod tests;
