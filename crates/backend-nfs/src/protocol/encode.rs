//! Calls as bytes: a record mark, the head that all calls of one caller share, and the arguments.

use nfs3_types::nfs3::{PROGRAM, VERSION};
use nfs3_types::rpc::{RPC_VERSION_2, opaque_auth};
use plan::Durability;

use crate::calls::FILE_MODE;
use crate::xdr::{Handle, LAST_FRAGMENT};

/// Procedures (RFC 1813 section 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Procedure {
    GetAttributes = 1,
    Lookup = 3,
    Read = 6,
    Write = 7,
    Create = 8,
    Remove = 12,
    Rename = 14,
    ReadFolder = 16,
    Commit = 21,
}

impl Procedure {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::GetAttributes => "GETATTR",
            Self::Lookup => "LOOKUP",
            Self::Read => "READ",
            Self::Write => "WRITE",
            Self::Create => "CREATE",
            Self::Remove => "REMOVE",
            Self::Rename => "RENAME",
            Self::ReadFolder => "READDIR",
            Self::Commit => "COMMIT",
        }
    }
}

/// What a WRITE is to be kept by (`stable_how`).
pub(crate) fn stable_how(durability: Durability) -> u32 {
    match durability {
        // UNSTABLE: it may stay in the server's memory until a COMMIT.
        Durability::None => 0,
        // DATA_SYNC.
        Durability::Data => 1,
        // FILE_SYNC.
        Durability::Full => 2,
    }
}

/// Pads bytes to a multiple of four (RFC 4506 section 3).
const PADDING: &[u8; 3] = &[0; 3];

/// The padding behind so many bytes.
pub(crate) fn padding(bytes: usize) -> &'static [u8] {
    &PADDING[..bytes.next_multiple_of(4) - bytes]
}

/// Where a listing goes on: both are of the last entry that was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListingFrom {
    pub(crate) cookie: u64,
    pub(crate) verifier: [u8; 8],
}

/// Writes the calls of one caller.
#[derive(Debug)]
pub(crate) struct Calls {
    /// From the message's type to the program's version.
    before: Vec<u8>,
    /// Credential and verifier.
    after: Vec<u8>,
}

impl Calls {
    pub(crate) fn new(credential: &opaque_auth<'_>) -> Self {
        // CALL, then whose.
        let before =
            [0, RPC_VERSION_2, PROGRAM, VERSION].iter().flat_map(|word| word.to_be_bytes()).collect();
        let mut after = Vec::new();
        after.extend((credential.flavor as u32).to_be_bytes());
        after.extend((credential.body.len() as u32).to_be_bytes());
        after.extend(&*credential.body);
        after.extend(padding(credential.body.len()));
        // No verifier.
        after.extend([0; 8]);
        Self { before, after }
    }

