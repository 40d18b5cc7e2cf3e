//! `feedline merge`: one record of those of several hosts.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use record::{RankRecord, Redactor, RunWriter, SCENARIO_FILE};

use crate::args::ShowArgs;
use crate::exit::{Exit, Failure};
use crate::{conclusion, host};

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// Folders of the runs of all ranks, in any order
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Folder that receives a folder for the merged run
    #[arg(long, short = 'o', value_name = "FOLDER", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Folder of the merged run itself, which must not exist
    #[arg(long, conflicts_with = "results")]
    pub(crate) into: Option<PathBuf>,
    /// Exit with 5 when a gated target is UNCERTAIN
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

pub(crate) fn merge(args: &MergeArgs) -> Result<Exit, Failure> {
    let of_ranks: Vec<RankRecord> = args.runs.iter().map(|run| read(run)).collect::<Result<_, _>>()?;
    // The parser lets no command line through that names none.
    // Rank 0's machine stands for all: the record has room for one, and ranks run on hosts that are alike.
    let first = (0..of_ranks.len()).min_by_key(|number| of_ranks[*number].record.run.rank).unwrap_or(0);
    let env = of_ranks[first].record.env.clone();
    let path = args.runs[first].join(SCENARIO_FILE);
    let scenario =
        std::fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let run_id = host::run_id(&host::now_utc(), &of_ranks[first].record.run.scenario);
    // Before the folder is made, so that a refusal leaves nothing behind.
    let merged = record::merge(of_ranks, &run_id).map_err(|refused| refusal(&refused))?;
    let folder = args.into.clone().unwrap_or_else(|| args.results.join(&run_id));
    // What a rank hid is hidden already.
    let mut writer = RunWriter::create(&folder, &merged.run, &scenario, &env, Redactor::default())?;
    for rep in &merged.intervals {
        writer.append_intervals(rep)?;
    }
    for line in &merged.lines {
        writer.append(line)?;
    }
    let summary = conclusion::conclude(&folder, args.show, None, None)?.summary;
    Ok(Exit::of_run(&summary, args.strict))
}

fn read(folder: &Path) -> Result<RankRecord, Failure> {
    let name = folder.display().to_string();
    let reading = || format!("cannot read the run in `{name}`");
    let record = record::read_run(folder).with_context(reading)?;
    let intervals = record::read_intervals(folder).with_context(reading)?;
    Ok(RankRecord { name, record, intervals })
}

/// Everything that does not fit, at once.
fn refusal(refused: &[String]) -> Failure {
    let lines: Vec<String> = refused.iter().map(|line| format!("\n  - {line}")).collect();
    Failure::usage(format!(
        "error: these are not the records of all ranks of one run:{}\n  hint: give every rank's folder once, each written by \
         the same `feedline run --rank R --ranks N --start-at TIME`",
        lines.concat()
    ))
}
