//! `feedline prepare`: the datasets of a scenario, written or found.

use std::sync::Arc;

use crate::args::InputArgs;
use crate::data;
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::{environment, load, signals};

pub(crate) fn prepare(args: &InputArgs) -> Result<Exit, Failure> {
    let plan = load::load(args)?.plan;
    let stop = signals::stop_flag()?;
    let progress = Progress::new(false, &Arc::default());
    let report = |target: &str, done, total| progress.writing(target, done, total);
    let data = data::make_ready(&plan, environment::usable_cores(), &report, &stop)?;
    progress.finish();
    for slot in data.slots() {
        let prepared = &slot.prepared;
        println!(
            "{}: {} files, {}, {}",
            plan.targets[slot.target].name,
            feed::units::group_digits(u64::from(prepared.objects.count())),
            feed::units::format_bytes(prepared.objects.total_bytes()),
            if prepared.reused {
                "found as it was".to_owned()
            } else {
                format!("{} written", feed::units::format_bytes(prepared.bytes_written))
            },
        );
    }
    Ok(Exit::Ok)
}
