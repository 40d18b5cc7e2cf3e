//! What sets cells apart that a panel and a curve do not show by themselves.

use record::Cell;

/// Coordinates that a panel or a curve shows by itself.
const KNOWN_AXES: [&str; 13] = [
    "cache_tier",
    "layout",
    "streams",
    "target",
    "engine",
    "dataset",
    "sample_size",
    "operation",
    "block_size",
    "access",
    "cache",
    "queue_depth",
    "threads",
];

/// How the samples of a cell lie, where the scenario says so.
pub(super) fn layout(cell: &Cell) -> Option<&str> {
    cell.axes.iter().find(|axis| axis.name == "layout").map(|axis| axis.value.as_str())
}

/// `8 streams`; nothing where a stream is a read in flight, so that its number follows the depth along a curve.
fn streams(cell: &Cell) -> Option<String> {
    let streams = cell.streams.filter(|streams| *streams > 0 && *streams != cell.queue_depth)?;
    Some(feed::counted_noun(streams.into(), "stream"))
}

/// What tells a curve from others of its target and engine, in words; often empty.
pub(super) fn distinction(cell: &Cell, threads: bool) -> String {
    let mut parts: Vec<String> = cell
        .axes
        .iter()
        .filter(|axis| !KNOWN_AXES.contains(&axis.name.as_str()))
        .map(|axis| match axis.name.as_str() {
            // The engine beside it says whose advice it is.
            "madvise" => axis.value.clone(),
            name => format!("{name} {}{}", axis.value, axis.unit),
        })
        .collect();
    parts.extend(streams(cell));
    if threads {
        parts.push(format!("{} threads", cell.threads));
    }
    let tells_tier = cell.axes.iter().any(|axis| axis.name.contains("tier"));
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
    use crate::Panel;
    use crate::fixture::{Builder, rep};

    /// Two depths of files and of shards that are streamed, as many streams as reads in flight or always 8.
    fn laid_out(streams: Option<u32>) -> crate::Summary {
        let mut builder = Builder::new();
        for layout in ["files", "webdataset"] {
            for depth in [2, 16] {
                let name = format!("{layout}{depth}");
                builder.cell(&name, "disk", depth);
                builder.edit_cell(&name, |cell| {
                    let axis = |name: &str, value: &str| record::Axis {
                        name: name.to_owned(),
                        value: value.to_owned(),
                        unit: String::new(),
                    };
                    cell.axes = vec![axis("layout", layout)];
                    if layout != "files" {
                        let streams = streams.unwrap_or(depth);
                        cell.streams = Some(streams);
                        cell.axes.push(axis("streams", &streams.to_string()));
                    }
                });
                (0..3).for_each(|number| builder.push(rep(&name, number, 1e8)));
            }
        }
        crate::summarise(&builder.record())
    }

    #[test]
    fn each_layout_is_a_panel_that_names_it_and_depth_runs_along_one_curve() {
        let summary = laid_out(None);
        let conditions: Vec<String> = summary.panels.iter().map(Panel::conditions).collect();
        assert!(
            conditions[0].starts_with("files, ") && conditions[1].starts_with("webdataset, "),
            "{conditions:?}"
        );
        for panel in &summary.panels {
            assert_eq!(panel.curves.len(), 1, "a stream for each read in flight is no axis of its own");
            assert_eq!((panel.curves[0].cells.len(), panel.curves[0].distinction.as_str()), (2, ""));
        }
    }

    #[test]
    fn a_number_of_streams_that_is_not_the_depth_is_said() {
        let summary = laid_out(Some(8));
        assert_eq!(summary.panels[1].curves[0].distinction, "8 streams");
    }
}
