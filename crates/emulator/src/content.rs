//! The bytes of an object. What feedline writes is kept as the stream that it came from and takes no memory, in shards as in
//! files; the rest is held.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dataset::payload::Stream;

/// Smallest write that is looked at for being payload. Those below it are the marker, the manifest, foreign things.
pub(crate) const RECOGNISED_FROM_BYTES: usize = 4096;

/// Shortest stretch of payload or of zeros that is kept as such between other bytes. A piece takes about a tenth of it.
const STRETCH_MIN_BYTES: usize = 512;

/// Bytes without any such stretch after which the rest of a write is taken for foreign without a look.
const FOREIGN_FROM_BYTES: usize = 64 << 10;

/// Bytes that objects other than payload may take in memory, all together.
// Generated data take none of it. Without a bound, a dataset of foreign bytes would end with the machine's
// memory.
pub const MEMORY_BYTES_MAX: u64 = 1 << 30;

/// The memory for bytes that must be held is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the emulated server holds {MEMORY_BYTES_MAX} B of objects that feedline did not generate, and no more"
)]
pub(crate) struct NoSpace;

/// Memory still free for held bytes, shared by all objects of a server.
#[derive(Debug)]
pub(crate) struct Budget(AtomicU64);

impl Budget {
    pub(crate) fn new(bytes: u64) -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(bytes)))
    }

    fn take(&self, bytes: u64) -> Result<(), NoSpace> {
        let take = |free: u64| free.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map(|_| ()).map_err(|_| NoSpace)
    }
}

/// Bytes in memory, given back to the budget when dropped.
#[derive(Debug)]
struct Held {
    bytes: Vec<u8>,
    budget: Arc<Budget>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.bytes.len() as u64, Ordering::Relaxed);
    }
}

#[derive(Debug)]
enum Source {
    /// Payload from `skip` on.
    Stream {
        stream: Stream,
        skip: u64,
    },
    /// Never written; reads as zeros.
    Hole,
    Memory(Held),
}

/// Bytes that lie together.
#[derive(Debug)]
struct Piece {
    at: u64,
    length: u64,
    source: Source,
}

impl Piece {
    fn end(&self) -> u64 {
        self.at + self.length
    }

    /// Splits off what lies from `length` on.
    fn split(&mut self, length: u64) -> Self {
        let source = match &mut self.source {
            Source::Stream { stream, skip } => Source::Stream { stream: *stream, skip: *skip + length },
            Source::Hole => Source::Hole,
            Source::Memory(held) => Source::Memory(Held {
                bytes: held.bytes.split_off(length as usize),
                budget: Arc::clone(&held.budget),
            }),
        };
        let tail = Self { at: self.at + length, length: self.length - length, source };
        self.length = length;
        tail
    }

    fn read(&self, from: u64, out: &mut [u8]) {
        match &self.source {
            Source::Stream { stream, skip } => stream.fill(skip + from, out),
            Source::Hole => out.fill(0),
            Source::Memory(held) => out.copy_from_slice(&held.bytes[from as usize..][..out.len()]),
        }
    }
}

/// The content of an object, written at any offset and read at any.
#[derive(Debug)]
pub(crate) struct Content {
    /// In order, without gaps.
    pieces: Vec<Piece>,
    /// Bytes of the budget that pieces take.
    pieces_bytes: u64,
    budget: Arc<Budget>,
}

impl Drop for Content {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.pieces_bytes, Ordering::Relaxed);
    }
}

impl Content {
    pub(crate) fn new(budget: &Arc<Budget>) -> Self {
        Self { pieces: Vec::new(), pieces_bytes: 0, budget: Arc::clone(budget) }
    }

    pub(crate) fn length(&self) -> u64 {
        self.pieces.last().map_or(0, Piece::end)
    }

