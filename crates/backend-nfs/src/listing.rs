//! What lies below a folder.

use std::io;
use std::ops::ControlFlow;

use backend::{Entry, StoreError, is_unfinished_name};
use dataset::Key;

use crate::calls::Listed;
use crate::failure::Failure;
use crate::status::Status;
use crate::tree::{Missing, Tree};
use crate::xdr::{Attributes, FileType, Handle};

pub(crate) fn entry(key: Key, attributes: &Attributes) -> Entry {
    Entry {
        key,
        bytes: attributes.bytes,
        modified_ns: attributes.modified_ns,
        allocated_bytes: Some(attributes.used_bytes),
    }
}

/// Every file below `prefix` in the order of the full names, links left out. `shown` puts the server's name before a
/// path.
pub(crate) fn list(
    tree: &Tree,
    shown: &dyn Fn(&str) -> String,
    prefix: Option<&Key>,
    each: &mut dyn FnMut(Entry) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let path = prefix.map_or("", Key::as_str);
    match tree.fresh(|| tree.folder(path, Missing::Fail)) {
        Ok(folder) => Walk { tree, shown, each }.visit(&folder, path).map(drop),
        // Nothing lies below what is not there, but a target must be.
        Err(failure) if failure.is(Status::NOENT) && prefix.is_some() => Ok(()),
        Err(failure) => Err(failure.object("list", shown(path))),
    }
}

struct Walk<'a> {
    tree: &'a Tree,
    shown: &'a dyn Fn(&str) -> String,
    each: &'a mut dyn FnMut(Entry) -> ControlFlow<()>,
}

/// A file or a folder.
struct Child {
    /// Folders end in `/`, which puts everything into the order of the full names: `a.bin` before `a/b.bin`.
    name: String,
    handle: Option<Handle>,
    attributes: Attributes,
}

impl Walk<'_> {
    fn visit(&mut self, folder: &Handle, path: &str) -> Result<ControlFlow<()>, StoreError> {
        for found in self.found(folder, path)? {
            let (name, is_folder) = match found.name.strip_suffix('/') {
                Some(name) => (name, true),
                None => (found.name.as_str(), false),
            };
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            let flow = if is_folder {
                self.descend(folder, name, found.handle, &path)?
            } else {
                let shown = (self.shown)(&path);
                let key = Key::new(path).map_err(|error| StoreError::Object {
                    action: "list",
                    object: shown,
                    source: io::Error::other(error),
                })?;
                (self.each)(entry(key, &found.attributes))
            };
            if flow.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn descend(
        &mut self,
        folder: &Handle,
        name: &str,
        handle: Option<Handle>,
        path: &str,
    ) -> Result<ControlFlow<()>, StoreError> {
        let inner = match handle {
            Some(handle) => Ok(handle),
            // `name_handle` is optional in READDIRPLUS (RFC 1813 section 3.3.17).
            None => self.tree.control().lookup(folder, name).map(|(handle, _)| handle),
        };
        match inner {
            Ok(inner) => self.visit(&inner, path),
            Err(failure) if failure.is(Status::NOENT) => Ok(ControlFlow::Continue(())),
            Err(failure) => Err(failure.object("list", (self.shown)(path))),
        }
    }

    /// The files and folders directly in a folder, in the order of their names.
    fn found(&self, folder: &Handle, path: &str) -> Result<Vec<Child>, StoreError> {
        let (mut found, mut unreadable) = (Vec::new(), None);
        let listed = self.tree.entries(folder, &mut |listed| {
            if is_unfinished_name(&listed.name) {
                return Ok(());
            }
            let Some(attributes) = attributes(self.tree, folder, &listed)? else { return Ok(()) };
            if !matches!(attributes.kind, FileType::File | FileType::Folder) {
                return Ok(());
            }
            match String::from_utf8(listed.name) {
                Ok(mut name) => {
                    if attributes.kind == FileType::Folder {
                        name.push('/');
                    }
                    found.push(Child { name, handle: listed.handle, attributes });
                }
                Err(error) => unreadable = Some(String::from_utf8_lossy(error.as_bytes()).into_owned()),
            }
            Ok(())
        });
        listed.map_err(|failure| failure.object("list", (self.shown)(path)))?;
        if let Some(name) = unreadable {
            let problem = format!("the name of `{}/{name}` is not UTF-8", (self.shown)(path));
            let source = io::Error::new(io::ErrorKind::InvalidData, problem);
            return Err(StoreError::Object { action: "list", object: (self.shown)(path), source });
        }
        // READDIR has an order of the server's own, and the access plan is hashed over objects in order.
        found.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }
}

/// Attributes of an entry, which a listing need not have; `None` when it is gone.
fn attributes(tree: &Tree, folder: &Handle, listed: &Listed) -> Result<Option<Attributes>, Failure> {
    let asked = match (listed.attributes, listed.handle, std::str::from_utf8(&listed.name)) {
        (Some(attributes), ..) => return Ok(Some(attributes)),
        (None, Some(handle), _) => tree.control().get_attributes(&handle),
        (None, None, Ok(name)) => tree.control().look(folder, name).map(|(_, attributes)| attributes),
        (None, None, Err(_)) => return Ok(None),
    };
    match asked {
        Ok(attributes) => Ok(Some(attributes)),
        // Removed since the page was sent: others may work beside feedline.
        Err(failure) if failure.is(Status::NOENT) || failure.is_stale() => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// The folders directly below the target's, in the order of their names; none when it is not there.
pub(crate) fn folders(tree: &Tree, shown: &dyn Fn(&str) -> String) -> Result<Vec<Key>, StoreError> {
    let mut keys = Vec::new();
    let listed = tree.fresh(|| tree.folder("", Missing::Fail)).and_then(|root| {
        tree.entries(&root, &mut |listed| {
            let is_folder = attributes(tree, &root, &listed)?
                .is_some_and(|attributes| attributes.kind == FileType::Folder);
            let key = String::from_utf8(listed.name).ok().and_then(|name| Key::new(name).ok());
            keys.extend(key.filter(|_| is_folder));
            Ok(())
        })
    });
    match listed {
        Ok(()) => {}
        Err(failure) if failure.is(Status::NOENT) => return Ok(Vec::new()),
        Err(failure) => return Err(failure.object("list", shown(""))),
    }
    keys.sort_unstable();
    Ok(keys)
}
