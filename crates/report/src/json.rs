//! The answer of a run as one JSON object, for programs.
//!
//! What each key holds is said by `schema/answer-v1.json`, which is made from the types below. Keys may be added within a
//! version; what one means does not change. A key whose value is not known is there, and `null`.

use analysis::{
    AloneVerdict, CacheBelow, CellSummary, CheckpointVerdict, Edge, Figures, Full, LineAt, LoadScope,
    Measurement, Proof, Rate, ReadVerdict, RegressionResult, Scaled, Sizing, Summary, Unjudged, Verdict,
};
use feed::Interval;
use record::axis::{self, alike};
#[cfg(test)]
use schemars::JsonSchema;
use serde::Serialize;

use crate::standing::Standing;
use crate::words;

/// The JSON Schema (draft 7) of [`answer_json`].
// Committed and not made at run time: who reads the answers can pin it, and a change of it shows in review.
pub const ANSWER_SCHEMA: &str = include_str!("../../../schema/answer-v1.json");

/// Version of the object.
const VERSION: u32 = 1;

/// Where a run lies, which no record knows.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
pub struct Paths {
    /// Folder of the run, which holds its record.
    pub run: String,
    /// The page of the run; null where the folder has none.
    pub page: Option<String>,
}

/// The verdicts of a run with what each is about and what it rests on, what it proves with other runs, and how it stands against
/// its gate and the runs before it, as an indented JSON object with a last line break.
pub fn answer_json(
    summary: &Summary,
    proofs: &[Proof],
    past: Option<&RegressionResult>,
    paths: &Paths,
) -> String {
    // A tree of plain values can be written.
    let text = serde_json::to_string_pretty(&Answer::of(summary, proofs, past, paths)).unwrap_or_default();
    format!("{text}\n")
}

/// The answer of a run of feedline.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct Answer<'a> {
    /// Version of this object: 1.
    version: u32,
    /// Name of the run.
    run_id: &'a str,
    /// When it began, RFC 3339 UTC.
    started: &'a str,
    /// Name of the scenario.
    scenario: &'a str,
    /// The command line, redacted.
    command: &'a [String],
    /// Whether a signal ended the run: what was measured until then is kept and judged.
    interrupted: bool,
    /// Length of the run after its data were ready, nanoseconds.
    // Not skipped where it is absent: a program need not tell "missing" from "null", and the schema stays one
    // list.
    elapsed_ns: Option<u64>,
    /// What the accelerators consume; null where the record does not say.
    need: Option<NeedObject<'a>>,
    /// The line, once for each size of samples.
    lines: Vec<Line>,
    /// One for each storage that is judged, in the order of the scenario.
    verdicts: Vec<VerdictObject<'a>>,
    /// Storages that were measured in ways that no verdict can rest on.
    unjudged: Vec<UnjudgedObject<'a>>,
    /// What `size` found; empty for other runs.
    sizings: Vec<SizingObject<'a>>,
    /// What `run --proof` adds up, one for each storage that is judged; empty for other runs.
    proofs: Vec<ProofObject<'a>>,
    /// How the run stands against the gate of its scenario.
    // Here and not in the exit code alone: a pipeline that only shows results does not see that.
    gate: Gate,
    /// What no verdict goes beyond, in words.
    not_tested: Vec<String>,
    /// Where the run lies.
    paths: &'a Paths,
}

/// What the accelerators consume.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct NeedObject<'a> {
    /// In words, `8 x h100 resnet50`.
    label: &'a str,
    /// Where its figures come from, in words.
    source: &'a str,
    /// Accelerators behind the host that measured; 0 where the need names none.
    accelerators: u32,
    /// Hosts that share the need.
    hosts: u32,
    /// Share of their time that accelerators are to be busy, at which the line is drawn: 0 to 1.
    utilization: f64,
    /// Bytes per second that are written beside what is read, by accelerators that never wait; null where not both are asked for.
    write_bytes_per_s: Option<f64>,
    /// What checkpoints ask for; null where nobody asks.
    checkpoint: Option<CheckpointObject<'a>>,
}

