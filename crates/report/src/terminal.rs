//! One page for a terminal, 80 columns of plain ASCII; the verdicts come last.

use analysis::{GateResult, Summary, gate};

use crate::head;
use feed::counted_noun;

use crate::grid::{Column, Grid, Kind, Row as GridRow, View};
use crate::network;
use crate::number::RateUnit;
use crate::plain::{COLUMNS, ascii, hanging, shortened};
use crate::prediction;
use crate::side;
use crate::stored;
use crate::system;
use crate::table::{self, Content, Row};
use crate::training;

/// Rows up to which every cell is shown; beyond, one row for each curve.
const ROWS_MAX: usize = 40;
/// Longest name of a target or an engine in the table.
const NAME_COLUMNS: usize = 17;
/// To how many columns a name may be narrowed for the figures.
const NAME_COLUMNS_MIN: usize = 4;

/// The page that `run` and `report` print.
pub fn terminal(summary: &Summary) -> String {
    let mut page = head_lines(summary);
    page.push_str(&trained(summary));
    page.push_str(&table(summary));
    page.push_str(&side_tables(summary));
    page.push_str(&stored_parts(summary));
    page.push_str(&predicted(summary));
    page.push_str(&hanging("not tested: ", &ascii(&summary.not_tested.join("; "))));
    for note in &summary.notes {
        page.push_str(&hanging("note  ", &ascii(note)));
    }
    for words in system::unreconciled(summary) {
        page.push_str(&hanging("bytes ", &ascii(&words)));
    }
    for words in network::unreconciled(summary) {
        page.push_str(&hanging("wire  ", &ascii(&words)));
    }
    page.push_str(&gate_lines(summary));
    page.push_str(&verdict_lines(summary));
    page
}

fn head_lines(summary: &Summary) -> String {
    let mut page = String::new();
    if let Some(title) = &summary.head.title {
        page.push_str(&hanging("title ", &ascii(title)));
    }
    page.push_str(&hanging("need  ", &ascii(&head::need(summary))));
    let plan = ascii(&summary.head.plan_hash.chars().take(6).collect::<String>());
    let plan = if plan.is_empty() { plan } else { format!("plan {plan}") };
    let line = head::line(summary).map(|line| ascii(&line)).unwrap_or_default();
    page.push_str(&line_and_plan(&line, &plan));
    for data in head::data(summary) {
        page.push_str(&hanging("data  ", &ascii(&data)));
    }
    if let [panel] = summary.panels.as_slice() {
        page.push_str(&hanging("      ", &ascii(&panel.conditions())));
    }
    for place in head::places(summary) {
        page.push_str(&hanging("at    ", &ascii(&place)));
    }
    page.push_str(&hanging("ran   ", &ascii(&head::ran(summary))));
    page
}

/// The line on the left and the plan on the right, or below where both do not fit.
fn line_and_plan(line: &str, plan: &str) -> String {
    let lead = format!("      {line}");
    if plan.is_empty() {
        return if line.is_empty() { String::new() } else { hanging("      ", line) };
    }
    match COLUMNS.checked_sub(lead.len() + plan.len()) {
        Some(gap) if gap >= 2 => format!("{lead}{}{plan}\n", " ".repeat(gap)),
        _ => hanging("      ", line) + &hanging("      ", plan),
    }
}

/// Training jobs, and what became of the judged ones; nothing where none was played.
fn trained(summary: &Summary) -> String {
    let table = grid(&training::table(summary));
    let lines = training::lines(summary);
    let lines = lines.iter().map(|line| {
        hanging(&format!("{:<6}", line.lead), &ascii(&format!("{}: {}", line.target, line.words)))
    });
    let sizings = summary.sizings.iter().map(|sizing| {
        let words = format!("{} {}: {}", sizing.target, sizing.engine, sizing.sentence());
        hanging("size  ", &ascii(&words))
    });
    std::iter::once(table).chain(lines).chain(sizings).collect()
}

/// Tables that most runs do not have.
fn side_tables(summary: &Summary) -> String {
    let first = [side::paced(summary, table::unit(summary)), side::phases(summary)];
    let last = [side::metadata(summary), network::table(summary), system::table(summary)];
    first.iter().chain(&side::requests(summary)).chain(&last).map(grid).collect()
}

