//! What a plot is described by: panels with scales and marks in the units of the data, and the words around them.
//!
//! A description says what is drawn, and in which order; where that stands in pixels is decided in [`super::draw`].

use analysis::{Rate, Summary};

use super::canvas::Stroke;
use super::scale::{Extent, Scale};
use super::sign::{LEVELS, Sample, Sign, WINDOW_OPACITY};
use super::theme::{Ink, STARVING_OPACITY};
use super::wording;
use crate::plain::folded;
use crate::plot::PlotTable;

/// A value on the horizontal scale, and one on the vertical.
pub(super) type At = (f64, f64);
/// A lower and an upper value.
pub(super) type Span = (f64, f64);

/// Letters of a line of a label in the margin.
pub(super) const LABEL_LETTERS: usize = 24;

/// A plot, described.
#[derive(Debug, Clone)]
pub(super) struct Chart {
    /// Name of its file.
    pub(super) name: &'static str,
    /// What it shows, in words.
    pub(super) shown: &'static str,
    pub(super) title: String,
    /// What a screen reader says instead.
    // A screen reader finds no curve in a drawing: it is told the verdicts.
    pub(super) description: String,
    /// What the reader must know first, in lines below the title.
    pub(super) subtitles: Vec<String>,
    /// Each begins a row and takes as many as its panels need.
    pub(super) rows: Vec<Vec<PlotPanel>>,
    /// Panels that stand side by side, where their width is not their own.
    pub(super) columns: usize,
    /// What each mark means, and only those that occur.
    pub(super) key: Vec<(Sample, String)>,
    /// The command that made the run; may be empty.
    pub(super) command: String,
    pub(super) table: PlotTable,
}

/// Two scales and what is drawn between them.
#[derive(Debug, Clone)]
pub(super) struct PlotPanel {
    /// Above it, in lines.
    pub(super) title: Vec<String>,
    pub(super) x: Scale,
    pub(super) y: Scale,
    /// Height of the plot without the words around it, pixels; labels may need more.
    pub(super) height: i32,
    /// Width of the plot, where it does not follow from the page.
    pub(super) width: Option<i32>,
    /// Drawn below the grid.
    // Apart from marks: a surface above the grid would hide it.
    pub(super) regions: Vec<Mark>,
    /// Drawn in their order.
    pub(super) marks: Vec<Mark>,
    /// In the margin, right of the plot.
    pub(super) labels: Vec<Label>,
}

/// Something drawn.
#[derive(Debug, Clone)]
pub(super) enum Mark {
    /// Joined points; fewer than two draw nothing.
    Line(Vec<At>, Stroke),
    /// The surface between a lower and an upper value.
    Band(Vec<(f64, Span)>, Ink),
    /// A sign at a value, with the interval around it.
    Sign {
        at: At,
        span: Option<Span>,
        sign: Sign,
        ink: Ink,
        /// Pixels to the right and down by which it stands beside its value.
        // In pixels and not in values: what stands beside a point belongs to the same depth.
        nudge: (i32, i32),
    },
    /// Filled boxes between two corners each; infinite ones reach to the end of the scale.
    Boxes(Vec<(At, At)>, Ink, f64),
    /// The outline of a box that stands out among others.
    Frame(At, At),
    /// A line across the plot at a height, or down it.
    Across(f64, Stroke),
    Down(f64, Stroke),
    /// Words at a place: size in pixels, and whether they stand beside what is there, where it is free, or upon it.
    Words {
        at: At,
        words: String,
        size: f64,
        ink: Ink,
        beside: bool,
    },
}

/// A label of the margin.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) lines: Vec<String>,
    pub(super) ink: Ink,
    /// What it names; its horizontal value is infinite for a line that reaches the margin.
    pub(super) at: At,
}

/// A point of a curve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) at: At,
    pub(super) span: Option<Span>,
    /// Whether the figure is not the storage's alone, or not fit for a verdict.
    pub(super) is_hollow: bool,
}

impl Point {
    /// The points of a curve as a line.
    pub(super) fn line(points: &[Self]) -> Vec<At> {
        points.iter().map(|point| point.at).collect()
    }
}

impl Mark {
    /// A sign without an interval.
    pub(super) fn sign(at: At, sign: Sign, ink: Ink) -> Self {
        Self::Sign { at, span: None, sign, ink, nudge: (0, 0) }
    }