/// What checkpoints of a job ask for.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct CheckpointObject<'a> {
    /// What is written, `llama3-70b` or its size.
    label: &'a str,
    /// Bytes of one checkpoint of all hosts.
    bytes: u64,
    /// Bytes of the host that writes most.
    host_bytes: u64,
    /// Hosts that write it together.
    hosts: u32,
    /// Time from when one is due until it is durable, seconds.
    within_s: f64,
    /// Time from one due checkpoint to the next, seconds; null where nobody said.
    every_s: Option<f64>,
    /// Time in which one is read back, seconds; null where nobody asks for it.
    restore_within_s: Option<f64>,
    /// Who waits: `sync`, `async`.
    kind: &'static str,
}

/// What a storage is held against.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct Line {
    /// Bytes of one sample.
    sample_bytes: f64,
    /// Samples per second at the line.
    samples_per_s: f64,
    /// Bytes per second at the line.
    bytes_per_s: f64,
    /// Bytes per second of accelerators that never wait.
    demand_bytes_per_s: f64,
    /// Share of these bytes that is written, percent; null where all of them go one way.
    write_percent: Option<u8>,
}

/// What can be said of one storage.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct VerdictObject<'a> {
    /// Name of the target.
    target: &'a str,
    /// The verdict, the gravest of all needs; DEMO where feedline served the data itself, which judges nothing.
    verdict: Word,
    /// The whole verdict in a sentence.
    sentence: String,
    /// Why, clause by clause.
    why: Vec<String>,
    /// What the storage does not reach the line with, or only with: other ways in which it was read, and checkpoints, in words.
    unreached: Vec<String>,
    /// What is said of each need: what is read or written, then the parts of checkpoints.
    needs: Vec<NeedVerdictObject<'a>>,
    /// What each rate of a list of needs would be told by itself, in bytes; empty where one is asked for, and where some are of reads
    /// and some of writes.
    alone: Vec<AloneObject<'a>>,
    /// What the verdict on reads is about; null where nothing was measured or no reads are asked for, and for a DEMO. This and
    /// what follows is of reads.
    scope: Option<ScopeObject>,
    /// The line in samples of the deciding cell, per second.
    line_samples_per_s: Option<f64>,
    /// Accelerators that the lower bound feeds, at most those of the need; null where the need names none or this cannot be
    /// said.
    feeds_accelerators: Option<u32>,
    /// Whether that number is the rate divided by the need of one accelerator, and not measured.
    feeds_by_division: bool,
    /// Whether the storage may feed more than that number.
    feeds_at_least: bool,
    /// The cell that the verdict rests on, by its fresh repetitions; null where there are none.
    deciding: Option<CellObject<'a>>,
    /// The fastest of the cells that read as the deciding one does at any depth, by the first repetitions. No verdict rests on
    /// it: the best of many is better than it is.
    // Beside the deciding figure, because it is what other tools report as the result.
    best: Option<CellObject<'a>>,
}

/// What is said of one need.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct NeedVerdictObject<'a> {
    /// Which: `reads`, `writes`, or the `mix` of both at once; `write` or `restore` of checkpoints.
    need: &'static str,
    /// The verdict on it.
    verdict: Word,
    /// The verdict in a sentence.
    sentence: String,
    /// The cell that it rests on; null where there is none.
    cell: Option<&'a str>,
    /// Times of checkpoints; null for reads.
    checkpoint: Option<TimesObject>,
}

/// What one rate of a list would be told by itself, by the cell that decides on all at once.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct AloneObject<'a> {
    /// The need in words.
    need: &'a str,
    /// The verdict on it.
    verdict: Word,
    /// The verdict in a sentence.
    sentence: String,
    /// Its line, bytes per second.
    line_bytes_per_s: f64,
    /// The lower end of what was measured, by this line.
    of_line_low: f64,
    /// The upper end.
    of_line_high: f64,
}

