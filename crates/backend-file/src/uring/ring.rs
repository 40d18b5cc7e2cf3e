//! A ring: set-up with the best flags that the kernel takes, and one call to enter it.

use std::io;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{Builder, EnterFlags, IoUring, cqueue, squeue};

/// Sets of flags, the best first; an older kernel refuses one it does not know by EINVAL. Completions are
/// handed over in batches when this thread asks for them (DEFER_TASKRUN, 6.1), entries are used in order
/// (NO_SQARRAY, 6.6).
// DEFER_TASKRUN pays where a whole batch is waited for: with registered files and buffers a read took 741 ns
// instead of 1194 (measured, zram, depth 32), as 32 completions are reaped in a call instead of 3. SQPOLL is
// not among them: without a core of its own it cost 2036 ns a read, and four fifths of the rate.
const SETUPS: [(&str, Setup); 4] = [
    ("DEFER_TASKRUN SINGLE_ISSUER NO_SQARRAY", |builder| {
        builder.setup_defer_taskrun().setup_single_issuer().setup_no_sqarray();
    }),
    ("DEFER_TASKRUN SINGLE_ISSUER", |builder| {
        builder.setup_defer_taskrun().setup_single_issuer();
    }),
    ("COOP_TASKRUN", |builder| {
        builder.setup_coop_taskrun();
    }),
    ("plain", |_| {}),
];

type Setup = fn(&mut Builder<squeue::Entry, cqueue::Entry>);

/// Lets the threads of the kernel that take requests which would block run where this thread may: by themselves they run anywhere.
// Linux 5.14. Before, nothing keeps them.
fn keep_workers(ring: &IoUring) {
    // SAFETY: all bits zero are a set without processors.
    let mut own: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is as large as is said.
    let known = unsafe { libc::sched_getaffinity(0, size_of_val(&own), &raw mut own) } == 0;
    if known {
        let _ = ring.submitter().register_iowq_aff(&own);
    }
}

/// One thread's ring.
pub(crate) struct Ring {
    ring: IoUring,
    flags: &'static str,
}

impl Ring {
    /// A ring for `depth` requests outstanding at once.
    pub(crate) fn open(depth: u32) -> io::Result<Self> {
        let entries = depth.max(1).next_power_of_two();
        let mut refused = io::Error::from_raw_os_error(libc::EINVAL);
        for (flags, setup) in SETUPS {
            let mut builder = IoUring::builder();
            setup(builder.setup_cqsize(2 * entries));
            match builder.build(entries) {
                // Linux 5.11. An older ring has no way to wait with a time-out but an extra entry for each
                // wait.
                Ok(ring) if ring.params().is_feature_ext_arg() => {
                    keep_workers(&ring);
                    return Ok(Self { ring, flags });
                }
                Ok(_) => return Err(io::Error::from_raw_os_error(libc::EINVAL)),
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refused = error,
                Err(error) => return Err(error),
            }
        }
        Err(refused)
    }

    /// The set of flags that the kernel took.
    pub(crate) fn flags(&self) -> &'static str {
        self.flags
    }

    /// For registrations.
    pub(crate) fn submitter(&self) -> io_uring::Submitter<'_> {
        self.ring.submitter()
    }

    /// Puts an entry into the submission queue; it is handed over by [`Ring::enter`].
    ///
    /// # Safety
    /// What the entry points to must stay valid, and unused by others, until its completion is reaped.
    pub(crate) unsafe fn push(&mut self, entry: &squeue::Entry) -> bool {
        // SAFETY: the caller's promise is the one that is asked for here.
        unsafe { self.ring.submission().push(entry) }.is_ok()
    }

    /// Hands over `submit` entries without waiting or looking; returns how many were taken.
    pub(crate) fn hand_over(&mut self, submit: u32) -> io::Result<u32> {
        // SAFETY: no argument is passed.
        unsafe { self.ring.submitter().enter::<libc::sigset_t>(submit, 0, 0, None) }.map(|taken| taken as u32)
    }

    /// Hands over `submit` entries, runs what completions wait for, and waits for `want` of them, at most
    /// `timeout_ns`; returns how many entries were taken. ETIME when the time is up before anything was taken.
    pub(crate) fn enter(&mut self, submit: u32, want: u32, timeout_ns: Option<u64>) -> io::Result<u32> {
        // Without GETEVENTS a ring with DEFER_TASKRUN shows no completion, not even to a look.
        let flags = EnterFlags::GETEVENTS | EnterFlags::EXT_ARG;
        let ns = timeout_ns.unwrap_or(0);
        let time = Timespec::new().sec(ns / 1_000_000_000).nsec((ns % 1_000_000_000) as u32);
        let limited = SubmitArgs::new().timespec(&time);
        let arguments = if timeout_ns.is_some() { limited } else { SubmitArgs::new() };
        // SAFETY: the arguments have the layout that EXT_ARG announces and live through the call.
        unsafe { self.ring.submitter().enter(submit, want, flags.bits(), Some(&arguments)) }
            .map(|taken| taken as u32)
    }

    /// What has completed, taken as it is looked at: the entry's number and the kernel's answer.
    pub(crate) fn completions(&mut self) -> impl Iterator<Item = (u32, i32)> {
        self.ring.completion().map(|entry| (entry.user_data() as u32, entry.result()))
    }
}
