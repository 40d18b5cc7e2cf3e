//! Checkpoints: written one after the other, or beside a training job.
//!
//! This module writes and measures. The fleet decides when a checkpoint is due and which accelerators stand still for it.

mod alone;
mod beside;
mod closing;
mod content;
mod destination;
mod rotation;
mod save;

pub(crate) use alone::run;
pub(crate) use beside::SaveOrders;
pub(crate) use closing::ClosingSaves;
pub use destination::Destination;
