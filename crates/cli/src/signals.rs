//! Ctrl-C, SIGTERM and SIGHUP: the first keeps what was measured, the second ends at once.
//!
//! The work looks at a flag between two operations. A call that does not return, of the kernel's or to a server that
//! answers nothing, would keep the process for as long as it lasts. So a thread of its own waits for [`GRACE`], shows what
//! was measured, and ends the process.

use std::fs;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::process;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

use crate::exit::{Exit, Failure};
use crate::output;

/// How long what is under way may take to end by itself. Nobody waits longer than a second or two after Ctrl-C.
pub(crate) const GRACE: Duration = Duration::from_millis(1_500);

/// The same where a launcher sent the signal: Open MPI kills what is still there a second after it.
pub(crate) const GRACE_OF_LAUNCHER: Duration = Duration::from_millis(300);

/// Who ends the process after a signal.
enum Ending {
    /// Nothing was measured yet.
    Nothing,
    /// What to do with what was measured when the grace is over.
    Kept(Box<dyn FnOnce() + Send>),
    /// The run came to its end by itself.
    ByItself,
    /// The grace is over.
    GraceIsOver,
}

// One for the process: a signal reaches it whole, and no caller can be handed to its thread.
static ENDING: Mutex<Ending> = Mutex::new(Ending::Nothing);

/// A flag that the first signal sets.
fn stop_flag() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in heard() {
        // Registered before the flag is: in the other order the first signal would end the process itself.
        flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// As [`stop_flag`], and the process ends so long after the signal, whatever it waits for.
pub(crate) fn stop_flag_within(grace: Duration) -> io::Result<Arc<AtomicBool>> {
    // Before the flag: a signal that came between the two would set it, and nobody would end what waits for a server.
    let mut signals = Signals::new(heard())?;
    let stop = stop_flag()?;
    spawn(move || {
        if signals.forever().next().is_some() {
            wait(grace);
            end();
        }
    })?;
    Ok(stop)
}

/// Ends the process soon, whatever it waits for, as after a signal: for one that is told to end by another process.
pub(crate) fn end_within_grace() -> io::Result<()> {
    spawn(|| {
        wait(GRACE);
        end();
    })
}

fn spawn(what: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("signals".to_owned()).spawn(what).map(drop)
}

/// Sets what is done with what was measured if the run does not end by itself.
pub(crate) fn keep(at_last: impl FnOnce() + Send + 'static) {
    *ending() = Ending::Kept(Box::new(at_last));
}

/// The run has come to its end, and the caller concludes it. Does not return where the grace is over already.
pub(crate) fn ended_by_itself() {
    let mut ending = ending();
    if matches!(*ending, Ending::GraceIsOver) {
        drop(ending);
        loop {
            // The other thread is ending the process, and this one must not print beside it.
            thread::park();
        }
    }
    *ending = Ending::ByItself;
}

/// Ends the process now, with what was measured.
#[expect(clippy::exit, reason = "what is under way does not return, so no caller can end the process")]
pub(crate) fn end() {
    match take() {
        Ending::Kept(at_last) => show(at_last),
        Ending::Nothing => output::say(&Failure::Interrupted.to_string()),
        // It ends by itself, or another signal, or order, came first.
        Ending::ByItself | Ending::GraceIsOver => return,
    }
    process::exit(Exit::Interrupted as i32);
}

/// Does what is left to do with what was measured, if anything was, in a process that its caller ends.
pub(crate) fn end_kept() {
    if let Ending::Kept(at_last) = take() {
        show(at_last);
    }
}

/// Who ends the process; from now on it is the caller, if it was nobody yet.
fn take() -> Ending {
    let mut ending = ending();
    if matches!(*ending, Ending::ByItself) {
        return Ending::ByItself;
    }
    std::mem::replace(&mut *ending, Ending::GraceIsOver)
}

fn show(at_last: Box<dyn FnOnce() + Send>) {
    // A fault in what is shown must not keep the process.
    drop(panic::catch_unwind(AssertUnwindSafe(at_last)));
}

fn ending() -> std::sync::MutexGuard<'static, Ending> {
    ENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::disallowed_methods, reason = "nothing is measured any more")]
fn wait(time: Duration) {
    thread::sleep(time);
}

/// The signals that are heard: not SIGHUP where the process was started so that it outlives its terminal, as `nohup` does.
fn heard() -> Vec<i32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let hang_up = (!ignores(&status, SIGHUP)).then_some(SIGHUP);
    // SIGHUP is what an ssh session that breaks off sends, and hours of measuring end with it.
    // SIGTERM last: who sees from outside that it is heard may send any of them.
    hang_up.into_iter().chain([SIGINT, SIGTERM]).collect()
}

/// Whether a process of this status (proc(5), `SigIgn`: bit n - 1 for signal n) ignores a signal.
fn ignores(status: &str, signal: i32) -> bool {
    let mask =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_signal_is_left_ignored() {
        let status = "Name:\tfeedline\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, SIGHUP));
        assert!(!ignores(status, SIGINT) && !ignores("", SIGHUP));
    }
}
