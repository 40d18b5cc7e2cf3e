//! Verdicts and what a run is, for one run and for several side by side.

use analysis::{GateResult, Summary, gate};

use super::markup::{list, text};
use crate::head;
use crate::markdown;

/// Narrowest column of a run beside others, in widths of a letter of the page.
const RUN_COLUMN_REM: usize = 15;

/// `run 20261121T..., started ...; machine`.
pub(super) fn subtitle(summary: &Summary) -> String {
    let head = &summary.head;
    let machine = if head.machine.is_empty() { String::new() } else { format!("; {}", head.machine) };
    format!("run {}, started {}{machine}", head.run_id, head.started)
}

/// What tells a run from others: its title or scenario, and its id.
pub(super) fn name(summary: &Summary) -> String {
    format!("{} ({})", head::title(summary), summary.head.run_id)
}

/// What is said of one target.
struct Said {
    word: &'static str,
    target: String,
    sentences: Vec<String>,
}

/// Verdicts, then what could not be judged, then what the client itself can do.
fn said(summary: &Summary) -> Vec<Said> {
    let verdicts = summary.verdicts.iter().map(|verdict| Said {
        word: verdict.word(),
        target: verdict.target.clone(),
        sentences: std::iter::once(verdict.sentence()).chain(verdict.unreached.iter().cloned()).collect(),
    });
    let unjudged = summary.unjudged.iter().map(|unjudged| Said {
        word: "UNJUDGED",
        target: unjudged.target.clone(),
        sentences: vec![unjudged.reason.clone()],
    });
    let ceilings = summary.ceilings.iter().map(|ceiling| Said {
        word: "CEILING",
        target: ceiling.target.clone(),
        sentences: vec![head::ceiling_sentence(ceiling)],
    });
    verdicts.chain(unjudged).chain(ceilings).collect()
}

/// A word with a sign of its own, so that colour is never alone.
fn badge(word: &str) -> String {
    let (class, sign) = match word {
        "FEEDS" => ("feeds", "\u{2713}"),
        "STARVES" => ("starves", "\u{2717}"),
        "UNCERTAIN" => ("uncertain", "?"),
        _ => ("other", "\u{2022}"),
    };
    format!(
        "<strong class=\"verdict {class}\"><span aria-hidden=\"true\">{sign} </span>{}</strong>",
        text(word)
    )
}

fn sentences(said: &Said) -> String {
    let spans = said.sentences.iter().map(|words| format!("<span class=\"said\">{}</span>", text(words)));
    spans.collect()
}

/// The verdicts of one run, and what its gate makes of them.
pub(super) fn verdicts(summary: &Summary) -> String {
    let all = said(summary);
    let items = all.iter().map(|said| {
        format!(
            "<li>{} <b class=\"target\">{}</b> {}</li>\n",
            badge(said.word),
            text(&said.target),
            sentences(said)
        )
    });
    let items: String = items.collect();
    let verdicts = if items.is_empty() {
        "<p>No target was judged in this run.</p>\n".to_owned()
    } else {
        format!("<ul class=\"verdicts\">\n{items}</ul>\n")
    };
    verdicts + &gate_words(summary)
}

fn gate_words(summary: &Summary) -> String {
    let said =
        |word: &str, demands: &[String]| format!("<p>Gate <strong>{word}</strong>:</p>\n{}", list(demands));
    match gate(summary) {
        GateResult::None => String::new(),
        GateResult::Met => "<p>Gate <strong>met</strong>.</p>\n".to_owned(),
        GateResult::Missed(demands) => said("missed", &demands),
        GateResult::Inconclusive(demands) => said("inconclusive", &demands),
    }
}

/// What was needed of which data, where it lies, and how it was measured.
pub(super) fn need(summary: &Summary) -> String {
    let mut rows = vec![("need", head::need(summary))];
    rows.extend(head::line(summary).map(|line| ("", line)));
    rows.extend(head::data(summary).into_iter().map(|data| ("data", data)));
    rows.extend(head::places(summary).into_iter().map(|place| ("at", place)));
    rows.push(("ran", head::ran(summary)));
    named(rows)
}

