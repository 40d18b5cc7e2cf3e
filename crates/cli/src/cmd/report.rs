//! `feedline report`: the same figures again, from the record alone.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use report::Plot;

use crate::args::{ReportArgs, ReportFormat};
use crate::cmd::html;
use crate::exit::{Exit, Failure};
use crate::output;

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    if args.html {
        let runs = std::iter::once(&args.run).chain(&args.beside).map(PathBuf::as_path);
        return html::html(runs, args.output.as_deref());
    }
    let is_picture = args.format == ReportFormat::Png;
    if args.dark && !is_picture {
        let hint = "an SVG follows the theme of its reader: --dark is of --format png";
        return Err(Failure::usage(format!("error: only a PNG has one theme\n  hint: {hint}")));
    }
    if is_picture && args.output.is_none() && std::io::stdout().is_terminal() {
        let hint = "name a file: --output FILE";
        return Err(Failure::usage(format!("error: a PNG is not written to a terminal\n  hint: {hint}")));
    }
    let record = record::read_run(&args.run)
        .with_context(|| format!("cannot read the run in `{}`", args.run.display()))?;
    if let Some(loss) = &record.loss {
        output::say(&format!("warning: {loss}"));
    }
    let summary = analysis::summarise(&record);
    let plots = || -> Result<Vec<Plot>, Failure> {
        let over_time = analysis::over_time(&record, &record::read_intervals(&args.run)?);
        Ok(report::plots(&summary, &over_time)?)
    };
    let text = match args.format {
        ReportFormat::Terminal => report::terminal(&summary),
        ReportFormat::Markdown => report::markdown(&summary),
        ReportFormat::Svg => plot(&plots()?, &args.plot)?,
        ReportFormat::Png => {
            let picture = report::png(&plot(&plots()?, &args.plot)?, args.dark)?;
            return write(args.output.as_deref(), &picture);
        }
    };
    write(args.output.as_deref(), format!("{}\n", text.trim_end()).as_bytes())
}

/// Writes to a file, else to standard output.
fn write(path: Option<&Path>, bytes: &[u8]) -> Result<Exit, Failure> {
    match path {
        Some(path) => {
            std::fs::write(path, bytes).with_context(|| format!("cannot write `{}`", path.display()))?;
        }
        None => output::print_bytes(bytes)?,
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
