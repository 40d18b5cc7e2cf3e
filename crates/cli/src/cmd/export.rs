//! `feedline export`: a run in the form of another tool, or a bundle that others can verify.

use std::path::{Path, PathBuf};

use analysis::{Comparison, Margins, RUNS_MIN, RunSample, Summary};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use record::RunRecord;
use report::export::{self, Direction, Export, JOB_SUMMARY_BYTES_MAX, MARKDOWN_BYTES_MIN};

use crate::exit::{Exit, Failure};
use crate::samples::Samples;
use crate::{baseline, bundle, output, regression};

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
    /// markdown: most bytes, e.g. 65536 for a comment on GitHub; what is too long ends after a whole row
    #[arg(long, default_value_t = JOB_SUMMARY_BYTES_MAX)]
    max_bytes: usize,
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
    if args.max_bytes < MARKDOWN_BYTES_MIN {
        let message = format!(
            "error: --max-bytes {} is too small\n  hint: at least {MARKDOWN_BYTES_MIN}",
            args.max_bytes
        );
        return Err(Failure::usage(message));
    }
    match args.format {
        Some(Format::Otava) => otava(args),
        Some(format) => one(args, only_run(args)?, format),
        None if args.verify => verify(only_run(args)?),
        None => bundle(args, only_run(args)?),
    }
}

fn only_run(args: &ExportArgs) -> Result<&Path, Failure> {
    match args.runs.as_slice() {
        [run] => Ok(run),
        _ => Err(Failure::usage("error: more than one run\n  hint: only --format otava takes several")),
    }
}

fn read(run: &Path) -> Result<RunRecord, Failure> {
    let record =
        record::read_run(run).with_context(|| format!("cannot read the run in `{}`", run.display()))?;
    if let Some(loss) = &record.loss {
        output::say(&format!("warning: {loss}"));
    }
    Ok(record)
}

fn one(args: &ExportArgs, run: &Path, format: Format) -> Result<Exit, Failure> {
    let record = read(run)?;
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

fn page(args: &ExportArgs, record: &RunRecord, summary: &Summary) -> Result<Export, Failure> {
    let page = report::markdown(summary);
    let page = match compared(args, record)? {
        Some(comparison) => format!("{}\n{page}", report::comparison_markdown(&comparison)),
        None => page,
    };
    Ok(export::markdown_within(&page, args.max_bytes))
}

/// The comparison that was asked for: with another variant of the same run, or with stored runs.
fn compared(args: &ExportArgs, record: &RunRecord) -> Result<Option<Comparison>, Failure> {
    let Some(name) = args.against.first() else { return Ok(None) };
    let before = runs_against(&args.against, &args.results)?;
    let after = RunSample::of(record);
    let gate = &after.run.gate;
    let margins = |base| regression::margins(base, &gate.regression);
    let group = |sample: &RunSample| sample.run.variant.as_ref().map(|variant| variant.group.clone());
    let compared = match before.as_slice() {
        [one] if group(one).is_some() && group(one) == group(&after) => {
            analysis::compare_variants(one, &after, &margins(Margins::INTERLEAVED))
        }
        runs => {
            let may = regression::may_differ(&gate.may_differ);
            let runs_min = gate.runs.unwrap_or(RUNS_MIN);
            analysis::compare_stored(name, runs, &after, runs_min, &may, &margins(Margins::STORED))
        }
    };
    let refused = |why| Failure::usage(regression::refused(name, &after.run.run_id, &why));
    compared.map(Some).map_err(refused)
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
    let nothing =
        |which: &str| Failure::Error(anyhow::anyhow!("no cell has a figure of which {which} is better"));
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
            write(&folder.join(name), &export.text)?;
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
        write(&folder.join(file_name(number, &one.cell.cell)), &export::hgrm(&one))?;
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

fn otava(args: &ExportArgs) -> Result<Exit, Failure> {
    let mut folders = Vec::new();
    for path in &args.runs {
        folders.extend(runs_below(path)?);
    }
    let mut summaries = Vec::new();
    for folder in &folders {
        summaries.push(analysis::summarise(&read(folder)?));
    }
    deliver(args.output.as_deref(), &export::otava(&summaries))
}

/// The folder itself where it is a run, else the runs directly in it.
fn runs_below(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if path.join(record::RUN_FILE).exists() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let mut runs: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|entry| entry.join(record::RUN_FILE).exists())
        .collect();
    runs.sort();
    if runs.is_empty() {
        let message =
            format!("`{}` is no run and holds none\n  hint: name a folder such as `results`", path.display());
        return Err(Failure::Error(anyhow::anyhow!(message)));
    }
    Ok(runs)
}

fn deliver(to: Option<&Path>, export: &Export) -> Result<Exit, Failure> {
    match to {
        Some(path) => write(path, &export.text)?,
        None => output::print(&export.text)?,
    }
    say_gaps(export);
    Ok(Exit::Ok)
}

fn say_gaps(export: &Export) {
    for gap in &export.gaps {
        output::say(&format!("gap: {gap}"));
    }
}

/// Written beside and renamed: a reader such as a collector sees the old file or the new one, and never a part.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let is_special = std::fs::symlink_metadata(path).is_ok_and(|found| !found.is_file());
    if is_special {
        // A pipe, or a link such as /dev/stdout, is written to and not replaced.
        return std::fs::write(path, text)
            .map_err(|error| Failure::Error(anyhow::anyhow!("cannot write `{}`: {error}", path.display())));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut file = tempfile::Builder::new().prefix(".feedline-").tempfile_in(folder)?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        readable(file.as_file())?;
        file.persist(path).map_err(|error| error.error)
    });
    written.with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(())
}

/// A temporary file is its owner's alone; a collector of another user must read what is made of it.
fn readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

fn bundle(args: &ExportArgs, run: &Path) -> Result<Exit, Failure> {
    let record = read(run)?;
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
