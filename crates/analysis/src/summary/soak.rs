//! What became of a rate over many minutes, in words.

use record::{Cell, Rep, Role};

use crate::cell::cells::Cells;
use crate::cell::flag::percent;
use crate::cell::lines::Lines;
use crate::cell::operation;
use crate::cell::steadiness::{total, whole_seconds};

/// A repetition from this length on is told minute by minute.
const SOAK_SECONDS_MIN: usize = 600;

const MINUTE: usize = 60;

/// One note for each repetition of ten minutes or more, in the order of the run.
pub(crate) fn notes(lines: &Lines<'_>, cells: &Cells<'_>) -> Vec<String> {
    let long = |rep: &&&Rep| rep.window_ns >= SOAK_SECONDS_MIN as u64 * 1_000_000_000;
    let of_rep = |rep: &&Rep| {
        let cell = &cells.named(&rep.cell)?.cell;
        let soak = Soak::of(whole_seconds(cell, rep))?;
        Some(format!("soak {}{}: {}", place(cells, cell), which(lines, rep), soak.words(cell)))
    };
    lines.reps.iter().filter(long).filter_map(of_rep).collect()
}

/// Which of several repetitions of a cell.
fn which(lines: &Lines<'_>, rep: &Rep) -> String {
    let of_cell = |other: &&&Rep| other.cell == rep.cell && other.role == rep.role;
    let is_one = lines.reps.iter().filter(of_cell).count() == 1;
    let number = if is_one { String::new() } else { format!(" {}", rep.rep + 1) };
    match rep.role {
        Role::Measure if is_one => String::new(),
        Role::Measure => format!(", repetition{number}"),
        Role::Confirm => format!(", confirmation{number}"),
    }
}

/// `nvme depth 32`, or the name of the cell where that is of several.
fn place(cells: &Cells<'_>, cell: &Cell) -> String {
    let is_alike = |other: &Cell| other.target == cell.target && other.queue_depth == cell.queue_depth;
    let alike = cells.all.iter().filter(|other| is_alike(&other.cell)).count();
    if alike > 1 || cell.training.is_some() {
        return cell.cell.clone();
    }
    format!("{} depth {}", cell.target, cell.queue_depth)
}

/// A long window, in what moved per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Soak {
    pub(crate) first_tenth: f64,
    pub(crate) last_tenth: f64,
    pub(crate) lowest_minute: f64,
    /// Begin of that minute.
    pub(crate) lowest_at_s: usize,
}

impl Soak {
    pub(crate) fn of(seconds: &[u64]) -> Option<Self> {
        if seconds.len() < SOAK_SECONDS_MIN {
            return None;
        }
        let tenth = seconds.len() / 10;
        let per_s = |part: &[u64]| total(part) / part.len() as f64;
        let minutes = seconds.windows(MINUTE).map(per_s).enumerate();
        let (lowest_at_s, lowest_minute) = minutes.min_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let (first_tenth, last_tenth) = (per_s(&seconds[..tenth]), per_s(&seconds[seconds.len() - tenth..]));
        Some(Self { first_tenth, last_tenth, lowest_minute, lowest_at_s })
    }

    fn words(&self, cell: &Cell) -> String {
        let rate = |per_s: f64| {
            if operation::is_metadata(cell) {
                format!("{} {}/s", feed::format_count(per_s), operation::noun(cell))
            } else {
                feed::format_bps(per_s)
            }
        };
        let change = self.last_tenth / self.first_tenth - 1.0;
        let change = if change.is_finite() { format!(" ({})", signed(change)) } else { String::new() };
        format!(
            "{} in the first tenth, {} in the last{change}; lowest minute {} at {}",
            rate(self.first_tenth),
            rate(self.last_tenth),
            rate(self.lowest_minute),
            clock(self.lowest_at_s)
        )
    }
}

/// `-22 %`, `+1.5 %`.
fn signed(change: f64) -> String {
    let sign = match change {
        change if change < 0.0 => "-",
        change if change > 0.0 => "+",
        _ => "",
    };
    format!("{sign}{}", percent(change.abs()))
}

/// `1 h 12 min`, `12 min`.
pub(crate) fn clock(seconds: usize) -> String {
    let (hours, minutes) = (seconds / 3600, seconds / MINUTE % MINUTE);
    if hours > 0 { format!("{hours} h {minutes} min") } else { format!("{minutes} min") }
}
