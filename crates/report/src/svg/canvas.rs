//! A backend of plotters that writes SVG: plain colours with their classes, crisp edges, text that stays text.

use std::fmt::{self, Write as _};

use plotters::coord::Shift;
use plotters::element::{Drawable, PointCollection, Rectangle};
use plotters::prelude::{DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoDrawingArea as _};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont as _};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind};

use super::theme::{self, Ink};
use crate::markup;

/// Where plots are drawn.
pub(super) type Canvas<'a> = DrawingArea<Svg<'a>, Shift>;
/// What drawing may fail with; writing into a string never does.
pub(super) type Refusal = DrawingAreaErrorKind<fmt::Error>;

/// Fonts that exist on most systems; all of them are narrower than the widths estimated here.
// Names and no font inside: an SVG with one would be larger than all that it shows.
const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, \
                     'Liberation Sans', 'DejaVu Sans', sans-serif";

/// An SVG in the making.
pub(super) struct Svg<'a> {
    out: &'a mut String,
    size: (u32, u32),
    dash: &'static str,
}

/// A plot of a size in pixels, drawn by `draw` on its background.
pub(super) fn svg(
    size: (i32, i32),
    title: &str,
    description: &str,
    draw: impl FnOnce(&Canvas<'_>) -> Result<(), Refusal>,
) -> Result<String, Refusal> {
    let mut out = head(size, title, description);
    let canvas = Svg { out: &mut out, size: (size.0 as u32, size.1 as u32), dash: "" }.into_drawing_area();
    canvas.fill(&Ink::Paper.colour())?;
    draw(&canvas)?;
    drop(canvas);
    out.push_str("</svg>\n");
    Ok(out)
}

fn head((width, height): (i32, i32), title: &str, description: &str) -> String {
    format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\" class=\"feedline-plot\" role=\"img\" font-family=\"{FONTS}\">\n\
         <title>{}</title>\n<desc>{}</desc>\n<style>\n{}</style>\n",
        in_one_line(title),
        in_one_line(description),
        theme::stylesheet()
    )
}

/// A blank line would end the block of a Markdown page that holds the plot.
fn in_one_line(words: &str) -> String {
    markup::text(&words.replace(['\n', '\r', '\t'], " "))
}

impl Svg<'_> {
    /// ` fill="#0072b2" class="f-s1"`, with the opacity where it is not whole.
    fn paint(&mut self, property: &str, colour: BackendColor) -> fmt::Result {
        let (red, green, blue) = colour.rgb;
        let hex = format!("#{red:02x}{green:02x}{blue:02x}");
        write!(self.out, " {property}=\"{hex}\"")?;
        // Colour and class: programs that know no classes show the light theme, all others may switch.
        if let Some(role) = theme::role(&hex) {
            let kind = if property == "fill" { "f" } else { "l" };
            write!(self.out, " class=\"{kind}-{role}\"")?;
        }
        if colour.alpha < 1.0 {
            write!(self.out, " {property}-opacity=\"{}\"", colour.alpha)?;
        }
        Ok(())
    }

    /// Fills the inside or draws the outline, and ends the element.
    fn finish<S: BackendStyle>(&mut self, style: &S, fill: bool) -> fmt::Result {
        if fill {
            self.paint("fill", style.color())?;
        } else {
            self.out.push_str(" fill=\"none\"");
            self.paint("stroke", style.color())?;
            write!(self.out, " stroke-width=\"{}\"", style.stroke_width())?;
        }
        if !self.dash.is_empty() {
            write!(self.out, " stroke-dasharray=\"{}\"", self.dash)?;
        }
        self.out.push_str("/>\n");
        Ok(())
    }

    fn points(&mut self, name: &str, points: &[BackendCoord]) -> fmt::Result {
        write!(self.out, "<{name} points=\"")?;
        for (number, (x, y)) in points.iter().enumerate() {
            let gap = if number == 0 { "" } else { " " };
            write!(self.out, "{gap}{x},{y}")?;
        }
        self.out.push('"');
        Ok(())
    }

    fn path<S: BackendStyle>(&mut self, points: &[BackendCoord], style: &S) -> fmt::Result {
        match *points {
            [] | [_] => return Ok(()),
            [(x1, y1), (x2, y2)] => {
                write!(self.out, "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"")?;
                // A slanted line with crisp edges would be a staircase.
                if x1 == x2 || y1 == y2 {
                    self.out.push_str(CRISP);
                }
            }
            _ => {
                self.points("polyline", points)?;
                self.out.push_str(" stroke-linejoin=\"round\"");
            }
        }
        self.finish(style, false)
    }

    /// Many boxes of one colour as one path: no seams show between them, and thousands stay small.
    fn boxes<S: BackendStyle>(&mut self, corners: &[BackendCoord], style: &S) -> fmt::Result {
        write!(self.out, "<path{CRISP} d=\"")?;
        for pair in corners.chunks_exact(2) {
            let ((left, top), (right, bottom)) = (pair[0], pair[1]);
            let (width, height) = (right - left, bottom - top);
            write!(self.out, "M{left} {top}h{width}v{height}h-{width}z")?;
        }
        self.out.push('"');
        self.finish(style, true)
    }

    fn text<S: BackendTextStyle>(&mut self, words: &str, style: &S, (x, y): BackendCoord) -> fmt::Result {
        let anchor = match style.anchor().h_pos {
            HPos::Left => "start",
            HPos::Center => "middle",
            HPos::Right => "end",
        };
        let size = style.size();
        // By a shift and not by `dominant-baseline`, which many programs that show SVG do not know.
        let dy = match style.anchor().v_pos {
            VPos::Top => "0.75em",
            VPos::Center => "0.35em",
            VPos::Bottom => "0",
        };
        write!(
            self.out,
            "<text x=\"{x}\" y=\"{y}\" dy=\"{dy}\" font-size=\"{size}\" text-anchor=\"{anchor}\""
        )?;
        self.paint("fill", style.color())?;
        writeln!(self.out, ">{}</text>", in_one_line(words))
    }
}

