//! The job that a fleet plays: the shape of its steps, and which ticket is which sample.

use plan::{Fetch, Training, Work};

/// Numbers of an order: what the samples of a job are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Data {
    /// First ticket of the repetition.
    pub(crate) first_ticket: u64,
    /// Tickets of one pass.
    pub(crate) tickets_per_epoch: u64,
    /// Samples of one pass.
    pub(crate) samples: u64,
    /// Reads of one batch, where it is put together from what comes and not sample by sample.
    pub(crate) batch_reads: Option<u32>,
    /// Whether passes follow each other without an end: no rest is dropped, and no reader starts anew.
    pub(crate) endless: bool,
}

/// Steps of each accelerator at most, and whether the data end with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steps {
    /// `u64::MAX` where the window alone ends them.
    pub(crate) count: u64,
    /// True where fewer were to be made than were asked for.
    pub(crate) run_out: bool,
}

/// What happens to a sample that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decoding {
    /// It is ready.
    None,
    /// It takes so long, by the reader itself or by a server.
    Cost {
        /// Time for each sample.
        per_sample_ns: u64,
        /// Whether its reader does it.
        by_reader: bool,
    },
    /// Someone else works on it and says when it was ready.
    Elsewhere,
}

/// A training job as a repetition plays it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Job {
    pub(crate) training: Training,
    pub(crate) decoding: Decoding,
    pub(crate) steps: Steps,
    /// Steps of each accelerator in one pass, at least 1.
    pub(crate) steps_per_epoch: u64,
    /// Operations of one sample.
    pub(crate) ops_per_sample: u64,
    /// Samples of one batch, where what is called a sample elsewhere in a job is a read of several or of a part of one:
    /// its batch is then as many reads.
    coalesced: Option<u32>,
    first_ticket: u64,
    tickets_per_epoch: u64,
}

/// One operation of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Number of the accelerator in the job.
    pub(crate) accelerator: u32,
    /// Its batch, numbered over all epochs.
    pub(crate) batch: u64,
    /// Sample of the batch.
    pub(crate) sample: u32,
    /// Operation of the sample.
    pub(crate) op: u32,
}

impl Job {
    /// The job over `data`; `None` where these hold not one step of all accelerators, or samples that take
    /// differing numbers of operations.
    ///
    /// Where batches are put together from reads, the job is played over these: each is a sample of its own, and its
    /// decoding takes as long as that of its share of the batch.
    pub(crate) fn new(mut training: Training, mut data: Data, steps: Steps) -> Option<Self> {
        let coalesced = data.batch_reads.map(|reads| {
            data.samples = data.tickets_per_epoch;
            if let Some(plan::Decode { work: Work::Cost { per_sample_ns }, .. }) = &mut training.decode {
                let batch_ns = u128::from(*per_sample_ns) * u128::from(training.batch);
                *per_sample_ns = (batch_ns / u128::from(reads.max(1))) as u64;
            }
            std::mem::replace(&mut training.batch, reads)
        });
        let per_step = training.samples_per_step();
        let in_order = data.samples > 0 && data.tickets_per_epoch.is_multiple_of(data.samples);
        if !in_order || per_step == 0 || data.samples < per_step {
            return None;
        }
        let ops_per_sample = data.tickets_per_epoch / data.samples;
        let (steps_per_epoch, tickets_per_epoch) = if data.endless {
            (u64::MAX, u64::MAX)
        } else {
            (data.samples / per_step, data.tickets_per_epoch)
        };
        let readers = matches!(training.fetch, Fetch::Readers { .. });
        let decoding = match training.decode {
            None => Decoding::None,
            Some(plan::Decode { work: Work::Cost { per_sample_ns }, threads }) => {
                Decoding::Cost { per_sample_ns, by_reader: readers && threads.is_none() }
            }
            Some(_) => Decoding::Elsewhere,
        };
        let first_ticket = data.first_ticket;
        Some(Self {
            training,
            decoding,
            steps,
            steps_per_epoch,
            ops_per_sample,
            coalesced,
            first_ticket,
            tickets_per_epoch,
        })
    }

    /// The ticket of an operation.
    #[inline]
    pub(crate) fn ticket(&self, place: Place) -> u64 {
        let (epoch, step) = (place.batch / self.steps_per_epoch, place.batch % self.steps_per_epoch);
        let (accelerators, batch) = (u64::from(self.training.accelerators), u64::from(self.training.batch));
        let sample = if self.coalesced.is_some() {
            // The reads of a batch follow each other, so that they are one turn of a stream.
            (step * accelerators + u64::from(place.accelerator)) * batch + u64::from(place.sample)
        } else {
            (step * batch + u64::from(place.sample)) * accelerators + u64::from(place.accelerator)
        };
        let in_epoch = sample * self.ops_per_sample + u64::from(place.op);
        self.first_ticket + epoch * self.tickets_per_epoch + in_epoch
    }

    /// The operation of a ticket that [`Job::ticket`] gave.
    #[inline]
    pub(crate) fn place(&self, ticket: u64) -> Place {
        let (epoch, in_epoch) = split(ticket - self.first_ticket, self.tickets_per_epoch);
        let (sample, op) = split(in_epoch, self.ops_per_sample);
        let (accelerators, batch) = (u64::from(self.training.accelerators), u64::from(self.training.batch));
        let (step, accelerator, sample) = if self.coalesced.is_some() {
            let (turn, sample) = split(sample, batch);
            let (step, accelerator) = split(turn, accelerators);
            (step, accelerator, sample)
        } else {
            let (of_accelerator, accelerator) = split(sample, accelerators);
            let (step, sample) = split(of_accelerator, batch);
            (step, accelerator, sample)
        };
        let batch = epoch * self.steps_per_epoch + step;
        Place { accelerator: accelerator as u32, batch, sample: sample as u32, op: op as u32 }
    }

    /// The samples that were lost where `lost` of those that the job is played over were: of reads of several, or of
    /// parts of one, as many as these hold on average.
    pub(crate) fn lost_samples(&self, lost: u64) -> u64 {
        let samples = |batch: u32| {
            let lost = u128::from(lost) * u128::from(batch);
            lost.div_ceil(u128::from(self.training.batch.max(1))) as u64
        };
        self.coalesced.map_or(lost, samples)
    }

    /// Batches up to the end of the pass in which `batch` lies, the last of the job at most.
    pub(crate) fn epoch_end(&self, batch: u64) -> u64 {
        let end = (batch / self.steps_per_epoch + 1).saturating_mul(self.steps_per_epoch);
        end.min(self.steps.count)
    }
}

#[inline]
fn split(number: u64, by: u64) -> (u64, u64) {
    (number / by, number % by)
}
