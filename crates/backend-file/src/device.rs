//! A block device as a target: one object, only ever read.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use backend::{Entry, StoreError};
use dataset::Key;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, SeekFrom, Stat, fstat, openat, seek};
use rustix::io::Errno;

use crate::failure;

/// A block device by its node.
#[derive(Debug)]
pub(crate) struct Device {
    node: PathBuf,
    /// The kernel drops a device's pages when its last user closes it: what was warmed lives as long as this.
    held: OnceLock<OwnedFd>,
}

impl Device {
    /// The device at a node, or at the end of links to one (`/dev/disk/by-id/…`).
    pub(crate) fn new(node: &Path) -> Self {
        Self { node: node.canonicalize().unwrap_or_else(|_| node.to_owned()), held: OnceLock::new() }
    }

    /// The node itself.
    pub(crate) fn node(&self) -> &Path {
        &self.node
    }

    /// The folder of the node, below which its name is the object's key.
    pub(crate) fn folder(&self) -> &Path {
        self.node.parent().unwrap_or(Path::new("/"))
    }

    /// The one object.
    pub(crate) fn entry(&self) -> Result<Entry, StoreError> {
        let failed = |error: std::io::Error| failure::object("look at", &self.node, error);
        let bytes = open(&self.node).and_then(size).map_err(|errno| failed(errno.into()))?;
        let name = self.node.file_name().map(|name| name.to_string_lossy().into_owned());
        let key = Key::new(name.unwrap_or_default()).map_err(|error| failed(std::io::Error::other(error)))?;
        // The times of a node say nothing of the device's bytes.
        Ok(Entry { key, bytes, modified_ns: 0, allocated_bytes: None })
    }

    /// Keeps the device open from now on, as long as this lives.
    pub(crate) fn hold(&self) -> Result<(), StoreError> {
        if self.held.get().is_none() {
            let opened = open(&self.node).map_err(|errno| failure::object("open", &self.node, errno))?;
            // Another thread may have been faster; one is enough.
            let _ = self.held.set(opened);
        }
        Ok(())
    }
}

/// Opens a block device for reading. Never `O_EXCL`: a mounted device may be read too.
pub(crate) fn open(node: &Path) -> Result<OwnedFd, Errno> {
    let file = openat(CWD, node, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?;
    if is_block(&fstat(&file)?) { Ok(file) } else { Err(Errno::NOTBLK) }
}

/// Whether a node is a block device's.
pub(crate) fn is_block(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
}

/// Bytes of an open block device: the offset of its end, as `BLKGETSIZE64` says. Its `stat` has size 0.
pub(crate) fn size(device: impl AsFd) -> Result<u64, Errno> {
    seek(device, SeekFrom::End(0))
}

/// Bytes that an open file or block device has now.
pub(crate) fn present_bytes(file: impl AsFd) -> Result<u64, Errno> {
    let stat = fstat(&file)?;
    if is_block(&stat) { size(file) } else { Ok(stat.st_size.unsigned_abs()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_found_at_the_end_of_its_links_and_only_a_block_device_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().canonicalize().unwrap().join("file");
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, dir.path().join("link")).unwrap();
        let device = Device::new(&dir.path().join("link"));
        assert_eq!((device.node(), device.folder()), (file.as_path(), file.parent().unwrap()));
        let error = device.entry().unwrap_err().to_string();
        assert!(error.starts_with("cannot look at `") && error.contains("lock device"), "{error}");
        assert!(device.hold().is_err());
        assert_eq!(open(&dir.path().join("missing")).unwrap_err(), Errno::NOENT);
    }
}
