//! What changed between two runs, two variants or two targets, and what noise could have hidden.
//!
//! The repetition is the sample where both sides were interleaved in one run; the run is the sample where they were
//! stored on different days. The single read never is: a thousand reads of one bad second are one observation.

use feed::Interval;

/// Fewest comparable runs of a baseline by default: an interval over fewer says little about the next run.
pub const RUNS_MIN: u32 = 8;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Bytes per second, or operations per second where no bytes are moved.
    Throughput,
    /// Median latency, from submission; of a paced load from the intended start.
    P50,
    /// 99th percentile of the same.
    P99,
    /// Accelerator utilization of a training load.
    Au,
    /// Processor time of the client by operation.
    Cpu,
}

impl Metric {
    /// Every metric, in the order of tables.
    pub const ALL: [Self; 5] = [Self::Throughput, Self::P50, Self::P99, Self::Au, Self::Cpu];

    /// As scenarios and records write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::Au => "au",
            Self::Cpu => "cpu",
        }
    }

    /// The metric of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Whether more of it is better.
    pub const fn higher_is_better(self) -> bool {
        matches!(self, Self::Throughput | Self::Au)
    }
}

/// What a comparison found of one metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// The whole interval lies beyond the margin, in the bad direction.
    Regressed,
    /// The whole interval lies beyond the margin, in the good direction.
    Improved,
    /// The whole interval lies within the margin on both sides.
    Unchanged,
    /// None of these: the data cannot tell.
    Inconclusive,
}

/// A ratio of after to before with its 95 % interval. 1 is no change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Lower end; 0 where the data give none.
    pub low: f64,
    /// Geometric mean.
    pub mean: f64,
    /// Upper end; infinite where the data give none.
    pub high: f64,
}

/// One metric of one cell, or of a target's cells together.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// Which metric.
    pub metric: Metric,
    /// Geometric mean of the samples before, in base units: bytes or operations per second, nanoseconds, share.
    pub before: f64,
    /// The same after.
    pub after: f64,
    /// After by before; its interval is absent (0 to infinity) where there are too few samples for one.
    pub ratio: Ratio,
    /// Samples before: repetitions of an interleaved run, or runs.
    pub samples_before: u32,
    /// Samples after; equal to those before where they are paired.
    pub samples_after: u32,
    /// The smallest change that such data show four times in five, as a share (80 % power, 5 % two-sided); absent
    /// without an interval.
    pub detectable: Option<f64>,
    /// Changes up to this share are no regression.
    pub margin: f64,
    /// What it comes to, after the correction for many cells.
    pub change: Change,
    /// Why it is inconclusive, in words; absent otherwise.
    pub because: Option<String>,
}

/// A cell on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct CellComparison {
    /// Its name in the record before.
    pub cell: String,
    /// Name of the target (before, where targets are compared).
    pub target: String,
    /// Engine and queue depth and what else tells it from its neighbours, in words: `io_uring, depth 32`.
    pub label: String,
    /// Metrics that both sides have, in the order of [`Metric::ALL`].
    pub effects: Vec<Effect>,
    /// Why nothing may rest on it: not steady, drifting, client-limited, failed operations. It has its figures and
    /// decides nothing.
    pub excluded: Option<String>,
}

/// All cells of a target together: the geometric mean of their throughput ratios.
#[derive(Debug, Clone, PartialEq)]
pub struct Headline {
    /// Name of the target.
    pub target: String,
    /// Cells that it rests on.
    pub cells: u32,
    /// Throughput, or AU where every cell of the target plays a training job.
    pub effect: Effect,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// How it is called: a variant, a target, a run, a baseline.
    pub name: String,
    /// Runs it rests on, oldest first.
    pub run_ids: Vec<String>,
}

/// Where the samples come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// Repetitions of variants, interleaved in rounds.
    Variants,
    /// Repetitions of targets of one run, interleaved in rounds.
    Targets,
    /// Runs: one after, and a history before.
    Stored,
}

/// Everything a rendering of a comparison needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Where the samples come from.
    pub pairing: Pairing,
    /// Name of the scenario.
    pub scenario: String,
    /// What is compared with.
    pub before: Side,
    /// What is compared.
    pub after: Side,
    /// Cells that both sides have, in the order of the scenario.
    pub cells: Vec<CellComparison>,
    /// One for each target that has comparable cells, in the order of the scenario.
    pub headlines: Vec<Headline>,
    /// What could not be compared, in words: cells of one side alone, cells without figures.
    pub gaps: Vec<String>,
    /// What a reader must know: few runs, what was declared to differ and does.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Every effect that something may rest on, headlines first, with the name of its target or cell.
    pub fn judged(&self) -> impl Iterator<Item = (&str, &Effect)> {
        let headlines = self.headlines.iter().map(|one| (one.target.as_str(), &one.effect));
        let cells = self.cells.iter().filter(|cell| cell.excluded.is_none());
        headlines.chain(cells.flat_map(|cell| cell.effects.iter().map(|effect| (cell.cell.as_str(), effect))))
    }
}

/// How much worse each metric may be before it counts as a regression, as shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Margins {
    /// In the order of [`Metric::ALL`].
    pub shares: [f64; 5],
}

impl Margins {
    /// For interleaved repetitions: 5 % for throughput and the median, 10 % for the 99th percentile and processor time,
    /// 2 % for AU (method.md 1.5).
    pub const INTERLEAVED: Self = Self { shares: [0.05, 0.05, 0.10, 0.02, 0.10] };

    /// For stored runs twice as much: another day is another machine.
    pub const STORED: Self = Self { shares: [0.10, 0.10, 0.20, 0.04, 0.20] };

    /// The margin of a metric.
    pub fn of(&self, metric: Metric) -> f64 {
        self.shares[metric as usize]
    }

