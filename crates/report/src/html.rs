//! One self-contained page for a run, or several side by side: verdicts first, then plots, tables and what was not tested.
//!
//! The page is complete as it stands: scripts only add filters, sorting, zoom and the choice of a theme. It loads nothing,
//! which its policy lets a browser enforce.

mod cells;
mod environment;
mod figure;
mod markup;
mod overview;
mod sections;

use analysis::Summary;
use record::Environment;

use crate::head;
use crate::plot::Plot;
use crate::svg::theme;
use markup::text;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// What the page shows of one run.
#[derive(Debug, Clone)]
pub struct Page<'a> {
    /// Figures, verdicts and notes.
    pub summary: &'a Summary,
    /// Its plots, in order.
    pub plots: &'a [Plot],
    /// The scenario as it was run.
    pub scenario: &'a str,
    /// The machine.
    pub environment: &'a Environment,
}

/// The page: complete without JavaScript and without a network.
pub fn html(pages: &[Page<'_>]) -> String {
    let title = match pages {
        [] => "no run".to_owned(),
        [one] => head::title(one.summary).to_owned(),
        several => format!("{} runs side by side", several.len()),
    };
    let body = match pages {
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

fn single(page: &Page<'_>) -> String {
    let sections = sections::of_run(page, "", 2);
    let summary = page.summary;
    format!(
        "{}{}<main id=\"main\">\n{}</main>\n{}",
        top(head::title(summary), &overview::subtitle(summary)),
        navigation(sections.iter().map(|section| (section.id.as_str(), section.title))),
        sections.iter().map(|section| section.html.as_str()).collect::<String>(),
        overview::foot(&[summary]),
    )
}

fn side_by_side(pages: &[Page<'_>], title: &str) -> String {
    let summaries: Vec<&Summary> = pages.iter().map(|page| page.summary).collect();
    let ids: Vec<String> = (1..=pages.len()).map(|number| format!("run{number}")).collect();
    let names: Vec<String> = summaries.iter().map(|summary| overview::name(summary)).collect();
    let runs = pages.iter().zip(&ids).zip(&names).map(|((page, id), name)| {
        let sections = sections::of_run(page, &format!("{id}-"), 3);
        let links = navigation_list(sections.iter().map(|section| (section.id.as_str(), section.title)));
        let html: String = sections.into_iter().map(|section| section.html).collect();
        format!(
            "<section class=\"run\" id=\"{id}\" aria-labelledby=\"{id}-name\">\n<h2 id=\"{id}-name\">{}</h2>\n\
             <p class=\"muted\">{}</p>\n<nav class=\"small\" aria-label=\"Parts of {}\">{links}</nav>\n{html}</section>\n",
            text(name),
            text(&overview::subtitle(page.summary)),
            text(name),
        )
    });
    let fixed = [("verdicts", "Verdicts"), ("runs", "The runs")];
    let links = fixed.into_iter().chain(ids.iter().map(String::as_str).zip(names.iter().map(String::as_str)));
    format!(
        "{}{}<main id=\"main\">\n{}{}</main>\n{}",
        top(title, ""),
        navigation(links),
        overview::side_by_side(&summaries, &names, &ids),
        runs.collect::<String>(),
        overview::foot(&summaries),
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

fn navigation<'a>(links: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    format!("<nav aria-label=\"Parts of this page\">{}</nav>\n", navigation_list(links))
}

fn navigation_list<'a>(links: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let items = links.map(|(id, title)| format!("<li><a href=\"#{id}\">{}</a></li>", text(title)));
    format!("<ul>{}</ul>", items.collect::<String>())
}
