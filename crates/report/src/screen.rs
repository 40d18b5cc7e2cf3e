//! Where text is printed: how wide it is, and tables and sentences in lines of it.

use crate::grid::{Column, ColumnKind, Grid, Row, View};
use crate::plain::{ascii, folded};

/// Least width of a column of names, however many figures stand beside it.
// Fewer letters do not tell names apart.
const NAME_COLUMNS_MIN: usize = 4;

/// A terminal, or what takes its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Letters of a line.
    pub columns: usize,
    /// Whether words may have a colour.
    pub is_coloured: bool,
}

impl Screen {
    /// What is no terminal, and one that does not tell its width.
    // 80 columns, as mail, logs and old terminals have them.
    pub const PLAIN: Self = Self { columns: 80, is_coloured: false };

    /// `first` followed by `text`, folded at the width; further lines start below the text.
    pub(crate) fn hanging(self, first: &str, text: &str) -> String {
        self.indented(first, first.chars().count(), text)
    }

    /// The same with further lines at `indent`.
    fn indented(self, first: &str, indent: usize, text: &str) -> String {
        // On a very narrow screen a column of single letters would be worse than lines that are too long.
        let folded = folded(text, self.columns.saturating_sub(indent).max(8));
        let mut page = String::new();
        for (number, line) in folded.iter().enumerate() {
            let lead = if number == 0 { first.to_owned() } else { " ".repeat(indent) };
            // Blanks at the end make differences of two stored pages where there is none to see.
            page.push_str(format!("{lead}{line}").trim_end());
            page.push('\n');
        }
        page
    }

    /// The same with a name in a column of `width` before the text; a longer name begins the text.
    pub(crate) fn named(self, first: &str, (name, width): (&str, usize), text: &str) -> String {
        if name.chars().count() > width {
            return self.hanging(first, &format!("{name}: {text}"));
        }
        self.hanging(&format!("{first}{name:<width$} "), text)
    }

    /// The width of a column that holds these names, but for those that are too long.
    pub(crate) fn width_of<'a>(self, names: impl Iterator<Item = &'a str>) -> usize {
        let widths = names.map(|name| name.chars().count());
        // One long name would leave no room for what is said of all the others.
        widths.filter(|width| *width <= self.columns / 3).max().unwrap_or(0)
    }

    /// A table with its title, and below it what is to be said of its rows; nothing without rows.
    pub(crate) fn grid(self, grid: &Grid) -> String {
        let view = grid.narrow();
        if view.rows.is_empty() {
            return String::new();
        }
        let table = Table::of(&view, self, " ");
        let mut page = self.hanging("- ", &ascii(&view.title));
        page.extend(ended(table.headings()));
        let above = |row: &Row| grid.above().and_then(|place| row.cells[place].clone()).unwrap_or_default();
        // Neighbours alone: rows are in the order of the scenario, and what comes again later is said again.
        for rows in view.rows.chunk_by(|one, next| above(one) == above(next)) {
            let above = above(rows[0]);
            if !above.is_empty() {
                page.push_str(&self.hanging("- ", &ascii(&above)));
            }
            page.push_str(&table.rows(rows));
        }
        if !grid.foot.is_empty() {
            page.push_str(&self.hanging("  ", &ascii(&grid.foot)));
        }
        page
    }

    /// The headings of a table without a title, and the lines of each of its rows.
    pub(crate) fn rows(self, grid: &Grid) -> (Vec<String>, Vec<Vec<String>>) {
        let view = grid.narrow();
        let table = Table::of(&view, self, "  ");
        (table.headings(), view.rows.iter().map(|row| table.row(&view.words(row))).collect())
    }
}

/// Blanks of a line: one behind the first column, whose words are flush left, and a gap between any others.
fn blanks(columns: usize, gap: &str) -> usize {
    usize::from(columns > 1) + gap.len() * columns.saturating_sub(2)
}

fn ended(lines: Vec<String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(|line| line + "\n")
}

/// A table laid out.
struct Table<'a> {
    view: &'a View<'a>,
    screen: Screen,
    widths: Vec<usize>,
    /// Between two columns.
    gap: &'static str,
}

