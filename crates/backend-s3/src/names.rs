//! Where a key lies in the bucket.
//!
//! Keys of a target begin with its prefix. With `prefixes = N` above 1, what feedline generates is spread over N
//! prefixes, since services limit requests by prefix: the object of key K lies at `PREFIX/HH/K`, HH being a hash of K
//! modulo N in hexadecimal. A folder's marker stays at `PREFIX/FOLDER/…`, where it is looked for before anything is
//! known of the folder.

use backend_http::fnv;
use dataset::{Key, MARKER_NAME};

/// Maps keys of the target to keys of the bucket, and back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Names {
    /// Empty, or with a slash at its end.
    prefix: String,
    spread: u32,
    digits: usize,
}

impl Names {
    pub(crate) fn new(prefix: &str, spread: u32) -> Self {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let spread = spread.max(1);
        // One width for all prefixes of a target, so that they sort by their numbers.
        let digits = (32 - (spread - 1).leading_zeros()).div_ceil(4).max(2) as usize;
        Self { prefix, spread, digits }
    }

    /// What every key of the bucket begins with that belongs to the target.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Prefixes that objects are spread over; 1 when they are not.
    pub(crate) fn spread(&self) -> u32 {
        self.spread
    }

    /// Appends where the object of `key` lies.
    pub(crate) fn write(&self, key: &str, out: &mut String) {
        out.push_str(&self.prefix);
        // S3 limits requests for each prefix (5,500 GETs a second); objects below one folder would share one
        // limit.
        if self.spread > 1 && !is_marker(key) {
            self.push_spread((hash(key) % u64::from(self.spread)) as u32, out);
        }
        out.push_str(key);
    }

    /// Where the object of `key` lies.
    pub(crate) fn of(&self, key: &Key) -> String {
        let mut out = String::new();
        self.write(key.as_str(), &mut out);
        out
    }

    /// What the keys under the `number`th prefix begin with, `number` below [`Names::spread`].
    pub(crate) fn root(&self, number: u32) -> String {
        let mut out = self.prefix.clone();
        if self.spread > 1 {
            self.push_spread(number, &mut out);
        }
        out
    }

    /// Whether a folder directly below the root is one of those that objects are spread over.
    pub(crate) fn is_spread_folder(&self, name: &str) -> bool {
        self.spread > 1
            && name.len() == self.digits
            && u32::from_str_radix(name, 16).is_ok_and(|number| number < self.spread)
    }

    /// Whether a key of the bucket is where an object of the dataset in `folder` lies; what others put below a folder of
    /// feedline's own has other names.
    pub(crate) fn is_generated(&self, folder: &Key, physical: &str) -> bool {
        let below = physical.strip_prefix(&self.prefix);
        let key =
            if self.spread > 1 { below.and_then(|below| Some(below.split_once('/')?.1)) } else { below };
        let Some(key) = key else { return false };
        let name = key.strip_prefix(folder.as_str()).and_then(|name| name.strip_prefix('/'));
        let mut place = String::new();
        self.write(key, &mut place);
        // Made again and compared: an upload that merely looks like one of this folder is another's.
        place == physical && name.is_some_and(is_object)
    }

    fn push_spread(&self, number: u32, out: &mut String) {
        for digit in (0..self.digits).rev() {
            let value = number >> (4 * digit) & 15;
            out.push(char::from_digit(value, 16).unwrap_or('0'));
        }
        out.push('/');
    }
}

/// As `dataset::Objects` names what it generates: `000000/000000000.bin`.
fn is_object(name: &str) -> bool {
    let number =
        |text: &str, digits: usize| text.len() >= digits && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = name.strip_suffix(".bin").and_then(|name| name.split_once('/'));
    parts.is_some_and(|(directory, object)| number(directory, 6) && number(object, 9))
}

fn is_marker(key: &str) -> bool {
    key.strip_suffix(MARKER_NAME).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
}

/// FNV-1a of 64 bits (<https://datatracker.ietf.org/doc/html/draft-eastlake-fnv>), its halves folded: objects must be
/// found again by every later version, and names that differ in a digit must spread evenly.
fn hash(text: &str) -> u64 {
    let hash = fnv(text.as_bytes());
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::new(name).unwrap()
    }

    #[test]
    fn a_plain_target_puts_its_prefix_before_each_key() {
        assert_eq!(Names::new("", 1).of(&key("a/b")), "a/b");
        let names = Names::new("team/x", 1);
        assert_eq!((names.of(&key("a/b")).as_str(), names.root(0).as_str()), ("team/x/a/b", "team/x/"));
    }

    #[test]
    fn spread_keys_stay_where_they_are_for_ever() {
        let names = Names::new("p", 16);
        assert_eq!(names.of(&key("d/000000/000000000.bin")), "p/04/d/000000/000000000.bin");
        assert_eq!(names.of(&key(&format!("d/{MARKER_NAME}"))), format!("p/d/{MARKER_NAME}"));
        assert!(
            names.is_spread_folder("0f") && !names.is_spread_folder("10") && !names.is_spread_folder("d")
        );
        assert_eq!(Names::new("", 1_000).root(999), "3e7/");
    }

    #[test]
    fn only_what_is_generated_in_a_folder_is_taken_for_that() {
        for spread in [1, 16] {
            let names = Names::new("p", spread);
            let place = |name: &str| names.of(&key(name));
            let mine = |name: &str| names.is_generated(&key("d"), &place(name));
            assert!(mine("d/000000/000000000.bin") && mine("d/4294967/4294967295.bin"));
            for other in
                ["d/notes.bin", "d/000000/a.bin", "d2/000000/000000000.bin", "d/000000/000000000", "x/d"]
            {
                assert!(!mine(other), "{other}");
            }
            for other in ["d/000000/000000000.bin", "p/0f/d/000000/000000000.bin", "q/d/000000/000000000.bin"]
            {
                assert!(!names.is_generated(&key("d"), other), "{other}");
            }
        }
    }

    #[test]
    fn generated_names_spread_evenly() {
        let names = Names::new("", 8);
        let mut counts = [0_u32; 8];
        for object in 0..8_000 {
            let place = names.of(&key(&format!("d/{:06}/{object:09}.bin", object / 1_000)));
            counts[usize::from_str_radix(&place[..2], 16).unwrap()] += 1;
        }
        assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
    }
}
