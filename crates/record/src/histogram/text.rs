//! The text of a histogram, which stays in the record's file until it is asked for.

use std::borrow::Cow;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use memchr::memmem;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::{HistogramError, TEXT_BYTES_MAX};

/// A latency histogram as text: base64 of HdrHistogram's V2-deflate encoding. 3 significant digits for a
/// repetition, 2 for one second of it; 1 ns to 60 s.
#[derive(Debug, Clone)]
pub struct HistogramText(Place);

/// Bytes by which a text is looked for: its cookie, its length and what deflate begins with.
const BEGIN_BYTES: usize = 16;

/// Where a text is.
// The texts are nine tenths of a record, and a report asks for each once: held all at once, those of 10,000 cells are 300 MB.
#[derive(Debug, Clone)]
enum Place {
    Held(String),
    InFile { file: Arc<File>, at: u64, bytes: u32, crc: u32 },
}

impl HistogramText {
    /// Takes a text as it is: what is wrong with it is found by who reads it.
    pub fn new(text: String) -> Self {
        Self(Place::Held(text))
    }

    /// The text.
    ///
    /// # Errors
    /// Where the record's file can no longer be read, or holds something else than before.
    pub fn text(&self) -> Result<Cow<'_, str>, HistogramError> {
        match &self.0 {
            Place::Held(text) if text.len() > TEXT_BYTES_MAX => {
                Err(HistogramError::TooLong { bytes: text.len() })
            }
            Place::Held(text) => Ok(Cow::Borrowed(text)),
            Place::InFile { file, at, bytes, crc } => {
                let mut text = vec![0; *bytes as usize];
                file.read_exact_at(&mut text, *at).map_err(HistogramError::File)?;
                // A file that was written over is still the one that is open.
                let text =
                    String::from_utf8(text).ok().filter(|text| crc32fast::hash(text.as_bytes()) == *crc);
                text.map(Cow::Owned).ok_or(HistogramError::Changed)
            }
        }
    }

    /// Lets go of the text, if it stands behind byte `from` of a line that begins at byte `line_at` of `file`. Returns where in
    /// the line it ends, or `None` where it was not found.
    pub(crate) fn leave_in(
        &mut self,
        file: &Arc<File>,
        (line, line_at): (&[u8], u64),
        from: usize,
    ) -> Option<usize> {
        let Place::Held(text) = &self.0 else { return Some(from) };
        let text = text.as_bytes();
        if text.is_empty() || text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let bytes = u32::try_from(text.len()).ok()?;
        // By its first bytes: getting ready to search for all of them takes as long as reading them.
        let mut begins = memmem::find_iter(&line[from..], &text[..text.len().min(BEGIN_BYTES)]);
        // Any text that is the same is as good: nobody asks which of two it is.
        let found = from + begins.find(|begin| line[from + begin..].starts_with(text))?;
        let crc = crc32fast::hash(text);
        self.0 = Place::InFile { file: Arc::clone(file), at: line_at + found as u64, bytes, crc };
        Some(found + bytes as usize)
    }

    /// Length and checksum of the text, as it was when it was read.
    fn sum(&self) -> (u64, u32) {
        match &self.0 {
            Place::Held(text) => (text.len() as u64, crc32fast::hash(text.as_bytes())),
            Place::InFile { bytes, crc, .. } => (u64::from(*bytes), *crc),
        }
    }
}

/// Two texts are equal if they said the same when they were read: a file that changed since makes no difference to that.
impl PartialEq for HistogramText {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Place::Held(one), Place::Held(other)) => one == other,
            _ => self.sum() == other.sum(),
        }
    }
}

impl Serialize for HistogramText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Place::Held(text) => serializer.serialize_str(text),
            Place::InFile { .. } => {
                serializer.serialize_str(&self.text().map_err(serde::ser::Error::custom)?)
            }
        }
    }
}

impl<'de> Deserialize<'de> for HistogramText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}
