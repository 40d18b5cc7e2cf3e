//! `feedline history`: cells over the runs in a folder.

use clap::Args;

use crate::exit::{Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct HistoryArgs {}

pub(crate) fn history(_args: &HistoryArgs) -> Result<Exit, Failure> {
    unimplemented!()
}
