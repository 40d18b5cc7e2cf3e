//! How the cell was read that a verdict rests on.

use feed::{Cache, Durability, Pages};

use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::cells::Cells;
use crate::cell::operation;
use crate::cell::paced::Paced;
use crate::curve::Panel;
use crate::curve::treatment::TierSize;

/// Something without which a verdict could be taken for one on another way of reading the target.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Reads began by a schedule.
    Paced {
        /// `constant`, `poisson`, `batch`.
        arrivals: String,
        /// What was offered, and how much of it was served.
        paced: Paced,
    },
    /// They came from the client's page cache.
    Warm,
    /// They passed a local cache that began empty.
    ThroughTier(TierSize),
    /// The first epoch alone was cold.
    ColdStart,
    /// The target was read in other ways too; this is the one.
    OneOfSeveral(Box<Panel>),
    /// Files were opened one by one.
    WholeFiles {
        /// Whether no name or inode was in memory before.
        names_dropped: bool,
    },
    /// Reads and writes at once.
    Mixed {
        /// Bytes read per second.
        read_bps: f64,
        /// Bytes written per second.
        write_bps: f64,
    },
    /// Writes, and what the storage promises of one that ended.
    Kept(Durability),
    /// Buffers lay in huge pages, which no loader has.
    HugePages,
    /// Threads were kept on the NUMA node of the device, as a loader's are only where somebody keeps them there.
    BesideDevice,
}

/// What has to be said with a verdict that rests on `cell`.
pub(super) fn of_cell(cells: &Cells<'_>, cell: &CellSummary) -> Vec<Condition> {
    let fresh = cell.confirmed.as_ref().and_then(Measurement::figures);
    // Of the fresh repetitions where there are any: the verdict rests on them.
    let figures = fresh.or_else(|| cell.figures());
    let paced = figures.and_then(|figures| figures.paced).filter(|paced| paced.of_line.is_some());
    let paced = cell
        .cell
        .pace
        .as_ref()
        .zip(paced)
        .map(|(pace, paced)| Condition::Paced { arrivals: pace.arrivals.clone(), paced });
    // The strongest condition speaks for all: whoever reads that it came from memory need not be told of which samples.
    let read = if cell.cell.cache == Cache::Warm && !operation::writes_over(&cell.cell) {
        Some(Condition::Warm)
    } else if let Some(tier) = &cell.cell.tier {
        Some(Condition::ThroughTier(TierSize::of(tier)))
    } else if cell.cell.cache == Cache::ColdStart {
        Some(Condition::ColdStart)
    } else {
        is_one_of_several(cells, cell).then(|| Condition::OneOfSeveral(Box::new(Panel::of(cell))))
    };
    let files =
        cell.reads_whole_files().then(|| Condition::WholeFiles { names_dropped: cell.names_are_dropped() });
    // Said though it is a setting: loaders have no such buffers, and do not gain what these bring.
    let huge = cell.cell.pages.as_ref().is_some_and(|pages| *pages == Pages::Huge);
    let huge = huge.then_some(Condition::HugePages);
    let beside = cell.cell.is_beside_device().then_some(Condition::BesideDevice);
    let mixed = figures
        .and_then(|figures| figures.mix.as_ref())
        .map(|mix| Condition::Mixed { read_bps: mix.read_bps.mean, write_bps: mix.write_bps.mean });
    let kept = cell.cell.durability.as_ref().and_then(record::Word::known).map(Condition::Kept);
    paced.into_iter().chain(read).chain(files).chain(mixed).chain(kept).chain(huge).chain(beside).collect()
}

/// Whether the cell's target was read in another way too.
fn is_one_of_several(cells: &Cells<'_>, cell: &CellSummary) -> bool {
    let own = Panel::of(cell);
    let of_target = cells.all.iter().filter(|other| other.cell.target == cell.cell.target);
    of_target.filter(|other| other.line.is_some()).any(|other| !own.is_way_of(cells, other))
}
