//! How well a loader uses its accelerators, from what closed loops say of its storage.
//!
//! A model of means (F12, F23, F25): all accelerators do the same at the same time, and those that read share what the
//! storage gives at as many reads outstanding. So both limits are in it. Where latency binds, twice the readers read
//! twice as much (Little's law); where the rate does, each reader that is active has the more of it the fewer they are.
//! Ends of whole reads fall together in a model of means: it is exact where latency binds, and for large batches where
//! the rate does.

use crate::formula;

/// Steps of an epoch that are played one by one; of more, the rest goes on as these did at last.
// A job settles into a steady turn within a few times its readers and batches ahead. Playing a million
// steps of an epoch one by one would cost seconds for each cell of a report.
const STEPS_PLAYED_MAX: u64 = 1_024;

/// Part of a batch below which nothing is left of it.
// Parts of a batch are added up as binary fractions, so that a batch which is whole in arithmetic may lack
// the last bits. Without the tolerance such a lane reads on for a step of no length, for ever.
const NOTHING: f64 = 1e-9;

/// Halvings until a number of reads is found: a double has no more places.
const HALVINGS: u32 = 60;

/// What is known of how much a storage delivers with so many reads outstanding.
///
/// Between what was measured it lies within bounds: more reads outstanding never deliver less, and the more there are, the
/// less one more of them brings. That holds of every closed network whose servers do not slow down under load (asymptotic
/// bounds: Denning and Buzen, *The Operational Analysis of Queueing Network Models*, 1978).
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Reads outstanding, ascending, and samples per second; the first is nothing from nothing.
    points: Vec<(f64, f64)>,
}

/// One side of what is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The least that the storage may deliver.
    Least,
    /// The most.
    Most,
}

impl Curve {
    /// The curve through closed loops at so many reads outstanding and their samples per second, in any order. `None`
    /// without any, and where one of them is not above zero.
    pub fn new(measured: impl IntoIterator<Item = (u32, f64)>) -> Option<Self> {
        let mut points: Vec<(f64, f64)> =
            measured.into_iter().map(|(depth, per_s)| (f64::from(depth), per_s)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by_key(|point| point.0);
        // A cell that failed has a rate of zero. A curve through it would foretell a collapse that nobody
        // saw.
        let is_rate = |point: &(f64, f64)| point.0 > 0.0 && point.1 > 0.0 && point.1.is_finite();
        if points.is_empty() || !points.iter().all(is_rate) {
            return None;
        }
        // The origin is a measured point in all but name: with no read outstanding nothing comes. It lets
        // one line serve depths below the shallowest that was measured.
        points.insert(0, (0.0, 0.0));
        Some(Self { points })
    }

    /// Samples per second with `reads` outstanding, the least or the most that they may be.
    pub fn samples_per_s(&self, reads: f64, side: Side) -> f64 {
        if reads < 1.0 {
            // Now one, now none.
            return reads * self.samples_per_s(1.0, side);
        }
        let above = self.points.partition_point(|point| point.0 < reads);
        let line = |from: Option<&(f64, f64)>, to: Option<&(f64, f64)>| {
            let ((x0, y0), (x1, y1)) = (*from?, *to?);
            Some(y0 + (y1 - y0) * (reads - x0) / (x1 - x0))
        };
        let at = |index: usize| self.points.get(index);
        let before = above.checked_sub(1);
        let (Some(below), Some(next)) = (before.and_then(at), at(above)) else {
            // Beyond all that was measured.
            let last = self.points[self.points.len() - 1];
            let went_on = line(self.points.iter().rev().nth(1), self.points.last());
            return match side {
                // Deeper queues never deliver less (the model's premise), and what one more read brings
                // never grows again: the last slope is the most that the curve can go on with.
                Side::Most => went_on.unwrap_or(last.1).max(last.1),
                Side::Least => last.1,
            };
        };
        if side == Side::Least || next.0 <= reads {
            return line(Some(below), Some(next)).unwrap_or(0.0);
        }
        let least = line(Some(below), Some(next)).unwrap_or(0.0);
        // A concave curve lies below the extension of each neighbouring segment, and above its own chord.
        // Both neighbours are asked, and the lower of them counts.
        let from_left = before.and_then(|before| line(at(before.checked_sub(1)?), Some(below)));
        let from_right = line(Some(next), at(above + 1));
        let most = [from_left, from_right].into_iter().flatten().fold(next.1.max(below.1), f64::min);
        // Measured points are noisy and need not be concave. Where they are not, the bounds would cross,
        // and an interval whose ends are swapped would be printed.
        most.max(least)
    }
}

/// Who fetches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetchers {
    /// So many readers of each accelerator, each one read after the other of one batch.
    Readers(u32),
    /// The reads of all batches share so many places, the most urgent batch first.
    Shared(u32),
}

