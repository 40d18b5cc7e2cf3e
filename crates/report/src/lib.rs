//! Renders a summary: a terminal page, Markdown, an SVG of throughput against queue depth.
//!
//! Nothing is computed here: every figure, flag and sentence comes from [`analysis`]. Each rendering is a
//! pure function of the summary, so the same record gives the same bytes.

mod head;
mod markdown;
mod number;
mod plain;
#[expect(clippy::cast_possible_wrap, reason = "pixels and counts of panels and lines are far below 2^31")]
mod svg;
mod table;
mod terminal;

pub use markdown::markdown;
pub use svg::{RenderError, throughput_svg};
pub use terminal::terminal;
