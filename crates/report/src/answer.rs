//! The answer of a run: at most twenty lines of a terminal, printed last.
//!
//! Everything else is on the page, in the Markdown report and behind `--full`.

pub(crate) mod rows;

use std::collections::BTreeMap;

use analysis::{
    Cause, CellSummary, CheckpointCause, CheckpointVerdict, Evidence, Flag, Measurement, Proof, ReadVerdict,
    RegressionResult, Scope, Sizing, Summary, Verdict,
};

use feed::Judgement;

use crate::head;
use crate::plain::{ascii, folded, shortened, spell_out};
use crate::screen::Screen;
use crate::standing::Standing;
use crate::words;

// What scrolls away is not read: twenty lines fit the smallest terminal in use (24 rows) with the prompt below.
/// Lines of an answer at most.
const LINES_MAX: usize = 20;
/// Lines of what `size` found at most, and of one search.
const FOUND_LINES: usize = 8;
const SEARCH_LINES: usize = 2;
/// Lines of each part at most; reasons, then what is open, have what the others leave.
const NEED_LINES: usize = 2;
const GATE_LINES: usize = 2;
/// The same of one demand that takes more.
const GATE_LINES_MAX: usize = 4;
/// Lines that reasons leave for what is open.
// Hosts, caches and time are the three that nearly every run leaves open.
const OPEN_LINES: usize = 3;
const NEXT_LINES: usize = 3;
/// Columns before the words of each part: `NEED `, `WHY  `.
const LEAD_COLUMNS: usize = 5;
/// Smallest width that is made use of.
const COLUMNS_MIN: usize = 72;

/// What an answer says of its surroundings, which no record knows.
#[derive(Debug, Clone, Copy)]
// Handed in: a record that is rendered again, elsewhere, must give the same answer but for these.
pub struct Surroundings<'a> {
    /// Where it is printed.
    pub screen: Screen,
    /// Folder of the record.
    pub folder: &'a str,
    /// Path of the page, or the command that makes it.
    pub page: &'a str,
    /// Command that prints all cells.
    pub full: &'a str,
    /// How it stands against the baseline of its gate, where it was compared with that.
    pub past: Option<&'a RegressionResult>,
}

/// Need, a row for each judged target, reasons, what stays open, cost, what to do next, and where the rest is.
///
/// What `size` found comes last. `None` for a run that judges nothing: it has no answer, and is shown as a whole.
pub fn answer(summary: &Summary, surroundings: Surroundings<'_>) -> Option<String> {
    if summary.verdicts.is_empty() && summary.sizings.is_empty() {
        return None;
    }
    // A folder may be called anything.
    let [folder, page_at, full] =
        [surroundings.folder, surroundings.page, surroundings.full].map(feed::plain);
    let surroundings = Surroundings { folder: &folder, page: &page_at, full: &full, ..surroundings };
    let screen = surroundings.screen;
    let writer = Writer { columns: screen.columns.max(COLUMNS_MIN) };
    let mut lines = writer.part("NEED", &need(summary), NEED_LINES);
    lines.extend(rows::rows(summary, Screen { columns: writer.columns, ..screen }));
    lines.extend(gate_lines(summary, surroundings.past, writer));
    // Laid out before the reasons, which take what room is left: a command that is cut off is of no use.
    let mut last = writer.part("COST", &cost(summary), 1);
    last.extend(next(summary, surroundings.folder, writer));
    last.extend(page(surroundings, writer));
    last.extend(found(summary, writer));
    let left = |lines: &[String]| LINES_MAX.saturating_sub(lines.len() + last.len());
    // Reasons are written before what is open but must not take its room: what was not tested is what a wrong decision
    // comes from.
    let room = left(&lines).saturating_sub(OPEN_LINES);
    lines.extend(why(summary, writer, room));
    // What the reasons did not use.
    let room = left(&lines);
    lines.extend(writer.part("OPEN", &open(summary), room));
    lines.extend(last);
    Some(lines.into_iter().map(|line| line + "\n").collect())
}

/// What runs prove together, a line for each target: `FEEDS     nvme proof: 3 runs over 26 h`.
pub fn proofs_terminal(proofs: &[Proof]) -> String {
    let width = proofs.iter().map(|proof| proof.target.chars().count()).max().unwrap_or(0);
    let line = |proof: &Proof| {
        format!("{:<9} {:<width$} {}\n", proof.judgement.name(), proof.target, words::proof::sentence(proof))
    };
    proofs.iter().map(line).collect()
}

/// Folds words below the name of their part.
#[derive(Clone, Copy)]
struct Writer {
    columns: usize,
}

