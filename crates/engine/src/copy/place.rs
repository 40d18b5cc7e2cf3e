//! Where a copy goes: a fresh folder of feedline's own, with room for it.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::ops::ControlFlow;
use std::sync::Arc;

use backend::{Owned, SharedStore, StoreError};
use dataset::{COPY_FOLDER, CopyNames, Key, MANIFEST_FORMAT, MARKER_NAME, Marker};
use plan::{Codec, Layout};

use crate::error::{COPIES_MAX, CopyError};
use crate::spec::RepSpec;

use super::shards::Work;

/// What a shard takes beside a sample's bytes, for each member: a header and padding of 512 bytes each in a tar, the
/// largest of all layouts.
const MEMBER_OVERHEAD_BYTES: u64 = 1_024;

/// A copy on its target. If it is not removed here, `feedline clean` removes it later.
pub struct CopyFolder {
    to: SharedStore,
    pub(super) owned: Owned,
    pub(super) names: Arc<CopyNames>,
}

impl fmt::Debug for CopyFolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyFolder")
            .field("folder", self.owned.folder())
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl CopyFolder {
    /// The folder of the copy.
    pub fn folder(&self) -> &Key {
        self.owned.folder()
    }

    /// The names of the copied objects, below the folder.
    pub fn names(&self) -> &CopyNames {
        &self.names
    }

    /// Removes what was written, and the folder. The marker goes last, so that `feedline clean` can go on where this
    /// fails.
    ///
    /// # Errors
    /// What the storage refuses.
    pub fn remove(self) -> Result<(), StoreError> {
        let folder = self.owned.folder();
        let mut found = Vec::new();
        self.to.list(Some(folder), &mut |entry| {
            found.extend(self.names.number(folder, &entry.key));
            ControlFlow::Continue(())
        })?;
        // What was listed, not all that was planned: a copy that was cut short has few objects.
        for object in found {
            self.to.remove(&self.owned, &self.names.key(folder, object))?;
        }
        for directory in self.names.folders(folder) {
            self.to.remove_empty_folder(&self.owned, &directory)?;
        }
        let marker = folder.join(MARKER_NAME).map_err(|_| StoreError::NotOwned { folder: folder.clone() })?;
        self.to.remove(&self.owned, &marker)?;
        self.to.remove_empty_folder(&self.owned, folder).map(drop)
    }
}

/// Makes the folder, once there is room.
pub(super) fn make(spec: &RepSpec<'_>, to: &SharedStore, work: &Work) -> Result<CopyFolder, CopyError> {
    let needed_bytes = needed_bytes(spec, work);
    if let Some(free_bytes) = to.free_bytes()?.filter(|free| *free < needed_bytes) {
        return Err(CopyError::NoSpace { needed_bytes, free_bytes });
    }
    let extension = match work {
        Work::Objects(_) => ".bin",
        Work::Shards(packing, _) => formats::extension(packing.layout, packing.codec),
    };
    let names = CopyNames::new(work.count(), extension).map_err(|_| CopyError::Packed)?;
    let marker = marker(&names);
    let taken = to.folders()?;
    for number in 1..=COPIES_MAX {
        let folder = Key::new(format!("{COPY_FOLDER}{number:04}")).expect("letters, digits and dashes");
        // One listing instead of thousands of attempts: on an object store each is a request.
        if taken.contains(&folder) {
            continue;
        }
        match to.create_folder(&folder, &marker) {
            // Another process made it a moment ago.
            Err(StoreError::Exists { .. }) => {}
            made => return Ok(CopyFolder { to: Arc::clone(to), owned: made?, names: Arc::new(names) }),
        }
    }
    Err(CopyError::TooManyCopies)
}

/// The marker of a copy, which differs from that of any other copy. If the reply to the write of a marker is lost, its bytes
/// tell whose marker is there. Two processes that copy the same dataset must not both take the folder for theirs: the first
/// to end would remove what the other has just written.
fn marker(names: &CopyNames) -> Marker {
    // A map's keys are the standard library's source of random bits.
    let number = RandomState::new().build_hasher().finish();
    Marker {
        format: MANIFEST_FORMAT,
        note: format!(
            "feedline copied a dataset here to measure storage; `feedline clean` removes what it wrote here (copy \
             {number:016x})"
        ),
        dataset: names.to_string(),
    }
}

/// Bytes that the copy takes on a disk, at most.
fn needed_bytes(spec: &RepSpec<'_>, work: &Work) -> u64 {
    let objects = spec.data.objects();
    let each = |object: u32| objects.bytes(object);
    match work {
        Work::Objects(count) => {
            (0..*count).map(|object| plan::disk_bytes(1, each(object))).fold(0, u64::saturating_add)
        }
        Work::Shards(packing, shards) => {
            let samples = shards.samples();
            // Padding to a page, of a layout that is made to be mapped.
            let padding = if packing.layout == Layout::Indexed { plan::BUFFER_ALIGN_BYTES } else { 0 };
            let beside = MEMBER_OVERHEAD_BYTES * u64::from(packing.members.max(1)) + padding;
            let bytes = (0..samples).map(each).fold(0, u64::saturating_add);
            // What does not compress grows a little: gzip by 5 bytes in each 64 KiB, Zstandard less.
            let grown = if packing.codec == Codec::None { 0 } else { bytes >> 10 };
            // A block for the end of each, which a sum of bytes does not see.
            let shards = plan::disk_bytes(u64::from(shards.count()), 1);
            bytes
                .saturating_add(grown)
                .saturating_add(beside.saturating_mul(u64::from(samples)))
                .saturating_add(shards)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_copies_of_one_dataset_have_markers_of_their_own() {
        let names = CopyNames::new(3, ".bin").unwrap();
        let [one, other] = [marker(&names), marker(&names)];
        assert_ne!(one, other, "a storage that finds its own bytes takes the folder for its own");
        assert_eq!((one.dataset.parse(), other.dataset), (Ok(names), one.dataset));
    }
}
