//! Layouts: what is stored for a sample, and what packing gains.

use analysis::{LayoutGain, PredictedGain, Summary};
use record::Fact;

use crate::grid::{Column, Grid, Width};
use crate::group::once_by_key;
use crate::number::{grouped, interval, times};
use crate::page::Block;
use crate::side::noted;
use crate::words::{self, order};

pub(super) fn blocks(summary: &Summary) -> Vec<Block<'static>> {
    let mut lines = streamed(summary);
    lines.extend(how(summary));
    super::words::blocks_of([stored(summary), gains(summary)], lines)
}

/// What is known of the order of streams, once for all cells of which it is the same.
fn streamed(summary: &Summary) -> Vec<String> {
    let said = summary.layouts.streamed.iter().filter_map(|streamed| {
        let cell = &summary.cells.get(streamed.cell)?.cell;
        let order: Vec<String> = streamed.order.iter().map(order::words).collect();
        Some((format!("{}: {}", cell.access, order.join("; ")), cell.target.as_str()))
    });
    let line = |(words, targets): (String, Vec<&str>)| format!("{} {words}", targets.join(", "));
    once_by_key(said).into_iter().map(line).collect()
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
        // By their bits: they come from one setting, and are the same to the last or another's.
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
            super::words::duration(self.predicted.first_byte_s),
            feed::format_bps(self.predicted.connection_bps),
        )
    }
}

fn stored(summary: &Summary) -> Grid {
    let title = "layouts: how samples lie in objects; bytes of a sample, stored for it and read for it, and what is stored \
                 beyond it";
    Grid::of(title, &summary.layouts.datasets)
        .name("target", |figures| figures.target.clone())
        .name("layout", |figures| figures.layout.clone())
        .figure("objects", |figures| Some(feed::group_digits(figures.objects)))
        .figure("samples", |figures| Some(feed::group_digits(figures.samples)))
        .figure("sample B", |figures| bytes(figures.payload_bytes?))
        .figure("stored B", |figures| bytes(figures.stored_bytes))
        .figure("read B", |figures| bytes(figures.read_bytes))
        .figure("overhead", |figures| figures.overhead.map(overhead))
        .note(|figures| packing(&figures.packing))
        .done()
}

/// `shard size 256 MiB, codec zstd`.
fn packing(facts: &[Fact]) -> String {
    let words = facts.iter().map(|fact| format!("{} {}", fact.name.replace('_', " "), fact.value));
    words.collect::<Vec<_>>().join(", ")
}

fn bytes(bytes: f64) -> Option<String> {
    (bytes.is_finite() && bytes >= 0.0).then(|| feed::group_digits(bytes.round() as u64))
}

fn overhead(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 0.05 { "0 %".to_owned() } else { format!("{percent:.1} %") }
}

fn gains(summary: &Summary) -> Grid {
    let engine = |gain: &LayoutGain| {
        summary.cells.get(gain.packed).map_or_else(String::new, analysis::CellSummary::engine_label)
    };
    let title = "layouts against files: samples/s at the same depth, the gain G over the fastest files, and what F18 \
                 predicts of it";
    let factor = |gain: f64| format!("{} x", times(gain));
    Grid::of(title, &summary.layouts.gains)
        .name("target", |gain| gain.target.clone())
        .name("layout", |gain| gain.layout.clone())
        .name("sample B", |gain| gain.payload_bytes.and_then(bytes).unwrap_or_else(|| "-".to_owned()))
        .name("engine", engine)
        .number("QD", |gain| gain.queue_depth.to_string())
        .figure("samples/s", |gain| Some(grouped(gain.samples_per_s.mean)))
        .column(Column::figure("95 % interval").only(Width::Wide), |gain| {
            interval(&gain.samples_per_s, grouped)
        })
        .figure("files/s", |gain| Some(grouped(gain.files_samples_per_s.mean)))
        .column(Column::figure("measured G").short("measured"), |gain| Some(factor(gain.gain)))
        .column(Column::figure("predicted G").short("F18"), |gain| Some(factor(gain.predicted?.gain)))
        .note(|gain| note(summary, gain))
        .done()
        // Figures of F18 need a claim or an emulated server; most runs have neither.
        .without_unknown()
}

/// How they are packed and the order of the reads, for several may stand side by side.
fn note(summary: &Summary, gain: &LayoutGain) -> String {
    let packed = summary.cells.get(gain.packed).map(|cell| &cell.cell);
    let form = packed.and_then(words::form::of_cell).unwrap_or_default();
    let access = packed.map(|cell| cell.access.to_string()).unwrap_or_default();
    let doubt = if gain.is_doubtful { "doubtful, see the table of cells" } else { "" };
    noted([form, access, doubt.to_owned()])
}
