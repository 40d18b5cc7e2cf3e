//! A table as data: its columns, its rows, and which of both a narrow page has room for.

use analysis::{METRICS, Metric, Table};

use crate::number::in_column;

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// What tells rows apart, in words; gives way where a page is narrow.
    Name,
    /// What tells rows apart, as a number; never cut.
    Number,
    /// What was found.
    Figure,
    /// What was found as a row of blocks, which are no ASCII.
    Blocks,
    /// What is to be known of a row, part by part: the last column, in which a terminal shows the parts that fit.
    Parts,
}

/// Which pages have room for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    Any,
    /// Pages that scroll.
    Wide,
    /// A terminal, where a shorter form stands for a wide column.
    Narrow,
    /// A column of pages that scroll, and a line above the rows that share it on a terminal.
    Above,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) heading: String,
    /// The heading where there is little room.
    // A terminal has 80 columns for ten of these; a page has the room for whole words.
    pub(crate) short: Option<&'static str>,
    pub(crate) kind: ColumnKind,
    pub(crate) width: Width,
}

impl Column {
    fn new(heading: impl Into<String>, kind: ColumnKind) -> Self {
        Self { heading: heading.into(), short: None, kind, width: Width::Any }
    }

    pub(crate) fn name(heading: impl Into<String>) -> Self {
        Self::new(heading, ColumnKind::Name)
    }

    pub(crate) fn number(heading: impl Into<String>) -> Self {
        Self::new(heading, ColumnKind::Number)
    }

    pub(crate) fn figure(heading: impl Into<String>) -> Self {
        Self::new(heading, ColumnKind::Figure)
    }

    pub(crate) fn blocks(heading: impl Into<String>) -> Self {
        Self::new(heading, ColumnKind::Blocks)
    }

    pub(crate) fn parts(heading: impl Into<String>) -> Self {
        Self::new(heading, ColumnKind::Parts)
    }

    /// Whether its words stand flush right.
    pub(crate) fn is_numeric(&self) -> bool {
        matches!(self.kind, ColumnKind::Number | ColumnKind::Figure)
    }

    /// The same column with another heading on a terminal.
    pub(crate) fn short(self, short: &'static str) -> Self {
        Self { short: Some(short), ..self }
    }

    /// The same column for pages that have room for it.
    pub(crate) fn only(self, width: Width) -> Self {
        Self { width, ..self }
    }
}

/// A row of a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Row {
    /// What stands in each column; absent where it is not known.
    pub(crate) cells: Vec<Option<String>>,
    /// What else is to be said of it.
    pub(crate) note: String,
    /// Whether a verdict rests on it.
    pub(crate) decides: bool,
    /// Its rate as a share of the line, for a bar; absent without a line.
    pub(crate) share: Option<f64>,
    /// What a filter by engine finds it by, where that is not what its column says.
    pub(crate) found_by: Option<String>,
    /// Whether it is shown where not all rows are.
    is_kept: bool,
}

/// Which rows a terminal shows where there are many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Brief {
    /// Rows up to which all are shown.
    rows_max: usize,
    /// What the rows are that are shown of more.
    kept: &'static str,
}

/// A table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    /// What it shows, in a few words.
    pub(crate) title: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// What must be known of the figures, below them; often empty.
    pub(crate) foot: String,
    brief: Option<Brief>,
}

