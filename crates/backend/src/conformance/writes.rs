//! Checks of writes over blocks.

use std::sync::Arc;

use dataset::{Key, Marker, Objects};
use plan::{Advice, Cache, Durability, Operation, Registered, Words as _};

use super::{Fixture, LATER_NS, drive};
use crate::{Arena, Op, Owned, QueueSpec, StoreError, Writes};

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
        what_is_not_proven_is_refused(fixture, &own, *cache);
    }
}

fn aligns(fixture: &Fixture) -> bool {
    fixture.store.limits().expect("limits").direct_align_bytes.is_some()
}

fn make(fixture: &Fixture, folder: &str, bytes: u64) -> Own {
    let store = &fixture.store;
    let folder = Key::new(folder).expect("a plain name");
    let marker = Marker { format: 1, note: "for a test".to_owned(), dataset: "written over".to_owned() };
    let owned = store.create_folder(&folder, &marker).expect("a folder of its own");
    let objects = Arc::new(Objects::uniform(folder, 2, bytes));
    for object in 0..2 {
        let mut writer = store.create(&owned, &objects.key(object)).expect("create");
        writer.write(&vec![0; bytes as usize]).expect("write");
        writer.finish().expect("finish");
    }
    Own { owned, objects }
}

/// A queue over the objects of `own`, or why there is none.
fn open(
    fixture: &Fixture,
    own: &Own,
    cache: Cache,
    writes: Option<Writes<'_>>,
) -> Result<super::Opened, StoreError> {
    let arena = Arena::new(fixture.depth, BLOCK_BYTES).expect("buffers can be mapped");
    let queue = fixture.store.open_queue(&QueueSpec {
        depth: fixture.depth,
        submit_batch: fixture.depth,
        connections: 0,
        block_bytes: BLOCK_BYTES,
        cache,
        operation: Operation::Write,
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
        open(fixture, own, cache, Some(writes)).expect("the queue opens");
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

fn what_is_not_proven_is_refused(fixture: &Fixture, own: &Own, cache: Cache) {
    let without = open(fixture, own, cache, None).map(|_| ());
    assert!(matches!(without, Err(StoreError::NotOwned { .. })), "{without:?}");
    let name = format!("{}-other", own.owned.folder());
    let other = make(fixture, &name, u64::from(BLOCK_BYTES));
    let writes = Writes { owned: &other.owned, durability: Durability::Data };
    let of_other = open(fixture, own, cache, Some(writes)).map(|_| ());
    assert!(matches!(of_other, Err(StoreError::NotOwned { .. })), "{of_other:?}");
}
