//! The segments of a JPEG file from its first byte to its last.
//!
//! The decoder is lenient about what lies between and after the segments that it needs; a loader that is tested with
//! damaged data is not.

use super::malformed::{FORMAT, malformed};
use crate::error::DecodeError;

const PREFIX: u8 = 0xff;
const STUFFED: u8 = 0x00;
const START_OF_IMAGE: u8 = 0xd8;
const END_OF_IMAGE: u8 = 0xd9;
const START_OF_SCAN: u8 = 0xda;

const TRUNCATED: DecodeError = DecodeError::Truncated { format: FORMAT };

/// Dimensions of the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) width: u16,
    pub(super) height: u16,
}

/// Walks over the segments: the one frame, and the end of the image at the end of the bytes.
pub(super) fn check(bytes: &[u8]) -> Result<Frame, DecodeError> {
    let begin = [PREFIX, START_OF_IMAGE];
    // A sample of one byte may still be the beginning of an image: it is cut off, and not something else.
    if !bytes.starts_with(&begin[..bytes.len().min(2)]) {
        return Err(DecodeError::Foreign {
            format: FORMAT,
            reason: "it does not begin with ff d8".to_owned(),
        });
    }
    let mut rest = bytes.get(2..).ok_or(TRUNCATED)?;
    let mut frame = None;
    let mut scans = false;
    loop {
        let (marker, after) = marker(rest)?;
        rest = after;
        match marker {
            END_OF_IMAGE => break,
            START_OF_IMAGE => return Err(malformed("it begins a second time")),
            marker if stands_alone(marker) => continue,
            _ => {}
        }
        let (content, after) = segment(rest)?;
        rest = after;
        if is_frame(marker) && frame.replace(dimensions(marker, content)?).is_some() {
            return Err(malformed("it has two frames"));
        }
        // Entropy-coded data have no length of their own and follow the scan's header; the next marker ends them.
        if marker == START_OF_SCAN {
            scans = true;
            rest = after_scan(rest)?;
        }
    }
    if !rest.is_empty() {
        return Err(DecodeError::Trailing { format: FORMAT, trailing_bytes: rest.len() as u64 });
    }
    frame.filter(|_| scans).ok_or_else(|| malformed("it holds no image"))
}

/// The marker that `bytes` begin with, after any fill bytes.
fn marker(bytes: &[u8]) -> Result<(u8, &[u8]), DecodeError> {
    match bytes.iter().position(|byte| *byte != PREFIX) {
        None => Err(TRUNCATED),
        Some(0) => Err(malformed("bytes lie between its segments")),
        Some(at) if bytes[at] == STUFFED => Err(malformed("a marker is missing between its segments")),
        Some(at) => Ok((bytes[at], &bytes[at + 1..])),
    }
}

/// Content of a segment, and what follows it.
fn segment(bytes: &[u8]) -> Result<(&[u8], &[u8]), DecodeError> {
    let length = bytes.first_chunk().copied().map(u16::from_be_bytes).ok_or(TRUNCATED)?;
    if length < 2 {
        return Err(malformed("a segment is shorter than its own length"));
    }
    let (segment, rest) = bytes.split_at_checked(usize::from(length)).ok_or(TRUNCATED)?;
    Ok((&segment[2..], rest))
}

/// What follows the entropy-coded data of a scan: the next marker that neither restarts it nor is a stuffed byte.
fn after_scan(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    // By vector instructions: this walk over a whole image is to be lost in the cost of decoding it.
    memchr::memchr_iter(PREFIX, bytes)
        .find(|at| bytes.get(at + 1).is_some_and(|next| !continues(*next)))
        .map(|at| &bytes[at..])
        .ok_or(TRUNCATED)
}

fn continues(after_prefix: u8) -> bool {
    matches!(after_prefix, STUFFED | 0xd0..=0xd7 | PREFIX)
}

/// Restarts, and the marker for temporary use: without a length.
fn stands_alone(marker: u8) -> bool {
    matches!(marker, 0x01 | 0xd0..=0xd7)
}

/// Starts of a frame are C0 to CF, less the tables and the reserved one that lie among them.
fn is_frame(marker: u8) -> bool {
    matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc)
}

/// Dimensions of a frame of the kinds that can be decoded: baseline, extended and progressive, all of Huffman codes.
fn dimensions(marker: u8, content: &[u8]) -> Result<Frame, DecodeError> {
    if !matches!(marker, 0xc0..=0xc2) {
        let reason = "arithmetic coding, or a lossless or hierarchical image".to_owned();
        return Err(DecodeError::Unsupported { format: FORMAT, reason });
    }
    let [_precision, y1, y0, x1, x0, ..] = content else {
        return Err(malformed("its frame is too short"));
    };
    let frame = Frame { width: u16::from_be_bytes([*x1, *x0]), height: u16::from_be_bytes([*y1, *y0]) };
    if frame.width == 0 || frame.height == 0 {
        return Err(malformed("its width or height is 0"));
    }
    Ok(frame)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: [u8; 10] = [0xff, 0xc0, 0, 8, 8, 0, 2, 0, 3, 0];
    const SCAN: [u8; 9] = [0xff, 0xda, 0, 2, 0xff, 0x00, 0xff, 0xd0, 7];

    fn image(parts: &[&[u8]]) -> Vec<u8> {
        [&[&[0xff, 0xd8][..]], parts].concat().concat()
    }

    #[test]
    fn a_frame_a_scan_and_an_end_are_an_image_even_with_fill_bytes_and_restarts() {
        let bytes = image(&[&[0xff], &FRAME, &SCAN, &[0xff, 0xff, 0xd9]]);
        assert_eq!(check(&bytes), Ok(Frame { width: 3, height: 2 }));
    }

    #[test]
    fn every_cut_of_an_image_is_a_cut() {
        let bytes = image(&[&FRAME, &SCAN, &[0xff, 0xd9]]);
        for end in 0..bytes.len() {
            assert_eq!(check(&bytes[..end]), Err(TRUNCATED), "cut at {end}");
        }
    }

    #[test]
    fn two_frames_none_no_scan_a_second_beginning_and_stray_bytes_are_refused() {
        let end: &[u8] = &[0xff, 0xd9];
        let wrong = |parts: &[&[u8]]| match check(&image(parts)) {
            Err(DecodeError::Malformed { reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(wrong(&[&FRAME, &FRAME, &SCAN, end]), "it has two frames");
        assert_eq!(wrong(&[&SCAN, end]), "it holds no image");
        assert_eq!(wrong(&[&FRAME, end]), "it holds no image");
        assert_eq!(wrong(&[&[0xff, 0xd8], &FRAME, end]), "it begins a second time");
        assert_eq!(wrong(&[&[7], &FRAME, end]), "bytes lie between its segments");
        assert_eq!(wrong(&[&[0xff, 0], &FRAME, end]), "a marker is missing between its segments");
        assert_eq!(wrong(&[&[0xff, 0xc0, 0, 1]]), "a segment is shorter than its own length");
        assert_eq!(wrong(&[&[0xff, 0xc0, 0, 4, 8, 0]]), "its frame is too short");
        assert_eq!(wrong(&[&[0xff, 0xc0, 0, 8, 8, 0, 2, 0, 0, 0]]), "its width or height is 0");
    }

    #[test]
    fn bytes_after_the_end_are_counted() {
        let bytes = image(&[&FRAME, &SCAN, &[0xff, 0xd9, 1, 2, 3]]);
        assert_eq!(check(&bytes), Err(DecodeError::Trailing { format: FORMAT, trailing_bytes: 3 }));
    }
}
