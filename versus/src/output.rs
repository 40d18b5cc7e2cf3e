//! What is printed, and where.

use std::io::{self, ErrorKind, Write as _};

use anyhow::Result;

/// Prints to standard output. A reader that has gone (`versus list | head`) is no failure.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        printed => Ok(printed?),
    }
}

/// Prints a line to standard error, where nobody may be listening.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
