//! Copying from a mapping whose file may shrink, or whose device may fail, under the copy.
//!
//! The kernel then raises SIGBUS on the instruction that touches the page. A handler of the process takes it,
//! if it belongs to a copy of this thread: it puts zeros in the place of the whole mapping (one system call, of
//! fixed size, that splits nothing and so needs no room in the table of mappings), notes the address, and
//! returns. The instruction runs again, the copy ends, and whoever asked for it learns that it failed. Nothing is
//! jumped over, so no frame of Rust is left behind. What follows from it:
//!
//! - The mapping is worthless afterwards and must be dropped by its owner; a later read maps the file anew.
//! - A mapping belongs to one thread. Another one that copies from it meanwhile would read zeros and not know.
//! - The handler touches constants of the thread and makes one system call: nothing that a signal may not do.
//!   Those constants need no destructor and no first use, so they are there in every thread.
//! - Any other SIGBUS goes to the handler that was there before, and ends the process where there was none.

use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering, compiler_fence};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

/// `siginfo_t.si_code` of linux/asm-generic/siginfo.h: the address has nothing behind it.
const BUS_ADRERR: i32 = 2;
/// As above: the memory behind it has failed.
const BUS_MCEERR_AR: i32 = 4;

/// What this thread copies from just now. Written and read by one thread and by the handler that interrupts it.
struct Guard {
    start: AtomicUsize,
    /// 0: nothing is being copied.
    bytes: AtomicUsize,
    /// Where the copy touched what is not there; 0: nowhere.
    fault: AtomicUsize,
}

thread_local! {
    static GUARD: Guard =
        const { Guard { start: AtomicUsize::new(0), bytes: AtomicUsize::new(0), fault: AtomicUsize::new(0) } };
}

/// What was done with SIGBUS before; set before the handler is.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// The address at which a copy failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) address: usize,
}

/// Takes SIGBUS for this process, once.
pub(super) fn guard_process() {
    static TAKEN: OnceLock<()> = OnceLock::new();
    TAKEN.get_or_init(|| {
        // SAFETY: all zeros is a valid `sigaction`, and both calls get valid places or none.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut before);
            BEFORE.get_or_init(|| before);
            let mut ours: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) = on_sigbus;
            ours.sa_sigaction = handler as libc::sighandler_t;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigaction(libc::SIGBUS, &raw const ours, ptr::null_mut());
        }
    });
}

/// Copies from `from` to all of `to`.
///
/// # Safety
/// `start` and `bytes` are those of a mapping of this thread's own that was made read-only with `MAP_SHARED`, and
/// `from` has as many bytes of it behind it as `to` is long. No reference into the mapping exists.
/// [`guard_process`] was called. After an error the mapping holds zeros.
pub(super) unsafe fn copy(
    start: NonNull<u8>,
    bytes: usize,
    from: *const u8,
    to: &mut [u8],
) -> Result<(), Fault> {
    GUARD.with(|guard| {
        guard.fault.store(0, Ordering::Relaxed);
        guard.start.store(start.as_ptr() as usize, Ordering::Relaxed);
        guard.bytes.store(bytes, Ordering::Relaxed);
        // The handler runs in this thread: the compiler alone must keep the order.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: both ranges are valid by the caller's promise and apart, since `to` may be written.
        unsafe { libc::memcpy(to.as_mut_ptr().cast(), from.cast(), to.len()) };
        compiler_fence(Ordering::SeqCst);
        guard.bytes.store(0, Ordering::Relaxed);
        match guard.fault.load(Ordering::Relaxed) {
            0 => Ok(()),
            address => Err(Fault { address }),
        }
    })
}

extern "C" fn on_sigbus(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid `siginfo_t`; of the two kinds looked at it has an address.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    if !(matches!(code, BUS_ADRERR | BUS_MCEERR_AR) && take_away(address)) {
        pass_on(signal, info, context);
    }
}

/// Puts zeros in the place of the mapping that this thread copies from, if `address` is in it.
fn take_away(address: usize) -> bool {
    GUARD.with(|guard| {
        let (start, bytes) = (guard.start.load(Ordering::Relaxed), guard.bytes.load(Ordering::Relaxed));
        if address.wrapping_sub(start) >= bytes {
            return false;
        }
        guard.fault.store(address, Ordering::Relaxed);
        let flags = MapFlags::FIXED | MapFlags::PRIVATE | MapFlags::NORESERVE;
        let place = ptr::with_exposed_provenance_mut(start);
        // SAFETY: the range is a mapping of this thread's own, into which no reference exists.
        unsafe { mmap_anonymous(place, bytes, ProtFlags::READ, flags) }.is_ok()
    })
}

/// Hands a signal that is not ours to whoever had it before.
fn pass_on(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    let (handler, flags) =
        BEFORE.get().map_or((libc::SIG_DFL, 0), |before| (before.sa_sigaction, before.sa_flags));
    // SAFETY: a handler that is neither of the two words has the signature that its flags say.
    unsafe {
        match handler {
            libc::SIG_DFL | libc::SIG_IGN => {
                libc::signal(signal, libc::SIG_DFL);
                // Blocked until this handler returns.
                libc::raise(signal);
            }
            handler if flags & libc::SA_SIGINFO != 0 => {
                let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(handler);
                handler(signal, info, context);
            }
            handler => {
                let handler: extern "C" fn(i32) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}
