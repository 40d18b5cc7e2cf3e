//! Ctrl-C and SIGTERM: the tool that runs is ended, and `versus` cleans up behind itself.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use rustix::process::Pid;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level;

static STOP: AtomicBool = AtomicBool::new(false);
/// The tool that runs now; 0 when none does.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// From now on signals end the running tool instead of this process.
pub(crate) fn listen() -> io::Result<()> {
    for signal in [SIGINT, SIGTERM] {
        // SAFETY: the action stores to and loads from atomics and calls kill(2), all of which a signal handler may do.
        unsafe { low_level::register(signal, on_signal)? };
    }
    Ok(())
}

/// Whether a signal came.
pub(crate) fn stopped() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// Names the tool to end when a signal comes. One that came since it was started ends it at once.
pub(crate) fn watch(child: Pid) {
    CHILD.store(child.as_raw_nonzero().get(), Ordering::SeqCst);
    if stopped() {
        end_child();
    }
}

/// The tool has ended but is not yet reaped, so that its number cannot have passed to another process.
pub(crate) fn forget() {
    CHILD.store(0, Ordering::SeqCst);
}

fn on_signal() {
    STOP.store(true, Ordering::SeqCst);
    end_child();
}

fn end_child() {
    let child = CHILD.load(Ordering::SeqCst);
    if child > 0 {
        // SAFETY: kill(2) touches no memory of this process.
        unsafe { libc::kill(child, libc::SIGTERM) };
    }
}
