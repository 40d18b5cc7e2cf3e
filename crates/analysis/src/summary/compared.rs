//! Several engines on one target behind a network, side by side.

use record::Target;
use record::axis::{self, alike};

use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;
use crate::cell::figures::Figures;
use crate::choice;

/// An engine beside the one of the cell that would be chosen of a target.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineBeside {
    /// The target.
    pub target: String,
    /// A cell of the engine.
    pub other: EngineCell,
    /// The cell that would be chosen.
    pub best: EngineCell,
}

/// A cell of an engine.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineCell {
    /// The engine, with its advice for maps.
    pub engine: String,
    /// Reads outstanding.
    pub queue_depth: u32,
    /// Bytes per second, mean.
    pub bps: f64,
}

/// Beside the cell that would be chosen of all, each other engine at the same depth, or where it has none, at the one that
/// would be chosen for it alone. Cells read in other ways, or with other threads, connections or retries, are not compared:
/// these may make the difference.
pub(crate) fn engines(cells: &Cells<'_>) -> Vec<EngineBeside> {
    let storage = cells.targets.iter().filter(|target| target.storage);
    storage.flat_map(|target| of_target(cells, target)).collect()
}

fn of_target(cells: &Cells<'_>, target: &Target) -> Vec<EngineBeside> {
    let mut engines: Vec<&str> = Vec::new();
    // Locally the engines are kernel interfaces, which have a panel side by side. Behind a network one of them is the vendor's
    // client, and what it loses to the wire protocol is asked for.
    let remote = |cell: &&CellSummary| cell.cell.target == target.name && cell.cell.connections > 0;
    for cell in cells.all.iter().filter(remote) {
        if !engines.contains(&cell.cell.engine.as_str()) {
            engines.push(&cell.cell.engine);
        }
    }
    // Against the cell that is judged, so that the ratio is of the figure that a reader has before him.
    let Some(best) = choice::chosen(cells, &target.name).filter(remote) else { return Vec::new() };
    let Some(most) = best.figures() else { return Vec::new() };
    let same_depth = |engine: &str| {
        let mut others = cells.all.iter().filter(remote);
        others.find(|cell| cell.cell.engine == engine && alike(cells, &cell.cell, &best.cell, axis::ENGINES))
    };
    let is_like_best = |cell: &&CellSummary| alike(cells, &cell.cell, &best.cell, axis::ENGINES_AT_ANY_DEPTH);
    let beside = |engine: &&str| {
        // At one depth first: an engine at its own best depth is compared by the depth as much as by the engine.
        let cell = same_depth(engine).filter(|cell| cell.figures().is_some());
        let of_engine = || choice::of_engine(cells, &target.name, engine);
        let cell = cell.or_else(|| of_engine().filter(is_like_best))?;
        Some((cell, cell.figures()?))
    };
    let others: Vec<(&CellSummary, &Figures)> =
        engines.iter().filter(|engine| **engine != best.cell.engine).filter_map(beside).collect();
    let of = |cell: &CellSummary, figures: &Figures| EngineCell {
        engine: cell.engine_label(),
        queue_depth: cell.cell.queue_depth,
        bps: figures.bps.mean,
    };
    let beside = |(cell, figures): (&CellSummary, &Figures)| EngineBeside {
        target: target.name.clone(),
        other: of(cell, figures),
        best: of(best, most),
    };
    others.into_iter().map(beside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Builder, rep};
    use crate::{Note, summarise};

    #[test]
    fn cells_reached_otherwise_are_not_compared_by_their_engines() {
        let compared = |queue_depth, edit: fn(&mut record::Cell)| {
            let mut builder = Builder::new();
            builder.cell("c", "disk", 8);
            builder.edit_cell("c", |cell| cell.connections = 8);
            (0..3).for_each(|number| builder.push(rep("c", number, 1.5 * Builder::LINE_BPS)));
            builder.cell("d", "disk", queue_depth);
            builder
                .edit_cell("d", |cell| (cell.engine, cell.connections) = ("other".to_owned(), queue_depth));
            builder.edit_cell("d", edit);
            (0..3).for_each(|number| builder.push(rep("d", number, 0.6 * Builder::LINE_BPS)));
            summarise(&builder.record()).notes.iter().any(|note| matches!(note, Note::Engine(_)))
        };
        for depth in [8, 16] {
            assert!(compared(depth, |_| {}));
            assert!(!compared(depth, |cell| cell.threads = 1));
            assert!(!compared(depth, |cell| cell.retries = 2));
            assert!(!compared(depth, |cell| cell.connections = 4));
        }
    }

    /// Two engines, each at 80 % of the line and at the line, all of which is served.
    #[test]
    fn engines_are_compared_at_one_rate() {
        let mut builder = Builder::new();
        for engine in ["lean", "sdk"] {
            for (rate, of_line) in [("80%", 0.8), ("line", 1.0)] {
                let name = format!("disk/{engine}/paced-{rate}");
                builder.cell(&name, "disk", 8);
                builder.edit_cell(&name, |cell| (cell.engine, cell.connections) = (engine.to_owned(), 8));
                (0..3).for_each(|number| builder.push(rep(&name, number, of_line * Builder::LINE_BPS)));
                builder.pace(&name, of_line, 1.0);
            }
        }
        let notes = summarise(&builder.record()).notes;
        let [Note::Engine(EngineBeside { other, best, .. })] = &notes[..] else { panic!("{notes:?}") };
        assert_eq!((other.engine.as_str(), best.engine.as_str()), ("sdk", "lean"));
        assert_eq!((other.queue_depth, other.bps.to_bits()), (8, best.bps.to_bits()));
    }
}
