//! Names for what is being written: a store that renames what is complete keeps it under such a name until then.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The end of every such name.
const SUFFIX: &str = ".feedline-tmp";

/// A number that no other process has, on this host or on another one that uses the same storage.
// A process number would be unique neither between hosts nor between containers. The keys of a map are the
// standard library's source of random bits.
static RANDOM: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());

/// Names given so far.
static GIVEN: AtomicU64 = AtomicU64::new(0);

/// A unique name under which `name` is written until it is complete, so that two processes that prepare the same
/// dataset do not take each other's objects.
pub fn unfinished_name(name: &str) -> String {
    let number = RANDOM.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
    format!(".{name}.{number:016x}{SUFFIX}")
}

/// Whether [`unfinished_name`] gave a name: then a killed process left behind what has it.
pub fn is_unfinished_name(name: &[u8]) -> bool {
    name.starts_with(b".") && name.ends_with(SUFFIX.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_names_are_recognised_and_others_are_not() {
        let [one, two] = [unfinished_name("000000001.bin"), unfinished_name("000000001.bin")];
        assert!(is_unfinished_name(one.as_bytes()) && is_unfinished_name(two.as_bytes()));
        assert_ne!(one, two);
        for name in ["a.feedline-tmp", ".hidden", "000000001.bin", ".a.feedline-tmp.bin"] {
            assert!(!is_unfinished_name(name.as_bytes()), "{name}");
        }
    }
}
