//! Cells of a large run on several threads: nearly all its time is spent on histograms, cell by cell.

use std::num::NonZero;

// A small run, which is most of them, is summarised before its threads would have started.
/// Cells that are worth a thread.
const CELLS_PER_THREAD: usize = 64;

/// What `of` makes of each item, in their order.
pub(crate) fn in_parts<T: Sync, R: Send>(items: &[T], of: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let part = items.len().div_ceil(threads).max(CELLS_PER_THREAD);
    if items.len() <= part {
        return items.iter().map(of).collect();
    }
    let of = &of;
    std::thread::scope(|scope| {
        let parts: Vec<_> = items
            .chunks(part)
            .map(|part| scope.spawn(move || part.iter().map(of).collect::<Vec<R>>()))
            .collect();
        parts
            .into_iter()
            // A panic in a part is one of the whole: swallowed, a page would miss cells without a word.
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
