//! What is said of a run, section by section: the only list of them.

use analysis::{CellSummary, GateResult, Measurement, Summary, gate};

use crate::grid::Grid;
use crate::group::{by_key, once_by_key};
use crate::page::{Block, Document, Fact, Fold, Lines, Page, Room, Section, Verdict, Weight};
use crate::plain::spell_out;
use crate::{
    answer, cells, environment, head, network, prediction, ranks, side, stored, system, training, words,
};

/// All that a summary says.
pub(crate) fn of_summary(summary: &Summary) -> Document<'static> {
    document(summary, None)
}

/// The same with plots, machine and scenario.
pub(crate) fn of_page<'a>(page: &Page<'a>) -> Document<'a> {
    document(page.summary, Some(page))
}

fn document<'a>(summary: &Summary, page: Option<&Page<'a>>) -> Document<'a> {
    let head = &summary.head;
    let machine = words::machine::machine(&head.machine);
    let machine = if machine.is_empty() { machine } else { format!("; {machine}") };
    let mut sections = sections(summary, page);
    for section in &mut sections {
        section.blocks.retain(|block| !block.is_empty());
    }
    sections.retain(|section| !section.blocks.is_empty());
    Document {
        title: head::title(summary).to_owned(),
        run: head.run_id.clone(),
        subtitle: format!("run {}, started {}{machine}", head.run_id, head.started),
        tool: format!("feedline {}", head.tool.version),
        sections,
    }
}

/// Every section in its order; what a run has nothing of is empty.
fn sections<'a>(summary: &Summary, page: Option<&Page<'a>>) -> Vec<Section<'a>> {
    let open = |room, id, title, blocks| Section { id, title, room, is_folded: false, blocks };
    let detail = |id, title, blocks| Section { id, title, room: Room::Detail, is_folded: true, blocks };
    let looked_up = |id, title, blocks| Section { id, title, room: Room::PageOnly, is_folded: true, blocks };
    let grid = |grid: Grid| vec![Block::Grid(grid)];
    // Absent from a summary alone: neither a terminal nor Markdown shows a drawing.
    let plots = page.map(|page| page.plots.iter().map(Block::Plot).collect()).unwrap_or_default();
    let environment = page.map(|page| Block::Facts(environment::facts(page.environment)));
    let scenario = page.map(|page| Block::Code(page.scenario.trim_end().to_owned()));
    let [layouts, epochs, checkpoints, copies] = stored::blocks(summary);
    let wire =
        vec![Block::Grid(network::table(summary)), Block::lines("wire", network::unreconciled(summary))];
    let device = vec![
        Block::Grid(system::table(summary)),
        Block::lines("bytes", system::unreconciled(summary)),
        Block::Grid(system::gpus(summary)),
    ];
    let tiers = summary.tiers.iter().map(words::tier::tier).collect();
    vec![
        // A terminal has the same rows at its end, as the answer, where they are seen.
        open(Room::PageOnly, "answer", "Answer", grid(answer::rows::table(summary))),
        open(Room::Answer, "verdicts", "Verdicts", verdicts(summary)),
        open(Room::Answer, "not-tested", "Not tested", vec![not_tested(summary)]),
        open(Room::Detail, "need", "Need", vec![Block::facts(head::need_facts(summary))]),
        open(Room::PageOnly, "plots", "Plots", plots),
        open(Room::Detail, "training", "Training", trained(summary)),
        open(Room::Detail, "cells", "Cells", grid(cells::grid(summary))),
        detail("ranks", "Processes", grid(ranks::table(summary))),
        looked_up("stall", "Where the accelerators' time goes", grid(training::stall(summary))),
        detail("paced", "Paced", grid(side::paced(summary, cells::unit(summary)))),
        detail("plane", "Reads and writes at once", grid(side::planes(summary))),
        detail("files", "Where a file's time goes", grid(side::phases(summary))),
        detail("requests", "Where a request's time goes", Block::grids(side::requests(summary))),
        detail("metadata", "Metadata", grid(side::metadata(summary))),
        detail("network", "Network", wire),
        detail("device", "Device and process", device),
        detail("layouts", "Layouts", layouts),
        detail("epochs", "Epochs", epochs),
        detail("checkpoints", "Checkpoints", checkpoints),
        detail("copies", "Copies", copies),
        detail("predicted", "Predicted", predicted(summary)),
        looked_up("doubts", "Doubts, and what to do", vec![Block::Folds(doubts(summary))]),
        detail(
            "notes",
            "Notes",
            vec![Block::lines("note", summary.notes.iter().map(words::note::words).collect())],
        ),
        looked_up("page-cache", "Page cache", vec![Block::lines("", page_cache(summary))]),
        looked_up("tiers", "Caches, tier by tier", vec![Block::lines("", tiers)]),
        looked_up("run", "Run and targets", vec![Block::facts(head::run_facts(summary))]),
        looked_up("environment", "Environment", environment.into_iter().collect()),
        looked_up("command", "Command", vec![command(summary)]),
        looked_up("scenario", "Scenario as it was run", scenario.into_iter().collect()),
    ]
}

/// Other ways of reading that do not reach the line.
fn unreached(reads: &analysis::ReadVerdict) -> impl Iterator<Item = String> + '_ {
    reads.unreached.iter().map(words::read_verdict::unreached)
}