impl Writer {
    /// `items` joined by `; ` in at most `lines` lines: whole items, and how many more there are.
    fn part(self, name: &str, items: &[String], lines: usize) -> Vec<String> {
        let Some(words) = self.fitting(items, lines) else { return Vec::new() };
        self.below(name, &words, lines)
    }

    fn below(self, name: &str, words: &str, lines: usize) -> Vec<String> {
        let folded = folded(&ascii(words), self.columns - LEAD_COLUMNS);
        let lead = |number: usize| if number == 0 { name } else { "" };
        let of_line = |(number, line): (usize, &String)| {
            let marked = if number + 1 == lines && folded.len() > lines {
                shortened(&format!("{line} .."), self.columns - LEAD_COLUMNS)
            } else {
                line.clone()
            };
            format!("{:<LEAD_COLUMNS$}{marked}", lead(number))
        };
        folded.iter().take(lines).enumerate().map(of_line).collect()
    }

    /// Lines that words take.
    fn lines(self, words: &str) -> usize {
        folded(&ascii(words), self.columns - LEAD_COLUMNS).len()
    }

    /// The items that fit, in their order, the first in any case; and how many more there are.
    fn fitting(self, items: &[String], lines: usize) -> Option<String> {
        let fits = |words: &str| self.lines(words) <= lines;
        let (first, others) = items.split_first()?;
        let mut shown = first.clone();
        let mut hidden = others.len();
        // The count is part of what must fit, or the last item would be cut by it.
        let with_count = |shown: &str, hidden: usize| match hidden {
            0 => shown.to_owned(),
            more => format!("{shown}; and {more} more"),
        };
        for item in others {
            let longer = format!("{shown}; {item}");
            if fits(&with_count(&longer, hidden - 1)) {
                (shown, hidden) = (longer, hidden - 1);
            }
        }
        Some(with_count(&shown, hidden))
    }
}

/// `8 x h100 resnet50, this host: 1.64 GB/s`, and the line: where all samples are of one size in bytes alone.
fn need(summary: &Summary) -> Vec<String> {
    let Ok(need) = &summary.need else { return vec![head::need(summary)] };
    let lead = if need.asks_rate() { "checkpoints: " } else { "" };
    let checkpoint = need.checkpoint.as_ref().map(|of| format!("{lead}{}", of.host_words()));
    need_of_reads(summary, need).into_iter().chain(checkpoint).collect()
}

/// What is read, and the line; the words of the need alone where nothing is.
fn need_of_reads(summary: &Summary, need: &feed::Need) -> Vec<String> {
    if !need.asks_rate() {
        return vec![need.label.clone()];
    }
    // One rate in bytes stands for the line only where all samples are of one size: else each size has a line of its
    // own.
    // A mix of another share than the need's own has a line of its own, which is not that of the answer.
    let of_mix = || summary.verdicts.first()?.cell().and_then(|name| summary.cell(name))?.line;
    let lines = match of_mix().filter(|line| line.write_percent.is_some()) {
        Some(line) => vec![line],
        None => analysis::lines(summary),
    };
    let [line] = lines[..] else {
        return std::iter::once(head::need(summary)).chain(head::line(summary)).collect();
    };
    let host = if need.hosts > 1 { ", this host" } else { "" };
    let demand = feed::format_bps(line.demand_bps);
    // More than the sum of both, where the share is not the need's own.
    let written =
        line.write_percent.map(|percent| format!(" with {percent} % of it written")).unwrap_or_default();
    let demand = if need.label.starts_with(&demand) { String::new() } else { format!(": {demand}{written}") };
    let line = format!("line {}: {}", need.at_line(), feed::format_bps(line.bps));
    vec![format!("{}{host}{demand}", need.label), line]
}

fn gate_lines(summary: &Summary, past: Option<&RegressionResult>, writer: Writer) -> Vec<String> {
    let (standing, mut demands) = Standing::of(summary, past);
    let word = match standing {
        Standing::None => return Vec::new(),
        Standing::Met => return writer.below("GATE", "met", 1),
        Standing::Missed => "missed",
        Standing::Regressed => "regressed",
        Standing::Inconclusive => "inconclusive",
    };
    if let Some(first) = demands.first_mut() {
        first.insert_str(0, &format!("{word}: "));
    }
    // Whole demands: half of one could read as another, and of one that names a cell the limit and the reason stand last.
    let own = demands.first().map_or(0, |first| writer.lines(first)).clamp(GATE_LINES, GATE_LINES_MAX);
    writer.part("GATE", &demands, own)
}

