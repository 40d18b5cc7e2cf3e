//! `feedline check`: every mistake of a scenario at once.

use crate::args::InputArgs;
use crate::exit::{Exit, Failure};
use crate::load;

pub(crate) fn check(args: &InputArgs) -> Result<Exit, Failure> {
    let loaded = load::load(args)?;
    let plan = &loaded.plan;
    println!("ok: {} cells on {} targets, {}", plan.cells.len(), plan.targets.len(), plan.need.label);
    Ok(Exit::Ok)
}
