//! Sees the system calls by which a test changes files, and lets one of them fail.
//!
//! The code under test runs on a thread with a seccomp filter, which hands each such call to the test before the kernel makes
//! it (`SECCOMP_RET_USER_NOTIF`, Linux 5.5; seccomp_unotify(2)). So nothing in the code under test is a seam for this, and no
//! call is forgotten. Threads that it starts inherit the filter; those of other tests have none.

mod call;
mod filter;

use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;

pub use call::{Answer, Call};

/// Runs `body` on a thread of its own. Each call by which it is about to change something below `folder` is shown to
/// `answer`, and those that were made are returned, in their order.
///
/// `None` where the kernel, or who confines this process, has no such filters, which is said; with `CI` in the environment
/// that is a failure.
///
/// # Panics
/// As `body` does.
#[expect(clippy::print_stderr, reason = "a skip is seen")]
pub fn watch<T: Send>(
    folder: &Path,
    mut answer: impl FnMut(&Call) -> Answer,
    body: impl FnOnce() -> T + Send,
) -> Option<(T, Vec<Call>)> {
    match watched(folder, &mut answer, body) {
        Ok(watched) => Some(watched),
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "skipped in CI: calls cannot be watched: {error}");
            eprintln!("skipped: calls cannot be watched: {error}");
            None
        }
    }
}

fn watched<T: Send>(
    folder: &Path,
    answer: &mut dyn FnMut(&Call) -> Answer,
    body: impl FnOnce() -> T + Send,
) -> io::Result<(T, Vec<Call>)> {
    let (give, take) = mpsc::channel();
    thread::scope(|scope| {
        let work = scope.spawn(move || {
            let installed = filter::install();
            let is_on = installed.is_ok();
            // The other end waits for it.
            let _ = give.send(installed);
            is_on.then(body)
        });
        let calls = match take.recv() {
            Ok(Ok(listener)) => supervise(&listener, folder, answer),
            Ok(Err(error)) => Err(error),
            Err(gone) => Err(io::Error::other(gone)),
        };
        match (work.join(), calls) {
            (Err(panic), _) => std::panic::resume_unwind(panic),
            (Ok(_), Err(error)) => Err(error),
            (Ok(Some(value)), Ok(calls)) => Ok((value, calls)),
            (Ok(None), Ok(_)) => Err(io::Error::other("the filter was not installed")),
        }
    })
}

/// Answers calls until the last thread with the filter has ended.
fn supervise(
    listener: &OwnedFd,
    folder: &Path,
    answer: &mut dyn FnMut(&Call) -> Answer,
) -> io::Result<Vec<Call>> {
    let mut made = Vec::new();
    loop {
        let mut fds = [PollFd::new(listener, PollFlags::IN)];
        match poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => continue,
            polled => polled?,
        };
        if fds[0].revents().contains(PollFlags::HUP) {
            return Ok(made);
        }
        let Some(asked) = filter::receive(listener)? else { continue };
        let call = asked.call().filter(|call| call.is_below(folder));
        let answered = call.as_ref().map_or(Answer::Pass, &mut *answer);
        if let (Some(call), Answer::Pass | Answer::Skip) = (&call, answered) {
            made.push(call.clone());
        }
        if let (Some(Call::Write { path, bytes }), Answer::Half) = (call, answered) {
            made.push(Call::Write { path, bytes: bytes[..bytes.len() / 2].to_vec() });
        }
        filter::reply(listener, &asked, answered)?;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn calls_are_seen_in_their_order_and_one_of_them_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let body = || (fs::write(&path, b"first").is_ok(), fs::write(&path, b"second").unwrap_err());
        let refuse = |call: &Call| match call {
            Call::Write { bytes, .. } if bytes == b"second" => Answer::Fail(libc::ENOSPC),
            _ => Answer::Pass,
        };
        let Some(((first, second), calls)) = watch(folder.path(), refuse, body) else { return };
        assert!(first);
        assert_eq!(second.raw_os_error(), Some(libc::ENOSPC));
        let create = Call::Create { path: path.clone() };
        let write = Call::Write { path: path.clone(), bytes: b"first".to_vec() };
        assert_eq!(calls, [create.clone(), write, create]);
        assert_eq!(fs::read(&path).unwrap(), b"", "the second was opened and not written");
    }

    #[test]
    fn half_of_a_write_is_written_and_the_rest_asked_for_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut writes = 0;
        let half_of_first = |call: &Call| {
            writes += u32::from(matches!(call, Call::Write { .. }));
            if writes == 1 { Answer::Half } else { Answer::Pass }
        };
        let Some((written, calls)) = watch(folder.path(), half_of_first, || fs::write(&path, b"abcdef"))
        else {
            return;
        };
        written.unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"abcdef");
        assert_eq!(calls.len(), 3, "{calls:?}");
    }
}
