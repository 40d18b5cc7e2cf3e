//! What is said of a run, section by section: the only list of them.

use analysis::{CellSummary, GateResult, Measurement, Summary, gate};

use crate::grid::Grid;
use crate::group::{by_key, once_by_key};
use crate::html::Page;
use crate::page::{Block, Document, Fact, Fold, Lines, Section, Verdict, Weight};
use crate::{cells, environment, head, network, prediction, side, stored, system, training};

/// All that a summary says.
pub(crate) fn of_summary(summary: &Summary) -> Document<'static> {
    document(summary, before_plots(summary).into_iter().chain(after_plots(summary)).chain([command(summary)]))
}

/// The same with plots, machine and scenario.
pub(crate) fn of_page<'a>(page: &Page<'a>) -> Document<'a> {
    let summary = page.summary;
    let plots = page.plots.iter().map(Block::Plot).collect();
    let scenario = Block::Code(page.scenario.trim_end().to_owned());
    let last = [
        Section::page_only(
            "environment",
            "Environment",
            vec![Block::Facts(environment::facts(page.environment))],
        ),
        command(summary),
        Section::page_only("scenario", "Scenario as it was run", vec![scenario]),
    ];
    let first = before_plots(summary).into_iter().chain([Section::page_only("plots", "Plots", plots)]);
    document(summary, first.chain(after_plots(summary)).chain(last))
}

fn document<'a>(summary: &Summary, sections: impl Iterator<Item = Section<'a>>) -> Document<'a> {
    let head = &summary.head;
    let machine = if head.machine.is_empty() { String::new() } else { format!("; {}", head.machine) };
    let kept = |mut section: Section<'a>| {
        section.blocks.retain(|block| !block.is_empty());
        (!section.blocks.is_empty()).then_some(section)
    };
    Document {
        title: head::title(summary).to_owned(),
        run: head.run_id.clone(),
        subtitle: format!("run {}, started {}{machine}", head.run_id, head.started),
        tool: format!("feedline {}", head.tool.version),
        sections: sections.filter_map(kept).collect(),
    }
}

fn before_plots<'a>(summary: &Summary) -> [Section<'a>; 2] {
    [
        Section::answer("verdicts", "Verdicts", verdicts(summary)),
        Section::detail("need", "Need", vec![Block::facts(head::need_facts(summary))]),
    ]
}

fn after_plots<'a>(summary: &Summary) -> Vec<Section<'a>> {
    let stall = Block::grids([training::stall(summary)]);
    let requests = Block::grids(side::requests(summary));
    let mut sections = vec![
        Section::detail("training", "Training", trained(summary)),
        Section::page_only("stall", "Where the accelerators' time goes", stall),
        Section::detail("cells", "Cells", Block::grids([cells::grid(summary)])),
        Section::detail("paced", "Paced", Block::grids([side::paced(summary, cells::unit(summary))])),
        Section::detail("files", "Where a file's time goes", Block::grids([side::phases(summary)])),
        Section::detail("requests", "Where a request's time goes", requests),
        Section::detail("metadata", "Metadata", Block::grids([side::metadata(summary)])),
        Section::detail(
            "network",
            "Network",
            counted(network::table(summary), "wire", network::unreconciled(summary)),
        ),
        Section::detail(
            "device",
            "Device and process",
            counted(system::table(summary), "bytes", system::unreconciled(summary)),
        ),
    ];
    sections.extend(stored::sections(summary));
    sections.extend([
        Section::detail("predicted", "Predicted", predicted(summary)),
        Section::page_only("doubts", "Doubts, and what to do", vec![Block::Folds(doubts(summary))]),
        Section::detail("notes", "Notes", vec![Block::lines("note", summary.notes.clone())]),
        Section::page_only("page-cache", "Page cache", vec![Block::lines("", page_cache(summary))]),
        Section::page_only("tiers", "Caches, tier by tier", vec![Block::lines("", summary.tiers.clone())]),
        Section::detail("not-tested", "Not tested", vec![not_tested(summary)]),
        Section::page_only("run", "Run and targets", vec![Block::facts(head::run_facts(summary))]),
    ]);
    sections
}

