//! What other processes on the client forbid to say.

use feed::{Cache, Operation};
use record::{Cell, Rep};

use super::{Crowd, names};
use crate::cell::flag::Flag;
use crate::cell::operation;
use crate::cell::system::{Reconciliation, SystemFigures};

/// Share of their time that the threads of a cell may wait for a processor: what they lose then may be what the storage
/// is short of.
const WAITED_SHARE_MAX: f64 = 0.05;
// File systems write their journals and access times at all times, and the kernel reads metadata: below a tenth nobody else
// need be there.
/// Share of what the device read, and of what it moved, that may be others'.
const OTHERS_MAX: f64 = 0.10;
// A cell that was served from memory is not slowed by writes to a device that it did not use.
/// Least share of the bytes asked that the device read, for it to be what was measured.
const FROM_DEVICE_MIN: f64 = 0.5;
// A journal that keeps what is known of a file with each write takes a descriptor, an inode and a commit, of a page each; file
// systems that write to another place each time also move what points there. Measured on ext4: 16 KiB at most.
/// Bytes that a file system may write beside each write that is kept.
const BESIDE_A_WRITE: f64 = 32_768.0;

/// Whether the threads of a cell were runnable and waited for a processor for long, in those repetitions that tell.
pub(crate) fn waited(cell: &Cell, used: &[&Rep]) -> Option<Flag> {
    let (mut waited, mut time) = (0.0, 0.0);
    for rep in used {
        if let Some(ns) = rep.usage.waited_ns {
            waited += ns as f64;
            time += rep.usage.wall_ns as f64 * f64::from(cell.threads.max(1));
        }
    }
    // The counters of a window that is cut off may cover a little more than it.
    let share = (waited / time).min(1.0);
    (time > 0.0 && share > WAITED_SHARE_MAX).then(|| Flag::Waited { share, crowd: Crowd::of(used) })
}

/// Whether the threads of a cell waited because others held the processors.
pub(crate) fn holds_processors(cell: &Cell, used: &[&Rep]) -> bool {
    waited(cell, used).is_some_and(|flag| flag.is_crowd())
}

/// Whether others read much from the device meanwhile.
pub(crate) fn others_read(
    cell: &Cell,
    storage: bool,
    system: Option<&SystemFigures>,
    used: &[&Rep],
) -> Option<Flag> {
    let system = system.filter(|_| storage)?;
    let share = if operation::is_write(cell) {
        // Whole blocks are written, for which nothing has to be read.
        let device = system.device.as_ref()?;
        device.read.bytes as f64 / (device.read.bytes + device.write.bytes).max(1) as f64
    } else {
        system.reconciliation.iter().find_map(|found| match found {
            Reconciliation::OthersRead { share, .. } => Some(*share),
            _ => None,
        })?
    };
    let names = || names(used, |one| one.read_bytes.unwrap_or(0));
    (share > OTHERS_MAX).then(|| Flag::OthersRead { share, names: names() })
}

/// Whether the device wrote much meanwhile for a cell that writes nothing: others' bytes, or what was left in the page cache.
pub(crate) fn others_wrote(cell: &Cell, storage: bool, system: Option<&SystemFigures>) -> Option<Flag> {
    // A cache tier fills its disk while it is read through, which may be the device that is watched.
    // What the journal of names takes nobody has counted.
    let writes = cell.checkpoint.is_some()
        || cell.copy.is_some()
        || cell.tier.is_some()
        || cell.operation == Operation::Names;
    let system = system.filter(|_| storage && !writes)?;
    let device = system.device.as_ref()?;
    if operation::writes_over(cell) {
        return beside_writes(cell, system)
            .filter(|share| *share > OTHERS_MAX)
            .map(|share| Flag::OthersWrote { share });
    }
    let (read, written) = (device.read.bytes as f64, device.write.bytes as f64);
    let is_measured = read > 0.0 && read >= FROM_DEVICE_MIN * system.asked.bytes as f64;
    let share = written / (read + written);
    (is_measured && share > OTHERS_MAX).then_some(Flag::OthersWrote { share })
}

/// Share of what the device moved that others wrote, beside writes of the cell's own. Through the page cache whole pages are
/// written for parts of them, and what names and inodes of files take that are made anew nobody has counted, so that nothing can be
/// told there.
fn beside_writes(cell: &Cell, system: &SystemFigures) -> Option<f64> {
    let is_told = cell.cache == Cache::Bypass && cell.operation != Operation::WriteFile;
    let device = system.device.as_ref().filter(|_| is_told)?;
    let beside_each = BESIDE_A_WRITE / cell.block_bytes.max(1) as f64;
    let own_bps = system.written_beside_device.bps * (1.0 + beside_each);
    Some((device.write.bps - own_bps).max(0.0) / (device.read.bps + device.write.bps).max(1.0))
}