/// Which run this is, on what, and all that is known of its targets.
pub(super) fn facts(summary: &Summary) -> String {
    let mut rows = markdown::facts_of(summary);
    rows.retain(|(name, _)| !["need", "", "data", "ran"].contains(name));
    rows.push(("command", summary.head.command.join(" ")));
    named(rows)
}

fn named(rows: Vec<(&'static str, String)>) -> String {
    let known = rows.into_iter().filter(|(_, value)| !value.is_empty());
    definitions(&known.map(|(name, value)| (name, Ok(value))).collect::<Vec<_>>())
}

/// Names and values; a value that is not known says why.
pub(super) fn definitions(rows: &[(&str, Result<String, String>)]) -> String {
    let mut html = String::new();
    for (index, (name, value)) in rows.iter().enumerate() {
        // A row without a name belongs to the one above.
        if index == 0 || !name.is_empty() {
            html.extend(["<dt>", &text(name), "</dt>"]);
        }
        let value = match value {
            Ok(value) => format!("<dd>{}</dd>\n", text(value)),
            Err(reason) => format!("<dd class=\"muted\">not known: {}</dd>\n", text(reason)),
        };
        html.push_str(&value);
    }
    format!("<dl>\n{html}</dl>\n")
}

/// A column for each run: what is said of each target, then what the runs are.
pub(super) fn side_by_side(summaries: &[&Summary], names: &[String], ids: &[String]) -> String {
    let of_runs: Vec<Vec<Said>> = summaries.iter().map(|summary| said(summary)).collect();
    let mut targets: Vec<&str> = Vec::new();
    for said in of_runs.iter().flatten() {
        if !targets.contains(&said.target.as_str()) {
            targets.push(&said.target);
        }
    }
    let cell = |of_run: &Vec<Said>, target: &str| {
        let of_target = of_run.iter().filter(|said| said.target == target);
        let said = of_target.map(|said| format!("<div>{} {}</div>", badge(said.word), sentences(said)));
        let said: String = said.collect();
        let said =
            if said.is_empty() { "<span class=\"muted\">not in this run</span>".to_owned() } else { said };
        format!("<td>{said}</td>")
    };
    let verdicts = targets.iter().map(|target| {
        let cells: String = of_runs.iter().map(|of_run| cell(of_run, target)).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", text(target))
    });
    let links = names
        .iter()
        .zip(ids)
        .map(|(name, id)| format!("<th scope=\"col\"><a href=\"#{id}\">{}</a></th>", text(name)));
    let heading = format!("<thead><tr><td></td>{}</tr></thead>", links.collect::<String>());
    let width = 7 + RUN_COLUMN_REM * summaries.len();
    let table = |id: &str, title: &str, rows: String| {
        format!(
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n\
             <div class=\"scroll\" role=\"region\" aria-labelledby=\"{id}-title\" tabindex=\"0\"><table class=\"beside\" style=\"min-width:{width}rem\">\n\
             {heading}\n<tbody>\n{rows}</tbody></table></div>\n</section>\n"
        )
    };
    table("verdicts", "Verdicts", verdicts.collect()) + &table("runs", "The runs", heads(summaries))
}

/// Rows of what the runs are; a fact that some runs lack is blank there.
fn heads(summaries: &[&Summary]) -> String {
    let facts: Vec<Vec<(&str, String)>> =
        summaries.iter().map(|summary| markdown::facts_of(summary)).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in facts.iter().flatten() {
        if !name.is_empty() && !names.contains(name) {
            names.push(name);
        }
    }
    let values = |of_run: &Vec<(&str, String)>, name: &str| {
        let mut last = "";
        let mut values = String::new();
        for (of, value) in of_run {
            last = if of.is_empty() { last } else { of };
            if last == name {
                values.extend(["<div>", &text(value), "</div>"]);
            }
        }
        format!("<td>{values}</td>")
    };
    let row = |name: &&str| {
        let cells: String = facts.iter().map(|of_run| values(of_run, name)).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", text(name))
    };
    names.iter().map(row).collect()
}

/// Which tool made the records.
pub(super) fn foot(summaries: &[&Summary]) -> String {
    let mut tools: Vec<String> = Vec::new();
    for summary in summaries {
        let tool = format!("feedline {}", summary.head.tool.version);
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    format!("<footer><p class=\"muted\">measured by {}</p></footer>\n", text(&tools.join(", ")))
}
