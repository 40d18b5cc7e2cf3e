//! One thread's queue over both storages.

use backend::{Clock, Completion, IoQueue, Op, QueueError, QueueReport, Request};

use crate::directory::Block;
use crate::filler::Filling;

/// How long a thread with reads on both storages waits for the cache alone. Completions of the slow storage are seen late by
/// at most this.
// A quarter of a millisecond: some reads of an NVMe drive, and little beside those of any network.
const NEAR_WAIT_NS: u64 = 250_000;

/// What is outstanding in a buffer.
#[derive(Debug, Clone, Copy)]
struct Flight {
    token: u32,
    block: Block,
    /// The slot that it is read from; absent where it comes from the slow storage.
    slot: Option<u32>,
    /// Whether the last operation of this buffer was served by the cache.
    was_cached: bool,
}

const NO_FLIGHT: Flight =
    Flight { token: 0, block: Block { object: 0, offset: 0 }, slot: None, was_cached: false };

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    hits: u64,
    hit_bytes: u64,
    misses: u64,
    /// Misses that were not cached, since too many waited to be.
    skipped: u64,
}

/// Reads from the cache what it has, and the rest from below.
pub(crate) struct TieredQueue {
    near: Box<dyn IoQueue>,
    slow: Box<dyn IoQueue>,
    clock: Clock,
    depth: u32,
    /// Taken, and not yet taken by the queue that they are for.
    to_near: Vec<Request>,
    to_slow: Vec<Request>,
    book: Book,
    io_words: &'static str,
}

/// What is known of the reads outstanding, and of those that have ended.
struct Book {
    filling: Filling,
    /// By number of the buffer.
    flights: Vec<Flight>,
    ended: Vec<Completion>,
    counts: Counts,
}

impl TieredQueue {
    /// A queue of `depth` over the two.
    pub(crate) fn new(
        (near, slow): (Box<dyn IoQueue>, Box<dyn IoQueue>),
        filling: Filling,
        (clock, depth): (&Clock, u32),
        io_words: &'static str,
    ) -> Self {
        let room = depth as usize;
        let book = Book {
            filling,
            flights: vec![NO_FLIGHT; room],
            ended: Vec::with_capacity(room),
            counts: Counts::default(),
        };
        Self {
            near,
            slow,
            clock: clock.clone(),
            depth,
            to_near: Vec::with_capacity(room),
            to_slow: Vec::with_capacity(room),
            book,
            io_words,
        }
    }

    /// Turns a request to the storage that has its block.
    fn route(&mut self, request: Request) {
        let Request { token, op, buf } = request;
        let index = buf.slot() as usize;
        if self.book.flights.len() <= index {
            self.book.flights.resize(index + 1, NO_FLIGHT);
        }
        // Only reads come here: the queue was opened for no other operation.
        let block = match op {
            Op::Read { object, offset, .. } => Block { object, offset },
            _ => Block { object: u32::MAX, offset: u64::MAX },
        };
        let slot = self.book.filling.hit(block);
        self.book.flights[index] = Flight { token, block, slot, was_cached: slot.is_some() };
        // Tokens are the caller's; the number of the buffer is one that finds the flight again.
        let token = buf.slot();
        match (slot, op) {
            (Some(slot), Op::Read { len, .. }) => {
                let offset = u64::from(slot) * u64::from(self.book.filling.slot_bytes());
                self.to_near.push(Request { token, op: Op::Read { object: 0, offset, len }, buf });
            }
            _ => self.to_slow.push(Request { token, op, buf }),
        }
    }

    fn hand_over(&mut self) -> Result<(), QueueError> {
        if !self.to_near.is_empty() {
            self.near.submit(&mut self.to_near, &mut self.book.ended)?;
        }
        if !self.to_slow.is_empty() {
            self.slow.submit(&mut self.to_slow, &mut self.book.ended)?;
        }
        Ok(())
    }
}

