//! The command line.

use std::ffi::OsString;

use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::args::InputArgs;
use crate::cmd::calibrate::CalibrateArgs;
use crate::cmd::claims::ClaimsArgs;
use crate::cmd::clean::CleanArgs;
use crate::cmd::compare::CompareArgs;
use crate::cmd::emulate::EmulateArgs;
use crate::cmd::export::ExportArgs;
use crate::cmd::history::HistoryArgs;
use crate::cmd::init::InitArgs;
use crate::cmd::merge::MergeArgs;
use crate::cmd::need::NeedArgs;
use crate::cmd::report::ReportArgs;
use crate::cmd::run::RunArgs;
use crate::cmd::size::SizeArgs;
use crate::cmd::what_if::WhatIfArgs;
use crate::load::is_scenario;

/// What `--version` prints. The static executable says what it cannot do.
pub(crate) const VERSION: &str = if cfg!(target_env = "musl") {
    concat!(
        env!("CARGO_PKG_VERSION"),
        " (static: opens no library at run time; finds names in /etc/hosts and by DNS alone)"
    )
} else {
    env!("CARGO_PKG_VERSION")
};

/// Will this storage feed those GPUs?
///
/// feedline reads real data from storage the way training does, and holds what it measures against the
/// bytes per second that the planned accelerators consume. `feedline FILE.toml` is `feedline run FILE.toml`.
///
/// Exit codes: 0 done, 1 error, 2 usage or scenario, 3 gate missed, 4 regression, 5 inconclusive with --strict,
/// 130 interrupted (what was measured is kept).
#[derive(Debug, Parser)]
#[command(name = "feedline", version, long_version = VERSION, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Measure a scenario, or a path with --need, and give the verdict
    Run(RunArgs),
    /// Read a scenario and report every mistake in it
    Check(InputArgs),
    /// Show what a run would do: cells, bytes, time, disk, memory, privileges; runs nothing
    Plan(InputArgs),
    /// Show the arithmetic of a need such as 8xh100:resnet50
    Need(NeedArgs),
    /// Answer what a copy, a cache, readers, checkpoints and the like would bring, by arithmetic; measures nothing
    WhatIf(WhatIfArgs),
    /// List the field's claims and what is known of them, or show one with the scenario that measures it
    Claims(ClaimsArgs),
    /// Write the datasets of a scenario, or check that they are there
    Prepare(InputArgs),
    /// Remove what feedline wrote below a path, or the paths of a scenario, and nothing else
    Clean(CleanArgs),
    /// Find how many accelerators, or hosts, a storage feeds, or the fewest readers, depth or prefetch that feed those of the need
    Size(SizeArgs),
    /// Make table, page or plot again from the record of a run
    Report(ReportArgs),
    /// Hold a run against another, a baseline, or its variants or targets against each other
    Compare(CompareArgs),
    /// Find how small a regression this machine can honestly tell from noise
    Calibrate(CalibrateArgs),
    /// Show the cells of a scenario over the runs in a folder
    History(HistoryArgs),
    /// Write a run in the form of another tool, or as a bundle that others can verify
    Export(ExportArgs),
    /// Make one record of those that several hosts wrote of one scenario
    Merge(MergeArgs),
    /// Serve S3 or NFS on this machine, as slow and as faulty as declared, to try things out
    Emulate(EmulateArgs),
    /// Write a commented scenario to start from
    Init(InitArgs),
    /// Print the JSON Schema of scenario files, or of what --json prints
    Schema {
        /// What to describe
        #[arg(value_enum, default_value_t = Described::Scenario)]
        of: Described,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page (roff)
    Man,
}

/// What has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Described {
    /// Scenario files
    Scenario,
    /// The object that --json prints
    Answer,
}

/// The words of a command line: a scenario file in place of a verb is to be run.
pub(crate) fn with_verb(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let first = words.get(1).and_then(|word| word.to_str());
    if first.is_some_and(|word| !word.starts_with('-') && is_scenario(word)) {
        // `feedline job.toml` is what is typed first, and no verb ends in `.toml`.
        words.insert(1, "run".into());
    }
    words
}

/// Whether nothing but the version is asked for. It is said before clap describes all verbs: where the executable is not in the
/// page cache, most of what is read of it is for that description.
pub(crate) fn asks_for_version(words: &[OsString]) -> bool {
    words.len() == 2 && words[1] == "--version"
}
