//! `feedline prepare`: the datasets of a scenario, written or found.

use std::sync::Arc;

use feed::units::{counted_noun, format_bytes};
use plan::Plan;

use crate::args::InputArgs;
use crate::exit::{Exit, Failure};
use crate::open::Stores;
use crate::progress::{Display, Progress};
use crate::{announce, claim, data, environment, load, output, signals};

pub(crate) fn prepare(args: &InputArgs) -> Result<Exit, Failure> {
    let mut plan = load::load(args)?.plan;
    // What a server that feedline starts holds ends with it: a run writes it anew.
    plan.cells.retain(|cell| !plan.targets[cell.target].is_served_here());
    let stop = signals::stop_flag_within(signals::GRACE)?;
    let progress = Progress::new(Display::Bar, &Arc::default());
    let report = |target: &str, done, total| progress.writing(target, done, total);
    data::check_places(&plan)?;
    let stores = Stores::for_data(&plan)?;
    announce::datasets(&plan, &stores)?;
    let _places = claim::use_places(&plan, &stores, &stop)?;
    let data = data::make_ready(&plan, &stores, environment::usable_cores(), &report, &stop)?;
    progress.finish();
    let held = data.all().iter().filter(|slot| plan.targets[slot.target].config.is_storage());
    let lines = held.map(|slot| line(&plan, slot));
    output::print(&lines.collect::<String>())?;
    Ok(Exit::Ok)
}

fn line(plan: &Plan, slot: &describe::OnTarget) -> String {
    let prepared = &slot.prepared;
    let how = if prepared.reused {
        "found as it was".to_owned()
    } else {
        format!("{} written", format_bytes(prepared.bytes_written))
    };
    let files = counted_noun(u64::from(prepared.data.objects().count()), "file");
    let lie = describe::packing::words(prepared, plan.need.sample_bytes()).unwrap_or(files);
    let left = match prepared.other_files {
        0 => String::new(),
        others => format!(", {} beside them left out", counted_noun(others, "file")),
    };
    let whole = prepared.foreign.as_ref().map_or_else(String::new, |(object, format)| {
        format!(", each file one sample although {object} is {}", format.name())
    });
    format!(
        "{}: {lie}, {}, {how}{left}{whole}\n",
        plan.targets[slot.target].name,
        format_bytes(prepared.data.objects().total_bytes()),
    )
}
