//! What a cell does over and over, in the words of the record.

use feed::Operation;
use record::Cell;

/// Whether a cell looks up or lists names: it moves no bytes, so it has neither throughput nor line.
pub(crate) fn is_metadata(cell: &Cell) -> bool {
    cell.operation.is_any(&[Operation::Stat, Operation::List, Operation::GetAttr])
}

/// Whether a cell writes a checkpoint, reads one back, or copies a dataset: it moves bytes, but no samples that a job
/// takes, so it has neither line nor verdict.
pub(crate) fn is_transfer(cell: &Cell) -> bool {
    cell.operation.is_any(&[Operation::Checkpoint, Operation::Restore, Operation::Copy])
}

/// Whether a cell reads samples of its dataset: all that could feed a job.
pub(crate) fn reads_samples(cell: &Cell) -> bool {
    !is_metadata(cell) && !is_transfer(cell)
}

/// Whether a cell reads bytes that lie on storage before it begins: all whose rate a cache could make.
pub(crate) fn reads_bytes(cell: &Cell) -> bool {
    !is_metadata(cell) && cell.operation != Operation::Checkpoint
}

/// Whether a cell opens, reads and closes a whole file each time, as a loader of samples does.
pub(crate) fn is_whole_file(cell: &Cell) -> bool {
    cell.operation == Operation::ReadFile
}

/// Whether a cell asks the file system for names or inodes while it is measured.
pub(crate) fn touches_names(cell: &Cell) -> bool {
    is_metadata(cell) || is_whole_file(cell)
}
