//! Copies from one storage to another: what arrives, what is counted, what is left.

mod failing;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use backend::simulated::{Fault, Simulated, Step};
use backend::{Clock, ErrorKind, OpError, SharedStore};
use backend_file::FileStore;
use dataset::{Data, Objects, payload};
use engine::{CopyEnd, RepError, RepSpec, run_copy};
use plan::{COPY_BUFFERS, Cell, Codec, Copy, Engine, Layout, Limit, Packing, Task};
use record::{Outcome, counter};
use tempfile::TempDir;

use crate::{MS, SEED, histogram, objects};
use failing::{Failing, Refuse};

const BLOCK_BYTES: u32 = 4_096;

/// A copy cell of this many workers.
fn cell(threads: u32, copy: Copy) -> Cell {
    let plain = Cell::plain(Engine::Null, BLOCK_BYTES, threads);
    Cell { threads, task: Task::Copy(copy), cache: plan::Cache::Cold, ..plain }
}

fn packing(layout: Layout, shard_bytes: u64) -> Packing {
    Packing {
        layout,
        shard_bytes,
        members: 1,
        codec: Codec::None,
        columns: 1,
        columns_read: 1,
        row_group_bytes: shard_bytes,
    }
}

/// One copy.
struct Staging {
    from: SharedStore,
    to: SharedStore,
    folder: TempDir,
    objects: Arc<Objects>,
    cell: Cell,
    clock: Clock,
    stop: Arc<AtomicBool>,
}

impl Staging {
    /// From a folder with generated files.
    fn of_files(objects: &Arc<Objects>, cell: Cell) -> (Self, TempDir) {
        let source = TempDir::new().unwrap();
        for object in 0..objects.count() {
            let path = source.path().join(objects.key(object).as_str());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content(object, objects.bytes(object))).unwrap();
        }
        let from: SharedStore = Arc::new(FileStore::pread(source.path()));
        (Self::from(from, &Clock::real(), objects, cell), source)
    }

    /// From a simulated device, with each block taking a millisecond unless `script` says otherwise.
    fn of_simulated(
        objects: &Arc<Objects>,
        cell: Cell,
        script: impl Fn(u64) -> Step + Send + Sync + 'static,
    ) -> Self {
        let clock = Clock::simulated();
        let from: SharedStore = Arc::new(Simulated::new(&clock, 16, SEED, script));
        Self::from(from, &clock, objects, cell)
    }

    fn from(from: SharedStore, clock: &Clock, objects: &Arc<Objects>, cell: Cell) -> Self {
        let folder = TempDir::new().unwrap();
        let to: SharedStore = Arc::new(FileStore::pread(folder.path()));
        let (objects, clock) = (Arc::clone(objects), clock.clone());
        Self { from, to, folder, objects, cell, clock, stop: Arc::default() }
    }

    fn run(&self) -> Result<CopyEnd, RepError> {
        let data = Data::files(Arc::clone(&self.objects), Some(SEED));
        let limit = Limit::Epochs { epochs: 1 };
        let spec =
            RepSpec { stop: &self.stop, ..RepSpec::plain(&self.cell, &self.from, &data, limit, &self.clock) };
        run_copy(&spec, &self.to)
    }

    /// Every file in the copy's folder, below it, the marker left out.
    fn files(&self, end: &CopyEnd) -> Vec<(String, Vec<u8>)> {
        let root = self.folder.path().join(end.place.folder().as_str());
        let mut files = Vec::new();
        visit(&root, &root, &mut files);
        files.retain(|(name, _)| name != dataset::MARKER_NAME);
        files.sort();
        files
    }
}

fn visit(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            visit(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            files.push((name, std::fs::read(&path).unwrap()));
        }
    }
}

fn content(object: u32, bytes: u64) -> Vec<u8> {
    let mut content = vec![0; bytes as usize];
    payload::fill(SEED, object, 0, &mut content);
    content
}

fn count(end: &CopyEnd, name: &str) -> u64 {
    end.measured.rep.counters[name]
}

#[test]
fn a_block_that_never_comes_ends_a_copy() {
    let objects = objects(4, 3 * u64::from(BLOCK_BYTES));
    let step = |number| Step::ok(if number == 5 { 1 << 50 } else { MS });
    let end = Staging::of_simulated(&objects, cell(1, Copy::whole(1)), step).run().unwrap();
    let outcome = &end.measured.rep.outcome;
    let Outcome::Failed { reason } = outcome else { panic!("{outcome:?}") };
    assert!(reason.contains("ended in 600 s"), "{reason}");
    assert_eq!(count(&end, counter::ABANDONED), 1);
}

