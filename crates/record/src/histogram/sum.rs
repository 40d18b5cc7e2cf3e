//! Histograms added up without the memory of whole ranges.

use std::cell::RefCell;

use hdrhistogram::Histogram;

use super::{
    Bounds, HEADER_BYTES, HistogramError, HistogramText, decoded, for_counts, half_of, is_like,
    new_histogram, new_interval_histogram, value_of,
};

/// Histograms added up. It says what the histogram of all of them says, and holds only the counters from the first to the last
/// that counted anything.
// A whole histogram is 216 KiB, of which a repetition fills a few kilobytes; a report adds up tens of thousands.
#[derive(Debug, Clone)]
pub struct HistogramSum {
    bounds: Bounds,
    /// Counters for each doubling of the latency.
    half: u64,
    /// An empty histogram with these bounds.
    empty: fn() -> Histogram<u64>,
    /// Slot of the first counter that is held.
    first: usize,
    /// Neither the first nor the last of them is zero.
    counts: Vec<u64>,
    /// What they add up to.
    len: u64,
}

thread_local! {
    /// Room for the counters of one text, with their slots.
    static FOUND: RefCell<Vec<(usize, u64)>> = const { RefCell::new(Vec::new()) };
}

impl HistogramSum {
    /// Of histograms of repetitions: 3 significant digits, 1 ns to 60 s.
    pub fn of_repetitions() -> Self {
        Self::with(Bounds::OF_REPETITION, new_histogram)
    }

    /// Of histograms of seconds: 2 significant digits, 1 ns to 60 s.
    pub fn of_seconds() -> Self {
        Self::with(Bounds::OF_SECOND, new_interval_histogram)
    }

    fn with(bounds: Bounds, empty: fn() -> Histogram<u64>) -> Self {
        let half = half_of(bounds.digits as u8);
        Self { bounds, half, empty, first: 0, counts: Vec::new(), len: 0 }
    }

    /// Adds the histogram that a text holds. Takes bounded memory and time whatever the text.
    ///
    /// # Errors
    /// Where the text holds none, or one that counted latencies beyond the range; the sum is left as it was.
    pub fn add(&mut self, text: &HistogramText) -> Result<(), HistogramError> {
        FOUND.with_borrow_mut(|found| {
            // Gathered before anything is added: a text that breaks in its middle must leave the sum as it was.
            let counted = text.with_plain(|plain| self.counted_in(plain, found))?;
            self.add_counts(&found[..counted]);
            Ok(())
        })
    }

    /// Puts the slots of a plain encoding that were counted in to the front of `found`, from the lowest on, with their counts;
    /// returns how many they are.
    fn counted_in(&self, plain: &[u8], found: &mut Vec<(usize, u64)>) -> Result<usize, HistogramError> {
        if is_like(plain, self.bounds) {
            let counters = &plain[HEADER_BYTES..];
            found.resize(found.len().max(counters.len()), (0, 0));
            let mut counted = 0;
            for_counts(counters, self.slots(), |slot, count| {
                // A zero is written over by what comes next.
                found[counted] = (slot, count);
                counted += usize::from(count > 0);
            })?;
            return Ok(counted);
        }
        let Bounds { digits, low_ns, high_ns } = Bounds::stated(plain)?;
        let other = decoded(plain)?;
        if slot_of(other.max(), self.half) >= self.slots() {
            return Err(HistogramError::Bounds { digits, low_ns, high_ns });
        }
        found.clear();
        for step in other.iter_recorded() {
            let low_ns = other.lowest_equivalent(step.value_iterated_to());
            let (slot, count) = (slot_of(low_ns, self.half), step.count_at_value());
            match found.last_mut() {
                // Several counters of a finer histogram are one of this.
                Some((last, sum)) if *last == slot => *sum += count,
                _ => found.push((slot, count)),
            }
        }
        Ok(found.len())
    }

