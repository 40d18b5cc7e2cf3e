//! The rate that one repetition stands for.

use record::{Rep, counter};

use crate::cell::context::Context;
use crate::cell::counters::{counted, per_s};
use crate::cell::{mix, paced, training};

/// Bytes per second of one repetition that makes a point.
pub(crate) fn point_bps(context: &Context<'_>, rep: &Rep) -> f64 {
    let job = context.cell.training.as_ref();
    if let Some(samples_per_s) = job.and_then(|job| training::figures::samples_per_s(job, rep)) {
        // Bytes by window would count what readers fetched ahead and no step ever took.
        return samples_per_s * context.sample_bytes;
    }
    // Where no arrival was counted there is no offer to take a share of.
    let is_paced = context.cell.pace.is_some() && counted(rep, counter::ARRIVALS) > 0;
    let bps = if is_paced { paced::rate_bps(context, rep) } else { per_s(rep, counter::BYTES) };
    bps * mix::part(context.cell, rep)
}
