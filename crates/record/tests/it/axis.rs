//! What sets cells apart.

use record::axis::{Axis, Groups, Places, agree, alike, others};
use record::{AxisWords, Cell, Training};

use crate::sample;

/// The axes along which two cells of the sample run differ.
fn apart(one: &Cell, other: &Cell) -> Vec<Axis> {
    let run = sample::run();
    let differs = |axis: &Axis| !agree(&run, one, other, &[*axis]);
    Axis::ALL.into_iter().filter(differs).collect()
}

#[test]
fn all_axes_are_listed_in_their_order() {
    let places: Vec<usize> = Axis::ALL.iter().map(|axis| *axis as usize).collect();
    assert_eq!(places, (0..=Axis::Other as usize).collect::<Vec<_>>());
}

/// Changes a setting of a cell.
type Change = fn(&mut Cell);

/// Every field of a cell with the axes along which a change of it sets cells apart. A new field does not compile until it is
/// named here.
fn changes(cell: &Cell) -> Vec<(&'static str, Change, Vec<Axis>)> {
    let Cell {
        cell: _,
        target: _,
        dataset: _,
        engine: _,
        stands_in_for: _,
        queue_depth: _,
        threads: _,
        connections: _,
        retries: _,
        block_bytes: _,
        access: _,
        cache: _,
        operation: _,
        pace: _,
        training: _,
        streams: _,
        shuffle_buffer: _,
        run_length: _,
        mixing: _,
        checkpoint: _,
        tier: _,
        copy: _,
        submit_batch: _,
        complete_batch: _,
        pages: _,
        durability: _,
        write_percent: _,
        ranks: _,
        auto_group: _,
        axes: _,
    } = *cell;
    vec![
        ("cell", |cell| cell.cell = "other".into(), vec![]),
        ("target", |cell| cell.target = "other".into(), vec![Axis::Target]),
        ("dataset", |cell| cell.dataset = 1, vec![Axis::Dataset, Axis::Layout, Axis::SampleBytes]),
        ("engine", |cell| cell.engine = "mmap".into(), vec![Axis::Engine]),
        ("stands_in_for", |cell| cell.stands_in_for = None, vec![Axis::StandIn]),
        ("queue_depth", |cell| cell.queue_depth = 7, vec![Axis::Depth]),
        ("threads", |cell| cell.threads = 7, vec![Axis::Threads]),
        ("connections", |cell| cell.connections = 7, vec![Axis::Connections]),
        ("retries", |cell| cell.retries = 7, vec![Axis::Retries]),
        ("block_bytes", |cell| cell.block_bytes = 7, vec![Axis::Block]),
        ("access", |cell| cell.access = "random".into(), vec![Axis::Access]),
        ("cache", |cell| cell.cache = "bypass".into(), vec![Axis::Cache]),
        ("warm", |cell| cell.cache = "warm".into(), vec![Axis::Cache, Axis::Memory]),
        ("operation", |cell| cell.operation = "stat".into(), vec![Axis::Operation]),
        ("training", |cell| cell.training = None, {
            let job = [
                Axis::Job,
                Axis::Accelerators,
                Axis::Readers,
                Axis::Fetches,
                Axis::Prefetch,
                Axis::DecodeThreads,
            ];
            [&[Axis::Load], &job[..]].concat()
        }),
        ("streams", |cell| cell.streams = None, vec![Axis::Streams]),
        ("shuffle_buffer", |cell| cell.shuffle_buffer = None, vec![Axis::ShuffleBuffer]),
        ("run_length", |cell| cell.run_length = None, vec![Axis::RunLength]),
        ("mixing", |cell| cell.mixing = None, vec![]),
        ("checkpoint", |cell| cell.checkpoint = None, vec![Axis::Checkpoint]),
        ("tier", |cell| cell.tier = None, vec![Axis::Tier, Axis::TierPath]),
        ("copy", |cell| cell.copy = None, vec![Axis::Copy]),
        ("submit_batch", |cell| cell.submit_batch = None, vec![]),
        ("complete_batch", |cell| cell.complete_batch = Some(7), vec![]),
        ("pages", |cell| cell.pages = Some("huge".into()), vec![Axis::Pages]),
        ("durability", |cell| cell.durability = Some("full".into()), vec![Axis::Durability]),
        ("write_percent", |cell| cell.write_percent = Some(70), vec![Axis::Mix]),
        ("ranks", |cell| cell.ranks = None, vec![Axis::Hosts]),
        ("auto_group", |cell| cell.auto_group = None, vec![]),
        ("shard size", |cell| cell.axes.push(words("shard_size")), vec![Axis::ShardBytes]),
        ("members of samples", |cell| cell.axes.push(words("members")), vec![Axis::Members]),
        ("codec", |cell| cell.axes.push(words("codec")), vec![Axis::Codec]),
        ("compressibility", |cell| cell.axes.push(words("compressibility")), vec![Axis::Compressibility]),
        ("where threads run", |cell| cell.axes.push(words("numa")), vec![Axis::Numa]),
        ("axes", |cell| cell.axes.push(words("unheard_of")), vec![Axis::Other]),
    ]
}

