//! What may be said of a world, and what was said.

use analysis::{Bound, Cause, Condition, NotTested, ReadVerdict, Shape, Verdict};
use feed::Judgement;

use crate::play::Played;
use crate::truth::{Job, Part};
use crate::world::{Class, Load, World};

/// What whole operations counted at the edges of a window may come to, by the truth.
// Windows hold 400 reads or more, of which one or two hang over the edges.
const COUNTING: f64 = 0.005;
/// What the coarser arithmetic of a training job may come to. It is as near to what is played as the test of the model holds
/// it.
const COUNTING_OF_JOB: f64 = 0.02;
/// How far from the line the truth has to be for a word to be asked for: needs of 0.9 and 1.1 are that far.
const DECIDABLE: f64 = 0.09;
/// Share of the repetitions that must lie on either side of the line for a storage to have crossed it in a way that a run
/// can see.
// Of five repetitions not one: what a single one met is noise to the rules of the verdict.
const CROSSED: f64 = 0.15;
/// What a job gains without the part that is called its cause, by what it gains without any other: two that cost it about
/// as much are both a cause.
const LARGEST_MIN: f64 = 0.5;
/// Share of failed reads from which on no verdict is given.
// The same figure as in the analysis, written again on purpose: a truth that imported it would agree with
// any mistake in it.
const ERRORS_MAX: f64 = 0.01;

/// What may be said of a world, and what was said of it.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "facts that are independent of each other")]
pub struct Finding {
    /// What was said.
    pub word: Judgement,
    /// Whether FEEDS would be right.
    pub may_feed: bool,
    /// Whether STARVES would be right.
    pub may_starve: bool,
    /// Whether nothing but UNCERTAIN can be said, however the run is made.
    pub is_open: bool,
    /// Whether the truth is far enough from the line for UNCERTAIN to be a miss.
    pub is_decidable: bool,
    /// What the storage gives to the load by the line, at most.
    pub best_of_line: f64,
    /// The same of what the verdict rests on.
    pub tested_of_line: f64,
    /// Whether more accelerators are said to be fed than are.
    pub feeds_too_many: bool,
    /// Whether the reason given for STARVES is not the one; `None` where none is given.
    pub cause_is_wrong: Option<bool>,
    /// The verdict as a sentence.
    pub sentence: String,
}

impl Finding {
    /// FEEDS or STARVES that is not so.
    pub fn is_wrong(&self) -> bool {
        is_wrong(self.word, (self.may_feed, self.may_starve))
    }

    /// No word where one could be had.
    pub fn is_missed(&self) -> bool {
        self.word == Judgement::Uncertain && self.is_decidable
    }
}

/// FEEDS or STARVES that may not be said.
pub(crate) fn is_wrong(word: Judgement, (may_feed, may_starve): (bool, bool)) -> bool {
    match word {
        Judgement::Feeds => !may_feed,
        Judgement::Starves => !may_starve,
        Judgement::Uncertain => false,
    }
}

