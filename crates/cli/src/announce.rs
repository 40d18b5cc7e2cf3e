//! What is said before a run works: what it will write, where, and how long it takes at most.

use std::collections::BTreeSet;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use feed::units::format_bytes;
use plan::Plan;

use crate::args::MeasureArgs;
use crate::cmd;
use crate::exit::Failure;
use crate::open::Stores;
use crate::output;

/// Bytes and time above which a run without a file asks.
const ASK_ABOVE_BYTES: u64 = 1_000_000_000;
const ASK_ABOVE_NS: u64 = 120_000_000_000;

/// What bounds a run without a file, as [`crate::bounds`] has it.
const BOUNDS: &str = "NOTE  without a file: a screen of 2 min on data of a tenth of the free space at most, unless\n      --budget, --set measure or --set dataset.size say otherwise";

/// Says on standard error what a run will write and how long it takes. One without a file is bounded, which is said, and asks on
/// a terminal where it is much all the same, unless the command line agrees already. Nothing is written before.
///
/// # Errors
/// When the user says no, and when a storage cannot be asked what is there.
pub(crate) fn announce(
    plan: &Plan,
    stores: &Stores,
    args: &MeasureArgs,
    without_file: bool,
) -> Result<(), Failure> {
    let writes = writes(plan, stores)?;
    let bytes = writes.iter().map(|write| write.bytes).fold(0, u64::saturating_add);
    let mut lines: Vec<String> = writes.iter().filter(|write| write.bytes > 0).map(Write::words).collect();
    lines.extend(cmd::plan::checkpoints(plan));
    lines.extend(cmd::plan::copies(plan));
    if lines.is_empty() {
        lines.push("nothing but the record".to_owned());
    }
    for (number, line) in lines.iter().enumerate() {
        output::say(&format!("{:<6}{line}", if number == 0 { "WRITE" } else { "" }));
    }
    let writing = if bytes > 0 { ", and the writing" } else { "" };
    output::say(&format!("TIME  {}{writing}", cmd::plan::time(plan)));
    output::say(&format!("RUN   in a folder of {}", args.results.display()));
    if without_file {
        output::say(BOUNDS);
    }
    let is_much = bytes > ASK_ABOVE_BYTES || cmd::plan::most_ns(plan).is_some_and(|ns| ns > ASK_ABOVE_NS);
    let asks = without_file && !args.yes;
    if asks && is_much && io::stdin().is_terminal() && io::stderr().is_terminal() && !agrees()? {
        return Err(anyhow::anyhow!(
            "not begun, and nothing was written\n  hint: --yes goes on without asking"
        )
        .into());
    }
    Ok(())
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
        format!(
            "{about}{} below {}{free}, kept for further runs until `feedline clean`",
            format_bytes(self.bytes),
            self.at
        )
    }
}

/// What is missing of each dataset on each target. What a server of feedline's own holds ends with it.
fn writes(plan: &Plan, stores: &Stores) -> Result<Vec<Write>, Failure> {
    let writable = |index: usize| {
        let target = &plan.targets[index];
        target.emulate.is_none() && target.config.is_storage() && target.config.capabilities().writable
    };
    let places: BTreeSet<(usize, usize)> = plan
        .cells
        .iter()
        .map(|cell| (cell.target, cell.dataset))
        .filter(|(target, _)| writable(*target))
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
    places.into_iter().map(write).collect()
}

/// Asks on the terminal; an empty line is a yes.
fn agrees() -> io::Result<bool> {
    write!(io::stderr(), "go on? [Y/n] ")?;
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer)?;
    Ok(read > 0 && matches!(answer.trim(), "" | "y" | "Y" | "yes"))
}
