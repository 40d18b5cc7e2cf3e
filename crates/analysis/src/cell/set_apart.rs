//! Whether a scenario set several values of what otherwise follows the depth.

use record::axis::alike;
use record::{Axis, Cell, Datasets};

/// Whether two of `cells` differ at one depth along an axis that otherwise follows the depth, as threads and streams do, and
/// in nothing else: then the scenario set several values of it.
pub(crate) fn is_set(run: &impl Datasets, cells: &[&Cell], axis: Axis) -> bool {
    // These follow the depth as well: streams bring a buffer each, and queue depth asks for connections.
    let but = [axis, Axis::Connections, Axis::ShuffleBuffer];
    cells.iter().enumerate().any(|(index, one)| {
        cells[index + 1..].iter().any(|two| {
            one.queue_depth == two.queue_depth
                && one.at(axis, run) != two.at(axis, run)
                && alike(run, one, two, &but)
        })
    })
}