/// Compares what was concluded of a world with what is true of it.
pub fn judge(world: &World, played: &Played) -> Finding {
    let said = played.summary.verdicts.first();
    let verdict = said.and_then(Verdict::of_reads);
    let word = said.map_or(Judgement::Uncertain, Verdict::judgement);
    let tolerance = tolerance(&world.load);
    let best = best_of_line(world);
    let depth = verdict.and_then(|verdict| verdict.queue_depth);
    let tested = tested_of_line(world, depth).unwrap_or(best);
    // A level that comes to lie on the line is on neither side of it.
    // Shares of repetitions and not of time: a verdict weighs repetitions.
    let below = share_of_reps(played, |changed| best * changed < 1.0 - tolerance);
    let above = share_of_reps(played, |changed| best * changed >= 1.0 + tolerance);
    let crosses = below > CROSSED && above > CROSSED;
    let (mostly, least, most) = changes(played);
    let feeds =
        if below <= CROSSED { tested * mostly >= 1.0 - tolerance } else { tested * least >= 1.0 - tolerance };
    // A client that takes in less than the storage gives shows nothing of what is short of the line.
    let alone = best * alone(world);
    let starves =
        if above <= CROSSED { alone * mostly < 1.0 + tolerance } else { alone * most < 1.0 + tolerance };
    let is_cache_said = |verdict: &ReadVerdict| {
        let is_open = verdict.scope.as_ref().is_some_and(|scope| !scope.caches_open.is_empty());
        is_open
            || verdict.conditions.iter().any(is_read_through_cache)
            || played.summary.not_tested.iter().any(is_cache)
    };
    let finds_in_cache = world.device.cached > 1.0 && verdict.is_some_and(is_cache_said);
    let may_feed =
        // However well one host is fed, it says nothing of a storage that many share.
        (feeds || finds_in_cache) && !crosses && world.hosts == 1 && world.device.errors <= ERRORS_MAX;
    // Several hosts do not matter here: where one alone starves, all of them do.
    let may_starve = starves && !crosses;
    let can_be_told = match world.class {
        Class::Hosts => best < 1.0,
        Class::Client => best >= 1.0 || is_far_from_limit(world),
        Class::Decode => best >= 1.0 || alone < 1.0 - DECIDABLE,
        class => class.is_plain(),
    };
    Finding {
        word,
        may_feed,
        may_starve,
        is_open: crosses
            || (best < 1.0 && alone >= 1.0)
            || (best >= 1.0 && (world.hosts > 1 || world.device.errors > ERRORS_MAX)),
        is_decidable: can_be_told
            && (best - 1.0).abs() >= DECIDABLE
            && (in_the_long_run(world) < 1.0) == (best < 1.0),
        best_of_line: best,
        tested_of_line: tested,
        feeds_too_many: verdict.is_some_and(|verdict| feeds_too_many(world, verdict, tested)),
        cause_is_wrong: verdict.and_then(|verdict| cause_is_wrong(world, verdict)),
        sentence: said.map_or_else(|| "no verdict".to_owned(), report::words::verdict::sentence),
    }
}

/// Whether reads are said to have come, or to have been able to come, from a cache of the client.
fn is_read_through_cache(of: &Condition) -> bool {
    matches!(of, Condition::Warm | Condition::ThroughTier(_) | Condition::ColdStart)
}

/// Whether it is a cache that the verdict does not exclude.
fn is_cache(of: &NotTested) -> bool {
    matches!(of, NotTested::CachesBelow { .. } | NotTested::BackingFile { .. })
}

fn tolerance(load: &Load) -> f64 {
    match load {
        Load::Training { .. } => COUNTING_OF_JOB,
        Load::Closed { .. } | Load::Paced => COUNTING,
    }
}

/// What the storage gives by the line, at the depth that suits it best.
fn best_of_line(world: &World) -> f64 {
    match &world.load {
        Load::Training { job } => job.utilization(world.pipe()) / world.utilization,
        Load::Closed { .. } | Load::Paced => world.gives() / world.line(),
    }
}

/// What the storage would give to a client that takes in all and decodes in no time, by what it gives to this one.
fn alone(world: &World) -> f64 {
    match &world.load {
        Load::Training { job } => {
            Job { decode_s: 0.0, ..*job }.utilization(world.pipe()) / job.utilization(world.pipe())
        }
        Load::Closed { .. } | Load::Paced => {
            world.storage().at_depth(world.deepest()) / world.pipe().at_depth(world.deepest())
        }
    }
}

/// Whether the client could take in twice of what it is given.
fn is_far_from_limit(world: &World) -> bool {
    world.device.client_ops_per_s > 2.0 * world.storage().at_depth(world.deepest())
}

/// The same of a job that is so long that its first fill does not matter: one whose fill alone decides may stay unjudged.
fn in_the_long_run(world: &World) -> f64 {
    match &world.load {
        Load::Training { job } => {
            // Thirty times, so that the fill of the first batch is below what is counted at the edges.
            Job { steps: 30 * job.steps, ..*job }.utilization(world.pipe()) / world.utilization
        }
        Load::Closed { .. } | Load::Paced => best_of_line(world),
    }
}

/// The same of the depth that the verdict rests on.
fn tested_of_line(world: &World, depth: Option<u32>) -> Option<f64> {
    match &world.load {
        Load::Training { .. } => None,
        Load::Closed { .. } | Load::Paced => Some(world.at_depth(depth?) / world.line()),
    }
}

