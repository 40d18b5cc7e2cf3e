//! Verdicts on reads: why they are what they are, and what they are about.

use analysis::{
    AloneVerdict, Cause, ClearsOtherwise, Condition, Flag, LoadScope, NoLine, NoVerdict, NothingMeasured,
    Percentile, Played, ReadVerdict, Scope, Unreached,
};
use feed::{Durability, Flow, Judgement, counted_noun, format_bps, format_bytes, group_digits};
use record::CheckpointPlan;

use super::share::{of_line, percent, utilization};
use super::{curve, diagnosis, flag, form, gap, need, slow_ranks};
use crate::number::cut_percent;

/// What a demo is.
const DEMO: &str = "played by feedline: shown, not judged";

/// The verdict as one sentence, without its first words (judgement and target).
pub(crate) fn sentence(of: &ReadVerdict) -> String {
    let mut parts = vec![main_clause(of)];
    parts.extend(of.slow.as_ref().map(slow_ranks::words));
    parts.extend(loader(of));
    if let Some(feeds) = of.feeds_by_division() {
        let at_least = if of.feeds_at_least() { "at least " } else { "" };
        parts.push(format!("feeds {at_least}{feeds} by division"));
    }
    parts.extend(because(of));
    // What to do about it, since the flag is all that stands between the figures and a verdict.
    if let Cause::Flagged(flag) = &of.cause {
        parts.push(flag::advice(flag).to_owned());
    }
    if of.is_demo() {
        parts.push(DEMO.to_owned());
    }
    parts.extend(circumstances(of));
    parts.extend(of.scope.as_ref().map(scope));
    parts.join("; ")
}

/// Why the judgement is this one, clause by clause, for a place where need, number of accelerators, advice and scope
/// stand by themselves.
pub(crate) fn reasons(of: &ReadVerdict) -> Vec<String> {
    // Need and number stand in the row above, so that a clause that begins with them would say them twice.
    let main = match &of.cause {
        Cause::Clears { first } if of.played.is_none() => format!("clears {}", place(of, from_or_at(*first))),
        Cause::Clears { .. } => {
            let main = main_clause(of);
            main.strip_prefix(&of.need).unwrap_or(&main).trim_start().to_owned()
        }
        Cause::Straddles { .. } => format!("interval straddles the line {}", place(of, "at")),
        _ => main_clause(of),
    };
    let clauses = std::iter::once(main).chain(more_rounds(&of.cause));
    let clauses = clauses.chain(of.slow.as_ref().map(slow_ranks::words)).chain(loader(of));
    clauses.chain(because(of)).chain(circumstances(of)).collect()
}

/// What each of several needs would be told by itself.
pub(crate) fn each_alone(all: &ReadVerdict) -> impl Iterator<Item = String> {
    all.alone.iter().map(|one| alone(all, one))
}

/// What one of several needs, of which all at once are told `all`, would be told by itself.
pub(crate) fn alone(all: &ReadVerdict, of: &AloneVerdict) -> String {
    let why = match (of.judgement, &of.open) {
        (Judgement::Uncertain, Some(cause)) => format!("; {}", clause(cause, all)),
        (Judgement::Uncertain, None) => "; its interval straddles the line".to_owned(),
        (Judgement::Feeds | Judgement::Starves, _) => String::new(),
    };
    let (low, high) = (of.of_line.low * 100.0, of.of_line.high * 100.0);
    format!(
        "{} alone {}: {low:.0} to {high:.0} % of its line of {}{why}",
        of.need,
        of.judgement.name(),
        format_bps(of.line_bps),
    )
}

/// What the curve and the job say of a storage that falls short.
fn because(of: &ReadVerdict) -> Vec<String> {
    // Of a storage that feeds nobody asks why.
    let Cause::Short { shape, .. } = of.cause else { return Vec::new() };
    let why = of.played.as_ref().and_then(|played| played.diagnosis.as_ref());
    let diagnosis = why.map(diagnosis::words);
    shape.map(curve::shape).into_iter().chain(diagnosis).chain(of.clears.as_ref().map(clears)).collect()
}

