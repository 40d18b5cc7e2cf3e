//! Executes a plan: one worker loop for every load, on storage and on the simulation alike.
//!
//! The engine counts and stamps; it derives nothing and prints nothing. What it measured leaves as
//! [`Event`]s, in the types of the record.

mod bench;
mod ceiling;
mod checkpoint;
mod copy;
mod course;
mod decoders;
mod epochs;
mod error;
mod fleet;
mod gate;
mod job;
mod line;
mod load;
mod next;
mod outage;
mod outcome;
mod outstanding;
mod pace;
mod page_cache;
mod progress;
mod recorder;
mod rep;
mod retry;
mod sampled;
mod schedule;
mod search;
mod seconds;
mod server;
mod spec;
mod sums;
mod system;
mod timetable;
mod trainer;
mod usage;
mod variants;
mod window;
mod worker;
mod written;

pub use bench::{Bench, BenchSettings, CellSetup, Event, Try};
pub use checkpoint::Destination;
pub use copy::{CopyEnd, CopyFolder, run_copy};
pub use error::{CopyError, RepError};
pub use outcome::Measured;
pub use progress::Progress;
pub use rep::run_rep;
pub use sampled::Sample;
pub use schedule::Turn;
pub use search::{Harder, Search};
pub use server::Server;
pub use spec::RepSpec;
pub use system::{Gpus, Live};
pub use variants::VariantTurn;
pub use variants::round_of_variants;
