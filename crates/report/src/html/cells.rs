//! The table of cells, each row with a bar against the line.

use analysis::{Panel, Summary};

use super::markup::{Column, table, text};
use crate::head;
use crate::number::RateUnit;
use crate::table::{self as rows, Content, Measured, Row};

/// Share of the line at the right end of a bar; more is marked as going on.
const BAR_SHARE_MAX: f64 = 2.0;

/// All cells, and a filter for them.
pub(super) fn cells(summary: &Summary, prefix: &str) -> String {
    let unit = rows::unit(summary);
    let conditions = Conditions::of(&summary.panels);
    let mut body = String::new();
    let mut count = 0;
    for (panel, own) in summary.panels.iter().zip(&conditions.own) {
        let of_panel = rows::rows(summary, panel, unit);
        count += of_panel.len();
        body.extend(of_panel.iter().map(|row| one(row, own.as_deref())));
    }
    let skipped = rows::skipped_rows(summary);
    count += skipped.len();
    let several = summary.panels.len() > 1;
    body.extend(skipped.iter().map(|row| one(row, several.then_some(""))));
    if count == 0 {
        return String::new();
    }
    let id = format!("{prefix}table-of-cells");
    let shared = if conditions.shared.is_empty() {
        String::new()
    } else {
        format!("<p>{}</p>\n", text(&conditions.shared))
    };
    format!(
        "{shared}{}{}",
        filter(&id, count),
        table(&id, &caption(summary, unit), &columns(unit, several), &body)
    )
}

/// How cells were read: what is the same of all stands above the table, the rest in a column.
struct Conditions {
    shared: String,
    /// Of each panel; absent where there is but one.
    own: Vec<Option<String>>,
}

impl Conditions {
    fn of(panels: &[Panel]) -> Self {
        if let [one] = panels {
            return Self { shared: head::panel(one), own: vec![None] };
        }
        let all: Vec<String> = panels.iter().map(Panel::conditions).collect();
        let parts: Vec<Vec<&str>> = all.iter().map(|words| words.split(", ").collect()).collect();
        let is_shared = |at: usize, part: &str| parts.iter().all(|of| of.get(at) == Some(&part));
        let of_panel = |of: &Vec<&str>, shared: bool| {
            let kept = of.iter().enumerate().filter(|(at, part)| is_shared(*at, part) == shared);
            kept.map(|(_, part)| *part).collect::<Vec<_>>().join(", ")
        };
        Self {
            shared: parts.first().map(|of| of_panel(of, true)).unwrap_or_default(),
            own: parts.iter().map(|of| Some(of_panel(of, false))).collect(),
        }
    }
}

fn caption(summary: &Summary, unit: RateUnit) -> String {
    let line = if summary.need.is_ok() {
        "; a bar ends at twice the line, whose place is the mark in its middle"
    } else {
        ""
    };
    format!("every cell; rates in {}, latencies in ms{line}", unit.name)
}

fn columns(unit: RateUnit, several: bool) -> Vec<Column> {
    let names =
        [Column::name("target").wide(6), Column::name("engine").wide(7), Column::figures("QD").wide(4)];
    let conditions = several.then(|| Column::name("read as").wide(10));
    let figures = [(unit.name, 5), ("95 % interval", 9), ("p50 ms", 6), ("p99 ms", 6), ("of line", 6)];
    let figures = figures.map(|(name, rem)| Column::figures(name).wide(rem));
    let last = [Column::name("against the line").wide(8), Column::name("remarks").wide(12)];
    names.into_iter().chain(conditions).chain(figures).chain(last).collect()
}

fn filter(id: &str, count: usize) -> String {
    let count = feed::counted_noun(count as u64, "row");
    format!(
        "<form class=\"filter js\" role=\"search\" aria-label=\"Filter the cells\" data-for=\"{id}\">\
         <label>filter <input type=\"search\" name=\"words\" autocomplete=\"off\" placeholder=\"words of a row\"></label>\
         <label>target <select name=\"target\"><option value=\"\">all</option></select></label>\
         <label>engine <select name=\"engine\"><option value=\"\">all</option></select></label>\
         <button type=\"reset\">all rows</button>\
         <output aria-live=\"polite\">{count}</output></form>\n"
    )
}

fn one(row: &Row, conditions: Option<&str>) -> String {
    let conditions = conditions.map(|words| format!("<td>{}</td>", text(words))).unwrap_or_default();
    let names = format!(
        "<tr data-engine=\"{}\"><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{}</td>{conditions}",
        text(&row.found_by),
        text(&row.target),
        text(&row.engine),
        text(&row.depth)
    );
    match &row.content {
        Content::Absent(words) => {
            let blanks = "<td></td>".repeat(6);
            format!("{names}{blanks}<td>{}</td></tr>\n", text(words))
        }
        Content::Measured(measured) => {
            let figures =
                [&measured.rate, &measured.interval, &measured.p50, &measured.p99, &measured.of_line];
            let figures = figures.map(|words| format!("<td class=\"n\">{}</td>", text(words)));
            format!(
                "{names}{}<td>{}</td><td>{}</td></tr>\n",
                figures.concat(),
                bar(measured),
                text(&measured.note)
            )
        }
    }
}

/// A bar whose middle is the line. What it shows stands beside it in figures.
fn bar(measured: &Measured) -> String {
    let Some(share) = measured.share.filter(|share| share.is_finite()) else { return String::new() };
    let width = (share.clamp(0.0, BAR_SHARE_MAX) / BAR_SHARE_MAX * 100.0 * 10.0).round() / 10.0;
    let class = match share {
        ..1.0 => " below",
        ..=BAR_SHARE_MAX => "",
        _ => " beyond",
    };
    format!("<span class=\"bar{class}\" aria-hidden=\"true\"><i style=\"width:{width}%\"></i></span>")
}