fn words(name: &str) -> AxisWords {
    AxisWords { name: name.to_owned(), value: "7".to_owned(), unit: String::new() }
}

#[test]
fn every_setting_of_a_cell_lies_along_its_axes() {
    let cell = sample::run().cells.remove(1);
    for (what, change, axes) in changes(&cell) {
        let mut other = cell.clone();
        change(&mut other);
        assert_ne!(other, cell, "{what} is not changed");
        assert_eq!(apart(&cell, &other), axes, "{what}");
        assert!(alike(&sample::run(), &cell, &other, &axes), "{what}");
        assert_eq!(alike(&sample::run(), &cell, &other, &[]), axes.is_empty(), "{what}");
    }
}

#[test]
fn a_rate_is_an_axis_and_not_only_whether_there_is_one() {
    let cell = sample::run().cells.remove(0);
    let mut other = cell.clone();
    other.pace.as_mut().unwrap().of_line = Some(0.8);
    assert_eq!(apart(&cell, &other), [Axis::Pace]);
    other.pace = None;
    assert_eq!(apart(&cell, &other), [Axis::Load, Axis::Pace]);
}

#[test]
fn what_a_job_costs_sets_nothing_apart_and_how_it_fetches_is_no_part_of_it() {
    let cell = sample::run().cells.remove(1);
    let with = |edit: fn(&mut Training)| {
        let mut other = cell.clone();
        edit(other.training.as_mut().unwrap());
        apart(&cell, &other)
    };
    assert_eq!(with(|job| job.price_per_hour = Some(7.0)), []);
    assert_eq!(with(|job| job.readers = Some(7)), [Axis::Readers]);
    assert_eq!(with(|job| job.fetches = 7), [Axis::Fetches]);
    assert_eq!(with(|job| job.prefetch = 7), [Axis::Prefetch]);
    assert_eq!(with(|job| job.accelerators = 7), [Axis::Accelerators]);
    assert_eq!(with(|job| job.decode_threads = None), [Axis::DecodeThreads]);
    assert_eq!(with(|job| job.batch = 7), [Axis::Job]);
    assert_eq!(with(|job| job.spin_ns = 7), [Axis::Job]);
}

#[test]
fn connections_that_follow_the_depth_are_alike_at_every_depth() {
    let mut cell = sample::run().cells.remove(0);
    cell.connections = cell.queue_depth;
    let mut deeper = cell.clone();
    (deeper.queue_depth, deeper.connections) = (64, 64);
    assert_eq!(apart(&cell, &deeper), [Axis::Depth]);
    deeper.connections = 8;
    assert_eq!(apart(&cell, &deeper), [Axis::Connections, Axis::Depth]);
}

#[test]
fn words_of_a_scenario_lie_along_the_axis_that_they_name() {
    let of = |name: &str| words(name).axis();
    assert_eq!(of("queue_depth"), Axis::Depth);
    assert_eq!(of("connections"), Axis::ConnectionsSet, "those that follow the depth are not said");
    assert_eq!((of("checkpoint"), of("checkpoint.mode")), (Axis::Checkpoint, Axis::Checkpoint));
    assert_eq!(of("training.readers"), Axis::Readers);
    assert_eq!(of("unheard_of"), Axis::Other);
}

#[test]
fn a_group_is_found_where_numbers_agree_that_are_not_equal() {
    let mut cell = sample::run().cells.remove(0);
    cell.connections = cell.queue_depth;
    let mut deeper = cell.clone();
    (deeper.queue_depth, deeper.connections) = (64, 64);
    let other = Cell { target: "other".to_owned(), ..cell.clone() };
    let (cells, but) = ([cell, deeper, other], [Axis::Depth]);
    let run = sample::run();
    let mut groups = Groups::along(others(&but));
    let placed =
        cells.each_ref().map(|cell| groups.place(&run, cell, |group| alike(&run, &cells[group], cell, &but)));
    assert_eq!(placed, [0, 0, 1]);
    let places = Places::of(&run, cells.iter().enumerate(), others(&but));
    assert_eq!((places.beside(&run, &cells[0]), places.beside(&run, &cells[2])), (&[0, 1][..], &[2][..]));
}
