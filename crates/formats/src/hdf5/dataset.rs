//! What messages say of a dataset: its shape, the bytes of an item, and how these are stored.

use super::fields::Fields;

/// Axes that a dataset may have.
const AXES_MAX: usize = 32;

/// A dataset, as far as its header says.
#[derive(Debug, Clone)]
pub(crate) struct Dataset {
    pub(crate) space: Space,
    /// Bytes of an item.
    pub(crate) item_bytes: u64,
    pub(crate) storage: Storage,
    /// Whether chunks are packed or filtered.
    pub(crate) is_filtered: bool,
}

impl Dataset {
    /// Bytes of all items, whether they are stored or not.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.space.shape.iter().try_fold(self.item_bytes, |product, axis| product.checked_mul(*axis))
    }
}

/// Items along each axis, and those that there may ever be, [`UNLIMITED`](super::fields::UNLIMITED) of some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) shape: Vec<u64>,
    pub(crate) most: Vec<u64>,
}

impl Space {
    /// Reads a dataspace, of versions 1 and 2.
    pub(crate) fn read(mut fields: Fields<'_>) -> Option<Self> {
        let version = fields.byte()?;
        let axes = usize::from(fields.byte()?);
        let flags = fields.byte()?;
        let is_null = match version {
            1 => {
                fields.skip(5)?;
                false
            }
            2 => fields.byte()? == 2,
            _ => return None,
        };
        if axes > AXES_MAX {
            return None;
        }
        if is_null {
            return Some(Self { shape: vec![0], most: vec![0] });
        }
        let shape = fields.lengths(axes)?;
        let most = if flags & 1 == 0 { shape.clone() } else { fields.lengths(axes)? };
        Some(Self { shape, most })
    }
}

/// How the items of a dataset are stored.
#[derive(Debug, Clone)]
pub(crate) enum Storage {
    /// One after the other.
    Contiguous {
        /// Where.
        address: u64,
        /// Bytes of all of them.
        bytes: u64,
    },
    /// In chunks of one shape.
    Chunked(Chunked),
    /// In a way that is not read, in words.
    Refused(String),
}

/// How chunks are found.
#[derive(Debug, Clone)]
pub(crate) struct Chunked {
    /// Items of a chunk along each axis.
    pub(crate) shape: Vec<u64>,
    /// Bytes of a chunk that is not packed.
    pub(crate) bytes: u64,
    pub(crate) index: ChunkIndex,
    /// Where that lies.
    pub(crate) address: u64,
}

/// What says where chunks lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChunkIndex {
    /// A B-tree of the first version.
    Tree,
    /// There is one chunk, of so many bytes where it is packed.
    Single(Option<u64>),
    /// Nothing: all chunks follow each other.
    Implicit,
    /// An array of places.
    FixedArray,
    /// An array of places that grows along one axis.
    ExtensibleArray,
    /// A B-tree of the second version.
    SecondTree,
}

impl Storage {
    /// Reads a layout; `None` where it is none.
    pub(crate) fn read(mut fields: Fields<'_>) -> Option<Self> {
        let version = fields.byte()?;
        if !(3..=5).contains(&version) {
            return Some(Self::Refused(format!("a layout of version {version}, of which 3 to 5 are read")));
        }
        match fields.byte()? {
            0 => Some(Self::Refused("compact storage, within a header, which is not read".to_owned())),
            1 => Some(Self::Contiguous { address: fields.address()?, bytes: fields.length()? }),
            2 if version == 3 => of_first(fields).map(Self::Chunked),
            2 => of_second(fields),
            3 => Some(Self::Refused(
                "a virtual dataset, whose data lie in others, which is not read".to_owned(),
            )),
            class => Some(Self::Refused(format!("a layout of class {class}, which is not read"))),
        }
    }
}

/// Chunks behind a B-tree of the first version.
fn of_first(mut fields: Fields<'_>) -> Option<Chunked> {
    let axes = axes_of(&mut fields)?;
    let address = fields.address()?;
    let (shape, bytes) = shape_of(&mut fields, axes, 4)?;
    Some(Chunked { shape, bytes, index: ChunkIndex::Tree, address })
}

/// Chunks behind an index that the layout chooses.
fn of_second(mut fields: Fields<'_>) -> Option<Storage> {
    let flags = fields.byte()?;
    let axes = axes_of(&mut fields)?;
    let width = usize::from(fields.byte()?);
    let (shape, bytes) = shape_of(&mut fields, axes, width)?;
    let index = match fields.byte()? {
        1 if flags & 0x02 != 0 => {
            let bytes = fields.length()?;
            fields.skip(4)?;
            ChunkIndex::Single(Some(bytes))
        }
        1 => ChunkIndex::Single(None),
        2 => ChunkIndex::Implicit,
        // Behind each, numbers that its own head has as well.
        3 => fields.skip(1).map(|()| ChunkIndex::FixedArray)?,
        4 => fields.skip(5).map(|()| ChunkIndex::ExtensibleArray)?,
        5 => fields.skip(6).map(|()| ChunkIndex::SecondTree)?,
        kind => return Some(Storage::Refused(format!("chunks behind an index of kind {kind}"))),
    };
    Some(Storage::Chunked(Chunked { shape, bytes, index, address: fields.address()? }))
}

/// Axes of a chunk. One more is written: that of the bytes of an item.
fn axes_of(fields: &mut Fields<'_>) -> Option<usize> {
    let axes = usize::from(fields.byte()?).checked_sub(1)?;
    (1..=AXES_MAX).contains(&axes).then_some(axes)
}

/// The shape of a chunk and its bytes.
fn shape_of(fields: &mut Fields<'_>, axes: usize, width: usize) -> Option<(Vec<u64>, u64)> {
    let shape: Option<Vec<u64>> = (0..axes).map(|_| fields.number(width)).collect();
    let shape = shape.filter(|shape| !shape.contains(&0))?;
    let item_bytes = fields.number(width)?;
    let bytes = shape.iter().try_fold(item_bytes, |product, axis| product.checked_mul(*axis))?;
    (bytes > 0).then_some((shape, bytes))
}
