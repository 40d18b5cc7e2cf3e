//! The table of cases. The bounds were set from a prototype's figures before this engine was written.

use super::{Access, Bound, Case, Data, Kept, Measure, Peer, Target, Work};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Buffers and files registered; a whole queue submitted and reaped at a time; any block at each step, as feedline
/// draws them, without a map of those already read.
const BATCHED: &[&str] = &[
    "--fixedbufs=1",
    "--registerfiles=1",
    "--iodepth_batch_submit=32",
    "--iodepth_batch_complete_min=32",
    "--iodepth_batch_complete_max=32",
    "--norandommap=1",
];

/// The same for a device that takes its time: one completion is enough to go on, or the queue would run dry.
const BATCHED_ON_A_DEVICE: &[&str] = &[
    "--fixedbufs=1",
    "--registerfiles=1",
    "--iodepth_batch_submit=32",
    "--iodepth_batch_complete_min=1",
    "--iodepth_batch_complete_max=32",
    "--norandommap=1",
    "--invalidate=0",
];

/// One request to a submission, which is fio's default, so that nothing is merged.
const SEQUENTIAL: &[&str] = &["--fixedbufs=1", "--registerfiles=1", "--invalidate=0"];

const SEQUENTIAL_BY_TWO: &[&str] = &[
    "--fixedbufs=1",
    "--registerfiles=1",
    "--iodepth_batch_submit=2",
    "--iodepth_batch_complete_max=2",
    "--invalidate=0",
];

const fn cpu(against: Peer, most: f64) -> Target {
    Target { against, measure: Measure::CpuPerOp, bound: Bound::AtMost(most) }
}

const fn throughput(against: Peer, bound: Bound) -> Target {
    Target { against, measure: Measure::Throughput, bound }
}

/// What measuring may add to the work of the kernel alone, where a case cannot be quicker than that.
const FLOOR: f64 = 1.05;

const PAGE_CACHE: &[Target] = &[cpu(Peer::Best, 0.80), cpu(Peer::Default, 0.60), cpu(Peer::Bare, FLOOR)];
const NULL_DEVICE: &[Target] = &[cpu(Peer::Best, 0.90), cpu(Peer::Default, 0.60)];
const SEQUENTIAL_128K: &[Target] =
    &[throughput(Peer::Best, Bound::AtLeast(1.0)), throughput(Peer::Default, Bound::AtLeast(1.4))];
const SEQUENTIAL_1M: &[Target] = &[throughput(Peer::Best, Bound::AtLeast(1.0))];
const FILES: &[Target] =
    &[throughput(Peer::Best, Bound::AtLeast(1.8)), throughput(Peer::Bare, Bound::AtLeast(2.0 - FLOOR))];
/// What threads may lose by sharing a process, and no more.
const WORKERS: f64 = 0.95;

/// Random 4 KiB reads at depth 32 through `io_uring`.
const fn random_4k(direct: bool, complete_batch: Option<u32>) -> Work {
    Work {
        engine: "io_uring",
        peer_engine: "io_uring",
        block_bytes: 4 * KIB,
        queue_depth: 32,
        threads: 1,
        access: Access::Random,
        direct,
        writes: None,
        mixed: None,
        submit_batch: None,
        complete_batch,
    }
}

/// The same of the page cache or of nothing, by two threads.
const fn two_workers() -> Work {
    Work { queue_depth: 64, threads: 2, ..random_4k(false, None) }
}

/// Sequential direct reads at depth 8 through `io_uring`.
const fn sequential(block_bytes: u64, submit_batch: u32) -> Work {
    Work {
        engine: "io_uring",
        peer_engine: "io_uring",
        block_bytes,
        queue_depth: 8,
        threads: 1,
        access: Access::Sequential,
        direct: true,
        writes: None,
        mixed: None,
        submit_batch: Some(submit_batch),
        complete_batch: None,
    }
}

/// Warm files in the order of their names, each opened, read and closed.
const fn files(engine: &'static str, queue_depth: u32) -> Work {
    Work {
        engine,
        peer_engine: "psync",
        block_bytes: 4 * KIB,
        queue_depth,
        threads: 1,
        access: Access::Sequential,
        direct: false,
        writes: None,
        mixed: None,
        submit_batch: None,
        complete_batch: None,
    }
}

/// The same work, by writes.
const fn written(kept: Kept, work: Work) -> Work {
    Work { writes: Some(kept), ..work }
}

const WRITES: &[Target] = &[cpu(Peer::Best, 0.90), throughput(Peer::Best, Bound::AtLeast(0.95))];

const SMALL_FILES: Data = Data::Files { count: 20_000, bytes: 4 * KIB };

