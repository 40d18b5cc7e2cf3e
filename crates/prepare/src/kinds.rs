//! Which layout a user's files have, by their first bytes and their names.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use backend::Store;
use dataset::Key;
use formats::{Foreign, ZARR_METADATA};
use plan::{Codec, Layout};

use crate::error::PrepareError;

/// Bytes that are looked at: a tar header has 512.
pub(crate) const HEAD_BYTES: usize = 512;

/// Files that are looked at before the layout of a folder is said.
// Enough that a README, a checksum and an index beside shards are outvoted; each look is a round trip on a network.
const LOOKED_AT: usize = 8;

/// How a file is kept.
pub(crate) type FileKind = (Layout, Codec);

/// In words.
pub(crate) fn words((layout, codec): FileKind) -> String {
    match codec {
        Codec::None => layout.name().to_owned(),
        codec => format!("{} compressed with {}", layout.name(), codec.name()),
    }
}

/// What a file is, by its first bytes. The name alone decides only for tar and TFRecord, which may begin with any bytes. It
/// proves nothing elsewhere: several kinds of tables beside shards end with `.idx`.
pub(crate) fn of_file(store: &dyn Store, key: &Key) -> Result<Option<FileKind>, PrepareError> {
    Ok(of_head(key.as_str(), &head(store, key)?))
}

fn head(store: &dyn Store, key: &Key) -> Result<Vec<u8>, PrepareError> {
    let mut head = vec![0; HEAD_BYTES];
    let length = store.read_at(key, 0, &mut head)?;
    head.truncate(length);
    Ok(head)
}

/// What the files of a folder are.
pub(crate) struct FolderKind {
    pub(crate) layout: Layout,
    /// The first of those looked into that holds many samples in a format that no layout reads; of a folder of files alone.
    pub(crate) foreign: Option<(Key, Foreign)>,
}

/// Endings that are remembered; a folder with more of them has no shards.
const ENDINGS_MAX: usize = 1000;

/// What files are, found out once for each ending of their names. Looking into every shard of a bucket would take a round
/// trip each; a file that is not a shard is found when it is indexed.
#[derive(Default)]
pub(crate) struct Endings(BTreeMap<String, Option<FileKind>>);

impl Endings {
    /// What a file is, or one of the same ending was.
    pub(crate) fn of(&mut self, store: &dyn Store, key: &Key) -> Result<Option<FileKind>, PrepareError> {
        let ending = ending(key.as_str());
        if let Some(kind) = self.0.get(&ending) {
            return Ok(*kind);
        }
        let kind = of_file(store, key)?;
        if self.0.len() < ENDINGS_MAX {
            self.0.insert(ending, kind);
        }
        Ok(kind)
    }
}

/// A name from its first point on, or all of it where it has none; numbers make no difference.
fn ending(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name);
    // From the first point, so that `.tar.gz` is another ending than `.gz`, and members of a sample (`.cls.json`)
    // stay apart.
    let ending = name.find('.').map_or(name, |point| &name[point..]);
    // `train.0001` and `train.0002` are one kind of file.
    ending.chars().filter(|one| !one.is_ascii_digit()).collect()
}

fn of_head(name: &str, head: &[u8]) -> Option<FileKind> {
    let by_content = formats::detect("", head);
    // A tar of the old format has no magic, and a compressed shard hides its own.
    by_content.or_else(|| formats::detect(name, head).filter(|(layout, _)| layout.is_streamed()))
}

/// The layout of the files that `takes` accepts: that of most of the first ones. An `.npy` file counts as a sample by itself,
/// as in most folders; a user who means records says so.
pub(crate) fn of_folder(
    store: &dyn Store,
    folder: Option<&Key>,
    takes: &mut dyn FnMut(&Key) -> Result<bool, PrepareError>,
) -> Result<FolderKind, PrepareError> {
    for name in [ZARR_METADATA, ".zarray", ".zgroup"] {
        let metadata = Key::new(name).expect("a plain name");
        if store.stat(&metadata)?.is_some() && takes(&metadata)? {
            return Ok(FolderKind { layout: Layout::Zarr, foreign: None });
        }
    }
    let mut looked_at = Vec::new();
    let mut failure = None;
    store.list(folder, &mut |entry| {
        match takes(&entry.key) {
            Ok(true) if entry.bytes > 0 => looked_at.push(entry.key),
            Ok(_) => {}
            Err(error) => failure = Some(error),
        }
        if failure.is_some() || looked_at.len() == LOOKED_AT {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    let (mut found, mut shards): (Option<(Key, FileKind)>, usize) = (None, 0);
    let mut foreign = None;
    let files = looked_at.len();
    for key in looked_at {
        let head = head(store, &key)?;
        let kind = of_head(key.as_str(), &head).filter(|(layout, _)| *layout != Layout::Records);
        let Some(kind) = kind else {
            foreign = foreign.or_else(|| Some((key.clone(), formats::foreign(key.as_str(), &head)?)));
            continue;
        };
        shards += 1;
        match &found {
            Some((first, before)) if *before != kind => {
                return Err(mixed((first, *before), (&key, kind)));
            }
            Some(_) => {}
            None => found = Some((key, kind)),
        }
    }
    // Shards must be half of what was looked at, or a folder of images with one archive in it would be read as that
    // archive.
    Ok(match found.filter(|_| 2 * shards >= files) {
        Some((_, (layout, _))) => FolderKind { layout, foreign: None },
        None => FolderKind { layout: Layout::Files, foreign },
    })
}

/// Two files that cannot be one dataset.
pub(crate) fn mixed(first: (&Key, FileKind), second: (&Key, FileKind)) -> PrepareError {
    PrepareError::Mixed {
        first: first.0.clone(),
        first_is: words(first.1),
        second: second.0.clone(),
        second_is: words(second.1),
    }
}
