//! What decides the exit code.

use feed::Compared;
use plan::{Evidence, Gate, Margin};

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::{Item, List};
use crate::percentage::Percentage;
use crate::reader::{Entry, Field};
use crate::table::Keys as _;
use crate::value::Whole;
use crate::words::Grade;
use crate::written::{self, Address, DEPTH_MAX, Document, Margins, Regression};

use super::block::Sample;
use super::dataset::Datasets;
use super::load::Load;
use super::pace;
use super::target;

/// What decides the exit code; `None` when something was wrong.
pub(super) fn resolve(document: &Document, problems: &mut Problems) -> Option<Gate> {
    let written = &document.gate;
    for item in listed(&written.feeds) {
        if let Some(problem) = refuse_gated(document, &item.value.0, item.span) {
            problems.push(problem);
        }
    }
    let (regression, calibration) = match written.regression.given().map(|entry| &entry.value) {
        None => (Vec::new(), None),
        Some(Regression::File(path)) => (Vec::new(), Some(path.clone())),
        Some(Regression::Table(margins)) => (resolve_margins(margins)?, None),
    };
    if written.is_wrong() {
        return None;
    }
    Some(Gate {
        feeds: listed(&written.feeds).iter().map(|item| item.value.0.clone()).collect(),
        p99_ns: written.p99.given().map(|entry| entry.value.0),
        utilization: written.utilization.given().map(|entry| entry.value.0),
        at_depth: written.at.given().map(|entry| entry.value.0 as u32),
        regression,
        calibration,
        baseline: written.baseline.given().map(|entry| entry.value.0.clone()),
        runs: written.runs.given().map(|entry| entry.value.0 as u32),
        may_differ: listed(&written.may_differ).iter().map(|item| item.value.0).collect(),
        evidence: evidence(written)?,
    })
}

/// Fewest runs of a proof, and the time that they span: a day holds the nightly work of others and the refill of burst
/// credits, and three runs are the fewest that spread.
// From two runs a spread can be computed and not trusted: one of both may be the odd one.
const PROOF_RUNS: u32 = 3;
const PROOF_SPAN_NS: u64 = 24 * 3_600 * 1_000_000_000;

/// What a FEEDS must rest on; `None` when a key was wrong.
fn evidence(written: &written::Gate) -> Option<Evidence> {
    if written.evidence.given().is_none_or(|evidence| evidence.value.0 == Grade::Screen) {
        return Some(Evidence::Screen);
    }
    let Some(proof) = written.proof.given().map(|entry| &entry.value) else {
        return Some(Evidence::Proof { runs: PROOF_RUNS, span_ns: PROOF_SPAN_NS });
    };
    Some(Evidence::Proof {
        runs: proof.runs.value_or(PROOF_RUNS)?,
        span_ns: proof.span.value_or(PROOF_SPAN_NS)?,
    })
}

/// The items of a list that may not be written at all.
fn listed<T>(field: &Field<List<T>>) -> &[Item<T>] {
    field.given().map_or(&[], |entry| entry.value.0.as_slice())
}

/// Margins in the order of the metrics.
fn resolve_margins(margins: &Margins) -> Option<Vec<Margin>> {
    // The length holds the list to the metrics at compile time.
    let fields: [(Compared, &Field<Percentage>); Compared::ALL.len()] = [
        (Compared::Throughput, &margins.throughput),
        (Compared::P50, &margins.p50),
        (Compared::P99, &margins.p99),
        (Compared::Au, &margins.au),
        (Compared::Cpu, &margins.cpu),
    ];
    if margins.is_wrong() {
        return None;
    }
    let margin = |(metric, field): (Compared, &Field<Percentage>)| {
        field.given().map(|entry| Margin { metric, share: entry.value.0 })
    };
    Some(fields.into_iter().filter_map(margin).collect())
}

/// Refuses a gate that no cell can pass: no bytes are read, or fewer are offered than the line.
pub(super) fn refuse_unjudged(
    written: &written::Gate,
    load: &Load,
    datasets: &Datasets,
    need: Option<&feed::Need>,
    problems: &mut Problems,
) {
    let at =
        written.at.given().filter(|at| load.schedule.depths().all(|depth| u64::from(depth) != at.value.0));
    problems.extend(at.map(|at| refuse_depth(at, load)));
    let Some(feeds) = written.feeds.key() else { return };
    if let Some(problem) = refuse_other_job(feeds, load, need) {
        problems.push(problem);
    }
    let judged = load.tasks.iter().any(|task| {
        let line = |sample: &Sample, share: Option<u8>| {
            let bytes = sample.bytes? as f64;
            let of_mix = share.map(|percent| need.map(|need| need.of_mix(f64::from(percent) / 100.0, bytes)));
            Some(of_mix.flatten().as_ref().or(need)?.line_bps(bytes))
        };
        let shares = |sample: Sample| {
            (0..load.mix.count(task.operation)).map(move |index| load.mix.at(index, task.operation, sample))
        };
        let mut lines =
            datasets.samples.iter().flat_map(|sample| shares(*sample).map(|share| line(sample, share)));
        let reaches = |line| load.schedule.series.iter().any(|of| pace::reaches_line(&of.load, line));
        need.is_none_or(|need| task.operation.flow() == Some(need.flow())) && lines.any(reaches)
    });
    if !judged {
        let problem = Problem::new("`gate.feeds` could never be met: no cell is held against the line")
            .at(feeds, "needs a verdict")
            .also_if(load.schedule.rate_span, "offers less than the line");
        let silent = load.tasks.iter().filter(|task| !task.operation.moves_bytes());
        let problem = silent.fold(problem, |problem, task| problem.also_if(task.span, "moves no bytes"));
        problems.push(problem.help("read bytes, at rate = \"line\" or more; or remove the gate"));
    }
}

/// Refuses a depth at which nothing is measured.
fn refuse_depth(at: &Entry<Whole<1, DEPTH_MAX>>, load: &Load) -> Problem {
    let depth = at.value.0;
    let mut depths: Vec<u32> = load.schedule.depths().collect();
    depths.sort_unstable();
    depths.dedup();
    let depths: Vec<String> = depths.iter().map(ToString::to_string).collect();
    Problem::new(format!("`gate.at` names depth {depth}, at which nothing is measured"))
        .at(at.span, "not a depth of this run")
        .also_if(load.schedule.depth_span, "these are")
        .help(format!("depths: {}", depths.join(", ")))
}

/// Refuses a gate on jobs where no job has the accelerators that are to be fed.
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

fn refuse_gated(document: &Document, name: &str, span: Span) -> Option<Problem> {
    let Some(target) = document.targets.iter().find(|target| target.name.text == name) else {
        return target::refuse_unknown(document, "gate.feeds", name, span);
    };
    let null = target.at.given().is_some_and(|at| at.value == Address::Null);
    null.then(|| {
        Problem::new("`gate.feeds` names a target that is no storage")
            .at(span, "feeds nothing")
            .also(target.name.span, "is the client's own ceiling")
    })
}
