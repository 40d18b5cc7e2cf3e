//! Copies: what they take once, and when they pay.

use analysis::{CopyFigures, Payoff, Summary};

use super::{Part, headings};
use crate::grid::{Grid, GridRow};
use crate::number::{grouped, three_digits};
use crate::side;

pub(super) fn part(summary: &Summary, all: bool) -> Part {
    let mut lines = Vec::new();
    if !summary.copies.is_empty() {
        lines.push("cells that copy are not judged against the line".to_owned());
    }
    for copy in summary.copies.iter().filter(|copy| copy.payoffs.is_empty()) {
        let source = summary.cells.get(copy.cell).map_or("", |cell| cell.cell.target.as_str());
        lines.push(format!(
            "{source} to {}: when the copy pays is not known, for the run reads not both in one way",
            copy.to
        ));
    }
    Part { name: "Copies", id: "copies", grids: vec![table(summary), payoffs(summary, all)], lines }
}

fn table(summary: &Summary) -> Grid {
    let unit = super::unit(summary.copies.iter().map(|copy| Some(&copy.bps)));
    let row = |copy: &CopyFigures| {
        let cell = summary.cells.get(copy.cell);
        let mut names = vec![cell.map(|cell| cell.cell.target.clone()).unwrap_or_default(), to(copy)];
        names.push(cell.map(|cell| cell.cell.queue_depth.to_string()).unwrap_or_default());
        let doubts: Vec<String> =
            cell.map(|cell| cell.doubts().into_iter().map(|(_, words)| words).collect()).unwrap_or_default();
        GridRow {
            names,
            figures: vec![
                unit.write(copy.bps.mean),
                super::interval(Some(&copy.bps), |bps| unit.write(bps)),
                copy.objects_per_s.map_or_else(|| "-".to_owned(), |rate| grouped(rate.mean)),
                three_digits(copy.copy_s),
            ],
            note: side::noted([format!("{} in all", feed::format_bytes(copy.bytes)), doubts.join("; ")]),
        }
    };
    Grid {
        title: "copies: rate, objects per second, and seconds to copy the whole dataset (F42)".to_owned(),
        names: vec!["from", "to", "QD"],
        figures: headings(&[unit.name, "95 % interval", "objects/s", "seconds"]),
        rows: summary.copies.iter().map(row).collect(),
        foot: String::new(),
    }
}

/// `local`, `local as webdataset`.
fn to(copy: &CopyFigures) -> String {
    copy.layout.as_ref().map_or_else(|| copy.to.clone(), |layout| format!("{} as {layout}", copy.to))
}

fn payoffs(summary: &Summary, all: bool) -> Grid {
    let pairs = summary.copies.iter().flat_map(|copy| copy.payoffs.iter().map(move |payoff| (copy, payoff)));
    let row = |(copy, payoff): (&CopyFigures, &Payoff)| {
        let cell = summary.cells.get(payoff.source);
        let mut figures = vec![three_digits(payoff.source_epoch_s), three_digits(payoff.copy_epoch_s)];
        figures.extend([super::seconds(payoff.source_first_s), super::seconds(payoff.copy_first_s)]);
        figures.push(payoff.break_even.map_or_else(|| "never".to_owned(), three_digits));
        let way = cell.filter(|_| all).map(|cell| super::way(summary, cell)).unwrap_or_default();
        GridRow {
            names: vec![
                cell.map(|cell| cell.cell.target.clone()).unwrap_or_default(),
                to(copy),
                cell.map(|cell| cell.cell.queue_depth.to_string()).unwrap_or_default(),
            ],
            figures,
            note: side::noted([payoff.words(), way]),
        }
    };
    let names: &[&str] = if all {
        &["epoch s, source", "epoch s, copy", "first s, source", "first s, copied first", "break-even epochs"]
    } else {
        &["source s", "copy s", "first s", "copied s", "epochs"]
    };
    Grid {
        title: "whether a copy pays: seconds of an epoch from the source and from the copy, seconds until the first batch \
                or operation streaming and after copying, and epochs after which the copy has paid (F42)"
            .to_owned(),
        names: vec!["from", "to", "QD"],
        figures: headings(names),
        rows: pairs.map(row).collect(),
        foot: String::new(),
    }
}
