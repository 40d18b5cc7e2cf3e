//! `feedline clean`: removes what feedline wrote, and nothing else.

use anyhow::Context as _;
use prepare::Cleaned;

use crate::args::CleanArgs;
use crate::exit::{Exit, Failure};
use crate::{load, open, output};

pub(crate) fn clean(args: &CleanArgs) -> Result<Exit, Failure> {
    let mut paths = load::local_paths(&args.input)?;
    paths.sort_unstable();
    paths.dedup();
    for at in paths {
        let cleaned = prepare::clean(&*open::local(&at)).with_context(|| format!("cannot clean `{at}`"))?;
        output::print(&describe(&at, &cleaned))?;
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