/// Verdicts, then what could not be judged, what the client itself can do, and what a search found; and what the gate makes of them.
fn verdicts<'a>(summary: &Summary) -> Vec<Block<'a>> {
    let judged = summary.verdicts.iter().map(|verdict| Verdict {
        weight: Weight::Judged,
        word: verdict.word(),
        target: verdict.target.clone(),
        sentences: std::iter::once(words::verdict::sentence(verdict))
            .chain(verdict.of_reads().into_iter().flat_map(unreached))
            .chain(verdict.of_reads().into_iter().flat_map(words::read_verdict::each_alone))
            .collect(),
    });
    let unjudged = summary.unjudged.iter().map(|unjudged| Verdict {
        weight: Weight::Unjudged,
        word: "UNJUDGED",
        target: unjudged.target.clone(),
        sentences: vec![words::read_verdict::no_verdict(&unjudged.reason)],
    });
    let ceilings = summary.ceilings.iter().map(|ceiling| Verdict {
        weight: Weight::Ceiling,
        word: "CEILING",
        target: ceiling.target.clone(),
        sentences: vec![head::ceiling_sentence(summary, ceiling)],
    });
    let mut verdicts: Vec<Verdict> = judged.chain(unjudged).chain(ceilings).collect();
    // Over all verdicts and not in each: the first that is read explains the word.
    spell_out(verdicts.iter_mut().flat_map(|verdict| &mut verdict.sentences));
    let found = |one: &analysis::Sizing| words::sizing::row(one, &words::sizing::sentence(one));
    let found: Vec<String> = summary.sizings.iter().map(found).collect();
    // Said, because an empty section would be left out and a reader would look for it.
    let none = verdicts.is_empty() && found.is_empty();
    let none = none.then(|| "No target was judged in this run.".to_owned());
    vec![
        Block::Verdicts(verdicts),
        Block::lines("size", found),
        Block::lines("", none.into_iter().collect()),
        Block::facts(gate_facts(summary)),
    ]
}

fn gate_facts(summary: &Summary) -> Vec<Fact> {
    let (word, demands) = match gate(summary) {
        GateResult::None => return Vec::new(),
        GateResult::Met => return vec![Fact::new("gate", "met")],
        GateResult::Missed(unmet) => ("missed", unmet),
        GateResult::Inconclusive(unmet) => ("inconclusive", unmet),
    };
    let demands = words::gate::all(&demands);
    demands.into_iter().map(|demand| Fact::new("gate", format!("{word}: {demand}"))).collect()
}

/// Training jobs, what each number of hosts got, and what became of the judged ones.
fn trained<'a>(summary: &Summary) -> Vec<Block<'a>> {
    let mut blocks = Block::grids([training::table(summary), training::scaling::table(summary)]);
    blocks.extend(training::facts(summary).into_iter().map(Block::Facts));
    blocks
}

/// Claim, tables and what the line asks; nothing where nothing was said beforehand.
fn predicted<'a>(summary: &Summary) -> Vec<Block<'a>> {
    let claim = prediction::claim(summary).into_iter().chain(prediction::differences(summary));
    let mut blocks = vec![Block::facts(claim.map(|words| Fact::new("claim", words)).collect())];
    blocks.extend(Block::grids(prediction::tables(summary)));
    blocks.push(Block::lines("asks", prediction::asked(summary)));
    blocks
}

/// What to do about each kind of doubt, and the cells of which it is to be said with its words.
fn doubts(summary: &Summary) -> Vec<Fold> {
    let all = summary
        .cells
        .iter()
        .flat_map(|cell| words::flag::doubts(cell).into_iter().map(move |doubt| (cell, doubt)));
    let advised =
        all.map(|(cell, (flag, words))| (words::flag::advice(flag), format!("{}: {words}", cell.cell.cell)));
    let fold = |(advice, lines): (&str, Vec<String>)| Fold { sentence: advice.to_owned(), lines };
    // By the advice and not by the kind: two doubts that one thing mends are one thing to do.
    by_key(advised).into_iter().map(fold).collect()
}

/// What is known of the page cache, once for all storage cells of which the same is known.
fn page_cache(summary: &Summary) -> Vec<String> {
    let cells = summary.cells.iter().filter(|cell| cell.storage && !cell.is_transfer());
    let figures = |cell: &'_ CellSummary| {
        // Fresh repetitions have a proof of their own, and the verdict rests on it.
        let fresh = cell.confirmed.as_ref().and_then(Measurement::figures);
        let known = cell.figures().into_iter().chain(fresh).map(words::caches::page);
        known.collect::<Vec<String>>()
    };
    let known =
        cells.flat_map(|cell| figures(cell).into_iter().map(|words| (words, cell.cell.cell.as_str())));
    let line = |(words, names): (String, Vec<&str>)| match names.as_slice() {
        [one] => format!("{words}: {one}"),
        names => format!("{words}: {} cells, {} among them", names.len(), names[0]),
    };
    once_by_key(known).into_iter().map(line).collect()
}

fn not_tested<'a>(summary: &Summary) -> Block<'a> {
    Block::Lines(Lines { lead: "not tested:", sentences: words::not_tested::all(summary), is_run_on: true })
}

fn command<'a>(summary: &Summary) -> Block<'a> {
    Block::Code(feed::plain(&record::typed(&summary.head.command)))
}
