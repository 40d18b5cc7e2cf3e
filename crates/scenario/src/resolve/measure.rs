//! How long and how often; what decides the exit code.

use plan::{CellOrder, Gate, Limit, Measure};

use crate::diagnostic::{Problem, Problems};
use crate::reader::{Field, closest};
use crate::written::{self, Address, Target};

use super::dataset::Datasets;
use super::load::Load;
use super::pace;

/// Past the start of the threads and the first fill of the queue.
const WARMUP_DEFAULT_NS: u64 = 2_000_000_000;
const DURATION_DEFAULT_NS: u64 = 10_000_000_000;
/// The fewest that give a 95 % interval worth the name.
const REPETITIONS_DEFAULT: u64 = 5;
const SEED_DEFAULT: u64 = 1;

pub(super) fn resolve(written: &written::Measure, problems: &mut Problems) -> Option<Measure> {
    let limit = limit(written, problems);
    let timed = written.bytes.is_absent() && written.epochs.is_absent();
    refuse_untimed(written, problems);
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

/// A repetition whose length nobody knows has no warm-up to leave out, and no budget can be kept with it.
fn refuse_untimed(written: &written::Measure, problems: &mut Problems) {
    let Some(ends) = written.bytes.key().or(written.epochs.key()) else { return };
    let warms = written.warmup.given().filter(|entry| entry.value.0 > 0).and(written.warmup.key());
    let refused = [
        (warms, "a warm-up is for repetitions that a duration ends"),
        (written.budget.key(), "a budget is for repetitions that a duration ends"),
    ];
    for (span, message) in refused {
        if let Some(span) = span {
            let problem = Problem::new(message).at(span, "remove this").also(ends, "or end by `duration`");
            problems.push(problem);
        }
    }
}

fn limit(written: &written::Measure, problems: &mut Problems) -> Option<Limit> {
    let keys = [written.duration.key(), written.bytes.key(), written.epochs.key()];
    let ends: Vec<_> = keys.into_iter().flatten().collect();
    if ends.len() > 1 {
        let problem =
            Problem::new("a repetition ends after a duration, a number of bytes or epochs: choose one");
        problems.push(ends.into_iter().fold(problem, |problem, span| problem.at(span, "ends it")));
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
    Some(Gate { feeds: feeds.iter().map(|item| item.value.0.clone()).collect(), p99_ns })
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
    let line = |bytes: Option<u64>| Some(need?.line_bps(bytes? as f64));
    let judged = load.tasks.iter().any(|task| {
        let mut lines = datasets.samples.iter().map(|sample| line(sample.bytes));
        lines.any(|line| load.paces.loads.iter().any(|load| pace::reaches_line(load, task.operation, line)))
    });
    if !judged {
        let problem = Problem::new("`gate.feeds` could never be met: no cell is held against the line")
            .at(feeds, "needs a verdict")
            .also_if(load.paces.span, "offers less than the line");
        let silent = load.tasks.iter().filter(|task| !task.operation.reads_bytes());
        let problem = silent.fold(problem, |problem, task| problem.also_if(task.span, "reads no bytes"));
        problems.push(problem.help("read bytes, at rate = \"line\" or more; or remove the gate"));
    }
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
