//! Operations, depths, blocks and access orders that every target shares.

use feed::Need;
use plan::{Advice, Durability, Numa, Operation, Pages};

use crate::diagnostic::{Problem, Problems, Span};
use crate::list::Axis;
use crate::reader::{Field, Plain};
use crate::table::Keys as _;
use crate::written::Load as Written;

use super::access::Orders;
use super::block::{Blocks, Sample};
use super::schedule::Schedule;
use super::task::Task;

/// The axes of `load`, resolved as far as they do not depend on a target.
#[derive(Debug)]
pub(super) struct Load {
    pub(super) tasks: Vec<Task>,
    pub(super) schedule: Schedule,
    /// As written: keys of a cell that take part in nothing else are read where the cell is made.
    pub(super) written: Written,
    pub(super) orders: Orders,
    pub(super) blocks: Blocks,
    pub(super) pages: Choices<Pages>,
    pub(super) numa: Choices<Numa>,
    pub(super) durability: Choices<Durability>,
    pub(super) mix: Shares,
    pub(super) fadvise: Choices<Advice>,
    /// Whether the accelerators of a job wait for each other for checkpoints: one thread alone can let them.
    pub(super) together: bool,
}

/// Shares of a mix that are written.
#[derive(Debug)]
pub(super) struct Shares {
    /// Percents as written; the share of the need where there are none.
    listed: Vec<u8>,
    need: Option<Need>,
    pub(super) span: Option<Span>,
}

impl Shares {
    /// As written, or by a need of both; `None` where it was wrong, or where nothing says it, after saying so.
    pub(super) fn of(
        written: &Written,
        tasks: &[Task],
        need: Option<&Need>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let table = written.mix.entry()?.map(|entry| &entry.value);
        let listed = table.map_or(Some(Vec::new()), |table| table.write.value_or(Vec::new()))?;
        let mixes = tasks.iter().find(|task| task.operation == Operation::Mix);
        if let (Some(task), true) = (mixes, listed.is_empty())
            && need.is_some_and(|need| need.write_bps.is_none())
        {
            let problem = Problem::new("how much of a mix is written? Neither the load says it nor the need");
            let place = task.span.or(written.mix.span()).unwrap_or_default();
            problems.push(problem.at(place, "reads and writes").help(
                "write load.mix = { write = \"30 %\" }, or need = { rate = \"2 GB/s\", write_rate = \"500 MB/s\" }",
            ));
            return None;
        }
        Some(Self { listed, need: need.cloned(), span: written.mix.span() })
    }

    /// The share of a cell, percent; `None` of one that does not mix.
    pub(super) fn at(&self, index: usize, operation: Operation, sample: Sample) -> Option<u8> {
        let mixes = operation == Operation::Mix;
        let by_need = || {
            // A need of both asks for some of each.
            self.need.as_ref()?.write_percent(sample.bytes? as f64)
        };
        mixes.then(|| self.listed.get(index).copied().or_else(by_need)).flatten()
    }

    /// Number of shares.
    pub(super) fn count(&self, operation: Operation) -> usize {
        if operation == Operation::Mix { self.listed.len().max(1) } else { 1 }
    }
}

/// A list that some kinds of cell take, and others cannot.
#[derive(Debug)]
pub(super) struct Choices<T> {
    listed: Vec<T>,
    pub(super) span: Option<Span>,
}

impl<T: Copy + Default + PartialEq> Choices<T> {
    /// As written, or the default alone; `None` where it was wrong.
    fn of<W: Plain<T>>(written: &Field<Axis<W>>) -> Option<Self> {
        Some(Self { listed: written.value_or(vec![T::default()])?, span: written.span() })
    }

    /// The choice of a cell that says it. The default says nothing where nothing else is listed: a cell was named without
    /// it before there was a choice, and names are compared with those of old records.
    pub(super) fn at(&self, index: usize, is_taken: bool) -> Option<T> {
        (is_taken && self.listed != [T::default()]).then(|| self.listed[index])
    }

    /// All that are listed, or the default.
    pub(super) fn listed(&self) -> &[T] {
        &self.listed
    }

    /// Number of choices.
    pub(super) fn count(&self, is_taken: bool) -> usize {
        if is_taken { self.listed.len() } else { 1 }
    }
}

/// The rest of `load`; `None` when something was wrong.
pub(super) fn resolve(
    written: &Written,
    tasks: Vec<Task>,
    (schedule, orders): (Schedule, Orders),
    (blocks, mix): (Blocks, Shares),
) -> Option<Load> {
    // Every key at once, so that none can be forgotten that nothing here reads by name.
    if written.is_wrong() {
        return None;
    }
    Some(Load {
        tasks,
        schedule,
        written: written.clone(),
        orders,
        blocks,
        pages: Choices::of(&written.pages)?,
        numa: Choices::of(&written.numa)?,
        durability: Choices::of(&written.durability)?,
        mix,
        fadvise: Choices::of(&written.fadvise)?,
        together: false,
    })
}
