//! `feedline report --html`: one page for a run, or several side by side.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use analysis::Summary;
use anyhow::Context as _;
use record::Environment;
use report::{Page, Plot};

use crate::exit::{Exit, Failure};
use crate::output;

/// What stays of a run when its histograms have been read.
struct Read {
    summary: Summary,
    plots: Vec<Plot>,
    scenario: String,
    environment: Environment,
}

/// Writes the page to `file`, or to standard output.
pub(crate) fn html<'a>(runs: impl Iterator<Item = &'a Path>, file: Option<&Path>) -> Result<Exit, Failure> {
    let read = runs.map(read).collect::<Result<Vec<_>, _>>()?;
    let pages: Vec<Page<'_>> = read
        .iter()
        .map(|run| Page {
            summary: &run.summary,
            plots: &run.plots,
            scenario: &run.scenario,
            environment: &run.environment,
        })
        .collect();
    let page = report::html(&pages);
    match file {
        Some(path) => {
            fs::write(path, page).with_context(|| format!("cannot write `{}`", path.display()))?;
            output::say(&format!("html  {}", path.display()));
        }
        None => output::print(&page)?,
    }
    Ok(Exit::Ok)
}

fn read(run: &Path) -> Result<Read, Failure> {
    let record =
        record::read_run(run).with_context(|| format!("cannot read the run in `{}`", run.display()))?;
    if let Some(loss) = &record.loss {
        output::say(&format!("warning: {}: {loss}", run.display()));
    }
    let summary = analysis::summarise(&record);
    let over_time = analysis::over_time(&record, &record::read_intervals(run)?);
    let plots = report::plots(&summary, &over_time)?;
    Ok(Read { summary, plots, scenario: scenario(run)?, environment: record.env })
}

/// The scenario as it was run; empty where it was left out of a published record.
fn scenario(run: &Path) -> Result<String, Failure> {
    let path = run.join(record::SCENARIO_FILE);
    match fs::read(&path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => {
            Err(anyhow::Error::from(error).context(format!("cannot read `{}`", path.display())).into())
        }
    }
}
