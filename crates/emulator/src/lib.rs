//! S3 and NFS servers on loopback, as slow, as limited and as faulty as they are declared to be.
//!
//! They answer what feedline's own backends ask, and what other tools do. They are no storage: generated data is
//! recognised as it is written and made again as it is read, and all of it is gone with the process. Figures taken on
//! them demonstrate a behaviour and judge nothing.

mod calls;
mod clock;
mod content;
pub mod control;
mod draw;
mod error;
mod limits;
mod line;
mod nfs;
mod s3;
mod send_limits;
mod server;
mod settings;
mod shape;
mod stats;
mod timer;

pub use content::MEMORY_BYTES_MAX;
pub use error::EmulatorError;
pub use plan::{Profile, profile, profiles};
pub use server::Server;
pub use settings::{BucketKeys, Protocol, Settings};