impl Grid {
    /// A table with a row for each of `items`; its columns are added one by one.
    pub(crate) fn of<T>(title: impl Into<String>, items: &[T]) -> Filling<'_, T> {
        let row = Row { is_kept: true, ..Row::default() };
        let grid = Self {
            title: title.into(),
            columns: Vec::new(),
            rows: vec![row; items.len()],
            foot: String::new(),
            brief: None,
        };
        Filling { items, grid }
    }

    /// What a page that scrolls shows: every row.
    pub(crate) fn wide(&self) -> View<'_> {
        let widths = [Width::Any, Width::Wide, Width::Above];
        View {
            title: self.title.clone(),
            columns: self.columns_for(&widths),
            rows: self.rows.iter().collect(),
        }
    }

    /// What a terminal shows.
    pub(crate) fn narrow(&self) -> View<'_> {
        let columns = self.columns_for(&[Width::Any, Width::Narrow]);
        let brief = self.brief.filter(|brief| self.rows.len() > brief.rows_max);
        let rows: Vec<&Row> = self.rows.iter().filter(|row| brief.is_none() || row.is_kept).collect();
        // That rows are missing is said in the title, where it is read before the figures.
        let hidden = brief.filter(|_| rows.len() < self.rows.len());
        let hidden = hidden.map(|brief| format!(" ({}; all {} in report.md)", brief.kept, self.rows.len()));
        View { title: format!("{}{}", self.title, hidden.unwrap_or_default()), columns, rows }
    }

    fn columns_for(&self, widths: &[Width]) -> Vec<(usize, &Column)> {
        self.columns.iter().enumerate().filter(|(_, column)| widths.contains(&column.width)).collect()
    }

    /// The column whose values stand above the rows that share them.
    pub(crate) fn above(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.width == Width::Above)
    }

    /// Without the figures that no row knows.
    pub(crate) fn without_unknown(mut self) -> Self {
        // From the last: removing one moves those behind it.
        for column in (0..self.columns.len()).rev() {
            let is_known = self.rows.iter().any(|row| row.cells[column].is_some());
            if self.columns[column].kind == ColumnKind::Figure && !is_known {
                self.columns.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.cells.remove(column)));
            }
        }
        self
    }
}

/// The part of a table that a page shows.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) title: String,
    /// Columns with their places in a row.
    pub(crate) columns: Vec<(usize, &'a Column)>,
    pub(crate) rows: Vec<&'a Row>,
}

impl View<'_> {
    /// Whether no figure of a row is known, and its note says why.
    pub(crate) fn is_blank(&self, row: &Row) -> bool {
        let mut figures = self.columns.iter().filter(|(_, column)| column.kind == ColumnKind::Figure);
        !row.note.is_empty() && figures.all(|(place, _)| row.cells[*place].is_none())
    }

    /// What rows among `all` are called: `nfs nfs3 8, 32; s3 lean 8`, and `nfs` alone where it has no others.
    pub(crate) fn named(&self, rows: &[&Row], all: &[&Row]) -> String {
        let keys = self
            .columns
            .iter()
            .filter(|(_, column)| matches!(column.kind, ColumnKind::Name | ColumnKind::Number));
        let places: Vec<usize> = keys.map(|(place, _)| *place).collect();
        let first = |row: &Row| places.first().and_then(|place| row.cells[*place].clone());
        let count = |rows: &[&Row], row: &Row| rows.iter().filter(|one| first(one) == first(row)).count();
        let mut named: Vec<(String, Vec<&str>)> = Vec::new();
        for row in rows {
            let words = places.iter().filter_map(|place| row.cells[*place].as_deref());
            let mut words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            // All rows of a target are called by the target alone: a list of its forty depths says no more.
            if count(all, row) > 1 && count(rows, row) == count(all, row) {
                words.truncate(1);
            }
            let last = words.pop().unwrap_or_default();
            let shared = words.join(" ");
            match named.last_mut().filter(|(words, _)| *words == shared) {
                Some((_, lasts)) if lasts.contains(&last) => {}
                Some((_, lasts)) => lasts.push(last),
                None => named.push((shared, vec![last])),
            }
        }
        let words = |(shared, lasts): &(String, Vec<&str>)| format!("{shared} {}", lasts.join(", "));
        named.iter().map(|named| words(named).trim_start().to_owned()).collect::<Vec<_>>().join("; ")
    }

    /// Whether anything is to be said of any row.
    pub(crate) fn has_notes(&self) -> bool {
        self.rows.iter().any(|row| !row.note.is_empty())
    }

    /// What stands in each column of a row: `-` for what is not known, nothing where no figure is.
    pub(crate) fn words<'r>(&self, row: &'r Row) -> Vec<&'r str> {
        // A row of dashes would repeat what its note says already.
        let unknown = if self.is_blank(row) { "" } else { "-" };
        self.columns.iter().map(|(place, _)| row.cells[*place].as_deref().unwrap_or(unknown)).collect()
    }
}

/// A table whose columns are being added.
pub(crate) struct Filling<'a, T> {
    items: &'a [T],
    grid: Grid,
}

