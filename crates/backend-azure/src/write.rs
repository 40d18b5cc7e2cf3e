//! Writing and removing: the only file that changes anything in a container.
//!
//! A blob appears complete or not at all: by one Put Blob, or by the list of its blocks. Nothing is ever overwritten: both
//! carry `If-None-Match: *`. Blocks of a blob that was given up are in no listing; the service removes them after a week, and
//! has no call that does.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::sync::Arc;

use backend::{ObjectWriter, StoreError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dataset::{Key, MARKER_NAME};

use crate::asked::Request;
use crate::call::ANSWER_BYTES_MAX;
use crate::container::Container;
use crate::failure::Failed;
use crate::listing;

/// Bytes of a block, and of the largest blob that is written at once.
// A blob has 50,000 blocks, so this writes blobs of up to 781 GiB.
const BLOCK_BYTES: usize = 16 << 20;

/// Writes a blob that is not there yet, in one request.
fn put_new(container: &Container, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
    let mut path = Vec::new();
    container.place.write(key.as_str(), &mut path);
    let length = Some(bytes.len() as u64);
    let asked = Request { length, only_new: true, whole_blob: true, ..Request::new("PUT", &path) };
    match container.caller.call(&asked, bytes, ANSWER_BYTES_MAX) {
        Ok(_) => Ok(()),
        Err(failed) if failed.is_taken() => ours_or_taken(container, key, &path, bytes),
        Err(failed) => Err(failed.into_store("write", &listing::shown(container, key))),
    }
}

/// Whether a refused Put Blob found our own bytes in its place: the reply to an earlier attempt may have been lost, and then
/// the blob is written.
fn ours_or_taken(container: &Container, key: &Key, path: &[u8], ours: &[u8]) -> Result<(), StoreError> {
    let exists = || StoreError::Exists { object: listing::shown(container, key) };
    let failed = |failed: Failed| failed.into_store("read back", &listing::shown(container, key));
    // Looked at first: another's blob may be of any length.
    let found = match container.caller.call(&Request::new("HEAD", path), &[], 0) {
        Ok(found) => found,
        Err(missing) if missing.is_missing() => return Err(begun(container, key)),
        Err(error) => return Err(failed(error)),
    };
    if found.length != Some(ours.len() as u64) {
        return Err(exists());
    }
    let found = container.caller.call(&Request::new("GET", path), &[], ours.len()).map_err(failed)?;
    if found.body == ours { Ok(()) } else { Err(exists()) }
}

/// A blob that is there for who writes it, and for nobody else: blocks of it were sent. Azurite takes that for a blob.
fn begun(container: &Container, key: &Key) -> StoreError {
    StoreError::Object {
        action: "write",
        object: listing::shown(container, key),
        source: io::Error::other(
            "another upload of it was begun and is not ended\n  hint: where nobody writes there, use another folder: the \
             service forgets the blocks of such an upload after a week",
        ),
    }
}

/// Writes the marker of a new folder; refuses when anything lies below it.
pub(crate) fn create_folder(container: &Container, folder: &Key, text: &[u8]) -> Result<(), StoreError> {
    let marker = folder.join(MARKER_NAME).map_err(|error| StoreError::Object {
        action: "write",
        object: listing::shown(container, folder),
        source: io::Error::new(io::ErrorKind::InvalidInput, error.to_string()),
    })?;
    // A container has no folders: what makes one is a blob below it, whoever put it there.
    if !listing::is_empty(container, folder)? {
        return Err(StoreError::Exists { object: format!("{}/", listing::shown(container, folder)) });
    }
    put_new(container, &marker, text)
}

/// Removes one blob, or nothing when it is gone already.
pub(crate) fn remove(container: &Container, key: &Key) -> Result<(), StoreError> {
    let mut path = Vec::new();
    container.place.write(key.as_str(), &mut path);
    match container.caller.call(&Request::new("DELETE", &path), &[], ANSWER_BYTES_MAX) {
        Ok(_) => Ok(()),
        Err(failed) if failed.is_missing() => Ok(()),
        Err(failed) => Err(failed.into_store("remove", &listing::shown(container, key))),
    }
}

/// A blob being written.
#[derive(Debug)]
pub(crate) struct AzureWriter {
    container: Arc<Container>,
    key: Key,
    path: Vec<u8>,
    rest: Vec<u8>,
    /// What no other writer's blocks begin with: those of two that write one blob are kept in one place.
    nonce: u64,
    blocks: u32,
}

impl AzureWriter {
    pub(crate) fn new(container: &Arc<Container>, key: &Key) -> Self {
        let mut path = Vec::new();
        container.place.write(key.as_str(), &mut path);
        // Seeded by the system, and another one for each.
        let nonce = RandomState::new().build_hasher().finish();
        let container = Arc::clone(container);
        Self { container, key: key.clone(), path, rest: Vec::new(), nonce, blocks: 0 }
    }

    fn failed(&self, failed: Failed) -> StoreError {
        let object = listing::shown(&self.container, &self.key);
        if failed.is_taken() {
            return StoreError::Exists { object };
        }
        failed.into_store("write", &object)
    }

    /// The name of a block, as the service takes it: base64, of one length for all blocks of a blob.
    fn block(&self, number: u32) -> String {
        STANDARD.encode(format!("{:016x}-{number:07}", self.nonce))
    }

    /// Sends what was gathered as the next block.
    fn send_block(&mut self) -> Result<(), StoreError> {
        let body = std::mem::replace(&mut self.rest, Vec::with_capacity(BLOCK_BYTES));
        let block = self.block(self.blocks);
        let query = [("blockid", Some(&*block)), ("comp", Some("block"))];
        let length = Some(body.len() as u64);
        // The same block sent twice is one block, so that an attempt after a lost reply does no harm.
        let asked = Request { query: &query, length, ..Request::new("PUT", &self.path) };
        self.container.caller.call(&asked, &body, ANSWER_BYTES_MAX).map_err(|failed| self.failed(failed))?;
        self.blocks += 1;
        Ok(())
    }

    fn complete(&mut self) -> Result<(), StoreError> {
        if !self.rest.is_empty() {
            self.send_block()?;
        }
        let mut list = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>".to_owned();
        for number in 0..self.blocks {
            list.extend(["<Latest>", &self.block(number), "</Latest>"]);
        }
        list.push_str("</BlockList>");
        let query = [("comp", Some("blocklist"))];
        let length = Some(list.len() as u64);
        let asked = Request { query: &query, length, only_new: true, ..Request::new("PUT", &self.path) };
        match self.container.caller.call(&asked, list.as_bytes(), ANSWER_BYTES_MAX) {
            Ok(_) => Ok(()),
            Err(failed) if failed.is_taken() && self.is_ours()? => Ok(()),
            Err(failed) => Err(self.failed(failed)),
        }
    }

    /// Whether the blob that is there is made of our blocks: the reply to an earlier attempt may have been lost.
    fn is_ours(&self) -> Result<bool, StoreError> {
        let query = [("blocklisttype", Some("committed")), ("comp", Some("blocklist"))];
        let asked = Request { query: &query, ..Request::new("GET", &self.path) };
        let found = self.container.caller.call(&asked, &[], ANSWER_BYTES_MAX);
        let found = found.map_err(|failed| self.failed(failed))?;
        let last = self.block(self.blocks.saturating_sub(1));
        Ok(String::from_utf8_lossy(&found.body).contains(&last))
    }
}

impl ObjectWriter for AzureWriter {
    fn write(&mut self, mut bytes: &[u8]) -> Result<(), StoreError> {
        while !bytes.is_empty() {
            if self.rest.len() == BLOCK_BYTES {
                self.send_block()?;
            }
            let room = (BLOCK_BYTES - self.rest.len()).min(bytes.len());
            self.rest.extend_from_slice(&bytes[..room]);
            bytes = &bytes[room..];
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), StoreError> {
        if self.blocks > 0 {
            return self.complete();
        }
        // A blob that fits into one block takes one request instead of two.
        put_new(&self.container, &self.key, &self.rest)
    }
}
