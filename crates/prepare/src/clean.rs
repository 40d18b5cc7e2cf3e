//! Removes what feedline wrote, and nothing else.

use std::io;
use std::ops::ControlFlow;

use backend::{Owned, Store, StoreError};
use dataset::{
    CopyNames, Key, MANIFEST_FORMAT, MANIFEST_NAME, MARKER_NAME, Marker, TIER_BLOCKS, TIER_DATASET,
};

use crate::identity::{Identity, Names};
use crate::lease::{self, LeaseError, Watch};
use crate::removal::{Act, Cleaned, child, side_by_side};
use crate::{CleanError, copied};

/// Finds every folder directly below the root that carries feedline's marker, and removes what feedline
/// wrote there. A folder without the marker is never touched, whatever its name; nor is one that this user may
/// not look into.
///
/// # Errors
/// What the storage refuses; what was removed until then is gone.
pub fn clean(store: &dyn Store) -> Result<Cleaned, CleanError> {
    let mut cleaned = Cleaned::default();
    each_marked(store, &mut |folder, marker| {
        let removed = clean_folder(store, folder, marker, Act::Remove)
            .map_err(|source| CleanError::Remove { folder: folder.clone(), source })?;
        cleaned.add(removed);
        Ok(())
    })?;
    Ok(cleaned)
}

/// Refuses datasets that another run has a lease on. What a killed run left of its leases is removed.
///
/// # Errors
/// [`LeaseError::Held`] for the first of them, and what the storage refuses.
pub fn refuse_measured(store: &dyn Store, watch: &dyn Watch) -> Result<(), LeaseError> {
    for folder in store.folders()? {
        if marker_of(store, &folder)?.is_some() {
            lease::refuse_held(store, &folder, watch)?;
        }
    }
    Ok(())
}

/// What [`clean`] would remove, folder by folder; removes nothing.
///
/// # Errors
/// What the storage refuses.
pub fn find(store: &dyn Store) -> Result<Vec<(Key, Cleaned)>, CleanError> {
    let mut found = Vec::new();
    each_marked(store, &mut |folder, marker| {
        let inside = clean_folder(store, folder, marker, Act::Look).map_err(CleanError::Search)?;
        found.push((folder.clone(), inside));
        Ok(())
    })?;
    Ok(found)
}

/// Each folder directly below the root that carries feedline's marker.
fn each_marked(
    store: &dyn Store,
    each: &mut dyn FnMut(&Key, &Marker) -> Result<(), CleanError>,
) -> Result<(), CleanError> {
    for folder in store.folders().map_err(CleanError::Search)? {
        if let Some(marker) = marker_of(store, &folder).map_err(CleanError::Search)? {
            each(&folder, &marker)?;
        }
    }
    Ok(())
}

