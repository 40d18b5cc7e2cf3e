//! The procedures of NFS version 3 that are called outside of any measurement (RFC 1813 section 3.3).

use nfs3_types::nfs3::{
    CREATE3args, FSINFO3args, FSSTAT3args, GETATTR3args, LINK3args, LOOKUP3args, MKDIR3args, NFS_PROGRAM,
    READ3args, READDIRPLUS3args, REMOVE3args, RENAME3args, RMDIR3args, cookieverf3, createhow3, diropargs3,
    filename3, nfs_fh3, sattr3, set_mode3,
};
use nfs3_types::xdr_codec::{Opaque, Pack};

use crate::control::Control;
use crate::failure::Failure;
use crate::status::Status;
use crate::xdr::{Attributes, Handle, Reader};

/// Bytes of one untimed READ, at most.
const READ_BYTES_MAX: u32 = 1 << 20;

/// Bytes of a name, at most; no file system allows longer ones.
pub(crate) const NAME_BYTES_MAX: usize = 4096;

/// Modes of new files and folders; the server may take rights away.
pub(crate) const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;

/// The limits of an export (`FSINFO3resok`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) read_bytes_max: u32,
    pub(crate) read_bytes_preferred: u32,
    pub(crate) write_bytes_max: u32,
    pub(crate) listing_bytes: u32,
}

/// An entry of a folder.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) name: Vec<u8>,
    pub(crate) attributes: Option<Attributes>,
    pub(crate) handle: Option<Handle>,
}

/// Entries of a folder, from one call.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) entries: Vec<Listed>,
    pub(crate) cookie: u64,
    pub(crate) verifier: [u8; 8],
    pub(crate) is_last: bool,
}

fn handle3(handle: &Handle) -> nfs_fh3 {
    nfs_fh3 { data: Opaque::owned(handle.as_slice().to_vec()) }
}

fn entry3<'a>(folder: &Handle, name: &'a str) -> diropargs3<'a> {
    diropargs3 { dir: handle3(folder), name: filename3(Opaque::borrowed(name.as_bytes())) }
}

fn mode3(mode: u32) -> sattr3 {
    sattr3 { mode: set_mode3::Some(mode), ..sattr3::default() }
}

impl Control {
    /// Results behind a status of OK.
    fn ask<A: Pack + Send + Sync>(&self, procedure: NFS_PROGRAM, args: &A) -> Result<Vec<u8>, Failure> {
        let mut results = self.call(procedure as u32, args)?;
        match Reader::new(&results).word()? {
            // Every result of RFC 1813 begins with a status; what follows it depends on whether that is 0.
            0 => {
                results.drain(..4);
                Ok(results)
            }
            other => Err(Failure::Status(Status(other))),
        }
    }

    pub(crate) fn lookup(
        &self,
        folder: &Handle,
        name: &str,
    ) -> Result<(Handle, Option<Attributes>), Failure> {
        let args = LOOKUP3args { what: entry3(folder, name) };
        let results = self.ask(NFS_PROGRAM::NFSPROC3_LOOKUP, &args)?;
        let mut reader = Reader::new(&results);
        Ok((reader.handle()?, reader.optional_attributes()?))
    }

    pub(crate) fn get_attributes(&self, object: &Handle) -> Result<Attributes, Failure> {
        let args = GETATTR3args { object: handle3(object) };
        let results = self.ask(NFS_PROGRAM::NFSPROC3_GETATTR, &args)?;
        Ok(Reader::new(&results).attributes()?)
    }

    /// As [`Control::lookup`], asking for attributes where the reply has none.
    pub(crate) fn look(&self, folder: &Handle, name: &str) -> Result<(Handle, Attributes), Failure> {
        let (handle, attributes) = self.lookup(folder, name)?;
        Ok((handle, attributes.map_or_else(|| self.get_attributes(&handle), Ok)?))
    }

    pub(crate) fn file_system_facts(&self, root: &Handle) -> Result<Facts, Failure> {
        let args = FSINFO3args { fsroot: handle3(root) };
        let results = self.ask(NFS_PROGRAM::NFSPROC3_FSINFO, &args)?;
        let mut reader = Reader::new(&results);
        reader.optional_attributes()?;
        let [read_bytes_max, read_bytes_preferred, _, write_bytes_max, _, _, listing_bytes] = {
            let mut words = [0; 7];
            for word in &mut words {
                *word = reader.word()?;
            }
            words
        };
        // A READ of 0 bytes is answered with success and no end: reading would go on for ever.
        if read_bytes_max == 0 {
            return Err(Failure::Protocol("FSINFO says that no byte can be read at once".to_owned()));
        }
        Ok(Facts { read_bytes_max, read_bytes_preferred, write_bytes_max, listing_bytes })
    }

    /// Bytes that this user may still write.
    pub(crate) fn free_bytes(&self, root: &Handle) -> Result<u64, Failure> {
        let args = FSSTAT3args { fsroot: handle3(root) };
        let results = self.ask(NFS_PROGRAM::NFSPROC3_FSSTAT, &args)?;
        let mut reader = Reader::new(&results);
        reader.optional_attributes()?;
        // All bytes, then free ones, then those that this user may have.
        reader.long()?;
        reader.long()?;
        Ok(reader.long()?)
    }

