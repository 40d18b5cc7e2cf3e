//! A comparison as one page for a terminal, 80 columns of plain ASCII; the answer comes last.

use analysis::{CellComparison, Comparison};

use super::rows::{self, Row};
use super::words;
use crate::plain::{ascii, hanging, shortened};

/// Rows up to which every cell is shown; beyond, those that changed, and as many others as fit.
const ROWS_MAX: usize = 60;
/// Gaps that are named one by one.
const GAPS_MAX: usize = 8;
/// Width of the column of changes: `-14.9 % (-17.1 to -12.8)`.
const RATIO_COLUMNS: usize = 24;
/// Longest name of a target before a cell or a headline.
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

fn table(comparison: &Comparison, shared: &[(String, usize)]) -> String {
    if comparison.cells.is_empty() {
        return String::new();
    }
    let shown = shown(comparison);
    let mut page = format!(
        "  {:<10} {:>10} {:>10} {:<RATIO_COLUMNS$} {:>6}\n",
        "metric", "before", "after", "change (95 %, in %)", "shows"
    );
    for cell in comparison.cells.iter().zip(&shown).filter_map(|(cell, shown)| shown.then_some(cell)) {
        let target = shortened(&ascii(&cell.target), NAME_COLUMNS);
        page.push_str(&hanging(&format!("{target}  "), &ascii(&cell.label)));
        page.extend(rows::of_cell(cell, shared).iter().map(line));
        if let Some(reason) = &cell.excluded {
            page.push_str(&hanging("  decides nothing: ", &ascii(reason)));
        }
    }
    let hidden = shown.iter().filter(|shown| !**shown).count();
    if hidden > 0 {
        let cells = feed::counted_noun(hidden as u64, "more cell");
        page.extend([format!("{cells} in the Markdown page, none of them regressed or improved\n")]);
    }
    page.push_str(&hanging("", "shows: the smallest change that such data show four times in five"));
    page
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

fn line(row: &Row) -> String {
    let Row { metric, before, after, ratio, detectable, word, .. } = row;
    let ratio = shortened(ratio, RATIO_COLUMNS);
    let line =
        format!("  {metric:<10} {before:>10} {after:>10} {ratio:<RATIO_COLUMNS$} {detectable:>6} {word}");
    let because = row.because.as_ref().map(|why| hanging("    why: ", &ascii(why))).unwrap_or_default();
    format!("{}\n{because}", line.trim_end())
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
