//! Whether a scenario set several values of what otherwise follows the depth.

use std::collections::BTreeMap;

use record::axis::{Groups, alike, others};
use record::{Axis, Cell, Datasets};

/// Whether two of `cells` differ at one depth along an axis that otherwise follows the depth, as threads and streams do, and
/// in nothing else: then the scenario set several values of it.
pub(crate) fn is_set(run: &impl Datasets, cells: &[&Cell], axis: Axis) -> bool {
    // These follow the depth as well: streams bring a buffer each, and queue depth asks for connections.
    let but = [axis, Axis::Connections, Axis::ShuffleBuffer];
    let (mut groups, mut firsts) = (Groups::along(others(&but)), Vec::<&Cell>::new());
    // Nearly all are alone at their depth, and nothing is held against them.
    let mut at_depth: BTreeMap<u32, usize> = BTreeMap::new();
    for cell in cells {
        *at_depth.entry(cell.queue_depth).or_default() += 1;
    }
    cells.iter().filter(|cell| at_depth[&cell.queue_depth] > 1).any(|cell| {
        // The depth is not among what may differ, so that all of a group are of one.
        let group = groups.place(run, cell, |group| alike(run, firsts[group], cell, &but));
        if group == firsts.len() {
            firsts.push(cell);
        }
        firsts[group].at(axis, run) != cell.at(axis, run)
    })
}
