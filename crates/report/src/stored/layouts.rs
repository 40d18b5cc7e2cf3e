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

/// How F18 comes to its figures, once for all cells of which latency and rate are the same.
fn how(summary: &Summary) -> Vec<String> {
    let mut said: Vec<Said<'_>> = Vec::new();
    for gain in &summary.layouts.gains {
        let Some(predicted) = &gain.predicted else { continue };
        let alike = |known: &&mut Said<'_>| known.is_of(predicted);
        match said.iter_mut().find(alike) {
            Some(known) => known.add(gain, predicted),
            None => said.push(Said::of(gain, predicted)),
        }
    }
    said.iter().map(Said::words).collect()
}

/// Predictions of one latency and one rate of a connection.
struct Said<'a> {
    targets: Vec<&'a str>,
    predicted: PredictedGain,
    /// Least and most samples in a request.
    samples: (f64, f64),
}

impl<'a> Said<'a> {
    fn of(gain: &'a LayoutGain, predicted: &PredictedGain) -> Self {
        let samples = predicted.samples_per_request;
        Self { targets: vec![&gain.target], predicted: *predicted, samples: (samples, samples) }
    }

    fn is_of(&self, other: &PredictedGain) -> bool {
        let key = |of: &PredictedGain| (of.first_byte_s.to_bits(), of.connection_bps.to_bits(), of.of_claim);
        key(&self.predicted) == key(other)
    }

    fn add(&mut self, gain: &'a LayoutGain, predicted: &PredictedGain) {
        if !self.targets.contains(&&*gain.target) {
            self.targets.push(&gain.target);
        }
        let samples = predicted.samples_per_request;
        self.samples = (self.samples.0.min(samples), self.samples.1.max(samples));
    }

    fn words(&self) -> String {
        let source = if self.predicted.of_claim { "as claimed" } else { "as the emulated server was asked" };
        let [least, most] = [self.samples.0, self.samples.1].map(grouped);
        let samples = if least == most { most } else { format!("{least} to {most}") };
        format!(
            "{}: F18 with {} to the first byte, {} for each connection ({source}) and {samples} samples in a request; \
             limits that all connections share are not in it",
            self.targets.join(", "),
            super::duration(self.predicted.first_byte_s),
            feed::format_bps(self.predicted.connection_bps),
        )
    }
}

fn stored(summary: &Summary) -> Grid {
    let row = |figures: &LayoutFigures| GridRow {
        names: vec![figures.target.clone(), figures.layout.clone()],
        figures: vec![
            feed::group_digits(figures.objects),
            feed::group_digits(figures.samples),
            figures.payload_bytes.map_or_else(|| "-".to_owned(), bytes),
            bytes(figures.stored_bytes),
            bytes(figures.read_bytes),
            overhead(figures.overhead),
        ],
        note: figures.packing.clone(),
    };
    Grid {
        title: "layouts: how samples lie in objects; bytes of a sample, stored for it and read for it, and what is \
                stored beyond it"
            .to_owned(),
        names: vec!["target", "layout"],
        figures: headings(&["objects", "samples", "sample B", "stored B", "read B", "overhead"]),
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
        let sample = gain.payload_bytes.map_or_else(|| "-".to_owned(), bytes);
        let names = [gain.target.clone(), gain.layout.clone(), sample, engine, gain.queue_depth.to_string()];
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
        names: vec!["target", "layout", "sample B", "engine", "QD"],
        figures: headings(names),
        rows: summary.layouts.gains.iter().map(row).collect(),
        foot: String::new(),
    }
    .without_unknown()
}

/// The samples and the order of the reads, for several may stand side by side.
fn note(summary: &Summary, gain: &LayoutGain, doubt: &str) -> String {
    let access = summary.cells.get(gain.packed).map(|cell| cell.cell.access.to_string()).unwrap_or_default();
    crate::side::noted([access, doubt.to_owned()])
}
