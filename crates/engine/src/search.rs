//! Where in a row of cells the last one stands that still meets a threshold, in as few repetitions as it takes.

use std::collections::BTreeMap;

/// Share of the threshold above which a storage shows no limit yet: the next guess then doubles.
// A job that is fed loses a little at its first batch and to the client; a utilization above this says nothing of how
// much more there would be.
const UNLIMITED_SHARE: f64 = 0.98;

/// How the figure of a cell moves along a row that grows harder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harder {
    /// Larger values are harder: accelerators.
    Rising,
    /// Smaller values are harder: readers, queue depth, prefetch.
    Falling,
}

/// A search along a row of values, from the easiest to the hardest. What holds for one value holds for all before it.
///
/// After a value, the first guess is where the edge would be if the storage gave the same rate to all: the
/// utilization tells by which factor the value is off. Guesses stay in the gap between values known to meet and known
/// to miss. A value may be observed again, with more repetitions; the last observation counts.
#[derive(Debug)]
pub struct Search {
    values: Vec<u32>,
    harder: Harder,
    /// Whether each value that was observed met the threshold, by its index.
    seen: BTreeMap<usize, bool>,
    guess: Option<usize>,
    /// Whether the last guess was only the neighbour of a known value.
    stepped: bool,
}

impl Search {
    /// A search along `values`, from the easiest to the hardest, that begins at `first`.
    pub fn new(values: Vec<u32>, harder: Harder, first: usize) -> Self {
        let guess = (!values.is_empty()).then(|| first.min(values.len() - 1));
        Self { values, harder, seen: BTreeMap::new(), guess, stepped: false }
    }

    /// The next value to try, by its index; `None` once the edge is found.
    pub fn next(&self) -> Option<usize> {
        let (from, to) = self.gap();
        let guess = self.guess?;
        (from < to).then(|| guess.clamp(from, to - 1))
    }

    /// The utilization at an index, 0 to 1; a cell that failed misses.
    pub fn observe(&mut self, index: usize, au: Option<f64>, threshold: f64) {
        let au = au.unwrap_or(0.0);
        self.seen.insert(index, au >= threshold);
        let value = f64::from(self.values[index]);
        // At most twenty times fewer in one step: a trial in which nearly everything failed is no measure of the
        // rate.
        let factor = if au >= UNLIMITED_SHARE { 2.0 } else { (au / threshold).max(0.05) };
        let wanted = match self.harder {
            Harder::Rising => value * factor,
            Harder::Falling => value / factor,
        };
        let is_easier = |value: &u32| match self.harder {
            Harder::Rising => f64::from(*value) <= wanted,
            Harder::Falling => f64::from(*value) >= wanted,
        };
        let (from, to) = self.gap();
        let by_rate = self.values.iter().take_while(|value| is_easier(value)).count().saturating_sub(1);
        // A rate that points at what is known says that the edge is near: the next value beside it, once; a second time
        // in a row the gap is halved.
        let is_new = (from..to).contains(&by_rate);
        let beside = if by_rate < from { from } else { to.saturating_sub(1) };
        let halves = !is_new && self.stepped;
        self.stepped = !is_new && !halves;
        let next = if is_new { by_rate } else { beside };
        self.guess = Some(if halves { from + to.saturating_sub(from) / 2 } else { next });
    }

    /// The last that met the threshold, and the first that missed it. What was met behind a miss was luck.
    pub fn edge(&self) -> (Option<usize>, Option<usize>) {
        // The first miss, although something behind it was met: a claim must hold for all easier values.
        let misses = self.seen.iter().find(|(_, met)| !**met).map(|(index, _)| *index);
        let meets = self.seen.range(..misses.unwrap_or(usize::MAX)).next_back().map(|(index, _)| *index);
        (meets, misses)
    }

