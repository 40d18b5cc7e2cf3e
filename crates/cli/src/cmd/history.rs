//! `feedline history`: cells over the runs in a folder.

use std::collections::BTreeMap;
use std::path::PathBuf;

use analysis::{History, RunSample};
use clap::{Args, ValueEnum};

use crate::exit::{Exit, Failure};
use crate::samples::{self, Samples};
use crate::{output, regression};

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
    output::print(&rendered(args, &histories)?)?;
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
        HistoryFormat::Terminal => {
            Ok(histories.iter().map(report::history_terminal).collect::<Vec<_>>().join("\n"))
        }
        HistoryFormat::Csv => Ok(csv(histories)),
        HistoryFormat::Svg => match histories {
            [one] => Ok(report::history_svg(one)?.svg),
            several => {
                let names: Vec<&str> = several.iter().map(|history| history.scenario.as_str()).collect();
                Err(Failure::usage(format!(
                    "error: a plot shows one scenario, and the runs are of several: {}\n  \
                     hint: choose one with --scenario",
                    regression::plain(&names.join(", "))
                )))
            }
        },
    }
}

/// The heading once, then the rows of every scenario.
fn csv(histories: &[History]) -> String {
    let pages = histories.iter().map(report::history_csv).enumerate();
    pages
        .map(|(number, page)| match page.split_once('\n') {
            Some((_, rows)) if number > 0 => rows.to_owned(),
            _ => page,
        })
        .collect()
}
