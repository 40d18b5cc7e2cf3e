//! Shards that are torn, damaged, or made to hurt.

use formats::{FormatError, Indexing};
use plan::{Codec, Layout, Packing, Words as _};
use tar::{EntryType, Header};

use crate::support::{Memory, Numbered, counted, indexed, indexed_with, packing, written};

const STREAMED: [Layout; 2] = [Layout::WebDataset, Layout::TfRecord];

fn three(layout: Layout) -> Vec<u8> {
    written(&packing(layout), &mut Numbered::of(&[600; 3]))
}

fn truncated(layout: Layout, bytes: &[u8]) -> (&'static str, u64) {
    match indexed(layout, bytes).unwrap_err() {
        FormatError::Truncated { what, offset, needed_bytes, left_bytes } => {
            assert!(needed_bytes > left_bytes);
            (what, offset)
        }
        error => panic!("{error}"),
    }
}

fn malformed(layout: Layout, bytes: &[u8]) -> String {
    let error = indexed(layout, bytes).unwrap_err();
    assert!(matches!(error, FormatError::Malformed { .. }), "{error}");
    error.to_string()
}

fn member(path: &str, kind: EntryType, size: u64, data: &[u8]) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_cksum();
    let padding = data.len().next_multiple_of(512) - data.len();
    [header.as_bytes().as_slice(), data, &vec![0; padding]].concat()
}

#[test]
fn a_shard_cut_at_any_place_is_torn_or_ends_between_samples() {
    for layout in STREAMED {
        let shard = three(layout);
        let units = indexed(layout, &shard).unwrap();
        for end in 1..shard.len() {
            match indexed(layout, &shard[..end]) {
                Ok(found) => {
                    let (from, bytes) = found.last().unwrap().1[0];
                    assert!(units.starts_with(&found) && (from + bytes) as usize <= end);
                }
                Err(FormatError::Truncated { offset, left_bytes, .. }) => {
                    assert_eq!(offset + left_bytes, end as u64);
                }
                Err(error) => panic!("{} cut at {end}: {error}", layout.name()),
            }
        }
    }
}

#[test]
fn a_torn_array_or_table_names_what_was_cut() {
    let shard = three(Layout::Records);
    assert_eq!(truncated(Layout::Records, &shard[..shard.len() - 1]), ("array", 4096));
    assert_eq!(truncated(Layout::Records, &shard[..2000]), ("npy header", 10));
    let shard = three(Layout::Indexed);
    assert_eq!(truncated(Layout::Indexed, &shard[..shard.len() - 1]), ("table", 4 * 4096));
    let shard = three(Layout::Parquet);
    assert!(malformed(Layout::Parquet, &shard[..shard.len() - 1]).contains("cut off"));
}

#[test]
fn a_wrong_checksum_is_named_with_what_it_is_of() {
    let edited = |layout: Layout, at: usize| {
        let mut shard = three(layout);
        shard[at] ^= 1;
        match indexed(layout, &shard).unwrap_err() {
            FormatError::Checksum { what, offset } => (what, offset),
            error => panic!("{error}"),
        }
    };
    let record = indexed(Layout::TfRecord, &three(Layout::TfRecord)).unwrap()[1].1[0].0;
    assert_eq!(edited(Layout::TfRecord, record as usize), ("length of a record", record));
    assert_eq!(edited(Layout::TfRecord, record as usize + 100), ("data of a record", record));
    assert_eq!(edited(Layout::Indexed, 17), ("header", 0));
    assert_eq!(edited(Layout::Indexed, 4 * 4096 + 3), ("table", 4 * 4096));
    let second = 512 + 1024;
    assert_eq!(edited(Layout::WebDataset, second + 5), ("tar header", second as u64));
}

#[test]
fn data_are_checked_as_far_as_was_asked_for() {
    let mut shard = three(Layout::TfRecord);
    let record = indexed(Layout::TfRecord, &shard).unwrap()[1].1[0].0;
    shard[record as usize + 100] ^= 1;
    let of = |checked_records| {
        let indexing = Indexing { checked_records, ..Indexing::default() };
        indexed_with(Layout::TfRecord, &indexing, &shard)
    };
    assert_eq!(of(1).unwrap().len(), 3);
    assert!(matches!(of(2).unwrap_err(), FormatError::Checksum { .. }));
}

