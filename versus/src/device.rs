//! What a block device did, by the kernel's own count, and a device without a medium for the time of a run.

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context as _, Result, ensure};
use rustix::fs::{major, minor};
use rustix::time::Timespec;
use serde::{Deserialize, Serialize};

use crate::case::Moves;
use crate::output::say;

/// Bytes of a sector in /proc/diskstats, whatever the device's own sectors are.
const SECTOR_BYTES: u64 = 512;
const ZRAM_CONTROL: &str = "/sys/class/zram-control";
/// Pages that were never written cost no memory.
const ZRAM_BYTES: u64 = 8 << 30;
/// How often, and after which pause, the removal of a device is tried again: 5 s in all.
const REMOVE_TRIES: u32 = 50;
const REMOVE_PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The block device that holds a path.
#[derive(Debug, Clone)]
pub(crate) struct Device {
    number: (u32, u32),
    /// Its name in /proc/diskstats.
    pub(crate) name: String,
}

/// Reads of a device, or its writes, as counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// Requests completed.
    pub(crate) requests: u64,
    /// Requests merged into others before they were issued.
    pub(crate) merged: u64,
    /// Bytes.
    pub(crate) bytes: u64,
}

impl Counts {
    /// Both together.
    fn and(self, other: Self) -> Self {
        Self {
            requests: self.requests + other.requests,
            merged: self.merged + other.merged,
            bytes: self.bytes + other.bytes,
        }
    }

    /// What came after `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(before.requests),
            merged: self.merged.saturating_sub(before.merged),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }
}

impl Device {
    /// The device below a path: its file system's, or the path itself. None where the kernel counts none, as for
    /// network and overlay file systems.
    pub(crate) fn below(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let id = if metadata.file_type().is_block_device() { metadata.rdev() } else { metadata.dev() };
        let number = (major(id), minor(id));
        let (name, ..) = find(&fs::read_to_string("/proc/diskstats").ok()?, number)?;
        Some(Self { number, name })
    }

    /// What it has read, or written, or both, since the machine began.
    pub(crate) fn counted(&self, moves: Moves) -> Option<Counts> {
        let (_, reads, written) = find(&fs::read_to_string("/proc/diskstats").ok()?, self.number)?;
        Some(match moves {
            Moves::Reads => reads,
            Moves::Writes => written,
            Moves::Both => reads.and(written),
        })
    }

    /// A setting of its queue, such as `scheduler`. A partition has its disk's.
    pub(crate) fn queue_setting(&self, name: &str) -> Option<String> {
        let sys = PathBuf::from(format!("/sys/dev/block/{}:{}", self.number.0, self.number.1));
        let read = |folder: &Path| fs::read_to_string(folder.join("queue").join(name)).ok();
        let text = read(&sys).or_else(|| read(&sys.canonicalize().ok()?.join("..")))?;
        Some(text.trim().to_owned())
    }
}

/// The name of a device, its reads and its writes in the text of /proc/diskstats.
fn find(text: &str, number: (u32, u32)) -> Option<(String, Counts, Counts)> {
    text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = |index: usize| words.get(index)?.parse::<u64>().ok();
        if (at(0)?, at(1)?) != (u64::from(number.0), u64::from(number.1)) {
            return None;
        }
        // Of each kind: requests, those merged, sectors, milliseconds.
        let from = |first: usize| {
            Some(Counts {
                requests: at(first)?,
                merged: at(first + 1)?,
                bytes: at(first + 2)? * SECTOR_BYTES,
            })
        };
        Some(((*words.get(2)?).to_owned(), from(3)?, from(7)?))
    })
}

/// A zram device of our own, removed when it is dropped. What was never written reads as zeros, through the real path
/// of direct I/O.
#[derive(Debug)]
pub(crate) struct Zram {
    number: u32,
}

impl Zram {
    /// Adds a device. Needs root and the zram driver.
    pub(crate) fn add() -> Result<Self> {
        let hint = "\n  hint: as root, where the kernel has zram; or name a device with --device";
        let added = Path::new(ZRAM_CONTROL).join("hot_add");
        // Reading this file is what adds the device.
        let number = fs::read_to_string(&added).with_context(|| format!("cannot add a zram device{hint}"))?;
        let zram = Self { number: number.trim().parse().context("hot_add told no number")? };
        fs::write(zram.sys("disksize"), ZRAM_BYTES.to_string())
            .with_context(|| format!("cannot set the size of {}", zram.node().display()))?;
        ensure!(zram.node().exists(), "{} did not appear{hint}", zram.node().display());
        Ok(zram)
    }

    /// Its node.
    pub(crate) fn node(&self) -> PathBuf {
        PathBuf::from(format!("/dev/zram{}", self.number))
    }

    fn remove(&self) -> io::Result<()> {
        fs::write(self.sys("reset"), "1")?;
        fs::write(Path::new(ZRAM_CONTROL).join("hot_remove"), self.number.to_string())
    }

    fn sys(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/sys/block/zram{}/{name}", self.number))
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let mut removed = self.remove();
        for _ in 0..REMOVE_TRIES {
            if removed.is_ok() {
                return;
            }
            // The kernel takes a ring apart, and lets go of its files, some time after its process has ended.
            pause(REMOVE_PAUSE);
            removed = self.remove();
        }
        if let Err(error) = removed {
            say(&format!("cannot remove {}: {error}", self.node().display()));
        }
    }
}

fn pause(length: Timespec) {
    let _ = rustix::thread::nanosleep(&length);
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATS: &str = "   8       0 sda 9 9 9 9 0 0 0 0 0 0 0\n \
                         253       2 zram2 140498 3 1123984 20 7 1 16 5 0 20 20 0 0 0 0 0 0\n";

    #[test]
    fn a_device_is_found_by_its_number() {
        let (name, reads, written) = find(STATS, (253, 2)).unwrap();
        assert_eq!(name, "zram2");
        assert_eq!(reads, Counts { requests: 140_498, merged: 3, bytes: 140_498 * 4096 });
        assert_eq!(written, Counts { requests: 7, merged: 1, bytes: 8192 });
        assert_eq!(find(STATS, (253, 1)), None);
        assert_eq!(find("253 2 zram2 1\n", (253, 2)), None, "a line cut short");
    }

    #[test]
    fn reads_are_counted_from_a_moment() {
        let before = Counts { requests: 10, merged: 1, bytes: 4096 };
        let after = Counts { requests: 15, merged: 1, bytes: 8192 };
        assert_eq!(after.since(before), Counts { requests: 5, merged: 0, bytes: 4096 });
    }
}
