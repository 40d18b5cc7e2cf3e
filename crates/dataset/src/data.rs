//! A dataset as it is read: its objects, and where in them its samples lie.

use std::sync::Arc;

use crate::payload::Mismatch;
use crate::{Objects, payload};

/// A dataset as it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    objects: Arc<Objects>,
    samples: Samples,
    content: Option<Content>,
}

/// Where the samples of a dataset lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Samples {
    /// Each object is one.
    Objects,
    /// At equal distances in every object.
    Even(Even),
    /// Where a table says.
    Indexed(Index),
    /// So many in all, at places that are not known (a compressed shard): objects can be streamed, and nothing else.
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Index {
    objects: Vec<u32>,
    offsets: Vec<u64>,
    bytes: Vec<u64>,
    /// Where the extents of each unit end; empty where every unit has one.
    ends: Vec<u32>,
    samples: u64,
}

impl Index {
    /// Adds a unit that holds `samples` and lies in `extents`, at least one.
    pub fn push(&mut self, samples: u64, extents: &[Extent]) {
        if extents.len() != 1 && self.ends.is_empty() {
            self.ends = (1..=self.objects.len() as u32).collect();
        }
        for extent in extents {
            self.objects.push(extent.object);
            self.offsets.push(extent.offset);
            self.bytes.push(extent.bytes);
        }
        if extents.len() != 1 || !self.ends.is_empty() {
            self.ends.push(self.objects.len() as u32);
        }
        self.samples += samples;
    }

    /// Number of units.
    pub fn units(&self) -> u64 {
        if self.ends.is_empty() { self.objects.len() as u64 } else { self.ends.len() as u64 }
    }

    /// The parts of a unit, in the order in which they are read.
    pub fn extents(&self, unit: u64) -> impl Iterator<Item = Extent> + '_ {
        let unit = unit as usize;
        let range = if self.ends.is_empty() {
            unit..unit + 1
        } else {
            (if unit == 0 { 0 } else { self.ends[unit - 1] as usize })..self.ends[unit] as usize
        };
        range.map(|at| Extent { object: self.objects[at], offset: self.offsets[at], bytes: self.bytes[at] })
    }
}

/// What the bytes of a generated dataset are checked against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Content {
    /// Each object is the payload of its number.
    Objects {
        /// Seed of the content.
        seed: u64,
    },
}

/// A dataset that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// A sample lies outside its object.
    #[error("bytes {offset} to {end} of `{object}` are said to hold a sample; it has {bytes} B")]
    PastEnd {
        /// The object.
        object: String,
        /// First byte of the sample.
        offset: u64,
        /// Its end.
        end: u64,
        /// Bytes of the object.
        bytes: u64,
    },
}

impl Data {
    /// A dataset whose samples are its objects; with the seed of its content, where feedline wrote it.
    pub fn files(objects: Arc<Objects>, seed: Option<u64>) -> Self {
        Self { objects, samples: Samples::Objects, content: seed.map(|seed| Content::Objects { seed }) }
    }

    /// What is read.
    pub fn objects(&self) -> &Arc<Objects> {
        &self.objects
    }

    /// Where the samples lie.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// Number of samples.
    pub fn sample_count(&self) -> u64 {
        match &self.samples {
            Samples::Objects => u64::from(self.objects.count()),
            Samples::Even(even) => even.count,
            Samples::Indexed(index) => index.samples,
            Samples::Streamed { count } => *count,
        }
    }

    /// Whether feedline wrote the content and can check it.
    pub fn is_checked(&self) -> bool {
        self.content.is_some()
    }

    /// Checks bytes of an object against what was written; returns whether any of them could be.
    pub fn verify(&self, object: u32, offset: u64, bytes: &[u8]) -> Result<bool, Mismatch> {
        match self.content {
            None => Ok(false),
            Some(_) if bytes.is_empty() => Ok(false),
            Some(Content::Objects { seed }) => payload::verify(seed, object, offset, bytes).map(|()| true),
        }
    }
}
