//! Checkpoints: what is written where, and the cells that it adds.

mod cells;
mod needed;

use feed::{CheckpointModel, Need, SaveKind};
use plan::{Checkpoint, DatasetSpec, Limit, Load, Measure, Saving};

use crate::diagnostic::{Problem, Problems, Span};
use crate::host::HostFacts;
use crate::reader::Field;
use crate::table::Table as _;
use crate::words::{Mode, Origin};
use crate::written::{Checkpoint as Written, CheckpointNeed, Document, FILES_MAX};

use super::checkpoint_need;
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
    /// Bytes that are written for reads, below each path.
    pub(super) dataset_bytes: u64,
    pub(super) host: &'a HostFacts,
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
    let needed = checkpoint_need::table(&asked.written.need);
    if *written == Written::default() && needed.is_none() {
        return None;
    }
    let before = problems.len();
    refuse(asked, problems);
    let need = asked.need?;
    let size = size(written, needed, need)?;
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
    // What a table says is written, and refused where there is no room; of what a need asks for as much as there is room for.
    let is_needed = written.model.is_absent() && written.size.is_absent();
    let free = free_bytes(asked, to).filter(|_| is_needed);
    let plan = free.and_then(|free| needed::fitting(&plan, free, restore)).unwrap_or(plan);
    let span = written.size.span().or(written.model.span()).or(needed.map(|table| table.name.span));
    (problems.len() == before).then_some(Checkpoints { plan, modes, every_steps, to, restore, span })
}

/// Least room that any path has to which checkpoints are written, beside the datasets; `None` where no path says.
fn free_bytes(asked: &CheckpointInput<'_>, to: Option<usize>) -> Option<u64> {
    let written = asked.targets.iter().enumerate().filter(|(index, _)| to.is_none_or(|to| to == *index));
    let facts = written.filter_map(|(_, target)| asked.host.paths.get(limits::path(target)?));
    let free = facts.filter_map(|facts| facts.free_bytes).min()?;
    Some(free.saturating_sub(asked.dataset_bytes))
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

fn size(written: &Written, needed: Option<&CheckpointNeed>, need: &Need) -> Option<Size> {
    let (share, part) = match written.scale.entry()? {
        Some(scale) => (scale.value.share, format!(", {} of it", scale.value.words)),
        None => (1.0, String::new()),
    };
    let accelerators = need.accelerators.max(1);
    let (label, bytes, files) = match (&written.model, &written.size) {
        (Field::Given(model), Field::Absent) => of_model(model.value.0, accelerators),
        (Field::Absent, Field::Given(size)) => (feed::format_bytes(size.value.0), size.value.0, accelerators),
        (Field::Absent, Field::Absent) => {
            let model = needed?.model.given().map(|model| model.value.0);
            needed::size(need.checkpoint.as_ref()?, model, accelerators)
        }
        _ => return None,
    };
    let files = written.files.value_or(files.min(FILES_MAX as u32))?;
    let bytes = ((bytes as f64 * share).round() as u64).max(u64::from(files));
    Some(Size { label: format!("{label}{part}"), bytes, files })
}

/// The part of a model's checkpoint that falls to a client with so many accelerators, one process each.
fn of_model(model: CheckpointModel, accelerators: u32) -> (String, u64, u32) {
    let share = model.host_share(accelerators);
    let label = if share.processes == model.processes() {
        model.name.to_owned()
    } else {
        format!("{}, {} of {} processes", model.name, share.processes, model.processes())
    };
    (label, share.bytes, share.files)
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
        SaveKind::Sync => Saving::Sync,
        SaveKind::Async => Saving::Async { copy_ns },
    };
    let modes = written.mode.value_or(needed::kinds(need.checkpoint.as_ref()))?;
    Some(modes.into_iter().map(saving).collect())
}

/// A part of the steps that a repetition can hold.
fn every(asked: &CheckpointInput<'_>, measure: Option<&Measure>) -> u64 {
    let jobs = asked.load.into_iter().flat_map(|load| &load.schedule.series);
    let compute_ns = jobs.filter_map(|series| match series.load {
        Load::Training(training) => Some(training.compute_ns.max(1)),
        Load::Closed | Load::Paced(_) => None,
    });
    let compute_ns = compute_ns.min();
    let steps = match measure.map(|measure| measure.limit) {
        Some(Limit::Steps { steps, .. }) => Some(steps),
        Some(Limit::Duration { duration_ns }) => compute_ns.map(|ns| duration_ns / ns),
        Some(Limit::Bytes { .. } | Limit::Epochs { .. }) | None => None,
    };
    let of_repetition = steps
        .map_or(EVERY_DEFAULT_MAX, |steps| (steps / CHECKPOINTS_OF_A_REPETITION).clamp(1, EVERY_DEFAULT_MAX));
    // No rarer than the need has them, and as often as a repetition sees some.
    let every_ns = asked.need.and_then(|need| need.checkpoint.as_ref()?.every_ns);
    let of_need = every_ns.zip(compute_ns).map(|(every, compute)| (every / compute).max(1));
    of_need.map_or(of_repetition, |steps| steps.min(of_repetition))
}

/// Refuses what no checkpoint goes with.
fn refuse(asked: &CheckpointInput<'_>, problems: &mut Problems) {
    refuse_unsized(asked, problems);
    refuse_unrestored(asked, problems);
    refuse_existing(asked, problems);
    refuse_targets(asked, problems);
    refuse_threads(asked, problems);
}

/// Refuses a table that does not say how much is written, where no need does.
fn refuse_unsized(asked: &CheckpointInput<'_>, problems: &mut Problems) {
    let written = &asked.written.checkpoint;
    let is_sized = written.model.key().or(written.size.key()).is_some();
    if is_sized || checkpoint_need::table(&asked.written.need).is_some() {
        return;
    }
    let problem = Problem::absent("`checkpoint` has neither a model nor a size: what is written?")
        .at(written.name.span, "says nothing of its size");
    problems.push(problem.help(format!("for example checkpoint = {}", Written::EXAMPLE)));
}

/// Refuses to leave out the restore that a need asks for.
fn refuse_unrestored(asked: &CheckpointInput<'_>, problems: &mut Problems) {
    let needed = checkpoint_need::table(&asked.written.need).and_then(|table| table.restore_within.key());
    let left_out = asked.written.checkpoint.restore.given().filter(|restore| !restore.value.0);
    if let Some((asks, restore)) = needed.zip(left_out) {
        let problem = Problem::new("the need asks for a restore, and none is made")
            .at(restore.span, "leaves it out")
            .also(asks, "asks for one");
        problems.push(problem.help("remove `checkpoint.restore`"));
    }
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
    refuse_unwritable(asked, problems);
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

/// Refuses targets that a need of checkpoints could not be held against, where no other takes them.
fn refuse_unwritable(asked: &CheckpointInput<'_>, problems: &mut Problems) {
    let Some(needed) = checkpoint_need::table(&asked.written.need) else { return };
    let is_storage = |target: &&&Resolved<'_>| target.target.config.is_storage();
    let writable = |target: &&&Resolved<'_>| target.target.config.capabilities().writable;
    if !asked.written.checkpoint.to.is_absent() || !asked.targets.iter().any(|target| writable(&target)) {
        return;
    }
    for target in asked.targets.iter().filter(is_storage).filter(|target| !writable(target)) {
        let name = &target.target.name;
        let problem =
            Problem::new(format!("no checkpoint can be written to `{name}`, and the need asks for them"))
                .at(target.at(), "can only be read")
                .also(needed.name.span, "asks for checkpoints");
        problems.push(problem.help("name the target that they are written to with checkpoint.to"));
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
