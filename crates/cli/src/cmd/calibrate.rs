//! `feedline calibrate`: how small a regression this machine can tell from noise.

use clap::Args;

use crate::exit::{Exit, Failure};

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {}

pub(crate) fn calibrate(_args: &CalibrateArgs) -> Result<Exit, Failure> {
    unimplemented!()
}
