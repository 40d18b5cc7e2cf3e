//! Functions of many places, on several threads.

use std::num::NonZero;
use std::ops::Range;

/// Parts that are worth a thread: at 40 ns for each of 65,536 places, ten milliseconds.
const PARTS_PER_THREAD: u64 = 4;

/// What `of` makes of each part of the places up to `len`, in their order: all are of `part` places but the last.
pub(crate) fn in_parts<R: Send>(len: u64, part: u64, of: impl Fn(Range<u64>) -> R + Sync) -> Vec<R> {
    let parts = len.div_ceil(part);
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let each = parts.div_ceil(threads).max(PARTS_PER_THREAD);
    let of = &of;
    let some = move |first: u64| {
        let numbers = first..(first + each).min(parts);
        numbers.map(|number| of(number * part..(number * part + part).min(len))).collect::<Vec<R>>()
    };
    if parts <= each {
        return some(0);
    }
    std::thread::scope(|scope| {
        let begun: Vec<_> =
            (0..parts).step_by(each as usize).map(|first| scope.spawn(move || some(first))).collect();
        begun
            .into_iter()
            // A panic in a part is one of the whole.
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_in_one_part_and_parts_are_in_order() {
        for len in [0, 1, 9, 10, 11, 99, 1_000] {
            let found: Vec<u64> =
                in_parts(len, 10, Iterator::collect::<Vec<u64>>).into_iter().flatten().collect();
            assert_eq!(found, (0..len).collect::<Vec<_>>());
        }
    }
}