/// Edges on whole pixels, not half on each of two.
const CRISP: &str = " shape-rendering=\"crispEdges\"";

type Drawn = Result<(), DrawingErrorKind<fmt::Error>>;

fn drawn(result: fmt::Result) -> Drawn {
    result.map_err(DrawingErrorKind::DrawingError)
}

impl DrawingBackend for Svg<'_> {
    type ErrorType = fmt::Error;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, colour: BackendColor) -> Drawn {
        self.draw_rect(point, (point.0 + 1, point.1 + 1), &colour, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        drawn(self.path(&[from, to], style))
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        drawn(self.path(&path.into_iter().collect::<Vec<_>>(), style))
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let (width, height) = (right - left, bottom - top);
        let rect =
            write!(self.out, "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"{CRISP}");
        drawn(rect.and_then(|()| self.finish(style, fill)))
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let circle = write!(self.out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"");
        drawn(circle.and_then(|()| self.finish(style, fill)))
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn {
        let corners: Vec<BackendCoord> = corners.into_iter().collect();
        drawn(self.points("polygon", &corners).and_then(|()| self.finish(style, true)))
    }

    fn draw_text<S: BackendTextStyle>(&mut self, words: &str, style: &S, at: BackendCoord) -> Drawn {
        drawn(self.text(words, style, at))
    }
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stroke {
    pub(super) ink: Ink,
    pub(super) width: u32,
    /// Lengths of dashes and gaps as SVG takes them; empty for a solid line.
    pub(super) dash: &'static str,
}

impl Stroke {
    /// A solid line.
    pub(super) const fn solid(ink: Ink, width: u32) -> Self {
        Self { ink, width, dash: "" }
    }

    /// A dashed line across a plot.
    pub(super) const fn rule(ink: Ink, width: u32) -> Self {
        Self { ink, width, dash: "8 5" }
    }

    /// The curve of a series, dashed in its own way.
    pub(super) const fn curve(series: usize) -> Self {
        const DASHES: [&str; 5] = ["", "9 4", "3 3", "12 4 3 4", "1 4"];
        Self { ink: Ink::Series(series), width: 2, dash: DASHES[series % DASHES.len()] }
    }

    /// What is computed and not measured.
    pub(super) const fn model(ink: Ink, width: u32) -> Self {
        Self { ink, width, dash: "5 3" }
    }

    /// From the last point of a series on, where nothing was measured.
    pub(super) const fn leader(series: usize) -> Self {
        Self { ink: Ink::Series(series), width: 1, dash: "1 3" }
    }
}

/// What plotters has no element for, drawn by the backend itself.
struct Own<'a, F> {
    points: &'a [BackendCoord],
    draw: F,
}

impl<'a, F> PointCollection<'a, BackendCoord> for &'a Own<'_, F> {
    type IntoIter = &'a [BackendCoord];
    type Point = &'a BackendCoord;

    fn point_iter(self) -> Self::IntoIter {
        self.points
    }
}

impl<'b, F: Fn(&mut Svg<'b>, &[BackendCoord]) -> fmt::Result> Drawable<Svg<'b>> for Own<'_, F> {
    fn draw<I: Iterator<Item = BackendCoord>>(
        &self,
        points: I,
        backend: &mut Svg<'b>,
        _: (u32, u32),
    ) -> Drawn {
        drawn((self.draw)(backend, &points.collect::<Vec<_>>()))
    }
}

/// Draws a line through points: plotters knows no dashes.
pub(super) fn line(canvas: &Canvas<'_>, points: &[BackendCoord], stroke: Stroke) -> Result<(), Refusal> {
    let style = Color::stroke_width(&stroke.ink.colour(), stroke.width);
    let draw = |svg: &mut Svg<'_>, points: &[BackendCoord]| {
        svg.dash = stroke.dash;
        let result = svg.path(points, &style);
        svg.dash = "";
        result
    };
    canvas.draw(&Own { points, draw })
}

