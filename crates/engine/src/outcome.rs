//! What a repetition measured: the counts of its workers, added up.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use plan::Cell;
use record::{CacheProof, Epoch, HistogramText, Interval, Look, Outcome, Rep, Usage, counter};

use crate::decoders::DecodersEnd;
use crate::epochs::{self, Around, Numbering};
use crate::pace::Paced;
use crate::sampled::Sample;
use crate::seconds;
use crate::sums;
use crate::trainer::{Train, TrainEnd};
use crate::usage::Meter;
use crate::window::Window;
use crate::worker::WorkerEnd;

/// What a repetition measured.
#[derive(Debug)]
pub struct Measured {
    /// What the record keeps of it. The run fills in which of its repetitions this is.
    pub rep: Rep,
    /// The window by seconds.
    pub seconds: Vec<Interval>,
    /// What the machine did meanwhile, second by second; nothing in virtual time.
    pub looks: Vec<Look>,
    /// Reads of bytes that feedline did not write.
    pub sampled: Vec<Sample>,
}

impl Measured {
    /// A repetition with the seconds of its window.
    pub(crate) fn new(rep: Rep, seconds: Vec<Interval>, sampled: Vec<Sample>) -> Self {
        let second_ops = by_second(&seconds, |second| second.ops);
        let second_bytes = by_second(&seconds, |second| second.bytes);
        Self { rep: Rep { second_ops, second_bytes, ..rep }, seconds, looks: Vec::new(), sampled }
    }

    /// The same beside what the machine did.
    pub(crate) fn beside(self, looks: Vec<Look>) -> Self {
        Self { looks, ..self }
    }

    /// One that could not be made.
    pub(crate) fn failed(cell: &Cell, reason: String, now_ns: u64) -> Self {
        let histograms = [("service_ns".to_owned(), record::encode(&record::new_histogram()))];
        let rep = Rep {
            window_start_ns: now_ns,
            histograms: histograms.into(),
            cache: no_cache(),
            ..Rep::empty(&cell.slug, Outcome::Failed { reason })
        };
        Self::new(rep, Vec::new(), Vec::new())
    }
}

/// What was counted in each second up to the last that is known; a second without anything is a zero.
fn by_second(seconds: &[Interval], count: impl Fn(&Interval) -> u64) -> Vec<u64> {
    let length = seconds.iter().map(|one| one.second as usize + 1).max().unwrap_or(0);
    let mut counts = vec![0; length];
    for one in seconds {
        counts[one.second as usize] += count(one);
    }
    counts
}

/// The proof of a repetition that set no page cache.
pub(crate) fn no_cache() -> CacheProof {
    CacheProof { method: "none".to_owned(), ..CacheProof::default() }
}

/// What the workers of a repetition shared.
pub(crate) struct LoadEnd {
    /// Reads that the limit asked for, where it did not ask for a time.
    pub(crate) asked: Option<u64>,
    /// The arrivals of a paced load.
    pub(crate) paced: Option<Paced>,
    /// The job of a training load.
    pub(crate) train: Option<Train>,
    /// Which epochs are recorded.
    pub(crate) epochs: RecordedEpochs,
}

/// Which epochs are recorded, and what of them can be known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordedEpochs {
    /// How tickets fall into them; absent where no bytes are read.
    pub(crate) numbering: Option<Numbering>,
    /// Whether they end the window.
    pub(crate) asked: bool,
    /// Whether what the kernel counts for this process is what was read.
    pub(crate) through_kernel: bool,
    /// Whether there is a cache tier.
    pub(crate) tier: bool,
}

/// Adds up what the workers counted.
pub(crate) fn merge(
    cell: &Cell,
    load: LoadEnd,
    window: Window,
    ends: &[WorkerEnd],
    cache: CacheProof,
) -> Measured {
    // The last worker ends the window: until then reads that count were under way.
    let finished_ns = ends.iter().map(|end| end.finished_ns).max().unwrap_or(window.open_ns);
    let mut trained = load.train.map(|train| train.into_end(window.open_ns, finished_ns.max(window.open_ns)));
    // The last step of a job ended before that was noticed.
    let finished_ns = trained.as_ref().map_or(finished_ns, |trained| window.open_ns + trained.wall_ns);
    let meter = ends.iter().find_map(|end| end.meter.as_ref());
    let (usage, system) = meter.map(Meter::measured).unwrap_or_default();
    let mut counters = counters(ends);
    if let Some(paced) = &load.paced {
        counters.extend(paced_counters(paced, &window, ends));
    }
    let rep = Rep {
        window_start_ns: window.open_ns,
        window_ns: finished_ns.saturating_sub(window.open_ns),
        counters,
        errors: sums::errors(ends.iter().flat_map(|end| end.recorder.errors())),
        histograms: histograms(ends, trained.as_ref()),
        usage: Usage { waited_ns: ends.iter().map(|end| end.waited_ns).sum(), ..usage },
        system,
        cache,
        granted: granted(ends, trained.as_ref().and_then(|end| end.decoders.as_ref())),
        epochs: merged_epochs(load.epochs, window.open_ns, ends, trained.as_ref()),
        checkpoints: trained.as_mut().map(|end| std::mem::take(&mut end.checkpoints)).unwrap_or_default(),
        ..Rep::empty(&cell.slug, outcome(load.asked, trained.as_ref(), finished_ns < window.close_ns, ends))
    };
    let rep = Rep { trained: trained.map(|end| end.trained), ..rep };
    let seconds = seconds::of_all(&ends.iter().map(|end| &end.recorder.seconds));
    let sampled = ends.iter().flat_map(|end| end.recorder.sampled.iter().copied()).collect();
    Measured::new(rep, seconds, sampled).beside(meter.map(Meter::looks).unwrap_or_default())
}

