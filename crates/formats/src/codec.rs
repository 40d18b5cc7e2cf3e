//! Shards compressed as a whole: packed while they are written, unpacked while they are counted.

use std::io::{self, BufReader, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use plan::Codec;
use zstd_safe::{CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, get_error_name};

use crate::error::FormatError;
use crate::shard::Source;

/// What `zstd` packs with unless it is told otherwise.
const ZSTD_LEVEL: i32 = 3;

/// The widest window that `zstd` unpacks unless it is told otherwise, as a power of two: 128 MiB.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// Packs what `inner` writes.
pub(crate) fn packed(
    codec: Codec,
    out: &mut dyn Write,
    inner: &mut dyn FnMut(&mut dyn Write) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    match codec {
        Codec::None => inner(out),
        Codec::Gzip => {
            // Its header has no name and no time, so that equal samples make equal shards.
            // Level 6, as `gzip` has it.
            let mut encoder = GzEncoder::new(out, Compression::default());
            inner(&mut encoder)?;
            encoder.finish()?;
            Ok(())
        }
        Codec::Zstd => {
            let mut encoder = ZstdEncoder::new(out)?;
            inner(&mut encoder)?;
            Ok(encoder.finish()?)
        }
    }
}

struct ZstdEncoder<'a> {
    out: &'a mut dyn Write,
    context: CCtx<'static>,
    buffer: Vec<u8>,
}

impl<'a> ZstdEncoder<'a> {
    fn new(out: &'a mut dyn Write) -> io::Result<Self> {
        let mut context = CCtx::create();
        // `zstd` writes a checksum by default and the library does not; shards are to be as the tool makes them.
        for parameter in [CParameter::CompressionLevel(ZSTD_LEVEL), CParameter::ChecksumFlag(true)] {
            context.set_parameter(parameter).map_err(of_zstd)?;
        }
        Ok(Self { out, context, buffer: vec![0; CCtx::out_size()] })
    }

    fn finish(mut self) -> io::Result<()> {
        loop {
            let mut output = OutBuffer::around(self.buffer.as_mut_slice());
            let left = self.context.end_stream(&mut output).map_err(of_zstd)?;
            self.out.write_all(output.as_slice())?;
            if left == 0 {
                return Ok(());
            }
        }
    }
}

impl Write for ZstdEncoder<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut input = InBuffer::around(bytes);
        while input.pos() < bytes.len() {
            let mut output = OutBuffer::around(self.buffer.as_mut_slice());
            self.context.compress_stream(&mut output, &mut input).map_err(of_zstd)?;
            self.out.write_all(output.as_slice())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn of_zstd(code: usize) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, get_error_name(code))
}

/// A source, read from its beginning to its end.
struct Forwards<'a> {
    source: &'a mut dyn Source,
    at: u64,
    /// Whether the source failed, rather than what was in it.
    failed: bool,
}

impl Read for Forwards<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // Never past the size that was listed: a file that grows meanwhile is read as it was.
        let left = self.source.bytes().saturating_sub(self.at);
        let part = left.min(out.len() as u64) as usize;
        if part > 0 {
            let read = self.source.read_exact_at(self.at, &mut out[..part]);
            self.failed |= read.is_err();
            read?;
        }
        self.at += part as u64;
        Ok(part)
    }
}

/// The unpacked bytes of a shard.
pub(crate) struct Unpacked<'a> {
    layout: &'static str,
    reader: Reader<'a>,
}

enum Reader<'a> {
    Plain(Forwards<'a>),
    Gzip(MultiGzDecoder<BufReader<Forwards<'a>>>),
    Zstd(ZstdDecoder<'a>),
}

impl<'a> Unpacked<'a> {
    /// From the beginning of the shard, which is said to hold `layout`.
    pub(crate) fn new(layout: &'static str, codec: Codec, source: &'a mut dyn Source) -> io::Result<Self> {
        let forwards = Forwards { source, at: 0, failed: false };
        let reader = match codec {
            Codec::None => Reader::Plain(forwards),
            Codec::Gzip => {
                // Several members: `pigz` and appended archives make them, and a decoder of one would stop at the
                // first without an error.
                Reader::Gzip(MultiGzDecoder::new(BufReader::with_capacity(DCtx::in_size(), forwards)))
            }
            Codec::Zstd => Reader::Zstd(ZstdDecoder::new(forwards)?),
        };
        Ok(Self { layout, reader })
    }

    /// The next bytes: how many, 0 at the end.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize, FormatError> {
        let read = match &mut self.reader {
            Reader::Plain(reader) => reader.read(out),
            Reader::Gzip(reader) => reader.read(out),
            Reader::Zstd(reader) => reader.read(out),
        };
        read.map_err(|error| self.explained(error))
    }

    /// What was wrong with the bytes is told apart from a storage that failed.
    fn explained(&self, error: io::Error) -> FormatError {
        let (what, raw) = match &self.reader {
            Reader::Plain(reader) => ("shard", reader),
            Reader::Gzip(reader) => ("gzip stream", reader.get_ref().get_ref()),
            Reader::Zstd(reader) => ("zstd stream", &reader.forwards),
        };
        let offset = raw.at;
        if raw.failed {
            FormatError::Io(error)
        } else if error.kind() == io::ErrorKind::UnexpectedEof {
            FormatError::Truncated { what, offset, needed_bytes: 1, left_bytes: 0 }
        } else {
            FormatError::Malformed {
                layout: self.layout,
                found: format!("a broken {what} ({error})"),
                offset,
            }
        }
    }
}

struct ZstdDecoder<'a> {
    forwards: Forwards<'a>,
    context: DCtx<'static>,
    buffer: Vec<u8>,
    held: usize,
    from: usize,
    /// Whether a frame has begun and not ended.
    is_inside: bool,
}

impl<'a> ZstdDecoder<'a> {
    fn new(forwards: Forwards<'a>) -> io::Result<Self> {
        let mut context = DCtx::create();
        context.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX)).map_err(of_zstd)?;
        Ok(Self { forwards, context, buffer: vec![0; DCtx::in_size()], held: 0, from: 0, is_inside: false })
    }

    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.from == self.held {
                self.from = 0;
                self.held = self.forwards.read(&mut self.buffer)?;
            }
            // Not returned at once: the decoder may still hold bytes of the frame that its buffer had no room for.
            let is_ended = self.held == 0;
            if is_ended && !self.is_inside {
                return Ok(0);
            }
            let mut input = InBuffer::around(&self.buffer[self.from..self.held]);
            let mut output = OutBuffer::around(&mut *out);
            let hint = self.context.decompress_stream(&mut output, &mut input).map_err(of_zstd)?;
            self.from += input.pos();
            // 0 says that a frame is whole; more may follow, as `pzstd` and concatenation make them.
            self.is_inside = hint != 0;
            let made = output.pos();
            if made > 0 {
                return Ok(made);
            }
            if is_ended && self.is_inside {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}
