//! A page for a terminal, 80 columns of plain ASCII; the verdicts come last.

use std::cmp::Reverse;

use analysis::Summary;

use crate::grid::{Column, Grid, Kind, Row, View};
use crate::page::{Block, Document, Facts, Fold, Lines, Room, Verdict};
use crate::plain::{COLUMNS, ascii, hanging, shortened};
use crate::sections;

/// Longest name in a table.
const NAME_COLUMNS: usize = 17;
/// To how many columns a name may be narrowed for the figures.
const NAME_COLUMNS_MIN: usize = 4;

/// The page that `run` and `report` print.
pub fn terminal(summary: &Summary) -> String {
    written(&sections::of_summary(summary))
}

fn written(document: &Document<'_>) -> String {
    let in_room = |room| document.sections.iter().filter(move |section| section.room == room);
    let detail = in_room(Room::Detail).flat_map(|section| &section.blocks);
    // The end of a page is what is seen, so an answer is written backwards.
    let answer = in_room(Room::Answer).rev().flat_map(|section| section.blocks.iter().rev());
    let title = hanging("title ", &ascii(&document.title));
    std::iter::once(title).chain(detail.chain(answer).map(block)).collect()
}

fn block(block: &Block<'_>) -> String {
    match block {
        Block::Verdicts(of) => verdicts(of),
        Block::Facts(of) => facts(of),
        Block::Grid(of) => grid(of),
        Block::Lines(of) => lines(of),
        Block::Folds(of) => of.iter().map(fold).collect(),
        Block::Plot(plot) => hanging("plot  ", &ascii(&plot.title)),
        Block::Code(of) => of.lines().map(|line| hanging("      ", &ascii(line))).collect(),
    }
}

fn verdicts(verdicts: &[Verdict]) -> String {
    let names = verdicts.iter().map(|verdict| verdict.target.chars().count());
    let width = names.max().unwrap_or(0).min(NAME_COLUMNS);
    let mut last_first: Vec<&Verdict> = verdicts.iter().collect();
    last_first.sort_by_key(|verdict| Reverse(verdict.weight));
    let mut page = String::new();
    for verdict in last_first {
        let target = shortened(&ascii(&verdict.target), width);
        let mut lead = format!("{:<9} {target:<width$} ", verdict.word);
        for sentence in &verdict.sentences {
            page.push_str(&hanging(&lead, &ascii(sentence)));
            lead = " ".repeat(lead.len());
        }
    }
    page
}

fn facts(facts: &Facts) -> String {
    let about = if facts.about.is_empty() { String::new() } else { format!("{}: ", facts.about) };
    let line = |name: &str, words: &str| hanging(&lead(name), &ascii(&format!("{about}{words}")));
    facts.facts.iter().map(|fact| line(fact.name, &fact.words())).collect()
}

/// A word in its column.
fn lead(word: &str) -> String {
    format!("{word:<5} ")
}

fn lines(lines: &Lines) -> String {
    let lead = if lines.lead.is_empty() { "  ".to_owned() } else { lead(lines.lead) };
    if lines.is_run_on {
        return hanging(&lead, &ascii(&lines.sentences.join("; ")));
    }
    lines.sentences.iter().map(|line| hanging(&lead, &ascii(line))).collect()
}

fn fold(fold: &Fold) -> String {
    let lines = fold.lines.iter().map(|line| hanging("  ", &ascii(line)));
    std::iter::once(hanging("", &ascii(&fold.sentence))).chain(lines).collect()
}

/// A table in lines of at most 80 columns; nothing without rows.
pub(crate) fn grid(grid: &Grid) -> String {
    let view = grid.narrow();
    if view.rows.is_empty() {
        return String::new();
    }
    let widths = widths(&view);
    let headings: Vec<&str> =
        view.columns.iter().map(|(_, column)| column.short.unwrap_or(&column.heading)).collect();
    let mut page = hanging("- ", &ascii(&view.title));
    page.extend([joined(&view, &widths, &headings), "\n".to_owned()]);
    let mut shared = None;
    for row in &view.rows {
        let above = grid.above().and_then(|place| row.cells[place].as_deref()).unwrap_or_default();
        if shared != Some(above) && !above.is_empty() {
            page.push_str(&hanging("- ", &ascii(above)));
        }
        shared = Some(above);
        page.push_str(&grid_row(&view, &widths, row));
    }
    if !grid.foot.is_empty() {
        page.push_str(&hanging("  ", &ascii(&grid.foot)));
    }
    page
}

/// A row with its note behind it where it fits there, else below it.
fn grid_row(view: &View<'_>, widths: &[usize], row: &Row) -> String {
    let line = joined(view, widths, &view.words(row));
    let note = ascii(&row.note);
    let indent = widths.first().map_or(1, |width| width + 1);
    if view.is_blank(row) {
        return hanging(&format!("{line} "), &note);
    }
    if note.is_empty() || line.len() + 2 + note.len() <= COLUMNS {
        return format!("{}\n", format!("{line}  {note}").trim_end());
    }
    format!("{line}\n{}", hanging(&" ".repeat(indent), &note))
}

/// Widths of the columns; the names give way to the figures.
fn widths(view: &View<'_>) -> Vec<usize> {
    let widest = |(place, column): &(usize, &Column)| {
        let cells = view.rows.iter().filter_map(|row| row.cells[*place].as_deref());
        let heading = column.short.unwrap_or(&column.heading);
        let widest = cells.chain([heading]).map(|cell| cell.chars().count()).max().unwrap_or(0);
        if column.kind == Kind::Name { widest.min(NAME_COLUMNS) } else { widest }
    };
    let mut widths: Vec<usize> = view.columns.iter().map(widest).collect();
    for index in (0..widths.len()).rev().filter(|index| view.columns[*index].1.kind == Kind::Name) {
        let excess = (widths.iter().sum::<usize>() + widths.len() - 1).saturating_sub(COLUMNS);
        widths[index] -= excess.min(widths[index].saturating_sub(NAME_COLUMNS_MIN));
    }
    widths
}

/// One line: names flush left, numbers and figures flush right.
fn joined(view: &View<'_>, widths: &[usize], words: &[&str]) -> String {
    let cell = |((words, width), (_, column)): ((&&str, &usize), &(usize, &Column))| match column.kind {
        Kind::Name => format!("{:<width$}", shortened(&ascii(words), *width)),
        Kind::Number | Kind::Figure => format!("{:>width$}", ascii(words)),
    };
    let cells = words.iter().zip(widths).zip(&view.columns).map(cell);
    cells.collect::<Vec<_>>().join(" ").trim_end().to_owned()
}