/// Reasons of each verdict, the gravest first, in what room there is.
fn why(summary: &Summary, writer: Writer, room: usize) -> Vec<String> {
    // A row says already that a server of feedline's own is not judged. What went wrong there, or kept its job from the line, is said
    // all the same.
    let mut judged: Vec<&Verdict> = summary.verdicts.iter().filter(|verdict| !verdict.demo).collect();
    judged.sort_by_key(|verdict| rows::gravity(verdict.demo, verdict.judgement()));
    let of_verdict = |verdict: &&Verdict| {
        let mut reasons = words::verdict::reasons(verdict);
        let unreached = verdict.of_reads().into_iter().flat_map(|reads| &reads.unreached);
        reasons.extend(unreached.map(words::read_verdict::unreached));
        // The name is part of the first reason and not a heading: a line is all the room that many targets
        // have.
        reasons[0].insert_str(0, &format!("{}: ", verdict.target));
        reasons
    };
    let unjudged = summary
        .unjudged
        .iter()
        .map(|one| vec![format!("{}: {}", one.target, words::read_verdict::no_verdict(&one.reason))]);
    let searched =
        summary.sizings.iter().map(|one| vec![words::sizing::row(one, &words::sizing::sentence(one))]);
    let demos = summary.verdicts.iter().filter(|verdict| verdict.demo);
    let of_demos =
        demos.filter_map(|verdict| went_wrong_at(summary, &verdict.target).or_else(|| limit(verdict)));
    let mut said: Vec<Vec<String>> =
        judged.iter().map(of_verdict).chain(unjudged).chain(of_demos).chain(searched).collect();
    spell_out(said.iter_mut().flatten());
    let mut lines = Vec::new();
    for (number, reasons) in said.iter().enumerate() {
        if lines.len() >= room {
            break;
        }
        // What one target does not use the next ones have.
        let own = ((room - lines.len()) / (said.len() - number)).max(1);
        let name = if lines.is_empty() { "WHY" } else { "" };
        lines.extend(writer.part(name, reasons, own));
    }
    lines
}

/// Wrong bytes and failed cells of a target that no verdict tells of; `None` where there are none.
fn went_wrong_at(summary: &Summary, target: &str) -> Option<Vec<String>> {
    let cells: Vec<&CellSummary> = summary.cells.iter().filter(|cell| cell.cell.target == target).collect();
    let mut flags = cells.iter().flat_map(|cell| cell.flags());
    let wrong = flags.find(|flag| matches!(flag, Flag::WrongBytes { .. })).map(words::flag::words);
    let failed = cells.iter().find_map(|cell| match &cell.measured {
        Measurement::Failed { reason, .. } => Some(words::gap::words(reason)),
        _ => None,
    });
    let mut reasons: Vec<String> = wrong.into_iter().chain(failed).collect();
    reasons.first_mut()?.insert_str(0, &format!("{target}: "));
    Some(reasons)
}

/// What kept the job of a demo from the line; `None` where nothing did, or no job was played.
fn limit(verdict: &Verdict) -> Option<Vec<String>> {
    let reads = verdict.of_reads()?;
    let Cause::Demo { of_line: Some(of_line) } = reads.cause else { return None };
    let diagnosis = reads.played.as_ref()?.diagnosis.as_ref().filter(|_| of_line < 1.0)?;
    Some(vec![format!("{}: {}", verdict.target, words::diagnosis::words(diagnosis))])
}

/// What `size` found, a line for each target, engine and way of reading.
fn found(summary: &Summary, writer: Writer) -> Vec<String> {
    let words = |one: &Sizing| words::sizing::row(one, &words::sizing::finding(one));
    let (mut lines, mut shown) = (Vec::new(), 0);
    for one in &summary.sizings {
        let own = writer.below("SIZE", &words(one), SEARCH_LINES);
        // Whole ones alone: of one that is cut neither the way of reading nor what it feeds may be lost.
        if lines.len() + own.len() > FOUND_LINES {
            break;
        }
        lines.extend(own);
        shown += 1;
    }
    let more = summary.sizings.len() - shown;
    if more > 0 {
        lines.extend(writer.below("SIZE", &format!("and {more} more ways of reading: --full"), 1));
    }
    lines
}