/// How the storage changed, and how it was read.
fn circumstances(of: &ReadVerdict) -> Vec<String> {
    let changed = of.changed.filter(|_| !matches!(of.cause, Cause::Changed { .. }));
    let changed = changed.map(|bps| format!("it changed during the run: {}", before_and_after(bps)));
    // One clause, however many conditions there are: a part of them would be another way of reading.
    let conditions: Vec<String> = of.conditions.iter().map(condition).collect();
    let conditions = Some(conditions.join("; ")).filter(|words| !words.is_empty());
    changed.into_iter().chain(conditions).collect()
}

fn main_clause(of: &ReadVerdict) -> String {
    let of_job = of.played.as_ref().zip(of.engine.as_deref());
    let of_job = of_job.and_then(|(played, engine)| job_clause(of, played, engine));
    of_job.unwrap_or_else(|| clause(&of.cause, of))
}

/// What `cause` says of what was measured.
fn clause(cause: &Cause, of: &ReadVerdict) -> String {
    let at = place(of, "at");
    match cause {
        // The need in words, so that the sentence can be quoted alone.
        Cause::Clears { first } => format!("{} {}", of.need, place(of, from_or_at(*first))),
        Cause::Short { share, .. } => format!("{} short {at}", percent(*share)),
        Cause::Straddles { .. } => {
            let more = more_rounds(cause).unwrap_or_default();
            format!("interval straddles the line {at}{}; {more}", interval_of_line(of))
        }
        Cause::Changed { bps } => {
            format!("the storage changed across the line {at}: {}", before_and_after(*bps))
        }
        Cause::HostsOpen { hosts } => {
            let verb = if *hosts == 1 { "was" } else { "were" };
            format!("this host is fed {at}; {} more {verb} not tested", group_digits(u64::from(*hosts)))
        }
        Cause::NotInStep { least_au } => format!(
            "fed {at} if one process is always the slowest; slow in turn, as they may be, the GPUs are {} busy",
            utilization(*least_au)
        ),
        Cause::SavesTooOften { without_au } => {
            let without = utilization(*without_au);
            format!("short {at} with saves more often than the need has them; without any AU {without}")
        }
        Cause::BeyondLoader { reach } => {
            format!("clears {at}, and the stated loader has {reach} reads outstanding at most")
        }
        Cause::OthersAbove { queue_depth, share } => {
            format!("short {at}, but depth {queue_depth} stood at {} of the line", of_line(*share))
        }
        Cause::AskedFailed { reason } => {
            format!("what was asked for failed{}: {}", behind(" at ", of), gap::words(reason))
        }
        Cause::TooFewRepetitions { made } => {
            format!("too few repetitions {at}: {made} of the 3 that an interval needs")
        }
        // Found among few of the reads of any cell, so it is said of the target.
        Cause::Flagged(flag @ Flag::WrongBytes { .. }) => flag::words(flag),
        Cause::Flagged(flag) => format!("{} {at}", flag::words(flag)),
        Cause::ConfirmationFailed { reason } => {
            format!("the confirmation failed {at}: {}", gap::words(reason))
        }
        Cause::NotConfirmed { reason } => format!("not confirmed {at}: {}", gap::words(reason)),
        Cause::NothingMeasured(why) => nothing_measured(why),
        Cause::Demo { of_line: Some(share) } => format!("{} of the line {at}", of_line(*share)),
        Cause::Demo { of_line: None } => format!("measured {at}"),
        Cause::NoLine(NoLine::NoNeed(why)) => format!("measured {at}, not judged: {}", need::none(*why)),
        Cause::NoLine(NoLine::NoSampleSize) => {
            format!("measured {at}, not judged: the size of a sample is not known")
        }
    }
}

