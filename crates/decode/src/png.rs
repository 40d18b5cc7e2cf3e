//! PNG (W3C Recommendation, third edition) to pixels of one byte for each channel.
//!
//! Every sample is held against the checksums of its chunks and of its data. Of an animated image the first picture is decoded,
//! and the rest read.

use std::io::{Cursor, ErrorKind};

use png::{DecodingError, Limits, Transformations};

use crate::allowance::Allowance;
use crate::error::DecodeError;
use crate::jpeg::PIXEL_BYTES_MAX;

const FORMAT: &str = "PNG";

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The first chunk is the header (5.6), so that the sides stand at one place.
const HEADER: &[u8] = b"\0\0\0\x0dIHDR";
const WIDTH_AT: usize = 16;
const HEIGHT_AT: usize = 20;

const COLOUR_AT: usize = 25;

/// Memory of the decoder for lines and for chunks beside the pixels.
// A line of the widest image that is allowed has 512 MiB; none that is a sample comes near this.
const BESIDE_BYTES_MAX: usize = 64 << 20;

pub(crate) struct Png {
    pixels: Vec<u8>,
}

impl Png {
    pub(crate) fn new() -> Self {
        Self { pixels: Vec::new() }
    }

    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<u64, DecodeError> {
        // Before the decoder sees a byte, so that it allocates nothing for dimensions that are not allowed.
        let mut allowance = Allowance::new(FORMAT, bytes.len()).at_most(PIXEL_BYTES_MAX);
        allowance.expect(pixels(bytes)?.saturating_mul(channels_max(bytes)))?;

        let mut source = Cursor::new(bytes);
        let mut decoder = png::Decoder::new_with_limits(&mut source, Limits { bytes: BESIDE_BYTES_MAX });
        decoder.set_transformations(Transformations::normalize_to_color8());
        decoder.ignore_checksums(false);
        // Compressed text and profiles may be far larger than they are stored, and no loader looks at them.
        decoder.set_ignore_text_chunk(true);
        decoder.set_ignore_iccp_chunk(true);
        let mut reader = decoder.read_info().map_err(refused)?;
        let needed = reader.output_buffer_size().unwrap_or(usize::MAX);
        allowance.take(needed as u64)?;
        // Grown and never shrunk: images of a dataset are of like sizes.
        if self.pixels.len() < needed {
            self.pixels.resize(needed, 0);
        }
        reader.next_frame(&mut self.pixels[..needed]).map_err(refused)?;
        reader.finish().map_err(refused)?;
        drop(reader);
        match bytes.len() as u64 - source.position() {
            0 => Ok(allowance.out_bytes()),
            trailing_bytes => Err(DecodeError::Trailing { format: FORMAT, trailing_bytes }),
        }
    }
}

/// Channels of a pixel at most, of one byte each as they come out: its shades, and how opaque it is.
fn channels_max(bytes: &[u8]) -> u64 {
    match bytes.get(COLOUR_AT) {
        // Grey, without and with how opaque it is; a `tRNS` chunk adds that to the first.
        Some(0 | 4) => 2,
        _ => 4,
    }
}

/// Pixels of an image, by its header.
fn pixels(bytes: &[u8]) -> Result<u64, DecodeError> {
    if !bytes.starts_with(SIGNATURE) {
        let reason = "its first eight bytes are not those of a PNG".to_owned();
        return Err(DecodeError::Foreign { format: FORMAT, reason });
    }
    let side = |at: usize| {
        let side = bytes.get(at..).and_then(|rest| rest.first_chunk());
        side.map(|side| u64::from(u32::from_be_bytes(*side))).ok_or(DecodeError::Truncated { format: FORMAT })
    };
    let sides = (side(WIDTH_AT)?, side(HEIGHT_AT)?);
    if !bytes[SIGNATURE.len()..].starts_with(HEADER) {
        return Err(malformed("its first chunk is no header".to_owned()));
    }
    // Two numbers of 32 bits each.
    Ok(sides.0 * sides.1)
}

fn malformed(reason: String) -> DecodeError {
    DecodeError::Malformed { format: FORMAT, reason }
}

fn refused(error: DecodingError) -> DecodeError {
    match error {
        DecodingError::IoError(error) if error.kind() == ErrorKind::UnexpectedEof => {
            DecodeError::Truncated { format: FORMAT }
        }
        DecodingError::LimitsExceeded => {
            DecodeError::TooLarge { format: FORMAT, limit_bytes: BESIDE_BYTES_MAX as u64 }
        }
        error => malformed(error.to_string()),
    }
}
