//! `feedline clean`: removes what feedline wrote, and nothing else.

use anyhow::Context as _;

use crate::args::InputArgs;
use crate::exit::{Exit, Failure};
use crate::{load, open};

pub(crate) fn clean(args: &InputArgs) -> Result<Exit, Failure> {
    let plan = load::load(args)?.plan;
    let mut cleaned_paths: Vec<&str> = Vec::new();
    for target in plan.targets.iter().filter(|target| target.config.capabilities().writable) {
        if cleaned_paths.contains(&target.at.as_str()) {
            continue;
        }
        cleaned_paths.push(&target.at);
        let store = open::for_data(&target.config);
        let cleaned = prepare::clean(&*store)
            .with_context(|| format!("target `{}` at `{}`", target.name, target.at))?;
        println!(
            "{}: removed {} datasets, {} files, {}",
            target.at,
            cleaned.folders,
            cleaned.files,
            feed::units::format_bytes(cleaned.bytes)
        );
        for left in &cleaned.left {
            println!("  left, not made by feedline: {left}");
        }
    }
    Ok(Exit::Ok)
}
