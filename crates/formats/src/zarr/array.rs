//! What of an array's metadata says where its samples are stored.

/// What of an array's metadata says how its chunks are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZarrArray {
    /// Items along each axis; the first counts the samples.
    pub shape: Vec<u64>,
    /// Items of an object along each axis, none of them 0. Objects at the edge are stored whole.
    pub chunk_shape: Vec<u64>,
    /// Bytes of an item.
    pub item_bytes: u64,
    /// Of objects that hold many chunks behind an index: how these lie.
    pub shards: Option<ZarrShards>,
    /// Whether chunks are something else than their items in order: compressed, transposed, filtered.
    pub compressed: bool,
    pub(crate) names: Names,
}

/// How chunks lie in the objects of an array that is sharded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZarrShards {
    /// Items of a chunk along each axis; each divides those of the object.
    pub chunk_shape: Vec<u64>,
    /// Whether the index comes before the chunks.
    pub(crate) index_first: bool,
    /// Whether a checksum follows the index.
    pub(crate) index_summed: bool,
}

/// How objects are named by their places in the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Names {
    /// Whether all of them begin with `c` and the separator.
    pub(crate) is_prefixed: bool,
    pub(crate) separator: char,
}

impl ZarrArray {
    /// Samples in the array.
    pub fn samples(&self) -> u64 {
        self.shape[0]
    }

    /// Samples in an object; the last may hold fewer that mean something.
    pub fn samples_per_chunk(&self) -> u64 {
        self.chunk_shape[0]
    }

    /// Bytes of an object before any codec.
    pub fn chunk_bytes(&self) -> u64 {
        self.bytes_of(&self.chunk_shape)
    }

    /// Bytes of the part of a sample that an object holds, before any codec.
    pub fn sample_bytes(&self) -> u64 {
        self.chunk_bytes() / self.chunk_shape[0]
    }

    /// Whether a sample is never spread over several objects.
    pub fn holds_whole_samples(&self) -> bool {
        self.whole_in(&self.chunk_shape)
    }

    /// Samples that mean something in the objects at `row`, which counts along the first axis.
    pub fn samples_at(&self, row: u64) -> u64 {
        let per_chunk = self.samples_per_chunk();
        self.samples().saturating_sub(row.saturating_mul(per_chunk)).min(per_chunk)
    }

    /// The place along the first axis of the object of that name, which counts from the array's folder; `None` for other files.
    pub fn row(&self, name: &str) -> Option<u64> {
        let Names { is_prefixed, separator } = self.names;
        let name = if is_prefixed { name.strip_prefix('c')?.strip_prefix(separator)? } else { name };
        let mut places = name.split(separator);
        let mut row = None;
        for (items, chunk) in self.shape.iter().zip(&self.chunk_shape) {
            let text = places.next()?;
            let place: u64 = text.parse().ok()?;
            // Writers put no zeros in front, so that each chunk has one name.
            if place >= items.div_ceil(*chunk) || place.to_string() != text {
                return None;
            }
            row = row.or(Some(place));
        }
        row.filter(|_| places.next().is_none())
    }

    pub(crate) fn bytes_of(&self, chunk_shape: &[u64]) -> u64 {
        // Checked when it was read.
        chunk_shape.iter().fold(self.item_bytes, |product, axis| product.saturating_mul(*axis))
    }

    pub(crate) fn whole_in(&self, chunk_shape: &[u64]) -> bool {
        self.shape[1..].iter().zip(&chunk_shape[1..]).all(|(whole, chunk)| chunk >= whole)
    }
}