impl<T> Filling<'_, T> {
    /// A column, and what stands in it of each row.
    pub(crate) fn column(mut self, column: Column, write: impl Fn(&T) -> Option<String>) -> Self {
        self.grid.columns.push(column);
        for (row, item) in self.grid.rows.iter_mut().zip(self.items) {
            row.cells.push(write(item));
        }
        self
    }

    pub(crate) fn name(self, heading: &str, write: impl Fn(&T) -> String) -> Self {
        self.column(Column::name(heading), |item| Some(write(item)))
    }

    pub(crate) fn number(self, heading: &str, write: impl Fn(&T) -> String) -> Self {
        self.column(Column::number(heading), |item| Some(write(item)))
    }

    pub(crate) fn figure(self, heading: &str, write: impl Fn(&T) -> Option<String>) -> Self {
        self.column(Column::figure(heading), write)
    }

    /// The metrics of such a table, a column each, read from what `view` says of a row.
    pub(crate) fn metrics(self, table: Table, view: impl for<'v> Fn(&'v T) -> analysis::View<'v>) -> Self {
        let of_table = |metric: &'static Metric| {
            let column = metric.column.filter(|column| column.table == table)?;
            let heading = Column::figure(column.heading);
            Some((metric, if column.wide { heading.only(Width::Wide) } else { heading }))
        };
        METRICS.iter().filter_map(of_table).fold(self, |filling, (metric, column)| {
            filling.column(column, |item| {
                // NaN comes from a division by nothing, and is no figure.
                let value = metric.read(&view(item))?.value().filter(|value| value.is_finite())?;
                Some(in_column(metric.unit, value))
            })
        })
    }

    /// What else is to be known of a row, where its columns are filled.
    pub(crate) fn rows(mut self, mark: impl Fn(&mut Row, &T)) -> Self {
        for (row, item) in self.grid.rows.iter_mut().zip(self.items) {
            mark(row, item);
        }
        self
    }

    pub(crate) fn note(self, write: impl Fn(&T) -> String) -> Self {
        self.rows(|row, item| row.note = write(item))
    }

    /// Of more than `rows_max` rows a terminal shows those of which `keep` is true, which are `kept` in words.
    pub(crate) fn brief(mut self, rows_max: usize, kept: &'static str, keep: impl Fn(&T) -> bool) -> Self {
        self.grid.brief = Some(Brief { rows_max, kept });
        self.rows(|row, item| row.is_kept = keep(item))
    }

    pub(crate) fn foot(mut self, foot: &str) -> Self {
        foot.clone_into(&mut self.grid.foot);
        self
    }

    pub(crate) fn done(self) -> Grid {
        self.grid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        Grid::of("rates", &[1_u32, 2, 3])
            .name("target", |row| format!("disk{row}"))
            .column(Column::name("read as").only(Width::Above), |_| Some("random".to_owned()))
            .column(Column::figure("rate of all").short("rate"), |row| (*row < 3).then(|| row.to_string()))
            .column(Column::figure("steps").only(Width::Wide), |_| Some("7".to_owned()))
            .figure("errors", |_| None)
            .note(|row| if *row == 3 { "failed".to_owned() } else { String::new() })
            .brief(2, "the first", |row| *row == 1)
            .done()
    }

    fn headings<'a>(view: &View<'a>) -> Vec<&'a str> {
        view.columns.iter().map(|(_, column)| column.heading.as_str()).collect()
    }

    #[test]
    fn a_terminal_has_room_for_some_rows_and_columns_and_says_so() {
        let grid = grid();
        let (wide, narrow) = (grid.wide(), grid.narrow());
        assert_eq!(headings(&wide), ["target", "read as", "rate of all", "steps", "errors"]);
        assert_eq!(headings(&narrow), ["target", "rate of all", "errors"]);
        assert_eq!((wide.title.as_str(), wide.rows.len()), ("rates", 3));
        assert_eq!((narrow.title.as_str(), narrow.rows.len()), ("rates (the first; all 3 in report.md)", 1));
    }

    #[test]
    fn a_note_stands_for_figures_of_which_none_is_known() {
        let grid = grid();
        let narrow = grid.narrow();
        assert_eq!(narrow.words(&grid.rows[0]), ["disk1", "1", "-"]);
        assert_eq!(narrow.words(&grid.rows[2]), ["disk3", "", ""]);
        assert_eq!(grid.wide().words(&grid.rows[2]), ["disk3", "random", "-", "7", "-"]);
    }

    #[test]
    fn figures_that_no_row_knows_have_no_column() {
        let grid = grid().without_unknown();
        assert_eq!(headings(&grid.wide()), ["target", "read as", "rate of all", "steps"]);
        assert!(grid.rows.iter().all(|row| row.cells.len() == 4));
    }
}
