use std::sync::Mutex;

use backend::{IoQueue, Limits, QueueSpec, Residency, StoreError};
use dataset::Key;

use super::*;

const BYTES: u64 = 1_000;

#[test]
fn as_many_reads_are_kept_as_fit_and_late_ones_are_among_them() {
    let sample = |number: u32| Sample::of(number, 0, &number.to_le_bytes());
    let mut kept = Kept::default();
    kept.offer(0, (0..10).map(sample));
    assert_eq!(kept.samples.len(), 10);
    for order in 1..100 {
        kept.offer(order, (0..20).map(sample));
    }
    assert_eq!(kept.samples.len(), KEPT_PER_CELL);
    assert!(
        kept.samples.iter().any(|(order, _)| *order > 50)
            && kept.samples.iter().any(|(order, _)| *order < 50)
    );
}

/// What a storage says of an object that is to be read whole: whether its sum agrees, and whether it is declared.
type Sums = fn(&str) -> Option<(bool, bool)>;

/// Objects of zeros, of which some cannot be read.
struct Zeros {
    sums: Sums,
    lost: fn(&str) -> bool,
    asked_whole: Mutex<Vec<u64>>,
}

impl Zeros {
    fn new(sums: Sums) -> Self {
        Self { sums, lost: |_| false, asked_whole: Mutex::default() }
    }
}

impl Store for Zeros {
    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn limits(&self) -> Result<Limits, StoreError> {
        Ok(Limits { direct_align_bytes: Some(1), page_cache: false })
    }

    backend::holds_no_data!("a storage of zeros");

    fn read_at(&self, key: &Key, _offset: u64, buf: &mut [u8]) -> Result<usize, StoreError> {
        if (self.lost)(key.as_str()) {
            let source = std::io::Error::from_raw_os_error(libc::EACCES);
            return Err(StoreError::Object { action: "read", object: key.to_string(), source });
        }
        buf.fill(0);
        Ok(buf.len())
    }

    fn read_summed(&self, key: &Key, bytes: u64, _limit_ns: u64) -> Result<Option<Summed>, StoreError> {
        self.asked_whole.lock().unwrap().push(bytes);
        let whole = |(agrees, is_declared)| Summed { bytes: vec![0; BYTES as usize], agrees, is_declared };
        Ok((self.sums)(key.as_str()).map(whole))
    }

    fn cache(&self, _action: CacheAction, objects: &Objects) -> Result<Residency, StoreError> {
        Ok(Residency::user_space(objects))
    }

    fn open_queue(&self, _spec: &QueueSpec<'_>) -> Result<Box<dyn IoQueue>, StoreError> {
        unreachable!("a second reading is made through no queue")
    }
}

/// What is found of a block of zeros in each of four objects, where a repetition reads each object.
fn found(store: &Zeros, bytes: u64, block: [u8; 2]) -> Vec<Reread> {
    let mut kept = Kept::default();
    for object in 0..4 {
        kept.offer(object, [Sample::of(object, 100, &block)]);
    }
    let objects = Objects::uniform(Key::new("d").unwrap(), 4, bytes);
    Second::new(store, &objects, &Clock::simulated()).read(&[&kept], 0)
}

/// Reads checked, wrong, held against a sum, and not made again, by repetition.
fn counts(found: &[Reread]) -> Vec<(u64, u64, u64, u64)> {
    let unread = |one: &Reread| one.unread.values().sum();
    found.iter().map(|one| (one.checked, one.wrong, one.summed, unread(one))).collect()
}

fn is_second(key: &str) -> bool {
    key.ends_with("1.bin")
}

#[test]
fn reads_are_compared_by_block_where_the_storage_keeps_no_sums() {
    let store = Zeros::new(|_| None);
    assert_eq!(counts(&found(&store, BYTES, [0, 0])), [(1, 0, 0, 0); 4]);
    assert_eq!(counts(&found(&store, BYTES, [0, 1])), [(1, 1, 0, 0); 4]);
}

#[test]
fn an_object_with_another_sum_than_its_storage_keeps_was_read_wrongly() {
    let store = Zeros::new(|key| Some((!is_second(key), true)));
    let well = (1, 0, 1, 0);
    assert_eq!(counts(&found(&store, BYTES, [0, 0])), [well, (1, 1, 1, 0), well, well]);
    let store = Zeros::new(|_| Some((true, true)));
    assert_eq!(counts(&found(&store, BYTES, [0, 1])), [(1, 1, 1, 0); 4], "the block came otherwise");
}

#[test]
fn a_sum_that_nobody_declared_counts_where_others_agree() {
    let one_differs = Zeros::new(|key| Some((!is_second(key), false)));
    let well = (1, 0, 1, 0);
    assert_eq!(counts(&found(&one_differs, BYTES, [0, 0])), [well, (1, 1, 1, 0), well, well]);
    let none_agrees = Zeros::new(|_| Some((false, false)));
    assert_eq!(counts(&found(&none_agrees, BYTES, [0, 0])), [(1, 0, 0, 0); 4], "it is no sum");
}

#[test]
fn reads_that_cannot_be_made_again_are_counted_by_kind() {
    let store = Zeros { lost: is_second, ..Zeros::new(|_| None) };
    let found = found(&store, BYTES, [0, 0]);
    let well = (1, 0, 0, 0);
    assert_eq!(counts(&found), [well, (0, 0, 0, 1), well, well]);
    assert_eq!(found[1].unread, BTreeMap::from([("permission".to_owned(), 1)]));
}

#[test]
fn objects_are_read_whole_while_they_are_small_and_few() {
    let asked = |bytes| {
        let store = Zeros::new(|_| Some((true, true)));
        found(&store, bytes, [0, 0]);
        store.asked_whole.into_inner().unwrap()
    };
    assert_eq!(asked(SUMMED_OBJECT_BYTES_MAX), [SUMMED_OBJECT_BYTES_MAX; 4]);
    assert!(asked(SUMMED_OBJECT_BYTES_MAX + 1).is_empty());
    let store = Zeros::new(|_| Some((true, true)));
    let mut kept = Kept::default();
    kept.offer(0, (0..8).map(|object| Sample::of(object, 0, &[0])));
    let objects = Objects::uniform(Key::new("d").unwrap(), 8, SUMMED_OBJECT_BYTES_MAX);
    Second::new(&store, &objects, &Clock::simulated()).read(&[&kept], 0);
    let most = SUMMED_BYTES_MAX / SUMMED_OBJECT_BYTES_MAX;
    assert_eq!(store.asked_whole.into_inner().unwrap().len() as u64, most);
    let clock = Clock::simulated();
    let store = Zeros::new(|_| Some((true, true)));
    let second = Second::new(&store, &objects, &clock);
    clock.advance_to(SUMMED_NS_MAX);
    second.read(&[&kept], 0);
    assert!(store.asked_whole.into_inner().unwrap().is_empty(), "the time is over");
}
