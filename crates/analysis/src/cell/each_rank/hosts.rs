//! Hosts that get less than their part of the line.
//!
//! The line is what all hosts need together. A storage that gives some of them more than they take does not feed the others.

use std::collections::BTreeMap;

use record::{Member, Rep, counter};

use crate::cell::cell_summary::CellSummary;
use crate::cell::counters::per_s;
use crate::cell::flag::Flag;
use crate::cell::interval::mean;

/// The hosts whose mean over the fresh repetitions of `cell` is less than their part of its line; `None` where there is none, or
/// no line, and of one host.
///
/// Processes of one machine count together: how they share what it gets is theirs.
// By the mean and not by an interval: that all of them together reach the line is known with its certainty, and of a host that is
// more likely below than above nothing better can be said than that it is open.
pub(super) fn below(of_ranks: &[&Vec<&Rep>], members: &[Member], cell: &CellSummary) -> Option<Flag> {
    let ranks = of_ranks.first()?.len();
    let part_bps = cell.line?.bps / ranks as f64;
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
        let bps = |of_rep: &&Vec<&Rep>| -> f64 {
            own.iter().map(|rank| per_s(of_rep[*rank], counter::BYTES)).sum()
        };
        Some(mean(&of_ranks.iter().map(bps).collect::<Vec<_>>())? / (part_bps * own.len() as f64))
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
