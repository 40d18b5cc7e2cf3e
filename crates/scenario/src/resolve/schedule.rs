//! When reads are issued and how many at once, whatever the mode.

use plan::Load;

use crate::diagnostic::Span;

/// The loads of a scenario, each at its depths.
#[derive(Debug)]
pub(super) struct Schedule {
    pub(super) series: Vec<Series>,
    /// The lists that multiply them.
    pub(super) lists: Vec<List>,
    /// Whether the depths of each are searched.
    pub(super) auto: bool,
    /// What says how many reads are outstanding.
    pub(super) depth_span: Option<Span>,
    /// Where the rates were written.
    pub(super) rate_span: Option<Span>,
    /// The step of a training job.
    pub(super) step: Option<Step>,
}

impl Schedule {
    /// All depths, series by series.
    pub(super) fn depths(&self) -> impl Iterator<Item = u32> {
        self.series.iter().flat_map(|series| series.depths.iter().copied())
    }
}

/// One load, at each of its depths.
#[derive(Debug)]
// Depths by load and not one list for all: jobs have the depth of their readers, closed loops beside them
// have several.
pub(super) struct Series {
    pub(super) load: Load,
    pub(super) depths: Vec<u32>,
}

/// A list that multiplies cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    pub(super) span: Option<Span>,
    pub(super) length: usize,
    pub(super) what: &'static str,
}

/// The step of a training job, and what must be said of it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) batch: u32,
    pub(super) compute_ns: u64,
    pub(super) caveats: Vec<String>,
}
