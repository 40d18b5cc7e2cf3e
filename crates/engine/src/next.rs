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
    /// Nothing before this time, at which to ask again: at once, where it is no later than now.
    At(u64),
    /// Issue nothing any more.
    Finished,
}
