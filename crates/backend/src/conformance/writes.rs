//! Checks of writes over blocks, and of whole objects that are written anew.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dataset::{Key, Listed, MARKER_NAME, Marker, Objects};
use plan::{Advice, Cache, Durability, Operation, Registered, Words as _};

use super::{Fixture, LATER_NS, drive};
use crate::{
    Arena, Buf, Clock, FilePieces, IoQueue, Op, Owned, QueueSpec, Stamps, Store, StoreError, Writes,
    is_unfinished_name,
};

const BLOCK_BYTES: u32 = 4096;

/// Blocks of each object; the last is short where nothing has to be aligned.
const BLOCKS: u64 = 5;

/// A folder of feedline's own, with two objects.
struct Own {
    owned: Owned,
    objects: Arc<Objects>,
}

/// Runs every check in folders that it makes below the store's root. The objects of the fixture are not touched.
pub fn run_writes(fixture: &Fixture) {
    for (number, cache) in fixture.caches.iter().enumerate() {
        let tail = if *cache == Cache::Bypass && aligns(fixture) { 0 } else { 1001 };
        let own = make(fixture, &format!("written-{number}"), BLOCKS * u64::from(BLOCK_BYTES) - tail);
        for (round, durability) in Durability::ALL.iter().enumerate() {
            what_was_written_is_read(fixture, &own, *cache, *durability, round as u8);
        }
        what_is_not_proven_is_refused(fixture, &own, (*cache, Operation::Write));
    }
}

/// Runs every check of whole objects that are written anew, in folders that it makes below the store's root. The objects of the
/// fixture are not touched.
pub fn run_write_files(fixture: &Fixture) {
    for (number, cache) in fixture.caches.iter().enumerate() {
        let own = make_all(fixture, &format!("anew-{number}"), &WHOLE_BYTES);
        for (round, durability) in Durability::ALL.iter().enumerate() {
            objects_are_replaced_whole(fixture, &own, (*cache, *durability), round as u8);
        }
        what_is_not_proven_is_refused(fixture, &own, (*cache, Operation::WriteFile));
    }
}

/// Runs every check of names that are made and removed, in a folder that it makes below the store's root.
pub fn run_names(fixture: &Fixture) {
    let own = make_all(fixture, "names", &WHOLE_BYTES);
    for cache in &fixture.caches {
        names_leave_nothing(fixture, &own, *cache);
    }
    what_is_not_proven_is_refused(fixture, &own, (fixture.caches[0], Operation::Names));
}

/// Sizes of the objects that are written whole: less than a block and than a stamp of one, whole blocks, and a tail that no direct
/// I/O could write.
const WHOLE_BYTES: [u64; 5] =
    [20, BLOCK_BYTES as u64 - 1001, BLOCK_BYTES as u64, 2 * BLOCK_BYTES as u64, 3 * BLOCK_BYTES as u64 + 77];

fn aligns(fixture: &Fixture) -> bool {
    fixture.store.limits().expect("limits").direct_align_bytes.is_some()
}

/// A folder with two objects of one size.
fn make(fixture: &Fixture, folder: &str, bytes: u64) -> Own {
    let folder = Key::new(folder).expect("a plain name");
    fill(fixture, &folder, Objects::uniform(folder.clone(), 2, bytes))
}

/// A folder with an object of each size.
fn make_all(fixture: &Fixture, folder: &str, sizes: &[u64]) -> Own {
    let folder = Key::new(folder).expect("a plain name");
    let mut objects = Listed::default();
    for (number, bytes) in sizes.iter().enumerate() {
        let key = folder.join(&format!("000/{number:09}.bin")).expect("a plain name");
        objects.push(&key, *bytes);
    }
    fill(fixture, &folder, Objects::Listed(objects))
}

