//! A run that was interrupted, or gets more rounds: what was made of it, and whether all is as it was.

use std::fs;
use std::path::{Path, PathBuf};

use analysis::MoreRounds;
use anyhow::Context as _;
use backend::numa;
use plan::Plan;
use record::{Elsewhere, Line, NotRun, Redactor, Rep, Run, RunRecord, SCENARIO_FILE, Segment, Target};

use crate::cost;
use crate::exit::Failure;

/// A run that was interrupted, or gets more rounds, as far as it was made.
pub(crate) struct Interrupted {
    /// The folder of its record.
    pub(crate) folder: PathBuf,
    /// What the record holds.
    pub(crate) record: RunRecord,
    /// The rounds that are added, where the run came to its end.
    pub(crate) more: Option<MoreRounds>,
    /// Whether it is gone on with elsewhere too.
    pub(crate) anyway: bool,
}

impl Interrupted {
    /// What the run's clock showed as it ended, as far as the record tells.
    pub(crate) fn at_ns(&self) -> u64 {
        clock_ns(&self.record)
    }

    /// How long the rounds take that are added; `None` where none are.
    pub(crate) fn time_of_more(&self, plan: &Plan) -> Option<String> {
        let more = self.more.as_ref()?;
        let asked = analysis::open_targets(&self.record).into_iter().filter(|one| more.is_for(&one.target));
        let cells: u64 = asked.map(|one| one.cells.len() as u64).sum();
        Some(cost::time_of_more(plan, cells * u64::from(more.rounds)))
    }
}

/// What was made of a run before this process went on with it.
#[derive(Default)]
pub(crate) struct Before {
    /// Repetitions that are passed over as if they were made now.
    pub(crate) made: Vec<Rep>,
    /// How many were begun in all.
    pub(crate) begun: u32,
    /// The rounds that are added, where the run came to its end.
    pub(crate) more: Option<MoreRounds>,
    /// What the run itself left out, where it came to its end.
    pub(crate) not_run: Vec<NotRun>,
}

impl Before {
    /// Parts the lines of a record: what stands as it is, and what is passed over. Of a run that came to its end all stands
    /// that it made; its verdicts say what is added.
    pub(crate) fn of(lines: Vec<Line>, more: Option<MoreRounds>) -> (Self, Vec<Line>) {
        let since_ns = more.as_ref().map_or(0, |more| more.since_ns);
        let (mut before, mut standing) = (Self { more, ..Self::default() }, Vec::new());
        for line in lines {
            match line {
                Line::Rep(rep) => {
                    before.begun = before.begun.max(rep.order + 1);
                    if rep.window_start_ns < since_ns {
                        standing.push(Line::Rep(rep));
                    } else {
                        before.made.push(*rep);
                    }
                }
                Line::End(end) if end.elapsed_ns <= since_ns => {
                    before.not_run.clone_from(&end.not_run);
                    standing.push(Line::End(end));
                }
                Line::End(_) => {}
                Line::Ceiling(_) => standing.push(line),
            }
        }
        (before, standing)
    }
}

pub(crate) fn clock_ns(record: &RunRecord) -> u64 {
    let ends = record.lines.iter().map(|line| match line {
        // A run that was killed has no last line; its clock stood at least at the end of its last window.
        Line::Rep(rep) => rep.window_start_ns.saturating_add(rep.window_ns),
        Line::End(end) => end.elapsed_ns,
        Line::Ceiling(_) => 0,
    });
    ends.max().unwrap_or(0)
}

/// Whether one process alone decides what a run measures next, so that a later one can go on with it.
pub(crate) fn can_go_on(run: &Run) -> bool {
    run.variant.is_none() && run.ranks == 1
}

/// Refuses another scenario before anything is written for it.
pub(crate) fn refuse_other_scenario(
    interrupted: &Interrupted,
    text: &str,
    redactor: &Redactor,
) -> Result<(), Failure> {
    let path = interrupted.folder.join(SCENARIO_FILE);
    let was = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    if was == redactor.text(text) {
        return Ok(());
    }
    Err(changed(&interrupted.record.run, "the scenario", NEW_RUN))
}

/// Refuses to go on where the plan, the data or the storage changed: the figures would not be of one run. Where what measures is
/// another, it is gone on with if that was said, and nothing of the run is judged. `now` and `segment` are as they are recorded.
pub(crate) fn refuse_other(interrupted: &Interrupted, now: &Run, segment: &Segment) -> Result<(), Failure> {
    let RunRecord { run: was, env, .. } = &interrupted.record;
    let differs = [
        ("the plan", was.plan_hash != now.plan_hash || was.cells != now.cells || was.measure != now.measure),
        ("the need", !was.need.is_same(&now.need)),
        ("the data", fingerprints(was) != fingerprints(now)),
        ("the storage", storages(was) != storages(now)),
    ];
    let differs: Vec<&str> =
        differs.into_iter().filter_map(|(what, differs)| differs.then_some(what)).collect();
    if !differs.is_empty() {
        return Err(changed(was, &differs.join(", "), NEW_RUN));
    }
    let elsewhere: Vec<&str> = segment.elsewhere(was, env).into_iter().map(Elsewhere::name).collect();
    if elsewhere.is_empty() || interrupted.anyway {
        return Ok(());
    }
    Err(changed(
        was,
        &elsewhere.join(", "),
        "run it anew, or add --anyway: all its verdicts are then UNCERTAIN",
    ))
}

/// Refuses a record to which another process has added since it was read: what it made would be made twice.
pub(crate) fn refuse_grown(folder: &Path, read: &RunRecord) -> Result<(), Failure> {
    // Between reading and locking another process may have gone on with the run, and ended.
    if record::read_run(folder)?.lines == read.lines {
        return Ok(());
    }
    Err(refused(folder, "was written to meanwhile", "look at it, and go on with it once more"))
}

const NEW_RUN: &str = "run it anew; what was measured stays in its record";

fn changed(run: &Run, what: &str, hint: &str) -> Failure {
    Failure::usage(format!(
        "error: the run `{}` cannot be gone on with: {what} changed since it began\n  hint: {hint}",
        run.run_id,
    ))
}

/// The facts of each storage, without those of servers that feedline starts, which have another port each time.
fn storages(run: &Run) -> Vec<Target> {
    let lasting = |target: &Target| {
        // Where a machine has its device or interface is a fact of the machine, and older records lack it.
        let facts = target.facts.iter().filter(|fact| !target.demo && fact.name != numa::FACT);
        facts.cloned().collect()
    };
    run.targets.iter().map(|target| Target { facts: lasting(target), ..target.clone() }).collect()
}

/// What tells the data of a run from others. Servers that feedline starts hold theirs only as long as they run.
fn fingerprints(run: &Run) -> Vec<&str> {
    let is_demo = |name: &str| run.targets.iter().any(|target| target.name == name && target.demo);
    run.datasets.iter().filter(|data| !is_demo(&data.target)).map(|data| data.fingerprint.as_str()).collect()
}

/// The failure for a record that does not hold what its plan leads to.
pub(crate) fn astray(made: &Rep, cell: &plan::Cell) -> Failure {
    Failure::Error(anyhow::anyhow!(
        "the record holds repetition {} of {} where it is the turn of {}: it was changed, or made by another feedline\n  hint: \
         run it anew",
        made.rep + 1,
        made.cell,
        cell.slug,
    ))
}

pub(crate) fn refused(folder: &Path, why: &str, hint: &str) -> Failure {
    Failure::usage(format!("error: the run in `{}` {why}\n  hint: {hint}", folder.display()))
}
