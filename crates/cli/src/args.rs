//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::cmd;

/// What `--version` prints. The static executable says what it cannot do.
const VERSION: &str = if cfg!(target_env = "musl") {
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
    /// Write the datasets of a scenario, or check that they are there
    Prepare(InputArgs),
    /// Remove what feedline wrote below a path, or the paths of a scenario, and nothing else
    Clean(CleanArgs),
    /// Find how many accelerators a storage feeds, or the fewest readers, depth or prefetch that feed those of the need
    Size(SizeArgs),
    /// Make table, page or plot again from the record of a run
    Report(ReportArgs),
    /// Hold a run against another, a baseline, or its variants or targets against each other
    Compare(cmd::compare::CompareArgs),
    /// Find how small a regression this machine can honestly tell from noise
    Calibrate(cmd::calibrate::CalibrateArgs),
    /// Show the cells of a scenario over the runs in a folder
    History(cmd::history::HistoryArgs),
    /// Write a run in the form of another tool, or as a bundle that others can verify
    Export(cmd::export::ExportArgs),
    /// Make one record of those that several hosts wrote of one scenario
    Merge(cmd::merge::MergeArgs),
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

/// A scenario file, or a path under test.
#[derive(Debug, Clone, Default, Args)]
// Shared by all verbs that read a scenario, so that `plan` shows exactly what `run` with the same words
// does.
pub(crate) struct InputArgs {
    /// Scenario file (*.toml), or with --need the path to test
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

#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Scenario file (*.toml), or a path
    pub(crate) input: String,
    /// Remove what is listed without asking; only a terminal is asked
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
#[command(mut_arg("results", |results| results.short('o')))]
#[expect(clippy::struct_excessive_bools, reason = "flags that are independent of each other")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    /// Show what would be done, as `feedline plan` does; runs nothing
    #[arg(long, conflicts_with_all = ["variant", "as_variant", "proof"])]
    pub(crate) dry_run: bool,
    /// Go on with a run that was interrupted, and make only the repetitions that are missing: `run --resume results/RUN`. With
    /// --rounds, add rounds to one that came to its end, with --only to the targets named. The scenario, the data, the machine
    /// and feedline must be what they were
    // Whatever would change what is measured: the run that is gone on with has been asked already.
    #[arg(long, conflicts_with_all = ["variant", "as_variant", "rank", "dry_run", "set", "need", "hold", "budget", "add_to", "proof"])]
    pub(crate) resume: bool,
    /// Exit with 5 when a gated target is UNCERTAIN, or when a gate on regressions cannot be decided
    #[arg(long)]
    pub(crate) strict: bool,
    /// Make the next of the runs that a proof takes, and add up those that are there: three or more of this scenario over a
    /// day or what `gate.proof` says
    #[arg(long, conflicts_with_all = ["variant", "as_variant", "rank"])]
    pub(crate) proof: bool,
    /// Plan so many more rounds of fresh repetitions than 28, e.g. --rounds +12; with --resume, make so many more of those that
    /// the run planned
    #[arg(long, value_name = "+N", allow_hyphen_values = true, conflicts_with_all = ["variant", "as_variant", "rank"])]
    pub(crate) rounds: Option<More>,
    /// Compare variants of the scenario, interleaved: a name, and a key that it changes; `NAME:` changes nothing,
    /// `NAME:bin=PATH` runs another feedline. Two or more; the first is what the others are compared with
    #[arg(long, value_name = "NAME:KEY=VALUE", conflicts_with_all = ["rank", "ranks", "start_at", "full", "json"])]
    pub(crate) variant: Vec<String>,
    /// With --variant, leave the comparison to `feedline compare`
    #[arg(long, requires = "variant")]
    pub(crate) no_compare: bool,
    /// Measure as this variant, by orders on standard input
    // For a parent process alone: its orders come on standard input.
    #[arg(long, hide = true, conflicts_with_all = ["variant", "rank"])]
    pub(crate) as_variant: Option<String>,
    /// Add the run to a baseline, unless it was interrupted or regressed
    #[arg(long, value_name = "NAME", conflicts_with_all = ["variant", "as_variant", "rank"])]
    pub(crate) add_to: Option<String>,
    #[command(flatten)]
    pub(crate) ranks: RankArgs,
}

/// A number to add, written with its sign: `+12`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct More(pub(crate) u32);

impl std::str::FromStr for More {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The sign is asked for because `--rounds 12` reads as twelve rounds in all.
        let number = text.strip_prefix('+').and_then(|digits| digits.parse::<u16>().ok());
        let number = number.filter(|number| *number > 0);
        number.map(|number| Self(number.into())).ok_or_else(|| "write how many more, such as +12".to_owned())
    }
}

