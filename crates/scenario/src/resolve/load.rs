//! Operations, depths, blocks and access orders that every target shares.

use plan::{Operation, Pages};

use crate::diagnostic::Span;
use crate::list::Axis;
use crate::reader::Field;
use crate::table::Keys as _;
use crate::words::Word;
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
    pub(super) pages: Paging,
    /// Whether the accelerators of a job wait for each other for checkpoints: one thread alone can let them.
    pub(super) together: bool,
}

/// The pages of buffers as written, or those of a loader.
#[derive(Debug)]
pub(super) struct Paging {
    listed: Vec<Pages>,
    pub(super) span: Option<Span>,
}

impl Paging {
    /// The pages of one kind of cell, and whether it is to say so: where they differ, or are not what a reader expects.
    pub(super) fn at(&self, index: usize, operation: Operation) -> (Pages, bool) {
        let reads = operation.reads_bytes();
        let pages = if reads { self.listed[index] } else { Pages::default() };
        (pages, reads && self.listed != [Pages::default()])
    }

    /// Number of kinds of pages.
    pub(super) fn count(&self, operation: Operation) -> usize {
        if operation.reads_bytes() { self.listed.len() } else { 1 }
    }
}

/// The rest of `load`; `None` when something was wrong.
pub(super) fn resolve(
    written: &Written,
    tasks: Vec<Task>,
    (schedule, orders): (Schedule, Orders),
    (blocks, pages): (Blocks, Paging),
) -> Option<Load> {
    if written.is_wrong() {
        return None;
    }
    Some(Load { tasks, schedule, written: written.clone(), orders, blocks, pages, together: false })
}

/// The pages of buffers; `None` when they were wrong.
pub(super) fn pages(written: &Field<Axis<Word<Pages>>>) -> Option<Paging> {
    Some(Paging { listed: written.value_or(vec![Pages::default()])?, span: written.span() })
}
