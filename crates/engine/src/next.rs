//! What a load answers.

/// What a worker is to do with a free buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Issue the operation of this ticket now.
    Issue {
        /// Number of the operation in its order.
        ticket: u64,
        /// When it was meant to be issued; now, in a closed loop.
        intended_ns: u64,
    },
    /// Issue nothing before this time: ask again then, or at once if it has passed.
    At(u64),
    /// Issue nothing any more.
    Finished,
}