/// What no word of the verdicts goes beyond.
fn open(summary: &Summary) -> Vec<String> {
    let hosts = summary.verdicts.iter().flat_map(Verdict::scopes);
    // One line for the widest gap: all targets of a run are asked about for the same cluster.
    let open = hosts.filter(|scope| scope.hosts_open() > 0).max_by_key(|scope| scope.hosts_open());
    let hosts = open.map(|scope| {
        let needed = feed::counted_noun(u64::from(scope.hosts_needed), "host");
        format!("{} of {needed}: no word on the cluster", scope.hosts_measured)
    });
    let divided = rows::is_divided(summary).then(|| rows::DIVIDED.to_owned());
    hosts.into_iter().chain(words::not_tested::all(summary)).chain(divided).collect()
}

/// What the run used, as far as its record tells.
fn cost(summary: &Summary) -> Vec<String> {
    let time = summary.head.elapsed_ns.map(clock);
    let read: f64 = summary
        .datasets
        .iter()
        .filter_map(|figures| Some(figures.reads_per_byte? * figures.dataset.bytes as f64))
        .sum();
    let reads: u64 = summary.datasets.iter().map(|figures| figures.reads).sum();
    let read = (read > 0.0).then(|| {
        format!("read {} in {}", feed::format_bytes(read.round() as u64), feed::counted_noun(reads, "read"))
    });
    let copied: u64 = summary.datasets.iter().map(|figures| figures.written_bytes).sum();
    let copied = (copied > 0).then(|| format!("copies wrote {}", feed::format_bytes(copied)));
    let written: f64 = summary.datasets.iter().map(|figures| figures.written_over_bytes).sum();
    let written = (written > 0.0).then(|| format!("wrote {}", feed::format_bytes(written.round() as u64)));
    let saved = summary.checkpoints.written_bytes;
    let saved = (saved > 0).then(|| format!("checkpoints wrote {}", feed::format_bytes(saved)));
    let kept = kept_bytes(summary);
    let kept = (kept > 0).then(|| format!("{} of generated data kept", feed::format_bytes(kept)));
    time.into_iter().chain(read).chain(written).chain(copied).chain(saved).chain(kept).collect()
}

/// Bytes of generated datasets that outlast the run: each once, however many targets read it, and without those of servers
/// that feedline started.
fn kept_bytes(summary: &Summary) -> u64 {
    let place = |name: &str| summary.targets.iter().find(|target| target.name == name && !target.demo);
    let kept = summary
        .datasets
        .iter()
        .map(|figures| &figures.dataset)
        .filter(|dataset| dataset.source == "generate");
    // By place and fingerprint: targets of one path share the data, and would be counted once for each engine.
    let each: BTreeMap<(&str, &str), u64> = kept
        .filter_map(|dataset| {
            Some(((place(&dataset.target)?.at.as_str(), dataset.fingerprint.as_str()), dataset.bytes))
        })
        .collect();
    each.values().sum()
}

