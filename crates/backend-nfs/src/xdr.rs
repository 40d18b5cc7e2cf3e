//! Replies as bytes: big-endian words, lengths before contents, everything a multiple of four (RFC 4506).

use std::fmt;

/// Bytes of a file handle, at most (`NFS3_FHSIZE`, RFC 1813 section 2.4).
pub(crate) const HANDLE_BYTES_MAX: usize = 64;

/// The bit of a record mark that says that no fragment follows (RFC 5531 section 11).
pub(crate) const LAST_FRAGMENT: u32 = 1 << 31;

/// Bytes of a verifier, at most (RFC 5531 section 8.2).
pub(crate) const VERIFIER_BYTES_MAX: usize = 400;

/// A server's own name for a file or folder.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Handle {
    len: u8,
    bytes: [u8; HANDLE_BYTES_MAX],
}

impl Handle {
    /// The empty handle, which no server gives.
    pub(crate) const NONE: Self = Self { len: 0, bytes: [0; HANDLE_BYTES_MAX] };

    /// `None` when it is empty or too long to be one.
    pub(crate) fn new(bytes: &[u8]) -> Option<Self> {
        let mut handle = Self::NONE;
        handle.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        handle.len = bytes.len() as u8;
        (!bytes.is_empty()).then_some(handle)
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({} bytes)", self.len)
    }
}

/// What an object is (`ftype3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileType {
    File,
    Folder,
    Link,
    /// A device, a socket, a FIFO.
    Special,
}

/// The attributes of an object that are used here (`fattr3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) kind: FileType,
    pub(crate) bytes: u64,
    pub(crate) used_bytes: u64,
    pub(crate) file_system: u64,
    pub(crate) modified_ns: i128,
}

/// Why a value could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// The bytes end before it; so many are needed, counted from the first.
    More(usize),
    /// The bytes are not such a value; says what is wrong.
    Wrong(&'static str),
}

/// Reads values one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Unread> {
        let end = self.at + count;
        let taken = self.bytes.get(self.at..end).ok_or(Unread::More(end))?;
        self.at = end;
        Ok(taken)
    }

    pub(crate) fn word(&mut self) -> Result<u32, Unread> {
        self.take(4).map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(crate) fn long(&mut self) -> Result<u64, Unread> {
        let high = self.word()?;
        Ok(u64::from(high) << 32 | u64::from(self.word()?))
    }

    pub(crate) fn flag(&mut self) -> Result<bool, Unread> {
        match self.word()? {
            0 => Ok(false),
            1 => Ok(true),
            // RFC 4506 section 4.4: other values show that the bytes are not read from where a flag is.
            _ => Err(Unread::Wrong("a truth value that is neither 0 nor 1")),
        }
    }

    pub(crate) fn eight(&mut self) -> Result<[u8; 8], Unread> {
        self.long().map(u64::to_be_bytes)
    }

    /// Bytes behind their length, which is `most` at the utmost, with their padding.
    pub(crate) fn opaque(&mut self, most: usize) -> Result<&'a [u8], Unread> {
        let length = self.word()? as usize;
        if length > most {
            return Err(Unread::Wrong("a length beyond what the protocol allows"));
        }
        self.take(length.next_multiple_of(4)).map(|bytes| &bytes[..length])
    }

    pub(crate) fn handle(&mut self) -> Result<Handle, Unread> {
        Handle::new(self.opaque(HANDLE_BYTES_MAX)?).ok_or(Unread::Wrong("an empty file handle"))
    }

    /// `post_op_fh3`.
    pub(crate) fn optional_handle(&mut self) -> Result<Option<Handle>, Unread> {
        if self.flag()? { self.handle().map(Some) } else { Ok(None) }
    }

    /// `fattr3` (RFC 1813 section 2.6).
    pub(crate) fn attributes(&mut self) -> Result<Attributes, Unread> {
        let kind = match self.word()? {
            1 => FileType::File,
            2 => FileType::Folder,
            5 => FileType::Link,
            3 | 4 | 6 | 7 => FileType::Special,
            _ => return Err(Unread::Wrong("an unknown type of file")),
        };
        // mode, links, owner, group
        self.take(16)?;
        let bytes = self.long()?;
        let used_bytes = self.long()?;
        // device numbers
        self.take(8)?;
        let file_system = self.long()?;
        // file number, time of last access
        self.take(16)?;
        let seconds = self.word()?;
        let nanoseconds = self.word()?;
        // time of last change of attributes
        self.take(8)?;
        // nfstime3 has unsigned seconds since 1970, where a local file's may be negative.
        let modified_ns = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
        Ok(Attributes { kind, bytes, used_bytes, file_system, modified_ns })
    }

    /// `post_op_attr`.
    pub(crate) fn optional_attributes(&mut self) -> Result<Option<Attributes>, Unread> {
        if self.flag()? { self.attributes().map(Some) } else { Ok(None) }
    }

    /// `wcc_data`, of which nothing is used.
    pub(crate) fn changes(&mut self) -> Result<(), Unread> {
        if self.flag()? {
            self.take(24)?;
        }
        self.optional_attributes().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_value_that_is_cut_says_how_many_bytes_it_takes() {
        let mut reader = Reader::new(&[0, 0, 0, 5, 1, 2, 3, 4]);
        assert_eq!(reader.opaque(8), Err(Unread::More(12)));
        let mut reader = Reader::new(&[0, 0, 0, 5, 1, 2, 3, 4, 5, 0, 0, 0]);
        assert_eq!(reader.opaque(8), Ok(&[1, 2, 3, 4, 5][..]));
        assert_eq!(reader.position(), 12);
    }

    #[test]
    fn a_length_beyond_what_is_allowed_is_wrong_however_few_bytes_are_there() {
        assert!(matches!(Reader::new(&[255; 4]).opaque(64), Err(Unread::Wrong(_))));
        assert!(matches!(Reader::new(&[0, 0, 0, 65]).handle(), Err(Unread::Wrong(_))));
        assert!(matches!(Reader::new(&[0, 0, 0, 0]).handle(), Err(Unread::Wrong(_))));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Reader::new(&bytes).attributes();
            let _ = Reader::new(&bytes).changes();
            let _ = Reader::new(&bytes).optional_handle();
            if let Err(Unread::More(needed)) = Reader::new(&bytes).opaque(400) {
                prop_assert!(needed > bytes.len() && needed <= 404);
            }
        }
    }
}
