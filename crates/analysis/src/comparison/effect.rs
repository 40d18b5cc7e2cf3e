//! From samples on both sides to what changed.

use std::collections::BTreeMap;

use feed::Compared;

use super::correction::step_up;
use super::student::Estimate;
use super::{Because, Change, Effect, Ratio, Sampled};
use crate::cell::interval::mean;
use crate::cell::metric::{Margins, Metric};

/// Logarithms of one metric on both sides. What a sample is called by, a round or a run, holds those of several cells
/// together.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Samples {
    /// Before and after, interleaved.
    Paired(BTreeMap<u32, (f64, f64)>),
    /// Runs of a history, and a new one.
    Stored {
        /// By their place in the history.
        before: BTreeMap<u32, f64>,
        /// The new one.
        after: f64,
    },
}

impl Samples {
    /// The geometric mean over cells, of the samples that all of them have; `None` where there is none, or no cell.
    pub(super) fn together(cells: &[&Self]) -> Option<Self> {
        let (first, others) = cells.split_first()?;
        let count = cells.len() as f64;
        match first {
            Self::Paired(pairs) => {
                let of_key = |key: &u32| {
                    let pairs = cells.iter().map(|cell| match cell {
                        Self::Paired(pairs) => pairs.get(key).copied(),
                        Self::Stored { .. } => None,
                    });
                    let all: Vec<(f64, f64)> = pairs.collect::<Option<_>>()?;
                    let sum = all.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
                    Some((*key, (sum.0 / count, sum.1 / count)))
                };
                let pairs: BTreeMap<u32, (f64, f64)> = pairs.keys().filter_map(of_key).collect();
                (!pairs.is_empty()).then_some(Self::Paired(pairs))
            }
            Self::Stored { before, after } => {
                let (mut sums, mut sum_after) = (before.clone(), *after);
                for cell in others {
                    let Self::Stored { before, after } = cell else { return None };
                    sum_after += after;
                    sums.retain(|run, _| before.contains_key(run));
                    for (run, sum) in &mut sums {
                        *sum += before[run];
                    }
                }
                for sum in sums.values_mut() {
                    *sum /= count;
                }
                (!sums.is_empty()).then_some(Self::Stored { before: sums, after: sum_after / count })
            }
        }
    }

    /// How many there are: pairs, or runs of the history.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Paired(pairs) => pairs.len(),
            Self::Stored { before, .. } => before.len(),
        }
    }

    /// Mean logarithms before and after.
    fn means(&self) -> Option<(f64, f64)> {
        match self {
            Self::Paired(pairs) => {
                let (before, after): (Vec<f64>, Vec<f64>) = pairs.values().copied().unzip();
                Some((mean(&before)?, mean(&after)?))
            }
            Self::Stored { before, after } => Some((mean(&values(before))?, *after)),
        }
    }

    fn estimate(&self) -> Option<Estimate> {
        match self {
            Self::Paired(pairs) => {
                let differences: Vec<f64> = pairs.values().map(|(before, after)| after - before).collect();
                Estimate::of_pairs(&differences)
            }
            Self::Stored { before, after } => Estimate::of_next(&values(before), *after),
        }
    }
}

fn values(samples: &BTreeMap<u32, f64>) -> Vec<f64> {
    samples.values().copied().collect()
}

/// The range of logarithms of a ratio that counts as no change: the margin in the bad direction, and as far in the other,
/// so that halving and doubling weigh the same.
fn range(metric: &Metric, margin: f64) -> (f64, f64) {
    // A fall by all would be one that nothing exceeds.
    let step = if metric.higher_is_better() { -(1.0 - margin.min(FALL_MAX)).ln() } else { margin.ln_1p() };
    (-step, step)
}

/// A change of the logarithm as a share of the value before, in the bad direction.
fn share(metric: &Metric, log: f64) -> f64 {
    if metric.higher_is_better() { -(-log).exp_m1() } else { log.exp_m1() }
}

/// Largest margin of a metric of which more is better.
const FALL_MAX: f64 = 0.99;

impl Effect {
    /// Whether its whole interval lies beyond the margin in the bad direction, whatever else is said of it.
    pub(super) fn is_worse_beyond_margin(&self) -> bool {
        let (least, most) = range(self.metric, self.margin);
        if self.metric.higher_is_better() { self.ratio.high.ln() < least } else { self.ratio.low.ln() > most }
    }
}

/// An effect on its way: what it comes to is decided once all of its family are known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Draft {
    pub(super) effect: Effect,
    pub(super) samples: Samples,
    estimate: Option<Estimate>,
    /// Why nothing can be decided whatever the interval.
    blocked: Option<Because>,
}