/// How long checkpoints take.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct TimesObject {
    /// Bytes that one host has to write or read.
    host_bytes: u64,
    /// Bytes of those that were measured.
    measured_bytes: u64,
    /// Time that one may take, seconds.
    within_s: f64,
    /// Time that one took, seconds; null where none was timed.
    time_s: Option<Estimate>,
    /// How many were timed.
    made: u64,
    /// How many of them took longer than they may.
    late: u64,
    /// How many failed.
    failed: u64,
    /// Whether they were written beside the reads of a training job.
    is_beside_reads: bool,
    /// Share of a job's time that saves of this time take, at the faster end of the interval; null where nothing stands still for
    /// them, and where nobody said how often one is due.
    lost_share_low: Option<f64>,
    /// The same at the slower end.
    lost_share_high: Option<f64>,
}

/// A verdict.
#[derive(Serialize)]
#[serde(rename_all = "UPPERCASE")]
#[cfg_attr(test, derive(JsonSchema))]
enum Word {
    Feeds,
    Starves,
    Uncertain,
    Demo,
}

/// What a verdict is about: no word of it goes beyond this.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct ScopeObject {
    /// `screen` for one run, `proof` for several.
    evidence: &'static str,
    /// Hosts that measured at the same time.
    hosts_measured: u32,
    /// Hosts that are asked about.
    hosts_needed: u32,
    /// Caches behind the client's own that may have served reads.
    caches_open: Vec<&'static str>,
    /// Caches there that cannot have served them.
    caches_excluded: Vec<&'static str>,
    /// Longest time for which the storage was under load, less the pauses in it, nanoseconds.
    under_load_ns: u64,
    /// Bytes that were read from it in that time.
    read_bytes: u64,
    /// Rounds of fresh repetitions.
    rounds: u32,
    /// How it was read: `closed`, `paced` or `training`.
    load: &'static str,
    /// Whether the need comes from a profile that nobody measured.
    extrapolated: bool,
}

/// One way of reading a storage, and what it gave.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct CellObject<'a> {
    /// Name of the cell in the record.
    cell: &'a str,
    /// What issued the reads.
    engine: String,
    /// What was done over and over.
    operation: &'a str,
    /// Order of the reads.
    access: &'a str,
    /// Treatment of the client's page cache.
    cache: &'a str,
    /// Reads outstanding in the whole client.
    queue_depth: u32,
    /// Threads that read.
    threads: u32,
    /// Connections to the server; 0 for storage that is not behind a network of feedline's own.
    connections: u32,
    /// Bytes of one read at most.
    block_bytes: u64,
    /// Bytes of one sample.
    sample_bytes: Option<f64>,
    /// What sets its dataset apart from others of its layout and sample size, in words; empty where the scenario lists no
    /// several.
    form: String,
    /// Repetitions behind the figures.
    repetitions: u32,
    /// Samples per second.
    samples_per_s: Option<Estimate>,
    /// Bytes per second.
    bytes_per_s: Option<Estimate>,
    /// Mean by the line; 1 is on it.
    of_line: Option<f64>,
    /// Share of their time that the accelerators of a training job were busy; null for other loads.
    utilization: Option<Estimate>,
    /// Reasons to doubt the figures, gravest first, in words.
    doubts: Vec<String>,
}

/// A figure over repetitions.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct Estimate {
    /// Mean of the repetitions.
    mean: f64,
    /// Lower end of its 95 % interval; null where there are too few repetitions for one.
    low: Option<f64>,
    /// Upper end of it.
    high: Option<f64>,
}

/// A storage without a verdict.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct UnjudgedObject<'a> {
    /// Name of the target.
    target: &'a str,
    /// Why, in words.
    reason: String,
}

/// What several runs say of one storage together.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct ProofObject<'a> {
    /// Name of the target.
    target: &'a str,
    /// What every run says; UNCERTAIN where they differ.
    word: &'static str,
    /// Whether nothing is lacking of a proof.
    is_proven: bool,
    /// Runs that say anything of it.
    runs: u32,
    /// From the start of the first to the end of the last, nanoseconds.
    span_ns: u64,
    /// What is lacking, in words.
    lacks: Vec<String>,
}

