//! Layouts: what is stored for a sample, and what packing gains.

use analysis::{LayoutFigures, LayoutGain, PredictedGain, Summary};

use super::{Part, headings};
use crate::grid::{Grid, GridRow};
use crate::number::{grouped, times};

pub(super) fn part(summary: &Summary, all: bool) -> Part {
    let mut lines = streamed(summary);
    lines.extend(how(summary));
    Part { name: "Layouts", id: "layouts", grids: vec![stored(summary), gains(summary, all)], lines }
}

/// What is known of the order of streams, once for all cells of which it is the same.
fn streamed(summary: &Summary) -> Vec<String> {
    let mut said: Vec<(String, Vec<String>)> = Vec::new();
    for streamed in &summary.layouts.streamed {
        let Some(cell) = summary.cells.get(streamed.cell) else { continue };
        let words = format!("{}: {}", cell.cell.access, streamed.notes.join("; "));
        let target = &cell.cell.target;
        match said.iter_mut().find(|(known, _)| *known == words) {
            Some((_, targets)) if targets.contains(target) => {}
            Some((_, targets)) => targets.push(target.clone()),
            None => said.push((words, vec![target.clone()])),
        }
    }
    said.into_iter().map(|(words, targets)| format!("{} {words}", targets.join(", "))).collect()
}

/// How F18 comes to its figure, once for all cells of which it is the same.
fn how(summary: &Summary) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for gain in &summary.layouts.gains {
        let words = gain.predicted.as_ref().map(|predicted| predicted_words(gain, predicted));
        said.extend(words.filter(|words| !said.contains(words)));
    }
    said
}

fn predicted_words(gain: &LayoutGain, predicted: &PredictedGain) -> String {
    let source = if predicted.of_claim { "as claimed" } else { "as the emulated server was asked" };
    format!(
        "{} {}: F18 with {} to the first byte, {} for each connection ({source}) and {} samples in a request; limits that \
         all connections share are not in it",
        gain.target,
        gain.layout,
        super::duration(predicted.first_byte_s),
        feed::format_bps(predicted.connection_bps),
        grouped(predicted.samples_per_request),
    )
}

fn stored(summary: &Summary) -> Grid {
    let row = |figures: &LayoutFigures| GridRow {
        names: vec![figures.target.clone(), figures.layout.clone()],
        figures: vec![
            feed::group_digits(figures.objects),
            feed::group_digits(figures.samples),
            bytes(figures.stored_bytes),
            bytes(figures.read_bytes),
            overhead(figures.overhead),
        ],
        note: figures.packing.clone(),
    };
    Grid {
        title: "layouts: how samples lie in objects; bytes stored and read for each sample, and what is stored beyond \
                its payload"
            .to_owned(),
        names: vec!["target", "layout"],
        figures: headings(&["objects", "samples", "stored B", "read B", "overhead"]),
        rows: summary.layouts.datasets.iter().map(row).collect(),
        foot: String::new(),
    }
}

fn bytes(bytes: f64) -> String {
    if bytes.is_finite() && bytes >= 0.0 { feed::group_digits(bytes.round() as u64) } else { "-".to_owned() }
}

fn overhead(share: Option<f64>) -> String {
    match share.map(|share| share * 100.0) {
        Some(percent) if percent.abs() < 0.05 => "0 %".to_owned(),
        Some(percent) => format!("{percent:.1} %"),
        None => "-".to_owned(),
    }
}

fn gains(summary: &Summary, all: bool) -> Grid {
    let row = |gain: &LayoutGain| {
        let engine =
            summary.cells.get(gain.packed).map_or_else(String::new, analysis::CellSummary::engine_label);
        let names = [gain.target.clone(), gain.layout.clone(), engine, gain.queue_depth.to_string()];
        let interval = super::interval(Some(&gain.samples_per_s), grouped);
        let mut figures = vec![grouped(gain.samples_per_s.mean)];
        figures.extend(all.then_some(interval));
        figures.push(grouped(gain.files_samples_per_s.mean));
        figures.push(format!("{} x", times(gain.gain)));
        figures.push(
            gain.predicted.map_or_else(|| "-".to_owned(), |predicted| format!("{} x", times(predicted.gain))),
        );
        let doubt = if gain.is_doubtful { "doubtful, see the table of cells" } else { "" };
        GridRow { names: names.into(), figures, note: note(summary, gain, doubt) }
    };
    let names: &[&str] = if all {
        &["samples/s", "95 % interval", "files/s", "measured G", "predicted G"]
    } else {
        &["samples/s", "files/s", "measured", "F18"]
    };
    Grid {
        title: "layouts against files: samples/s at the same depth, the gain G over the fastest files, and what F18 \
                predicts of it"
            .to_owned(),
        names: vec!["target", "layout", "engine", "QD"],
        figures: headings(names),
        rows: summary.layouts.gains.iter().map(row).collect(),
        foot: String::new(),
    }
    .without_unknown()
}

/// The samples and the order of the reads, for several may stand side by side.
fn note(summary: &Summary, gain: &LayoutGain, doubt: &str) -> String {
    let cell = summary.cells.get(gain.packed);
    let access = cell.map(|cell| cell.cell.access.clone()).unwrap_or_default();
    let sample = cell.and_then(|cell| super::sample(summary, cell)).unwrap_or_default();
    crate::side::noted([sample, access, doubt.to_owned()])
}
