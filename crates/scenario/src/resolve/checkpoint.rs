//! Checkpoints: what is written where, and the cells that it adds.

mod cells;

use feed::Need;
use plan::{Checkpoint, DatasetSpec, Limit, Load, Measure, Saving};

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::HostFacts;
use crate::reader::Field;
use crate::words::{Mode, Model, Origin, SavingMode};
use crate::written::{Checkpoint as Written, Document, FILES_MAX};

use super::limits;
use super::load;
use super::target::{self, Resolved};
use super::task;

pub(super) use cells::add;

/// 8 MiB: what loaders of checkpoints write and read at once, and large enough that a call does not matter.
const BLOCK_DEFAULT_BYTES: u64 = 8 << 20;

const BLOCK_MAX_BYTES: u64 = 64 << 20;

const KEEP_DEFAULT: u32 = 2;

/// Most steps between two checkpoints by default, and checkpoints that a repetition then sees at least.
const EVERY_DEFAULT_MAX: u64 = 100;
const CHECKPOINTS_OF_A_REPETITION: u64 = 4;

/// PCIe 4.0 x16 carries 16 GT/s x 16 lanes x 128/130 = 31.5 GB/s; pinned copies to the host's memory reach about four
/// fifths of it.
const COPY_DEFAULT_BPS: f64 = 25e9;

/// A scenario as far as it is resolved.
pub(super) struct CheckpointInput<'a> {
    pub(super) written: &'a Document,
    pub(super) need: Option<&'a Need>,
    pub(super) load: Option<&'a load::Load>,
    pub(super) targets: &'a [&'a Resolved<'a>],
}

/// The checkpoints of a scenario.
#[derive(Debug)]
pub(super) struct Checkpoints {
    /// What one is; `to` is that of [`Self::to`], or still to be filled in.
    pub(super) plan: Checkpoint,
    /// Who waits for those of jobs; empty where nothing is trained.
    pub(super) modes: Vec<Saving>,
    /// Steps between two of them.
    pub(super) every_steps: u64,
    /// The one target that they are written to; `None`: each for itself.
    pub(super) to: Option<usize>,
    /// Whether one is read back.
    pub(super) restore: bool,
    /// Where the table says how much is written.
    pub(super) span: Option<Span>,
}

/// The checkpoints; `None` where none are asked for, or something was wrong, after saying why.
pub(super) fn resolve(
    asked: &CheckpointInput<'_>,
    measure: Option<&Measure>,
    problems: &mut Problems,
) -> Option<Checkpoints> {
    let written = &asked.written.checkpoint;
    if *written == Written::default() {
        return None;
    }
    let before = problems.len();
    refuse(asked, problems);
    let (size, need) = (size(written, asked.need?)?, asked.need?);
    let block = written.block_size.value_or(BLOCK_DEFAULT_BYTES)?;
    if block > BLOCK_MAX_BYTES {
        let problem = Problem::new("`checkpoint.block_size` is at most 64 MiB");
        problems
            .push(problem.at(written.block_size.span().or(written.block_size.key())?, "this is too large"));
    }
    let to = to(asked, problems)?;
    let trains = trains(asked);
    let every_steps = written.every.value_or(every(asked, measure))?;
    let plan = Checkpoint {
        label: size.label,
        files: size.files,
        file_bytes: size.bytes.div_ceil(u64::from(size.files)).max(1),
        to: to.unwrap_or(0),
        durable: written.durable.value_or(true)?,
        keep: written.keep.value_or(KEEP_DEFAULT)?,
        block_bytes: block.min(BLOCK_MAX_BYTES) as u32,
    };
    let modes = if trains { modes(written, &plan, need)? } else { Vec::new() };
    let restore = written.restore.value_or(true)?;
    let span = written.size.span().or(written.model.span());
    (problems.len() == before).then_some(Checkpoints { plan, modes, every_steps, to, restore, span })
}

fn trains(asked: &CheckpointInput<'_>) -> bool {
    matches!(task::mode(&asked.written.load), Some((Mode::Training, _)))
}

