//! Threads and processes that may do less than the tests around them.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, Uid, set_capabilities, set_no_new_privs, set_thread_res_uid,
};

/// Runs what follows in a thread of its own, which takes its restrictions with it.
pub(crate) fn in_own_thread(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| scope.spawn(test).join()).unwrap();
}

/// Runs the ignored test `name` in a process of its own, since the limits that it sets are the process's.
pub(crate) fn in_own_process(name: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{name}: {text}");
}

/// Sets both limits of a resource for this process.
pub(crate) fn limit(resource: Resource, value: u64) {
    setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) }).unwrap();
}

/// Lets this thread lock memory as a user whom nobody else is, where it may: what other processes have locked would count for it too.
pub(crate) fn as_a_user_alone() {
    // The kernel counts by the real user; what may be opened goes by the effective one, which stays.
    let alone = Uid::from_raw(60_000 + std::process::id() % 5_000);
    let _ = set_thread_res_uid(alone, None, None);
}

/// Gives up every privilege of this thread: root then is a user like any other.
pub(crate) fn without_privileges() {
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }).unwrap();
}

/// Forbids a system call to this thread from now on, with an error number.
pub(crate) fn forbid(call: libc::c_long, errno: i32) {
    let statement = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    set_no_new_privs(true).unwrap();
    // SAFETY: the program lives through the call, which copies it.
    let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
}

/// Mounts a file system of `bytes` in memory on a folder, for this thread alone; whether it may.
pub(crate) fn mount_small(folder: &Path, bytes: u64) -> bool {
    let folder = CString::new(folder.as_os_str().as_bytes()).unwrap();
    let options = CString::new(format!("size={bytes}")).unwrap();
    let (root, kind) = (c"/".as_ptr(), c"tmpfs".as_ptr());
    let private = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: every text ends in NUL and lives through the calls.
    unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(std::ptr::null(), root, std::ptr::null(), private, std::ptr::null()) == 0
            && libc::mount(kind, folder.as_ptr(), kind, 0, options.as_ptr().cast()) == 0
    }
}
