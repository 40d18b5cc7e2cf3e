//! `versus`: feedline and a peer on the same data, in turn, judged from outside.
//!
//! Nothing of feedline's own code is used: both tools are child processes, their processor time comes from `wait4`,
//! and what they did is read from their own reports. Method: docs/src/versus.md.

mod args;
mod bare;
mod case;
mod data;
mod device;
mod duel;
mod family;
mod feedline;
mod figures;
mod fio;
mod host;
mod interrupt;
mod memory;
mod net;
mod null_s3;
mod output;
mod process;
mod record;
mod run;
mod scratch;
mod show;
mod summary;
mod table;

use std::process::ExitCode;

use anyhow::Result;
use args::{Cli, Verb};
use clap::Parser as _;
use output::{print, say};
use process::Interrupted;

/// Exit code after Ctrl-C or SIGTERM, as shells count it.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let ended = match Cli::parse().verb {
        Verb::Run(args) => run::run(&args),
        Verb::List => list(),
        Verb::Show(args) => show::show(&args.records),
        Verb::Bare(args) => bare::run(&args),
        Verb::NullS3(args) => null_s3::serve(&args),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("{error:#}"));
            if error.is::<Interrupted>() { ExitCode::from(INTERRUPTED) } else { ExitCode::FAILURE }
        }
    }
}

fn list() -> Result<()> {
    let local = case::CASES.iter().map(|case| (case.name.to_owned(), case.about.to_owned()));
    let over_a_network = net::cases().into_iter().map(|case| (case.name, case.about));
    let lines: Vec<String> =
        local.chain(over_a_network).map(|(name, about)| format!("{name:28} {about}\n")).collect();
    print(&lines.concat())
}