    fn begin<'o>(&self, id: u32, procedure: Procedure, out: &'o mut Vec<u8>) -> Call<'o> {
        let start = out.len();
        // The record mark, which is known only when the call is written (`Call::end`).
        out.extend([0; 4]);
        out.extend(id.to_be_bytes());
        // Head and credentials are the same in every call, so they are copied and not written anew.
        out.extend(&self.before);
        out.extend((procedure as u32).to_be_bytes());
        out.extend(&self.after);
        Call { out, start }
    }

    pub(crate) fn get_attributes(&self, id: u32, object: &Handle, out: &mut Vec<u8>) {
        self.begin(id, Procedure::GetAttributes, out).opaque(object.as_slice()).end(0);
    }

    pub(crate) fn lookup(&self, id: u32, folder: &Handle, name: &str, out: &mut Vec<u8>) {
        let call = self.begin(id, Procedure::Lookup, out);
        call.opaque(folder.as_slice()).opaque(name.as_bytes()).end(0);
    }

    pub(crate) fn read(&self, id: u32, file: &Handle, offset: u64, count: u32, out: &mut Vec<u8>) {
        let call = self.begin(id, Procedure::Read, out);
        call.opaque(file.as_slice()).long(offset).word(count).end(0);
    }

    pub(crate) fn read_folder(
        &self,
        id: u32,
        folder: &Handle,
        from: ListingFrom,
        count: u32,
        out: &mut Vec<u8>,
    ) {
        let call = self.begin(id, Procedure::ReadFolder, out);
        let verifier = u64::from_be_bytes(from.verifier);
        call.opaque(folder.as_slice()).long(from.cookie).long(verifier).word(count).end(0);
    }

    /// All but the data and its padding.
    pub(crate) fn write(
        &self,
        id: u32,
        file: &Handle,
        (offset, count): (u64, u32),
        durability: Durability,
        out: &mut Vec<u8>,
    ) {
        let call = self.begin(id, Procedure::Write, out);
        let call =
            call.opaque(file.as_slice()).long(offset).word(count).word(stable_how(durability)).word(count);
        call.end((count as usize).next_multiple_of(4));
    }

    /// Of an empty file that is not there yet.
    pub(crate) fn create(&self, id: u32, folder: &Handle, name: &str, out: &mut Vec<u8>) {
        let call = self.begin(id, Procedure::Create, out);
        // RFC 1813 section 3.3.8: GUARDED fails where there is something of that name.
        let call = call.opaque(folder.as_slice()).opaque(name.as_bytes()).word(1);
        // A mode; owner, group, size and both times are the server's.
        call.word(1).word(FILE_MODE).word(0).word(0).word(0).word(0).word(0).end(0);
    }

    pub(crate) fn remove(&self, id: u32, folder: &Handle, name: &str, out: &mut Vec<u8>) {
        let call = self.begin(id, Procedure::Remove, out);
        call.opaque(folder.as_slice()).opaque(name.as_bytes()).end(0);
    }

    /// Within a folder. A file of the new name is replaced.
    pub(crate) fn rename(&self, id: u32, folder: &Handle, (from, to): (&str, &str), out: &mut Vec<u8>) {
        let call = self.begin(id, Procedure::Rename, out);
        let call = call.opaque(folder.as_slice()).opaque(from.as_bytes());
        call.opaque(folder.as_slice()).opaque(to.as_bytes()).end(0);
    }

    /// Of a whole file.
    pub(crate) fn commit(&self, id: u32, file: &Handle, out: &mut Vec<u8>) {
        // RFC 1813 section 3.3.21: offset and count of 0 mean all of the file.
        self.begin(id, Procedure::Commit, out).opaque(file.as_slice()).long(0).word(0).end(0);
    }
}

/// A call being written.
struct Call<'o> {
    out: &'o mut Vec<u8>,
    start: usize,
}

