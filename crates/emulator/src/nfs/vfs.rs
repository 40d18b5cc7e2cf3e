//! The export as `nfs3_server` sees it, one for each connection.

use std::sync::{Arc, PoisonError};

use nfs3_server::nfs3_types::nfs3::{
    Nfs3Option, createverf3, fattr3, filename3, nfspath3, nfsstat3, sattr3, set_mtime, stable_how,
};
use nfs3_server::vfs::{
    DirEntryPlus, FileHandle, NextResult, NfsFileSystem, NfsReadFileSystem, ReadDirPlusIterator,
};

use super::tree::{EntryName, ROOT, Tree};
use crate::draw::{Fault, corrupt};
use crate::line::Scissors;
use crate::send_limits::SendLimits;
use crate::shape::{Extent, RequestKind, Shape, Ticket};
use crate::timer::Timer;

/// Bytes that a READ returns at most, as FSINFO says.
const READ_BYTES_MAX: u32 = 1 << 20;

// Procedures by number: RFC 1813 section 3.
const GETATTR: u32 = 1;
const LOOKUP: u32 = 3;
const ACCESS: u32 = 4;
const RMDIR: u32 = 13;
const READDIR: u32 = 16;
const READDIRPLUS: u32 = 17;

/// A file handle behind the crate's own eight bytes: number of the file, and the mark that says in which procedure it
/// came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handle([u8; 16]);

impl Handle {
    fn new(number: u64) -> Self {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        Self(bytes)
    }

    fn number(self) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.0[..8]);
        u64::from_le_bytes(bytes)
    }

    fn procedure(self) -> u32 {
        u32::from_le_bytes([self.0[8], self.0[9], self.0[10], self.0[11]])
    }
}

impl FileHandle for Handle {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// What can be done to a connection.
struct Connection {
    timer: Arc<Timer>,
    scissors: Arc<Scissors>,
    /// `None` where nothing holds its bytes back.
    limits: Option<Arc<SendLimits>>,
}

/// The export on one connection.
pub(super) struct Vfs {
    tree: Arc<Tree>,
    shape: Arc<Shape>,
    /// What can be done to the connection; the file system that only makes handles has none.
    connection: Option<Connection>,
}

impl Vfs {
    pub(super) fn new(
        tree: &Arc<Tree>,
        shape: &Arc<Shape>,
        connection: Option<(&Arc<Timer>, &Arc<Scissors>)>,
    ) -> Self {
        let connection = connection.map(|(timer, scissors)| Connection {
            timer: Arc::clone(timer),
            scissors: Arc::clone(scissors),
            limits: shape.send_limits(),
        });
        Self { tree: Arc::clone(tree), shape: Arc::clone(shape), connection }
    }

    async fn hold(&self, ticket: &Ticket, extent: Option<Extent>) {
        let Some(Connection { timer, limits, .. }) = &self.connection else { return };
        let ready_ns = self.shape.hold(ticket, extent, timer).await;
        // The crate sends a reply as a whole, so it is kept until its last byte may arrive.
        if let (Some(limits), Some(extent)) = (limits, extent.filter(|_| ticket.is_paced())) {
            limits.send(ready_ns, extent.bytes, timer).await;
        }
    }

    /// Delays what came as one of `procedures`; anything else that the crate asks on the way passes.
    async fn metadata(&self, handle: Handle, procedures: &[u32]) -> Result<(), nfsstat3> {
        if !procedures.contains(&handle.procedure()) {
            return Ok(());
        }
        // The one status of NFS version 3 that asks to come again later (RFC 1813 section 2.6).
        let ticket = self.shape.admit(RequestKind::Metadata, "").ok_or(nfsstat3::NFS3ERR_JUKEBOX)?;
        self.hold(&ticket, None).await;
        Ok(())
    }

    fn other(&self) {
        // Never refused.
        let _ = self.shape.admit(RequestKind::Other, "");
    }
}

impl NfsReadFileSystem for Vfs {
    type Handle = Handle;

