//! What is asked of a run of several processes.

use std::path::Path;
use std::sync::Arc;

use engine::Bench;
use launch::{Group, Launcher};
use record::NotRun;

use crate::args::{InputArgs, MeasureArgs, ShowArgs, TeamArgs};
use crate::conclusion::Conclusion;
use crate::exit::{Exit, Failure};
use crate::load::Loaded;
use crate::session::{Ready, Session};

/// Makes repetitions, as rank 0 decides for all.
pub(crate) type Make<'a> =
    dyn Fn(&Ready, &mut Session<'_>, &mut Bench<'_>) -> Result<Vec<NotRun>, Failure> + 'a;

/// What is asked of a run of several processes.
pub(crate) struct Asked<'a> {
    pub(crate) input: &'a InputArgs,
    pub(crate) measure: &'a MeasureArgs,
    pub(crate) show: ShowArgs,
    pub(crate) team: &'a TeamArgs,
    pub(crate) group: Arc<dyn Group>,
    pub(crate) launcher: Launcher,
    /// The axis along which an edge is searched.
    pub(crate) size: Option<&'static str>,
    /// Reads what each process is to measure.
    pub(crate) load: &'a dyn Fn() -> Result<Loaded, Failure>,
    /// Makes it, at rank 0.
    pub(crate) make: &'a Make<'a>,
    /// Where the baseline of the gate lies, of a run that is held against it.
    pub(crate) past: Option<&'a Path>,
    /// How rank 0 exits after a run that came to its end.
    pub(crate) judge: &'a dyn Fn(&Conclusion) -> Result<Exit, Failure>,
}
