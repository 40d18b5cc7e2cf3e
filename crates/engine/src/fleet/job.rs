//! The job that a fleet plays: the shape of its steps, and which ticket is which sample.

use plan::{Fetch, Training, Work};

use super::lanes::{EpochReads, Lanes, Piece, Takers};

/// Epochs that stand for endless data, where reads bring several samples.
// A million epochs take longer than any control is played, and products with their numbers stay within 64 bits.
const ENDLESS_EPOCHS: u64 = 1 << 20;

/// The data of a job, as numbers of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobData {
    /// First ticket of the repetition.
    pub(crate) first_ticket: u64,
    /// Tickets of one epoch.
    pub(crate) tickets_per_epoch: u64,
    /// Samples of one epoch.
    pub(crate) samples: u64,
    /// How reads bring samples; `None` if each sample has reads of its own.
    pub(crate) coming: Option<Coming>,
    /// Whether epochs follow each other without an end: no rest is dropped, and no reader starts anew.
    pub(crate) endless: bool,
}

/// How reads bring samples, where a read holds several samples or a part of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Coming {
    /// Readers of each accelerator, which begin at places of their own.
    pub(crate) readers: u32,
    /// Consecutive reads that bring their samples together, with the last of them.
    pub(crate) together: u64,
    /// By how many reads samples arrive later than their bytes.
    pub(crate) behind: u64,
}

/// Steps of each accelerator at most, and whether the data end with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steps {
    /// `u64::MAX` if only the window ends the job.
    pub(crate) count: u64,
    /// Whether the data allow fewer steps than were asked for.
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
    /// Steps of each accelerator in one epoch, at least 1.
    pub(crate) steps_per_epoch: u64,
    /// Operations of one sample.
    pub(crate) ops_per_sample: u64,
    /// Which reads make a batch, where no read belongs to one sample. Elsewhere in the job, "sample of a batch" then means one
    /// of these reads.
    lanes: Option<Lanes>,
    samples: u64,
    first_ticket: u64,
    tickets_per_epoch: u64,
}

/// One operation of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// Number of the accelerator in the job.
    pub(crate) accelerator: u32,
    /// Its batch, numbered over all epochs.
    pub(crate) batch: u64,
    /// Sample of the batch, or read of it.
    pub(crate) sample: u32,
    /// Operation of the sample.
    pub(crate) op: u32,
}

impl Job {
    /// The job over `data`, without a limit of steps. `None` if the data do not hold one step of all accelerators, or if
    /// samples differ in their numbers of operations.
    pub(crate) fn new(training: Training, mut data: JobData) -> Option<Self> {
        if data.coming.is_some() && data.endless {
            data.samples = data.samples.checked_mul(ENDLESS_EPOCHS)?;
            data.tickets_per_epoch = data.tickets_per_epoch.checked_mul(ENDLESS_EPOCHS)?;
        }
        let (lanes, steps_per_epoch) = match data.coming {
            Some(coming) => {
                let lanes = lanes(&training, &data, coming)?;
                (Some(lanes), lanes.steps(training.drop_last))
            }
            None => (None, steps_per_epoch(&training, &data)?),
        };
        // A read of a lane belongs to no sample: it is the smallest thing that a batch waits for.
        let ops_per_sample = if lanes.is_some() { 1 } else { data.tickets_per_epoch / data.samples };
        let without_end = data.endless && lanes.is_none();
        let readers = matches!(training.fetch, Fetch::Readers { .. });
        let decoding = match training.decode {
            None => Decoding::None,
            Some(plan::Decode { work: Work::Cost { per_sample_ns }, threads }) => {
                Decoding::Cost { per_sample_ns, by_reader: readers && threads.is_none() }
            }
            Some(_) => Decoding::Elsewhere,
        };
        Some(Self {
            training,
            decoding,
            steps: Steps { count: u64::MAX, run_out: false },
            steps_per_epoch: if without_end { u64::MAX } else { steps_per_epoch },
            ops_per_sample,
            lanes,
            samples: data.samples,
            first_ticket: data.first_ticket,
            tickets_per_epoch: if without_end { u64::MAX } else { data.tickets_per_epoch },
        })
    }

