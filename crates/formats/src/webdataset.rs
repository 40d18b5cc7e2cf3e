//! tar shards as WebDataset reads them: the members of a sample follow one another, and their names are equal up to the
//! first dot.

mod names;
mod walk;

use std::io::Write as _;

use tar::{EntryType, Header};

use crate::error::FormatError;
use crate::pen::Pen;
use crate::shard::{Footprint, Samples, label};

pub(crate) use walk::walk;

/// Of a header, and what everything is rounded up to.
pub(crate) const BLOCK_BYTES: u64 = 512;

/// Two empty blocks end an archive.
pub(crate) const TAIL_BYTES: u64 = 2 * BLOCK_BYTES;

/// What is read of a sample: headers, bytes and padding of all its members. Each small member fits one block.
pub(crate) fn place(members: u32, sample_bytes: u64) -> Option<Footprint> {
    let small_bytes = u64::from(members.max(1) - 1) * 2 * BLOCK_BYTES;
    let bytes = sample_bytes.checked_next_multiple_of(BLOCK_BYTES)?.checked_add(BLOCK_BYTES + small_bytes)?;
    Some(Footprint { bytes, step_bytes: bytes, lead_bytes: BLOCK_BYTES })
}

/// Writes a shard: for sample 7 `000000007.bin`, which is the sample, then as many as there are `members` of
/// `000000007.cls` (a label), `000000007.json`, `000000007.m3` and so on.
pub(crate) fn write(members: u32, samples: &mut dyn Samples, pen: &mut Pen<'_>) -> Result<(), FormatError> {
    let mut header = header();
    let (mut name, mut small) = (Vec::new(), Vec::new());
    let suffixes: Vec<String> = (1..members).map(suffix).collect();
    for index in 0..samples.count() {
        let (number, bytes) = (samples.number(index), samples.bytes(index));
        named(&mut header, &mut name, number, "bin", bytes)?;
        pen.put(header.as_bytes())?;
        pen.sample(samples, index, 0, bytes)?;
        pen.align(BLOCK_BYTES)?;
        for (suffix, member) in suffixes.iter().zip(1..) {
            small.clear();
            match member {
                1 => write!(small, "{}", label(number))?,
                2 => write!(small, "{{\"key\":\"{number:09}\",\"label\":{}}}", label(number))?,
                _ => write!(small, "{number:09}")?,
            }
            named(&mut header, &mut name, number, suffix, small.len() as u64)?;
            pen.put(header.as_bytes())?;
            pen.put(&small)?;
            pen.align(BLOCK_BYTES)?;
        }
    }
    Ok(pen.zeros(TAIL_BYTES)?)
}

/// What the name of a small member ends with.
fn suffix(member: u32) -> String {
    match member {
        1 => "cls".to_owned(),
        2 => "json".to_owned(),
        _ => format!("m{member}"),
    }
}

/// A header that is the same on every machine and at every time.
fn header() -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    // `tar` would stamp the present: equal datasets must be equal bytes, or a kept shard would not be the one that is
    // planned.
    header.set_mtime(0);
    header
}

fn named(
    header: &mut Header,
    name: &mut Vec<u8>,
    number: u64,
    suffix: &str,
    bytes: u64,
) -> Result<(), FormatError> {
    name.clear();
    write!(name, "{number:09}.{suffix}")?;
    // `Header::set_path` goes through `Path` and allocates for each member; names are known to fit here.
    let field = &mut header.as_old_mut().name;
    field.fill(0);
    field[..name.len()].copy_from_slice(name);
    header.set_size(bytes);
    header.set_cksum();
    Ok(())
}
