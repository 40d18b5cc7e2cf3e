//! How often is a verdict wrong? Storages of known truth, played through the whole path on the virtual clock.
//!
//! A [`World`] is drawn from one number: a storage whose rate is known to the model, a need, and a load. It is written as a
//! scenario, resolved to a plan, played by the engine, recorded, and judged by the analysis, as a run of the command line
//! is. What may be said of it follows from the arithmetic of the model alone ([`truth`]), which shares no code with what is
//! under test.
//!
//! A [`SavingWorld`] is a storage that is written to, and a need of checkpoints.
//!
//! [`causes`] plays the scenarios that are shipped of causes for which accelerators wait.
//!
//! [`disturbed`] plays storages that misbehave by a script instead, and holds what comes of it against what must hold of any
//! run.

pub mod causes;
pub mod disturbed;
mod draw;
mod judge;
pub mod play;
mod saving;
mod storage;
mod table;
pub mod truth;
mod world;

pub use judge::{Finding, judge};
pub use play::{Played, play};
pub use saving::{SavingClass, SavingFinding, SavingWorld};
pub use storage::{Change, Device, Others, RepTruth};
pub use table::Table;
pub use world::{Class, Held, Load, World};
