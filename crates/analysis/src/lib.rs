//! From a record to figures, flags and verdicts: the only place that computes.
//!
//! Everything here is a pure function of [`record::RunRecord`]: no clock, no files, no randomness. A
//! record that is damaged or cut does not fail; what is missing becomes a stated gap, a row with its
//! reason, or a note.
//!
//! The repetition is the sample, never the single read: intervals are over repetitions, and latency
//! histograms are merged for display alone.

mod by_repetition;
mod checkpoints;
mod choose;
mod compared;
mod comparison;
mod copies;
mod crowd;
mod curve;
mod demands;
mod diagnosis;
mod distribution;
mod epochs;
mod figures;
mod flag;
mod gate;
mod head;
mod in_parts;
mod interval;
mod latency;
mod layouts;
mod line_fit;
mod lines;
mod looks;
mod metric;
mod model;
mod need;
mod network;
mod next_look;
mod operation;
mod operations;
mod over_time;
mod paced;
mod prediction;
mod pressure;
mod proof;
mod quantiles;
mod ranks;
mod repetitions;
mod roofline;
mod scope;
mod sizing;
mod steadiness;
mod summary;
mod system;
mod tiers;
mod training;
mod unreached;
mod untested;
mod validity;
mod verdict;

#[cfg(test)]
mod fixture;

pub use by_repetition::{RepFigures, by_repetition};
pub use checkpoints::{
    CheckpointCost, CheckpointSpan, CheckpointTimeline, CheckpointWrite, CheckpointedJob, Checkpoints,
    Outcomes, ReadsBeside, Restore, WithoutCheckpoints, Written,
};
pub use choose::{FRESH_CELLS_MAX, choose_cell};
pub use comparison::{
    Calibration, CellComparison, CellSample, Change, Comparison, Difference, Effect, Headline, History,
    HistoryCell, HistoryPoint, HistoryValue, Lost, May, Noise, NotComparable, Pairing, RUNS_MIN, Ratio,
    RegressionResult, RepSample, RunSample, Shift, ShiftPoint, Side, calibrate, calibrate_history,
    compare_stored, compare_targets, compare_variants, history, shift,
};
pub use copies::{CopyFigures, Payoff};
pub use crowd::Crowd;
pub use curve::{Curve, Panel, Shape, Treatment};
pub use demands::{Demand, demands};
pub use distribution::{Distribution, QuantileStep, distributions, quantile_steps};
pub use epochs::{EpochFigures, EpochPass, Held, Order};
pub use figures::{Figures, Rate};
pub use flag::{Flag, Gravity};
pub use gate::{GateResult, gate};
pub use head::{CeilingFigures, DatasetFigures, Fastest, Head, machine};
pub use latency::{Latency, Phase};
pub use layouts::{LayoutFigures, LayoutGain, Layouts, PredictedGain, Streamed};
pub use metric::{Better, METRICS, Margins, Metric, Reading, Table, Tracked, Unit, View};
pub use model::Model;
pub use need::{LineAt, lines};
pub use network::{Attempts, MountFigures, NetworkFigures, Wire, WireFinding};
pub use next_look::{Look, next_look};
pub use operations::Operations;
pub use over_time::{Fit, Heat, HeatColumn, OverTime, RatePoint, RepOverTime, over_time};
pub use paced::{Paced, Percentile};
pub use prediction::{CellPrediction, Predictions, TargetPrediction};
pub use proof::{Proof, ProvingRun, proofs, prove_together};
pub use quantiles::PercentileCurve;
pub use ranks::fold_ranks;
pub use roofline::{DemandPoint, Roofline, Supply, SupplyPoint, roofline};
pub use scope::{Evidence, LoadScope, Scope};
pub use sizing::{Edge, SearchValue, Sizing, search_rows};
pub use summary::{CellSummary, Measurement, Summary, summarise};
pub use system::{
    CoreFigures, DeviceFigures, MemoryFigures, Pressure, Reconciliation, SystemFigures, Traffic,
};
pub use training::{Bound, Diagnosis, GAP_MAX, Idle, PredictedAu, Stall, TrainingFigures, loader_arguments};
pub use verdict::{Cause, Played, Unjudged, Verdict};
