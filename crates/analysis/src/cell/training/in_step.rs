//! One job that several processes played, each of which held only its own accelerators in step.
//!
//! In step, the job is as long as its slowest process at each of its steps. Processes do not wait for each other while they
//! measure, so what that comes to lies between two bounds: at best the same process is the slowest at every step, and at worst
//! each is late at steps of its own, so that what all of them lose adds up.

use std::borrow::Cow;

use record::{Rep, Trained, TrainedAccelerator, Training};

use crate::cell::interval::mean;

/// The accelerators of each process; `None` for a job of one process, and for one whose accelerators do not wait for each other.
fn processes<'a>(
    job: &Training,
    rep: &Rep,
    trained: &'a Trained,
) -> Option<std::slice::ChunksExact<'a, TrainedAccelerator>> {
    let (all, processes) = (trained.accelerators.len(), rep.ranks as usize);
    // Ranks are folded one behind the other, each with as many.
    let is_whole = job.barrier && processes > 1 && all >= processes && all.is_multiple_of(processes);
    is_whole.then(|| trained.accelerators.chunks_exact(all / processes))
}

/// Time that a process lost, by its compute time; the mean over its accelerators.
fn lost(process: &[TrainedAccelerator]) -> f64 {
    let of_one = |one: &TrainedAccelerator| {
        one.wall_ns.saturating_sub(one.compute_ns) as f64 / one.compute_ns.max(1) as f64
    };
    mean(&process.iter().map(of_one).collect::<Vec<_>>()).unwrap_or(0.0)
}

/// What the job of a repetition came to if the same process was the slowest at every step: the others wait for it, which is
/// time at the barrier. The highest utilization that it can have.
pub(super) fn at_best<'a>(job: &Training, rep: &'a Rep) -> Option<Cow<'a, Trained>> {
    let trained = rep.trained.as_ref()?;
    let Some(processes) = processes(job, rep, trained) else { return Some(Cow::Borrowed(trained)) };
    let most = processes.map(lost).fold(0.0, f64::max);
    let mut in_step = trained.clone();
    for one in &mut in_step.accelerators {
        let wall_ns = (one.compute_ns as f64 * (1.0 + most)) as u64;
        let waited_ns = wall_ns.saturating_sub(one.wall_ns);
        one.wall_ns += waited_ns;
        one.barrier_ns += waited_ns;
    }
    Some(Cow::Owned(in_step))
}

/// The lowest utilization that the job of a repetition can have in step; `None` where no processes were to wait for each other.
pub(super) fn least_au(job: &Training, rep: &Rep) -> Option<f64> {
    let processes = processes(job, rep, rep.trained.as_ref()?)?;
    Some(1.0 / (1.0 + processes.map(lost).sum::<f64>()))
}
