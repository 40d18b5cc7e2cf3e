//! Folders and files by number.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use nfs3_server::nfs3_types::nfs3::{fattr3, ftype3, nfsstat3, nfstime3, specdata3};

use crate::clock;
use crate::content::{Budget, Content};

/// Number of the root.
pub(super) const ROOT: u64 = 1;

/// What a file or a folder says it takes beside its bytes.
const FOLDER_BYTES: u64 = 4096;

pub(super) type File = Arc<RwLock<Content>>;

/// Children by name, and in the order of their numbers, by which a listing goes on where it stopped.
#[derive(Debug, Default)]
struct Folder {
    by_name: HashMap<Vec<u8>, u64>,
    by_number: BTreeMap<u64, Vec<u8>>,
}

#[derive(Debug)]
enum Body {
    File(File),
    Folder(Folder),
}

#[derive(Debug)]
struct Node {
    body: Body,
    mode: u32,
    modified: nfstime3,
    /// Verifier of the exclusive CREATE that made it.
    verifier: Option<[u8; 8]>,
}

#[derive(Debug)]
struct Nodes {
    nodes: HashMap<u64, Node>,
    next: u64,
}

/// The tree of one export.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: RwLock<Nodes>,
    budget: Arc<Budget>,
}

fn now() -> nfstime3 {
    let (seconds, nseconds) = clock::unix_time();
    nfstime3 { seconds, nseconds }
}

impl Node {
    fn folder() -> Self {
        Self { body: Body::Folder(Folder::default()), mode: 0o755, modified: now(), verifier: None }
    }

    fn attributes(&self, number: u64) -> fattr3 {
        let (type_, size) = match &self.body {
            Body::File(content) => {
                (ftype3::NF3REG, content.read().unwrap_or_else(PoisonError::into_inner).length())
            }
            Body::Folder(_) => (ftype3::NF3DIR, FOLDER_BYTES),
        };
        fattr3 {
            type_,
            mode: self.mode,
            nlink: 1,
            uid: 0,
            gid: 0,
            size,
            used: size,
            rdev: specdata3::default(),
            // By this a client knows the emulator at whatever address it was given.
            fsid: plan::EMULATOR_FSID,
            fileid: number,
            atime: self.modified,
            mtime: self.modified,
            ctime: self.modified,
        }
    }
}

impl Nodes {
    fn get(&self, number: u64) -> Result<&Node, nfsstat3> {
        self.nodes.get(&number).ok_or(nfsstat3::NFS3ERR_STALE)
    }

    fn folder(&self, number: u64) -> Result<&Folder, nfsstat3> {
        match &self.get(number)?.body {
            Body::Folder(folder) => Ok(folder),
            Body::File(_) => Err(nfsstat3::NFS3ERR_NOTDIR),
        }
    }

    /// A folder's own time never changes: `nfs3_server` makes it the verifier of a listing's cookies, and ours stay
    /// valid whatever is created or removed.
    fn folder_mut(&mut self, number: u64) -> Result<&mut Folder, nfsstat3> {
        match &mut self.nodes.get_mut(&number).ok_or(nfsstat3::NFS3ERR_STALE)?.body {
            Body::Folder(folder) => Ok(folder),
            Body::File(_) => Err(nfsstat3::NFS3ERR_NOTDIR),
        }
    }

    fn child(&self, folder: u64, name: &[u8]) -> Result<u64, nfsstat3> {
        let children = self.folder(folder)?;
        if name == b"." {
            return Ok(folder);
        }
        children.by_name.get(name).copied().ok_or(nfsstat3::NFS3ERR_NOENT)
    }

    fn insert(&mut self, folder: u64, name: &[u8], node: Node) -> Result<u64, nfsstat3> {
        if name.is_empty() || name == b"." || name == b".." || name.contains(&b'/') || name.contains(&0) {
            return Err(nfsstat3::NFS3ERR_INVAL);
        }
        let number = self.next;
        let folder = self.folder_mut(folder)?;
        if folder.by_name.contains_key(name) {
            return Err(nfsstat3::NFS3ERR_EXIST);
        }
        folder.by_name.insert(name.to_vec(), number);
        folder.by_number.insert(number, name.to_vec());
        // Never used again: the handle of a removed file must be stale and not another file's.
        self.next += 1;
        self.nodes.insert(number, node);
        Ok(number)
    }

    fn unlink(&mut self, folder: u64, name: &[u8]) -> Result<u64, nfsstat3> {
        let folder = self.folder_mut(folder)?;
        let number = folder.by_name.remove(name).ok_or(nfsstat3::NFS3ERR_NOENT)?;
        folder.by_number.remove(&number);
        Ok(number)
    }
}

/// A name and the folder that it is in.
pub(super) struct EntryName<'a> {
    pub(super) folder: u64,
    pub(super) name: &'a [u8],
}

/// An entry of a listing.
pub(super) struct Entry {
    pub(super) number: u64,
    pub(super) name: Vec<u8>,
    pub(super) attributes: fattr3,
}

impl Tree {
    pub(super) fn new(budget: &Arc<Budget>) -> Self {
        let nodes = HashMap::from([(ROOT, Node::folder())]);
        Self { nodes: RwLock::new(Nodes { nodes, next: ROOT + 1 }), budget: Arc::clone(budget) }
    }

    fn nodes(&self) -> RwLockReadGuard<'_, Nodes> {
        self.nodes.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn nodes_mut(&self) -> RwLockWriteGuard<'_, Nodes> {
        self.nodes.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn attributes(&self, number: u64) -> Result<fattr3, nfsstat3> {
        Ok(self.nodes().get(number)?.attributes(number))
    }