/// `0.8 s`, `61 s`, `4 min 52 s`, `3 h 10 min`.
fn clock(ns: u64) -> String {
    let seconds = (ns + 500_000_000) / 1_000_000_000;
    match seconds {
        0..2 => feed::format_duration_ns(ns),
        // `61 s` and not `1 min 1 s`: up to two minutes seconds are what people compare.
        2..120 => format!("{seconds} s"),
        120..7200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// The command that would decide, prove or widen what was said, for as many targets as there is room.
fn next(summary: &Summary, folder: &str, writer: Writer) -> Vec<String> {
    let command = |verdict: &Verdict| Some((verdict.target.clone(), next_of(summary, folder, verdict)?));
    let mut lines: Vec<(Vec<String>, String)> = Vec::new();
    for (target, command) in summary.verdicts.iter().filter_map(command) {
        // Targets that need the same command are named before it: typed twice it would measure twice.
        match lines.iter_mut().find(|(_, one)| *one == command) {
            Some((targets, _)) => targets.push(target),
            None => lines.push((vec![target], command)),
        }
    }
    let mut shown = Vec::new();
    for (targets, command) in lines {
        let name = if shown.is_empty() { "NEXT" } else { "" };
        let room = NEXT_LINES - shown.len();
        // A command that is cut cannot be typed.
        let line = writer.below(name, &format!("{}: {command}", targets.join(", ")), usize::MAX);
        if line.len() <= room {
            shown.extend(line);
        }
    }
    shown
}

fn next_of(summary: &Summary, folder: &str, verdict: &Verdict) -> Option<String> {
    if verdict.demo || summary.head.command.is_empty() {
        return None;
    }
    let of_checkpoint = |one: &CheckpointVerdict| next_of_checkpoint(summary, folder, &verdict.target, one);
    // A proof is of all that the need asks for: it is the next step only where nothing else is.
    let is_proven = verdict.judgement() == Judgement::Feeds;
    let reads = verdict.of_reads().filter(|reads| is_proven || reads.judgement != Judgement::Feeds);
    let of_reads = reads.and_then(|reads| next_of_reads(summary, folder, &verdict.target, reads));
    let of_checkpoints = || verdict.checkpoints.iter().find_map(of_checkpoint);
    let proof = || proof(summary, verdict).filter(|_| is_proven);
    of_reads.or_else(of_checkpoints).or_else(proof)
}

/// The command that proves in several runs what one run says.
fn proof(summary: &Summary, verdict: &Verdict) -> Option<String> {
    let mut scopes = verdict.scopes();
    let is_screen = scopes.any(|scope| scope.evidence == Evidence::Screen);
    let proves = summary.head.command.iter().any(|word| word == "--proof");
    let asked = record::typed(record::asked(&summary.head.command));
    // A run that was already to prove is not told to: what it lacks stands in its proof. A proof is of one process.
    (is_screen && !proves && summary.head.ranks == 1).then(|| format!("{asked} --proof, before buying"))
}

/// What would decide a part of the checkpoints.
fn next_of_checkpoint(
    summary: &Summary,
    folder: &str,
    target: &str,
    verdict: &CheckpointVerdict,
) -> Option<String> {
    let more = |rounds| more_rounds(summary, folder, target, Some(&verdict.scope), rounds);
    match &verdict.cause {
        CheckpointCause::Straddles { made, rounds: Some(rounds) } => more(rounds.saturating_sub(*made)),
        CheckpointCause::TooFewRepetitions { .. } | CheckpointCause::NotConfirmed { .. } => {
            more(summary.head.repetitions)
        }
        CheckpointCause::Flagged(flag) => Some(words::flag::advice(flag).to_owned()),
        _ => None,
    }
}

/// What would decide or widen what is said of reads.
fn next_of_reads(summary: &Summary, folder: &str, target: &str, verdict: &ReadVerdict) -> Option<String> {
    let asked = || record::typed(record::asked(&summary.head.command));
    let more = |rounds| more_rounds(summary, folder, target, verdict.scope.as_ref(), rounds);
    let is_alone = summary.head.ranks == 1;
    match &verdict.cause {
        Cause::Straddles { command: Some(command), .. } if is_alone => Some(command.clone()),
        Cause::Straddles { command: Some(command), .. } => Some(format!("{command}, by the same launcher")),
        Cause::Straddles { made, rounds: Some(rounds), .. } => more(rounds.saturating_sub(*made)),
        Cause::TooFewRepetitions { .. } | Cause::NotConfirmed { .. } => more(summary.head.repetitions),
        Cause::Flagged(flag) => Some(words::flag::advice(flag).to_owned()),
        Cause::HostsOpen { hosts } if !is_alone => Some(format!(
            "{}, by the same launcher on {} more",
            asked(),
            feed::counted_noun((*hosts).into(), "host")
        )),
        Cause::HostsOpen { hosts } => {
            // This host is one of them and measures again, at the same time as the others.
            let ranks = u64::from(*hosts) + 1;
            Some(format!("{} --rank R --ranks {ranks} --start-at T, on every host", asked()))
        }
        _ => None,
    }
}

/// The command that makes so many more of the rounds that a run planned; `None` where it has not come to its end, or several
/// hosts made it.
fn more_rounds(
    summary: &Summary,
    folder: &str,
    target: &str,
    scope: Option<&Scope>,
    rounds: u32,
) -> Option<String> {
    let head = &summary.head;
    let is_whole = head.elapsed_ns.is_some() && !head.interrupted;
    // A run of several processes cannot be gone on with by one.
    let made = scope.filter(|_| head.ranks == 1)?.rounds;
    // No more than were planned: the error of the interval is spent over the planned looks, and nothing is left
    // of it beyond them.
    let rounds = rounds.min(head.fresh_rounds.saturating_sub(made));
    let storages = summary.targets.iter().filter(|target| target.storage).count();
    // The others are decided, or need another number of rounds.
    let only = if storages > 1 { format!(" --only {target}") } else { String::new() };
    let run = feed::typed_word(folder);
    (is_whole && rounds > 0).then(|| format!("feedline run --resume {run}{only} --rounds +{rounds}"))
}

fn page(surroundings: Surroundings<'_>, writer: Writer) -> Vec<String> {
    // Never folded: a path is copied in one piece.
    let both = format!("{}   all cells: {}", surroundings.page, surroundings.full);
    if both.chars().count() + LEAD_COLUMNS <= writer.columns {
        return vec![format!("PAGE {both}")];
    }
    vec![format!("PAGE {}", surroundings.page)]
}
