//! The names of the objects of a copy: numbers, like the names of generated objects, so that a clean-up knows exactly what
//! was written.

use std::fmt;
use std::str::FromStr;

use plan::FILES_PER_FOLDER;

use crate::Key;

/// What the folder of a copy is called, before its number.
pub const COPY_FOLDER: &str = "feedline-copy-";

/// Longest end of a name.
// The longest that is written is `.tfrecord.gz`; what is longer comes from a marker that somebody edited.
const EXTENSION_BYTES_MAX: usize = 16;

/// Names of the objects of a copy. Shown, it is what the marker of its folder says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyNames {
    /// Number of objects.
    count: u32,
    /// What each name ends with, with its dot.
    extension: String,
}

/// The text is not one that [`CopyNames`] writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("these are not the names of a copy")]
pub struct NotACopy;

impl CopyNames {
    /// Names of `count` objects that end with `extension`: a dot, then letters, digits and dots.
    pub fn new(count: u32, extension: &str) -> Result<Self, NotACopy> {
        // The text comes back from a marker on disk, and `clean` removes by it: with a slash or `..` in it a name
        // could leave the folder.
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'.';
        let is_plain = extension.starts_with('.') && extension.bytes().all(plain);
        if count == 0 || !is_plain || extension.len() > EXTENSION_BYTES_MAX {
            return Err(NotACopy);
        }
        Ok(Self { count, extension: extension.to_owned() })
    }

    /// Number of objects.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The name of an object below `folder`.
    pub fn key(&self, folder: &Key, object: u32) -> Key {
        let name = format!("{:06}/{object:09}{}", object / FILES_PER_FOLDER, self.extension);
        folder.join(&name).expect("digits and a plain end")
    }

    /// The number of the object kept under `key`, if it is the name of one.
    pub fn number(&self, folder: &Key, key: &Key) -> Option<u32> {
        let number = key.as_str().strip_suffix(self.extension.as_str())?.rsplit('/').next()?;
        let object = number.parse().ok().filter(|object| *object < self.count)?;
        // Written anew and compared, so that only the one spelling of a number is recognised: `1.bin` beside
        // `000000001.bin` is somebody else's file.
        (self.key(folder, object) == *key).then_some(object)
    }

    /// The folders below `folder` that hold objects.
    pub fn folders(&self, folder: &Key) -> impl Iterator<Item = Key> {
        let first = (0..self.count).step_by(FILES_PER_FOLDER as usize);
        let folders: Vec<Key> = first.filter_map(|object| self.key(folder, object).folder()).collect();
        folders.into_iter()
    }
}

impl fmt::Display for CopyNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{COPY_OF}{}{OBJECTS}{}", self.count, self.extension)
    }
}

const COPY_OF: &str = "copy of ";
const OBJECTS: &str = " objects, named by number and ";

impl FromStr for CopyNames {
    type Err = NotACopy;

    fn from_str(text: &str) -> Result<Self, NotACopy> {
        let (count, extension) =
            text.strip_prefix(COPY_OF).and_then(|rest| rest.split_once(OBJECTS)).ok_or(NotACopy)?;
        let names = Self::new(count.parse().map_err(|_| NotACopy)?, extension)?;
        // `parse` takes a sign and leading zeros, which `Display` never writes.
        if names.to_string() == text { Ok(names) } else { Err(NotACopy) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_the_marker_is_read_back() {
        for (count, extension) in [(1, ".bin"), (u32::MAX, ".tar.zst")] {
            let names = CopyNames::new(count, extension).unwrap();
            assert_eq!(names.to_string().parse(), Ok(names));
        }
        for text in [
            "",
            "copy of 0 objects, named by number and .bin",
            "copy of +1 objects, named by number and .bin",
            "copy of 1 objects, named by number and ../x",
            "copy of 1 objects, named by number and ./x",
            "copy of 1 objects, named by number and bin",
            "5 samples of 1000 B, seed 7",
        ] {
            assert_eq!(text.parse::<CopyNames>(), Err(NotACopy), "{text:?}");
        }
    }

    #[test]
    fn only_exact_names_below_the_folder_are_recognised() {
        let folder = Key::new("feedline-copy-0001").unwrap();
        let names = CopyNames::new(2_000, ".tar").unwrap();
        let key = names.key(&folder, 1_234);
        assert_eq!(key.as_str(), "feedline-copy-0001/000001/000001234.tar");
        assert_eq!(names.number(&folder, &key), Some(1_234));
        for other in
            ["000002/000001234.tar", "000001/1234.tar", "000001/000001234.bin", "000002/000002000.tar"]
        {
            assert_eq!(names.number(&folder, &folder.join(other).unwrap()), None, "{other}");
        }
        assert_eq!(names.number(&Key::new("elsewhere").unwrap(), &key), None);
        assert_eq!(names.folders(&folder).count(), 2);
    }
}
