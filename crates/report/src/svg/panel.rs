//! One panel: axes, feed line, curves, and the labels in its margin.

use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axis::{DepthAxis, RateAxis};
use super::margin::{self, MarginLabel};
use super::marker::{self, Canvas, Refusal};
use super::plan::{PanelPlan, Point, SeriesPlan};
use super::scale::Scale;
use super::sheet::text;
use super::theme::{Ink, STARVING_OPACITY};

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, Scale>>;

/// Room for the labels of the rate axis, pixels.
/// From a point to the mark of the fresh repetitions beside it, pixels.
const BESIDE: i32 = 13;
const LEFT: i32 = 52;
/// Room for the labels and the title of the depth axis.
const BOTTOM: i32 = 56;
/// Of that, room for the labels of its ticks.
const TICK_LABELS: i32 = 24;
/// Room for conditions and the unit above the plot.
const TOP: i32 = 22;
/// Room above that for the conditions, where panels differ.
const CONDITIONS: i32 = 20;
/// Series up to which bands are drawn; more of them would be mud, and whiskers remain.
const BANDS_MAX: usize = 6;

/// A label of the margin.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) lines: Vec<String>,
    pub(super) ink: Ink,
    /// Bytes per second of what is named; absent for a curve of which every point failed.
    pub(super) bps: Option<f64>,
    /// The depth at which its curve ends; absent for a line.
    pub(super) depth: Option<u32>,
}

/// A panel with its place in the figure.
pub(super) struct PanelFrame<'a> {
    pub(super) plan: &'a PanelPlan,
    pub(super) rates: RateAxis,
    pub(super) labels: Vec<Label>,
    /// Lines of conditions above it, the same in all panels; none where there is one panel.
    pub(super) title_lines: i32,
    /// Left, top, width, height.
    pub(super) place: (i32, i32, i32, i32),
    pub(super) margin_right: i32,
}

/// Height that the labels of a panel need, axes and lines of conditions included.
pub(super) fn height_for(labels: &[Label], title_lines: i32) -> i32 {
    let conditions = CONDITIONS * title_lines.max(1);
    let heights = labels.iter().map(|label| margin::height(&label.lines));
    heights.sum::<f64>().ceil() as i32 + TOP + conditions + BOTTOM
}

