//! What holds for all works.

use std::fmt::Write;

use decode::{DecodeError, Decoder, StandIn};
use plan::Work;

use crate::decode;

const WORKS: [Work; 6] = [Work::Checksum, Work::Copy, Work::Gzip, Work::Zstd, Work::Jpeg, Work::Png];

#[test]
fn work_that_decodes_nothing_leaves_a_sample_as_it_is() {
    assert_eq!(decode(Work::Checksum, &[7; 1000]), Ok(1000));
    assert_eq!(decode(Work::Copy, &[7; 1000]), Ok(1000));
    assert_eq!(decode(Work::Cost { per_sample_ns: 5 }, &[7; 1000]), Ok(1000));
    assert_eq!(decode(Work::Cost { per_sample_ns: 5 }, &[]), Ok(0));
}

#[test]
fn an_empty_sample_cannot_be_decoded_by_any_work() {
    for work in WORKS {
        assert_eq!(decode(work, &[]), Err(DecodeError::Empty), "{}", work.name());
    }
}

#[test]
fn a_sample_of_another_format_is_told_apart_from_a_damaged_one() {
    for work in [Work::Gzip, Work::Zstd, Work::Jpeg, Work::Png] {
        let error = decode(work, b"neither of them").unwrap_err();
        assert!(matches!(error, DecodeError::Foreign { .. }), "{}: {error}", work.name());
    }
}

#[test]
fn a_decoder_goes_on_after_a_bad_sample_as_if_it_were_new() {
    for work in [Work::Gzip, Work::Zstd, Work::Jpeg, Work::Png] {
        let sample = StandIn::new(work, 5000, 1).unwrap();
        let good = sample.bytes();
        let mut decoder = Decoder::new(work, None);
        let first = decoder.decode(good).unwrap();
        for end in [1, 9, good.len() / 2, good.len() - 1] {
            assert!(decoder.decode(&good[..end]).is_err(), "{} cut at {end}", work.name());
            assert_eq!(decoder.decode(good), Ok(first), "{}", work.name());
        }
    }
}

#[test]
fn every_error_says_what_is_wrong_and_what_to_do() {
    let format = "gzip";
    let reason = "the reason".to_owned();
    let errors = [
        DecodeError::Empty,
        DecodeError::Foreign { format, reason: reason.clone() },
        DecodeError::Truncated { format },
        DecodeError::Trailing { format, trailing_bytes: 3 },
        DecodeError::Mismatch { format, what: "checksum", stored: 1, found: 2 },
        DecodeError::Malformed { format, reason: reason.clone() },
        DecodeError::Unsupported { format, reason },
        DecodeError::TooLarge { format, limit_bytes: 9 },
    ];
    let mut said = String::new();
    for error in errors {
        let line = error.to_string();
        assert!(line.contains("; "), "no advice: {line}");
        writeln!(said, "{line}").unwrap();
    }
    assert!(!said.contains("  "), "{said}");
}
