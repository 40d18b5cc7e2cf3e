//! The answer of a run: at most twenty lines of a terminal, printed last.
//!
//! Everything else is on the page, in the Markdown report and behind `--full`.

use std::collections::BTreeMap;

use analysis::{Cause, Evidence, GateResult, Proof, Sizing, Summary, Verdict, gate};
use feed::{Interval, Judgement};

use crate::cells;
use crate::grid::{Column, Grid};
use crate::head;
use crate::number::{RateUnit, of_line, percent};
use crate::plain::{ascii, folded, shortened, spell_out};
use crate::screen::Screen;
use crate::words;

// What scrolls away is not read: twenty lines fit the smallest terminal in use (24 rows) with the prompt below.
/// Lines of an answer at most.
const LINES_MAX: usize = 20;
/// Targets that have a row of their own at most, and lines of all rows; the gravest come first where there are more.
// Seven rows, with headings and the line of what is left out, are half of the answer: the other half says why,
// what is open, and what to do.
const ROWS_MAX: usize = 7;
const ROWS_LINES_MAX: usize = 10;
/// Lines of each part at most; reasons, then what is open, have what the others leave.
const NEED_LINES: usize = 2;
const GATE_LINES: usize = 2;
/// Lines that reasons leave for what is open.
// Hosts, caches and time are the three that nearly every run leaves open.
const OPEN_LINES: usize = 3;
const NEXT_LINES: usize = 3;
/// What signs before a number of accelerators mean.
const DIVIDED: &str = "~ and >= by division of the rate";
/// Longest name of a target that is written out: four lines of a narrow terminal.
const NAME_COLUMNS: usize = 64;
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
}