fn outcome(asked: Option<u64>, trained: Option<&TrainEnd>, is_early: bool, ends: &[WorkerEnd]) -> Outcome {
    // A failure first: a repetition that gave up may also look complete or interrupted.
    if let Some(reason) = ends.iter().find_map(|end| end.failure.clone()) {
        return Outcome::Failed { reason };
    }
    // A signal that came after the last step cut nothing.
    let is_complete = trained.is_some_and(|trained| trained.is_complete);
    if !is_complete && ends.iter().any(|end| end.interrupted) && is_early {
        return Outcome::Interrupted;
    }
    if let Some(trained) = trained {
        return if trained.trained.ran_out { Outcome::Exhausted } else { Outcome::Complete };
    }
    // A limit in bytes or epochs ends by tickets too. Only where fewer operations ended than were asked for did the
    // data end first.
    let ran_out = ends.iter().any(|end| end.exhausted_ns.is_some());
    let ended: u64 = ends.iter().map(|end| end.recorder.ended()).sum();
    let cut = asked.is_none_or(|asked| ended < asked);
    if ran_out && cut { Outcome::Exhausted } else { Outcome::Complete }
}

/// What every worker was granted, and why the first operation failed.
fn granted(ends: &[WorkerEnd], decoders: Option<&DecodersEnd>) -> BTreeMap<String, String> {
    let mut granted = sums::granted(ends.iter().map(|end| &end.report));
    // The first of one worker stands for all: what it says is why, not how often.
    if let Some(words) = ends.iter().find_map(|end| end.report.first_failure.clone()) {
        granted.insert("first_failure".to_owned(), words);
    }
    if let Some(decoders) = decoders {
        granted.insert("decode_input".to_owned(), decoders.input.to_owned());
        granted
            .extend(decoders.first_failure.clone().map(|words| ("first_decode_failure".to_owned(), words)));
    }
    granted
}

fn counters(ends: &[WorkerEnd]) -> BTreeMap<String, u64> {
    let sum = |of: fn(&WorkerEnd) -> u64| ends.iter().map(of).sum::<u64>();
    let mut counters = sums::by_name([
        (counter::OPS, sum(|end| end.recorder.ops)),
        (counter::BYTES, sum(|end| end.recorder.bytes)),
        (counter::STARTED, sum(|end| end.recorder.started)),
        (counter::WARMUP_OPS, sum(|end| end.recorder.warmup_ops)),
        (counter::VERIFIED, sum(|end| end.recorder.verified)),
        (counter::CLAMPED, sum(|end| end.recorder.clamped + end.pacer.as_ref().map_or(0, |end| end.clamped))),
        (counter::ABANDONED, sum(|end| u64::from(end.abandoned))),
    ]);
    counters.extend(sums::of_queues(ends.iter().map(|end| &end.report)));
    if ends.iter().any(|end| end.recorder.lists) {
        counters.insert(counter::ENTRIES.to_owned(), sum(|end| end.recorder.entries));
    }
    if ends.iter().any(|end| end.recorder.apart.is_some()) {
        let written = |end: &WorkerEnd| end.recorder.apart.as_ref().map_or(0, |apart| apart.written_bytes);
        counters.insert(counter::WRITTEN_BYTES.to_owned(), sum(written));
    }
    if counters.contains_key(counter::WIRE_RECEIVED_BYTES) {
        // What a cache tier had came over no wire.
        let near_bytes = counters.get(counter::TIER_HIT_BYTES).copied().unwrap_or(0);
        let delivered_bytes = sum(|end| end.recorder.delivered_bytes).saturating_sub(near_bytes);
        counters.insert(counter::DELIVERED_BYTES.to_owned(), delivered_bytes);
    }
    counters.extend(attempt_counters(ends));
    counters
}

