//! The objects of a generated dataset as arithmetic, before any of them is there: files, or shards of samples.

use std::cell::Cell;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use dataset::payload::Payload;
use dataset::{Content, Data, Even, Extent, Index, Listed, Objects, SampleSizes, Samples};
use formats::FormatError;
use plan::{Codec, Layout, Packing};

use crate::identity::{Identity, Names};

/// The objects of a generated dataset.
pub(crate) enum Shape {
    /// Each sample is a file.
    Files {
        objects: Arc<Objects>,
        /// Bytes of each, where all are equal.
        equal_bytes: Option<u64>,
    },
    /// Several samples lie in each.
    Shards(Shards),
}

/// Samples packed into shards.
pub(crate) struct Shards {
    pub(crate) packing: Packing,
    samples: u64,
    per_shard: u64,
    sizes: SampleSizes,
    payload: Payload,
    names: Names,
}

impl Shape {
    pub(crate) fn of(identity: &Identity) -> Self {
        let Some(packing) = identity.packing else {
            let objects = Objects::generated(identity.folder(), &identity.spec())
                .expect("an identity is of what can be generated");
            let equal_bytes = match &objects {
                Objects::Uniform { bytes, .. } => Some(*bytes),
                _ => None,
            };
            return Self::Files { objects: Arc::new(objects), equal_bytes };
        };
        Self::Shards(Shards {
            packing,
            samples: u64::from(identity.count),
            per_shard: packing.samples_per_shard(identity.bytes),
            sizes: identity.sizes(),
            payload: identity.payload(),
            names: identity.names(&identity.folder()),
        })
    }

    pub(crate) fn count(&self) -> u32 {
        match self {
            Self::Files { objects, .. } => objects.count(),
            Self::Shards(shards) => shards.names.count(),
        }
    }

    /// Bytes of an object as it is stored; `None` where only writing it tells.
    pub(crate) fn stored_bytes(&self, object: u32) -> Option<u64> {
        match self {
            Self::Files { objects, .. } => Some(objects.bytes(object)),
            Self::Shards(shards) => shards.stored_bytes(object),
        }
    }

    /// Bytes of the samples in an object, without what a layout puts beside them.
    pub(crate) fn own_bytes(&self, object: u32) -> u64 {
        match self {
            Self::Files { objects, .. } => objects.bytes(object),
            Self::Shards(shards) => shards.own_bytes(object),
        }
    }

    /// Bytes of all samples.
    pub(crate) fn total_bytes(&self) -> u64 {
        match self {
            Self::Files { objects, .. } => objects.total_bytes(),
            Self::Shards(shards) => {
                (0..shards.names.count()).map(|shard| shards.own_bytes(shard)).fold(0, u64::saturating_add)
            }
        }
    }

    /// Bytes that so many files take on a disk, where all are equal.
    pub(crate) fn equal_bytes(&self) -> Option<u64> {
        match self {
            Self::Files { equal_bytes, .. } => *equal_bytes,
            Self::Shards(_) => None,
        }
    }

    /// The objects, where all sizes are known.
    pub(crate) fn objects(&self) -> Option<Arc<Objects>> {
        match self {
            Self::Files { objects, .. } => Some(Arc::clone(objects)),
            Self::Shards(shards) => shards.planned(),
        }
    }
}

impl Shards {
    /// Samples of a shard. A chunk of an array is whole also where the samples that were asked for have ended.
    fn range(&self, shard: u32) -> Range<u64> {
        let first = u64::from(shard) * self.per_shard;
        // The specification of Zarr pads the last chunk with the fill value, so that all chunks are of one size.
        let whole = first + self.per_shard;
        first..if self.packing.layout == Layout::Zarr { whole } else { whole.min(self.samples) }
    }

    /// Samples in all shards.
    pub(crate) fn samples(&self) -> u64 {
        self.range(self.names.count() - 1).end
    }

    fn own_bytes(&self, shard: u32) -> u64 {
        let range = self.range(shard);
        match self.sizes {
            // By arithmetic: asked for every shard before each run, of datasets with hundreds of millions of samples.
            SampleSizes::Equal(bytes) => (range.end - range.start).saturating_mul(bytes),
            SampleSizes::LogNormal(_) => range.map(|sample| self.sizes.at(sample)).sum(),
        }
    }

