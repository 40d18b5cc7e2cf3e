//! The shift of latency between two variants as a plot.

use std::path::Path;

use record::RunRecord;
use report::{ShiftHead, ShiftSide};

use super::args::{By, CompareArgs, no_pair, no_such};
use crate::comparing::{are_of_one_group, refused, variant_name};
use crate::exit::Failure;
use crate::samples;

/// The plot of two variants: of a group the first two, or those that are named. Stored runs have no repetitions that
/// belong together, so that a shift between them would be one of days.
pub(super) fn svg(args: &CompareArgs) -> Result<String, Failure> {
    check_options(args)?;
    let folder = samples::folder_of(&args.inputs[0], &args.results)?;
    let names = &args.inputs[1..];
    let is_pair = samples::is_run(&folder);
    let records = if is_pair { pair(args, &folder, names)? } else { group(&folder)? };
    let named: Vec<&RunRecord> = if names.is_empty() || is_pair {
        records.iter().take(2).collect()
    } else {
        names.iter().map(|name| find(&records, name)).collect::<Result<_, _>>()?
    };
    let [before, after] = named[..] else { return Err(no_pair("variants", &known(&records))) };
    let head = ShiftHead {
        scenario: after.run.title.clone().unwrap_or_else(|| after.run.scenario.clone()),
        before: side(before),
        after: side(after),
        machine: report::machine(&analysis::Machine::of(&after.env)),
        command: after.run.command.clone(),
    };
    let shifts = analysis::shift(before, after)
        .map_err(|why| Failure::usage(refused(variant_name(&before.run), variant_name(&after.run), &why)))?;
    Ok(report::shift_svg(&shifts, &head)?.svg)
}

/// Refuses what decides something, or would have to be drawn otherwise: a plot decides nothing.
// Refused and not ignored: whoever gives a margin expects it to decide something.
fn check_options(args: &CompareArgs) -> Result<(), Failure> {
    let given = [
        ("--baseline", args.baseline.is_some()),
        ("--by target", args.by == Some(By::Target)),
        ("--margin", !args.margins.is_empty()),
        ("--margins", args.margins_file.is_some()),
        ("--runs", args.runs.is_some()),
        ("--may-differ", !args.may_differ.is_empty()),
        ("--gate", args.gate),
        ("--strict", args.strict),
        ("--max-bytes", args.max_bytes.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::usage(format!(
            "error: {option} does nothing with --format svg: a plot shows two variants and decides nothing\n  \
             hint: leave out {option}, or take --format terminal or markdown"
        ))),
    }
}

fn side(record: &RunRecord) -> ShiftSide {
    ShiftSide { name: variant_name(&record.run).to_owned(), run_id: record.run.run_id.clone() }
}

fn known(records: &[RunRecord]) -> Vec<&str> {
    records.iter().map(|record| variant_name(&record.run)).collect()
}

fn find<'a>(records: &'a [RunRecord], name: &String) -> Result<&'a RunRecord, Failure> {
    records
        .iter()
        .find(|record| variant_name(&record.run) == name)
        .ok_or_else(|| no_such("variant", name, &known(records)))
}

fn group(folder: &Path) -> Result<Vec<RunRecord>, Failure> {
    let records = samples::group_records(folder)?;
    if records.len() < 2 { Err(not_variants()) } else { Ok(records) }
}

fn pair(args: &CompareArgs, first: &Path, names: &[String]) -> Result<Vec<RunRecord>, Failure> {
    let [second] = names else { return Err(not_variants()) };
    let both = [samples::record(first)?, samples::record(&samples::folder_of(second, &args.results)?)?];
    if are_of_one_group(&both[0].run, &both[1].run) { Ok(both.into()) } else { Err(not_variants()) }
}

fn not_variants() -> Failure {
    Failure::usage(
        "error: a shift is plotted between two variants of one run\n  \
         hint: name the folder of a `run --variant`, or the folders of two of its variants",
    )
}