fn fill(fixture: &Fixture, folder: &Key, objects: Objects) -> Own {
    let store = &fixture.store;
    let marker = Marker { format: 1, note: "for a test".to_owned(), dataset: "written over".to_owned() };
    let owned = store.create_folder(folder, &marker).expect("a folder of its own");
    for object in 0..objects.count() {
        let mut writer = store.create(&owned, &objects.key(object)).expect("create");
        writer.write(&vec![0; objects.bytes(object) as usize]).expect("write");
        writer.finish().expect("finish");
    }
    Own { owned, objects: Arc::new(objects) }
}

/// A queue over the objects of `own`, or why there is none.
fn open(
    fixture: &Fixture,
    own: &Own,
    (cache, operation): (Cache, Operation),
    writes: Option<Writes<'_>>,
) -> Result<super::Opened, StoreError> {
    let arena = Arena::new(fixture.depth, BLOCK_BYTES).expect("buffers can be mapped");
    let queue = fixture.store.open_queue(&QueueSpec {
        depth: fixture.depth,
        submit_batch: fixture.depth,
        connections: 0,
        block_bytes: BLOCK_BYTES,
        cache,
        operation,
        writes,
        advice: Advice::Normal,
        registered: Registered::Auto,
        objects: &own.objects,
        arena: &arena,
        clock: &fixture.clock,
    })?;
    Ok(super::Opened { queue, free: arena.buffers() })
}

fn what_was_written_is_read(fixture: &Fixture, own: &Own, cache: Cache, durability: Durability, round: u8) {
    let writes = Writes { owned: &own.owned, durability };
    let super::Opened { mut queue, mut free } =
        open(fixture, own, (cache, Operation::Write), Some(writes)).expect("the queue opens");
    // A buffer holds the same byte whatever it is written to: with it, its slot is known from what is read.
    for buf in &mut free {
        let byte = 1 + round * 50 + buf.slot() as u8;
        buf.as_mut_slice().fill(byte);
    }
    let bytes = own.objects.bytes(0);
    let block = u64::from(BLOCK_BYTES);
    let places: Vec<(u32, u64, u32)> = (0..2)
        .flat_map(|object| (0..BLOCKS).map(move |number| (object, number * block)))
        .map(|(object, offset)| (object, offset, block.min(bytes - offset) as u32))
        .collect();
    let ops: Vec<Op> = places
        .iter()
        .map(|(object, offset, len)| Op::Write { object: *object, offset: *offset, len: *len })
        .collect();
    let mut written = vec![0; ops.len()];
    drive(&mut *queue, &mut free, &ops, (&fixture.clock, LATER_NS), |number, completion| {
        let (_, _, len) = places[number];
        assert_eq!(completion.result, Ok(u64::from(len)), "{:?}", ops[number]);
        let stamps = completion.stamps;
        assert!(stamps.begun_ns <= stamps.done_ns, "it ended before it began: {stamps:?}");
        written[number] = completion.buf.as_slice()[0];
    });
    // A mix of reads and writes is one queue.
    let again: Vec<Op> = places
        .iter()
        .map(|(object, offset, len)| Op::Read { object: *object, offset: *offset, len: *len })
        .collect();
    drive(&mut *queue, &mut free, &again, (&fixture.clock, LATER_NS), |number, completion| {
        let (_, _, len) = places[number];
        assert_eq!(completion.result, Ok(u64::from(len)), "{:?}", again[number]);
        let read = &completion.buf.as_slice()[..len as usize];
        assert!(read.iter().all(|byte| *byte == written[number]), "{:?} {cache:?}", again[number]);
    });
    assert_eq!(queue.close(LATER_NS, &mut Vec::new()), 0);
    for ((object, offset, len), byte) in places.into_iter().zip(written) {
        let mut found = vec![0; len as usize];
        let read = fixture.store.read_at(&own.objects.key(object), offset, &mut found).expect("it is there");
        assert_eq!(read, found.len());
        assert!(found.iter().all(|one| *one == byte), "{object} {offset} {} {cache:?}", durability.word());
    }
    let entry = fixture.store.stat(&own.objects.key(0)).expect("it is there").expect("it is there");
    assert_eq!(entry.bytes, bytes, "no write made it longer");
}

