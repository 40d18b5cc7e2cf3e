//! Whole files that are written anew: what they replace, what they leave alone, and what is left of one that fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use backend::{Arena, Clock, ErrorKind, FilePieces, Op, Owned, QueueSpec, Store, Writes};
use backend_file::{FileStore, probe_path};
use dataset::{Key, Objects};
use plan::{Advice, Cache, Durability, Operation, Registered};

use crate::allocation::ALLOCATIONS;
use crate::store::marker;
use crate::support::{Opened, folder};

const BLOCK_BYTES: u32 = 4096;

/// A dataset of feedline's own below a root: `data`, with its marker.
struct Own {
    store: FileStore,
    owned: Owned,
    objects: Arc<Objects>,
}

fn own(root: &Path, objects: Objects) -> Own {
    let store = FileStore::pread(root);
    let folder = Key::new("data").unwrap();
    let owned = store.create_folder(&folder, &marker()).unwrap();
    for object in 0..objects.count() {
        let mut writer = store.create(&owned, &objects.key(object)).unwrap();
        writer.write(&vec![1; objects.bytes(object) as usize]).unwrap();
        writer.finish().unwrap();
    }
    Own { store, owned, objects: Arc::new(objects) }
}

fn uniform(count: u32, bytes: u64) -> Objects {
    Objects::uniform(Key::new("data").unwrap(), count, bytes)
}

impl Own {
    fn open(&self, operation: Operation, cache: Cache) -> Opened {
        let (arena, clock) = (Arena::new(1, BLOCK_BYTES).unwrap(), Clock::real());
        let writes = Writes { owned: &self.owned, durability: Durability::Data };
        let queue = self.store.open_queue(&QueueSpec {
            depth: 1,
            submit_batch: 1,
            connections: 0,
            block_bytes: BLOCK_BYTES,
            cache,
            operation,
            writes: Some(writes),
            advice: Advice::Normal,
            registered: Registered::Auto,
            objects: &self.objects,
            arena: &arena,
            clock: &clock,
        });
        let mut free = arena.buffers();
        for buf in &mut free {
            buf.as_mut_slice().fill(7);
        }
        Opened { queue: queue.unwrap(), free, clock }
    }

    fn anew(&self, object: u32) -> Op {
        Op::WriteFile { object, bytes: self.objects.bytes(object) }
    }

    fn path(&self, root: &Path, object: u32) -> PathBuf {
        root.join(self.objects.key(object).as_str())
    }
}

/// Names beside an object.
fn beside(path: &Path) -> usize {
    fs::read_dir(path.parent().unwrap()).unwrap().count()
}

#[test]
fn a_link_is_replaced_and_what_it_leads_to_stays() {
    let dir = folder();
    let own = own(dir.path(), uniform(3, 5_000));
    let [symbolic, hard] = [0, 1].map(|object| own.path(dir.path(), object));
    let theirs = dir.path().join("theirs");
    fs::write(&theirs, "precious").unwrap();
    for path in [&symbolic, &hard] {
        fs::remove_file(path).unwrap();
    }
    std::os::unix::fs::symlink(&theirs, &symbolic).unwrap();
    fs::hard_link(&theirs, &hard).unwrap();
    let mut opened = own.open(Operation::WriteFile, Cache::Warm);
    for object in 0..3 {
        assert_eq!(opened.run_one(own.anew(object)), Ok(5_000));
        let path = own.path(dir.path(), object);
        assert!(fs::symlink_metadata(&path).unwrap().is_file() && fs::read(&path).unwrap().len() == 5_000);
    }
    opened.close();
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "precious");
    assert_eq!(beside(&symbolic), 3);
}

#[test]
fn one_that_fails_leaves_nothing_and_the_queue_goes_on() {
    let dir = folder();
    let own = own(dir.path(), uniform(3, 5_000));
    let [first, second] = [0, 1].map(|object| own.path(dir.path(), object));
    fs::remove_file(&second).unwrap();
    fs::create_dir(&second).unwrap();
    let mut opened = own.open(Operation::WriteFile, Cache::Warm);
    assert_eq!(opened.run_one(own.anew(0)), Ok(5_000));
    let error = opened.run_one(own.anew(1)).unwrap_err();
    assert_eq!(error.code, libc::EISDIR as u32, "nothing is renamed over a folder");
    assert_eq!(opened.run_one(own.anew(2)), Ok(5_000));
    assert_eq!(opened.run_one(Op::Stat { object: 0 }).unwrap_err().code, libc::EOPNOTSUPP as u32);
    assert_eq!(beside(&first), 3, "no unfinished file is left");
    fs::remove_dir_all(first.parent().unwrap()).unwrap();
    assert_eq!(opened.run_one(own.anew(0)).unwrap_err().kind, ErrorKind::NotFound);
    let report = opened.close();
    assert_eq!(report.opens, 4, "each file is made anew");
}

