//! FEEDS, STARVES or UNCERTAIN for each storage target.
//!
//! A verdict rests on the fresh confirmation repetitions of one cell, never on the best of many cells.

mod changed;
mod decision;
mod played;

use feed::{Cache, Interval, Judgement, Pages, counted_noun};
use record::{Run, RunRecord};

use crate::choose;
use crate::curve::{Panel, Shape};
use crate::figures::Figures;
use crate::flag::{Flag, Gravity, of_line, percent};
use crate::lines::Lines;
use crate::looks;
use crate::operation;
use crate::paced::Percentile;
use crate::scope::Scope;
use crate::summary::{CellSummary, Measurement, Summary};

pub use played::Played;

/// What can be said of one target against the line.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Name of the target.
    pub target: String,
    /// The judgement.
    pub judgement: Judgement,
    /// What it is about; absent when nothing was measured.
    pub scope: Option<Scope>,
    /// Bytes per second before and after the storage changed during the run, by the deciding cell; absent where it did not.
    pub changed: Option<(f64, f64)>,
    /// Whether feedline started the server itself: then nothing is judged, and the judgement is none.
    pub demo: bool,
    /// The cell it rests on; absent when nothing was measured.
    pub cell: Option<String>,
    /// Engine of that cell, with what the kernel was told of a map.
    pub engine: Option<String>,
    /// Depth of that cell.
    pub queue_depth: Option<u32>,
    /// The training job of that cell; absent for other loads, and without figures of the repetitions it rests on.
    pub played: Option<Played>,
    /// Samples, blocks, order and cache of that cell, when the target was read in several ways or warm.
    pub conditions: Option<String>,
    /// What the accelerators need, `8 x h100 resnet50`.
    pub need: String,
    /// Samples per second of the fresh repetitions, 95 % over all looks at them and all candidates.
    pub samples_per_s: Option<Interval>,
    /// The line, samples per second.
    pub line_samples_per_s: Option<f64>,
    /// Accelerators fed by the lower bound, by division; absent when the need names none, or a flag
    /// forbids FEEDS. Where a flag forbids STARVES the storage may feed more, and the sentence says so.
    pub feeds: Option<u32>,
    /// Other ways in which the target was read from storage and does not reach the line, in words.
    pub unreached: Vec<String>,
    /// The ways that do reach it, in one clause; absent when none does.
    pub clears: Option<String>,
    /// Why the judgement is this one.
    pub cause: Cause,
}

/// Why a verdict is what it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Cause {
    /// The whole interval lies on or above the line.
    Clears {
        /// Whether a shallower depth was measured and does not clear it, or none was.
        first: bool,
    },
    /// The whole interval lies below the line.
    Short {
        /// Missing share of the line, by the mean, 0 to 1.
        share: f64,
        /// What the curve of this cell says.
        shape: Option<Shape>,
    },
    /// The interval holds the line.
    Straddles {
        /// Rounds that were made.
        made: u32,
        /// About how many would decide; absent where no affordable number would.
        rounds: Option<u32>,
        /// Most rounds that the run was to make.
        most: u32,
        /// The command that makes as many as are needed; absent where the run was to make as many.
        command: Option<String>,
    },
    /// The storage stood on one side of the line for a part of the run, and on the other for the rest.
    Changed {
        /// Bytes per second before and after, by the deciding cell.
        bps: (f64, f64),
    },
    /// This host is fed, and the need is for more of them.
    HostsOpen {
        /// Hosts that were not tested.
        hosts: u32,
    },
    /// It clears at a depth that the stated loader does not reach.
    BeyondLoader {
        /// Reads that the loader has outstanding at most.
        reach: u32,
    },
    /// Another cell read alike stood at the line or above it, and its fresh repetitions do not say otherwise.
    OthersAbove {
        /// Its depth.
        queue_depth: u32,
        /// Its mean by the line.
        share: f64,
    },
    /// What was asked for failed in every repetition; nothing stands in for it.
    AskedFailed {
        /// Why the first of them failed.
        reason: String,
    },
    /// No interval can be given.
    TooFewRepetitions {
        /// Confirmation repetitions that make a point.
        made: u32,
    },
    /// A flag forbids the judgement that the interval alone would give.
    Flagged(Flag),
    /// The chosen cell was measured again, and no repetition makes a point.
    ConfirmationFailed {
        /// Why the first of them failed.
        reason: String,
    },
    /// The chosen cell was not measured again.
    NotConfirmed {
        /// Why.
        reason: String,
    },
    /// No cell of this target has figures.
    NothingMeasured {
        /// Why, from its first cell.
        reason: String,
    },
    /// The server was started by feedline.
    Demo {
        /// Mean of the measured rate by the line; absent without figures. What is doubtful in it stands in its row.
        of_line: Option<f64>,
    },
    /// There is no line to compare with.
    NoLine {
        /// Why.
        reason: String,
    },
}

