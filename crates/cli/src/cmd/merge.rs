//! `feedline merge`: one record of those of several hosts.

use clap::Args;

use crate::exit::{Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {}

pub(crate) fn merge(_args: &MergeArgs) -> Result<Exit, Failure> {
    unimplemented!()
}
