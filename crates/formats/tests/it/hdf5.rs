//! Files of HDF5, as h5py wrote them: see `fixtures/make.py`, whose `places` says what is expected here.

use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use formats::{FormatError, Indexing};
use plan::{Codec, Layout};
use proptest::prelude::*;

use crate::support::{Found, indexed, indexed_with};

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hdf5").join(name);
    let bytes = std::fs::read(path).unwrap();
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return bytes;
    }
    let mut unpacked = Vec::new();
    GzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked).unwrap();
    unpacked
}

fn of(bytes: &[u8], dataset: &str) -> Result<Vec<Found>, FormatError> {
    let columns = vec![dataset.to_owned()];
    indexed_with(Layout::Hdf5, &Indexing { columns, checked_records: 0 }, bytes)
}

/// Units of two samples and one of the last, each in its parts.
fn in_twos(parts: [&[(u64, u64)]; 3]) -> Vec<Found> {
    parts.into_iter().zip([2, 2, 1]).map(|(parts, samples)| (samples, parts.to_vec())).collect()
}

/// Bytes of the array that the datasets hold, from the item at a place on.
fn items(from: u16, count: u16) -> Vec<u8> {
    (from..from + count).flat_map(|item| f32::from(item).to_le_bytes()).collect()
}

#[test]
fn files_are_known_by_their_first_bytes() {
    for name in ["earliest.h5", "v108.h5", "v110.h5", "latest.h5", "nested.h5"] {
        let found = formats::detect("climate.nc", &file(name)[..512]);
        assert_eq!(found, Some((Layout::Hdf5, Codec::None)), "{name}");
    }
}

#[test]
fn contiguous_datasets_have_a_sample_for_each_index_of_their_first_axis() {
    for name in ["earliest.h5", "v108.h5", "v110.h5", "latest.h5"] {
        let file = file(name);
        let expected: Vec<Found> = (0..5).map(|sample| (1, vec![(2048 + 96 * sample, 96)])).collect();
        assert_eq!(of(&file, "contiguous").unwrap(), expected, "{name}");
        assert!(file[2048..].starts_with(&items(0, 120)));
    }
}

#[test]
fn chunks_are_found_by_every_index_where_h5py_finds_them() {
    let chunked: [&[(u64, u64)]; 3] = [&[(2528, 192)], &[(2720, 192)], &[(2912, 192)]];
    let gzip: [&[(u64, u64)]; 3] = [&[(3104, 112)], &[(3216, 108)], &[(3324, 61)]];
    let lzf: [&[(u64, u64)]; 3] = [&[(3385, 73)], &[(3458, 63)], &[(3521, 45)]];
    // Two chunks hold the parts of a sample, and those that touch are read at once.
    let spread =
        |last: &'static [(u64, u64)]| -> [&[(u64, u64)]; 3] { [&[(3566, 192)], &[(3758, 192)], last] };
    for (name, dataset, expected) in [
        ("earliest.h5", "chunked", chunked),
        ("earliest.h5", "gzip", gzip),
        ("earliest.h5", "lzf", lzf),
        ("earliest.h5", "spread", spread(&[(3950, 96), (17184, 96)])),
        ("v108.h5", "chunked", chunked),
        ("v108.h5", "gzip", gzip),
        ("v108.h5", "lzf", lzf),
        ("v108.h5", "spread", spread(&[(3950, 96), (16640, 96)])),
        // Fixed arrays, whose entries differ where chunks are filtered.
        ("v110.h5", "chunked", chunked),
        ("v110.h5", "gzip", gzip),
        ("v110.h5", "lzf", lzf),
        ("v110.h5", "spread", spread(&[(3950, 192)])),
        ("latest.h5", "chunked", chunked),
        // Extensible arrays.
        ("latest.h5", "growing", [&[(3104, 192)], &[(3296, 192)], &[(3488, 192)]]),
        ("latest.h5", "growing_gzip", [&[(3680, 112)], &[(3792, 108)], &[(3900, 61)]]),
        // h5py names other chunks of it, and its data are at these places.
        ("latest.h5", "growing_within", [&[(3961, 96), (6144, 96)], &[(6240, 192)], &[(6432, 192)]]),
        // B-trees of the second version.
        ("latest.h5", "growing_both", [&[(6624, 192)], &[(6816, 192)], &[(7008, 192)]]),
        ("latest.h5", "growing_both_gzip", [&[(7200, 112)], &[(7312, 108)], &[(7420, 61)]]),
        // No index: there is room for a chunk that holds nothing behind each two.
        ("latest.h5", "implicit", [&[(12288, 192)], &[(12576, 192)], &[(12864, 192)]]),
    ] {
        assert_eq!(of(&file(name), dataset).unwrap(), in_twos(expected), "{name} {dataset}");
    }
    let single = file("v110.h5");
    assert_eq!(of(&single, "single").unwrap(), [(5, vec![(6190, 480)])]);
    assert_eq!(of(&single, "single_gzip").unwrap(), [(5, vec![(6670, 229)])]);
}