/// What a demo is.
const DEMO_WORDS: &str = "server started by feedline: shown, not judged";

/// A storage target whose figures say nothing of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unjudged {
    /// Name of the target.
    pub target: String,
    /// Why, in words.
    pub reason: String,
}

/// Why no storage of a variant has a verdict: there are no fresh repetitions for one to rest on.
pub(crate) fn of_variant(summary: &Summary) -> Vec<Unjudged> {
    let reason = "one of several variants, which are compared and not judged";
    let storages = summary.targets.iter().filter(|target| target.storage);
    storages.map(|target| Unjudged { target: target.name.clone(), reason: reason.to_owned() }).collect()
}

/// What verdicts follow from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) record: &'a RunRecord,
    pub(crate) lines: &'a Lines<'a>,
    pub(crate) summary: &'a Summary,
}

/// A verdict for each storage target, in the order of the scenario, or why it has none.
pub(crate) fn of_targets(source: &Source<'_>) -> (Vec<Verdict>, Vec<Unjudged>) {
    let summary = source.summary;
    let (mut verdicts, mut unjudged) = (Vec::new(), Vec::new());
    for target in summary.targets.iter().filter(|target| target.storage) {
        let chosen = choose::judged(summary, &target.name);
        let failed = choose::failed_instead(summary, &target.name);
        match unjudged_reason(summary, &target.name).filter(|_| chosen.is_none() && failed.is_none()) {
            Some(reason) => unjudged.push(Unjudged { target: target.name.clone(), reason }),
            None if target.demo => verdicts.push(demo(summary, &target.name, chosen)),
            None => verdicts.push(decision::of_target(source, target, chosen, failed)),
        }
    }
    (verdicts, unjudged)
}

/// Why no verdict can rest on what was measured of a target; nothing when nothing was.
fn unjudged_reason(summary: &Summary, target: &str) -> Option<String> {
    let cells = || summary.cells.iter().filter(|cell| cell.cell.target == target);
    let offers = cells().filter_map(|cell| cell.figures()?.paced?.of_line);
    if let Some(most) = offers.reduce(f64::max) {
        return Some(format!("offers {} of the line: no verdict", of_line(most)));
    }
    let named = choose::Asked::of(summary).accelerators;
    let played = cells().filter(|cell| cell.figures().is_some());
    let accelerators = played.filter_map(|cell| Some(cell.cell.training.as_ref()?.accelerators));
    if let Some(most) = accelerators.filter(|played| *played != named).max() {
        let played = counted_noun(u64::from(most), "accelerator");
        let named = if named == 0 { "none".to_owned() } else { named.to_string() };
        return Some(format!("jobs of up to {played} were played, the need names {named}: no verdict"));
    }
    let words = |is_of_kind: &dyn Fn(&CellSummary) -> bool| {
        let measured = cells().filter(|cell| cell.is_measured() && is_of_kind(cell));
        let mut words: Vec<&str> = measured.map(|cell| cell.cell.operation.as_str()).collect();
        words.sort_unstable();
        words.dedup();
        (!words.is_empty()).then(|| words.join(", "))
    };
    let moved = words(&|cell| operation::is_transfer(&cell.cell));
    let names = words(&|cell| operation::is_metadata(&cell.cell));
    moved
        .map(|words| format!("no sample was read ({words}): not judged against the line"))
        .or_else(|| names.map(|words| format!("only names were looked up ({words}): no verdict")))
}

