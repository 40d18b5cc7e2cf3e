//! A dataset as it is read: its objects, and where in them its samples lie.

use std::sync::Arc;

use plan::Access;

use crate::payload::Mismatch;
use crate::{Content, Even, Extent, Objects, Samples};

/// A dataset as it is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    objects: Arc<Objects>,
    samples: Samples,
    content: Option<Content>,
    written_over: bool,
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
    /// A sample lies in an object that is not there.
    #[error("a sample is said to lie in object {object}; there are {objects}, counted from 0")]
    NoObject {
        /// Number of the object.
        object: u64,
        /// Objects that are there.
        objects: u32,
    },
    /// A unit has no part.
    #[error("unit {unit} is said to lie nowhere")]
    NoExtent {
        /// Number of the unit.
        unit: u64,
    },
    /// Samples that are to be checked do not lie one behind the other.
    #[error("the places of samples that feedline wrote are not in order")]
    Unsorted,
}

impl Data {
    /// A dataset whose samples are its objects; with the seed of its content, where feedline wrote it.
    pub fn files(objects: Arc<Objects>, seed: Option<u64>) -> Self {
        Self {
            objects,
            samples: Samples::Objects,
            content: seed.map(|seed| Content::Objects { seed }),
            written_over: false,
        }
    }

    /// A dataset whose samples lie in its objects as `samples` says, with its content if feedline wrote it.
    pub fn new(objects: Arc<Objects>, samples: Samples, content: Option<Content>) -> Result<Self, DataError> {
        match &samples {
            Samples::Objects | Samples::Streamed { .. } => {}
            Samples::Even(even) => check_even(&objects, even)?,
            Samples::Indexed(index) => {
                // Once, here: tables come from shards that are not trusted, and whoever reads rests on every place
                // being inside its object.
                for unit in 0..index.units() {
                    if index.extents(unit).next().is_none() {
                        return Err(DataError::NoExtent { unit });
                    }
                    index.extents(unit).try_for_each(|extent| check(&objects, extent))?;
                }
                if matches!(content, Some(Content::Samples { .. })) && !index.is_sorted() {
                    return Err(DataError::Unsorted);
                }
            }
        }
        Ok(Self { objects, samples, content, written_over: false })
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
            Samples::Indexed(index) => index.samples(),
            Samples::Streamed { count } => *count,
        }
    }

    /// Units, which are read by index; `None` where their places are not known.
    pub fn units(&self) -> Option<u64> {
        match &self.samples {
            Samples::Objects => Some(u64::from(self.objects.count())),
            Samples::Even(even) => Some(even.count),
            Samples::Indexed(index) => Some(index.units()),
            Samples::Streamed { .. } => None,
        }
    }

    /// Bytes of one unit, all its parts together; `None` where its place is not known.
    fn unit_bytes(&self, unit: u64) -> Option<u64> {
        match &self.samples {
            Samples::Objects => Some(self.objects.bytes(unit as u32)),
            Samples::Even(even) => Some(even.bytes),
            Samples::Indexed(index) => Some(index.extents(unit).map(|extent| extent.bytes).sum()),
            Samples::Streamed { .. } => None,
        }
    }

    /// Bytes of the largest unit; `None` where their places are not known.
    pub fn unit_bytes_max(&self) -> Option<u64> {
        match &self.samples {
            Samples::Objects => Some(self.objects.bytes_max()),
            Samples::Even(even) => Some(even.bytes),
            Samples::Indexed(index) => {
                (0..index.units()).filter_map(|unit| self.unit_bytes(unit)).max().or(Some(0))
            }
            Samples::Streamed { .. } => None,
        }
    }

    /// Most reads of `block_bytes` that a unit takes. Read `by_index`, these are the blocks of its parts; otherwise all blocks
    /// that touch it, wherever they begin. 1 if the places of units are not known.
    pub fn unit_reads_max(&self, by_index: bool, block_bytes: u32) -> u64 {
        let block_bytes = u64::from(block_bytes.max(1));
        let Samples::Indexed(index) = &self.samples else { return 1 };
        let reads = |unit| {
            if by_index {
                return index.extents(unit).map(|part| part.bytes.div_ceil(block_bytes)).sum();
            }
            let begins = index.extents(unit).map(|part| part.offset).min().unwrap_or(0);
            let ends = index.extents(unit).map(|part| part.offset + part.bytes).max().unwrap_or(0);
            // One more than its length takes: a block of a stream begins where the last one ended, and so inside the
            // unit.
            (ends - begins).div_ceil(block_bytes) + 1
        };
        (0..index.units()).map(reads).max().unwrap_or(1)
    }

    /// Bytes that one epoch of blocks reads in this order: the objects whole where it streams them or takes them in
    /// order, else what the units hold. Of data that can only be streamed, all of them.
    pub fn read_bytes(&self, access: Access) -> u64 {
        match &self.samples {
            Samples::Even(even) if access.is_by_index() => even.count.saturating_mul(even.bytes),
            Samples::Indexed(index) if access.is_by_index() => index.total_bytes(),
            _ => self.objects.total_bytes(),
        }
    }

    /// Bytes read for a sample on average, in this order; not a number where there are no samples.
    pub fn sample_bytes(&self, access: Access) -> f64 {
        self.read_bytes(access) as f64 / self.sample_count() as f64
    }

    /// The same data without content to check against, for data that no storage holds.
    #[must_use]
    pub fn unchecked(self) -> Self {
        Self { content: None, ..self }
    }

    /// The same data, which cells write over: its bytes are those of its content no longer.
    #[must_use]
    pub fn written_over(self) -> Self {
        Self { written_over: true, ..self }
    }

    /// Whether cells write over it.
    pub fn is_written_over(&self) -> bool {
        self.written_over
    }

    /// Whether feedline wrote the content and can check it.
    pub fn is_checked(&self) -> bool {
        self.content.is_some() && !self.written_over
    }

    /// The share of its content that compresses to almost nothing, percent.
    pub fn compressible_percent(&self) -> u8 {
        match self.content {
            Some(Content::Samples { payload, .. }) => payload.compressible_percent,
            Some(Content::Objects { .. }) | None => 0,
        }
    }

    /// Checks bytes of an object, at any offset, against what was written. Returns whether any of them could be checked:
    /// headers and padding cannot.
    pub fn verify(&self, object: u32, offset: u64, bytes: &[u8]) -> Result<bool, Mismatch> {
        let content = self.content.filter(|_| !self.written_over);
        content.map_or(Ok(false), |content| content.verify(&self.samples, (object, offset), bytes))
    }
}

