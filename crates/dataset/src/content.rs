//! What the bytes of a generated dataset are checked against.

use crate::payload::{self, Mismatch, Payload};
use crate::sizes::SampleSizes;
use crate::{Extent, Samples};

/// What the bytes of a generated dataset are checked against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Content {
    /// Each object is the payload of its number.
    Objects {
        /// Seed of the content.
        seed: u64,
    },
    /// The own bytes of sample `n` are the payload of number `n`.
    Samples {
        /// What samples are filled with.
        payload: Payload,
        /// Bytes of headers between the beginning of a sample's place and its own bytes.
        lead_bytes: u64,
        /// Own bytes of each sample.
        sizes: SampleSizes,
    },
}

impl Content {
    /// Checks bytes of an object. Returns whether any of them could be checked: headers, padding, and samples whose places are
    /// not known one by one cannot.
    pub(crate) fn verify(
        &self,
        samples: &Samples,
        (object, offset): (u32, u64),
        bytes: &[u8],
    ) -> Result<bool, Mismatch> {
        if bytes.is_empty() {
            return Ok(false);
        }
        let (payload, lead_bytes, sizes) = match self {
            Self::Objects { seed } => return payload::verify(*seed, object, offset, bytes).map(|()| true),
            Self::Samples { payload, lead_bytes, sizes } => (payload, *lead_bytes, sizes),
        };
        let end = offset.saturating_add(bytes.len() as u64);
        let mut checked = false;
        // Clipped on both sides: a block may begin inside one sample and end inside another, and the places of
        // neighbours say nothing of the header between them.
        let mut check = |number: u64, place: Extent| {
            let begins = place.offset.saturating_add(lead_bytes);
            let ends = begins.saturating_add(sizes.at(number)).min(place.offset.saturating_add(place.bytes));
            let (from, to) = (begins.max(offset), ends.min(end));
            if from >= to {
                return Ok(());
            }
            checked = true;
            let part = &bytes[(from - offset) as usize..(to - offset) as usize];
            let wrong = |at| Mismatch { object, offset: begins + at };
            payload.verify(number, from - begins, part).map_err(wrong)
        };
        match samples {
            // A file's place has no end here, since its size is known by the samples' sizes.
            Samples::Objects => check(u64::from(object), Extent { object, offset: 0, bytes: u64::MAX })?,
            Samples::Even(even) => {
                let stride_bytes = even.stride_bytes.max(1);
                // By division, not by looking through the samples before it: a check must cost the same at every
                // offset, as it is made while the warm-up reads.
                let first = offset.saturating_sub(even.first_byte) / stride_bytes;
                let last = end.saturating_sub(even.first_byte).div_ceil(stride_bytes);
                let before = u64::from(object) * u64::from(even.per_object);
                for number in first..last.min(even.in_object(object)) {
                    check(before + number, even.extent(before + number))?;
                }
            }
            Samples::Indexed(index) if index.is_of_single_samples() => {
                for (number, place) in index.overlapping(object, offset, end) {
                    check(number, place)?;
                }
            }
            // A row group holds encoded pages, and a compressed shard a compressor's output: neither contains the
            // payload as it was filled.
            Samples::Indexed(_) | Samples::Streamed { .. } => {}
        }
        Ok(checked)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::sizes::LogNormal;
    use crate::{Data, Even, Index, Key, Objects};

    const PAYLOAD: Payload = Payload { seed: 5, compressible_percent: 30 };
    const LEAD_BYTES: u64 = 7;

    /// Two shards of samples behind headers of `0xee`, with padding of the same.
    fn shards(sizes: SampleSizes, even: bool) -> (Data, [Vec<u8>; 2]) {
        let mut index = Index::default();
        let mut bytes = [vec![0xee; 3], vec![0xee; 3]];
        for number in 0..20_u64 {
            let object = (number / 10) as u32;
            let shard = &mut bytes[object as usize];
            let offset = shard.len() as u64;
            shard.resize(shard.len() + LEAD_BYTES as usize, 0xee);
            let mut own = vec![0; sizes.at(number) as usize];
            PAYLOAD.fill(number, 0, &mut own);
            shard.append(&mut own);
            index.push(1, &[Extent { object, offset, bytes: shard.len() as u64 - offset }]);
            shard.resize(shard.len() + 11, 0xee);
        }
        let objects = {
            let mut listed = crate::Listed::default();
            for (number, shard) in bytes.iter().enumerate() {
                listed.push(&Key::new(format!("s{number}")).unwrap(), shard.len() as u64);
            }
            Arc::new(Objects::Listed(listed))
        };
        let sample_bytes = LEAD_BYTES + sizes.at(0);
        let places = Even {
            count: 20,
            per_object: 10,
            first_byte: 3,
            stride_bytes: sample_bytes + 11,
            bytes: sample_bytes,
        };
        let samples = if even { Samples::Even(places) } else { Samples::Indexed(index) };
        let content = Content::Samples { payload: PAYLOAD, lead_bytes: LEAD_BYTES, sizes };
        (Data::new(objects, samples, Some(content)).unwrap(), bytes)
    }

    fn sizes() -> impl Strategy<Value = (SampleSizes, bool)> {
        prop_oneof![
            (1_u64..6_000, any::<bool>()).prop_map(|(bytes, even)| (SampleSizes::Equal(bytes), even)),
            (1_u64..3_000, any::<u64>())
                .prop_map(|(mean, seed)| (SampleSizes::LogNormal(LogNormal::new(mean, mean, seed)), false)),
        ]
    }

    proptest! {
        #[test]
        fn any_part_of_a_shard_is_checked_where_samples_lie_and_a_changed_byte_of_them_is_found(
            (sizes, even) in sizes(), object in 0_u32..2, from: prop::sample::Index, to: prop::sample::Index,
            changed: prop::sample::Index,
        ) {
            let (data, shards) = shards(sizes, even);
            let shard = &shards[object as usize];
            let (from, to) = (from.index(shard.len()), to.index(shard.len()));
            let (from, to) = (from.min(to), from.max(to) + 1);
            let (data_of, first) = (data.samples().clone(), u64::from(object) * 10);
            let is_own = |at: u64| (first..first + 10).any(|number| {
                let place = match &data_of {
                    Samples::Even(even) => even.extent(number),
                    Samples::Indexed(index) => index.extents(number).next().unwrap(),
                    _ => unreachable!(),
                };
                (place.offset + LEAD_BYTES..place.offset + place.bytes).contains(&at)
            });
            let has_own = (from..to).any(|at| is_own(at as u64));
            prop_assert_eq!(data.verify(object, from as u64, &shard[from..to]), Ok(has_own));
            let mut block = shard[from..to].to_vec();
            let at = changed.index(block.len());
            block[at] ^= 1;
            let offset = (from + at) as u64;
            let expected = if is_own(offset) { Err(Mismatch { object, offset }) } else { Ok(has_own) };
            prop_assert_eq!(data.verify(object, from as u64, &block), expected);
        }
    }

    #[test]
    fn samples_whose_places_are_not_known_one_by_one_are_not_checked() {
        let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 1, 100));
        let mut groups = Index::default();
        groups.push(3, &[Extent { object: 0, offset: 0, bytes: 100 }]);
        let sizes = SampleSizes::Equal(10);
        let content = Some(Content::Samples { payload: PAYLOAD, lead_bytes: 0, sizes });
        for samples in [Samples::Streamed { count: 3 }, Samples::Indexed(groups)] {
            let data = Data::new(Arc::clone(&objects), samples, content).unwrap();
            assert_eq!(data.verify(0, 0, &[1; 100]), Ok(false));
        }
    }

    #[test]
    fn a_file_may_be_compressible_payload() {
        let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 4, 9_000));
        let sizes = SampleSizes::Equal(9_000);
        let content = Some(Content::Samples { payload: PAYLOAD, lead_bytes: 0, sizes });
        let data = Data::new(objects, Samples::Objects, content).unwrap();
        let mut file = vec![0; 9_000];
        PAYLOAD.fill(2, 0, &mut file);
        assert_eq!(data.verify(2, 100, &file[100..]), Ok(true));
        assert!(data.verify(1, 0, &file).is_err());
    }
}
