//! Reads of all open batches through one queue: the most urgent first, accelerators in turn.

use std::collections::VecDeque;

use crate::fleet::accelerator::Accelerator;
use crate::fleet::job::{Job, Position};
use crate::fleet::ops_left::OpsLeft;
use crate::fleet::task::BatchId;

/// What is read next of each accelerator.
#[derive(Debug)]
pub(crate) struct Shared {
    next: Vec<Next>,
    /// The accelerator whose turn it is.
    turn: usize,
    /// Open batches that are not all issued.
    batches: u64,
    /// Since when each free slot has been free, the longest first.
    free_since_ns: VecDeque<u64>,
    ops_left: OpsLeft,
    /// Batches of an accelerator that are open at once, at most.
    batches_max: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Next {
    batch: u64,
    sample: u32,
    op: u32,
}

impl Shared {
    /// A queue of `slots` that `accelerators` share, each with up to `batches_max` open batches.
    pub(crate) fn new(job: &Job, accelerators: usize, batches_max: usize, slots: u32) -> Self {
        Self {
            next: vec![Next::default(); accelerators],
            turn: 0,
            batches: 0,
            free_since_ns: (0..slots).map(|_| 0).collect(),
            ops_left: OpsLeft::new(job, accelerators * batches_max),
            batches_max: batches_max as u64,
        }
    }

    /// A batch of `reads` may be fetched.
    pub(crate) fn opened(&mut self, batch: BatchId, reads: u32) {
        self.batches += u64::from(reads > 0);
        self.ops_left.begin(self.place(batch));
    }

    /// Whether there is something to issue.
    pub(crate) fn may_issue(&self) -> bool {
        self.batches > 0
    }

    /// What to issue next: accelerator, batch, sample, operation; and since when a slot was free for it.
    #[inline]
    pub(crate) fn next(&mut self, job: &Job, all: &[Accelerator]) -> Option<((usize, Position), u64)> {
        if self.batches == 0 {
            return None;
        }
        if job.may_be_empty() {
            self.skip(all);
        }
        let accelerator = self.most_urgent(all)?;
        let reads = self.reads(accelerator, all);
        // In turn, or the first accelerator would be fed first at every tie.
        self.turn = if accelerator + 1 == all.len() { 0 } else { accelerator + 1 };
        let next = &mut self.next[accelerator];
        let position = Position { accelerator: 0, batch: next.batch, sample: next.sample, op: next.op };
        next.op += 1;
        if u64::from(next.op) == job.ops_per_sample {
            next.op = 0;
            next.sample += 1;
        }
        if next.sample == reads {
            *next = Next { batch: next.batch + 1, ..Next::default() };
            self.batches -= 1;
        }
        Some(((accelerator, position), self.free_since_ns.pop_front().unwrap_or(0)))
    }

    /// Reads of the batch that is read next of an accelerator.
    fn reads(&self, accelerator: usize, all: &[Accelerator]) -> u32 {
        all[accelerator].batch_of(self.next[accelerator].batch).map_or(0, |batch| batch.reads)
    }

    /// Passes over batches that make no read.
    fn skip(&mut self, all: &[Accelerator]) {
        for (index, accelerator) in all.iter().enumerate() {
            let next = &mut self.next[index];
            while next.batch < accelerator.opened
                && accelerator.batch_of(next.batch).is_none_or(|batch| batch.reads == 0)
            {
                next.batch += 1;
            }
        }
    }

    fn most_urgent(&self, all: &[Accelerator]) -> Option<usize> {
        let mut least: Option<(u64, usize)> = None;
        for index in (self.turn..all.len()).chain(0..self.turn) {
            let (next, accelerator) = (&self.next[index], &all[index]);
            if next.batch >= accelerator.opened {
                continue;
            }
            let ahead = next.batch - accelerator.taken;
            // Somebody waits for this batch now; nothing is more urgent.
            if ahead == 0 {
                return Some(index);
            }
            if least.is_none_or(|(fewest, _)| ahead < fewest) {
                least = Some((ahead, index));
            }
        }
        least.map(|(_, index)| index)
    }

    /// A slot is free again.
    pub(crate) fn free(&mut self, at_ns: u64) {
        self.free_since_ns.push_back(at_ns);
    }

    /// Takes the end of an operation. Returns whether its sample was read well, once all of it has ended.
    pub(crate) fn op_done(&mut self, batch: BatchId, sample: u32, ok: bool) -> Option<bool> {
        self.ops_left.end(self.place(batch), sample, (1, ok))
    }

    /// Where the operations of an open batch are counted.
    fn place(&self, batch: BatchId) -> usize {
        batch.index * self.batches_max as usize + (batch.number % self.batches_max) as usize
    }
}
