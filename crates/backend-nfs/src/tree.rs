//! Paths below the target's folder, walked name by name so that a symbolic link never leads out of it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use backend_net::Trail;

use crate::calls::Listed;
use crate::control::Control;
use crate::failure::Failure;
use crate::status::Status;
use crate::xdr::{FileType, Handle};

/// Bytes of one page of a listing: what the server prefers, within these.
const PAGE_BYTES_MIN: u32 = 32 << 10;
const PAGE_BYTES_MAX: u32 = 1 << 20;

/// A path and the name at its end.
pub(crate) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The folder under test and what lies below it. Paths are relative to it; the empty one is the folder itself.
pub(crate) struct Tree {
    control: Control,
    /// What was mounted.
    export: Handle,
    /// Where the folder lies below that.
    below: String,
    page_bytes: u32,
    /// Handles of folders, by their paths below the export.
    known: Mutex<HashMap<String, Handle>>,
    /// Held while a missing folder is made: threads that write into it want it at the same moment.
    making: Mutex<()>,
}

/// What to do about a folder that is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Fail,
    Make,
}

impl Tree {
    pub(crate) fn new(control: Control, export: Handle, below: &[String], page_bytes: u32) -> Self {
        Self {
            control,
            export,
            below: below.join("/"),
            page_bytes: page_bytes.clamp(PAGE_BYTES_MIN, PAGE_BYTES_MAX),
            known: Mutex::default(),
            making: Mutex::default(),
        }
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// The export's root.
    pub(crate) fn export(&self) -> &Handle {
        &self.export
    }

    /// Bytes of one page of a listing.
    pub(crate) fn page_bytes(&self) -> u32 {
        self.page_bytes
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Handle>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `act`, and once more with folders looked up anew when a handle was stale: another client may have
    /// removed and made a folder since.
    pub(crate) fn fresh<T>(&self, act: impl Fn() -> Result<T, Failure>) -> Result<T, Failure> {
        match act() {
            Err(failure) if failure.is_stale() => {
                self.known().clear();
                act()
            }
            ended => ended,
        }
    }

    /// Forgets a folder that was removed, and those below it.
    pub(crate) fn forget(&self, path: &str) {
        let gone = self.full(path);
        let below = format!("{gone}/");
        self.known().retain(|path, _| *path != gone && !path.starts_with(&below));
    }

    fn full(&self, path: &str) -> String {
        match (self.below.is_empty(), path.is_empty()) {
            (true, _) => path.to_owned(),
            (_, true) => self.below.clone(),
            _ => format!("{}/{path}", self.below),
        }
    }

    /// The folder at `path`.
    pub(crate) fn folder(&self, path: &str, missing: Missing) -> Result<Handle, Failure> {
        let full = self.full(path);
        if full.is_empty() {
            return Ok(self.export);
        }
        // Each step is a round trip; a dataset of a million files has some thousand folders.
        let (mut here, mut end) = self.nearest_known(&full);
        while end < full.len() {
            let start = if end == 0 { 0 } else { end + 1 };
            let next = full[start..].find('/').map_or(full.len(), |length| start + length);
            here = self.step(&here, &full[start..next], missing)?;
            end = next;
            self.known().insert(full[..end].to_owned(), here);
        }
        Ok(here)
    }

    /// The folder deepest in `full` that is known, and where its path ends.
    fn nearest_known(&self, full: &str) -> (Handle, usize) {
        let known = self.known();
        let mut path = full;
        while !path.is_empty() {
            if let Some(handle) = known.get(path) {
                return (*handle, path.len());
            }
            path = split(path).0;
        }
        (self.export, 0)
    }

    fn step(&self, folder: &Handle, name: &str, missing: Missing) -> Result<Handle, Failure> {
        match self.control.look(folder, name) {
            Ok((handle, attributes)) if attributes.kind == FileType::Folder => Ok(handle),
            // A symbolic link too: LOOKUP does not follow it, and a client that did could leave the folder
            // under test.
            Ok(_) => Err(Failure::Status(Status::NOTDIR)),
            Err(failure) if failure.is(Status::NOENT) && missing == Missing::Make => self.make(folder, name),
            Err(failure) => Err(failure),
        }
    }

    fn make(&self, folder: &Handle, name: &str) -> Result<Handle, Failure> {
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        match self.step(folder, name, Missing::Fail) {
            Err(failure) if failure.is(Status::NOENT) => {}
            // Another thread was faster.
            found => return found,
        }
        match self.control.create_folder(folder, name) {
            // So was another process.
            Err(failure) if failure.is(Status::EXIST) => self.step(folder, name, Missing::Fail),
            made => made,
        }
    }

    /// Calls `each` with every entry of a folder but `.` and `..`, in the server's order.
    pub(crate) fn entries(
        &self,
        folder: &Handle,
        each: &mut dyn FnMut(Listed) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (mut cookie, mut verifier) = (0, [0; 8]);
        let mut trail = Trail::default();
        loop {
            let page = self.control.read_folder(folder, cookie, verifier, self.page_bytes)?;
            page.entries.into_iter().try_for_each(&mut *each)?;
            if page.is_last {
                return Ok(());
            }
            (cookie, verifier) = (page.cookie, page.verifier);
            if !trail.goes_on(cookie) {
                return Err(Failure::Endless(cookie));
            }
        }
    }
}