#[test]
fn every_object_arrives_byte_by_byte_and_is_counted_once() {
    let objects = objects(1_003, 10_000);
    let (staging, _source) = Staging::of_files(&objects, cell(4, Copy::whole(1)));
    let end = staging.run().unwrap();
    assert_eq!(end.measured.rep.outcome, Outcome::Complete);
    assert_eq!(count(&end, counter::OPS), 1_003);
    assert_eq!(count(&end, counter::BYTES), 10_030_000);
    assert_eq!(count(&end, counter::WRITTEN_BYTES), 10_030_000);
    assert!(count(&end, counter::VERIFIED) > 0 && count(&end, counter::FIRST_OBJECT_NS) > 0);
    assert!(count(&end, counter::FIRST_OBJECT_NS) <= end.measured.rep.window_ns);
    for name in ["service_ns", "read_ns", "publish_ns"] {
        let text = &end.measured.rep.histograms[name];
        assert_eq!(text.decode().unwrap().len(), 1_003, "{name}");
    }
    let seconds: u64 = end.measured.seconds.iter().map(|second| second.ops).sum();
    assert_eq!(seconds, 1_003);
    let files = staging.files(&end);
    assert_eq!(files.len(), 1_003);
    for (object, (name, bytes)) in files.iter().enumerate() {
        assert_eq!(*name, format!("{:06}/{object:09}.bin", object / 1_000));
        assert!(*bytes == content(object as u32, 10_000), "{name}");
    }
    end.place.remove().unwrap();
    assert_eq!(std::fs::read_dir(staging.folder.path()).unwrap().count(), 0, "nothing is left");
}

#[test]
fn each_copy_has_a_folder_of_its_own() {
    let objects = objects(3, 100);
    let (staging, _source) = Staging::of_files(&objects, cell(1, Copy::whole(1)));
    let [one, other] = [staging.run().unwrap(), staging.run().unwrap()];
    assert_eq!(one.place.folder().as_str(), "feedline-copy-0001");
    assert_eq!(other.place.folder().as_str(), "feedline-copy-0002");
}

#[test]
fn a_size_ends_with_the_object_that_reaches_it() {
    let objects = objects(10, 1_000);
    let (staging, _source) =
        Staging::of_files(&objects, cell(2, Copy { size_bytes: Some(3_500), ..Copy::whole(1) }));
    let end = staging.run().unwrap();
    assert_eq!((end.measured.rep.outcome.clone(), count(&end, counter::OPS)), (Outcome::Complete, 4));
}

#[test]
fn an_object_that_cannot_be_read_is_counted_and_the_copy_goes_on() {
    let objects = objects(10, 10_000);
    let io = OpError { kind: ErrorKind::Io, code: 5 };
    // Objects of three blocks, read in order by one worker: 4 is the second block of the second object.
    let script = move |op| Step { latency_ns: MS, fault: (op == 4).then_some(Fault::Error(io)) };
    let staging = Staging::of_simulated(&objects, cell(1, Copy::whole(1)), script);
    let end = staging.run().unwrap();
    assert_eq!(end.measured.rep.outcome, Outcome::Complete);
    assert_eq!((count(&end, counter::OPS), end.measured.rep.errors["io"]), (9, 1));
    assert!(end.measured.rep.granted["first_failure"].contains("000000001.bin"));
    let names: Vec<String> = staging.files(&end).into_iter().map(|(name, _)| name).collect();
    assert!(names.len() == 9 && !names.iter().any(|name| name.contains("000000001")), "{names:?}");
}

#[test]
fn a_read_that_may_pass_is_attempted_again() {
    let objects = objects(2, 1_000);
    let busy = OpError { kind: ErrorKind::Throttled, code: 503 };
    let script = move |op| Step { latency_ns: MS, fault: (op == 0).then_some(Fault::Error(busy)) };
    let staging = Staging::of_simulated(&objects, Cell { retries: 1, ..cell(1, Copy::whole(1)) }, script);
    let end = staging.run().unwrap();
    assert_eq!((count(&end, counter::OPS), end.measured.rep.errors.len()), (2, 0));
}

