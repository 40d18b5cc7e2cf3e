//! What `feedline compare` is asked.

use std::path::PathBuf;

use analysis::Metric;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use feed::{MayDiffer, Words as _};

use crate::exit::Failure;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Two runs (before, after); one run with --baseline; one run with --by target, or a folder of variants, and two names
    #[arg(required = true, num_args = 1..=3, value_name = "RUN")]
    pub(super) inputs: Vec<String>,
    /// Runs to compare with: the name of a baseline, a folder of runs, or a file that lists them
    #[arg(long, value_name = "NAME|PATH", conflicts_with = "by")]
    pub(super) baseline: Option<String>,
    /// What is compared within one run: its variants, or its targets
    #[arg(long, value_enum)]
    pub(super) by: Option<By>,
    /// What to print
    #[arg(long, value_enum, default_value_t = CompareFormat::Terminal)]
    pub(super) format: CompareFormat,
    /// With --format markdown: most bytes of the page; a comment on GitHub holds 65536 [default: 1048576]
    #[arg(long)]
    pub(super) max_bytes: Option<usize>,
    /// How much worse a metric may be: throughput, p50, p99, au, cpu; repeat for several
    #[arg(long = "margin", value_name = "METRIC=SHARE", value_parser = margin)]
    pub(super) margins: Vec<record::Margin>,
    /// Margins that `calibrate` wrote
    #[arg(long = "margins", value_name = "FILE")]
    pub(super) margins_file: Option<PathBuf>,
    /// Fewest comparable runs of a baseline; with fewer nothing is decided [default: that of the run's gate, else 8]
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub(super) runs: Option<u32>,
    /// What may differ between the runs, beside what the run's gate declares
    #[arg(long, value_parser = may_differ(), value_delimiter = ',')]
    pub(super) may_differ: Vec<MayDiffer>,
    /// Exit with 4 when a metric with a margin regressed; any metric when none has one
    #[arg(long)]
    pub(super) gate: bool,
    /// With a gate: exit with 5 when it cannot be decided
    #[arg(long)]
    pub(super) strict: bool,
    /// Folder of runs and baselines, where names are looked up
    #[arg(long, default_value = "results")]
    pub(super) results: PathBuf,
}

/// What is compared within one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum By {
    /// Variants of `run --variant`
    Variant,
    /// Targets of the scenario
    Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum CompareFormat {
    /// A page of 80 columns, the answer last
    Terminal,
    /// A table with the answer first, for a job's summary or a comment
    Markdown,
    /// Of variants: a plot of how the percentiles of latency moved
    Svg,
}

/// What may differ between runs that are compared all the same, by the names that scenarios have for it.
pub(crate) fn may_differ() -> impl TypedValueParser<Value = MayDiffer> {
    PossibleValuesParser::new(MayDiffer::ALL.iter().map(|may| may.name()))
        .try_map(|name| MayDiffer::of_word(&name).ok_or_else(|| format!("nothing is called `{name}`")))
}

/// `throughput=5%`.
fn margin(text: &str) -> Result<record::Margin, String> {
    let (name, share) = text.split_once('=').ok_or("write METRIC=SHARE, such as throughput=5%")?;
    let metric = feed::Compared::of_name(name.trim()).ok_or_else(|| {
        let known = feed::Compared::ALL.map(feed::Compared::name);
        format!("there is no metric `{name}`: it is one of {}", known.join(", "))
    })?;
    let share = feed::parse_percent(share).map_err(|error| error.to_string())?;
    // Latency can grow by 200 %, throughput cannot fall by it: the first is a wide margin, the second none
    // at all.
    if share >= 1.0 && Metric::of(metric, true).higher_is_better() {
        return Err(format!("no {} falls by all of it: a margin is below 100%", metric.name()));
    }
    Ok(record::Margin { metric: metric.name().to_owned(), share })
}

pub(super) fn no_such(what: &str, name: &str, known: &[&str]) -> Failure {
    let known = feed::plain(&known.join(", "));
    Failure::usage(format!("error: the run has no {what} `{name}`\n  hint: it has {known}"))
}

pub(super) fn no_pair(what: &str, known: &[&str]) -> Failure {
    let known = feed::plain(&known.join(", "));
    Failure::usage(format!("error: two {what} are compared\n  hint: name two of {known}, or none"))
}
