//! The shift of latency between two variants as a plot.

use std::path::Path;

use record::RunRecord;
use report::{ShiftHead, ShiftSide};

use super::{CompareArgs, no_pair, no_such};
use crate::exit::Failure;
use crate::{samples, variants};

/// The plot of two variants: of a group the first two, or those that are named. Stored runs have no repetitions that
/// belong together, so that a shift between them would be one of days.
pub(super) fn svg(args: &CompareArgs) -> Result<String, Failure> {
    let folder = samples::folder_of(&args.inputs[0], &args.results)?;
    let names = &args.inputs[1..];
    let records =
        if samples::is_run(&folder) { pair(args, &folder, names)? } else { variants::records(&folder)? };
    let named: Vec<&RunRecord> = if names.is_empty() || samples::is_run(&folder) {
        records.iter().take(2).collect()
    } else {
        names.iter().map(|name| find(&records, name)).collect::<Result<_, _>>()?
    };
    let [before, after] = named[..] else {
        return Err(no_pair("variants", &records.iter().map(variants::name_of).collect::<Vec<_>>()));
    };
    let head = ShiftHead {
        scenario: after.run.title.clone().unwrap_or_else(|| after.run.scenario.clone()),
        before: side(before),
        after: side(after),
        machine: analysis::machine(&after.env),
        command: after.run.command.clone(),
    };
    Ok(report::shift_svg(&analysis::shift(before, after), &head)?.svg)
}

fn side(record: &RunRecord) -> ShiftSide {
    ShiftSide { name: variants::name_of(record).to_owned(), run_id: record.run.run_id.clone() }
}

fn find<'a>(records: &'a [RunRecord], name: &String) -> Result<&'a RunRecord, Failure> {
    let known: Vec<&str> = records.iter().map(variants::name_of).collect();
    records
        .iter()
        .find(|record| variants::name_of(record) == name)
        .ok_or_else(|| no_such("variant", name, &known))
}

fn pair(args: &CompareArgs, first: &Path, names: &[String]) -> Result<Vec<RunRecord>, Failure> {
    let not_variants = || {
        Failure::usage(
            "error: a shift is plotted between two variants of one run\n  \
             hint: name the folder of a `run --variant`, or the folders of two of its variants",
        )
    };
    let [second] = names else { return Err(not_variants()) };
    let both = [record::read_run(first)?, record::read_run(&samples::folder_of(second, &args.results)?)?];
    let group = |record: &RunRecord| record.run.variant.as_ref().map(|variant| variant.group.clone());
    if group(&both[0]).is_some() && group(&both[0]) == group(&both[1]) {
        Ok(both.into())
    } else {
        Err(not_variants())
    }
}