    /// Adds counts to slots, which rise.
    fn add_counts(&mut self, found: &[(usize, u64)]) {
        let (Some((low, _)), Some((high, _))) = (found.first(), found.last()) else { return };
        if self.counts.is_empty() {
            self.first = *low;
        }
        if *low < self.first {
            let missing = self.first - low;
            self.counts.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = *low;
        }
        let held = self.counts.len().max(high + 1 - self.first);
        self.counts.resize(held, 0);
        let (first, counts) = (self.first, &mut self.counts[..]);
        for (slot, count) in found {
            let held = &mut counts[slot - first];
            *held = held.saturating_add(*count);
        }
        self.len = found.iter().fold(self.len, |len, (_, count)| len.saturating_add(*count));
    }

    /// Latencies counted.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether none was counted.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Counters that were counted in, from the lowest on: the largest latency that each stands for, nanoseconds, and its count.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(index, count)| (self.highest_of(index), *count))
    }

    /// Smallest latency of the lowest counter that was counted in, nanoseconds; 0 where none was.
    pub fn min(&self) -> u64 {
        if self.is_empty() { 0 } else { value_of(self.first, self.half) }
    }

    /// Largest latency of the highest counter that was counted in, nanoseconds; 0 where none was.
    pub fn max(&self) -> u64 {
        self.counts.len().checked_sub(1).map_or(0, |last| self.highest_of(last))
    }

    /// Mean latency, nanoseconds, of which each counter stands for its middle; 0 where nothing was counted.
    pub fn mean(&self) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        let (mut mean, mut low_ns) = (0.0, value_of(self.first, self.half));
        for (index, count) in self.counts.iter().enumerate() {
            let end_ns = value_of(self.first + index + 1, self.half);
            let middle_ns = low_ns + (end_ns - low_ns) / 2;
            // What was not counted adds nothing, which is quicker than to ask.
            mean += middle_ns as f64 * *count as f64 / self.len as f64;
            low_ns = end_ns;
        }
        mean
    }

    /// The latency, nanoseconds, that a share `quantile` of those counted does not exceed, to the digits that are told
    /// apart; 0 where nothing was counted.
    pub fn value_at_quantile(&self, quantile: f64) -> u64 {
        self.values_at_quantiles([quantile]).next().unwrap_or(0)
    }

    /// The same of quantiles that rise, in one pass.
    pub fn values_at_quantiles<I: IntoIterator<Item = f64>>(
        &self,
        quantiles: I,
    ) -> impl Iterator<Item = u64> + use<'_, I> {
        let (mut next, mut seen) = (0, 0_u64);
        quantiles.into_iter().map(move |quantile| {
            let rank = ((quantile.clamp(0.0, 1.0) * self.len as f64).ceil() as u64).max(1);
            while seen < rank && next < self.counts.len() {
                seen = seen.saturating_add(self.counts[next]);
                next += 1;
            }
            match next.checked_sub(1) {
                None => 0,
                // As HdrHistogram has it: the lowest of all is a lower end, every other quantile an upper one.
                Some(index) if quantile <= 0.0 => value_of(self.first + index, self.half),
                Some(index) => self.highest_of(index),
            }
        })
    }

    /// The whole histogram.
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram = (self.empty)();
        for (value_ns, count) in self.recorded() {
            // A slot within the bounds is one of the histogram, so that nothing is refused here.
            let _ = histogram.record_n(value_ns, count);
        }
        histogram
    }

    /// Counters of a whole histogram with these bounds.
    fn slots(&self) -> usize {
        let half = self.half as usize;
        (slot_of(self.bounds.high_ns, self.half) / half + 1) * half
    }

    /// The largest latency that a held counter stands for.
    fn highest_of(&self, index: usize) -> u64 {
        value_of(self.first + index + 1, self.half) - 1
    }
}

/// The slot of a value of a histogram from 1 ns on: what [`value_of`] is of a slot, the other way round.
fn slot_of(value: u64, half: u64) -> usize {
    let run = (value / half).checked_ilog2().unwrap_or(0);
    let slot = if value < half { value } else { (value >> run) - half + (u64::from(run) + 1) * half };
    slot as usize
}
