//! Identity: of an access plan, and of a dataset as it lies on storage.

use plan::{Cell, Operation};
use sha2::{Digest, Sha256};

use crate::{Key, Objects, Order};

/// Accesses that enter the hash one by one; beyond them the order's parameters decide.
const SAMPLED_TICKETS: u64 = 4096;

/// SHA-256 over what decides which bytes a cell reads in which order: every size, block, order, seed and the
/// first accesses themselves. Names, engines, depths and thread counts do not enter: two cells with equal
/// hashes read the same bytes in the same order.
pub fn plan_hash(objects: &Objects, cell: &Cell) -> String {
    let mut hasher = Sha256::new_with_prefix(b"feedline access plan 1");
    let mut add = |part: u64| hasher.update(part.to_le_bytes());
    add(u64::from(objects.count()));
    match objects {
        Objects::Uniform { bytes, .. } => add(*bytes),
        Objects::Varied(_) | Objects::Listed(_) => {
            (0..objects.count()).for_each(|object| add(objects.bytes(object)))
        }
    }
    add(u64::from(cell.block_bytes));
    add(cell.seed);
    hasher.update(cell.access.name());
    if cell.operation != Operation::default() {
        hasher.update(cell.operation.name());
    }
    if let Ok(order) = Order::of_cell(objects, cell) {
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
    use plan::{Access, Cache, Engine};

    use super::*;
    use crate::Listed;

    fn objects(folder: &str, count: u32) -> Objects {
        Objects::uniform(Key::new(folder).unwrap(), count, 1000)
    }

    fn cell() -> Cell {
        Cell { access: Access::Random, ..Cell::plain(Engine::Null, 100, 1) }
    }

    #[test]
    fn the_hash_depends_on_what_is_read_and_not_on_where_it_lies_or_how_deep() {
        let base = plan_hash(&objects("a", 10), &cell());
        let same =
            [(objects("b", 10), cell()), (objects("a", 10), Cell { queue_depth: 9, threads: 3, ..cell() })];
        assert!(same.iter().all(|(objects, cell)| plan_hash(objects, cell) == base));
        let other = [
            (objects("a", 11), cell()),
            (objects("a", 10), Cell { access: Access::Sequential, ..cell() }),
            (objects("a", 10), Cell { block_bytes: 200, ..cell() }),
            (objects("a", 10), Cell { seed: 2, ..cell() }),
            (objects("a", 10), Cell { cache: Cache::Cold, ..cell() }),
        ];
        assert!(other.iter().all(|(objects, cell)| plan_hash(objects, cell) != base));
        assert_eq!(base.len(), 64);
    }

    #[test]
    fn the_hash_of_a_listing_depends_on_every_size() {
        let of = |sizes: [u64; 3]| {
            let mut listed = Listed::default();
            for (index, bytes) in sizes.into_iter().enumerate() {
                listed.push(&Key::new(format!("f{index}")).unwrap(), bytes);
            }
            plan_hash(&Objects::Listed(listed), &Cell { access: Access::Sequential, ..cell() })
        };
        assert_ne!(of([100, 150, 250]), of([100, 250, 150]));
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