#[test]
fn sizes_that_no_file_has_are_checked_against_what_is_left() {
    for size in [1 << 33, 1 << 63, u64::MAX - 1000, u64::MAX] {
        let shard = member("a.bin", EntryType::Regular, size, &[1; 100]);
        assert_eq!(truncated(Layout::WebDataset, &shard), ("member", 512));
        let error = counted(Layout::WebDataset, Codec::None, &shard).unwrap_err();
        assert!(matches!(error, FormatError::Truncated { what: "member", .. }), "{error}");
        let long = member("././@LongLink", EntryType::GNULongName, size, &[1; 100]);
        assert!(malformed(Layout::WebDataset, &long).contains("longer than any"));
        let body = format!("{} size={size}\n", 9 + size.to_string().len());
        let pax = member("pax", EntryType::XHeader, body.len() as u64, body.as_bytes());
        let shard = [pax, member("a.bin", EntryType::Regular, 5, b"hello")].concat();
        assert_eq!(truncated(Layout::WebDataset, &shard), ("member", 3 * 512));
        assert_eq!(truncated(Layout::TfRecord, &record(size)), ("record", 12));
    }
}

/// A record that says it has so many bytes, with the checksum of that.
fn record(length: u64) -> Vec<u8> {
    let length = length.to_le_bytes();
    let crc = crc_fast::crc32_iscsi(&length).rotate_right(15).wrapping_add(0xa282_ead8);
    [length.as_slice(), &crc.to_le_bytes(), &[0; 50]].concat()
}

/// A shard of one record with this table entry, and checksums that hold.
fn table(count: u64, offset: u64, bytes: u64) -> Vec<u8> {
    let head = [
        b"FLINDEX1".as_slice(),
        &1_u32.to_le_bytes(),
        &4096_u32.to_le_bytes(),
        &count.to_le_bytes(),
        &8192_u64.to_le_bytes(),
    ]
    .concat();
    let mut shard = [head.as_slice(), &crc_fast::crc32_iscsi(&head).to_le_bytes()].concat();
    shard.resize(8192, 0);
    let entry = [offset.to_le_bytes(), bytes.to_le_bytes()].concat();
    [shard, entry.clone(), crc_fast::crc32_iscsi(&entry).to_le_bytes().to_vec()].concat()
}

#[test]
fn a_table_that_points_past_the_end_is_refused() {
    assert_eq!(indexed(Layout::Indexed, &table(1, 4096, 4000)).unwrap(), [(1, vec![(4096, 4096)])]);
    for (offset, bytes) in [(8192, 1), (4096, 4097), (4096, u64::MAX), (!4095, 1), (!4095, u64::MAX)] {
        assert_eq!(truncated(Layout::Indexed, &table(1, offset, bytes)), ("record", offset));
    }
    for offset in [0, 1, 4097] {
        assert!(malformed(Layout::Indexed, &table(1, offset, 1)).contains("where none begins"));
    }
    for count in [2, 1 << 60, u64::MAX] {
        assert_eq!(truncated(Layout::Indexed, &table(count, 4096, 1)), ("table", 8192));
    }
}

#[test]
fn an_array_larger_than_its_file_is_refused() {
    let array = |shape: &str| {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        let length = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), &[0; 64]].concat()
    };
    assert_eq!(indexed(Layout::Records, &array("(4, 4)")).unwrap().len(), 4);
    assert_eq!(truncated(Layout::Records, &array("(4, 5)")).0, "array");
    assert_eq!(truncated(Layout::Records, &array("(4611686018427387903,)")).0, "array");
    for shape in ["(9223372036854775808, 2)", "(2, 9223372036854775808, 2)"] {
        assert!(malformed(Layout::Records, &array(shape)).contains("no file"), "{shape}");
    }
    assert!(malformed(Layout::Records, &array("()")).contains("without an axis"));
    let long = [b"\x93NUMPY\x02\x00".as_slice(), &u32::MAX.to_le_bytes(), &[0; 64]].concat();
    assert!(malformed(Layout::Records, &long).contains("a header of"));
}

