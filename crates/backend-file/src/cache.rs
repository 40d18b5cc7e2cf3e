//! The page cache of a dataset: evicted, warmed, looked at, one file after the other; and its names.

use std::path::Path;

use backend::{CacheAction, Residency, StoreError};
use dataset::{Key, Objects};
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, AtFlags, OFlags, fadvise, fdatasync, fstat, statat, syncfs};
use rustix::io::Errno;

use crate::residency::{self, Method};
use crate::{device, failure, names, tree};

/// Up to this many files are written back one by one, which leaves other files of the file system alone.
const SYNCED_SINGLY_MAX: u32 = 64;

/// Bytes of one read while warming.
const WARMING_BYTES: usize = 1 << 20;

/// Acts on every object and says what is resident afterwards.
pub(crate) fn act(root: &Path, action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
    let folder = tree::open_root(root).map_err(|errno| failure::object("open", root, errno))?;
    let evicts = matches!(action, CacheAction::Evict | CacheAction::EvictNames);
    let synced_singly = objects.count() <= SYNCED_SINGLY_MAX;
    if evicts && !synced_singly {
        // What cannot be written back stays resident, and is seen to be.
        let _ = tree::readable(&folder).and_then(syncfs);
    }
    let mut buffer = if action == CacheAction::Warm { vec![0; WARMING_BYTES] } else { Vec::new() };
    let mut total = Total::new();
    for object in 0..objects.count() {
        let key = objects.key(object);
        let failed = |errno| failure::object(word(action), &root.join(key.as_str()), errno);
        let file = tree::open_file(&folder, key.as_str(), OFlags::empty()).map_err(failed)?;
        let bytes = objects.bytes(object);
        match action {
            CacheAction::Evict | CacheAction::EvictNames => {
                evict(&file, bytes, synced_singly).map_err(failed)?;
            }
            CacheAction::Warm => warm(&file, bytes, &mut buffer).map_err(failed)?,
            CacheAction::WarmNames => look(&folder, &key).map_err(failed)?,
            CacheAction::Inspect => {}
        }
        total.add(residency::resident_bytes(&file, bytes));
    }
    if action == CacheAction::WarmNames {
        names::list_all(root, &folder, objects)?;
    }
    drop(folder);
    // The last thing done: whatever looks at a file brings its name back.
    let names_dropped = (action == CacheAction::EvictNames).then(|| names::drop_all(root));
    Ok(Residency { names_dropped, ..total.residency(objects) })
}

fn word(action: CacheAction) -> &'static str {
    match action {
        CacheAction::Evict | CacheAction::EvictNames => "evict",
        CacheAction::Warm | CacheAction::WarmNames => "warm",
        CacheAction::Inspect => "look into the page cache for",
    }
}

/// Drops a file's pages. Dirty ones are not dropped, so they are written back first; where some stay all the
/// same, once more. Those of a device are another's, since it is only ever read: they stay, and are seen to.
fn evict(file: &OwnedFd, bytes: u64, sync: bool) -> Result<(), Errno> {
    if device::is_block(&fstat(file)?) {
        return fadvise(file, 0, None, Advice::DontNeed);
    }
    if sync {
        write_back(file)?;
    }
    fadvise(file, 0, None, Advice::DontNeed)?;
    if residency::resident_bytes(file, bytes).is_some_and(|(resident, _)| resident > 0) {
        write_back(file)?;
        fadvise(file, 0, None, Advice::DontNeed)?;
    }
    Ok(())
}

fn write_back(file: &OwnedFd) -> Result<(), Errno> {
    match fdatasync(file) {
        // A file on a read-only file system has nothing to write back.
        Err(Errno::ROFS | Errno::INVAL) => Ok(()),
        synced => synced,
    }
}

/// Reads a file once, from its start to its end, as a buffered reader does.
fn warm(file: &OwnedFd, bytes: u64, buffer: &mut [u8]) -> Result<(), Errno> {
    let mut offset = 0;
    while offset < bytes {
        match rustix::io::pread(file, &mut *buffer, offset) {
            Ok(0) => return Ok(()),
            Ok(read) => offset += read as u64,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Looks at a file by its name, as a reader that wants its size does.
fn look(folder: &OwnedFd, key: &Key) -> Result<(), Errno> {
    let (folder, name) = tree::locate(folder, key.as_str())?;
    statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).map(drop)
}

/// Sums residency over files; unknown as soon as one file's is.
struct Total {
    resident_bytes: Option<u64>,
    method: Option<Method>,
}

impl Total {
    fn new() -> Self {
        Self { resident_bytes: Some(0), method: None }
    }

    fn add(&mut self, found: Option<(u64, Method)>) {
        self.resident_bytes = self.resident_bytes.zip(found).map(|(sum, (bytes, _))| sum + bytes);
        self.method = found.map(|(_, method)| method).or(self.method);
    }

    fn residency(&self, objects: &Objects) -> Residency {
        let known = self.resident_bytes.and(self.method);
        Residency {
            resident_bytes: known.and(self.resident_bytes),
            total_bytes: objects.total_bytes(),
            method: known.map_or("none", Method::name),
            names_dropped: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use dataset::Key;

    use super::*;

    #[test]
    fn one_file_that_may_not_be_asked_makes_the_whole_unknown() {
        let objects = Objects::uniform(Key::new("d").unwrap(), 2, 10);
        let mut total = Total::new();
        total.add(Some((10, Method::Cachestat)));
        assert_eq!(total.residency(&objects).resident_bytes, Some(10));
        total.add(None);
        let expected =
            Residency { resident_bytes: None, total_bytes: 20, method: "none", names_dropped: None };
        assert_eq!(total.residency(&objects), expected);
    }
}