    /// Writes `data` at `at`; a gap before it becomes a hole.
    pub(crate) fn write(&mut self, at: u64, data: &[u8]) -> Result<(), NoSpace> {
        if data.is_empty() {
            return Ok(());
        }
        // Most writes go on with the stream of the piece before: that is a comparison, where a stream that is
        // not known must be searched for.
        let more = if at == self.length() { self.more_of_last(data) } else { 0 };
        let (mut at, mut rest) = (at + more as u64, &data[more..]);
        // A write is long or short as it was sent, however little of it the piece before leaves.
        let stretches = stretches(rest, data.len() >= RECOGNISED_FROM_BYTES);
        let foreign = stretches.iter().filter(|stretch| stretch.kind == StretchKind::Foreign);
        let held: usize = foreign.map(|stretch| stretch.bytes).sum();
        // What a write is taken apart into takes memory of its own.
        let pieces = stretches.len().saturating_sub(1) * size_of::<Piece>();
        // All of it at once and before anything is changed: a write that is refused leaves the object as it
        // was.
        self.budget.take((held + pieces) as u64)?;
        self.pieces_bytes += pieces as u64;
        if let Some(last) = self.pieces.last_mut() {
            last.length += more as u64;
        }
        for Stretch { bytes, kind } in stretches {
            let (data, behind) = rest.split_at(bytes);
            self.place(at, data, kind);
            (at, rest) = (at + bytes as u64, behind);
        }
        Ok(())
    }

    /// Puts a stretch where it belongs. Its memory was taken from the budget.
    fn place(&mut self, at: u64, data: &[u8], kind: StretchKind) {
        let length = data.len() as u64;
        // A piece for each small write would take more memory than its bytes.
        if let (StretchKind::Foreign, Some(Piece { length: held_length, source: Source::Memory(held), .. })) =
            (&kind, self.pieces.last_mut().filter(|last| last.end() == at))
        {
            held.bytes.extend_from_slice(data);
            *held_length += length;
            return;
        }
        let source = match kind {
            StretchKind::Payload(stream) => Source::Stream { stream, skip: 0 },
            StretchKind::Zeros => Source::Hole,
            StretchKind::Foreign => {
                Source::Memory(Held { bytes: data.to_vec(), budget: Arc::clone(&self.budget) })
            }
        };
        self.resize(self.length().max(at));
        let first = self.cut(at);
        let after = self.cut(at + length);
        self.pieces.splice(first..after, [Piece { at, length, source }]);
    }

    /// Makes the content `length` bytes long.
    pub(crate) fn resize(&mut self, length: u64) {
        let kept = self.cut(length);
        self.pieces.truncate(kept);
        if length > self.length() {
            let at = self.length();
            self.pieces.push(Piece { at, length: length - at, source: Source::Hole });
        }
    }

    /// Reads from `at` on, as much as there is; how many bytes.
    pub(crate) fn read(&self, at: u64, out: &mut [u8]) -> usize {
        let first = self.pieces.partition_point(|piece| piece.end() <= at);
        let mut done = 0;
        for piece in &self.pieces[first..] {
            let from = at + done as u64 - piece.at;
            let take = (out.len() - done).min((piece.length - from) as usize);
            piece.read(from, &mut out[done..done + take]);
            done += take;
            if done == out.len() {
                break;
            }
        }
        done
    }

    /// Adds `other` behind this content.
    pub(crate) fn append(&mut self, mut other: Self) {
        let offset = self.length();
        self.pieces_bytes += std::mem::take(&mut other.pieces_bytes);
        for mut piece in std::mem::take(&mut other.pieces) {
            piece.at += offset;
            match (self.pieces.last_mut(), &piece.source) {
                (Some(last), Source::Stream { stream, skip }) if last.continues(*stream, *skip) => {
                    last.length += piece.length;
                }
                _ => self.pieces.push(piece),
            }
        }
    }

    /// Makes `at` the border of two pieces; the index of the one that begins there.
    fn cut(&mut self, at: u64) -> usize {
        let index = self.pieces.partition_point(|piece| piece.end() <= at);
        match self.pieces.get_mut(index) {
            Some(piece) if piece.at < at => {
                let tail = piece.split(at - piece.at);
                self.pieces.insert(index + 1, tail);
                index + 1
            }
            _ => index,
        }
    }

