//! Several runs in columns: what is said of each target, then what the runs are.

use super::blocks::{badge, sentences};
use crate::group::by_key;
use crate::markup::text;
use crate::page::{Block, Document, Verdict};

/// Narrowest column of a run beside others, and width of the names before them, in widths of a letter of the page.
const RUN_REM: usize = 15;
const NAMES_REM: usize = 7;

/// A table of verdicts and one of facts; `runs` are the links to the runs and their names.
pub(super) fn tables(documents: &[Document<'_>], runs: &[(String, &str)]) -> String {
    table("verdicts", "Verdicts", runs, &verdicts(documents))
        + &table("runs", "The runs", runs, &facts(documents))
}

fn table(id: &str, title: &str, runs: &[(String, &str)], rows: &str) -> String {
    let links =
        runs.iter().map(|(id, name)| format!("<th scope=\"col\"><a href=\"#{id}\">{}</a></th>", text(name)));
    // The table scrolls where it is wider than the window: narrower columns would fold every sentence to words.
    let width = NAMES_REM + RUN_REM * runs.len();
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n\
         <div class=\"scroll\" role=\"region\" aria-labelledby=\"{id}-title\" tabindex=\"0\"><table class=\"beside\" style=\"min-width:{width}rem\">\n\
         <thead><tr><td></td>{}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n</section>\n",
        links.collect::<String>()
    )
}

fn verdicts(documents: &[Document<'_>]) -> String {
    let of_run = |document: &Document<'_>| {
        let said = |verdict: &Verdict| {
            let words = format!("<div>{} {}</div>", badge(verdict.word), sentences(verdict));
            (verdict.target.clone(), words)
        };
        let verdicts = document.blocks("verdicts").filter_map(|block| match block {
            Block::Verdicts(verdicts) => Some(verdicts),
            _ => None,
        });
        by_key(verdicts.flatten().map(said))
    };
    rows(documents.iter().map(of_run).collect(), "<span class=\"muted\">not in this run</span>")
}

/// What the runs are; a fact that some runs lack is blank there.
fn facts(documents: &[Document<'_>]) -> String {
    let of_run = |document: &Document<'_>| {
        let blocks = document.blocks("need").chain(document.blocks("run"));
        let facts = blocks.filter_map(|block| match block {
            Block::Facts(facts) => Some(&facts.facts),
            _ => None,
        });
        // A fact without a name belongs to the one before.
        let mut last = "";
        by_key(facts.flatten().map(|fact| {
            last = if fact.name.is_empty() { last } else { fact.name };
            (last.to_owned(), format!("<div>{}</div>", text(&fact.words())))
        }))
    };
    rows(documents.iter().map(of_run).collect(), "")
}

/// A row for each name, with what each run says of it.
fn rows(runs: Vec<Vec<(String, Vec<String>)>>, none: &str) -> String {
    let count = runs.len();
    let cells = runs
        .into_iter()
        .enumerate()
        .flat_map(|(run, said)| said.into_iter().map(move |(name, words)| (name, (run, words.concat()))));
    let row = |(name, said): (String, Vec<(usize, String)>)| {
        let cell = |run: usize| said.iter().find(|(of, _)| *of == run).map_or(none, |(_, words)| words);
        let cells: String = (0..count).flat_map(|run| ["<td>", cell(run), "</td>"]).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", text(&name))
    };
    by_key(cells).into_iter().map(row).collect()
}
