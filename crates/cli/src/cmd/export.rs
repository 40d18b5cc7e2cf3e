//! `feedline export`: a run in the form of another tool, or a bundle that others can verify.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use analysis::{Comparison, RunSample, Summary};
use clap::{Args, ValueEnum};
use record::RunRecord;
use report::export::{self, Direction, Export, MARKDOWN_BYTES_MIN};

use crate::cmd::compare::markdown_bytes;
use crate::comparing::{self, Rules, are_of_one_group};
use crate::exit::{Exit, Failure};
use crate::samples::{self, Samples};
use crate::{baseline, bundle, files, output};

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["format", "bundle", "verify"]))]
pub(crate) struct ExportArgs {
    /// Folder of a run; with --format otava, several or folders that hold them; with --verify, a bundle
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// In which form
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Everything that another needs to verify the figures, as .tar.gz; without --output list it and write nothing
    #[arg(long)]
    bundle: bool,
    /// Check a bundle, a file or the folder it was unpacked to: sums, record, and that its report is what the record gives
    #[arg(long)]
    verify: bool,
    /// File to write, or folder for forms of several files; standard output when absent
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// github-action-benchmark: one of its two files alone
    #[arg(long, value_enum, requires = "format")]
    direction: Option<WhichDirection>,
    /// markdown: most bytes, e.g. 65536 for a comment on GitHub; what is too long ends after a whole row [default: 1048576]
    #[arg(long)]
    max_bytes: Option<usize>,
    /// hgrm: this cell alone
    #[arg(long, requires = "format")]
    cell: Option<String>,
    /// junit, markdown: compare with the runs of this baseline or folder, or with this run; repeat it for several
    #[arg(long, value_name = "NAME|PATH", requires = "format")]
    against: Vec<String>,
    /// Folder of runs and baselines, where names are looked up
    #[arg(long, default_value = "results")]
    results: PathBuf,
    #[command(flatten)]
    publish: PublishArgs,
}

/// What a bundle holds.
#[derive(Debug, Args)]
struct PublishArgs {
    /// bundle: with the seconds of each repetition, which plots over time need
    #[arg(long, requires = "bundle")]
    intervals: bool,
    /// bundle: also of a record that kept the names of hosts, users and home folders
    #[arg(long, requires = "bundle")]
    no_redact: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One row for each figure of each repetition
    Csv,
    /// One JSON object for each repetition
    Jsonl,
    /// Bencher Metric Format
    Bmf,
    /// Two files for github-action-benchmark: bigger.json and smaller.json
    GithubActionBenchmark,
    /// A test case for each demand, verdict and comparison
    Junit,
    /// A page for the summary of a job or a comment
    Markdown,
    /// Gauges for the textfile collector of node_exporter
    Prometheus,
    /// What fio would have written
    Fio,
    /// Percentiles as HdrHistogram prints them, a file for each cell
    Hgrm,
    /// One row for each run, for Apache Otava
    Otava,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WhichDirection {
    /// Figures of which more is better
    Bigger,
    /// Figures of which less is better
    Smaller,
}

pub(crate) fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    check_options(args)?;
    match args.format {
        Some(Format::Otava) => otava(args),
        Some(format) => one(args, only_run(args)?, format),
        None if args.verify => verify(only_run(args)?),
        None => bundle(args, only_run(args)?),
    }
}

/// Refuses options that would do nothing.
fn check_options(args: &ExportArgs) -> Result<(), Failure> {
    use Format::{GithubActionBenchmark, Hgrm, Junit, Markdown};
    let of: [(&str, bool, &[Format], &str); 4] = [
        ("--against", !args.against.is_empty(), &[Junit, Markdown], "--format junit or markdown"),
        ("--cell", args.cell.is_some(), &[Hgrm], "--format hgrm"),
        (
            "--direction",
            args.direction.is_some(),
            &[GithubActionBenchmark],
            "--format github-action-benchmark",
        ),
        ("--max-bytes", args.max_bytes.is_some(), &[Markdown], "--format markdown"),
    ];
    let is_idle = |formats: &[Format]| args.format.is_none_or(|format| !formats.contains(&format));
    if let Some((option, _, _, wants)) =
        of.into_iter().find(|(_, is_given, formats, _)| *is_given && is_idle(formats))
    {
        return Err(Failure::usage(format!(
            "error: {option} does nothing here\n  hint: it is of {wants}; leave it out"
        )));
    }
    if args.verify && args.output.is_some() {
        return Err(Failure::usage(
            "error: --output does nothing with --verify\n  hint: leave it out; what was found is printed",
        ));
    }
    markdown_bytes(args.max_bytes).map(drop)
}

