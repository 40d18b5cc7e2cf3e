//! Operations, depths, blocks and access orders that every target shares.

use plan::{Advice, Durability, Pages};

use crate::diagnostic::Span;
use crate::list::Axis;
use crate::reader::{Field, Plain};
use crate::table::Keys as _;
use crate::written::Load as Written;

use super::access::Orders;
use super::block::Blocks;
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
    pub(super) durability: Choices<Durability>,
    pub(super) fadvise: Choices<Advice>,
    /// Whether the accelerators of a job wait for each other for checkpoints: one thread alone can let them.
    pub(super) together: bool,
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
    blocks: Blocks,
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
        durability: Choices::of(&written.durability)?,
        fadvise: Choices::of(&written.fadvise)?,
        together: false,
    })
}
