//! What is said before a run works: what it will write, where, and how long it takes at most.

use std::collections::BTreeMap;

use feed::units::format_bytes;
use plan::Plan;

use crate::args::MeasureArgs;
use crate::cost;
use crate::exit::Failure;
use crate::open::Stores;
use crate::output;

/// Bytes and time above which a run without a file asks.
const ASK_ABOVE_BYTES: u64 = 1_000_000_000;
const ASK_ABOVE_NS: u64 = 120_000_000_000;

/// What bounds a run without a file, as [`crate::bounds`] has it.
const BOUNDS: &str = "NOTE  without a file: a screen of 2 min, on data of at most a tenth of the free\n      space; --budget, --set measure and --set dataset.size say otherwise";

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    /// Whether no scenario file says how much is meant.
    pub(crate) without_file: bool,
    /// Whether an edge is searched, which takes as many repetitions as it takes.
    pub(crate) searches: bool,
}

/// Says on standard error what a run will write and how long it takes. One without a file asks on a terminal where that is much,
/// unless the command line agrees already. Nothing is written before.
///
/// # Errors
/// When the user says no, and when a storage cannot be asked what is there.
pub(crate) fn announce(
    plan: &Plan,
    stores: &Stores,
    args: &MeasureArgs,
    asked: Asked,
) -> Result<(), Failure> {
    let writes = writes(plan, stores)?;
    let bytes = writes.iter().map(|write| write.bytes).fold(0, u64::saturating_add);
    let most_ns = cost::most_ns(plan).filter(|_| !asked.searches);
    let is_much = bytes > ASK_ABOVE_BYTES || most_ns.is_some_and(|ns| ns > ASK_ABOVE_NS);
    let asks = asked.without_file && is_much && !args.yes && output::can_ask();
    if asks || !args.quiet {
        let mut lines: Vec<String> =
            writes.iter().filter(|write| write.bytes > 0).map(Write::words).collect();
        lines.extend(cost::checkpoints(plan));
        lines.extend(cost::copies(plan));
        say_all("WRITE", &lines, "nothing but the record");
        let time = if asked.searches { cost::search_time(plan) } else { cost::time(plan) };
        let writing = if bytes > 0 { ", and the writing" } else { "" };
        output::say(&format!("TIME  {time}{writing}"));
        output::say(&format!("RUN   in a folder of {}", args.results.display()));
    }
    if asked.without_file && !asked.searches && !args.quiet {
        output::say(BOUNDS);
    }
    if asks && !output::agrees("go on?", true)? {
        let refused = "not begun, and nothing was written\n  hint: --yes goes on without asking";
        return Err(anyhow::anyhow!(refused).into());
    }
    Ok(())
}

/// Lines below one word, or what there is to say without any.
fn say_all(word: &str, lines: &[String], otherwise: &str) {
    if lines.is_empty() {
        output::say(&format!("{word:<6}{otherwise}"));
    }
    for (number, line) in lines.iter().enumerate() {
        output::say(&format!("{:<6}{line}", if number == 0 { word } else { "" }));
    }
}

/// A dataset to be written.
struct Write {
    at: String,
    bytes: u64,
    free_bytes: Option<u64>,
    /// Whether only writing tells how much it is.
    is_about: bool,
}

impl Write {
    fn words(&self) -> String {
        let about = if self.is_about { "about " } else { "" };
        let free = self.free_bytes.map_or_else(String::new, |free| format!(" ({} free)", format_bytes(free)));
        format!("{about}{} below {}{free}, kept until `feedline clean`", format_bytes(self.bytes), self.at)
    }
}

/// What is missing of each dataset on each target. What a server of feedline's own holds ends with it.
fn writes(plan: &Plan, stores: &Stores) -> Result<Vec<Write>, Failure> {
    let writable = |index: usize| {
        let target = &plan.targets[index];
        target.emulate.is_none() && target.config.is_storage() && target.config.capabilities().writable
    };
    let places = plan.cells.iter().map(|cell| (cell.target, cell.dataset));
    // Targets at one place read one dataset.
    let places: BTreeMap<(&str, usize), usize> = places
        .filter(|(target, _)| writable(*target))
        .map(|(target, dataset)| ((plan.targets[target].at.as_str(), dataset), target))
        .collect();
    let write = |(target, dataset): (usize, usize)| -> Result<Write, Failure> {
        let (store, spec) = (stores.data(target), &plan.datasets[dataset]);
        Ok(Write {
            at: plan.targets[target].at.clone(),
            bytes: prepare::bytes_to_write(&**store, spec)?,
            free_bytes: store.free_bytes()?,
            is_about: prepare::planned(spec).is_none(),
        })
    };
    places.into_iter().map(|((_, dataset), target)| write((target, dataset))).collect()
}