impl Draft {
    /// The effect on one metric, undecided. `blocked` says why it has to stay so. `None` without samples.
    pub(super) fn of(
        metric: &'static Metric,
        samples: Samples,
        margins: &Margins,
        blocked: Option<Because>,
    ) -> Option<Self> {
        let (before, after) = samples.means()?;
        let estimate = samples.estimate();
        let ratio = (after - before).exp();
        let count = samples.count() as u32;
        let margin = margins.of(metric);
        let is_paired = matches!(samples, Samples::Paired(_));
        let sampled = if is_paired { Sampled::Repetition } else { Sampled::Run };
        let too_few = Because::NoInterval { samples: count, sampled };
        let blocked = blocked.or_else(|| estimate.is_none().then_some(too_few));
        let effect = Effect {
            metric,
            before: before.exp(),
            after: after.exp(),
            ratio: Ratio::of(ratio, estimate),
            samples_before: count,
            samples_after: if is_paired { count } else { 1 },
            detectable: estimate.map(|estimate| share(metric, estimate.detectable())),
            margin: if margin.is_finite() { margin.max(0.0) } else { 0.0 },
            change: Change::Inconclusive,
            because: None,
        };
        Some(Self { effect, samples, estimate, blocked })
    }

    fn p(&self) -> f64 {
        let (low, high) = range(self.effect.metric, self.effect.margin);
        self.estimate.map_or(1.0, |estimate| estimate.p_outside(low, high))
    }

    /// Decides; `family` is how many were corrected together, `stands` what the correction left of this one.
    fn decide(&mut self, stands: bool, family: usize) {
        (self.effect.change, self.effect.because) = match (self.blocked, self.estimate) {
            (Some(because), _) => (Change::Inconclusive, Some(because)),
            (None, Some(estimate)) => self.judged(estimate, stands, family),
            (None, None) => (Change::Inconclusive, None),
        };
    }

    fn judged(&self, estimate: Estimate, stands: bool, family: usize) -> (Change, Option<Because>) {
        let (low, high) = estimate.interval();
        let (least, most) = range(self.effect.metric, self.effect.margin);
        let is_beyond = high < least || low > most;
        let margin = self.effect.margin;
        if is_beyond && stands {
            let is_better = (low > most) == self.effect.metric.higher_is_better();
            (if is_better { Change::Improved } else { Change::Regressed }, None)
        } else if is_beyond {
            (Change::Inconclusive, Some(Because::NotAmongMany { margin, family }))
        } else if least <= low && high <= most {
            (Change::Unchanged, None)
        } else {
            let smallest = share(self.effect.metric, most + estimate.detectable());
            (Change::Inconclusive, Some(Because::ReachesOver { margin, smallest }))
        }
    }
}

