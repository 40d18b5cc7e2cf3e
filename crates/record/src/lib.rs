//! The run record on disk.
//!
//! A run writes counters, histograms, plan and environment; **nothing derived is stored**. Every table,
//! plot and verdict is a pure function of these files. The types here do not follow `plan`: renaming a
//! field of a plan must not break an old record.

pub mod axis;
mod cells;
mod credentials;
mod environment;
mod expect;
mod format;
mod histogram;
mod intervals;
mod layout;
mod locked;
mod merge;
mod reader;
mod redact;
mod run;
#[cfg(feature = "testing")]
pub mod testing;
mod thresholds;
mod trained;
mod word;
mod writer;

pub use axis::{Axis, Datasets};
pub use cells::{
    CacheProof, Ceiling, Device, Emulated, End, Gpu, Line, Memory, Network, NfsMount, NotLookedAt, NotRun,
    OtherProgram, Outage, Outcome, Rep, Reread, Role, System, Usage, counter,
};
pub use environment::*;
pub use expect::{Claim, Expect, ExpectBurst, ExpectFigures, ExpectTarget};
pub use format::{
    CELLS_FILE, ENV_FILE, Format, FormatError, INTERVALS_FILE, RUN_FILE, SCENARIO_FILE, SEGMENTS_FILE,
};
pub use histogram::sum::HistogramSum;
pub use histogram::{
    Histogram, HistogramError, HistogramText, encode, new_histogram, new_interval_histogram,
};
pub use intervals::{Interval, Look, RecordedIntervals, RepIntervals, read_intervals, read_intervals_of};
pub use layout::{
    Checkpoint, CheckpointNeed, CheckpointOutcome, CheckpointPlan, CopyPlan, Epoch, Mixing, Tier,
};
pub use locked::LockedFile;
pub use merge::{Merged, RankRecord, differences, end_of_all, head_of_all, merge, seconds_of_all};
pub use reader::{ReadError, RunRecord, read_run};
pub use redact::Redactor;
pub use run::{
    AxisWords, Cell, Dataset, Elsewhere, Emulation, Fact, Gate, Margin, Measure, Member, Need, NeedPart,
    Pace, Proof, RANKS_MAX, READ_WHOLE, Run, Segment, Skipped, Target, Team, Tool, Training, Variant, asked,
    plain_name, run_id, typed,
};
pub use thresholds::Thresholds;
pub use trained::{Trained, TrainedAccelerator, TrainedStep};
pub use word::Word;
pub use writer::{RunWriter, WriteError, redacted, redacted_line};
