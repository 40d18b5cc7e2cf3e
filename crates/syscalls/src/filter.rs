//! The filter of a thread, and what is told of the calls that it holds up.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _};

use rustix::fd::OwnedFd;

use crate::call::{Answer, Call};

/// Calls that change files wherever they are made.
const CALLS: [i64; 11] = [
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_ftruncate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_syncfs,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
];

/// Calls of old, which take a path alone.
#[cfg(target_arch = "x86_64")]
const OLD_CALLS: &[i64] =
    &[libc::SYS_rename, libc::SYS_link, libc::SYS_mkdir, libc::SYS_unlink, libc::SYS_rmdir];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CALLS: &[i64] = &[];

/// Where `seccomp_data` has the low half of the third argument: the flags of `openat`.
const FLAGS_AT: u32 = 16 + 2 * 8;

/// A call that waits for its answer.
pub(crate) struct Asked(libc::seccomp_notif);

impl Asked {
    pub(crate) fn call(&self) -> Option<Call> {
        Call::of(i64::from(self.0.data.nr), self.0.data.args)
    }
}

/// Installs the filter on the calling thread; what is returned hears of its calls.
pub(crate) fn install() -> io::Result<OwnedFd> {
    let mut program = program();
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: it takes no pointer, and keeps this thread from gaining rights by a program that it starts.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel copies the program, which lives until the call returns.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const filter,
        )
    };
    if listener < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just opened it for this process, and nothing else knows its number.
    Ok(unsafe { OwnedFd::from_raw_fd(listener as i32) })
}

/// Holds up the calls that are listed, and `openat` where it may make a file.
fn program() -> Vec<libc::sock_filter> {
    let calls: Vec<i64> = CALLS.iter().chain(OLD_CALLS).copied().collect();
    let load = |at: u32| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, 0, 0);
    let answer = |word: u32| step(libc::BPF_RET | libc::BPF_K, word, 0, 0);
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let count = calls.len();
    let mut program = vec![load(0)];
    for (index, call) in calls.iter().enumerate() {
        // Over the other calls, and the five steps behind them.
        program.push(step(equal, *call as u32, (count - index - 1 + 5) as u8, 0));
    }
    program.push(step(equal, libc::SYS_openat as u32, 1, 0));
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program.push(load(FLAGS_AT));
    program.push(step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, libc::O_CREAT as u32, 1, 0));
    program.push(answer(libc::SECCOMP_RET_ALLOW));
    program.push(answer(libc::SECCOMP_RET_USER_NOTIF));
    program
}

fn step(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

/// The next call that waits; `None` where its thread has ended meanwhile.
pub(crate) fn receive(listener: &OwnedFd) -> io::Result<Option<Asked>> {
    // SAFETY: a struct of numbers, for which zeros are values; the kernel asks for zeros.
    let mut asked: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel fills the struct in, which is of the type that this request is of.
    let received =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV as _, &raw mut asked) };
    match io::Error::last_os_error() {
        _ if received == 0 => Ok(Some(Asked(asked))),
        error if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => Ok(None),
        error => Err(error),
    }
}

/// Lets a call that waits go on.
pub(crate) fn reply(listener: &OwnedFd, asked: &Asked, answer: Answer) -> io::Result<()> {
    let mut reply = libc::seccomp_notif_resp { id: asked.0.id, val: 0, error: 0, flags: 0 };
    match (answer, asked.call()) {
        (Answer::Skip, _) => {}
        (Answer::Fail(errno), _) => reply.error = -errno,
        (Answer::Half, Some(Call::Write { bytes, .. })) => {
            let descriptor = asked.0.data.args[0] as i32;
            // SAFETY: the memory is that of `bytes`; the descriptor is of this process, and its caller waits.
            let written = unsafe { libc::write(descriptor, bytes.as_ptr().cast(), bytes.len() / 2) };
            if written < 0 {
                return Err(io::Error::last_os_error());
            }
            reply.val = written as i64;
        }
        _ => reply.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
    }
    // SAFETY: the struct is of the type that this request takes.
    let sent =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND as _, &raw mut reply) };
    match io::Error::last_os_error() {
        _ if sent == 0 => Ok(()),
        // The thread has ended.
        error if error.raw_os_error() == Some(libc::ENOENT) => Ok(()),
        error => Err(error),
    }
}
