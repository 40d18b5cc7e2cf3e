//! One accelerator: its batches, its steps, and what it counts of them.

use std::collections::VecDeque;

use record::{TrainedAccelerator, TrainedStep};

use crate::fleet::job::Job;
use crate::fleet::pauses::Pause;
use crate::fleet::tally::{Spent, Tally, Wait, least_one};
use crate::fleet::task::Span;

/// What an accelerator does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Its readers start, until its wake.
    Starting,
    /// It has no batch, or waits for other accelerators; its wake is the beginning of the next step, once that is
    /// known.
    Idle,
    /// It computes, until its wake.
    Computing,
    /// It has made its last step.
    Ended,
}

/// A batch that is being fetched, or is ready.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batch {
    /// From when on it could be fetched.
    pub(crate) allowed_ns: u64,
    /// Samples that are not ready yet; where reads bring several samples, reads and the rest that it begins with.
    pub(crate) left: u32,
    /// Reads that it takes.
    pub(crate) reads: u32,
    /// Reads that have not ended.
    pub(crate) reads_left: u32,
    /// Whether it has taken the samples that earlier reads left for it.
    pub(crate) has_rest: bool,
    /// When the last of its bytes so far were there.
    pub(crate) bytes_ns: u64,
    /// When the last sample so far was.
    pub(crate) ready_ns: u64,
    pub(crate) spent: Spent,
}

/// One accelerator of a fleet.
#[derive(Debug, Clone)]
pub(crate) struct Accelerator {
    pub(crate) state: State,
    /// When its state changes; `u64::MAX` if another event has to come first.
    pub(crate) wake_ns: u64,
    /// Batches that steps took, in order: the number of the next one.
    pub(crate) taken: u64,
    /// Batches that could be fetched so far.
    pub(crate) opened: u64,
    /// Those that may be: the end of the epoch.
    pub(crate) epoch_end: u64,
    /// Those that were opened and not taken.
    batches: VecDeque<Batch>,
    /// End of its last step, or the start of the job.
    pub(crate) idle_since_ns: u64,
    /// Until when its readers started last.
    pub(crate) started_ns: u64,
    /// Compute time of the step under way, or of the last.
    compute_ns: u64,
    /// Whether DLIO leaves out the step that was taken last: the first of an epoch, or after a checkpoint.
    is_excluded: bool,
    counts: TrainedAccelerator,
}

impl Accelerator {
    /// One that has room for `batches` open batches.
    pub(crate) fn new(batches: usize) -> Self {
        Self {
            state: State::Starting,
            wake_ns: u64::MAX,
            taken: 0,
            opened: 0,
            epoch_end: 0,
            batches: VecDeque::with_capacity(batches),
            idle_since_ns: 0,
            started_ns: 0,
            compute_ns: 0,
            is_excluded: false,
            counts: TrainedAccelerator::default(),
        }
    }

    /// Begins the job at `start_ns`; readers have started at `started_ns`.
    pub(crate) fn begin(&mut self, start_ns: u64, started_ns: u64) {
        self.idle_since_ns = start_ns;
        self.started_ns = started_ns;
        self.wake_ns = started_ns;
    }

    /// An open batch.
    #[inline]
    pub(crate) fn batch(&mut self, number: u64) -> Option<&mut Batch> {
        self.batches.get_mut(number.checked_sub(self.taken)? as usize)
    }

    /// An open batch, to look at.
    #[inline]
    pub(crate) fn batch_of(&self, number: u64) -> Option<&Batch> {
        self.batches.get(number.checked_sub(self.taken)? as usize)
    }

    /// Opens the next batch, of `reads` reads, which may begin with a rest of earlier ones.
    pub(crate) fn open(&mut self, reads: u32, begins_with_rest: bool, allowed_ns: u64) {
        self.batches.push_back(Batch {
            allowed_ns,
            left: reads + u32::from(begins_with_rest),
            reads,
            reads_left: reads,
            has_rest: !begins_with_rest,
            bytes_ns: 0,
            ready_ns: 0,
            spent: Spent::default(),
        });
        self.opened += 1;
    }

    /// When the batch that is taken next was ready, if all of it is.
    pub(crate) fn ready_ns(&self) -> Option<u64> {
        self.batches.front().filter(|batch| batch.left == 0).map(|batch| batch.ready_ns)
    }

