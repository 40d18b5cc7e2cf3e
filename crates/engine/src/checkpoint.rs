//! Checkpoints: written one after the other, or beside a training job.
//!
//! This module writes and measures. The fleet decides when a checkpoint is due and which accelerators stand still for it.

mod alone;
mod closing;
mod content;
mod destination;
mod rotation;
mod save;
mod save_orders;

pub(crate) use alone::run;
pub(crate) use closing::ClosingSaves;
pub use destination::Destination;
pub(crate) use save_orders::SaveOrders;
