//! What no training job can be combined with, and jobs that fit no dataset and no machine.

use plan::{BackendConfig, Cell, DatasetSpec, Distribution, Layout, Operation, Training, Work};

use crate::diagnostic::{Problem, Problems, Span};
use crate::reader::Field;
use crate::words::Origin;
use crate::written::{self, DEPTH_MAX, Depths};

use super::super::dataset::Datasets;
use super::super::target::Resolved;
use super::super::task::Task;
use super::job::{self, Job, TrainingInput};

/// Refuses a search for the depth: the job says how many reads are outstanding.
pub(super) fn refuse_search(asked: &TrainingInput<'_>, problems: &mut Problems) {
    let load = &asked.document.load;
    let auto = load.queue_depth.given().filter(|depth| matches!(depth.value, Depths::Auto));
    if let Some(depth) = auto {
        let problem =
            Problem::new("a training load has no depth to search for: its readers, or numbers, say it")
                .at(depth.span, "searches")
                .also(asked.mode, "plays a job");
        problems.push(problem.help(
            "remove it, and each reader has as many reads outstanding as `training.fetches` says; or write depths that all batches share, e.g. \
             queue_depth = [16, 64]",
        ));
    }
}

/// Refuses more threads than accelerators, and more than one where all accelerators wait for each other.
pub(super) fn refuse_threads(asked: &TrainingInput<'_>, job: &Job, problems: &mut Problems) {
    let Some(threads) = asked.document.load.threads.given() else { return };
    let barrier = asked.document.training.barrier.given().filter(|barrier| barrier.value.0);
    let written = &asked.document.training.accelerators;
    let fewest = u64::from(job.smallest());
    // One thread plays all accelerators behind a barrier, so that their order follows from stamps and no
    // lock is needed.
    let problem = match barrier {
        Some(barrier) if threads.value.0 > 1 => {
            Problem::new("accelerators that wait for each other are fed by one thread")
                .at(threads.span, "more than one")
                .also(barrier.span, "lets them wait")
                .help("remove `load.threads`, or the barrier")
        }
        _ if threads.value.0 > fewest => {
            let most = feed::counted_noun(fewest, "accelerator");
            Problem::new(format!("{} threads for {most}: each is fed by one", threads.value.0))
                .at(threads.span, "some would have nothing to do")
                .also(written.span().unwrap_or(asked.mode), "so many")
                .help(format!("write at most {fewest}, or remove it"))
        }
        _ => return,
    };
    problems.push(problem);
}

/// Refuses reads of each reader where no reader reads.
pub(super) fn refuse_fetches(asked: &TrainingInput<'_>, readers: &[u32], problems: &mut Problems) {
    let Some(fetches) = asked.document.training.fetches.span().filter(|_| readers.is_empty()) else { return };
    let problem = Problem::new(
        "`training.fetches` is of readers, and here the reads of all batches share `load.queue_depth`",
    );
    problems.push(
        problem
            .at(fetches, "so many of each reader")
            .also_if(asked.document.load.queue_depth.span(), "is all that may be under way")
            .help("write training.readers too, or remove one of the two"),
    );
}

/// Refuses more reads of a reader than its batch has: they would never be under way together.
pub(in super::super) fn refuse_beyond_batch(
    document: &written::Document,
    specs: &[DatasetSpec],
    cells: &[Cell],
    problems: &mut Problems,
) {
    let Some(span) = document.training.fetches.span() else { return };
    let of_cell = |cell: &Cell| {
        let plan::Load::Training(job) = cell.load else { return None };
        let (batch, block) = (u64::from(job.batch), u64::from(cell.block_bytes.max(1)));
        let reads = match &specs[cell.dataset] {
            _ if cell.task == plan::Task::ReadFile => batch,
            DatasetSpec::Generate(data) if cell.access.streams().is_some() => {
                batch.saturating_mul(data.sample_bytes).div_ceil(block)
            }
            DatasetSpec::Generate(data) => batch.saturating_mul(data.sample_bytes.div_ceil(block)),
            DatasetSpec::Existing(data) => batch.saturating_mul(data.sample_bytes?.div_ceil(block)),
        };
        (u64::from(job.fetches) > reads).then_some((job.fetches, reads, batch))
    };
    let Some((fetches, reads, batch)) = cells.iter().find_map(of_cell) else { return };
    let of_batch = feed::counted_noun(reads, "read");
    let problem =
        Problem::new(format!("a batch of {} takes {of_batch}", feed::counted_noun(batch, "sample")));
    problems.push(
        problem
            .at(span, format!("{fetches} of one reader would never be under way together"))
            .help(format!("write at most {reads}, larger batches, or more readers")),
    );
}