/// How much this client writes, in how many files, and what to call it.
struct Size {
    label: String,
    bytes: u64,
    files: u32,
}

fn size(written: &Written, need: &Need) -> Option<Size> {
    let (share, part) = match written.scale.entry()? {
        Some(scale) => (scale.value.share, format!(", {} of it", scale.value.words)),
        None => (1.0, String::new()),
    };
    let accelerators = need.accelerators.max(1);
    let (label, bytes, files) = match (&written.model, &written.size) {
        (Field::Given(model), Field::Absent) => of_model(model.value.0, accelerators),
        (Field::Absent, Field::Given(size)) => (feed::format_bytes(size.value.0), size.value.0, accelerators),
        _ => return None,
    };
    let files = written.files.value_or(files.min(FILES_MAX as u32))?;
    let bytes = ((bytes as f64 * share).round() as u64).max(u64::from(files));
    Some(Size { label: format!("{label}{part}"), bytes, files })
}

/// The part of a model's checkpoint that falls to a client with so many accelerators, one process each.
fn of_model(model: Model, accelerators: u32) -> (String, u64, u32) {
    let processes = accelerators.min(model.processes);
    let all = u128::from(model.weights_gib + model.optimizer_gib) << 30;
    let bytes = (all * u128::from(processes) / u128::from(model.processes)) as u64;
    let label = if processes == model.processes {
        model.name.to_owned()
    } else {
        format!("{}, {processes} of {} processes", model.name, model.processes)
    };
    (label, bytes, 2 * processes)
}

/// The target that is written to, where one is named.
#[expect(clippy::option_option, reason = "absent and wrong differ")]
fn to(asked: &CheckpointInput<'_>, problems: &mut Problems) -> Option<Option<usize>> {
    let Some(entry) = asked.written.checkpoint.to.entry()? else { return Some(None) };
    let found = asked.targets.iter().position(|target| target.target.name == entry.value.0);
    match found {
        Some(index) if asked.targets[index].target.config.capabilities().writable => Some(Some(index)),
        Some(_) => {
            let message = format!("nothing can be written to the target `{}`", entry.value.0);
            problems.push(Problem::new(message).at(entry.span, "is to be written to"));
            None
        }
        // A target that is wrong itself was reported.
        None => {
            let (name, span) = (&entry.value.0, entry.span);
            problems.extend(target::refuse_unknown(asked.written, "checkpoint.to", name, span));
            None
        }
    }
}

/// Who waits, in the order of the file.
fn modes(written: &Written, plan: &Checkpoint, need: &Need) -> Option<Vec<Saving>> {
    let bandwidth_bps = written.copy_bandwidth.value_or(COPY_DEFAULT_BPS)?;
    let copy_s = feed::formula::checkpoint_copy_s(plan.bytes() as f64, need.accelerators, bandwidth_bps);
    let copy_ns = written.copy_time.value_or((copy_s * 1e9).round() as u64)?;
    let saving = |mode| match mode {
        SavingMode::Sync => Saving::Sync,
        SavingMode::Async => Saving::Async { copy_ns },
    };
    let modes = written.mode.value_or(vec![SavingMode::Sync, SavingMode::Async])?;
    Some(modes.into_iter().map(saving).collect())
}

/// A part of the steps that a repetition can hold.
fn every(asked: &CheckpointInput<'_>, measure: Option<&Measure>) -> u64 {
    let jobs = asked.load.into_iter().flat_map(|load| &load.schedule.series);
    let compute_ns = jobs.filter_map(|series| match series.load {
        Load::Training(training) => Some(training.compute_ns.max(1)),
        Load::Closed | Load::Paced(_) => None,
    });
    let steps = match measure.map(|measure| measure.limit) {
        Some(Limit::Steps { steps, .. }) => Some(steps),
        Some(Limit::Duration { duration_ns }) => compute_ns.min().map(|ns| duration_ns / ns),
        Some(Limit::Bytes { .. } | Limit::Epochs { .. }) | None => None,
    };
    steps.map_or(EVERY_DEFAULT_MAX, |steps| (steps / CHECKPOINTS_OF_A_REPETITION).clamp(1, EVERY_DEFAULT_MAX))
}

