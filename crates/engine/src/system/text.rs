//! A file of the kernel that is read again and again.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

/// Holds most files of `/proc` at once.
const FIRST_BYTES: usize = 8_192;

/// A file held open, and a buffer that has grown to its size.
#[derive(Debug)]
pub(crate) struct Text {
    file: File,
    buffer: Vec<u8>,
}

impl Text {
    /// `None` where the file cannot be opened.
    pub(crate) fn open(path: &str) -> Option<Self> {
        Some(Self { file: File::open(path).ok()?, buffer: vec![0; FIRST_BYTES] })
    }

    /// The file as it is now; `None` where it can no longer be read. The kernel hands out large files in parts.
    pub(crate) fn read(&mut self) -> Option<&str> {
        let mut length = 0;
        loop {
            if length == self.buffer.len() {
                self.buffer.resize(2 * length, 0);
            }
            // By position: the file stays open, and reading from 0 makes the kernel write it anew.
            match self.file.read_at(&mut self.buffer[length..], length as u64).ok()? {
                0 => return std::str::from_utf8(&self.buffer[..length]).ok(),
                bytes => length += bytes,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_file_longer_than_the_buffer_is_read_whole_and_again() {
        let path = std::env::temp_dir().join(format!("engine-text-{}", std::process::id()));
        let mut file = File::create(&path).unwrap();
        let mut text = Text::open(path.to_str().unwrap()).unwrap();
        assert_eq!(text.read(), Some(""));
        let long = "0123456789".repeat(FIRST_BYTES / 4);
        file.write_all(long.as_bytes()).unwrap();
        assert_eq!(text.read(), Some(long.as_str()));
        file.set_len(3).unwrap();
        assert_eq!(text.read(), Some("012"));
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_missing_file_is_none() {
        assert!(Text::open("/proc/no-such-file").is_none());
    }
}
