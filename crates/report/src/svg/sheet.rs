//! What a plot is drawn on, and how many letters fit there.

/// Left and right of everything.
pub(super) const EDGE: i32 = 20;
/// Estimated width of a letter, pixels, by its size; wider than that of common fonts.
// An estimate on the safe side: which font draws the text is the reader's, and unknown here.
pub(super) const LETTER_BY_SIZE: f64 = 0.56;
/// Size of the lines below the title.
pub(super) const SUBTITLE_SIZE: f64 = 12.5;

/// Letters of a size that fit into a width.
pub(super) fn columns_in(width: i32, size: f64) -> usize {
    (f64::from(width) / (size * LETTER_BY_SIZE)) as usize
}

/// Letters of a line below the title.
pub(super) fn subtitle_columns() -> usize {
    Sheet::WIDE.columns(SUBTITLE_SIZE)
}

/// What a plot is drawn on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sheet {
    /// Pixels.
    pub(super) width: i32,
}

impl Sheet {
    /// For a page and for a file of its own.
    pub(super) const WIDE: Self = Self { width: 1_000 };

    /// Pixels between the edges.
    pub(super) fn within(self) -> i32 {
        self.width - 2 * EDGE
    }

    /// Letters of a size from edge to edge.
    pub(super) fn columns(self, size: f64) -> usize {
        columns_in(self.within(), size)
    }
}
