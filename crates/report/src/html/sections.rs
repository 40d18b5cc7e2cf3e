//! The parts of a run in their order.

use analysis::Summary;

use super::markup::{grid, list, text};
use super::{Page, cells, environment, figure, overview};
use crate::grid::Grid;
use crate::plot::Plot;
use crate::{markdown, network, prediction, side, stored, system, table, training};

/// A part of a run.
pub(super) struct Section {
    pub(super) id: String,
    pub(super) title: &'static str,
    pub(super) html: String,
}

/// The parts that a run has; `prefix` tells their names from those of other runs, `level` is that of their headings.
pub(super) fn of_run(page: &Page<'_>, prefix: &str, level: u8) -> Vec<Section> {
    let summary = page.summary;
    let parts = [
        ("verdicts", "Verdicts", overview::verdicts(summary)),
        ("need", "Need", overview::need(summary)),
        ("plots", "Plots", plots(page, prefix)),
        ("training", "Training", trained(summary, prefix, level)),
        ("cells", "Cells", cells::cells(summary, prefix)),
        ("tables", "More tables", tables(summary, prefix)),
        ("stored", "Layouts, epochs, checkpoints, copies", stored_parts(summary, prefix, level)),
        ("predicted", "Predicted", predicted(summary, prefix)),
        ("doubts", "Doubts, and what to do", doubts(summary)),
        ("validity", "Validity and notes", validity(summary, level)),
        ("not-tested", "Not tested", list(&summary.not_tested)),
        ("run", "Run and targets", overview::facts(summary)),
        ("environment", "Environment", overview::definitions(&environment::facts(page.environment))),
        ("scenario", "Scenario as it was run", scenario(page.scenario)),
    ];
    let has_content = |(_, _, html): &(&str, &str, String)| !html.is_empty();
    parts
        .into_iter()
        .filter(has_content)
        .map(|(id, title, html)| section(prefix, level, id, title, &html))
        .collect()
}

fn section(prefix: &str, level: u8, id: &str, title: &'static str, html: &str) -> Section {
    let id = format!("{prefix}{id}");
    let html = format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h{level} id=\"{id}-title\">{title}</h{level}>\n{html}</section>\n"
    );
    Section { id, title, html }
}

fn plots(page: &Page<'_>, prefix: &str) -> String {
    let plot = |plot: &Plot| figure::figure(&format!("{prefix}plot-{}", plot.name), plot);
    page.plots.iter().map(plot).collect()
}

fn grids(grids: impl IntoIterator<Item = Grid>, prefix: &str, name: &str) -> String {
    let numbered = grids.into_iter().enumerate();
    numbered.map(|(number, one)| grid(&format!("{prefix}{name}{}", number + 1), &one)).collect()
}

/// Jobs, their waits, and what became of the chosen ones.
fn trained(summary: &Summary, prefix: &str, level: u8) -> String {
    let tables = grids([training::table(summary), training::stall(summary)], prefix, "training-table");
    let below = level + 1;
    let mut targets: Vec<(String, String)> = Vec::new();
    for line in training::lines(summary) {
        let item = format!("<dt>{}</dt><dd>{}</dd>\n", text(line.lead), text(&line.words));
        match targets.iter_mut().find(|(target, _)| *target == line.target) {
            Some((_, items)) => items.push_str(&item),
            None => targets.push((line.target, item)),
        }
    }
    let lines = targets
        .into_iter()
        .map(|(target, items)| format!("<h{below}>{}</h{below}>\n<dl>\n{items}</dl>\n", text(&target)));
    let sizings = summary.sizings.iter();
    let sizings: Vec<String> =
        sizings.map(|one| format!("{} {}: {}", one.target, one.engine, one.sentence())).collect();
    tables + &lines.collect::<String>() + &list(&sizings)
}

/// The tables that most runs do not have all of.
fn tables(summary: &Summary, prefix: &str) -> String {
    let first = [side::paced(summary, table::unit(summary)), side::phases(summary)];
    let last = [side::metadata(summary), network::table(summary), system::table(summary)];
    let all = first.into_iter().chain(side::requests(summary)).chain(last);
    grids(all, prefix, "table")
}

/// Layouts, epochs, checkpoints and copies, a heading for each.
fn stored_parts(summary: &Summary, prefix: &str, level: u8) -> String {
    let below = level + 1;
    let of_part = |part: stored::Part| {
        let tables = grids(part.grids, prefix, &format!("{}-table", part.id));
        format!("<h{below}>{}</h{below}>\n{tables}{}", text(part.name), list(&part.lines))
    };
    stored::parts(summary).into_iter().map(of_part).collect()
}

/// Claim, tables, and what the line asks.
fn predicted(summary: &Summary, prefix: &str) -> String {
    let claim = prediction::claim(summary).map(|claim| format!("<p>Claim: {}</p>\n", text(&claim)));
    let tables = grids(prediction::tables(summary), prefix, "predicted-table");
    let lines = [prediction::asked(summary), prediction::differences(summary)].concat();
    claim.unwrap_or_default() + &tables + &list(&lines)
}

/// Every kind of doubt once; the cells of which it is to be said fold away where they are many.
fn doubts(summary: &Summary) -> String {
    let one = |(advice, cells): (&str, Vec<String>)| {
        let count = feed::counted_noun(cells.len() as u64, "cell");
        let open = if cells.len() <= 3 { " open" } else { "" };
        format!(
            "<li>{}<details{open}><summary>{count}</summary>\n{}</details></li>\n",
            text(advice),
            list(&cells)
        )
    };
    let items: String = markdown::doubted(summary).into_iter().map(one).collect();
    if items.is_empty() { items } else { format!("<ul class=\"doubts\">\n{items}</ul>\n") }
}

/// What is known of caches, counts that do not agree, and what a reader must know.
fn validity(summary: &Summary, level: u8) -> String {
    let below = level + 1;
    let counts = [system::unreconciled(summary), network::unreconciled(summary)].concat();
    let parts = [
        ("Notes", summary.notes.clone()),
        ("Page cache", markdown::page_cache_lines(summary)),
        ("Caches, tier by tier", summary.tiers.clone()),
        ("Bytes that do not agree", counts),
    ];
    let parts = parts.into_iter().filter(|(_, lines)| !lines.is_empty());
    let parts = parts.map(|(title, lines)| format!("<h{below}>{title}</h{below}>\n{}", list(&lines)));
    parts.collect()
}

fn scenario(toml: &str) -> String {
    if toml.trim().is_empty() {
        return String::new();
    }
    format!(
        "<pre tabindex=\"0\" role=\"region\" aria-label=\"Scenario as it was run\"><code>{}</code></pre>\n",
        text(toml.trim_end())
    )
}
