//! `feedline compare`: holds runs against each other.

use clap::Args;

use crate::exit::{Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {}

pub(crate) fn compare(_args: &CompareArgs) -> Result<Exit, Failure> {
    unimplemented!()
}
