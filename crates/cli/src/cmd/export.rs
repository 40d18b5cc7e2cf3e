//! `feedline export`: a run in the form of another tool.

use clap::Args;

use crate::exit::{Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {}

pub(crate) fn export(_args: &ExportArgs) -> Result<Exit, Failure> {
    unimplemented!()
}