    /// How many bytes of `data` are more of the last piece's payload.
    fn more_of_last(&self, data: &[u8]) -> usize {
        match self.pieces.last() {
            Some(Piece { length, source: Source::Stream { stream, skip }, .. }) => {
                stream.matched(*skip + *length, data)
            }
            _ => 0,
        }
    }
}

impl Piece {
    /// Whether a stream is more of this piece's own.
    fn continues(&self, next: Stream, next_skip: u64) -> bool {
        let Source::Stream { stream, skip } = &self.source else { return false };
        // Parts of an upload are recognised apart from each other and join here.
        let end = skip + self.length;
        // The same words a whole number of words further on are the same stream.
        end.is_multiple_of(8) && next_skip == 0 && stream.word(end / 8) == next.word(0)
    }
}

/// What the bytes of a stretch are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StretchKind {
    Payload(Stream),
    Zeros,
    Foreign,
}

/// Bytes of one kind that lie together.
struct Stretch {
    bytes: usize,
    kind: StretchKind,
}

/// A write as stretches of one kind each: samples in a shard lie between headers, lengths and sums. One that is not looked
/// at is foreign.
fn stretches(data: &[u8], is_looked_at: bool) -> Vec<Stretch> {
    let foreign = |bytes: usize| (bytes > 0).then_some(Stretch { bytes, kind: StretchKind::Foreign });
    let mut found = Vec::new();
    let (mut foreign_from, mut at) = (0, 0);
    while is_looked_at && at + STRETCH_MIN_BYTES <= data.len() && at - foreign_from < FOREIGN_FROM_BYTES {
        match beginning(&data[at..]) {
            Some(stretch) if stretch.bytes >= STRETCH_MIN_BYTES => {
                found.extend(foreign(at - foreign_from));
                at += stretch.bytes;
                foreign_from = at;
                found.push(stretch);
            }
            Some(stretch) => at += stretch.bytes,
            // Samples begin at any offset inside a shard, so every byte may be the first of one.
            None => at += 1,
        }
    }
    found.extend(foreign(data.len() - foreign_from));
    found
}

/// The payload, or the zeros, that `data` begins with; `None` where it is neither.
fn beginning(data: &[u8]) -> Option<Stretch> {
    if let Some(stream) = Stream::recognise(data) {
        return Some(Stretch { bytes: stream.matched(0, data), kind: StretchKind::Payload(stream) });
    }
    let bytes = data.iter().take_while(|byte| **byte == 0).count();
    (bytes > 0).then_some(Stretch { bytes, kind: StretchKind::Zeros })
}

#[cfg(test)]
mod tests {
    use dataset::payload;
    use proptest::prelude::*;

    use super::*;

    fn payload(object: u32, at: u64, length: usize) -> Vec<u8> {
        let mut data = vec![0; length];
        payload::fill(5, object, at, &mut data);
        data
    }

    fn held_bytes(content: &Content) -> u64 {
        let held = |piece: &Piece| if matches!(piece.source, Source::Memory(_)) { piece.length } else { 0 };
        content.pieces.iter().map(held).sum()
    }

    fn all(content: &Content) -> Vec<u8> {
        let mut out = vec![0xaa; content.length() as usize];
        assert_eq!(content.read(0, &mut out), out.len());
        out
    }

    #[test]
    fn payload_takes_no_memory_however_it_is_cut() {
        let whole = payload(3, 0, 300_000);
        let mut content = Content::new(&Budget::new(0));
        for (number, chunk) in whole.chunks(65_521).enumerate() {
            content.write(number as u64 * 65_521, chunk).unwrap();
        }
        assert_eq!((content.pieces.len(), held_bytes(&content)), (1, 0));
        assert_eq!(all(&content), whole);
    }

    #[test]
    fn blocks_written_out_of_order_are_recognised_one_by_one() {
        let whole = payload(9, 0, 4 * 8192);
        let mut content = Content::new(&Budget::new(0));
        for block in [2, 0, 3, 1] {
            content.write(block * 8192, &whole[block as usize * 8192..][..8192]).unwrap();
        }
        assert_eq!((all(&content), held_bytes(&content)), (whole, 0));
    }