impl<'a> Table<'a> {
    /// Columns stand `gap` apart, or one blank where there is no room. What still does not fit is taken from the parts of the
    /// last column, then from the names.
    fn of(view: &'a View<'a>, screen: Screen, gap: &'static str) -> Self {
        let heading = |column: &Column| column.short.unwrap_or(&column.heading).chars().count();
        let widest = |(place, column): &(usize, &Column)| {
            let cells = view.rows.iter().filter_map(|row| row.cells[*place].as_deref());
            cells.map(|cell| cell.chars().count()).fold(heading(column), usize::max)
        };
        let mut widths: Vec<usize> = view.columns.iter().map(widest).collect();
        let total = |widths: &[usize], gap: &str| widths.iter().sum::<usize>() + blanks(widths.len(), gap);
        // Blanks go first, then parts of a column that has more of them elsewhere, then names: figures are never cut,
        // since half a number is another number.
        let gap = if total(&widths, gap) <= screen.columns { gap } else { " " };
        let least = |column: &Column| match column.kind {
            ColumnKind::Parts => heading(column),
            ColumnKind::Name => NAME_COLUMNS_MIN,
            // Blocks are a row of runs: one that is cut would end at another day.
            ColumnKind::Number | ColumnKind::Figure | ColumnKind::Blocks => usize::MAX,
        };
        while total(&widths, gap) > screen.columns {
            let columns = view.columns.iter().map(|(_, column)| *column).zip(&mut widths).rev();
            let yielding = columns.filter(|(column, width)| **width > least(column));
            // Letter by letter from the widest, so that two long names end alike and a short one stays whole.
            let first = yielding.max_by_key(|(column, width)| (column.kind == ColumnKind::Parts, **width));
            let Some((_, width)) = first else { break };
            *width -= 1;
        }
        Self { view, screen, widths, gap }
    }

    fn headings(&self) -> Vec<String> {
        let columns = self.view.columns.iter();
        let headings: Vec<&str> =
            columns.map(|(_, column)| column.short.unwrap_or(&column.heading)).collect();
        self.row(&headings)
    }

    /// Rows, and below them what is to be said of those that their names and numbers tell apart.
    fn rows(&self, rows: &[&Row]) -> String {
        let names: Vec<String> = rows.iter().map(|row| self.view.named(&[row], &[])).collect();
        let is_one = |at: usize| names.iter().filter(|name| **name == names[at]).count() == 1;
        // A remark below the table names its rows, which it cannot where two rows are called the same. Such rows keep
        // their note beside them.
        let (told, others): (Vec<usize>, Vec<usize>) =
            (0..rows.len()).partition(|at| is_one(*at) && !self.view.is_blank(rows[*at]));
        let written = |at: usize| {
            if others.contains(&at) { self.noted(rows[at]) } else { ended(self.lines(rows[at])).collect() }
        };
        let told: Vec<&Row> = told.into_iter().map(|at| rows[at]).collect();
        (0..rows.len()).map(written).collect::<String>() + &self.remarks(&told)
    }

    /// A row with its note: in place of figures that it does not have, behind them where it fits there, else below.
    fn noted(&self, row: &Row) -> String {
        let mut lines = self.lines(row);
        let note = ascii(&row.note);
        let Some(last) = lines.pop() else { return String::new() };
        let noted = if self.view.is_blank(row) {
            self.screen.hanging(&format!("{last} "), &note)
        } else if note.is_empty() || last.chars().count() + 2 + note.len() <= self.screen.columns {
            format!("{last}  {note}").trim_end().to_owned() + "\n"
        } else {
            let indent = self.widths.first().map_or(1, |width| width + 1);
            last + "\n" + &self.screen.hanging(&" ".repeat(indent), &note)
        };
        ended(lines).chain([noted]).collect()
    }

