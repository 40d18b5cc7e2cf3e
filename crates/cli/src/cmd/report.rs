//! `feedline report`: the same figures again, from the record alone.

use anyhow::Context as _;

use crate::args::{ReportArgs, ReportFormat};
use crate::exit::{Exit, Failure};
use crate::output;

pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let record = record::read_run(&args.run)
        .with_context(|| format!("cannot read the run in `{}`", args.run.display()))?;
    if let Some(loss) = &record.loss {
        output::say(&format!("warning: {loss}"));
    }
    let summary = analysis::summarise(&record);
    let text = match args.format {
        ReportFormat::Terminal => report::terminal(&summary),
        ReportFormat::Markdown => report::markdown(&summary),
        ReportFormat::Svg => report::throughput_svg(&summary)?,
    };
    output::print(&format!("{}\n", text.trim_end()))?;
    Ok(Exit::Ok)
}
