//! Removes what feedline wrote, and nothing else.

use std::io;

use backend::{Owned, Store, StoreError};
use dataset::{
    CopyNames, Key, MANIFEST_FORMAT, MANIFEST_NAME, MARKER_NAME, Marker, TIER_BLOCKS, TIER_DATASET,
};

use crate::identity::{Identity, Names};
use crate::lease::{self, Holder, LeaseError, Watch};
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

/// Refuses datasets that another than `own` has a lease on, and a root that one writes below. What a killed run left of its leases is removed.
/// Whether feedline wrote anything there.
///
/// # Errors
/// [`LeaseError`] for the first of them, and what the storage refuses.
pub fn refuse_used(store: &dyn Store, own: &Holder, watch: &dyn Watch) -> Result<bool, LeaseError> {
    let mut is_any = false;
    let mut folders = store.folders()?;
    // What is measured tells more than that somebody writes.
    folders.sort_by_key(lease::is_of_root);
    for folder in folders {
        if marker_of(store, &folder)?.is_some() {
            lease::refuse_held(store, &folder, own, watch)?;
            is_any = true;
        }
    }
    Ok(is_any)
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

/// Each folder directly below the root that carries feedline's marker, but that of leases on the root, which goes with the last
/// lease of `clean`.
fn each_marked(
    store: &dyn Store,
    each: &mut dyn FnMut(&Key, &Marker) -> Result<(), CleanError>,
) -> Result<(), CleanError> {
    let folders = store.folders().map_err(CleanError::Search)?;
    for folder in folders.into_iter().filter(|folder| !lease::is_of_root(folder)) {
        if let Some(marker) = marker_of(store, &folder).map_err(CleanError::Search)? {
            each(&folder, &marker)?;
        }
    }
    Ok(())
}

/// A folder that may not be looked into (`lost+found`) is another's.
fn marker_of(store: &dyn Store, folder: &Key) -> Result<Option<Marker>, StoreError> {
    match store.read_marker(&child(folder, MARKER_NAME)) {
        // Every ext4 root has a `lost+found` that only root may read; it must not keep a user from cleaning beside
        // it.
        Err(StoreError::Object { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => {
            Ok(None)
        }
        read => read,
    }
}

/// What feedline wrote into one folder. Objects are kept by number: a dataset may have millions.
#[derive(Default)]
struct Contents {
    objects: Vec<u32>,
    leases: Vec<Key>,
    manifest: Option<Key>,
    metadata: Option<Key>,
}

/// The manifest goes first, so that a dataset half removed is not taken for a complete one; the marker goes
/// last, so that the removal can be repeated until then.
fn clean_folder(store: &dyn Store, folder: &Key, marker: &Marker, act: Act) -> Result<Cleaned, StoreError> {
    // Which kind of folder it is follows from the marker's text alone; names of folders are only for people.
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
        // Left and said: what another version wrote can be told from a user's files by that version only.
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
    let (contents, found) = look(store, folder, &names)?;
    if act == Act::Look {
        return Ok(found);
    }
    if let Some(manifest) = &contents.manifest {
        store.remove(&owned, manifest)?;
    }
    // By names made from numbers, not by the names that were listed: nothing is removed that feedline would not have
    // written.
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
    Ok(found.after(store.remove_empty_folder(&owned, folder)?))
}

/// A cache tier is one file, and the marker.
fn clean_tier(store: &dyn Store, folder: &Key, act: Act) -> Result<Cleaned, StoreError> {
    let owned = Owned::claim(store, folder)?;
    let (blocks, marker) = (child(folder, TIER_BLOCKS), child(folder, MARKER_NAME));
    let found = Cleaned::in_folder(store, folder, |key| *key == blocks || *key == marker)?;
    if act == Act::Look {
        return Ok(found);
    }
    store.remove(&owned, &blocks)?;
    store.remove(&owned, &marker)?;
    Ok(found.after(store.remove_empty_folder(&owned, folder)?))
}

fn look(store: &dyn Store, folder: &Key, names: &Names) -> Result<(Contents, Cleaned), StoreError> {
    let (marker, manifest) = (child(folder, MARKER_NAME), child(folder, MANIFEST_NAME));
    let metadata = names.metadata();
    let mut contents = Contents::default();
    let found = Cleaned::in_folder(store, folder, |key| {
        match names.object(key) {
            Some(object) => contents.objects.push(object),
            None if *key == manifest => contents.manifest = Some(key.clone()),
            None if metadata.as_ref() == Some(key) => contents.metadata = Some(key.clone()),
            None if lease::is_lease(folder, key) => contents.leases.push(key.clone()),
            None => return *key == marker,
        }
        true
    })?;
    Ok((contents, found))
}

/// A killed process may have left directories empty, or with unfinished objects, which no listing shows. These are removed
/// with their directory; a directory that holds anything else stays.
fn remove_directories(store: &dyn Store, owned: &Owned, names: &Names) -> Result<(), StoreError> {
    side_by_side(names.directories() as usize, |number| {
        store.remove_empty_folder(owned, &names.directory(number as u32)).map(drop)
    })?;
    match names.outer_directory() {
        Some(outer) => store.remove_empty_folder(owned, &outer).map(drop),
        None => Ok(()),
    }
}
