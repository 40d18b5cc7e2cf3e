//! A user's array in Zarr: its metadata say where samples lie, and every chunk or shard of chunks is an object.

use std::ops::ControlFlow;

use backend::Store;
use dataset::{Extent, Index, Key, Objects};
use formats::{ZARR_METADATA, ZarrArray, ZarrNode};

use crate::error::PrepareError;

/// Metadata of an array are a page of text; the format reads a mebibyte at most.
const METADATA_BYTES_MAX: u64 = 1 << 20;

/// Arrays of a group that are looked at: more of them are told as so many.
const ARRAYS_MAX: usize = 8;

/// An array and the folder that it lies in.
pub(crate) struct Array {
    /// With its last slash; empty where the array lies at the root.
    folder: String,
    of: ZarrArray,
}

impl Array {
    /// The place along the first axis of the object of that name; `None` for other files.
    pub(crate) fn row(&self, key: &Key) -> Option<u64> {
        self.of.row(key.as_str().strip_prefix(&self.folder)?)
    }

    /// What it is, where each object says by itself where its samples lie; those that are spread take [`spread`].
    pub(crate) fn of_whole_samples(&self) -> Option<&ZarrArray> {
        self.of.holds_whole_samples().then_some(&self.of)
    }
}

/// Whether a name is that of metadata of version 2 or 3.
pub(crate) fn is_metadata(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    last == ZARR_METADATA || formats::foreign_by_name(last) == Some(formats::Foreign::ZarrV2)
}

/// The array at the root of the target; where there is none, the only one below it that `takes` accepts.
pub(crate) fn array(
    store: &dyn Store,
    takes: &mut dyn FnMut(&Key) -> Result<bool, PrepareError>,
) -> Result<Array, PrepareError> {
    for name in [ZARR_METADATA, ".zarray"] {
        let key = Key::new(name).expect("a plain name");
        if let Some(entry) = store.stat(&key)?
            && let ZarrNode::Array(of) = node(store, &key, entry.bytes)?
        {
            return checked(Array { folder: String::new(), of });
        }
    }
    let mut found = below(store, takes)?;
    match found.len() {
        0 => refused("there is no array at the target's path or below it"),
        1 => checked(found.remove(0)),
        count => {
            let names: Vec<_> = found.iter().map(|array| array.folder.trim_end_matches('/')).collect();
            let more = if count == ARRAYS_MAX { ", ..." } else { "" };
            refused(&format!("a group holds several arrays: {}{more}", names.join(", ")))
        }
    }
}

/// The first arrays below the root.
fn below(
    store: &dyn Store,
    takes: &mut dyn FnMut(&Key) -> Result<bool, PrepareError>,
) -> Result<Vec<Array>, PrepareError> {
    let (mut metadata, mut failure) = (Vec::new(), None);
    store.list(None, &mut |entry| {
        if is_metadata(entry.key.as_str()) {
            match takes(&entry.key) {
                Ok(true) => metadata.push(entry),
                Ok(false) => {}
                Err(error) => failure = Some(error),
            }
        }
        if failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    let mut found = Vec::new();
    for entry in metadata {
        let Some((folder, name)) = entry.key.as_str().rsplit_once('/') else { continue };
        // Attributes and consolidated metadata describe what other files describe too.
        if name != ZARR_METADATA && name != ".zarray" {
            continue;
        }
        if let ZarrNode::Array(of) = node(store, &entry.key, entry.bytes)? {
            found.push(Array { folder: format!("{folder}/"), of });
        }
        if found.len() == ARRAYS_MAX {
            break;
        }
    }
    Ok(found)
}

fn node(store: &dyn Store, key: &Key, bytes: u64) -> Result<ZarrNode, PrepareError> {
    // One byte more than the format takes, so that it sees what is too long and says so.
    let mut text = vec![0; bytes.min(METADATA_BYTES_MAX + 1) as usize];
    let length = store.read_at(key, 0, &mut text)?;
    let refused = |source| PrepareError::Shard { object: key.clone(), layout: "zarr", source };
    formats::parse_zarr_metadata(&text[..length]).map_err(refused)
}

fn checked(array: Array) -> Result<Array, PrepareError> {
    if array.of.samples() == 0 {
        return refused("it holds no sample");
    }
    if array.of.shards.is_some() && !array.of.holds_whole_samples() {
        return refused("a sample is spread over several of its shards");
    }
    Ok(array)
}

fn refused(cause: &str) -> Result<Array, PrepareError> {
    Err(PrepareError::Array { cause: cause.to_owned() })
}

/// The units of an array of which a sample is spread over several chunks: those that lie at one place of the first axis, which a
/// reader fetches whole.
pub(crate) fn spread(array: &Array, objects: &Objects) -> Index {
    let mut rows: Vec<(u64, u32)> =
        (0..objects.count()).filter_map(|object| Some((array.row(&objects.key(object))?, object))).collect();
    rows.sort_unstable();
    let mut index = Index::default();
    for row in rows.chunk_by(|one, other| one.0 == other.0) {
        let extents: Vec<_> = row
            .iter()
            .map(|(_, object)| Extent { object: *object, offset: 0, bytes: objects.bytes(*object) })
            .collect();
        index.push(array.of.samples_at(row[0].0), &extents);
    }
    index
}
