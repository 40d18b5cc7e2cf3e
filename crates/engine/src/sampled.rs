//! Reads that are compared with a second reading when the run is over. For bytes that feedline did not write, nothing else
//! tells whether they arrived as they are stored.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher as _};

use backend::{CacheAction, Clock, ErrorKind, Store, Summed};
use dataset::Objects;
use record::Reread;

/// Reads of one cell that are kept, at most.
// A storage that corrupts one read in a hundred is found by one of 64 with 47 %, one in ten with 99.9 %; reading them
// again takes a second even from far storage.
const KEPT_PER_CELL: usize = 64;

/// Bytes of an object that is read whole, at most: they lie in memory.
const SUMMED_OBJECT_BYTES_MAX: u64 = 128 << 20;
/// Bytes of all objects of a dataset that are read whole, at most.
const SUMMED_BYTES_MAX: u64 = 512 << 20;
/// Time for reading objects of a dataset whole.
const SUMMED_NS_MAX: u64 = 10_000_000_000;

/// A read, and what stands for the bytes that it brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    object: u32,
    offset: u64,
    len: u32,
    /// SipHash: bytes that differ have the same by chance once in 2^64.
    sum: u64,
}

impl Sample {
    pub(crate) fn of(object: u32, offset: u64, bytes: &[u8]) -> Self {
        Self { object, offset, len: bytes.len() as u32, sum: sum(bytes) }
    }

    /// Whether these bytes lie where they were read in the whole object.
    fn is_in(&self, whole: &[u8]) -> bool {
        let from = self.offset as usize;
        whole.get(from..from + self.len as usize).is_some_and(|bytes| sum(bytes) == self.sum)
    }
}

/// A number of chance, the same in every run.
fn drawn(number: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(number);
    hasher.finish()
}

fn sum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// The reads of one cell: of all that were offered, as many as are kept, each as likely as any other.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    offered: u64,
    /// Each with its repetition's place in the run.
    samples: Vec<(u32, Sample)>,
}

impl Kept {
    pub(crate) fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Takes the reads of a repetition (Vitter's algorithm R, 1985).
    pub(crate) fn offer(&mut self, order: u32, samples: impl IntoIterator<Item = Sample>) {
        for sample in samples {
            self.offered += 1;
            // By a hash of the count and not by a generator: which reads are kept follows from the run alone.
            match (drawn(self.offered) % self.offered) as usize {
                _ if self.samples.len() < KEPT_PER_CELL => self.samples.push((order, sample)),
                at if at < KEPT_PER_CELL => self.samples[at] = (order, sample),
                _ => {}
            }
        }
    }
}

/// A read that was made again.
struct Checked {
    order: u32,
    is_same: Result<bool, ErrorKind>,
    /// Whether its object has the sum that the storage keeps, and whether that is declared to be one.
    sum: Option<(bool, bool)>,
}

/// Reads the kept reads of a dataset again.
pub(crate) struct Second<'a> {
    store: &'a dyn Store,
    objects: &'a Objects,
    clock: &'a Clock,
    /// What is left for reading objects whole.
    bytes_left: u64,
    until_ns: u64,
    buf: Vec<u8>,
}

impl<'a> Second<'a> {
    pub(crate) fn new(store: &'a dyn Store, objects: &'a Objects, clock: &'a Clock) -> Self {
        let until_ns = clock.now_ns() + SUMMED_NS_MAX;
        Self { store, objects, clock, bytes_left: SUMMED_BYTES_MAX, until_ns, buf: Vec::new() }
    }

    /// Makes the reads again, past this machine's page cache where that can be emptied. Returns the result of each repetition.
    pub(crate) fn read(mut self, kept: &[&Kept], rank: u32) -> Vec<Reread> {
        // Bytes that came wrong and stayed in the page cache would be the same a second time.
        empty_cache(self.store, self.objects);
        let mut samples: Vec<&(u32, Sample)> = kept.iter().flat_map(|kept| &kept.samples).collect();
        // In an order of chance: which objects are read whole must not depend on where in the dataset they lie.
        samples.sort_by_key(|(_, sample)| (drawn(u64::from(sample.object)), sample.object));
        let of_objects = samples.chunk_by(|(_, one), (_, other)| one.object == other.object);
        let checked: Vec<Checked> = of_objects.flat_map(|samples| self.of_object(samples)).collect();
        folded(&checked, rank)
    }

    fn of_object(&mut self, samples: &[&(u32, Sample)]) -> Vec<Checked> {
        let whole = samples.first().and_then(|(_, sample)| self.whole(sample.object));
        let check = |(order, sample): &&(u32, Sample)| match &whole {
            Some(whole) => Checked {
                order: *order,
                is_same: Ok(sample.is_in(&whole.bytes)),
                sum: Some((whole.agrees, whole.is_declared)),
            },
            None => Checked { order: *order, is_same: self.again(sample), sum: None },
        };
        samples.iter().map(check).collect()
    }

    /// An object and what its sum says, while there is room and time for it. Where that fails, its reads are made again one
    /// by one, and fail themselves.
    fn whole(&mut self, object: u32) -> Option<Summed> {
        let bytes = self.objects.bytes(object);
        let limit_ns = self.until_ns.saturating_sub(self.clock.now_ns());
        if bytes > SUMMED_OBJECT_BYTES_MAX.min(self.bytes_left) || limit_ns == 0 {
            return None;
        }
        let whole = self.store.read_summed(&self.objects.key(object), bytes, limit_ns).ok()??;
        self.bytes_left -= bytes;
        Some(whole)
    }

    fn again(&mut self, sample: &Sample) -> Result<bool, ErrorKind> {
        self.buf.resize(sample.len as usize, 0);
        let read = self.store.read_at(&self.objects.key(sample.object), sample.offset, &mut self.buf);
        read.map(|read| sum(&self.buf[..read]) == sample.sum).map_err(|error| error.kind())
    }
}

/// The results by repetition. A sum that the storage does not declare as one counts only if another of the dataset agrees:
/// then the service is known to return such sums.
fn folded(checked: &[Checked], rank: u32) -> Vec<Reread> {
    // An ETag is the MD5 of the bytes at most services and something else at some; one that agrees proves which kind
    // this is.
    let is_custom = checked.iter().any(|one| one.sum == Some((true, false)));
    let mut found: BTreeMap<u32, Reread> = BTreeMap::new();
    for one in checked {
        let of_rep = found.entry(one.order).or_insert_with(|| Reread {
            rank,
            order: one.order,
            checked: 0,
            wrong: 0,
            summed: 0,
            unread: BTreeMap::new(),
        });
        let is_same = match one.is_same {
            Ok(is_same) => is_same,
            Err(kind) => {
                *of_rep.unread.entry(kind.name().to_owned()).or_default() += 1;
                continue;
            }
        };
        let sum = one.sum.filter(|(_, is_declared)| *is_declared || is_custom);
        of_rep.checked += 1;
        of_rep.summed += u64::from(sum.is_some());
        of_rep.wrong += u64::from(!is_same || sum.is_some_and(|(agrees, _)| !agrees));
    }
    found.into_values().collect()
}

/// Empties this machine's page cache of objects that are about to be read again: what came wrong may lie there.
fn empty_cache(store: &dyn Store, objects: &Objects) {
    // Where it is refused, the second reading may be served from memory and prove less.
    let _ = store.cache(CacheAction::Evict, objects);
}

#[cfg(test)]
mod tests;
