//! Bytes of a connection that were read and not yet used: heads, and whatever came with them.

/// A head that is longer is none: the connection is given up.
pub(crate) const HEAD_BYTES_MAX: usize = 256 << 10;

/// A buffer that grows when a head needs it.
pub(crate) struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes asked from a socket at once, at most, while no more are needed.
    read_bytes: usize,
}

impl Input {
    pub(crate) fn new(read_bytes: usize) -> Self {
        Self { bytes: vec![0; read_bytes], start: 0, end: 0, read_bytes }
    }

    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Where more goes, at least one byte, and as much as makes [`Input::unread`] `need` bytes long.
    pub(crate) fn spare(&mut self, need: usize) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let need = need.max(self.end - self.start + 1).min(HEAD_BYTES_MAX);
        if self.bytes.len() - self.start < need && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.bytes.len() < need {
            self.bytes.resize(need.next_power_of_two(), 0);
        }
        let until = self.bytes.len().min(self.end + self.read_bytes.max(need));
        &mut self.bytes[self.end..until]
    }

    /// So many bytes were put where [`Input::spare`] said.
    pub(crate) fn filled(&mut self, bytes: usize) {
        self.end = (self.end + bytes).min(self.bytes.len());
    }

    pub(crate) fn used(&mut self, bytes: usize) {
        self.start = (self.start + bytes).min(self.end);
    }

    pub(crate) fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    #[cfg(test)]
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.len()
    }
}
