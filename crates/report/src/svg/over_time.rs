//! Throughput second by second of each repetition, with its least-squares line and SNIA's window around its mean.

use analysis::{OverTime, RepOverTime, Summary};

use super::canvas::Stroke;
use super::chart::{At, Chart, FEED_LINE, Mark, PlotPanel, cut, height_of, window};
use super::curves::Numbers;
use super::scale::{Scale, duration};
use super::sign::{Sample, Sign};
use super::strip::Strip;
use super::theme::Ink;
use super::wording::cell_title;
use crate::number::{RateUnit, three_digits};
use crate::plot::PlotTable;

/// Height of the plot of one panel, and of each of several.
const PLOT: (i32, i32) = (340, 230);
/// Panels that one figure holds.
const PANELS_MAX: usize = 6;
/// Points up to which each is marked.
// More dots touch each other and hide the line through them.
const MARKED_MAX: usize = 60;
/// The line through the points of a repetition.
const FIT: Stroke = Stroke::model(Ink::Text, 2);

struct Course<'a> {
    number: usize,
    title: String,
    over_time: &'a OverTime,
    line_bps: Option<f64>,
}

/// Describes the plot; `None` where no cell that stands for a target has two points in one repetition.
pub(super) fn chart(summary: &Summary, over_time: &[OverTime]) -> Option<Chart> {
    let mut numbers = Numbers::of(summary);
    let mut courses: Vec<Course<'_>> =
        over_time.iter().filter_map(|one| course(summary, &mut numbers, one)).collect();
    let limit = cut(&mut courses, PANELS_MAX, "targets");
    if courses.is_empty() {
        return None;
    }
    let condition = "the cell that stands for each target, in its interleaved repetitions".to_owned();
    let conditions = [condition].into_iter().chain(steps(&courses)).chain(limit);
    let panels = courses.iter().map(|course| panel(course, height_of(courses.len(), PLOT))).collect();
    let chart = Chart::of(summary, ("over-time", "throughput over time"), conditions)
        .with(panels, table(&courses))
        .key(
            Sample::Stroke(FIT),
            "least-squares line of a repetition; steady: it gains or loses at most 10 %",
        )
        .key(Sample::WINDOW, "steady (SNIA): every point within 10 % of the mean")
        .key_of_line();
    Some(chart)
}

fn course<'a>(summary: &'a Summary, numbers: &mut Numbers<'a>, one: &'a OverTime) -> Option<Course<'a>> {
    if !one.stands_for_target || !one.counts_bytes || one.reps.iter().all(|rep| rep.points.len() < 2) {
        return None;
    }
    let cell = summary.cell(&one.cell)?;
    // A training job takes what its accelerators leave: the line is not what its reads are held against.
    let line_bps = cell.line.filter(|_| cell.cell.training.is_none()).map(|line| line.bps);
    Some(Course { number: numbers.number(cell), title: cell_title(summary, cell), over_time: one, line_bps })
}

/// What a point stands for, where it is more than a second.
fn steps(courses: &[Course<'_>]) -> Option<String> {
    let steps = || courses.iter().map(|course| course.over_time.step_s);
    let longest_s = steps().max().filter(|step_s| *step_s > 1)?;
    let most = if steps().all(|step_s| step_s == longest_s) { "" } else { "up to " };
    Some(format!("a point is the mean of {most}{}", duration(f64::from(longest_s) * 1e9)))
}

fn panel(course: &Course<'_>, height: i32) -> PlotPanel {
    let reps = &course.over_time.reps;
    let lengths: Vec<f64> = reps.iter().map(|rep| rep.window_s).collect();
    let strip = Strip::of(&lengths);
    let numbers: Vec<u32> = reps.iter().map(|rep| rep.rep).collect();
    let mut marks: Vec<Mark> = course.line_bps.iter().map(|bps| Mark::Across(*bps, FEED_LINE)).collect();
    let is_marked = reps.iter().map(|rep| rep.points.len()).sum::<usize>() <= MARKED_MAX;
    for (number, rep) in reps.iter().enumerate() {
        let at = |seconds: f64, bps: f64| (strip.place(number, seconds), bps.max(0.0));
        marks.extend(of_rep(course.number, rep, is_marked, at));
    }
    // Linear and from zero: what is judged here is how flat a course is.
    let y = Scale::rates(Mark::heights(&marks).from(0.0), "throughput").0;
    PlotPanel::new(vec![course.title.clone()], (strip.scale(&numbers), y), height, marks)
}

fn of_rep(number: usize, rep: &RepOverTime, is_marked: bool, at: impl Fn(f64, f64) -> At) -> Vec<Mark> {
    let (Some(first), Some(last)) = (rep.points.first(), rep.points.last()) else { return Vec::new() };
    let mut marks = Vec::new();
    if let Some(fit) = rep.fit {
        let (low, high) = fit.window();
        let ends = (at(first.from_s, low), at(last.to_s.min(rep.window_s), high));
        marks.push(window(ends, number));
    }
    let path: Vec<At> = rep.points.iter().map(|point| at(point.middle_s(), point.per_s)).collect();
    // A single point has no line that would show it.
    let dots = path.iter().filter(|_| is_marked || path.len() == 1);
    marks.extend(dots.map(|place| Mark::sign(*place, Sign::Dot, Ink::Series(number))));
    marks.push(Mark::Line(path, Stroke::solid(Ink::Series(number), 2)));
    let line = |fit: analysis::Fit| vec![at(first.middle_s(), fit.first), at(last.middle_s(), fit.last)];
    marks.extend(rep.fit.map(|fit| Mark::Line(line(fit), FIT)));
    marks
}

fn table(courses: &[Course<'_>]) -> PlotTable {
    let reps =
        || courses.iter().flat_map(|course| course.over_time.reps.iter().map(move |rep| (course, rep)));
    let high = reps().flat_map(|(_, rep)| &rep.points).map(|point| point.per_s).fold(0.0, f64::max);
    let unit = RateUnit::for_largest(high);
    let columns = ["cell", "repetition", "from s", "to s", unit.name, "line gains, %"];
    let mut rows = Vec::new();
    for (course, rep) in reps() {
        let gain = rep.fit.map_or_else(|| "-".to_owned(), |fit| format!("{:.1}", fit.excursion() * 100.0));
        rows.extend(rep.points.iter().map(|point| {
            vec![
                course.over_time.cell.clone(),
                (rep.rep + 1).to_string(),
                three_digits(point.from_s),
                three_digits(point.to_s),
                unit.write(point.per_s),
                gain.clone(),
            ]
        }));
    }
    PlotTable { columns: columns.map(str::to_owned).to_vec(), rows }
}
