//! A comparison as one page for a terminal, 80 columns of plain ASCII; the answer comes last.

use analysis::{CellComparison, Comparison};

use super::rows::{self, Row};
use super::words;
use crate::grid::{Column, Grid, Width};
use crate::plain::{ascii, hanging, shortened};
use crate::terminal::grid;

/// Rows up to which every cell is shown; beyond, those that changed, and as many others as fit.
const ROWS_MAX: usize = 60;
/// Gaps that are named one by one.
const GAPS_MAX: usize = 8;
/// Longest name of a target before a headline.
const NAME_COLUMNS: usize = 17;

/// The comparison as a page of a terminal, 80 columns wide.
pub fn comparison_terminal(comparison: &Comparison) -> String {
    let shared = rows::shared_reasons(comparison);
    let mut page = head(comparison);
    page.push_str(&table(comparison, &shared));
    for (reason, count) in &shared {
        let of = feed::counted_noun(*count as u64, "figure");
        page.push_str(&hanging("why   ", &ascii(&format!("{of} inconclusive: {reason}"))));
    }
    page.push_str(&gaps(&comparison.gaps));
    for note in &comparison.notes {
        page.push_str(&hanging("note  ", &ascii(note)));
    }
    page.push_str(&headlines(comparison));
    page
}

fn head(comparison: &Comparison) -> String {
    let before = hanging("compare  ", &ascii(&words::side(&comparison.before)));
    let after = hanging("     ->  ", &ascii(&words::side(&comparison.after)));
    let of = format!("{}; samples are {}", comparison.scenario, words::samples(comparison.pairing));
    before + &after + &hanging("     of  ", &ascii(&of))
}

/// A metric of a cell, with what else is to be said of the cell below its last.
struct Line {
    cell: String,
    /// Absent for a cell of which no metric could be compared.
    row: Option<Row>,
    note: String,
}

fn table(comparison: &Comparison, shared: &[(String, usize)]) -> String {
    if comparison.cells.is_empty() {
        return String::new();
    }
    let shown = shown(comparison);
    let cells = comparison.cells.iter().zip(&shown).filter(|(_, shown)| **shown);
    let lines: Vec<Line> = cells.flat_map(|(cell, _)| lines_of(cell, shared)).collect();
    let row = |line: &Line, write: fn(&Row) -> &String| line.row.as_ref().map(write).cloned();
    let table = Grid::of("change from before to after, with its 95 % interval in percent", &lines)
        .column(Column::name("cell").only(Width::Above), |line| Some(line.cell.clone()))
        .column(Column::name("metric"), |line| Some(line.row.as_ref()?.metric.to_owned()))
        .figure("before", |line| row(line, |row| &row.before))
        .figure("after", |line| row(line, |row| &row.after))
        .figure("change", |line| row(line, |row| &row.ratio))
        .figure("shows", |line| row(line, |row| &row.detectable))
        .note(|line| line.note.clone())
        .foot("shows: the smallest change that such data show four times in five")
        .done();
    let hidden = shown.iter().filter(|shown| !**shown).count();
    let cells = feed::counted_noun(hidden as u64, "more cell");
    let more = format!("{cells} in the Markdown page, none of them regressed or improved\n");
    grid(&table) + if hidden > 0 { &more } else { "" }
}

fn lines_of(cell: &CellComparison, shared: &[(String, usize)]) -> Vec<Line> {
    let name = format!("{}: {}", cell.target, cell.label);
    let line = |row: Row| {
        let because = row.because.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        Line { cell: name.clone(), note: format!("{}{because}", row.word), row: Some(row) }
    };
    let mut lines: Vec<Line> = rows::of_cell(cell, shared).into_iter().map(line).collect();
    if let Some(reason) = &cell.excluded {
        let note = format!("decides nothing: {reason}");
        match lines.last_mut() {
            Some(last) => last.note = note,
            None => lines.push(Line { cell: name, row: None, note }),
        }
    }
    lines
}

/// Which cells are shown: all if they fit, else first those that changed, in the order of the scenario.
fn shown(comparison: &Comparison) -> Vec<bool> {
    let lines = |cell: &CellComparison| 1 + cell.effects.len() + usize::from(cell.excluded.is_some());
    let mut order: Vec<usize> = (0..comparison.cells.len()).collect();
    order.sort_by_key(|index| rows::gravity(&comparison.cells[*index]));
    let mut shown = vec![false; order.len()];
    let mut used = 0;
    for index in order {
        let cell = &comparison.cells[index];
        used += lines(cell);
        shown[index] =
            used <= ROWS_MAX || rows::gravity(cell) < words::gravity(analysis::Change::Inconclusive);
    }
    shown
}

fn gaps(gaps: &[String]) -> String {
    let named: String = gaps.iter().take(GAPS_MAX).map(|gap| hanging("gap   ", &ascii(gap))).collect();
    let more = gaps.len().saturating_sub(GAPS_MAX) as u64;
    if more == 0 { named } else { format!("{named}gap   and {}\n", feed::counted_noun(more, "more")) }
}

fn headlines(comparison: &Comparison) -> String {
    if comparison.headlines.is_empty() {
        return hanging("INCONCLUSIVE  ", words::nothing(comparison));
    }
    let names = comparison.headlines.iter().map(|one| one.target.chars().count());
    let width = names.max().unwrap_or(0).min(NAME_COLUMNS);
    let line = |one: &analysis::Headline| {
        let target = shortened(&ascii(&one.target), width);
        let lead = format!("{:<12}  {target:<width$}  ", words::verdict(one.effect.change));
        hanging(&lead, &ascii(&words::headline(&one.effect, one.cells)))
    };
    comparison.headlines.iter().map(line).collect()
}
