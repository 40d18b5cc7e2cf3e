//! What several verbs are asked.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// A scenario file, or a path under test.
#[derive(Debug, Clone, Default, Args)]
// Shared by all verbs that read a scenario, so that `plan` shows exactly what `run` with the same words
// does.
pub(crate) struct InputArgs {
    /// Scenario file (*.toml) or claim (claims/c03), or with --need the path to test
    pub(crate) input: String,
    /// What the accelerators need, e.g. 8xh100:resnet50; then the input may be a path
    #[arg(long)]
    pub(crate) need: Option<String>,
    /// What stays of a workload's need where samples are not of its size: samples or bytes per second
    #[arg(long, value_enum)]
    pub(crate) hold: Option<Hold>,
    /// Measure for so long at most, e.g. --budget 5m: `measure.budget`. Without a file 2m, unless --set measure says otherwise
    #[arg(long, value_name = "DURATION")]
    pub(crate) budget: Option<String>,
    /// Read the files that are there and write none: `dataset.source = "existing"`
    #[arg(long)]
    pub(crate) existing: bool,
    /// Override a key of the scenario, e.g. --set load.threads=2
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Leave out all targets but this one, e.g. --only s3; several times for several
    #[arg(long, value_name = "TARGET")]
    pub(crate) only: Vec<String>,
    /// Whether some of its values are tried alone.
    // Of the verb, and no option.
    #[arg(skip)]
    pub(crate) is_search: bool,
}

/// What stays of a need: `need.hold` of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Hold {
    /// Samples per second
    Samples,
    /// Bytes per second
    Bytes,
}

impl Hold {
    /// As a scenario writes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Samples => feed::Hold::Samples.name(),
            Self::Bytes => feed::Hold::Bytes.name(),
        }
    }
}

/// One of several hosts that measure at the same time, each with a record of its own for `feedline merge`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RankArgs {
    /// This host among --ranks, from 0; all of them run the same command otherwise
    #[arg(long, requires_all = ["ranks", "start_at"])]
    // `start_at` and `ranks` need no rank here: a launcher may state it.
    pub(crate) rank: Option<u32>,
    /// How many hosts measure together
    // The bound of records (`RANKS_MAX`). One is for a numbered pod that is alone.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) ranks: Option<u32>,
    /// When the first repetition begins on all hosts: 2026-11-21T04:41:23Z, or seconds since 1970. Late enough for all to
    /// have their data ready
    #[arg(long, value_name = "TIME")]
    pub(crate) start_at: Option<String>,
    /// Time between warm-up and window of one repetition and those of the next, in which hosts set their page caches
    /// [default: 5s]
    #[arg(long, value_name = "DURATION", requires = "start_at")]
    pub(crate) slack: Option<String>,
}

/// How the processes of a launcher meet: `mpirun -n 4 feedline run s.toml`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TeamArgs {
    /// Library of PMIx by which the processes of a launcher meet, where that is not found beside the launcher:
    /// /path/to/libpmix.so.2
    #[arg(long, value_name = "PATH")]
    pub(crate) pmix: Option<PathBuf>,
    /// How long the processes of a launcher wait for one that does not come, before all of them end [default: 6s]
    #[arg(long, value_name = "DURATION")]
    pub(crate) patience: Option<String>,
}

impl TeamArgs {
    /// The first option that the command line gives.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let given = [(self.pmix.is_some(), "--pmix"), (self.patience.is_some(), "--patience")];
        given.into_iter().find_map(|(is_given, option)| is_given.then_some(option))
    }
}

/// Where a record goes and what it keeps.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags that are independent of each other")]
pub(crate) struct MeasureArgs {
    /// Folder that receives a folder for this run
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Print the answer alone: not what will be done, and no progress
    #[arg(long, short, alias = "no-progress")]
    pub(crate) quiet: bool,
    /// Print each second what the run moves, and what the device, the network, the processors and the memory of this machine do
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) watch: bool,
    /// Without a file, go on without asking, however much is written
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Keep the names of hosts, users and home folders in the record
    #[arg(long)]
    pub(crate) no_redact: bool,
}

/// How the answer of a run is printed.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct ShowArgs {
    /// Print every cell, remark and note before the answer
    #[arg(long)]
    pub(crate) full: bool,
    /// Print the answer as one JSON object, and nothing else on standard output; `feedline schema answer` describes it
    #[arg(long, conflicts_with = "full")]
    pub(crate) json: bool,
}