/// What a search along one axis found.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct SizingObject<'a> {
    /// Name of the target.
    target: &'a str,
    /// What issued the reads.
    engine: &'a str,
    /// Whether feedline started its server itself, so that nothing is said of a storage.
    demo: bool,
    /// What sets the way in which it was read apart from the others that were searched of this target, in words; empty for one
    /// alone.
    way: String,
    /// What was searched: `accelerators`, `readers`, `queue_depth`, `prefetch` or `hosts`.
    axis: &'a str,
    /// Whether values of `hosts` are so many machines; else they are processes, of which some shared one.
    on_hosts: bool,
    /// Share of their time that accelerators had to be busy: 0 to 1.
    utilization: f64,
    /// The hardest value that met it; null where none did.
    meets: Option<EdgeObject<'a>>,
    /// The easiest value that missed it; null where none did.
    misses: Option<EdgeObject<'a>>,
    /// Whether both sides are there and their fresh repetitions leave no doubt.
    is_sure: bool,
    /// How many values were tried.
    tried: usize,
    /// The least and the largest of the values at which the search ended before it tried them, and at any of which the edge may lie; null
    /// where it came to its end.
    untried: Option<[u32; 2]>,
    /// What each number of hosts that was tried got, from the fewest on; empty of other searches.
    scaling: Vec<ScaledObject>,
    /// Where more hosts got no more; null where that was not seen, and of other searches.
    full: Option<FullObject>,
    /// What was found, in a sentence.
    sentence: String,
}

/// What so many hosts got together.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct ScaledObject {
    /// How many.
    hosts: u32,
    /// Bytes per second of all of them.
    bytes_per_s: Option<Estimate>,
    /// The same by so many times what one host got; null where that was not measured.
    of_one: Option<f64>,
    /// What forbids to rest anything on it.
    doubt: Option<String>,
}

/// Numbers of hosts between which a storage gave no more.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct FullObject {
    /// The fewest that missed the target.
    from: u32,
    /// More of them, which got as much.
    to: u32,
    /// What the fewest got, bytes per second.
    bytes_per_s: f64,
}

/// One side of an edge.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct EdgeObject<'a> {
    /// The value.
    value: u32,
    /// Name of its cell in the record.
    cell: &'a str,
    /// Share of their time that accelerators were busy; null where that was not measured.
    utilization: Option<Estimate>,
    /// Why not, or what forbids to rest anything on it.
    doubt: Option<String>,
}

/// How a run stands against its gate.
#[derive(Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
struct Gate {
    /// As the exit says it: that of the run, and where the gate compares with a baseline that too. `none` where the scenario has
    /// no gate.
    outcome: Standing,
    /// What does not hold or could not be decided, in words.
    demands: Vec<String>,
}

impl<'a> Answer<'a> {
    fn of(
        summary: &'a Summary,
        proofs: &'a [Proof],
        past: Option<&RegressionResult>,
        paths: &'a Paths,
    ) -> Self {
        let head = &summary.head;
        let unjudged = summary.unjudged.iter();
        Self {
            version: VERSION,
            run_id: &head.run_id,
            started: &head.started,
            scenario: &head.scenario,
            command: &head.command,
            interrupted: head.interrupted,
            elapsed_ns: head.elapsed_ns,
            need: summary.need.as_ref().ok().map(NeedObject::of),
            lines: analysis::lines(summary).iter().map(Line::of).collect(),
            verdicts: summary.verdicts.iter().map(|of| VerdictObject::of(summary, of)).collect(),
            unjudged: unjudged.map(UnjudgedObject::of).collect(),
            sizings: summary.sizings.iter().map(SizingObject::of).collect(),
            proofs: proofs.iter().map(ProofObject::of).collect(),
            gate: Gate::of(summary, past),
            not_tested: words::not_tested::all(summary),
            paths,
        }
    }
}

