//! The handles of a dataset's folders and files, found before anything is measured.

use std::collections::HashMap;
use std::sync::Arc;

use backend::{ErrorKind, OpError};
use dataset::{FolderOf, Objects};

use crate::failure::Failure;
use crate::status::Status;
use crate::tree::{Missing, Tree, split};
use crate::xdr::Handle;

const NOT_FOUND: OpError = OpError { kind: ErrorKind::NotFound, code: Status::NOENT.0 };

/// Handles of a dataset, as many as its operations need.
#[derive(Debug)]
pub(crate) struct Handles {
    objects: Arc<Objects>,
    /// In the order of [`Objects::folders`]; one that is missing is empty.
    folders: Table,
    folder_of: FolderOf,
    /// Of the files, where those are asked for by handle.
    files: Option<Table>,
    /// See [`Handles::names_max`].
    names_max: u64,
}

/// Names that one listing brings, at most: folders that are not feedline's own may hold more than the dataset.
fn names_max(objects: &Objects) -> u64 {
    // Others may keep files in the folder too. Without a bound, a server that makes up names would be listed
    // for ever.
    const OTHERS_MAX: u64 = 100_000;
    2 * u64::from(objects.files_of_folders().into_iter().max().unwrap_or(0)) + OTHERS_MAX
}

/// Handles in one allocation, each in a room of one byte more than the longest has.
#[derive(Debug)]
struct Table {
    room: usize,
    bytes: Vec<u8>,
    count: usize,
}

impl Table {
    fn new(count: usize) -> Self {
        Self { room: 1, bytes: vec![0; count], count }
    }

    fn set(&mut self, number: usize, handle: &Handle) {
        let handle = handle.as_slice();
        // At 64 bytes, the longest that there are, a million handles would take 64 MB. Most servers' are
        // shorter.
        if handle.len() >= self.room {
            self.widen(handle.len() + 1);
        }
        let place = &mut self.bytes[number * self.room..][..=handle.len()];
        place[0] = handle.len() as u8;
        place[1..].copy_from_slice(handle);
    }

    /// Makes the rooms larger. Servers give handles of one length, so this happens once.
    fn widen(&mut self, room: usize) {
        let mut bytes = vec![0; self.count * room];
        for (old, new) in self.bytes.chunks(self.room).zip(bytes.chunks_mut(room)) {
            new[..old.len()].copy_from_slice(old);
        }
        (self.room, self.bytes) = (room, bytes);
    }

    fn get(&self, number: usize) -> Option<Handle> {
        let place = self.bytes.get(number * self.room..)?.get(..self.room)?;
        Handle::new(&place[1..=usize::from(place[0])])
    }
}

impl Handles {
    /// Asks the server: each folder by its path, and, where `files` is set, its entries.
    pub(crate) fn find(tree: &Tree, objects: &Arc<Objects>, files: bool) -> Result<Self, (String, Failure)> {
        let paths = objects.folders();
        let folder_of = objects.folder_of();
        let mut folders = Table::new(paths.len());
        for (number, path) in paths.iter().enumerate() {
            let path = path.as_ref().map_or("", |key| key.as_str());
            match tree.fresh(|| tree.folder(path, Missing::Fail)) {
                Ok(handle) => folders.set(number, &handle),
                // A missing folder is an error of the operations that want something in it.
                Err(failure) if failure.is(Status::NOENT) => {}
                Err(failure) => return Err((path.to_owned(), failure)),
            }
        }
        let names_max = names_max(objects);
        let mut handles = Self { objects: Arc::clone(objects), folders, folder_of, files: None, names_max };
        if files {
            handles.files = Some(handles.find_files(tree).map_err(|(folder, failure)| {
                let path = paths.get(folder).and_then(Option::as_ref);
                (path.map_or_else(String::new, ToString::to_string), failure)
            })?);
        }
        Ok(handles)
    }

    fn find_files(&self, tree: &Tree) -> Result<Table, (usize, Failure)> {
        let count = self.objects.count();
        let mut by_folder: Vec<u32> = (0..count).collect();
        // Stable, and already in order but for a listed dataset.
        by_folder.sort_by_key(|object| self.folder_of.get(*object));
        let mut files = Table::new(count as usize);
        for of_one in by_folder.chunk_by(|one, other| self.folder_of.get(*one) == self.folder_of.get(*other))
        {
            let Some(folder) = self.folder_of.get(of_one[0]).map(|folder| folder as usize) else { continue };
            let Some(handle) = self.folders.get(folder) else { continue };
            self.find_in(tree, &handle, of_one, &mut files).map_err(|failure| (folder, failure))?;
        }
        Ok(files)
    }

