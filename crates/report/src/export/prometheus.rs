//! Prometheus text for the textfile collector: gauges in base units, no time stamps.

use std::fmt::Write as _;

use analysis::{CellSummary, METRICS, Metric, Summary, Unit};
use feed::Judgement;

use super::measure::{Measure, measures};
use super::{Export, line};
use crate::words::machine::machine;

/// Every figure of a run as gauges with the cell in their labels. What is missing stands in comments at the end.
pub fn prometheus(summary: &Summary) -> Export {
    let mut page = Page::default();
    page.info(summary);
    let mut gaps = Vec::new();
    let mut cells: Vec<(&CellSummary, Vec<Measure>)> = Vec::new();
    for cell in &summary.cells {
        let (found, absent) = measures(cell);
        cells.push((cell, found));
        gaps.extend(absent);
    }
    let mut gauges: Vec<(&str, &str)> = Vec::new();
    for (metric, tracked) in METRICS.iter().filter_map(|metric| Some((metric, metric.tracked?))) {
        // Several metrics may share a gauge: the format wants its help once, and its samples together.
        if gauges.iter().all(|(gauge, _)| *gauge != tracked.gauge) {
            gauges.push((tracked.gauge, metric.help));
        }
    }
    for (gauge, help) in gauges {
        page.metric(summary, &cells, gauge, help);
    }
    page.line_bps(summary);
    page.verdicts(summary);
    page.head("feedline_cells_without_figures", "Planned cells that have no figures.");
    let absent = summary.cells.iter().filter(|cell| !cell.is_measured()).count();
    page.sample("feedline_cells_without_figures", &[("scenario", &summary.head.scenario)], absent as f64);
    for gap in &gaps {
        // The collector passes over comments, and who opens the file sees what is missing.
        let _ = writeln!(page.0, "# gap: {}", line(gap));
    }
    Export { text: page.0, gaps }
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} gauge");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let labels: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
        let _ = writeln!(self.0, "{name}{{{}}} {value}", labels.join(","));
    }

    fn info(&mut self, summary: &Summary) {
        let head = &summary.head;
        self.head("feedline_run_info", "The run that these figures are of.");
        let labels = [
            ("scenario", head.scenario.as_str()),
            ("run_id", &head.run_id),
            ("started", &head.started),
            ("plan_hash", &head.plan_hash),
            ("machine", &machine(&head.machine)),
            ("version", &head.tool.version),
        ];
        self.sample("feedline_run_info", &labels, 1.0);
    }

    fn metric(&mut self, summary: &Summary, cells: &[(&CellSummary, Vec<Measure>)], name: &str, help: &str) {
        let of_gauge = |measures: &[Measure]| measures.iter().copied().find(|one| one.tracked.gauge == name);
        let found: Vec<(&CellSummary, Measure)> =
            cells.iter().filter_map(|(cell, measures)| Some((*cell, of_gauge(measures)?))).collect();
        // A gauge without a sample would be a promise that no cell keeps.
        if found.is_empty() {
            return;
        }
        self.head(name, help);
        for (cell, measure) in &found {
            self.of_cell(summary, cell, name, base(measure.metric, measure.value));
        }
        for (end, words, is_upper) in [("lower", "Lower", false), ("upper", "Upper", true)] {
            let of = |(low, high): (f64, f64)| if is_upper { high } else { low };
            let with: Vec<_> = found
                .iter()
                .filter_map(|(cell, one)| Some((*cell, base(one.metric, of(one.interval?)))))
                .collect();
            let name = name.replacen("feedline_", &format!("feedline_{end}_"), 1);
            if !with.is_empty() {
                self.head(&name, &format!("{words} end of the 95 % interval of the same."));
            }
            for (cell, value) in with {
                self.of_cell(summary, cell, &name, value);
            }
        }
    }

    fn of_cell(&mut self, summary: &Summary, cell: &CellSummary, name: &str, value: f64) {
        let depth = cell.cell.queue_depth.to_string();
        let labels = [
            ("scenario", summary.head.scenario.as_str()),
            ("target", &cell.cell.target),
            ("cell", &cell.cell.cell),
            ("engine", &cell.cell.engine),
            ("queue_depth", &depth),
        ];
        self.sample(name, &labels, value);
    }

    /// The line of each target: that of the cell which is judged, else of the first that has one.
    fn line_bps(&mut self, summary: &Summary) {
        let lines: Vec<(&str, f64)> = summary
            .targets
            .iter()
            .filter_map(|target| {
                let cells = || summary.cells.iter().filter(|cell| cell.cell.target == target.name);
                let judged = cells().filter(|cell| summary.is_judged(cell)).find_map(|cell| cell.line);
                let line = judged.or_else(|| cells().find_map(|cell| cell.line))?;
                line.bps.is_finite().then_some((target.name.as_str(), line.bps))
            })
            .collect();
        if lines.is_empty() {
            return;
        }
        let name = "feedline_line_bytes_per_second";
        self.head(name, "What the accelerators need at their target utilization.");
        for (target, bps) in lines {
            self.sample(name, &[("scenario", &summary.head.scenario), ("target", target)], bps);
        }
    }

    /// One series for each word, of which one is 1.
    fn verdicts(&mut self, summary: &Summary) {
        if summary.verdicts.is_empty() {
            return;
        }
        let name = "feedline_verdict";
        self.head(name, "1 for the verdict of a target, 0 for the others.");
        for verdict in &summary.verdicts {
            let words = [Judgement::Feeds, Judgement::Starves, Judgement::Uncertain].map(Judgement::name);
            // Every word each time: a series that ends is not seen to have become 0.
            for word in words.into_iter().chain(["DEMO"]) {
                let labels = [
                    ("scenario", summary.head.scenario.as_str()),
                    ("target", &verdict.target),
                    ("verdict", word),
                ];
                self.sample(name, &labels, f64::from(u8::from(verdict.word() == word)));
            }
        }
    }
}

/// Nanoseconds become seconds, the base unit.
fn base(metric: &Metric, value: f64) -> f64 {
    if metric.unit == Unit::Nanoseconds { value / 1e9 } else { value }
}

fn escaped(value: &str) -> String {
    feed::plain(value).replace('\\', "\\\\").replace('"', "\\\"")
}
