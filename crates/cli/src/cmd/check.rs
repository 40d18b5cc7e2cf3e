//! `feedline check`: every mistake of a scenario at once.

use super::plan::line_words;
use crate::args::InputArgs;
use crate::exit::{Exit, Failure};
use crate::{data, load, output};

pub(crate) fn check(args: &InputArgs) -> Result<Exit, Failure> {
    let loaded = load::load(args)?;
    let plan = &loaded.plan;
    data::check_places(plan)?;
    let targets = match plan.targets.len() {
        1 => "1 target".to_owned(),
        many => format!("{many} targets"),
    };
    let (cells, need, line) = (plan.cells.len(), &plan.need.label, line_words(plan));
    output::print(&format!("ok: {cells} cells on {targets}, {need}\nline {line}\n"))?;
    Ok(Exit::Ok)
}
