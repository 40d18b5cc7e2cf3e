//! Throughput of each pass over the data, and below it the share of its bytes that a cache served.

use analysis::{EpochFigures, EpochPass, Rate, Summary};
use plotters::style::text_anchor::HPos;

use super::super::axis::{Extent, RateAxis};
use super::super::chart::{Axis, Chart, height_around};
use super::super::drawn::{Drawn, places, rows};
use super::super::key::{self, Mark};
use super::super::marker::{self, Canvas, Refusal};
use super::super::sheet::{EDGE, SUBTITLE_SIZE, Sheet, WIDTH, columns_of, text};
use super::super::theme::Ink;
use super::super::{ticks, wording};
use super::title;
use crate::number::{RateUnit, three_digits};
use crate::plain::shortened;
use crate::plot::PlotTable;

/// Height of the two plots of one panel, and of each of several.
const PLOT: ((i32, i32), (i32, i32)) = ((260, 150), (190, 110));
/// Panels that one figure holds.
const PANELS_MAX: usize = 6;
/// Narrowest bar with a number on it, pixels.
const NUMBERED_MIN: i32 = 16;
/// What the plot shows, in its title.
const SHOWN: &str = "epochs: throughput and cache";

struct Panel<'a> {
    title: String,
    figures: &'a EpochFigures,
    line_bps: Option<f64>,
}

/// What the lower plot shows of a pass: hits of a tier where there is one, else what storage was not asked for.
fn cached(pass: &EpochPass) -> Option<Rate> {
    pass.tier_hits.or(pass.cache_share)
}

/// Draws the figure; `None` where no cell made two passes.
pub(super) fn draw(summary: &Summary) -> Option<Drawn> {
    let several = summary.epochs.iter().filter(|figures| figures.epochs.len() > 1);
    let mut panels: Vec<Panel<'_>> = several.filter_map(|figures| panel(summary, figures)).collect();
    let all = panels.len();
    panels.truncate(PANELS_MAX);
    if panels.is_empty() {
        return None;
    }
    let columns = if panels.len() == 1 { 1 } else { 2 };
    let plot = if columns == 1 { PLOT.0 } else { PLOT.1 };
    let parts = (height_around(plot.0, 1), height_around(plot.1, 0));
    let key = key::flow(entries(&panels), WIDTH - 2 * EDGE);
    let sheet = sheet(summary, panels.len(), all);
    let height = parts.0 + parts.1;
    let svg = sheet.drawn(rows(panels.len(), columns) * height, &key, |canvas, top| {
        for (panel, place) in panels.iter().zip(places(panels.len(), columns, height, top)) {
            draw_panel(canvas, panel, place, parts)?;
        }
        Ok(())
    });
    Some(Drawn { name: "epochs", shown: SHOWN, svg, table: table(summary, &panels) })
}

fn panel<'a>(summary: &Summary, figures: &'a EpochFigures) -> Option<Panel<'a>> {
    let cell = summary.cells.get(figures.cell)?;
    let line_bps = cell.line.filter(|_| cell.cell.training.is_none()).map(|line| line.bps);
    Some(Panel { title: shortened(&title(summary, cell), 70), figures, line_bps })
}

fn sheet(summary: &Summary, shown: usize, all: usize) -> Sheet {
    let mut conditions =
        vec!["each bar is an epoch, as long as it took; the mean of the repetitions".to_owned()];
    conditions.extend((shown < all).then(|| format!("the first {shown} of {all} cells")));
    let lines = wording::subtitles_with(summary, conditions, columns_of(SUBTITLE_SIZE));
    Sheet::of(summary, &wording::title_of(summary, SHOWN), &lines)
}