/// What is shown of a server that feedline started: it judges nothing, however it did.
fn demo(summary: &Summary, target: &str, chosen: Option<&CellSummary>) -> Verdict {
    let mut verdict = Verdict { demo: true, ..unfounded(summary, target, chosen) };
    if let Some(cell) = chosen {
        let confirmed = cell.confirmed.as_ref().and_then(Measurement::figures);
        let figures = confirmed.or_else(|| cell.figures());
        let of_line = figures.and_then(|figures| figures.of_line);
        verdict.played = figures.and_then(|figures| Played::of(cell, figures));
        verdict.samples_per_s = figures.and_then(|figures| figures.samples_per_s.interval);
        verdict.cause = Cause::Demo { of_line };
    }
    verdict
}

/// A verdict that rests on nothing yet.
fn unfounded(summary: &Summary, target: &str, chosen: Option<&CellSummary>) -> Verdict {
    Verdict {
        target: target.to_owned(),
        judgement: Judgement::Uncertain,
        scope: None,
        changed: None,
        demo: false,
        cell: chosen.map(|cell| cell.cell.cell.clone()),
        engine: chosen.map(CellSummary::engine_label),
        queue_depth: chosen.map(|cell| cell.cell.queue_depth),
        played: None,
        conditions: chosen.and_then(|cell| conditions(summary, cell)),
        need: summary.need.as_ref().map_or_else(|_| String::new(), |need| need.label.clone()),
        samples_per_s: None,
        line_samples_per_s: chosen.and_then(|cell| cell.line).map(|line| line.samples_per_s),
        feeds: None,
        unreached: Vec::new(),
        clears: None,
        cause: Cause::NothingMeasured { reason: first_reason(summary, target) },
    }
}

impl Verdict {
    fn rest_on(&mut self, source: &Source<'_>, cell: &CellSummary) {
        let (summary, lines) = (source.summary, source.lines);
        let figures = match &cell.confirmed {
            Some(Measurement::Figures(figures)) => figures,
            Some(Measurement::Failed { reason, .. }) => {
                self.cause = Cause::ConfirmationFailed { reason: reason.clone() };
                return;
            }
            // Names are never confirmed; a record that says otherwise is damaged.
            Some(Measurement::Operations(_)) => return,
            Some(Measurement::NotRun { reason }) => {
                self.cause = Cause::NotConfirmed { reason: reason.clone() };
                return;
            }
            None => {
                self.cause = Cause::NotConfirmed { reason: lines.not_run(&cell.cell.cell) };
                return;
            }
        };
        self.played = Played::of(cell, figures);
        let line = match (&summary.need, self.line_samples_per_s) {
            (Err(reason), _) => {
                self.cause = Cause::NoLine { reason: reason.clone() };
                return;
            }
            (Ok(_), None) => {
                self.cause = Cause::NoLine { reason: "the size of a sample is not known".to_owned() };
                return;
            }
            (Ok(need), Some(line)) => {
                self.feeds = accelerators_fed(figures, line, need.accelerators);
                line
            }
        };
        self.samples_per_s = figures.samples_per_s.interval;
        (self.judgement, self.cause) = judged(summary, cell, figures, line);
        if let Cause::Straddles { rounds: Some(rounds), most, command, .. } = &mut self.cause
            && *rounds > *most
        {
            *command = Some(command_for(&source.record.run, *rounds - *most));
        }
        // What forbids any verdict forbids a number of accelerators too. And each accelerator of a job has readers of its own:
        // fewer of them have fewer reads outstanding, for which the rate of all cannot be divided.
        if figures.training.is_some() && self.judgement != Judgement::Feeds {
            self.feeds = None;
        }
        // What forbids FEEDS may bring the figure down, and what forbids STARVES can only raise it.
        if self.flagged().is_some_and(|gravity| gravity != Gravity::ForbidsStarves) {
            self.feeds = None;
        }
    }

