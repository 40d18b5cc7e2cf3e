//! Whether `io_uring` can be had here, and whose refusal it is when it cannot.

use std::fs;
use std::io;

use backend::StoreError;

use super::register::{MEMLOCK_HINT, memlock};
use super::ring::Ring;

/// Entries of the ring that is tried.
const TRIED_DEPTH: u32 = 8;

/// Tries a small ring, set up as for measuring. The error says which limit or refusal it was and what to do.
pub fn probe_io_uring() -> Result<(), StoreError> {
    Ring::open(TRIED_DEPTH).map(drop).map_err(|error| refused(&error))
}

/// The error for a ring that could not be made.
pub(crate) fn refused(error: &io::Error) -> StoreError {
    let (reason, hint) = explain(error, &Surroundings::read());
    StoreError::Unavailable {
        what: "io_uring".to_owned(),
        reason,
        hint: format!("{hint}, or set `engine = \"pread\"` for this target"),
    }
}

/// What explains a refusal.
struct Surroundings {
    /// `kernel.io_uring_disabled`, where the kernel has it (6.6).
    disabled: Option<u32>,
    /// Whether a seccomp filter is in force.
    seccomp: bool,
    kernel: String,
}

impl Surroundings {
    fn read() -> Self {
        let number = |path| fs::read_to_string(path).ok()?.trim().parse().ok();
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        Self {
            disabled: number("/proc/sys/kernel/io_uring_disabled"),
            // proc_pid_status(5): 2 is SECCOMP_MODE_FILTER.
            seccomp: status.lines().any(|line| line.split_whitespace().eq(["Seccomp:", "2"])),
            kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        }
    }
}

fn explain(error: &io::Error, around: &Surroundings) -> (String, String) {
    const SECCOMP_HINT: &str = "allow io_uring_setup, io_uring_enter and io_uring_register in the filter (for a container: a seccomp profile of its own, or `--security-opt seccomp=unconfined`)";
    let kernel = &around.kernel;
    let texts = |reason: &str, hint: &str| (reason.to_owned(), hint.to_owned());
    match (error.raw_os_error(), around.disabled) {
        (Some(libc::EPERM), Some(level @ 1..)) => (
            format!("kernel.io_uring_disabled is {level} (EPERM)"),
            "allow it (`sysctl kernel.io_uring_disabled=0`; at 1 it is enough to be in the group kernel.io_uring_group)".to_owned(),
        ),
        // The author of a filter chooses its answer; EPERM and ENOSYS were both seen, each from the call that
        // makes the ring.
        (Some(libc::EPERM), _) => texts("a seccomp filter or security module forbids it (EPERM)", SECCOMP_HINT),
        (Some(libc::ENOSYS), _) if around.seccomp => texts("a seccomp filter hides it (ENOSYS)", SECCOMP_HINT),
        (Some(libc::ENOSYS), _) => {
            (format!("the kernel ({kernel}) is built without it (ENOSYS)"), "use a kernel with CONFIG_IO_URING".to_owned())
        }
        // 5.11 has IORING_FEAT_EXT_ARG, without which no wait could have a time-out (`Ring::open`).
        (Some(libc::EINVAL), _) => {
            (format!("the kernel ({kernel}) is too old"), "use Linux 5.11 or newer".to_owned())
        }
        (Some(libc::ENOMEM), _) => (
            format!("the ring's memory could not be had (RLIMIT_MEMLOCK is {}, which counts rings before Linux 5.12)", memlock()),
            MEMLOCK_HINT.to_owned(),
        ),
        (Some(libc::EMFILE | libc::ENFILE), _) => {
            texts("the limit of open files is reached", "raise it (`ulimit -n`, LimitNOFILE=, `--ulimit nofile=`)")
        }
        _ => (error.to_string(), "try another kernel".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(errno: i32, disabled: Option<u32>, seccomp: bool) -> (String, String) {
        let around = Surroundings { disabled, seccomp, kernel: "5.4.0".to_owned() };
        explain(&io::Error::from_raw_os_error(errno), &around)
    }

    #[test]
    fn each_refusal_is_told_apart() {
        let starts = [
            (libc::EPERM, Some(2), false, "kernel.io_uring_disabled is 2"),
            (libc::EPERM, Some(0), true, "a seccomp filter or security module forbids it"),
            (libc::EPERM, None, false, "a seccomp filter or security module forbids it"),
            (libc::ENOSYS, None, true, "a seccomp filter hides it"),
            (libc::ENOSYS, None, false, "the kernel (5.4.0) is built without it"),
            (libc::EINVAL, None, false, "the kernel (5.4.0) is too old"),
            (libc::ENOMEM, None, false, "the ring's memory could not be had (RLIMIT_MEMLOCK is "),
            (libc::EMFILE, None, false, "the limit of open files is reached"),
        ];
        for (errno, disabled, seccomp, start) in starts {
            let (reason, _) = explained(errno, disabled, seccomp);
            assert!(reason.starts_with(start), "{reason}");
        }
    }

    #[test]
    fn the_error_names_the_other_engine() {
        let error = refused(&io::Error::from_raw_os_error(libc::ENOSYS)).to_string();
        assert!(
            error.contains("io_uring is not available") && error.contains("engine = \"pread\""),
            "{error}"
        );
    }
}