#[test]
fn a_shard_without_samples_is_empty() {
    let folder = member("folder/", EntryType::Directory, 0, b"");
    let array = b"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7), }";
    let array = [b"\x93NUMPY\x01\x00\x3b\x00".as_slice(), array].concat();
    for (layout, bytes) in [
        (Layout::WebDataset, vec![0; 1024]),
        (Layout::WebDataset, [folder, vec![0; 1024]].concat()),
        (Layout::TfRecord, Vec::new()),
        (Layout::Indexed, table(0, 0, 0)),
        (Layout::Records, array),
        (Layout::Parquet, [b"PAR1\x00".as_slice(), &1_u32.to_le_bytes(), b"PAR1"].concat()),
    ] {
        let error = indexed(layout, &bytes).unwrap_err();
        assert!(matches!(error, FormatError::Empty), "{}: {error}", layout.name());
    }
    let error = counted(Layout::WebDataset, Codec::Zstd, &[]).unwrap_err();
    assert!(matches!(error, FormatError::Empty), "{error}");
}

#[test]
fn a_footer_that_lies_is_refused() {
    // A row group of one row, whose one chunk has the bytes 9 of `data_page_offset` and 7 of its size.
    let file = |data_page: &[u8], size: &[u8]| {
        let chunk = [&[0x3c, 0x76], size, &[0x26], data_page, &[0, 0]].concat();
        let footer = [&[0x49, 0x1c, 0x19, 0x1c], chunk.as_slice(), &[0x26, 2, 0, 0]].concat();
        let length = footer.len() as u32;
        [b"PAR1....".as_slice(), &footer, &length.to_le_bytes(), b"PAR1"].concat()
    };
    let bytes = file(&[8], &[8]);
    assert_eq!(indexed(Layout::Parquet, &bytes).unwrap(), [(1, vec![(8, bytes.len() as u64 - 8), (4, 4)])]);
    let huge = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    assert_eq!(truncated(Layout::Parquet, &file(&[8], &[10])).0, "column chunk");
    assert_eq!(truncated(Layout::Parquet, &file(&huge, &huge)).0, "column chunk");
    assert!(malformed(Layout::Parquet, &file(&[7], &[8])).contains("negative"));
    assert!(malformed(Layout::Parquet, &file(&[8], &[0])).contains("without bytes"));
    let long = [b"PAR1".as_slice(), &u32::MAX.to_le_bytes(), b"PAR1"].concat();
    assert!(malformed(Layout::Parquet, &long).contains("a footer of"));
    let deep = [b"PAR1".as_slice(), &vec![0x1c; 100_000], &100_000_u32.to_le_bytes(), b"PAR1"].concat();
    assert!(malformed(Layout::Parquet, &deep).contains("without end"));
    let lists = [b"PAR1".as_slice(), &[0x19, 0xf5, 0xff, 0xff, 0xff, 0x7f], &6_u32.to_le_bytes(), b"PAR1"];
    assert!(malformed(Layout::Parquet, &lists.concat()).contains("ends inside"));
}

#[test]
fn names_that_climb_are_grouped_and_nothing_else() {
    let shard = [
        member("../../etc/passwd.a", EntryType::Regular, 1, b"x"),
        member("../../etc/passwd.b", EntryType::Regular, 1, b"x"),
        member("/absolute.a", EntryType::Regular, 1, b"x"),
        member("/absolute", EntryType::Symlink, 700, b""),
    ]
    .concat();
    assert_eq!(indexed(Layout::WebDataset, &shard).unwrap(), [(1, vec![(0, 2048)]), (1, vec![(2048, 1024)])]);
}

#[test]
fn what_belongs_to_no_sample_is_left_out() {
    let shard = [
        member("folder", EntryType::Directory, 0, b""),
        member("README", EntryType::Regular, 3, b"abc"),
        member("a.x", EntryType::Regular, 0, b""),
        member("b.x", EntryType::Regular, 513, &[1; 513]),
        member("fifo.x", EntryType::Fifo, 0, b""),
        member("b.y", EntryType::Regular, 1, b"1"),
        member("__meta__/x.json", EntryType::Regular, 2, b"{}"),
        member("b", EntryType::Regular, 1, b"1"),
    ]
    .concat();
    let units = indexed(Layout::WebDataset, &shard).unwrap();
    assert_eq!(units, [(1, vec![(1536, 512)]), (1, vec![(2048, 512 + 1024 + 512 + 1024)])]);
    let sparse = member("a.x", EntryType::GNUSparse, 0, b"");
    assert!(malformed(Layout::WebDataset, &sparse).contains("sparse"));
}

