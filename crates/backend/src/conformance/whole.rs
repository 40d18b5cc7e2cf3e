//! Checks of operations on whole files and folders.

use std::collections::BTreeSet;
use std::sync::Arc;

use dataset::{Objects, payload};
use plan::{Cache, Operation};

use super::{Case, Fixture, LATER_NS, Opened};
use crate::{Completion, ErrorKind, Op, OpError, PHASE_STAMPS, Request};

/// A block size that is not a multiple of the alignment of buffers.
const ODD_BLOCK_BYTES: u32 = 3_000;

/// What a backend offers beside reads of blocks.
#[derive(Clone, Copy)]
pub struct WholeFiles<'a> {
    /// The backend, with a dataset and a depth of three at least.
    pub fixture: &'a Fixture,
    /// What it offers.
    pub operations: &'a [Operation],
    /// Whether objects are found by their names, so that one that is missing is found out. The dataset is then of
    /// equal sizes, and its folders hold nothing else.
    pub by_name: bool,
}

/// Runs every check of the operations offered.
pub fn run_whole(files: &WholeFiles<'_>) {
    for cache in &files.fixture.caches {
        // Direct reads need aligned blocks; all others must take the size as it was written, not as a buffer is
        // rounded.
        let block_bytes: &[u32] = if *cache == Cache::Bypass {
            &[Case::BLOCK_BYTES]
        } else {
            &[Case::BLOCK_BYTES, ODD_BLOCK_BYTES]
        };
        let checks = |operation| block_bytes.iter().map(move |block_bytes| (operation, *block_bytes));
        for (operation, block_bytes) in files.operations.iter().flat_map(checks) {
            let case = Case { fixture: files.fixture, cache: *cache };
            let check = Check { case, operation: *operation, block_bytes, by_name: files.by_name };
            check.every_operation_ends_well_and_returns_its_buffer();
            check.closing_returns_what_is_outstanding();
            if files.fixture.seed.is_some() && *operation == Operation::ReadFile {
                check.a_file_of_another_size_is_changed_and_the_queue_goes_on();
            }
            if files.by_name {
                check.what_is_missing_is_not_found_and_the_queue_goes_on();
                check.another_operation_than_asked_for_is_refused();
            }
            if files.by_name && *operation == Operation::Stat {
                check.a_look_at_a_file_of_another_size_finds_it_changed();
            }
        }
    }
}

struct Check<'a> {
    case: Case<'a>,
    operation: Operation,
    block_bytes: u32,
    by_name: bool,
}