#[test]
fn wrong_bytes_are_found_and_not_published() {
    let objects = objects(4, 1_000);
    let script = |op| Step { latency_ns: MS, fault: (op == 0).then_some(Fault::Corrupt) };
    let staging = Staging::of_simulated(&objects, cell(1, Copy::whole(1)), script);
    let end = staging.run().unwrap();
    assert_eq!((count(&end, counter::OPS), end.measured.rep.errors["corrupt"]), (3, 1));
    assert_eq!(staging.files(&end).len(), 3);
}

#[test]
fn a_copy_of_which_nothing_arrives_has_failed() {
    let objects = objects(3, 1_000);
    let gone = OpError { kind: ErrorKind::NotFound, code: 2 };
    let script = move |_| Step { latency_ns: MS, fault: Some(Fault::Error(gone)) };
    let staging = Staging::of_simulated(&objects, cell(2, Copy::whole(1)), script);
    let end = staging.run().unwrap();
    let Outcome::Failed { reason } = &end.measured.rep.outcome else {
        panic!("{:?}", end.measured.rep.outcome)
    };
    assert!(
        reason.starts_with("nothing could be copied (3 not_found); the first: cannot read `d/"),
        "{reason}"
    );
    assert_eq!(histogram(&end.measured.rep, "service_ns").len(), 0);
}

#[test]
fn an_object_that_cannot_be_written_is_counted_once_and_the_copy_goes_on() {
    let objects = objects(10, 20_000);
    for refuse in [Refuse::Create, Refuse::Write, Refuse::Finish] {
        let (mut staging, _source) = Staging::of_files(&objects, cell(1, Copy::whole(1)));
        staging.to = Failing::over(staging.to, "000000002.bin", refuse);
        let end = staging.run().unwrap();
        assert_eq!(end.measured.rep.outcome, Outcome::Complete, "{refuse:?}");
        assert_eq!((count(&end, counter::OPS), end.measured.rep.errors["io"]), (9, 1), "{refuse:?}");
        assert_eq!(staging.files(&end).len(), 9, "{refuse:?}");
    }
}

/// By the time that the target is full, the reader is ahead: nothing of what it has read is written, or tried.
#[test]
fn a_full_target_ends_the_copy() {
    let objects = objects(50, u64::from(BLOCK_BYTES));
    let read = Arc::new(AtomicU64::new(0));
    let served = Arc::clone(&read);
    let script = move |_| {
        served.fetch_add(1, Ordering::SeqCst);
        Step::ok(MS)
    };
    let mut staging = Staging::of_simulated(&objects, cell(1, Copy::whole(1)), script);
    staging.to = Failing::full_once_read(staging.to, "000000003.bin", (read, 3 + u64::from(COPY_BUFFERS)));
    let end = staging.run().unwrap();
    let Outcome::Failed { reason } = &end.measured.rep.outcome else {
        panic!("{:?}", end.measured.rep.outcome)
    };
    assert!(reason.contains("no space left"), "{reason}");
    assert_eq!((count(&end, counter::OPS), staging.files(&end).len()), (3, 3));
    assert_eq!(end.measured.rep.errors.values().sum::<u64>(), 1, "{:?}", end.measured.rep.errors);
    end.place.remove().unwrap();
    assert_eq!(std::fs::read_dir(staging.folder.path()).unwrap().count(), 0);
}

#[test]
fn a_target_without_room_is_refused_before_anything_is_written() {
    let objects = objects(10, 5_000);
    let (mut staging, _source) = Staging::of_files(&objects, cell(1, Copy::whole(1)));
    staging.to = Failing::with_free(staging.to, 40_000);
    let error = staging.run().unwrap_err().to_string();
    assert!(error.contains("87040 B are needed and 40000 B are free"), "{error}");
    assert_eq!(std::fs::read_dir(staging.folder.path()).unwrap().count(), 0);
}

