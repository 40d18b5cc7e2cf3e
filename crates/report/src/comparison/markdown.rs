//! A comparison in Markdown: the answer first, then what changed, then what did not, folded away.

use analysis::{CellComparison, Change, Comparison, Pairing};

use super::rows::{self, Row};
use super::words;
use crate::plain::shortened;
use crate::words::comparison as said;

/// Longest name that is written out.
// A name from a record could fill a comment alone.
const NAME_CHARS: usize = 200;
/// Kept free for the sentence that says what was left out.
const LEFT_OUT_BYTES: usize = 160;

/// The comparison as a Markdown table with its headline, in at most `bytes_max` bytes: a job's summary, a comment.
///
/// Rows that do not fit are left out whole, the gravest are kept, and a last sentence says how many are missing. A job's
/// summary on GitHub holds 1 MiB, a comment 65,536 characters.
pub fn comparison_markdown(comparison: &Comparison, bytes_max: usize) -> String {
    let shared = rows::shared_reasons(comparison);
    let sections = [
        answer(comparison),
        sides(comparison),
        list("", said::notes(&comparison.notes)),
        judged(comparison, &shared),
        reasons(&shared),
        list("Not compared:", said::gaps(&comparison.gaps)),
        excluded(comparison),
        unchanged(comparison, &shared),
    ];
    assembled(&sections, bytes_max)
}

// Not a grid: rows are left out one by one until a comment fits, and each must be whole by then.
/// Lines that stand or fall together, and rows between them that may be left out from the end.
struct Section {
    head: String,
    rows: Vec<String>,
    tail: String,
}

impl Section {
    const EMPTY: Self = Self { head: String::new(), rows: Vec::new(), tail: String::new() };
}

/// Sections in their order, as far as they fit.
fn assembled(sections: &[Section], bytes_max: usize) -> String {
    let whole: usize = sections.iter().filter(|one| !one.rows.is_empty()).map(bytes).sum();
    // The sentence about what is missing needs its room only if something is.
    let mut room = if whole <= bytes_max { whole } else { bytes_max.saturating_sub(LEFT_OUT_BYTES) };
    let (mut page, mut left_out) = (String::new(), 0);
    for section in sections.iter().filter(|section| !section.rows.is_empty()) {
        let Some(mut rest) = room.checked_sub(frame(section)) else {
            left_out += section.rows.len();
            continue;
        };
        let mut kept: Vec<&str> = Vec::new();
        for row in &section.rows {
            // Rows are sorted by gravity, so that a shorter one behind the first that does not fit is a lesser one too.
            let Some(after) = rest.checked_sub(row.len()) else { break };
            rest = after;
            kept.push(row);
        }
        left_out += section.rows.len() - kept.len();
        if kept.is_empty() {
            continue;
        }
        room = rest;
        page.push_str(&section.head);
        page.extend(kept);
        page.push_str(&section.tail);
    }
    if left_out > 0 {
        let rows = feed::counted_noun(left_out as u64, "row");
        let words = format!("\n{rows} left out: the page holds at most {bytes_max} bytes.\n");
        page.push_str(if page.len() + words.len() <= bytes_max { &words } else { "" });
    }
    page
}

fn frame(section: &Section) -> usize {
    section.head.len() + section.tail.len()
}

fn bytes(section: &Section) -> usize {
    frame(section) + section.rows.iter().map(String::len).sum::<usize>()
}

/// Text that Markdown takes as text, and that calls nobody.
fn text(words: &str) -> String {
    // A name from a record that holds `@team` would notify people from each comment of a nightly job.
    crate::markdown::text(words).replace('@', "&#64;")
}

fn answer(comparison: &Comparison) -> Section {
    let row = |word: &str, target: &str, words: &str| {
        format!("| **{word}** | {} | {} |\n", text(&shortened(target, NAME_CHARS)), text(words))
    };
    // The gravest first: a comment that is too long is cut from its end.
    let mut ordered: Vec<_> = comparison.headlines.iter().collect();
    ordered.sort_by_key(|one| words::gravity(one.effect.change));
    let mut rows: Vec<String> = ordered
        .into_iter()
        .map(|one| {
            let effect = &one.effect;
            row(
                &words::verdict(effect.change, comparison.pairing),
                &one.target,
                &words::headline(effect, one.cells),
            )
        })
        .collect();
    if rows.is_empty() {
        rows.push(row("INCONCLUSIVE", "", words::nothing(comparison)).replace("|  |", "| |"));
    }
    Section { head: "| change | target | |\n|---|---|---|\n".to_owned(), rows, tail: String::new() }
}

