//! Files of HDF5 that are written: found again by the reader of anybody's files, and as h5py has them.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;

use flate2::read::ZlibDecoder;
use formats::{FormatError, Samples};
use plan::{Codec, Layout, Packing};
use proptest::prelude::*;

use crate::support::{Numbered, indexed, packing, written};

/// Where the chunks begin.
const HEAD: u64 = 4096;

/// Bytes of a node of the index, and children that it has at most.
const NODE: usize = 2616;
const CHILDREN: usize = 64;

fn of(codec: Codec) -> Packing {
    Packing { codec, ..packing(Layout::Hdf5) }
}

/// Writes samples, and holds every one that is found against what was written.
fn there_and_back(codec: Codec, samples: &mut Numbered) {
    let shard = written(&of(codec), samples);
    let units = indexed(Layout::Hdf5, &shard).unwrap();
    assert_eq!(units.len() as u64, samples.count());
    let mut at = HEAD;
    for (index, (count, extents)) in units.into_iter().enumerate() {
        let [(offset, bytes)] = extents[..] else { panic!("{extents:?}") };
        assert_eq!((count, offset), (1, at), "sample {index}");
        at += bytes;
        let stored = &shard[offset as usize..at as usize];
        assert_eq!(unpacked(codec, stored), samples.content(index as u64), "sample {index}");
    }
    let index = shard.len() - at as usize;
    assert_eq!(index, NODE * nodes(samples.count() as usize), "{} samples", samples.count());
}

fn unpacked(codec: Codec, stored: &[u8]) -> Vec<u8> {
    if codec == Codec::None {
        return stored.to_vec();
    }
    let (mut plain, mut decoder) = (Vec::new(), ZlibDecoder::new(stored));
    decoder.read_to_end(&mut plain).unwrap();
    assert_eq!(decoder.total_in(), stored.len() as u64);
    plain
}

fn nodes(below: usize) -> usize {
    let level = below.div_ceil(CHILDREN);
    if level == 1 { 1 } else { level + nodes(level) }
}

#[test]
fn a_node_two_levels_and_three_of_them_lead_to_every_sample() {
    for count in [1, 2, 63, 64, 65, 128, 129, 4095, 4096, 4097, 4096 + 65] {
        for codec in [Codec::None, Codec::Gzip] {
            there_and_back(codec, &mut Numbered::of(&vec![17; count]));
        }
    }
}

#[test]
fn samples_of_any_size_are_chunks() {
    // Beyond what is gathered before it is written, and beyond what is packed at once.
    for bytes in [1, 4096, 65_535, 65_536, 65_537, 300_000] {
        for codec in [Codec::None, Codec::Gzip] {
            there_and_back(codec, &mut Numbered::of(&[bytes; 3]));
        }
    }
}

/// Someone who asks to stop before anything is written.
struct Stopped;

impl Write for Stopped {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        panic!("written after it was stopped")
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::Error::other("stopped"))
    }
}

#[test]
fn packing_hears_that_it_is_to_stop_before_it_writes() {
    let ended = formats::write(&of(Codec::Gzip), &mut Numbered::of(&[17; 3]), &mut Stopped);
    assert!(matches!(&ended, Err(FormatError::Io(error)) if error.to_string() == "stopped"), "{ended:?}");
}

proptest! {
    #[test]
    fn whatever_is_written_is_found(
        size in prop_oneof![1..300_u64, 65_530..65_545_u64],
        count in 1..200_usize,
        first in 0..u64::from(u32::MAX),
        is_packed in any::<bool>(),
    ) {
        let count = if size > 300 { count.min(5) } else { count };
        let codec = if is_packed { Codec::Gzip } else { Codec::None };
        there_and_back(codec, &mut Numbered { first, sizes: vec![size; count] });
    }
}

/// A file of the same shape, as h5py wrote it with its defaults; see `fixtures/make.py`.
fn by_h5py(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hdf5").join(name)).unwrap()
}

fn without(bytes: &[u8], places: &[Range<usize>]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for place in places {
        bytes[place.clone()].fill(0);
    }
    bytes
}

/// Everything before the index and the chunks is that of h5py, to the byte, but for two addresses.
#[test]
fn the_structures_are_those_of_h5py() {
    const TREE: usize = 1400;
    for (codec, name, layout) in [(Codec::None, "records.h5", 0x390), (Codec::Gzip, "records_gzip.h5", 0x3b8)]
    {
        let (ours, theirs) = (written(&of(codec), &mut Numbered::of(&[100; 5])), by_h5py(name));
        // Where the file ends, and where the index lies.
        let addresses = [40..48, layout + 3..layout + 11];
        assert_eq!(without(&ours[..TREE], &addresses), without(&theirs[..TREE], &addresses), "{name}");
        assert!(ours[TREE..HEAD as usize].iter().all(|byte| *byte == 0));
        let (ours, theirs) = (&ours[ours.len() - NODE..], &theirs[TREE..TREE + NODE]);
        // A key of 32 bytes before each child of 8: bytes as packed, and addresses, are each writer's own.
        let own = |child: usize| {
            let key = 24 + 40 * child;
            let bytes = if codec == Codec::None { key..key } else { key..key + 4 };
            [bytes, key + 32..key + 40]
        };
        // The key above all others is any that is.
        let last = 24 + 40 * 5 + 8;
        let own: Vec<_> = (0..5).flat_map(own).chain(std::iter::once(last..last + 8)).collect();
        assert_eq!(without(ours, &own), without(theirs, &own), "{name}");
    }
}

#[test]
fn what_has_no_place_in_an_array_is_refused() {
    let refused = |codec, sizes: &[u64]| {
        let mut out = Vec::new();
        let error = formats::write(&of(codec), &mut Numbered::of(sizes), &mut out).unwrap_err();
        assert!(matches!(error, FormatError::Unwritable { layout: "hdf5", .. }), "{error}");
        assert!(out.is_empty());
        error.to_string()
    };
    for codec in [Codec::None, Codec::Gzip] {
        assert!(refused(codec, &[10, 11]).contains("samples of unlike sizes"));
        assert!(refused(codec, &[0, 0]).contains("or of none"));
        assert!(refused(codec, &[1 << 32]).contains("a chunk of 4294967296 B"));
    }
    assert!(refused(Codec::Zstd, &[10]).contains("zstd packed"));
}
