//! Hosts that get less than their part of the line.
//!
//! The line is what all hosts need together. A storage that gives some of them more than they take does not feed the others.

use std::collections::BTreeMap;

use record::{Member, Rep};

use crate::cell::context::Context;
use crate::cell::flag::Flag;
use crate::cell::interval::mean;
use crate::cell::point::point_bps;
use crate::cell::training;

/// The hosts whose mean over fresh repetitions is less than their part of its line; `None` where there is none, or
/// no line, and of one host.
///
/// Processes of one machine count together: how they share what it gets is theirs.
// By the mean and not by an interval: that all of them together reach the line is known with its certainty, and of a host that is
// more likely below than above nothing better can be said than that it is open.
pub(super) fn below(context: &Context<'_>, of_ranks: &[&Vec<&Rep>], members: &[Member]) -> Option<Flag> {
    let ranks = of_ranks.first()?.len();
    let part = Context { line_samples_per_s: Some(context.line_samples_per_s? / ranks as f64), ..*context };
    let mut hosts: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for rank in 0..ranks {
        // Where nobody knows the machines, each process has one of its own: they were started one by one.
        let machine = members.get(rank).map_or(rank as u32, |member| member.machine);
        hosts.entry(machine).or_default().push(rank);
    }
    if hosts.len() < 2 {
        return None;
    }
    let of_part = |own: &[usize]| {
        let of_rep = |of_rep: &&Vec<&Rep>| {
            mean(&own.iter().map(|rank| share(context, &part, of_rep[*rank])).collect::<Option<Vec<_>>>()?)
        };
        mean(&of_ranks.iter().map(of_rep).collect::<Option<Vec<_>>>()?)
    };
    let below: Vec<(usize, f64)> = hosts
        .values()
        .filter_map(|own| Some((*own.first()?, of_part(own)?)))
        .filter(|(_, share)| *share < 1.0)
        .collect();
    let least = below.iter().map(|(_, share)| *share).reduce(f64::min)?;
    let name = |(rank, _): &(usize, f64)| {
        members.get(*rank).map_or_else(|| format!("rank {rank}"), |member| member.host.clone())
    };
    Some(Flag::HostsBelow { hosts: below.iter().map(name).collect(), of: hosts.len() as u32, least })
}

/// What one process had of its part of the line, by what the verdict is judged by: `whole` holds the line of all, and `part` its own.
fn share(whole: &Context<'_>, part: &Context<'_>, rep: &Rep) -> Option<f64> {
    let Some(job) = &part.cell.training else {
        let share = point_bps(part, rep) / part.line_bps()?;
        return share.is_finite().then_some(share);
    };
    // What its own accelerators were busy; that they would have waited for those of others is a question of all together.
    let busy = mean(&training::figures::utilizations(rep.trained.as_ref()?))?;
    Some(busy * training::figures::demand_samples_per_s(job)? / whole.line_samples_per_s?)
}
