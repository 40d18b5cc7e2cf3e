//! A cell that writes checkpoints one after the other.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use backend::StoreError;
use plan::{Cell, Checkpoint, Limit, Task};
use record::{CheckpointOutcome, Interval, Outcome, Rep, counter};

use super::rotation::Rotation;
use super::save::{FileTimes, Writing, Written, kind};
use crate::error::RepError;
use crate::outcome::{Measured, no_cache};
use crate::spec::RepSpec;
use crate::sums;
use crate::system::Watched;
use crate::usage::Meter;
use crate::window::Window;

const SECOND_NS: u64 = 1_000_000_000;

/// What is written, in words.
const CONTENT: &str = "pieces of at most 64 MiB of random bytes, filled before the run";

/// Checkpoints that failed in a row after which a repetition ends: the next one would too.
const HOPELESS: u32 = 3;

/// Runs one repetition: at least one checkpoint, and further ones until the limit is reached. The last one is written to
/// its end, which is that of the window.
pub(crate) fn run(spec: &RepSpec<'_>) -> Result<Measured, RepError> {
    let (Some(to), Task::Checkpoint(plan)) = (spec.checkpoints, &spec.cell.task) else {
        return Err(RepError::NoDestination);
    };
    let stops = || spec.stop.load(Ordering::Relaxed);
    let writing = Writing { to, plan, clock: spec.clock, stops: &stops, progress: spec.progress };
    let mut meter = Meter::new(spec.cores, spec.clock, &Watched::of(&to.store));
    let ((written, window), emulated) = spec.counted(|| {
        // No warm-up: the first checkpoint after a start is as real as the next.
        let open_ns = spec.clock.now_ns();
        meter.open_once(open_ns, open_ns);
        let written = write_until(spec.limit, open_ns, plan, &writing);
        let closed_ns = spec.clock.now_ns();
        meter.close(closed_ns);
        let close_ns = ended_ns(&written).unwrap_or(closed_ns).max(open_ns);
        (written, Window { open_ns, close_ns })
    });
    let mut measured = measured(spec.cell, &written, window, &meter, stops());
    measured.rep.emulated = emulated;
    Ok(measured)
}

/// Writes the checkpoints of a repetition that opened at `open_ns`, and removes those that are left at its end. What cannot
/// be removed is a failed operation of the checkpoint before, and is left to `feedline clean`.
fn write_until(limit: Limit, open_ns: u64, plan: &Checkpoint, writing: &Writing<'_>) -> Vec<Written> {
    let mut rotation = Rotation::new(plan.keep);
    let mut made: Vec<Written> = Vec::new();
    let mut failed = 0;
    loop {
        let slot = rotation.next();
        let written = writing.save(slot);
        let is_whole = written.saved.outcome == CheckpointOutcome::Complete;
        failed = if is_whole { 0 } else { failed + 1 };
        made.push(written);
        let gone = if is_whole { rotation.keep(slot) } else { Some(slot) };
        // Inside the window and outside every checkpoint's time, as a trainer that rotates does it.
        let removed = gone.map_or(Ok(()), |slot| writing.remove(slot));
        note(&mut made, &removed);
        let now_ns = writing.clock.now_ns();
        let is_over = is_reached(limit, now_ns - open_ns, made.len() as u64, plan);
        if is_over || failed >= HOPELESS || removed.is_err() || (writing.stops)() {
            break;
        }
    }
    for slot in rotation.kept() {
        note(&mut made, &writing.remove(slot));
    }
    made
}

/// Counts a removal that failed. A checkpoint has one failure, its first.
fn note(made: &mut [Written], removed: &Result<(), StoreError>) {
    if let (Some(last), Err(error)) = (made.last_mut(), removed) {
        last.error.get_or_insert(kind(error));
    }
}

/// Whether enough was written. A limit in training steps stands for the time that they take.
fn is_reached(limit: Limit, elapsed_ns: u64, made: u64, plan: &Checkpoint) -> bool {
    match limit {
        Limit::Duration { duration_ns } => elapsed_ns >= duration_ns,
        Limit::Steps { otherwise_ns, .. } => elapsed_ns >= otherwise_ns,
        Limit::Bytes { bytes } => made.saturating_mul(plan.bytes()) >= bytes,
        Limit::Epochs { epochs } => made >= epochs,
    }
}

fn ended_ns(written: &[Written]) -> Option<u64> {
    written.iter().map(|one| one.saved.ended_ns).max()
}

