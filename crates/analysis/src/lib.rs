//! From a record to figures, flags and verdicts: the only place that computes.
//!
//! Everything here is a pure function of [`record::RunRecord`]: no clock, no files, no randomness. A
//! record that is damaged or cut does not fail; what is missing becomes a stated gap, a row with its
//! reason, or a note.
//!
//! Modules lie in layers, each made of those below it: `cell`, `curve`, `choice`, `verdict`, `summary`, and above these
//! `gate` and `comparison`. [`summarise`] is the walk through them.
//!
//! The repetition is the sample, never the single read: intervals are over repetitions, and latency
//! histograms are merged for display alone.

mod cell;
mod choice;
mod comparison;
mod curve;
mod gate;
mod summary;
mod verdict;

#[cfg(test)]
mod fixture;

pub use cell::by_repetition::{RepFigures, by_repetition};
pub use cell::cell_summary::{CellSummary, Measurement};
pub use cell::checkpoints::{
    CheckpointCost, CheckpointSpan, CheckpointTimeline, CheckpointWrite, CheckpointedJob, Checkpoints,
    Outcomes, ReadsBeside, Restore, Timed, WithoutCheckpoints, Written,
};
pub use cell::copies::{CopyFigures, Payoff};
pub use cell::crowd::Crowd;
pub use cell::datasets::DatasetFigures;
pub use cell::diagnosis::symptom::{Decoder, Diagnosis, LittlesLaw, LoopPair, Remedy, Symptom, WaitedFor};
pub use cell::distribution::{Distribution, QuantileStep, distributions, quantile_steps};
pub use cell::each_rank::{CellRanks, RankFigures};
pub use cell::epochs::{CellEpochs, EpochFigures, EpochNote, Held};
pub use cell::figures::Figures;
pub use cell::flag::{Flag, GIVEN_UP_MAX, Gravity, STEPS_MIN, TURNS_MIN};
pub use cell::gap::{Gap, GapCause, JobGap};
pub use cell::latency::{Latency, Percentile, Phase};
pub use cell::layouts::{LayoutFigures, LayoutGain, Layouts, OrderFact, PredictedGain, Streamed};
pub use cell::metric::{Better, METRICS, Margins, Metric, Reading, Table, Tracked, Unit, View};
pub use cell::mix::MixFigures;
pub use cell::need::{LineAt, NoNeed};
pub use cell::network::{Attempts, MountFigures, NetworkFigures, Wire, WireCause, WireFinding};
pub use cell::operations::Operations;
pub use cell::over_time::{
    CoresBusy, DeviceRate, Fit, Heat, HeatColumn, MachineRate, NetworkRate, OverTime, RatePoint, RepOverTime,
    over_time, over_time_read,
};
pub use cell::paced::{KindResponse, Paced};
pub use cell::page_cache::PageCache;
pub use cell::ranks::{Ranks, TeamFacts, fold_ranks};
pub use cell::rate::Rate;
pub use cell::slow_rank::{SLOW_BELOW, SlowBy, SlowRank, SlowRanks};
pub use cell::system::{
    CoreFigures, DeviceFigures, GpuFigures, MemoryFigures, Pressure, Reconciliation, SystemFigures, Traffic,
};
pub use cell::training::bound::Bound;
pub use cell::training::closed_loops::ClosedLoops;
pub use cell::training::{GAP_MAX, Idle, NotPredicted, PredictedAu, Stall, TrainingFigures};
pub use choice::FRESH_CELLS_MAX;
pub use comparison::{
    Because, Break, Calibration, CalibrationNote, CellComparison, CellSample, Change, Comparison,
    ComparisonNote, Difference, Effect, Excluded, Exclusion, Headline, History, HistoryCell, HistoryPoint,
    HistoryValue, Lost, NoFigures, Noise, NotComparable, OneSide, Pairing, RUNS_MIN, Ratio, RefusalHint,
    Regression, RegressionResult, RepSample, RunSample, Sampled, Shift, ShiftPoint, Side, SideExclusions,
    Uncompared, UncomparedReason, Undecided, calibrate, calibrate_history, compare_stored, compare_targets,
    compare_variants, history, shift,
};
pub use curve::model::Model;
pub use curve::prediction::{
    CellPrediction, ClaimDifference, ClaimFigure, InFlightAtLine, LineAsks, Predictions, TargetPrediction,
    Transfer,
};
pub use curve::treatment::TierSize;
pub use curve::{Caching, Curve, Distinction, Panel, Pieces, Shape, Treatment};
pub use gate::proof::{Lack, Proof, ProvingRun, proofs, prove_together};
pub use gate::{AtDepth, Demand, GateResult, NotJudged, Requirement, Unmet, WhyUnmet, demands, gate};
pub use summary::compared::{EngineBeside, EngineCell};
pub use summary::head::{CeilingFigures, Fastest, Head, Machine};
pub use summary::ladder::{Ladder, LadderOrder, Rung, ladders};
pub use summary::loader::{DataLoader, MeasuredDecoding};
pub use summary::next_look::{Look, MoreRounds, OpenTarget, next_added_look, next_look, open_targets};
pub use summary::not_tested::NotTested;
pub use summary::note::{Met, Note};
pub use summary::plane::{Plane, PlanePoint, planes};
pub use summary::pressure::{Pressed, Pressures};
pub use summary::quantiles::PercentileCurve;
pub use summary::roofline::{DemandPoint, Roofline, Supply, SupplyPoint, roofline};
pub use summary::soak::{Course, Soak};
pub use summary::{Summary, choose_cell, lines, summarise};
pub use verdict::checkpoint_verdict::{CheckpointCause, CheckpointPart, CheckpointVerdict, Doubt};
pub use verdict::read_verdict::{AloneVerdict, ReadVerdict};
pub use verdict::scope::{Evidence, LoadScope, Scope};
pub use verdict::sizing::{
    Edge, EdgeDoubt, Full, NoUtilization, Scaled, SearchValue, Sizing, Untried, search_rows,
};
pub use verdict::tiers::{BelowKnown, CacheBelow, CacheTier, NamesKnown, PageCacheKnown, TierKnown};
pub use verdict::{
    Cause, ClearsOtherwise, Condition, NoLine, NoVerdict, NothingMeasured, Played, Unjudged, Unreached,
    Verdict, WayApart,
};