/// A folder that may not be looked into (`lost+found`) is another's.
fn marker_of(store: &dyn Store, folder: &Key) -> Result<Option<Marker>, StoreError> {
    match store.read_marker(&child(folder, MARKER_NAME)) {
        Err(StoreError::Object { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => {
            Ok(None)
        }
        read => read,
    }
}

/// What lies in one folder. Objects are kept by number: a dataset may have millions.
#[derive(Default)]
struct Contents {
    objects: Vec<u32>,
    leases: Vec<Key>,
    manifest: Option<Key>,
    metadata: Option<Key>,
    files: u64,
    bytes: u64,
    left: Vec<String>,
}

/// The manifest goes first, so that a dataset half removed is not taken for a complete one; the marker goes
/// last, so that the removal can be repeated until then.
fn clean_folder(store: &dyn Store, folder: &Key, marker: &Marker, act: Act) -> Result<Cleaned, StoreError> {
    if marker.format == MANIFEST_FORMAT
        && let Ok(names) = marker.dataset.parse::<CopyNames>()
    {
        return copied::clean(store, folder, &names, act);
    }
    if marker.dataset == TIER_DATASET {
        return clean_tier(store, folder, act);
    }
    let identity = marker.dataset.parse::<Identity>().ok();
    let Some(identity) = identity.filter(|_| marker.format == MANIFEST_FORMAT) else {
        let left = vec![format!("{folder} (its marker is of another version of feedline)")];
        return Ok(Cleaned { left, ..Cleaned::default() });
    };
    clean_known(store, folder, identity, act)
}

/// What feedline wrote into a folder of its own.
pub(crate) fn clean_known(
    store: &dyn Store,
    folder: &Key,
    identity: Identity,
    act: Act,
) -> Result<Cleaned, StoreError> {
    let owned = Owned::claim(store, folder)?;
    let names = identity.names(folder);
    let contents = look(store, folder, &names)?;
    let (files, bytes) = (contents.files, contents.bytes);
    if act == Act::Look {
        return Ok(Cleaned { folders: 1, files, bytes, left: contents.left });
    }
    if let Some(manifest) = &contents.manifest {
        store.remove(&owned, manifest)?;
    }
    side_by_side(contents.objects.len(), |number| {
        store.remove(&owned, &names.key(contents.objects[number]))
    })?;
    if let Some(metadata) = &contents.metadata {
        store.remove(&owned, metadata)?;
    }
    contents.leases.iter().try_for_each(|lease| store.remove(&owned, lease))?;
    store.remove_empty_folder(&owned, &child(folder, lease::FOLDER))?;
    remove_directories(store, &owned, &names)?;
    store.remove(&owned, &child(folder, MARKER_NAME))?;
    let folders = u64::from(store.remove_empty_folder(&owned, folder)?);
    Ok(Cleaned { folders, files, bytes, left: contents.left })
}

/// A cache tier is one file, and the marker.
fn clean_tier(store: &dyn Store, folder: &Key, act: Act) -> Result<Cleaned, StoreError> {
    let owned = Owned::claim(store, folder)?;
    let mut cleaned = Cleaned { folders: 1, ..Cleaned::default() };
    let (blocks, marker) = (child(folder, TIER_BLOCKS), child(folder, MARKER_NAME));
    store.list(Some(folder), &mut |entry| {
        if entry.key == blocks || entry.key == marker {
            cleaned.files += 1;
            cleaned.bytes += entry.bytes;
        } else {
            cleaned.left.push(entry.key.to_string());
        }
        ControlFlow::Continue(())
    })?;
    if act == Act::Remove {
        store.remove(&owned, &blocks)?;
        store.remove(&owned, &marker)?;
        cleaned.folders = u64::from(store.remove_empty_folder(&owned, folder)?);
    }
    Ok(cleaned)
}

fn look(store: &dyn Store, folder: &Key, names: &Names) -> Result<Contents, StoreError> {
    let (marker, manifest) = (child(folder, MARKER_NAME), child(folder, MANIFEST_NAME));
    let metadata = names.metadata();
    let mut contents = Contents::default();
    store.list(Some(folder), &mut |entry| {
        match names.object(&entry.key) {
            Some(object) => contents.objects.push(object),
            None if entry.key == manifest => contents.manifest = Some(entry.key.clone()),
            None if metadata.as_ref() == Some(&entry.key) => contents.metadata = Some(entry.key.clone()),
            None if entry.key == marker => {}
            None if lease::is_lease(folder, &entry.key) => contents.leases.push(entry.key.clone()),
            None => {
                contents.left.push(entry.key.to_string());
                return ControlFlow::Continue(());
            }
        }
        contents.files += 1;
        contents.bytes += entry.bytes;
        ControlFlow::Continue(())
    })?;
    Ok(contents)
}

/// A killed process may have left any directory of the dataset empty, or with objects that it had not
/// finished: no listing shows those, and they go with their directory. One that holds more stays.
fn remove_directories(store: &dyn Store, owned: &Owned, names: &Names) -> Result<(), StoreError> {
    side_by_side(names.directories() as usize, |number| {
        store.remove_empty_folder(owned, &names.directory(number as u32)).map(drop)
    })?;
    match names.outer_directory() {
        Some(outer) => store.remove_empty_folder(owned, &outer).map(drop),
        None => Ok(()),
    }
}
