//! Whether a figure is one of a state or of a change: within windows, over a run, and over hours.
//!
//! SNIA, Solid State Storage Performance Test Specification: over a measurement window of rounds the range is at most
//! 20 % of the average, and the least-squares line changes by at most 10 % of it.

pub(crate) mod level;
mod over_run;
mod window;

use record::{Cell, Outcome, Rep};

use crate::cell::operation;

pub(crate) use over_run::{changes, complete};
pub(crate) use window::within_windows;

/// Fewest whole seconds of which anything is said: SNIA's five rounds, of a second each.
const SECONDS_MIN: usize = 5;

// SNIA's whole range, at once and for good; what scatters comes up again.
/// Change from one level to another that a noisy second or minute does not make.
const FALL_MAX: f64 = 0.20;

/// Whether the rate of a cell is the storage's at every moment: the rate of a job is the job's own, and arrivals in steps
/// come and go with them, as writes do with the checkpoints that they are of.
fn has_rate_of_its_own(cell: &Cell) -> bool {
    // Writes of a checkpoint stop while it is made durable, and a restore ends with its bytes.
    let comes_in_bursts = operation::is_transfer(cell) && cell.operation != feed::Operation::Copy;
    cell.training.is_none()
        && !comes_in_bursts
        && cell.pace.as_ref().is_none_or(|pace| pace.arrivals != "batch")
}

/// What moved in each whole second of a window: bytes, or operations where no bytes move.
pub(crate) fn whole_seconds<'a>(cell: &Cell, rep: &'a Rep) -> &'a [u64] {
    let moved = if operation::is_metadata(cell) { &rep.second_ops } else { &rep.second_bytes };
    let whole = (rep.window_ns / 1_000_000_000) as usize;
    // The queue runs empty in the last second before a dataset ends.
    let ends_early = usize::from(rep.outcome == Outcome::Exhausted);
    &moved[..moved.len().min(whole.saturating_sub(ends_early))]
}

/// Of `u64`, without an overflow that only a damaged record could make.
pub(crate) fn total(moved: &[u64]) -> f64 {
    moved.iter().map(|count| *count as f64).sum()
}

#[cfg(test)]
mod tests;
