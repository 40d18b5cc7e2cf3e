//! What sets cells apart that a panel and a curve do not show by themselves.

use record::axis;
use record::{Axis, AxisWords, Cell};

/// Whether a panel or a curve shows an axis by itself.
fn is_shown(axis: Axis) -> bool {
    let own = [Axis::Target, Axis::Engine, Axis::Dataset, Axis::Cache, Axis::Tier];
    [axis::PANEL, axis::CURVE, &own].iter().any(|axes| axes.contains(&axis))
}

/// How the samples of a cell lie, where the scenario says so.
pub(super) fn layout(cell: &Cell) -> Option<String> {
    cell.said_along(Axis::Layout).map(str::to_owned)
}

/// Which axes along which a curve usually runs set it apart from others instead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Apart {
    pub(super) threads: bool,
    pub(super) streams: bool,
}

impl Apart {
    /// What may differ along the curve: what sets it apart may not.
    pub(super) fn may_differ(self) -> Vec<Axis> {
        let is_apart = |axis: &Axis| match axis {
            Axis::Threads => self.threads,
            Axis::Streams => self.streams,
            _ => false,
        };
        axis::CURVE.iter().copied().filter(|axis| !is_apart(axis)).collect()
    }
}

/// What tells a curve from others of its target and engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distinction {
    /// Its value along an axis that neither panel nor curve shows by itself.
    Along(AxisWords),
    /// Streams, where several numbers of them were read at one depth.
    Streams(u32),
    /// Threads, likewise.
    Threads(u32),
    /// It is read through a cache tier, and no axis says so.
    ThroughCache,
    /// Its engine stands in for one that could not be had.
    StandIn,
}

/// What tells the curve of a cell from others of its target and engine; often nothing.
pub(super) fn distinctions(cell: &Cell, apart: Apart) -> Vec<Distinction> {
    let along = cell.axes.iter().filter(|words| !is_shown(words.axis()));
    let streams = cell.streams.filter(|_| apart.streams).map(Distinction::Streams);
    let threads = apart.threads.then_some(Distinction::Threads(cell.threads));
    // Where the scenario varies the tier, its value stands among the axes already.
    let is_tier_an_axis = cell.axes.iter().any(|words| words.axis() == Axis::Tier);
    let cache = (cell.tier.is_some() && !is_tier_an_axis).then_some(Distinction::ThroughCache);
    // Always told apart: a stand-in must not be taken for the engine that was asked for.
    let stand_in = cell.stands_in_for.is_some().then_some(Distinction::StandIn);
    let along = along.cloned().map(Distinction::Along);
    along.chain(streams).chain(threads).chain(cache).chain(stand_in).collect()
}

#[cfg(test)]
mod tests {
    use record::AxisWords;

    use super::Distinction;
    use crate::fixture::{Builder, rep};

    /// Two depths of files and of shards that are streamed: as many streams as reads in flight, or these each.
    fn laid_out(streams: &[u32]) -> crate::Summary {
        let mut builder = Builder::new();
        for depth in [2, 16] {
            add(&mut builder, "files", depth, None);
            let own = [depth];
            let streams = if streams.is_empty() { &own } else { streams };
            for streams in streams {
                add(&mut builder, "webdataset", depth, Some(*streams));
            }
        }
        crate::summarise(&builder.record())
    }

    fn add(builder: &mut Builder, layout: &str, depth: u32, streams: Option<u32>) {
        let name = format!("{layout}/{depth}/{streams:?}");
        builder.cell(&name, "disk", depth);
        builder.edit_cell(&name, |cell| {
            let axis =
                |name: &str, value: String| AxisWords { name: name.to_owned(), value, unit: String::new() };
            cell.streams = streams;
            cell.axes = vec![axis("layout", layout.to_owned())];
            cell.axes.extend(streams.map(|streams| axis("streams", streams.to_string())));
        });
        (0..3).for_each(|number| builder.push(rep(&name, number, 1e8)));
    }

    #[test]
    fn each_layout_is_a_panel_that_names_it_and_depth_runs_along_one_curve() {
        for summary in [laid_out(&[]), laid_out(&[8])] {
            let layouts: Vec<Option<&str>> =
                summary.panels.iter().map(|panel| panel.layout.as_deref()).collect();
            assert_eq!(layouts, [Some("files"), Some("webdataset")]);
            for panel in &summary.panels {
                assert_eq!(panel.curves.len(), 1, "a stream for each read in flight is no axis of its own");
                assert_eq!((panel.curves[0].cells.len(), &panel.curves[0].distinctions[..]), (2, &[][..]));
            }
        }
    }

    #[test]
    fn several_numbers_of_streams_at_a_depth_are_a_curve_each() {
        let summary = laid_out(&[4, 8]);
        let apart: Vec<_> = summary.panels[1].curves.iter().flat_map(|curve| &curve.distinctions).collect();
        assert_eq!(apart, [&Distinction::Streams(4), &Distinction::Streams(8)]);
    }
}
