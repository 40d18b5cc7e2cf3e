//! A row for each need of each judged target: the figure that decides it.

use analysis::{AloneVerdict, CheckpointVerdict, ReadVerdict, Scope, Summary, Verdict};
use feed::{Interval, Judgement};

use crate::cells;
use crate::grid::{Column, Grid, Width};
use crate::head;
use crate::number::{RateUnit, of_line, percent};
use crate::plain::shortened;
use crate::screen::Screen;
use crate::words;

/// Rows at most, and lines of all rows; the gravest come first where there are more.
// Seven rows, with headings and the line of what is left out, are half of the answer: the other half says why,
// what is open, and what to do.
const ROWS_MAX: usize = 7;
const ROWS_LINES_MAX: usize = 10;
/// What signs before a number of accelerators mean.
pub(super) const DIVIDED: &str = "~ and >= by division of the rate";
/// Longest name of a target that is written out: four lines of a narrow terminal.
const NAME_COLUMNS: usize = 64;
/// Longest words of one of several needs: four lines of a narrow terminal have room for them beside a name.
const NEED_COLUMNS: usize = 24;

/// One need of a target, and what is said of it.
#[derive(Debug, Clone, Copy)]
struct Need<'a> {
    of: &'a Verdict,
    asked: Asked<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Asked<'a> {
    Reads(&'a ReadVerdict),
    /// One of several rates that the reads are the sum of, by what decides on all at once.
    Alone(&'a ReadVerdict, &'a AloneVerdict),
    Checkpoint(&'a CheckpointVerdict),
}

impl<'a> Need<'a> {
    fn all(summary: &'a Summary) -> Vec<Self> {
        let of_verdict = |of: &'a Verdict| {
            let reads = of.of_reads().map(Asked::Reads);
            let alone = |reads: &'a ReadVerdict| reads.alone.iter().map(move |one| Asked::Alone(reads, one));
            let alone = of.of_reads().into_iter().flat_map(alone);
            let checkpoints = of.checkpoints.iter().map(Asked::Checkpoint);
            reads.into_iter().chain(alone).chain(checkpoints).map(move |asked| Self { of, asked })
        };
        summary.verdicts.iter().flat_map(of_verdict).collect()
    }

    fn reads(&self) -> Option<&'a ReadVerdict> {
        if let Asked::Reads(reads) = self.asked { Some(reads) } else { None }
    }

    /// The need in a word, or in its own words where it is one of several.
    fn name(&self) -> String {
        match self.asked {
            Asked::Reads(reads) if !reads.alone.is_empty() => {
                format!("all {}", words::need::name(reads.asked))
            }
            Asked::Reads(reads) => words::need::name(reads.asked).to_owned(),
            Asked::Alone(_, one) => shortened(&one.need, NEED_COLUMNS),
            Asked::Checkpoint(one) => words::checkpoint_verdict::part(one.part).to_owned(),
        }
    }

    fn judgement(&self) -> Judgement {
        match self.asked {
            Asked::Reads(reads) => reads.judgement,
            Asked::Alone(_, one) => one.judgement,
            Asked::Checkpoint(one) => one.judgement,
        }
    }

    fn word(&self) -> &'static str {
        if self.of.demo { "DEMO" } else { self.judgement().name() }
    }

    fn scope(&self) -> Option<&'a Scope> {
        match self.asked {
            Asked::Reads(reads) | Asked::Alone(reads, _) => reads.scope.as_ref(),
            Asked::Checkpoint(one) => Some(&one.scope),
        }
    }

    fn cell(&self) -> Option<&'a str> {
        match self.asked {
            Asked::Reads(reads) | Asked::Alone(reads, _) => reads.cell.as_deref(),
            Asked::Checkpoint(one) => Some(&one.cell),
        }
    }

    /// What decides, and the line, in one unit.
    fn measured(&self) -> Option<(Interval, f64)> {
        match self.asked {
            Asked::Reads(reads) => reads.samples_per_s.zip(reads.line_samples_per_s),
            Asked::Alone(_, one) => Some((one.of_line, 1.0)),
            Asked::Checkpoint(one) => Some((checkpoint_bps(one)?, one.line_bps())),
        }
    }

    /// What decides, in bytes per second: of reads in those of the deciding cell's samples.
    fn bps(&self, summary: &Summary) -> Option<(f64, f64)> {
        let (rate, _) = self.measured()?;
        let unit_bytes = match self.asked {
            Asked::Reads(reads) => summary.cell(reads.cell.as_deref()?)?.line?.sample_bytes,
            Asked::Alone(_, one) => one.line_bps,
            Asked::Checkpoint(_) => 1.0,
        };
        Some((rate.low * unit_bytes, rate.high * unit_bytes))
    }
}

