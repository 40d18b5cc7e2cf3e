//! The sections of a run as HTML.

use super::{figure, table};
use crate::markup::text;
use crate::page::{Block, Document, Fact, Facts, Fold, Section, Verdict};

/// Doubts of which the cells are shown without being asked for.
const OPEN_MAX: usize = 3;

/// The sections of a run; `prefix` tells their names from those of other runs, `level` is that of their headings.
pub(super) fn sections(document: &Document<'_>, prefix: &str, level: u8) -> String {
    document.sections.iter().map(|of| section(of, &format!("{prefix}{}", of.id), prefix, level)).collect()
}

fn section(section: &Section<'_>, id: &str, prefix: &str, level: u8) -> String {
    let mut tables = 0;
    let blocks = section.blocks.iter().map(|block| match block {
        Block::Verdicts(of) => verdicts(of),
        Block::Facts(of) => facts(of, level + 1),
        Block::Grid(of) => {
            tables += 1;
            table::table(&format!("{id}-table{tables}"), of)
        }
        Block::Lines(of) => list(&of.sentences),
        Block::Folds(of) => {
            format!("<ul class=\"doubts\">\n{}</ul>\n", of.iter().map(fold).collect::<String>())
        }
        Block::Plot(of) => figure::figure(&format!("{prefix}plot-{}", of.name), of),
        Block::Code(of) => format!(
            "<pre tabindex=\"0\" role=\"region\" aria-label=\"{}\"><code>{}</code></pre>\n",
            section.title,
            text(of)
        ),
    });
    let blocks: String = blocks.collect();
    let heading = format!("<h{level} id=\"{id}-title\">{}</h{level}>", section.title);
    let begun = format!("<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n");
    // The heading stays in sight: a page whose parts cannot be seen is searched in vain.
    if section.is_folded {
        // A link to what is inside opens it.
        return format!(
            "<details class=\"part\"><summary>{heading}</summary>\n{begun}{blocks}</section>\n</details>\n"
        );
    }
    format!("{begun}{heading}\n{blocks}</section>\n")
}

fn list(lines: &[String]) -> String {
    let items = lines.iter().map(|line| format!("<li>{}</li>\n", text(line)));
    format!("<ul>\n{}</ul>\n", items.collect::<String>())
}

fn verdicts(verdicts: &[Verdict]) -> String {
    let item = |verdict: &Verdict| {
        format!(
            "<li>{} <b class=\"target\">{}</b> {}</li>\n",
            badge(verdict.word),
            text(&verdict.target),
            sentences(verdict)
        )
    };
    format!("<ul class=\"verdicts\">\n{}</ul>\n", verdicts.iter().map(item).collect::<String>())
}

/// A word with a sign of its own, so that colour is never alone.
pub(super) fn badge(word: &str) -> String {
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

pub(super) fn sentences(verdict: &Verdict) -> String {
    let spans = verdict.sentences.iter().map(|words| format!("<span class=\"said\">{}</span>", text(words)));
    spans.collect()
}

fn facts(facts: &Facts, level: u8) -> String {
    let about = if facts.about.is_empty() {
        String::new()
    } else {
        format!("<h{level}>{}</h{level}>\n", text(&facts.about))
    };
    let fact = |of: &Fact| {
        // A fact without a name belongs to the one above.
        let name = if of.name.is_empty() { String::new() } else { format!("<dt>{}</dt>", text(of.name)) };
        let class = if of.value.is_err() { " class=\"muted\"" } else { "" };
        format!("{name}<dd{class}>{}</dd>\n", text(&of.words()))
    };
    format!("{about}<dl>\n{}</dl>\n", facts.facts.iter().map(fact).collect::<String>())
}

fn fold(fold: &Fold) -> String {
    let count = feed::counted_noun(fold.lines.len() as u64, "cell");
    let open = if fold.lines.len() <= OPEN_MAX { " open" } else { "" };
    format!(
        "<li>{}<details{open}><summary>{count}</summary>\n{}</details></li>\n",
        text(&fold.sentence),
        list(&fold.lines)
    )
}
