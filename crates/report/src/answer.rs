//! The answer of a run: at most twenty lines of a terminal, printed last.
//!
//! Everything else is on the page, in the Markdown report and behind `--full`.

use analysis::{Cause, Evidence, GateResult, Summary, Verdict, gate};
use feed::{Interval, Judgement};

use crate::cells;
use crate::head;
use crate::number::{RateUnit, of_line, percent};
use crate::plain::{ascii, folded, shortened};

/// Lines of an answer at most.
const LINES_MAX: usize = 20;
/// Targets that have a row of their own at most; the gravest come first where there are more.
const ROWS_MAX: usize = 7;
/// Lines of each part at most; reasons, then what is open, have what the others leave.
const NEED_LINES: usize = 2;
const GATE_LINES: usize = 2;
/// Lines that reasons leave for what is open.
const OPEN_LINES: usize = 3;
const NEXT_LINES: usize = 3;
/// Longest name of a target.
const NAME_COLUMNS: usize = 16;
/// Heading of the last column.
const EVIDENCE: &str = "evidence";
/// Columns of a verdict's word.
const WORD_COLUMNS: usize = 9;
/// Columns before the words of each part: `NEED `, `WHY  `.
const LEAD_COLUMNS: usize = 5;
/// Smallest width that is made use of.
const COLUMNS_MIN: usize = 72;

/// What an answer says of its surroundings, which no record knows.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// Columns of the terminal.
    pub columns: usize,
    /// Whether the words of the verdicts are coloured.
    pub colour: bool,
    /// Path of the page, or the command that makes it.
    pub page: &'a str,
    /// Command that prints all cells.
    pub full: &'a str,
}

/// Need, a row for each judged target, reasons, what stays open, cost, what to do next, and where the rest is.
///
/// `None` for a run that judges nothing: it has no answer, and is shown as a whole.
pub fn answer(summary: &Summary, surroundings: Surroundings<'_>) -> Option<String> {
    if summary.verdicts.is_empty() {
        return None;
    }
    let writer = Writer { columns: surroundings.columns.max(COLUMNS_MIN), colour: surroundings.colour };
    let mut lines = writer.part("NEED", &need(summary), NEED_LINES);
    lines.extend(rows(summary, writer));
    lines.extend(gate_lines(summary, writer));
    let mut last = writer.part("COST", &cost(summary), 1);
    last.extend(next(summary, writer));
    last.extend(page(surroundings, writer));
    let left = |lines: &[String]| LINES_MAX.saturating_sub(lines.len() + last.len());
    let room = left(&lines).saturating_sub(OPEN_LINES);
    lines.extend(why(summary, writer, room));
    // What the reasons did not use.
    let room = left(&lines);
    lines.extend(writer.part("OPEN", &open(summary), room));
    lines.extend(last);
    Some(lines.into_iter().map(|line| line + "\n").collect())
}

/// Folds words below the name of their part.
#[derive(Clone, Copy)]
struct Writer {
    columns: usize,
    colour: bool,
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
    let [line] = analysis::lines(summary)[..] else {
        return std::iter::once(head::need(summary)).chain(head::line(summary)).collect();
    };
    let host = if need.hosts > 1 { ", this host" } else { "" };
    let demand = feed::format_bps(need.demand_bps(line.sample_bytes));
    let demand = if need.label == demand { String::new() } else { format!(": {demand}") };
    let line = format!("line {}: {}", need.at_line(), feed::format_bps(line.bps));
    vec![format!("{}{host}{demand}", need.label), line]
}

/// A verdict as a row of text.
struct Row {
    word: &'static str,
    target: String,
    rate: Option<(f64, f64)>,
    of_line: String,
    busy: String,
    feeds: String,
    evidence: String,
}

fn rows(summary: &Summary, writer: Writer) -> Vec<String> {
    let mut verdicts: Vec<&Verdict> = summary.verdicts.iter().collect();
    let hidden = verdicts.len().saturating_sub(ROWS_MAX);
    if hidden > 0 {
        // A stable sort: those of one word stay in the order of the scenario.
        verdicts.sort_by_key(|verdict| gravity(verdict));
        verdicts.truncate(ROWS_MAX);
    }
    let rows: Vec<Row> = verdicts.into_iter().map(|verdict| row(summary, verdict)).collect();
    let mut lines = Table::of(summary, &rows).lines(&rows, writer);
    if hidden > 0 {
        lines.push(format!("{:>WORD_COLUMNS$} {}", "", feed::counted_noun(hidden as u64, "more target")));
    }
    lines
}

