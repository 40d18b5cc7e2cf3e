//! Checkpoints: written one after the other, or beside a training job.
//!
//! What is written where, and how long that takes, is here. When a checkpoint is due and who stands still for it is the
//! business of the fleet, which owns no time.

mod alone;
mod beside;
mod closing;
mod content;
mod destination;
mod rotation;
mod save;

pub(crate) use alone::run;
pub(crate) use beside::Beside;
pub(crate) use closing::ClosingSaves;
pub use destination::Destination;