    pub(super) fn child(&self, folder: u64, name: &[u8]) -> Result<u64, nfsstat3> {
        self.nodes().child(folder, name)
    }

    pub(super) fn file(&self, number: u64) -> Result<File, nfsstat3> {
        match &self.nodes().get(number)?.body {
            Body::File(content) => Ok(Arc::clone(content)),
            Body::Folder(_) => Err(nfsstat3::NFS3ERR_ISDIR),
        }
    }

    /// The entry of a folder whose number is the next above `after`.
    pub(super) fn entry_after(&self, folder: u64, after: u64) -> Result<Option<Entry>, nfsstat3> {
        let nodes = self.nodes();
        let mut behind = nodes.folder(folder)?.by_number.range((Bound::Excluded(after), Bound::Unbounded));
        let Some((number, name)) = behind.next() else { return Ok(None) };
        let attributes = nodes.get(*number)?.attributes(*number);
        Ok(Some(Entry { number: *number, name: name.clone(), attributes }))
    }

    pub(super) fn create(
        &self,
        folder: u64,
        name: &[u8],
        verifier: Option<[u8; 8]>,
    ) -> Result<u64, nfsstat3> {
        let content = Arc::new(RwLock::new(Content::new(&self.budget)));
        let node = Node { body: Body::File(content), mode: 0o644, modified: now(), verifier };
        self.nodes_mut().insert(folder, name, node)
    }

    /// Whether a file was made by an exclusive CREATE with this verifier: then the call has come again.
    pub(super) fn was_created_by(&self, number: u64, verifier: [u8; 8]) -> bool {
        self.nodes().get(number).is_ok_and(|node| node.verifier == Some(verifier))
    }

    pub(super) fn make_folder(&self, folder: u64, name: &[u8]) -> Result<u64, nfsstat3> {
        self.nodes_mut().insert(folder, name, Node::folder())
    }

    /// Changes what is given. A time of modification is kept with the file.
    pub(super) fn change(
        &self,
        number: u64,
        mode: Option<u32>,
        size: Option<u64>,
        modified: Option<nfstime3>,
    ) -> Result<fattr3, nfsstat3> {
        let mut nodes = self.nodes_mut();
        let node = nodes.nodes.get_mut(&number).ok_or(nfsstat3::NFS3ERR_STALE)?;
        node.mode = mode.unwrap_or(node.mode);
        match (&node.body, size) {
            (Body::File(content), Some(size)) => {
                content.write().unwrap_or_else(PoisonError::into_inner).resize(size);
                node.modified = now();
            }
            (Body::Folder(_), Some(_)) => return Err(nfsstat3::NFS3ERR_ISDIR),
            (_, None) => {}
        }
        if let (Body::File(_), Some(modified)) = (&node.body, modified) {
            node.modified = modified;
        }
        Ok(node.attributes(number))
    }

    pub(super) fn write(&self, number: u64, at: u64, data: &[u8]) -> Result<fattr3, nfsstat3> {
        let file = self.file(number)?;
        let written = file.write().unwrap_or_else(PoisonError::into_inner).write(at, data);
        written.map_err(|_| nfsstat3::NFS3ERR_NOSPC)?;
        self.change(number, None, None, Some(now()))
    }

    /// Removes a file, or with `is_folder` an empty folder.
    pub(super) fn remove(&self, folder: u64, name: &[u8], is_folder: bool) -> Result<(), nfsstat3> {
        let mut nodes = self.nodes_mut();
        let number = nodes.child(folder, name)?;
        match (&nodes.get(number)?.body, is_folder) {
            (Body::File(_), true) => return Err(nfsstat3::NFS3ERR_NOTDIR),
            (Body::Folder(_), false) => return Err(nfsstat3::NFS3ERR_ISDIR),
            (Body::Folder(inside), true) if !inside.by_name.is_empty() => {
                return Err(nfsstat3::NFS3ERR_NOTEMPTY);
            }
            _ => {}
        }
        nodes.unlink(folder, name)?;
        nodes.nodes.remove(&number);
        Ok(())
    }

    /// Moves an entry; a file that is there is replaced.
    pub(super) fn rename(&self, from: &EntryName<'_>, to: &EntryName<'_>) -> Result<(), nfsstat3> {
        let mut nodes = self.nodes_mut();
        let number = nodes.child(from.folder, from.name)?;
        let replaced = nodes.child(to.folder, to.name).ok().filter(|replaced| *replaced != number);
        if let Some(replaced) = replaced {
            let kinds = (&nodes.get(number)?.body, &nodes.get(replaced)?.body);
            match kinds {
                (Body::File(_), Body::File(_)) => {}
                (Body::Folder(_), Body::Folder(inside)) if inside.by_name.is_empty() => {}
                // RFC 1813 section 3.3.14: what is there must be of the same kind, and a folder empty.
                _ => return Err(nfsstat3::NFS3ERR_EXIST),
            }
            nodes.unlink(to.folder, to.name)?;
            nodes.nodes.remove(&replaced);
        }
        // Before the entry is taken out: a move that fails leaves it where it was.
        nodes.folder(to.folder)?;
        nodes.unlink(from.folder, from.name)?;
        let target = nodes.folder_mut(to.folder)?;
        target.by_name.insert(to.name.to_vec(), number);
        target.by_number.insert(number, to.name.to_vec());
        Ok(())
    }
}
