//! A page in Markdown: verdicts first, then every cell.

use analysis::Summary;

use crate::grid::Grid;
use crate::page::{Block, Document, Fact, Facts, Fold, Lines, Verdict};
use crate::sections;

/// The whole summary, every planned cell included.
pub fn markdown(summary: &Summary) -> String {
    written(&sections::of_summary(summary))
}

fn written(document: &Document<'_>) -> String {
    let mut page = format!("# {}\n", text(&document.title));
    for section in &document.sections {
        page.extend(["\n## ", section.title, "\n"]);
        for part in section.blocks.iter().map(block) {
            page.extend(["\n".to_owned(), part]);
        }
    }
    page
}

fn block(block: &Block<'_>) -> String {
    match block {
        Block::Verdicts(of) => verdicts(of),
        Block::Facts(of) => facts(of),
        Block::Grid(of) => grid(of),
        Block::Lines(of) => lines(of),
        Block::Folds(of) => of.iter().map(fold).collect(),
        Block::Plot(plot) => format!("{}\n", text(&plot.title)),
        // Indented and not fenced: a line of three backticks inside would end a fence.
        Block::Code(of) => of.lines().flat_map(|line| ["    ", line, "\n"]).collect(),
    }
}

/// Text that Markdown takes as text: no markup, no table breaks, no control characters.
pub(crate) fn text(words: &str) -> String {
    let mut safe = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            // Not `_`: inside of a word it marks nothing, and names of cells are full of it.
            '|' | '\\' | '`' | '*' | '[' | ']' => safe.extend(['\\', c]),
            c if feed::steers(c) => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

fn items<'a>(lines: impl IntoIterator<Item = &'a String>, lead: &str) -> String {
    let items = lines.into_iter().map(|line| format!("{lead}- {}\n", text(line)));
    items.collect()
}

fn verdicts(verdicts: &[Verdict]) -> String {
    let row = |of: &Verdict| {
        let words: Vec<String> = of.sentences.iter().map(|words| text(words)).collect();
        format!("| **{}** | {} | {} |\n", of.word, text(&of.target), words.join("<br>"))
    };
    format!("| verdict | target | |\n|---|---|---|\n{}", verdicts.iter().map(row).collect::<String>())
}

fn facts(facts: &Facts) -> String {
    let row = |of: &Fact| format!("| {} | {} |\n", of.name, text(&of.words())).replace("|  |", "| |");
    let rows: String = facts.facts.iter().map(row).collect();
    format!("| {} | |\n|---|---|\n{rows}", text(&facts.about)).replace("|  |", "| |")
}

fn lines(lines: &Lines) -> String {
    items(&lines.sentences, "")
}

fn fold(fold: &Fold) -> String {
    format!("- {}\n{}", text(&fold.sentence), items(&fold.lines, "  "))
}

/// A line that says what it shows, then the rows.
fn grid(grid: &Grid) -> String {
    let view = grid.wide();
    // A column of blanks would make a wide table wider.
    let has_notes = view.has_notes();
    let headings = view.columns.iter().map(|(_, column)| column.heading.as_str());
    let headings: Vec<&str> = headings.chain(has_notes.then_some("remarks")).collect();
    // Numbers flush right, so that their digits stand below each other.
    let rules = view.columns.iter().map(|(_, column)| if column.is_numeric() { "--:|" } else { "---|" });
    let rules: String = rules.chain(has_notes.then_some("---|")).collect();
    let line = |cells: Vec<&str>| {
        let cells: Vec<String> = cells.into_iter().map(text).collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut lines = vec![text(&view.title), String::new(), line(headings), format!("|{rules}")];
    lines.extend(view.rows.iter().map(|row| {
        line(view.words(row).into_iter().chain(has_notes.then_some(row.note.as_str())).collect())
    }));
    if !grid.foot.is_empty() {
        lines.extend([String::new(), format!("{}.", text(&grid.foot))]);
    }
    lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect()
}
