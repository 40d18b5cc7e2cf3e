//! Readers as a `DataLoader` has them: each fetches batches of one accelerator, one sample after the other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::fleet::job::Job;
use crate::fleet::members::Members;
use crate::fleet::task::BatchId;

/// The readers of a fleet.
#[derive(Debug)]
pub(crate) struct Readers {
    /// Of each accelerator.
    count: u32,
    all: Vec<Reader>,
    /// Readers that may issue, the longest waiting first.
    ready: VecDeque<u32>,
    /// Readers whose batch begins with samples that are there already, the longest waiting first.
    resting: VecDeque<u32>,
    members: Members,
    /// Readers that decode by themselves, and until when.
    decoding: BinaryHeap<Reverse<(u64, u32)>>,
}

/// One reader.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader {
    /// The batch that it fetches, or that it waits for.
    pub(crate) batch: u64,
    /// Whether it has taken the samples that its batch begins with.
    has_rest: bool,
    /// The sample that it reads next, or reads.
    pub(crate) sample: u32,
    /// Its operation.
    pub(crate) op: u32,
    /// Since when it has been free to issue.
    pub(crate) free_ns: u64,
}

impl Readers {
    /// Readers of `members`, `count` of each. A reader without a batch in an epoch never starts.
    pub(crate) fn new(job: &Job, members: Members, count: u32) -> Self {
        let first = |reader: u32| {
            let of_accelerator = u64::from(reader % count);
            // More readers than batches: those without one never start, as in a `DataLoader` with more workers than
            // batches.
            let batch = if of_accelerator < job.steps_per_epoch { of_accelerator } else { u64::MAX };
            Reader { batch, has_rest: false, sample: 0, op: 0, free_ns: 0 }
        };
        let all = members.count(job.training.accelerators) * count;
        Self {
            count,
            all: (0..all).map(first).collect(),
            ready: VecDeque::with_capacity(all as usize),
            resting: VecDeque::with_capacity(all as usize),
            members,
            decoding: BinaryHeap::with_capacity(all as usize),
        }
    }

    /// Lets a batch be fetched by its reader, once that has fetched the batches before it.
    pub(crate) fn opened(&mut self, job: &Job, batch: BatchId) {
        let index = self.index(job, batch);
        // Until now no reader of this batch had anything to do.
        if self.all[index as usize].batch == batch.number {
            self.go_on(job, index);
        }
    }

    /// A reader goes on with a batch that may be fetched.
    fn go_on(&mut self, job: &Job, index: u32) {
        let reader = &self.all[index as usize];
        if !reader.has_rest && job.has_rest(self.number(index), reader.batch) {
            self.resting.push_back(index);
        } else {
            self.ready.push_back(index);
        }
    }

    /// The batch of the next reader that takes the samples that it begins with, and since when the reader has been
    /// free.
    pub(crate) fn next_rest(&mut self) -> Option<(BatchId, u64)> {
        let index = self.resting.pop_front()?;
        Some((self.batch(index), self.all[index as usize].free_ns))
    }

    /// The next reader that may issue, and its accelerator.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(usize, Reader)> {
        let index = self.ready.pop_front()?;
        Some(((index / self.count) as usize, self.all[index as usize]))
    }

    /// Whether one may issue.
    pub(crate) fn may_issue(&self) -> bool {
        !self.ready.is_empty()
    }

    /// An operation ended that was not the last of its sample.
    pub(crate) fn next_op(&mut self, job: &Job, batch: BatchId, done_ns: u64) {
        let index = self.index(job, batch);
        let reader = &mut self.all[index as usize];
        reader.op += 1;
        reader.free_ns = done_ns;
        // Behind all others: each reader has one read under way, and the queue serves them in the order in which they
        // asked.
        self.ready.push_back(index);
    }

    /// A reader is occupied with its sample until `until_ns`.
    pub(crate) fn decode(&mut self, job: &Job, batch: BatchId, until_ns: u64) {
        let index = self.index(job, batch);
        self.decoding.push(Reverse((until_ns, index)));
    }

    /// When the next of them is free.
    pub(crate) fn decoded_ns(&self) -> Option<u64> {
        self.decoding.peek().map(|Reverse((ns, _))| *ns)
    }

    /// The batch of a reader that had decoded by `now_ns`, and when it had.
    pub(crate) fn decoded(&mut self, now_ns: u64) -> Option<(BatchId, u64)> {
        if self.decoded_ns()? > now_ns {
            return None;
        }
        let Reverse((ns, index)) = self.decoding.pop()?;
        Some((self.batch(index), ns))
    }

    /// Frees a reader that has finished its sample, or has taken what its batch begins with, at `at_ns`. Batches of
    /// its accelerator before `opened` may be fetched.
    pub(crate) fn sample_done(&mut self, job: &Job, id: BatchId, at_ns: u64, opened: u64) {
        let index = self.index(job, id);
        let (number, batch) = (self.number(index), id.number);
        let reader = &mut self.all[index as usize];
        reader.free_ns = at_ns;
        reader.op = 0;
        if !reader.has_rest && job.has_rest(number, batch) {
            reader.has_rest = true;
        } else {
            reader.sample += 1;
        }
        if reader.sample == job.reads(number, batch) {
            (reader.sample, reader.has_rest) = (0, false);
            let step = batch % job.steps_per_epoch;
            // Batch `b` is reader `b mod count`'s within an epoch; numbering begins anew with each, as a `DataLoader`
            // makes its workers anew.
            let later = step.saturating_add(u64::from(self.count));
            reader.batch = if later < job.steps_per_epoch {
                batch + u64::from(self.count)
            } else {
                batch - step + job.steps_per_epoch + step % u64::from(self.count)
            };
        }
        if reader.batch < opened {
            self.go_on(job, index);
        }
    }

    /// Number in the job of a reader's accelerator.
    fn number(&self, index: u32) -> u32 {
        self.members.number((index / self.count) as usize)
    }

    /// The batch that a reader fetches, or waits for.
    fn batch(&self, index: u32) -> BatchId {
        BatchId { index: (index / self.count) as usize, number: self.all[index as usize].batch }
    }

    #[inline]
    fn index(&self, job: &Job, batch: BatchId) -> u32 {
        let reader = (batch.number % job.steps_per_epoch) % u64::from(self.count);
        batch.index as u32 * self.count + reader as u32
    }
}