impl Check<'_> {
    fn objects(&self) -> &Arc<Objects> {
        &self.case.fixture.objects
    }

    fn open(&self, objects: &Arc<Objects>) -> Opened {
        self.case.open_for(self.operation, objects, (self.case.fixture.depth, self.block_bytes))
    }

    fn op(&self, number: u32) -> Op {
        match self.operation {
            Operation::Read
            | Operation::Write
            | Operation::Mix
            | Operation::WriteFile
            | Operation::Names
            | Operation::Checkpoint
            | Operation::Restore
            | Operation::Copy => {
                panic!("a block is no whole file")
            }
            Operation::ReadFile => Op::ReadFile { object: number, bytes: self.objects().bytes(number) },
            Operation::Stat => Op::Stat { object: number },
            Operation::GetAttr => Op::GetAttr { object: number },
            Operation::List => Op::List { folder: number },
        }
    }

    /// Every file, or every folder.
    fn ops(&self) -> Vec<Op> {
        let folders = self.operation == Operation::List;
        let count = if folders { self.objects().folders().len() as u32 } else { self.objects().count() };
        (0..count).map(|number| self.op(number)).collect()
    }

    /// The operation ended well, with the bytes that were written.
    fn ended_well(&self, opened: &Opened, op: Op, completion: &Completion) {
        self.stamps_are_in_order(opened, op, completion);
        match op {
            Op::ReadFile { object, bytes } => {
                assert_eq!(completion.result, Ok(bytes), "{op:?}");
                self.last_piece_is_right(object, bytes, completion);
            }
            Op::Stat { .. } | Op::GetAttr { .. } => assert_eq!(completion.result, Ok(0), "{op:?}"),
            Op::List { folder } => {
                let entries = completion.result.expect("the folder is there");
                assert!(!self.by_name || entries == self.entries(folder), "{op:?} found {entries}");
            }
            Op::Read { .. } | Op::Write { .. } | Op::WriteFile { .. } | Op::Names { .. } => {
                panic!("{op:?} was not asked")
            }
        }
    }

    /// A file is read in pieces of a block, of which the buffer holds the last at the end.
    fn last_piece_is_right(&self, object: u32, bytes: u64, completion: &Completion) {
        let block = u64::from(self.block_bytes);
        let at = bytes.saturating_sub(1) / block * block;
        let data = &completion.buf.as_slice()[..(bytes - at) as usize];
        if let Some(seed) = self.case.fixture.seed {
            payload::verify(seed, object, at, data).expect("the bytes are those that were written");
        }
    }

    fn entries(&self, folder: u32) -> u64 {
        let folder = &self.objects().folders()[folder as usize];
        (0..self.objects().count()).filter(|object| self.objects().key(*object).folder() == *folder).count()
            as u64
    }

    fn stamps_are_in_order(&self, opened: &Opened, op: Op, completion: &Completion) {
        let named = opened.queue.phases().len();
        assert!(named <= PHASE_STAMPS + 1, "{named} phases");
        let stamps = completion.stamps;
        let (inner, others) = stamps.phase_ns.split_at(named.saturating_sub(1));
        let reached = inner.iter().take_while(|end_ns| **end_ns > 0).count();
        assert!(reached == inner.len() || completion.result.is_err(), "{op:?} skipped a phase: {stamps:?}");
        assert!(inner[reached..].iter().chain(others).all(|end_ns| *end_ns == 0), "{op:?}: {stamps:?}");
        let mut ends_ns = vec![stamps.begun_ns];
        ends_ns.extend(&inner[..reached]);
        ends_ns.extend([stamps.done_ns, self.case.fixture.clock.now_ns()]);
        assert!(ends_ns.is_sorted(), "{op:?} is out of order: {stamps:?}");
    }

    fn every_operation_ends_well_and_returns_its_buffer(&self) {
        let mut opened = self.open(self.objects());
        let ops = self.ops();
        let mut seen = BTreeSet::new();
        for round in ops.chunks(self.case.fixture.depth as usize) {
            for (op, completion) in opened.run(round) {
                self.ended_well(&opened, op, &completion);
                assert!(seen.insert(format!("{op:?}")), "{op:?} came back twice");
                opened.free.push(completion.buf);
            }
        }
        assert_eq!(seen.len(), ops.len());
        assert_eq!(opened.free.len(), self.case.fixture.depth as usize, "every buffer came back");
        assert_eq!(opened.queue.close(LATER_NS, &mut Vec::new()), 0);
    }

    fn closing_returns_what_is_outstanding(&self) {
        let Opened { mut queue, free } = self.open(self.objects());
        let op = self.ops()[0];
        let mut requests: Vec<Request> = free.into_iter().map(|buf| Request { token: 0, op, buf }).collect();
        let mut done = Vec::new();
        queue.submit(&mut requests, &mut done).expect("submit");
        assert_eq!(queue.close(LATER_NS, &mut done), 0, "nothing is abandoned");
        assert_eq!(done.len() + requests.len(), self.case.fixture.depth as usize);
    }

    /// One operation fails among others that end well, before and after it.
    fn fails(&self, opened: &mut Opened, op: Op) -> OpError {
        // Before and after the failure: a queue that keeps a state from it (a linked request, a half-read reply)
        // breaks on the operation that follows.
        let well = self.op(0);
        let mut error = None;
        for (asked, completion) in opened.run(&[well, op, well]) {
            if asked == op {
                self.stamps_are_in_order(opened, op, &completion);
                error = Some(completion.result.expect_err("it must fail"));
            } else {
                self.ended_well(opened, asked, &completion);
            }
            opened.free.push(completion.buf);
        }
        error.expect("it came back")
    }

    fn a_file_of_another_size_is_changed_and_the_queue_goes_on(&self) {
        let mut opened = self.open(self.objects());
        let bytes = self.objects().bytes(1);
        let block = u64::from(self.block_bytes);
        // One byte either way, a whole block more, and sizes at which a reader ends on a boundary and so might not
        // look further.
        for bytes in [bytes - 1, bytes + 1, bytes + block, bytes / block * block, block, 1, 0] {
            let error = self.fails(&mut opened, Op::ReadFile { object: 1, bytes });
            assert_eq!(error.kind, ErrorKind::Changed, "planned to have {bytes} bytes");
        }
    }

    fn what_is_missing_is_not_found_and_the_queue_goes_on(&self) {
        let Objects::Uniform { folder, count, bytes, files_per_folder } = &**self.objects() else {
            panic!("the dataset is of equal sizes");
        };
        let folders = self.objects().folders().len() as u32;
        let objects = Objects::Uniform {
            folder: folder.clone(),
            // One object in the last folder that is there and one in a folder that is not: a lookup fails at
            // different places.
            count: (folders * files_per_folder + 1).max(count + 1),
            bytes: *bytes,
            files_per_folder: *files_per_folder,
        };
        let mut opened = self.open(&Arc::new(objects));
        let missing = match self.operation {
            Operation::List => vec![Op::List { folder: folders }],
            Operation::Stat | Operation::GetAttr => {
                [*count, folders * files_per_folder].map(|object| Op::Stat { object }).into()
            }
            _ => [*count, folders * files_per_folder]
                .map(|object| Op::ReadFile { object, bytes: *bytes })
                .into(),
        };
        for op in missing {
            assert_eq!(self.fails(&mut opened, op).kind, ErrorKind::NotFound, "{op:?}");
        }
    }

    fn another_operation_than_asked_for_is_refused(&self) {
        let mut opened = self.open(self.objects());
        let other = Op::Read { object: 0, offset: 0, len: 1 };
        self.fails(&mut opened, other);
    }

    fn a_look_at_a_file_of_another_size_finds_it_changed(&self) {
        let Objects::Uniform { folder, count, bytes, files_per_folder } = &**self.objects() else {
            panic!("the dataset is of equal sizes");
        };
        let (folder, files_per_folder) = (folder.clone(), *files_per_folder);
        let objects = Objects::Uniform { folder, count: *count, bytes: bytes + 1, files_per_folder };
        let mut opened = self.open(&Arc::new(objects));
        for (op, completion) in opened.run(&[Op::Stat { object: 1 }]) {
            let error = completion.result.expect_err("its size differs");
            assert_eq!(error.kind, ErrorKind::Changed, "{op:?}");
        }
    }
}

impl Opened {
    /// The ends of operations that are asked together, each with a free buffer.
    fn run(&mut self, ops: &[Op]) -> Vec<(Op, Completion)> {
        let mut requests: Vec<Request> = (0..)
            .zip(ops)
            .map(|(token, op)| Request { token, op: *op, buf: self.free.pop().expect("a buffer is free") })
            .collect();
        let mut done = Vec::new();
        while done.len() < ops.len() {
            let before = (done.len(), requests.len());
            self.queue.submit(&mut requests, &mut done).expect("submit");
            if done.len() < ops.len() {
                self.queue.wait(1, LATER_NS, &mut done).expect("wait");
                assert_ne!(before, (done.len(), requests.len()), "wait(1) returned with nothing done");
            }
        }
        done.into_iter().map(|completion| (ops[completion.token as usize], completion)).collect()
    }
}
