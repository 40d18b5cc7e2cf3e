//! Numbers of a structure, one after the other.

/// An address of what is not there.
pub(super) const NOWHERE: u64 = u64::MAX;

/// A structure as it comes to be. Its addresses and lengths have 8 bytes.
#[derive(Default)]
pub(super) struct Block(Vec<u8>);

impl Block {
    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn number16(self, number: u16) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    pub(super) fn number32(self, number: u32) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    pub(super) fn number64(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    /// So many zeros.
    pub(super) fn zeros(mut self, bytes: usize) -> Self {
        self.0.resize(self.0.len() + bytes, 0);
        self
    }

    /// Zeros up to so many bytes; none where there are more.
    pub(super) fn filled(mut self, bytes: usize) -> Self {
        self.0.resize(bytes.max(self.0.len()), 0);
        self
    }

    pub(super) fn length(&self) -> usize {
        self.0.len()
    }

    pub(super) fn done(self) -> Vec<u8> {
        self.0
    }
}
