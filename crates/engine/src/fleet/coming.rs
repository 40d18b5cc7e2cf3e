//! The samples of a batch: those of its own reads, and those that earlier reads left.

use std::sync::PoisonError;

use super::task::{Arrival, BatchId, Span, Task};
use super::{Decoding, Fetchers, Fleet};

impl Fleet {
    /// The next samples for another thread to decode. [`Fleet::decoded_task`] takes the result.
    pub(crate) fn next_task(&mut self) -> Option<Task> {
        self.tasks.pop_front()
    }

    /// Takes samples that another thread decoded by `decoded_ns`, well or not.
    pub(crate) fn decoded_task(&mut self, task: Task, decoded_ns: u64, is_ok: bool) {
        let Task { batch, samples, read_ns } = task;
        self.spend_decodings(batch, Span { from_ns: read_ns, to_ns: decoded_ns }, samples);
        if decoded_ns > self.close_ns {
            return;
        }
        if !is_ok {
            self.accelerators[batch.index].lose_sample();
            self.tally.decode_failures += u64::from(samples);
        }
        self.sample_ready(batch, decoded_ns);
    }

    /// Adds samples to a batch, and decodes them if the job says so.
    pub(super) fn bring(&mut self, batch: BatchId, arrived: Arrival) {
        let ready_ns = match self.job.decoding {
            Decoding::Cost { per_sample_ns, by_reader } if arrived.samples > 0 => {
                self.decode(batch, arrived, per_sample_ns, by_reader)
            }
            Decoding::Elsewhere if arrived.samples > 0 => return self.hand_over(batch, arrived),
            Decoding::None | Decoding::Cost { .. } | Decoding::Elsewhere => arrived.at_ns,
        };
        self.sample_ready(batch, ready_ns);
    }

    /// When samples that arrived are decoded, at a stated cost. A reader has its samples decoded one
    /// after the other, by itself or by a server; without readers all samples go to the servers at once.
    fn decode(&mut self, batch: BatchId, arrived: Arrival, per_sample_ns: u64, by_reader: bool) -> u64 {
        // A `DataLoader` worker decodes what it read before it reads on.
        let is_serial = matches!(self.fetchers, Fetchers::Readers(_));
        let mut ready_ns = arrived.at_ns;
        for _ in 0..arrived.samples {
            let from_ns = if is_serial { ready_ns } else { arrived.at_ns };
            let to_ns = match &self.servers {
                Some(servers) if !by_reader => {
                    servers.lock().unwrap_or_else(PoisonError::into_inner).serve(from_ns, per_sample_ns)
                }
                _ => from_ns + per_sample_ns,
            };
            self.spend_decoding(batch, Span { from_ns, to_ns });
            ready_ns = ready_ns.max(to_ns);
        }
        ready_ns
    }

    /// Hands samples to the decoding threads: one after the other for a reader, side by side without readers.
    fn hand_over(&mut self, batch: BatchId, Arrival { samples, at_ns }: Arrival) {
        let task = Task { batch, samples, read_ns: at_ns };
        if matches!(self.fetchers, Fetchers::Readers(_)) {
            self.tasks.push_back(task);
            return;
        }
        if let Some(batch) = self.batch(batch) {
            // The read was counted as one thing to wait for, and becomes as many as it brought samples.
            batch.left += samples - 1;
        }
        self.tasks.extend((0..samples).map(|_| Task { samples: 1, ..task }));
    }

    /// Counts samples that were decoded one after the other.
    fn spend_decodings(&mut self, batch: BatchId, decoding: Span, samples: u32) {
        // The thread that decoded them says only when it was done with all.
        let each_ns = decoding.to_ns.saturating_sub(decoding.from_ns) / u64::from(samples.max(1));
        for number in 0..u64::from(samples) {
            let from_ns = decoding.from_ns + number * each_ns;
            self.spend_decoding(batch, Span { from_ns, to_ns: from_ns + each_ns });
        }
    }

    /// Lets the batches of an accelerator that were opened, from `first` on, take the samples that earlier reads
    /// left.
    pub(super) fn take_opened(&mut self, index: usize, first: u64) {
        match self.fetchers {
            Fetchers::Readers(_) => self.take_rests(),
            Fetchers::Shared(_) => {
                let opened = self.accelerators[index].opened;
                (first..opened).for_each(|number| self.take_rest(BatchId { index, number }));
            }
        }
    }

    /// Lets readers that have reached a batch take the samples that earlier reads left for it.
    pub(super) fn take_rests(&mut self) {
        while let Fetchers::Readers(readers) = &mut self.fetchers
            && let Some((batch, free_ns)) = readers.next_rest()
        {
            self.begin_batch(batch, free_ns);
        }
    }

    /// Takes the end of a read of a batch. After its last read, the next batch can take what it left.
    pub(super) fn read_ended(&mut self, id: BatchId, done_ns: u64) {
        let Some(batch) = self.batch(id) else { return };
        batch.reads_left -= 1;
        batch.bytes_ns = batch.bytes_ns.max(done_ns);
        if batch.reads_left == 0
            && batch.has_rest
            && matches!(self.fetchers, Fetchers::Shared(_))
            && let Some(after) = self.job.after(id.number)
        {
            self.take_rest(BatchId { number: after, ..id });
        }
    }

    /// Lets a batch take the samples that earlier reads left, once the bytes before it have arrived. Batches behind
    /// it that need no read of their own follow.
    fn take_rest(&mut self, BatchId { index, number }: BatchId) {
        let mut next = Some(number);
        // A read of many samples may fill several batches at once, each of which leaves its rest to the next.
        while let Some(number) = next {
            let id = BatchId { index, number };
            let Some(before_ns) = self.bytes_before_ns(id) else { return };
            self.begin_batch(id, before_ns);
            let batch = self.accelerators[index].batch_of(number);
            next = self.job.after(number).filter(|_| batch.is_some_and(|batch| batch.reads_left == 0));
        }
    }

    /// When the bytes before a batch had arrived. `None` if they have not, or if the batch has taken its rest
    /// already.
    fn bytes_before_ns(&self, BatchId { index, number }: BatchId) -> Option<u64> {
        let accelerator = &self.accelerators[index];
        accelerator.batch_of(number).filter(|batch| !batch.has_rest)?;
        // One that was taken had all of them.
        let before = self.job.before(number).and_then(|before| accelerator.batch_of(before));
        match before {
            Some(before) if before.reads_left > 0 || !before.has_rest => None,
            Some(before) => Some(before.bytes_ns),
            None => Some(0),
        }
    }

    fn begin_batch(&mut self, id: BatchId, from_ns: u64) {
        let samples = self.job.carried(self.members.number(id.index), id.number);
        let Some(batch) = self.batch(id) else { return };
        batch.has_rest = true;
        batch.bytes_ns = batch.bytes_ns.max(from_ns);
        let at_ns = batch.allowed_ns.max(from_ns);
        self.bring(id, Arrival { samples, at_ns });
    }
}
