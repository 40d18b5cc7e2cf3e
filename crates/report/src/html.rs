//! One self-contained page for a run, or several side by side: verdicts first, then plots, tables and what was not tested.
//!
//! The page is complete as it stands: scripts only add filters, sorting, zoom and the choice of a theme. It loads nothing,
//! which its policy lets a browser enforce.

mod beside;
mod blocks;
mod figure;
mod table;

use crate::group::distinct;
use crate::markup::text;
use crate::page::{Document, Page};
use crate::sections;
use crate::svg::theme;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// The page: complete without JavaScript and without a network.
pub fn html(pages: &[Page<'_>]) -> String {
    let documents: Vec<Document<'_>> = pages.iter().map(sections::of_page).collect();
    let title = match documents.as_slice() {
        [] => "no run".to_owned(),
        [one] => one.title.clone(),
        several => format!("{} runs side by side", several.len()),
    };
    let body = match documents.as_slice() {
        // A valid page all the same: who opens it sees why it is empty.
        [] => "<main id=\"main\"><h1>no run</h1></main>\n".to_owned(),
        [one] => single(one),
        several => side_by_side(several, &title),
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"generator\" content=\"feedline\">\n<title>{} - feedline</title>\n<style>\n{}{STYLE}</style>\n</head>\n\
         <body>\n<a class=\"skip\" href=\"#main\">to the verdicts</a>\n{body}<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        text(&title),
        themes(),
    )
}

/// The colours of the plots, for the page too: the system's theme, or the one that was chosen.
fn themes() -> String {
    let (light, dark) = (theme::variables(false), theme::variables(true));
    format!(
        ":root{{color-scheme:light;{light}}}\n\
         @media (prefers-color-scheme: dark){{:root{{color-scheme:dark;{dark}}}}}\n\
         :root[data-theme=\"light\"],:root[data-theme=\"light\"] .feedline-plot{{color-scheme:light;{light}}}\n\
         :root[data-theme=\"dark\"],:root[data-theme=\"dark\"] .feedline-plot{{color-scheme:dark;{dark}}}\n"
    )
}

fn single(document: &Document<'_>) -> String {
    format!(
        "{}{}<main id=\"main\">\n{}</main>\n{}",
        top(&document.title, &document.subtitle),
        navigation(document.sections.iter().map(|section| (section.id.to_owned(), section.title))),
        blocks::sections(document, "", 2),
        foot(std::slice::from_ref(document)),
    )
}

fn side_by_side(documents: &[Document<'_>], title: &str) -> String {
    let names: Vec<String> = documents.iter().map(|of| format!("{} ({})", of.title, of.run)).collect();
    let id = |index: usize| format!("run{}", index + 1);
    let runs = documents.iter().zip(&names).enumerate().map(|(index, (document, name))| {
        let id = id(index);
        // Names of sections repeat from run to run, and a link finds the first element of a name.
        let prefix = format!("{id}-");
        let links = document.sections.iter().map(|of| (format!("{prefix}{}", of.id), of.title));
        format!(
            "<section class=\"run\" id=\"{id}\" aria-labelledby=\"{id}-name\">\n<h2 id=\"{id}-name\">{name}</h2>\n\
             <p class=\"muted\">{}</p>\n<nav class=\"small\" aria-label=\"Parts of {name}\">{}</nav>\n{}</section>\n",
            text(&document.subtitle),
            navigation_list(links),
            blocks::sections(document, &prefix, 3),
            name = text(name),
        )
    });
    // Verdicts side by side come before the runs: who opens several runs compares them.
    let fixed = [("verdicts".to_owned(), "Verdicts"), ("runs".to_owned(), "The runs")];
    let links = fixed.into_iter().chain(names.iter().enumerate().map(|(at, name)| (id(at), name.as_str())));
    let headings: Vec<(String, &str)> =
        names.iter().enumerate().map(|(index, name)| (id(index), name.as_str())).collect();
    format!(
        "{}{}<main id=\"main\">\n{}{}</main>\n{}",
        top(title, ""),
        navigation(links),
        beside::tables(documents, &headings),
        runs.collect::<String>(),
        foot(documents),
    )
}

fn top(title: &str, subtitle: &str) -> String {
    let subtitle = if subtitle.is_empty() {
        String::new()
    } else {
        format!("<p class=\"muted\">{}</p>\n", text(subtitle))
    };
    format!(
        "<header>\n<h1>{}</h1>\n{subtitle}<p class=\"js\"><button type=\"button\" id=\"theme\">theme: as the system</button></p>\n\
         </header>\n",
        text(title)
    )
}

fn navigation<'a>(links: impl Iterator<Item = (String, &'a str)>) -> String {
    format!("<nav aria-label=\"Parts of this page\">{}</nav>\n", navigation_list(links))
}

fn navigation_list<'a>(links: impl Iterator<Item = (String, &'a str)>) -> String {
    let items = links.map(|(id, title)| format!("<li><a href=\"#{id}\">{}</a></li>", text(title)));
    format!("<ul>{}</ul>", items.collect::<String>())
}

/// Which tools made the records.
fn foot(documents: &[Document<'_>]) -> String {
    // Runs side by side may have been measured by two versions, which is what a difference may come from.
    let tools = distinct(documents.iter().map(|document| document.tool.as_str()));
    format!(
        "<footer><p class=\"muted\">measured by {}<span class=\"printed\">; parts that are folded away are not \
         printed</span></p></footer>\n",
        text(&tools.join(", "))
    )
}
