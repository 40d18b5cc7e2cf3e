//! What is said before a run works: what it will write, where, and how long it takes at most.

use feed::units::format_bytes;
use plan::{DatasetSpec, Plan};

use crate::args::{InputArgs, MeasureArgs};
use crate::cost;
use crate::exit::Failure;
use crate::open::Stores;
use crate::{bounds, data, load, output};

/// Bytes and time above which a run without a file asks.
// What few mind without being asked: a gigabyte that `feedline clean` removes, and two minutes of waiting.
const ASK_ABOVE_BYTES: u64 = 1_000_000_000;
const ASK_ABOVE_NS: u64 = 120_000_000_000;

/// What is asked for.
pub(crate) struct Announced {
    /// Whether there is no scenario file, which would say how much is meant.
    pub(crate) without_file: bool,
    /// Whether an edge is searched, which takes as many repetitions as it takes.
    pub(crate) searches: bool,
    /// The bounds of a run without a file, where the command line does not set them.
    pub(crate) bounds: Option<String>,
    /// How long it takes, of rounds that are added to a run.
    pub(crate) time: Option<String>,
}

impl Announced {
    pub(crate) fn of(input: &InputArgs, searches: bool) -> Self {
        let without_file = !load::is_scenario(&input.input);
        let bounds = bounds::words(input).filter(|_| without_file && !searches);
        Self { without_file, searches, bounds, time: None }
    }
}

/// Says on standard error what a run will write and how long it takes. A run without a file asks on a terminal where that
/// is much, unless `--yes` was given. Nothing is written before.
///
/// # Errors
/// When the user says no, and when a storage cannot be asked what is there.
pub(crate) fn announce(
    plan: &Plan,
    stores: &Stores,
    args: &MeasureArgs,
    asked: &Announced,
) -> Result<(), Failure> {
    let mut writes = Writes::default();
    writes.add(plan, stores)?;
    let (time, most_ns) = match &asked.time {
        Some(time) => (time.clone(), None),
        None if asked.searches => (cost::search_time(plan), None),
        None => (cost::time(plan), cost::most_ns(plan)),
    };
    begin(&writes, &time, most_ns, args, asked)
}

/// The same for variants, which are measured in the rounds of the first.
///
/// # Errors
/// Also where a variant's data may not be written.
pub(crate) fn variants(plans: &[Plan], args: &MeasureArgs, asked: &Announced) -> Result<(), Failure> {
    let mut writes = Writes::default();
    for plan in plans {
        data::check_places(plan)?;
        writes.add(plan, &Stores::for_data(plan)?)?;
    }
    let (time, most_ns) = cost::variants_time(plans);
    begin(&writes, &time, most_ns, args, asked)
}

/// Says on standard error which datasets of a plan will be written.
///
/// # Errors
/// When a storage cannot be asked what is there.
pub(crate) fn datasets(plan: &Plan, stores: &Stores) -> Result<(), Failure> {
    let mut writes = Writes::default();
    writes.add(plan, stores)?;
    say_all("WRITE", &writes.datasets(), "nothing: all is there");
    Ok(())
}

fn begin(
    writes: &Writes,
    time: &str,
    most_ns: Option<u64>,
    args: &MeasureArgs,
    asked: &Announced,
) -> Result<(), Failure> {
    let bytes = writes.bytes();
    let is_much = bytes > ASK_ABOVE_BYTES || most_ns.is_some_and(|ns| ns > ASK_ABOVE_NS);
    // A scenario file says how much is written. A path and a need say nothing of bytes.
    let asks = asked.without_file && is_much && !args.yes && output::can_ask();
    // What is asked about must be shown, even in a quiet run.
    if asks || !args.quiet {
        let mut lines = writes.datasets();
        lines.extend(writes.measuring.iter().cloned());
        say_all("WRITE", &lines, "nothing but the record");
        let writing = if bytes > 0 { ", and the writing" } else { "" };
        output::say(&format!("TIME  {time}{writing}"));
        output::say(&format!("RUN   in a folder of {}", args.results.display()));
    }
    if let Some(bounds) = asked.bounds.as_ref().filter(|_| !args.quiet) {
        output::say(bounds);
    }
    if asks && !output::agrees("go on?", true)? {
        let refused = "not begun, and nothing was written\n  hint: --yes goes on without asking";
        return Err(anyhow::anyhow!(refused).into());
    }
    Ok(())
}

/// Prints lines below one word, or `otherwise` where there are none.
fn say_all(word: &str, lines: &[String], otherwise: &str) {
    if lines.is_empty() {
        output::say(&format!("{word:<6}{otherwise}"));
    }
    for (number, line) in lines.iter().enumerate() {
        output::say(&format!("{:<6}{line}", if number == 0 { word } else { "" }));
    }
}

/// What will be written, by one plan or by several that follow one another.
#[derive(Default)]
struct Writes {
    data: Vec<Write>,
    /// What is written while it is measured: checkpoints, copies and what is written over, in words, each once.
    measuring: Vec<String>,
}

/// What is missing of a dataset at a place.
struct Write {
    at: String,
    spec: DatasetSpec,
    bytes: u64,
    free_bytes: Option<u64>,
}

impl Writes {
    /// Adds what is missing of each dataset of `plan`. Targets at one place read one dataset, and what a server of feedline's
    /// own holds ends with it.
    fn add(&mut self, plan: &Plan, stores: &Stores) -> Result<(), Failure> {
        for (index, dataset) in plan.places() {
            let (target, spec) = (&plan.targets[index], &plan.datasets[dataset]);
            // What an emulated server holds is gone with it, and takes none of the user's disk.
            let stays = !target.is_served_here()
                && target.config.is_storage()
                && target.config.capabilities().writable;
            if !stays || self.data.iter().any(|write| write.at == target.at && write.spec == *spec) {
                continue;
            }
            let store = stores.data(index);
            self.data.push(Write {
                at: target.at.clone(),
                spec: spec.clone(),
                // What is there already counts as written: the second run of a scenario writes nothing and
                // does not ask.
                bytes: prepare::bytes_to_write(&**store, spec)?,
                free_bytes: store.free_bytes()?,
            });
        }
        for line in cost::checkpoints(plan).chain(cost::copies(plan)).chain(cost::overwrites(plan)) {
            if !self.measuring.contains(&line) {
                self.measuring.push(line);
            }
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.data.iter().map(|write| write.bytes).fold(0, u64::saturating_add)
    }

    fn datasets(&self) -> Vec<String> {
        self.data.iter().filter(|write| write.bytes > 0).map(Write::words).collect()
    }
}

impl Write {
    fn words(&self) -> String {
        // Only writing tells how much it is where it is not planned to the byte.
        let about = if prepare::planned(&self.spec).is_none() { "about " } else { "" };
        let free = self.free_bytes.map_or_else(String::new, |free| format!(" ({} free)", format_bytes(free)));
        format!("{about}{} below {}{free}, kept until `feedline clean`", format_bytes(self.bytes), self.at)
    }
}
