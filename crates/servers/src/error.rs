//! Why a server cannot be had here.

use std::io;

/// What keeps a real server from running on this machine.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// Namespaces need root.
    #[error("real servers need root\n  hint: run the tests as root, or leave these out")]
    NotRoot,
    /// A program is not installed.
    #[error("`{program}` is not installed\n  hint: apt-get install {package}")]
    Missing {
        /// The program.
        program: &'static str,
        /// The Debian package that has it.
        package: &'static str,
    },
    /// A program of Node.js is not installed.
    #[error("`{program}` is not installed\n  hint: npm install --global {package}")]
    MissingOfNode {
        /// The program.
        program: &'static str,
        /// The package of npm's that has it.
        package: &'static str,
    },
    /// The system refused something.
    #[error("cannot {attempt}: {source}\n  hint: containers need CAP_SYS_ADMIN and CAP_NET_ADMIN")]
    System {
        /// What was attempted.
        attempt: String,
        /// Why it failed.
        source: io::Error,
    },
    /// A program ended where it should have done its work, or gone on.
    #[error("`{program}` failed ({how}):\n{said}\n  hint: try the command by hand")]
    Failed {
        /// The program.
        program: String,
        /// How it ended, or that it did not answer.
        how: String,
        /// The end of what it wrote.
        said: String,
    },
}

impl Unavailable {
    pub(crate) fn system(attempt: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System { attempt: attempt.into(), source: source.into() }
    }
}

/// The server; or none, and it is printed why the test is skipped.
///
/// # Panics
///
/// With `CI` in the environment, where a test that is skipped is a test that fails.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
pub fn or_skip<T>(server: Result<T, Unavailable>) -> Option<T> {
    match server {
        Ok(server) => Some(server),
        Err(why) => {
            // Where everything is installed, a skip is a test that has vanished.
            assert!(std::env::var_os("CI").is_none(), "{why}");
            eprintln!("skipped: {why}");
            None
        }
    }
}