/// Need, a row for each judged target, reasons, what stays open, cost, what to do next, and where the rest is.
///
/// What `size` found comes last. `None` for a run that judges nothing: it has no answer, and is shown as a whole.
pub fn answer(summary: &Summary, surroundings: Surroundings<'_>) -> Option<String> {
    if summary.verdicts.is_empty() && summary.sizings.is_empty() {
        return None;
    }
    let screen = surroundings.screen;
    let writer = Writer { columns: screen.columns.max(COLUMNS_MIN) };
    let mut lines = writer.part("NEED", &need(summary), NEED_LINES);
    lines.extend(rows(summary, Screen { columns: writer.columns, ..screen }));
    lines.extend(gate_lines(summary, writer));
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

    /// The items that fit, in their order, the first in any case; and how many more there are.
    fn fitting(self, items: &[String], lines: usize) -> Option<String> {
        let fits = |words: &str| folded(&ascii(words), self.columns - LEAD_COLUMNS).len() <= lines;
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
    // One rate in bytes stands for the line only where all samples are of one size: else each size has a line of its
    // own.
    let [line] = analysis::lines(summary)[..] else {
        return std::iter::once(head::need(summary)).chain(head::line(summary)).collect();
    };
    let host = if need.hosts > 1 { ", this host" } else { "" };
    let demand = feed::format_bps(need.demand_bps(line.sample_bytes));
    let demand = if need.label == demand { String::new() } else { format!(": {demand}") };
    let line = format!("line {}: {}", need.at_line(), feed::format_bps(line.bps));
    vec![format!("{}{host}{demand}", need.label), line]
}

/// A row for each judged target, as on every page.
pub(crate) fn table(summary: &Summary) -> Grid {
    let verdicts: Vec<&Verdict> = summary.verdicts.iter().collect();
    grid(summary, &verdicts)
}

fn grid(summary: &Summary, verdicts: &[&Verdict]) -> Grid {
    let need = summary.need.as_ref().ok();
    let accelerators = need.map_or(0, |need| need.accelerators);
    let unit = unit(summary, verdicts);
    let heading = unit.map_or_else(|| "rate, 95 %".to_owned(), |unit| format!("{}, 95 %", unit.name));
    let grid = Grid::of("the figure that decides each verdict", verdicts)
        .column(Column::name("verdict").short(""), |verdict| Some(verdict.word().to_owned()))
        .column(Column::name("target").short(""), |verdict| Some(shortened(&verdict.target, NAME_COLUMNS)))
        .figure(&heading, |verdict| Some(rate_words(rate(summary, verdict)?, unit)))
        .figure("of line", |verdict| {
            let (rate, line) = measured(verdict)?;
            Some(range(rate, line))
        });
    // A need that is a rate names no accelerators, and a column of dashes would take the room of the evidence.
    let grid = if accelerators == 0 {
        grid
    } else {
        grid.figure("GPUs busy", |verdict| {
            let (rate, line) = measured(verdict)?;
            let at =
                verdict.played.as_ref().map(|played| played.target).or(need.map(|need| need.utilization))?;
            Some(busy_range(rate, line / at))
        })
        .figure("feeds", |verdict| feeds(verdict, accelerators))
    };
    // A number that nobody measured must not stand beside measured ones without its sign being explained.
    let is_divided = verdicts.iter().any(|verdict| verdict.feeds_by_division().is_some());
    let foot = if is_divided { DIVIDED } else { "" };
    grid.column(Column::parts("evidence"), |verdict| Some(evidence(summary, verdict))).foot(foot).done()
}

/// What decides, in samples per second, and the line.
fn measured(verdict: &Verdict) -> Option<(Interval, f64)> {
    verdict.samples_per_s.zip(verdict.line_samples_per_s)
}

/// What decides, in bytes per second of the deciding cell's samples.
fn rate(summary: &Summary, verdict: &Verdict) -> Option<(f64, f64)> {
    let (rate, _) = measured(verdict)?;
    let line = summary.cell(verdict.cell.as_deref()?)?.line?;
    Some((rate.low * line.sample_bytes, rate.high * line.sample_bytes))
}

/// The unit of all rates; `None` where none suits them all, and each has its own.
fn unit(summary: &Summary, verdicts: &[&Verdict]) -> Option<RateUnit> {
    let unit = cells::unit(summary);
    // A unit suits what it writes with a digit before the point, or the first behind it.
    // One unit for the column, so that rates can be compared by their first digits, unless it would write one of them
    // as 0.0.
    let mut rates = verdicts.iter().filter_map(|verdict| rate(summary, verdict));
    rates.all(|(low, _)| low >= 0.1 * unit.bps).then_some(unit)
}

fn rate_words((low, high): (f64, f64), unit: Option<RateUnit>) -> String {
    let own = unit.unwrap_or_else(|| RateUnit::for_largest(high));
    let name = if unit.is_some() { String::new() } else { format!(" {}", own.name) };
    format!("{} - {}{name}", own.write(low.max(0.0)), own.write(high))
}

fn evidence(summary: &Summary, verdict: &Verdict) -> String {
    match &verdict.scope {
        // Before the scope: what feedline itself serves is evidence of nothing, whatever was measured of it.
        _ if verdict.demo => "own server".to_owned(),
        Some(scope) => {
            let stand_in = stand_in(summary, verdict).map(|engine| format!("{engine}, "));
            stand_in.unwrap_or_default() + &words::verdict::scope(scope)
        }
        None => "none".to_owned(),
    }
}

/// `pread for io_uring`, where the deciding cell was read by another engine than was asked for.
fn stand_in(summary: &Summary, verdict: &Verdict) -> Option<String> {
    let cell = &summary.cell(verdict.cell.as_deref()?)?.cell;
    // The record has the reason behind a colon, which is too long for a row.
    let asked = cell.stands_in_for.as_deref()?.split(':').next()?;
    Some(format!("{} for {asked}", cell.engine))
}

fn rows(summary: &Summary, screen: Screen) -> Vec<String> {
    let verdicts: Vec<&Verdict> = summary.verdicts.iter().collect();
    if verdicts.is_empty() {
        return Vec::new();
    }
    let (mut lines, rows) = screen.rows(&grid(summary, &verdicts));
    // In the order of the scenario where all fit: readers look for a target where they wrote it.
    let too_long = verdicts.len() > ROWS_MAX || lines.len() + rows.concat().len() > ROWS_LINES_MAX;
    let mut rows: Vec<(&Verdict, Vec<String>)> = verdicts.into_iter().zip(rows).collect();
    if too_long {
        // A stable sort: those of one word stay in the order of the scenario.
        rows.sort_by_key(|(verdict, _)| gravity(verdict));
    }
    let all = rows.len();
    let mut shown = 0;
    for (verdict, mut row) in rows.into_iter().take(ROWS_MAX) {
        if lines.len() + row.len() > ROWS_LINES_MAX {
            break;
        }
        // After the layout: escape sequences have no width, and would be counted as letters.
        if screen.is_coloured {
            row[0] = coloured(&row[0], verdict.word());
        }
        lines.extend(row);
        shown += 1;
    }
    if shown < all {
        lines.push(format!("{:10}{}", "", feed::counted_noun((all - shown) as u64, "more target")));
    }
    lines
}

fn gravity(verdict: &Verdict) -> u8 {
    match verdict.judgement {
        // What must be acted on comes first. A demo is last, since it says nothing of any storage.
        _ if verdict.demo => 3,
        Judgement::Starves => 0,
        Judgement::Uncertain => 1,
        Judgement::Feeds => 2,
    }
}

/// `87-95 %`; one figure where both ends are written alike, or are far beyond the line.
fn range(rate: Interval, of: f64) -> String {
    let (low, high) = (of_line(rate.low.max(0.0) / of), of_line(rate.high / of));
    match (low.strip_suffix(" %"), high.strip_suffix(" %")) {
        _ if low == high => low,
        // One unit for both ends: `87 %-95 %` is read as a difference.
        (Some(low), Some(_)) => format!("{low}-{high}"),
        _ => format!("{low} - {high}"),
    }
}

/// How busy the accelerators are kept: cut and not rounded, so that only those that never wait are at 100 %.
fn busy_range(rate: Interval, demand: f64) -> String {
    // An interval may reach beyond the demand, while no accelerator is busy for more than all of the time.
    let share = |rate: f64| ((rate / demand).clamp(0.0, 1.0) * 100.0).floor() / 100.0;
    let (low, high) = (percent(share(rate.low)), percent(share(rate.high)));
    if low == high { low } else { format!("{}-{high}", low.trim_end_matches(" %")) }
}

/// `8 of 8`; `~6 of 8` by division of the rate, which no measurement confirmed; `>=6 of 8` where that is a lower bound.
fn feeds(verdict: &Verdict, accelerators: u32) -> Option<String> {
    match (verdict.feeds_by_division(), verdict.feeds) {
        (Some(feeds), _) => {
            let by_division = if verdict.feeds_at_least() { ">=" } else { "~" };
            Some(format!("{by_division}{} of {accelerators}", feeds.min(accelerators)))
        }
        // A job that was played with all of them feeds them: nothing was divided.
        (None, Some(_)) => Some(format!("{accelerators} of {accelerators}")),
        (None, None) => None,
    }
}

/// A row whose first word has the colour that page and plots give it. The word stays: colour is never alone.
fn coloured(line: &str, word: &str) -> String {
    let code = match word {
        "FEEDS" => "32",
        "STARVES" => "31",
        "UNCERTAIN" => "33",
        _ => return line.to_owned(),
    };
    line.replacen(word, &format!("\u{1b}[1;{code}m{word}\u{1b}[0m"), 1)
}

fn gate_lines(summary: &Summary, writer: Writer) -> Vec<String> {
    let (word, demands) = match gate(summary) {
        GateResult::None => return Vec::new(),
        GateResult::Met => ("met", Vec::new()),
        GateResult::Missed(unmet) => ("missed: ", words::gate::all(&unmet)),
        GateResult::Inconclusive(unmet) => ("inconclusive: ", words::gate::all(&unmet)),
    };
    // Whole demands: half of one could read as another.
    let words = writer.fitting(&demands, GATE_LINES).unwrap_or_default();
    writer.below("GATE", &format!("{word}{words}"), GATE_LINES)
}

/// Reasons of each verdict, the gravest first, in what room there is.
fn why(summary: &Summary, writer: Writer, room: usize) -> Vec<String> {
    // A row says already that a server of feedline's own is not judged.
    let mut judged: Vec<&Verdict> = summary.verdicts.iter().filter(|verdict| !verdict.demo).collect();
    judged.sort_by_key(|verdict| gravity(verdict));
    let of_verdict = |verdict: &&Verdict| {
        let mut reasons = words::verdict::reasons(verdict);
        reasons.extend(verdict.unreached.iter().map(words::verdict::unreached));
        // The name is part of the first reason and not a heading: a line is all the room that many targets
        // have.
        reasons[0].insert_str(0, &format!("{}: ", verdict.target));
        reasons
    };
    let unjudged = summary
        .unjudged
        .iter()
        .map(|one| vec![format!("{}: {}", one.target, words::verdict::no_verdict(&one.reason))]);
    let searched = summary.sizings.iter().map(|one| vec![sizing(one, &words::sizing::sentence(one))]);
    let mut said: Vec<Vec<String>> = judged.iter().map(of_verdict).chain(unjudged).chain(searched).collect();
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

/// What `size` found, a line for each target and engine.
fn found(summary: &Summary, writer: Writer) -> Vec<String> {
    let line = |one: &Sizing| writer.below("SIZE", &sizing(one, &words::sizing::finding(one)), 1);
    summary.sizings.iter().take(ROWS_MAX).flat_map(line).collect()
}

fn sizing(one: &Sizing, words: &str) -> String {
    format!("{} {}: {words}", one.target, one.engine)
}

/// What no word of the verdicts goes beyond.
fn open(summary: &Summary) -> Vec<String> {
    let hosts = summary.verdicts.iter().filter_map(|verdict| verdict.scope.as_ref());
    // One line for the widest gap: all targets of a run are asked about for the same cluster.
    let open = hosts.filter(|scope| scope.hosts_open() > 0).max_by_key(|scope| scope.hosts_open());
    let hosts = open.map(|scope| {
        let needed = feed::counted_noun(u64::from(scope.hosts_needed), "host");
        format!("{} of {needed}: no word on the cluster", scope.hosts_measured)
    });
    let divided = summary.verdicts.iter().any(|verdict| verdict.feeds_by_division().is_some());
    let divided = divided.then(|| DIVIDED.to_owned());
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
    let saved = summary.checkpoints.written_bytes;
    let saved = (saved > 0).then(|| format!("checkpoints wrote {}", feed::format_bytes(saved)));
    let kept = kept_bytes(summary);
    let kept = (kept > 0).then(|| format!("{} of generated data kept", feed::format_bytes(kept)));
    time.into_iter().chain(read).chain(copied).chain(saved).chain(kept).collect()
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
    let asked = || record::typed(record::asked(&summary.head.command));
    if verdict.demo || summary.head.command.is_empty() {
        return None;
    }
    match &verdict.cause {
        Cause::Straddles { command: Some(command), .. } => Some(command.clone()),
        Cause::Straddles { made, rounds: Some(rounds), .. } => {
            more_rounds(summary, folder, verdict, rounds.saturating_sub(*made))
        }
        Cause::TooFewRepetitions { .. } | Cause::NotConfirmed { .. } => {
            more_rounds(summary, folder, verdict, summary.head.repetitions)
        }
        Cause::Flagged(flag) => Some(words::flag::advice(flag).to_owned()),
        Cause::HostsOpen { hosts } => {
            // This host is one of them and measures again, at the same time as the others.
            let ranks = u64::from(*hosts) + 1;
            Some(format!("{} --rank R --ranks {ranks} --start-at T, on every host", asked()))
        }
        Cause::Clears { .. } => {
            let is_screen = verdict.scope.as_ref().is_some_and(|scope| scope.evidence == Evidence::Screen);
            let proves = summary.head.command.iter().any(|word| word == "--proof");
            // A run that was already to prove is not told to: what it lacks stands in its proof.
            (is_screen && !proves).then(|| format!("{} --proof, before buying", asked()))
        }
        _ => None,
    }
}

/// The command that makes so many more of the rounds that a run planned; `None` where it has not come to its end, or several
/// hosts made it.
fn more_rounds(summary: &Summary, folder: &str, verdict: &Verdict, rounds: u32) -> Option<String> {
    let head = &summary.head;
    let is_whole = head.elapsed_ns.is_some() && !head.interrupted;
    // A run of several ranks cannot be gone on with: each rank has a record of its own.
    let made = verdict.scope.as_ref().filter(|scope| scope.hosts_measured == 1)?.rounds;
    // No more than were planned: the error of the interval is spent over the planned looks, and nothing is left
    // of it beyond them.
    let rounds = rounds.min(head.fresh_rounds.saturating_sub(made));
    let storages = summary.targets.iter().filter(|target| target.storage).count();
    // The others are decided, or need another number of rounds.
    let only = if storages > 1 { format!(" --only {}", verdict.target) } else { String::new() };
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