/// Share of the repetitions whose change is so.
fn share_of_reps(played: &Played, is_so: impl Fn(f64) -> bool) -> f64 {
    let count = played.met.iter().filter(|met| is_so(met.changed)).count();
    count as f64 / played.met.len().max(1) as f64
}

/// What changes had come to: in the middle of all repetitions, and at their ends.
fn changes(played: &Played) -> (f64, f64, f64) {
    let mut changed: Vec<f64> = played.met.iter().map(|met| met.changed).collect();
    changed.sort_by(f64::total_cmp);
    match (changed.first(), changed.get(changed.len() / 2), changed.last()) {
        (Some(least), Some(middle), Some(most)) => (*middle, *least, *most),
        _ => (1.0, 1.0, 1.0),
    }
}

/// Division by what one accelerator needs at the line, of a storage that stays as it is; a job is played with as many.
fn feeds_too_many(world: &World, verdict: &ReadVerdict, tested: f64) -> bool {
    let Some(said) = verdict.feeds.filter(|said| *said > 0 && world.class.is_plain()) else { return false };
    match &world.load {
        Load::Training { job } => {
            let played = Job { accelerators: said, ..*job }.utilization(world.pipe());
            played < world.utilization * (1.0 - tolerance(&world.load))
        }
        // One in a hundred: a floor of a quotient may be one more at the very edge.
        Load::Closed { .. } | Load::Paced => f64::from(said) / f64::from(world.accelerators) > tested * 1.01,
    }
}

/// What was said to be short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// A part of the model.
    Part(Part),
    /// Something that the model does not have.
    Other,
}

/// Whether STARVES has another reason than the model knows; `None` where none is given.
fn cause_is_wrong(world: &World, verdict: &ReadVerdict) -> Option<bool> {
    if !world.class.is_plain() || verdict.judgement != Judgement::Starves {
        return None;
    }
    let said = said(verdict)?;
    let pipe = world.pipe();
    let is_cause = |part: Part| match &world.load {
        Load::Training { job } => {
            let gain = |part| job.gain_without(part, pipe);
            // What would keep it short alone is a cause, whatever else is.
            let is_short = job.with_nothing_but(part, pipe) < world.utilization;
            is_short || gain(part) >= LARGEST_MIN * Part::ALL.map(gain).into_iter().fold(0.0, f64::max)
        }
        Load::Closed { .. } | Load::Paced => {
            part == if pipe.is_latency_bound(world.deepest()) { Part::Latency } else { Part::Rate }
        }
    };
    Some(match said {
        // Reads and steps that take turns miss the line by the loader, whatever the storage.
        Said::Part(_) if matches!(&world.load, Load::Training { job } if job.prefetch == 0 && world.need < 1.0) =>
        {
            return None;
        }
        Said::Part(part) => !is_cause(part),
        Said::Other => true,
    })
}

/// What a verdict says is short; `None` where it says nothing, or that there is more than one thing.
fn said(verdict: &ReadVerdict) -> Option<Said> {
    if let Cause::Short { shape: Some(shape), .. } = &verdict.cause {
        return match shape {
            Shape::Flat { .. } => Some(Said::Part(Part::Rate)),
            Shape::Proportional { .. } => Some(Said::Part(Part::Latency)),
            // Of two depths, the deeper may be at the rate and the other not.
            Shape::Rising { .. } => None,
            Shape::Falling { .. } => Some(Said::Other),
        };
    }
    match verdict.played.as_ref()?.diagnosis.as_ref()?.bound {
        // The first fill of a short job, and more than one cause, are no claim about any part.
        Bound::Startup | Bound::FirstFill | Bound::Mixed => None,
        Bound::Latency => Some(Said::Part(Part::Latency)),
        Bound::Bandwidth | Bound::Rate => Some(Said::Part(Part::Rate)),
        Bound::Decode => Some(Said::Part(Part::Decode)),
        Bound::Barrier => Some(Said::Part(Part::Barrier)),
        Bound::Metadata | Bound::Client | Bound::Others | Bound::Checkpoint => Some(Said::Other),
    }
}
