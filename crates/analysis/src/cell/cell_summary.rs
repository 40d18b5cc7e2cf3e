//! One cell and what became of it.

use record::{Axis, Cell};

use crate::cell::figures::Figures;
use crate::cell::flag::Flag;
use crate::cell::gap::Gap;
use crate::cell::latency::Phase;
use crate::cell::need::LineAt;
use crate::cell::network::NetworkFigures;
use crate::cell::operation;
use crate::cell::operations::Operations;
use crate::cell::samples::payload;
use crate::cell::system::SystemFigures;

/// One cell and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CellSummary {
    /// Its settings.
    pub cell: Cell,
    /// False for the null target.
    pub storage: bool,
    /// Bytes of one sample of its dataset; absent when the record does not say.
    pub sample_bytes: Option<f64>,
    /// The line it is compared with; absent without a need or a sample size, and where no bytes are moved.
    pub line: Option<LineAt>,
    /// The interleaved repetitions.
    pub measured: Measurement,
    /// The fresh repetitions of a chosen cell; absent when there are none.
    pub confirmed: Option<Measurement>,
    /// What the machine did during the interleaved repetitions; absent for the null target, and where the record
    /// does not say.
    pub system: Option<SystemFigures>,
    /// What the interleaved repetitions say of the way to the storage; absent for storage that is not behind a network.
    pub network: Option<NetworkFigures>,
}

impl CellSummary {
    /// Bytes of a sample as the scenario asks for it, before any packing; absent for data that were there before.
    pub fn payload_bytes(&self) -> Option<f64> {
        payload(&self.cell)
    }

    /// Figures of the interleaved repetitions.
    pub fn figures(&self) -> Option<&Figures> {
        self.measured.figures()
    }

    /// Figures of a cell that looks up, lists or changes names.
    pub fn operations(&self) -> Option<&Operations> {
        match &self.measured {
            Measurement::Operations(operations) => Some(operations),
            _ => None,
        }
    }

    /// Where the time of its operations goes, where that was recorded.
    pub fn phases(&self) -> &[Phase] {
        match &self.measured {
            Measurement::Figures(figures) => &figures.phases,
            Measurement::Operations(operations) => &operations.phases,
            Measurement::Failed { .. } | Measurement::NotRun { .. } => &[],
        }
    }

    /// Whether any repetition makes a point, of whatever kind.
    pub fn is_measured(&self) -> bool {
        matches!(self.measured, Measurement::Figures(_) | Measurement::Operations(_))
    }

    /// Whether it opens, reads and closes a whole file each time.
    pub fn reads_whole_files(&self) -> bool {
        operation::is_whole_file(&self.cell)
    }

    /// Whether it writes a checkpoint, reads one back, or copies a dataset: then no line is held against it.
    pub fn is_transfer(&self) -> bool {
        operation::is_transfer(&self.cell)
    }

    /// Its engine, and for maps what the kernel was told of them: `io_uring`, `mmap (random)`.
    pub fn engine_label(&self) -> String {
        let advice = self.cell.axes.iter().find(|words| words.axis() == Axis::Advice);
        match advice.filter(|_| self.cell.engine == "mmap") {
            Some(advice) => format!("{} ({})", self.cell.engine, advice.value),
            None => self.cell.engine.clone(),
        }
    }

    /// Whether names and inodes are known not to have been in memory before any repetition of it.
    pub fn names_are_dropped(&self) -> bool {
        let known = |measurement: &Measurement| match measurement {
            Measurement::Figures(figures) => figures.names_dropped,
            Measurement::Operations(operations) => operations.names_dropped,
            // Nothing was opened by it, so it must not spoil what the other role knows.
            Measurement::Failed { .. } | Measurement::NotRun { .. } => Some(true),
        };
        let all = std::iter::once(&self.measured).chain(&self.confirmed);
        self.is_measured() && all.map(known).all(|known| known == Some(true))
    }

    /// Reasons to doubt its figures, those of the fresh repetitions last and none of them twice.
    pub fn flags(&self) -> Vec<&Flag> {
        let mut flags: Vec<&Flag> = self.measured.flags().iter().collect();
        let fresh = self.confirmed.iter().flat_map(Measurement::flags);
        flags.extend(fresh.filter(|flag| !self.measured.flags().contains(flag)));
        flags
    }

    /// What is told of it: its fresh repetitions, where there are any.
    pub(crate) fn latest(&self) -> &Measurement {
        self.confirmed.as_ref().unwrap_or(&self.measured)
    }

    /// Why it is compared with nothing and passes no gate; `None` where it is steady, or nobody can tell.
    pub(crate) fn unsteady(&self) -> Option<&Flag> {
        self.flags().into_iter().find(|flag| flag.is_unsteady())
    }

    /// Whether the lower end of the measured interval is at the line or above it.
    pub fn clears(&self) -> bool {
        let low =
            self.figures().and_then(|figures| figures.samples_per_s.interval).map(|interval| interval.low);
        matches!((low, self.line), (Some(low), Some(line)) if low >= line.samples_per_s)
    }
}

/// What became of the repetitions of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Measurement {
    /// At least one repetition makes a point.
    Figures(Box<Figures>),
    /// The same, of a cell that moves no bytes.
    Operations(Box<Operations>),
    /// Repetitions were made, none of them makes a point.
    Failed {
        /// How many.
        repetitions: u32,
        /// Why the first of them failed.
        reason: Gap,
    },
    /// No repetition was made.
    NotRun {
        /// Why.
        reason: Gap,
    },
}

impl Measurement {
    /// The figures, if there are any.
    pub fn figures(&self) -> Option<&Figures> {
        match self {
            Self::Figures(figures) => Some(figures),
            Self::Operations(_) | Self::Failed { .. } | Self::NotRun { .. } => None,
        }
    }

    /// Reasons to doubt it.
    pub fn flags(&self) -> &[Flag] {
        match self {
            Self::Figures(figures) => &figures.flags,
            Self::Operations(operations) => &operations.flags,
            Self::Failed { .. } | Self::NotRun { .. } => &[],
        }
    }
}
