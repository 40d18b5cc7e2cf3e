//! `feedline history`: cells over the runs in a folder.

use std::collections::BTreeMap;
use std::path::PathBuf;

use analysis::{History, RunSample};
use clap::{Args, ValueEnum};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::samples::{self, Samples};

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {
    /// Folder with runs in it or below it
    #[arg(default_value = "results")]
    folder: PathBuf,
    /// Show the runs of this scenario alone
    #[arg(long)]
    scenario: Option<String>,
    /// Show the cells whose name or label contains this
    #[arg(long)]
    cell: Option<String>,
    /// What to make
    #[arg(long, value_enum, default_value_t = HistoryFormat::Terminal)]
    format: HistoryFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HistoryFormat {
    /// A row for each cell, with a block for each run
    Terminal,
    /// A row for each metric of each cell of each run
    Csv,
    /// A plot
    Svg,
}

pub(crate) fn history(args: &HistoryArgs) -> Result<Exit, Failure> {
    let is_wanted = |sample: &RunSample| {
        sample.run.variant.is_none() && args.scenario.as_ref().is_none_or(|name| *name == sample.run.scenario)
    };
    let samples = Samples::read(&samples::below(&args.folder)?, is_wanted);
    samples.warn();
    let mut histories = histories(samples.runs);
    if histories.is_empty() {
        return Err(nothing(args));
    }
    // After the histories are made: a cell's place among the others must not depend on what is shown.
    if let Some(part) = &args.cell {
        for history in &mut histories {
            history.cells.retain(|cell| cell.cell.contains(part) || cell.label.contains(part));
        }
        histories.retain(|history| !history.cells.is_empty());
        if histories.is_empty() {
            return Err(Failure::usage(format!(
                "error: no cell contains `{part}`\n  hint: without --cell all of them are shown"
            )));
        }
    }
    output::print_as_is(rendered(args, &histories)?)?;
    Ok(Exit::Ok)
}

/// One history for each scenario, in the order of their names.
fn histories(runs: Vec<RunSample>) -> Vec<History> {
    let mut by_scenario: BTreeMap<String, Vec<RunSample>> = BTreeMap::new();
    for sample in runs {
        by_scenario.entry(sample.run.scenario.clone()).or_default().push(sample);
    }
    by_scenario.into_values().filter_map(|runs| analysis::history(&runs)).collect()
}

fn nothing(args: &HistoryArgs) -> Failure {
    let of = args.scenario.as_ref().map(|name| format!(" of the scenario `{name}`")).unwrap_or_default();
    Failure::usage(format!(
        "error: there is no run{of} in or below `{}`\n  hint: name the folder that `run --results` was given; \
         variants of one run are compared with `feedline compare`",
        args.folder.display()
    ))
}

fn rendered(args: &HistoryArgs, histories: &[History]) -> Result<String, Failure> {
    match args.format {
        HistoryFormat::Terminal => Ok(report::history_terminal(one(histories)?, output::screen())),
        HistoryFormat::Csv => Ok(csv(histories)),
        HistoryFormat::Svg => Ok(report::history_svg(one(histories)?)?.svg),
    }
}

/// The history of the only scenario; of several, which they are and how one is chosen.
fn one(histories: &[History]) -> Result<&History, Failure> {
    if let [one] = histories {
        return Ok(one);
    }
    let line = |history: &History| {
        let runs = feed::counted_noun(history.run_ids.len() as u64, "run");
        format!("\n  {}: {runs}", feed::plain(&history.scenario))
    };
    Err(Failure::usage(format!(
        "error: a history shows one scenario, and the runs are of several:{}\n  hint: choose one with --scenario NAME",
        histories.iter().map(line).collect::<String>()
    )))
}

/// The heading once, then the rows of every scenario.
fn csv(histories: &[History]) -> String {
    let pages = histories.iter().map(report::history_csv).enumerate();
    pages
        .map(|(number, page)| match page.split_once('\n') {
            // One table of all scenarios: programs that read CSV know no second heading.
            Some((_, rows)) if number > 0 => rows.to_owned(),
            _ => page,
        })
        .collect()
}