/// Whether there is one thing that is asked of its target.
fn is_one_need(verdict: &Verdict) -> bool {
    verdict.checkpoints.is_empty() && verdict.of_reads().is_none_or(|reads| reads.alone.is_empty())
}

/// Bytes per second at which a checkpoint was written or read back, by the interval of its time.
fn checkpoint_bps(of: &CheckpointVerdict) -> Option<Interval> {
    let time_s = of.timed.as_ref()?.time_s?.interval?;
    // An interval of few repetitions may reach down to no time at all: then no rate is too high.
    let bps = |seconds: f64| if seconds > 0.0 { of.measured_bytes as f64 / seconds } else { f64::INFINITY };
    Some(Interval { low: bps(time_s.high), mean: bps(time_s.mean), high: bps(time_s.low) })
}

/// A row for each need of each judged target, as on every page.
pub(crate) fn table(summary: &Summary) -> Grid {
    grid(summary, &Need::all(summary))
}

fn grid(summary: &Summary, needs: &[Need<'_>]) -> Grid {
    let need = summary.need.as_ref().ok();
    let accelerators = need.map_or(0, |need| need.accelerators);
    let unit = unit(summary, needs);
    let heading = unit.map_or_else(|| "rate, 95 %".to_owned(), |unit| format!("{}, 95 %", unit.name));
    let grid = Grid::of("the figure that decides each verdict", needs)
        .column(Column::name("verdict").short(""), |need| Some(need.word().to_owned()))
        .column(Column::name("target").short(""), |need| Some(shortened(&need.of.target, NAME_COLUMNS)));
    // Where reads are all that is asked for, nobody asks which need a row is of.
    let reads_alone = summary.verdicts.iter().all(is_one_need);
    let grid = if reads_alone {
        grid
    } else {
        grid.column(Column::name("need").short(""), |need| Some(need.name()))
    };
    let grid =
        grid.figure(&heading, |need| Some(rate_words(need.bps(summary)?, unit))).figure("of line", |need| {
            let (rate, line) = need.measured()?;
            Some(range(rate, line))
        });
    // A need that is a rate names no accelerators, and a column of dashes would take the room of the evidence.
    let grid = if accelerators == 0 {
        grid
    } else {
        // A narrow terminal has no room for a name of each need beside all figures of reads.
        let width = if reads_alone { Width::Any } else { Width::Wide };
        grid.column(Column::figure("GPUs busy").only(width), |row| {
            let (reads, (rate, line)) = row.reads().zip(row.measured())?;
            let at =
                reads.played.as_ref().map(|played| played.target).or(need.map(|need| need.utilization))?;
            Some(busy_range(rate, line / at))
        })
        .figure("feeds", |row| feeds(row.reads()?, accelerators))
    };
    // A number that nobody measured must not stand beside measured ones without its sign being explained.
    let is_divided = is_divided(summary);
    let foot = if is_divided { DIVIDED } else { "" };
    grid.column(Column::parts("evidence"), |need| Some(evidence(summary, need))).foot(foot).done()
}

/// Whether any row has a number of accelerators that was divided and not measured.
pub(super) fn is_divided(summary: &Summary) -> bool {
    let mut reads = summary.verdicts.iter().filter_map(Verdict::of_reads);
    reads.any(|reads| reads.feeds_by_division().is_some())
}

/// The unit of all rates; `None` where none suits them all, and each has its own.
fn unit(summary: &Summary, needs: &[Need<'_>]) -> Option<RateUnit> {
    let unit = cells::unit(summary);
    // A unit suits what it writes with a digit before the point, or the first behind it.
    // One unit for the column, so that rates can be compared by their first digits, unless it would write one of them
    // as 0.0.
    let mut rates = needs.iter().filter_map(|need| need.bps(summary));
    rates.all(|(low, _)| low >= 0.1 * unit.bps).then_some(unit)
}

fn rate_words((low, high): (f64, f64), unit: Option<RateUnit>) -> String {
    let largest = if high.is_finite() { high } else { low };
    let own = unit.unwrap_or_else(|| RateUnit::for_largest(largest));
    let name = if unit.is_some() { String::new() } else { format!(" {}", own.name) };
    if !high.is_finite() {
        return format!("> {}{name}", own.write(low.max(0.0)));
    }
    format!("{} - {}{name}", own.write(low.max(0.0)), own.write(high))
}

fn evidence(summary: &Summary, need: &Need<'_>) -> String {
    match need.scope() {
        // Before the scope: what feedline itself serves is evidence of nothing, whatever was measured of it.
        _ if need.of.demo => {
            let target = summary.targets.iter().find(|target| target.name == need.of.target);
            let is_slowed = target.is_some_and(head::is_path);
            if is_slowed { "slowed here" } else { "own server" }.to_owned()
        }
        Some(scope) => {
            let stand_in = stand_in(summary, need).map(|engine| format!("{engine}, "));
            stand_in.unwrap_or_default() + &words::read_verdict::scope(scope)
        }
        None => "none".to_owned(),
    }
}

/// `pread for io_uring`, where the deciding cell was read by another engine than was asked for.
fn stand_in(summary: &Summary, need: &Need<'_>) -> Option<String> {
    let cell = &summary.cell(need.cell()?)?.cell;
    // The record has the reason behind a colon, which is too long for a row.
    let asked = cell.stands_in_for.as_deref()?.split(':').next()?;
    Some(format!("{} for {asked}", cell.engine))
}

/// The rows of a terminal; none where nothing is judged.
pub(super) fn rows(summary: &Summary, screen: Screen) -> Vec<String> {
    let needs = Need::all(summary);
    if needs.is_empty() {
        return Vec::new();
    }
    let (mut lines, rows) = screen.rows(&grid(summary, &needs));
    // In the order of the scenario where all fit: readers look for a target where they wrote it.
    let too_long = needs.len() > ROWS_MAX || lines.len() + rows.concat().len() > ROWS_LINES_MAX;
    let mut rows: Vec<(Need<'_>, Vec<String>)> = needs.into_iter().zip(rows).collect();
    if too_long {
        // A stable sort: those of one word stay in the order of the scenario.
        // What is said of a part of a need comes after what is said of all of it.
        let of_part = |need: &Need<'_>| matches!(need.asked, Asked::Alone(..));
        rows.sort_by_key(|(need, _)| (of_part(need), gravity(need.of.demo, need.judgement())));
    }
    let all = rows.len();
    let mut shown = 0;
    for (need, mut row) in rows.into_iter().take(ROWS_MAX) {
        if lines.len() + row.len() > ROWS_LINES_MAX {
            break;
        }
        // After the layout: escape sequences have no width, and would be counted as letters.
        if screen.is_coloured {
            row[0] = coloured(&row[0], need.word());
        }
        lines.extend(row);
        shown += 1;
    }
    if shown < all {
        let is_one_each = summary.verdicts.iter().all(is_one_need);
        let what = if is_one_each { "more target" } else { "more need" };
        lines.push(format!("{:10}{}", "", feed::counted_noun((all - shown) as u64, what)));
    }
    lines
}

/// What must be acted on comes first. A demo is last, since it says nothing of any storage.
pub(super) fn gravity(demo: bool, judgement: Judgement) -> u8 {
    match judgement {
        _ if demo => 3,
        Judgement::Starves => 0,
        Judgement::Uncertain => 1,
        Judgement::Feeds => 2,
    }
}

/// `87-95 %`; one figure where both ends are written alike, or are far beyond the line.
fn range(rate: Interval, of: f64) -> String {
    if !rate.high.is_finite() {
        return format!("> {}", of_line(rate.low.max(0.0) / of));
    }
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
fn feeds(verdict: &ReadVerdict, accelerators: u32) -> Option<String> {
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