fn check_even(objects: &Objects, even: &Even) -> Result<(), DataError> {
    if even.count == 0 {
        return Ok(());
    }
    if even.per_object == 0 {
        return Err(DataError::NoObject { object: 0, objects: 0 });
    }
    let last = (even.count - 1) / u64::from(even.per_object);
    let within = u32::try_from(last).ok().filter(|last| *last < objects.count());
    let Some(last) = within else {
        return Err(DataError::NoObject { object: last, objects: objects.count() });
    };
    // Of objects of one size the first is as full as any, so that with the last it stands for all: a dataset of a
    // billion samples is checked without going through its objects.
    let first_differing = if matches!(objects, Objects::Uniform { .. }) { last } else { 0 };
    for object in std::iter::once(0).chain(first_differing..=last) {
        let before = (even.in_object(object) - 1).saturating_mul(even.stride_bytes);
        let offset = even.first_byte.saturating_add(before);
        check(objects, Extent { object, offset, bytes: even.bytes })?;
    }
    Ok(())
}

fn check(objects: &Objects, extent: Extent) -> Result<(), DataError> {
    let Extent { object, offset, bytes } = extent;
    if object >= objects.count() {
        return Err(DataError::NoObject { object: u64::from(object), objects: objects.count() });
    }
    let (end, held) = (offset.saturating_add(bytes), objects.bytes(object));
    // An object of 2^64 - 1 bytes does not exist, but a sum that saturates there would pass for one.
    if end > held || offset.checked_add(bytes).is_none() {
        let object = objects.key(object).to_string();
        return Err(DataError::PastEnd { object, offset, end, bytes: held });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use plan::Streams;

    use super::*;
    use crate::payload::Payload;
    use crate::{Index, Key, Listed, SampleSizes};

    fn uniform(count: u32, bytes: u64) -> Arc<Objects> {
        Arc::new(Objects::uniform(Key::new("d").unwrap(), count, bytes))
    }

    const EVEN: Even = Even { count: 25, per_object: 10, first_byte: 50, stride_bytes: 20, bytes: 15 };

    fn even(objects: &Arc<Objects>, even: Even) -> Result<Data, DataError> {
        Data::new(Arc::clone(objects), Samples::Even(even), None)
    }

    #[test]
    fn samples_at_equal_distances_lie_inside_their_objects() {
        // The last of ten begins at 230.
        assert!(even(&uniform(3, 245), EVEN).is_ok());
        let past = even(&uniform(3, 244), EVEN).unwrap_err();
        assert!(matches!(past, DataError::PastEnd { offset: 230, end: 245, bytes: 244, .. }), "{past}");
        assert_eq!(even(&uniform(2, 245), EVEN).unwrap_err(), DataError::NoObject { object: 2, objects: 2 });
        assert!(even(&uniform(3, 245), Even { per_object: 0, ..EVEN }).is_err());
        for stride_bytes in [u64::MAX, u64::MAX / 5] {
            assert!(even(&uniform(3, 245), Even { stride_bytes, ..EVEN }).is_err());
        }
        assert!(even(&uniform(3, 245), Even { bytes: u64::MAX, ..EVEN }).is_err());
        let mut listed = Listed::default();
        // The last object holds five samples.
        for (number, bytes) in [245, 300, 145].into_iter().enumerate() {
            listed.push(&Key::new(format!("f{number}")).unwrap(), bytes);
        }
        let listed = Arc::new(Objects::Listed(listed));
        assert!(even(&listed, EVEN).is_ok());
        assert!(even(&listed, Even { count: 26, ..EVEN }).is_err());
    }

    #[test]
    fn every_unit_of_a_table_lies_inside_its_object() {
        let of = |extents: &[Extent], content| {
            let mut index = Index::default();
            index.push(1, &[Extent { object: 0, offset: 50, bytes: 10 }]);
            index.push(2, extents);
            Data::new(uniform(2, 100), Samples::Indexed(index), content)
        };
        let part = |object, offset, bytes| Extent { object, offset, bytes };
        assert!(of(&[part(0, 60, 40), part(1, 0, 100)], None).is_ok());
        assert!(matches!(of(&[part(0, 60, 40), part(1, 1, 100)], None), Err(DataError::PastEnd { .. })));
        assert!(matches!(of(&[part(0, 10, u64::MAX)], None), Err(DataError::PastEnd { .. })));
        assert_eq!(of(&[part(2, 0, 1)], None), Err(DataError::NoObject { object: 2, objects: 2 }));
        assert_eq!(of(&[], None), Err(DataError::NoExtent { unit: 1 }));
        let payload = Payload { seed: 1, compressible_percent: 0 };
        let content = Some(Content::Samples { payload, lead_bytes: 0, sizes: SampleSizes::Equal(10) });
        assert_eq!(of(&[part(0, 0, 10)], content), Err(DataError::Unsorted));
    }

    #[test]
    fn what_is_read_of_a_sample_depends_on_the_order() {
        let data = even(&uniform(3, 250), EVEN).unwrap();
        let one = Streams::of(1);
        for access in [Access::ShuffledShards(one), Access::ResampledShards(one), Access::Sequential] {
            assert_eq!((data.read_bytes(access), data.sample_bytes(access)), (750, 30.0));
        }
        for access in [Access::Random, Access::ShuffledEpoch, Access::Neighbours { run_length: 1 }] {
            assert_eq!((data.read_bytes(access), data.sample_bytes(access)), (375, 15.0));
        }
        let mut index = Index::default();
        index.push(
            3,
            &[Extent { object: 0, offset: 0, bytes: 30 }, Extent { object: 0, offset: 60, bytes: 3 }],
        );
        index.push(2, &[Extent { object: 1, offset: 0, bytes: 12 }]);
        let data = Data::new(uniform(2, 100), Samples::Indexed(index), None).unwrap();
        assert_eq!((data.sample_count(), data.units(), data.unit_bytes_max()), (5, Some(2), Some(33)));
        assert_eq!((data.sample_bytes(Access::Random), data.sample_bytes(Access::Sequential)), (9.0, 40.0));
    }
}
