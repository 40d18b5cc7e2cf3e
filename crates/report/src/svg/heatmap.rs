//! Latency over time: columns of seconds, rows of latencies, and a shade for the share of the second's operations.

use std::fmt::Write as _;

use analysis::{Heat, HeatColumn, OverTime, Summary};

use super::chart::{Axis, Chart, height_around};
use super::drawn::{Drawn, places, rows, target_title};
use super::key::{self, Mark};
use super::marker::{self, Canvas, LEVELS, Refusal};
use super::sheet::{EDGE, SUBTITLE_SIZE, Sheet, WIDTH, columns_of};
use super::strip::Strip;
use super::theme::{Ink, STARVING_OPACITY};
use super::{ticks, wording};
use crate::number::milliseconds;
use crate::plot::PlotTable;

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (360, 250);
/// Panels that one figure holds.
const PANELS_MAX: usize = 4;
/// Smallest share of a second's operations of each shade but the first.
const SHARES: [f64; 5] = [0.001, 0.003, 0.01, 0.03, 0.1];
/// What the plot shows, in its title.
const SHOWN: &str = "latency over time";

struct Panel<'a> {
    cell: &'a str,
    title: String,
    heat: &'a Heat,
    /// Columns of each repetition, in order.
    reps: Vec<Vec<&'a HeatColumn>>,
}

/// Draws the figure; `None` where no seconds were kept of a cell that stands for a target.
pub(super) fn draw(summary: &Summary, over_time: &[OverTime]) -> Option<Drawn> {
    let mut panels: Vec<Panel<'_>> = over_time.iter().filter_map(|one| panel(summary, one)).collect();
    let all = panels.len();
    panels.truncate(PANELS_MAX);
    let y = latencies(&panels)?;
    let columns = if panels.len() == 1 { 1 } else { 2 };
    let height = height_around(if columns == 1 { PLOT.0 } else { PLOT.1 }, 1);
    let key = key::flow(entries(&panels), WIDTH - 2 * EDGE);
    let sheet = sheet(summary, panels.len(), all);
    let mut shades = String::new();
    let drawn = sheet.drawn(rows(panels.len(), columns) * height, &key, |canvas, top| {
        for (panel, place) in panels.iter().zip(places(panels.len(), columns, height, top)) {
            let margin_right = 18;
            let title = vec![panel.title.clone()];
            let x = Axis { low: 0.0, high: 1.0, ticks: Vec::new(), words: String::new() };
            let chart = Chart { place, margin_right, title, x, y: y.clone() };
            draw_panel(canvas, chart, panel, &mut shades)?;
        }
        Ok(())
    });
    let svg = drawn.map(|drawn| with_shades(&drawn, &shades));
    Some(Drawn { name: "heatmap", shown: SHOWN, svg, table: table(&panels) })
}

fn panel<'a>(summary: &Summary, one: &'a OverTime) -> Option<Panel<'a>> {
    let heat = one.heat.as_ref()?;
    let cell = summary.cell(&one.cell)?;
    let mut reps: Vec<Vec<&HeatColumn>> = Vec::new();
    for column in &heat.columns {
        match reps.last_mut().filter(|rep| rep[0].rep == column.rep) {
            Some(rep) => rep.push(column),
            None => reps.push(vec![column]),
        }
    }
    let target = target_title(summary, &cell.cell.target);
    let title = format!("{target} {}, depth {}", cell.engine_label(), cell.cell.queue_depth);
    Some(Panel { cell: &one.cell, title: crate::plain::shortened(&title, 60), heat, reps })
}

