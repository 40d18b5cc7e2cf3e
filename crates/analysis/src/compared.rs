//! Several engines on one target behind a network, side by side.

use record::{Cell, Target};

use crate::choose;
use crate::figures::Figures;
use crate::flag::percent;
use crate::summary::{CellSummary, Summary};

/// `s3: sdk reaches 62 % of lean (920 MB/s of 1.49 GB/s, at depths 512 and 512)`: beside the cell that would be chosen of
/// all, each other engine at the same depth, or where it has none, at the one that would be chosen for it alone. Cells
/// of other threads, connections or retries are not compared: these may make the difference.
pub(crate) fn engines(summary: &Summary) -> Vec<String> {
    let storage = summary.targets.iter().filter(|target| target.storage);
    storage.flat_map(|target| of_target(summary, target)).collect()
}

fn of_target(summary: &Summary, target: &Target) -> Vec<String> {
    let mut engines: Vec<&str> = Vec::new();
    let remote = |cell: &&CellSummary| cell.cell.target == target.name && cell.cell.connections > 0;
    for cell in summary.cells.iter().filter(remote) {
        if !engines.contains(&cell.cell.engine.as_str()) {
            engines.push(&cell.cell.engine);
        }
    }
    let Some(best) = choose::choose_cell(summary, &target.name).filter(remote) else { return Vec::new() };
    let Some(most) = best.figures() else { return Vec::new() };
    let same_depth = |engine: &str| {
        let mut cells = summary.cells.iter().filter(remote);
        cells.find(|cell| cell.cell.engine == engine && differs_in_engine_alone(cell, best))
    };
    let beside = |engine: &&str| {
        let cell = same_depth(engine).filter(|cell| cell.figures().is_some());
        let of_engine = || choose::of_engine(summary, &target.name, engine);
        let cell = cell.or_else(|| of_engine().filter(|cell| is_reached_alike(cell, best)))?;
        Some((cell, cell.figures()?))
    };
    let others: Vec<(&CellSummary, &Figures)> =
        engines.iter().filter(|engine| **engine != best.cell.engine).filter_map(beside).collect();
    let words = |(cell, figures): &(&CellSummary, &Figures)| {
        format!(
            "{}: {} reaches {} of {} ({} of {}, at depths {} and {})",
            target.name,
            cell.engine_label(),
            percent(figures.bps.mean / most.bps.mean),
            best.engine_label(),
            feed::format_bps(figures.bps.mean),
            feed::format_bps(most.bps.mean),
            cell.cell.queue_depth,
            best.cell.queue_depth
        )
    };
    others.iter().map(words).collect()
}

fn differs_in_engine_alone(one: &CellSummary, other: &CellSummary) -> bool {
    let way = |cell: &CellSummary| {
        let cell = &cell.cell;
        let words = (cell.operation.clone(), cell.access.clone(), cell.cache.clone());
        (words, cell.dataset, cell.block_bytes, cell.queue_depth, cell.pace.is_some(), cell.training.clone())
    };
    let connections = |cell: &CellSummary| cell.cell.connections;
    way(one) == way(other) && is_reached_alike(one, other) && connections(one) == connections(other)
}

/// Same load, same threads, same retries, and as many connections, or one for each request outstanding.
fn is_reached_alike(one: &CellSummary, other: &CellSummary) -> bool {
    let (one, other) = (&one.cell, &other.cell);
    let follows_depth = |cell: &Cell| cell.connections == cell.queue_depth;
    let connections = one.connections == other.connections || (follows_depth(one) && follows_depth(other));
    let is_job = |cell: &Cell| cell.training.is_some();
    connections
        && is_job(one) == is_job(other)
        && (one.threads, one.retries) == (other.threads, other.retries)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{Builder, rep};
    use crate::summarise;

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
            summarise(&builder.record()).notes.iter().any(|note| note.contains("other reaches"))
        };
        for depth in [8, 16] {
            assert!(compared(depth, |_| {}));
            assert!(!compared(depth, |cell| cell.threads = 1));
            assert!(!compared(depth, |cell| cell.retries = 2));
            assert!(!compared(depth, |cell| cell.connections = 4));
        }
    }
}
