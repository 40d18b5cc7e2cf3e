//! The few functions of PMIx that are called, by declarations of our own, and all that is unsafe in calling them.
//!
//! The layouts are those of `pmix_common.h`, which the PMIx standard fixes for versions 3 to 5.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

use crate::error::LaunchError;

/// Characters of a key, with the one that ends it (`PMIX_MAX_KEYLEN` + 1).
const KEY_BYTES: usize = 512;
/// Characters of a namespace, with the one that ends it (`PMIX_MAX_NSLEN` + 1).
const NAMESPACE_BYTES: usize = 256;

/// `PMIX_BOOL`.
const TYPE_BOOL: u16 = 1;
/// `PMIX_INT`.
const TYPE_INT: u16 = 6;
/// `PMIX_UINT32`.
const TYPE_UINT32: u16 = 14;
/// `PMIX_BYTE_OBJECT`.
const TYPE_BYTES: u16 = 27;
/// `PMIX_GLOBAL`: for processes on every host.
const SCOPE_GLOBAL: u8 = 3;
/// `PMIX_RANK_WILDCARD`: all processes of a namespace.
pub(super) const ALL: u32 = u32::MAX - 1;

/// `pmix_proc_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Proc {
    namespace: [c_char; NAMESPACE_BYTES],
    pub(super) rank: u32,
}

impl Proc {
    /// Another process of the same job.
    pub(super) fn of_job(&self, rank: u32) -> Self {
        Self { rank, ..*self }
    }
}

/// `pmix_value_t`.
#[repr(C)]
struct Value {
    kind: u16,
    data: Data,
}

/// What a value holds; the widest of its arms takes 24 bytes.
#[derive(Clone, Copy)]
#[repr(C)]
union Data {
    flag: bool,
    int: c_int,
    uint32: u32,
    bytes: Bytes,
    widest: [u64; 3],
}

/// `pmix_byte_object_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Bytes {
    bytes: *mut c_char,
    size: usize,
}

/// `pmix_info_t`.
#[repr(C)]
struct Info {
    key: [c_char; KEY_BYTES],
    flags: u32,
    value: Value,
}

// What other versions of the library would not agree with must not compile.
const _: () = assert!(size_of::<Proc>() == 260 && std::mem::offset_of!(Proc, rank) == 256);
const _: () = assert!(size_of::<Value>() == 32 && std::mem::offset_of!(Value, data) == 8);
const _: () = assert!(size_of::<Info>() == 552 && std::mem::offset_of!(Info, flags) == 512);
const _: () = assert!(std::mem::offset_of!(Info, value) == 520);

type Init = unsafe extern "C" fn(*mut Proc, *const Info, usize) -> c_int;
type Finalize = unsafe extern "C" fn(*const Info, usize) -> c_int;
type Abort = unsafe extern "C" fn(c_int, *const c_char, *const Proc, usize) -> c_int;
type Put = unsafe extern "C" fn(u8, *const c_char, *mut Value) -> c_int;
type Commit = unsafe extern "C" fn() -> c_int;
type Fence = unsafe extern "C" fn(*const Proc, usize, *const Info, usize) -> c_int;
type Get = unsafe extern "C" fn(*const Proc, *const c_char, *const Info, usize, *mut *mut Value) -> c_int;
type ErrorString = unsafe extern "C" fn(c_int) -> *const c_char;

/// The functions of a library that stays open as long as this process runs.
pub(super) struct Api {
    init: Init,
    finalize: Finalize,
    abort: Abort,
    put: Put,
    commit: Commit,
    fence: Fence,
    get: Get,
    error_string: ErrorString,
}

