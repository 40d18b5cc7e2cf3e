//! The golden record, and variants of it, through every rendering.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod answer;
mod browser;
mod checks;
mod comparison;
mod export;
mod export_text;
mod forms;
mod hostile;
mod html;
mod json;
mod needs;
mod plots;
mod prediction;
mod ranks;
mod records;
mod shifts;
mod stored;
mod svg;
mod synthetic;
mod text;
mod trained;
mod training;
mod words;
