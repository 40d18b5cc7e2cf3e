//! gzip against its encoders.

use std::io::Write;

use decode::DecodeError;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use plan::Work;
use proptest::prelude::*;

use crate::decode;

/// Written by GNU gzip, with the name of the file.
const TEXT: &[u8] = include_bytes!("../fixtures/text.gz");
const TEXT_BYTES: u64 = 9_251;

pub(crate) fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

proptest! {
    #[test]
    fn what_was_compressed_comes_out(plain: Vec<u8>, again in 1_usize..5) {
        let sample = gzip(&plain).repeat(again);
        prop_assert_eq!(decode(Work::Gzip, &sample), Ok((plain.len() * again) as u64));
    }
}

#[test]
fn a_member_of_gnu_gzip_and_one_with_every_field_of_the_header_are_read() {
    assert_eq!(decode(Work::Gzip, TEXT), Ok(TEXT_BYTES));
    let builder = GzBuilder::new().extra(vec![1, 2, 3]).filename("name").comment("words").mtime(9);
    let mut encoder = builder.write(Vec::new(), Compression::new(1));
    encoder.write_all(&vec![5; 100_000]).unwrap();
    assert_eq!(decode(Work::Gzip, &encoder.finish().unwrap()), Ok(100_000));
}

#[test]
fn the_checksum_of_a_header_is_checked() {
    let plain = gzip(b"data");
    let mut sample = plain[..10].to_vec();
    sample[3] = 1 << 1;
    sample.extend((crc32fast::hash(&sample) as u16).to_le_bytes());
    sample.extend(&plain[10..]);
    assert_eq!(decode(Work::Gzip, &sample), Ok(4));
    sample[10] ^= 1;
    let error = decode(Work::Gzip, &sample).unwrap_err();
    assert!(matches!(error, DecodeError::Mismatch { what: "header checksum", .. }), "{error}");
}

#[test]
fn a_wrong_checksum_and_a_wrong_length_are_told_apart() {
    let good = gzip(&[9; 5000]);
    let wrong = |from_end: usize| {
        let mut sample = good.clone();
        let at = sample.len() - from_end;
        sample[at] ^= 1;
        match decode(Work::Gzip, &sample) {
            Err(DecodeError::Mismatch { what, .. }) => what,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(wrong(8), "checksum");
    assert_eq!(wrong(4), "length");
}

#[test]
fn padding_after_the_last_member_is_counted() {
    let mut sample = gzip(b"data");
    sample.extend([0; 12]);
    assert_eq!(
        decode(Work::Gzip, &sample),
        Err(DecodeError::Trailing { format: "gzip", trailing_bytes: 12 })
    );
}

#[test]
fn a_method_that_does_not_exist_is_refused() {
    let mut sample = gzip(b"data");
    sample[2] = 7;
    let error = decode(Work::Gzip, &sample).unwrap_err();
    assert!(matches!(error, DecodeError::Malformed { .. }), "{error}");
}