    /// Accelerators that the rate would feed by division, which no measurement of so many confirmed; absent where the
    /// verdict is that those of the need are fed.
    pub fn feeds_by_division(&self) -> Option<u32> {
        self.feeds.filter(|_| self.judgement != Judgement::Feeds)
    }

    /// Whether the storage may feed more than [`Self::feeds`], since something kept it from showing what it can.
    pub fn feeds_at_least(&self) -> bool {
        self.feeds.is_some() && self.flagged().is_some()
    }

    /// What the flag forbids that decided the judgement; `None` where none did.
    fn flagged(&self) -> Option<Gravity> {
        if let Cause::Flagged(flag) = &self.cause { Some(flag.gravity()) } else { None }
    }

    /// Whether further rounds of fresh repetitions may decide it.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.cause, Cause::Straddles { .. } | Cause::TooFewRepetitions { .. })
    }

    /// Whether what was asked for was tried and failed: then a run has not done what it was to do.
    pub fn has_failed(&self) -> bool {
        matches!(self.cause, Cause::AskedFailed { .. } | Cause::ConfirmationFailed { .. })
    }

    /// Its first word: the judgement, or DEMO.
    pub fn word(&self) -> &'static str {
        if self.demo { "DEMO" } else { self.judgement.name() }
    }

    /// The verdict as one sentence, without its first words (judgement and target).
    pub fn sentence(&self) -> String {
        let mut parts = vec![self.main_clause()];
        parts.extend(self.loader_words());
        if let Some(feeds) = self.feeds_by_division() {
            let at_least = if self.feeds_at_least() { "at least " } else { "" };
            parts.push(format!("feeds {at_least}{feeds} by division"));
        }
        parts.extend(self.because());
        parts.extend(self.advice().map(ToOwned::to_owned));
        if self.demo {
            parts.push(DEMO_WORDS.to_owned());
        }
        parts.extend(self.circumstances());
        parts.extend(self.scope.as_ref().map(Scope::words));
        parts.join("; ")
    }

    /// Why the judgement is this one, clause by clause, for a place where need, number of accelerators, advice and scope
    /// stand by themselves.
    pub fn reasons(&self) -> Vec<String> {
        let main = match &self.cause {
            Cause::Clears { first } if self.played.is_none() => {
                format!("clears {}", self.place(if *first { "from" } else { "at" }))
            }
            Cause::Clears { .. } => {
                let main = self.main_clause();
                main.strip_prefix(&self.need).unwrap_or(&main).trim_start().to_owned()
            }
            Cause::Straddles { .. } => format!("interval straddles the line {}", self.place("at")),
            _ => self.main_clause(),
        };
        let more = match &self.cause {
            Cause::Straddles { made, rounds, most, command } => {
                Some(more_words(*made, *rounds, *most, command.as_deref()))
            }
            _ => None,
        };
        let clauses = std::iter::once(main).chain(more).chain(self.loader_words());
        clauses.chain(self.because()).chain(self.circumstances()).collect()
    }

    /// What to do before measuring again, where a flag forbids a judgement.
    pub fn advice(&self) -> Option<&'static str> {
        match &self.cause {
            Cause::Flagged(flag) => Some(flag.advice()),
            _ => None,
        }
    }

    /// What the curve and the job say of a storage that falls short.
    fn because(&self) -> Vec<String> {
        let Cause::Short { shape, .. } = &self.cause else { return Vec::new() };
        let diagnosis = self.played.as_ref().and_then(|played| played.diagnosis.clone());
        shape.as_ref().map(Shape::words).into_iter().chain(diagnosis).chain(self.clears.clone()).collect()
    }

    /// How the storage changed, and how it was read.
    fn circumstances(&self) -> Vec<String> {
        let changed = self.changed.filter(|_| !matches!(self.cause, Cause::Changed { .. }));
        let changed = changed.map(|bps| format!("it changed during the run: {}", changed::words(bps)));
        changed.into_iter().chain(self.conditions.clone()).collect()
    }

    fn main_clause(&self) -> String {
        let at = self.place("at");
        let of_job = self.played.as_ref().zip(self.engine.as_deref());
        if let Some(words) =
            of_job.and_then(|(played, engine)| played.clause(&self.cause, &self.need, engine))
        {
            return words;
        }
        match &self.cause {
            Cause::Clears { first } => {
                format!("{} {}", self.need, self.place(if *first { "from" } else { "at" }))
            }
            Cause::Short { share, .. } => format!("{} short {at}", percent(*share)),
            Cause::Straddles { made, rounds, most, command } => {
                let more = more_words(*made, *rounds, *most, command.as_deref());
                format!("interval straddles the line {at}{}; {more}", self.of_line_words())
            }
            Cause::Changed { bps } => {
                format!("the storage changed across the line {at}: {}", changed::words(*bps))
            }
            Cause::HostsOpen { hosts } => {
                let verb = if *hosts == 1 { "was" } else { "were" };
                format!(
                    "this host is fed {at}; {} more {verb} not tested",
                    feed::group_digits(u64::from(*hosts))
                )
            }
            Cause::BeyondLoader { reach } => {
                format!("clears {at}, and the stated loader has {reach} reads outstanding at most")
            }
            Cause::OthersAbove { queue_depth, share } => {
                format!("short {at}, but depth {queue_depth} stood at {} of the line", of_line(*share))
            }
            Cause::AskedFailed { reason } => format!("what was asked for failed: {reason}"),
            Cause::TooFewRepetitions { made } => {
                format!("too few repetitions {at}: {made} of the 3 that an interval needs")
            }
            // Found among few of the reads of any cell, so it is said of the target.
            Cause::Flagged(flag @ Flag::WrongBytes { .. }) => flag.to_string(),
            Cause::Flagged(flag) => format!("{flag} {at}"),
            Cause::ConfirmationFailed { reason } => format!("the confirmation failed {at}: {reason}"),
            Cause::NotConfirmed { reason } => format!("not confirmed {at}: {reason}"),
            Cause::NothingMeasured { reason } => format!("nothing was measured: {reason}"),
            Cause::Demo { of_line: Some(share) } => format!("{} of the line {at}", of_line(*share)),
            Cause::Demo { of_line: None } => format!("measured {at}"),
            Cause::NoLine { reason } => format!("measured {at}, not judged: {reason}"),
        }
    }

    /// `at depth 32 (io_uring)`, `with 8 readers, prefetch 8 (io_uring)`.
    fn place(&self, preposition: &str) -> String {
        if let Some((played, engine)) = self.played.as_ref().zip(self.engine.as_deref()) {
            return played.place(engine);
        }
        match (&self.engine, self.queue_depth) {
            (Some(engine), Some(depth)) => format!("{preposition} depth {depth} ({engine})"),
            _ => "in no cell".to_owned(),
        }
    }

    /// What a closed loop that feeds takes of a loader.
    fn loader_words(&self) -> Option<String> {
        let feeds = matches!(self.cause, Cause::Clears { .. } | Cause::HostsOpen { .. });
        self.scope.as_ref().filter(|_| feeds && self.played.is_none())?.load.words()
    }

    /// `: 97 to 104 % of it`.
    fn of_line_words(&self) -> String {
        self.samples_per_s.zip(self.line_samples_per_s).map_or_else(String::new, |(interval, line)| {
            format!(": {:.0} to {:.0} % of it", interval.low / line * 100.0, interval.high / line * 100.0)
        })
    }
}