/// What a training job did, where that is what the verdict says.
fn job_clause(of: &ReadVerdict, played: &Played, engine: &str) -> Option<String> {
    let au = utilization(played.au);
    match of.cause {
        Cause::Clears { .. } => {
            let (fetch, target) = (fetch(of, played), percent(played.target));
            let form = behind(", ", of);
            Some(format!("{} with {fetch}: AU {au} (target {target}), {engine}{form}", of.need))
        }
        Cause::Short { .. } => {
            // Where both round to the same, one digit more tells them apart.
            let (au, target) = if au == utilization(played.target) {
                (format!("{:.2} %", played.au * 100.0), format!("{:.2} %", played.target * 100.0))
            } else {
                (au, percent(played.target))
            };
            Some(format!("AU {au} of the {target} it needs {}", place(of, "at")))
        }
        Cause::Demo { .. } => Some(format!("AU {au} {}", place(of, "at"))),
        _ => None,
    }
}

const fn from_or_at(is_first: bool) -> &'static str {
    if is_first { "from" } else { "at" }
}

/// `at depth 32 (io_uring)`, `with 8 readers, prefetch 8 (io_uring)`, `from depth 8 (io_uring, 64 MiB shards)`.
fn place(of: &ReadVerdict, preposition: &str) -> String {
    // In the first clause, which every page has room for: of several forms nothing else says which one is judged.
    let form = behind(", ", of);
    match (&of.played, &of.engine, of.queue_depth) {
        (Some(played), Some(engine), _) => format!("with {} ({engine}{form})", fetch(of, played)),
        (_, Some(engine), Some(depth)) => format!("{preposition} depth {depth} ({engine}{form})"),
        _ => "in no cell".to_owned(),
    }
}

/// The form that is judged, behind these letters; nothing where there are no several.
fn behind(letters: &str, of: &ReadVerdict) -> String {
    let form = form::all(&of.form);
    if form.is_empty() { form } else { format!("{letters}{form}") }
}

/// How batches were fetched: `8 readers, prefetch 8`.
fn fetch(of: &ReadVerdict, played: &Played) -> String {
    let readers = match played.readers {
        Some(readers) => crate::training::readers(readers, played.fetches),
        None => format!("reads shared at depth {}", of.queue_depth.unwrap_or_default()),
    };
    format!("{readers}, prefetch {}", played.prefetch)
}

/// What a closed loop that feeds takes of a loader: `32 outstanding take 4 workers for each of 8 accelerators with blocking
/// reads`.
fn loader(of: &ReadVerdict) -> Option<String> {
    let feeds = matches!(of.cause, Cause::Clears { .. } | Cause::HostsOpen { .. });
    let load = of.scope.as_ref().filter(|_| feeds && of.played.is_none())?.load;
    let workers = counted_noun(load.workers_per_accelerator()?.into(), "worker");
    let LoadScope::Closed { outstanding, accelerators } = load else { return None };
    let each = match accelerators {
        1 => "one accelerator".to_owned(),
        several => format!("each of {several} accelerators"),
    };
    Some(format!("{outstanding} outstanding take {workers} for {each} with blocking reads"))
}

/// `: 97 to 104 % of it`.
fn interval_of_line(of: &ReadVerdict) -> String {
    of.samples_per_s.zip(of.line_samples_per_s).map_or_else(String::new, |(interval, line)| {
        format!(": {:.0} to {:.0} % of it", interval.low / line * 100.0, interval.high / line * 100.0)
    })
}

/// What would decide a verdict whose interval holds the line.
fn more_rounds(of: &Cause) -> Option<String> {
    let Cause::Straddles { made, rounds, most, command } = of else { return None };
    let made = counted_noun(u64::from(*made), "round");
    Some(match (rounds, command) {
        // Said, so that nobody runs it again for hours.
        (None, _) => format!("no number of rounds that pays would decide ({made} made)"),
        (Some(rounds), Some(command)) => {
            format!("about {rounds} rounds would decide ({made} made): {command}")
        }
        (Some(rounds), None) => format!("about {rounds} of {most} rounds would decide ({made} fitted)"),
    })
}

