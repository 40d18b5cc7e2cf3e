//! Renders a summary: a terminal page, Markdown, plots as SVG and PNG.
//!
//! Nothing is computed here: every figure and every finding comes from [`analysis`], and [`words`] has the sentences of the
//! findings. Each rendering is a pure function of the summary, so the same record gives the same bytes.

mod answer;
mod cells;
mod comparison;
mod csv;
mod environment;
pub mod export;
mod grid;
mod group;
mod head;
mod html;
mod json;
mod markdown;
mod markup;
mod network;
mod number;
mod page;
mod plain;
mod plot;
mod png;
mod prediction;
mod ranks;
mod screen;
mod sections;
mod side;
mod standing;
mod stored;
#[expect(clippy::cast_possible_wrap, reason = "pixels and counts of panels and lines are far below 2^31")]
mod svg;
mod system;
mod terminal;
mod training;
pub mod words;

pub use answer::{Surroundings, answer, proofs_terminal};
pub use comparison::{
    calibration_terminal, comparison_markdown, comparison_terminal, history_csv, history_terminal,
};
pub use html::html;
pub use json::{ANSWER_SCHEMA, Paths, answer_json};
pub use markdown::markdown;
pub use page::Page;
pub use plot::{Plot, PlotTable};
pub use png::png;
pub use screen::Screen;
pub use svg::{RenderError, ShiftHead, ShiftSide, history_svg, plots, shift_svg};
pub use terminal::terminal;
pub use words::machine::machine;