/// A job's loader.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Loader {
    /// Accelerators.
    pub accelerators: u32,
    /// Samples of a batch.
    pub batch: u32,
    /// Seconds in which an accelerator computes on a batch.
    pub compute_s: f64,
    /// Who fetches.
    pub fetchers: Fetchers,
    /// Batches of each accelerator that are fetched or ready while it computes; 0: one, once it waits.
    pub prefetch: u32,
    /// Seconds in which one sample is decoded.
    pub decode_s: f64,
    /// Threads that decode; `None` where each reader decodes what it has read, before it reads on.
    pub decode_threads: Option<u32>,
    /// Seconds in which the readers of an epoch start.
    pub startup_s: f64,
}

impl Loader {
    /// Reads outstanding at most, whatever the readers: no more are at work than there are batches to fetch.
    pub fn reach(&self) -> u32 {
        // With nothing fetched ahead there is still the one batch that an accelerator waits for.
        let ahead = self.prefetch.max(1);
        match self.fetchers {
            Fetchers::Readers(readers) => self.accelerators.saturating_mul(readers.min(ahead)),
            Fetchers::Shared(depth) => {
                depth.min(self.accelerators.saturating_mul(self.batch).saturating_mul(ahead))
            }
        }
    }

    /// Seconds of an epoch of so many steps, from the start of its readers to the end of its last step.
    pub fn epoch_s(&self, storage: &Curve, side: Side, steps: u64) -> f64 {
        if steps == 0 {
            return 0.0;
        }
        let played = |steps: u64| match self.fetchers {
            _ if self.prefetch == 0 => steps as f64 * self.turn_s(storage, side),
            Fetchers::Readers(readers) => self.play(&self.lane_per_s(storage, side, readers), readers, steps),
            Fetchers::Shared(_) => self.shared_s(storage, side, steps),
        };
        // The first fill is part of what was played, so that it is counted once however long the epoch is.
        if steps <= STEPS_PLAYED_MAX {
            return self.startup_s + played(steps);
        }
        self.startup_s
            + played(STEPS_PLAYED_MAX)
            + (steps - STEPS_PLAYED_MAX) as f64 * self.step_s(storage, side)
    }

    /// Seconds from step to step in the long run.
    pub fn step_s(&self, storage: &Curve, side: Side) -> f64 {
        let of = |steps: u64| self.epoch_s(storage, side, steps);
        // A difference of two spans drops the start, which both have. The second half alone is taken
        // because accelerators that fetch in turn need a while to find their rhythm.
        (of(STEPS_PLAYED_MAX) - of(STEPS_PLAYED_MAX / 2)) / (STEPS_PLAYED_MAX / 2) as f64
    }

    /// Samples per second of one reader where 1, 2, … of each accelerator are at work.
    fn lane_per_s(&self, storage: &Curve, side: Side, readers: u32) -> Vec<f64> {
        let most = readers.min(self.prefetch).min(STEPS_PLAYED_MAX as u32);
        let of = |active: u32| {
            let all = f64::from(self.accelerators) * f64::from(active);
            self.by_readers_per_s(storage, side, (all, self.decode_s)) / all
        };
        (1..=most).map(of).collect()
    }

