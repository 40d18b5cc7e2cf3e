//! `feedline report`: the same figures again, from the record alone.

use std::path::PathBuf;

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
    let record = record::read_run(&args.run)
        .with_context(|| format!("cannot read the run in `{}`", args.run.display()))?;
    if let Some(loss) = &record.loss {
        output::say(&format!("warning: {loss}"));
    }
    let summary = analysis::summarise(&record);
    let text = match args.format {
        ReportFormat::Terminal => report::terminal(&summary),
        ReportFormat::Markdown => report::markdown(&summary),
        ReportFormat::Svg => {
            let over_time = analysis::over_time(&record, &record::read_intervals(&args.run)?);
            plot(&report::plots(&summary, &over_time)?, &args.plot)?
        }
    };
    output::print(&format!("{}\n", text.trim_end()))?;
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