/// Refuses what no checkpoint goes with.
fn refuse(asked: &CheckpointInput<'_>, problems: &mut Problems) {
    refuse_existing(asked, problems);
    refuse_targets(asked, problems);
    refuse_threads(asked, problems);
}

/// Refuses to write where the scenario promises that nothing is written.
fn refuse_existing(asked: &CheckpointInput<'_>, problems: &mut Problems) {
    let source = asked.written.dataset.source.given().filter(|source| source.value.0 == Origin::Existing);
    if let Some(source) = source {
        let problem = Problem::new("checkpoints are written, and nothing is written beside files of yours")
            .at(source.span, "promises that");
        problems
            .push(problem.help("measure checkpoints in a scenario of their own, on a folder for feedline"));
    }
}

/// Refuses targets of which none can be written to, and a choice that one of them does not have.
fn refuse_targets(asked: &CheckpointInput<'_>, problems: &mut Problems) {
    let written = &asked.written.checkpoint;
    let at = written.model.key().or(written.size.key());
    let writable = |target: &&&Resolved<'_>| target.target.config.capabilities().writable;
    let none = asked.targets.iter().filter(writable).count() == 0;
    if none && !asked.targets.is_empty() && written.to.is_absent() {
        let problem =
            Problem::new("checkpoints can be written to none of the targets").also_if(at, "asks for them");
        problems.push(problem.help("add a target that is a folder, an NFS export or a bucket"));
    }
    let Some(durable) = written.durable.given().filter(|durable| !durable.value.0) else { return };
    for target in asked.targets.iter().filter(writable).filter(|target| target.network.is_some()) {
        let name = &target.target.name;
        let problem =
            Problem::new(format!("what is written to `{name}` is durable, or it is not written at all"))
                .at(durable.span, "asks for less")
                .also(target.at(), "does not know less");
        problems.push(problem.help("remove `checkpoint.durable`"));
    }
}

/// Refuses threads that could not let accelerators wait for each other.
fn refuse_threads(asked: &CheckpointInput<'_>, problems: &mut Problems) {
    let threads = asked.written.load.threads.given().filter(|threads| threads.value.0 > 1 && trains(asked));
    if let Some(threads) = threads {
        let written = &asked.written.checkpoint;
        let problem = Problem::new("accelerators that wait for each other are fed by one thread")
            .at(threads.span, "more than one")
            .also_if(written.model.key().or(written.size.key()), "lets them wait for checkpoints");
        problems.push(problem.help("remove `load.threads`, or the checkpoints"));
    }
}

/// Whether each path has room for all checkpoints that lie there at once, beside the datasets.
pub(super) fn room(
    checkpoints: &Checkpoints,
    targets: &[&Resolved<'_>],
    specs: &[DatasetSpec],
    host: &HostFacts,
    problems: &mut Problems,
) {
    let restored = if checkpoints.restore { checkpoints.plan.bytes() } else { 0 };
    let own = checkpoints.plan.disk_bytes().saturating_add(restored);
    let bytes = specs.iter().map(DatasetSpec::disk_bytes).fold(own, u64::saturating_add);
    for (index, target) in targets.iter().enumerate() {
        let written = checkpoints.to.is_none_or(|to| to == index);
        let facts = limits::path(target).filter(|_| written).and_then(|path| host.paths.get(path));
        if let Some(free) = facts.and_then(|facts| facts.free_bytes).filter(|free| bytes > *free) {
            let message = format!(
                "{} checkpoints, one to restore and the datasets take {}, and {} are free on this path",
                checkpoints.plan.keep + 1,
                feed::format_bytes(bytes),
                feed::format_bytes(free)
            );
            let problem = Problem::new(message)
                .at(target.at(), format!("{} free", feed::format_bytes(free)))
                .also_if(checkpoints.span, format!("{} each", feed::format_bytes(checkpoints.plan.bytes())));
            problems.push(
                problem.help("write a smaller checkpoint.scale, keep fewer of them, or choose another path"),
            );
        }
    }
}
