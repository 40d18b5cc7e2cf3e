//! Datasets that were made ready, each on a target that reads it.

use plan::{Cell, DatasetSpec, Layout, Plan};
use prepare::Prepared;

/// One dataset on one target.
pub struct OnTarget {
    /// Index of the target.
    pub target: usize,
    /// Index of the dataset in the plan.
    pub dataset: usize,
    /// What is there.
    pub prepared: Prepared,
}

/// All datasets that cells read.
pub struct Datasets(Vec<OnTarget>);

impl Datasets {
    /// These, in the order of a record.
    pub fn new(all: Vec<OnTarget>) -> Self {
        Self(all)
    }

    /// Every dataset, in the order of a record.
    pub fn all(&self) -> &[OnTarget] {
        &self.0
    }

    /// Index into [`Datasets::all`] of what a cell reads.
    pub fn index(&self, cell: &Cell) -> usize {
        let same = |one: &OnTarget| (one.target, one.dataset) == (cell.target, cell.dataset);
        // A handful of datasets: a map would be longer than the list.
        self.0.iter().position(same).expect("every cell's dataset was made ready")
    }

    /// What a cell reads.
    pub fn of(&self, cell: &Cell) -> &Prepared {
        &self.0[self.index(cell)].prepared
    }

    /// SHA-256 over the access plans of all cells: which bytes are read in which order.
    pub fn plan_hash(&self, plan: &Plan) -> String {
        plan_hash(plan.cells.iter().map(|cell| (cell, &*self.of(cell).data)))
    }
}

/// Hash over the distinct access plans of cells, whatever their number, engine or depth.
pub fn plan_hash<'a>(cells: impl Iterator<Item = (&'a Cell, &'a dataset::Data)>) -> String {
    let mut by_data: Vec<(&dataset::Data, Vec<&Cell>)> = Vec::new();
    for (cell, data) in cells {
        match by_data.iter_mut().find(|(known, _)| std::ptr::eq(*known, data)) {
            Some((_, cells)) => cells.push(cell),
            None => by_data.push((data, vec![cell])),
        }
    }
    let hashes = by_data.into_iter().flat_map(|(data, cells)| dataset::plan_hashes(data, cells));
    // Sorted and without doubles there, so that two scenarios that list the same cells in another order read the
    // same.
    dataset::combined_hash(hashes.collect())
}

/// Bytes that a cell reads for one sample: as stated of a user's data, else headers, padding and whole shards included,
/// as its order reads them.
pub fn sample_bytes(prepared: &Prepared, spec: &DatasetSpec, cell: &Cell) -> f64 {
    let stated = matches!(spec, DatasetSpec::Existing(plan::Existing { sample_bytes: Some(_), .. }));
    // What the user states of their data is what the need counts, whatever the order reads of a shard beside it.
    if stated || prepared.layout == Layout::Files {
        return prepared.sample_bytes;
    }
    prepared.data.sample_bytes(cell.access)
}