impl Book {
    /// Passes on what has ended, after what the cache is to know of it.
    fn settle(&mut self, done: &mut Vec<Completion>) {
        for mut completion in self.ended.drain(..) {
            let flight = self.flights[completion.buf.slot() as usize];
            match (flight.slot, completion.result) {
                (Some(slot), result) => {
                    self.filling.release(slot);
                    self.counts.hits += u64::from(result.is_ok());
                    self.counts.hit_bytes += result.unwrap_or(0);
                }
                (None, Ok(bytes)) => {
                    self.counts.misses += 1;
                    let read = completion.buf.as_slice().get(..bytes as usize);
                    let fits = read.filter(|read| read.len() <= self.filling.slot_bytes() as usize);
                    let is_taken = fits.is_some_and(|read| self.filling.offer(flight.block, read));
                    self.counts.skipped += u64::from(!is_taken);
                }
                (None, Err(_)) => {}
            }
            completion.token = flight.token;
            done.push(completion);
        }
    }
}

impl IoQueue for TieredQueue {
    fn submit(&mut self, requests: &mut Vec<Request>, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let room = self.depth.saturating_sub(self.in_flight()) as usize;
        for request in requests.drain(..room.min(requests.len())) {
            self.route(request);
        }
        // What has ended is passed on even where a queue broke: its buffers are the caller's.
        let handed = self.hand_over();
        self.book.settle(done);
        handed
    }

    fn wait(&mut self, min: usize, until_ns: u64, done: &mut Vec<Completion>) -> Result<(), QueueError> {
        let before = done.len();
        loop {
            let now_ns = self.clock.now_ns();
            self.hand_over()?;
            if self.near.in_flight() > 0 {
                // Both are looked at before either is waited for: a deep queue of hits would else keep misses from
                // being seen at all.
                self.near.wait(0, now_ns, &mut self.book.ended)?;
            }
            if self.slow.in_flight() > 0 {
                self.slow.wait(0, now_ns, &mut self.book.ended)?;
            }
            self.book.settle(done);
            let ended = done.len() - before;
            if ended >= min || now_ns >= until_ns {
                return Ok(());
            }
            match (self.near.in_flight(), self.slow.in_flight()) {
                // Nothing can end it but time.
                (0, 0) => return self.slow.wait(min, until_ns, &mut self.book.ended),
                (0, _) => self.slow.wait(min - ended, until_ns, &mut self.book.ended)?,
                (_, 0) => self.near.wait(min - ended, until_ns, &mut self.book.ended)?,
                (_, _) => {
                    let until_ns = until_ns.min(now_ns.saturating_add(NEAR_WAIT_NS));
                    self.near.wait(1, until_ns, &mut self.book.ended)?;
                }
            }
            self.book.settle(done);
        }
    }

    fn in_flight(&self) -> u32 {
        let waiting = (self.to_near.len() + self.to_slow.len()) as u32;
        self.near.in_flight() + self.slow.in_flight() + waiting
    }

    fn was_cached(&self, buffer: u32) -> bool {
        self.book.flights.get(buffer as usize).is_some_and(|flight| flight.was_cached)
    }

    fn report(&self) -> QueueReport {
        let (slow, near) = (self.slow.report(), self.near.report());
        // The far storage is the one under test: what it was granted is what the record says.
        let mut report = QueueReport { enters: slow.enters + near.enters, ..slow };
        report.granted.push(("tier_io", self.io_words.to_owned()));
        report.first_failure = report.first_failure.or(near.first_failure);
        let Counts { hits, hit_bytes, misses, skipped } = self.book.counts;
        let own = [("tier_hits", hits), ("tier_hit_bytes", hit_bytes), ("tier_misses", misses)];
        let own = own.into_iter().chain([("tier_skipped", skipped)]);
        let filled = self.book.filling.count_once().map(|filled| {
            [
                ("tier_fills", filled.fills),
                ("tier_fill_errors", filled.failed),
                ("tier_evictions", filled.evictions),
            ]
        });
        let counted = own.chain(filled.into_iter().flatten());
        report.counted.extend(counted.map(|(name, count)| (name.to_owned(), count)));
        report
    }

    fn close(self: Box<Self>, until_ns: u64, done: &mut Vec<Completion>) -> u32 {
        let Self { near, slow, to_near, to_slow, mut book, .. } = *self;
        let left = near.close(until_ns, &mut book.ended) + slow.close(until_ns, &mut book.ended);
        book.settle(done);
        // What neither queue has taken is abandoned too; it was counted as outstanding.
        left + (to_near.len() + to_slow.len()) as u32
    }
}
