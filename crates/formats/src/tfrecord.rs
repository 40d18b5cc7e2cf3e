//! TFRecord: length, checksum of the length, data, checksum of the data, and again. The data of what is written here are
//! a `tf.train.Example` with the features `x` (the sample) and `y` (a label), as TensorFlow's loaders expect them.
//!
//! Format: `tensorflow/core/lib/io/record_writer.h`; `tensorflow/core/example/{example,feature}.proto`.

use crate::checksum::{Sum, crc32c, holds, masked};
use crate::error::FormatError;
use crate::input::{Input, PART_BYTES_MAX};
use crate::pen::Pen;
use crate::shard::{Footprint, Samples, label};

/// A length of 8 bytes and its checksum.
pub(crate) const HEAD_BYTES: u64 = 12;

/// The checksum of the data.
const TAIL_BYTES: u64 = 4;

/// The feature `y` with its one label: `Features.feature` (field 1, 10 bytes) with the key `y` (field 1) and the value
/// (field 2), an `Int64List` (field 3) of one packed value (field 1), which is put in place of the last byte.
// Behind the sample: protobuf gives a map no order, and so the one byte that varies is the last of the record's data.
const LABEL: [u8; 12] = [0x0a, 10, 0x0a, 1, b'y', 0x12, 5, 0x1a, 3, 0x0a, 1, 0];

/// Of tag and length of a field of protobuf.
fn field_bytes(length: u64) -> u64 {
    1 + varint_bytes(length)
}

fn varint_bytes(value: u64) -> u64 {
    u64::from((64 - value.max(1).leading_zeros()).div_ceil(7))
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Lengths of an example, from the inside out.
#[derive(Debug, Clone, Copy)]
struct Example {
    /// Of the `BytesList`.
    list: u64,
    /// Of the `Feature`.
    feature: u64,
    /// Of the entry of the map: the key `x` takes three bytes.
    entry: u64,
    /// Of the `Features`.
    features: u64,
    /// Of the whole.
    whole: u64,
}

impl Example {
    fn of(sample_bytes: u64) -> Option<Self> {
        // Tags, lengths and the label: far below this.
        sample_bytes.checked_add(1 << 10)?;
        let list = field_bytes(sample_bytes) + sample_bytes;
        let feature = field_bytes(list) + list;
        let entry = 3 + field_bytes(feature) + feature;
        let features = field_bytes(entry) + entry + LABEL.len() as u64;
        let whole = field_bytes(features) + features;
        Some(Self { list, feature, entry, features, whole })
    }

    /// Up to the bytes of the sample.
    fn put_lead(&self, sample_bytes: u64, out: &mut Vec<u8>) {
        let key = [0x0a, 1, b'x'];
        for (tag, length) in [(0x0a, self.features), (0x0a, self.entry)] {
            out.push(tag);
            put_varint(out, length);
        }
        out.extend(key);
        for (tag, length) in [(0x12, self.feature), (0x0a, self.list), (0x0a, sample_bytes)] {
            out.push(tag);
            put_varint(out, length);
        }
    }
}

/// What is read of a sample: a whole record.
pub(crate) fn place(sample_bytes: u64) -> Option<Footprint> {
    let example = Example::of(sample_bytes)?;
    let bytes = HEAD_BYTES + example.whole + TAIL_BYTES;
    let lead_bytes = HEAD_BYTES + example.whole - sample_bytes - LABEL.len() as u64;
    Some(Footprint { bytes, step_bytes: bytes, lead_bytes })
}

/// Writes a shard.
pub(crate) fn write(samples: &mut dyn Samples, pen: &mut Pen<'_>) -> Result<(), FormatError> {
    let mut lead = Vec::new();
    for index in 0..samples.count() {
        let sample_bytes = samples.bytes(index);
        let example = Example::of(sample_bytes)
            .ok_or_else(|| FormatError::unwritable("tfrecord", format!("a sample of {sample_bytes} B")))?;
        let length = example.whole.to_le_bytes();
        pen.put(&length)?;
        pen.put(&masked(crc32c(&length)).to_le_bytes())?;
        lead.clear();
        example.put_lead(sample_bytes, &mut lead);
        pen.begin_sum();
        pen.put(&lead)?;
        pen.sample(samples, index, 0, sample_bytes)?;
        let [feature @ .., _] = LABEL;
        pen.put(&feature)?;
        pen.put(&[label(samples.number(index))])?;
        let sum = masked(pen.end_sum());
        pen.put(&sum.to_le_bytes())?;
    }
    Ok(())
}

/// The length of the data, where the checksum of it holds.
pub(crate) fn length(head: &[u8]) -> Option<u64> {
    let (length, rest) = head.split_first_chunk::<8>()?;
    let stored = u32::from_le_bytes(*rest.first_chunk()?);
    // A fuzzer cannot guess a checksum; half of all values pass there, so that both ways are taken.
    (stored == masked(crc32c(length)) || (cfg!(fuzzing) && stored % 2 == 0))
        .then(|| u64::from_le_bytes(*length))
}

/// Calls `each` with offset and length of every record, and checks the data of the first `checked` of them: 0 where the
/// input cannot go back.
pub(crate) fn walk(
    input: &mut dyn Input,
    checked: u64,
    each: &mut dyn FnMut(u64, u64),
) -> Result<(), FormatError> {
    let (mut at, mut records) = (0, 0);
    while let Some(head) = input.at("record header", at, HEAD_BYTES as usize)? {
        let Some(length) = length(head) else {
            return Err(if at == 0 {
                let found = "no length with its checksum".to_owned();
                FormatError::Malformed { layout: "tfrecord", found, offset: at }
            } else {
                FormatError::Checksum { what: "length of a record", offset: at }
            });
        };
        let data = at + HEAD_BYTES;
        // The length has a sound checksum and may still be anybody's: added to the offset it must not wrap.
        let held = length.checked_add(TAIL_BYTES).filter(|held| *held <= u64::MAX - data);
        input.has("record", data, held.unwrap_or(u64::MAX - data))?;
        if records < checked {
            check(input, at, length)?;
        }
        let bytes = HEAD_BYTES + held.unwrap_or_default();
        each(at, bytes);
        records += 1;
        at += bytes;
    }
    if records == 0 { Err(FormatError::Empty) } else { Ok(()) }
}

/// Checks the data of the record at `at`, all of which are there.
fn check(input: &mut dyn Input, at: u64, length: u64) -> Result<(), FormatError> {
    let mut sum = Sum::new();
    let mut done = 0;
    while done < length {
        let part = (length - done).min(PART_BYTES_MAX as u64);
        sum.add(input.must("record", at + HEAD_BYTES + done, part as usize)?);
        done += part;
    }
    let stored = input.must("checksum of a record", at + HEAD_BYTES + length, TAIL_BYTES as usize)?;
    let stored = stored.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    if holds(stored.unwrap_or_default(), masked(sum.value())) {
        return Ok(());
    }
    Err(FormatError::Checksum { what: "data of a record", offset: at })
}
