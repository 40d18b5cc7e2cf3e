//! Where a body of text ends: by its length, or in chunks (RFC 9112, section 7.1).

/// Longest line between chunks, extensions included.
const LINE_BYTES_MAX: usize = 4096;

/// What is left of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// This many bytes.
    Length(u64),
    /// A line with the length of the next chunk.
    ChunkLength,
    /// This many bytes of a chunk.
    Chunk(u64),
    /// The end of the line behind a chunk.
    ChunkEnd,
    /// Fields behind the last chunk, up to an empty line.
    Trailer,
    /// Nothing.
    Ended,
}

/// The framing makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

impl Framing {
    /// Takes what there is of a body and hands its text to `each`; how many bytes are done with. The rest comes again
    /// with what follows it.
    ///
    /// # Errors
    /// Chunks that make no sense.
    pub fn take(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) -> Result<usize, Malformed> {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            match *self {
                Self::Ended => return Ok(used),
                Self::Length(left) => {
                    let text = first(rest, left);
                    each(text);
                    used += text.len();
                    *self = Self::Length(left - text.len() as u64);
                    if left > text.len() as u64 {
                        return Ok(used);
                    }
                    *self = Self::Ended;
                }
                Self::Chunk(left) => {
                    let text = first(rest, left);
                    each(text);
                    used += text.len();
                    *self = Self::Chunk(left - text.len() as u64);
                    if left > text.len() as u64 {
                        return Ok(used);
                    }
                    *self = Self::ChunkEnd;
                }
                Self::ChunkLength | Self::ChunkEnd | Self::Trailer => {
                    let Some(line) = line(rest)? else { return Ok(used) };
                    used += line.len() + 2;
                    *self = self.after(line)?;
                }
            }
        }
    }

    /// What follows a line.
    fn after(self, line: &[u8]) -> Result<Self, Malformed> {
        Ok(match self {
            Self::ChunkLength => match chunk_length(line)? {
                0 => Self::Trailer,
                bytes => Self::Chunk(bytes),
            },
            Self::ChunkEnd if line.is_empty() => Self::ChunkLength,
            Self::Trailer if line.is_empty() => Self::Ended,
            // Fields of the trailer mean nothing here, but the next reply begins behind them.
            Self::Trailer => Self::Trailer,
            _ => return Err(Malformed),
        })
    }
}

fn first(bytes: &[u8], count: u64) -> &[u8] {
    &bytes[..usize::try_from(count).map_or(bytes.len(), |count| count.min(bytes.len()))]
}

/// A line without its end; `None` when it has not come in full.
fn line(bytes: &[u8]) -> Result<Option<&[u8]>, Malformed> {
    match bytes.windows(2).position(|pair| pair == b"\r\n") {
        Some(end) => Ok(Some(&bytes[..end])),
        // A line without an end would let a server fill any amount of memory.
        None if bytes.len() > LINE_BYTES_MAX => Err(Malformed),
        None => Ok(None),
    }
}

fn chunk_length(line: &[u8]) -> Result<u64, Malformed> {
    // RFC 9112, section 7.1.1: extensions follow a semicolon and may be ignored.
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    let text = std::str::from_utf8(digits).map_err(|_| Malformed)?;
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Malformed);
    }
    u64::from_str_radix(text, 16).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Text and bytes used when a body comes in pieces cut at `cuts`.
    fn run(
        mut framing: Framing,
        bytes: &[u8],
        cuts: &[usize],
    ) -> Result<(Vec<u8>, usize, Framing), Malformed> {
        let (mut text, mut used) = (Vec::new(), 0);
        let ends = cuts.iter().map(|cut| cut % (bytes.len() + 1)).chain([bytes.len()]);
        for end in ends.filter(|end| *end >= used).collect::<Vec<_>>() {
            if end >= used {
                used += framing.take(&bytes[used..end], |piece| text.extend_from_slice(piece))?;
            }
        }
        Ok((text, used, framing))
    }

    const CHUNKED: &[u8] = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nExpires: never\r\n\r\nHTTP/1.1";

    #[test]
    fn a_body_ends_where_its_framing_says() {
        let of = |framing, bytes| run(framing, bytes, &[]).unwrap();
        assert_eq!(of(Framing::Length(3), b"abcdef"), (b"abc".to_vec(), 3, Framing::Ended));
        assert_eq!(of(Framing::Length(9), b"abc"), (b"abc".to_vec(), 3, Framing::Length(6)));
        assert_eq!(
            of(Framing::ChunkLength, CHUNKED),
            (b"hello world".to_vec(), CHUNKED.len() - 8, Framing::Ended)
        );
    }

    #[test]
    fn chunks_that_make_no_sense_are_refused() {
        for bytes in
            [&b"x\r\n"[..], b"\r\n", b"-1\r\n", b"fffffffffffffffff\r\n", b"2\r\nabc\r\n", &[b'1'; 5000]]
        {
            assert!(run(Framing::ChunkLength, bytes, &[]).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn chunks_are_the_same_wherever_they_are_cut(mut cuts in proptest::collection::vec(0_usize..100, 0..8)) {
            cuts.sort_unstable();
            let cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut <= CHUNKED.len()).collect();
            prop_assert_eq!(run(Framing::ChunkLength, CHUNKED, &cuts), run(Framing::ChunkLength, CHUNKED, &[]));
        }

        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0_usize..200) {
            let _ = run(Framing::ChunkLength, &bytes, &[cut]);
        }
    }
}
