//! A table as HTML. Its columns can be sorted where there is JavaScript, and its rows be looked for.

use crate::grid::{Column, Grid, Row, View};
use crate::markup::text;

/// Share of the line at the right end of a bar; more is marked as going on.
const BAR_SHARE_MAX: f64 = 2.0;
/// Width of a letter, and of what stands around the words of a cell, in widths of an `m` of the page.
const LETTER_REM: f64 = 0.5;
const PADDING_REM: f64 = 1.2;
/// Width of the sign behind a heading that a script sorts by.
const SORT_REM: f64 = 1.5;
/// No column is wider but the last, which takes what is left.
const WIDTH_REM_MAX: f64 = 13.0;
/// Widths of the bars and, at least, of the remarks.
const BAR_REM: f64 = 7.5;
const REMARKS_REM: f64 = 12.0;

/// The table; nothing without rows.
pub(super) fn table(id: &str, grid: &Grid) -> String {
    let view = grid.wide();
    if view.rows.is_empty() {
        return String::new();
    }
    let has_bars = view.rows.iter().any(|row| row.share.is_some());
    let has_notes = view.has_notes();
    let is_searched = view.rows.iter().any(|row| row.found_by.is_some());
    // A browser lays out a thousand rows several times faster when it need not look at them all to know the widths.
    let fixed = is_searched.then(|| widths(&view, has_bars, has_notes));
    let (style, columns) = fixed.map(|widths| styled(&widths)).unwrap_or_default();
    let bars =
        if has_bars { "; a bar ends at twice the line, whose place is the mark in its middle" } else { "" };
    let rows: String = view.rows.iter().map(|row| written(&view, row, has_bars, has_notes)).collect();
    let foot = if grid.foot.is_empty() {
        String::new()
    } else {
        format!("<p class=\"muted\">{}.</p>\n", text(&grid.foot))
    };
    let filter = if is_searched { filter(id, view.rows.len()) } else { String::new() };
    format!(
        "{filter}<div class=\"scroll\" role=\"region\" aria-labelledby=\"{id}-what\" tabindex=\"0\">\
         <table id=\"{id}\" class=\"sortable\"{style}>\n<caption id=\"{id}-what\">{}{bars}</caption>\n{columns}\
         <thead><tr>{}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n{foot}",
        text(&view.title),
        headings(&view, has_bars, has_notes),
    )
}

fn headings(view: &View<'_>, has_bars: bool, has_notes: bool) -> String {
    let heading = |(_, column): &(usize, &Column)| {
        format!("<th scope=\"col\"{}>{}</th>", class(column), text(&column.heading))
    };
    let last = [(has_bars, "against the line"), (has_notes, "remarks")].into_iter();
    let last = last.filter(|(is_there, _)| *is_there);
    let last = last.map(|(_, heading)| format!("<th scope=\"col\">{heading}</th>"));
    view.columns.iter().map(heading).chain(last).collect()
}

/// Numbers stand flush right.
fn class(column: &Column) -> &'static str {
    if column.is_numeric() { " class=\"n\"" } else { "" }
}

fn written(view: &View<'_>, row: &Row, has_bars: bool, has_notes: bool) -> String {
    let found_by = row.found_by.as_ref().map(|words| format!(" data-engine=\"{}\"", text(words)));
    // Marked, since the row below a cell would pass for one more depth.
    let decides = if row.decides { " class=\"decides\"" } else { "" };
    let cells = view.words(row).into_iter().zip(&view.columns).enumerate();
    let cells = cells.map(|(index, (words, (_, column)))| match index {
        0 => format!("<th scope=\"row\"{}>{}</th>", class(column), text(words)),
        _ => format!("<td{}>{}</td>", class(column), text(words)),
    });
    let bar = has_bars.then(|| format!("<td>{}</td>", row.share.map(bar).unwrap_or_default()));
    let note = has_notes.then(|| format!("<td>{}</td>", text(&row.note)));
    let cells: String = cells.chain(bar).chain(note).collect();
    format!("<tr{}{decides}>{cells}</tr>\n", found_by.unwrap_or_default())
}

/// A bar whose middle is the line. What it shows stands beside it in figures.
fn bar(share: f64) -> String {
    if !share.is_finite() {
        return String::new();
    }
    let width = (share.clamp(0.0, BAR_SHARE_MAX) / BAR_SHARE_MAX * 100.0 * 10.0).round() / 10.0;
    let class = match share {
        // By class and length: the colour alone would not say on which side of the line it ends.
        ..1.0 => " below",
        ..=BAR_SHARE_MAX => "",
        _ => " beyond",
    };
    format!("<span class=\"bar{class}\" aria-hidden=\"true\"><i style=\"width:{width}%\"></i></span>")
}

/// A form for a table whose rows say what they are found by.
fn filter(id: &str, rows: usize) -> String {
    let count = feed::counted_noun(rows as u64, "row");
    format!(
        "<form class=\"filter js\" role=\"search\" aria-label=\"Filter the cells\" data-for=\"{id}\">\
         <label>filter <input type=\"search\" name=\"words\" autocomplete=\"off\" placeholder=\"words of a row\"></label>\
         <label>target <select name=\"target\"><option value=\"\">all</option></select></label>\
         <label>engine <select name=\"engine\"><option value=\"\">all</option></select></label>\
         <button type=\"reset\">all rows</button>\
         <output aria-live=\"polite\">{count}</output></form>\n"
    )
}

/// Widths of all columns by what stands in them.
fn widths(view: &View<'_>, has_bars: bool, has_notes: bool) -> Vec<f64> {
    let width = |(place, column): &(usize, &Column)| {
        let of = |words: &str| words.chars().count() as f64 * LETTER_REM + PADDING_REM;
        let cells = view.rows.iter().filter_map(|row| row.cells[*place].as_deref());
        cells.map(of).fold(of(&column.heading) + SORT_REM, f64::max).min(WIDTH_REM_MAX)
    };
    let last = [has_bars.then_some(BAR_REM), has_notes.then_some(REMARKS_REM)];
    view.columns.iter().map(width).chain(last.into_iter().flatten()).collect()
}

/// What a table with columns of given widths says of them: the last takes what is left.
fn styled(widths: &[f64]) -> (String, String) {
    let total = widths.iter().sum::<f64>();
    let first = widths.iter().take(widths.len() - 1);
    let columns = first.map(|width| format!("<col style=\"width:{width:.1}rem\">"));
    (
        format!(" style=\"table-layout:fixed;min-width:{total:.0}rem\""),
        format!("<colgroup>{}<col></colgroup>\n", columns.collect::<String>()),
    )
}