/// Layouts, epochs, checkpoints and copies; nothing where there are none.
fn stored_parts(summary: &Summary) -> String {
    let of_part = |part: stored::Part| {
        let tables: String = part.grids.iter().map(grid).collect();
        let lines = part.lines.iter().map(|words| hanging("  ", &ascii(words)));
        tables + &lines.collect::<String>()
    };
    stored::parts(summary).into_iter().map(of_part).collect()
}

/// Claim, tables and what the line asks; nothing where nothing was said beforehand.
fn predicted(summary: &Summary) -> String {
    let claim = prediction::claim(summary).map(|claim| hanging("claim ", &ascii(&claim)));
    let tables = prediction::tables(summary);
    let differences = prediction::differences(summary);
    let differences = differences.iter().map(|words| hanging("claim ", &ascii(words)));
    let asked = prediction::asked(summary);
    let asked = asked.iter().map(|words| hanging("asks  ", &ascii(words)));
    let tables = tables.iter().map(grid);
    claim.into_iter().chain(differences).chain(tables).chain(asked).collect()
}

fn table(summary: &Summary) -> String {
    let unit = table::unit(summary);
    let all: Vec<Vec<Row>> = summary.panels.iter().map(|panel| table::rows(summary, panel, unit)).collect();
    let count: usize = all.iter().map(Vec::len).sum();
    let is_short = count > ROWS_MAX;
    let panels = if is_short {
        summary.panels.iter().map(|panel| table::short_rows(summary, panel, unit)).collect()
    } else {
        all
    };
    let skipped = table::skipped_rows(summary);
    // A run of paced loads or of names alone has its figures in tables of their own.
    if panels.is_empty() && skipped.is_empty() && !summary.cells.is_empty() {
        return String::new();
    }
    let columns = Columns::of(panels.iter().flatten().chain(&skipped), unit);
    let mut page = columns.header(unit);
    for (panel, rows) in summary.panels.iter().zip(&panels) {
        if panels.len() > 1 {
            page.push_str(&hanging("- ", &ascii(&head::panel(panel))));
        }
        page.extend(rows.iter().map(|row| columns.row(row)));
    }
    page.extend(skipped.iter().map(|row| columns.row(row)));
    if is_short {
        let hidden = count - panels.iter().map(Vec::len).sum::<usize>();
        let cells = counted_noun(hidden as u64, "more cell");
        page.extend([cells, " in the Markdown report\n".to_owned()]);
    }
    page
}

/// Widths of the columns.
struct Columns {
    target: usize,
    engine: usize,
    depth: usize,
    rate: usize,
    interval: usize,
    p50: usize,
    p99: usize,
    of_line: usize,
}

