//! `feedline need`: the arithmetic behind the feed line.

use std::path::Path;

use clap::Args;
use feed::units::{format_bps, format_count};
use feed::{PROFILES, Profile};

use super::plan::line_words;
use crate::args::InputArgs;
use crate::exit::{Exit, Failure};
use crate::{load, output};

const HEADER: &str = "profiles, for needs such as 8xh100:resnet50 (one accelerator at 100 %):
workload    on       batch        step      samples/s    bytes/s  source
";

#[derive(Debug, Args)]
pub(crate) struct NeedArgs {
    /// A need such as 8xh100:resnet50, the table of its keys or a list of needs, a scenario file, or nothing to list the profiles
    pub(crate) need: Option<String>,
}

pub(crate) fn need(args: &NeedArgs) -> Result<Exit, Failure> {
    let text = match &args.need {
        Some(need) => explained(need)?,
        None => HEADER.to_owned() + &PROFILES.iter().map(row).collect::<String>(),
    };
    output::print(&format!("{}\n", text.trim_end()))?;
    Ok(Exit::Ok)
}

/// The arithmetic of a need, in short form or as the table of its keys, or of that of a scenario file, with the line of what
/// the file reads.
fn explained(need: &str) -> Result<String, Failure> {
    if Path::new(need).extension().is_some_and(|extension| extension == "toml") {
        let input = InputArgs { input: need.to_owned(), ..InputArgs::default() };
        let plan = load::load(&input)?.plan;
        return Ok(format!("{}\nas read     line {}", plan.need.explain(), line_words(&plan)));
    }
    // What a hint writes as a flag is typed behind this verb.
    let typed = |failure: Failure| Failure::usage(failure.to_string().replace("--need ", "feedline need "));
    load::need(need).map(|need| need.explain()).map_err(typed)
}

fn row(profile: &Profile) -> String {
    let samples_per_s = f64::from(profile.batch) / profile.step_time_s;
    format!(
        "{:<11} {:<6} {:>7} {:>11} {:>14} {:>10}  {}, {}\n",
        profile.workload,
        profile.accelerator,
        profile.batch,
        format!("{} s", profile.step_time_s),
        format_count(samples_per_s),
        format_bps(samples_per_s * profile.sample_bytes),
        profile.source,
        profile.provenance,
    )
}