fn only_run(args: &ExportArgs) -> Result<&Path, Failure> {
    match args.runs.as_slice() {
        [run] => Ok(run),
        _ => Err(Failure::usage("error: more than one run\n  hint: only --format otava takes several")),
    }
}

fn one(args: &ExportArgs, run: &Path, format: Format) -> Result<Exit, Failure> {
    let record = samples::record(run)?;
    let summary = analysis::summarise(&record);
    let export = match format {
        Format::Csv => export::csv(&record, &summary),
        Format::Jsonl => export::jsonl(&record, &summary),
        Format::Bmf => export::bmf(&summary),
        Format::GithubActionBenchmark => return directions(args, &summary),
        Format::Junit => {
            let comparison = compared(args, &record)?;
            Export { text: export::junit(&summary, comparison.as_ref()), gaps: Vec::new() }
        }
        Format::Markdown => page(args, &record, &summary)?,
        Format::Prometheus => export::prometheus(&summary),
        Format::Fio => export::fio(&analysis::fold_ranks(&record), &summary),
        Format::Hgrm => return percentiles(args, &analysis::fold_ranks(&record)),
        Format::Otava => export::otava(&[summary]),
    };
    deliver(args.output.as_deref(), &export)
}

/// The page of a run, below its comparison if one was asked for. A comparison takes half of the room at most, and leaves
/// out whole rows; what it does not need is the run's.
fn page(args: &ExportArgs, record: &RunRecord, summary: &Summary) -> Result<Export, Failure> {
    let bytes_max = markdown_bytes(args.max_bytes)?;
    let page = report::markdown(summary);
    let Some(comparison) = compared(args, record)? else {
        return Ok(export::markdown_within(&page, bytes_max));
    };
    let compared = format!("{}\n", report::comparison_markdown(&comparison, bytes_max / 2));
    let bytes_max = bytes_max.saturating_sub(compared.len());
    if bytes_max < MARKDOWN_BYTES_MIN && page.len() > bytes_max {
        let gap = "the page of the run is left out: there is no room for it below its comparison".to_owned();
        return Ok(Export { text: format!("{compared}\n*{gap}*\n"), gaps: vec![gap] });
    }
    let Export { text, gaps } = export::markdown_within(&page, bytes_max);
    Ok(Export { text: format!("{compared}{text}"), gaps })
}

/// The comparison that was asked for: with another variant of the same run, or with stored runs.
fn compared(args: &ExportArgs, record: &RunRecord) -> Result<Option<Comparison>, Failure> {
    let Some(name) = args.against.first() else { return Ok(None) };
    let mut before = runs_against(&args.against, &args.results)?;
    let after = RunSample::of(record);
    let rules = Rules::of(&after.run.gate);
    if before.len() == 1 && are_of_one_group(&before[0].run, &after.run) {
        before.push(after);
        let compared = comparing::variants(&before, &rules).map_err(Failure::usage)?;
        return Ok(compared.into_iter().next());
    }
    comparing::stored(name, &before, &after, &rules).map(Some).map_err(Failure::usage)
}

/// The runs of baselines, folders and runs of these names.
fn runs_against(names: &[String], results: &Path) -> Result<Vec<RunSample>, Failure> {
    let mut folders = Vec::new();
    for name in names {
        let found = baseline::find(name, results)?.folders;
        folders.extend(found.ok_or_else(|| baseline::missing(name, results))?);
    }
    let read = Samples::read(&folders, |_| true);
    read.warn();
    Ok(read.runs)
}

