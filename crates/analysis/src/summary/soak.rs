//! What became of a rate over many minutes.

use feed::Operation;
use record::{Cell, Rep, Role, Word};

use crate::cell::cells::Cells;
use crate::cell::lines::Lines;
use crate::cell::steadiness::{total, whole_seconds};

// Caches of devices, burst credits and heat take minutes to show; below ten, tenths are shorter than a minute and no more than
// noise.
/// A repetition from this length on is told minute by minute.
const SOAK_SECONDS_MIN: usize = 600;

const MINUTE: usize = 60;

/// A repetition of ten minutes or more, in what moved per second: bytes, or operations where no bytes move.
#[derive(Debug, Clone, PartialEq)]
pub struct Soak {
    /// Its cell.
    pub cell: String,
    /// Target and depth, where these tell the cell from all others.
    pub target_at_depth: Option<(String, u32)>,
    /// What the cell does.
    pub operation: Word<Operation>,
    /// Whether it confirms.
    pub role: Role,
    /// Its number from 0, where the cell has several of that role.
    pub rep: Option<u32>,
    /// What moved over the window.
    pub course: Course,
}

/// A long window, in what moved per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Course {
    /// In its first tenth.
    pub first_tenth: f64,
    /// In its last.
    pub last_tenth: f64,
    /// In the minute in which least moved.
    pub lowest_minute: f64,
    /// When that minute began.
    pub lowest_at_s: usize,
}

/// Every repetition of ten minutes or more, in the order of the run.
pub(crate) fn of_run(lines: &Lines<'_>, cells: &Cells<'_>) -> Vec<Soak> {
    let long = |rep: &&&Rep| rep.window_ns >= SOAK_SECONDS_MIN as u64 * 1_000_000_000;
    let of_rep = |rep: &&Rep| {
        let cell = &cells.named(&rep.cell)?.cell;
        let course = Course::of(whole_seconds(cell, rep))?;
        // A number only where there is more than one to tell apart.
        let of_cell = lines.of_cell(&rep.cell).iter();
        let is_one = of_cell.filter(|other| other.role == rep.role).count() == 1;
        Some(Soak {
            cell: cell.cell.clone(),
            target_at_depth: target_at_depth(cells, cell),
            operation: cell.operation.clone(),
            role: rep.role,
            rep: (!is_one).then_some(rep.rep),
            course,
        })
    };
    lines.reps.iter().filter(long).filter_map(of_rep).collect()
}

/// `None` where these are of several cells.
fn target_at_depth(cells: &Cells<'_>, cell: &Cell) -> Option<(String, u32)> {
    let is_alike = |other: &Cell| other.target == cell.target && other.queue_depth == cell.queue_depth;
    let alike = cells.all.iter().filter(|other| is_alike(&other.cell)).count();
    // A depth says nothing of a job, whose readers and prefetch do.
    (alike == 1 && cell.training.is_none()).then(|| (cell.target.clone(), cell.queue_depth))
}

impl Course {
    pub(crate) fn of(seconds: &[u64]) -> Option<Self> {
        if seconds.len() < SOAK_SECONDS_MIN {
            return None;
        }
        // Tenths and not the fitted line: a soak falls in steps, and a line through a step is wrong at both ends.
        let tenth = seconds.len() / 10;
        let per_s = |part: &[u64]| total(part) / part.len() as f64;
        // A sliding minute: one that is cut at whole minutes splits a stall of forty seconds in two halves, neither of which
        // looks bad.
        let minutes = seconds.windows(MINUTE).map(per_s).enumerate();
        let (lowest_at_s, lowest_minute) = minutes.min_by(|(_, one), (_, other)| one.total_cmp(other))?;
        let (first_tenth, last_tenth) = (per_s(&seconds[..tenth]), per_s(&seconds[seconds.len() - tenth..]));
        Some(Self { first_tenth, last_tenth, lowest_minute, lowest_at_s })
    }
}
