//! How much a reason to doubt weighs.

/// What a flag forbids a verdict to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gravity {
    /// Said beside the figure; the verdict stands.
    Informs,
    /// The storage may do more than was measured: STARVES cannot be said.
    ForbidsStarves,
    /// What was measured leaves out the bad part: FEEDS cannot be said.
    ForbidsFeeds,
    /// The figure is not what it is called: neither can be said.
    ForbidsVerdict,
}
