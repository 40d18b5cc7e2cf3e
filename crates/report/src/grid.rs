//! Small tables beside the main one, written for a terminal or in Markdown.

use crate::plain::{COLUMNS, ascii, hanging, shortened};

/// Longest name of a target or an engine in a table of a terminal.
const NAME_COLUMNS: usize = 16;
/// To how many columns a name may be narrowed for the figures.
const NAME_COLUMNS_MIN: usize = 4;

/// A table: names on the left, figures on the right, a note behind or below each row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    /// What it shows, in a few words.
    pub(crate) title: String,
    /// Headings of the columns that hold names.
    pub(crate) names: Vec<&'static str>,
    /// Headings of the columns that hold figures.
    pub(crate) figures: Vec<String>,
    pub(crate) rows: Vec<GridRow>,
    /// What must be known of the figures, below them; often empty.
    pub(crate) foot: String,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GridRow {
    pub(crate) names: Vec<String>,
    /// Empty for a cell without figures, which its note explains.
    pub(crate) figures: Vec<String>,
    pub(crate) note: String,
}

impl Grid {
    /// Lines of plain ASCII of at most 80 columns; nothing without rows.
    pub(crate) fn terminal(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let (names, figures) = self.widths();
        let mut page = hanging("- ", &ascii(&self.title));
        let headings: Vec<String> = self.names.iter().map(|name| (*name).to_owned()).collect();
        let heading = joined(&headings, &names, &self.figures, &figures);
        page.extend([heading.as_str(), "\n"]);
        for row in &self.rows {
            let note = ascii(&row.note);
            let line = joined(&row.names, &names, &row.figures, &figures);
            let indent = names.first().map_or(1, |width| width + 1);
            if row.figures.is_empty() {
                page.push_str(&hanging(&format!("{} ", line.trim_end()), &note));
            } else if note.is_empty() || line.len() + 2 + note.len() <= COLUMNS {
                page.push_str(format!("{line}  {note}").trim_end());
                page.push('\n');
            } else {
                page.extend([line, "\n".to_owned(), hanging(&" ".repeat(indent), &note)]);
            }
        }
        if !self.foot.is_empty() {
            page.push_str(&hanging("  ", &ascii(&self.foot)));
        }
        page
    }

    /// Without the columns of figures that no row knows.
    pub(crate) fn without_unknown(mut self) -> Self {
        let known = |column: usize| {
            self.rows.iter().any(|row| row.figures.get(column).is_some_and(|figure| figure != "-"))
        };
        let keep: Vec<bool> = (0..self.figures.len()).map(known).collect();
        let kept = |figures: &mut Vec<String>| {
            let mut keep = keep.iter();
            figures.retain(|_| *keep.next().unwrap_or(&true));
        };
        kept(&mut self.figures);
        self.rows.iter_mut().for_each(|row| kept(&mut row.figures));
        self
    }

    /// Widths of the names and of the figures; the names give way.
    fn widths(&self) -> (Vec<usize>, Vec<usize>) {
        let widest = |heading: &str, column: usize, of: fn(&GridRow) -> &Vec<String>| {
            let cells = self.rows.iter().filter_map(|row| of(row).get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(heading.chars().count())
        };
        let figures: Vec<usize> = self
            .figures
            .iter()
            .enumerate()
            .map(|(column, heading)| widest(heading, column, |row| &row.figures))
            .collect();
        let mut names: Vec<usize> = self
            .names
            .iter()
            .enumerate()
            .map(|(column, heading)| widest(heading, column, |row| &row.names).min(NAME_COLUMNS))
            .collect();
        let blanks = names.len() + figures.len() - 1;
        let room = COLUMNS.saturating_sub(figures.iter().sum::<usize>() + blanks);
        // A depth is the last name, and too short to be cut.
        for column in (0..names.len().saturating_sub(1)).rev() {
            let excess = names.iter().sum::<usize>().saturating_sub(room);
            names[column] -= excess.min(names[column].saturating_sub(NAME_COLUMNS_MIN));
        }
        (names, figures)
    }

    /// A section of its own level, or a table below a line of words; nothing without rows.
    pub(crate) fn markdown(&self, text: fn(&str) -> String) -> Vec<String> {
        if self.rows.is_empty() {
            return Vec::new();
        }
        let headings = self.names.iter().copied().chain(self.figures.iter().map(String::as_str));
        let headings: Vec<String> = headings.map(text).collect();
        let rule = format!("|{}{}---|", "---|".repeat(self.names.len()), "--:|".repeat(self.figures.len()));
        let mut lines = vec![format!("| {} | |", headings.join(" | ")), rule];
        for row in &self.rows {
            let blanks = if row.figures.is_empty() { self.figures.len() } else { 0 };
            let blanks = vec![String::new(); blanks];
            let cells = row.names.iter().chain(&row.figures).chain(&blanks).map(|cell| text(cell));
            let cells: Vec<String> = cells.collect();
            lines.push(format!("| {} | {} |", cells.join(" | "), text(&row.note)));
        }
        if !self.foot.is_empty() {
            lines.extend([String::new(), format!("{}.", text(&self.foot))]);
        }
        lines
    }
}

/// One line: names flush left but for the last, which is a depth; figures flush right.
fn joined(names: &[String], name_widths: &[usize], figures: &[String], widths: &[usize]) -> String {
    let last = names.len().saturating_sub(1);
    let names = names.iter().zip(name_widths).enumerate().map(|(column, (name, width))| {
        let name = shortened(&ascii(name), *width);
        if column == last { format!("{name:>width$}") } else { format!("{name:<width$}") }
    });
    let figures = figures.iter().zip(widths).map(|(figure, width)| format!("{:>width$}", ascii(figure)));
    names.chain(figures).collect::<Vec<_>>().join(" ").trim_end().to_owned()
}
