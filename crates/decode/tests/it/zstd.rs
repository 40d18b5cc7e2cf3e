//! Zstandard against its encoders.

use decode::DecodeError;
use plan::Work;
use proptest::prelude::*;

use crate::decode;

/// Written by the reference encoder at level 19, with a checksum.
const TEXT: &[u8] = include_bytes!("../fixtures/text.zst");
const TEXT_BYTES: u64 = 9_251;

fn zstd(plain: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(zstd_safe::compress_bound(plain.len()));
    zstd_safe::compress(&mut encoded, plain, 1).unwrap();
    encoded
}

proptest! {
    #[test]
    fn what_was_compressed_comes_out(plain: Vec<u8>, again in 1_usize..5) {
        let sample = zstd(&plain).repeat(again);
        prop_assert_eq!(decode(Work::Zstd, &sample), Ok((plain.len() * again) as u64));
    }
}

#[test]
fn frames_of_the_reference_encoder_are_read_and_those_to_skip_are_skipped() {
    assert_eq!(decode(Work::Zstd, TEXT), Ok(TEXT_BYTES));
    let skipped = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 7, 7, 7];
    assert_eq!(decode(Work::Zstd, &[&skipped, TEXT, &skipped, TEXT].concat()), Ok(2 * TEXT_BYTES));
    assert_eq!(
        decode(Work::Zstd, &[&skipped[..], TEXT, &skipped[..9]].concat()),
        Err(DecodeError::Truncated { format: "Zstandard" })
    );
    let error = decode(Work::Zstd, &skipped).unwrap_err();
    assert!(matches!(error, DecodeError::Malformed { .. }), "{error}");
}

#[test]
fn a_wrong_checksum_and_a_wrong_length_are_refused() {
    let mut sample = TEXT.to_vec();
    *sample.last_mut().unwrap() ^= 1;
    let error = decode(Work::Zstd, &sample).unwrap_err();
    assert!(error.to_string().contains("its checksum is not that of its data"), "{error}");
    // One segment of announced 9 bytes, and a last raw block of 2.
    let short = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 9, 0x11, 0, 0, 1, 2];
    let error = decode(Work::Zstd, &short).unwrap_err();
    assert!(matches!(error, DecodeError::Malformed { .. }), "{error}");
}

#[test]
fn padding_after_the_last_frame_is_counted() {
    for padding in [1, 3, 4, 12] {
        let sample = [TEXT, &vec![0; padding]].concat();
        let trailing_bytes = padding as u64;
        assert_eq!(
            decode(Work::Zstd, &sample),
            Err(DecodeError::Trailing { format: "Zstandard", trailing_bytes })
        );
    }
}

#[test]
fn a_frame_that_needs_a_dictionary_is_told_apart() {
    // A dictionary number of one byte, one segment, one byte of content.
    let sample = [0x28, 0xb5, 0x2f, 0xfd, 0x21, 77, 1, 0x09, 0, 0, 1];
    let error = decode(Work::Zstd, &sample).unwrap_err();
    assert!(matches!(error, DecodeError::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("needs what is not supported: a dictionary"), "{error}");
}
