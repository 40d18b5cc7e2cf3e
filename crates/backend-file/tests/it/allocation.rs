//! A queue in its steady state allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use backend::{Completion, Op, Request};
use backend_file::FileStore;

use crate::support::{LATER_NS, Opened, Setup, both, folder, open, write_dataset};

thread_local! {
    pub(crate) static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on unchanged; counting touches a cell of this thread alone.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Keeps the queue full of reads of the first eight files until `reads` have ended.
fn read(opened: &mut Opened, requests: &mut Vec<Request>, done: &mut Vec<Completion>, reads: u32) {
    let (mut begun, mut ended) = (0, 0);
    while ended < reads {
        while let Some(buf) = opened.free.pop() {
            let op = Op::Read { object: begun % 8, offset: 0, len: 4096 };
            requests.push(Request { token: begun, op, buf });
            begun += 1;
        }
        opened.queue.submit(requests, done).unwrap();
        if done.is_empty() {
            opened.queue.wait(1, LATER_NS, done).unwrap();
        }
        for completion in done.drain(..) {
            completion.result.unwrap();
            opened.free.push(completion.buf);
            ended += 1;
        }
    }
}

fn allocations_of_a_thousand_reads(store: &FileStore, objects: &std::sync::Arc<dataset::Objects>) -> u64 {
    let mut opened = open(store, objects, Setup::default());
    let (mut requests, mut done) = (Vec::with_capacity(64), Vec::with_capacity(64));
    read(&mut opened, &mut requests, &mut done, 100);
    let before = ALLOCATIONS.get();
    read(&mut opened, &mut requests, &mut done, 1000);
    let after = ALLOCATIONS.get();
    // The last reads are still outstanding.
    opened.queue.wait(opened.queue.in_flight() as usize, LATER_NS, &mut done).unwrap();
    after - before
}

#[test]
fn reading_allocates_nothing_whether_all_files_are_open_or_those_used_last() {
    let dir = folder();
    let objects = write_dataset(dir.path(), 12, 5000);
    for open_files_max in [100, 10] {
        for (engine, store) in both(dir.path()).into_iter().chain([("mmap", FileStore::mmap(dir.path()))]) {
            let store = store.with_open_files_max(open_files_max);
            let allocations = allocations_of_a_thousand_reads(&store, &objects);
            assert_eq!(allocations, 0, "{engine}, {open_files_max} files may be open");
        }
    }
}