/// What the figures of a cell say of a line in samples per second.
pub(crate) fn judged(
    summary: &Summary,
    cell: &CellSummary,
    figures: &Figures,
    line: f64,
) -> (Judgement, Cause) {
    let wrong_bytes = wrong_bytes(summary, &cell.cell.target);
    if let Some(flag) = wrong_bytes.or_else(|| forbidding(figures, Gravity::ForbidsVerdict)) {
        return (Judgement::Uncertain, Cause::Flagged(flag));
    }
    let Some(interval) = figures.samples_per_s.interval else {
        return (Judgement::Uncertain, Cause::TooFewRepetitions { made: figures.repetitions });
    };
    let judgement = feed::judge(interval, line);
    let forbids = if judgement == Judgement::Feeds { Gravity::ForbidsFeeds } else { Gravity::ForbidsStarves };
    if let Some(flag) = forbidding(figures, forbids) {
        return (Judgement::Uncertain, Cause::Flagged(flag));
    }
    let cause = match judgement {
        Judgement::Feeds => Cause::Clears { first: is_first_to_clear(summary, cell) },
        Judgement::Starves => {
            Cause::Short { share: (line - interval.mean) / line, shape: shape_of(summary, cell) }
        }
        Judgement::Uncertain => Cause::Straddles {
            made: figures.repetitions,
            rounds: looks::rounds_to_decide(interval, line, figures.repetitions),
            most: summary.head.fresh_rounds,
            command: None,
        },
    };
    (judgement, cause)
}

