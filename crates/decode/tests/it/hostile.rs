//! Small samples that would become large.

use decode::{DecodeError, FREE_BYTES, PIXEL_BYTES_MAX, WINDOW_BYTES_LOG2_MAX};
use plan::Work;

use crate::decode;
use crate::gzip::gzip;
use crate::jpeg::BASELINE;

/// A frame that repeats one byte `blocks` times 128 KiB.
fn zstd_bomb(blocks: u32) -> Vec<u8> {
    let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x38];
    for block in 1..=blocks {
        let last = u32::from(block == blocks);
        let [low, middle, high, _] = (last | 1 << 1 | (128 << 10) << 3).to_le_bytes();
        bomb.extend([low, middle, high, 0]);
    }
    bomb
}

#[test]
fn what_stays_below_the_limit_is_decoded() {
    assert_eq!(decode(Work::Zstd, &zstd_bomb(512)), Ok(FREE_BYTES));
    let too_large = DecodeError::TooLarge { format: "Zstandard", limit_bytes: FREE_BYTES };
    assert_eq!(decode(Work::Zstd, &zstd_bomb(513)), Err(too_large));
}

#[test]
fn a_frame_of_10_gb_is_given_up_early() {
    let bomb = zstd_bomb(76_294);
    let limit_bytes = bomb.len() as u64 * 256;
    assert_eq!(decode(Work::Zstd, &bomb), Err(DecodeError::TooLarge { format: "Zstandard", limit_bytes }));
}

#[test]
fn frames_that_are_small_each_count_together() {
    let bombs = zstd_bomb(300).repeat(2);
    let error = decode(Work::Zstd, &bombs).unwrap_err();
    assert!(matches!(error, DecodeError::TooLarge { .. }), "{error}");
}

#[test]
fn a_window_or_a_content_of_10_gb_is_refused_at_the_header() {
    // The exponent is 10 + 23 bits: 8 GiB.
    let window = [0x28, 0xb5, 0x2f, 0xfd, 0, 23 << 3, 1, 0, 0];
    let error = decode(Work::Zstd, &window).unwrap_err();
    assert!(matches!(error, DecodeError::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains(&(1_u64 << WINDOW_BYTES_LOG2_MAX).to_string()), "{error}");
    let announced = 10_000_000_000_u64.to_le_bytes();
    let content = [&[0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0][..], &announced].concat();
    let error = decode(Work::Zstd, &content).unwrap_err();
    assert!(matches!(error, DecodeError::TooLarge { .. }), "{error}");
}

#[test]
fn members_of_zeros_are_given_up_at_the_limit() {
    let member = gzip(&vec![0; 8 << 20]);
    assert!(member.len() < 9000);
    assert_eq!(decode(Work::Gzip, &member.repeat(8)), Ok(FREE_BYTES));
    assert_eq!(
        decode(Work::Gzip, &member.repeat(9)),
        Err(DecodeError::TooLarge { format: "gzip", limit_bytes: FREE_BYTES })
    );
}

#[test]
fn dimensions_are_refused_before_pixels_are_allocated() {
    let with_sides = |side: u16, padding: usize| {
        let frame = BASELINE.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
        let mut image = BASELINE.to_vec();
        image[frame + 5..frame + 7].copy_from_slice(&side.to_be_bytes());
        image[frame + 7..frame + 9].copy_from_slice(&side.to_be_bytes());
        let comment = [&[0xff, 0xfe, 0xff, 0xff][..], &vec![b' '; 0xfffd]].concat();
        image.splice(2..2, comment.repeat(padding));
        decode(Work::Jpeg, &image)
    };
    let too_large = |limit_bytes| Err(DecodeError::TooLarge { format: "JPEG", limit_bytes });
    assert_eq!(with_sides(u16::MAX, 0), too_large(FREE_BYTES));
    assert_eq!(with_sides(5000, 0), too_large(FREE_BYTES));
    assert_eq!(with_sides(14_000, 40), too_large(PIXEL_BYTES_MAX));
    assert_eq!(with_sides(4000, 0), Ok(48_000_000));
}