    /// Indices between the two of which nothing is known.
    fn gap(&self) -> (usize, usize) {
        let (meets, misses) = self.edge();
        (meets.map_or(0, |index| index + 1), misses.unwrap_or(self.values.len()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Tries of a search over a storage that feeds `fed` accelerators at full use.
    fn tries(most: u32, first: usize, fed: f64, threshold: f64) -> (Vec<u32>, Search) {
        let values: Vec<u32> = (1..=most).collect();
        let mut search = Search::new(values.clone(), Harder::Rising, first);
        let mut tried = Vec::new();
        while let Some(index) = search.next() {
            tried.push(values[index]);
            search.observe(index, Some((fed / f64::from(values[index])).min(1.0)), threshold);
        }
        (tried, search)
    }

    #[test]
    fn a_rate_that_all_share_is_found_from_one_miss() {
        let (tried, search) = tries(128, 31, 20.0, 0.9);
        // 20 / 0.9 = 22.2 accelerators at 90 %.
        assert_eq!(tried, [32, 22, 23]);
        assert_eq!(search.edge(), (Some(21), Some(22)));
    }

    #[test]
    fn a_storage_without_a_limit_is_doubled_to_the_end_of_the_row() {
        let (tried, search) = tries(128, 7, 1e9, 0.9);
        assert_eq!(tried, [8, 16, 32, 64, 128]);
        assert_eq!(search.edge(), (Some(127), None));
    }

    #[test]
    fn a_storage_that_feeds_none_says_so() {
        let (tried, search) = tries(128, 7, 0.5, 0.9);
        assert_eq!((tried.last(), search.edge()), (Some(&1), (None, Some(0))));
    }

    #[test]
    fn the_fewest_readers_are_found_from_the_most() {
        let values: Vec<u32> = (1..=32).rev().collect();
        let mut search = Search::new(values.clone(), Harder::Falling, 0);
        let mut tried = Vec::new();
        while let Some(index) = search.next() {
            tried.push(values[index]);
            search.observe(index, Some((f64::from(values[index]) / 8.0).min(1.0)), 0.9);
        }
        // 8 readers keep up; 7 reach 87.5 %.
        let (meets, misses) = search.edge();
        assert_eq!((values[meets.unwrap()], values[misses.unwrap()]), (8, 7));
        assert!(tried.len() <= 6, "{tried:?}");
    }

    #[test]
    fn a_value_that_misses_when_it_is_measured_again_moves_the_edge() {
        let mut search = Search::new((1..=16).collect(), Harder::Rising, 7);
        for (index, au) in [(7, 0.8), (3, 0.95), (5, 0.91), (6, 0.89)] {
            search.observe(index, Some(au), 0.9);
        }
        assert_eq!((search.edge(), search.next()), ((Some(5), Some(6)), None));
        search.observe(5, Some(0.88), 0.9);
        assert_eq!((search.edge(), search.next()), ((Some(3), Some(5)), Some(4)));
        search.observe(4, Some(0.92), 0.9);
        assert_eq!((search.edge(), search.next()), ((Some(4), Some(5)), None));
    }

    #[test]
    fn a_cell_that_failed_misses() {
        let mut search = Search::new(vec![1, 2, 3], Harder::Rising, 1);
        search.observe(1, None, 0.9);
        assert_eq!(search.edge(), (None, Some(1)));
        assert_eq!(search.next(), Some(0));
    }

    proptest! {
        #[test]
        fn any_edge_is_found_and_nothing_is_tried_twice(
            most in 1_u32..200, first in 0_usize..200, fed in 0.1_f64..300.0, threshold in 0.5_f64..1.0,
        ) {
            let (mut tried, search) = tries(most, first, fed, threshold);
            let count = tried.len();
            tried.sort_unstable();
            tried.dedup();
            prop_assert_eq!(tried.len(), count);
            let meets = (1..=most).filter(|n| (fed / f64::from(*n)).min(1.0) >= threshold).count();
            prop_assert_eq!(search.edge().0, meets.checked_sub(1));
            prop_assert!(search.edge().1.is_none_or(|misses| misses == meets));
            prop_assert!(count <= 12, "{} tries of {}", count, most);
        }
    }
}
