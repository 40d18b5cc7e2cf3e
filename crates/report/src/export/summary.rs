//! Markdown that fits where it is shown.

use std::fmt::Write as _;

use super::Export;

/// Largest summary of a step that GitHub takes: a larger one is dropped whole.
pub const JOB_SUMMARY_BYTES_MAX: usize = 1_024 << 10;

/// Fewest bytes that a limit may leave: room for what is said of the rest.
pub const MARKDOWN_BYTES_MIN: usize = 512;

/// A Markdown page within `bytes_max` bytes, at least [`MARKDOWN_BYTES_MIN`]. What is too long ends after a whole line, so
/// after a whole row of a table, and says how much is missing.
pub fn markdown_within(page: &str, bytes_max: usize) -> Export {
    if page.len() <= bytes_max {
        return Export { text: page.to_owned(), gaps: Vec::new() };
    }
    let all = page.lines().count();
    let words = |left: usize| {
        format!(
            "{left} of {all} lines left out: {bytes_max} bytes fit here; `feedline report` shows the whole"
        )
    };
    // No fewer lines than these are left out, so no longer number is written later.
    let room = bytes_max.max(MARKDOWN_BYTES_MIN) - words(all).len() - "\n**".len() - "\n".len();
    let mut text = String::new();
    let mut kept = 0;
    // After a whole line: half a row of a table would be shown as text.
    for line in page.split_inclusive('\n').take_while(|line| {
        kept += line.len();
        kept <= room
    }) {
        text.push_str(line);
    }
    let gap = words(all - text.lines().count());
    let _ = writeln!(text, "\n*{gap}*");
    Export { text, gaps: vec![gap] }
}