    fn root_dir(&self) -> Handle {
        Handle::new(ROOT)
    }

    async fn lookup(&self, folder: &Handle, name: &filename3<'_>) -> Result<Handle, nfsstat3> {
        self.metadata(*folder, &[LOOKUP]).await?;
        self.tree.child(folder.number(), name.as_ref()).map(Handle::new)
    }

    async fn getattr(&self, handle: &Handle) -> Result<fattr3, nfsstat3> {
        self.metadata(*handle, &[GETATTR, ACCESS]).await?;
        self.tree.attributes(handle.number())
    }

    async fn read(&self, handle: &Handle, at: u64, count: u32) -> Result<(Vec<u8>, bool), nfsstat3> {
        let ticket = self.shape.admit(RequestKind::Data, "").ok_or(nfsstat3::NFS3ERR_JUKEBOX)?;
        match ticket.fault {
            Some(Fault::ServerError) => return Err(nfsstat3::NFS3ERR_SERVERFAULT),
            Some(Fault::SlowDown) => return Err(nfsstat3::NFS3ERR_JUKEBOX),
            Some(Fault::Stale) => return Err(nfsstat3::NFS3ERR_STALE),
            Some(Fault::Reset | Fault::Stall | Fault::Truncated | Fault::Corrupted) | None => {}
        }
        let file = self.tree.file(handle.number())?;
        let (mut data, length) = {
            let content = file.read().unwrap_or_else(PoisonError::into_inner);
            let length = content.length();
            // The crate does not hold a READ to the limit of FSINFO: one of 100 MiB was answered whole
            // (measured).
            let bytes = length.saturating_sub(at).min(u64::from(count.min(READ_BYTES_MAX)));
            let mut data = vec![0; bytes as usize];
            content.read(at, &mut data);
            (data, length)
        };
        let extent = Extent { object: handle.number(), at, bytes: data.len() as u64 };
        self.hold(&ticket, Some(extent)).await;
        match ticket.fault {
            // NFS allows a READ to bring less; a client must ask for the rest. At least one byte, or it could
            // not go on.
            Some(Fault::Truncated) => data.truncate(data.len().div_ceil(2)),
            Some(Fault::Corrupted) => corrupt(&mut data),
            _ => {}
        }
        if let (Some(Fault::Reset), Some(Connection { scissors, .. })) = (ticket.fault, &self.connection) {
            // In the middle of the reply: its head has come, and half of its data.
            scissors.reset_after(data.len() as u64 / 2);
        }
        self.shape.stats.sent(data.len() as u64);
        let is_end = at + data.len() as u64 >= length;
        Ok((data, is_end))
    }

    async fn readdirplus(
        &self,
        folder: &Handle,
        cookie: u64,
    ) -> Result<impl ReadDirPlusIterator<Handle>, nfsstat3> {
        self.metadata(*folder, &[READDIR, READDIRPLUS]).await?;
        // A folder without entries ends at once; what is no folder has to fail here.
        self.tree.entry_after(folder.number(), cookie)?;
        Ok(Listing { tree: Arc::clone(&self.tree), folder: folder.number(), after: cookie })
    }

    async fn readlink(&self, _: &Handle) -> Result<nfspath3<'_>, nfsstat3> {
        Err(nfsstat3::NFS3ERR_INVAL)
    }
}

/// A listing under way. The cookie of an entry is its number.
struct Listing {
    tree: Arc<Tree>,
    folder: u64,
    after: u64,
}

impl ReadDirPlusIterator<Handle> for Listing {
    async fn next(&mut self) -> NextResult<DirEntryPlus<Handle>> {
        match self.tree.entry_after(self.folder, self.after) {
            Err(status) => NextResult::Err(status),
            Ok(None) => NextResult::Eof,
            Ok(Some(entry)) => {
                self.after = entry.number;
                NextResult::Ok(DirEntryPlus {
                    fileid: entry.number,
                    name: entry.name.into(),
                    cookie: entry.number,
                    name_attributes: Some(entry.attributes),
                    name_handle: Some(Handle::new(entry.number)),
                })
            }
        }
    }
}

