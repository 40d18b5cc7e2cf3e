//! A page for a terminal in plain ASCII; the verdicts come last.

use std::cmp::Reverse;

use analysis::Summary;

use crate::page::{Block, Document, Facts, Fold, Lines, Room, Verdict};
use crate::plain::ascii;
use crate::screen::Screen;
use crate::sections;

/// The page that `run` and `report` print.
pub fn terminal(summary: &Summary, screen: Screen) -> String {
    written(&sections::of_summary(summary), screen)
}

fn written(document: &Document<'_>, screen: Screen) -> String {
    let in_room = |room| document.sections.iter().filter(move |section| section.room == room);
    let detail = in_room(Room::Detail).flat_map(|section| &section.blocks);
    // The end of a page is what is seen, so an answer is written backwards.
    let answer = in_room(Room::Answer).rev().flat_map(|section| section.blocks.iter().rev());
    let title = screen.hanging("title ", &ascii(&document.title));
    std::iter::once(title).chain(detail.chain(answer).map(|of| block(of, screen))).collect()
}

fn block(block: &Block<'_>, screen: Screen) -> String {
    match block {
        Block::Verdicts(of) => verdicts(of, screen),
        Block::Facts(of) => facts(of, screen),
        Block::Grid(of) => screen.grid(of),
        Block::Lines(of) => lines(of, screen),
        Block::Folds(of) => of.iter().map(|of| fold(of, screen)).collect(),
        Block::Plot(plot) => screen.hanging("plot  ", &ascii(&plot.title)),
        Block::Code(of) => of.lines().map(|line| screen.hanging("      ", &ascii(line))).collect(),
    }
}

fn verdicts(verdicts: &[Verdict], screen: Screen) -> String {
    let width = screen.width_of(verdicts.iter().map(|verdict| verdict.target.as_str()));
    let mut last_first: Vec<&Verdict> = verdicts.iter().collect();
    // A stable sort: verdicts of one weight stay in the order of the scenario.
    last_first.sort_by_key(|verdict| Reverse(verdict.weight));
    let of_verdict = |verdict: &&Verdict| {
        let (word, target) = (format!("{:<9} ", verdict.word), ascii(&verdict.target));
        // Word and target once: what follows below them is more of the same verdict.
        let said = |(number, sentence): (usize, &String)| {
            let (word, target) =
                if number == 0 { (word.as_str(), target.as_str()) } else { ("          ", "") };
            screen.named(word, (target, width), &ascii(sentence))
        };
        verdict.sentences.iter().enumerate().map(said).collect::<String>()
    };
    last_first.iter().map(of_verdict).collect()
}

fn facts(facts: &Facts, screen: Screen) -> String {
    let about = if facts.about.is_empty() { String::new() } else { format!("{}: ", facts.about) };
    let line = |name: &str, words: &str| screen.hanging(&lead(name), &ascii(&format!("{about}{words}")));
    facts.facts.iter().map(|fact| line(fact.name, &fact.words())).collect()
}

/// A word in its column.
fn lead(word: &str) -> String {
    format!("{word:<5} ")
}

fn lines(lines: &Lines, screen: Screen) -> String {
    let lead = if lines.lead.is_empty() { "  ".to_owned() } else { lead(lines.lead) };
    if lines.is_run_on {
        return screen.hanging(&lead, &ascii(&lines.sentences.join("; ")));
    }
    lines.sentences.iter().map(|line| screen.hanging(&lead, &ascii(line))).collect()
}

fn fold(fold: &Fold, screen: Screen) -> String {
    let lines = fold.lines.iter().map(|line| screen.hanging("  ", &ascii(line)));
    std::iter::once(screen.hanging("", &ascii(&fold.sentence))).chain(lines).collect()
}
