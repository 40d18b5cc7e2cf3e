//! Latency over time: columns of seconds, rows of latencies, and a shade for the share of the second's operations.

use analysis::{Heat, HeatColumn, OverTime, Summary};

use super::chart::{At, Chart, Mark, PlotPanel, cut, height_of, level, starving};
use super::scale::{Scale, duration};
use super::sign::{LEVELS, Sample};
use super::strip::Strip;
use super::wording::cell_title;
use crate::number::milliseconds;
use crate::plot::PlotTable;

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (360, 250);
/// Panels that one figure holds.
const PANELS_MAX: usize = 4;
/// Smallest share of a second's operations of each shade but the first, and the words of all.
// Half decades: a shade is told from its neighbour, and six of them from a thousandth to all.
const SHARES: [f64; 5] = [0.001, 0.003, 0.01, 0.03, 0.1];
const SHARE_WORDS: [&str; 6] = ["under 0.1 %", "0.1 %", "0.3 %", "1 %", "3 %", "10 % and more"];

struct Course<'a> {
    cell: &'a str,
    title: String,
    heat: &'a Heat,
}

/// Describes the plot; `None` where no seconds were kept of a cell that stands for a target.
pub(super) fn chart(summary: &Summary, over_time: &[OverTime]) -> Option<Chart> {
    let mut courses: Vec<Course<'_>> = Vec::new();
    for one in over_time {
        // Asked in this order: one cell of each target has the first, and the other is looked for.
        if let Some(heat) = &one.heat
            && let Some(cell) = summary.cell(&one.cell)
        {
            courses.push(Course { cell: &one.cell, title: cell_title(summary, cell), heat });
        }
    }
    let limit = cut(&mut courses, PANELS_MAX, "targets");
    let y = latencies(&courses)?;
    let panels = courses.iter().map(|course| panel(course, &y, height_of(courses.len(), PLOT))).collect();
    let condition = "the cell that stands for each target, in its interleaved repetitions".to_owned();
    let heading = ("heatmap", "latency over time");
    let mut chart = Chart::of(summary, heading, [condition].into_iter().chain(limit))
        .with(panels, table(&courses))
        .key(Sample::Nothing, format!("share of the operations that ended within {}:", stretch(&courses)));
    for (level, words) in SHARE_WORDS.iter().enumerate() {
        chart = chart.key(Sample::level(level), *words);
    }
    Some(chart.key(Sample::STARVING, "no operation ended"))
}

/// The time of a column, where it is the same in all panels.
fn stretch(courses: &[Course<'_>]) -> String {
    let first_s = courses.first().map_or(1, |course| course.heat.step_s);
    if courses.iter().all(|course| course.heat.step_s == first_s) {
        duration(f64::from(first_s) * 1e9)
    } else {
        "a column's time".to_owned()
    }
}

/// One scale for all panels: what they hold, and a decade at least.
fn latencies(courses: &[Course<'_>]) -> Option<Scale> {
    let low = courses.iter().map(|course| row_ns(course.heat, 0)).reduce(f64::min)?;
    let high = courses.iter().map(|course| row_ns(course.heat, course.heat.rows)).reduce(f64::max)?;
    // A storage whose latencies lie within a few percent would fill the plot with noise.
    let room = (10.0 * low / high).sqrt().max(1.0);
    let (low, high) = ((low / room).max(1.0), high * room);
    let ticks = Scale::decades(low, high, "", duration).ticks;
    Some(Scale::logarithms(low, high, ticks, "latency, log scale"))
}

/// The lower end of a row, nanoseconds.
fn row_ns(heat: &Heat, row: u32) -> f64 {
    10_f64.powf(heat.low_log10_ns + f64::from(row) / f64::from(heat.rows_by_decade))
}

fn shade(share: f64) -> usize {
    SHARES.iter().take_while(|least| share >= **least).count()
}

fn panel(course: &Course<'_>, y: &Scale, height: i32) -> PlotPanel {
    let heat = course.heat;
    let reps: Vec<&[HeatColumn]> = heat.columns.chunk_by(|one, next| one.rep == next.rep).collect();
    let step = f64::from(heat.step_s);
    let lengths: Vec<f64> = reps.iter().map(|rep| rep.len() as f64 * step).collect();
    let numbers: Vec<u32> = reps.iter().map(|rep| rep[0].rep).collect();
    let strip = Strip::of(&lengths);
    let mut shades: [Vec<(At, At)>; LEVELS.len()] = Default::default();
    let mut regions = Vec::new();
    for (number, rep) in reps.iter().enumerate() {
        for (at, column) in rep.iter().enumerate() {
            let edge = |at: usize| strip.place(number, at as f64 * step);
            let (left, right) = (edge(at), edge(at + 1));
            // An empty column looks like a fast one: a stall is marked from top to bottom.
            if column.ops == 0 {
                regions.push(starving(((left, f64::NEG_INFINITY), (right, f64::INFINITY))));
            }
            for (row, share) in &column.shares {
                let cell = ((left, row_ns(heat, *row)), (right, row_ns(heat, row + 1)));
                shades[shade(*share)].push(cell);
            }
        }
    }
    let marks: Vec<Mark> =
        shades.into_iter().enumerate().map(|(number, cells)| level(cells, number)).collect();
    let x = strip.scale(&numbers);
    PlotPanel { regions, ..PlotPanel::new(vec![course.title.clone()], (x, y.clone()), height, marks) }
}

fn table(courses: &[Course<'_>]) -> PlotTable {
    let columns = ["cell", "repetition", "from second", "operations", "p50 ms", "p99 ms", "longest ms"];
    let mut rows = Vec::new();
    for course in courses {
        rows.extend(course.heat.columns.iter().map(|column| {
            vec![
                course.cell.to_owned(),
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
        let levels = [0.0005, 0.001, 0.02, 0.5, 1.0].map(shade);
        assert_eq!(levels, [0, 1, 3, 5, 5]);
    }
}
