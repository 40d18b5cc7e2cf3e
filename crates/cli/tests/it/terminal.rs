//! Runs the binary in a pseudo-terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::process::{Command, Stdio};

use crate::harness::{Ended, wait};

/// Where standard output goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// To the terminal, as input and messages do.
    Shown,
    /// Into a pipe.
    Piped,
}

/// Runs a command in a terminal of so many columns, into which `typed` was typed. Returns what it showed there.
pub(crate) fn run_in(columns: u16, mut command: Command, typed: &str, output: Output) -> (Ended, String) {
    let (mut master, mut slave) = (-1, -1);
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let none = std::ptr::null_mut();
    // SAFETY: the pointers are to values that outlive the call, or null where that is allowed.
    let made = unsafe { libc::openpty(&raw mut master, &raw mut slave, none, none.cast(), &raw const size) };
    assert_eq!(made, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both were made above and belong to nobody else.
    let (mut master, slave) = unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
    master.write_all(typed.as_bytes()).unwrap();
    let shown = || Stdio::from(slave.try_clone().unwrap());
    command.stdin(shown()).stderr(shown()).stdout(match output {
        Output::Shown => shown(),
        Output::Piped => Stdio::piped(),
    });
    let child = command.spawn().unwrap();
    // Both hold the other end, which the kernel closes when the last has.
    drop((command, slave));
    let reader = std::thread::spawn(move || {
        let (mut shown, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(bytes @ 1..) = master.read(&mut piece) {
            shown.extend(&piece[..bytes]);
        }
        String::from_utf8_lossy(&shown).into_owned()
    });
    (wait(child), reader.join().unwrap())
}
