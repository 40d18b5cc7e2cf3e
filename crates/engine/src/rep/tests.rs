use std::collections::BTreeSet;
use std::sync::Arc;

use backend::simulated::{Simulated, Step};
use backend::{Clock, SharedStore};
use dataset::{Data, Key, Objects, ReadSpan};
use plan::{Access, Cell, Engine, Fetch, Share, Streams, Training};

use super::*;
use crate::fleet::{self, Job, Position};

/// What a client reads of 10 files of 3 blocks: one epoch of a cold cell, or as many reads.
fn reads(part: Share, epoch: u64, access: Access, cache: Cache) -> Vec<(u32, u64)> {
    let clock = Clock::simulated();
    let store: SharedStore = Arc::new(Simulated::new(&clock, 1, 7, |_| Step::ok(1)));
    let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 10, 3 * 4_096));
    let data = Data::files(objects, None);
    let cell = Cell { access, cache, seed: 3, ..Cell::plain(Engine::Null, 4_096, 1) };
    let limit = Limit::Duration { duration_ns: 1 };
    let spec = RepSpec { epoch, part, ..RepSpec::plain(&cell, &store, &data, limit, &clock) };
    let order = Order::of_part(&data, &cell, part).unwrap();
    let taken = tickets(&spec, &order).take(30);
    let at = |ticket| {
        let ReadSpan { object, offset, .. } = order.at(ticket);
        (object, offset)
    };
    taken.map(at).collect()
}

#[test]
fn clients_that_share_the_data_read_each_block_once_between_them() {
    for access in
        [Access::ShuffledEpoch, Access::Sequential, Access::Random, Access::Neighbours { run_length: 1 }]
    {
        for epoch in [0, 5] {
            let parts: Vec<Vec<(u32, u64)>> =
                (0..4).map(|index| reads(Share { index, of: 4 }, epoch, access, Cache::Cold)).collect();
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
    let sequential = |index| reads(Share { index, of: 2 }, 0, Access::Sequential, Cache::Bypass);
    let (first, second) = (sequential(0), sequential(1));
    assert_eq!((first.len(), second.len()), (30, 30));
    assert_eq!((first[0], second[0]), ((0, 0), (5, 0)));
    assert_eq!(second[15], (0, 0), "behind its part comes that of the other");
    let shuffled = |index| reads(Share { index, of: 2 }, 0, Access::ShuffledEpoch, Cache::Bypass);
    assert_eq!(shuffled(0)[15..], shuffled(1)[..15]);
}

#[test]
fn a_client_alone_reads_as_before() {
    let alone = reads(Share::WHOLE, 1, Access::Sequential, Cache::Cold);
    assert_eq!((alone.len(), alone[0]), (30, (0, 0)));
}

#[test]
fn clients_of_streamed_shards_read_whole_shards_of_their_own_whatever_the_cache() {
    for epoch in [0, 5] {
        let cold: Vec<Vec<(u32, u64)>> = (0..4)
            .map(|index| {
                reads(Share { index, of: 4 }, epoch, Access::ShuffledShards(Streams::of(2)), Cache::Cold)
            })
            .collect();
        assert_eq!(cold.iter().map(Vec::len).collect::<Vec<_>>(), [9, 9, 6, 6]);
        assert_eq!(cold.iter().flatten().collect::<BTreeSet<_>>().len(), 30);
        for (index, own) in (0..).zip(&cold) {
            let on =
                reads(Share { index, of: 4 }, epoch, Access::ShuffledShards(Streams::of(2)), Cache::Bypass);
            assert_eq!((on.len(), &on[..own.len()]), (30, &own[..]), "what is not cold reads on");
        }
    }
}

/// Two accelerators with two readers each over 12 shards of 10 blocks, of batches of 3 reads.
#[test]
fn every_reader_of_a_streamed_job_has_a_stream_of_its_own() {
    let training = Training { fetch: Fetch::Readers { count: 2 }, ..Training::plain(2, 3, 1) };
    let objects = Arc::new(Objects::uniform(Key::new("d").unwrap(), 12, 40_960));
    let samples = dataset::Samples::Streamed { count: 120 };
    let data = Data::new(objects, samples, None).unwrap();
    let cell = Cell {
        access: Access::ShuffledShards(Streams::of(4)),
        load: plan::Load::Training(training),
        ..Cell::plain(Engine::Null, 4_096, 4)
    };
    let order = Order::of_cell(&data, &cell).unwrap();
    // Ten samples of a shard are ten blocks, and 3.33 batches of them.
    let coming = Some(fleet::Coming { readers: 2, together: 1, behind: 0 });
    let data =
        fleet::JobData { first_ticket: 0, tickets_per_epoch: 120, samples: 120, coming, endless: false };
    let job = Job::new(training, data).unwrap();
    assert_eq!(job.steps_per_epoch, 20);
    let mut shards = BTreeSet::new();
    for accelerator in 0..2 {
        for reader in 0..2 {
            let batches = (reader..20).step_by(2);
            let places = batches
                .flat_map(|batch| (0..3).map(move |sample| Position { accelerator, batch, sample, op: 0 }));
            let spans: Vec<ReadSpan> = places.map(|place| order.at(job.ticket(place))).collect();
            assert_eq!(spans.len(), 30);
            for shard in spans.chunks(10) {
                assert!(shards.insert(shard[0].object), "no other reader has it");
                assert!(shard.iter().all(|span| span.object == shard[0].object));
                assert!(shard.iter().map(|span| span.offset).eq((0..40_960).step_by(4_096)));
            }
        }
    }
    assert_eq!(shards.len(), 12);
}