/// Decides drafts that are one family, each metric by itself: those that nothing blocks are corrected for each other
/// ([`step_up`], with the p-value of the change exceeding its margin), and what it does not leave standing is
/// inconclusive. That something is unchanged is not corrected: it asks the whole interval to lie inside the margin.
pub(super) fn settle(drafts: &mut [&mut Draft]) {
    for metric in Compared::ALL {
        let mut family: Vec<&mut Draft> = drafts
            .iter_mut()
            .map(|draft| &mut **draft)
            .filter(|draft| draft.effect.metric.compared() == Some(metric) && draft.blocked.is_none())
            .collect();
        let p_values: Vec<f64> = family.iter().map(|draft| draft.p()).collect();
        let count = family.len();
        for (draft, stands) in family.iter_mut().zip(step_up(&p_values)) {
            draft.decide(stands, count);
        }
    }
    for draft in drafts.iter_mut().filter(|draft| draft.blocked.is_some()) {
        draft.decide(false, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paired(differences: &[f64]) -> Samples {
        let pair = |(key, difference): (usize, &f64)| (key as u32, (0.0, *difference));
        Samples::Paired(differences.iter().enumerate().map(pair).collect())
    }

    fn settled(metric: Compared, all: &[Samples], margin: f64) -> Vec<Effect> {
        let margins = Margins::INTERLEAVED.with(metric, margin);
        let metric = Metric::of(metric, true);
        let mut drafts: Vec<Draft> =
            all.iter().map(|samples| Draft::of(metric, samples.clone(), &margins, None).unwrap()).collect();
        settle(&mut drafts.iter_mut().collect::<Vec<_>>());
        drafts.into_iter().map(|draft| draft.effect).collect()
    }

    fn change(metric: Compared, differences: &[f64]) -> Change {
        settled(metric, &[paired(differences)], 0.05)[0].change
    }

    #[test]
    fn a_ratio_is_the_geometric_mean_with_the_interval_of_its_logarithm() {
        // ln ratios -0.2, -0.1, 0.0: mean -0.1, s = 0.1, error 0.1 / sqrt(3), t(0.975; 2) = 4.302653, t(0.80; 2) = 1.060660.
        let effect = &settled(Compared::Throughput, &[paired(&[-0.2, -0.1, 0.0])], 0.05)[0];
        let error = 0.1 / 3.0_f64.sqrt();
        let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-6, "{found}");
        close(effect.ratio.mean, (-0.1_f64).exp());
        close(effect.ratio.low, (-0.1 - 4.302_652_73 * error).exp());
        close(effect.ratio.high, (-0.1 + 4.302_652_73 * error).exp());
        close(effect.detectable.unwrap(), 1.0 - (-(4.302_652_73 + 1.060_660_17) * error).exp());
        assert_eq!((effect.samples_before, effect.samples_after), (3, 3));
    }

    #[test]
    fn the_whole_interval_decides_and_the_metric_says_which_way_is_worse() {
        let near = |centre: f64| [centre - 0.001, centre, centre + 0.001];
        assert_eq!(change(Compared::Throughput, &near(-0.10)), Change::Regressed);
        assert_eq!(change(Compared::P99, &near(-0.10)), Change::Improved);
        assert_eq!(change(Compared::Throughput, &near(0.10)), Change::Improved);
        assert_eq!(change(Compared::Cpu, &near(0.10)), Change::Regressed);
        assert_eq!(change(Compared::Au, &near(0.0)), Change::Unchanged);
        // ln(1 - 0.05) = -0.0513: the interval lies on both sides of it.
        assert_eq!(change(Compared::Throughput, &near(-0.0513)), Change::Inconclusive);
        assert_eq!(change(Compared::Throughput, &[-0.5, 0.0, 0.5]), Change::Inconclusive);
    }

    #[test]
    fn among_many_cells_a_weak_alarm_is_none_and_says_why() {
        let weak = paired(&[-0.20, -0.15, -0.12]);
        assert_eq!(
            settled(Compared::Throughput, std::slice::from_ref(&weak), 0.05)[0].change,
            Change::Regressed
        );
        let mut all = vec![paired(&[-0.01, 0.0, 0.01]); 20];
        all.push(weak);
        let last = settled(Compared::Throughput, &all, 0.05).pop().unwrap();
        assert_eq!(last.change, Change::Inconclusive);
        assert_eq!(last.because, Some(Because::NotAmongMany { margin: 0.05, family: 21 }));
    }

    #[test]
    fn what_is_blocked_has_its_figures_and_weighs_on_no_other() {
        let margins = Margins::INTERLEAVED;
        let certain = paired(&[-0.300, -0.301, -0.302]);
        let blocked = Some(Because::Excluded);
        let mut one = Draft::of(Metric::of(Compared::P50, true), certain, &margins, blocked).unwrap();
        settle(&mut [&mut one]);
        assert_eq!((one.effect.change, one.effect.because), (Change::Inconclusive, blocked));
        assert!(one.effect.ratio.high < 0.75);
    }

    #[test]
    fn two_repetitions_have_a_ratio_and_no_interval() {
        let effect = &settled(Compared::Throughput, &[paired(&[-0.3, -0.3])], 0.05)[0];
        assert_eq!((effect.ratio.low, effect.ratio.high, effect.detectable), (0.0, f64::INFINITY, None));
        let because = Because::NoInterval { samples: 2, sampled: Sampled::Repetition };
        assert_eq!(effect.because, Some(because));
    }

    #[test]
    fn cells_together_rest_on_the_samples_that_all_have() {
        let two = |a: &[(u32, (f64, f64))]| Samples::Paired(a.iter().copied().collect());
        let one = two(&[(0, (1.0, 2.0)), (1, (1.0, 3.0)), (2, (0.0, 0.0))]);
        let other = two(&[(0, (3.0, 4.0)), (2, (2.0, 4.0)), (3, (9.0, 9.0))]);
        let both = two(&[(0, (2.0, 3.0)), (2, (1.0, 2.0))]);
        assert_eq!(Samples::together(&[&one, &other]), Some(both));
        assert_eq!(Samples::together(&[]), None);
        let stored =
            |runs: &[(u32, f64)], after| Samples::Stored { before: runs.iter().copied().collect(), after };
        let (one, other) = (stored(&[(0, 1.0), (1, 2.0)], 4.0), stored(&[(1, 4.0)], 6.0));
        assert_eq!(Samples::together(&[&one, &other]), Some(stored(&[(1, 3.0)], 5.0)));
    }
}
