//! Text and tables as HTML.

use crate::grid::{Grid, Kind, Row};
pub(super) use crate::markup::text;

/// A list of sentences; nothing without any.
pub(super) fn list(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let items = lines.iter().map(|line| format!("<li>{}</li>\n", text(line)));
    format!("<ul>\n{}</ul>\n", items.collect::<String>())
}

/// A column of a table.
pub(super) struct Column {
    pub(super) name: String,
    /// Whether it holds figures: those stand flush right.
    pub(super) figures: bool,
    /// Its width in widths of a letter, where all columns of the table have one: a browser lays out a thousand rows several
    /// times faster when it need not look at them all first.
    pub(super) width_rem: Option<u8>,
}

impl Column {
    pub(super) fn name(name: &str) -> Self {
        Self { name: name.to_owned(), figures: false, width_rem: None }
    }

    pub(super) fn wide(self, rem: u8) -> Self {
        Self { width_rem: Some(rem), ..self }
    }

    pub(super) fn figures(name: &str) -> Self {
        Self { name: name.to_owned(), figures: true, width_rem: None }
    }
}

/// A table around rows that are markup already. Its columns can be sorted where there is JavaScript.
pub(super) fn table(id: &str, caption: &str, columns: &[Column], rows: &str) -> String {
    let heading = |column: &Column| {
        let class = if column.figures { " class=\"n\"" } else { "" };
        format!("<th scope=\"col\"{class}>{}</th>", text(&column.name))
    };
    let widths: Option<Vec<u8>> = columns.iter().map(|column| column.width_rem).collect();
    let (fixed, columns_of) = widths.map(|widths| fixed(&widths)).unwrap_or_default();
    format!(
        "<div class=\"scroll\" role=\"region\" aria-labelledby=\"{id}-what\" tabindex=\"0\">\
         <table id=\"{id}\" class=\"sortable\"{fixed}>\n<caption id=\"{id}-what\">{}</caption>\n{columns_of}\
         <thead><tr>{}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n",
        text(caption),
        columns.iter().map(heading).collect::<String>(),
    )
}

/// What a table with columns of given widths says of them: the last takes what is left.
fn fixed(widths: &[u8]) -> (String, String) {
    let total: u32 = widths.iter().map(|width| u32::from(*width)).sum();
    let columns = widths.iter().enumerate().map(|(index, width)| {
        if index + 1 == widths.len() {
            "<col>".to_owned()
        } else {
            format!("<col style=\"width:{width}rem\">")
        }
    });
    (
        format!(" style=\"table-layout:fixed;min-width:{total}rem\""),
        format!("<colgroup>{}</colgroup>\n", columns.collect::<String>()),
    )
}

/// A row of plain words: the first cell names it.
pub(super) fn row<'a>(cells: impl Iterator<Item = (&'a str, bool)>) -> String {
    let cells = cells.enumerate().map(|(index, (words, figures))| {
        let class = if figures { " class=\"n\"" } else { "" };
        match index {
            0 => format!("<th scope=\"row\"{class}>{}</th>", text(words)),
            _ => format!("<td{class}>{}</td>", text(words)),
        }
    });
    format!("<tr>{}</tr>\n", cells.collect::<String>())
}

/// One of the small tables; nothing without rows.
pub(super) fn grid(id: &str, grid: &Grid) -> String {
    let view = grid.wide();
    if view.rows.is_empty() {
        return String::new();
    }
    let columns = view
        .columns
        .iter()
        .map(|(_, of)| Column { figures: of.kind != Kind::Name, ..Column::name(&of.heading) });
    let has_notes = view.has_notes();
    let columns: Vec<Column> = columns.chain(has_notes.then(|| Column::name("remarks"))).collect();
    let of_row = |of: &&Row| {
        let words = view.words(of).into_iter().chain(has_notes.then_some(of.note.as_str()));
        row(words.zip(columns.iter().map(|column| column.figures)))
    };
    let rows: String = view.rows.iter().map(of_row).collect();
    let foot = if grid.foot.is_empty() {
        String::new()
    } else {
        format!("<p class=\"muted\">{}.</p>\n", text(&grid.foot))
    };
    table(id, &view.title, &columns, &rows) + &foot
}
