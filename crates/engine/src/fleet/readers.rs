//! Readers as a `DataLoader` has them: each fetches batches of one accelerator, one after the other, with so many reads of a batch
//! under way at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::fleet::job::Job;
use crate::fleet::members::Members;
use crate::fleet::ops_left::OpsLeft;
use crate::fleet::task::BatchId;

/// The readers of a fleet.
#[derive(Debug)]
pub(crate) struct Readers {
    /// Of each accelerator.
    count: u32,
    all: Vec<Reader>,
    /// Readers that may issue one operation each, and since when, the longest waiting first. A reader of several fetches stands here
    /// several times.
    ready: VecDeque<(u32, u64)>,
    /// By reader, each of which has one batch.
    ops_left: OpsLeft,
    /// Readers whose batch begins with samples that are there already, the longest waiting first.
    resting: VecDeque<u32>,
    members: Members,
    /// Readers that decode by themselves, and until when.
    decoding: BinaryHeap<Reverse<(u64, u32)>>,
}

/// One reader.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reader {
    /// The batch that it fetches, or that it waits for.
    pub(crate) batch: u64,
    /// Whether it has taken the samples that its batch begins with.
    has_rest: bool,
    /// The sample that it reads next.
    pub(crate) sample: u32,
    /// Its operation.
    pub(crate) op: u32,
    /// Since when it has been free to issue.
    pub(crate) free_ns: u64,
    /// Reads of its batch, or samples where each has its own.
    reads: u32,
    /// Those that are not done.
    left: u32,
    /// How often it stands among those that may issue.
    asked: u32,
}

impl Readers {
    /// Readers of `members`, `count` of each. A reader without a batch in an epoch never starts.
    pub(crate) fn new(job: &Job, members: Members, count: u32) -> Self {
        let first = |reader: u32| {
            let of_accelerator = u64::from(reader % count);
            // More readers than batches: those without one never start, as in a `DataLoader` with more workers than
            // batches.
            let batch = if of_accelerator < job.steps_per_epoch { of_accelerator } else { u64::MAX };
            Reader { batch, ..Reader::default() }
        };
        let all = members.count(job.training.accelerators) * count;
        Self {
            count,
            all: (0..all).map(first).collect(),
            ready: VecDeque::with_capacity(all as usize * job.training.fetches as usize),
            ops_left: OpsLeft::new(job, all as usize),
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
        let number = self.number(index);
        let reader = &self.all[index as usize];
        if !reader.has_rest && job.has_rest(number, reader.batch) {
            self.resting.push_back(index);
        } else {
            self.read(job, index);
        }
    }

    /// A reader begins to read its batch: with all of its fetches, or as many as there are reads.
    fn read(&mut self, job: &Job, index: u32) {
        let number = self.number(index);
        let reader = &mut self.all[index as usize];
        reader.reads = job.reads(number, reader.batch);
        (reader.left, reader.sample, reader.op) = (reader.reads, 0, 0);
        let (asked, free_ns) = (reader.asked, reader.free_ns);
        self.ops_left.begin(index as usize);
        (asked..job.training.fetches).for_each(|_| self.ask(job, index, free_ns));
    }

    /// Lets a reader issue once more, where its batch has an operation for it.
    #[inline]
    fn ask(&mut self, job: &Job, index: u32, free_ns: u64) {
        let reader = &mut self.all[index as usize];
        let samples = u64::from(reader.reads - reader.sample);
        if samples * job.ops_per_sample > u64::from(reader.op) + u64::from(reader.asked) {
            reader.asked += 1;
            self.ready.push_back((index, free_ns));
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
    pub(crate) fn next(&mut self, job: &Job) -> Option<(usize, Reader)> {
        loop {
            let (index, free_ns) = self.ready.pop_front()?;
            let reader = &mut self.all[index as usize];
            reader.asked -= 1;
            // The operations that a lost sample no longer makes may have been the last.
            if reader.sample == reader.reads {
                continue;
            }
            let next = Reader { free_ns, ..*reader };
            reader.op += 1;
            if u64::from(reader.op) == job.ops_per_sample {
                (reader.sample, reader.op) = (reader.sample + 1, 0);
            }
            return Some(((index / self.count) as usize, next));
        }
    }

    /// Whether one may issue.
    pub(crate) fn may_issue(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Counts an operation that ended, well or not. Returns, with the last of its sample, whether all of them ended well. A sample of
    /// which one failed is lost, and makes no further operations.
    pub(crate) fn op_done(
        &mut self,
        job: &Job,
        id: BatchId,
        (sample, is_ok): (u32, bool),
        done_ns: u64,
    ) -> Option<bool> {
        let index = self.index(job, id);
        let reader = &mut self.all[index as usize];
        let mut ended = 1;
        if !is_ok && reader.sample == sample {
            ended += job.ops_per_sample as u32 - reader.op;
            (reader.sample, reader.op) = (sample + 1, 0);
        }
        let whole = self.ops_left.end(index as usize, sample, (ended, is_ok));
        if whole.is_some() {
            return whole;
        }
        // Behind all others: the queue serves readers in the order in which they asked.
        self.ask(job, index, done_ns);
        None
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
        if !reader.has_rest && job.has_rest(number, batch) {
            reader.has_rest = true;
            self.read(job, index);
        } else {
            reader.left -= 1;
            self.ask(job, index, at_ns);
        }
        let reader = &mut self.all[index as usize];
        if reader.left == 0 {
            reader.has_rest = false;
            let step = batch % job.steps_per_epoch;
            // Batch `b` is reader `b mod count`'s within an epoch; numbering begins anew with each, as a `DataLoader`
            // makes its workers anew.
            let later = step.saturating_add(u64::from(self.count));
            reader.batch = if later < job.steps_per_epoch {
                batch + u64::from(self.count)
            } else {
                batch - step + job.steps_per_epoch + step % u64::from(self.count)
            };
            if reader.batch < opened {
                self.go_on(job, index);
            }
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