    fn find_in(
        &self,
        tree: &Tree,
        folder: &Handle,
        objects: &[u32],
        files: &mut Table,
    ) -> Result<(), Failure> {
        // One READDIRPLUS brings a page of handles, where LOOKUP would be a round trip for every file.
        let mut found: HashMap<Vec<u8>, Option<Handle>> = HashMap::new();
        tree.entries(folder, &mut |listed| {
            found.insert(listed.name, listed.handle);
            Ok(())
        })?;
        let mut path = String::new();
        for object in objects {
            path.clear();
            self.objects.write_key(*object, &mut path);
            let name = split(&path).1;
            let handle = match found.get(name.as_bytes()) {
                None => continue,
                Some(Some(handle)) => *handle,
                // A listing need not have handles.
                Some(None) => match tree.control().lookup(folder, name) {
                    Ok((handle, _)) => handle,
                    Err(failure) if failure.is(Status::NOENT) => continue,
                    Err(failure) => return Err(failure),
                },
            };
            files.set(*object as usize, &handle);
        }
        Ok(())
    }

    /// Whether these are the handles of a dataset, with those of its files where they are needed.
    pub(crate) fn serve(&self, objects: &Arc<Objects>, files: bool) -> bool {
        (Arc::ptr_eq(&self.objects, objects) || self.objects == *objects) && (!files || self.files.is_some())
    }

    pub(crate) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Handle of a file.
    pub(crate) fn file(&self, object: u32) -> Result<Handle, OpError> {
        self.files.as_ref().and_then(|files| files.get(object as usize)).ok_or(NOT_FOUND)
    }

    /// Handle of the folder that an object lies in.
    pub(crate) fn folder_of(&self, object: u32) -> Result<Handle, OpError> {
        let folder = self.folder_of.get(object).filter(|_| object < self.objects.count());
        self.folder(folder.ok_or(NOT_FOUND)?)
    }

    /// Handle of a folder.
    pub(crate) fn folder(&self, folder: u32) -> Result<Handle, OpError> {
        self.folders.get(folder as usize).ok_or(NOT_FOUND)
    }

    /// Names in one folder beyond which a listing is taken to have no end.
    pub(crate) fn names_max(&self) -> u64 {
        self.names_max
    }

    /// Memory that they take.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.folders.bytes.len()
            + self.files.as_ref().map_or(0, |files| files.bytes.len())
            + self.folder_of.memory_bytes()
    }
}

impl Handles {
    /// Made-up handles, one for each folder and file.
    pub(crate) fn made_up(objects: &Arc<Objects>) -> Self {
        let mut folders = Table::new(objects.folders().len());
        let mut files = Table::new(objects.count() as usize);
        for number in 0..folders.count {
            folders.set(number, &Handle::new(format!("folder {number}").as_bytes()).expect("a short name"));
        }
        for number in 0..files.count {
            files.set(number, &Handle::new(format!("file {number}").as_bytes()).expect("a short name"));
        }
        let folder_of = objects.folder_of();
        let names_max = names_max(objects);
        Self { objects: Arc::clone(objects), folders, folder_of, files: Some(files), names_max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_handles_of_any_length_and_knows_which_are_missing() {
        let mut table = Table::new(4);
        let handles = [&b"short"[..], b"a longer one", b"x"].map(|bytes| Handle::new(bytes).unwrap());
        for (number, handle) in [0, 1, 3].into_iter().zip(&handles) {
            table.set(number, handle);
        }
        assert_eq!([0, 1, 3].map(|number| table.get(number)), handles.map(Some));
        assert_eq!((table.get(2), table.get(4)), (None, None));
        assert_eq!(table.bytes.len(), 4 * 13, "one byte more than the longest, for each");
        let longest = Handle::new(&[7; 64]).unwrap();
        table.set(2, &longest);
        assert_eq!((table.get(2), table.get(0)), (Some(longest), Some(handles[0])));
    }
}
