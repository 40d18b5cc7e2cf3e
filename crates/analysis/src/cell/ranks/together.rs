//! Whether the ranks measured a repetition at one time, and what would let them.

use record::{Cell, Measure, Outcome, Rep};

// Alone, a host may get all that the storage gives: of two hosts, each for a twentieth of its window, that is a twentieth of
// the sum.
/// Share of the longest window that the windows of all ranks must have in common: what the others do in the rest is
/// not known.
pub(super) const OVERLAP_MIN: f64 = 0.95;

/// What a repetition was asked, as far as that decides when it ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    /// Whether the ranks met before it, or began it by their clocks.
    pub(super) met: bool,
    /// What ends repetitions.
    pub(super) measure: &'a Measure,
    /// Its cell; absent from a damaged record.
    pub(super) cell: Option<&'a Cell>,
}

/// What ends a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// A time, alike for all.
    Time,
    /// What is to be read or made, by this key.
    Work(&'static str),
    /// The last of the data of one rank.
    Data,
    /// The last byte of a copy.
    Copy,
}

impl Asked<'_> {
    fn ends(&self, of_ranks: &[&Rep]) -> Ends {
        if self.cell.is_some_and(|cell| cell.copy.is_some()) {
            return Ends::Copy;
        }
        if of_ranks.iter().any(|rep| rep.outcome == Outcome::Exhausted) {
            return Ends::Data;
        }
        let trains = self.cell.is_some_and(|cell| cell.training.is_some());
        let Measure { steps, epochs, bytes, .. } = self.measure;
        match (trains, steps, epochs, bytes) {
            (true, Some(_), ..) => Ends::Work("training.steps"),
            (true, _, Some(_), _) => Ends::Work("training.epochs"),
            (false, _, Some(_), _) => Ends::Work("measure.epochs"),
            (false, .., Some(_)) => Ends::Work("measure.bytes"),
            _ => Ends::Time,
        }
    }
}

/// Why windows with this overlap say nothing of all ranks together, and what would let them.
pub(super) fn apart(of_ranks: &[&Rep], asked: Asked<'_>) -> Option<String> {
    let Some((share, _)) = overlap(of_ranks) else {
        return Some("the record does not say when the windows of all ranks opened".to_owned());
    };
    if share >= OVERLAP_MIN {
        return None;
    }
    let unequal = unequal(of_ranks);
    let since = unequal.as_ref().map_or_else(String::new, |words| format!(", since {words}"));
    let hint = hint(asked, asked.ends(of_ranks), unequal.is_some());
    Some(format!("the windows of the ranks overlap by {} only{since}: {hint}", whole_percent(share)))
}

/// Which rank took longest, where windows of such lengths could not overlap enough.
fn unequal(of_ranks: &[&Rep]) -> Option<String> {
    let longest = of_ranks.iter().max_by_key(|rep| rep.window_ns)?;
    let shortest = of_ranks.iter().min_by_key(|rep| rep.window_ns).filter(|rep| rep.window_ns > 0)?;
    let times = longest.window_ns as f64 / shortest.window_ns as f64;
    let words = || format!("rank {} took {times:.1} times as long as rank {}", longest.rank, shortest.rank);
    (times * OVERLAP_MIN > 1.0).then(words)
}

fn hint(asked: Asked<'_>, ends: Ends, is_unequal: bool) -> String {
    match ends {
        Ends::Copy => {
            "a copy ends with its data, so copy by one process, or on hosts that are alike".to_owned()
        }
        Ends::Data => {
            "give each rank more data (dataset.size), or end repetitions before any has read all of its own"
                .to_owned()
        }
        // Whoever has less to do, or does it faster, is always done first.
        Ends::Work(key) if is_unequal => {
            format!("end repetitions by a time that is alike for all, with measure.duration instead of {key}")
        }
        Ends::Work(key) => format!("give each repetition more to do with {key}"),
        Ends::Time if asked.met => "measure for longer with measure.duration".to_owned(),
        Ends::Time => {
            "let the clocks of the hosts agree, and give each repetition more time to begin with --slack"
                .to_owned()
        }
    }
}

/// The share of the longest window that all have in common, and its length; `None` where an opening is not known, or no
/// window has a length.
pub(super) fn overlap(of_ranks: &[&Rep]) -> Option<(f64, u64)> {
    let opened: Vec<u64> = of_ranks.iter().map(|rep| rep.window_unix_ns).collect::<Option<_>>()?;
    let closed = opened.iter().zip(of_ranks).map(|(open, rep)| open.saturating_add(rep.window_ns));
    let longest = of_ranks.iter().map(|rep| rep.window_ns).max().filter(|ns| *ns > 0)?;
    let common = closed.min()?.saturating_sub(opened.iter().copied().max()?);
    Some((common as f64 / longest as f64, common))
}

/// Rounded down: 94.9 % is not the 95 % that are asked for.
fn whole_percent(share: f64) -> String {
    format!("{} %", (share * 100.0).floor())
}