/// One of several hosts that measure at the same time, each with a record of its own for `feedline merge`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RankArgs {
    /// This host among --ranks, from 0; all of them run the same command otherwise
    #[arg(long, requires_all = ["ranks", "start_at"])]
    pub(crate) rank: Option<u32>,
    /// How many hosts measure together
    // The bound of records (`RANKS_MAX`); one rank is a run without ranks.
    #[arg(long, requires = "rank", value_parser = clap::value_parser!(u32).range(2..=65_536))]
    pub(crate) ranks: Option<u32>,
    /// When the first repetition begins on all hosts: 2026-11-21T04:41:23Z, or seconds since 1970. Late enough for all to
    /// have their data ready
    #[arg(long, value_name = "TIME", requires = "rank")]
    pub(crate) start_at: Option<String>,
    /// Time between warm-up and window of one repetition and those of the next, in which hosts set their page caches
    /// [default: 5s]
    #[arg(long, value_name = "DURATION", requires = "rank")]
    pub(crate) slack: Option<String>,
}

/// Where a record goes and what it keeps.
#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    /// Folder that receives a folder for this run
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Print the answer alone: not what will be done, and no progress
    #[arg(long, short, alias = "no-progress")]
    pub(crate) quiet: bool,
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

#[derive(Debug, Args)]
#[command(mut_arg("results", |results| results.short('o')))]
pub(crate) struct SizeArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    /// What to search: the most accelerators that stay fed, or the least that feeds the accelerators of the need
    #[arg(long, value_enum, default_value_t = Find::Accelerators)]
    pub(crate) find: Find,
    /// Largest number to try [default: 128 accelerators, 64 readers, 64 batches of prefetch, depth 1024]
    // The deepest queue that a scenario takes.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) most: Option<u32>,
}

/// What `size` searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Find {
    /// The most accelerators whose utilization stays at the target
    Accelerators,
    /// The fewest readers of each accelerator
    Readers,
    /// The shallowest queue that reads share, by doublings
    Depth,
    /// The fewest batches fetched ahead
    Prefetch,
}

#[derive(Debug, Args)]
pub(crate) struct NeedArgs {
    /// A need such as 8xh100:resnet50 or the table of its keys, a scenario file, or nothing to list the profiles
    pub(crate) need: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Folder of a run
    pub(crate) run: PathBuf,
    /// What to make
    #[arg(long, value_enum, default_value_t = ReportFormat::Terminal, conflicts_with_all = ["full", "json"])]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    /// With --format svg or png, which plot: throughput, percentiles, tradeoff, heatmap, over-time, sizes, roofline,
    /// layouts, epochs, checkpoints, or one of a training load: training-timeline, training-accelerators,
    /// training-readers, training-waits
    #[arg(long, default_value = "throughput")]
    pub(crate) plot: String,
    /// With --format png: the dark theme; an SVG follows its reader
    #[arg(long)]
    pub(crate) dark: bool,
    /// Make one page that needs no network: verdicts, plots, tables, environment
    #[arg(long, conflicts_with_all = ["format", "plot", "dark", "full", "json"])]
    pub(crate) html: bool,
    /// With --html, further runs to show side by side
    #[arg(value_name = "RUN", requires = "html")]
    pub(crate) beside: Vec<PathBuf>,
    /// File to write; standard output when absent
    #[arg(long, short)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// The answer that `run` prints
    Terminal,
    /// A Markdown page
    Markdown,
    /// A plot: by default that of throughput against queue depth
    Svg,
    /// The same as a picture of 2,000 pixels across
    Png,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// File to write; standard output when absent
    pub(crate) file: Option<PathBuf>,
    /// Path to test
    #[arg(long, default_value = "/mnt/data/bench")]
    pub(crate) at: String,
    /// What the accelerators need
    #[arg(long, default_value = "8xh100:resnet50")]
    pub(crate) need: String,
}

#[derive(Debug, Args)]
pub(crate) struct EmulateArgs {
    /// What to speak
    #[arg(value_enum)]
    pub(crate) protocol: EmulatedProtocol,
    /// What to be like: s3-like, nfs-1gbe-like, hdd-like; as fast as it goes when absent
    #[arg(long)]
    pub(crate) profile: Option<String>,
    /// Port on 127.0.0.1; a free one by default
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
    /// S3: the bucket that is there from the start
    #[arg(long, default_value = "bench")]
    pub(crate) bucket: String,
    /// NFS: the one export
    #[arg(long, default_value = "/export")]
    pub(crate) export: String,
    /// S3: folders at the beginning of a key that share one rate of requests
    #[arg(long, default_value_t = 1)]
    pub(crate) prefix_folders: u32,
    /// A key of `emulate` in a scenario, e.g. --set 'first_byte="20ms"'
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Take settings and commands from standard input, as `run` gives them
    #[arg(long, hide = true)]
    pub(crate) control: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EmulatedProtocol {
    /// S3 over plain HTTP
    S3,
    /// NFS version 3
    Nfs,
}