impl NfsFileSystem for Vfs {
    async fn setattr(&self, handle: &Handle, wanted: sattr3) -> Result<fattr3, nfsstat3> {
        self.other();
        self.change(*handle, &wanted)
    }

    async fn write(
        &self,
        handle: &Handle,
        at: u64,
        data: &[u8],
        _stable: stable_how,
    ) -> Result<(fattr3, stable_how), nfsstat3> {
        self.other();
        // Memory is as stable as it gets here.
        Ok((self.tree.write(handle.number(), at, data)?, stable_how::FILE_SYNC))
    }

    /// UNCHECKED and GUARDED alike: the crate looks the name up first where it must not exist.
    async fn create(
        &self,
        folder: &Handle,
        name: &filename3<'_>,
        wanted: sattr3,
    ) -> Result<(Handle, fattr3), nfsstat3> {
        self.other();
        let number = match self.tree.create(folder.number(), name.as_ref(), None) {
            Err(nfsstat3::NFS3ERR_EXIST) => self.tree.child(folder.number(), name.as_ref())?,
            created => created?,
        };
        let handle = Handle::new(number);
        Ok((handle, self.change(handle, &wanted)?))
    }

    async fn create_exclusive(
        &self,
        folder: &Handle,
        name: &filename3<'_>,
        verifier: createverf3,
    ) -> Result<Handle, nfsstat3> {
        self.other();
        let created = self.tree.create(folder.number(), name.as_ref(), Some(verifier.0));
        if created == Err(nfsstat3::NFS3ERR_EXIST) {
            let there = self.tree.child(folder.number(), name.as_ref())?;
            // RFC 1813 section 3.3.8: the same verifier is the same call once more, and succeeds.
            if self.tree.was_created_by(there, verifier.0) {
                return Ok(Handle::new(there));
            }
        }
        created.map(Handle::new)
    }

    async fn mkdir(&self, folder: &Handle, name: &filename3<'_>) -> Result<(Handle, fattr3), nfsstat3> {
        self.other();
        let number = self.tree.make_folder(folder.number(), name.as_ref())?;
        Ok((Handle::new(number), self.tree.attributes(number)?))
    }

    async fn remove(&self, folder: &Handle, name: &filename3<'_>) -> Result<(), nfsstat3> {
        self.other();
        // The crate has one function for REMOVE and RMDIR; only the mark tells them apart.
        self.tree.remove(folder.number(), name.as_ref(), folder.procedure() == RMDIR)
    }

    async fn rename<'a>(
        &self,
        from: &Handle,
        from_name: &filename3<'a>,
        to: &Handle,
        to_name: &filename3<'a>,
    ) -> Result<(), nfsstat3> {
        self.other();
        let from = EntryName { folder: from.number(), name: from_name.as_ref() };
        let to = EntryName { folder: to.number(), name: to_name.as_ref() };
        self.tree.rename(&from, &to)
    }

    async fn symlink<'a>(
        &self,
        _: &Handle,
        _: &filename3<'a>,
        _: &nfspath3<'a>,
        _: &sattr3,
    ) -> Result<(Handle, fattr3), nfsstat3> {
        Err(nfsstat3::NFS3ERR_NOTSUPP)
    }

    async fn commit(&self, handle: &Handle, _at: u64, _count: u32) -> Result<(), nfsstat3> {
        self.other();
        self.tree.file(handle.number()).map(|_| ())
    }
}

impl Vfs {
    fn change(&self, handle: Handle, wanted: &sattr3) -> Result<fattr3, nfsstat3> {
        let mode = if let Nfs3Option::Some(mode) = wanted.mode { Some(mode) } else { None };
        let size = if let Nfs3Option::Some(size) = wanted.size { Some(size) } else { None };
        let modified = if let set_mtime::SET_TO_CLIENT_TIME(time) = wanted.mtime { Some(time) } else { None };
        self.tree.change(handle.number(), mode, size, modified)
    }
}
