//! The processes of one job.

use std::ops::Range;

use crate::error::LaunchError;

/// The processes of one job, of which this is one. All of them make the same calls in the same order.
///
/// A call that waits for the others does not spin.
pub trait Group: Send + Sync {
    /// This process among them, from 0.
    fn rank(&self) -> u32;

    /// How many there are.
    fn size(&self) -> u32;

    /// Waits until every process has come here.
    ///
    /// # Errors
    /// What the launcher refuses.
    fn fence(&self) -> Result<(), LaunchError>;

    /// Waits until every process has come here, and returns what those of `of` gave, in their order. Each process may ask
    /// for others.
    ///
    /// # Errors
    /// What the launcher refuses.
    fn exchange(&self, mine: &[u8], of: Range<u32>) -> Result<Vec<Vec<u8>>, LaunchError>;

    /// Tells the others, without waiting for them, that this process waits in the meeting of this number.
    fn tell_waiting(&self, meeting: u64);

    /// Processes that have not told that they wait in it: they hang, or are on their way. Takes up to a second for each.
    fn missing(&self, meeting: u64) -> Vec<u32>;

    /// Ends all processes of the job, this one perhaps too; the launcher exits with `code`.
    fn abort(&self, code: i32, why: &str);
}