impl<'a> NeedObject<'a> {
    fn of(need: &'a feed::Need) -> Self {
        Self {
            label: &need.label,
            source: &need.source,
            accelerators: need.accelerators,
            hosts: need.hosts,
            utilization: need.utilization,
            write_bytes_per_s: need.write_bps,
            checkpoint: need.checkpoint.as_ref().map(CheckpointObject::of),
        }
    }
}

impl<'a> CheckpointObject<'a> {
    fn of(need: &'a feed::CheckpointNeed) -> Self {
        let seconds = |ns: u64| ns as f64 / 1e9;
        Self {
            label: &need.label,
            bytes: need.bytes,
            host_bytes: need.host_bytes,
            hosts: need.hosts,
            within_s: seconds(need.within_ns),
            every_s: need.every_ns.map(seconds),
            restore_within_s: need.restore_within_ns.map(seconds),
            kind: need.kind.name(),
        }
    }
}

impl<'a> UnjudgedObject<'a> {
    fn of(unjudged: &'a Unjudged) -> Self {
        Self { target: &unjudged.target, reason: words::read_verdict::no_verdict(&unjudged.reason) }
    }
}

impl<'a> ProofObject<'a> {
    fn of(proof: &'a Proof) -> Self {
        Self {
            target: &proof.target,
            word: proof.judgement.name(),
            is_proven: proof.lacks.is_empty(),
            runs: proof.runs,
            span_ns: proof.span_ns,
            lacks: words::proof::lacks(proof),
        }
    }
}

impl Line {
    fn of(line: &LineAt) -> Self {
        Self {
            sample_bytes: line.sample_bytes,
            samples_per_s: line.samples_per_s,
            bytes_per_s: line.bps,
            demand_bytes_per_s: line.demand_bps,
            write_percent: line.write_percent,
        }
    }
}

impl<'a> VerdictObject<'a> {
    fn of(summary: &'a Summary, verdict: &'a Verdict) -> Self {
        let accelerators = summary.need.as_ref().map_or(0, |need| need.accelerators);
        let reads = verdict.of_reads();
        let chosen = verdict.cell().and_then(|name| summary.cell(name));
        let unreached = reads.into_iter().flat_map(|reads| &reads.unreached);
        let fresh = |cell: &'a CellSummary| cell.confirmed.as_ref().and_then(Measurement::figures);
        Self {
            target: &verdict.target,
            verdict: Word::of(verdict.demo, verdict.judgement()),
            sentence: words::verdict::sentence(verdict),
            why: words::verdict::reasons(verdict),
            unreached: unreached.map(words::read_verdict::unreached).collect(),
            needs: NeedVerdictObject::all(verdict),
            alone: reads
                .into_iter()
                .flat_map(|reads| reads.alone.iter().map(move |one| AloneObject::of(verdict, reads, one)))
                .collect(),
            scope: reads.and_then(|reads| reads.scope.as_ref()).map(ScopeObject::of),
            line_samples_per_s: reads.and_then(|reads| reads.line_samples_per_s),
            // No more than the need: what the storage would feed beyond was not played.
            feeds_accelerators: reads.and_then(|reads| reads.feeds).map(|feeds| feeds.min(accelerators)),
            feeds_by_division: reads.is_some_and(|reads| reads.feeds_by_division().is_some()),
            feeds_at_least: reads.is_some_and(ReadVerdict::feeds_at_least),
            deciding: chosen.and_then(|cell| Some(CellObject::of(cell, fresh(cell)?))),
            best: chosen.and_then(|cell| best(summary, cell)),
        }
    }
}

impl<'a> AloneObject<'a> {
    fn of(verdict: &Verdict, all: &ReadVerdict, one: &'a AloneVerdict) -> Self {
        Self {
            need: &one.need,
            verdict: Word::of(verdict.demo, one.judgement),
            sentence: words::read_verdict::alone(all, one),
            line_bytes_per_s: one.line_bps,
            of_line_low: one.of_line.low,
            of_line_high: one.of_line.high,
        }
    }
}

