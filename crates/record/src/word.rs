//! A word that this version knows, or what a newer version wrote.

use std::fmt;

use feed::{Access, Cache, Durability, Operation, Pages, Words};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A word of a record: a value that this version knows, or a word of a newer version as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
// An unknown word is kept as it stands: a record that is read, merged and written again must not lose what
// a newer version knew.
pub struct Word<T>(Result<T, String>);

impl<T: Words> Word<T> {
    /// The value, where this version knows the word.
    pub fn known(&self) -> Option<T> {
        self.0.as_ref().ok().copied()
    }

    /// Whether the value is one of these.
    pub fn is_any(&self, values: &[T]) -> bool {
        self.known().is_some_and(|value| values.contains(&value))
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Ok(value) => value.word(),
            Err(word) => word,
        }
    }
}

/// One for each type: one for all of them would claim `&str`.
macro_rules! from_value {
    ($($type:ty),+) => {
        $(impl From<$type> for Word<$type> {
            fn from(value: $type) -> Self {
                Self(Ok(value))
            }
        })+
    };
}

from_value!(Access, Cache, Durability, Operation, Pages);

impl<T: Words> From<&str> for Word<T> {
    fn from(word: &str) -> Self {
        Self(T::of_word(word).ok_or_else(|| word.to_owned()))
    }
}

impl<T: PartialEq> PartialEq<T> for Word<T> {
    fn eq(&self, value: &T) -> bool {
        self.0.as_ref().is_ok_and(|own| own == value)
    }
}

impl<T: Words> fmt::Display for Word<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl<T: Words> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de, T: Words> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|word| Self::from(word.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stay<T: Words + fmt::Debug>() {
        for value in T::ALL {
            let text = serde_json::to_string(&Word::<T>::from(value.word())).unwrap();
            assert_eq!(text, format!("{:?}", value.word()));
            let read: Word<T> = serde_json::from_str(&text).unwrap();
            assert_eq!(read, *value);
        }
    }

    #[test]
    fn words_are_written_as_they_stand_and_read_back() {
        stay::<Access>();
        stay::<Cache>();
        stay::<Operation>();
        stay::<Pages>();
        stay::<Durability>();
    }

    #[test]
    fn a_word_of_a_newer_version_is_kept() {
        let read: Word<Cache> = serde_json::from_str("\"frozen\"").unwrap();
        assert_eq!((read.known(), read.as_str()), (None, "frozen"));
        assert_eq!(serde_json::to_string(&read).unwrap(), "\"frozen\"");
        assert_ne!(read, Cache::Cold);
    }
}