/// What was read and not written yet lies in the buffers, and there are no more of them.
#[test]
fn no_more_blocks_are_held_than_there_are_buffers() {
    let objects = objects(3, 400_000);
    let read = Arc::new(AtomicU64::new(0));
    let served = Arc::clone(&read);
    let script = move |_| {
        served.fetch_add(1, Ordering::SeqCst);
        Step::ok(MS)
    };
    let mut staging = Staging::of_simulated(&objects, cell(1, Copy::whole(1)), script);
    let (to, held) = Failing::watching(Arc::clone(&staging.to), read);
    staging.to = to;
    let end = staging.run().unwrap();
    assert_eq!(count(&end, counter::OPS), 3);
    let held = held.load(Ordering::SeqCst);
    assert!((1..=u64::from(COPY_BUFFERS)).contains(&held), "{held}");
}

#[test]
fn an_interrupted_copy_leaves_whole_objects_alone() {
    let objects = objects(20, 10_000);
    let stop = Arc::new(AtomicBool::new(false));
    let pulled = Arc::clone(&stop);
    // In the middle of the sixth object.
    let script = move |op| {
        if op == 16 {
            pulled.store(true, Ordering::SeqCst);
        }
        Step::ok(MS)
    };
    let mut staging = Staging::of_simulated(&objects, cell(1, Copy::whole(1)), script);
    staging.stop = stop;
    let end = staging.run().unwrap();
    assert_eq!(end.measured.rep.outcome, Outcome::Interrupted);
    let files = staging.files(&end);
    assert_eq!((files.len(), count(&end, counter::OPS)), (5, 5));
    for (object, (name, bytes)) in files.iter().enumerate() {
        assert!(*bytes == content(object as u32, 10_000), "{name}");
    }
    end.place.remove().unwrap();
    assert_eq!(std::fs::read_dir(staging.folder.path()).unwrap().count(), 0);
}

/// Samples of a shard, from memory.
struct Known(std::ops::Range<u32>, u64);

impl formats::Samples for Known {
    fn count(&self) -> u64 {
        u64::from(self.0.end - self.0.start)
    }

    fn number(&self, index: u64) -> u64 {
        u64::from(self.0.start) + index
    }

    fn bytes(&self, _: u64) -> u64 {
        self.1
    }

    fn fill(&mut self, index: u64, offset: u64, out: &mut [u8]) {
        payload::fill(SEED, self.0.start + index as u32, offset, out);
    }
}

#[test]
fn packed_samples_are_the_shards_that_their_bytes_make() {
    let layouts = [Layout::WebDataset, Layout::TfRecord, Layout::Records, Layout::Indexed, Layout::Parquet];
    for layout in layouts {
        let objects = objects(25, 10_000);
        let packing = packing(layout, 100_000);
        let copy = Copy { packing: Some(packing), ..Copy::whole(1) };
        let (staging, _source) = Staging::of_files(&objects, cell(2, copy));
        let end = staging.run().unwrap();
        assert_eq!(
            (&end.measured.rep.outcome, count(&end, counter::OPS)),
            (&Outcome::Complete, 3),
            "{layout:?}"
        );
        assert_eq!(count(&end, counter::BYTES), 250_000, "{layout:?}");
        let files = staging.files(&end);
        let shards = [0..10, 10..20, 20..25].map(|range| {
            let mut shard = Vec::new();
            formats::write(&packing, &mut Known(range, 10_000), &mut shard).unwrap();
            shard
        });
        let written: u64 = shards.iter().map(|shard| shard.len() as u64).sum();
        assert_eq!(count(&end, counter::WRITTEN_BYTES), written, "{layout:?}");
        for (number, ((name, bytes), shard)) in files.iter().zip(shards).enumerate() {
            let extension = formats::extension(layout, Codec::None);
            assert_eq!(*name, format!("000000/{number:09}{extension}"));
            assert!(*bytes == shard, "{layout:?}: {name}");
        }
        end.place.remove().unwrap();
    }
}

#[test]
fn a_shard_with_a_sample_that_cannot_be_read_is_not_published() {
    let objects = objects(6, 1_000);
    let io = OpError { kind: ErrorKind::Io, code: 5 };
    let script = move |op| Step { latency_ns: MS, fault: (op == 3).then_some(Fault::Error(io)) };
    let copy = Copy { packing: Some(packing(Layout::WebDataset, 2_000)), ..Copy::whole(1) };
    let staging = Staging::of_simulated(&objects, cell(1, copy), script);
    let end = staging.run().unwrap();
    assert_eq!((count(&end, counter::OPS), end.measured.rep.errors["io"]), (2, 1));
    assert_eq!(staging.files(&end).len(), 2);
}
