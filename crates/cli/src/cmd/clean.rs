//! `feedline clean`: removes what feedline wrote, and nothing else.

use anyhow::Context as _;
use prepare::Cleaned;

use crate::args::InputArgs;
use crate::exit::{Exit, Failure};
use crate::{load, open, output};

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
        output::print(&describe(&target.at, &cleaned))?;
    }
    Ok(Exit::Ok)
}

fn describe(at: &str, cleaned: &Cleaned) -> String {
    let bytes = feed::units::format_bytes(cleaned.bytes);
    let removed =
        format!("{at}: removed {} files, {bytes}, and {} folders\n", cleaned.files, cleaned.folders);
    let left = cleaned.left.iter().map(|left| format!("  left, not made by feedline: {left}\n"));
    std::iter::once(removed).chain(left).collect()
}
