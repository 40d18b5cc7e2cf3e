//! `feedline run --resume RUN`: what a run that was interrupted, or gets more rounds, was asked for, and whether all is as it
//! was.

use std::fs;
use std::path::{Path, PathBuf};

use analysis::{MoreRounds, OpenTarget};
use anyhow::Context as _;
use clap::Parser as _;
use plan::Plan;
use record::{
    End, Environment, Line, NotRun, RUN_FILE, Redactor, Rep, Run, RunRecord, SCENARIO_FILE, Target,
};

use crate::args::{Cli, More, RunArgs, SizeArgs, Verb};
use crate::exit::Failure;
use crate::{cost, environment, load, samples};

/// A run that was interrupted, or gets more rounds, as far as it was made.
pub(crate) struct Interrupted {
    /// The folder of its record.
    pub(crate) folder: PathBuf,
    /// What the record holds.
    pub(crate) record: RunRecord,
    /// The rounds that are added, where the run came to its end.
    pub(crate) more: Option<MoreRounds>,
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

fn clock_ns(record: &RunRecord) -> u64 {
    let ends = record.lines.iter().map(|line| match line {
        // A run that was killed has no last line; its clock stood at least at the end of its last window.
        Line::Rep(rep) => rep.window_start_ns.saturating_add(rep.window_ns),
        Line::End(end) => end.elapsed_ns,
        Line::Ceiling(_) => 0,
    });
    ends.max().unwrap_or(0)
}

/// The command line that began a run.
pub(crate) enum Began {
    /// A run, which measures and judges a scenario.
    Run(Box<RunArgs>),
    /// A search.
    Size(SizeArgs),
}

/// The run that `args` names, and the command line that began it.
pub(crate) fn interrupted(args: &RunArgs) -> Result<(Began, Interrupted), Failure> {
    let folder = samples::folder_of(&args.input.input, &args.measure.results)?;
    refuse_variants(&folder)?;
    let record = samples::record(&folder)?;
    if record.run.ranks > 1 {
        let hint = "run all ranks again with a later --start-at; their data are there";
        return Err(refused(
            &folder,
            "is of several hosts, which follow one timetable: its times are over",
            hint,
        ));
    }
    if record.run.variant.is_some() {
        return Err(of_variants(&folder));
    }
    let more = more_rounds(args, &folder, &record)?;
    // The command line is in the record, so that nobody has to remember how a run of hours was begun.
    let Some(mut began) = began(&record.run.command) else {
        let hint = "run the command again that began it";
        return Err(refused(&folder, "was begun by a command line that cannot be read", hint));
    };
    let has_parent = folder.parent().is_some_and(|parent| !parent.as_os_str().is_empty());
    let folder = if has_parent { folder } else { fs::canonicalize(&folder)? };
    let (measure, show) = match &mut began {
        Began::Run(run) => {
            run.strict |= args.strict;
            if more.is_some() {
                // It is in its baseline already, and a run that was added to is no other one.
                run.add_to = None;
            }
            (&mut run.measure, &mut run.show)
        }
        Began::Size(size) => (&mut size.measure, &mut size.show),
    };
    // How it is shown is asked anew: going on may happen in another terminal, or in none.
    *show = args.show;
    measure.quiet |= args.measure.quiet;
    measure.yes |= args.measure.yes;
    folder.parent().unwrap_or(Path::new("/")).clone_into(&mut measure.results);
    Ok((began, Interrupted { folder, record, more }))
}

/// Refuses a folder that holds the records of variants.
fn refuse_variants(folder: &Path) -> Result<(), Failure> {
    let is_record = folder.join(RUN_FILE).exists();
    if is_record || samples::below(folder)?.is_empty() { Ok(()) } else { Err(of_variants(folder)) }
}

fn of_variants(folder: &Path) -> Failure {
    let hint =
        "run the command again that began it: the data are there, and what was measured stays in its records";
    refused(folder, "compares variants, which take turns from the first round to the last", hint)
}

/// A command line as a record has it; `None` where no run begins so.
fn began(command: &[String]) -> Option<Began> {
    let words = load::with_verb(command.iter().map(|word| spelt_out(word).into()));
    match Cli::try_parse_from(words).ok()?.verb {
        Verb::Run(args) => Some(Began::Run(Box::new(args))),
        Verb::Size(args) => Some(Began::Size(args)),
        _ => None,
    }
}

/// The rounds to add: those that are asked for, or what is missing of those that an interrupted process was to add; `None`
/// where the run itself has not come to its end.
fn more_rounds(args: &RunArgs, folder: &Path, record: &RunRecord) -> Result<Option<MoreRounds>, Failure> {
    let shown = folder.display();
    let is_whole = |line: &Line| matches!(line, Line::End(End { interrupted: false, .. }));
    let has_ended = record.lines.iter().any(is_whole);
    let misses_nothing = record.lines.last().is_some_and(is_whole);
    match args.rounds {
        Some(_) if record.run.size.is_some() => {
            let hint = "run the command again with a larger measure.repetitions";
            Err(refused(folder, "is a search, which has no verdict to decide", hint))
        }
        Some(_) if !misses_nothing => {
            let hint = format!("make first what is missing of it: `feedline run --resume {shown}`");
            Err(refused(folder, "was interrupted: rounds are added to one that came to its end", &hint))
        }
        Some(More(rounds)) => {
            let targets = args.input.only.clone();
            refuse_closed(folder, record, &targets, rounds)?;
            Ok(Some(MoreRounds { targets, rounds, since_ns: clock_ns(record) }))
        }
        None if !args.input.only.is_empty() => {
            let hint = "leave --only out, or say how many rounds its targets get: --rounds +10";
            Err(refused(folder, "is gone on with as it was planned, with all its targets", hint))
        }
        None if misses_nothing => {
            let hint = format!(
                "`feedline report {shown}` shows it; `--rounds +10` adds rounds of fresh repetitions where a verdict is open"
            );
            Err(refused(folder, "came to its end: nothing is missing", &hint))
        }
        None if has_ended => {
            let mut segments = record.segments.iter().rev();
            let adding = segments.find_map(|segment| {
                let Began::Run(args) = began(&segment.command)? else { return None };
                let More(rounds) = args.rounds?;
                Some(MoreRounds { targets: args.input.only, rounds, since_ns: segment.at_ns })
            });
            let hint = "run the command again that began it";
            adding
                .map(Some)
                .ok_or_else(|| refused(folder, "was added to by a command line that cannot be read", hint))
        }
        None => Ok(None),
    }
}

/// Refuses rounds that would decide nothing, and those beyond the plan of the run: the error of its looks is spent by then.
fn refuse_closed(folder: &Path, record: &RunRecord, targets: &[String], rounds: u32) -> Result<(), Failure> {
    let names: Vec<&str> = record.run.targets.iter().map(|target| target.name.as_str()).collect();
    if let Some(name) = targets.iter().find(|name| !names.contains(&name.as_str())) {
        let hint = format!("its targets: {}", names.join(", "));
        return Err(refused(folder, &format!("has no target `{name}`"), &hint));
    }
    let open = analysis::open_targets(record);
    let is_asked = |one: &&OpenTarget| targets.is_empty() || targets.contains(&one.target);
    let asked: Vec<&OpenTarget> = open.iter().filter(is_asked).collect();
    let closed = targets.iter().find(|name| open.iter().all(|one| one.target != **name));
    if asked.is_empty() || closed.is_some() {
        let of = closed.map_or_else(String::new, |name| format!(" on `{name}`"));
        let hint = format!("`feedline report {}` says why it is what it is", folder.display());
        return Err(refused(folder, &format!("has no verdict{of} that further rounds may decide"), &hint));
    }
    let Some(spent) = asked.iter().find(|one| one.made.saturating_add(rounds) > one.most) else {
        return Ok(());
    };
    let left = spent.most - spent.made.min(spent.most);
    let hint = match left {
        0 => "a fresh run may plan more: give `--rounds +N` to the command that began it".to_owned(),
        left => format!("add at most those: --rounds +{left}; only a fresh run may plan more"),
    };
    let why = format!(
        "planned {} of `{}`, and {left} are left: beyond them its verdict would be wrong more often than it says",
        feed::counted_noun(u64::from(spent.most), "round"),
        spent.target,
    );
    Err(refused(folder, &why, &hint))
}

/// Whether one process alone decides what a run measures next, so that a later one can go on with it.
pub(crate) fn can_go_on(run: &Run) -> bool {
    run.variant.is_none() && run.ranks == 1
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
