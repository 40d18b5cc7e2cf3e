//! `feedline check`: every mistake of a scenario at once.

use crate::args::InputArgs;
use crate::exit::{Exit, Failure};
use crate::{load, output};

pub(crate) fn check(args: &InputArgs) -> Result<Exit, Failure> {
    let loaded = load::load(args)?;
    let plan = &loaded.plan;
    let targets = match plan.targets.len() {
        1 => "1 target".to_owned(),
        many => format!("{many} targets"),
    };
    output::print(&format!("ok: {} cells on {targets}, {}\n", plan.cells.len(), plan.need.label))?;
    Ok(Exit::Ok)
}
