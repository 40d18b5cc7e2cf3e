//! A plot in the page: the drawing itself, ways to look closer, and the figures behind it.

use super::table::table;
use crate::grid::{Column, Grid};
use crate::markup::text;
use crate::plot::{Plot, PlotTable};

/// The plot with its table; `id` tells it from all others of the page.
pub(super) fn figure(id: &str, plot: &Plot) -> String {
    let table = behind(id, &plot.title, &plot.table);
    let show = if table.is_empty() {
        String::new()
    } else {
        format!("<button type=\"button\" data-do=\"table\" aria-controls=\"{id}-behind\">table</button>")
    };
    format!(
        "<figure class=\"plot\" id=\"{id}\">\n<figcaption id=\"{id}-title\">{title}</figcaption>\n\
         <div class=\"tools js\" role=\"group\" aria-label=\"Look closer: {title}\">\
         <button type=\"button\" data-do=\"in\" aria-label=\"closer\">+</button>\
         <button type=\"button\" data-do=\"out\" aria-label=\"farther\">&#8722;</button>\
         <button type=\"button\" data-do=\"reset\">whole</button>{show}\
         <output aria-live=\"polite\">100 %</output></div>\n\
         <div class=\"canvas\">{svg}</div>\n<div class=\"narrow\">{narrow}</div>\n{table}</figure>\n",
        title = text(&plot.title),
        svg = inlined(&plot.svg, &format!("{id}-")),
        narrow = inlined(&plot.narrow_svg, &format!("{id}-narrow-")),
    )
}

fn behind(id: &str, title: &str, figures: &PlotTable) -> String {
    if figures.rows.is_empty() {
        return String::new();
    }
    let cell = |row: &Vec<String>, column: usize| Some(row.get(column).cloned().unwrap_or_default());
    let empty = Grid::of(format!("the figures of: {title}"), &figures.rows);
    let grid = figures.columns.iter().enumerate().fold(empty, |grid, (index, heading)| {
        let mut words = figures.rows.iter().filter_map(|row| row.get(index));
        // All of them: a column with one word among its figures is sorted as words.
        let is_figure = words.all(|words| begins_with_figure(words));
        let column = if is_figure { Column::number(heading) } else { Column::name(heading) };
        grid.column(column, |row| cell(row, index))
    });
    format!(
        "<details id=\"{id}-behind\"><summary>Table of {}</summary>\n{}</details>\n",
        feed::counted_noun(figures.rows.len() as u64, "row"),
        table(&format!("{id}-table"), &grid.done())
    )
}

fn begins_with_figure(words: &str) -> bool {
    words.is_empty() || words == "-" || words.starts_with(|c: char| c.is_ascii_digit() || "<>+-".contains(c))
}

/// The drawing without what stands before its element, and with names of its own: those of other plots in the page would
/// be taken for them.
fn inlined(svg: &str, prefix: &str) -> String {
    let start = svg.find("<svg").unwrap_or(0);
    let mut inlined = String::with_capacity(svg.len());
    let mut rest = &svg[start..];
    while let Some(open) = rest.find('<') {
        let length = tag_length(&rest[open..]);
        let (before, tag) = (&rest[..open], &rest[open..open + length]);
        inlined.push_str(before);
        inlined.push_str(&named(tag, prefix));
        rest = &rest[open + length..];
    }
    inlined.push_str(rest);
    // A page may not hold them, wherever the drawing has them from.
    inlined.retain(|c| !feed::steers(c) || c == '\n');
    inlined
}

/// Length of the tag that `markup` begins with; a `>` inside of quotes does not end it.
fn tag_length(markup: &str) -> usize {
    let mut quote = None;
    for (at, c) in markup.char_indices() {
        match (quote, c) {
            (None, '>') => return at + 1,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            _ => {}
        }
    }
    markup.len()
}

/// A tag whose own name, and the names that it refers to, are prefixed.
fn named(tag: &str, prefix: &str) -> String {
    if !tag.contains(" id=\"") && !tag.contains('#') && !tag.contains("aria-") {
        return tag.to_owned();
    }
    ["url(#", " id=\"", "href=\"#", " aria-labelledby=\"", " aria-describedby=\""]
        .into_iter()
        .fold(tag.to_owned(), |tag, before| tag.replace(before, &format!("{before}{prefix}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_inside_of_a_plot_are_its_own_and_words_stay() {
        let svg = "<?xml version=\"1.0\"?><svg aria-labelledby=\"t\"><clipPath id=\"c\"/><g clip-path=\"url(#c)\" \
                   title=\"a > b\"/><use href=\"#c\"/><text> id=\"c\" \u{0}#c</text></svg>";
        assert_eq!(
            inlined(svg, "p-"),
            "<svg aria-labelledby=\"p-t\"><clipPath id=\"p-c\"/><g clip-path=\"url(#p-c)\" title=\"a > b\"/>\
             <use href=\"#p-c\"/><text> id=\"c\" #c</text></svg>"
        );
    }

    #[test]
    fn a_drawing_that_ends_inside_of_a_tag_is_taken_as_it_is() {
        assert_eq!(inlined("<svg><text a=\"", "p-"), "<svg><text a=\"");
        assert_eq!(inlined("", "p-"), "");
    }
}
