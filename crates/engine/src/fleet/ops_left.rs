//! Operations that are left of each sample, where a sample takes several.

use crate::fleet::job::Job;

/// Set in the count of a sample's operations once one of them has failed.
// In the count itself: the last operation to end says whether any failed, without a second array.
const LOST: u32 = 1 << 31;

/// Counts of the batches that are read, by their places. Nothing is counted where each sample takes one operation.
#[derive(Debug)]
pub(crate) struct OpsLeft {
    of_samples: Vec<u32>,
    ops: u32,
    batch: usize,
}

impl OpsLeft {
    /// Room for so many batches at once.
    pub(crate) fn new(job: &Job, batches: usize) -> Self {
        let (ops, batch) = (job.ops_per_sample as u32, job.training.batch as usize);
        Self { of_samples: vec![0; if ops > 1 { batches * batch } else { 0 }], ops, batch }
    }

    /// A batch begins at a place.
    pub(crate) fn begin(&mut self, place: usize) {
        if self.ops > 1 {
            self.of_samples[place * self.batch..][..self.batch].fill(self.ops);
        }
    }

    /// Counts `ended` operations of a sample, of which one failed unless `is_ok`. Returns, with the last, whether all ended well.
    pub(crate) fn end(&mut self, place: usize, sample: u32, (ended, is_ok): (u32, bool)) -> Option<bool> {
        if self.ops == 1 {
            return Some(is_ok);
        }
        let left = &mut self.of_samples[place * self.batch + sample as usize];
        *left -= ended;
        if !is_ok {
            *left |= LOST;
        }
        (*left & !LOST == 0).then_some(*left & LOST == 0)
    }
}