/// `1.56 GB/s, then 1.19 GB/s`.
fn before_and_after((before, after): (f64, f64)) -> String {
    format!("{}, then {}", format_bps(before), format_bps(after))
}

pub(super) fn nothing_measured(why: &NothingMeasured) -> String {
    match why {
        NothingMeasured::Cell(reason) => format!("nothing was measured: {}", gap::words(reason)),
        NothingMeasured::Skipped { engine, reason } => skipped(engine, reason),
        NothingMeasured::NotPlanned => "nothing was measured: no cell was planned".to_owned(),
    }
}

pub(super) fn skipped(engine: &str, reason: &str) -> String {
    format!("nothing was measured: {engine}: {reason}")
}

/// Why no verdict can rest on what was measured.
pub(crate) fn no_verdict(why: &NoVerdict) -> String {
    match why {
        NoVerdict::Variant => "one of several variants, which are compared and not judged".to_owned(),
        NoVerdict::OneOfSeveral { rank, ranks } => {
            format!("process {rank} of {ranks} alone: `feedline merge` judges what all of them measured")
        }
        NoVerdict::TeamBroke => {
            "the processes that measured together did not come to the end together: nothing is judged"
                .to_owned()
        }
        NoVerdict::OffersLess { of_line: share } => {
            format!("offers {} of the line: no verdict", of_line(*share))
        }
        NoVerdict::OtherJob { played, named } => {
            let played = counted_noun(u64::from(*played), "accelerator");
            let named = if *named == 0 { "none".to_owned() } else { named.to_string() };
            format!("jobs of up to {played} were played, the need names {named}: no verdict")
        }
        NoVerdict::OthersMoved { asked, operations } => {
            let missing = match asked {
                Flow::Reads => "no sample was read",
                Flow::Writes => "nothing was written",
                Flow::Both => "nothing was read and written at once",
            };
            format!("{missing} ({}): not judged against the line", operations.join(", "))
        }
        NoVerdict::NoShare { percent: Some(percent) } => {
            format!("the record's share of writes is {percent} %: not judged against the line")
        }
        NoVerdict::NoShare { percent: None } => {
            "the record does not say what share was written: not judged against the line".to_owned()
        }
        NoVerdict::NothingAsked => {
            "the need asks for checkpoints alone, and none is written there".to_owned()
        }
        NoVerdict::NamesAlone { operations } => {
            format!("only names were asked for ({}): no verdict", operations.join(", "))
        }
    }
}

/// `screen, cache open`: what stands beside the word.
pub(crate) fn scope(of: &Scope) -> String {
    // Only what is open is said: a scope is read beside a word, in a column.
    let hosts = (of.hosts_open() > 0).then(|| {
        let needed = counted_noun(u64::from(of.hosts_needed), "host");
        format!("{} of {needed}", of.hosts_measured)
    });
    let cache = (!of.caches_open.is_empty()).then(|| "cache open".to_owned());
    let profile = of.extrapolated.then(|| "extrapolated profile".to_owned());
    let evidence = of.evidence.name().to_owned();
    let parts = std::iter::once(evidence).chain(hosts).chain(cache).chain(profile);
    parts.collect::<Vec<_>>().join(", ")
}