/// A table of counts, and which of them do not agree.
fn counted<'a>(grid: Grid, lead: &'static str, unreconciled: Vec<String>) -> Vec<Block<'a>> {
    vec![Block::Grid(grid), Block::lines(lead, unreconciled)]
}

/// Verdicts, then what could not be judged, then what the client itself can do; and what the gate makes of them.
fn verdicts<'a>(summary: &Summary) -> Vec<Block<'a>> {
    let judged = summary.verdicts.iter().map(|verdict| Verdict {
        weight: Weight::Judged,
        word: verdict.word(),
        target: verdict.target.clone(),
        sentences: std::iter::once(verdict.sentence()).chain(verdict.unreached.iter().cloned()).collect(),
    });
    let unjudged = summary.unjudged.iter().map(|unjudged| Verdict {
        weight: Weight::Unjudged,
        word: "UNJUDGED",
        target: unjudged.target.clone(),
        sentences: vec![unjudged.reason.clone()],
    });
    let ceilings = summary.ceilings.iter().map(|ceiling| Verdict {
        weight: Weight::Ceiling,
        word: "CEILING",
        target: ceiling.target.clone(),
        sentences: vec![head::ceiling_sentence(ceiling)],
    });
    let verdicts: Vec<Verdict> = judged.chain(unjudged).chain(ceilings).collect();
    let none = verdicts.is_empty().then(|| "No target was judged in this run.".to_owned());
    vec![
        Block::Verdicts(verdicts),
        Block::lines("", none.into_iter().collect()),
        Block::facts(gate_facts(summary)),
    ]
}

fn gate_facts(summary: &Summary) -> Vec<Fact> {
    let (word, demands) = match gate(summary) {
        GateResult::None => return Vec::new(),
        GateResult::Met => return vec![Fact::new("gate", "met")],
        GateResult::Missed(demands) => ("missed", demands),
        GateResult::Inconclusive(demands) => ("inconclusive", demands),
    };
    demands.into_iter().map(|demand| Fact::new("gate", format!("{word}: {demand}"))).collect()
}

/// Training jobs, what became of the judged ones, and how many accelerators were found to be fed.
fn trained<'a>(summary: &Summary) -> Vec<Block<'a>> {
    let sizing = |one: &analysis::Sizing| format!("{} {}: {}", one.target, one.engine, one.sentence());
    let mut blocks = Block::grids([training::table(summary)]);
    blocks.extend(training::facts(summary).into_iter().map(Block::Facts));
    blocks.push(Block::lines("size", summary.sizings.iter().map(sizing).collect()));
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
    let all = summary.cells.iter().flat_map(|cell| cell.doubts().into_iter().map(move |doubt| (cell, doubt)));
    let advised = all.map(|(cell, (flag, words))| (flag.advice(), format!("{}: {words}", cell.cell.cell)));
    let fold = |(advice, lines): (&str, Vec<String>)| Fold { sentence: advice.to_owned(), lines };
    by_key(advised).into_iter().map(fold).collect()
}

/// What is known of the page cache, once for all storage cells of which the same is known.
fn page_cache(summary: &Summary) -> Vec<String> {
    let cells = summary.cells.iter().filter(|cell| cell.storage && !cell.is_transfer());
    let figures = |cell: &'_ CellSummary| {
        let fresh = cell.confirmed.as_ref().and_then(Measurement::figures);
        let known = cell.figures().into_iter().chain(fresh).map(|figures| figures.cache.clone());
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
    Block::Lines(Lines { lead: "not tested:", sentences: summary.not_tested.clone(), is_run_on: true })
}

fn command<'a>(summary: &Summary) -> Section<'a> {
    let command = summary.head.command.join(" ");
    let command = command.chars().filter(|c| !c.is_control()).collect();
    Section::page_only("command", "Command", vec![Block::Code(command)])
}
