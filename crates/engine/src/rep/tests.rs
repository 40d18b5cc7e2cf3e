use std::collections::BTreeSet;
use std::sync::Arc;

use backend::simulated::{Simulated, Step};
use dataset::{Key, Objects, ReadSpan};
use plan::{Access, Engine};

use super::*;

/// What a client reads of 10 files of 3 blocks: one pass of a cold cell, or as many reads.
fn reads(part: (u32, u32), epoch: u64, access: Access, cache: Cache) -> Vec<(u32, u64)> {
    let clock = Clock::simulated();
    let store: SharedStore = Arc::new(Simulated::new(&clock, 1, 7, |_| Step::ok(1)));
    let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 10, 3 * 4_096));
    let data = Data::files(objects, None);
    let cell = Cell { access, cache, seed: 3, ..Cell::plain(Engine::Null, 4_096, 1) };
    let spec = RepSpec {
        cell: &cell,
        store: &store,
        server: None,
        data: &data,
        checkpoints: None,
        verify: true,
        warmup_ns: 0,
        limit: Limit::Duration { duration_ns: 1 },
        sample_bytes: 1.0,
        line_bps: 1.0,
        epoch,
        part,
        wait: None,
        cores: 1,
        clock: &clock,
        stop: &AtomicBool::new(false),
        progress: &Progress::default(),
    };
    let order = Order::of_cell(&data, &cell).unwrap();
    let taken = tickets(&spec, &order).take(30);
    let at = |ticket| {
        let ReadSpan { object, offset, .. } = order.at(ticket);
        (object, offset)
    };
    taken.map(at).collect()
}

#[test]
fn clients_that_share_the_data_read_each_block_once_between_them() {
    for access in [Access::ShuffledEpoch, Access::Sequential, Access::Random] {
        for epoch in [0, 5] {
            let parts: Vec<Vec<(u32, u64)>> =
                (0..4).map(|rank| reads((rank, 4), epoch, access, Cache::Cold)).collect();
            let lengths: Vec<usize> = parts.iter().map(Vec::len).collect();
            // Parts begin with a file, of which there are 10.
            assert_eq!(lengths, [6, 9, 6, 9], "{access:?}");
            let distinct: BTreeSet<_> = parts.iter().flatten().collect();
            assert_eq!(distinct.len(), 30, "{access:?}");
        }
    }
}

#[test]
fn clients_whose_cells_are_not_cold_begin_apart_and_read_on() {
    let sequential = |rank| reads((rank, 2), 0, Access::Sequential, Cache::Bypass);
    let (first, second) = (sequential(0), sequential(1));
    assert_eq!((first.len(), second.len()), (30, 30));
    assert_eq!((first[0], second[0]), ((0, 0), (5, 0)));
    assert_eq!(second[15], (0, 0), "behind its part comes that of the other");
    let shuffled = |rank| reads((rank, 2), 0, Access::ShuffledEpoch, Cache::Bypass);
    assert_eq!(shuffled(0)[15..], shuffled(1)[..15]);
}

#[test]
fn a_client_alone_reads_as_before() {
    let alone = reads((0, 1), 1, Access::Sequential, Cache::Cold);
    assert_eq!((alone.len(), alone[0]), (30, (0, 0)));
}