/// Refuses more readers than a client can have reads outstanding.
pub(super) fn refuse_deep(
    asked: &TrainingInput<'_>,
    job: &Job,
    (readers, fetches): (&[u32], &[u32]),
    problems: &mut Problems,
) {
    let most = |list: &[u32]| list.iter().copied().max().unwrap_or(0);
    let (accelerators, most, fetches) = (job.largest(), most(readers), most(fetches).max(1));
    let depth = u64::from(accelerators) * u64::from(most) * u64::from(fetches);
    if depth <= DEPTH_MAX {
        return;
    }
    let each = if fetches > 1 { format!(" x {fetches} reads of each") } else { String::new() };
    let message = format!(
        "{} x {}{each} = {} reads outstanding; at most {} are possible",
        feed::counted_noun(u64::from(accelerators), "accelerator"),
        feed::counted_noun(u64::from(most), "reader"),
        feed::group_digits(depth),
        feed::group_digits(DEPTH_MAX)
    );
    let written = &asked.document.training;
    let spans = [written.accelerators.span(), written.readers.span(), written.fetches.span()];
    let spans: Vec<_> = spans.into_iter().flatten().collect();
    let problem = match spans.as_slice() {
        [] => Problem::new(message).at(asked.mode, "plays this job"),
        spans => spans.iter().fold(Problem::new(message), |problem, span| problem.at(*span, "multiplies")),
    };
    problems.push(
        problem.help("write fewer of them, or load.queue_depth, which the batches of all accelerators share"),
    );
}

/// Refuses a step that takes other bytes than the need's where `need.hold` is bytes: its utilization would not be that of
/// the workload.
pub(super) fn refuse_unheld(asked: &TrainingInput<'_>, job: &Job, problems: &mut Problems) {
    let Some((need, datasets)) = asked.need.zip(asked.datasets) else { return };
    let feed::Demand::Bytes { per_s, sample_bytes: Some(own_bytes) } = need.demand else { return };
    let step_bytes = per_s / f64::from(need.accelerators) * job.compute_ns as f64 / 1e9;
    let fits = |bytes: u64| need_fits(f64::from(job.batch) * bytes as f64, step_bytes);
    let Some(bytes) = datasets.samples.iter().filter_map(|sample| sample.bytes).find(|bytes| !fits(*bytes))
    else {
        return;
    };
    let message = format!(
        "bytes are held, and a step takes {} in place of {}",
        feed::format_bytes(u64::from(job.batch).saturating_mul(bytes)),
        feed::format_bytes(step_bytes.round() as u64)
    );
    let place = asked.document.training.batch.span().unwrap_or(asked.mode);
    let problem =
        Problem::new(message).at(place, format!("batch {}", feed::group_digits(u64::from(job.batch))));
    let batch = (step_bytes / bytes as f64).round().max(1.0) as u64;
    problems.push(problem.help(format!(
        "write training.batch = {batch} for samples of {} B, of which the workload's have {}; or hold samples",
        feed::group_digits(bytes),
        feed::group_digits(own_bytes.round() as u64)
    )));
}