impl Call<'_> {
    fn word(self, value: u32) -> Self {
        self.out.extend(value.to_be_bytes());
        self
    }

    fn long(self, value: u64) -> Self {
        self.out.extend(value.to_be_bytes());
        self
    }

    fn opaque(self, bytes: &[u8]) -> Self {
        let call = self.word(bytes.len() as u32);
        call.out.extend(bytes);
        call.out.extend(padding(bytes.len()));
        call
    }

    /// Sets the record mark, for `more` bytes that follow what was written.
    fn end(self, more: usize) {
        let length = self.out.len() - self.start - 4 + more;
        let mark = LAST_FRAGMENT | length as u32;
        self.out[self.start..self.start + 4].copy_from_slice(&mark.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use nfs3_types::nfs3::{
        COMMIT3args, CREATE3args, GETATTR3args, LOOKUP3args, READ3args, READDIR3args, REMOVE3args,
        RENAME3args, WRITE3args, cookieverf3, createhow3, diropargs3, filename3, nfs_fh3, sattr3, set_mode3,
        stable_how,
    };
    use nfs3_types::rpc::{call_body, fragment_header, msg_body, rpc_msg};
    use nfs3_types::xdr_codec::{Opaque, Pack};

    use super::*;
    use crate::identity::Identity;

    /// The call as another implementation writes it.
    fn theirs(credential: &opaque_auth<'static>, id: u32, procedure: u32, args: &impl Pack) -> Vec<u8> {
        let body = msg_body::CALL(call_body {
            rpcvers: RPC_VERSION_2,
            prog: PROGRAM,
            vers: VERSION,
            proc: procedure,
            cred: credential.borrow(),
            verf: opaque_auth::default(),
        });
        let message = rpc_msg { xid: id, body };
        let length = message.packed_size() + args.packed_size();
        let mut bytes = Vec::new();
        fragment_header::new(length as u32, true).pack(&mut bytes).unwrap();
        message.pack(&mut bytes).unwrap();
        args.pack(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn calls_are_written_as_another_implementation_writes_them() {
        let credential = Identity::of_process().credential();
        let calls = Calls::new(&credential);
        let handle = Handle::new(b"a handle of 21 bytes!").unwrap();
        let handle3 = || nfs_fh3 { data: Opaque::owned(handle.as_slice().to_vec()) };
        let ours = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = b"before".to_vec();
            write(&mut out);
            out.split_off(6)
        };
        let check = |write: &dyn Fn(&mut Vec<u8>), procedure, bytes: Vec<u8>| {
            assert_eq!(ours(write), bytes, "{procedure:?}");
        };
        check(
            &|out| calls.get_attributes(7, &handle, out),
            1,
            theirs(&credential, 7, 1, &GETATTR3args { object: handle3() }),
        );
        let what = diropargs3 { dir: handle3(), name: filename3(Opaque::borrowed(b"a name")) };
        check(
            &|out| calls.lookup(7, &handle, "a name", out),
            3,
            theirs(&credential, 7, 3, &LOOKUP3args { what }),
        );
        let args = READ3args { file: handle3(), offset: 1 << 40, count: 4096 };
        check(&|out| calls.read(7, &handle, 1 << 40, 4096, out), 6, theirs(&credential, 7, 6, &args));
        let args =
            READDIR3args { dir: handle3(), cookie: 9, cookieverf: cookieverf3(*b"verifier"), count: 77 };
        check(
            &|out| calls.read_folder(7, &handle, ListingFrom { cookie: 9, verifier: *b"verifier" }, 77, out),
            16,
            theirs(&credential, 7, 16, &args),
        );
        let named = |name| diropargs3 { dir: handle3(), name: filename3(Opaque::borrowed(name)) };
        let how = createhow3::GUARDED(sattr3 { mode: set_mode3::Some(0o644), ..sattr3::default() });
        let args = CREATE3args { where_: named(b"a new one"), how };
        check(&|out| calls.create(7, &handle, "a new one", out), 8, theirs(&credential, 7, 8, &args));
        let args = REMOVE3args { object: named(b"an old one") };
        check(&|out| calls.remove(7, &handle, "an old one", out), 12, theirs(&credential, 7, 12, &args));
        let args = RENAME3args { from: named(b"from"), to: named(b"to") };
        check(&|out| calls.rename(7, &handle, ("from", "to"), out), 14, theirs(&credential, 7, 14, &args));
        let args = COMMIT3args { file: handle3(), offset: 0, count: 0 };
        check(&|out| calls.commit(7, &handle, out), 21, theirs(&credential, 7, 21, &args));
        for (durability, stable) in [
            (Durability::None, stable_how::UNSTABLE),
            (Durability::Data, stable_how::DATA_SYNC),
            (Durability::Full, stable_how::FILE_SYNC),
        ] {
            let data = Opaque::borrowed(b"data!");
            let args = WRITE3args { file: handle3(), offset: 3, count: 5, stable, data };
            check(
                &|out| {
                    calls.write(7, &handle, (3, 5), durability, out);
                    out.extend(b"data!");
                    out.extend(padding(5));
                },
                7,
                theirs(&credential, 7, 7, &args),
            );
        }
    }
}