fn objects_are_replaced_whole(
    fixture: &Fixture,
    own: &Own,
    (cache, durability): (Cache, Durability),
    round: u8,
) {
    let writes = Writes { owned: &own.owned, durability };
    let super::Opened { mut queue, mut free } =
        open(fixture, own, (cache, Operation::WriteFile), Some(writes)).expect("the queue opens");
    for buf in &mut free {
        let byte = 1 + round * 50 + buf.slot() as u8;
        buf.as_mut_slice().fill(byte);
    }
    let sizes: Vec<u64> = (0..own.objects.count()).map(|object| own.objects.bytes(object)).collect();
    let ops: Vec<Op> =
        (0..).zip(&sizes).map(|(object, bytes)| Op::WriteFile { object, bytes: *bytes }).collect();
    let mut written = vec![0; ops.len()];
    drive(&mut *queue, &mut free, &ops, (&fixture.clock, LATER_NS), |number, completion| {
        assert_eq!(completion.result, Ok(sizes[number]), "{:?} {cache:?}", ops[number]);
        let stamps = completion.stamps;
        let phases = queue_phases(&stamps);
        assert!(phases.is_sorted(), "{:?} is out of order: {stamps:?}", ops[number]);
        written[number] = completion.buf.as_slice()[0];
    });
    // What a queue writes whole it does not read: a mix is one of blocks.
    let other = [Op::Read { object: 0, offset: 0, len: 1 }];
    drive(&mut *queue, &mut free, &other, (&fixture.clock, LATER_NS), |_, completion| {
        assert!(completion.result.is_err(), "{:?}", completion.result);
    });
    assert_eq!(queue.close(LATER_NS, &mut Vec::new()), 0);
    for ((object, bytes), byte) in (0..).zip(&sizes).zip(written) {
        let key = own.objects.key(object);
        // A byte more than it is to have.
        let mut found = vec![0; *bytes as usize + 1];
        let read = fixture.store.read_at(&key, 0, &mut found).expect("it is there");
        assert_eq!(read as u64, *bytes, "{key} {} {cache:?}", durability.word());
        assert!(found[..read] == *whole(*bytes, byte), "{key} {} {cache:?}", durability.word());
        let entry = fixture.store.stat(&key).expect("it is there").expect("it is there");
        assert_eq!(entry.bytes, *bytes);
    }
    nothing_else_lies_there(fixture, own);
}

fn names_leave_nothing(fixture: &Fixture, own: &Own, cache: Cache) {
    let writes = Writes { owned: &own.owned, durability: Durability::None };
    let super::Opened { mut queue, mut free } =
        open(fixture, own, (cache, Operation::Names), Some(writes)).expect("the queue opens");
    // Several at once in one folder, and each object's again.
    let ops: Vec<Op> = (0..own.objects.count()).cycle().take(20).map(|object| Op::Names { object }).collect();
    drive(&mut *queue, &mut free, &ops, (&fixture.clock, LATER_NS), |number, completion| {
        assert_eq!(completion.result, Ok(0), "{:?} {cache:?}", ops[number]);
        assert!(queue_phases(&completion.stamps).is_sorted(), "{:?}", completion.stamps);
    });
    let other = [Op::Read { object: 0, offset: 0, len: 1 }];
    drive(&mut *queue, &mut free, &other, (&fixture.clock, LATER_NS), |_, completion| {
        assert!(completion.result.is_err(), "{:?}", completion.result);
    });
    assert_eq!(queue.close(LATER_NS, &mut Vec::new()), 0);
    nothing_else_lies_there(fixture, own);
    for object in 0..own.objects.count() {
        let entry = fixture.store.stat(&own.objects.key(object)).expect("it is there").expect("it is there");
        assert_eq!(entry.bytes, own.objects.bytes(object), "what lies beside the names stays as it was");
    }
}

