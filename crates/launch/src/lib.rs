//! Which process of a launcher's job this one is, and how the processes of a job meet.
//!
//! Launchers that clusters have anyway start feedline like any other program: `mpirun`, `srun`, a Kubernetes Job. [`Place`]
//! reads from the environment which process this is. Where the launcher speaks PMIx, [`join`] opens its library at run time
//! and gives the [`Group`]: fences, and exchanges of bytes. No MPI is linked, so that one executable serves every site.
//!
//! Nothing here knows what is measured.

mod error;
mod group;
mod place;
mod pmix;
#[cfg(feature = "testing")]
pub mod testing;

pub use error::{LaunchError, PlaceError};
pub use group::Group;
pub use place::{Launcher, Place};
pub use pmix::join;
