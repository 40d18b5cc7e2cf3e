//! Identity: of an access plan, and of a dataset as it lies on storage.

use plan::{Access, Cell, Operation};
use sha2::{Digest, Sha256};

use crate::order::{self, Order};
use crate::{Data, Key, Objects, Samples};

/// Accesses that enter the hash one by one; beyond them the order's parameters decide.
// A change of an algorithm shows in its first accesses; an order of 10^9 blocks cannot be hashed one by one before
// each run.
const SAMPLED_TICKETS: u64 = 4096;

/// SHA-256 over what decides which bytes a cell reads in which order: every size, block, order, seed and the
/// first accesses themselves. Names, engines, depths, thread counts and shuffle buffers do not enter: two cells with
/// equal hashes read the same bytes in the same order.
pub fn plan_hash(data: &Data, cell: &Cell) -> String {
    of_cell(data, of_data(data), cell)
}

/// The hashes of cells that read one dataset, each once.
// The sizes are hashed once for all of them: drawing 10^8 takes seconds, and cells of a search differ in depth alone.
pub fn plan_hashes<'a>(data: &Data, cells: impl IntoIterator<Item = &'a Cell>) -> Vec<String> {
    let begun = of_data(data);
    let mut alike: Vec<&Cell> = Vec::new();
    for cell in cells {
        if !alike.iter().any(|known| order::reads_alike(known, cell)) {
            alike.push(cell);
        }
    }
    alike.into_iter().map(|cell| of_cell(data, begun.clone(), cell)).collect()
}

/// What a hash begins with for every cell that reads this dataset: how many objects there are, every size, and where samples
/// lie.
fn of_data(data: &Data) -> Sha256 {
    let objects = &**data.objects();
    let mut hasher = Sha256::new_with_prefix(b"feedline access plan 1");
    // Fixed widths and one byte order: the hash is compared between machines.
    let mut add = |part: u64| hasher.update(part.to_le_bytes());
    add(u64::from(objects.count()));
    match objects {
        // One number for all: this is what datasets had before there were others, and hashes of recorded runs hold
        // for ever.
        Objects::Uniform { bytes, .. } => add(*bytes),
        Objects::Listed(_) => (0..objects.count()).for_each(|object| add(objects.bytes(object))),
        Objects::Varied(varied) => varied.each_part_of_sizes(|sizes| hasher.update(sizes)),
    }
    let mut add = |part: u64| hasher.update(part.to_le_bytes());
    places(data, &mut add);
    hasher
}

fn of_cell(data: &Data, mut hasher: Sha256, cell: &Cell) -> String {
    let objects = &**data.objects();
    hasher.update(u64::from(cell.block_bytes).to_le_bytes());
    hasher.update(cell.seed.to_le_bytes());
    hasher.update(cell.access.name());
    // Only orders that have these settings hash them, so that the hashes of older runs hold.
    match cell.access {
        Access::ShuffledShards(streams) | Access::ResampledShards(streams) => {
            hasher.update(streams.count.to_le_bytes());
        }
        Access::Neighbours { run_length } => hasher.update(run_length.to_le_bytes()),
        // A list is the places of the samples, which have been added.
        Access::Sequential | Access::Random | Access::ShuffledEpoch | Access::List => {}
    }
    // Reads of blocks were once the only operation; their hashes have no word for it.
    if cell.operation() != Operation::default() {
        hasher.update(cell.operation().name());
    }
    if let Some(mix) = cell.task.mix() {
        hasher.update([mix.write_percent]);
    }
    if cell.operation() == Operation::List {
        objects.files_of_folders().into_iter().for_each(|files| hasher.update(files.to_le_bytes()));
    }
    // An order that cannot be fails with its reason when the cell runs, and needs no hash before.
    if let Ok(order) = Order::of_cell(data, cell) {
        let mut reads = order.cursor();
        for ticket in 0..SAMPLED_TICKETS.min(order.tickets_per_epoch()) {
            let span = reads.at(ticket);
            hasher.update(span.object.to_le_bytes());
            hasher.update(span.offset.to_le_bytes());
            match cell.operation() {
                // As long as there were only blocks, a length had 32 bits.
                Operation::Read => hasher.update((span.len as u32).to_le_bytes()),
                _ => hasher.update(span.len.to_le_bytes()),
            }
        }
    }
    hex(&hasher.finalize())
}

