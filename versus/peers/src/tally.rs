//! What was read.

/// Operations from the first to the last; bytes of those that ended in the window.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
    pub(crate) window_s: f64,
}

impl Tally {
    /// One line of JSON. A read that failed ends the peer, so there are no errors to tell.
    pub(crate) fn line(&self) -> String {
        let Self { ops, bytes, window_s } = self;
        format!("{{\"ops\":{ops},\"bytes\":{bytes},\"window_s\":{window_s:.6},\"errors\":0}}")
    }
}

/// Seconds of a clock that only goes forward.
pub(crate) fn now_s() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local that lives across the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
