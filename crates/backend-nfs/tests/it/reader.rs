//! A queue that is kept full, and whose every byte is checked.

use std::sync::Arc;

use backend::{Arena, Buf, Clock, Completion, IoQueue, Op, OpError, QueueReport, QueueSpec, Request, Store};
use backend_nfs::NfsStore;
use dataset::{Objects, payload};
use plan::{Advice, Cache, Operation, Registered};

use crate::memory::SEED;

/// No wait of a test is as long, unless something hangs.
const LATER_NS: u64 = 120_000_000_000;

/// How a queue is used.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) operation: Operation,
    pub(crate) depth: u32,
    pub(crate) connections: u32,
    pub(crate) block_bytes: u32,
}

impl Load {
    /// Reads of blocks.
    pub(crate) fn blocks(depth: u32, connections: u32, block_bytes: u32) -> Self {
        Self { operation: Operation::Read, depth, connections, block_bytes }
    }
}

pub(crate) type End = Result<u64, OpError>;

pub(crate) struct Reader {
    queue: Box<dyn IoQueue>,
    objects: Arc<Objects>,
    load: Load,
    free: Vec<Buf>,
    clock: Clock,
    // Lives as long as its queue.
    _store: Arc<NfsStore>,
}

impl Reader {
    pub(crate) fn open(store: &Arc<NfsStore>, objects: &Arc<Objects>, load: Load) -> Self {
        let (arena, clock) = (Arena::new(load.depth, load.block_bytes).unwrap(), Clock::real());
        let spec = QueueSpec {
            depth: load.depth,
            submit_batch: load.depth,
            block_bytes: load.block_bytes,
            connections: load.connections,
            cache: Cache::Bypass,
            operation: load.operation,
            writes: None,
            advice: Advice::Normal,
            registered: Registered::Auto,
            objects,
            arena: &arena,
            clock: &clock,
        };
        let queue = store.open_queue(&spec).unwrap();
        let (objects, free) = (Arc::clone(objects), arena.buffers());
        Self { queue, objects, load, free, clock, _store: Arc::clone(store) }
    }

    /// Every block of every object, or every object, or every folder.
    pub(crate) fn everything(&self) -> Vec<Op> {
        let block = u64::from(self.load.block_bytes);
        let blocks = |object| {
            let bytes = self.objects.bytes(object);
            (0..bytes.div_ceil(block)).map(move |index| Op::Read {
                object,
                offset: index * block,
                len: block.min(bytes - index * block) as u32,
            })
        };
        let all = 0..self.objects.count();
        match self.load.operation {
            Operation::Read | Operation::Checkpoint | Operation::Restore => all.flat_map(blocks).collect(),
            Operation::ReadFile => {
                all.map(|object| Op::ReadFile { object, bytes: self.objects.bytes(object) }).collect()
            }
            Operation::Stat => all.map(|object| Op::Stat { object }).collect(),
            Operation::GetAttr => all.map(|object| Op::GetAttr { object }).collect(),
            Operation::List => {
                (0..self.objects.folders().len() as u32).map(|folder| Op::List { folder }).collect()
            }
            Operation::Copy | Operation::Write | Operation::Mix | Operation::WriteFile | Operation::Names => {
                panic!("this reads")
            }
        }
    }

    /// Keeps as many under way as may be until all have ended; how, in their order.
    pub(crate) fn run(&mut self, ops: &[Op]) -> Vec<End> {
        self.run_and(ops, |_| {})
    }

    /// As [`Reader::run`], telling after each turn how many have ended.
    pub(crate) fn run_and(&mut self, ops: &[Op], mut ended: impl FnMut(usize)) -> Vec<End> {
        let deadline_ns = self.clock.now_ns() + LATER_NS;
        let mut ends: Vec<Option<End>> = vec![None; ops.len()];
        let (mut next, mut count) = (0, 0);
        let (mut requests, mut done) = (Vec::new(), Vec::<Completion>::new());
        while count < ops.len() {
            while next < ops.len() {
                let Some(buf) = self.free.pop() else { break };
                requests.push(Request { token: next as u32, op: ops[next], buf });
                next += 1;
            }
            self.queue.submit(&mut requests, &mut done).unwrap();
            if done.is_empty() {
                self.queue.wait(1, deadline_ns, &mut done).unwrap();
            }
            assert!(self.clock.now_ns() < deadline_ns, "{count} of {} have ended, and no more", ops.len());
            for completion in done.drain(..) {
                let at = completion.token as usize;
                self.check(ops[at], &completion);
                assert!(ends[at].replace(completion.result).is_none(), "{:?} ended twice", ops[at]);
                self.free.push(completion.buf);
                count += 1;
            }
            ended(count);
        }
        assert_eq!((self.queue.in_flight(), self.free.len()), (0, self.load.depth as usize));
        ends.into_iter().flatten().collect()
    }

    /// The bytes of whatever ended well are those of the dataset, at their offset and no other.
    fn check(&self, op: Op, completion: &Completion) {
        let (object, offset, len) = match op {
            Op::Read { object, offset, len } => (object, offset, u64::from(len)),
            // The buffer holds its last piece.
            Op::ReadFile { object, bytes } => {
                let block = u64::from(self.load.block_bytes);
                let at = bytes.saturating_sub(1) / block * block;
                (object, at, bytes - at)
            }
            _ => return,
        };
        if completion.result.is_ok() {
            let data = &completion.buf.as_slice()[..len as usize];
            payload::verify(SEED, object, offset, data).expect("the bytes are those of the file");
        }
    }

    /// Everything, which must end well.
    pub(crate) fn reads_everything(&mut self) {
        let ops = self.everything();
        for (op, end) in ops.iter().zip(self.run(&ops)) {
            assert!(end.is_ok(), "{op:?}: {end:?}");
        }
    }

    pub(crate) fn report(&self) -> QueueReport {
        self.queue.report()
    }

    /// A number that the report has.
    pub(crate) fn counted(&self, name: &str) -> u64 {
        self.report().counted.iter().find(|(given, _)| given == name).map_or(0, |(_, count)| *count)
    }
}