/// One axis for all panels: what they hold, and a decade at least.
fn latencies(panels: &[Panel<'_>]) -> Option<Axis> {
    let top = |heat: &Heat| heat.low_log10_ns + f64::from(heat.rows) / f64::from(heat.rows_by_decade);
    let low = panels.iter().map(|panel| panel.heat.low_log10_ns).reduce(f64::min)?;
    let high = panels.iter().map(|panel| top(panel.heat)).reduce(f64::max)?;
    let room = ((1.0 - (high - low)) / 2.0).max(0.0);
    let (low, high) = ((low - room).max(0.0), high + room);
    let axis = ticks::times(10_f64.powf(low), 10_f64.powf(high), "latency, log scale");
    let ticks = axis.ticks.into_iter().filter(|tick| (low..=high).contains(&tick.0)).collect();
    Some(Axis { low, high, ticks, words: axis.words })
}

fn sheet(summary: &Summary, shown: usize, all: usize) -> Sheet {
    let mut conditions =
        vec!["the cell that stands for each target, in its interleaved repetitions".to_owned()];
    if shown < all {
        conditions.push(format!("the first {shown} of {all} targets"));
    }
    let lines = wording::subtitles_with(summary, conditions, columns_of(SUBTITLE_SIZE));
    Sheet::of(summary, &wording::title_of(summary, SHOWN), &lines)
}

fn entries(panels: &[Panel<'_>]) -> Vec<(Mark, String)> {
    let steps: Vec<u32> = panels.iter().map(|panel| panel.heat.step_s).collect();
    let stretch = match steps.as_slice() {
        [first, rest @ ..] if rest.iter().all(|step| step == first) => {
            feed::format_duration_ns(u64::from(*first) * 1_000_000_000)
        }
        _ => "a column's time".to_owned(),
    };
    let mut found = vec![(Mark::Nothing, format!("share of the operations that ended within {stretch}:"))];
    let words = ["under 0.1 %", "0.1 %", "0.3 %", "1 %", "3 %", "10 % and more"];
    found.extend(words.iter().enumerate().map(|(level, words)| (Mark::Level(level), (*words).to_owned())));
    if panels.iter().any(|panel| panel.heat.columns.iter().any(|column| column.ops == 0)) {
        found.push((Mark::Starving, "no operation ended".to_owned()));
    }
    found
}

fn level(share: f64) -> usize {
    SHARES.iter().take_while(|least| share >= **least).count()
}

fn draw_panel(
    canvas: &Canvas<'_>,
    chart: Chart,
    panel: &Panel<'_>,
    shades: &mut String,
) -> Result<(), Refusal> {
    let step = f64::from(panel.heat.step_s);
    let lengths: Vec<f64> = panel.reps.iter().map(|rep| rep.len() as f64 * step).collect();
    let strip = Strip::of(&lengths);
    let reps: Vec<u32> = panel.reps.iter().map(|rep| rep[0].rep).collect();
    let chart = Chart { x: strip.axis(&reps, chart.length()), ..chart };
    chart.frame(canvas)?;
    let row = |row: u32| panel.heat.low_log10_ns + f64::from(row) / f64::from(panel.heat.rows_by_decade);
    let mut paths: [String; LEVELS.len()] = Default::default();
    for (number, rep) in panel.reps.iter().enumerate() {
        for (at, column) in rep.iter().enumerate() {
            let edge = |at: usize| chart.px(strip.place(number, at as f64 * step), chart.y.low).0;
            let (left, right) = (edge(at), edge(at + 1));
            if column.ops == 0 {
                let corners = ((left, chart.down().start), (right, chart.down().end));
                marker::block(canvas, corners, Ink::Starving, STARVING_OPACITY)?;
            }
            for (of_row, share) in &column.shares {
                let height = |row: f64| chart.height_of(row).round() as i32;
                let (top, bottom) = (height(row(of_row + 1)), height(row(*of_row)));
                let (width, tall) = (right - left, bottom - top);
                // Writing into a string cannot fail.
                let _ = write!(paths[level(*share)], "M{left} {top}h{width}v{tall}h-{width}z");
            }
        }
    }
    for (level, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
        let _ = writeln!(shades, "<path opacity=\"{}\" d=\"{path}\"/>", LEVELS[level]);
    }
    Ok(())
}

/// The drawing with its shades: thousands of cells as one path for each shade, with edges on whole pixels so that no
/// seams show.
fn with_shades(drawn: &str, shades: &str) -> String {
    let Some(end) = drawn.rfind("</svg>") else { return drawn.to_owned() };
    let (red, green, blue) = {
        let colour = Ink::Series(0).sentinel();
        (colour.0, colour.1, colour.2)
    };
    format!(
        "{}<g shape-rendering=\"crispEdges\" fill=\"#{red:02X}{green:02X}{blue:02X}\">\n{shades}</g>\n{}",
        &drawn[..end],
        &drawn[end..]
    )
}

fn table(panels: &[Panel<'_>]) -> PlotTable {
    let columns = ["cell", "repetition", "from second", "operations", "p50 ms", "p99 ms", "longest ms"];
    let mut rows = Vec::new();
    for panel in panels {
        rows.extend(panel.heat.columns.iter().map(|column| {
            vec![
                panel.cell.to_owned(),
                (column.rep + 1).to_string(),
                column.second.to_string(),
                column.ops.to_string(),
                milliseconds(column.p50_ns),
                milliseconds(column.p99_ns),
                milliseconds(column.max_ns),
            ]
        }));
    }
    PlotTable { columns: columns.map(str::to_owned).to_vec(), rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_follow_the_share() {
        let levels = [0.0005, 0.001, 0.02, 0.5, 1.0].map(level);
        assert_eq!(levels, [0, 1, 3, 5, 5]);
    }

    #[test]
    fn shades_stand_before_the_end_of_the_drawing() {
        let svg = with_shades("<svg>\n</svg>\n", "<path d=\"\"/>\n");
        assert!(
            svg.starts_with("<svg>\n<g shape-rendering=\"crispEdges\" fill=\"#FE0100\">\n<path"),
            "{svg}"
        );
        assert!(svg.ends_with("</g>\n</svg>\n"));
    }
}