    /// Samples per second of readers, `all` of them, that do something else for `beside_s` after each sample.
    ///
    /// Some read while the others do not: *d* reads are outstanding, and *X(d) Z* readers are beside them for *Z* seconds
    /// each (Little's law), so that *d + X(d) Z = K*.
    fn by_readers_per_s(&self, storage: &Curve, side: Side, (all, beside_s): (f64, f64)) -> f64 {
        let (mut low, mut high) = (0.0, all);
        // Bisection and not Newton's method: the curve has kinks where it was measured, and at a kink a
        // slope leads astray.
        for _ in 0..HALVINGS {
            let reads = f64::midpoint(low, high);
            if reads + storage.samples_per_s(reads, side) * beside_s > all {
                high = reads;
            } else {
                low = reads;
            }
        }
        formula::pipeline_per_s(&[storage.samples_per_s(high, side), self.decoded_per_s()])
    }

    /// Samples per second that threads of their own decode; no limit where there are none.
    fn decoded_per_s(&self) -> f64 {
        self.decode_threads.map_or(f64::INFINITY, |threads| f64::from(threads) / self.decode_s)
    }

    /// Seconds of so many steps of one accelerator, whose `readers` each make so many samples per second where 1, 2, … of
    /// them are at work. Batch *b* is that of reader *b* mod `readers`.
    fn play(&self, lane_per_s: &[f64], readers: u32, steps: u64) -> f64 {
        let batches = 0..steps.min(u64::from(readers));
        let mut lanes: Vec<Lane> = batches.map(|batch| Lane { batch, left: 1.0 }).collect();
        let ahead = u64::from(self.prefetch);
        let (mut now_s, mut taken, mut computes_until_s) = (0.0, 0, None::<f64>);
        let mut opened = ahead.min(steps);
        loop {
            if computes_until_s.is_none() && lanes.iter().all(|lane| lane.batch != taken) {
                // The batch leaves the loader as its step begins, as PyTorch's loader hands it over, and
                // its place is free for the next one from then on.
                taken += 1;
                computes_until_s = Some(now_s + self.compute_s);
                opened = opened.max((taken + ahead).min(steps));
            }
            let active = lanes.iter().filter(|lane| lane.batch < opened).count();
            let batch_per_s = active.checked_sub(1).and_then(|index| lane_per_s.get(index));
            let batch_per_s = batch_per_s.map_or(0.0, |per_s| per_s / f64::from(self.batch));
            let least = lanes.iter().filter(|lane| lane.batch < opened).map(|lane| lane.left);
            let read_s = least.reduce(f64::min).map_or(f64::INFINITY, |left| left / batch_per_s);
            let computed_s = computes_until_s.map_or(f64::INFINITY, |until_s| until_s - now_s);
            let passed_s = read_s.min(computed_s);
            // A curve that gives nothing never ends a read. Infinity says so, and is shown as no figure.
            if !passed_s.is_finite() {
                return f64::INFINITY;
            }
            now_s += passed_s;
            for lane in lanes.iter_mut().filter(|lane| lane.batch < opened) {
                lane.read(passed_s * batch_per_s, readers);
            }
            if computed_s <= passed_s {
                computes_until_s = None;
                if taken == steps {
                    return now_s;
                }
            }
        }
    }

    /// Seconds of a step whose batch is fetched once it is waited for.
    ///
    /// The most that it takes is where all accelerators wait at the same time; the least, where some always compute while
    /// others wait.
    fn turn_s(&self, storage: &Curve, side: Side) -> f64 {
        let samples = f64::from(self.accelerators) * f64::from(self.batch);
        match (self.fetchers, side) {
            (Fetchers::Readers(_), Side::Least) => {
                let all = (f64::from(self.accelerators), self.decode_s);
                samples / self.by_readers_per_s(storage, side, all) + self.compute_s
            }
            (Fetchers::Readers(_), Side::Most) => {
                let beside_s = self.decode_s + self.compute_s / f64::from(self.batch);
                samples / self.by_readers_per_s(storage, side, (f64::from(self.accelerators), beside_s))
            }
            (Fetchers::Shared(_), Side::Least) => {
                self.shared_batch_s(storage, side) + self.last_s(storage, side) + self.compute_s
            }
            (Fetchers::Shared(_), Side::Most) => {
                let alone = Self { accelerators: 1, ..*self };
                let alone_s =
                    alone.shared_batch_s(storage, side) + alone.last_s(storage, side) + self.compute_s;
                alone_s.max(self.shared_batch_s(storage, side))
            }
        }
    }