fn directions(args: &ExportArgs, summary: &Summary) -> Result<Exit, Failure> {
    let of = |direction| export::github_action_benchmark(summary, direction);
    let nothing = |which: &str| {
        Failure::Error(anyhow::anyhow!(
            "no cell has a metric for which {which} is better\n  hint: `feedline report` says why its cells have none"
        ))
    };
    if let Some(direction) = args.direction {
        let (direction, which) = match direction {
            WhichDirection::Bigger => (Direction::Bigger, "more"),
            WhichDirection::Smaller => (Direction::Smaller, "less"),
        };
        return deliver(args.output.as_deref(), &of(direction).ok_or_else(|| nothing(which))?);
    }
    let Some(folder) = &args.output else {
        let message = "error: this form has two files\n  hint: name a folder with --output, or --direction bigger or smaller";
        return Err(Failure::usage(message));
    };
    let both = [(Direction::Bigger, "bigger.json"), (Direction::Smaller, "smaller.json")];
    let mut wrote = false;
    for (direction, name) in both {
        if let Some(export) = of(direction) {
            files::write(&folder.join(name), export.text.as_bytes())?;
            if !wrote {
                say_gaps(&export);
            }
            wrote = true;
        }
    }
    if wrote { Ok(Exit::Ok) } else { Err(nothing("more or less")) }
}

fn percentiles(args: &ExportArgs, record: &RunRecord) -> Result<Exit, Failure> {
    if let Some(name) = &args.cell {
        let Some(one) = analysis::distributions(record).find(|one| one.cell.cell == *name) else {
            return Err(Failure::usage(no_such_cell(record, name)));
        };
        return deliver(args.output.as_deref(), &Export { text: export::hgrm(&one), gaps: Vec::new() });
    }
    let Some(folder) = &args.output else {
        let message = "error: this form has a file for each cell\n  hint: name a folder with --output, or one cell with --cell";
        return Err(Failure::usage(message));
    };
    for (number, one) in analysis::distributions(record).enumerate() {
        files::write(&folder.join(file_name(number, &one.cell.cell)), export::hgrm(&one).as_bytes())?;
    }
    Ok(Exit::Ok)
}

fn no_such_cell(record: &RunRecord, name: &str) -> String {
    let known = record.run.cells.iter().any(|cell| cell.cell == name);
    let cells: Vec<String> = analysis::distributions(record).map(|one| one.cell.cell.clone()).collect();
    let what = if known { "has no repetition that makes a point" } else { "is not in this run" };
    format!("error: the cell `{name}` {what}\n  hint: these have latencies: {}", cells.join(", "))
}

/// `003-nvme_io_uring_qd8.hgrm`: cells whose names differ in slashes alone have files of their own.
fn file_name(number: usize, cell: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
    let name: String = cell.chars().map(plain).take(160).collect();
    format!("{number:03}-{name}.hgrm")
}

/// A row for each run, once; variants of a run are rows where they are named themselves.
fn otava(args: &ExportArgs) -> Result<Exit, Failure> {
    let (mut summaries, mut seen) = (Vec::new(), BTreeSet::new());
    for path in &args.runs {
        let mut is_empty = true;
        for folder in samples::below(path)? {
            let record = samples::record(&folder)?;
            let is_wanted = record.run.variant.is_none() || folder == *path;
            is_empty &= !is_wanted;
            if is_wanted && seen.insert(record.run.run_id.clone()) {
                summaries.push(analysis::summarise(&record));
            }
        }
        if is_empty {
            return Err(Failure::Error(anyhow::anyhow!(
                "`{}` is no run and holds none\n  hint: name a folder such as `results`",
                path.display()
            )));
        }
    }
    deliver(args.output.as_deref(), &export::otava(&summaries))
}

fn deliver(to: Option<&Path>, export: &Export) -> Result<Exit, Failure> {
    match to {
        Some(path) => files::write(path, export.text.as_bytes())?,
        None => output::print_as_is(&export.text)?,
    }
    say_gaps(export);
    Ok(Exit::Ok)
}

fn say_gaps(export: &Export) {
    for gap in &export.gaps {
        output::say(&format!("gap: {gap}"));
    }
}

fn bundle(args: &ExportArgs, run: &Path) -> Result<Exit, Failure> {
    let record = samples::record(run)?;
    let options = bundle::Options { intervals: args.publish.intervals, keep_names: args.publish.no_redact };
    let bundle = bundle::Bundle::of(run, &record, options)?;
    output::print(&bundle.listing())?;
    match &args.output {
        Some(path) => {
            bundle.write(path)?;
            output::print(&format!("wrote {}\n", path.display()))?;
        }
        None => output::print("nothing was written; name a file with --output\n")?,
    }
    Ok(Exit::Ok)
}

fn verify(path: &Path) -> Result<Exit, Failure> {
    let verified = bundle::verify(path)?;
    output::print(&format!("{verified}\n"))?;
    Ok(Exit::Ok)
}
