//! Comparisons, histories and calibrations as text: for a terminal, in Markdown, as rows of figures.

mod calibration;
mod history;
mod markdown;
// Shared by both pages: what is said of an effect must not differ between a comment and a terminal.
mod rows;
mod terminal;
mod words;

pub use calibration::calibration_terminal;
pub use history::{history_csv, history_terminal};
pub use markdown::comparison_markdown;
pub use terminal::comparison_terminal;