fn gravity(verdict: &Verdict) -> u8 {
    match verdict.judgement {
        _ if verdict.demo => 3,
        Judgement::Starves => 0,
        Judgement::Uncertain => 1,
        Judgement::Feeds => 2,
    }
}

fn row(summary: &Summary, verdict: &Verdict) -> Row {
    let interval = verdict.samples_per_s.zip(verdict.line_samples_per_s);
    let need = summary.need.as_ref().ok();
    // Samples of the deciding cell.
    let sample_bytes =
        verdict.cell.as_deref().and_then(|cell| summary.cell(cell)?.line).map(|line| line.sample_bytes);
    let at = verdict.played.as_ref().map(|played| played.target).or(need.map(|need| need.utilization));
    let accelerators = need.map_or(0, |need| need.accelerators);
    let busy = interval.zip(at).filter(|_| accelerators > 0);
    Row {
        word: verdict.word(),
        target: shortened(&ascii(&verdict.target), NAME_COLUMNS),
        rate: interval.zip(sample_bytes).map(|((rate, _), bytes)| (rate.low * bytes, rate.high * bytes)),
        of_line: interval.map_or_else(dash, |(rate, line)| range(rate, line)),
        busy: busy.map_or_else(dash, |((rate, line), at)| busy_range(rate, line / at)),
        feeds: feeds(verdict, accelerators),
        evidence: match &verdict.scope {
            _ if verdict.demo => "own server, not judged".to_owned(),
            Some(scope) => match stand_in(summary, verdict) {
                Some(engine) => format!("{engine}, {}", scope.words()),
                None => scope.words(),
            },
            None => "none".to_owned(),
        },
    }
}

/// `pread for io_uring`, where the deciding cell was read by another engine than was asked for.
fn stand_in(summary: &Summary, verdict: &Verdict) -> Option<String> {
    let cell = &summary.cell(verdict.cell.as_deref()?)?.cell;
    let asked = cell.stands_in_for.as_deref()?.split(':').next()?;
    Some(format!("{} for {asked}", cell.engine))
}

fn dash() -> String {
    "-".to_owned()
}

/// `87-95 %`; one figure where both ends are written alike, or are far beyond the line.
fn range(rate: Interval, of: f64) -> String {
    let (low, high) = (of_line(rate.low.max(0.0) / of), of_line(rate.high / of));
    match (low.strip_suffix(" %"), high.strip_suffix(" %")) {
        _ if low == high => low,
        (Some(low), Some(_)) => format!("{low}-{high}"),
        _ => format!("{low} - {high}"),
    }
}

/// How busy the accelerators are kept: cut and not rounded, so that only those that never wait are at 100 %.
fn busy_range(rate: Interval, demand: f64) -> String {
    let share = |rate: f64| ((rate / demand).clamp(0.0, 1.0) * 100.0).floor() / 100.0;
    let (low, high) = (percent(share(rate.low)), percent(share(rate.high)));
    if low == high { low } else { format!("{}-{high}", low.trim_end_matches(" %")) }
}

/// `8 of 8`; `~6 of 8` by division of the rate, which no measurement confirmed; `>=6 of 8` where that is a lower bound.
fn feeds(verdict: &Verdict, accelerators: u32) -> String {
    match (verdict.feeds_by_division(), verdict.feeds) {
        (Some(feeds), _) => {
            let by_division = if verdict.feeds_at_least() { ">=" } else { "~" };
            format!("{by_division}{} of {accelerators}", feeds.min(accelerators))
        }
        (None, Some(_)) => format!("{accelerators} of {accelerators}"),
        (None, None) => dash(),
    }
}

/// Widths and units of the rows of one answer.
struct Table {
    /// Absent where no unit suits all rates: each then has its own.
    unit: Option<RateUnit>,
    with_accelerators: bool,
}

