//! Copies: what they take once, and when they pay.

use analysis::{CellSummary, CopyFigures, Payoff, Summary};

use crate::grid::{Column, Grid};
use crate::number::{grouped, interval, three_digits};
use crate::page::Block;
use crate::side::{doubts, noted};

pub(super) fn blocks(summary: &Summary) -> Vec<Block<'static>> {
    let mut lines = Vec::new();
    if !summary.copies.is_empty() {
        // Said, because a rate stands beside them and a reader looks for the line.
        lines.push("cells that copy are not judged against the line".to_owned());
    }
    for copy in summary.copies.iter().filter(|copy| copy.payoffs.is_empty()) {
        let source = summary.cells.get(copy.cell).map_or("", |cell| cell.cell.target.as_str());
        lines.push(format!(
            "{source} to {}: when the copy pays is not known, for the run reads not both in one way",
            copy.to
        ));
    }
    super::words::blocks_of([table(summary), payoffs(summary)], lines)
}

fn table(summary: &Summary) -> Grid {
    let unit = super::words::unit(summary.copies.iter().map(|copy| Some(&copy.bps)));
    let title = "copies: rate, objects per second, and seconds to copy the whole dataset (F42)";
    let note = |copy: &CopyFigures| {
        let doubts = cell(summary, copy.cell).map(doubts).unwrap_or_default();
        noted([format!("{} in all", feed::format_bytes(copy.bytes)), doubts])
    };
    Grid::of(title, &summary.copies)
        .name("from", |copy| target(summary, copy.cell))
        .name("to", to)
        .number("QD", |copy| depth(summary, copy.cell))
        .figure(unit.name, |copy| Some(unit.write(copy.bps.mean)))
        .figure("95 % interval", |copy| interval(&copy.bps, |bps| unit.write(bps)))
        .figure("objects/s", |copy| Some(grouped(copy.objects_per_s?.mean)))
        .figure("seconds", |copy| Some(three_digits(copy.copy_s)))
        .note(note)
        .done()
}

/// `pays from epoch 3 on`.
fn pays(payoff: &Payoff) -> String {
    match payoff.break_even {
        // Saved time must reach what copying took: within the epoch that it falls into.
        Some(epochs) => format!("pays from epoch {} on", feed::format_count(epochs.ceil().max(1.0))),
        // No figure: an infinite number of epochs is no plan.
        None => "never pays here: the copy is not faster".to_owned(),
    }
}

fn cell(summary: &Summary, index: usize) -> Option<&CellSummary> {
    summary.cells.get(index)
}

fn target(summary: &Summary, index: usize) -> String {
    cell(summary, index).map(|cell| cell.cell.target.clone()).unwrap_or_default()
}

fn depth(summary: &Summary, index: usize) -> String {
    cell(summary, index).map(|cell| cell.cell.queue_depth.to_string()).unwrap_or_default()
}

/// `local`, `local as webdataset`.
fn to(copy: &CopyFigures) -> String {
    copy.layout.as_ref().map_or_else(|| copy.to.clone(), |layout| format!("{} as {layout}", copy.to))
}

fn payoffs(summary: &Summary) -> Grid {
    let pairs: Vec<(&CopyFigures, &Payoff)> = summary
        .copies
        .iter()
        .flat_map(|copy| copy.payoffs.iter().map(move |payoff| (copy, payoff)))
        .collect();
    let title = "whether a copy pays: seconds of an epoch from the source and from the copy, seconds until the first \
                 batch or operation streaming and after copying, and epochs after which the copy has paid (F42)";
    let figure = |heading: &str, short: &'static str| Column::figure(heading).short(short);
    let note = |payoff: &Payoff| {
        let way =
            cell(summary, payoff.source).map(|cell| super::words::way(summary, cell)).unwrap_or_default();
        noted([pays(payoff), way])
    };
    Grid::of(title, &pairs)
        .name("from", |(_, payoff)| target(summary, payoff.source))
        .name("to", |(copy, _)| to(copy))
        .number("QD", |(_, payoff)| depth(summary, payoff.source))
        .column(figure("epoch s, source", "source s"), |(_, of)| Some(three_digits(of.source_epoch_s)))
        .column(figure("epoch s, copy", "copy s"), |(_, of)| Some(three_digits(of.copy_epoch_s)))
        .column(figure("first s, source", "first s"), |(_, of)| of.source_first_s.map(three_digits))
        .column(figure("first s, copied first", "copied s"), |(_, of)| of.copy_first_s.map(three_digits))
        .column(figure("break-even epochs", "epochs"), |(_, of)| {
            Some(of.break_even.map_or_else(|| "never".to_owned(), three_digits))
        })
        .note(|(_, payoff)| note(payoff))
        .done()
}