/// Fills boxes, each given by its upper left and lower right corner.
pub(super) fn boxes(
    canvas: &Canvas<'_>,
    corners: &[BackendCoord],
    (ink, opacity): (Ink, f64),
) -> Result<(), Refusal> {
    let fill = ink.colour().mix(opacity).filled();
    match *corners {
        [] => Ok(()),
        // A single box stays a rectangle, which other programs edit as one.
        [from, to] => canvas.draw(&Rectangle::new([from, to], fill)),
        _ => canvas.draw(&Own { points: corners, draw: |svg: &mut Svg<'_>, at: &[_]| svg.boxes(at, &fill) }),
    }
}

/// Writes words at a place.
pub(super) fn text(
    canvas: &Canvas<'_>,
    words: &str,
    at: BackendCoord,
    (size, ink, h_pos): (f64, Ink, HPos),
) -> Result<(), Refusal> {
    let font = ("sans-serif", size).into_font();
    canvas.draw_text(words, &font.color(&ink.colour()).pos(Pos::new(h_pos, VPos::Center)), at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_has_a_plain_colour_and_a_class() {
        let drawn = svg((10, 20), "a </title><script>", "b & c\n\nd", |canvas| {
            line(canvas, &[(1, 2), (3, 4), (5, 2)], Stroke::curve(1))?;
            boxes(canvas, &[(0, 0), (5, 5)], (Ink::Starving, 0.1))?;
            boxes(canvas, &[(0, 0), (1, 1), (2, 2), (4, 3)], (Ink::Series(0), 0.5))?;
            text(canvas, "x < y", (3, 4), (12.5, Ink::Muted, HPos::Right))
        });
        let drawn = drawn.unwrap();
        let (head, body) = drawn.split_once("</style>\n").unwrap();
        assert!(head.contains("<title>a &lt;/title&gt;&lt;script&gt;</title>"), "{head}");
        assert!(head.contains("<desc>b &amp; c  d</desc>"), "{head}");
        let expected = [
            "<rect x=\"0\" y=\"0\" width=\"10\" height=\"20\" shape-rendering=\"crispEdges\" fill=\"#ffffff\" class=\"f-paper\"/>",
            "<polyline points=\"1,2 3,4 5,2\" stroke-linejoin=\"round\" fill=\"none\" stroke=\"#b35c00\" class=\"l-s2\" stroke-width=\"2\" stroke-dasharray=\"9 4\"/>",
            "<rect x=\"0\" y=\"0\" width=\"5\" height=\"5\" shape-rendering=\"crispEdges\" fill=\"#d1242f\" class=\"f-starving\" fill-opacity=\"0.1\"/>",
            "<path shape-rendering=\"crispEdges\" d=\"M0 0h1v1h-1zM2 2h2v1h-2z\" fill=\"#0072b2\" class=\"f-s1\" fill-opacity=\"0.5\"/>",
            "<text x=\"3\" y=\"4\" dy=\"0.35em\" font-size=\"12.5\" text-anchor=\"end\" fill=\"#59636e\" class=\"f-muted\">x &lt; y</text>",
            "</svg>",
        ];
        assert_eq!(body.lines().collect::<Vec<_>>(), expected);
    }
}
