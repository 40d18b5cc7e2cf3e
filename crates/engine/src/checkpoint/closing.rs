//! Checkpoints of a job that is played: written while it runs, and ended with it.

use std::sync::atomic::Ordering;

use super::save::Writing;
use crate::spec::RepSpec;
use crate::trainer::Train;

impl Train {
    /// Whether checkpoints are made beside the job.
    pub(crate) fn saves(&self) -> bool {
        self.save_orders().is_some()
    }

    /// The thread that writes the checkpoints of a repetition, until [`ClosingSaves`] ends it.
    pub(crate) fn save(&self, spec: &RepSpec<'_>) {
        let (Some(orders), Some(to), Some(plan)) =
            (self.save_orders(), spec.checkpoints, &spec.cell.job_checkpoints)
        else {
            return;
        };
        let plan = &plan.checkpoint;
        let stops = || orders.is_closed() || spec.stop.load(Ordering::Relaxed);
        let writing = Writing { to, plan, clock: spec.clock, stops: &stops, progress: spec.progress };
        orders.run(&writing, |saved| self.saved(saved));
    }
}

/// Ends the writing of checkpoints when the scope of its thread is left, also by a panic. The scope would wait for ever.
pub(crate) struct ClosingSaves<'a>(pub(crate) Option<&'a Train>);

impl Drop for ClosingSaves<'_> {
    fn drop(&mut self) {
        if let Some(train) = self.0 {
            train.stop_saving();
            train.save_orders().inspect(|orders| orders.close());
        }
    }
}
