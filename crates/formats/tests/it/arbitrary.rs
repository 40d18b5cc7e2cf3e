//! No bytes make an index panic, or say that something lies where the shard does not.

use std::sync::LazyLock;

use formats::{FormatError, Indexing};
use plan::{Codec, Layout, Packing, Words as _};
use proptest::prelude::*;

use crate::support::{Numbered, counted, indexed_with, packing, written};

/// Every layout over any bytes: whatever is found lies inside, and the index ends.
fn looked_at(bytes: &[u8]) {
    for layout in Layout::ALL.iter().copied() {
        for (columns, checked_records) in [(vec![], 0), (vec!["c0".to_owned()], u64::MAX)] {
            let indexing = Indexing { columns, checked_records };
            let Ok(units) = indexed_with(layout, &indexing, bytes) else { continue };
            assert!(!units.is_empty());
            for (samples, extents) in units {
                assert!(samples > 0 && !extents.is_empty());
                for (offset, length) in extents {
                    assert!(offset.checked_add(length).unwrap() <= bytes.len() as u64);
                }
            }
        }
        for codec in [Codec::None, Codec::Gzip, Codec::Zstd] {
            assert_ne!(counted(layout, codec, bytes).ok(), Some(0));
        }
    }
}

static SHARDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(shards);

fn shards() -> Vec<Vec<u8>> {
    let mut shards = Vec::new();
    for layout in [
        Layout::WebDataset,
        Layout::TfRecord,
        Layout::Records,
        Layout::Indexed,
        Layout::Parquet,
        Layout::Hdf5,
    ] {
        for codec in [Codec::None, Codec::Gzip, Codec::Zstd] {
            let packing = Packing { codec, members: 2, columns: 2, ..packing(layout) };
            let mut shard = Vec::new();
            match formats::write(&packing, &mut Numbered::of(&[300; 5]), &mut shard) {
                Err(FormatError::Unwritable { .. }) => {}
                other => {
                    other.unwrap();
                    shards.push(shard);
                }
            }
        }
    }
    shards
}

proptest! {
    #[test]
    fn any_bytes_are_looked_at(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        looked_at(&bytes);
        for magic in [&b"\x93NUMPY\x01\x00\x40\x00"[..], b"FLINDEX1", b"PAR1", &[0x1f, 0x8b, 8, 0], &[0x28, 0xb5, 0x2f, 0xfd]] {
            looked_at(&[magic, &bytes].concat());
        }
        let length = (bytes.len() as u32).to_le_bytes();
        looked_at(&[b"PAR1", bytes.as_slice(), &length, b"PAR1"].concat());
    }

    #[test]
    fn any_edit_of_a_shard_is_looked_at(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        by in proptest::collection::vec(any::<u8>(), 0..12),
        removed in 0..12_usize,
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let shard = which.get(SHARDS.as_slice());
        let from = at.index(shard.len());
        let until = (from + removed).min(shard.len());
        let edited = [&shard[..from], &by, &shard[until..]].concat();
        looked_at(&edited[..end.map_or(edited.len(), |end| end.index(edited.len().max(1)))]);
    }

    #[test]
    fn any_footer_within_a_parquet_file_is_looked_at(
        at in any::<prop::sample::Index>(),
        by in proptest::collection::vec(any::<u8>(), 1..6),
    ) {
        let packing = Packing { columns: 3, ..packing(Layout::Parquet) };
        let mut shard = written(&packing, &mut Numbered::of(&[300; 9]));
        let end = shard.len() - 8;
        let length = u32::from_le_bytes(shard[end..end + 4].try_into().unwrap()) as usize;
        let from = end - length + at.index(length);
        for (byte, new) in shard[from..end].iter_mut().zip(&by) {
            *byte = *new;
        }
        looked_at(&shard);
    }
}
