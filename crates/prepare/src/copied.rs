//! Removes copies of datasets, which lie in folders of feedline's own and have names by number.

use std::ops::ControlFlow;

use backend::{Owned, Store, StoreError};
use dataset::{CopyNames, Key, MARKER_NAME};

use crate::removal::{Act, Cleaned, child, side_by_side};

/// The copy in `folder`, which is removed, and the folder once nothing else is in it. The marker goes last, so that the removal can
/// be repeated until then.
pub(crate) fn clean(
    store: &dyn Store,
    folder: &Key,
    names: &CopyNames,
    act: Act,
) -> Result<Cleaned, StoreError> {
    let owned = Owned::claim(store, folder)?;
    let marker = child(folder, MARKER_NAME);
    let (mut objects, mut bytes, mut left) = (Vec::new(), 0, Vec::new());
    store.list(Some(folder), &mut |entry| {
        match names.number(folder, &entry.key) {
            Some(object) => objects.push(object),
            None if entry.key == marker => {}
            None => {
                left.push(entry.key.to_string());
                return ControlFlow::Continue(());
            }
        }
        bytes += entry.bytes;
        ControlFlow::Continue(())
    })?;
    let files = objects.len() as u64 + 1;
    if act == Act::Look {
        return Ok(Cleaned { folders: 1, files, bytes, left });
    }
    side_by_side(objects.len(), |index| store.remove(&owned, &names.key(folder, objects[index])))?;
    for directory in names.folders(folder) {
        store.remove_empty_folder(&owned, &directory)?;
    }
    store.remove(&owned, &marker)?;
    let folders = u64::from(store.remove_empty_folder(&owned, folder)?);
    Ok(Cleaned { folders, files, bytes, left })
}
