//! One of several that do the same side by side.

/// A process among the ranks of a run, a variant among those that are interleaved, or a client among those that read the
/// same data at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Share {
    /// Its number, from 0.
    pub index: u32,
    /// How many there are, itself included; at least 1.
    pub of: u32,
}

impl Share {
    /// The only one.
    // In place of an `Option`: arithmetic over ranks then has no case for a run without them.
    pub const WHOLE: Self = Self { index: 0, of: 1 };
}

impl Default for Share {
    fn default() -> Self {
        Self::WHOLE
    }
}
