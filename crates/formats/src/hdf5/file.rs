//! A file that is not trusted, read structure by structure.

use super::fields::{Fields, NOWHERE, Sizes};
use super::refusal::malformed;
use crate::error::FormatError;
use crate::input::{Input, PART_BYTES_MAX, Window, fits};

/// Where structures lie, and how many of its bytes they may be.
pub(crate) struct File<'a, 's> {
    window: &'a mut Window<'s>,
    sizes: Sizes,
    /// Where addresses count from.
    base: u64,
    /// Bytes of the file that no structure was read from yet.
    // Every structure is read once. Whatever refers to itself, or to one structure by many ways, comes to the end of this.
    left: u64,
}

impl<'a, 's> File<'a, 's> {
    pub(crate) fn new(window: &'a mut Window<'s>, sizes: Sizes, base: u64) -> Self {
        let left = window.bytes();
        Self { window, sizes, base, left }
    }

    pub(crate) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// Where in the file that many bytes lie, all of which are there.
    pub(crate) fn place(&self, what: &'static str, address: u64, bytes: u64) -> Result<u64, FormatError> {
        let offset = if address == NOWHERE { None } else { self.base.checked_add(address) };
        let offset = offset.ok_or_else(|| malformed(format!("a {what} at no place"), 0))?;
        fits(what, offset, bytes, self.window.bytes())?;
        Ok(offset)
    }

    /// Counts bytes as read, which may be done but once for each byte of the file.
    pub(crate) fn count(&mut self, what: &'static str, address: u64, bytes: u64) -> Result<(), FormatError> {
        let offset = self.place(what, address, bytes)?;
        let found = || malformed(format!("a {what} among structures that lie over each other"), offset);
        self.left = self.left.checked_sub(bytes).ok_or_else(found)?;
        Ok(())
    }

    /// A part of a structure. It is counted.
    pub(crate) fn part(
        &mut self,
        what: &'static str,
        address: u64,
        bytes: usize,
    ) -> Result<Fields<'_>, FormatError> {
        self.count(what, address, bytes as u64)?;
        self.look(what, address, bytes)
    }

    /// A part of a structure that is counted elsewhere.
    pub(crate) fn look(
        &mut self,
        what: &'static str,
        address: u64,
        bytes: usize,
    ) -> Result<Fields<'_>, FormatError> {
        let offset = self.place(what, address, bytes as u64)?;
        if bytes > PART_BYTES_MAX {
            return Err(malformed(format!("a {what} of {bytes} B"), offset));
        }
        Ok(Fields::new(self.window.must(what, offset, bytes)?, self.sizes))
    }

    /// The head of a structure, behind its signature and a version of 0.
    pub(crate) fn signed(
        &mut self,
        what: &'static str,
        signature: [u8; 4],
        address: u64,
        bytes: usize,
    ) -> Result<Fields<'_>, FormatError> {
        let offset = self.place(what, address, bytes as u64)?;
        let mut fields = self.part(what, address, bytes)?;
        if fields.take(4) != Some(&signature) {
            return Err(malformed(format!("no {what}"), offset));
        }
        match fields.byte() {
            Some(0) => Ok(fields),
            version => {
                let version = version.unwrap_or_default();
                Err(malformed(format!("a {what} of version {version}, of which only 0 is read"), offset))
            }
        }
    }

    /// A copy of some bytes, where what is read next lies elsewhere. It is counted.
    pub(crate) fn copy(
        &mut self,
        what: &'static str,
        address: u64,
        bytes: u64,
    ) -> Result<Vec<u8>, FormatError> {
        // Before a byte is allocated.
        self.count(what, address, bytes)?;
        let offset = self.place(what, address, bytes)?;
        let mut copy = vec![0; bytes as usize];
        self.window.read(offset, &mut copy)?;
        Ok(copy)
    }

    /// What was found at an address, where that is not what should be.
    pub(crate) fn broken(&self, found: impl Into<String>, address: u64) -> FormatError {
        malformed(found, self.base.saturating_add(address))
    }
}
