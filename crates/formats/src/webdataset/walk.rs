//! Finds the samples of anybody's tar shard by its headers alone. Names are compared, and never opened.

use tar::{EntryType, Header};

use super::BLOCK_BYTES;
use super::names::{Member, extended, member};
use crate::error::FormatError;
use crate::input::{Input, PART_BYTES_MAX};

const LAYOUT: &str = "webdataset";

/// Where the checksum of a header stands, which counts as spaces in it.
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// What it counts for.
const CHECKSUM_AS_SPACES: i32 = 8 * b' ' as i32;

/// Calls `each` with offset and length of every sample: from its first header to the end of the padding of its last
/// member.
pub(crate) fn walk(input: &mut dyn Input, each: &mut dyn FnMut(u64, u64)) -> Result<(), FormatError> {
    let mut walk = Walk::default();
    let mut block = [0; BLOCK_BYTES as usize];
    // Many writers leave the empty blocks at the end out.
    while let Some(bytes) = input.at("tar header", walk.at, block.len())? {
        // Out of the input's buffer, which the next read of an extended header moves.
        block.copy_from_slice(bytes);
        if block.iter().all(|byte| *byte == 0) {
            break;
        }
        walk.entry(&block, input, each)?;
    }
    walk.close(each);
    if walk.samples == 0 { Err(FormatError::Empty) } else { Ok(()) }
}

/// How far it is.
#[derive(Default)]
struct Walk {
    at: u64,
    samples: u64,
    /// Headers that say something of the next entry, and what they said.
    pending: Pending,
    key: Vec<u8>,
    /// Where the sample with this key begins, and where it ends so far.
    open: Option<(u64, u64)>,
}

#[derive(Default)]
struct Pending {
    from: Option<u64>,
    has_path: bool,
    path: Vec<u8>,
    size: Option<u64>,
}

impl Walk {
    fn entry(
        &mut self,
        block: &[u8],
        input: &mut dyn Input,
        each: &mut dyn FnMut(u64, u64),
    ) -> Result<(), FormatError> {
        let header = Header::from_byte_slice(block);
        if !is_sound(header, block) {
            return Err(if self.at == 0 {
                self.malformed("no header of a tar archive")
            } else {
                FormatError::Checksum { what: "tar header", offset: self.at }
            });
        }
        let stated = header.entry_size().map_err(|_| self.malformed("a member whose size is no number"))?;
        let kind = header.entry_type();
        let is_about_next = is_about_next(kind);
        // The size of an extended header holds for the member behind it, whose own field has room for 8 GiB.
        let size = if is_about_next { stated } else { self.pending.size.unwrap_or(stated) };
        let held = if has_data(kind) { size } else { 0 };
        let (data, left) = (self.at + BLOCK_BYTES, u64::MAX - self.at - BLOCK_BYTES);
        // A size that no file has is checked as it is: rounded up it would not fit the type.
        let padded = held.checked_next_multiple_of(BLOCK_BYTES).filter(|padded| *padded <= left);
        if is_about_next {
            self.read_about_next(kind, input, data, size)?;
        }
        input.has("member", data, padded.unwrap_or(held))?;
        let end = data + padded.unwrap_or(left);
        if is_about_next {
            self.pending.from.get_or_insert(self.at);
        } else {
            // Its data are fewer bytes than its size says, in pieces; no dataset keeps samples so.
            if kind == EntryType::GNUSparse {
                return Err(self.malformed("a sparse file"));
            }
            self.take(header, end, each);
        }
        self.at = end;
        Ok(())
    }

    /// What a header of the next entry says.
    fn read_about_next(
        &mut self,
        kind: EntryType,
        input: &mut dyn Input,
        data: u64,
        size: u64,
    ) -> Result<(), FormatError> {
        if !matches!(kind, EntryType::XHeader | EntryType::GNULongName) {
            return Ok(());
        }
        // The size comes from the file and decides how much is read at once.
        if size > PART_BYTES_MAX as u64 {
            return Err(self.malformed("a name longer than any file has"));
        }
        let body = input.must("extended tar header", data, size as usize)?;
        if kind == EntryType::GNULongName {
            let name = body.split(|byte| *byte == 0).next().unwrap_or_default();
            self.pending.name(name);
        } else {
            let Some(found) = extended(body) else {
                return Err(self.malformed("an extended header that is none"));
            };
            if let Some(path) = found.path {
                self.pending.name(path);
            }
            self.pending.size = found.size.or(self.pending.size);
        }
        Ok(())
    }

    /// An entry with all that was said of it, which ends at `end`.
    fn take(&mut self, header: &Header, end: u64, each: &mut dyn FnMut(u64, u64)) {
        let from = self.pending.from.take().unwrap_or(self.at);
        let pending = std::mem::take(&mut self.pending);
        let plain = header.path_bytes();
        let path = if pending.has_path { pending.path.as_slice() } else { plain.as_ref() };
        let is_file = matches!(header.entry_type(), EntryType::Regular | EntryType::Continuous);
        if let (true, Member::Of(key)) = (is_file, member(path)) {
            match &mut self.open {
                Some((_, until)) if self.key == key => *until = end,
                _ => {
                    self.close(each);
                    self.key.clear();
                    self.key.extend_from_slice(key);
                    self.open = Some((from, end));
                }
            }
        }
        // Its memory is used again.
        self.pending.path = pending.path;
    }

    fn close(&mut self, each: &mut dyn FnMut(u64, u64)) {
        if let Some((from, until)) = self.open.take() {
            each(from, until - from);
            self.samples += 1;
        }
    }

    fn malformed(&self, found: &str) -> FormatError {
        FormatError::Malformed { layout: LAYOUT, found: found.to_owned(), offset: self.at }
    }
}

impl Pending {
    fn name(&mut self, name: &[u8]) {
        self.path.clear();
        self.path.extend_from_slice(name);
        self.has_path = true;
    }
}

/// Whether an entry says something of the next one, rather than being one.
fn is_about_next(kind: EntryType) -> bool {
    matches!(
        kind,
        EntryType::XHeader | EntryType::XGlobalHeader | EntryType::GNULongName | EntryType::GNULongLink
    )
}

/// Whether bytes follow the header. Those of a link or a folder may state a size and have none.
fn has_data(kind: EntryType) -> bool {
    !matches!(
        kind,
        EntryType::Link
            | EntryType::Symlink
            | EntryType::Char
            | EntryType::Block
            | EntryType::Directory
            | EntryType::Fifo
    )
}

/// Whether the checksum of a header holds: the sum of its bytes, which some writers took as signed ones.
fn is_sound(header: &Header, block: &[u8]) -> bool {
    let Ok(stored) = header.cksum() else { return cfg!(fuzzing) };
    let summed = |of: fn(&u8) -> i32| {
        let sum = |part: &[u8]| part.iter().map(of).sum::<i32>();
        sum(&block[..CHECKSUM.start]) + sum(&block[CHECKSUM.end..]) + CHECKSUM_AS_SPACES
    };
    let stored = i64::from(stored);
    let holds = |sum: i32| i64::from(sum) == stored;
    cfg!(fuzzing)
        || holds(summed(|byte| i32::from(*byte)))
        || holds(summed(|byte| i32::from(byte.cast_signed())))
}
