//! Where the samples of a dataset lie in its objects.

use std::sync::Arc;

use crate::permutation::mix;

/// Where the samples of a dataset lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Samples {
    /// Each object is one.
    Objects,
    /// Samples of one size, at equal distances in every object.
    Even(Even),
    /// Where a table says.
    Indexed(Index),
    /// At places that are not known, as in compressed shards: objects can only be streamed.
    Streamed {
        /// Samples in all objects.
        count: u64,
    },
}

/// Samples of one size at equal distances: the places take no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Even {
    /// Samples in all objects.
    pub count: u64,
    /// Samples in each object; the last holds what is left.
    pub per_object: u32,
    /// Where the first of an object begins.
    pub first_byte: u64,
    /// From the beginning of one to that of the next.
    pub stride_bytes: u64,
    /// What is read of each.
    pub bytes: u64,
}

impl Even {
    /// Where a sample lies.
    #[inline]
    pub fn extent(&self, sample: u64) -> Extent {
        let per_object = u64::from(self.per_object.max(1));
        let offset = self.first_byte + sample % per_object * self.stride_bytes;
        Extent { object: (sample / per_object) as u32, offset, bytes: self.bytes }
    }

    /// Samples in an object.
    pub fn in_object(&self, object: u32) -> u64 {
        let before = u64::from(object) * u64::from(self.per_object);
        self.count.saturating_sub(before).min(u64::from(self.per_object))
    }
}

/// A part of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Index of the object.
    pub object: u32,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Where units lie. A unit is what is fetched together: a sample, or a row group with the samples in it.
///
/// A unit of one part takes 20 bytes of memory; a copy shares them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Index(Arc<Table>);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Table {
    // Three arrays and not one of structs, whose padding would cost 4 bytes a unit: the table of ImageNet in shards
    // has 1.28 million.
    objects: Vec<u32>,
    offsets: Vec<u64>,
    bytes: Vec<u64>,
    /// Where the extents of each unit end; empty where every unit has one.
    ends: Vec<u32>,
    samples: u64,
    total_bytes: u64,
    /// Hash of everything that was added, in its order.
    digest: u64,
}

impl Index {
    /// Adds a unit that holds `samples` and lies in `extents`, at least one.
    pub fn push(&mut self, samples: u64, extents: &[Extent]) {
        // Copies are made once an index is complete; while it grows there is one owner and nothing is cloned.
        let table = Arc::make_mut(&mut self.0);
        // The first unit of several parts: all before it had one each, so their ends are their numbers.
        if extents.len() != 1 && table.ends.is_empty() {
            table.ends = (1..=table.objects.len() as u32).collect();
        }
        // Kept while the table grows, so that a plan hash does not have to walk it.
        let mut digest = mix(table.digest ^ samples);
        for extent in extents {
            table.objects.push(extent.object);
            table.offsets.push(extent.offset);
            table.bytes.push(extent.bytes);
            table.total_bytes = table.total_bytes.saturating_add(extent.bytes);
            digest = mix(digest ^ u64::from(extent.object));
            digest = mix(mix(digest ^ extent.offset) ^ extent.bytes);
        }
        if extents.len() != 1 || !table.ends.is_empty() {
            table.ends.push(table.objects.len() as u32);
        }
        // The number of parts too, or two units of one part and one unit of two would look the same.
        table.digest = mix(digest ^ extents.len() as u64);
        table.samples = table.samples.saturating_add(samples);
    }

    /// Number of units.
    pub fn units(&self) -> u64 {
        let table = &*self.0;
        if table.ends.is_empty() { table.objects.len() as u64 } else { table.ends.len() as u64 }
    }

    /// The parts of a unit, in the order in which they are read.
    pub fn extents(&self, unit: u64) -> impl Iterator<Item = Extent> + '_ {
        let (unit, ends) = (unit as usize, &self.0.ends);
        let range = if ends.is_empty() {
            unit..unit + 1
        } else {
            (if unit == 0 { 0 } else { ends[unit - 1] as usize })..ends[unit] as usize
        };
        range.map(|at| self.0.part(at))
    }

    /// Samples in all units.
    pub fn samples(&self) -> u64 {
        self.0.samples
    }

    /// Bytes of all units.
    pub fn total_bytes(&self) -> u64 {
        self.0.total_bytes
    }

    /// Hash of all places: equal tables have equal hashes.
    pub(crate) fn digest(&self) -> u64 {
        self.0.digest
    }

    /// Whether each unit is one sample in one part.
    pub(crate) fn is_of_single_samples(&self) -> bool {
        self.0.ends.is_empty() && self.0.samples == self.0.objects.len() as u64
    }

    /// Whether the parts are in the order of their places.
    pub(crate) fn is_sorted(&self) -> bool {
        (1..self.0.objects.len()).all(|at| self.0.place(at - 1) <= self.0.place(at))
    }

    /// The units, of one part each, that reach into the bytes of `object` from `offset` to `end`; the index is sorted.
    pub(crate) fn overlapping(
        &self,
        object: u32,
        offset: u64,
        end: u64,
    ) -> impl Iterator<Item = (u64, Extent)> + '_ {
        let count = self.0.objects.len();
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low.midpoint(high);
            if self.0.place(middle) <= (object, offset) { low = middle + 1 } else { high = middle }
        }
        // From one unit further back: it begins before the offset and may reach over it.
        let parts = (low.saturating_sub(1)..count).map(|at| (at as u64, self.0.part(at)));
        parts
            .skip_while(move |(_, part)| part.object < object)
            .take_while(move |(_, part)| part.object == object && part.offset < end)
    }
}

impl Table {
    fn part(&self, at: usize) -> Extent {
        Extent { object: self.objects[at], offset: self.offsets[at], bytes: self.bytes[at] }
    }

    fn place(&self, at: usize) -> (u32, u64) {
        (self.objects[at], self.offsets[at])
    }
}