    /// The marker of a series with its interval.
    pub(super) fn point(point: &Point, series: usize) -> Self {
        let sign = if point.is_hollow { Sign::Hollow } else { Sign::Point };
        Self::Sign { at: point.at, span: point.span, sign, ink: Ink::Series(series), nudge: (0, 0) }
    }

    /// Words upon a place.
    pub(super) fn words(at: At, words: String, size: f64, ink: Ink) -> Self {
        Self::Words { at, words, size, ink, beside: false }
    }

    /// Words beside a place, left out where none is free.
    pub(super) fn beside(at: At, words: String, size: f64, ink: Ink) -> Self {
        Self::Words { at, words, size, ink, beside: true }
    }

    /// The values that it needs on both scales.
    fn values(&self) -> Vec<At> {
        match self {
            Self::Line(points, _) => points.clone(),
            Self::Band(edges, _) => edges.iter().flat_map(|(x, of)| [(*x, of.0), (*x, of.1)]).collect(),
            Self::Sign { at, span, .. } => {
                let ends = span.iter().flat_map(|span| [(at.0, span.0), (at.0, span.1)]);
                std::iter::once(*at).chain(ends).collect()
            }
            Self::Boxes(boxes, ..) => boxes.iter().flat_map(|(from, to)| [*from, *to]).collect(),
            Self::Frame(from, to) => vec![*from, *to],
            Self::Across(y, _) => vec![(f64::NAN, *y)],
            Self::Down(x, _) => vec![(*x, f64::NAN)],
            // Words look for a place inside: a scale that grew for them would press the figures together.
            Self::Words { .. } => Vec::new(),
        }
    }

    /// What a scale must hold of it; infinities and NaN ask for nothing.
    fn extent(&self, get: fn(At) -> f64) -> Extent {
        let values: Vec<f64> = self.values().into_iter().map(get).filter(|value| value.is_finite()).collect();
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Intervals and regions are no peaks: a wide interval must not make a scale logarithmic.
        let is_peak = matches!(self, Self::Line(..) | Self::Across(..) | Self::Down(..)) && high > 0.0;
        Extent {
            low: values.iter().copied().fold(f64::INFINITY, f64::min),
            high,
            low_peak: if is_peak { high } else { f64::INFINITY },
        }
    }

    /// Whether a sample of the key stands for it.
    fn is_of(&self, sample: Sample) -> bool {
        match (sample, self) {
            (Sample::Nothing, _) | (Sample::Frame, Self::Frame(..)) => true,
            (Sample::Sign(wanted), Self::Sign { sign, .. }) => *sign == wanted,
            (Sample::Ringed, Self::Sign { sign, .. }) => *sign == Sign::Ring,
            (Sample::Interval, Self::Sign { span, .. }) => span.is_some(),
            (
                Sample::Stroke(wanted) | Sample::Down(wanted),
                Self::Line(_, stroke) | Self::Across(_, stroke) | Self::Down(_, stroke),
                // Without the ink: an entry of the key stands for the strokes of all series.
            ) => (stroke.width, stroke.dash) == (wanted.width, wanted.dash),
            (Sample::Blocks(wanted, opacities), Self::Boxes(boxes, ink, opacity)) => {
                let is_kind = ink.is_series() == wanted.is_series() && (ink.is_series() || *ink == wanted);
                let low = opacities.iter().copied().fold(f64::INFINITY, f64::min);
                let high = opacities.iter().copied().fold(0.0, f64::max);
                is_kind && (low..=high).contains(opacity) && !boxes.is_empty()
            }
            (Sample::WINDOW, Self::Band(edges, _)) => edges.len() > 1,
            _ => false,
        }
    }

    /// The rate of a feed line.
    fn feed_line(&self) -> Option<f64> {
        match self {
            Self::Across(rate, stroke) | Self::Down(rate, stroke) if *stroke == FEED_LINE => Some(*rate),
            _ => None,
        }
    }

    /// What the vertical scale must hold of marks.
    pub(super) fn heights(marks: &[Self]) -> Extent {
        marks.iter().map(|mark| mark.extent(|at| at.1)).fold(Extent::EMPTY, Extent::with)
    }

    /// What the horizontal scale must hold of them.
    pub(super) fn widths(marks: &[Self]) -> Extent {
        marks.iter().map(|mark| mark.extent(|at| at.0)).fold(Extent::EMPTY, Extent::with)
    }
}

impl PlotPanel {
    /// A panel with a title, its scales and its marks.
    pub(super) fn new(title: Vec<String>, (x, y): (Scale, Scale), height: i32, marks: Vec<Mark>) -> Self {
        Self { title, x, y, height, width: None, regions: Vec::new(), marks, labels: Vec::new() }
    }

