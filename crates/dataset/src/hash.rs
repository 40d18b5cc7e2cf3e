//! Identity: of an access plan, and of a dataset as it lies on storage.

use plan::Access;
use sha2::{Digest, Sha256};

use crate::{Key, Objects, Order};

/// Accesses that enter the hash one by one; beyond them the order's parameters decide.
const SAMPLED_TICKETS: u64 = 4096;

/// SHA-256 over what decides which bytes are read in which order: sizes, block, order, seed and the first
/// accesses themselves. Names, engines, depths and thread counts do not enter: two targets with equal
/// hashes read the same bytes in the same order.
pub fn plan_hash(objects: &Objects, access: Access, block_bytes: u32, seed: u64) -> String {
    let mut hasher = Sha256::new();
    hasher.update(b"feedline access plan 1");
    for part in
        [u64::from(objects.count()), objects.total_bytes(), u64::from(block_bytes), seed, access as u64]
    {
        hasher.update(part.to_le_bytes());
    }
    if let Ok(order) = Order::new(objects, access, block_bytes, seed) {
        for ticket in 0..SAMPLED_TICKETS.min(order.tickets_per_epoch()) {
            let span = order.at(ticket);
            hasher.update(span.object.to_le_bytes());
            hasher.update(span.offset.to_le_bytes());
            hasher.update(span.len.to_le_bytes());
        }
    }
    hex(&hasher.finalize())
}

/// One hash for a set of hashes, whatever their order and however often each occurs.
pub fn combined_hash(mut hashes: Vec<String>) -> String {
    hashes.sort_unstable();
    hashes.dedup();
    hex(&Sha256::digest(hashes.concat()))
}

/// Hash over names, sizes and modification times, taken when a dataset is written or listed.
#[derive(Debug, Clone)]
pub struct Fingerprint(Sha256);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(Sha256::new_with_prefix(b"feedline dataset 1"))
    }
}

impl Fingerprint {
    /// Adds one object; the order of calls matters.
    pub fn add(&mut self, key: &Key, bytes: u64, modified_ns: i128) {
        self.0.update((key.as_str().len() as u64).to_le_bytes());
        self.0.update(key.as_str().as_bytes());
        self.0.update(bytes.to_le_bytes());
        self.0.update(modified_ns.to_le_bytes());
    }

    /// The fingerprint, hex.
    pub fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        use std::fmt::Write as _;
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(folder: &str, count: u32) -> Objects {
        Objects::Uniform { folder: Key::new(folder).unwrap(), count, bytes: 1000 }
    }

    #[test]
    fn the_hash_depends_on_what_is_read_and_not_on_where_it_lies() {
        let hash =
            |folder, count, access, block, seed| plan_hash(&objects(folder, count), access, block, seed);
        let base = hash("a", 10, Access::Random, 100, 1);
        assert_eq!(base, hash("b", 10, Access::Random, 100, 1));
        assert_ne!(base, hash("a", 11, Access::Random, 100, 1));
        assert_ne!(base, hash("a", 10, Access::Sequential, 100, 1));
        assert_ne!(base, hash("a", 10, Access::Random, 200, 1));
        assert_ne!(base, hash("a", 10, Access::Random, 100, 2));
        assert_eq!(base.len(), 64);
    }

    #[test]
    fn a_combined_hash_is_that_of_a_set() {
        let of = |hashes: &[&str]| combined_hash(hashes.iter().map(|hash| (*hash).to_owned()).collect());
        assert_eq!(of(&["a", "b", "a"]), of(&["b", "a"]));
        assert_ne!(of(&["a", "b"]), of(&["a"]));
    }

    #[test]
    fn a_fingerprint_sees_name_size_and_time() {
        let of = |name: &str, bytes, time| {
            let mut fingerprint = Fingerprint::default();
            fingerprint.add(&Key::new(name).unwrap(), bytes, time);
            fingerprint.finish()
        };
        let base = of("a", 1, 1);
        assert!([of("b", 1, 1), of("a", 2, 1), of("a", 1, 2)].iter().all(|other| *other != base));
    }
}