/// Options that change what a run prints and nothing else.
const DISPLAY_OPTIONS: [&str; 4] = ["--full", "--no-progress", "--json", "-q"];

/// The command that measures again with so many more rounds than the run itself could make.
fn command_for(run: &Run, more: u32) -> String {
    let mut given = run.command.iter().map(String::as_str);
    let (mut words, mut rounds) = (Vec::new(), more);
    while let Some(word) = given.next() {
        let stated = match word.split_once('=') {
            None if word == "--rounds" => given.next(),
            Some(("--rounds", stated)) => Some(stated),
            _ => None,
        };
        match stated {
            Some(stated) => rounds += stated.trim_start_matches('+').parse().unwrap_or(0),
            None if DISPLAY_OPTIONS.contains(&word) => {}
            None => words.push(word),
        }
    }
    if words.is_empty() {
        words.push("feedline run");
    }
    format!("{} --rounds +{rounds}", words.join(" "))
}

/// What would decide a verdict that is open.
fn more_words(made: u32, rounds: Option<u32>, most: u32, command: Option<&str>) -> String {
    let made = counted_noun(u64::from(made), "round");
    match (rounds, command) {
        (None, _) => format!("no number of rounds that pays would decide ({made} made)"),
        (Some(rounds), Some(command)) => {
            format!("about {rounds} rounds would decide ({made} made): {command}")
        }
        (Some(rounds), None) => format!("about {rounds} of {most} rounds would decide ({made} fitted)"),
    }
}

fn forbidding(figures: &Figures, gravity: Gravity) -> Option<Flag> {
    figures.flags.iter().find(|flag| flag.gravity() == gravity).cloned()
}

/// Wrong bytes in any repetition of a target, added up: storage that returned them once may do so anywhere.
fn wrong_bytes(summary: &Summary, target: &str) -> Option<Flag> {
    let of_target = summary.cells.iter().filter(|cell| cell.cell.target == target);
    let measurements = of_target.flat_map(|cell| [Some(&cell.measured), cell.confirmed.as_ref()]);
    let flags = measurements.flatten().filter_map(Measurement::figures).flat_map(|figures| &figures.flags);
    let counts = flags.filter_map(|flag| match flag {
        Flag::WrongBytes { found, checked } => Some((*found, *checked)),
        _ => None,
    });
    let (found, checked) = counts.reduce(|sum, more| (sum.0 + more.0, sum.1 + more.1))?;
    Some(Flag::WrongBytes { found, checked })
}

fn accelerators_fed(figures: &Figures, line: f64, accelerators: u32) -> Option<u32> {
    let interval = figures.samples_per_s.interval.filter(|_| accelerators > 0)?;
    Some(feed::accelerators_fed(interval.low, line, accelerators))
}

fn is_first_to_clear(summary: &Summary, cell: &CellSummary) -> bool {
    let index = summary.cells.iter().position(|other| other.cell.cell == cell.cell.cell);
    let curves = summary.panels.iter().flat_map(|panel| &panel.curves);
    curves.into_iter().any(|curve| index.is_some() && curve.clears_at == index)
}

