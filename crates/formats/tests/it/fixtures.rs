//! What Python's own libraries wrote is found: see `fixtures/make.py`.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use formats::{FormatError, Indexing};
use plan::{Codec, Layout};

use crate::support::{Found, counted, indexed, indexed_with};

const COUNT: u64 = 5;

fn fixture(name: &str) -> Vec<u8> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let bytes = std::fs::read(path).unwrap();
    let (layout, codec) = formats::detect(name, &bytes[..bytes.len().min(512)]).unwrap();
    let by_bytes = formats::detect("shard", &bytes[..bytes.len().min(512)]);
    assert!(layout == Layout::Zarr || by_bytes == Some((layout, codec)), "{name}: {by_bytes:?}");
    bytes
}

fn unpacked(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(fixture(name).as_slice()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn sample(number: u64) -> Vec<u8> {
    vec![number as u8; 100 + number as usize]
}

fn part<'a>(bytes: &'a [u8], unit: &Found) -> &'a [u8] {
    let (samples, extents) = unit;
    assert_eq!((*samples, extents.len()), (1, 1));
    let (offset, length) = extents[0];
    &bytes[offset as usize..(offset + length) as usize]
}

#[test]
fn samples_of_webdataset_are_found() {
    let shard = fixture("webdataset.tar");
    let units = indexed(Layout::WebDataset, &shard).unwrap();
    assert_eq!(units.len() as u64, COUNT);
    for (number, unit) in (0..).zip(&units) {
        let part = part(&shard, unit);
        assert_eq!(part.len(), 4 * 512);
        assert!(part[512..].starts_with(&sample(number)));
        assert!(part[3 * 512..].starts_with(number.to_string().as_bytes()));
    }
    let packed = fixture("webdataset.tar.gz");
    assert_eq!(counted(Layout::WebDataset, Codec::Gzip, &packed).unwrap(), COUNT);
}

#[test]
fn long_names_of_both_kinds_group_members_beside_folders_and_links() {
    for name in ["pax.tar.gz", "gnu.tar.gz"] {
        let shard = unpacked(name);
        let units = indexed(Layout::WebDataset, &shard).unwrap();
        assert_eq!(units.len() as u64, COUNT, "{name}");
        for (number, unit) in (0..).zip(&units) {
            // Each of two members has two blocks of long name, a header and one of data.
            let part = part(&shard, unit);
            assert_eq!(part.len(), 8 * 512, "{name}");
            assert!(part[3 * 512..].starts_with(&sample(number)), "{name}");
            assert!(part[7 * 512..].starts_with(&sample(number)), "{name}");
        }
        assert_eq!(counted(Layout::WebDataset, Codec::Gzip, &fixture(name)).unwrap(), COUNT);
    }
}

#[test]
fn elements_of_numpy_arrays_are_found() {
    for name in ["v1.npy", "v2.npy"] {
        let shard = fixture(name);
        let units = indexed(Layout::Records, &shard).unwrap();
        assert_eq!(units.len() as u64, COUNT);
        for (number, unit) in (0_u8..).zip(&units) {
            let values = part(&shard, unit).chunks_exact(4);
            let values: Vec<f32> =
                values.map(|value| f32::from_le_bytes(value.try_into().unwrap())).collect();
            let expected: Vec<f32> = (0..6).map(|item| f32::from(6 * number + item)).collect();
            assert_eq!(values, expected);
        }
    }
    for (name, reason) in [("fortran.npy", "Fortran"), ("fields.npy", "fields")] {
        let error = indexed(Layout::Records, &fixture(name)).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn records_of_tensorflow_are_found_and_their_data_checked() {
    let shard = fixture("records.tfrecord");
    let units = indexed(Layout::TfRecord, &shard).unwrap();
    assert_eq!(units.len() as u64, COUNT);
    for (number, unit) in (0..).zip(&units) {
        let sample = sample(number);
        assert!(part(&shard, unit).windows(sample.len()).any(|part| part == sample));
    }
    let packed = fixture("records.tfrecord.gz");
    assert_eq!(counted(Layout::TfRecord, Codec::Gzip, &packed).unwrap(), COUNT);
}

#[test]
fn row_groups_of_arrow_are_found_with_footer_and_dictionaries() {
    // As `pyarrow.parquet.ParquetFile(...).metadata` gives them.
    let chunks = [
        vec![(4, 277), (281, 82), (363, 82)],
        vec![(445, 284), (729, 82), (811, 82)],
        vec![(893, 274), (1167, 73), (1240, 78)],
    ];
    let shard = fixture("nested.parquet");
    let units = indexed(Layout::Parquet, &shard).unwrap();
    let footer = (shard.len() as u64 - 8 - 1931, 1931 + 8);
    let expected =
        [(2, [&[footer], chunks[0].as_slice()].concat()), (2, chunks[1].clone()), (1, chunks[2].clone())];
    assert_eq!(units, expected);
}

#[test]
fn columns_are_chosen_by_name_and_by_what_they_lie_in() {
    let shard = fixture("plain.parquet");
    let chosen = |columns: &[&str]| {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        indexed_with(Layout::Parquet, &Indexing { columns, checked_records: 0 }, &shard)
    };
    assert_eq!(chosen(&["label"]).unwrap()[1], (2, vec![(1085, 61)]));
    assert_eq!(chosen(&["image"]).unwrap()[1], (2, vec![(571, 453), (1024, 61)]));
    assert_eq!(chosen(&["image.path", "label"]).unwrap()[1], (2, vec![(1024, 61), (1085, 61)]));
    let error = chosen(&["label", "imag"]).unwrap_err();
    let FormatError::NoColumn { column, found } = error else { panic!("{error}") };
    assert_eq!((column.as_str(), found.as_str()), ("imag", "image.bytes, image.path, label"));
}
