//! `feedline run --resume`: goes on with a run, or adds rounds to it, by the command line that began it.

use std::fs;
use std::path::Path;

use analysis::{MoreRounds, OpenTarget};
use clap::Parser as _;
use record::{End, Line, RUN_FILE, RunRecord};

use crate::cmd::run::{self, More, RunArgs};
use crate::cmd::size::{self, SizeArgs};
use crate::exit::{Exit, Failure};
use crate::resume::{Interrupted, clock_ns, refused};
use crate::verb::{Cli, Verb, with_verb};
use crate::{environment, samples};

pub(crate) fn resume(args: &RunArgs) -> Result<Exit, Failure> {
    match interrupted(args)? {
        (Began::Run(began), interrupted) => run::once(&began, Some(interrupted)),
        (Began::Size(began), interrupted) => size::once(&began, Some(interrupted)),
    }
}

/// The command line that began a run.
enum Began {
    /// A run, which measures and judges a scenario.
    Run(Box<RunArgs>),
    /// A search.
    Size(Box<SizeArgs>),
}

/// The run that `args` names, and the command line that began it.
fn interrupted(args: &RunArgs) -> Result<(Began, Interrupted), Failure> {
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
    if let Some(target) = with_credits(&record) {
        let why = format!("has burst credits on `{target}`, and would begin again with all of them");
        return Err(refused(&folder, &why, "run the command again that began it"));
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
    measure.watch = args.measure.watch;
    measure.quiet = (measure.quiet || args.measure.quiet) && !measure.watch;
    measure.yes |= args.measure.yes;
    folder.parent().unwrap_or(Path::new("/")).clone_into(&mut measure.results);
    Ok((began, Interrupted { folder, record, more, anyway: args.anyway }))
}

/// A target that spends burst credits of the process that measures it, if any.
fn with_credits(record: &RunRecord) -> Option<&str> {
    let known = record.run.expect.iter().flat_map(|expect| &expect.targets);
    let mut asked = known.filter_map(|target| Some((&target.target, target.emulated?)));
    let (name, _) = asked.find(|(_, asked)| asked.request_burst.or(asked.byte_burst).is_some())?;
    Some(name)
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
    let words = with_verb(command.iter().map(|word| spelt_out(word).into()));
    match Cli::try_parse_from(words).ok()?.verb {
        Verb::Run(args) => Some(Began::Run(Box::new(args))),
        Verb::Size(args) => Some(Began::Size(Box::new(args))),
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

/// A word of a command line with the names that a record has labels for.
fn spelt_out(word: &str) -> String {
    environment::secrets().into_iter().fold(word.to_owned(), |word, (name, label)| match label.as_str() {
        "~" if word == "~" || word.starts_with("~/") => word.replacen('~', &name, 1),
        "~" => word,
        label => word.replace(label, &name),
    })
}
