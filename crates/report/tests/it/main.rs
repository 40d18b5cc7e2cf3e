//! The golden record, and variants of it, through every rendering.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod browser;
mod comparison;
mod html;
mod prediction;
mod records;
mod svg;
mod text;
mod trained;
mod training;