impl Table {
    fn of(summary: &Summary, rows: &[Row]) -> Self {
        let unit = cells::unit(summary);
        // A unit suits what it writes with a digit before the point, or the first behind it.
        let suits = rows.iter().filter_map(|row| row.rate).all(|(low, _)| low >= 0.1 * unit.bps);
        let accelerators = summary.need.as_ref().map_or(0, |need| need.accelerators);
        Self { unit: suits.then_some(unit), with_accelerators: accelerators > 0 }
    }

    fn rate(&self, row: &Row) -> String {
        let Some((low, high)) = row.rate else { return dash() };
        let own = self.unit.unwrap_or_else(|| RateUnit::for_largest(high));
        let unit = if self.unit.is_some() { String::new() } else { format!(" {}", own.name) };
        format!("{} - {}{unit}", own.write(low.max(0.0)), own.write(high))
    }

    fn lines(&self, rows: &[Row], writer: Writer) -> Vec<String> {
        let head = [
            self.unit.map_or_else(|| "rate, 95 %".to_owned(), |unit| format!("{}, 95 %", unit.name)),
            "of line".to_owned(),
            "GPUs busy".to_owned(),
            "feeds".to_owned(),
        ];
        let cells: Vec<[String; 4]> = rows
            .iter()
            .map(|row| [self.rate(row), row.of_line.clone(), row.busy.clone(), row.feeds.clone()])
            .collect();
        let shown = if self.with_accelerators { 4 } else { 2 };
        let width = |at: usize| {
            let widths = cells.iter().map(|of_row| of_row[at].chars().count());
            widths.chain([head[at].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..shown).map(width).collect();
        let figures = |of_row: &[String; 4]| {
            let aligned = of_row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
            aligned.collect::<Vec<_>>().join("  ")
        };
        // A figure is never cut, so a name gives way where a row would be too long.
        let taken = WORD_COLUMNS + widths.iter().sum::<usize>() + 2 * widths.len() + 2 + EVIDENCE.len();
        let names = rows.iter().map(|row| row.target.chars().count()).max().unwrap_or(0);
        let names = names.min(writer.columns.saturating_sub(taken));
        let mut lines = vec![format!("{:<WORD_COLUMNS$} {:<names$} {}  {EVIDENCE}", "", "", figures(&head))];
        for (row, cells) in rows.iter().zip(&cells) {
            let target = shortened(&row.target, names);
            let lead = format!("{:<WORD_COLUMNS$} {target:<names$} {}  ", row.word, figures(cells));
            let line = with_evidence(&lead, &row.evidence, writer.columns);
            lines.push(if writer.colour { coloured(&line, row.word) } else { line });
        }
        lines
    }
}

/// As many of the words behind `lead` as the line takes: what is left out stands under OPEN.
fn with_evidence(lead: &str, evidence: &str, columns: usize) -> String {
    let room = columns.saturating_sub(lead.chars().count());
    let mut shown = String::new();
    for part in ascii(evidence).split(", ") {
        let longer = if shown.is_empty() { part.to_owned() } else { format!("{shown}, {part}") };
        if longer.chars().count() > room {
            break;
        }
        shown = longer;
    }
    format!("{lead}{shown}").trim_end().to_owned()
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
        GateResult::Missed(demands) => ("missed: ", demands),
        GateResult::Inconclusive(demands) => ("inconclusive: ", demands),
    };
    let words = writer.fitting(&demands, GATE_LINES).unwrap_or_default();
    writer.below("GATE", &format!("{word}{words}"), GATE_LINES)
}

/// Reasons of each verdict, the gravest first, in what room there is.
fn why(summary: &Summary, writer: Writer, room: usize) -> Vec<String> {
    // A row says already that a server of feedline's own is not judged.
    let mut judged: Vec<&Verdict> = summary.verdicts.iter().filter(|verdict| !verdict.demo).collect();
    judged.sort_by_key(|verdict| gravity(verdict));
    let of_verdict = |verdict: &&Verdict| {
        let mut reasons = verdict.reasons();
        reasons.extend(verdict.unreached.clone());
        reasons[0].insert_str(0, &format!("{}: ", verdict.target));
        reasons
    };
    let unjudged =
        summary.unjudged.iter().map(|unjudged| vec![format!("{}: {}", unjudged.target, unjudged.reason)]);
    let said: Vec<Vec<String>> = judged.iter().map(of_verdict).chain(unjudged).collect();
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

/// What no word of the verdicts goes beyond.
fn open(summary: &Summary) -> Vec<String> {
    let hosts = summary.verdicts.iter().filter_map(|verdict| verdict.scope.as_ref());
    let open = hosts.filter(|scope| scope.hosts_open() > 0).max_by_key(|scope| scope.hosts_open());
    let hosts = open.map(|scope| {
        let needed = feed::counted_noun(u64::from(scope.hosts_needed), "host");
        format!("{} of {needed}: no word on the cluster", scope.hosts_measured)
    });
    let divided = summary.verdicts.iter().any(|verdict| verdict.feeds_by_division().is_some());
    let divided = divided.then(|| "~ and >= by division of the rate".to_owned());
    hosts.into_iter().chain(summary.not_tested.iter().cloned()).chain(divided).collect()
}

fn cost(summary: &Summary) -> Vec<String> {
    let time = summary.head.elapsed_ns.map(clock);
    let read: f64 = summary
        .datasets
        .iter()
        .filter_map(|figures| Some(figures.reads_per_byte? * figures.dataset.bytes as f64))
        .sum();
    let read = (read > 0.0).then(|| format!("read {}", feed::format_bytes(read.round() as u64)));
    let kept = summary.datasets.iter().filter(|figures| figures.dataset.source == "generate");
    let kept: u64 = kept.map(|figures| figures.dataset.bytes).sum();
    let kept = (kept > 0).then(|| format!("{} of generated data kept", feed::format_bytes(kept)));
    time.into_iter().chain(read).chain(kept).collect()
}

/// `0.8 s`, `61 s`, `4 min 52 s`, `3 h 10 min`.
fn clock(ns: u64) -> String {
    let seconds = (ns + 500_000_000) / 1_000_000_000;
    match seconds {
        0..2 => feed::format_duration_ns(ns),
        2..120 => format!("{seconds} s"),
        120..7200 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// The command that would decide, prove or widen what was said, for as many targets as there is room.
fn next(summary: &Summary, writer: Writer) -> Vec<String> {
    let command = |verdict: &Verdict| Some((verdict.target.clone(), next_of(summary, verdict)?));
    let mut lines: Vec<(Vec<String>, String)> = Vec::new();
    for (target, command) in summary.verdicts.iter().filter_map(command) {
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
        let line = writer.below(name, &format!("{}  {command}", targets.join(", ")), usize::MAX);
        if line.len() <= room {
            shown.extend(line);
        }
    }
    shown
}

fn next_of(summary: &Summary, verdict: &Verdict) -> Option<String> {
    let asked = || record::asked(&summary.head.command).collect::<Vec<_>>().join(" ");
    if verdict.demo || summary.head.command.is_empty() {
        return None;
    }
    match &verdict.cause {
        Cause::Straddles { command, .. } => command.clone(),
        Cause::Flagged(flag) => Some(flag.advice().to_owned()),
        Cause::HostsOpen { hosts } => {
            let ranks = u64::from(*hosts) + 1;
            Some(format!("{} --rank R --ranks {ranks} --start-at T, on every host", asked()))
        }
        Cause::Clears { .. } => {
            let is_screen = verdict.scope.as_ref().is_some_and(|scope| scope.evidence == Evidence::Screen);
            let proves = summary.head.command.iter().any(|word| word == "--proof");
            (is_screen && !proves).then(|| format!("{} --proof, before buying", asked()))
        }
        _ => None,
    }
}

fn page(surroundings: Surroundings<'_>, writer: Writer) -> Vec<String> {
    let both = format!("{}   all cells: {}", surroundings.page, surroundings.full);
    if both.chars().count() + LEAD_COLUMNS <= writer.columns {
        return vec![format!("PAGE {both}")];
    }
    vec![format!("PAGE {}", surroundings.page)]
}
