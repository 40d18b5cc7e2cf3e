//! How long and how often; what decides the exit code.

use plan::{CellOrder, Gate, Limit, Measure};

use crate::diagnostic::{Problem, Problems, Span};
use crate::reader::{Field, closest};
use crate::words::Mode;
use crate::written::{self, Address, Document, Target};

use super::dataset::Datasets;
use super::load::{self, Load};
use super::pace;

/// Past the start of the threads and the first fill of the queue.
const WARMUP_DEFAULT_NS: u64 = 2_000_000_000;
const DURATION_DEFAULT_NS: u64 = 10_000_000_000;
/// The fewest that give a 95 % interval worth the name.
const REPETITIONS_DEFAULT: u64 = 5;
const SEED_DEFAULT: u64 = 1;

/// How long and how often; a step of a training job takes `compute_ns` at least.
pub(super) fn resolve(
    document: &Document,
    compute_ns: Option<u64>,
    problems: &mut Problems,
) -> Option<Measure> {
    let written = &document.measure;
    let job = match load::mode(&document.load) {
        Some((Mode::Training, mode)) => mode,
        _ => None,
    };
    let limit = match job {
        Some(_) => limit_of_job(document, compute_ns, problems),
        None => limit(written, problems),
    };
    let timed = written.bytes.is_absent() && written.epochs.is_absent() && job.is_none();
    refuse_untimed(document, job, problems);
    let budget_ns = match &written.budget {
        Field::Wrong(_) => None,
        budget => Some(budget.given().map(|entry| entry.value.0)),
    };
    let cell_order = match &written.cell_order {
        Field::Wrong(_) => None,
        order => Some(order.given().map_or_else(CellOrder::default, |entry| entry.value.0)),
    };
    Some(Measure {
        warmup_ns: written.warmup.value_or(if timed { WARMUP_DEFAULT_NS } else { 0 })?,
        limit: limit?,
        repetitions: written.repetitions.value_or(REPETITIONS_DEFAULT)? as u32,
        budget_ns: budget_ns?,
        cell_order: cell_order?,
        seed: written.seed.value_or(SEED_DEFAULT)?,
    })
}

/// A repetition whose length nobody knows has no warm-up to leave out, and no budget can be kept with it. A training job
/// has no warm-up in any case.
fn refuse_untimed(document: &Document, job: Option<Span>, problems: &mut Problems) {
    let (measure, training) = (&document.measure, &document.training);
    let warms = measure.warmup.given().filter(|entry| entry.value.0 > 0).and(measure.warmup.key());
    if let (Some(span), Some(mode)) = (warms, job) {
        let problem = Problem::new("a training job has no warm-up").at(span, "remove this");
        problems.push(problem.also(mode, "plays a job").help(
            "the first fill is part of the job; the utilization without the first step is printed beside it",
        ));
    }
    let steps = job.and(training.steps.key().or(training.epochs.key()));
    let Some(ends) = measure.bytes.key().or(measure.epochs.key()).or(steps) else { return };
    let refused = [
        (warms.filter(|_| job.is_none()), "a warm-up is for repetitions that a duration ends"),
        (measure.budget.key(), "a budget is for repetitions that a duration ends"),
    ];
    for (span, message) in refused {
        if let Some(span) = span {
            let problem = Problem::new(message).at(span, "remove this").also(ends, "or end by `duration`");
            problems.push(problem);
        }
    }
}

/// Refuses several ends of a repetition, which ends after `choices`; whether there were.
fn refuse_several(ends: &[Option<Span>], choices: &str, problems: &mut Problems) -> bool {
    let ends: Vec<_> = ends.iter().flatten().collect();
    if ends.len() > 1 {
        let problem = Problem::new(format!("a repetition ends after {choices}: choose one"));
        problems.push(ends.iter().fold(problem, |problem, span| problem.at(**span, "ends it")));
    }
    ends.len() > 1
}

fn limit(written: &written::Measure, problems: &mut Problems) -> Option<Limit> {
    let keys = [written.duration.key(), written.bytes.key(), written.epochs.key()];
    if refuse_several(&keys, "a duration, a number of bytes or epochs", problems) {
        return None;
    }
    if !written.bytes.is_absent() {
        return written.bytes.given().map(|entry| Limit::Bytes { bytes: entry.value.0 });
    }
    if !written.epochs.is_absent() {
        return written.epochs.given().map(|entry| Limit::Epochs { epochs: entry.value.0 });
    }
    Some(Limit::Duration { duration_ns: written.duration.value_or(DURATION_DEFAULT_NS)? })
}

