//! Devices made for a test, where this machine and user allow it.

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Says why a test does nothing here; in CI that is a failure.
#[expect(clippy::print_stderr, reason = "a skip is seen")]
pub(crate) fn skip(reason: &str) {
    assert!(std::env::var_os("CI").is_none(), "skipped in CI: {reason}");
    eprintln!("skipped: {reason}");
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A block device over a file, which only root can make.
pub(crate) struct Loop {
    pub(crate) node: PathBuf,
}

impl Loop {
    /// Over the whole of `file`, and read-only: a write would fail.
    pub(crate) fn over(file: &Path) -> Result<Self, String> {
        let made = Command::new("losetup").args(["--read-only", "--find", "--show"]).arg(file).output();
        let made = made.map_err(|error| format!("no losetup: {error}"))?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).trim().to_owned());
        }
        Ok(Self { node: String::from_utf8(made.stdout).unwrap().trim().into() })
    }
}

/// A read-only ext4 with what is in `content`, as a file.
pub(crate) fn ext4_image(content: &Path, image: &Path) -> Result<(), String> {
    fs::File::create(image).unwrap().set_len(64 << 20).unwrap();
    let made = Command::new("mkfs.ext4").args(["-q", "-F", "-d"]).arg(content).arg(image).output();
    let made = made.map_err(|error| format!("no mkfs.ext4: {error}"))?;
    if made.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&made.stderr).into_owned()) }
}

impl Loop {
    /// Mounts the ext4 on it for this thread alone; whether it may.
    pub(crate) fn mount(&self, folder: &Path) -> bool {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).unwrap();
        let (node, folder) = (text(&self.node), text(folder));
        let private = libc::MS_REC | libc::MS_PRIVATE;
        // SAFETY: every text ends in NUL and lives through the calls.
        unsafe {
            let root = c"/".as_ptr();
            libc::unshare(libc::CLONE_NEWNS) == 0
                && libc::mount(std::ptr::null(), root, std::ptr::null(), private, std::ptr::null()) == 0
                && libc::mount(
                    node.as_ptr(),
                    folder.as_ptr(),
                    c"ext4".as_ptr(),
                    libc::MS_RDONLY,
                    c"noload".as_ptr().cast(),
                ) == 0
        }
    }

    /// Sectors that were read from it so far, what is read ahead included: the third field of
    /// `/sys/block/*/stat`, once the ninth says that nothing is under way.
    pub(crate) fn sectors_read(&self) -> u64 {
        let stat = Path::new("/sys/block").join(self.node.file_name().unwrap()).join("stat");
        loop {
            let text = fs::read_to_string(&stat).unwrap();
            let field = |index| text.split_ascii_whitespace().nth(index).unwrap().parse::<u64>().unwrap();
            if field(8) == 0 {
                return field(2);
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // With a user left it is taken apart when that one closes it.
        let _ = Command::new("losetup").arg("--detach").arg(&self.node).status();
    }
}

/// A block device in compressed memory, with real direct I/O in blocks of 4096 bytes.
pub(crate) struct Zram {
    number: String,
}

impl Zram {
    pub(crate) fn new(bytes: u64) -> Result<Self, String> {
        let number = fs::read_to_string("/sys/class/zram-control/hot_add");
        let number = number.map_err(|error| format!("no zram: {error}"))?.trim().to_owned();
        let zram = Self { number };
        fs::write(format!("/sys/block/zram{}/disksize", zram.number), bytes.to_string())
            .map_err(|error| format!("no zram: {error}"))?;
        Ok(zram)
    }

    pub(crate) fn node(&self) -> PathBuf {
        format!("/dev/zram{}", self.number).into()
    }
}

impl Zram {
    /// Takes it away, which cannot be done while it is open.
    pub(crate) fn remove(mut self) -> std::io::Result<()> {
        remove_zram(&std::mem::take(&mut self.number))
    }
}

/// The kernel closes the files that a ring had registered some time after the ring is gone, so an open device may
/// have become free a moment later.
fn remove_zram(number: &str) -> std::io::Result<()> {
    const TRIES: u32 = 6_000;
    let remove = || fs::write("/sys/class/zram-control/hot_remove", number);
    for _ in 1..TRIES {
        match remove() {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                let pause = rustix::time::Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
                let _ = rustix::thread::nanosleep(&pause);
            }
            ended => return ended,
        }
    }
    remove()
}

impl Drop for Zram {
    fn drop(&mut self) {
        if !self.number.is_empty() {
            let _ = remove_zram(&self.number);
        }
    }
}
