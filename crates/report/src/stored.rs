//! How data lie, epoch by epoch, what is written beside, and what copying them takes: tables and sentences below them.

mod checkpoints;
mod copies;
mod epochs;
mod layouts;
mod words;

use analysis::Summary;

use crate::page::Block;

pub(crate) use words::sample;

/// Layouts, epochs, checkpoints and copies.
// Side by side in one array: a section that is forgotten by the page is an error of the compiler.
pub(crate) fn blocks(summary: &Summary) -> [Vec<Block<'static>>; 4] {
    [layouts::blocks(summary), epochs::blocks(summary), checkpoints::blocks(summary), copies::blocks(summary)]
}