impl PanelFrame<'_> {
    /// Draws the panel on the canvas of the figure.
    pub(super) fn draw(&self, canvas: &Canvas<'_>) -> Result<(), Refusal> {
        let (x, y, width, height) = self.place;
        let area = canvas.clone().shrink((x, y), (width, height));
        let depths = DepthAxis::of(self.plan.depths());
        let length_px = f64::from(width - LEFT - self.margin_right);
        let mut chart = ChartBuilder::on(&area)
            .margin_top(TOP + CONDITIONS * self.title_lines)
            .margin_right(self.margin_right)
            .margin_bottom(BOTTOM - TICK_LABELS)
            .set_label_area_size(LabelAreaPosition::Left, LEFT)
            .set_label_area_size(LabelAreaPosition::Bottom, TICK_LABELS)
            .build_cartesian_2d(
                Scale { low: depths.low, high: depths.high, ticks: depths.tick_places(length_px) },
                Scale { low: self.rates.low, high: self.rates.high, ticks: self.rates.tick_places() },
            )?;
        self.starving(&mut chart, &depths)?;
        self.mesh(&mut chart)?;
        self.titles(canvas, &chart)?;
        self.lines(&mut chart, &depths)?;
        for series in &self.plan.series {
            self.model(&mut chart, series)?;
        }
        for series in &self.plan.series {
            self.curve(&mut chart, series, &depths)?;
        }
        self.failed(canvas, &chart, &depths)?;
        for series in &self.plan.series {
            self.points(canvas, &chart, series, &depths)?;
        }
        self.draw_labels(canvas, &chart, &depths)
    }

    fn starving(&self, chart: &mut Chart<'_, '_>, depths: &DepthAxis) -> Result<(), Refusal> {
        let Some(line) = self.plan.line else { return Ok(()) };
        let corners = [(depths.low, self.rates.place(line.bps)), (depths.high, self.rates.low)];
        chart
            .draw_series([Rectangle::new(corners, Ink::Starving.sentinel().mix(STARVING_OPACITY).filled())])
            .map(drop)
    }

    fn mesh(&self, chart: &mut Chart<'_, '_>) -> Result<(), Refusal> {
        let font = || ("sans-serif", 12.0 * 1.24).into_font().color(&Ink::Muted.sentinel());
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(Ink::Grid.sentinel())
            .axis_style(Ink::Muted.sentinel())
            .label_style(font())
            .set_all_tick_mark_size(4)
            .x_label_formatter(&|place| DepthAxis::tick_label(*place))
            .y_label_formatter(&|place| self.rates.tick_label(*place))
            .draw()
    }

    fn titles(&self, canvas: &Canvas<'_>, chart: &Chart<'_, '_>) -> Result<(), Refusal> {
        let (horizontal, vertical) = chart.plotting_area().get_pixel_range();
        let (x, y, ..) = self.place;
        for (line, number) in self.plan.conditions.iter().zip(0..self.title_lines) {
            let at = (x + 8, y + 8 + CONDITIONS * number);
            text(canvas, line, at, (13.0, Ink::Text, HPos::Left))?;
        }
        let scale = if self.rates.is_log { ", log scale" } else { "" };
        let unit = format!("{}{scale}", self.rates.unit.name);
        text(canvas, &unit, (x + 8, vertical.start - 12), (12.0, Ink::Muted, HPos::Left))?;
        let middle = i32::midpoint(horizontal.start, horizontal.end);
        text(canvas, self.plan.depth_words, (middle, vertical.end + 36), (12.0, Ink::Muted, HPos::Center))
    }

    fn lines(&self, chart: &mut Chart<'_, '_>, depths: &DepthAxis) -> Result<(), Refusal> {
        let Some(line) = self.plan.line else { return Ok(()) };
        let across = |bps: f64| {
            let place = self.rates.place(bps);
            [(depths.low, place), (depths.high, place)]
        };
        let ink = Ink::Line.sentinel();
        chart.draw_series(DashedLineSeries::new(across(line.bps), 8, 5, ink.stroke_width(2)))?;
        if line.demand_bps <= line.bps {
            return Ok(());
        }
        chart.draw_series(LineSeries::new(across(line.demand_bps), ink.stroke_width(1))).map(drop)
    }

    /// Thin and dashed: what latency at depth 1 and the highest rate alone would give.
    fn model(&self, chart: &mut Chart<'_, '_>, series: &SeriesPlan) -> Result<(), Refusal> {
        let Some(model) = series.curve.model else { return Ok(()) };
        let points =
            DepthAxis::steps_to(model.deepest).map(|at| (at, self.rates.place(model.bps_at(at.exp2()))));
        let style = Ink::Model(series.number).sentinel().stroke_width(1);
        chart.draw_series(LineSeries::new(points, style)).map(drop)
    }

    fn curve(
        &self,
        chart: &mut Chart<'_, '_>,
        series: &SeriesPlan,
        depths: &DepthAxis,
    ) -> Result<(), Refusal> {
        for run in &series.runs {
            if self.plan.series.len() <= BANDS_MAX {
                self.band(chart, series.number, run, depths)?;
            }
            let line = run.iter().map(|point| (depths.place(point.depth), self.rates.place(point.bps)));
            chart.draw_series(LineSeries::new(line, Ink::Curve(series.number).sentinel().stroke_width(2)))?;
        }
        Ok(())
    }

    fn band(
        &self,
        chart: &mut Chart<'_, '_>,
        series: usize,
        run: &[Point],
        depths: &DepthAxis,
    ) -> Result<(), Refusal> {
        let edge = |pick: fn((f64, f64)) -> f64| {
            let known =
                run.iter().filter_map(move |point| point.interval.map(|span| (point.depth, pick(span))));
            known.map(|(depth, bps)| (depths.place(depth), self.rates.place(bps))).collect::<Vec<_>>()
        };
        let (low, high) = (edge(|span| span.0), edge(|span| span.1));
        if low.len() < 2 {
            return Ok(());
        }
        let around: Vec<(f64, f64)> = high.into_iter().chain(low.into_iter().rev()).collect();
        let style = Ink::Series(series).sentinel().mix(0.15).filled();
        chart.draw_series([Polygon::new(around, style)]).map(drop)
    }

    fn points(
        &self,
        canvas: &Canvas<'_>,
        chart: &Chart<'_, '_>,
        series: &SeriesPlan,
        depths: &DepthAxis,
    ) -> Result<(), Refusal> {
        let ink = Ink::Series(series.number);
        for point in series.points() {
            let px = |bps: f64| chart.backend_coord(&(depths.place(point.depth), self.rates.place(bps)));
            let at = px(point.bps);
            if let Some((low, high)) = point.interval {
                marker::whisker(canvas, at.0, (px(low).1, px(high).1), ink)?;
            }
            if point.clears_first {
                marker::ring(canvas, at, ink)?;
            }
            marker::point(canvas, at, series.number, point.is_hollow)?;
            if let Some((bps, interval)) = point.deciding {
                let beside = (at.0 + BESIDE, px(bps).1);
                if let Some((low, high)) = interval {
                    marker::whisker(canvas, beside.0, (px(low).1, px(high).1), ink)?;
                }
                marker::deciding(canvas, beside, ink)?;
            }
        }
        Ok(())
    }

    /// Crosses on the depth axis, stacked where several series failed at one depth.
    fn failed(&self, canvas: &Canvas<'_>, chart: &Chart<'_, '_>, depths: &DepthAxis) -> Result<(), Refusal> {
        let mut drawn: Vec<u32> = Vec::new();
        for series in &self.plan.series {
            for depth in &series.failed {
                let below = drawn.iter().filter(|other| *other == depth).count() as i32;
                let (x, y) = chart.backend_coord(&(depths.place(*depth), self.rates.low));
                marker::cross(canvas, (x, y - 7 - 12 * below), Ink::Series(series.number))?;
                drawn.push(*depth);
            }
        }
        Ok(())
    }

    fn draw_labels(
        &self,
        canvas: &Canvas<'_>,
        chart: &Chart<'_, '_>,
        depths: &DepthAxis,
    ) -> Result<(), Refusal> {
        let (horizontal, vertical) = chart.plotting_area().get_pixel_range();
        let of_label = |label: &Label| MarginLabel {
            lines: label.lines.clone(),
            ink: label.ink,
            y: self.height_of(label, &vertical),
            end: label
                .bps
                .zip(label.depth)
                .map(|(bps, depth)| chart.backend_coord(&(depths.place(depth), self.rates.place(bps)))),
        };
        let labels: Vec<MarginLabel> = self.labels.iter().map(of_label).collect();
        margin::draw(canvas, &labels, horizontal.end, &vertical)
    }

    /// Height of what a label names, unrounded: labels of near neighbours keep their order.
    fn height_of(&self, label: &Label, vertical: &Range<i32>) -> f64 {
        let place = label.bps.map_or(self.rates.low, |bps| self.rates.place(bps));
        let share = (place - self.rates.low) / (self.rates.high - self.rates.low);
        let lowest = vertical.end - 1;
        f64::from(lowest) - share * f64::from(lowest - vertical.start)
    }
}
