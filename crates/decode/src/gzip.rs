//! gzip (RFC 1952): members one after the other, each with a CRC-32 and a length at its end.
//!
//! The frame is read here and not by flate2's reader, so that the decompressor's memory is kept from sample to sample and
//! each damage has its own words.

use crc32fast::Hasher;
use flate2::{Decompress, FlushDecompress, Status};

use crate::allowance::Allowance;
use crate::error::DecodeError;

const FORMAT: &str = "gzip";
const MAGIC: [u8; 2] = [0x1f, 0x8b];
const METHOD_DEFLATE: u8 = 8;
const FLAG_HEADER_CRC: u8 = 1 << 1;
const FLAG_EXTRA: u8 = 1 << 2;
const FLAG_NAME: u8 = 1 << 3;
const FLAG_COMMENT: u8 = 1 << 4;
const FLAGS_RESERVED: u8 = 0xe0;
// Twice the window of DEFLATE, so that a copy from far back is still in the cache; nobody takes the bytes.
const OUT_BUFFER_BYTES: usize = 64 << 10;

const TRUNCATED: DecodeError = DecodeError::Truncated { format: FORMAT };

pub(crate) struct Gzip {
    inflate: Decompress,
    out: Box<[u8]>,
}

impl Gzip {
    pub(crate) fn new() -> Self {
        // Raw DEFLATE: the frame of a member is read here.
        Self { inflate: Decompress::new(false), out: vec![0; OUT_BUFFER_BYTES].into() }
    }

    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Result<u64, DecodeError> {
        let mut allowance = Allowance::new(FORMAT, bytes.len());
        let mut rest = self.member(bytes, &mut allowance)?;
        while !rest.is_empty() {
            // `gzip` itself ignores zeros behind the last member (tapes padded them); a stored sample with such a
            // tail was not written by a loader.
            if !rest.starts_with(&MAGIC) {
                return Err(DecodeError::Trailing { format: FORMAT, trailing_bytes: rest.len() as u64 });
            }
            rest = self.member(rest, &mut allowance)?;
        }
        Ok(allowance.out_bytes())
    }

    /// Decompresses the member at the beginning of `bytes` and returns the rest.
    fn member<'a>(&mut self, bytes: &'a [u8], allowance: &mut Allowance) -> Result<&'a [u8], DecodeError> {
        let mut rest = header(bytes)?;
        let mut crc = Hasher::new();
        // Kept: a new state is 40 kB, which a hundred thousand small samples a second would allocate each.
        self.inflate.reset(false);
        loop {
            let (taken_before, made_before) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(rest, &mut self.out, FlushDecompress::None)
                .map_err(|error| malformed(error.message().unwrap_or("the deflate stream is invalid")))?;
            let taken = (self.inflate.total_in() - taken_before) as usize;
            let made = (self.inflate.total_out() - made_before) as usize;
            rest = &rest[taken..];
            crc.update(&self.out[..made]);
            allowance.take(made as u64)?;
            match status {
                Status::StreamEnd => break,
                // The decompressor asks for more input and there is none.
                Status::Ok | Status::BufError if taken == 0 && made == 0 => return Err(TRUNCATED),
                Status::Ok | Status::BufError => {}
            }
        }
        let (trailer, rest) = rest.split_at_checked(8).ok_or(TRUNCATED)?;
        // The trailer has the length modulo 2^32 (RFC 1952, 2.3.1).
        let length = self.inflate.total_out() & u64::from(u32::MAX);
        same("checksum", little_endian(&trailer[..4]), u64::from(crc.finalize()))?;
        same("length", little_endian(&trailer[4..]), length)?;
        Ok(rest)
    }
}

/// Checks the header of a member and returns what follows it.
fn header(bytes: &[u8]) -> Result<&[u8], DecodeError> {
    if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
        return Err(DecodeError::Foreign {
            format: FORMAT,
            reason: "it does not begin with 1f 8b".to_owned(),
        });
    }
    let (fixed, mut rest) = bytes.split_at_checked(10).ok_or(TRUNCATED)?;
    let (method, flags) = (fixed[2], fixed[3]);
    if method != METHOD_DEFLATE || flags & FLAGS_RESERVED != 0 {
        return Err(malformed("its header names a method or a flag that does not exist"));
    }
    if flags & FLAG_EXTRA != 0 {
        let (length, after) = rest.split_at_checked(2).ok_or(TRUNCATED)?;
        rest = after.get(little_endian(length) as usize..).ok_or(TRUNCATED)?;
    }
    for text in [FLAG_NAME, FLAG_COMMENT] {
        if flags & text != 0 {
            let end = memchr::memchr(0, rest).ok_or(TRUNCATED)?;
            rest = &rest[end + 1..];
        }
    }
    if flags & FLAG_HEADER_CRC != 0 {
        let before = bytes.len() - rest.len();
        let (stored, after) = rest.split_at_checked(2).ok_or(TRUNCATED)?;
        let found = crc32fast::hash(&bytes[..before]) & 0xffff;
        same("header checksum", little_endian(stored), u64::from(found))?;
        rest = after;
    }
    Ok(rest)
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn same(what: &'static str, stored: u64, found: u64) -> Result<(), DecodeError> {
    if stored == found {
        return Ok(());
    }
    Err(DecodeError::Mismatch { format: FORMAT, what, stored, found })
}

fn malformed(reason: &str) -> DecodeError {
    DecodeError::Malformed { format: FORMAT, reason: reason.to_owned() }
}
