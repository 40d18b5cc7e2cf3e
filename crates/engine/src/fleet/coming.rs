//! What a batch gets: of its own reads, and of what reads before it have left.

use std::sync::PoisonError;

use super::task::Task;
use super::{Decoding, Fetchers, Fleet};

impl Fleet {
    /// Samples that are to be decoded elsewhere: [`Fleet::decoded_task`] says when that was.
    pub(crate) fn next_task(&mut self) -> Option<Task> {
        self.tasks.pop_front()
    }

    /// Takes samples that were decoded elsewhere by `decoded_ns`, well or not.
    pub(crate) fn decoded_task(&mut self, task: Task, decoded_ns: u64, is_well: bool) {
        let Task { index, batch, samples, read_ns } = task;
        self.spend_decodings(index, batch, (read_ns, decoded_ns), samples);
        if decoded_ns > self.close_ns {
            return;
        }
        if !is_well {
            self.accelerators[index].lose_sample();
            self.tally.decode_failures += u64::from(samples);
        }
        self.sample_ready(index, batch, decoded_ns);
    }

    /// A batch got `samples` at `at_ns`, which are decoded where the job says so.
    pub(super) fn bring(&mut self, index: usize, batch: u64, (samples, at_ns): (u32, u64)) {
        let ready_ns = match self.job.decoding {
            Decoding::Cost { per_sample_ns, by_reader } if samples > 0 => {
                self.decode(index, batch, (samples, at_ns), (per_sample_ns, by_reader))
            }
            Decoding::Elsewhere if samples > 0 => return self.hand_over(index, batch, (samples, at_ns)),
            Decoding::None | Decoding::Cost { .. } | Decoding::Elsewhere => at_ns,
        };
        self.sample_ready(index, batch, ready_ns);
    }

    /// When samples that were there at `read_ns` are decoded by a stated cost. A reader has one after the other decoded,
    /// by itself or by a server; what is shared goes to all servers at once.
    fn decode(
        &mut self,
        index: usize,
        batch: u64,
        (samples, read_ns): (u32, u64),
        (per_sample_ns, by_reader): (u64, bool),
    ) -> u64 {
        let is_serial = matches!(self.fetchers, Fetchers::Readers(_));
        let mut ready_ns = read_ns;
        for _ in 0..samples {
            let from_ns = if is_serial { ready_ns } else { read_ns };
            let decoded_ns = match &self.servers {
                Some(servers) if !by_reader => {
                    servers.lock().unwrap_or_else(PoisonError::into_inner).serve(from_ns, per_sample_ns)
                }
                _ => from_ns + per_sample_ns,
            };
            self.spend_decoding(index, batch, (from_ns, decoded_ns));
            ready_ns = ready_ns.max(decoded_ns);
        }
        ready_ns
    }

    /// Lets others decode samples: those of a reader one after the other, shared ones side by side.
    fn hand_over(&mut self, index: usize, batch: u64, (samples, read_ns): (u32, u64)) {
        let task = Task { index, batch, samples, read_ns };
        if matches!(self.fetchers, Fetchers::Readers(_)) {
            self.tasks.push_back(task);
            return;
        }
        if let Some(batch) = self.accelerators[index].batch(batch) {
            batch.left += samples - 1;
        }
        self.tasks.extend((0..samples).map(|_| Task { samples: 1, ..task }));
    }

    /// Samples that one after the other were decoded between two times.
    fn spend_decodings(&mut self, index: usize, batch: u64, (read_ns, end_ns): (u64, u64), samples: u32) {
        let each_ns = end_ns.saturating_sub(read_ns) / u64::from(samples.max(1));
        for number in 0..u64::from(samples) {
            let from_ns = read_ns + number * each_ns;
            self.spend_decoding(index, batch, (from_ns, from_ns + each_ns));
        }
    }

    /// Batches of an accelerator that were opened, from `first` on, take what they begin with.
    pub(super) fn take_opened(&mut self, index: usize, first: u64) {
        match self.fetchers {
            Fetchers::Readers(_) => self.take_rests(),
            Fetchers::Shared(_) => {
                (first..self.accelerators[index].opened).for_each(|batch| self.take_rest(index, batch));
            }
        }
    }

    /// Readers that have come to a batch take what it begins with.
    pub(super) fn take_rests(&mut self) {
        while let Fetchers::Readers(readers) = &mut self.fetchers
            && let Some((index, batch, free_ns)) = readers.next_rest()
        {
            self.begin_batch(index, batch, free_ns);
        }
    }

    /// A read of a batch ended. With its last one those behind it can take what it left.
    pub(super) fn read_ended(&mut self, index: usize, number: u64, done_ns: u64) {
        let Some(batch) = self.accelerators[index].batch(number) else { return };
        batch.reads_left -= 1;
        batch.bytes_ns = batch.bytes_ns.max(done_ns);
        if batch.reads_left == 0
            && batch.has_rest
            && matches!(self.fetchers, Fetchers::Shared(_))
            && let Some(after) = self.job.after(number)
        {
            self.take_rest(index, after);
        }
    }

    /// A batch takes what it begins with, once the bytes before it are there; and those behind it, as long as they need
    /// no more than that.
    fn take_rest(&mut self, index: usize, number: u64) {
        let mut next = Some(number);
        while let Some(number) = next {
            let Some(before_ns) = self.bytes_before_ns(index, number) else { return };
            self.begin_batch(index, number, before_ns);
            let batch = self.accelerators[index].batch_of(number);
            next = self.job.after(number).filter(|_| batch.is_some_and(|batch| batch.reads_left == 0));
        }
    }

    /// When the bytes before a batch were there that has not taken what it begins with; `None` where they are not.
    fn bytes_before_ns(&self, index: usize, number: u64) -> Option<u64> {
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

    fn begin_batch(&mut self, index: usize, number: u64, from_ns: u64) {
        let samples = self.job.carried(self.members.number(index), number);
        let Some(batch) = self.accelerators[index].batch(number) else { return };
        batch.has_rest = true;
        batch.bytes_ns = batch.bytes_ns.max(from_ns);
        let at_ns = batch.allowed_ns.max(from_ns);
        self.bring(index, number, (samples, at_ns));
    }
}
