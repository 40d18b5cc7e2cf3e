//! When operations are issued: as soon as others have ended, or each at its time.

use plan::{Arrivals, Load, Operation, Pace, Rate};

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::Item;
use crate::offered::Offered;
use crate::reader::{Entry, Field};
use crate::words::{Arrival, Mode, Word};
use crate::written::{self, Depths};

use super::load::Task;

/// The closed loop, or an open one at each of its rates.
#[derive(Debug)]
pub(super) struct Paces {
    pub(super) loads: Vec<Load>,
    /// Where the rates were written.
    pub(super) span: Option<Span>,
}

impl Paces {
    pub(super) fn is_paced(&self) -> bool {
        self.loads.iter().any(|load| matches!(load, Load::Paced(_)))
    }
}

/// The loads; `None` when one was wrong, after saying why.
pub(super) fn resolve(
    written: &written::Load,
    need: Option<&feed::Need>,
    tasks: &[Task],
    problems: &mut Problems,
) -> Option<Paces> {
    match &written.mode {
        Field::Wrong(_) => None,
        Field::Given(entry) if entry.value.0 == Mode::Paced => {
            let fits = fits(written, entry, tasks, problems);
            let paces = paced(written, need, problems);
            paces.filter(|_| fits)
        }
        mode => {
            let refused = refuse_pacing(written, mode.span(), problems);
            (!refused).then(|| Paces { loads: vec![Load::Closed], span: None })
        }
    }
}

/// Refuses what describes an open loop beside a closed one; whether anything did.
fn refuse_pacing(written: &written::Load, mode: Option<Span>, problems: &mut Problems) -> bool {
    let keys = [
        ("rate", written.rate.key()),
        ("arrivals", written.arrivals.key()),
        ("batch", written.batch.key()),
        ("spin", written.spin.key()),
    ];
    let mut refused = false;
    for (key, span) in keys {
        if let Some(span) = span {
            let problem = Problem::new(format!("`load.{key}` is for a paced load"))
                .at(span, "remove this")
                .also_if(mode, "issues a read as soon as another has ended")
                .help("or write load.mode = \"paced\", which gives each read its own time");
            problems.push(problem);
            refused = true;
        }
    }
    refused
}

/// Whether the rest of `load` goes with an open loop.
fn fits(written: &written::Load, mode: &Entry<Word<Mode>>, tasks: &[Task], problems: &mut Problems) -> bool {
    let mut fits = true;
    let auto = written.queue_depth.given().filter(|depth| matches!(depth.value, Depths::Auto));
    if let Some(depth) = auto {
        let problem = Problem::new("a paced load has no depth to search for: its rate is given")
            .at(depth.span, "searches")
            .also(mode.span, "is paced");
        problems.push(problem.help("write the most reads outstanding, e.g. queue_depth = 64, or remove it"));
        fits = false;
    }
    if let Some(batch) = written.complete_batch.key() {
        let problem = Problem::new("a paced load does not wait for completions: each read has its own time")
            .at(batch, "remove this")
            .also(mode.span, "is paced");
        problems.push(problem);
        fits = false;
    }
    for task in tasks.iter().filter(|task| !task.operation.reads_bytes()) {
        let operation = task.operation.name();
        let problem = Problem::new(format!(
            "`{operation}` cannot be paced: it reads no bytes, and the rate is one of bytes"
        ))
        .at(task.span.unwrap_or(mode.span), "reads no bytes")
        .also(mode.span, "is a rate of bytes");
        problems.push(problem.help("measure it in a scenario of its own, with load.mode = \"closed\""));
        fits = false;
    }
    fits
}

fn paced(written: &written::Load, need: Option<&feed::Need>, problems: &mut Problems) -> Option<Paces> {
    let arrivals = arrivals(written, need, problems);
    let rates = match &written.rate {
        Field::Absent => vec![Offered::default().0],
        Field::Wrong(_) => return None,
        Field::Given(entry) => entry.value.0.iter().map(|item: &Item<Offered>| item.value.0).collect(),
    };
    let spin_ns = written.spin.value_or(0_u64)?;
    let arrivals = arrivals?;
    let loads = rates.into_iter().map(|rate| Load::Paced(Pace { rate, arrivals, spin_ns })).collect();
    Some(Paces { loads, span: written.rate.span() })
}

fn arrivals(written: &written::Load, need: Option<&feed::Need>, problems: &mut Problems) -> Option<Arrivals> {
    let (word, span) = match &written.arrivals {
        Field::Absent => (Arrival::default(), None),
        Field::Wrong(_) => return None,
        Field::Given(entry) => (entry.value.0, Some(entry.span)),
    };
    if let (Some(batch), false) = (written.batch.key(), word == Arrival::Batch) {
        let problem = Problem::new("`load.batch` is for arrivals a step at a time")
            .at(batch, "remove this")
            .also_if(span, "spreads single reads");
        problems.push(problem.help("or write load.arrivals = \"batch\""));
        return None;
    }
    match word {
        Arrival::Constant => Some(Arrivals::Constant),
        Arrival::Poisson => Some(Arrivals::Poisson),
        Arrival::Batch => {
            step_samples(written, need, span, problems).map(|samples| Arrivals::Batch { samples })
        }
    }
}

/// Samples of one step: as written, or the need's batch on every accelerator of this client.
fn step_samples(
    written: &written::Load,
    need: Option<&feed::Need>,
    span: Option<Span>,
    problems: &mut Problems,
) -> Option<u64> {
    match &written.batch {
        Field::Wrong(_) => return None,
        Field::Given(entry) => return Some(entry.value.0),
        Field::Absent => {}
    }
    let need = need?;
    let known = need.batch.map(|batch| u64::from(batch) * u64::from(need.accelerators));
    let samples = known.filter(|samples| *samples > 0);
    if samples.is_none() {
        let problem = Problem::absent("`load.batch` is missing: how many samples does one step take?");
        let problem = match span {
            Some(span) => problem.at(span, "arrives a step at a time, and this need names no batch"),
            None => problem,
        };
        problems.push(
            problem.help("for example load.batch = 3200, which is 8 accelerators with 400 samples each"),
        );
    }
    samples
}

/// A rate as a word of a cell's name, and as value and unit of its axis.
pub(super) fn rate_words(rate: Rate) -> (String, (String, &'static str)) {
    match rate {
        Rate::OfLine { share } => {
            // To the millionth, because 7 % times 100 is not 7 in binary.
            let percent = ((share * 1e8).round() / 1e6).to_string();
            (format!("{percent}%"), (percent, "% of the line"))
        }
        Rate::Bytes { per_s } => (format!("{per_s}Bps"), (per_s.to_string(), "B/s")),
    }
}

/// Whether a verdict can come of it: bytes are read, and at the line or faster.
pub(super) fn reaches_line(load: &Load, operation: Operation, line_bps: Option<f64>) -> bool {
    let offered = match load {
        Load::Closed | Load::Training(_) => true,
        Load::Paced(pace) => match pace.rate {
            Rate::OfLine { share } => share >= 1.0,
            Rate::Bytes { per_s } => line_bps.is_none_or(|line_bps| per_s >= line_bps),
        },
    };
    offered && operation.reads_bytes()
}