    /// What is to be said of rows, once for all that it is true of.
    fn remarks(&self, rows: &[&Row]) -> String {
        // By parts and not by whole notes: forty cells share one doubt and differ in another.
        let parts = |row: &Row| row.note.split("; ").map(ToOwned::to_owned).collect::<Vec<String>>();
        let noted: Vec<Vec<String>> = rows.iter().map(|row| parts(row)).collect();
        let mut remarks: Vec<(Vec<usize>, Vec<&str>)> = Vec::new();
        for part in noted.iter().flatten().filter(|part| !part.is_empty()) {
            let of: Vec<usize> = (0..rows.len()).filter(|row| noted[*row].contains(part)).collect();
            match remarks.iter_mut().find(|(rows, _)| *rows == of) {
                // The same words come once for each row that has them.
                Some((_, parts)) if parts.contains(&part.as_str()) => {}
                Some((_, parts)) => parts.push(part),
                None => remarks.push((of, vec![part])),
            }
        }
        let remark = |(of, parts): &(Vec<usize>, Vec<&str>)| {
            let named = self.view.named(&of.iter().map(|row| rows[*row]).collect::<Vec<_>>(), rows);
            self.screen.indented("  ", 4, &ascii(&format!("{named}: {}", parts.join("; "))))
        };
        remarks.iter().map(remark).collect()
    }

    fn lines(&self, row: &Row) -> Vec<String> {
        self.row(&self.view.words(row))
    }

    /// The lines of a row: names flush left and folded where they are longer than their column, numbers and figures flush
    /// right, and of the parts in the last column those that fit.
    fn row(&self, words: &[&str]) -> Vec<String> {
        let cell = |((words, width), (_, column)): ((&&str, &usize), &(usize, &Column))| match column.kind {
            ColumnKind::Name => folded(&ascii(words), *width),
            ColumnKind::Number | ColumnKind::Figure => vec![format!("{:>width$}", ascii(words))],
            // The one kind that is no ASCII: its letters are a plot.
            ColumnKind::Blocks => vec![(*words).to_owned()],
            ColumnKind::Parts => vec![self.parts(&ascii(words))],
        };
        let cells: Vec<Vec<String>> =
            words.iter().zip(&self.widths).zip(&self.view.columns).map(cell).collect();
        let line = |number: usize| {
            let mut words = cells
                .iter()
                .zip(&self.widths)
                .map(|(lines, width)| format!("{:<width$}", lines.get(number).map_or("", String::as_str)));
            let first = words.next().unwrap_or_default();
            let others = words.collect::<Vec<_>>().join(self.gap);
            format!("{first} {others}").trim_end().to_owned()
        };
        (0..cells.iter().map(Vec::len).max().unwrap_or(0)).map(line).collect()
    }

    /// The first parts of `words` for which the last column has room.
    fn parts(&self, words: &str) -> String {
        let before: usize = self.widths.iter().rev().skip(1).sum();
        let room = self.screen.columns.saturating_sub(before + blanks(self.widths.len(), self.gap));
        let ends = words.match_indices(", ").map(|(at, _)| at).chain([words.len()]);
        // Whole parts: a scope that is cut in its middle may read as another.
        words[..ends.filter(|end| *end <= room).last().unwrap_or(0)].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let stores = [("nvme", "4.10"), ("a-filer-of-a-long-name behind a gateway", "1.2")];
        Grid::of("rates", &stores)
            .name("store", |store| store.0.to_owned())
            .figure("GB/s", |store| Some(store.1.to_owned()))
            .column(Column::parts("evidence"), |_| Some("screen, cache open, 1 of 8 hosts".to_owned()))
            .done()
    }

    fn at(columns: usize) -> Vec<String> {
        let (headings, rows) = Screen { columns, ..Screen::PLAIN }.rows(&grid());
        headings.into_iter().chain(rows.concat()).collect()
    }

    #[test]
    fn a_table_takes_the_width_that_there_is() {
        let name = "a-filer-of-a-long-name behind a gateway";
        let wide = at(90);
        assert_eq!(wide[2], format!("{name}  1.2  screen, cache open, 1 of 8 hosts"));
        assert_eq!(at(70)[2], format!("{name}  1.2 screen, cache open"));
    }

    #[test]
    fn a_name_is_folded_and_never_cut() {
        for columns in 30..60 {
            let lines = at(columns);
            assert!(lines.iter().all(|line| line.len() <= columns), "{columns}: {lines:?}");
        }
        assert_eq!(at(36)[2..], ["a-filer-of-a-long-name  1.2 screen", "behind a gateway"]);
    }

    #[test]
    fn further_lines_start_below_the_text() {
        let page = Screen::PLAIN.hanging("note  ", &"word ".repeat(20));
        let lines: Vec<&str> = page.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.len() <= Screen::PLAIN.columns));
        assert!(lines[1].starts_with("      word"));
    }
}