    /// The same with labels in its margin.
    pub(super) fn labelled(self, labels: Vec<Label>) -> Self {
        Self { labels, ..self }
    }

    /// The same with the region below a line in which accelerators starve.
    pub(super) fn starving_below(mut self, line: Option<f64>) -> Self {
        let ends = |line| ((f64::NEG_INFINITY, f64::NEG_INFINITY), (f64::INFINITY, line));
        self.regions.extend(line.map(|line| starving(ends(line))));
        self
    }

    /// The same with the region left of a line.
    pub(super) fn starving_left_of(mut self, line: Option<f64>) -> Self {
        let ends = |line| ((f64::NEG_INFINITY, f64::NEG_INFINITY), (line, f64::INFINITY));
        self.regions.extend(line.map(|line| starving(ends(line))));
        self
    }
}

/// A region in which accelerators starve.
pub(super) fn starving(corners: (At, At)) -> Mark {
    Mark::Boxes(vec![corners], Ink::Starving, STARVING_OPACITY)
}

/// The line that the need asks for.
pub(super) const FEED_LINE: Stroke = Stroke::rule(Ink::Line, 2);

/// The range around a mean.
pub(super) fn window(corners: (At, At), series: usize) -> Mark {
    Mark::Boxes(vec![corners], Ink::Series(series), WINDOW_OPACITY)
}

/// Cells of a heatmap in the shade of a level.
pub(super) fn level(cells: Vec<(At, At)>, level: usize) -> Mark {
    Mark::Boxes(cells, Ink::Series(0), LEVELS[level % LEVELS.len()])
}

impl Label {
    /// Of a series whose curve ends at a point.
    pub(super) fn of_series(lines: Vec<String>, series: usize, end: At) -> Self {
        Self { lines, ink: Ink::Series(series), at: end }
    }

    /// Of a line across the plot.
    pub(super) fn of_line(lines: Vec<String>, ink: Ink, y: f64) -> Self {
        Self { lines, ink, at: (f64::INFINITY, y) }
    }
}

impl Chart {
    /// A plot of no single run.
    pub(super) fn new(
        (name, shown): (&'static str, &'static str),
        (title, description): (String, String),
        subtitles: Vec<String>,
        command: String,
    ) -> Self {
        let (rows, key, table) = (Vec::new(), Vec::new(), PlotTable::default());
        Self { name, shown, title, description, subtitles, rows, columns: 1, key, command, table }
    }

    /// A plot of a run: its head, and `conditions` of this plot.
    pub(super) fn of(
        summary: &Summary,
        (name, shown): (&'static str, &'static str),
        conditions: impl IntoIterator<Item = String>,
    ) -> Self {
        let heading = (wording::title_of(summary, shown), wording::description(summary));
        let subtitles = wording::subtitles(summary, conditions.into_iter().collect());
        Self::new((name, shown), heading, subtitles, wording::command(&summary.head.command))
    }

    /// The same with panels, one or two side by side, and the table behind them.
    pub(super) fn with(self, panels: Vec<PlotPanel>, table: PlotTable) -> Self {
        // More than two side by side leave no room for the labels in their margins.
        let columns = if panels.len() == 1 { 1 } else { 2 };
        self.with_rows(vec![panels], columns, table)
    }

    /// The same with panels in rows of their own.
    pub(super) fn with_rows(self, rows: Vec<Vec<PlotPanel>>, columns: usize, table: PlotTable) -> Self {
        Self { rows, columns, table, ..self }
    }

    /// The same with an entry of its key, where a panel shows its mark: the key cannot name what is not drawn.
    pub(super) fn key(mut self, sample: Sample, words: impl Into<String>) -> Self {
        if self.marks().any(|mark| mark.is_of(sample)) {
            self.key.push((sample, words.into()));
        }
        self
    }

    /// The same where the mark alone does not say whether the words hold.
    pub(super) fn key_if(self, holds: bool, sample: Sample, words: impl Into<String>) -> Self {
        if holds { self.key(sample, words) } else { self }
    }

    /// The same with what points are where they have intervals, or where none has.
    pub(super) fn key_of_points(self, with: impl Into<String>, without: &str) -> Self {
        if self.marks().any(|mark| mark.is_of(Sample::Interval)) {
            return self.key(Sample::Interval, with);
        }
        self.key(Sample::Sign(Sign::Point), without)
    }