    fn stored_bytes(&self, shard: u32) -> Option<u64> {
        let range = self.range(shard);
        match self.sizes {
            SampleSizes::Equal(bytes) => {
                Some(formats::stride(&self.packing, bytes, range.end - range.start)?.1)
            }
            SampleSizes::LogNormal(_) => {
                formats::shard_bytes(&self.packing, &mut range.map(|sample| self.sizes.at(sample)))
            }
        }
    }

    /// The shards as objects before they are written; `None` where only writing tells the size of one.
    pub(crate) fn planned(&self) -> Option<Arc<Objects>> {
        self.objects(|shard| self.stored_bytes(shard))
    }

    /// The shards as objects; `None` where the size of one is not known.
    pub(crate) fn objects(&self, bytes: impl Fn(u32) -> Option<u64>) -> Option<Arc<Objects>> {
        let mut listed = Listed::default();
        for shard in 0..self.names.count() {
            listed.push(&self.names.key(shard), bytes(shard)?);
        }
        Some(Arc::new(Objects::Listed(listed)))
    }

    /// Metadata that lie beside the shards.
    pub(crate) fn metadata(&self) -> Vec<u8> {
        formats::zarr_metadata(u64::from(self.names.count()), self.per_shard, self.sizes.at(0))
    }

    /// Where samples lie, and what they hold; `None` where the shards have to be looked at.
    pub(crate) fn data(&self, objects: &Arc<Objects>) -> Option<Data> {
        // Compressed bytes have no places for samples, and nothing that could be checked without unpacking.
        if self.packing.whole_codec() != Codec::None {
            let samples = Samples::Streamed { count: self.samples() };
            return Data::new(Arc::clone(objects), samples, None).ok();
        }
        let (samples, lead_bytes) = match self.sizes {
            SampleSizes::Equal(bytes) => self.even(bytes)?,
            SampleSizes::LogNormal(_) => self.table()?,
        };
        let content = Content::Samples { payload: self.payload, lead_bytes, sizes: self.sizes };
        Data::new(Arc::clone(objects), samples, Some(content)).ok()
    }

    fn even(&self, bytes: u64) -> Option<(Samples, u64)> {
        let (stride, _) = formats::stride(&self.packing, bytes, self.per_shard)?;
        let even = Even {
            count: self.samples(),
            per_object: u32::try_from(self.per_shard).ok()?,
            first_byte: stride.first_byte,
            stride_bytes: stride.stride_bytes,
            bytes: stride.bytes,
        };
        Some((Samples::Even(even), stride.lead_bytes))
    }

    fn table(&self) -> Option<(Samples, u64)> {
        let mut index = Index::default();
        let mut lead = 0;
        for object in 0..self.names.count() {
            let mut sizes = self.range(object).map(|sample| self.sizes.at(sample));
            formats::places(&self.packing, &mut sizes, &mut |offset, bytes, lead_bytes| {
                lead = lead_bytes;
                index.push(1, &[Extent { object, offset, bytes }]);
            })?;
        }
        Some((Samples::Indexed(index), lead))
    }

    /// Writes one shard; `filled` counts the bytes of samples so far.
    pub(crate) fn write(
        &self,
        shard: u32,
        filled: &Cell<u64>,
        out: &mut dyn Write,
    ) -> Result<(), FormatError> {
        let mut samples = Filling { shards: self, range: self.range(shard), filled };
        formats::write(&self.packing, &mut samples, out)
    }
}

/// The samples of a shard as they are written.
struct Filling<'a> {
    shards: &'a Shards,
    range: Range<u64>,
    filled: &'a Cell<u64>,
}

impl formats::Samples for Filling<'_> {
    fn count(&self) -> u64 {
        self.range.end - self.range.start
    }

    fn number(&self, index: u64) -> u64 {
        self.range.start + index
    }

    fn bytes(&self, index: u64) -> u64 {
        self.shards.sizes.at(self.number(index))
    }

    fn fill(&mut self, index: u64, offset: u64, out: &mut [u8]) {
        self.shards.payload.fill(self.number(index), offset, out);
        // Counted here and not in the sink: progress is in bytes of samples, to which headers, padding and
        // compression bear no fixed ratio.
        self.filled.set(self.filled.get() + out.len() as u64);
    }
}
