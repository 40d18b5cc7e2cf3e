//! Why a comparison says no more: what nothing may rest on, what cannot be told, what could not be compared.

use feed::Compared;
use record::Tool;

use super::difference::Difference;
use crate::cell::flag::Flag;
use crate::cell::gap::Gap;

/// A reason for which nothing may rest on the repetitions of a cell, or for which it has none.
#[derive(Debug, Clone, PartialEq)]
pub enum Exclusion {
    /// A doubt about its figures.
    Flag(Flag),
    /// Its repetitions make no point.
    Gap(Gap),
}

/// Why nothing may rest on a cell that is compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Excluded {
    /// What excludes the run after; runs before are left out one by one.
    // Of runs the one after alone: a history can lose a run and still compare, the newest cannot.
    After(Vec<Exclusion>),
    /// What excludes either side of a pair.
    Sides([SideExclusions; 2]),
}

/// What excludes one side of a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct SideExclusions {
    /// Name of the side.
    pub name: String,
    /// Empty where something may rest on it.
    pub reasons: Vec<Exclusion>,
}

/// What a sample of a comparison is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampled {
    /// A repetition, paired with one of the other side.
    Repetition,
    /// A run.
    Run,
}

/// Why an effect is inconclusive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Because {
    /// Nothing may rest on its cell, which says why.
    Excluded,
    /// There are fewer runs before than were asked for.
    FewRuns {
        /// So many.
        runs: u32,
        /// Of so many.
        wanted: u32,
    },
    /// There are too few samples for an interval.
    NoInterval {
        /// So many before.
        samples: u32,
        /// What they are.
        sampled: Sampled,
    },
    /// It is beyond the margin by itself, and not among those that were tested together (Benjamini-Hochberg).
    // With many cells one in twenty lies beyond its interval by chance: all are tested together.
    NotAmongMany {
        /// The margin, a share.
        margin: f64,
        /// How many were tested together.
        family: usize,
    },
    /// Its interval reaches over the margin.
    ReachesOver {
        /// The margin, a share.
        margin: f64,
        /// The change that such data would find four times in five, a share.
        smallest: f64,
    },
}

/// Something that could not be compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Uncompared {
    /// Of a cell, or of a run of the baseline.
    Of {
        /// Its name.
        name: String,
        /// Why.
        reason: UncomparedReason,
    },
    /// A baseline holds no run to compare with.
    NoRun {
        /// Its name.
        baseline: String,
    },
    /// A baseline holds the run itself, which is no history of it.
    OwnRun {
        /// The run.
        run_id: String,
    },
    /// A target has no headline, since nothing may rest on any of its cells.
    NoHeadline {
        /// The target.
        target: String,
    },
    /// The cells of a target have no sample in common.
    NothingInCommon {
        /// The target.
        target: String,
        /// What samples are.
        sampled: Sampled,
    },
    /// A headline rests on the samples that all cells of its target have, which are not all.
    SomeInCommon {
        /// The target.
        target: String,
        /// What samples are.
        sampled: Sampled,
        /// So many.
        samples: usize,
        /// Of so many.
        most: usize,
    },
}

/// Why a cell, or a run of the baseline, is not compared as a whole.
#[derive(Debug, Clone, PartialEq)]
pub enum UncomparedReason {
    /// The run differs in what must be equal.
    NotComparable(Vec<Difference>),
    /// The run after lacks it.
    NotAfter,
    /// The runs before lack it.
    NotBefore,
    /// The runs before have it with other settings.
    OtherSettings,
    /// So many runs before are left out, since nothing may rest on it there.
    RunsLeftOut(usize),
    /// One side alone has a metric.
    OneSided {
        /// The metric.
        metric: Compared,
        /// The side.
        side: OneSide,
    },
    /// No repetition has the metric on both sides.
    NeverTogether(Compared),
    /// Some repetitions have figures on one side alone.
    SomeTogether {
        /// So many on both.
        most: u32,
        /// Of so many planned.
        planned: u32,
    },
    /// It has no figures on both sides.
    NoFigures(NoFigures),
    /// No cell of the other target is left that does the same.
    NoCounterpart {
        /// The other target.
        target: String,
    },
}

/// The side that has a metric alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OneSide {
    /// The runs before.
    Before,
    /// The run after.
    After,
    /// A side of a pair, by its name.
    Named(String),
}

/// Why a cell has no figures on both sides.
#[derive(Debug, Clone, PartialEq)]
pub enum NoFigures {
    /// Nothing may rest on it.
    Excluded(Excluded),
    /// The runs before have none.
    NoneBefore,
    /// No repetition of one side meets one of the other.
    NeverMeet,
}

/// What a reader of a comparison must know.
#[derive(Debug, Clone, PartialEq)]
pub enum ComparisonNote {
    /// There are fewer runs before than were asked for.
    FewRuns {
        /// So many.
        runs: u32,
        /// Of so many.
        wanted: u32,
    },
    /// Something was declared to differ, and does.
    Declared {
        /// What.
        difference: Difference,
        /// In so many runs before.
        runs: u32,
    },
    /// The client was the limit of so many cells of either variant.
    ClientLimited {
        /// So many.
        cells: usize,
    },
    /// What a variant sets.
    Settings {
        /// Its name.
        name: String,
        /// As the command line gave them.
        settings: Vec<String>,
    },
    /// The variants are of two versions of feedline.
    Tools {
        /// That before.
        before: Tool,
        /// That after.
        after: Tool,
    },
}