fn shape_of(summary: &Summary, cell: &CellSummary) -> Option<Shape> {
    let index = summary.cells.iter().position(|other| other.cell.cell == cell.cell.cell)?;
    let mut curves = summary.panels.iter().flat_map(|panel| &panel.curves);
    curves.find(|curve| curve.cells.contains(&index)).and_then(|curve| curve.shape)
}

/// In words, when without them the verdict could be taken for another way of reading the target.
fn conditions(summary: &Summary, cell: &CellSummary) -> Option<String> {
    let fresh = cell.confirmed.as_ref().and_then(Measurement::figures);
    let figures = fresh.or_else(|| cell.figures());
    let paced = cell.cell.pace.as_ref().zip(figures).and_then(|(pace, figures)| paced_words(pace, figures));
    let way = if cell.cell.cache == Cache::Warm {
        Some("from the client's page cache (warm), not from storage".to_owned())
    } else if let Some(tier) = &cell.cell.tier {
        let capacity = feed::format_bytes(tier.capacity_bytes);
        Some(format!("through a local cache of {capacity} ({}) that begins empty", tier.policy))
    } else if cell.cell.cache == Cache::ColdStart {
        Some(
            "over passes of which the first alone is cold: later ones may come from the client's page cache"
                .to_owned(),
        )
    } else {
        has_other_ways(summary, cell).then(|| Panel::of(cell).conditions())
    };
    let files = cell.reads_whole_files().then(|| files_words(cell));
    let huge = cell.cell.pages.as_ref().is_some_and(|pages| *pages == Pages::Huge);
    let pages = huge.then(|| "into buffers of huge pages, which loaders do not have".to_owned());
    let parts: Vec<String> = paced.into_iter().chain(way).chain(files).chain(pages).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Whether the cell's target was read in another way too.
fn has_other_ways(summary: &Summary, cell: &CellSummary) -> bool {
    let own = Panel::of(cell);
    let of_target = summary.cells.iter().filter(|other| other.cell.target == cell.cell.target);
    of_target
        .filter(|other| operation::reads_samples(&other.cell))
        .any(|other| !own.is_way_of(summary, other))
}

/// What a verdict by whole files rests on, besides the reads.
fn files_words(cell: &CellSummary) -> String {
    let names = if cell.names_are_dropped() { "" } else { ", names possibly in memory" };
    format!("files opened one by one{names}")
}

/// `offered 100 % of the line, constant arrivals`, `served 62 % of 300 % of the line, ...; response p99 not served`.
fn paced_words(pace: &record::Pace, figures: &Figures) -> Option<String> {
    let paced = figures.paced?;
    let line = of_line(paced.of_line?);
    let did = if paced.keeps_up() {
        format!("offered {line}")
    } else {
        format!("served {} of {line}", cut(paced.kept_share))
    };
    let p99 = if paced.response_p99 == Percentile::NotServed { "; response p99 not served" } else { "" };
    Some(format!("{did} of the line, {} arrivals{p99}", pace.arrivals))
}

/// Cut and not rounded near the whole: 99.8 % is not all.
fn cut(share: f64) -> String {
    if share < 0.99 { percent(share) } else { format!("{:.1} %", (share * 1e3).floor() / 10.0) }
}

fn first_reason(summary: &Summary, target: &str) -> String {
    let mut cells = summary.cells.iter().filter(|cell| cell.cell.target == target);
    let reason = cells.find_map(|cell| match &cell.measured {
        Measurement::Failed { reason, .. } | Measurement::NotRun { reason } => Some(reason.clone()),
        Measurement::Figures(_) | Measurement::Operations(_) => None,
    });
    let skipped = || summary.skipped.iter().find(|skipped| skipped.target == target);
    reason
        .or_else(|| skipped().map(|skipped| format!("{}: {}", skipped.engine, skipped.reason)))
        .unwrap_or_else(|| "no cell was planned".to_owned())
}

#[cfg(test)]
mod tests;
