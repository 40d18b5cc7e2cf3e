//! What checkpoints do to the accelerators of a fleet.

use super::Fleet;
use super::pauses::{Pause, Pauses, Saved};

impl Fleet {
    /// Lets the accelerators make checkpoints.
    pub(crate) fn with_checkpoints(mut self, pauses: Pauses) -> Self {
        self.pauses = Some(pauses);
        self
    }

    /// Whether accelerators stand still until a checkpoint is written.
    pub(crate) fn is_held(&self) -> bool {
        self.pauses.as_ref().is_some_and(|pauses| pauses.passed < pauses.due)
    }

    /// Takes the result of the last order.
    pub(crate) fn saved(&mut self, saved: Saved) {
        let Some(pauses) = &mut self.pauses else { return };
        pauses.saved(saved);
        self.plan_all();
    }

    /// Gives no order any more.
    pub(crate) fn stop_saving(&mut self) {
        if let Some(pauses) = &mut self.pauses {
            // The writer's receiver ends once the sender is gone, and with it the thread.
            pauses.orders = None;
        }
    }

    /// Takes the end of a step of an accelerator that has further steps to make.
    pub(super) fn step_saved(&mut self, index: usize) {
        let (taken, end_ns) = (self.accelerators[index].taken, self.accelerators[index].idle_since_ns);
        let all = self.accelerators.len();
        let Some(pauses) = &mut self.pauses else { return };
        if taken < self.job.steps.count && pauses.ended(taken, end_ns, all) {
            self.plan_all();
        }
    }

    /// From when on checkpoints allow an accelerator to begin its next step.
    pub(super) fn allowed_ns(&self, taken: u64) -> Option<u64> {
        self.pauses.as_ref().map_or(Some(0), |pauses| pauses.allows(taken))
    }

    /// The last time in which accelerators stood still for a checkpoint.
    pub(super) fn pause(&self) -> Pause {
        self.pauses.as_ref().map_or(Pause::NONE, Pauses::pause)
    }

    fn plan_all(&mut self) {
        (0..self.accelerators.len()).for_each(|index| self.plan_step(index));
    }
}