fn entries(panels: &[Panel<'_>]) -> Vec<(Mark, String)> {
    let passes = || panels.iter().flat_map(|panel| &panel.figures.epochs);
    let mut found = vec![(Mark::Step, "epochs, in two shades in turn".to_owned())];
    if passes().any(|pass| !pass.complete) {
        found.push((Mark::Window, "cut by the end of the window".to_owned()));
    }
    if passes().any(|pass| pass.predicted_hits.is_some()) {
        found.push((Mark::Fit, "predicted hits, from the size of the cache and the order".to_owned()));
    }
    found.extend(key::feed_line(panels.iter().filter_map(|panel| panel.line_bps)));
    found
}

fn rates(panel: &Panel<'_>) -> (Axis, RateAxis) {
    let high =
        panel.figures.epochs.iter().map(|pass| pass.bps.span().1).chain(panel.line_bps).fold(0.0, f64::max);
    // Bars begin at zero.
    ticks::rates(Extent { high, low: 0.0, low_peak: high }, "throughput of an epoch")
}

fn draw_panel(
    canvas: &Canvas<'_>,
    panel: &Panel<'_>,
    (left, top, width, _): (i32, i32, i32, i32),
    (upper, lower): (i32, i32),
) -> Result<(), Refusal> {
    let end_s = panel.figures.epochs.iter().map(|pass| pass.ended_s).fold(0.0, f64::max);
    let x = ticks::linear(end_s, 8.0, "time since the window opened, s");
    let margin_right = 18;
    let (y, rates) = rates(panel);
    let title = vec![panel.title.clone()];
    let chart = Chart { place: (left, top, width, upper), margin_right, title, x: x.clone(), y };
    let chart = Chart { x: ticks::thinned(chart.x.clone(), chart.length()), ..chart };
    chart.frame(canvas)?;
    for (index, pass) in panel.figures.epochs.iter().enumerate() {
        let (from, to) = bar(canvas, &chart, (index, pass), rates.place(pass.bps.mean))?;
        let middle = i32::midpoint(from.0, to.0);
        if pass.bps.interval.is_some() && to.0 - from.0 > NUMBERED_MIN {
            let px = |bps: f64| chart.px(pass.begun_s, rates.place(bps)).1;
            let span = pass.bps.span();
            marker::whisker(canvas, middle, (px(span.0), px(span.1)), Ink::Text)?;
        }
        let number = (pass.epoch + 1).to_string();
        if to.0 - from.0 >= NUMBERED_MIN.max(8 * number.len() as i32 + 4) && to.1 - from.1 > 24 {
            text(canvas, &number, (middle, chart.down().end - 10), (12.0, Ink::Text, HPos::Center))?;
        }
    }
    if let Some(bps) = panel.line_bps {
        let (across, y) = (chart.across(), chart.height_of(rates.place(bps)).round() as i32);
        marker::dashes(canvas, (across.start, across.end), y, (Ink::Line, 2))?;
    }
    shares(canvas, panel, (left, top + upper, width, lower), &chart.x)
}

/// Upper left and lower right, pixels.
type Corners = ((i32, i32), (i32, i32));

/// Draws a bar from zero up, and says where its upper left and lower right corners are.
fn bar(
    canvas: &Canvas<'_>,
    chart: &Chart,
    (index, pass): (usize, &EpochPass),
    height: f64,
) -> Result<Corners, Refusal> {
    let from = chart.px(pass.begun_s.clamp(0.0, chart.x.high), height);
    let to = chart.px(pass.ended_s.clamp(0.0, chart.x.high), chart.y.low);
    let to = (to.0.max(from.0 + 1), to.1);
    let opacity = if pass.complete { marker::SHADES[index % 2] * 0.7 } else { marker::WINDOW_OPACITY };
    if to.1 > from.1 {
        marker::block(canvas, (from, to), Ink::Series(0), opacity)?;
    }
    Ok((from, to))
}

fn shares(
    canvas: &Canvas<'_>,
    panel: &Panel<'_>,
    place: (i32, i32, i32, i32),
    x: &Axis,
) -> Result<(), Refusal> {
    let is_tier = panel.figures.epochs.iter().any(|pass| pass.tier_hits.is_some());
    let is_known = panel.figures.epochs.iter().any(|pass| cached(pass).is_some());
    let words = match (is_known, is_tier) {
        (true, true) => "hits of the cache tier, % of bytes",
        (true, false) => "not asked of storage, % of bytes",
        (false, _) => "share from a cache: none, or not known",
    };
    let percents = (0..=4).map(|step| (f64::from(step) * 0.25, format!("{}", step * 25))).collect();
    let y = Axis { low: 0.0, high: 1.0, ticks: percents, words: words.to_owned() };
    let chart = Chart { place, margin_right: 18, title: Vec::new(), x: x.clone(), y };
    chart.frame(canvas)?;
    for (index, pass) in panel.figures.epochs.iter().enumerate() {
        if let Some(share) = cached(pass) {
            bar(canvas, &chart, (index, pass), share.mean)?;
        }
        if let Some(hits) = pass.predicted_hits {
            let from = chart.px(pass.begun_s.min(chart.x.high), hits);
            let to = chart.px(pass.ended_s.min(chart.x.high), hits);
            marker::dashes(canvas, (from.0, to.0), from.1, (Ink::Text, 2))?;
        }
    }
    Ok(())
}

fn table(summary: &Summary, panels: &[Panel<'_>]) -> PlotTable {
    let passes = || panels.iter().flat_map(|panel| &panel.figures.epochs);
    let unit = RateUnit::for_largest(passes().map(|pass| pass.bps.mean).fold(0.0, f64::max));
    let columns =
        ["cell", "epoch", "begun s", "ended s", unit.name, "cache share, %", "tier hits, %", "predicted, %"];
    let percent =
        |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| three_digits(share * 100.0));
    let mut rows = Vec::new();
    for panel in panels {
        let cell =
            summary.cells.get(panel.figures.cell).map(|cell| cell.cell.cell.clone()).unwrap_or_default();
        rows.extend(panel.figures.epochs.iter().map(|pass| {
            vec![
                cell.clone(),
                (pass.epoch + 1).to_string(),
                three_digits(pass.begun_s),
                three_digits(pass.ended_s),
                unit.write(pass.bps.mean),
                percent(pass.cache_share.map(|rate| rate.mean)),
                percent(pass.tier_hits.map(|rate| rate.mean)),
                percent(pass.predicted_hits),
            ]
        }));
    }
    PlotTable { columns: columns.map(str::to_owned).into(), rows }
}
