//! What a fleet counts.

use hdrhistogram::Histogram;
use record::{TrainedAccelerator, TrainedStep};

use super::pauses::Pause;
use crate::epochs::EPOCHS_KEPT;

/// Steps of the first accelerator that are kept one by one.
const TIMELINE_STEPS: usize = 256;

/// What the fetch of a batch spent its time on, summed over its samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit stands last in a name")]
pub(crate) struct Spent {
    /// Reads that were allowed, had a slot, and were not issued.
    pub(crate) client_ns: u64,
    /// From issued to done, further attempts included.
    pub(crate) storage_ns: u64,
    /// From done to decoded.
    pub(crate) decode_ns: u64,
}

impl Spent {
    /// Divides a wait in proportion to these times. A wait without any of them counts as the storage's.
    fn shares_of(self, wait_ns: u64) -> Self {
        let all_ns = u128::from(self.client_ns) + u128::from(self.storage_ns) + u128::from(self.decode_ns);
        if all_ns == 0 {
            // For example a batch whose reads failed at once: what is not known must not be put on the client.
            return Self { storage_ns: wait_ns, ..Self::default() };
        }
        let share = |part_ns: u64| (u128::from(wait_ns) * u128::from(part_ns) / all_ns) as u64;
        let (client_ns, decode_ns) = (share(self.client_ns), share(self.decode_ns));
        Self { client_ns, storage_ns: wait_ns - client_ns - decode_ns, decode_ns }
    }
}

/// A time without a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    /// Since when.
    pub(crate) since_ns: u64,
    /// When it ended. Before `since_ns` if the batch was ready in time.
    pub(crate) until_ns: u64,
    /// Until when readers started.
    pub(crate) started_ns: u64,
    /// The part of it in which a checkpoint held the accelerator, which is not a wait.
    pub(crate) pause: Pause,
    /// What the batch's fetch took.
    pub(crate) spent: Spent,
}

impl Wait {
    /// Its length.
    pub(crate) fn ns(&self) -> u64 {
        self.outside_pause(self.until_ns)
    }

    fn outside_pause(&self, until_ns: u64) -> u64 {
        until_ns.saturating_sub(self.since_ns) - self.pause.within(self.since_ns, until_ns)
    }

    /// Adds it, and its causes: the time in which readers started as it was, the rest in proportion.
    pub(crate) fn count(&self, counts: &mut TrainedAccelerator) {
        let wait_ns = self.ns();
        // Starting comes first in a wait, and is the loader's and not the storage's.
        let startup_ns = self.outside_pause(self.started_ns).min(wait_ns);
        let shares = self.spent.shares_of(wait_ns - startup_ns);
        counts.wait_ns += wait_ns;
        counts.startup_ns += startup_ns;
        counts.client_ns += shares.client_ns;
        counts.storage_ns += shares.storage_ns;
        counts.decode_ns += shares.decode_ns;
    }
}

/// Distributions over all accelerators of a fleet, and the steps of the first one.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    /// Wait of each step for its batch; 1 if it did not wait.
    pub(crate) wait_ns: Histogram<u64>,
    /// Time of each batch from allowed to ready.
    pub(crate) fetch_ns: Histogram<u64>,
    /// How late each end of a step was noticed.
    pub(crate) lag_ns: Histogram<u64>,
    /// Time of each decoded sample from read to decoded.
    pub(crate) decode_ns: Histogram<u64>,
    /// Samples that were read and could not be decoded.
    pub(crate) decode_failures: u64,
    /// Number of steps by how many further batches were ready as they began.
    pub(crate) occupancy: Vec<u64>,
    /// The first steps of the job's first accelerator.
    pub(crate) timeline: Vec<TrainedStep>,
    /// When the first batch of each epoch was ready, for the epochs that are kept.
    pub(crate) first_batch_ns: Vec<Option<u64>>,
}

impl Tally {
    /// A tally of accelerators with at most `batches` open batches.
    pub(crate) fn new(batches: usize) -> Self {
        Self {
            wait_ns: record::new_histogram(),
            fetch_ns: record::new_histogram(),
            // Two digits: how late the client looked is a check, not a figure.
            lag_ns: record::new_interval_histogram(),
            decode_ns: record::new_histogram(),
            decode_failures: 0,
            occupancy: vec![0; batches],
            timeline: Vec::with_capacity(TIMELINE_STEPS),
            first_batch_ns: Vec::new(),
        }
    }

    /// Adds the counts of another fleet of the same job.
    pub(crate) fn add(&mut self, other: &mut Self) {
        for (sum, part) in [
            (&mut self.wait_ns, &other.wait_ns),
            (&mut self.fetch_ns, &other.fetch_ns),
            (&mut self.lag_ns, &other.lag_ns),
            (&mut self.decode_ns, &other.decode_ns),
        ] {
            let added = sum.add(part);
            debug_assert!(added.is_ok(), "both histograms were made by the same function");
        }
        for (sum, part) in self.occupancy.iter_mut().zip(&other.occupancy) {
            *sum += part;
        }
        self.decode_failures += other.decode_failures;
        self.timeline.append(&mut other.timeline);
        for (epoch, ready_ns) in other.first_batch_ns.iter().enumerate() {
            if let Some(ready_ns) = ready_ns {
                self.batch_ready(epoch as u64, *ready_ns);
            }
        }
    }

    /// Takes a batch of `epoch` that was ready at `ready_ns`.
    pub(crate) fn batch_ready(&mut self, epoch: u64, ready_ns: u64) {
        if epoch >= u64::from(EPOCHS_KEPT) {
            return;
        }
        let index = epoch as usize;
        if self.first_batch_ns.len() <= index {
            self.first_batch_ns.resize(index + 1, None);
        }
        let first_ns = self.first_batch_ns[index].get_or_insert(ready_ns);
        *first_ns = (*first_ns).min(ready_ns);
    }

    /// Keeps a step of the first accelerator, while there is room.
    pub(crate) fn step(&mut self, step: TrainedStep) {
        if self.timeline.len() < TIMELINE_STEPS {
            self.timeline.push(step);
        }
    }
}

/// A time for a histogram whose least is 1.
pub(crate) fn least_one(ns: u64) -> u64 {
    ns.max(1)
}
