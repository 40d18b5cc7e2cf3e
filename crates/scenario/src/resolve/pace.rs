//! When operations are issued: as soon as others have ended, or each at its time.

use plan::{Arrivals, Load, Pace, Rate};

use crate::diagnostic::{Problem, Problems, Span};
use crate::offered::Offered;
use crate::reader::{Entry, Plain as _};
use crate::words::{Arrival, Mode, Word};
use crate::written::{self, Depths};

use super::schedule::{List, Schedule, Series};

/// What `queue_depth = "auto"` may try.
// Doublings: the gain of a step in between is mostly within the noise, and ten cells are what a first look
// has time for.
const AUTO_DEPTHS: [u32; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// Slots of a paced load: an arrival that finds all of them taken waits for one. As many as one thread of a
/// ring drives, and the same for every engine, so that their response times compare; of blocking engines these
/// are threads, which sleep until their arrival.
const PACED_DEPTH: u32 = 64;

/// The closed loop, or an open one at each of its rates, at each depth; `None` when something was wrong, after saying
/// why.
pub(super) fn resolve(
    written: &written::Load,
    need: Option<&feed::Need>,
    problems: &mut Problems,
) -> Option<Schedule> {
    match written.mode.entry()? {
        Some(entry) if entry.value.0 == Mode::Paced => {
            let is_searched = refuse_search(written, entry, problems);
            let loads = paced(written, need, problems);
            schedule(written, loads.filter(|_| !is_searched)?, &[PACED_DEPTH], false)
        }
        _ => schedule(written, vec![Load::Closed], &AUTO_DEPTHS, true),
    }
}

/// Every load at every depth. By default the depths are `unwritten`, which are all of a search if it is `auto`.
fn schedule(
    written: &written::Load,
    loads: Vec<Load>,
    unwritten: &[u32],
    searched: bool,
) -> Option<Schedule> {
    let (auto, depths) = match written.queue_depth.entry()?.map(|entry| &entry.value) {
        // A list that was written is measured whole; only what feedline chose itself may end early.
        None => (searched, unwritten.to_vec()),
        Some(Depths::Auto) => (true, AUTO_DEPTHS.to_vec()),
        Some(Depths::Listed(axis)) => (false, axis.plain()),
    };
    let (rate_span, depth_span) = (written.rate.span(), written.queue_depth.span());
    let lists = vec![
        List { span: rate_span, length: loads.len(), what: "rates" },
        List { span: depth_span, length: depths.len(), what: "depths" },
    ];
    let series = loads.into_iter().map(|load| Series { load, depths: depths.clone() }).collect();
    Some(Schedule { series, lists, auto, depth_span, rate_span, step: None })
}

/// Refuses a search for the depth beside an open loop; whether there was one.
fn refuse_search(written: &written::Load, mode: &Entry<Word<Mode>>, problems: &mut Problems) -> bool {
    let auto = written.queue_depth.given().filter(|depth| matches!(depth.value, Depths::Auto));
    let problem = auto.map(|depth| {
        Problem::new("a paced load has no depth to search for: its rate is given")
            .at(depth.span, "searches")
            .also(mode.span, "is paced")
            .help("write the most reads outstanding, e.g. queue_depth = 64, or remove it")
    });
    let is_searched = problem.is_some();
    problems.extend(problem);
    is_searched
}

fn paced(written: &written::Load, need: Option<&feed::Need>, problems: &mut Problems) -> Option<Vec<Load>> {
    let arrivals = arrivals(written, need, problems);
    let rates: Vec<Rate> = written.rate.value_or(vec![Offered::default().0])?;
    let spin_ns = written.spin.value_or(0)?;
    let arrivals = arrivals?;
    Some(rates.into_iter().map(|rate| Load::Paced(Pace { rate, arrivals, spin_ns })).collect())
}

fn arrivals(written: &written::Load, need: Option<&feed::Need>, problems: &mut Problems) -> Option<Arrivals> {
    let (word, span) = (written.arrivals.value_or(Arrival::default())?, written.arrivals.span());
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
    if let Some(batch) = written.batch.optional()? {
        return Some(batch);
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

/// Whether a load offers the rate of the line, or more.
pub(super) fn reaches_line(load: &Load, line_bps: Option<f64>) -> bool {
    match load {
        Load::Closed | Load::Training(_) => true,
        Load::Paced(pace) => match pace.rate {
            Rate::OfLine { share } => share >= 1.0,
            Rate::Bytes { per_s } => line_bps.is_none_or(|line_bps| per_s >= line_bps),
        },
    }
}