impl Columns {
    fn of<'a>(rows: impl Iterator<Item = &'a Row>, unit: RateUnit) -> Self {
        let mut columns = Self {
            target: "target".len(),
            engine: "engine".len(),
            depth: "QD".len(),
            rate: unit.name.len(),
            interval: "95 % interval".len(),
            p50: "p50 ms".len(),
            p99: "p99 ms".len(),
            of_line: "of line".len(),
        };
        for row in rows {
            columns.target = columns.target.max(row.target.chars().count()).min(NAME_COLUMNS);
            columns.engine = columns.engine.max(row.engine.chars().count()).min(NAME_COLUMNS);
            columns.depth = columns.depth.max(row.depth.len());
            if let Content::Measured(measured) = &row.content {
                columns.rate = columns.rate.max(measured.rate.len());
                columns.interval = columns.interval.max(measured.interval.len());
                columns.p50 = columns.p50.max(measured.p50.len());
                columns.p99 = columns.p99.max(measured.p99.len());
                columns.of_line = columns.of_line.max(measured.of_line.len());
            }
        }
        columns.narrow_names();
        columns
    }

    /// Takes from the names what the figures need of the page.
    fn narrow_names(&mut self) {
        let figures = self.depth + self.rate + self.interval + self.p50 + self.p99 + self.of_line;
        let room = COLUMNS.saturating_sub(figures + 7);
        let excess = |columns: &Self| (columns.target + columns.engine).saturating_sub(room);
        self.engine -= excess(self).min(self.engine.saturating_sub(NAME_COLUMNS_MIN));
        self.target -= excess(self).min(self.target.saturating_sub(NAME_COLUMNS_MIN));
    }

    fn header(&self, unit: RateUnit) -> String {
        let names = self.names("target", "engine", "QD");
        let figures = self.figures(unit.name, "95 % interval", "p50 ms", "p99 ms", "of line");
        format!("{names} {figures}\n")
    }

    fn names(&self, target: &str, engine: &str, depth: &str) -> String {
        let target = shortened(&ascii(target), self.target);
        let engine = shortened(&ascii(engine), self.engine);
        let (target_width, engine_width, depth_width) = (self.target, self.engine, self.depth);
        format!("{target:<target_width$} {engine:<engine_width$} {depth:>depth_width$}")
    }

    fn figures(&self, rate: &str, interval: &str, p50: &str, p99: &str, of_line: &str) -> String {
        let columns = [
            (rate, self.rate),
            (interval, self.interval),
            (p50, self.p50),
            (p99, self.p99),
            (of_line, self.of_line),
        ];
        columns.map(|(figure, width)| format!("{figure:>width$}")).join(" ")
    }

    fn row(&self, row: &Row) -> String {
        let names = self.names(&row.target, &row.engine, &row.depth);
        match &row.content {
            Content::Absent(words) => hanging(&format!("{names} "), &ascii(words)),
            Content::Measured(measured) => {
                let figures = self.figures(
                    &measured.rate,
                    &measured.interval,
                    &measured.p50,
                    &measured.p99,
                    &measured.of_line,
                );
                with_note(&format!("{names} {figures}"), &ascii(&measured.note), self.target + 1)
            }
        }
    }
}

/// The note behind its row when it fits there, else below it.
fn with_note(row: &str, note: &str, indent: usize) -> String {
    let room = COLUMNS.saturating_sub(row.len() + 2);
    if note.is_empty() {
        return format!("{row}\n");
    }
    if note.len() <= room {
        return format!("{row}  {note}\n");
    }
    format!("{row}\n{}", hanging(&" ".repeat(indent), note))
}

fn gate_lines(summary: &Summary) -> String {
    let list = |words: &str, demands: &[String]| {
        demands.iter().map(|demand| hanging("gate  ", &ascii(&format!("{words}: {demand}")))).collect()
    };
    match gate(summary) {
        GateResult::None => String::new(),
        GateResult::Met => "gate  met\n".to_owned(),
        GateResult::Missed(demands) => list("missed", &demands),
        GateResult::Inconclusive(demands) => list("inconclusive", &demands),
    }
}

fn verdict_lines(summary: &Summary) -> String {
    let verdicts = summary.verdicts.iter().map(|verdict| verdict.target.as_str());
    let ceilings = summary.ceilings.iter().map(|ceiling| ceiling.target.as_str());
    let unjudged = summary.unjudged.iter().map(|unjudged| unjudged.target.as_str());
    let names = verdicts.chain(ceilings).chain(unjudged);
    let width = names.map(|name| name.chars().count()).max().unwrap_or(0).min(NAME_COLUMNS);
    let lead = |word: &str, target: &str| {
        let target = shortened(&ascii(target), width);
        format!("{word:<9} {target:<width$} ")
    };
    let mut page = String::new();
    for ceiling in &summary.ceilings {
        page.push_str(&hanging(&lead("CEILING", &ceiling.target), &ascii(&head::ceiling_sentence(ceiling))));
    }
    for unjudged in &summary.unjudged {
        page.push_str(&hanging(&lead("UNJUDGED", &unjudged.target), &ascii(&unjudged.reason)));
    }
    for verdict in &summary.verdicts {
        let lead = lead(verdict.word(), &verdict.target);
        page.push_str(&hanging(&lead, &ascii(&verdict.sentence())));
        let below = " ".repeat(lead.chars().count());
        page.extend(verdict.unreached.iter().map(|words| hanging(&below, &ascii(words))));
    }
    page
}

/// A table in lines of at most 80 columns; nothing without rows.
fn grid(grid: &Grid) -> String {
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
fn grid_row(view: &View<'_>, widths: &[usize], row: &GridRow) -> String {
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
