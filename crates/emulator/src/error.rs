//! Why a server did not start.

use std::io;
use std::net::SocketAddr;

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum EmulatorError {
    /// The port is taken, or may not be had.
    #[error("cannot listen on {address} for the emulated server: {cause}\n  hint: port 0 takes a free one")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        cause: io::Error,
    },
    /// The machine gives no thread, timer or event queue.
    #[error(
        "cannot start a thread of the emulated server: {0}\n  hint: the limits on threads and open files (ulimit -u, -n) may be used up"
    )]
    Thread(io::Error),
    /// A setting that no server can have.
    #[error("`{setting}` of the emulated server is {value}, {rule}\n  hint: {hint}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// As given.
        value: String,
        /// What is wrong with it.
        rule: &'static str,
        /// What to write.
        hint: &'static str,
    },
    /// A line of the control channel that is not understood.
    #[error(
        "cannot read the settings of the emulated server: {0}\n  hint: one line of JSON is expected, as `feedline run` writes it"
    )]
    Control(#[from] serde_json::Error),
    /// The control channel broke.
    #[error(
        "the control channel of the emulated server broke: {0}\n  hint: the process at its other end has gone"
    )]
    Channel(#[from] io::Error),
}