    /// Whether batches are put together from reads that are no samples.
    pub(crate) fn is_streamed(&self) -> bool {
        self.lanes.is_some()
    }

    /// How many of `readers` readers of an accelerator have something to read.
    pub(crate) fn readers(&self, readers: u32) -> u32 {
        self.lanes.as_ref().map_or(readers, |lanes| lanes.each as u32).max(1)
    }

    /// Operations of one epoch, or of one of `parts` equal parts of its steps; `None` for endless epochs.
    pub(crate) fn ops_per_epoch(&self, parts: u64) -> Option<u64> {
        let steps = self.steps_per_epoch / parts.max(1);
        match &self.lanes {
            // The part of a client is an epoch of its own.
            Some(lanes) => Some(lanes.reads_of(self.steps_per_epoch / lanes.each)),
            None if steps == self.steps_per_epoch && !self.training.drop_last => {
                self.samples.checked_mul(self.ops_per_sample)
            }
            None => steps.checked_mul(self.training.samples_per_step())?.checked_mul(self.ops_per_sample),
        }
    }

    /// The fewest steps of each accelerator that make at least `reads` reads, at the mean reads of a step.
    pub(crate) fn steps_of(&self, reads: u64) -> u64 {
        let Some(lanes) = &self.lanes else {
            let per_step = self.ops_per_sample.saturating_mul(self.training.samples_per_step());
            return reads.div_ceil(per_step.max(1));
        };
        let per_epoch = u128::from(lanes.reads_of(self.steps_per_epoch / lanes.each)).max(1);
        (u128::from(reads) * u128::from(self.steps_per_epoch)).div_ceil(per_epoch) as u64
    }

    /// Samples of a batch: fewer than others have, perhaps none, at the end of an epoch that drops nothing.
    #[inline]
    pub(crate) fn samples(&self, accelerator: u32, batch: u64) -> u32 {
        if self.training.drop_last || self.steps_per_epoch == u64::MAX {
            return self.training.batch;
        }
        if let Some(piece) = self.piece(accelerator, batch) {
            return piece.samples();
        }
        let before = batch % self.steps_per_epoch * self.training.samples_per_step() + u64::from(accelerator);
        let left = self.samples.saturating_sub(before).div_ceil(u64::from(self.training.accelerators));
        left.min(u64::from(self.training.batch)) as u32
    }

    /// How many reads a batch takes, or how many samples where each has its own.
    #[inline]
    pub(crate) fn reads(&self, accelerator: u32, batch: u64) -> u32 {
        self.piece(accelerator, batch).map_or_else(|| self.samples(accelerator, batch), |piece| piece.reads())
    }

    /// Whether there are batches that make no read.
    pub(crate) fn may_be_empty(&self) -> bool {
        self.lanes.is_some() || !self.training.drop_last
    }

    /// Whether a batch begins without a read: with samples that earlier reads left, or because it is empty.
    #[inline]
    pub(crate) fn has_rest(&self, accelerator: u32, batch: u64) -> bool {
        self.lanes.is_some() || self.samples(accelerator, batch) == 0
    }

    /// Samples of a batch that were brought by reads before it.
    pub(crate) fn carried(&self, accelerator: u32, batch: u64) -> u32 {
        self.piece(accelerator, batch).map_or(0, |piece| piece.carried())
    }

    /// Samples of its batch that a read brings, or one.
    #[inline]
    pub(crate) fn brought(&self, position: Position) -> u32 {
        self.piece(position.accelerator, position.batch).map_or(1, |piece| piece.brought(position.sample))
    }

    /// The batch of the same accelerator whose rest a batch begins with; `None` at the beginning of a lane.
    pub(crate) fn before(&self, batch: u64) -> Option<u64> {
        let each = self.lanes.as_ref()?.each;
        (batch % self.steps_per_epoch >= each).then(|| batch - each)
    }

    /// The batch of the same accelerator that begins with the rest of a batch; `None` at the end of a lane.
    pub(crate) fn after(&self, batch: u64) -> Option<u64> {
        let after = batch + self.lanes.as_ref()?.each;
        (self.before(after) == Some(batch)).then_some(after)
    }