    /// The same with means of repetitions.
    pub(super) fn key_of_means(self, repetitions: u32) -> Self {
        let with = format!("mean of {repetitions} repetitions, 95 % interval");
        self.key_of_points(with, "mean; too few repetitions for an interval")
    }

    /// The same with the feed line of its panels: with its rate where all of them have the same.
    pub(super) fn key_of_line(self) -> Self {
        let lines: Vec<f64> = self.marks().filter_map(Mark::feed_line).collect();
        // By a ratio: a line in bytes is a product of figures, and differs in its last bits from panel to
        // panel.
        let is_one = lines.iter().all(|bps| (bps / lines[0] - 1.0).abs() < 1e-9);
        let rate = lines.first().filter(|_| is_one).map(|bps| format!(" {}", feed::format_bps(*bps)));
        self.key(Sample::Stroke(FEED_LINE), format!("feed line{}", rate.unwrap_or_default()))
    }

    fn marks(&self) -> impl Iterator<Item = &Mark> {
        self.rows.iter().flatten().flat_map(|panel| panel.regions.iter().chain(&panel.marks))
    }
}

/// Cuts `things` to at most `max` of them, and says so where some are left out.
pub(super) fn cut<T>(things: &mut Vec<T>, max: usize, noun: &str) -> Option<String> {
    let all = things.len();
    things.truncate(max);
    (all > max).then(|| format!("the first {max} of {all} {noun}"))
}

/// The height of the plot of one panel, or of each of several.
pub(super) fn height_of(count: usize, (one, several): (i32, i32)) -> i32 {
    if count == 1 { one } else { several }
}

/// The interval of a rate, where it has one.
pub(super) fn span_of(rate: &Rate) -> Option<Span> {
    rate.interval.map(|interval| (interval.low, interval.high))
}

/// Words in lines of a margin, broken behind commas where that is possible.
pub(super) fn packed(words: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in words.split(", ") {
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() + 2 <= LABEL_LETTERS => {
                line.push_str(", ");
                line.push_str(part);
            }
            Some(line) => {
                line.push(',');
                lines.extend(folded(part, LABEL_LETTERS));
            }
            None => lines.extend(folded(part, LABEL_LETTERS)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_break_behind_commas() {
        assert_eq!(packed("nvme, 1 reader, prefetch 0"), ["nvme, 1 reader,", "prefetch 0"]);
        assert_eq!(packed("a, b, c"), ["a, b, c"]);
        let long = packed("a name of a target that is far too long, 8 readers");
        assert!(long.iter().all(|line| line.chars().count() <= LABEL_LETTERS + 1), "{long:?}");
    }

    #[test]
    fn the_key_names_only_what_is_drawn() {
        let x = Scale::linear(2.0, 2.0, "");
        let marks = vec![Mark::Across(1.0, FEED_LINE), Mark::sign((1.0, 1.0), Sign::Hollow, Ink::Series(0))];
        let panel = PlotPanel::new(Vec::new(), (x.clone(), x), 100, marks).starving_below(Some(1.0));
        let chart = Chart::new(("plot", "plot"), (String::new(), String::new()), Vec::new(), String::new())
            .with(vec![panel], PlotTable::default())
            .key_of_points("an interval", "a point")
            .key(Sample::HOLLOW, "hollow")
            .key(Sample::STARVING, "starving")
            .key(Sample::BARRIER, "barrier")
            .key(Sample::Frame, "frame")
            .key_of_line();
        let words: Vec<&str> = chart.key.iter().map(|(_, words)| words.as_str()).collect();
        assert_eq!(words, ["hollow", "starving", "feed line 1 B/s"]);
    }

    #[test]
    fn a_scale_must_hold_what_is_drawn_with_its_intervals() {
        let span = Some((2.0, 9.0));
        let point = Point { at: (1.0, 5.0), span, is_hollow: false };
        let marks = [
            Mark::Line(vec![point.at, (2.0, 4.0)], Stroke::curve(0)),
            Mark::point(&point, 0),
            Mark::Across(3.0, FEED_LINE),
            starving(((f64::NEG_INFINITY, f64::NEG_INFINITY), (f64::INFINITY, 3.0))),
        ];
        assert_eq!(Mark::heights(&marks), Extent { low: 2.0, high: 9.0, low_peak: 3.0 });
        let across = Mark::widths(&marks);
        assert!((across.low, across.high) == (1.0, 2.0), "{across:?}");
    }
}
