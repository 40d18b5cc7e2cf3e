//! A call that changes files, as its arguments say.

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The kernel makes it.
    Pass,
    /// It is not made, and its caller is told that it ended well: for waits for storage, which may take long and which a test
    /// need not have.
    Skip,
    /// It fails with this error number, and nothing is done.
    Fail(i32),
    /// Of a write, the first half is written, and the caller is told so. Any other call passes.
    Half,
}

/// A call that changes files, or makes a change last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Opens a file and makes it where there is none.
    Create {
        /// The file.
        path: PathBuf,
    },
    /// Writes to a file.
    Write {
        /// The file.
        path: PathBuf,
        /// What is written.
        bytes: Vec<u8>,
    },
    /// Sets the length of a file.
    Truncate {
        /// The file.
        path: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// Waits until a file, or the names in a folder, are on storage.
    Sync {
        /// The file or folder.
        path: PathBuf,
    },
    /// Waits until a whole file system is on storage.
    SyncAll {
        /// Something on it.
        path: PathBuf,
    },
    /// Renames a file or folder.
    Rename {
        /// From.
        from: PathBuf,
        /// To.
        to: PathBuf,
    },
    /// Gives a file another name.
    Link {
        /// The name that it has.
        from: PathBuf,
        /// The other.
        to: PathBuf,
    },
    /// Makes a folder.
    MakeFolder {
        /// The folder.
        path: PathBuf,
    },
    /// Removes a file or folder.
    Remove {
        /// The file or folder.
        path: PathBuf,
    },
}

impl Call {
    /// The call `number` with these arguments, made by a thread of this process that waits for it.
    pub(crate) fn of(number: i64, args: [u64; 6]) -> Option<Self> {
        let at = |folder: usize, name: usize| place(args[folder] as c_int, args[name]);
        let open = |argument: usize| descriptor(args[argument] as c_int);
        Some(match number {
            libc::SYS_openat => Self::Create { path: at(0, 1)? },
            libc::SYS_write | libc::SYS_pwrite64 => {
                // SAFETY: the caller gave this memory to the kernel to read, and waits until it was read.
                let bytes = unsafe { std::slice::from_raw_parts(args[1] as *const u8, args[2] as usize) };
                Self::Write { path: open(0)?, bytes: bytes.to_vec() }
            }
            libc::SYS_ftruncate => Self::Truncate { path: open(0)?, bytes: args[1] },
            libc::SYS_fsync | libc::SYS_fdatasync => Self::Sync { path: open(0)? },
            libc::SYS_syncfs => Self::SyncAll { path: open(0)? },
            libc::SYS_renameat | libc::SYS_renameat2 => Self::Rename { from: at(0, 1)?, to: at(2, 3)? },
            libc::SYS_linkat => Self::Link { from: at(0, 1)?, to: at(2, 3)? },
            libc::SYS_mkdirat => Self::MakeFolder { path: at(0, 1)? },
            libc::SYS_unlinkat => Self::Remove { path: at(0, 1)? },
            _ => return Self::without_folder(number, args),
        })
    }

    /// Calls of old, which take a path alone.
    #[cfg(target_arch = "x86_64")]
    fn without_folder(number: i64, args: [u64; 6]) -> Option<Self> {
        let at = |name: usize| place(libc::AT_FDCWD, args[name]);
        Some(match number {
            libc::SYS_rename => Self::Rename { from: at(0)?, to: at(1)? },
            libc::SYS_link => Self::Link { from: at(0)?, to: at(1)? },
            libc::SYS_mkdir => Self::MakeFolder { path: at(0)? },
            libc::SYS_unlink | libc::SYS_rmdir => Self::Remove { path: at(0)? },
            _ => return None,
        })
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn without_folder(_: i64, _: [u64; 6]) -> Option<Self> {
        None
    }

    /// What it changes; of a renaming the new name.
    pub fn path(&self) -> &Path {
        match self {
            Self::Create { path }
            | Self::Write { path, .. }
            | Self::Truncate { path, .. }
            | Self::Sync { path }
            | Self::SyncAll { path }
            | Self::MakeFolder { path }
            | Self::Remove { path } => path,
            Self::Rename { to, .. } | Self::Link { to, .. } => to,
        }
    }

    pub(crate) fn is_below(&self, folder: &Path) -> bool {
        self.path().starts_with(folder)
    }
}

/// Where a name lies that a call takes together with an open folder.
fn place(folder: c_int, name: u64) -> Option<PathBuf> {
    // SAFETY: the caller gave this string to the kernel to read, and waits until it was read.
    let name = unsafe { CStr::from_ptr(name as *const c_char) };
    let name = Path::new(OsStr::from_bytes(name.to_bytes()));
    if name.is_absolute() {
        return Some(name.to_owned());
    }
    let folder = if folder == libc::AT_FDCWD { std::env::current_dir().ok()? } else { descriptor(folder)? };
    Some(folder.join(name))
}

/// What a descriptor of this process stands for.
fn descriptor(number: c_int) -> Option<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{number}")).ok()
}