    /// Compute time of the step that takes a batch: of a smaller one, in proportion to its samples.
    #[inline]
    pub(crate) fn compute_ns(&self, accelerator: u32, batch: u64) -> u64 {
        let (samples, whole) = (self.samples(accelerator, batch), self.training.batch);
        if samples == whole {
            return self.training.compute_ns;
        }
        // In proportion, as nobody states the step time of a smaller batch.
        (u128::from(self.training.compute_ns) * u128::from(samples) / u128::from(whole.max(1))) as u64
    }

    fn piece(&self, accelerator: u32, batch: u64) -> Option<Piece> {
        self.lanes.as_ref().map(|lanes| lanes.piece(accelerator, batch % self.steps_per_epoch))
    }

    /// The ticket of an operation.
    #[inline]
    pub(crate) fn ticket(&self, position: Position) -> u64 {
        let (epoch, step) = split(position.batch, self.steps_per_epoch);
        let in_epoch = if let Some(piece) = self.piece(position.accelerator, position.batch) {
            piece.read(position.sample)
        } else {
            let (accelerators, batch) =
                (u64::from(self.training.accelerators), u64::from(self.training.batch));
            let sample =
                // Accelerators take samples in turn, as a distributed sampler deals them: those of one step lie next
                // to each other in the order.
                (step * batch + u64::from(position.sample)) * accelerators + u64::from(position.accelerator);
            sample * self.ops_per_sample + u64::from(position.op)
        };
        self.first_ticket + epoch * self.tickets_per_epoch + in_epoch
    }

    /// The operation of a ticket that [`Job::ticket`] gave.
    #[inline]
    pub(crate) fn position(&self, ticket: u64) -> Position {
        let (epoch, in_epoch) = split(ticket - self.first_ticket, self.tickets_per_epoch);
        let (accelerator, step, sample, op) = if let Some(lanes) = &self.lanes {
            let (accelerator, step, read) = lanes.position(in_epoch);
            (accelerator, step, read, 0)
        } else {
            let (sample, op) = split(in_epoch, self.ops_per_sample);
            let (of_accelerator, accelerator) = split(sample, u64::from(self.training.accelerators));
            let (step, sample) = split(of_accelerator, u64::from(self.training.batch));
            (accelerator as u32, step, sample as u32, op as u32)
        };
        Position { accelerator, batch: epoch * self.steps_per_epoch + step, sample, op }
    }

    /// Samples lost with `lost` reads: the mean number of samples in these reads, or `lost` if each sample has its
    /// own.
    pub(crate) fn lost_samples(&self, lost: u64) -> u64 {
        if self.lanes.is_none() {
            return lost;
        }
        let samples = u128::from(lost) * u128::from(self.samples);
        samples.div_ceil(u128::from(self.tickets_per_epoch.max(1))) as u64
    }

    /// Batches up to the end of the epoch in which `batch` lies, the last of the job at most.
    pub(crate) fn epoch_end(&self, batch: u64) -> u64 {
        let end = (batch / self.steps_per_epoch + 1).saturating_mul(self.steps_per_epoch);
        end.min(self.steps.count)
    }
}

/// Steps of each accelerator in an epoch over samples that are read one by one.
fn steps_per_epoch(training: &Training, data: &JobData) -> Option<u64> {
    let per_step = training.samples_per_step();
    // Every sample must take as many reads: otherwise no arithmetic says which ticket is which sample.
    let in_order = data.samples > 0 && data.tickets_per_epoch.is_multiple_of(data.samples);
    if !in_order || per_step == 0 {
        return None;
    }
    let steps = if training.drop_last { data.samples / per_step } else { data.samples.div_ceil(per_step) };
    (steps > 0).then_some(steps)
}

fn lanes(training: &Training, data: &JobData, coming: Coming) -> Option<Lanes> {
    let Coming { readers, together, behind } = coming;
    let epoch = EpochReads {
        reads: data.tickets_per_epoch,
        samples: data.samples,
        together: together.max(1),
        behind,
    };
    let Training { accelerators, batch, drop_last, .. } = *training;
    Lanes::new(epoch, Takers { accelerators, readers, batch, drop_last })
}

#[inline]
fn split(number: u64, by: u64) -> (u64, u64) {
    (number / by, number % by)
}