    /// Takes the next batch at `start_ns`, and computes for `compute_ns`. Time since the last step that lies in
    /// `pause` belongs to the checkpoint and is not a wait.
    pub(crate) fn take(
        &mut self,
        job: &Job,
        start_ns: u64,
        compute_ns: u64,
        pause: Pause,
        tally: &mut Tally,
    ) {
        let Some(batch) = self.batches.pop_front() else { return };
        // Up to when the batch was ready and not to when the step began: the rest of the gap is the barrier's.
        let wait = self.wait(batch.ready_ns, batch.spent, pause);
        let is_first = self.taken == 0;
        let paused_ns = pause.within(self.idle_since_ns, start_ns);
        // DLIO leaves these steps out of its utilization; both figures are recorded, so that one can be held against
        // the other.
        self.is_excluded = self.begins_epoch(job) || paused_ns > 0;
        if self.is_excluded {
            self.counts.excluded_wait_ns += wait.ns();
            self.counts.excluded_compute_ns += compute_ns;
        }
        self.taken += 1;
        self.counts.steps += 1;
        // The first batch is always waited for, on any storage.
        self.counts.late += u64::from(!is_first && wait.ns() > 0);
        self.counts.checkpoint_ns += paused_ns;
        self.counts.barrier_ns += start_ns - self.idle_since_ns - wait.ns() - paused_ns;
        if is_first {
            self.counts.first_batch_ns = wait.ns();
        }
        wait.count(&mut self.counts);
        tally.wait_ns.saturating_record(least_one(wait.ns()));
        let ready = self.batches.iter().filter(|batch| batch.left == 0 && batch.ready_ns <= start_ns);
        tally.occupancy[ready.count()] += 1;
        self.state = State::Computing;
        self.wake_ns = start_ns.saturating_add(compute_ns);
        self.compute_ns = compute_ns;
        self.counts.compute_ns += compute_ns;
    }

    /// The step under way, as times from `job_start_ns`; its batch was ready at `ready_ns`.
    pub(crate) fn step(&self, job_start_ns: u64, ready_ns: u64) -> TrainedStep {
        let end_ns = self.wake_ns - job_start_ns;
        let start_ns = end_ns - self.compute_ns;
        TrainedStep { ready_ns: ready_ns - job_start_ns, start_ns, end_ns }
    }

    /// Whether its next step is the first of an epoch.
    fn begins_epoch(&self, job: &Job) -> bool {
        self.taken.is_multiple_of(job.steps_per_epoch)
    }

    /// Ends the step under way, which is noticed at `now_ns`.
    pub(crate) fn end_step(&mut self, now_ns: u64, tally: &mut Tally) {
        tally.lag_ns.saturating_record(now_ns.saturating_sub(self.wake_ns));
        self.idle_since_ns = self.wake_ns;
        self.state = State::Idle;
        self.wake_ns = u64::MAX;
    }

    /// Counts a sample that never became ready.
    pub(crate) fn lose_sample(&mut self) {
        self.counts.lost_samples += 1;
    }

    /// Its counts in a window, which opens as the job begins.
    pub(crate) fn counts(&self, job: &Job, window: Span, pause: Pause) -> TrainedAccelerator {
        let Span { from_ns: start_ns, to_ns: close_ns } = window;
        let mut counts = self.counts;
        match self.state {
            State::Ended => counts.wall_ns = self.idle_since_ns - start_ns,
            State::Computing => {
                // All of the step was counted as it began.
                let cut_ns = self.wake_ns.saturating_sub(close_ns);
                counts.compute_ns -= cut_ns;
                if self.is_excluded {
                    counts.excluded_compute_ns -= cut_ns;
                }
                counts.wall_ns = close_ns - start_ns;
            }
            State::Starting | State::Idle => {
                let front = self.batches.front();
                // A wait that the window cut counts up to its end: a storage that stalled for good would otherwise
                // show no wait at all.
                let ready_ns = self.ready_ns().unwrap_or(close_ns).min(close_ns);
                let wait = self.wait(ready_ns, front.map(|batch| batch.spent).unwrap_or_default(), pause);
                wait.count(&mut counts);
                if self.begins_epoch(job) {
                    counts.excluded_wait_ns += wait.ns();
                }
                let paused_ns = pause.within(self.idle_since_ns, close_ns);
                counts.checkpoint_ns += paused_ns;
                let idle_ns = close_ns.saturating_sub(self.idle_since_ns);
                counts.barrier_ns += idle_ns.saturating_sub(wait.ns() + paused_ns);
                counts.wall_ns = close_ns - start_ns;
            }
        }
        counts
    }

    fn wait(&self, until_ns: u64, spent: Spent, pause: Pause) -> Wait {
        Wait { since_ns: self.idle_since_ns, until_ns, started_ns: self.started_ns, pause, spent }
    }
}
