//! The utilization that follows from reads in closed loops, as [`feed::Loader`] reckons it.
//!
//! What the closed loops leave open becomes a span: only as many reads as the job has outstanding tell exactly what it
//! gets, and readers that decode have fewer. A span wider than [`GAP_MAX`] foretells nothing. Nor does anything where
//! samples are decoded for real, as no closed loop says how long that takes, and where the last batches of an epoch are
//! smaller than others; both are said.

use feed::{Curve, Fetchers, Loader, Side};
use record::{Dataset, Datasets as _, Run, Training};

use crate::cell::cell_summary::CellSummary;
use crate::cell::training::closed_loops::ClosedLoops;
use crate::cell::training::figures::demand_samples_per_s;
use crate::cell::training::{GAP_MAX, NotPredicted, PredictedAu, TrainingFigures};

/// Work of a decoder that is a stated time for each sample.
pub(crate) const STATED_COST: &str = "cost";
/// The word of a copy into the batch, which decodes nothing.
pub(crate) const COPY: &str = "copy";

/// The least and the most that a utilization may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Span {
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Span {
    fn of(au: impl Fn(Side) -> f64) -> Option<Self> {
        let (least, most) = (au(Side::Least), au(Side::Most));
        let is_share = |au: f64| au.is_finite() && (0.0..=1.0 + 1e-9).contains(&au);
        // A damaged record may make the arithmetic say anything; a prediction that is no share is none.
        (is_share(least) && is_share(most)).then_some(Self { least: least.min(most), most: most.min(1.0) })
    }

    /// The middle, where nothing is far from it.
    fn narrow(self) -> Option<f64> {
        // A span as wide as the gap that is reported as a finding would make findings of its own middle.
        (self.most - self.least <= GAP_MAX).then(|| f64::midpoint(self.least, self.most))
    }
}

/// What closed loops foretell of a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Foretold {
    pub(super) au: Span,
    /// Of a job whose epochs never end.
    pub(super) long_run: Span,
    /// The figure that is said of it; absent where the spans are too wide for one.
    pub(super) said: Option<PredictedAu>,
}

/// What the closed loops beside `cell`, one for each depth, foretell of its job; `None` where they say nothing.
pub(super) fn of(
    run: &Run,
    loops: &[&CellSummary],
    cell: &CellSummary,
    figures: &TrainingFigures,
    repetitions: u32,
) -> Option<Foretold> {
    let job = cell.cell.training.as_ref()?;
    let dataset = run.dataset(cell.cell.dataset);
    let loader = loader(job, cell.cell.queue_depth).filter(|_| unknown(cell, job, dataset).is_none())?;
    let rate = |closed: &&CellSummary| Some((closed.cell.queue_depth, closed.figures()?.samples_per_s.mean));
    let storage = Curve::new(loops.iter().filter_map(rate))?;
    let steps = steps_of_each(figures, job, repetitions);
    let epochs = Epochs::of(steps, steps_of_epoch(cell, job, dataset));
    let au = Span::of(|side| epochs.computed_s(&loader) / epochs.wall_s(&loader, &storage, side))?;
    let long_run = Span::of(|side| (loader.compute_s / loader.step_s(&storage, side)).min(1.0))?;
    // Named as the source: of several loops the one at the depth that the job can reach weighs most in the curve.
    let nearest = loops.iter().min_by_key(|closed| closed.cell.queue_depth.abs_diff(loader.reach()))?;
    let said = au.narrow().zip(long_run.narrow()).and_then(|(au, long_run)| {
        Some(PredictedAu {
            au,
            long_run,
            from: nearest.cell.cell.clone(),
            depth: nearest.cell.queue_depth,
            samples_per_s: nearest.figures()?.samples_per_s.mean,
            demand_samples_per_s: demand_samples_per_s(job)?,
            epochs: epochs.count(),
            steps: epochs.steps(),
        })
    });
    Some(Foretold { au, long_run, said })
}

/// Why nothing is foretold of a job that closed loops read beside, where that lies in the job; `None` where it is foretold,
/// and where what was measured leaves it open.
pub(super) fn refused<'a>(run: &Run, loops: &ClosedLoops<'a>, cell: &'a CellSummary) -> Option<NotPredicted> {
    let job = cell.cell.training.as_ref()?;
    loops.alike(cell).next()?;
    unknown(cell, job, run.dataset(cell.cell.dataset))
}

/// What of a job no closed loop and no plan says: how long real decoding takes, how reads that belong together end, and how the last
/// batches of an epoch that drops none of its samples are read, which have fewer than others.
fn unknown(cell: &CellSummary, job: &Training, dataset: Option<&Dataset>) -> Option<NotPredicted> {
    if let Some(work) = job.decode.as_deref().filter(|work| *work != STATED_COST) {
        return Some(NotPredicted::Decoding { work: work.to_owned() });
    }
    // A batch ends with the slowest of reads that are under way together, and loops tell means.
    if job.fetches > 1 {
        return Some(NotPredicted::SeveralReads);
    }
    // Unknown samples may leave a rest; then a full last batch is a guess.
    let rest = samples_of(cell, dataset).is_none_or(|samples| samples % samples_of_step(job) > 0);
    (!job.drop_last && rest).then_some(NotPredicted::UnevenBatches)
}

