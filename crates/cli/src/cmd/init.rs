//! `feedline init`: a scenario to start from.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use feed::NeedSpec;

use crate::exit::{Exit, Failure};
use crate::output;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// File to write; standard output when absent
    pub(crate) file: Option<PathBuf>,
    /// Path to test
    #[arg(long, default_value = "/mnt/data/bench")]
    pub(crate) at: String,
    /// What the accelerators need
    #[arg(long, default_value = "8xh100:resnet50")]
    pub(crate) need: String,
}

pub(crate) fn init(args: &InitArgs) -> Result<Exit, Failure> {
    NeedSpec::parse_short(&args.need)
        .and_then(|need| need.resolve())
        .map_err(|error| Failure::usage(format!("error: {error}")))?;
    let text = scenario::init(&args.at, &args.need);
    scenario::check_shape(&text).map_err(Failure::usage)?;
    let Some(path) = &args.file else {
        output::print_as_is(text)?;
        return Ok(Exit::Ok);
    };
    create(path, &text)?;
    output::print(&format!("wrote {0}; next: feedline plan {0}\n", path.display()))?;
    Ok(Exit::Ok)
}

/// Writes a scenario into a file that is not there yet.
pub(crate) fn create(path: &Path, text: &str) -> Result<(), Failure> {
    if path.extension().is_none_or(|extension| extension != "toml") {
        return Err(Failure::usage(format!("error: `{}` must end in .toml: scenarios do", path.display())));
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).with_context(|| {
        format!("cannot create `{}` (a file that exists is never overwritten)", path.display())
    })?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(())
}
