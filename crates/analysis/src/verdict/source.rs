//! What verdicts follow from.

use record::RunRecord;

use crate::cell::cells::Cells;
use crate::cell::checkpoints::Checkpoints;
use crate::cell::lines::Lines;
use crate::curve::Panel;

/// What verdicts follow from: a record, and what was made of it so far.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) record: &'a RunRecord,
    pub(crate) lines: &'a Lines<'a>,
    pub(crate) cells: Cells<'a>,
    pub(crate) panels: &'a [Panel],
    pub(crate) checkpoints: &'a Checkpoints,
}