#[test]
fn what_is_found_holds_the_samples() {
    for (name, dataset) in [
        ("earliest.h5", "chunked"),
        ("v108.h5", "chunked"),
        ("v110.h5", "chunked"),
        ("latest.h5", "growing"),
        ("latest.h5", "growing_both"),
    ] {
        let file = file(name);
        for ((samples, parts), from) in of(&file, dataset).unwrap().iter().zip([0, 48, 96]) {
            let [(offset, _)] = parts[..] else { panic!("{parts:?}") };
            assert!(
                file[offset as usize..].starts_with(&items(from, 24 * *samples as u16)),
                "{name} {dataset}"
            );
        }
    }
    for (name, dataset) in
        [("earliest.h5", "spread"), ("latest.h5", "growing_within"), ("latest.h5", "implicit")]
    {
        let file = file(name);
        for ((_, parts), first) in of(&file, dataset).unwrap().iter().zip([0_u16, 48, 96]) {
            let read: Vec<u8> = parts
                .iter()
                .flat_map(|(offset, bytes)| &file[*offset as usize..(offset + bytes) as usize])
                .copied()
                .collect();
            // Rows 0 and 1 of the first sample lie in one chunk, rows 2 and 3 in the other.
            assert!(read.starts_with(&items(first, 12)) && read[96..].starts_with(&items(first + 12, 12)));
        }
    }
}

/// Of so many chunks that every index has several nodes, blocks or pages. The places are those that h5py names.
#[test]
fn chunks_behind_large_indices_are_found() {
    let run = |first: u64, offset: u64, count: u64| (first, offset, count);
    for (name, runs) in [
        (
            "many_tree.h5.gz",
            vec![run(0, 3496, 65), run(65, 7753, 25), run(500, 7778, 10), run(1090, 7788, 10)],
        ),
        ("many_fixed.h5.gz", vec![run(0, 475, 1), run(1, 9303, 89), run(500, 9392, 10), run(1090, 9402, 10)]),
        (
            "many_growing.h5.gz",
            vec![
                run(0, 519, 1),
                run(1, 818, 4),
                run(5, 972, 16),
                run(21, 1266, 32),
                run(53, 1576, 32),
                run(85, 1886, 5),
                run(500, 1891, 1),
                run(501, 2992, 9),
                run(139_990, 3001, 1),
                run(139_991, 20014, 9),
            ],
        ),
        (
            "many_growing_both.h5.gz",
            vec![run(0, 485, 1), run(1, 2534, 84), run(85, 6714, 5), run(500, 6719, 10), run(1090, 6729, 10)],
        ),
    ] {
        let expected: Vec<Found> = runs
            .into_iter()
            .flat_map(|(_, offset, count)| (offset..offset + count).map(|at| (1, vec![(at, 1)])))
            .collect();
        assert_eq!(indexed(Layout::Hdf5, &file(name)).unwrap(), expected, "{name}");
    }
}

#[test]
fn the_dataset_that_holds_most_of_the_bytes_is_read_unless_others_are_named() {
    let file = file("nested.h5");
    let images = |offset: u64, count: u64| -> Vec<Found> {
        (0..count).map(|sample| (1, vec![(offset + 96 * sample, 96)])).collect()
    };
    assert_eq!(indexed(Layout::Hdf5, &file).unwrap(), images(2432, 5));
    assert_eq!(of(&file, "test/images").unwrap(), images(2952, 2));
    assert_eq!(of(&file, "/train/labels/").unwrap()[4], (1, vec![(2944, 8)]));
    // A group stands for what is in it. It is met by two names, and what it holds is read once.
    assert_eq!(of(&file, "test").unwrap(), images(2952, 2));
    assert_eq!(of(&file, "train").unwrap().len(), 10);
    assert_eq!(of(&file, "/").unwrap().len(), 12);
    let error = of(&file, "tra").unwrap_err();
    let FormatError::NoColumn { column, found } = error else { panic!("{error}") };
    assert_eq!((column.as_str(), found.as_str()), ("tra", "test/images, train/images, train/labels"));
    let user_block = self::file("user_block.h5");
    assert_eq!(indexed(Layout::Hdf5, &user_block).unwrap(), images(3072, 5));
    assert!(user_block[3072..].starts_with(&items(0, 120)));
}

