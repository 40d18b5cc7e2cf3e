//! Removes what feedline wrote, and nothing else.

use std::io;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use backend::{Owned, Store, StoreError};
use dataset::{Key, MANIFEST_FORMAT, MANIFEST_NAME, MARKER_NAME, Marker, Objects};

use crate::CleanError;
use crate::identity::{Identity, object_of};

/// Threads that remove files: on a network a removal is a round trip, and a dataset has millions of files.
const THREADS: usize = 8;

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cleaned {
    /// Folders removed.
    pub folders: u64,
    /// Files removed, markers and manifests included.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What was found in feedline's folders and left there: it is not what feedline writes.
    pub left: Vec<String>,
}

/// Finds every folder directly below the root that carries feedline's marker, and removes what feedline
/// wrote there. A folder without the marker is never touched, whatever its name; nor is one that this user may
/// not look into.
pub fn clean(store: &dyn Store) -> Result<Cleaned, CleanError> {
    let mut cleaned = Cleaned::default();
    for folder in store.folders().map_err(CleanError::Search)? {
        let Some(marker) = marker_of(store, &folder).map_err(CleanError::Search)? else {
            continue;
        };
        clean_folder(store, &folder, &marker, &mut cleaned)
            .map_err(|source| CleanError::Remove { folder: folder.clone(), source })?;
    }
    Ok(cleaned)
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
    manifest: Option<Key>,
    files: u64,
    bytes: u64,
    left: Vec<String>,
}

/// The manifest goes first, so that a dataset half removed is not taken for a complete one; the marker goes
/// last, so that the removal can be repeated until then.
fn clean_folder(
    store: &dyn Store,
    folder: &Key,
    marker: &Marker,
    cleaned: &mut Cleaned,
) -> Result<(), StoreError> {
    let Some(identity) = marker.dataset.parse().ok().filter(|_| marker.format == MANIFEST_FORMAT) else {
        cleaned.left.push(format!("{folder} (its marker is of another version of feedline)"));
        return Ok(());
    };
    let owned = Owned::claim(store, folder)?;
    let contents = look(store, folder, identity)?;
    if let Some(manifest) = &contents.manifest {
        store.remove(&owned, manifest)?;
    }
    remove_objects(store, &owned, &contents.objects)?;
    remove_directories(store, &owned, identity)?;
    store.remove(&owned, &child(folder, MARKER_NAME))?;
    cleaned.folders += u64::from(store.remove_empty_folder(&owned, folder)?);
    cleaned.files += contents.files;
    cleaned.bytes += contents.bytes;
    cleaned.left.extend(contents.left);
    Ok(())
}

fn look(store: &dyn Store, folder: &Key, identity: Identity) -> Result<Contents, StoreError> {
    let (marker, manifest) = (child(folder, MARKER_NAME), child(folder, MANIFEST_NAME));
    let mut contents = Contents::default();
    store.list(Some(folder), &mut |entry| {
        let object = object_of(folder, &entry.key).filter(|object| *object < identity.count);
        match object {
            Some(object) => contents.objects.push(object),
            None if entry.key == manifest => contents.manifest = Some(entry.key.clone()),
            None if entry.key == marker => {}
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

fn remove_objects(store: &dyn Store, owned: &Owned, objects: &[u32]) -> Result<(), StoreError> {
    let names = Objects::uniform(owned.folder().clone(), u32::MAX, 1);
    let failed = AtomicBool::new(false);
    let remove = |share: &[u32]| {
        for object in share {
            if failed.load(Ordering::Relaxed) {
                break;
            }
            store
                .remove(owned, &names.key(*object))
                .inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = objects
            .chunks(objects.len().div_ceil(THREADS).max(1))
            .map(|share| scope.spawn(|| remove(share)))
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// A killed process may have left any directory of the dataset empty, or with objects that it had not
/// finished: no listing shows those, and they go with their directory. One that holds more stays.
fn remove_directories(store: &dyn Store, owned: &Owned, identity: Identity) -> Result<(), StoreError> {
    for directory in identity.directories() {
        store.remove_empty_folder(owned, &child(owned.folder(), &directory))?;
    }
    Ok(())
}

fn child(folder: &Key, name: &str) -> Key {
    folder.join(name).expect("a name that the dataset or the storage gave")
}
