//! Threads that decode samples for the workers of a repetition.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::fleet::Task;
use backend::Buf;
use decode::{DecodeError, Decoder, StandIn};
use plan::Work;
use rustix::time::{ClockId, clock_gettime};

/// What is to be decoded.
#[derive(Debug)]
pub(crate) enum Encoded {
    /// A sample that was read, in the buffer that it was read into.
    Read(Whole),
    /// Samples that arrived with one read, of a group of accelerators.
    Streamed {
        /// Which.
        task: Task,
        /// Number of the group.
        group: usize,
    },
}

/// A sample in the buffer of a worker.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) buf: Buf,
    pub(crate) bytes: usize,
    pub(crate) ticket: u64,
    /// When it was read.
    pub(crate) read_ns: u64,
    /// The worker whose buffer it is.
    pub(crate) thread: u32,
}

/// The decoders of a repetition and what waits for them.
pub(crate) struct Decoders {
    work: Work,
    stand_in: Option<StandIn>,
    /// Threads to be started.
    pub(crate) threads: u32,
    queue: Mutex<Queue>,
    bell: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Encoded>,
    is_closed: bool,
    /// Processor time of threads that have ended.
    cpu_ns: u64,
    first_failure: Option<DecodeError>,
}

/// What decoders leave behind.
pub(crate) struct DecodersEnd {
    pub(crate) cpu_ns: u64,
    /// The first failure in words.
    pub(crate) first_failure: Option<String>,
    /// What was decoded, in words.
    pub(crate) input: &'static str,
}

impl Decoders {
    /// `threads` that do `work` on samples of up to `depth` buffers; on a stand-in where there is one.
    pub(crate) fn new(work: Work, stand_in: Option<StandIn>, threads: u32, depth: u32) -> Self {
        let waiting = VecDeque::with_capacity(depth as usize);
        let queue = Mutex::new(Queue { waiting, ..Queue::default() });
        Self { work, stand_in, threads: threads.max(1), queue, bell: Condvar::new() }
    }

    /// Hands a sample over.
    pub(crate) fn push(&self, encoded: Encoded) {
        let mut queue = self.queue();
        // After the end nobody decodes; the buffer in the sample is dropped with it.
        if !queue.is_closed {
            queue.waiting.push_back(encoded);
            self.bell.notify_one();
        }
    }

    /// One thread: decodes samples until the decoders close, and hands each to `take` with whether it was decoded
    /// well.
    pub(crate) fn run(&self, take: impl Fn(Encoded, bool)) {
        let mut decoder = Decoder::new(self.work, self.stand_in.as_ref());
        while let Some(encoded) = self.pop() {
            if let Work::Processor { per_sample_ns } = self.work {
                burn(encoded.samples().saturating_mul(per_sample_ns));
            }
            let decoded = match &encoded {
                // A sample larger than its buffer is read through it piece by piece: what is decoded then is a stand-in.
                Encoded::Read(read) => {
                    decoder.decode(read.buf.as_slice().get(..read.bytes).unwrap_or_default()).map(drop)
                }
                // Each is the stand-in.
                Encoded::Streamed { task, .. } => {
                    (0..task.samples).try_for_each(|_| decoder.decode(&[]).map(drop))
                }
            };
            let is_ok = decoded.is_ok();
            if let Err(error) = decoded {
                // One in words is enough to mend a scenario; all are counted where the sample is taken.
                self.queue().first_failure.get_or_insert(error);
            }
            take(encoded, is_ok);
        }
        // Once, at its end: this clock is a system call, unlike the one that stamps.
        self.queue().cpu_ns += thread_cpu_ns();
    }

    /// Ends the threads after the sample that each is decoding. Waiting samples are dropped.
    pub(crate) fn close(&self) {
        let mut queue = self.queue();
        queue.is_closed = true;
        queue.waiting.clear();
        self.bell.notify_all();
    }

    /// What is left once all threads have ended.
    pub(crate) fn into_end(self) -> DecodersEnd {
        let queue = self.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        let input = match (self.work, &self.stand_in) {
            (Work::Processor { .. }, _) => "processor time in place of a decoder",
            (_, Some(_)) => "a stand-in of the sample's size",
            (_, None) => "the bytes that were read",
        };
        let first_failure = queue.first_failure.map(|error| error.to_string());
        DecodersEnd { cpu_ns: queue.cpu_ns, first_failure, input }
    }

    fn pop(&self) -> Option<Encoded> {
        let mut queue = self.queue();
        loop {
            if queue.is_closed {
                return None;
            }
            if let Some(encoded) = queue.waiting.pop_front() {
                return Some(encoded);
            }
            queue = self.bell.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes the decoders when the scope of their threads is left, also by a panic. The scope would wait for ever.
pub(crate) struct Closing<'a>(pub(crate) Option<&'a Decoders>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        if let Some(decoders) = self.0 {
            decoders.close();
        }
    }
}

impl Encoded {
    fn samples(&self) -> u64 {
        match self {
            Self::Read(_) => 1,
            Self::Streamed { task, .. } => u64::from(task.samples),
        }
    }
}

/// Takes so much processor time, however long others keep the processor meanwhile.
fn burn(cpu_ns: u64) {
    let until_ns = thread_cpu_ns().saturating_add(cpu_ns);
    let mut value = cpu_ns;
    while thread_cpu_ns() < until_ns {
        // Some microseconds of arithmetic, since to ask for the time is a system call. Not a hint to spin: that leaves the core
        // to its sibling, which a decoder does not.
        for _ in 0..2_000 {
            value = black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
