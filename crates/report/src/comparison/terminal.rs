//! A comparison as one page for a terminal, in plain ASCII; the answer comes last.

use analysis::{CellComparison, Change, Comparison, Pairing};

use super::rows::{self, Row};
use super::words;
use crate::grid::{Column, Grid, Width};
use crate::plain::ascii;
use crate::screen::Screen;
use crate::words::comparison as said;

/// Rows up to which every cell is shown; beyond, those that changed, and as many others as fit.
const ROWS_MAX: usize = 60;
/// Gaps that are named one by one.
// More would push the answer, which comes last, off the screen.
const GAPS_MAX: usize = 8;

/// The comparison as a page of a terminal.
pub fn comparison_terminal(comparison: &Comparison, screen: Screen) -> String {
    let shared = rows::shared_reasons(comparison);
    let mut page = head(comparison, screen);
    page.push_str(&table(comparison, &shared, screen));
    for (reason, count) in &shared {
        let of = feed::counted_noun(*count as u64, "figure");
        page.push_str(&screen.hanging("why   ", &ascii(&format!("{of} inconclusive: {reason}"))));
    }
    page.push_str(&gaps(&said::gaps(&comparison.gaps), screen));
    for note in &said::notes(&comparison.notes) {
        page.push_str(&screen.hanging("note  ", &ascii(note)));
    }
    page.push_str(&headlines(comparison, screen));
    page
}

fn head(comparison: &Comparison, screen: Screen) -> String {
    let before = screen.hanging("compare  ", &ascii(&words::side(&comparison.before)));
    let after = screen.hanging("     ->  ", &ascii(&words::side(&comparison.after)));
    let of = format!("{}; samples are {}", comparison.scenario, words::samples(comparison.pairing));
    before + &after + &screen.hanging("     of  ", &ascii(&of))
}

/// A metric of a cell, with what else is to be said of it.
struct Line {
    cell: String,
    /// Absent for a cell of which no metric could be compared.
    row: Option<Row>,
    note: String,
}

fn table(comparison: &Comparison, shared: &[(String, usize)], screen: Screen) -> String {
    if comparison.cells.is_empty() {
        return String::new();
    }
    let shown = shown(comparison);
    let cells = comparison.cells.iter().zip(&shown).filter(|(_, shown)| **shown);
    let lines: Vec<Line> = cells.flat_map(|(cell, _)| lines_of(cell, comparison.pairing, shared)).collect();
    let row = |line: &Line, write: fn(&Row) -> &String| line.row.as_ref().map(write).cloned();
    let table = Grid::of("change from before to after, with its 95 % interval in percent", &lines)
        .column(Column::name("cell").only(Width::Above), |line| Some(line.cell.clone()))
        .column(Column::name("metric"), |line| Some(line.row.as_ref()?.metric.to_owned()))
        .figure("before", |line| row(line, |row| &row.before))
        .figure("after", |line| row(line, |row| &row.after))
        .figure("change", |line| row(line, |row| &row.ratio))
        .figure("shows", |line| row(line, |row| &row.detectable))
        .column(Column::name("result"), |line| line.row.as_ref().map(|row| row.word.to_owned()))
        .note(|line| line.note.clone())
        .foot("shows: the smallest change that such data show four times in five")
        .done();
    let hidden = shown.iter().filter(|shown| !**shown).count();
    let cells = feed::counted_noun(hidden as u64, "more cell");
    let word = |change| words::change(change, comparison.pairing).to_lowercase();
    let (worse, better) = (word(Change::Regressed), word(Change::Improved));
    let more = format!("{cells} in the Markdown page, none of them {worse} or {better}\n");
    screen.grid(&table) + if hidden > 0 { &more } else { "" }
}

fn lines_of(cell: &CellComparison, pairing: Pairing, shared: &[(String, usize)]) -> Vec<Line> {
    let name = format!("{}: {}", cell.target, cell.label);
    let line = |row: Row| {
        let note = row.because.clone().unwrap_or_default();
        Line { cell: name.clone(), row: Some(row), note }
    };
    let mut lines: Vec<Line> = rows::of_cell(cell, pairing, shared).into_iter().map(line).collect();
    if let Some(reason) = &cell.excluded {
        let note = format!("decides nothing: {}", said::excluded(reason));
        if lines.is_empty() {
            lines.push(Line { cell: name, row: None, note: String::new() });
        }
        for line in &mut lines {
            line.note.clone_from(&note);
        }
    }
    lines
}

/// Which cells are shown: all if they fit, else first those that changed, in the order of the scenario.
fn shown(comparison: &Comparison) -> Vec<bool> {
    // A line for the name, which stands above the rows of a cell, and one for its reason.
    let lines = |cell: &CellComparison| 1 + cell.effects.len() + usize::from(cell.excluded.is_some());
    let mut order: Vec<usize> = (0..comparison.cells.len()).collect();
    order.sort_by_key(|index| rows::gravity(&comparison.cells[*index]));
    let mut shown = vec![false; order.len()];
    let mut used = 0;
    for index in order {
        let cell = &comparison.cells[index];
        used += lines(cell);
        // A regression is shown however many there are: it is what the page is for.
        shown[index] = used <= ROWS_MAX || rows::gravity(cell) < words::gravity(Change::Inconclusive);
    }
    shown
}

fn gaps(gaps: &[String], screen: Screen) -> String {
    let named: String = gaps.iter().take(GAPS_MAX).map(|gap| screen.hanging("gap   ", &ascii(gap))).collect();
    let more = gaps.len().saturating_sub(GAPS_MAX) as u64;
    if more == 0 { named } else { format!("{named}gap   and {}\n", feed::counted_noun(more, "more")) }
}

fn headlines(comparison: &Comparison, screen: Screen) -> String {
    if comparison.headlines.is_empty() {
        return screen.hanging("INCONCLUSIVE  ", words::nothing(comparison));
    }
    let width = 1 + screen.width_of(comparison.headlines.iter().map(|one| one.target.as_str()));
    let line = |one: &analysis::Headline| {
        let word = format!("{:<12}  ", words::verdict(one.effect.change, comparison.pairing));
        let words = words::headline(&one.effect, one.cells);
        screen.named(&word, (&ascii(&one.target), width), &ascii(&words))
    };
    comparison.headlines.iter().map(line).collect()
}
