//! `feedline report`: the same figures again, from the record alone.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use report::{Page, Plot};

use crate::args::ShowArgs;
use crate::derived::Derived;
use crate::exit::{Exit, Failure};
use crate::shown::Told;
use crate::{files, output, samples};

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Folder of a run
    pub(crate) run: PathBuf,
    /// What to make
    #[arg(long, value_enum, default_value_t = ReportFormat::Terminal, conflicts_with_all = ["full", "json"])]
    pub(crate) format: ReportFormat,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
    /// With --format svg or png, which plot: throughput (the default), percentiles, tradeoff, heatmap, over-time, machine, sizes, roofline,
    /// ranks, plane, layouts, epochs, checkpoints, or one of a training load: training-timeline, training-accelerators,
    /// training-readers, training-ladder, training-waits
    #[arg(long)]
    pub(crate) plot: Option<String>,
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

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    if args.html {
        let runs = std::iter::once(&args.run).chain(&args.beside).map(PathBuf::as_path);
        return html(runs, args.output.as_deref());
    }
    let is_picture = args.format == ReportFormat::Png;
    if args.plot.is_some() && !is_picture && args.format != ReportFormat::Svg {
        let hint = "add --format svg or png, or leave it out";
        return Err(Failure::usage(format!("error: --plot does nothing without a plot\n  hint: {hint}")));
    }
    if args.dark && !is_picture {
        let hint = "an SVG follows the theme of its reader: --dark is of --format png";
        return Err(Failure::usage(format!("error: only a PNG has one theme\n  hint: {hint}")));
    }
    if is_picture && args.output.is_none() && std::io::stdout().is_terminal() {
        let hint = "name a file: --output FILE";
        return Err(Failure::usage(format!("error: a PNG is not written to a terminal\n  hint: {hint}")));
    }
    let text = match args.format {
        ReportFormat::Terminal => {
            // A file is no terminal, whatever prints the rest.
            let screen = if args.output.is_some() { report::Screen::PLAIN } else { output::screen() };
            let summary = analysis::summarise(&samples::record(&args.run)?);
            args.show.text(&Told { summary: &summary, proofs: &[], past: None }, &args.run, screen)
        }
        ReportFormat::Markdown => report::markdown(&analysis::summarise(&samples::record(&args.run)?)),
        ReportFormat::Svg => {
            plot(&Derived::of(&args.run)?.plots, args.plot.as_deref().unwrap_or("throughput"))?
        }
        ReportFormat::Png => {
            let svg = plot(&Derived::of(&args.run)?.plots, args.plot.as_deref().unwrap_or("throughput"))?;
            return write(args.output.as_deref(), &report::png(&svg, args.dark)?);
        }
    };
    write(args.output.as_deref(), format!("{}\n", text.trim_end()).as_bytes())
}

/// Writes one page for a run, or for several side by side, to `file`, or to standard output.
fn html<'a>(runs: impl Iterator<Item = &'a Path>, file: Option<&Path>) -> Result<Exit, Failure> {
    let runs = runs.map(Derived::of).collect::<Result<Vec<_>, _>>()?;
    let page = report::html(&runs.iter().map(Derived::page).collect::<Vec<Page<'_>>>());
    match file {
        Some(path) => {
            files::write(path, page.as_bytes())?;
            output::say(&format!("html  {}", path.display()));
        }
        None => output::print_as_is(page)?,
    }
    Ok(Exit::Ok)
}

/// Writes to a file, else to standard output.
fn write(path: Option<&Path>, bytes: &[u8]) -> Result<Exit, Failure> {
    match path {
        Some(path) => files::write(path, bytes)?,
        None => output::print_as_is(bytes)?,
    }
    Ok(Exit::Ok)
}

/// The plot of a name, among those that the run has.
fn plot(plots: &[Plot], name: &str) -> Result<String, Failure> {
    if let Some(plot) = plots.iter().find(|plot| plot.name == name) {
        return Ok(plot.svg.clone());
    }
    let names: Vec<&str> = plots.iter().map(|plot| plot.name).collect();
    Err(Failure::usage(format!("error: this run has no plot `{name}`\n  hint: it has {}", names.join(", "))))
}
