//! Shards are known by their bytes, and by their names where those say nothing.

use formats::{Foreign, detect, extension, foreign};
use plan::{Codec, Layout, Packing};
use proptest::prelude::*;

use crate::support::{Numbered, packing, written};

const LAYOUTS: [Layout; 6] =
    [Layout::WebDataset, Layout::TfRecord, Layout::Records, Layout::Indexed, Layout::Parquet, Layout::Hdf5];

fn head(shard: &[u8]) -> &[u8] {
    &shard[..shard.len().min(512)]
}

#[test]
fn every_layout_is_known_by_its_bytes_whatever_its_name() {
    for layout in LAYOUTS {
        let shard = written(&packing(layout), &mut Numbered::of(&[1000; 3]));
        for name in ["shard", "shard.jpg", "train-00000-of-00010", "x.tar"] {
            assert_eq!(detect(name, head(&shard)), Some((layout, Codec::None)), "{}", layout.name());
        }
    }
}

#[test]
fn a_packed_shard_is_known_by_what_is_inside_or_by_its_name() {
    for (layout, codec) in [
        (Layout::WebDataset, Codec::Gzip),
        (Layout::WebDataset, Codec::Zstd),
        (Layout::TfRecord, Codec::Gzip),
    ] {
        let shard = written(&Packing { codec, ..packing(layout) }, &mut Numbered::of(&[1000; 3]));
        let name = format!("a.b/shard{}", extension(layout, codec));
        assert_eq!(detect(&name, head(&shard)), Some((layout, codec)), "{name}");
        let bare = (codec == Codec::Gzip).then_some((layout, codec));
        assert_eq!(detect("shard", head(&shard)), bare, "{name}");
    }
    assert_eq!(detect("x.tgz", &[0x1f, 0x8b]), Some((Layout::WebDataset, Codec::Gzip)));
    assert_eq!(detect("x.npy.gz", &[0x1f, 0x8b]), None);
    assert_eq!(detect("x.npy.zst", &[0x28, 0xb5, 0x2f, 0xfd]), None);
}

#[test]
fn a_name_decides_where_the_bytes_say_nothing() {
    for (name, layout) in [
        ("A.TAR", Layout::WebDataset),
        ("a/b.tfrecords", Layout::TfRecord),
        ("a.tfrecord-00000-of-00010", Layout::TfRecord),
        ("x.npy", Layout::Records),
        ("x.idx", Layout::Indexed),
        ("x.parquet", Layout::Parquet),
        ("x.h5", Layout::Hdf5),
        ("x.hdf5", Layout::Hdf5),
        ("array/zarr.json", Layout::Zarr),
    ] {
        assert_eq!(detect(name, &[0; 512]), Some((layout, Codec::None)), "{name}");
    }
    for name in ["", "tar", "x.bin", "x.tar/y", "x.tarball", "my-zarr.json"] {
        assert_eq!(detect(name, &[0; 512]), None, "{name}");
    }
}

proptest! {
    #[test]
    fn any_name_and_any_bytes_are_looked_at(name in ".*", head in proptest::collection::vec(any::<u8>(), 0..600)) {
        for magic in [&[][..], &[0x1f, 0x8b, 8, 0], &[0x28, 0xb5, 0x2f, 0xfd]] {
            let found = detect(&name, &[magic, &head].concat());
            prop_assert!(found.is_none_or(|(layout, _)| layout != Layout::Files));
        }
    }
}

#[test]
fn formats_of_many_samples_that_no_layout_reads_are_known() {
    let of = |name: &str, head: &[u8]| (detect(name, head), foreign(name, head));
    let stream = [&[0xff; 4][..], &[0x10, 1, 0, 0], &[0; 504]].concat();
    for (name, head, expected) in [
        ("data.arrow", &b"ARROW1\0\0...."[..], Foreign::Arrow),
        ("data.feather", b"FEA1....", Foreign::Arrow),
        ("d/data-00000-of-00002.arrow", &stream[..], Foreign::Arrow),
        ("images/.zarray", b"{\"zarr_format\": 2}", Foreign::ZarrV2),
        (".zgroup", b"{}", Foreign::ZarrV2),
    ] {
        assert_eq!(of(name, head), (None, Some(expected)), "{name}");
    }
    // The end of a magic may be cut, and names alone prove nothing.
    for (name, head) in [
        ("climate.nc", &b"\x89HDF\r\n\x1a"[..]),
        ("a.jpg", &stream[..]),
        ("a.arrow", b"ARROW"),
        ("a.zarray", b"{}"),
        ("a", b""),
    ] {
        assert_eq!(of(name, head), (None, None), "{name}");
    }
}
