//! What a panel shows, before a pixel is chosen.

use analysis::{CellSummary, Curve, Figures, LineAt, Measurement, Panel, Summary};

use super::axis::Extent;

/// A panel to draw.
#[derive(Debug, Clone)]
pub(super) struct PanelPlan {
    /// In lines, above it.
    pub(super) conditions: Vec<String>,
    /// What the depth counts.
    pub(super) depth_words: &'static str,
    pub(super) line: Option<LineAt>,
    pub(super) series: Vec<SeriesPlan>,
}

/// A curve to draw.
#[derive(Debug, Clone)]
pub(super) struct SeriesPlan {
    /// Number among all series of the figure: the same in every panel.
    pub(super) number: usize,
    pub(super) curve: Curve,
    /// Runs of neighbouring points: a line through a failed depth would claim what was not measured.
    pub(super) runs: Vec<Vec<Point>>,
    /// Depths at which every repetition failed.
    pub(super) failed: Vec<u32>,
}

/// A measured cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) depth: u32,
    pub(super) bps: f64,
    /// The 95 % interval, where there is one.
    pub(super) interval: Option<(f64, f64)>,
    /// Client-limited, or not fit for a verdict.
    pub(super) is_hollow: bool,
    pub(super) clears_first: bool,
    /// Mean and interval of the fresh repetitions, where a verdict rests on them.
    pub(super) deciding: Option<(f64, Option<(f64, f64)>)>,
}

impl SeriesPlan {
    pub(super) fn points(&self) -> impl Iterator<Item = &Point> {
        self.runs.iter().flatten()
    }

    pub(super) fn last(&self) -> Option<&Point> {
        self.points().last()
    }

    fn of(summary: &Summary, curve: &Curve, number: usize) -> Option<Self> {
        let mut runs: Vec<Vec<Point>> = vec![Vec::new()];
        let mut failed = Vec::new();
        for index in &curve.cells {
            let cell = &summary.cells[*index];
            match &cell.measured {
                Measurement::Figures(figures) => {
                    let clears_first = curve.clears_at == Some(*index);
                    let deciding =
                        summary.deciding(cell).map(|figures| (figures.bps.mean, interval(figures)));
                    let point =
                        Point { deciding, ..Point::of(cell, figures, clears_first).of_demo(curve.demo) };
                    if let Some(run) = runs.last_mut() {
                        run.push(point);
                    }
                }
                Measurement::Failed { .. } => {
                    failed.push(cell.cell.queue_depth);
                    runs.push(Vec::new());
                }
                Measurement::NotRun { .. } | Measurement::Operations(_) => runs.push(Vec::new()),
            }
        }
        runs.retain(|run| !run.is_empty());
        (!runs.is_empty() || !failed.is_empty()).then(|| Self { number, curve: curve.clone(), runs, failed })
    }
}

fn interval(figures: &Figures) -> Option<(f64, f64)> {
    figures.bps.interval.map(|interval| (interval.low, interval.high))
}

impl Point {
    fn of(cell: &CellSummary, figures: &Figures, clears_first: bool) -> Self {
        Self {
            depth: cell.cell.queue_depth,
            bps: figures.bps.mean,
            interval: interval(figures),
            is_hollow: figures.is_client_limited() || !figures.is_valid() || figures.is_unsteady(),
            clears_first,
            deciding: None,
        }
    }

    /// Every point of a demo is hollow.
    fn of_demo(self, demo: bool) -> Self {
        Self { is_hollow: self.is_hollow || demo, ..self }
    }
}

/// The panels that show something. The null target is the client's ceiling and would press the storage
/// curves flat, so it is drawn only when there is no storage at all.
pub(super) fn panels(summary: &Summary) -> Vec<PanelPlan> {
    let any_storage = summary.cells.iter().any(|cell| cell.storage && cell.figures().is_some());
    let mut known: Vec<(String, String, String)> = Vec::new();
    let mut number = |curve: &Curve| {
        let key = (curve.target.clone(), curve.engine.clone(), curve.distinction.clone());
        known.iter().position(|one| *one == key).unwrap_or_else(|| {
            known.push(key);
            known.len() - 1
        })
    };
    let mut plans = Vec::new();
    for panel in &summary.panels {
        let shown = panel.curves.iter().filter(|curve| curve.storage == any_storage);
        let series: Vec<SeriesPlan> =
            shown.filter_map(|curve| SeriesPlan::of(summary, curve, number(curve))).collect();
        if series.iter().any(|series| !series.runs.is_empty()) {
            plans.push(PanelPlan::of(panel, series));
        }
    }
    plans
}

impl PanelPlan {
    fn of(panel: &Panel, series: Vec<SeriesPlan>) -> Self {
        let depth_words = if panel.operation == "read_file" {
            "files under way"
        } else {
            "queue depth (reads outstanding in the client)"
        };
        Self { conditions: panel.conditions_in_lines(), depth_words, line: panel.line, series }
    }

    /// Every rate that is drawn, the lines included.
    pub(super) fn extent(&self) -> Extent {
        let points = || self.series.iter().flat_map(SeriesPlan::points);
        let span = |point: &Point| {
            let (low, high) = point.interval.unwrap_or((point.bps, point.bps));
            let fresh = point.deciding.map(|(bps, interval)| interval.unwrap_or((bps, bps)));
            fresh.map_or((low, high), |fresh| (low.min(fresh.0), high.max(fresh.1)))
        };
        let lines = self.line.iter().flat_map(|line| [line.bps, line.demand_bps]);
        let models = self.series.iter().filter_map(|series| Some(series.curve.model?.bps_at(1.0)));
        // One from measured values ends at the highest of them.
        let predicted = self.series.iter().filter_map(|series| series.curve.model);
        let predicted = predicted.filter(|model| model.is_predicted);
        let predicted = predicted.map(|model| model.bps_at(f64::from(model.deepest)));
        let peaks = self.series.iter().filter_map(|series| {
            series.points().map(|point| point.bps).reduce(f64::max).filter(|peak| *peak > 0.0)
        });
        Extent {
            high: points()
                .map(|point| span(point).1)
                .chain(lines.clone())
                .chain(predicted)
                .fold(0.0, f64::max),
            low: points()
                .map(|point| span(point).0)
                .chain(lines.clone())
                .chain(models)
                .fold(f64::INFINITY, f64::min),
            low_peak: peaks.chain(lines).fold(f64::INFINITY, f64::min),
        }
    }

    /// Depths of everything that is drawn, sorted.
    pub(super) fn depths(&self) -> Vec<u32> {
        let measured = self.series.iter().flat_map(SeriesPlan::points).map(|point| point.depth);
        let failed = self.series.iter().flat_map(|series| series.failed.iter().copied());
        let mut depths: Vec<u32> = measured.chain(failed).collect();
        depths.sort_unstable();
        depths.dedup();
        depths
    }
}
