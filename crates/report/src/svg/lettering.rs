//! How many letters have room.

/// Width of a plot, pixels.
pub(super) const WIDTH: i32 = 1_000;
/// Left and right of everything.
pub(super) const EDGE: i32 = 20;

/// Estimated width of a letter, pixels, by its size; wider than that of common fonts.
pub(super) const LETTER_BY_SIZE: f64 = 0.56;

pub(super) const SUBTITLE_SIZE: f64 = 12.5;

/// Letters of a size that fit into a width.
pub(super) fn columns_in(width: i32, size: f64) -> usize {
    (f64::from(width) / (size * LETTER_BY_SIZE)) as usize
}

/// Letters of a line below the title.
pub(super) fn subtitle_columns() -> usize {
    columns_in(WIDTH - 2 * EDGE, SUBTITLE_SIZE)
}