/// Every case.
pub(crate) const CASES: &[Case] = &[
    Case {
        name: "page-cache-4k-qd32-1g",
        about: "random 4 KiB in a file of 1 GiB that is in the page cache, io_uring, depth 32",
        data: Data::File { bytes: GIB },
        work: random_4k(false, Some(32)),
        best: BATCHED,
        targets: PAGE_CACHE,
    },
    Case {
        name: "page-cache-4k-qd32-64m",
        about: "random 4 KiB in a file of 64 MiB that is in the page cache, io_uring, depth 32",
        data: Data::File { bytes: 64 * MIB },
        work: random_4k(false, Some(32)),
        best: BATCHED,
        targets: PAGE_CACHE,
    },
    Case {
        name: "direct-4k-qd32",
        about: "random direct 4 KiB on a device without a medium (zram), io_uring, depth 32",
        data: Data::Device,
        work: random_4k(true, Some(32)),
        best: BATCHED,
        targets: NULL_DEVICE,
    },
    Case {
        name: "seq-direct-128k-qd8-batch1",
        about: "sequential direct 128 KiB on the disk, io_uring, depth 8, 1 to a submission",
        data: Data::File { bytes: 4 * GIB },
        work: sequential(128 * KIB, 1),
        best: SEQUENTIAL,
        targets: SEQUENTIAL_128K,
    },
    Case {
        name: "seq-direct-128k-qd8-batch2",
        about: "sequential direct 128 KiB on the disk, io_uring, depth 8, 2 to a submission",
        data: Data::File { bytes: 4 * GIB },
        work: sequential(128 * KIB, 2),
        best: SEQUENTIAL_BY_TWO,
        targets: SEQUENTIAL_128K,
    },
    Case {
        name: "seq-direct-1m-qd8-batch1",
        about: "sequential direct 1 MiB on the disk, io_uring, depth 8, 1 to a submission",
        data: Data::File { bytes: 4 * GIB },
        work: sequential(MIB, 1),
        best: SEQUENTIAL,
        targets: SEQUENTIAL_1M,
    },
    Case {
        name: "seq-direct-1m-qd8-batch2",
        about: "sequential direct 1 MiB on the disk, io_uring, depth 8, 2 to a submission",
        data: Data::File { bytes: 4 * GIB },
        work: sequential(MIB, 2),
        best: SEQUENTIAL_BY_TWO,
        targets: SEQUENTIAL_1M,
    },
    Case {
        name: "files-4k-warm-pread",
        about: "20,000 warm files of 4 KiB, each opened, read and closed, one thread; feedline by pread",
        data: SMALL_FILES,
        work: files("pread", 1),
        best: &["--fadvise_hint=0"],
        targets: FILES,
    },
    Case {
        name: "files-4k-warm-io-uring",
        about: "20,000 warm files of 4 KiB, each opened, read and closed, one thread; feedline by io_uring, depth 32",
        data: SMALL_FILES,
        work: files("io_uring", 32),
        best: &["--fadvise_hint=0"],
        targets: FILES,
    },
    Case {
        name: "mmap-128k",
        about: "random 128 KiB of a mapped file of 1 GiB that is in the page cache, one thread",
        data: Data::File { bytes: GIB },
        work: Work {
            engine: "mmap",
            peer_engine: "mmap",
            block_bytes: 128 * KIB,
            queue_depth: 1,
            threads: 1,
            access: Access::Random,
            direct: false,
            writes: None,
            mixed: None,
            submit_batch: None,
            complete_batch: None,
        },
        best: &["--norandommap=1"],
        targets: &[throughput(Peer::Best, Bound::AtLeast(0.95))],
    },
    Case {
        name: "device-4k-qd32",
        about: "random direct 4 KiB on the disk, io_uring, depth 32",
        data: Data::File { bytes: 4 * GIB },
        work: random_4k(true, None),
        best: BATCHED_ON_A_DEVICE,
        targets: &[throughput(Peer::Best, Bound::Within(0.05))],
    },
    Case {
        name: "write-direct-4k-qd32",
        about: "random direct writes of 4 KiB over a file on the disk, io_uring, depth 32, nothing promised",
        data: Data::Written { bytes: GIB },
        work: written(Kept::Unpromised, random_4k(true, None)),
        best: BATCHED_ON_A_DEVICE,
        targets: WRITES,
    },
    Case {
        name: "write-direct-128k-qd8",
        about: "sequential direct writes of 128 KiB over a file on the disk, io_uring, depth 8, 2 to a submission",
        data: Data::Written { bytes: GIB },
        work: written(Kept::Unpromised, sequential(128 * KIB, 2)),
        best: SEQUENTIAL_BY_TWO,
        targets: WRITES,
    },
    Case {
        name: "mix-direct-4k-qd32",
        about: "random direct reads and writes (30 %) of 4 KiB over a file on the disk, io_uring, depth 32, nothing promised",
        data: Data::Written { bytes: GIB },
        work: Work { mixed: Some(30), ..written(Kept::Unpromised, random_4k(true, None)) },
        best: BATCHED_ON_A_DEVICE,
        targets: WRITES,
    },
    Case {
        name: "write-dsync-4k-qd32",
        about: "random direct writes of 4 KiB over a file on the disk, io_uring, depth 32, each kept (O_DSYNC)",
        data: Data::Written { bytes: GIB },
        work: written(Kept::Dsync, random_4k(true, None)),
        best: BATCHED_ON_A_DEVICE,
        targets: WRITES,
    },
    Case {
        name: "workers-null",
        about: "4 KiB of the null target at depth 64 by two threads, beside two processes of one thread at depth 32 each",
        data: Data::Null,
        work: two_workers(),
        best: &[],
        targets: &[throughput(Peer::Apart, Bound::AtLeast(WORKERS))],
    },
    Case {
        name: "workers-page-cache",
        about: "random 4 KiB in a file of 64 MiB that is in the page cache, io_uring, depth 64 by two threads, beside a bare loop of \
                two threads on the same file",
        data: Data::File { bytes: 64 * MIB },
        work: two_workers(),
        best: &[],
        targets: &[throughput(Peer::Bare, Bound::AtLeast(WORKERS))],
    },
];