#[test]
fn another_layout_is_told_from_a_damaged_one() {
    for layout in [Layout::WebDataset, Layout::TfRecord, Layout::Records, Layout::Indexed, Layout::Parquet] {
        for other in [Layout::WebDataset, Layout::TfRecord, Layout::Records, Layout::Indexed, Layout::Parquet]
        {
            if layout != other {
                let error = malformed(layout, &three(other));
                assert!(error.starts_with(&format!("it is no {}", layout.name())), "{error}");
            }
        }
    }
    let mixed = [three(Layout::TfRecord), three(Layout::WebDataset)].concat();
    let error = indexed(Layout::TfRecord, &mixed).unwrap_err();
    assert!(matches!(error, FormatError::Checksum { .. }), "{error}");
    let error = indexed(Layout::Zarr, &three(Layout::Zarr)).unwrap_err();
    assert!(error.to_string().contains("zarr.json"), "{error}");
}

#[test]
fn a_bomb_is_stopped_at_the_ratio_that_was_given() {
    let bomb =
        [member("a.bin", EntryType::Regular, 40_000_000, &vec![0; 40_000_000]), vec![0; 1024]].concat();
    let mut gzip = flate2::read::GzEncoder::new(bomb.as_slice(), flate2::Compression::fast());
    let mut packed = Vec::new();
    std::io::Read::read_to_end(&mut gzip, &mut packed).unwrap();
    let mut zstd = vec![0; zstd_safe::compress_bound(bomb.len())];
    let length = zstd_safe::compress(zstd.as_mut_slice(), &bomb, 3).unwrap();
    for (codec, packed) in [(Codec::Gzip, packed.as_slice()), (Codec::Zstd, &zstd[..length])] {
        let of = |ratio| {
            let mut source = Memory::new(packed);
            (formats::count(Layout::WebDataset, codec, &mut source, ratio), source.read_bytes)
        };
        let (error, read_bytes) = of(20);
        assert!(matches!(error, Err(FormatError::Expands { ratio: 20, .. })), "{error:?}");
        // Deflate gives a thousandfold: what was read is no more than the limit asks for, and a buffer.
        assert!(codec == Codec::Zstd || read_bytes < packed.len() as u64, "{read_bytes} B");
        assert_eq!(of(100_000).0.unwrap(), 1);
    }
}

#[test]
fn a_torn_or_damaged_stream_is_no_shard() {
    for codec in [Codec::Gzip, Codec::Zstd] {
        let packing = Packing { codec, ..packing(Layout::WebDataset) };
        let shard = written(&packing, &mut Numbered::of(&[600; 3]));
        for end in [1, 4, 20, shard.len() / 2, shard.len() - 1] {
            let error = counted(Layout::WebDataset, codec, &shard[..end]).unwrap_err();
            let is_torn = matches!(error, FormatError::Truncated { .. } | FormatError::Malformed { .. });
            assert!(is_torn, "{} cut at {end}: {error}", codec.name());
        }
        let mut damaged = shard.clone();
        let last = damaged.len() - 1;
        damaged[last] ^= 0x55;
        let error = counted(Layout::WebDataset, codec, &damaged).unwrap_err();
        assert!(error.to_string().contains(codec.name()), "{error}");
        let twice = [shard.as_slice(), &shard].concat();
        assert_eq!(counted(Layout::WebDataset, codec, &twice).unwrap(), 3, "a reader stops at the end");
    }
}

#[test]
fn a_storage_that_fails_is_no_fault_of_the_shard() {
    struct Failing;
    impl formats::Source for Failing {
        fn bytes(&self) -> u64 {
            1 << 30
        }
        fn read_exact_at(&mut self, _: u64, _: &mut [u8]) -> std::io::Result<()> {
            Err(std::io::ErrorKind::UnexpectedEof.into())
        }
    }
    for layout in Layout::ALL.iter().copied() {
        if !matches!(layout, Layout::Files | Layout::Zarr) {
            let indexed = formats::index(layout, &Indexing::default(), &mut Failing, &mut |_| {});
            assert!(matches!(indexed, Err(FormatError::Io(_))), "{}", layout.name());
        }
    }
    for codec in [Codec::None, Codec::Gzip, Codec::Zstd] {
        let counted = formats::count(Layout::TfRecord, codec, &mut Failing, 10);
        assert!(matches!(counted, Err(FormatError::Io(_))), "{}", codec.name());
    }
}
