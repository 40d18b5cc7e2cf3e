//! What verdicts follow from.

use record::RunRecord;

use crate::cell::cells::Cells;
use crate::cell::checkpoints::Checkpoints;
use crate::cell::lines::Lines;
use crate::cell::ranks::Ranks;
use crate::curve::Panel;

/// What verdicts follow from: a record, and what was made of it so far.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) record: &'a RunRecord,
    pub(crate) lines: &'a Lines<'a>,
    /// Whose repetitions these are; absent for a run of one process.
    pub(crate) ranks: Option<Ranks>,
    pub(crate) cells: Cells<'a>,
    pub(crate) panels: &'a [Panel],
    pub(crate) checkpoints: &'a Checkpoints,
}
