//! Which accelerators of a job are fed together.

/// The accelerators of a job that belong to a fleet: `first`, `first + stride`, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Members {
    pub(crate) first: u32,
    pub(crate) stride: u32,
}

impl Members {
    /// All of a job.
    pub(crate) const ALL: Self = Self { first: 0, stride: 1 };

    /// How many of `all` accelerators these are.
    pub(crate) fn count(self, all: u32) -> u32 {
        all.saturating_sub(self.first).div_ceil(self.stride)
    }

    pub(super) fn number(self, index: usize) -> u32 {
        self.first + index as u32 * self.stride
    }

    #[inline]
    pub(super) fn index(self, number: u32) -> usize {
        ((number - self.first) / self.stride) as usize
    }
}