/// Looks a function up.
macro_rules! function {
    ($handle:expr, $library:expr, $name:literal, $kind:ty) => {{
        let name = CString::new($name).expect("it holds no zero");
        // SAFETY: the handle is that of an open library, and the name ends with a zero.
        let found = unsafe { libc::dlsym($handle, name.as_ptr()) };
        if found.is_null() {
            return Err(LaunchError::Function { library: $library.to_owned(), name: $name });
        }
        // SAFETY: PMIx's standard gives the function of this name this type.
        unsafe { std::mem::transmute::<*mut c_void, $kind>(found) }
    }};
}

impl Api {
    /// Opens a library: a path, or a name that the loader finds.
    pub(super) fn open(library: &Path) -> Result<Self, LaunchError> {
        let failed = |cause: String| LaunchError::Library { tried: library.display().to_string(), cause };
        let path = CString::new(library.as_os_str().as_bytes()).map_err(|error| failed(error.to_string()))?;
        // For all to see: the library's own plugins look its names up.
        // SAFETY: the path ends with a zero; a library's constructors run, as in any program that links it.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if handle.is_null() {
            // SAFETY: called in the thread whose call failed, before another call of the loader.
            let cause = unsafe { libc::dlerror() };
            let cause = if cause.is_null() {
                "the loader does not say why".to_owned()
            } else {
                // SAFETY: the loader's message ends with a zero and lives until the next call of it.
                unsafe { CStr::from_ptr(cause) }.to_string_lossy().into_owned()
            };
            return Err(failed(cause));
        }
        Ok(Self {
            init: function!(handle, library, "PMIx_Init", Init),
            finalize: function!(handle, library, "PMIx_Finalize", Finalize),
            abort: function!(handle, library, "PMIx_Abort", Abort),
            put: function!(handle, library, "PMIx_Put", Put),
            commit: function!(handle, library, "PMIx_Commit", Commit),
            fence: function!(handle, library, "PMIx_Fence", Fence),
            get: function!(handle, library, "PMIx_Get", Get),
            error_string: function!(handle, library, "PMIx_Error_string", ErrorString),
        })
    }

    /// Joins the job; returns who this process is.
    pub(super) fn init(&self) -> Result<Proc, LaunchError> {
        let mut own = MaybeUninit::<Proc>::zeroed();
        // SAFETY: the library writes a process into a place of that size, and reads no settings where there are none.
        let status = unsafe { (self.init)(own.as_mut_ptr(), ptr::null(), 0) };
        self.check("PMIx_Init", status)?;
        // SAFETY: zeroes are a process, and the call that succeeded wrote one.
        Ok(unsafe { own.assume_init() })
    }

    /// Leaves the job. What the library says is of no use any more.
    pub(super) fn finalize(&self) {
        // SAFETY: no settings are handed over.
        let _ = unsafe { (self.finalize)(ptr::null(), 0) };
    }

    /// Ends all processes of the job.
    pub(super) fn abort(&self, code: i32, why: &str) {
        let why = CString::new(why.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the text ends with a zero; no processes named are all of the job.
        let _ = unsafe { (self.abort)(code, why.as_ptr(), ptr::null(), 0) };
    }

    /// Keeps a value of this process under a key, for others to see once it is committed.
    pub(super) fn put(&self, key: &str, bytes: &[u8]) -> Result<(), LaunchError> {
        let key = key_of(key);
        let bytes = Bytes { bytes: bytes.as_ptr().cast_mut().cast(), size: bytes.len() };
        let mut value = Value { kind: TYPE_BYTES, data: Data { widest: [0; 3] } };
        value.data.bytes = bytes;
        // SAFETY: key and value live as long as the call, which copies the bytes and changes none of them.
        let status = unsafe { (self.put)(SCOPE_GLOBAL, key.as_ptr(), &raw mut value) };
        self.check("PMIx_Put", status)
    }

    /// Lets the others see what was put.
    pub(super) fn commit(&self) -> Result<(), LaunchError> {
        // SAFETY: nothing is handed over.
        let status = unsafe { (self.commit)() };
        self.check("PMIx_Commit", status)
    }

    /// Waits for all processes of the job of `own`, and carries what they committed to every host.
    pub(super) fn fence(&self, own: &Proc) -> Result<(), LaunchError> {
        let all = Proc { rank: ALL, ..*own };
        // Collected in every fence: Slurm's servers fetch nothing later.
        let collect = [Info::flag("pmix.collect")];
        // SAFETY: one process and one setting, which live as long as the call.
        let status = unsafe { (self.fence)(&raw const all, 1, collect.as_ptr(), collect.len()) };
        self.check("PMIx_Fence", status)
    }

    /// The bytes that a process has under a key, waiting for them for so many seconds at most.
    pub(super) fn bytes(&self, of: &Proc, key: &str, timeout_s: c_int) -> Result<Vec<u8>, String> {
        let settings = [Info::int("pmix.timeout", timeout_s)];
        self.get(of, key, &settings, |value| {
            if value.kind != TYPE_BYTES {
                return None;
            }
            // SAFETY: the kind says which arm was written.
            let Bytes { bytes, size } = unsafe { value.data.bytes };
            if bytes.is_null() {
                return Some(Vec::new());
            }
            // SAFETY: the library allocated so many bytes there, and the value is the caller's.
            let copied = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), size) }.to_vec();
            // SAFETY: what a value holds is allocated by malloc, and nobody has freed it.
            unsafe { libc::free(bytes.cast()) };
            Some(copied)
        })
    }

    /// The number that a process has under a key.
    pub(super) fn number(&self, of: &Proc, key: &str) -> Result<u32, String> {
        self.get(of, key, &[], |value| {
            if value.kind != TYPE_UINT32 {
                return None;
            }
            // SAFETY: the kind says which arm was written.
            Some(unsafe { value.data.uint32 })
        })
    }

    fn get<T>(
        &self,
        of: &Proc,
        key: &str,
        settings: &[Info],
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, String> {
        let key = key_of(key);
        let mut value: *mut Value = ptr::null_mut();
        let settings_at = if settings.is_empty() { ptr::null() } else { settings.as_ptr() };
        // SAFETY: process, key and settings live as long as the call, which writes a pointer.
        let status = unsafe {
            (self.get)(ptr::from_ref(of), key.as_ptr(), settings_at, settings.len(), &raw mut value)
        };
        if status != 0 || value.is_null() {
            return Err(self.words(status));
        }
        // SAFETY: a call that succeeds gives a value that is the caller's alone.
        let read = read(unsafe { &*value });
        // SAFETY: values are allocated by malloc, and nobody has freed this one.
        unsafe { libc::free(value.cast()) };
        read.ok_or_else(|| "a value of another kind".to_owned())
    }

    fn check(&self, call: &'static str, status: c_int) -> Result<(), LaunchError> {
        if status == 0 { Ok(()) } else { Err(LaunchError::Call { call, cause: self.words(status) }) }
    }

    fn words(&self, status: c_int) -> String {
        // SAFETY: the library gives a text that ends with a zero and is never freed.
        let text = unsafe { (self.error_string)(status) };
        if text.is_null() {
            return format!("status {status}");
        }
        // SAFETY: as above.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

impl Info {
    fn flag(key: &str) -> Self {
        let mut info = Self::new(key, TYPE_BOOL);
        info.value.data.flag = true;
        info
    }

    fn int(key: &str, value: c_int) -> Self {
        let mut info = Self::new(key, TYPE_INT);
        info.value.data.int = value;
        info
    }

    fn new(key: &str, kind: u16) -> Self {
        Self { key: key_of(key), flags: 0, value: Value { kind, data: Data { widest: [0; 3] } } }
    }
}

/// A key as the library takes it: an array of its own, ended by a zero.
fn key_of(key: &str) -> [c_char; KEY_BYTES] {
    let mut array = [0; KEY_BYTES];
    for (place, byte) in array.iter_mut().take(KEY_BYTES - 1).zip(key.bytes()) {
        *place = byte.cast_signed();
    }
    array
}
