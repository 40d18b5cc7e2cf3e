//! What is written is found again where arithmetic says.

use std::io::Read;

use flate2::read::GzDecoder;
use formats::{FormatError, Indexing, Samples, Stride, places, shard_bytes, stride};
use plan::{Codec, Layout, Packing};
use proptest::prelude::*;

use crate::support::{EVEN, Memory, Numbered, counted, indexed, indexed_with, packing, written};

fn sizes() -> impl Strategy<Value = Vec<u64>> {
    // Larger than what is gathered before it is written, now and then.
    let size = prop_oneof![8 => 0..2000_u64, 1 => 262_000..290_000_u64, 2 => Just(512), 1 => Just(4096)];
    proptest::collection::vec(size, 1..6)
}

proptest! {
    #[test]
    fn samples_of_unlike_sizes_lie_where_arithmetic_says(sizes in sizes(), members in 1..6_u32) {
        for layout in [Layout::WebDataset, Layout::TfRecord, Layout::Indexed] {
            let members = if layout == Layout::WebDataset { members } else { 1 };
            let packing = Packing { members, ..packing(layout) };
            let mut samples = Numbered::of(&sizes);
            let shard = written(&packing, &mut samples);
            let units = indexed(layout, &shard).unwrap();
            let mut expected = Vec::new();
            let total = places(&packing, &mut sizes.iter().copied(), &mut |offset, bytes, lead| {
                expected.push((offset, bytes, lead));
            });
            prop_assert_eq!(total, Some(shard.len() as u64));
            prop_assert_eq!(shard_bytes(&packing, &mut sizes.iter().copied()), total);
            prop_assert_eq!(units.len(), expected.len());
            for (index, ((samples_of, extents), (offset, bytes, lead))) in units.iter().zip(expected).enumerate() {
                prop_assert_eq!((*samples_of, extents.clone()), (1, vec![(offset, bytes)]));
                let content = samples.content(index as u64);
                let from = (offset + lead) as usize;
                prop_assert_eq!(&shard[from..from + content.len()], content.as_slice());
            }
        }
    }

    #[test]
    fn samples_of_one_size_lie_at_a_stride(
        size in prop_oneof![1..5000_u64, 120..132_u64, 16_370..16_390_u64],
        count in 1..9_u64,
        members in 1..5_u32,
        first in 0..u64::from(u32::MAX),
    ) {
        for layout in EVEN {
            let members = if layout == Layout::WebDataset { members } else { 1 };
            let packing = Packing { members, ..packing(layout) };
            let mut samples = Numbered { first, sizes: vec![size; count as usize] };
            let shard = written(&packing, &mut samples);
            let (found, total) = stride(&packing, size, count).unwrap();
            prop_assert_eq!(total, shard.len() as u64);
            let Stride { first_byte, stride_bytes, bytes, lead_bytes } = found;
            let starts = (0..count).map(|index| first_byte + index * stride_bytes);
            for (index, start) in starts.clone().enumerate() {
                let from = (start + lead_bytes) as usize;
                let content = samples.content(index as u64);
                prop_assert_eq!(&shard[from..from + size as usize], content.as_slice());
            }
            if layout != Layout::Zarr {
                let expected: Vec<_> = starts.map(|start| (1, vec![(start, bytes)])).collect();
                prop_assert_eq!(indexed(layout, &shard).unwrap(), expected);
            }
        }
    }

    #[test]
    fn a_packed_shard_holds_what_the_plain_one_does(sizes in sizes(), members in 1..4_u32) {
        let mut samples = Numbered::of(&sizes);
        let plain = Packing { members, ..packing(Layout::WebDataset) };
        let expected = written(&plain, &mut samples);
        for codec in [Codec::Gzip, Codec::Zstd] {
            let shard = written(&Packing { codec, ..plain }, &mut samples);
            prop_assert_eq!(unpacked(codec, &shard, expected.len()), expected.clone());
            prop_assert_eq!(counted(Layout::WebDataset, codec, &shard).unwrap(), samples.count());
        }
        let shard = written(&Packing { codec: Codec::Gzip, ..packing(Layout::TfRecord) }, &mut samples);
        let expected = written(&packing(Layout::TfRecord), &mut samples);
        prop_assert_eq!(unpacked(Codec::Gzip, &shard, 0), expected);
        prop_assert_eq!(counted(Layout::TfRecord, Codec::Gzip, &shard).unwrap(), samples.count());
    }

    #[test]
    fn row_groups_hold_every_sample_and_chosen_columns_are_a_part_of_them(
        sizes in proptest::collection::vec(0..900_u64, 1..12),
        columns in 1..5_u32,
        row_group_bytes in 1..3000_u64,
    ) {
        let packing = Packing { columns, row_group_bytes, ..packing(Layout::Parquet) };
        let mut samples = Numbered::of(&sizes);
        let shard = written(&packing, &mut samples);
        let units = indexed(Layout::Parquet, &shard).unwrap();
        let (footer, mut row) = (units[0].1[0], 0);
        prop_assert_eq!(footer.0 + footer.1, shard.len() as u64);
        let mut at = 4;
        for (group, (rows, extents)) in units.iter().enumerate() {
            let chunks = &extents[usize::from(group == 0)..];
            prop_assert_eq!(chunks.len(), columns as usize);
            for (column, (offset, bytes)) in chunks.iter().enumerate() {
                prop_assert_eq!(*offset, at);
                at += bytes;
                let values = values(&mut samples, row..row + rows, column as u64, columns.into());
                prop_assert!(shard[*offset as usize..at as usize].ends_with(&values));
            }
            row += rows;
        }
        prop_assert_eq!((at, row), (footer.0, samples.count()));
        let last = format!("c{}", columns - 1);
        let indexing = Indexing { columns: vec![last], ..Indexing::default() };
        for (group, (some, all)) in
            indexed_with(Layout::Parquet, &indexing, &shard).unwrap().iter().zip(&units).enumerate()
        {
            let head = usize::from(group == 0);
            prop_assert_eq!(some.0, all.0);
            prop_assert_eq!(&some.1[..head], &all.1[..head]);
            prop_assert_eq!(&some.1[head..], &all.1[all.1.len() - 1..]);
        }
    }
}