/// What ends a training job: a number of bytes would end it within a batch.
fn limit_of_job(document: &Document, compute_ns: Option<u64>, problems: &mut Problems) -> Option<Limit> {
    let (measure, training) = (&document.measure, &document.training);
    let keys = [
        training.steps.key(),
        training.epochs.key(),
        measure.duration.key(),
        measure.bytes.key(),
        measure.epochs.key(),
    ];
    if refuse_several(&keys, "a duration, or steps or epochs of the training job", problems) {
        return None;
    }
    if let Some(bytes) = measure.bytes.key() {
        let problem = Problem::new("a training job does not end after a number of bytes");
        let problem = problem.at(bytes, "remove this");
        problems.push(problem.help("write measure.duration, training.steps or training.epochs"));
        return None;
    }
    if !training.steps.is_absent() {
        let steps = training.steps.given()?.value.0;
        return Some(Limit::Steps { steps, otherwise_ns: steps.saturating_mul(compute_ns?) });
    }
    let epochs = if training.epochs.is_absent() { &measure.epochs } else { &training.epochs };
    if !epochs.is_absent() {
        return epochs.given().map(|entry| Limit::Epochs { epochs: entry.value.0 });
    }
    Some(Limit::Duration { duration_ns: measure.duration.value_or(DURATION_DEFAULT_NS)? })
}

pub(super) fn gate(written: &written::Gate, targets: &[Target], problems: &mut Problems) -> Option<Gate> {
    let feeds = match &written.feeds {
        Field::Absent => return Some(Gate::default()),
        Field::Wrong(_) => return None,
        Field::Given(entry) => &entry.value.0,
    };
    for item in feeds {
        if let Some(problem) = refuse_gated(&item.value.0, item.span, targets) {
            problems.push(problem);
        }
    }
    let p99_ns = match &written.p99 {
        Field::Wrong(_) => return None,
        p99 => p99.given().map(|entry| entry.value.0),
    };
    let feeds = feeds.iter().map(|item| item.value.0.clone()).collect();
    Some(Gate { feeds, p99_ns, ..Gate::default() })
}

/// Refuses a gate that no cell can pass: no bytes are read, or fewer are offered than the line.
pub(super) fn refuse_unjudged(
    written: &written::Gate,
    load: &Load,
    datasets: &Datasets,
    need: Option<&feed::Need>,
    problems: &mut Problems,
) {
    let Some(feeds) = written.feeds.key() else { return };
    if let Some(problem) = refuse_other_job(feeds, load, need) {
        problems.push(problem);
    }
    let line = |bytes: Option<u64>| Some(need?.line_bps(bytes? as f64));
    let judged = load.tasks.iter().any(|task| {
        let mut lines = datasets.samples.iter().map(|sample| line(sample.bytes));
        let reaches =
            |line| load.schedule.series.iter().any(|of| pace::reaches_line(&of.load, task.operation, line));
        lines.any(reaches)
    });
    if !judged {
        let problem = Problem::new("`gate.feeds` could never be met: no cell is held against the line")
            .at(feeds, "needs a verdict")
            .also_if(load.schedule.rate_span, "offers less than the line");
        let silent = load.tasks.iter().filter(|task| !task.operation.reads_bytes());
        let problem = silent.fold(problem, |problem, task| problem.also_if(task.span, "reads no bytes"));
        problems.push(problem.help("read bytes, at rate = \"line\" or more; or remove the gate"));
    }
}

/// Refuses a gate on jobs of which none has the accelerators that are to be fed.
fn refuse_other_job(feeds: Span, load: &Load, need: Option<&feed::Need>) -> Option<Problem> {
    let needed = need?.accelerators;
    let jobs = load.schedule.series.iter().filter_map(|series| match &series.load {
        plan::Load::Training(training) => Some(training.accelerators),
        plan::Load::Closed | plan::Load::Paced(_) => None,
    });
    let jobs: Vec<_> = jobs.collect();
    if jobs.is_empty() || needed == 0 || jobs.contains(&needed) {
        return None;
    }
    let accelerators = feed::counted_noun(u64::from(needed), "accelerator");
    let problem =
        Problem::new(format!("`gate.feeds` is decided by a job of {accelerators}, and none is played"))
            .at(feeds, "needs a verdict")
            .also_if(load.schedule.lists.first().and_then(|list| list.span), "plays others");
    Some(problem.help(format!("write training.accelerators = {needed}, or the need that is meant")))
}

fn refuse_gated(name: &str, span: crate::diagnostic::Span, targets: &[Target]) -> Option<Problem> {
    let Some(target) = targets.iter().find(|target| target.name.text == name) else {
        let names: Vec<_> = targets.iter().map(|target| target.name.text.as_str()).collect();
        let label = match closest(name, names.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "not under `targets`".to_owned(),
        };
        let problem =
            Problem::new(format!("`gate.feeds` names `{name}`, which is no target")).at(span, label);
        return Some(problem.help(format!("targets: {}", names.join(", "))));
    };
    let null = target.at.given().is_some_and(|at| at.value == Address::Null);
    null.then(|| {
        Problem::new("`gate.feeds` names a target that is no storage")
            .at(span, "feeds nothing")
            .also(target.name.span, "is the client's own ceiling")
    })
}