impl<'a> NeedVerdictObject<'a> {
    fn all(verdict: &'a Verdict) -> Vec<Self> {
        let of_reads = |reads: &'a ReadVerdict| Self {
            need: words::need::name(reads.asked),
            verdict: Word::of(verdict.demo, reads.judgement),
            sentence: words::read_verdict::sentence(reads),
            cell: reads.cell.as_deref(),
            checkpoint: None,
        };
        let of_checkpoint = |one: &'a CheckpointVerdict| Self {
            need: words::checkpoint_verdict::part(one.part),
            verdict: Word::of(verdict.demo, one.judgement),
            sentence: words::checkpoint_verdict::sentence(one),
            cell: Some(&one.cell),
            checkpoint: Some(TimesObject::of(one)),
        };
        verdict
            .of_reads()
            .map(of_reads)
            .into_iter()
            .chain(verdict.checkpoints.iter().map(of_checkpoint))
            .collect()
    }
}

impl TimesObject {
    fn of(one: &CheckpointVerdict) -> Self {
        let timed = one.timed.as_ref();
        Self {
            host_bytes: one.host_bytes,
            measured_bytes: one.measured_bytes,
            within_s: one.within_s,
            time_s: timed.and_then(|timed| Estimate::of(timed.time_s.as_ref()?)),
            made: timed.map_or(0, |timed| timed.made),
            late: timed.map_or(0, |timed| timed.late),
            failed: timed.map_or(0, |timed| timed.failed),
            is_beside_reads: one.is_beside_reads,
            lost_share_low: one.lost_share.map(|(low, _)| low),
            lost_share_high: one.lost_share.map(|(_, high)| high),
        }
    }
}

/// The fastest cell of the curve that a cell lies on.
fn best<'a>(summary: &'a Summary, chosen: &CellSummary) -> Option<CellObject<'a>> {
    // Along the curve of the deciding cell alone: the best of another way of reading says nothing of this one.
    let on_curve = |cell: &&CellSummary| alike(summary, &chosen.cell, &cell.cell, axis::CURVE);
    let measured = summary.cells.iter().filter(on_curve);
    let measured = measured.filter_map(|cell| Some((cell, cell.figures()?)));
    let fastest = measured.max_by(|(_, a), (_, b)| a.samples_per_s.mean.total_cmp(&b.samples_per_s.mean));
    fastest.map(|(cell, figures)| CellObject::of(cell, figures))
}

impl Word {
    fn of(demo: bool, judgement: feed::Judgement) -> Self {
        match judgement {
            // The judgement of a demo is UNCERTAIN inside, which a program must not take for a measured doubt.
            _ if demo => Self::Demo,
            feed::Judgement::Feeds => Self::Feeds,
            feed::Judgement::Starves => Self::Starves,
            feed::Judgement::Uncertain => Self::Uncertain,
        }
    }
}

impl ScopeObject {
    fn of(scope: &analysis::Scope) -> Self {
        let caches = |all: &[CacheBelow]| all.iter().copied().map(words::tier::cache_below).collect();
        Self {
            evidence: scope.evidence.name(),
            hosts_measured: scope.hosts_measured,
            hosts_needed: scope.hosts_needed,
            caches_open: caches(&scope.caches_open),
            caches_excluded: caches(&scope.caches_excluded),
            under_load_ns: scope.under_load_ns,
            read_bytes: scope.bytes_read,
            rounds: scope.rounds,
            load: match scope.load {
                LoadScope::Closed { .. } => "closed",
                LoadScope::Paced => "paced",
                LoadScope::Training => "training",
            },
            extrapolated: scope.extrapolated,
        }
    }
}