/// Counts of single attempts; empty if operations are not repeated.
fn attempt_counters(ends: &[WorkerEnd]) -> BTreeMap<String, u64> {
    let mut counters = BTreeMap::new();
    for attempts in ends.iter().filter_map(|end| end.attempts.as_ref()) {
        let errors = attempts.errors.iter();
        let errors = errors.map(|(kind, count)| (format!("{}{kind}", counter::ATTEMPT_ERRORS), count));
        let all = [(counter::ATTEMPTS, attempts.count), (counter::RECOVERED, attempts.recovered)];
        for (name, count) in all.map(|(name, count)| (name.to_owned(), count)).into_iter().chain(errors) {
            *counters.entry(name).or_insert(0) += count;
        }
    }
    counters
}

/// Counts of the arrivals inside the window. For arrivals the window also ends when no ticket is left.
fn paced_counters(paced: &Paced, window: &Window, ends: &[WorkerEnd]) -> BTreeMap<String, u64> {
    let exhausted_ns = ends.iter().filter_map(|end| end.exhausted_ns).min();
    let finished_ns = ends.iter().map(|end| end.finished_ns).max().unwrap_or(window.open_ns);
    // Without tickets nothing could be issued: arrivals after that are no fault of client or storage.
    let end_ns = exhausted_ns.unwrap_or(finished_ns);
    let of_window = |ns: &u64| window.contains(*ns) && *ns < end_ns;
    let pacers = || ends.iter().filter_map(|end| end.pacer.as_ref());
    // Arrivals that a worker had taken from the timetable and was still waiting for: nobody else counts them.
    let held = pacers().filter_map(|end| end.held_ns).filter(of_window).count() as u64;
    let left = paced.not_taken(window, end_ns) + held;
    sums::by_name([
        (counter::ARRIVALS, pacers().map(|end| end.arrivals).sum::<u64>() + left),
        (counter::NOT_ISSUED, pacers().map(|end| end.given_up).sum::<u64>() + left),
        (counter::GIVEN_UP, pacers().map(|end| end.given_up).sum()),
        (counter::SERVED, pacers().map(|end| end.response_ns.len()).sum()),
        (counter::OFFERED_BPS, paced.offered_bps.round() as u64),
    ])
}

/// Every histogram that a worker kept, added up by name.
fn histograms(ends: &[WorkerEnd], trained: Option<&TrainEnd>) -> BTreeMap<String, HistogramText> {
    // There even where nothing ended: readers of records expect it.
    let mut sums: BTreeMap<&str, Histogram<u64>> = BTreeMap::from([("service_ns", record::new_histogram())]);
    if let Some(TrainEnd { tally, decodes, .. }) = trained {
        let all = [("wait_ns", &tally.wait_ns), ("fetch_ns", &tally.fetch_ns), ("lag_ns", &tally.lag_ns)];
        let decode = decodes.then_some(("decode_ns", &tally.decode_ns));
        sums.extend(all.into_iter().chain(decode).map(|(name, all)| (name, all.clone())));
    }
    for end in ends {
        let phases = end.recorder.phases_ns.iter().map(|(name, phase_ns)| (*name, phase_ns));
        let paced =
            end.pacer.iter().flat_map(|end| [("response_ns", &end.response_ns), ("lag_ns", &end.lag_ns)]);
        let responses = end.pacer.iter().filter_map(|end| end.apart.as_ref());
        let responses = responses
            .flat_map(|apart| [("response_read_ns", &apart.read_ns), ("response_write_ns", &apart.write_ns)]);
        // By name: workers of one repetition have the same phases, but a queue that could not be opened has none.
        let service = std::iter::once(("service_ns", &end.recorder.service_ns));
        let apart = end.recorder.apart.iter();
        let apart = apart
            .flat_map(|apart| [("service_read_ns", &apart.read_ns), ("service_write_ns", &apart.write_ns)]);
        let attempts = end.attempts.iter().map(|attempts| ("attempt_ns", &attempts.attempt_ns));
        for (name, part) in service.chain(apart).chain(phases).chain(paced).chain(responses).chain(attempts) {
            match sums.get_mut(name) {
                Some(sum) => sums::add(sum, part),
                None => drop(sums.insert(name, part.clone())),
            }
        }
    }
    sums.into_iter().map(|(name, sum)| (name.to_owned(), record::encode(&sum))).collect()
}

fn merged_epochs(
    epochs: RecordedEpochs,
    open_ns: u64,
    ends: &[WorkerEnd],
    trained: Option<&TrainEnd>,
) -> Vec<Epoch> {
    let Some(numbering) = epochs.numbering else { return Vec::new() };
    let meter = ends.iter().find_map(|end| end.meter.as_ref()).filter(|_| epochs.through_kernel);
    let around = Around {
        first_batch_ns: trained.map(|end| end.tally.first_batch_ns.clone()).unwrap_or_default(),
        storage_bytes: meter.map(Meter::epochs_storage_bytes).unwrap_or_default(),
        tier: epochs.tier,
    };
    let workers = ends.iter().map(|end| (&*end.begun_ns, &*end.recorder.epochs));
    epochs::merge(numbering, epochs.asked, open_ns, workers, &around)
}