#[test]
fn a_folder_behind_a_link_is_not_written_to() {
    let dir = folder();
    // More folders than are held open: each is found from the root, step by step.
    let many =
        Objects::Uniform { folder: Key::new("data").unwrap(), count: 1_025, bytes: 100, files_per_folder: 1 };
    let own = own(dir.path(), many);
    let linked = own.path(dir.path(), 1);
    let moved = dir.path().join("theirs");
    fs::rename(linked.parent().unwrap(), &moved).unwrap();
    std::os::unix::fs::symlink(&moved, linked.parent().unwrap()).unwrap();
    let mut opened = own.open(Operation::WriteFile, Cache::Warm);
    assert_eq!(opened.run_one(own.anew(0)), Ok(100));
    assert_eq!(opened.run_one(own.anew(1)).unwrap_err().code, libc::ENOTDIR as u32);
    opened.close();
    assert_eq!(fs::read(own.path(dir.path(), 0)).unwrap()[24..], [7; 76]);
    assert_eq!(fs::read(moved.join(linked.file_name().unwrap())).unwrap(), [1; 100]);
}

#[test]
fn blocks_that_are_written_afterwards_lie_in_the_new_files() {
    let dir = folder();
    let own = own(dir.path(), uniform(2, 8_192));
    let write = Op::Write { object: 1, offset: 4096, len: 4096 };
    // A table of open files is kept from one queue to the next.
    let mut blocks = own.open(Operation::Write, Cache::Warm);
    assert_eq!(blocks.run_one(write), Ok(4096));
    blocks.close();
    let mut files = own.open(Operation::WriteFile, Cache::Warm);
    assert_eq!(files.run_one(own.anew(1)), Ok(8_192));
    files.close();
    let before = fs::read(own.path(dir.path(), 1)).unwrap();
    let mut blocks = own.open(Operation::Write, Cache::Warm);
    blocks.free[0].as_mut_slice().fill(9);
    assert_eq!(blocks.run_one(write), Ok(4096));
    blocks.close();
    let after = fs::read(own.path(dir.path(), 1)).unwrap();
    assert_eq!((&after[..4096], &after[4096..]), (&before[..4096], &[9; 4096][..]));
}

#[test]
fn direct_writes_leave_the_size_that_was_asked_for() {
    let dir = folder();
    if probe_path(dir.path()).direct_align_bytes.is_none() {
        return;
    }
    let own = own(dir.path(), uniform(2, 10_001));
    let mut opened = own.open(Operation::WriteFile, Cache::Bypass);
    assert_eq!(opened.run_one(own.anew(0)), Ok(10_001));
    opened.close();
    let found = fs::read(own.path(dir.path(), 0)).unwrap();
    let pieces = FilePieces::new(10_001, BLOCK_BYTES);
    let mut buffer = vec![7; BLOCK_BYTES as usize];
    for number in 0..3 {
        pieces.number(number, &mut buffer);
        let piece = pieces.get(number);
        let at = piece.offset as usize;
        assert!(found[at..at + piece.len as usize] == buffer[..piece.len as usize], "piece {number}");
    }
    assert_eq!(found.len(), 10_001);
}

#[test]
fn nothing_is_allocated_for_one() {
    let dir = folder();
    let own = own(dir.path(), uniform(4, 10_000));
    let mut opened = own.open(Operation::WriteFile, Cache::Warm);
    let ops: Vec<Op> = (0..4).map(|object| own.anew(object)).collect();
    // With room for all: it would count itself.
    let mut counts = Vec::with_capacity(ops.len());
    opened.run(&ops, |_, completion| {
        assert_eq!(completion.result, Ok(10_000));
        counts.push(ALLOCATIONS.get());
    });
    opened.close();
    let each: Vec<u64> = counts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(each[1..], [0, 0], "but for what grows with the first: {each:?}");
}
