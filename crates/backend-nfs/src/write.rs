//! Making and removing: the only file that changes anything on a server.
//!
//! An object is written under a temporary name in its folder and gets its own when it is complete and committed, by a
//! second link where the server has those, so that nothing is ever replaced.

use std::io;
use std::sync::Arc;

use backend::{ObjectWriter, StoreError, is_unfinished_name, unfinished_name};
use dataset::{Key, MARKER_NAME, Marker};

use crate::failure::Failure;
use crate::shared::Shared;
use crate::status::Status;
use crate::tree::{Missing, Tree, split};
use crate::upload::{Lost, Upload};
use crate::xdr::{FileType, Handle};

/// An object being written.
pub(crate) struct NfsWriter {
    shared: Arc<Shared>,
    upload: Option<Upload>,
    folder: Handle,
    file: Handle,
    name: String,
    /// Its name until it is finished, given to it alone.
    temporary: String,
    /// As a user would write it.
    shown: String,
    /// The temporary name is gone.
    settled: bool,
}

impl NfsWriter {
    /// Begins the object at `path`; the folders above it are made.
    pub(crate) fn create(shared: &Arc<Shared>, path: &str) -> Result<Self, StoreError> {
        let shown = shared.shown(path);
        let (folder, name) = split(path);
        let tree = &shared.tree;
        let made = tree.fresh(|| {
            let folder = tree.folder(folder, Missing::Make)?;
            let temporary = unfinished_name(name);
            match tree.control().lookup(&folder, name) {
                Ok(_) => return Err(Failure::Status(Status::EXIST)),
                Err(failure) if failure.is(Status::NOENT) => {}
                Err(failure) => return Err(failure),
            }
            Ok((folder, tree.control().create_file(&folder, &temporary)?, temporary))
        });
        let (folder, file, temporary) = made.map_err(|failure| failure.written("create", &*shown))?;
        let mut writer = Self {
            shared: Arc::clone(shared),
            upload: None,
            folder,
            file,
            name: name.to_owned(),
            temporary,
            shown,
            settled: false,
        };
        // Taken after the file was made, so that a refusal to make it costs no connection.
        let mut upload = shared.upload()?;
        upload.begin();
        writer.upload = Some(upload);
        Ok(writer)
    }

    fn lost(&self, action: &'static str, lost: Lost) -> StoreError {
        let source = match lost {
            Lost::Queue(error) => io::Error::other(error),
            Lost::Operation(error, _) if [Status::NOSPC.0, Status::DQUOT.0].contains(&error.code) => {
                return StoreError::Full { object: self.shown.clone() };
            }
            Lost::Operation(error, said) => {
                let said = said.map_or_else(String::new, |said| format!(": {said}"));
                let hint = Status(error.code).hint();
                io::Error::other(format!("{} ({}){said}\n  hint: {hint}", error.kind, error.code))
            }
        };
        StoreError::Object { action, object: self.shown.clone(), source }
    }

    /// Gives it its name, which nothing may have.
    fn publish(&mut self) -> Result<(), Failure> {
        let control = self.shared.tree.control();
        match control.link(&self.file, &self.folder, &self.name) {
            Ok(()) => {
                // LINK has given the file its name without replacing anything. RENAME replaces what is there
                // (RFC 1813 section 3.3.14).
                control.remove_file(&self.folder, &self.temporary)?;
                self.settled = true;
                Ok(())
            }
            // Not every server has links. A name that is given between the two calls would be taken over.
            Err(failure)
                if failure.is_unsupported() || failure.is(Status::PERM) || failure.is(Status::MLINK) =>
            {
                match control.lookup(&self.folder, &self.name) {
                    Err(failure) if failure.is(Status::NOENT) => {}
                    Err(failure) => return Err(failure),
                    Ok(_) => return Err(Failure::Status(Status::EXIST)),
                }
                control.rename(&self.folder, &self.temporary, &self.name)?;
                self.settled = true;
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }
}

impl ObjectWriter for NfsWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        // A part that was lost would be a hole in the file: nothing more is written behind it.
        let Some(mut upload) = self.upload.take() else {
            let source = io::Error::other("an earlier part of it could not be written\n  hint: run again");
            return Err(StoreError::Object { action: "write", object: self.shown.clone(), source });
        };
        upload.write(&self.file, bytes).map_err(|lost| self.lost("write", lost))?;
        self.upload = Some(upload);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), StoreError> {
        let Some(mut upload) = self.upload.take() else { return self.write(&[]) };
        upload.commit(&self.file).map_err(|lost| self.lost("finish", lost))?;
        self.shared.keep(upload);
        self.publish().map_err(|failure| failure.written("finish", &*self.shown))?;
        self.shared.forget_handles();
        Ok(())
    }
}

impl Drop for NfsWriter {
    fn drop(&mut self) {
        if !self.settled {
            // Nothing can be reported from here; what stays is invisible to listings and removed with its folder.
            let _ = self.shared.tree.control().remove_file(&self.folder, &self.temporary);
        }
    }
}

