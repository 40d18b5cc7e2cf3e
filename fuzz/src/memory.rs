//! A file that is in memory.

use std::io;

use formats::Source;

pub(crate) struct Memory<'a>(pub(crate) &'a [u8]);

impl Source for Memory<'_> {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&mut self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        out.copy_from_slice(&self.0[offset as usize..offset as usize + out.len()]);
        Ok(())
    }
}
