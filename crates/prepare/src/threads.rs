//! Numbered work, shared out among threads.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Gives each number in turn to the thread that is free next, until one fails. Each thread calls what `worker` made for it.
///
/// # Errors
/// The first failure.
pub(crate) fn in_turn<E: Send, W: FnMut(u32) -> Result<(), E>>(
    threads: u32,
    numbers: Range<u32>,
    worker: impl Fn() -> W + Sync,
) -> Result<(), E> {
    // 64 bits: threads that find no number left count on past the last, which may be `u32::MAX`.
    let next = AtomicU64::new(numbers.start.into());
    let failed = AtomicBool::new(false);
    let failure = Mutex::new(None);
    let run = || {
        let mut work = worker();
        while !failed.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end.into() {
                break;
            }
            if let Err(error) = work(number as u32) {
                failed.store(true, Ordering::Relaxed);
                // The first failure is the cause; the others are threads that noticed.
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(run);
        }
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// What `of` makes of the numbers below `count`, a range of neighbours for each thread, in the order of the ranges.
///
/// # Errors
/// That of the first range that failed.
pub(crate) fn in_ranges<T: Send, E: Send>(
    threads: usize,
    count: usize,
    of: impl Fn(Range<usize>) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let (of, share) = (&of, count.div_ceil(threads.max(1)).max(1));
    thread::scope(|scope| {
        let ranges = (0..count).step_by(share).map(|start| start..count.min(start + share));
        let workers: Vec<_> = ranges.map(|range| scope.spawn(move || of(range))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
