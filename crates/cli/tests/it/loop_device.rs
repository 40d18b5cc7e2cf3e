//! A block device over a file, which only root can make.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::harness::{Bench, is_root, skip};

/// Bytes of the device.
pub(crate) const BYTES: u64 = 8 << 20;

/// A device that may be written, so that a write would be seen.
pub(crate) struct Loop {
    pub(crate) node: String,
}

impl Loop {
    /// Over the file `disk` of `bench`, of content that differs from block to block; `None`, and a reason, where
    /// there can be none.
    pub(crate) fn over_disk(bench: &Bench) -> Option<Self> {
        if !is_root() {
            skip("only root can make a loop device");
            return None;
        }
        let numbers =
            (0..BYTES / 8).flat_map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
        fs::write(bench.path("disk"), numbers.collect::<Vec<u8>>()).unwrap();
        match Self::over(&bench.path("disk")) {
            Ok(device) => Some(device),
            Err(reason) => {
                skip(&reason);
                None
            }
        }
    }

    fn over(file: &Path) -> Result<Self, String> {
        fs::File::open(file).and_then(|file| file.sync_all()).map_err(|error| error.to_string())?;
        let made = Command::new("losetup").args(["--find", "--show"]).arg(file).output();
        let made = made.map_err(|error| format!("no losetup: {error}"))?;
        if !made.status.success() {
            return Err(String::from_utf8_lossy(&made.stderr).trim().to_owned());
        }
        Ok(Self { node: String::from_utf8(made.stdout).unwrap().trim().to_owned() })
    }

    /// Sectors written to it and to what had its node before: the seventh field of `/sys/block/*/stat`. Flushes,
    /// which an eviction asks for, count among its writes and write nothing.
    pub(crate) fn sectors_written(&self) -> u64 {
        let name = Path::new(&self.node).file_name().unwrap().to_str().unwrap();
        let stat = fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
        stat.split_ascii_whitespace().nth(6).unwrap().parse().unwrap()
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // With a user left it is taken apart when that one closes it.
        let _ = Command::new("losetup").arg("--detach").arg(&self.node).status();
    }
}
