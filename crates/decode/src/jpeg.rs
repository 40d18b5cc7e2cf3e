//! JPEG (ITU-T T.81), baseline or progressive, to pixels of three bytes.
//!
//! The format carries no checksum. A scan that holds fewer blocks than its frame promises becomes grey pixels, as it does in
//! libjpeg and so in the loaders that are played.

mod malformed;
mod structure;

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;

use crate::allowance::Allowance;
use crate::error::DecodeError;
use malformed::{FORMAT, malformed};

const SIDE_PIXELS_MAX: usize = u16::MAX as usize;
const BYTES_PER_PIXEL: u64 = 3;

/// Bytes of pixels that at most come out of one image. A progressive one takes twice as much again while it is decoded.
pub const PIXEL_BYTES_MAX: u64 = 512 << 20;

pub(crate) struct Jpeg {
    pixels: Vec<u8>,
}

impl Jpeg {
    pub(crate) fn new() -> Self {
        Self { pixels: Vec::new() }
    }

    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<u64, DecodeError> {
        // Before the decoder sees a byte, so that it allocates nothing for dimensions that are not allowed.
        let frame = structure::check(bytes)?;
        let pixel_bytes = u64::from(frame.width) * u64::from(frame.height) * BYTES_PER_PIXEL;
        let mut allowance = Allowance::new(FORMAT, bytes.len()).at_most(PIXEL_BYTES_MAX);
        allowance.take(pixel_bytes)?;

        let options = DecoderOptions::default()
            // What the decoder notices is an error. Otherwise it goes on with grey, and a damaged sample counts as
            // decoded.
            .set_strict_mode(true)
            .set_max_width(SIDE_PIXELS_MAX)
            .set_max_height(SIDE_PIXELS_MAX)
            .jpeg_set_out_colorspace(ColorSpace::RGB);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
        decoder.decode_headers().map_err(refused)?;
        let needed = decoder.output_buffer_size().unwrap_or(usize::MAX);
        // Two parsers read the same header; where they disagree, one of them was misled.
        if needed as u64 != pixel_bytes {
            return Err(malformed("its dimensions cannot be told"));
        }
        // Grown and never shrunk: images of a dataset are of like sizes, and zeroing new memory is a part of decoding
        // only once.
        if self.pixels.len() < needed {
            self.pixels.resize(needed, 0);
        }
        decoder.decode_into(&mut self.pixels[..needed]).map_err(refused)?;
        Ok(allowance.out_bytes())
    }
}

fn refused(error: DecodeErrors) -> DecodeError {
    match error {
        DecodeErrors::Unsupported(_) => {
            DecodeError::Unsupported { format: FORMAT, reason: error.to_string() }
        }
        DecodeErrors::ExhaustedData | DecodeErrors::IoErrors(_) => DecodeError::Truncated { format: FORMAT },
        // Of these two the decoder's own words carry quotation marks.
        DecodeErrors::Format(reason) => malformed(&reason),
        DecodeErrors::FormatStatic(reason) => malformed(reason),
        error => malformed(&error.to_string()),
    }
}