/// Adds where samples lie; nothing if each object is a sample.
fn places(data: &Data, add: &mut impl FnMut(u64)) {
    let parts = match data.samples() {
        Samples::Objects => return,
        Samples::Even(even) => {
            vec![1, even.count, u64::from(even.per_object), even.first_byte, even.stride_bytes, even.bytes]
        }
        Samples::Indexed(index) => vec![2, index.units(), index.samples(), index.digest()],
        Samples::Streamed { count } => vec![3, *count],
    };
    parts.into_iter().for_each(add);
}

/// One hash for a set of hashes, whatever their order and however often each occurs.
pub fn combined_hash(mut hashes: Vec<String>) -> String {
    hashes.sort_unstable();
    // Cells that differ in depth alone have equal hashes; how many of them a run has is no part of what it reads.
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
        // The length first: without it `ab` and `c` would hash as `a` and `bc` do.
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
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use plan::{Cache, Engine, Streams, Task};

    use super::*;
    use crate::{Even, Extent, Index, Listed};

    fn objects(folder: &str, count: u32) -> Objects {
        Objects::uniform(Key::new(folder).unwrap(), count, 1000)
    }

    fn hash_of(objects: &Objects, cell: &Cell) -> String {
        plan_hash(&Data::files(Arc::new(objects.clone()), None), cell)
    }

    fn cell() -> Cell {
        Cell { access: Access::Random, ..Cell::plain(Engine::Null, 100, 1) }
    }

    #[test]
    fn the_hash_depends_on_what_is_read_and_not_on_where_it_lies_or_how_deep() {
        let base = hash_of(&objects("a", 10), &cell());
        let same =
            [(objects("b", 10), cell()), (objects("a", 10), Cell { queue_depth: 9, threads: 3, ..cell() })];
        assert!(same.iter().all(|(objects, cell)| hash_of(objects, cell) == base));
        let other = [
            (objects("a", 11), cell()),
            (objects("a", 10), Cell { access: Access::Sequential, ..cell() }),
            (objects("a", 10), Cell { block_bytes: 200, ..cell() }),
            (objects("a", 10), Cell { seed: 2, ..cell() }),
            (objects("a", 10), Cell { cache: Cache::Cold, ..cell() }),
        ];
        assert!(other.iter().all(|(objects, cell)| hash_of(objects, cell) != base));
        assert_eq!(base.len(), 64);
    }

    fn listed(sizes: &[u64]) -> Objects {
        let mut listed = Listed::default();
        for (index, bytes) in sizes.iter().enumerate() {
            listed.push(&Key::new(format!("f{index}")).unwrap(), *bytes);
        }
        Objects::Listed(listed)
    }

    /// Records keep these hashes, and runs are compared by them. `blocks` are those of files that differ in their
    /// number of blocks, `files` those of files that do not.
    #[test]
    fn hashes_of_earlier_runs_hold() {
        let (generated, listing) = (objects("d", 100), listed(&[95, 7, 400, 130]));
        for (access, cache, [expected, blocks, files]) in [
            (Access::Sequential, Cache::Bypass, ["c8e55e643be0258e", "61c4b33496400b26", "e01c1865863df9c5"]),
            (Access::Random, Cache::Bypass, ["c44faf3a25dad517", "0d63ffc293e10b90", "aa09b1dd17b16869"]),
            (Access::Random, Cache::Cold, ["e1cd0e4a52979924", "b346fb4d4a754317", "6e070cc29d274e73"]),
            (
                Access::ShuffledEpoch,
                Cache::Cold,
                ["1fe1edf4b98f9729", "05f420a4a5ae3824", "ff37770494859a9f"],
            ),
        ] {
            let hash = |objects: &Objects, block_bytes| {
                let hash = hash_of(objects, &Cell { access, block_bytes, cache, ..cell() });
                hash[..16].to_owned()
            };
            let found = [hash(&generated, 300), hash(&listing, 100), hash(&listing, 1_000)];
            assert_eq!(found, [expected, blocks, files], "{access:?} {cache:?}");
        }
    }

    /// As they were when the sizes of all objects were kept in a table.
    #[test]
    fn hashes_of_spread_sizes_hold() {
        let spread = plan::Generate {
            samples: 70_000,
            sample_bytes: 114_660,
            distribution: plan::Distribution::LogNormal { stdev_bytes: 50_000 },
            files_per_folder: 1_000,
            seed: 42,
            ..plan::Generate::NONE
        };
        let objects =
            Objects::generated(Key::new("d").unwrap(), &plan::DatasetSpec::Generate(spread)).unwrap();
        let data = Data::files(Arc::new(objects), None);
        let streams = Access::ResampledShards(Streams::of(3));
        let runs = Access::Neighbours { run_length: 7 };
        for (access, task, block_bytes, expected) in [
            (Access::Sequential, Task::Read, 131_072, "d28ee96a2d92d3fb"),
            (Access::Random, Task::Read, 4_096, "6a11f53a8e8b5e23"),
            (Access::ShuffledEpoch, Task::Read, 131_072, "26d9ec04db1774c9"),
            (Access::ShuffledEpoch, Task::Read, 100, "38b3b5505685b463"),
            (Access::ShuffledEpoch, Task::Read, 1 << 30, "0efe3919e03ffe88"),
            (Access::ShuffledEpoch, Task::ReadFile, 131_072, "c888fca4cb679f94"),
            (streams, Task::Read, 131_072, "507288ac5bce57a4"),
            (runs, Task::Read, 131_072, "d772b2bc3ee05e1a"),
        ] {
            let hash = plan_hash(&data, &Cell { access, task: task.clone(), block_bytes, ..cell() });
            assert_eq!(&hash[..16], expected, "{access:?} {task:?} {block_bytes}");
        }
    }

    #[test]
    fn the_hash_depends_on_where_samples_lie_and_on_the_settings_of_an_order() {
        let shards = Arc::new(objects("d", 10));
        let even = Even { count: 95, per_object: 10, first_byte: 8, stride_bytes: 90, bytes: 80 };
        let of =
            |samples, cell: &Cell| plan_hash(&Data::new(Arc::clone(&shards), samples, None).unwrap(), cell);
        let index = |bytes| {
            let mut index = Index::default();
            index.push(1, &[Extent { object: 0, offset: 0, bytes }]);
            Samples::Indexed(index)
        };
        let ordered = |access| Cell { access, ..cell() };
        let streamed = ordered(Access::ShuffledShards(Streams::of(2)));
        let runs = ordered(Access::Neighbours { run_length: 4 });
        let hashes = [
            of(Samples::Objects, &streamed),
            of(Samples::Streamed { count: 95 }, &streamed),
            of(Samples::Even(even), &streamed),
            of(Samples::Even(even), &ordered(Access::ShuffledShards(Streams::of(3)))),
            of(Samples::Even(even), &ordered(Access::ResampledShards(Streams::of(2)))),
            of(Samples::Even(Even { first_byte: 9, ..even }), &streamed),
            of(Samples::Even(even), &runs),
            of(Samples::Even(even), &ordered(Access::Neighbours { run_length: 5 })),
            of(index(80), &runs),
            of(index(81), &runs),
        ];
        let distinct: BTreeSet<_> = hashes.iter().collect();
        assert_eq!(distinct.len(), hashes.len());
        let buffered = ordered(Access::ShuffledShards(Streams { count: 2, shuffle_buffer: 1_000 }));
        assert_eq!(of(Samples::Even(even), &buffered), hashes[2], "a buffer changes no read");
    }

    #[test]
    fn the_hash_depends_on_the_operation() {
        let hashes = [Task::Read, Task::ReadFile, Task::Stat, Task::List]
            .map(|task| hash_of(&objects("a", 10), &Cell { task, ..cell() }));
        let distinct: BTreeSet<_> = hashes.iter().collect();
        assert_eq!(distinct.len(), hashes.len());
    }

    #[test]
    fn the_hash_of_a_listing_of_folders_depends_on_what_is_in_them() {
        let hash = |files_per_folder, task| {
            let folder = Key::new("d").unwrap();
            let objects = Objects::Uniform { folder, count: 100, bytes: 1, files_per_folder };
            hash_of(&objects, &Cell { task, ..cell() })
        };
        assert_ne!(hash(40, Task::List), hash(45, Task::List), "three folders each");
        assert_eq!(hash(40, Task::Read), hash(45, Task::Read));
    }

    #[test]
    fn the_hash_of_a_listing_depends_on_every_size() {
        let of = |sizes: [u64; 3]| hash_of(&listed(&sizes), &Cell { access: Access::Sequential, ..cell() });
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