fn unpacked(codec: Codec, shard: &[u8], bytes: usize) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes);
    match codec {
        Codec::Zstd => drop(zstd_safe::decompress(&mut plain, shard).unwrap()),
        _ => drop(GzDecoder::new(shard).read_to_end(&mut plain).unwrap()),
    }
    plain
}

/// Plain values of one column of some rows.
fn values(samples: &mut Numbered, rows: std::ops::Range<u64>, column: u64, columns: u64) -> Vec<u8> {
    let mut values = Vec::new();
    for row in rows {
        let content = samples.content(row);
        let edge = |column: u64| (content.len() as u64 * column / columns) as usize;
        let part = &content[edge(column)..edge(column + 1)];
        values.extend((part.len() as u32).to_le_bytes());
        values.extend(part);
    }
    values
}

#[test]
fn equal_samples_make_equal_shards() {
    for layout in [Layout::WebDataset, Layout::TfRecord, Layout::Records, Layout::Indexed, Layout::Parquet] {
        let shard = || written(&packing(layout), &mut Numbered::of(&[100; 7]));
        assert_eq!(shard(), shard(), "{}", layout.name());
    }
}

#[test]
fn an_index_of_large_samples_reads_their_headers_alone() {
    let mut samples = Numbered::of(&[500_000; 8]);
    for (layout, members) in [(Layout::WebDataset, 1), (Layout::WebDataset, 3), (Layout::TfRecord, 1)] {
        let shard = written(&Packing { members, ..packing(layout) }, &mut samples);
        let mut source = Memory::new(&shard);
        formats::index(layout, &Indexing::default(), &mut source, &mut |_| {}).unwrap();
        let of_sample = source.read_bytes / 8;
        assert!(of_sample < 20_000, "{} reads {of_sample} B for each of {members}", layout.name());
    }
}

#[test]
fn what_a_layout_has_no_place_for_is_refused() {
    let refused = |packing: &Packing, sizes: &[u64]| {
        let error = formats::write(packing, &mut Numbered::of(sizes), &mut Vec::new()).unwrap_err();
        assert!(matches!(error, FormatError::Unwritable { .. }), "{error}");
    };
    refused(&packing(Layout::Records), &[5, 6]);
    refused(&packing(Layout::Zarr), &[5, 6]);
    refused(&packing(Layout::Files), &[5]);
    refused(&packing(Layout::Parquet), &[1 << 31]);
    refused(&Packing { codec: Codec::Gzip, ..packing(Layout::Parquet) }, &[5]);
    refused(&Packing { codec: Codec::Zstd, ..packing(Layout::TfRecord) }, &[5]);
    for layout in EVEN {
        let error = formats::write(&packing(layout), &mut Numbered::of(&[]), &mut Vec::new()).unwrap_err();
        assert!(matches!(error, FormatError::Empty), "{error}");
    }
}

#[test]
fn arithmetic_has_no_place_for_what_takes_writing() {
    assert_eq!(stride(&packing(Layout::Parquet), 10, 10), None);
    assert_eq!(stride(&Packing { codec: Codec::Zstd, ..packing(Layout::WebDataset) }, 10, 10), None);
    assert_eq!(stride(&packing(Layout::Records), 10, 0), None);
    assert_eq!(shard_bytes(&packing(Layout::Records), &mut [10, 11].into_iter()), None);
    for layout in EVEN {
        assert_eq!(stride(&packing(layout), u64::MAX / 2, 3), None, "{}", layout.name());
        assert_eq!(stride(&packing(layout), u64::MAX, 3), None, "{}", layout.name());
    }
}
