//! What sets cells apart that a panel and a curve do not show by themselves.

use record::axis;
use record::{Axis, Cell};

/// Whether a panel or a curve shows an axis by itself.
fn is_shown(axis: Axis) -> bool {
    let own = [Axis::Target, Axis::Engine, Axis::Dataset, Axis::Cache, Axis::Tier];
    [axis::PANEL, axis::CURVE, &own].iter().any(|axes| axes.contains(&axis))
}

/// How the samples of a cell lie, where the scenario says so.
pub(super) fn layout(cell: &Cell) -> Option<String> {
    cell.axes.iter().find(|words| words.axis() == Axis::Layout).map(|words| words.value.clone())
}

/// Axes that are told of a curve only where they set it apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) threads: bool,
    pub(super) streams: bool,
}

impl Told {
    /// What may differ along the curve: what is told of it may not.
    pub(super) fn may_differ(self) -> Vec<Axis> {
        let is_told = |axis: &Axis| match axis {
            Axis::Threads => self.threads,
            Axis::Streams => self.streams,
            _ => false,
        };
        axis::CURVE.iter().copied().filter(|axis| !is_told(axis)).collect()
    }
}

/// What tells a curve from others of its target and engine, in words; often empty.
pub(super) fn distinction(cell: &Cell, told: Told) -> String {
    let mut parts: Vec<String> = cell
        .axes
        .iter()
        .filter(|words| !is_shown(words.axis()))
        .map(|words| match words.axis() {
            // The engine beside it says whose advice it is.
            Axis::Advice => words.value.clone(),
            // Columns are narrow: what differs comes first.
            Axis::Pages => format!("{} pages", words.value),
            _ => format!("{} {}{}", words.name, words.value, words.unit),
        })
        .collect();
    let streams = cell.streams.filter(|_| told.streams);
    parts.extend(streams.map(|streams| feed::counted_noun(streams.into(), "stream")));
    if told.threads {
        parts.push(format!("{} threads", cell.threads));
    }
    let tells_tier = cell.axes.iter().any(|words| words.axis() == Axis::Tier);
    if cell.tier.is_some() && !tells_tier {
        parts.push("through a cache".to_owned());
    }
    if cell.stands_in_for.is_some() {
        parts.push("stand-in".to_owned());
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use record::AxisWords;

    use crate::Panel;
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
            let conditions: Vec<String> = summary.panels.iter().map(Panel::conditions).collect();
            let named = conditions[0].starts_with("files, ") && conditions[1].starts_with("webdataset, ");
            assert!(named, "{conditions:?}");
            for panel in &summary.panels {
                assert_eq!(panel.curves.len(), 1, "a stream for each read in flight is no axis of its own");
                assert_eq!((panel.curves[0].cells.len(), panel.curves[0].distinction.as_str()), (2, ""));
            }
        }
    }

    #[test]
    fn several_numbers_of_streams_at_a_depth_are_a_curve_each() {
        let summary = laid_out(&[4, 8]);
        let told: Vec<&str> =
            summary.panels[1].curves.iter().map(|curve| curve.distinction.as_str()).collect();
        assert_eq!(told, ["4 streams", "8 streams"]);
    }
}