    /// A page of a folder, from behind `cookie`.
    pub(crate) fn read_folder(
        &self,
        folder: &Handle,
        cookie: u64,
        verifier: [u8; 8],
        bytes: u32,
    ) -> Result<Page, Failure> {
        let args = READDIRPLUS3args {
            dir: handle3(folder),
            cookie,
            cookieverf: cookieverf3(verifier),
            // Both limits alike: `dircount` bounds names alone, so `maxcount`, the size of the whole reply,
            // is what holds.
            dircount: bytes,
            maxcount: bytes,
        };
        let results = self.ask(NFS_PROGRAM::NFSPROC3_READDIRPLUS, &args)?;
        page_of(&results, cookie)
    }

    /// Bytes at an offset: what the server gives, and whether they are the last.
    pub(crate) fn read(&self, file: &Handle, offset: u64, count: usize) -> Result<(Vec<u8>, bool), Failure> {
        // RFC 1813 section 3.3.6: a server may return less than was asked, so a limit here costs calls and
        // nothing else.
        let count = count.min(READ_BYTES_MAX as usize) as u32;
        let args = READ3args { file: handle3(file), offset, count };
        let results = self.ask(NFS_PROGRAM::NFSPROC3_READ, &args)?;
        let mut reader = Reader::new(&results);
        reader.optional_attributes()?;
        let (given, is_last) = (reader.word()?, reader.flag()?);
        let data = reader.opaque(count as usize)?;
        // READ3resok has the count and the length of the data apart; where they differ neither can be
        // believed.
        if data.len() != given as usize {
            return Err(Failure::Protocol("READ names two lengths".to_owned()));
        }
        Ok((data.to_vec(), is_last))
    }

    /// Makes an empty file; fails when there is one.
    pub(crate) fn create_file(&self, folder: &Handle, name: &str) -> Result<Handle, Failure> {
        // RFC 1813 section 3.3.8: UNCHECKED would take over a file that is there.
        let how = createhow3::GUARDED(mode3(FILE_MODE));
        let args = CREATE3args { where_: entry3(folder, name), how };
        let results = self.ask(NFS_PROGRAM::NFSPROC3_CREATE, &args)?;
        self.made(&results, folder, name)
    }

    /// Makes a folder; fails when there is something of that name.
    pub(crate) fn create_folder(&self, folder: &Handle, name: &str) -> Result<Handle, Failure> {
        let args = MKDIR3args { where_: entry3(folder, name), attributes: mode3(FOLDER_MODE) };
        let results = self.ask(NFS_PROGRAM::NFSPROC3_MKDIR, &args)?;
        self.made(&results, folder, name)
    }

    /// The handle of what was made, which is optional in the reply.
    fn made(&self, results: &[u8], folder: &Handle, name: &str) -> Result<Handle, Failure> {
        match Reader::new(results).optional_handle()? {
            Some(handle) => Ok(handle),
            None => self.lookup(folder, name).map(|(handle, _)| handle),
        }
    }

    pub(crate) fn remove_file(&self, folder: &Handle, name: &str) -> Result<(), Failure> {
        let args = REMOVE3args { object: entry3(folder, name) };
        self.ask(NFS_PROGRAM::NFSPROC3_REMOVE, &args).map(drop)
    }

    pub(crate) fn remove_folder(&self, folder: &Handle, name: &str) -> Result<(), Failure> {
        let args = RMDIR3args { object: entry3(folder, name) };
        self.ask(NFS_PROGRAM::NFSPROC3_RMDIR, &args).map(drop)
    }

    /// Renames within a folder. A file of the new name is replaced.
    pub(crate) fn rename(&self, folder: &Handle, from: &str, to: &str) -> Result<(), Failure> {
        let args = RENAME3args { from: entry3(folder, from), to: entry3(folder, to) };
        self.ask(NFS_PROGRAM::NFSPROC3_RENAME, &args).map(drop)
    }

    /// Gives a file a second name; fails when there is something of that name.
    pub(crate) fn link(&self, file: &Handle, folder: &Handle, name: &str) -> Result<(), Failure> {
        let args = LINK3args { file: handle3(file), link: entry3(folder, name) };
        self.ask(NFS_PROGRAM::NFSPROC3_LINK, &args).map(drop)
    }
}

/// `READDIRPLUS3resok`, the reply to a listing from `cookie` on.
pub(crate) fn page_of(results: &[u8], cookie: u64) -> Result<Page, Failure> {
    let mut reader = Reader::new(results);
    reader.optional_attributes()?;
    let verifier = reader.eight()?;
    let mut page = Page { entries: Vec::new(), cookie, verifier, is_last: false };
    while reader.flag()? {
        reader.long()?;
        let name = reader.opaque(NAME_BYTES_MAX)?.to_vec();
        page.cookie = reader.long()?;
        let (attributes, handle) = (reader.optional_attributes()?, reader.optional_handle()?);
        if !matches!(&name[..], b"." | b"..") {
            page.entries.push(Listed { name, attributes, handle });
        }
    }
    page.is_last = reader.flag()?;
    // Asked from the same cookie again, it would bring the same page.
    if page.cookie == cookie && !page.is_last {
        return Err(Failure::Protocol("a listing goes on without an entry".to_owned()));
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_listing_that_makes_no_progress_ends_with_an_error() {
        let words: Vec<u8> = [0_u32, 0, 0, 0, 0].iter().flat_map(|word| word.to_be_bytes()).collect();
        assert!(matches!(page_of(&words, 7), Err(Failure::Protocol(_))));
        let words: Vec<u8> = [0_u32, 0, 0, 0, 1].iter().flat_map(|word| word.to_be_bytes()).collect();
        assert!(page_of(&words, 7).unwrap().is_last);
    }

    proptest! {
        #[test]
        fn an_arbitrary_listing_is_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = page_of(&bytes, 0);
        }
    }
}
