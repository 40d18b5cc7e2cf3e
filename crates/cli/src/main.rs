//! `feedline`: will this storage feed those GPUs?

mod announce;
mod args;
mod at_last;
mod baseline;
mod bounds;
mod bundle;
mod checkpoints;
mod claim;
mod claims;
mod cmd;
mod comparing;
mod conclusion;
mod cost;
mod data;
mod derived;
mod emulated;
mod environment;
mod exit;
mod files;
mod host;
mod in_use;
mod launched;
mod leases;
mod load;
mod open;
mod output;
mod progress;
mod proof;
mod regression;
mod resume;
mod rounds;
mod samples;
mod session;
mod shown;
mod signals;
mod slots;
mod suspended;
mod team;
mod variants;
mod verb;
mod watch;

use std::process::ExitCode;

use clap::Parser as _;
use cmd::run::RunArgs;
use cmd::size::SizeArgs;
use exit::{Exit, Failure};
use verb::{Cli, Verb, asks_for_version, with_verb};

fn main() -> ExitCode {
    let words = with_verb(std::env::args_os());
    let (done, by_flags) = if asks_for_version(&words) {
        (cmd::about::version(), false)
    } else {
        let verb = Cli::parse_from(words).verb;
        let by_flags = input(&verb).is_some_and(|input| !load::is_scenario(input));
        (dispatch(verb), by_flags)
    };
    match done {
        Ok(exit) | Err(Failure::Said(exit)) => exit.into(),
        Err(failure) => {
            output::say(&told(&failure, by_flags));
            failure.exit().into()
        }
    }
}

/// The words of a failure, with its hint in flags where nobody wrote a file. Those of a scenario have their form already.
fn told(failure: &Failure, by_flags: bool) -> String {
    let words = failure.to_string();
    match words.split_once("hint: ") {
        // A user who typed a path has no file in which to write what a hint says.
        Some((said, hint)) if by_flags => format!("{said}hint: {}", scenario::in_flags(hint)),
        _ => words,
    }
}

/// The scenario file, path or URL that a verb is about.
fn input(verb: &Verb) -> Option<&str> {
    match verb {
        Verb::Run(RunArgs { input, .. })
        | Verb::Size(SizeArgs { input, .. })
        | Verb::Check(input)
        | Verb::Plan(input)
        | Verb::Prepare(input) => Some(&input.input),
        _ => None,
    }
}

fn dispatch(verb: Verb) -> Result<Exit, Failure> {
    match verb {
        Verb::Run(args) if args.resume => {
            launched::refuse("run --resume", args.ranks.ranks)?;
            cmd::resume::resume(&args)
        }
        Verb::Run(args) => cmd::run::run(&args),
        Verb::Check(args) => cmd::check::check(&args),
        Verb::Plan(args) => cmd::plan::plan(&args),
        Verb::Need(args) => cmd::need::need(&args),
        Verb::WhatIf(args) => cmd::what_if::what_if(&args),
        Verb::Claims(args) => cmd::claims::claims(&args),
        Verb::Prepare(args) => {
            launched::refuse_but_pods("prepare")?;
            cmd::prepare::prepare(&args)
        }
        Verb::Clean(args) => cmd::clean::clean(&args),
        Verb::Size(args) => cmd::size::size(&args),
        Verb::Report(args) => cmd::report::report(&args),
        Verb::Compare(args) => cmd::compare::compare(&args),
        Verb::Calibrate(args) => cmd::calibrate::calibrate(&args),
        Verb::History(args) => cmd::history::history(&args),
        Verb::Export(args) => cmd::export::export(&args),
        Verb::Merge(args) => cmd::merge::merge(&args),
        Verb::Emulate(args) => cmd::emulate::emulate(&args),
        Verb::Init(args) => cmd::init::init(&args),
        Verb::Schema { of } => cmd::about::schema(of),
        Verb::Completions { shell } => cmd::about::completions(shell),
        Verb::Man => cmd::about::man(),
    }
}