/// The job's loader; `None` where it is not known how long decoding takes.
fn loader(job: &Training, depth: u32) -> Option<Loader> {
    let fetchers = job.readers.map_or(Fetchers::Shared(depth), |readers| Fetchers::Readers(readers.max(1)));
    let decode_ns = match (job.decode.as_deref(), job.decode_cost_ns) {
        (None, _) => 0,
        // Without readers nothing else in a record says how many threads decode.
        (Some(STATED_COST), Some(ns)) if job.readers.is_some() || job.decode_threads.is_some() => ns,
        (Some(_), _) => return None,
    };
    Some(Loader {
        accelerators: job.accelerators,
        batch: job.batch,
        compute_s: job.compute_ns as f64 / 1e9,
        fetchers,
        prefetch: job.prefetch,
        decode_s: decode_ns as f64 / 1e9,
        decode_threads: job.decode_threads.filter(|_| decode_ns > 0),
        startup_s: job.startup_ns as f64 / 1e9,
    })
}

/// Steps that each accelerator made in a repetition, in the mean, and at least one.
fn steps_of_each(figures: &TrainingFigures, job: &Training, repetitions: u32) -> u64 {
    let jobs = u64::from(job.accelerators.max(1)) * u64::from(repetitions.max(1));
    (figures.steps / jobs).max(1)
}

/// Steps of an epoch of which the rest is dropped; `None` where an epoch makes no step, or its samples are not known.
fn steps_of_epoch(cell: &CellSummary, job: &Training, dataset: Option<&Dataset>) -> Option<u64> {
    let steps = samples_of(cell, dataset)? / samples_of_step(job);
    (steps > 0).then_some(steps)
}

fn samples_of(cell: &CellSummary, dataset: Option<&Dataset>) -> Option<u64> {
    // By bytes and not by files: a shard is a file of thousands of samples.
    Some((dataset?.bytes as f64 / cell.sample_bytes?).round() as u64)
}

/// Samples of one step of all accelerators, at least one.
fn samples_of_step(job: &Training) -> u64 {
    (u64::from(job.accelerators) * u64::from(job.batch)).max(1)
}

/// The steps of a job by its epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Epochs {
    /// Epochs that were made to their end, and the steps of each.
    whole: u64,
    steps_of_whole: u64,
    /// Steps of the last one, where it was not.
    steps_of_last: u64,
}

impl Epochs {
    /// `steps` is at least one.
    fn of(steps: u64, of_epoch: Option<u64>) -> Self {
        let steps_of_whole = of_epoch.unwrap_or(steps).min(steps);
        Self { whole: steps / steps_of_whole, steps_of_whole, steps_of_last: steps % steps_of_whole }
    }

    fn count(self) -> u64 {
        self.whole + u64::from(self.steps_of_last > 0)
    }

    fn steps(self) -> u64 {
        self.whole * self.steps_of_whole + self.steps_of_last
    }

    fn computed_s(self, loader: &Loader) -> f64 {
        self.steps() as f64 * loader.compute_s
    }

    fn wall_s(self, loader: &Loader, storage: &Curve, side: Side) -> f64 {
        let epoch_s = |steps| loader.epoch_s(storage, side, steps);
        self.whole as f64 * epoch_s(self.steps_of_whole) + epoch_s(self.steps_of_last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_whole_epochs_and_of_the_last() {
        let three = Epochs::of(100, Some(40));
        assert_eq!((three.whole, three.steps_of_last, three.count(), three.steps()), (2, 20, 3, 100));
        let one = Epochs::of(100, None);
        assert_eq!((one.count(), Epochs::of(100, Some(200))), (1, one));
    }

    #[test]
    fn a_wide_span_says_no_figure() {
        let span = |least, most| Span::of(|side| if side == Side::Least { least } else { most });
        assert_eq!(span(0.70, 0.74).unwrap().narrow(), Some(0.72));
        assert_eq!(span(0.70, 0.76).unwrap().narrow(), None);
        assert_eq!((span(0.5, f64::NAN), span(-0.1, 0.5), span(0.5, 2.0)), (None, None, None));
    }

    #[test]
    fn decoding_that_no_closed_loop_knows_foretells_nothing() {
        let of = |decode: Option<&str>, cost_ns, readers, threads| {
            let job = Training {
                decode: decode.map(str::to_owned),
                decode_cost_ns: cost_ns,
                readers,
                decode_threads: threads,
                ..crate::fixture::job()
            };
            loader(&job, 16).map(|loader| (loader.fetchers, loader.decode_s, loader.decode_threads))
        };
        assert_eq!(of(None, None, Some(8), None), Some((Fetchers::Readers(8), 0.0, None)));
        assert_eq!(
            of(Some("cost"), Some(2_000_000), Some(8), None),
            Some((Fetchers::Readers(8), 0.002, None))
        );
        assert_eq!(
            of(Some("cost"), Some(2_000_000), None, Some(3)),
            Some((Fetchers::Shared(16), 0.002, Some(3)))
        );
        assert_eq!(of(Some("cost"), Some(2_000_000), None, None), None);
        assert_eq!(of(Some("jpeg"), None, Some(8), Some(4)), None);
    }
}
