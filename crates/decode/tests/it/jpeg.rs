//! JPEG against the files of another encoder (libjpeg-turbo).

use decode::DecodeError;
use plan::Work;

use crate::decode;

pub(crate) const BASELINE: &[u8] = include_bytes!("../fixtures/baseline_420.jpg");
const PROGRESSIVE: &[u8] = include_bytes!("../fixtures/progressive_444.jpg");
const RESTARTS: &[u8] = include_bytes!("../fixtures/restarts_422.jpg");
const GREY: &[u8] = include_bytes!("../fixtures/grey.jpg");
const CMYK: &[u8] = include_bytes!("../fixtures/cmyk.jpg");

pub(crate) const IMAGES: [&[u8]; 5] = [BASELINE, PROGRESSIVE, RESTARTS, GREY, CMYK];

const PIXEL_BYTES: u64 = 50 * 37 * 3;

#[test]
fn images_of_every_kind_become_pixels_of_three_bytes() {
    for image in IMAGES {
        assert_eq!(decode(Work::Jpeg, image), Ok(PIXEL_BYTES));
    }
}

#[test]
fn an_image_that_is_cut_anywhere_is_truncated() {
    for image in [BASELINE, PROGRESSIVE] {
        for end in (1..image.len()).step_by(7) {
            let cut = decode(Work::Jpeg, &image[..end]);
            assert_eq!(cut, Err(DecodeError::Truncated { format: "JPEG" }), "cut at {end}");
        }
    }
}

/// So does libjpeg: nothing in the format tells grey pixels from a cut.
#[test]
fn a_scan_that_is_short_inside_a_whole_file_still_gives_all_pixels() {
    let short = [&BASELINE[..BASELINE.len() * 3 / 4], &[0xff, 0xd9]].concat();
    assert_eq!(decode(Work::Jpeg, &short), Ok(PIXEL_BYTES));
}

#[test]
fn a_huffman_table_with_more_codes_than_fit_is_refused() {
    let mut sample = BASELINE.to_vec();
    let table = sample.windows(2).position(|marker| marker == [0xff, 0xc4]).unwrap();
    sample[table + 5] = 9;
    let error = decode(Work::Jpeg, &sample).unwrap_err();
    assert!(matches!(error, DecodeError::Malformed { .. }), "{error}");
}

#[test]
fn what_follows_the_end_of_the_image_is_counted() {
    let sample = [BASELINE, &[0; 9]].concat();
    assert_eq!(decode(Work::Jpeg, &sample), Err(DecodeError::Trailing { format: "JPEG", trailing_bytes: 9 }));
}

#[test]
fn arithmetic_coding_is_named_as_what_is_lacking() {
    let mut sample = BASELINE.to_vec();
    let frame = sample.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
    sample[frame + 1] = 0xc9;
    let error = decode(Work::Jpeg, &sample).unwrap_err();
    assert!(matches!(error, DecodeError::Unsupported { .. }), "{error}");
}