fn sides(comparison: &Comparison) -> Section {
    let side = |side| text(&shortened(&words::side(side), NAME_CHARS));
    let scenario = text(&shortened(&comparison.scenario, NAME_CHARS));
    let (before, after) = (side(&comparison.before), side(&comparison.after));
    let samples = words::samples(comparison.pairing);
    let line = format!("{scenario}: {after} against {before}; samples are {samples}.\n");
    Section { head: "\n".to_owned(), rows: vec![line], tail: String::new() }
}

fn list(title: &str, lines: impl IntoIterator<Item = String>) -> Section {
    let head = if title.is_empty() { "\n".to_owned() } else { format!("\n{title}\n\n") };
    Section {
        head,
        rows: lines.into_iter().map(|line| format!("- {}\n", text(&line))).collect(),
        tail: String::new(),
    }
}

fn reasons(shared: &[(String, usize)]) -> Section {
    let line = |(reason, count): &(String, usize)| {
        format!("{} inconclusive: {reason}", feed::counted_noun(*count as u64, "figure"))
    };
    list("", shared.iter().map(line))
}

const TABLE: &str = "\n| target | cell | metric | before | after | change (95 % interval) | would show | | |\n\
                     |---|---|---|--:|--:|---|--:|---|---|\n";

/// Cells of which something is to be said, gravest first, then in the order of the scenario.
fn judged(comparison: &Comparison, shared: &[(String, usize)]) -> Section {
    let cells = comparison.cells.iter().filter(|cell| cell.excluded.is_none() && !rows::is_unchanged(cell));
    let mut cells: Vec<&CellComparison> = cells.collect();
    cells.sort_by_key(|cell| rows::gravity(cell));
    Section {
        head: TABLE.to_owned(),
        rows: table_rows(&cells, comparison.pairing, shared),
        tail: String::new(),
    }
}

fn unchanged(comparison: &Comparison, shared: &[(String, usize)]) -> Section {
    let cells: Vec<&CellComparison> =
        comparison.cells.iter().filter(|cell| rows::is_unchanged(cell)).collect();
    let word = words::change(Change::Unchanged, comparison.pairing);
    let title = format!("{} {word}", feed::counted_noun(cells.len() as u64, "cell"));
    folded(&title, &cells, comparison.pairing, shared)
}

fn excluded(comparison: &Comparison) -> Section {
    let cells: Vec<&CellComparison> =
        comparison.cells.iter().filter(|cell| cell.excluded.is_some()).collect();
    folded(
        &format!("{} on which nothing may rest", feed::counted_noun(cells.len() as u64, "cell")),
        &cells,
        comparison.pairing,
        &[],
    )
}

fn folded(title: &str, cells: &[&CellComparison], pairing: Pairing, shared: &[(String, usize)]) -> Section {
    if cells.is_empty() {
        return Section::EMPTY;
    }
    let head = format!("\n<details><summary>{title}</summary>\n{TABLE}");
    Section { head, rows: table_rows(cells, pairing, shared), tail: "\n</details>\n".to_owned() }
}

fn table_rows(cells: &[&CellComparison], pairing: Pairing, shared: &[(String, usize)]) -> Vec<String> {
    let of_cell = |cell: &&CellComparison| {
        let names = format!(
            "| {} | {} |",
            text(&shortened(&cell.target, NAME_CHARS)),
            text(&shortened(&cell.label, NAME_CHARS))
        );
        let reason = cell.excluded.as_ref().map(said::excluded).unwrap_or_default();
        let rows: Vec<String> =
            rows::of_cell(cell, pairing, shared).iter().map(|row| line(&names, row, &reason)).collect();
        if rows.is_empty() { vec![format!("{names} | | | | | | {} |\n", text(&reason))] } else { rows }
    };
    cells.iter().flat_map(of_cell).collect()
}

fn line(names: &str, row: &Row, excluded: &str) -> String {
    let Row { metric, before, after, ratio, detectable, word, .. } = row;
    // What must be acted on is in capitals already; bold letters find it in a long table.
    let word = if word.chars().all(|c| c.is_ascii_uppercase()) && !word.is_empty() {
        format!("**{word}**")
    } else {
        (*word).to_owned()
    };
    let why = text(row.because.as_deref().unwrap_or(excluded));
    format!("{names} {metric} | {before} | {after} | {ratio} | {detectable} | {word} | {why} |\n")
        .replace("|  |", "| |")
}
