//! Ranges of an object, as they are asked for and as a reply names them.

use crate::encode::push_number;

/// Bytes of an object that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRange {
    /// Of the first byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

impl ByteRange {
    /// The offset of the last byte.
    pub fn last(self) -> u64 {
        self.offset + self.len.saturating_sub(1)
    }

    /// The value of the header `Range`.
    pub fn header(self) -> String {
        format!("bytes={}-{}", self.offset, self.last())
    }

    /// Appends the value of the header `Range`, without the machinery of formatting.
    pub fn push(self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"bytes=");
        push_number(self.offset, out);
        out.push(b'-');
        push_number(self.last(), out);
    }

    /// Holds what a reply says of its body of `length` bytes against what was asked; the error says what is wrong.
    /// `is_whole` is the status 200, which says that all of the object follows.
    ///
    /// # Errors
    /// Words for the end of a sentence on the reply.
    pub fn check(self, length: u64, is_whole: bool, found: Option<ContentRange>) -> Result<(), &'static str> {
        if is_whole {
            // RFC 9110, section 14.2: a server may ignore Range. That is right only where the range is all there is.
            let is_all = self.offset == 0 && length == self.len;
            return if is_all { Ok(()) } else { Err("the endpoint ignores Range") };
        }
        let fits = found.is_some_and(|found| {
            found.first == self.offset
                && found.last - found.first == length.wrapping_sub(1)
                && length <= self.len
        });
        if fits { Ok(()) } else { Err("its Content-Range is not what was asked") }
    }
}

/// A `Content-Range`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContentRange {
    /// Offset of the first byte.
    pub first: u64,
    /// Offset of the last byte.
    pub last: u64,
    /// Bytes of the whole object, where it is known.
    pub total: Option<u64>,
}

/// Digits alone: no sign, no blanks inside.
pub(crate) fn number(value: &[u8]) -> Option<u64> {
    // `u64::from_str` would take a plus sign.
    let digits = value.trim_ascii();
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// `bytes FIRST-LAST/TOTAL`; `None` for everything else, also for `bytes */TOTAL`.
pub fn content_range(value: &[u8]) -> Option<ContentRange> {
    let rest = value.trim_ascii().strip_prefix(b"bytes ")?;
    let dash = rest.iter().position(|byte| *byte == b'-')?;
    let slash = rest.iter().position(|byte| *byte == b'/')?;
    let (first, last) = (number(rest.get(..dash)?)?, number(rest.get(dash + 1..slash)?)?);
    let total = match &rest[slash + 1..] {
        b"*" => None,
        total => Some(number(total)?),
    };
    (first <= last && total.is_none_or(|total| last < total)).then_some(ContentRange { first, last, total })
}
