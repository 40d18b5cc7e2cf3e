//! What a cell does over and over, in the words of the record.

use feed::{Durability, Flow, Operation};
use record::Cell;

use crate::cell::mix;

/// Whether a cell looks up, lists or changes names: it moves no bytes, so it has neither throughput nor line.
pub(crate) fn is_metadata(cell: &Cell) -> bool {
    cell.operation.known().is_some_and(Operation::is_of_names)
}

/// Whether a cell writes a checkpoint, reads one back, or copies a dataset: it moves bytes, but no samples that a job
/// takes, so it has neither line nor verdict.
pub(crate) fn is_transfer(cell: &Cell) -> bool {
    cell.operation.is_any(&[Operation::Checkpoint, Operation::Restore, Operation::Copy])
}

/// Whether all that a cell does is to write over its dataset, blocks or whole objects.
pub(crate) fn is_write(cell: &Cell) -> bool {
    cell.operation.is_any(&[Operation::Write, Operation::WriteFile])
}

/// Whether a cell writes over its dataset, alone or beside blocks that it reads.
pub(crate) fn writes_over(cell: &Cell) -> bool {
    cell.operation.known().is_some_and(Operation::writes_over)
}

/// Whether a cell's writes are kept when they end. Not known of a durability of a newer version.
pub(crate) fn is_kept(cell: &Cell) -> bool {
    let durability = cell.durability.as_ref().and_then(record::Word::known);
    durability.is_some_and(|one| one != Durability::None)
}

/// Whether a cell reads samples of its dataset: all that could feed a job.
pub(crate) fn reads_samples(cell: &Cell) -> bool {
    moves_samples(cell) && !writes_over(cell)
}

/// Whether a cell reads samples of its dataset, alone or beside others that it writes over.
pub(crate) fn reads_any_samples(cell: &Cell) -> bool {
    moves_samples(cell) && !is_write(cell)
}

/// Whether a cell reads or writes samples of its dataset, or blocks of them.
pub(crate) fn moves_samples(cell: &Cell) -> bool {
    !is_metadata(cell) && !is_transfer(cell)
}

/// Whether what a cell does is what a need asks for: only then a line is held against it.
pub(crate) fn is_asked_for(cell: &Cell, asked: Flow) -> bool {
    // An operation of a newer version reads, for all that is known.
    let flow = cell.operation.known().map_or(Some(Flow::Reads), Operation::flow);
    flow == Some(asked) && (asked != Flow::Both || mix::share(cell).is_some())
}

/// Whether a cell reads bytes that lie on storage before it begins: all whose rate a cache could make.
pub(crate) fn reads_bytes(cell: &Cell) -> bool {
    !is_metadata(cell) && cell.operation != Operation::Checkpoint && !is_write(cell)
}

/// Whether a cell opens, reads and closes a whole file each time, as a loader of samples does.
pub(crate) fn is_whole_file(cell: &Cell) -> bool {
    cell.operation == Operation::ReadFile
}

/// Whether each operation of a cell is of a whole object.
pub(crate) fn is_of_whole_objects(cell: &Cell) -> bool {
    cell.operation.known().is_some_and(Operation::is_of_whole_objects)
}

/// Whether a cell asks the file system for names or inodes while it is measured.
pub(crate) fn touches_names(cell: &Cell) -> bool {
    cell.operation != Operation::Names && is_metadata(cell) || is_whole_file(cell)
}