/// Whether two sizes differ by at most a tenth.
fn need_fits(bytes: f64, wanted: f64) -> bool {
    // The tolerance of `Need::is_own_sample`, for a whole step.
    (bytes / wanted - 1.0).abs() <= 0.1
}

/// Refuses steps that take more samples than there are.
pub(super) fn refuse_steps(asked: &TrainingInput<'_>, job: &Job, problems: &mut Problems) {
    let samples =
        asked.datasets.into_iter().flat_map(|datasets| &datasets.specs).filter_map(|spec| match spec {
            DatasetSpec::Generate(plan::Generate { samples, .. }) => Some(*samples),
            DatasetSpec::Existing(_) => None,
        });
    let Some(samples) = samples.min() else { return };
    let (accelerators, batch) = (u64::from(job.largest()), u64::from(job.batch));
    let step = accelerators * batch;
    // Not one whole step: the job would end before it began, and its utilization be that of nothing.
    if step <= samples || !job.drop_last {
        return;
    }
    let message = format!(
        "{} x batch {} = {} samples a step; the dataset has {}",
        feed::counted_noun(accelerators, "accelerator"),
        feed::group_digits(batch),
        feed::group_digits(step),
        feed::group_digits(samples)
    );
    let (written, dataset) = (&asked.document.training, &asked.document.dataset);
    let place = written.batch.span().or(written.accelerators.span()).unwrap_or(asked.mode);
    let problem = Problem::new(message)
        .at(place, "not one step can be taken")
        .also_if(dataset.samples.span().or(dataset.size.span()), "this much");
    let help = format!(
        "write dataset.samples = {step} or more, or fewer accelerators, or training.drop_last = false, which takes \
         smaller batches"
    );
    problems.push(problem.help(help));
}

/// Refuses batches that the job could not hold in this machine's memory. feedline itself holds one buffer for each read.
pub(super) fn refuse_memory<'a>(
    asked: &TrainingInput<'_>,
    jobs: impl Iterator<Item = &'a Training>,
    problems: &mut Problems,
) {
    let samples = asked.datasets.into_iter().flat_map(|datasets| &datasets.samples);
    let stated = || asked.need.and_then(feed::Need::sample_bytes).map(|bytes| bytes.round() as u64);
    let largest = samples.filter_map(|sample| sample.bytes.or_else(stated)).max();
    // What a real loader would hold. feedline drops bytes as they come, and would measure a job that cannot
    // exist.
    let held = |job: &Training| job.samples_per_step().saturating_mul(u64::from(job.prefetch) + 1);
    let (Some(sample_bytes), Some(job)) = (largest, jobs.max_by_key(|job| held(job))) else { return };
    let bytes = held(job).saturating_mul(sample_bytes);
    if bytes <= asked.host.memory_bytes {
        return;
    }
    let batches = u64::from(job.prefetch) + 1;
    let message = format!(
        "{} x {} batches x {} samples x {} = {}, more than the memory ({})",
        feed::counted_noun(u64::from(job.accelerators), "accelerator"),
        feed::group_digits(batches),
        feed::group_digits(u64::from(job.batch)),
        feed::format_bytes(sample_bytes),
        feed::format_bytes(bytes),
        feed::format_bytes(asked.host.memory_bytes)
    );
    let written = &asked.document.training;
    let ahead = feed::group_digits(u64::from(job.prefetch));
    let ahead = format!("{ahead} ahead, and the one that is taken");
    let place = written.prefetch.span().or(written.readers.span()).unwrap_or(asked.mode);
    let problem = Problem::new(message).at(place, ahead).also_if(written.batch.span(), "of this size");
    problems.push(problem.help(
        "the job could not hold its batches: write a smaller training.prefetch or batch, or fewer accelerators",
    ));
}