impl<'a> CellObject<'a> {
    fn of(summary: &'a CellSummary, figures: &Figures) -> Self {
        let cell = &summary.cell;
        Self {
            cell: &cell.cell,
            engine: summary.engine_label(),
            operation: cell.operation.as_str(),
            access: cell.access.as_str(),
            cache: cell.cache.as_str(),
            queue_depth: cell.queue_depth,
            threads: cell.threads,
            connections: cell.connections,
            block_bytes: cell.block_bytes,
            sample_bytes: summary.sample_bytes,
            form: words::form::all(cell.form()),
            repetitions: figures.repetitions,
            samples_per_s: Estimate::of(&figures.samples_per_s),
            bytes_per_s: Estimate::of(&figures.bps),
            of_line: figures.of_line.filter(|share| share.is_finite()),
            utilization: figures.training.as_ref().and_then(|training| Estimate::of(&training.au)),
            // Sentences and no codes: kinds of doubts come and go with what is learnt of storages, within one
            // version.
            doubts: figures.flags.iter().map(words::flag::words).collect(),
        }
    }
}

impl Estimate {
    /// `None` where there is no number: JSON has no word for it.
    fn of(rate: &Rate) -> Option<Self> {
        let end = |of: fn(&Interval) -> f64| rate.interval.as_ref().map(of).filter(|end| end.is_finite());
        let (low, high) = (end(|interval| interval.low), end(|interval| interval.high));
        // NaN and infinities have no form in JSON, and serde would write null for the mean alone.
        rate.mean.is_finite().then_some(Self { mean: rate.mean, low, high })
    }
}

impl<'a> SizingObject<'a> {
    fn of(sizing: &'a Sizing) -> Self {
        Self {
            target: &sizing.target,
            engine: &sizing.engine,
            demo: sizing.demo,
            way: words::curve::way(&sizing.apart),
            axis: &sizing.axis,
            on_hosts: sizing.on_hosts,
            utilization: sizing.threshold,
            meets: sizing.meets.as_ref().map(EdgeObject::of),
            misses: sizing.misses.as_ref().map(EdgeObject::of),
            is_sure: sizing.is_sure(),
            tried: sizing.tried,
            untried: sizing.untried.map(|untried| [untried.from, untried.to]),
            scaling: sizing.scaling.iter().map(ScaledObject::of).collect(),
            full: sizing.full.map(FullObject::of),
            sentence: words::sizing::sentence(sizing),
        }
    }
}

impl ScaledObject {
    fn of(scaled: &Scaled) -> Self {
        Self {
            hosts: scaled.hosts,
            bytes_per_s: Estimate::of(&scaled.bps),
            of_one: scaled.of_one,
            doubt: scaled.doubt.as_ref().map(words::flag::words),
        }
    }
}

impl FullObject {
    fn of(full: Full) -> Self {
        Self { from: full.from, to: full.to, bytes_per_s: full.bps }
    }
}

impl<'a> EdgeObject<'a> {
    fn of(edge: &'a Edge) -> Self {
        Self {
            value: edge.value,
            cell: &edge.cell,
            utilization: edge.au.as_ref().ok().and_then(Estimate::of),
            doubt: words::sizing::edge_doubt(edge),
        }
    }
}

impl Gate {
    fn of(summary: &Summary, past: Option<&RegressionResult>) -> Self {
        let (outcome, demands) = Standing::of(summary, past);
        Self { outcome, demands }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/answer-v1.json");

    #[test]
    fn the_committed_schema_is_fresh() {
        let settings = schemars::generate::SchemaSettings::draft07().for_serialize();
        let settings = settings.with(|settings| settings.inline_subschemas = true);
        let fresh = settings.into_generator().into_root_schema_for::<Answer<'_>>().to_value();
        let fresh = format!("{fresh:#}\n");
        if std::env::var_os("FEEDLINE_SCHEMA").is_some_and(|value| value == "write") {
            std::fs::write(COMMITTED, &fresh).unwrap();
        }
        let found = std::fs::read_to_string(COMMITTED).unwrap();
        assert!(fresh == found, "schema/answer-v1.json is stale; run: just schema");
    }
}
