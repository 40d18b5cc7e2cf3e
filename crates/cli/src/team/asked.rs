//! What is asked of a run of several processes.

use std::sync::Arc;

use launch::{Group, Launcher};

use crate::args::{InputArgs, MeasureArgs, ShowArgs, TeamArgs};

/// What is asked of a run of several processes.
pub(crate) struct Asked<'a> {
    pub(crate) input: &'a InputArgs,
    pub(crate) measure: &'a MeasureArgs,
    pub(crate) show: ShowArgs,
    pub(crate) team: &'a TeamArgs,
    /// Rounds of fresh repetitions beyond those that every run plans.
    pub(crate) rounds: u32,
    pub(crate) strict: bool,
    pub(crate) group: Arc<dyn Group>,
    pub(crate) launcher: Launcher,
}
