//! A server that feedline started, as the engine sees it.

use record::Emulated;

/// What an emulated server did while a repetition ran, warm-up included. Both calls are made outside of any timed
/// window, before the workers start and after they have ended.
pub trait Server: Send + Sync {
    /// Forgets what was counted so far.
    fn begin(&self);

    /// What was counted since.
    fn end(&self) -> Emulated;
}
