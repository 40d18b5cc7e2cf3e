//! Reads that are held against a second reading when the run is over. Of bytes that feedline did not write nothing else
//! says whether they came as they lie.

use std::hash::{DefaultHasher, Hasher as _};

use backend::{CacheAction, Store};
use dataset::Objects;
use record::Reread;

/// Reads of one cell that are kept, at most.
const KEPT_PER_CELL: usize = 64;

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
            let mut draw = DefaultHasher::new();
            draw.write_u64(self.offered);
            match (draw.finish() % self.offered) as usize {
                _ if self.samples.len() < KEPT_PER_CELL => self.samples.push((order, sample)),
                at if at < KEPT_PER_CELL => self.samples[at] = (order, sample),
                _ => {}
            }
        }
    }

    /// Reads them again, past this machine's page cache as far as that can be emptied. What cannot be read says nothing of
    /// the bytes, and is left out.
    pub(crate) fn reread(&self, rank: u32, store: &dyn Store, objects: &Objects) -> Vec<Reread> {
        let mut found: Vec<Reread> = Vec::new();
        let mut buf = Vec::new();
        for (order, sample) in &self.samples {
            buf.resize(sample.len as usize, 0);
            let read = store.read_at(&objects.key(sample.object), sample.offset, &mut buf);
            let Ok(read) = read else { continue };
            let wrong = u64::from(sum(&buf[..read]) != sample.sum);
            match found.iter_mut().find(|of_rep| of_rep.order == *order) {
                Some(of_rep) => (of_rep.checked, of_rep.wrong) = (of_rep.checked + 1, of_rep.wrong + wrong),
                None => found.push(Reread { rank, order: *order, checked: 1, wrong }),
            }
        }
        found
    }
}

/// Empties this machine's page cache of objects that are about to be read again: what came wrong may lie there.
pub(crate) fn empty_cache(store: &dyn Store, objects: &Objects) {
    // Where it is refused, the second reading may be served from memory and prove less.
    let _ = store.cache(CacheAction::Evict, objects);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_reads_are_kept_as_fit_and_late_ones_are_among_them() {
        let sample = |number: u32| Sample::of(number, 0, &number.to_le_bytes());
        let mut kept = Kept::default();
        kept.offer(0, (0..10).map(sample));
        assert_eq!(kept.samples.len(), 10);
        for order in 1..100 {
            kept.offer(order, (0..20).map(sample));
        }
        assert_eq!(kept.samples.len(), KEPT_PER_CELL);
        assert!(
            kept.samples.iter().any(|(order, _)| *order > 50)
                && kept.samples.iter().any(|(order, _)| *order < 50)
        );
    }
}
