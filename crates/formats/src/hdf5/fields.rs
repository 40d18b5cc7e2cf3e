//! Numbers that follow each other.

/// An address of what is not there. Files write it as all ones, in as many bytes as their addresses have.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// A length without a limit, written in the same way.
pub(crate) const UNLIMITED: u64 = u64::MAX;

/// Bytes of the numbers that every file chooses for itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Of an address.
    pub(crate) address: usize,
    /// Of a length.
    pub(crate) length: usize,
}

/// The fields of a structure that are not read yet. Each is `None` where the structure ends before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    sizes: Sizes,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8], sizes: Sizes) -> Self {
        Self { rest: bytes, sizes }
    }

    /// So many bytes as they are.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        Some(taken)
    }

    pub(crate) fn skip(&mut self, bytes: usize) -> Option<()> {
        self.take(bytes).map(|_| ())
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// A little-endian number of at most eight bytes.
    pub(crate) fn number(&mut self, bytes: usize) -> Option<u64> {
        let taken = self.take(bytes).filter(|taken| taken.len() <= 8)?;
        Some(taken.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A length or a count, or [`UNLIMITED`].
    pub(crate) fn length(&mut self) -> Option<u64> {
        self.widened(self.sizes.length)
    }

    /// A place in the file, or [`NOWHERE`].
    pub(crate) fn address(&mut self) -> Option<u64> {
        self.widened(self.sizes.address)
    }

    /// A number, of which all ones mean the same whatever its width.
    fn widened(&mut self, bytes: usize) -> Option<u64> {
        let number = self.number(bytes)?;
        Some(if number.count_ones() as usize == 8 * bytes { u64::MAX } else { number })
    }

    /// So many lengths, one for each axis.
    pub(crate) fn lengths(&mut self, count: usize) -> Option<Vec<u64>> {
        (0..count).map(|_| self.length()).collect()
    }

    /// All that is left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }
}
