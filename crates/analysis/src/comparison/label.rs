//! What tells a cell from its neighbours, in words.

use std::collections::BTreeMap;

use record::{Axis, AxisWords, Cell};

use crate::cell::operation;

/// Coordinates that a label tells in its own way, or that follow from others.
const TOLD: [Axis; 6] =
    [Axis::Target, Axis::Operation, Axis::Engine, Axis::Depth, Axis::Threads, Axis::ConnectionsSet];

/// The coordinates of each target that have more than one value in a run.
#[derive(Debug, Default)]
pub(super) struct Labels<'a>(BTreeMap<(&'a str, &'a str), Seen<'a>>);

#[derive(Debug, Clone, Copy)]
enum Seen<'a> {
    Once(&'a str),
    Varies,
}

impl<'a> Labels<'a> {
    pub(super) fn of(cells: &'a [Cell]) -> Self {
        let mut seen = BTreeMap::new();
        for cell in cells {
            for axis in &cell.axes {
                let value =
                    // By target: an axis of one target alone is no axis of the others.
                    seen.entry((cell.target.as_str(), axis.name.as_str())).or_insert(Seen::Once(&axis.value));
                if !matches!(value, Seen::Once(first) if **first == *axis.value) {
                    *value = Seen::Varies;
                }
            }
        }
        Self(seen)
    }

    /// `io_uring, block size 128 KiB, depth 32`; the operation first where it varies, or is none that reads.
    pub(super) fn label(&self, cell: &Cell) -> String {
        let varies = |axis: &&AxisWords| {
            let seen = self.0.get(&(cell.target.as_str(), axis.name.as_str()));
            !TOLD.contains(&axis.axis()) && matches!(seen, Some(Seen::Varies))
        };
        // Reading is what nearly every cell does, and saying so would make every label longer.
        let varies_in_operation =
            matches!(self.0.get(&(cell.target.as_str(), "operation")), Some(Seen::Varies));
        let tells = varies_in_operation || operation::is_metadata(cell);
        let mut words: Vec<String> = tells.then(|| cell.operation.to_string()).into_iter().collect();
        words.push(cell.engine.clone());
        words.extend(cell.axes.iter().filter(varies).map(axis_words));
        words.push(format!("depth {}", cell.queue_depth));
        words.join(", ")
    }
}

fn axis_words(axis: &AxisWords) -> String {
    let name = axis.name.replace('_', " ");
    match axis.value.parse::<u64>() {
        Ok(bytes) if axis.unit == "B" => format!("{name} {}", feed::format_bytes(bytes)),
        _ => format!("{name} {}", axis.value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Builder;

    #[test]
    fn a_label_tells_what_varies_on_its_target_alone() {
        let mut builder = Builder::new();
        let axis = |name: &str, value: &str, unit: &str| AxisWords {
            name: name.to_owned(),
            value: value.to_owned(),
            unit: unit.to_owned(),
        };
        for (name, block) in [("a", "131072"), ("b", "1048576")] {
            builder.cell(name, "disk", 32);
            let axes =
                vec![axis("block_size", block, "B"), axis("cache", "bypass", ""), axis("threads", name, "")];
            builder.edit_cell(name, |cell| cell.axes.clone_from(&axes));
        }
        builder.cell("c", "other", 8);
        builder.edit_cell("c", |cell| cell.axes = vec![axis("block_size", "4096", "B")]);
        let labels = Labels::of(&builder.run.cells);
        let words: Vec<String> = builder.run.cells.iter().map(|cell| labels.label(cell)).collect();
        assert_eq!(
            words,
            [
                "io_uring, block size 128 KiB, depth 32",
                "io_uring, block size 1 MiB, depth 32",
                "io_uring, depth 8"
            ]
        );
    }
}
