//! A report in Markdown: verdicts first, then every cell.

use analysis::{CellSummary, Figures, GateResult, Measurement, Summary, gate};

use crate::grid::{Grid, Kind};
use crate::head;
use crate::network;
use crate::prediction;
use crate::side;
use crate::stored;
use crate::system;
use crate::table::{self, Content};
use crate::training;

/// The whole summary, every planned cell included.
pub fn markdown(summary: &Summary) -> String {
    let sections = [
        title(summary),
        verdicts(summary),
        facts(summary),
        trained(summary),
        cells(summary),
        section("Paced", &side::paced(summary, table::unit(summary))),
        section("Where a file's time goes", &side::phases(summary)),
        requests(summary),
        section("Metadata", &side::metadata(summary)),
        way(summary),
        stored_parts(summary),
        predicted(summary),
        machine(summary),
        page_cache(summary),
        list("Caches, tier by tier", &summary.tiers),
        doubts(summary),
        list("Not tested", &summary.not_tested),
        list("Notes", &summary.notes),
        command(summary),
    ];
    let mut page = sections.into_iter().filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n");
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// Text that Markdown takes as text: no markup, no table breaks, no control characters.
pub(crate) fn text(words: &str) -> String {
    let mut safe = String::with_capacity(words.len());
    for c in words.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '|' | '\\' | '`' | '*' | '[' | ']' => safe.extend(['\\', c]),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

fn joined(lines: Vec<String>) -> String {
    lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect()
}

fn items(lines: &[String]) -> String {
    joined(lines.iter().map(|line| format!("- {}", text(line))).collect())
}

fn title(summary: &Summary) -> String {
    format!("# {}\n", text(head::title(summary)))
}

fn verdicts(summary: &Summary) -> String {
    let row = |word: &str, target: &str, words: &[String]| {
        let words: Vec<String> = words.iter().map(|line| text(line)).collect();
        format!("| **{word}** | {} | {} |", text(target), words.join("<br>"))
    };
    let mut lines = vec!["| verdict | target | |".to_owned(), "|---|---|---|".to_owned()];
    for verdict in &summary.verdicts {
        let words: Vec<String> =
            std::iter::once(verdict.sentence()).chain(verdict.unreached.iter().cloned()).collect();
        lines.push(row(verdict.word(), &verdict.target, &words));
    }
    for unjudged in &summary.unjudged {
        lines.push(row("UNJUDGED", &unjudged.target, std::slice::from_ref(&unjudged.reason)));
    }
    for ceiling in &summary.ceilings {
        lines.push(row("CEILING", &ceiling.target, &[head::ceiling_sentence(ceiling)]));
    }
    joined(lines) + &gate_words(summary)
}

fn gate_words(summary: &Summary) -> String {
    let words = |word: &str, demands: &[String]| format!("\nGate **{word}**:\n\n{}", items(demands));
    match gate(summary) {
        GateResult::None => String::new(),
        GateResult::Met => "\nGate **met**.\n".to_owned(),
        GateResult::Missed(demands) => words("missed", &demands),
        GateResult::Inconclusive(demands) => words("inconclusive", &demands),
    }
}

fn facts(summary: &Summary) -> String {
    let rows = facts_of(summary)
        .iter()
        .map(|(name, value)| format!("| {name} | {} |", text(value)).replace("|  |", "| |"))
        .collect();
    format!("## Run\n\n| | |\n|---|---|\n{}", joined(rows))
}

/// What is known of the run, by name; a row without one belongs to the row above it.
pub(crate) fn facts_of(summary: &Summary) -> Vec<(&'static str, String)> {
    let head = &summary.head;
    let mut facts = vec![("need", head::need(summary))];
    facts.extend(head::line(summary).map(|line| ("", line)));
    facts.extend(head::data(summary).into_iter().map(|data| ("data", data)));
    facts.push(("ran", head::ran(summary)));
    facts.push(("run", format!("{}, started {}", head.run_id, head.started)));
    if !head.machine.is_empty() {
        facts.push(("machine", head.machine.clone()));
    }
    let commit = head.tool.commit.as_ref().map(|commit| format!(" ({commit})")).unwrap_or_default();
    facts.push(("tool", format!("feedline {}{commit}, {} build", head.tool.version, head.tool.profile)));
    if !head.plan_hash.is_empty() {
        facts.push(("plan", head.plan_hash.clone()));
    }
    for target in &summary.targets {
        facts.push(("target", target_words(summary, target)));
    }
    facts
}

/// A target with all that is known of it.
fn target_words(summary: &Summary, target: &record::Target) -> String {
    let facts: Vec<String> = if network::is_remote(summary, target) {
        network::facts(summary, target)
    } else {
        let words = |fact: &record::Fact| format!("{} {}", fact.name.replace('_', " "), fact.value);
        target.facts.iter().map(words).collect()
    };
    let said =
        [head::about(target), head::demo_words(target, true)].into_iter().filter(|words| !words.is_empty());
    let all = facts.into_iter().chain(said).map(|words| format!("; {words}"));
    format!("{}: {}{}", target.name, target.at, all.collect::<String>())
}

fn cells(summary: &Summary) -> String {
    let unit = table::unit(summary);
    let mut lines = vec!["## Cells".to_owned()];
    for panel in &summary.panels {
        lines.extend([String::new(), text(&head::panel(panel)), String::new()]);
        let name = unit.name;
        lines
            .push(format!("| target | engine | QD | {name} | 95 % interval | p50 ms | p99 ms | of line | |"));
        lines.push("|---|---|--:|--:|---|--:|--:|--:|---|".to_owned());
        lines.extend(table::rows(summary, panel, unit).iter().map(cell_row));
    }
    if !summary.skipped.is_empty() {
        lines.extend([String::new(), "Left out before the run:".to_owned(), String::new()]);
        let words = |skipped: &record::Skipped| {
            format!("- {}", text(&format!("{} {}: {}", skipped.target, skipped.engine, skipped.reason)))
        };
        lines.extend(summary.skipped.iter().map(words));
    }
    joined(lines)
}

fn cell_row(row: &table::Row) -> String {
    let names = format!("| {} | {} | {} |", text(&row.target), text(&row.engine), row.depth);
    match &row.content {
        Content::Absent(words) => format!("{names} | | | | | {} |", text(words)),
        Content::Measured(m) => format!(
            "{names} {} | {} | {} | {} | {} | {} |",
            m.rate,
            m.interval,
            m.p50,
            m.p99,
            m.of_line,
            text(&m.note)
        ),
    }
}

fn page_cache(summary: &Summary) -> String {
    list("Page cache", &page_cache_lines(summary))
}

/// What is known of the page cache, once for all storage cells of which the same is known.
pub(crate) fn page_cache_lines(summary: &Summary) -> Vec<String> {
    let mut proofs: Vec<(&str, Vec<&str>)> = Vec::new();
    for cell in summary.cells.iter().filter(|cell| cell.storage && !cell.is_transfer()) {
        for figures in cell.figures().into_iter().chain(confirmed_figures(cell)) {
            let name = cell.cell.cell.as_str();
            match proofs.iter_mut().find(|(words, _)| *words == figures.cache) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => proofs.push((&figures.cache, vec![name])),
            }
        }
    }
    let line = |(words, names): (&str, Vec<&str>)| match names.as_slice() {
        [one] => format!("{words}: {one}"),
        names => format!("{words}: {} cells, {} among them", names.len(), names[0]),
    };
    proofs.into_iter().map(line).collect()
}

fn confirmed_figures(cell: &CellSummary) -> Option<&Figures> {
    cell.confirmed.as_ref().and_then(Measurement::figures)
}

/// Every flag once, with the cells it applies to and what to do.
fn doubts(summary: &Summary) -> String {
    let doubts = doubted(summary);
    if doubts.is_empty() {
        return String::new();
    }
    let mut lines = vec!["## Doubts, and what to do".to_owned(), String::new()];
    for (advice, cells) in doubts {
        lines.push(format!("- {}", text(advice)));
        lines.extend(cells.iter().map(|cell| format!("  - {}", text(cell))));
    }
    joined(lines)
}

/// What to do about each kind of doubt, and the cells of which it is to be said with its words.
pub(crate) fn doubted(summary: &Summary) -> Vec<(&'static str, Vec<String>)> {
    let mut doubts: Vec<(&'static str, Vec<String>)> = Vec::new();
    let all = summary.cells.iter().flat_map(|cell| cell.doubts().into_iter().map(move |doubt| (cell, doubt)));
    for (cell, (flag, words)) in all {
        let advice = flag.advice();
        let line = format!("{}: {words}", cell.cell.cell);
        match doubts.iter_mut().find(|(known, _)| *known == advice) {
            Some((_, lines)) => lines.push(line),
            None => doubts.push((advice, vec![line])),
        }
    }
    doubts
}

/// A table with a heading and a line that says what it shows.
fn section(name: &str, grid: &Grid) -> String {
    if grid.rows.is_empty() {
        return String::new();
    }
    let head = [format!("## {name}"), String::new(), text(&grid.title), String::new()];
    joined(head.into_iter().chain(grid_lines(grid)).collect())
}

/// Training jobs, what their accelerators waited for, and what became of the judged ones; nothing where none was
/// played.
fn trained(summary: &Summary) -> String {
    let table = section("Training", &training::table(summary));
    let stall = training::stall(summary);
    if table.is_empty() || stall.rows.is_empty() {
        return table;
    }
    let head = [text(&stall.title), String::new()];
    let stall = joined(head.into_iter().chain(grid_lines(&stall)).collect());
    let lines = training::lines(summary);
    let row =
        |line: &training::Line| format!("| {} | {} | {} |", text(&line.target), line.lead, text(&line.words));
    let head = ["| target | | |".to_owned(), "|---|---|---|".to_owned()];
    let lines = joined(head.into_iter().chain(lines.iter().map(row)).collect());
    let sizings = summary.sizings.iter();
    let sizings: Vec<String> =
        sizings.map(|one| format!("{} {}: {}", one.target, one.engine, one.sentence())).collect();
    let parts = [table, stall, lines, items(&sizings)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Claim, tables and what the line asks; nothing where nothing was said beforehand.
fn predicted(summary: &Summary) -> String {
    let claim = prediction::claim(summary).map(|claim| format!("Claim: {}\n", text(&claim)));
    let tables = prediction::tables(summary).into_iter().filter(|grid| !grid.rows.is_empty()).map(|grid| {
        let head = [text(&grid.title), String::new()];
        joined(head.into_iter().chain(grid_lines(&grid)).collect())
    });
    let lines = [prediction::asked(summary), prediction::differences(summary)].concat();
    let lines = Some(items(&lines)).filter(|lines| !lines.is_empty());
    let parts: Vec<String> = claim.into_iter().chain(tables).chain(lines).collect();
    if parts.is_empty() { String::new() } else { format!("## Predicted\n\n{}", parts.join("\n")) }
}

/// Layouts, epochs, checkpoints and copies; nothing where there are none.
fn stored_parts(summary: &Summary) -> String {
    let of_part = |part: &stored::Part| {
        let tables = part.grids.iter().map(|grid| {
            let head = [text(&grid.title), String::new()];
            joined(head.into_iter().chain(grid_lines(grid)).collect())
        });
        let lines = Some(items(&part.lines)).filter(|lines| !lines.is_empty());
        let parts: Vec<String> = tables.chain(lines).collect();
        format!("## {}\n\n{}", part.name, parts.join("\n"))
    };
    stored::parts(summary).iter().map(of_part).collect::<Vec<_>>().join("\n")
}

/// Where the time of a request goes, a table for each protocol.
fn requests(summary: &Summary) -> String {
    let tables = side::requests(summary).into_iter().map(|grid| {
        let head = [text(&grid.title), String::new()];
        joined(head.into_iter().chain(grid_lines(&grid)).collect())
    });
    let tables: Vec<String> = tables.collect();
    if tables.is_empty() {
        return String::new();
    }
    format!("## Where a request's time goes\n\n{}", tables.join("\n"))
}

/// The way to storage behind a network.
fn way(summary: &Summary) -> String {
    let table = section("Network", &network::table(summary));
    let unreconciled = network::unreconciled(summary);
    if unreconciled.is_empty() { table } else { format!("{table}\n{}", items(&unreconciled)) }
}

fn machine(summary: &Summary) -> String {
    let table = section("Device and process", &system::table(summary));
    if table.is_empty() {
        return table;
    }
    let unreconciled = system::unreconciled(summary);
    let lines = if unreconciled.is_empty() { String::new() } else { format!("\n{}", items(&unreconciled)) };
    format!("{table}{lines}")
}

fn list(name: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("## {name}\n\n{}", items(lines))
}

fn command(summary: &Summary) -> String {
    let command: String = summary.head.command.join(" ").chars().filter(|c| !c.is_control()).collect();
    if command.is_empty() {
        return String::new();
    }
    format!("## Command\n\n    {command}\n")
}

/// The rows of a table; nothing without any.
fn grid_lines(grid: &Grid) -> Vec<String> {
    let view = grid.wide();
    if view.rows.is_empty() {
        return Vec::new();
    }
    let has_notes = view.has_notes();
    let headings = view.columns.iter().map(|(_, column)| column.heading.as_str());
    let headings: Vec<&str> = headings.chain(has_notes.then_some("remarks")).collect();
    let rules =
        view.columns.iter().map(|(_, column)| if column.kind == Kind::Name { "---|" } else { "--:|" });
    let rules: String = rules.chain(has_notes.then_some("---|")).collect();
    let line = |cells: Vec<&str>| {
        let cells: Vec<String> = cells.into_iter().map(text).collect();
        format!("| {} |", cells.join(" | "))
    };
    let mut lines = vec![line(headings), format!("|{rules}")];
    lines.extend(view.rows.iter().map(|row| {
        line(view.words(row).into_iter().chain(has_notes.then_some(row.note.as_str())).collect())
    }));
    if !grid.foot.is_empty() {
        lines.extend([String::new(), format!("{}.", text(&grid.foot))]);
    }
    lines
}