#[test]
fn links_in_a_heap_are_followed() {
    let file = file("dense.h5");
    let mut found = of(&file, "samples").unwrap();
    // By name, of which `10` comes before `2`.
    assert_eq!((found.len(), found[8].clone()), (80, (1, vec![(3008, 24)])));
    found.sort_unstable_by_key(|(_, parts)| parts[0]);
    let expected: Vec<Found> = (0..80).map(|sample| (1, vec![(2048 + 24 * sample, 24)])).collect();
    assert_eq!(found, expected);
    assert_eq!(of(&self::file("many_links.h5.gz"), "samples").unwrap().len(), 800);
}

#[test]
fn of_several_datasets_nobody_chooses() {
    let error = indexed(Layout::Hdf5, &file("earliest.h5")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it holds several datasets, and none of them most of the bytes: chunked, contiguous, gzip, lzf, spread"
    );
}

#[test]
fn what_is_not_read_is_named() {
    let file = file("refused.h5");
    for (dataset, reason) in [
        ("text", "`text` is items of any length"),
        ("apart", "`apart` is external storage"),
        ("virtual", "`virtual` is a virtual dataset"),
        ("compact", "`compact` is compact storage"),
        ("none", "no sample"),
        ("unwritten", "no sample"),
        ("type", "no column `type`"),
    ] {
        let error = of(&file, dataset).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}, not {reason}");
    }
    assert_eq!(of(&file, "scalar").unwrap(), [(1, vec![(6176, 8)])]);
    assert_eq!(of(&file, "typed").unwrap()[2], (1, vec![(8240, 4)]));
}

/// Every fixture, and a name of what is read of it.
static FILES: LazyLock<Vec<(Vec<u8>, &'static str)>> = LazyLock::new(|| {
    [
        ("earliest.h5", "/"),
        ("v108.h5", "/"),
        ("v110.h5", "/"),
        ("latest.h5", "/"),
        ("nested.h5", "/"),
        ("refused.h5", "typed"),
        ("user_block.h5", "images"),
        ("dense.h5", "samples"),
        ("records.h5", "records"),
        ("records_gzip.h5", "records"),
        ("many_links.h5.gz", "samples"),
        ("many_tree.h5.gz", "many"),
        ("many_fixed.h5.gz", "many"),
        ("many_growing.h5.gz", "many"),
        ("many_growing_both.h5.gz", "many"),
    ]
    .map(|(name, read)| (file(name), read))
    .to_vec()
});

/// Whatever is found lies inside, no more of it than there is, and the index ends.
fn looked_at(bytes: &[u8], dataset: &str) {
    for found in [of(bytes, dataset), indexed(Layout::Hdf5, bytes)] {
        let Ok(units) = found else { continue };
        assert!(!units.is_empty());
        let mut all = 0;
        for (samples, extents) in units {
            assert!(samples > 0 && !extents.is_empty());
            for (offset, length) in extents {
                assert!(length > 0 && offset.checked_add(length).unwrap() <= bytes.len() as u64);
                all += length;
            }
        }
        assert!(all <= bytes.len() as u64);
    }
}

#[test]
fn a_file_that_is_cut_off_is_refused_wherever_that_is() {
    for (file, dataset) in FILES.iter() {
        for end in (0..file.len()).step_by(7) {
            assert!(of(&file[..end], dataset).is_err(), "{dataset} {end}");
        }
        looked_at(file, dataset);
    }
}

proptest! {
    #[test]
    fn any_edit_of_a_file_of_hdf5_is_looked_at(
        which in any::<prop::sample::Index>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), proptest::collection::vec(any::<u8>(), 1..9)), 1..4),
    ) {
        let (file, dataset) = which.get(FILES.as_slice());
        let mut file = file.clone();
        for (at, by) in edits {
            let at = at.index(file.len());
            file[at..].iter_mut().zip(by).for_each(|(byte, new)| *byte = new);
        }
        looked_at(&file, dataset);
    }

    /// An address or a number of one place at another.
    #[test]
    fn any_structure_in_another_place_is_looked_at(
        which in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        length in 1..200_usize,
    ) {
        let (file, dataset) = which.get(FILES.as_slice());
        let mut file = file.clone();
        let length = length.min(file.len());
        let (from, to) = (from.index(file.len() - length + 1), to.index(file.len() - length + 1));
        file.copy_within(from..from + length, to);
        looked_at(&file, dataset);
    }

    #[test]
    fn any_bytes_behind_a_superblock_are_looked_at(
        bytes in proptest::collection::vec(any::<u8>(), 0..2000),
        version in 0..4_u8,
    ) {
        looked_at(&[&b"\x89HDF\r\n\x1a\n"[..], &[version], &bytes].concat(), "/");
    }
}
