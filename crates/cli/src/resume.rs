//! `feedline run --resume RUN`: what a run that was interrupted was asked for, and whether all is as it was.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Parser as _;
use record::{Environment, Line, Redactor, Rep, Run, RunRecord, SCENARIO_FILE, Target};

use crate::args::{Cli, RunArgs, Verb};
use crate::exit::Failure;
use crate::{environment, load, samples};

/// A run that was interrupted, as far as it was made.
pub(crate) struct Interrupted {
    /// The folder of its record.
    pub(crate) folder: PathBuf,
    /// What the record holds.
    pub(crate) record: RunRecord,
}

impl Interrupted {
    /// What the run's clock showed as it was interrupted, as far as the record tells.
    pub(crate) fn at_ns(&self) -> u64 {
        let ends = self.record.lines.iter().map(|line| match line {
            // A run that was killed has no last line; its clock stood at least at the end of its last
            // window.
            Line::Rep(rep) => rep.window_start_ns.saturating_add(rep.window_ns),
            Line::End(end) => end.elapsed_ns,
            Line::Ceiling(_) => 0,
        });
        ends.max().unwrap_or(0)
    }
}

/// The interrupted run that `args` names, and the command line that began it.
pub(crate) fn interrupted(args: &RunArgs) -> Result<(RunArgs, Interrupted), Failure> {
    let folder = samples::folder_of(&args.input.input, &args.measure.results)?;
    let record = samples::record(&folder)?;
    if !can_go_on(&record.run) {
        return Err(refused(
            &folder,
            "is one of a search, of variants or of several hosts, which are made anew",
            "run the command again that began it",
        ));
    }
    let is_whole = |line: &Line| matches!(line, Line::End(end) if !end.interrupted);
    if record.lines.last().is_some_and(is_whole) {
        let hint = format!("`feedline report {}` shows it", folder.display());
        return Err(refused(&folder, "came to its end: nothing is missing", &hint));
    }
    let Ok(Cli { verb: Verb::Run(mut began) }) =
        // The command line is in the record, so that nobody has to remember how a run of hours was begun.
        Cli::try_parse_from(load::with_verb(record.run.command.iter().map(|word| spelt_out(word).into())))
    else {
        let hint = "run the command again that began it";
        return Err(refused(&folder, "was begun by a command line that cannot be read", hint));
    };
    // How it is shown is asked anew: going on may happen in another terminal, or in none.
    began.measure.quiet |= args.measure.quiet;
    began.measure.yes |= args.measure.yes;
    began.show = args.show;
    began.strict |= args.strict;
    let has_parent = folder.parent().is_some_and(|parent| !parent.as_os_str().is_empty());
    let folder = if has_parent { folder } else { fs::canonicalize(&folder)? };
    folder.parent().unwrap_or(Path::new("/")).clone_into(&mut began.measure.results);
    Ok((began, Interrupted { folder, record }))
}

/// Whether one process alone decides what a run measures next, so that a later one can go on with it.
pub(crate) fn can_go_on(run: &Run) -> bool {
    run.size.is_none() && run.variant.is_none() && run.ranks == 1
}

/// A word of a command line with the names that a record has labels for.
fn spelt_out(word: &str) -> String {
    environment::secrets().into_iter().fold(word.to_owned(), |word, (name, label)| match label.as_str() {
        "~" if word == "~" || word.starts_with("~/") => word.replacen('~', &name, 1),
        "~" => word,
        label => word.replace(label, &name),
    })
}

/// Refuses another scenario before anything is written for it.
pub(crate) fn refuse_other_scenario(
    interrupted: &Interrupted,
    text: &str,
    redactor: &Redactor,
) -> Result<(), Failure> {
    let path = interrupted.folder.join(SCENARIO_FILE);
    let was = fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    if was == redactor.text(text) { Ok(()) } else { Err(changed(&interrupted.record.run, "the scenario")) }
}

/// Refuses to go on where the data, the storage, the machine or feedline changed: the figures would not be of one run.
pub(crate) fn refuse_other(
    record: &RunRecord,
    now: &Run,
    env: &Environment,
    redactor: &Redactor,
) -> Result<(), Failure> {
    let (was, before) = (&record.run, &record.env);
    let now = &record::redacted(redactor, now)?;
    let machine = |env: &Environment| (env.machine.clone(), env.cpu_model.clone(), env.memory_bytes.clone());
    // A container with fewer cores is another client, and its ceiling another one.
    let limits = |env: &Environment| {
        (env.cores_usable.clone(), env.cgroup_cpu_cores.clone(), env.cgroup_memory_bytes.clone())
    };
    let differs = [
        ("the plan", was.plan_hash != now.plan_hash || was.cells != now.cells || was.measure != now.measure),
        ("the need", was.need != now.need),
        ("the data", fingerprints(was) != fingerprints(now)),
        ("the storage", storages(was) != storages(now)),
        ("feedline itself", was.tool != now.tool),
        ("the machine", machine(before) != machine(env)),
        ("what this process may use of it", limits(before) != limits(env)),
        ("the kernel", before.kernel != env.kernel),
    ];
    let differs: Vec<&str> =
        differs.into_iter().filter_map(|(what, differs)| differs.then_some(what)).collect();
    if differs.is_empty() { Ok(()) } else { Err(changed(was, &differs.join(", "))) }
}

/// Refuses a record to which another process has added since it was read: what it made would be made twice.
pub(crate) fn refuse_grown(folder: &Path, read: &RunRecord) -> Result<(), Failure> {
    // Between reading and locking another process may have gone on with the run, and ended.
    if record::read_run(folder)?.lines == read.lines {
        return Ok(());
    }
    Err(refused(folder, "was written to meanwhile", "look at it, and go on with it once more"))
}

fn changed(run: &Run, what: &str) -> Failure {
    Failure::usage(format!(
        "error: the run `{}` cannot be gone on with: {what} changed since it began\n  hint: run it anew; what was measured stays \
         in its record",
        run.run_id,
    ))
}

/// The facts of each storage, without those of servers that feedline starts, which have another port each time.
fn storages(run: &Run) -> Vec<Target> {
    let lasting = |target: &Target| if target.demo { Vec::new() } else { target.facts.clone() };
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

fn refused(folder: &Path, why: &str, hint: &str) -> Failure {
    Failure::usage(format!("error: the run in `{}` {why}\n  hint: {hint}", folder.display()))
}
