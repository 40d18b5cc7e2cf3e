//! Zstandard (RFC 8878): frames one after the other, some of which may be skipped.

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, get_error_name};

use crate::allowance::Allowance;
use crate::error::DecodeError;

const FORMAT: &str = "Zstandard";
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Of a frame to skip, the first byte is 50 to 5f.
const MAGIC_SKIPPED: [u8; 3] = [0x2a, 0x4d, 0x18];
const OUT_BUFFER_BYTES: usize = 128 << 10;

const TRUNCATED: DecodeError = DecodeError::Truncated { format: FORMAT };

/// Binary logarithm of the largest window in bytes that a frame may ask for: 128 MiB, as the reference decoder has it
/// unless told otherwise.
pub const WINDOW_BYTES_LOG2_MAX: u32 = 27;

/// Codes of `zstd_errors.h`, whose values are kept from version to version.
const WINDOW_TOO_LARGE: usize = 16;
const CHECKSUM_WRONG: usize = 22;
const DICTIONARY_WRONG: usize = 32;

pub(crate) struct Zstd {
    context: DCtx<'static>,
    out: Box<[u8]>,
}

impl Zstd {
    pub(crate) fn new() -> Self {
        let mut context = DCtx::create();
        let limited = context.set_parameter(DParameter::WindowLogMax(WINDOW_BYTES_LOG2_MAX));
        debug_assert!(limited.is_ok(), "the limit of the window is one that the library knows");
        Self { context, out: vec![0; OUT_BUFFER_BYTES].into() }
    }

    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<u64, DecodeError> {
        let mut allowance = Allowance::new(FORMAT, bytes.len());
        let mut rest = bytes;
        let mut frames = 0_u64;
        while !rest.is_empty() {
            let first = rest.first_chunk::<4>();
            let data = first == Some(&MAGIC);
            if !data && !first.is_some_and(|first| first[0] >> 4 == 5 && first[1..] == MAGIC_SKIPPED) {
                return Err(no_frame(rest, frames > 0));
            }
            rest = self.frame(rest, &mut allowance)?;
            frames += u64::from(data);
        }
        if frames == 0 {
            return Err(malformed("it holds no frame with data"));
        }
        Ok(allowance.out_bytes())
    }

    /// Decompresses or skips the frame at the beginning of `bytes` and returns the rest.
    fn frame<'a>(&mut self, bytes: &'a [u8], allowance: &mut Allowance) -> Result<&'a [u8], DecodeError> {
        // Refused before anything is unpacked, where the frame says its size; many writers leave it out.
        if let Ok(Some(announced)) = zstd_safe::get_frame_content_size(bytes) {
            allowance.expect(announced)?;
        }
        // The session alone: the limit of the window is a parameter and must hold for the next sample too.
        self.context.reset(ResetDirective::SessionOnly).map_err(refused)?;
        let mut input = InBuffer::around(bytes);
        loop {
            let before = input.pos;
            let mut out = OutBuffer::around(&mut self.out[..]);
            let wanted = self.context.decompress_stream(&mut out, &mut input).map_err(refused)?;
            let made = out.pos();
            allowance.take(made as u64)?;
            if wanted == 0 {
                return Ok(&bytes[input.pos..]);
            }
            // Neither taken nor made: the frame waits for bytes that are not there.
            if made == 0 && input.pos == before {
                return Err(TRUNCATED);
            }
        }
    }
}

/// What is wrong with bytes that begin no frame.
fn no_frame(bytes: &[u8], after_data: bool) -> DecodeError {
    if after_data {
        return DecodeError::Trailing { format: FORMAT, trailing_bytes: bytes.len() as u64 };
    }
    if MAGIC.starts_with(bytes) {
        return TRUNCATED;
    }
    DecodeError::Foreign { format: FORMAT, reason: "it does not begin with 28 b5 2f fd".to_owned() }
}

fn refused(code: usize) -> DecodeError {
    let unsupported = |reason: String| DecodeError::Unsupported { format: FORMAT, reason };
    match code.wrapping_neg() {
        WINDOW_TOO_LARGE => {
            unsupported(format!("a window of more than {} bytes", 1_u64 << WINDOW_BYTES_LOG2_MAX))
        }
        DICTIONARY_WRONG => unsupported("a dictionary".to_owned()),
        CHECKSUM_WRONG => malformed("its checksum is not that of its data"),
        _ => malformed(get_error_name(code)),
    }
}

fn malformed(reason: &str) -> DecodeError {
    DecodeError::Malformed { format: FORMAT, reason: reason.to_owned() }
}