fn condition(of: &Condition) -> String {
    match of {
        Condition::Paced { arrivals, paced } => {
            // Without a line nothing is said of the pace, so that there is one.
            let line = of_line(paced.of_line.unwrap_or_default());
            let did = if paced.keeps_up() {
                format!("offered {line}")
            } else {
                format!("served {} of {line}", cut(paced.kept_share))
            };
            // A percentile that was never served has no figure, and its absence would be taken for one not
            // measured.
            let is_served = paced.response_p99 != Percentile::NotServed;
            let p99 = if is_served { "" } else { "; response p99 not served" };
            format!("{did} of the line, {arrivals} arrivals{p99}")
        }
        Condition::Warm => "from the client's page cache (warm), not from storage".to_owned(),
        Condition::ThroughTier(tier) => {
            let capacity = format_bytes(tier.capacity_bytes);
            format!("through a local cache of {capacity} ({}) that begins empty", tier.policy)
        }
        Condition::ColdStart => {
            "over passes of which the first alone is cold: later ones may come from the client's \
                                 page cache"
                .to_owned()
        }
        Condition::OneOfSeveral(panel) => curve::conditions_beside_form(panel),
        Condition::WholeFiles { names_dropped } => {
            let names = if *names_dropped { "" } else { ", names possibly in memory" };
            format!("files opened one by one{names}")
        }
        Condition::Mixed { read_bps, write_bps } => {
            let [read, written] = [read_bps, write_bps].map(|bps| feed::format_bps(*bps));
            format!("{read} read and {written} written at once")
        }
        Condition::Kept(durability) => kept(*durability).to_owned(),
        Condition::BesideDevice => {
            "by threads kept on the NUMA node of the device, as a loader's are only where somebody keeps them there".to_owned()
        }
        Condition::HugePages => "into buffers of huge pages, which loaders do not have".to_owned(),
    }
}

/// What a write that ended is promised to be.
fn kept(durability: Durability) -> &'static str {
    match durability {
        Durability::None => "writes of which nothing is promised: the storage may hold them in memory alone",
        Durability::Data => "writes that are kept when they end",
        Durability::Full => "writes that are kept when they end, with all that is known of their file",
    }
}

/// Cut and not rounded near the whole: 99.8 % is not all.
fn cut(share: f64) -> String {
    if share < 0.99 { percent(share) } else { format!("{} %", cut_percent(share)) }
}

/// `not at 256 KiB samples (depths 1-32: 36 to 60 % of its line)`.
pub(crate) fn unreached(of: &Unreached) -> String {
    match of {
        Unreached::Otherwise { apart, of_line: (low, high), depths } => {
            let not = if *high < 1.0 { "not" } else { "not proven" };
            let (way, from, to) = (curve::way(apart), points(*low), points(*high));
            // Depths that all reach the same share are one figure.
            if from == to {
                return format!("{not} at {way}: {to} % of its line");
            }
            let depths = match depths {
                (one, same) if one == same => format!("depth {one}"),
                (first, last) => format!("depths {first}-{last}"),
            };
            format!("{not} at {way} ({depths}: {from} to {to} % of its line)")
        }
        Unreached::More(ways) => format!("and {ways} more"),
        Unreached::JudgedWithCheckpoints { plan, without_au } => {
            let without = without_au.map(|au| format!("; without them AU {} %", cut_percent(au)));
            format!("judged {}{}", with_checkpoints(plan), without.unwrap_or_default())
        }
        Unreached::WithCheckpoints { plan, au } => {
            format!("not {}: AU {} %", with_checkpoints(plan), cut_percent(*au))
        }
    }
}

/// `not confirmed: clears at 128 KiB blocks, depth 2, and in 1 other way`.
fn clears(of: &ClearsOtherwise) -> String {
    let first = format!("not confirmed: clears at {}, depth {}", curve::way(&of.apart), of.queue_depth);
    if of.more == 0 {
        first
    } else {
        format!("{first}, and in {}", counted_noun(of.more as u64, "other way"))
    }
}

/// Hundredths, cut and not rounded: 99.7 is not 100.
fn points(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 10.0 {
        return format!("{:.1}", (percent * 10.0).floor() / 10.0);
    }
    group_digits(percent as u64)
}

/// `with sync checkpoints every 20 steps (llama3-8b, 1/64 of it)`.
fn with_checkpoints(plan: &CheckpointPlan) -> String {
    let every = plan.every_steps.map(|steps| format!(" every {}", counted_noun(steps, "step")));
    format!("with {} checkpoints{} ({})", plan.mode, every.unwrap_or_default(), plan.label)
}

#[cfg(test)]
mod tests;