fn measured(cell: &Cell, written: &[Written], window: Window, meter: &Meter, interrupted: bool) -> Measured {
    let open_ns = window.open_ns;
    let files = || written.iter().flat_map(|one| &one.files);
    let mut errors = BTreeMap::new();
    for kind in written.iter().filter_map(|one| one.error) {
        *errors.entry(kind.to_owned()).or_insert(0) += 1;
    }
    let reason = written.iter().find_map(|one| match &one.saved.outcome {
        CheckpointOutcome::Failed { reason } => Some(reason.clone()),
        _ => None,
    });
    let is_any_whole = written.iter().any(|one| one.saved.outcome == CheckpointOutcome::Complete);
    let outcome = match reason {
        Some(reason) if !is_any_whole => Outcome::Failed { reason },
        _ if interrupted => Outcome::Interrupted,
        _ => Outcome::Complete,
    };
    // With those of checkpoints that failed: the storage took them.
    let bytes = written.iter().map(|one| one.saved.bytes).sum();
    let longest_ns = record::new_histogram().high();
    let clamped = files().filter(|file| file.published_ns - file.begun_ns > longest_ns).count();
    let (usage, system) = meter.measured();
    let rep = Rep {
        window_start_ns: open_ns,
        window_ns: window.close_ns - open_ns,
        counters: sums::by_name([
            (counter::OPS, files().count() as u64),
            (counter::BYTES, bytes),
            // A file that takes longer than a histogram holds; the times of its checkpoint are exact.
            (counter::CLAMPED, clamped as u64),
        ]),
        errors,
        histograms: histograms(files()),
        usage,
        system,
        cache: no_cache(),
        granted: [("content".to_owned(), CONTENT.to_owned())].into(),
        checkpoints: written.iter().zip(0..).map(|(one, step)| recorded(one, step, open_ns)).collect(),
        ..Rep::empty(&cell.slug, outcome)
    };
    Measured::new(rep, seconds(files(), written, open_ns), Vec::new()).beside(meter.looks())
}

fn recorded(written: &Written, step: u64, open_ns: u64) -> record::Checkpoint {
    let saved = &written.saved;
    let begun_ns = saved.begun_ns.saturating_sub(open_ns);
    record::Checkpoint {
        step,
        due_ns: begun_ns,
        begun_ns,
        stall_ns: 0,
        write_ns: saved.written_ns.saturating_sub(saved.begun_ns),
        publish_ns: saved.ended_ns.saturating_sub(saved.written_ns),
        bytes: saved.bytes,
        outcome: saved.outcome.clone(),
    }
}

/// A whole file, and its two parts.
fn histograms<'a>(files: impl Iterator<Item = &'a FileTimes>) -> BTreeMap<String, record::HistogramText> {
    let mut all = ["service_ns", "write_ns", "publish_ns"].map(|name| (name, record::new_histogram()));
    for file in files {
        let spans = [
            file.published_ns - file.begun_ns,
            file.written_ns - file.begun_ns,
            file.published_ns - file.written_ns,
        ];
        for ((_, histogram), ns) in all.iter_mut().zip(spans) {
            histogram.saturating_record(ns.max(1));
        }
    }
    all.into_iter().map(|(name, histogram)| (name.to_owned(), record::encode(&histogram))).collect()
}

/// The window by seconds: a file and its time count where it was published, the bytes of a checkpoint evenly from its
/// first to its last.
fn seconds<'a>(
    files: impl Iterator<Item = &'a FileTimes>,
    written: &[Written],
    open_ns: u64,
) -> Vec<Interval> {
    let mut all: BTreeMap<u64, (u64, u64, hdrhistogram::Histogram<u64>)> = BTreeMap::new();
    let empty = || (0, 0, record::new_interval_histogram());
    for file in files {
        let second = file.published_ns.saturating_sub(open_ns) / SECOND_NS;
        let (ops, _, service_ns) = all.entry(second).or_insert_with(empty);
        *ops += 1;
        service_ns.saturating_record((file.published_ns - file.begun_ns).max(1));
    }
    for saved in written.iter().map(|one| &one.saved) {
        let (from_ns, to_ns) =
            (saved.begun_ns - open_ns, (saved.written_ns - open_ns).max(saved.begun_ns - open_ns + 1));
        // Evenly over the time of writing: blocks are not stamped, as a lock and a clock for each would slow down
        // what is measured.
        let until = |ns: u64| {
            let share = (ns.clamp(from_ns, to_ns) - from_ns) as f64 / (to_ns - from_ns) as f64;
            (share * saved.bytes as f64) as u64
        };
        for second in from_ns / SECOND_NS..=(to_ns - 1) / SECOND_NS {
            let (begin_ns, end_ns) = (second * SECOND_NS, (second + 1) * SECOND_NS);
            all.entry(second).or_insert_with(empty).1 += until(end_ns) - until(begin_ns);
        }
    }
    all.into_iter()
        .map(|(second, (ops, bytes, service_ns))| Interval {
            second: second as u32,
            ops,
            bytes,
            service_ns: record::encode(&service_ns),
        })
        .collect()
}
