//! Real servers for tests: NFS-Ganesha, Ceph's RADOS gateway and Azurite, started and stopped on this machine; and a real launcher.
//!
//! Each server runs in a network and a mount namespace of its own, with a pair of virtual interfaces to the host: a
//! test reaches it by an address, several run beside each other, and the host's own port mapper is left alone. Nothing
//! outlives the value that started it; what a killed test leaves is ended by the kernel, but for a temporary folder.
//!
//! Needs root and the servers' packages. Where something is missing, [`Unavailable`] says what, and [`or_skip`] is how
//! a test goes on from there.

mod authority;
mod azurite;
mod blackhole;
mod closed;
mod error;
mod ganesha;
mod hosts;
mod mpirun;
mod namespace;
mod process;
mod radosgw;

pub use authority::Authority;
pub use azurite::Azurite;
pub use blackhole::Blackhole;
pub use closed::closed_port;
pub use error::{Unavailable, or_skip};
pub use ganesha::{Ganesha, GaneshaOptions};
pub use hosts::Hosts;
pub use mpirun::mpirun;
pub use radosgw::{Keys, Radosgw};
