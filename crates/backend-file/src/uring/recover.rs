//! What an error of the ring means for its queue.

use std::io;

use backend::QueueError;

/// Whether the time is up, for what may be tried again; an error for what may not.
pub(crate) fn recover(error: &io::Error) -> Result<bool, QueueError> {
    match error.raw_os_error() {
        Some(libc::ETIME) => Ok(true),
        Some(libc::EINTR) => Ok(false),
        // The kernel is short of memory, or of room for completions; those that are there were reaped.
        Some(libc::EAGAIN | libc::EBUSY) => {
            std::thread::yield_now();
            Ok(false)
        }
        errno => Err(QueueError {
            engine: "io_uring",
            action: "enter the ring",
            hint: "set `engine = \"pread\"` for this target to see whether the storage itself works"
                .to_owned(),
            source: errno.map_or_else(|| io::Error::other("no error number"), io::Error::from_raw_os_error),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_tried_again_does_not_break_the_queue() {
        let recovered = |errno| recover(&io::Error::from_raw_os_error(errno));
        assert!(recovered(libc::ETIME).unwrap());
        for errno in [libc::EINTR, libc::EAGAIN, libc::EBUSY] {
            assert!(!recovered(errno).unwrap());
        }
        let error = recovered(libc::EEXIST).unwrap_err().to_string();
        assert!(error.starts_with("io_uring: cannot enter the ring"), "{error}");
    }
}
