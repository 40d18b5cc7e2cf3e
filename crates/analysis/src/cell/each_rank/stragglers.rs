//! Which processes were clearly slower than the others.

use record::Rep;

use crate::cell::interval;
use crate::cell::looks::ERROR;
use crate::cell::slow_rank::{SLOW_BELOW, SlowBy, SlowRank, SlowRanks};

/// A figure of each rank in each repetition that they made together.
#[derive(Debug)]
pub(super) struct ByRank {
    /// Repetition by repetition, in the order of the ranks.
    reps: Vec<Vec<f64>>,
}

impl ByRank {
    /// A figure of all repetitions; `None` where one of them does not have it.
    pub(super) fn of(of_ranks: &[&Vec<&Rep>], read: impl Fn(&Rep) -> Option<f64>) -> Option<Self> {
        let of_rep = |of_rep: &&Vec<&Rep>| of_rep.iter().map(|rep| read(rep)).collect::<Option<Vec<f64>>>();
        Some(Self { reps: of_ranks.iter().map(of_rep).collect::<Option<_>>()? })
    }

    /// That of one rank, repetition by repetition.
    pub(super) fn of_rank(&self, rank: usize) -> Vec<f64> {
        self.reps.iter().map(|of_rep| of_rep[rank]).collect()
    }

    /// The mean of that.
    pub(super) fn mean(&self, rank: usize) -> Option<f64> {
        interval::mean(&self.of_rank(rank))
    }

    /// What each rank has of the median of the others: rank by rank, a share for each repetition.
    fn of_others(&self) -> Vec<Vec<f64>> {
        let mut shares = vec![Vec::with_capacity(self.reps.len()); self.reps.first().map_or(0, Vec::len)];
        for of_rep in &self.reps {
            for (rank, of_others) in shares_of_others(of_rep).into_iter().enumerate() {
                shares[rank].extend(of_others);
            }
        }
        shares
    }
}

/// Each value by the median of the others; nothing where that is zero.
fn shares_of_others(values: &[f64]) -> Vec<Option<f64>> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut shares = vec![None; values.len()];
    for (place, index) in order.iter().enumerate() {
        // Without sorting the others anew for each: a run may have thousands of ranks.
        let other = |nth: usize| values[order[if nth < place { nth } else { nth + 1 }]];
        let others = values.len() - 1;
        if others == 0 {
            continue;
        }
        let median = f64::midpoint(other((others - 1) / 2), other(others / 2));
        shares[*index] = (median > 0.0).then(|| values[*index] / median);
    }
    shares
}

/// Those whose rate, or whose least accelerator, is clearly below that of the others.
pub(super) fn slow(rates: &ByRank, least: Option<&ByRank>, hosts: &[Option<String>]) -> Option<SlowRanks> {
    let of_others = [(SlowBy::Rate, Some(rates)), (SlowBy::Utilization, least)];
    let found = of_others.map(|(by, course)| (by, course.map(below).unwrap_or_default()));
    let of_rank = |rank: usize| {
        let slowest = found.iter().filter_map(|(by, below)| Some((*by, *below.get(rank)?.as_ref()?)));
        let (by, of_others) = slowest.min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(SlowRank { rank: rank as u32, host: hosts[rank].clone(), by, of_others })
    };
    let slow: Vec<SlowRank> = (0..hosts.len()).filter_map(of_rank).collect();
    (!slow.is_empty()).then_some(SlowRanks { slow, ranks: hosts.len() as u32 })
}

/// Of each rank that is slow by this figure, its mean share of the others.
fn below(course: &ByRank) -> Vec<Option<f64>> {
    let shares = course.of_others();
    // Each rank is looked at, so that the error is divided among them: of a thousand equal ones chance would name fifty.
    let error = ERROR / shares.len().max(1) as f64;
    let of_rank = |shares: &Vec<f64>| {
        let interval = interval::of_mean(shares, error)?;
        (interval.high < SLOW_BELOW).then_some(interval.mean)
    };
    shares.iter().map(of_rank).collect()
}
