//! Removes copies of datasets, which lie in folders of feedline's own and have names by number.

use backend::{Owned, Store, StoreError};
use dataset::{CopyNames, Key, MARKER_NAME};

use crate::removal::{Act, Cleaned, child, side_by_side};

/// Removes the copy in `folder`, and the folder where nothing else lies in it; or only counts what would go.
pub(crate) fn clean(
    store: &dyn Store,
    folder: &Key,
    names: &CopyNames,
    act: Act,
) -> Result<Cleaned, StoreError> {
    let owned = Owned::claim(store, folder)?;
    let marker = child(folder, MARKER_NAME);
    let mut objects = Vec::new();
    let found = Cleaned::in_folder(store, folder, |key| match names.number(folder, key) {
        Some(object) => {
            objects.push(object);
            true
        }
        None => *key == marker,
    })?;
    if act == Act::Look {
        return Ok(found);
    }
    side_by_side(objects.len(), |index| store.remove(&owned, &names.key(folder, objects[index])))?;
    for directory in names.folders(folder) {
        store.remove_empty_folder(&owned, &directory)?;
    }
    // Last: without its marker a folder is not feedline's, and a removal that was cut could not be repeated.
    store.remove(&owned, &marker)?;
    Ok(found.after(store.remove_empty_folder(&owned, folder)?))
}