    #[test]
    fn foreign_bytes_are_held_up_to_the_budget() {
        let budget = Budget::new(10_000);
        let mut content = Content::new(&budget);
        content.write(0, &[1; 6000]).unwrap();
        assert_eq!(content.write(6000, &[2; 6000]), Err(NoSpace));
        assert_eq!(content.length(), 6000);
        drop(content);
        assert_eq!(budget.0.load(Ordering::Relaxed), 10_000);
    }

    #[test]
    fn a_wrong_byte_is_held() {
        let mut data = payload(1, 0, 8192);
        data[8000] ^= 1;
        let mut content = Content::new(&Budget::new(8192));
        content.write(0, &data).unwrap();
        assert_eq!((held_bytes(&content), all(&content)), (192, data), "up to the end of the write");
    }

    #[test]
    fn what_a_sample_leaves_of_a_write_is_looked_at() {
        let mut whole = payload(1, 0, 5000);
        whole.extend(payload(2, 0, 4000));
        let mut content = Content::new(&Budget::new(0));
        content.write(0, &whole[..4500]).unwrap();
        content.write(4500, &whole[4500..]).unwrap();
        assert_eq!((content.pieces.len(), all(&content)), (2, whole));
    }

    #[test]
    fn parts_join_into_one_stream() {
        let whole = payload(4, 0, 40_960);
        let budget = Budget::new(0);
        let part = |range: std::ops::Range<usize>| {
            let mut content = Content::new(&budget);
            content.write(0, &whole[range]).unwrap();
            content
        };
        let mut joined = part(0..16_384);
        joined.append(part(16_384..40_960));
        assert_eq!((joined.pieces.len(), all(&joined)), (1, whole));
    }

    proptest! {
        #[test]
        fn samples_in_a_shard_take_no_memory(
            members in prop::collection::vec((prop::collection::vec(1_u8..9, 0..900), 600_usize..9000, 0_usize..2000), 1..12),
            chunk in 4096_usize..40_000,
        ) {
            let mut whole = Vec::new();
            let mut foreign = 0;
            for (number, (header, sample, padding)) in members.iter().enumerate() {
                whole.extend(header);
                whole.extend(payload(number as u32, 0, *sample));
                whole.resize(whole.len() + padding, 0);
                foreign += header.len();
            }
            let mut content = Content::new(&Budget::new(1 << 20));
            for (number, part) in whole.chunks(chunk).enumerate() {
                content.write((number * chunk) as u64, part).unwrap();
            }
            prop_assert_eq!(all(&content), whole.clone());
            // At the borders of stretches and of writes some bytes are held with their neighbours.
            let borders = 2 * members.len() + whole.len().div_ceil(chunk);
            let most = foreign + borders * (STRETCH_MIN_BYTES + 16) + RECOGNISED_FROM_BYTES;
            prop_assert!(held_bytes(&content) as usize <= most, "{} of {}", held_bytes(&content), most);
        }
    }

    proptest! {
        #[test]
        fn writes_at_any_offset_read_back_as_from_a_file(
            writes in prop::collection::vec((0_u64..20_000, 1_usize..9000, 0_u8..4), 1..12),
            length in prop::option::of(0_u64..30_000),
        ) {
            let mut content = Content::new(&Budget::new(1 << 20));
            let mut file = Vec::new();
            for (at, bytes, kind) in writes {
                let data = if kind == 0 { vec![7; bytes] } else { payload(u32::from(kind), at / 8 * 8, bytes) };
                let end = at as usize + bytes;
                if file.len() < end {
                    file.resize(end, 0);
                }
                file[at as usize..end].copy_from_slice(&data);
                content.write(at, &data).unwrap();
            }
            if let Some(length) = length {
                file.resize(length as usize, 0);
                content.resize(length);
            }
            prop_assert_eq!(all(&content), file);
        }
    }
}