/// Makes a folder, whole with its marker or not at all.
pub(crate) fn create_folder(shared: &Arc<Shared>, folder: &Key, marker: &Marker) -> Result<(), StoreError> {
    let tree = &shared.tree;
    let shown = shared.shown(folder.as_str());
    let failed = |failure: Failure| failure.written("create", &*shown);
    let (above, name) = split(folder.as_str());
    let parent = tree.fresh(|| tree.folder(above, Missing::Make)).map_err(failed)?;
    // Looked at before anything is made, so that the error says what is there.
    free(tree, &parent, name).map_err(failed)?;
    let unfinished = unfinished_name(name);
    tree.control().create_folder(&parent, &unfinished).map_err(failed)?;
    let path = if above.is_empty() { unfinished.clone() } else { format!("{above}/{unfinished}") };
    let made = write_marker(shared, &path, marker)
        .and_then(|()| tree.control().rename(&parent, &unfinished, name).map_err(failed));
    // The handles that were looked up have other paths now.
    tree.forget(&path);
    tree.forget(folder.as_str());
    made.map_err(|error| {
        discard(tree, &parent, &unfinished);
        match error {
            StoreError::Object { source, .. }
                if matches!(
                    source.kind(),
                    io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory
                ) =>
            {
                StoreError::Exists { object: shown.clone() }
            }
            other => other,
        }
    })
}

/// A name is free when nothing has it, or a folder without anything in it, which a removal that was killed just before
/// its end leaves behind.
fn free(tree: &Tree, parent: &Handle, name: &str) -> Result<(), Failure> {
    let exists = || Failure::Status(Status::EXIST);
    match tree.control().look(parent, name) {
        Err(failure) if failure.is(Status::NOENT) => Ok(()),
        Err(failure) => Err(failure),
        Ok((folder, attributes)) if attributes.kind == FileType::Folder => {
            tree.entries(&folder, &mut |_| Err(exists()))
        }
        Ok(_) => Err(exists()),
    }
}

fn write_marker(shared: &Arc<Shared>, folder: &str, marker: &Marker) -> Result<(), StoreError> {
    let path = format!("{folder}/{MARKER_NAME}");
    let text = serde_json::to_vec_pretty(marker).map_err(|error| StoreError::Object {
        action: "write",
        object: shared.shown(&path),
        source: error.into(),
    })?;
    let mut writer = Box::new(NfsWriter::create(shared, &path)?);
    writer.write(&text)?;
    writer.finish()
}

/// Removes a folder that was made under a temporary name and not finished; it holds a marker at most.
fn discard(tree: &Tree, parent: &Handle, name: &str) {
    if let Ok((folder, _)) = tree.control().lookup(parent, name) {
        let _ = tree.control().remove_file(&folder, MARKER_NAME);
        let _ = tree.control().remove_folder(parent, name);
    }
}

/// Removes one object, or nothing when it is gone already.
pub(crate) fn remove(shared: &Shared, key: &Key) -> Result<(), StoreError> {
    let tree = &shared.tree;
    let (folder, name) = split(key.as_str());
    let removed = tree.fresh(|| {
        let folder = tree.folder(folder, Missing::Fail)?;
        tree.control().remove_file(&folder, name)
    });
    shared.forget_handles();
    match removed {
        Err(failure) if !failure.is(Status::NOENT) => {
            Err(failure.object("remove", shared.shown(key.as_str())))
        }
        _ => Ok(()),
    }
}

/// Removes a folder that is empty but for what a killed process had not finished; whether it is gone.
pub(crate) fn remove_empty_folder(shared: &Shared, key: &Key) -> Result<bool, StoreError> {
    let tree = &shared.tree;
    let (above, name) = split(key.as_str());
    let removed = tree.fresh(|| {
        let parent = tree.folder(above, Missing::Fail)?;
        let (folder, attributes) = tree.control().look(&parent, name)?;
        if attributes.kind != FileType::Folder {
            return Err(Failure::Status(Status::NOTDIR));
        }
        remove_leftovers(tree, &folder)?;
        tree.control().remove_folder(&parent, name)
    });
    tree.forget(key.as_str());
    shared.forget_handles();
    match removed {
        Ok(()) => Ok(true),
        Err(failure) if failure.is(Status::NOENT) => Ok(true),
        Err(failure) if failure.is(Status::NOTEMPTY) || failure.is(Status::EXIST) => Ok(false),
        Err(failure) => Err(failure.object("remove", shared.shown(key.as_str()))),
    }
}

/// Removes unfinished objects from a folder that holds nothing else.
fn remove_leftovers(tree: &Tree, folder: &Handle) -> Result<(), Failure> {
    let mut leftovers = Vec::new();
    tree.entries(folder, &mut |listed| {
        // Names given by `unfinished_name` are UTF-8 when those of the objects are.
        match String::from_utf8(listed.name) {
            Ok(name) if is_unfinished_name(name.as_bytes()) => {
                leftovers.push(name);
                Ok(())
            }
            // Collected first and removed afterwards, so that nothing goes while something else stays.
            _ => Err(Failure::Status(Status::NOTEMPTY)),
        }
    })?;
    for name in leftovers {
        match tree.control().remove_file(folder, &name) {
            Err(failure) if !failure.is(Status::NOENT) => return Err(failure),
            _ => {}
        }
    }
    Ok(())
}