    /// The same with another margin for one metric.
    #[must_use]
    pub fn with(mut self, metric: Metric, share: f64) -> Self {
        self.shares[metric as usize] = share;
        self
    }
}

/// What may differ between runs that are compared all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum May {
    /// The machine that measures.
    Host,
    /// The release of its kernel.
    Kernel,
    /// The driver and the firmware of the device.
    Driver,
}

/// Something that must be equal and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What: `plan`, `dataset`, `mount_options of nvme`.
    pub what: String,
    /// Its value before.
    pub before: String,
    /// Its value after.
    pub after: String,
    /// What the user may declare so that it is allowed.
    pub may: Option<May>,
}

/// Two runs that must not be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotComparable {
    /// Every difference, gravest first; never empty.
    pub differences: Vec<Difference>,
}

/// What a comparison needs of a run: small enough to keep hundreds of.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSample {
    /// The head of the run: what must be equal is read from it.
    pub run: record::Run,
    /// The machine.
    pub env: record::Environment,
    /// Its cells in the order of the scenario.
    pub cells: Vec<CellSample>,
}

/// The repetitions of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellSample {
    /// Index into the cells of the run.
    pub index: usize,
    /// Interleaved repetitions that make a point, by their number.
    pub reps: Vec<RepSample>,
    /// Why nothing may rest on them, or that there are none.
    pub excluded: Option<String>,
}

/// One repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct RepSample {
    /// Its number among those of the cell.
    pub rep: u32,
    /// Round of interleaving.
    pub round: u32,
    /// In the order of [`Metric::ALL`], base units; absent where it does not apply or rests on too few operations.
    pub values: [Option<f64>; 5],
}

/// One run of a history.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryPoint {
    /// Which run.
    pub run_id: String,
    /// When it began, RFC 3339 UTC.
    pub started: String,
    /// Geometric means over its repetitions, in the order of [`Metric::ALL`].
    pub values: [Option<f64>; 5],
    /// Lowest and highest repetition of each.
    pub spans: [Option<(f64, f64)>; 5],
    /// Why nothing may rest on it.
    pub excluded: Option<String>,
}

/// A cell over time.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryCell {
    /// Its name.
    pub cell: String,
    /// Name of its target.
    pub target: String,
    /// What tells it from its neighbours, in words.
    pub label: String,
    /// The line that the throughput is held against, bytes per second; absent where it has none.
    pub line_bps: Option<f64>,
    /// Runs that have it, oldest first.
    pub points: Vec<HistoryPoint>,
}

/// Comparable runs of one scenario over time.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// Name of the scenario.
    pub scenario: String,
    /// Runs, oldest first.
    pub run_ids: Vec<String>,
    /// Cells in the order of the newest run.
    pub cells: Vec<HistoryCell>,
    /// Where comparability breaks between neighbours, in words: `from 20261121T…: kernel 6.1 -> 6.6`.
    pub breaks: Vec<String>,
}

/// How noisy one metric is where nothing changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Which metric.
    pub metric: Metric,
    /// Standard deviation of the natural logarithm from sample to sample: about the coefficient of variation.
    pub spread: f64,
    /// Samples that it rests on.
    pub samples: u32,
    /// The margin that such noise allows: what is smaller is called unchanged.
    pub margin: f64,
    /// The smallest regression that a gate with that margin finds four times in five, as a share.
    pub smallest: f64,
}

/// What this machine can honestly gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Name of the scenario.
    pub scenario: String,
    /// Whether runs, not repetitions, are the samples.
    pub stored: bool,
    /// Runs that it rests on.
    pub run_ids: Vec<String>,
    /// Samples that a later comparison is expected to have: repetitions, or runs of the baseline.
    pub samples: u32,
    /// The worst cell of each metric that was measured.
    pub noise: Vec<Noise>,
    /// What a reader must know: drift found, effects where none can be.
    pub notes: Vec<String>,
}

impl RunSample {
    /// What a comparison needs of a record.
    pub fn of(_record: &record::RunRecord) -> Self {
        unimplemented!()
    }
}

/// Compares two variants whose repetitions were interleaved; cells are paired by their place in the scenario.
pub fn compare_variants(
    _before: &RunSample,
    _after: &RunSample,
    _margins: &Margins,
) -> Result<Comparison, NotComparable> {
    unimplemented!()
}

/// Compares a run with the runs of a baseline, at least `runs_min` of them or the answer is inconclusive.
pub fn compare_stored(
    _name: &str,
    _baseline: &[RunSample],
    _run: &RunSample,
    _runs_min: u32,
    _may_differ: &[May],
    _margins: &Margins,
) -> Result<Comparison, NotComparable> {
    unimplemented!()
}

/// Compares two targets of one run.
pub fn compare_targets(
    _run: &RunSample,
    _before: &str,
    _after: &str,
    _margins: &Margins,
) -> Result<Comparison, NotComparable> {
    unimplemented!()
}

/// The cells of comparable runs over time; runs of other scenarios are left out.
pub fn history(_runs: &[RunSample]) -> Option<History> {
    unimplemented!()
}

/// Noise from two variants that are the same: an A/A run.
pub fn calibrate(_a: &RunSample, _b: &RunSample) -> Result<Calibration, NotComparable> {
    unimplemented!()
}

/// Noise between stored runs that are comparable.
pub fn calibrate_history(
    _runs: &[RunSample],
    _runs_min: u32,
    _may_differ: &[May],
) -> Result<Calibration, NotComparable> {
    unimplemented!()
}

/// The share by which an interval of a ratio is wide; kept with the types because renderings print it.
impl Ratio {
    /// As an interval around the mean.
    pub fn interval(&self) -> Interval {
        Interval { low: self.low, mean: self.mean, high: self.high }
    }
}