    /// Seconds of so many steps where all reads share their places: each batch of all accelerators is read before the
    /// next.
    fn shared_s(&self, storage: &Curve, side: Side, steps: u64) -> f64 {
        formula::job_s(steps, self.shared_batch_s(storage, side), self.compute_s) + self.last_s(storage, side)
    }

    /// Seconds that the last sample takes beyond the common pace: at least its decoding, where reading sets the pace.
    fn last_s(&self, storage: &Curve, side: Side) -> f64 {
        let read_per_s = storage.samples_per_s(f64::from(self.reach()), side);
        match side {
            Side::Least => self.decode_s + self.read_s(storage, side),
            Side::Most if read_per_s <= self.decoded_per_s() => self.decode_s,
            Side::Most => 0.0,
        }
    }

    /// Seconds in which a batch of all accelerators is read through all places. The most that it takes is one read longer,
    /// where no further batch fills the places of those that have ended.
    fn shared_batch_s(&self, storage: &Curve, side: Side) -> f64 {
        let reads = f64::from(self.reach());
        let samples = f64::from(self.accelerators) * f64::from(self.batch);
        let read_per_s = storage.samples_per_s(reads, side);
        let drains = samples * (f64::from(self.prefetch) - 1.0) < reads && side == Side::Least;
        let drain_s = if drains { self.read_s(storage, side) } else { 0.0 };
        samples / formula::pipeline_per_s(&[read_per_s, self.decoded_per_s()]) + drain_s
    }

    /// Seconds of one read among as many as there may be (Little's law).
    fn read_s(&self, storage: &Curve, side: Side) -> f64 {
        let reads = f64::from(self.reach());
        reads / storage.samples_per_s(reads, side)
    }
}

/// A reader: the batch that it fetches or fetches next, and how much of it is left.
struct Lane {
    batch: u64,
    left: f64,
}