/// Refuses reading block by block where samples differ in their number of blocks: a step would not know which blocks are
/// its samples.
pub(in super::super) fn refuse_uneven(
    targets: &[&Resolved<'_>],
    datasets: &Datasets,
    tasks: &[Task],
    mode: Span,
    problems: &mut Problems,
) {
    let Some(task) = tasks.iter().find(|task| task.operation == Operation::Read) else { return };
    let device = |target: &Resolved<'_>| matches!(target.target.config, BackendConfig::Device { .. });
    if datasets.is_uniform() || targets.iter().all(|target| device(target)) {
        return;
    }
    let why = match datasets.origin {
        Origin::Generate => "these files differ in size",
        Origin::Existing => "files of the user's may differ in size",
    };
    let message = format!("`read` takes as many blocks of every sample, and {why}");
    let problem =
        Problem::new(message).at(task.span.unwrap_or(mode), "reads blocks").also(mode, "takes samples");
    problems.push(problem.help("write operation = \"read_file\", or remove it: a sample is then read whole"));
}

/// Refuses decoders of the user's own samples where a read holds no whole sample: nothing puts the parts together.
pub(in super::super) fn refuse_decoders(
    field: &Field<written::Decode>,
    tasks: &[Task],
    problems: &mut Problems,
) {
    let (Some(Some(decode)), Some(span)) = (field.resolved(job::decode), field.span()) else { return };
    // A checksum and a copy go over bytes as they come; the others need a sample from its first byte to its last.
    let takes_parts = !decode.work.looks_at_bytes() || decode.work.takes_any_bytes();
    if takes_parts || !tasks.iter().any(|task| task.operation == Operation::Read) {
        return;
    }
    let work = decode.work.name();
    let problem =
        Problem::new(format!("`{work}` decodes whole samples, and these are read in parts of shards"))
            .at(span, "no read holds one");
    problems.push(problem.help(
        "state what decoding takes, e.g. decode = { cost = \"6ms\" }, or read samples one by one: load.access = \
         \"shuffled_epoch\" of a layout that has each by itself",
    ));
}

/// Refuses decoders of samples that come in several reads, or that are larger than the buffer. A generated sample that is
/// larger than the buffer is decoded by a stand-in. A checksum and a copy have no stand-in, nor have the user's own samples; their
/// stated size is known here, and the largest of them only in the run.
pub(in super::super) fn refuse_parts(
    document: &written::Document,
    specs: &[DatasetSpec],
    cells: &[Cell],
    problems: &mut Problems,
) {
    let field = &document.training.decode;
    let (Some(Some(decode)), Some(span)) = (field.resolved(job::decode), field.span()) else { return };
    if matches!(decode.work, Work::Cost { .. }) {
        return;
    }
    let in_parts = cells.iter().find(|cell| {
        let sample_bytes = match &specs[cell.dataset] {
            DatasetSpec::Generate(data) => {
                let by_itself = data.packing.is_none() || cell.access.is_by_index();
                let has_stand_in = cell.task == plan::Task::ReadFile && !decode.work.takes_any_bytes();
                let is_known = data.distribution == Distribution::Fixed;
                Some(data.sample_bytes).filter(|_| by_itself && is_known && !has_stand_in)
            }
            DatasetSpec::Existing(data) => {
                let are_files = data.layout.is_none_or(|layout| layout == Layout::Files);
                let is_read = cell.task != plan::Task::ReadFile || decode.work.looks_at_bytes();
                data.sample_bytes.filter(|_| are_files && is_read)
            }
        };
        matches!(cell.load, plan::Load::Training(_))
            && sample_bytes.is_some_and(|bytes| bytes > u64::from(cell.block_bytes))
    });
    let Some(cell) = in_parts else { return };
    let message = format!(
        "`{}` decodes whole samples, and buffers of {} hold parts of them",
        decode.work.name(),
        feed::format_bytes(u64::from(cell.block_bytes))
    );
    let problem = Problem::new(message)
        .at(span, "no buffer holds one")
        .also_if(document.load.block_size.span(), "holds a part");
    problems.push(problem.help(
        "write a load.block_size of at least a sample, or state what decoding takes, e.g. decode = { cost = \"6ms\" }",
    ));
}
