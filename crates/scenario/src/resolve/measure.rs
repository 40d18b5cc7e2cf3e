//! How long and how often.

use plan::{Cache, CellOrder, Limit, Measure};

use crate::diagnostic::{Problem, Problems, Span};
use crate::words::Mode;
use crate::written::{self, Document};

use super::task;

/// Past the start of the threads and the first fill of the queue.
const WARMUP_DEFAULT_NS: u64 = 2_000_000_000;
// Ten seconds hold ten intervals for the steadiness of a repetition; with the warm-up, five repetitions of
// ten depths take ten minutes.
const DURATION_DEFAULT_NS: u64 = 10_000_000_000;
/// The fewest that give a 95 % interval worth the name.
const REPETITIONS_DEFAULT: u32 = 5;
/// Rounds of fresh repetitions after which an undecided verdict stays so. A noise of 10 % is then told from the line at a
/// distance of 6 %.
const FRESH_ROUNDS: u32 = 28;
/// Fewer repetitions than this make no interval, and are not meant to decide anything.
const REPETITIONS_OF_INTERVAL: u32 = 3;
const SEED_DEFAULT: u64 = 1;

/// How long and how often; a step of a training job takes `compute_ns` at least.
pub(super) fn resolve(
    document: &Document,
    compute_ns: Option<u64>,
    problems: &mut Problems,
) -> Option<Measure> {
    let written = &document.measure;
    let job = match task::mode(&document.load) {
        Some((Mode::Training, mode)) => mode,
        _ => None,
    };
    let limit = match job {
        Some(_) => limit_of_job(document, compute_ns, problems),
        None => limit(written, problems),
    };
    let timed = written.bytes.is_absent() && written.epochs.is_absent() && job.is_none();
    refuse_untimed(document, job, problems);
    refuse_cold_passes(document, job, problems);
    let repetitions = written.repetitions.value_or(REPETITIONS_DEFAULT)?;
    Some(Measure {
        warmup_ns: written.warmup.value_or(if timed { WARMUP_DEFAULT_NS } else { 0 })?,
        limit: limit?,
        repetitions,
        fresh_rounds: fresh_rounds(repetitions),
        budget_ns: written.budget.optional()?,
        cell_order: written.cell_order.value_or(CellOrder::default())?,
        seed: written.seed.value_or(SEED_DEFAULT)?,
    })
}

fn fresh_rounds(repetitions: u32) -> u32 {
    if repetitions < REPETITIONS_OF_INTERVAL { repetitions } else { repetitions.max(FRESH_ROUNDS) }
}

/// Refuses a warm-up and a budget where the length of a repetition is not known, and a warm-up of a training job.
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

/// Refuses several passes of a cold cell, which is read once so that nothing comes from memory.
fn refuse_cold_passes(document: &Document, job: Option<Span>, problems: &mut Problems) {
    let (measure, training) = (&document.measure, &document.training);
    let of_job = job.and(training.epochs.given()).zip(training.epochs.key());
    let Some((epochs, key)) = of_job.or(measure.epochs.given().zip(measure.epochs.key())) else { return };
    let caches = document.load.cache.given().into_iter().flat_map(|caches| caches.value.0.iter());
    let Some(cold) = caches.into_iter().find(|item| item.value.0 == Cache::Cold) else { return };
    if epochs.value.0 > 1 {
        let problem = Problem::new("a repetition that is cold ends with its first pass over the data");
        let problem = problem.at(key, "asks for more of them").also(cold.span, "reads each byte once");
        problems.push(problem.help(
            "load.cache = \"cold_start\" empties the cache before each repetition, and reads on with what it then holds",
        ));
    }
}

/// Refuses several keys that end a repetition, which are `choices`; whether there were several.
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