fn nothing_else_lies_there(fixture: &Fixture, own: &Own) {
    let mut keys = BTreeSet::new();
    let each = &mut |entry: crate::Entry| {
        keys.insert(entry.key);
        ControlFlow::Continue(())
    };
    fixture.store.list(Some(own.owned.folder()), each).expect("it is listed");
    let marker = own.owned.folder().join(MARKER_NAME).expect("a plain name");
    let expected = (0..own.objects.count()).map(|object| own.objects.key(object)).chain([marker]);
    assert_eq!(keys, expected.collect(), "nothing else is left there");
}

/// Beginning, ends of phases and end of an operation that went through all of them.
fn queue_phases(stamps: &crate::Stamps) -> Vec<u64> {
    let reached = stamps.phase_ns.into_iter().filter(|end_ns| *end_ns > 0);
    [stamps.begun_ns].into_iter().chain(reached).chain([stamps.done_ns]).collect()
}

/// An object of `bytes` as it was written from a buffer that was filled with `byte`.
fn whole(bytes: u64, byte: u8) -> Vec<u8> {
    let pieces = FilePieces::new(bytes, BLOCK_BYTES);
    let mut buffer = vec![byte; BLOCK_BYTES as usize];
    let mut object = Vec::new();
    for number in 0..pieces.count() {
        pieces.number(number, &mut buffer);
        object.extend_from_slice(&buffer[..pieces.get(number).len as usize]);
    }
    object
}

/// Writes two large objects anew, twice, from buffers of one block each, and holds every piece of what then lies there against the
/// buffer that it was written from. What was stamped of each is told to `ended`.
pub fn write_large_objects(
    store: &dyn Store,
    queue: &mut dyn IoQueue,
    (free, clock): (&mut Vec<Buf>, &Clock),
    (objects, block_bytes): (&Objects, u32),
    mut ended: impl FnMut(&Stamps),
) {
    let bytes = objects.bytes(0);
    let pieces = FilePieces::new(bytes, block_bytes);
    for buf in &mut *free {
        let byte = 1 + buf.slot() as u8;
        buf.as_mut_slice().fill(byte);
    }
    // Twice: a buffer comes back with the number of the last piece, and begins with the first again.
    for _ in 0..2 {
        let ops = [0, 1].map(|object| Op::WriteFile { object, bytes });
        let mut last = vec![Vec::new(); ops.len()];
        drive(queue, free, &ops, (clock, LATER_NS), |number, completion| {
            assert_eq!(completion.result, Ok(bytes));
            ended(&completion.stamps);
            last[number] = completion.buf.as_slice().to_vec();
        });
        for (object, mut buffer) in (0..).zip(last) {
            let mut found = vec![0; bytes as usize + 1];
            assert_eq!(
                store.read_at(&objects.key(object), 0, &mut found).expect("it is there") as u64,
                bytes
            );
            let tail = pieces.last();
            assert!(found[tail.offset as usize..bytes as usize] == buffer[..tail.len as usize]);
            for number in 0..pieces.count() {
                pieces.number(number, &mut buffer);
                let piece = pieces.get(number);
                let sent = &found[piece.offset as usize..][..piece.len as usize];
                assert!(*sent == buffer[..piece.len as usize], "piece {number} of {object}");
            }
        }
    }
}

/// Files below a folder that were not finished, which stores list nowhere.
pub fn unfinished_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    files.retain(|path| path.file_name().is_some_and(|name| is_unfinished_name(name.as_encoded_bytes())));
    files.extend(folders.iter().flat_map(|folder| unfinished_below(folder)));
    files
}

fn what_is_not_proven_is_refused(fixture: &Fixture, own: &Own, way: (Cache, Operation)) {
    let without = open(fixture, own, way, None).map(|_| ());
    assert!(matches!(without, Err(StoreError::NotOwned { .. })), "{without:?}");
    let name = format!("{}-other", own.owned.folder());
    let other = make(fixture, &name, u64::from(BLOCK_BYTES));
    let writes = Writes { owned: &other.owned, durability: Durability::Data };
    let of_other = open(fixture, own, way, Some(writes)).map(|_| ());
    assert!(matches!(of_other, Err(StoreError::NotOwned { .. })), "{of_other:?}");
}