impl Lane {
    /// Reads this part of a batch.
    fn read(&mut self, part: f64, readers: u32) {
        self.left -= part;
        if self.left <= NOTHING {
            (self.batch, self.left) = (self.batch + u64::from(readers), 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One accelerator, batches of ten, steps of a second.
    const PLAIN: Loader = Loader {
        accelerators: 1,
        batch: 10,
        compute_s: 1.0,
        fetchers: Fetchers::Readers(1),
        prefetch: 1,
        decode_s: 0.0,
        decode_threads: None,
        startup_s: 0.0,
    };

    fn curve(measured: &[(u32, f64)]) -> Curve {
        Curve::new(measured.iter().copied()).unwrap()
    }

    #[track_caller]
    fn assert_close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6 * expected.max(1.0), "{value} is not {expected}");
    }

    #[test]
    fn a_curve_lies_within_what_neighbours_allow() {
        let of = |measured: &[(u32, f64)], reads: f64| {
            [Side::Least, Side::Most].map(|side| curve(measured).samples_per_s(reads, side).round() as u64)
        };
        // One point: any share of it below, and anything up to the line above.
        assert_eq!(of(&[(8, 800.0)], 4.0), [400, 800]);
        assert_eq!(of(&[(8, 800.0)], 8.0), [800, 800]);
        assert_eq!(of(&[(8, 800.0)], 16.0), [800, 1_600]);
        // Four times as much in flight moves four times as much: latency binds, and all below is known.
        assert_eq!(of(&[(8, 800.0), (32, 3_200.0)], 4.0), [400, 400]);
        // It moves no more: the rate binds at 8, and perhaps below.
        assert_eq!(of(&[(8, 800.0), (32, 800.0)], 4.0), [400, 800]);
        // Between two, at most as steep as before and as after.
        assert_eq!(of(&[(2, 200.0), (10, 600.0), (40, 600.0)], 4.0), [300, 400]);
        assert_eq!(of(&[(2, 200.0), (10, 600.0), (40, 600.0)], 0.0), [0, 0]);
        assert_eq!(Curve::new([]), None);
        assert_eq!(Curve::new([(8, 0.0)]), None);
    }

    /// Step by step, with each reader's time for a batch known: a reader begins its next batch once that may be fetched.
    fn counted_s(steps: usize, readers: usize, ahead: usize, lane_s: f64) -> f64 {
        let (mut ends_s, mut starts_s, mut read_s) = (0.0_f64, Vec::new(), Vec::<f64>::new());
        for step in 0..steps {
            let opened_s = step.checked_sub(ahead).map_or(0.0, |before: usize| starts_s[before]);
            let free_s = step.checked_sub(readers).map_or(0.0, |before| read_s[before]);
            read_s.push(f64::max(opened_s, free_s) + lane_s);
            starts_s.push(ends_s.max(read_s[step]));
            ends_s = starts_s[step] + 1.0;
        }
        ends_s
    }

    #[test]
    fn where_latency_binds_a_job_is_what_a_count_step_by_step_gives() {
        for (readers, prefetch) in [(1, 1), (1, 3), (2, 2), (3, 7), (4, 2), (8, 4), (8, 16)] {
            for lane_s in [0.3, 1.0, 3.0, 3.5, 9.0] {
                let loader = Loader { fetchers: Fetchers::Readers(readers), prefetch, ..PLAIN };
                // As many reads at a time as are asked for, each of which is a tenth of a batch.
                let storage = curve(&[(1, 10.0 / lane_s), (100, 1_000.0 / lane_s)]);
                let counted_s = counted_s(53, readers as usize, prefetch as usize, lane_s);
                assert_close(loader.epoch_s(&storage, Side::Least, 53), counted_s);
                assert_close(loader.epoch_s(&storage, Side::Most, 53), counted_s);
            }
        }
    }

    #[test]
    fn where_the_rate_binds_readers_that_are_active_share_it() {
        // Half of what is needed from any number of readers.
        let storage = curve(&[(1, 5.0), (100, 5.0)]);
        for (readers, prefetch) in [(1, 1), (4, 1), (4, 2), (4, 4), (4, 8), (16, 3)] {
            let loader = Loader { fetchers: Fetchers::Readers(readers), prefetch, ..PLAIN };
            assert!((loader.step_s(&storage, Side::Least) - 2.0).abs() < 0.01);
            let epoch_s = loader.epoch_s(&storage, Side::Most, 100);
            assert!(
                (201.0..=200.0 + f64::from(readers)).contains(&epoch_s),
                "{readers} {prefetch}: {epoch_s}"
            );
        }
        // Twice of it: the first fill is of all that are at work.
        let loader = Loader { fetchers: Fetchers::Readers(4), prefetch: 2, ..PLAIN };
        assert_close(loader.epoch_s(&curve(&[(1, 20.0), (2, 20.0)]), Side::Least, 10), 1.0 + 10.0);
        assert_eq!((loader.reach(), Loader { prefetch: 9, ..loader }.reach()), (2, 4));
    }

    #[test]
    fn readers_that_decode_read_the_less() {
        // 0.1 s to read a sample, and 0.3 s to decode it.
        let loader = Loader { fetchers: Fetchers::Readers(2), prefetch: 2, decode_s: 0.3, ..PLAIN };
        let storage = curve(&[(1, 10.0), (2, 20.0)]);
        assert_close(loader.step_s(&storage, Side::Least), 2.0);
        assert_close(loader.step_s(&storage, Side::Most), 2.0);
        // One thread for both: 0.3 s a sample.
        let threads = Loader { decode_threads: Some(1), ..loader };
        assert_close(threads.step_s(&storage, Side::Least), 3.0);
        let shared = Loader { fetchers: Fetchers::Shared(2), ..threads };
        assert_close(shared.epoch_s(&storage, Side::Most, 10), 3.0 * 10.0 + 1.0);
        assert_close(shared.epoch_s(&storage, Side::Least, 10), 3.0 * 10.0 + 1.0 + 0.3 + 0.1);
    }

    #[test]
    fn without_prefetch_reading_and_computing_take_turns() {
        let storage = curve(&[(1, 10.0), (8, 10.0)]);
        for fetchers in [Fetchers::Readers(4), Fetchers::Shared(1)] {
            let loader = Loader { fetchers, prefetch: 0, ..PLAIN };
            assert_close(loader.epoch_s(&storage, Side::Most, 10), 20.0);
            // Two may read in turns as well as at the same time.
            let two = Loader { accelerators: 2, ..loader };
            assert_close(two.epoch_s(&storage, Side::Most, 10), 20.0);
            assert!(two.epoch_s(&storage, Side::Least, 10) >= 30.0);
        }
    }

    #[test]
    fn a_step_of_a_batch_that_is_waited_for_is_as_long_as_its_parts() {
        // 0.1 s to read a sample, and as many at a time as are asked for.
        let storage = curve(&[(1, 10.0), (8, 80.0)]);
        let of = |fetchers, accelerators, decode_s| {
            let loader = Loader { fetchers, accelerators, decode_s, prefetch: 0, ..PLAIN };
            [Side::Least, Side::Most].map(|side| loader.epoch_s(&storage, side, 1))
        };
        let assert = |[least, most]: [f64; 2], [at_least, at_most]: [f64; 2]| {
            assert_close(least, at_least);
            assert_close(most, at_most);
        };
        // Two readers have 20 samples at 5 a second each, and then a second is computed; or each of them computes a tenth of it
        // after each of its samples.
        assert(of(Fetchers::Readers(1), 2, 0.1), [2.0 + 1.0, 20.0 / (2.0 / 0.3)]);
        // Four places: 20 samples at 40 a second, one read that drains, one read and its decoding at last, and a second. Or 10
        // samples of one accelerator, decoding and a second, while the other computes.
        assert(of(Fetchers::Shared(4), 2, 0.3), [0.5 + 0.1 + 0.1 + 0.3 + 1.0, 0.25 + 0.3 + 1.0]);
        // What all of them read takes longer than a turn of one.
        assert_close(of(Fetchers::Shared(4), 20, 0.3)[1], 5.0);
    }

    #[test]
    fn a_batch_through_shared_places_drains_where_those_behind_it_do_not_fill_them() {
        let storage = curve(&[(1, 10.0), (100, 1_000.0)]);
        let least_s = |places, prefetch| {
            let loader = Loader { fetchers: Fetchers::Shared(places), prefetch, ..PLAIN };
            // Ten steps of a second, and the last read.
            loader.epoch_s(&storage, Side::Least, 10) - 10.0 - 0.1
        };
        assert_close(least_s(10, 1), 0.1 + 0.1);
        // One batch of ten more than fills ten places, and not twelve; two fill fifteen.
        assert_close(least_s(10, 2), 0.1);
        assert_close(least_s(12, 2), 10.0 / 120.0 + 0.1);
        assert_close(least_s(15, 3), 10.0 / 150.0);
    }

    #[test]
    fn a_long_epoch_goes_on_as_it_did() {
        let loader = Loader { fetchers: Fetchers::Readers(4), prefetch: 8, startup_s: 7.0, ..PLAIN };
        let storage = curve(&[(1, 1.0), (100, 100.0)]);
        assert_close(loader.epoch_s(&storage, Side::Least, 40_000), 7.0 + 10_000.0 * 10.0 + 4.0);
        assert!(loader.epoch_s(&storage, Side::Least, 0) == 0.0);
    }
}
