use record::{Device, Memory, Rep, System};

use super::*;
use crate::fixture::{self, Builder};

const SECOND_NS: u64 = 1_000_000_000;
const MB: u64 = 1_000_000;
const AGREES: Reconciliation = Reconciliation::Agrees { within: 0.02 };

fn served(share: f64) -> Reconciliation {
    Reconciliation::CacheServed { share, direct: false }
}

/// 100 MB in 1,000 reads of 100 kB over a second, of which the process and the device read these many bytes.
fn rep(process: Option<u64>, device: Option<u64>) -> Rep {
    let mut rep = fixture::rep("c", 0, 100e6);
    rep.system = System {
        process_read_bytes: process,
        device: device.map(|read_bytes| Device {
            name: "nvme0n1".to_owned(),
            reads: 1_000,
            read_bytes,
            wall_ns: SECOND_NS,
            ..Device::default()
        }),
        core_busy_ns: vec![0],
        ..System::default()
    };
    rep
}

/// A cell of depth 1 that reads through the page cache, so that what is in flight explains nothing.
fn cell() -> Cell {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 1);
    builder.edit_cell("c", |cell| cell.cache = "cold".into());
    builder.run.cells.remove(0)
}

fn figures_of(reps: &[Rep], cell: &Cell) -> SystemFigures {
    SystemFigures::of_reps(&reps.iter().collect::<Vec<_>>(), cell).unwrap()
}

fn figures(reps: &[Rep]) -> SystemFigures {
    figures_of(reps, &cell())
}

fn reconciled(process: Option<u64>, device: Option<u64>) -> Vec<Reconciliation> {
    figures(&[rep(process, device)]).reconciliation
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-9 * expected.abs().max(1.0)
}

#[test]
fn records_of_format_1_0_have_no_figures() {
    assert_eq!(SystemFigures::of_reps(&[&fixture::rep("c", 0, 1e9)], &cell()), None);
    assert_eq!(SystemFigures::of_reps(&[], &cell()), None);
}

#[test]
fn reads_through_a_tier_and_writes_of_checkpoints_are_held_against_no_count_of_reads() {
    let reps = [rep(Some(10 * MB), Some(10 * MB))];
    assert!(figures_of(&reps, &cell()).cache_share.is_some());
    let mut tiered = cell();
    tiered.tier = Some(record::Tier { at: "/c".to_owned(), capacity_bytes: 1, policy: "lru".to_owned() });
    let mut written = cell();
    written.operation = "checkpoint".into();
    for cell in [tiered, written] {
        let figures = figures_of(&reps, &cell);
        assert_eq!((figures.reconciliation.as_slice(), figures.cache_share), (&[][..], None));
        assert_eq!((figures.process_amplification, figures.device_amplification), (None, None));
    }
}

#[test]
fn a_device_is_shown_as_iostat_shows_it() {
    let mut one = rep(Some(100 * MB), None);
    one.system.device = Some(Device {
        name: "vda".to_owned(),
        reads: 800,
        reads_merged: 200,
        read_bytes: 104_857_600,
        read_ns: 1_600_000_000,
        writes: 10,
        write_bytes: 40_960,
        write_ns: 50_000_000,
        busy_ns: 1_500_000_000,
        weighted_ns: 3_000_000_000,
        flushes: Some(40),
        flush_ns: Some(20_000_000),
        wall_ns: 2 * SECOND_NS,
    });
    one.window_ns = 2 * SECOND_NS;
    let device = figures(&[one]).device.unwrap();
    let expected = DeviceFigures {
        name: "vda".to_owned(),
        reads_per_s: 400.0,
        read: Traffic { bytes: 104_857_600, bps: 52_428_800.0 },
        request_bytes: Some(131_072.0),
        read_await_ns: Some(2_000_000.0),
        merges_per_s: 100.0,
        merged_share: Some(0.2),
        writes_per_s: 5.0,
        write: Traffic { bytes: 40_960, bps: 20_480.0 },
        write_await_ns: Some(5_000_000.0),
        flushes_per_s: Some(20.0),
        flush_await_ns: Some(500_000.0),
        queue: 1.5,
        util: 0.75,
    };
    assert_eq!(device, expected);
}

#[test]
fn an_idle_device_has_no_mean_and_a_busy_one_no_more_than_all_the_time() {
    let mut one = rep(Some(0), Some(0));
    let device = one.system.device.as_mut().unwrap();
    (device.reads, device.busy_ns) = (0, SECOND_NS + 4_000_000);
    let device = figures(&[one]).device.unwrap();
    assert_eq!((device.request_bytes, device.read_await_ns, device.merged_share), (None, None, None));
    assert!(close(device.util, 1.0));
}

#[test]
fn repetitions_are_summed_and_not_averaged() {
    let mut long = rep(Some(100 * MB), Some(100 * MB));
    long.window_ns = 3 * SECOND_NS;
    long.usage.wall_ns = 3 * SECOND_NS;
    long.usage.psi_io_some_ns = Some(SECOND_NS);
    long.system.core_busy_ns = vec![3 * SECOND_NS, 0];
    let device = long.system.device.as_mut().unwrap();
    (device.wall_ns, device.read_ns) = (3 * SECOND_NS, 4_000_000_000);
    let mut short = rep(Some(100 * MB), Some(100 * MB));
    short.usage.psi_io_some_ns = Some(SECOND_NS);
    short.system.core_busy_ns = vec![SECOND_NS, SECOND_NS];

    let figures = figures(&[long, short]);
    assert_eq!(figures.asked, Traffic { bytes: 200 * MB, bps: 50e6 });
    assert_eq!(figures.process, Some(Traffic { bytes: 200 * MB, bps: 50e6 }));
    let device = figures.device.unwrap();
    assert_eq!((device.reads_per_s, device.read_await_ns), (500.0, Some(2_000_000.0)));
    assert_eq!(figures.pressure, Pressure { io: Some(0.5), ..Pressure::default() });
    let cores = figures.cores.unwrap();
    assert_eq!((cores.busy, cores.mean, cores.max), (vec![1.0, 0.25], 0.625, 1.0));
    assert_eq!(figures.reconciliation, [AGREES]);
}

#[test]
fn a_repetition_without_its_device_leaves_the_others() {
    let figures = figures(&[rep(Some(100 * MB), None), rep(Some(150 * MB), Some(150 * MB))]);
    assert_eq!(figures.device.unwrap().read.bytes, 150 * MB);
    assert!(close(figures.device_amplification.unwrap(), 1.5), "of the repetition that saw its device");
    assert!(close(figures.process_amplification.unwrap(), 1.25));
}

#[test]
fn memory_and_faults() {
    let memory = |available, cached, dirty| {
        Some(Memory { available_bytes: available, cached_bytes: cached, dirty_bytes: dirty })
    };
    let mut one = rep(None, None);
    (one.system.memory_before, one.system.memory_after) = (memory(900, 100, 7), memory(800, 150, 3));
    let mut two = rep(None, None);
    (two.system.memory_before, two.system.memory_after) = (memory(850, 150, 9), memory(850, 90, 1));
    (one.usage.minor_faults, two.usage.major_faults) = (4_000, 500);
    let figures = figures(&[one, two]);
    let expected =
        MemoryFigures { available_min_bytes: 800, cached_growth_max_bytes: 50, dirty_max_bytes: 9 };
    assert_eq!(figures.memory, Some(expected));
    assert_eq!((figures.minor_faults_per_op, figures.major_faults_per_op), (Some(2.0), Some(0.25)));
}

#[test]
fn two_percent_are_not_told() {
    assert_eq!(reconciled(Some(100 * MB), Some(100 * MB)), [AGREES]);
    assert_eq!(reconciled(Some(98 * MB), Some(100 * MB)), [AGREES]);
    assert_eq!(figures(&[rep(Some(98 * MB), Some(98 * MB))]).cache_share, None);
    assert_eq!(reconciled(Some(102 * MB), Some(104 * MB)), [AGREES]);
}

#[test]
fn the_page_cache_is_what_storage_was_not_asked_for() {
    let figures = figures(&[rep(Some(25 * MB), Some(25 * MB))]);
    assert!(close(figures.cache_share.unwrap(), 0.75));
    assert!(close(figures.process_amplification.unwrap(), 0.25));
    assert_eq!(figures.reconciliation, [served(0.75)]);
    assert_eq!(reconciled(Some(0), Some(0)), [served(1.0)]);
}

#[test]
fn reading_more_than_asked_is_told_with_its_factor() {
    assert_eq!(reconciled(Some(150 * MB), Some(150 * MB)), [Reconciliation::ReadMore { factor: 1.5 }]);
    let figures = figures(&[rep(Some(150 * MB), Some(150 * MB))]);
    assert_eq!((figures.cache_share, figures.device_amplification), (None, Some(1.5)));
}

#[test]
fn whole_pages_explain_a_little_more_and_only_where_reads_are_not_made_of_them() {
    let mut block = cell();
    // 10,000 reads of 10,000 B: 12,288 B each in whole pages.
    let one = |read: u64| {
        let mut one = rep(Some(read), Some(read));
        one.counters.insert(counter::OPS.to_owned(), 10_000);
        one
    };
    block.block_bytes = 16_384;
    let rounded = figures_of(&[one(122_880_000)], &block).reconciliation;
    assert_eq!(rounded, [Reconciliation::Rounded { factor: 1.2288 }]);
    let more = figures_of(&[one(160 * MB)], &block).reconciliation;
    assert_eq!(more, [Reconciliation::ReadMore { factor: 1.6 }]);

    block.block_bytes = 12_288;
    let rounded = figures_of(&[one(122_880_000)], &block).reconciliation;
    assert_eq!(rounded, [Reconciliation::Rounded { factor: 1.2288 }]);
    let more = figures_of(&[one(130 * MB)], &block).reconciliation;
    assert_eq!(
        more,
        [Reconciliation::ReadMore { factor: 1.3 }],
        "2,288 B are missing to a block, not a page"
    );

    block.block_bytes = 10_000;
    let both_ends = figures_of(&[one(140 * MB)], &block).reconciliation;
    assert_eq!(both_ends, [Reconciliation::Rounded { factor: 1.4 }]);
    let beyond = figures_of(&[one(160 * MB)], &block).reconciliation;
    assert_eq!(beyond, [Reconciliation::ReadMore { factor: 1.6 }]);
}

#[test]
fn whole_files_of_many_pieces_are_rounded_at_their_ends_alone() {
    let mut files = cell();
    (files.operation, files.block_bytes) = ("read_file".into(), 16_384);
    // 1,000 files of 100,000 B: 102,400 B each in whole pages.
    let found = figures_of(&[rep(Some(102_400_000), Some(102_400_000))], &files).reconciliation;
    assert_eq!(found, [Reconciliation::Rounded { factor: 1.024 }]);
}

#[test]
fn reads_of_whole_pages_are_not_rounded() {
    let mut block = cell();
    block.block_bytes = 4_096;
    let mut one = rep(Some(140 * MB), Some(140 * MB));
    one.counters.insert(counter::OPS.to_owned(), 25_000);
    one.counters.insert(counter::BYTES.to_owned(), 25_000 * 4_096);
    let found = figures_of(&[one], &block).reconciliation;
    assert!(matches!(found[..], [Reconciliation::ReadMore { .. }]), "{found:?}");
}

#[test]
fn what_is_in_flight_at_the_edges_is_not_told_up_to_five_percent() {
    let mut deep = cell();
    // 40 reads of 100 kB: 4 MB.
    deep.queue_depth = 40;
    let found = |deep: &Cell, read| figures_of(&[rep(Some(read), Some(read))], deep).reconciliation;
    assert_eq!(found(&deep, 96 * MB), [Reconciliation::Agrees { within: 0.04 }]);
    assert!(
        matches!(found(&deep, 96 * MB)[..], [Reconciliation::Agrees { within }] if (within - 0.04).abs() < 1e-9)
    );
    assert!(!found(&deep, 95 * MB)[0].agrees());
    deep.queue_depth = 1_000_000;
    assert!(found(&deep, 95 * MB)[0].agrees());
    assert!(!found(&deep, 94 * MB)[0].agrees(), "no depth explains more");
    assert_eq!(found(&deep, 0), [served(1.0)], "nor that nothing was read");
}

#[test]
fn a_paced_cell_fills_no_queue_and_its_device_has_one_of_its_own() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 1_000);
    builder.pace("c", 1.0, 1.0);
    let paced = builder.run.cells.remove(0);
    let mut one = rep(Some(100 * MB), Some(96 * MB));
    let found = |one: &Rep| figures_of(std::slice::from_ref(one), &paced).reconciliation;
    assert!(!found(&one)[0].agrees());
    // 20 requests of 96 kB at either end.
    one.system.device.as_mut().unwrap().weighted_ns = 21 * SECOND_NS;
    assert!(found(&one)[0].agrees(), "{:?}", found(&one));
}

#[test]
fn counters_read_beside_their_window_are_left_out() {
    let mut late = rep(Some(500 * MB), Some(500 * MB));
    late.system.device.as_mut().unwrap().wall_ns = SECOND_NS + SECOND_NS / 10;
    let good = rep(Some(100 * MB), Some(100 * MB));
    let both = figures(&[late.clone(), good]);
    assert_eq!((both.asked.bytes, both.reconciliation), (100 * MB, vec![AGREES]));
    assert_eq!(SystemFigures::of_reps(&[&late], &cell()), None, "none is left");
}

#[test]
fn short_windows_say_nothing_of_the_device() {
    let mut short = rep(Some(50 * MB), Some(50 * MB));
    short.window_ns = 99_000_000;
    short.system.device.as_mut().unwrap().wall_ns = 99_000_000;
    short.usage.major_faults = 10;
    let figures = figures(&[short]);
    assert_eq!((figures.device, figures.process_amplification, figures.cache_share), (None, None, None));
    assert_eq!((figures.reconciliation, figures.major_faults_per_op), (Vec::new(), Some(0.01)));
}

#[test]
fn direct_reads_that_were_not_counted_are_not_the_page_caches() {
    let mut bypass = cell();
    bypass.cache = "bypass".into();
    let found = figures_of(&[rep(Some(75 * MB), Some(75 * MB))], &bypass).reconciliation;
    assert_eq!(found, [Reconciliation::CacheServed { share: 0.25, direct: true }]);
    assert_eq!(found, [Reconciliation::CacheServed { share: 0.25, direct: true }]);
}

#[test]
fn others_are_told_by_what_they_read() {
    let found = reconciled(Some(100 * MB), Some(125 * MB));
    assert_eq!(found, [Reconciliation::OthersRead { bytes: 25 * MB, share: 0.2 }]);
    let both = reconciled(Some(50 * MB), Some(200 * MB));
    let expected = [served(0.5), Reconciliation::OthersRead { bytes: 150 * MB, share: 0.75 }];
    assert_eq!(both, expected);
}

#[test]
fn a_process_that_the_kernel_does_not_count_is_no_page_cache() {
    assert_eq!(reconciled(Some(0), Some(100 * MB)), [Reconciliation::NotCounted]);
    let uncounted = figures(&[rep(Some(0), None)]);
    assert_eq!(
        (uncounted.cache_share, uncounted.reconciliation),
        (None, vec![Reconciliation::NothingCounted])
    );
}

#[test]
fn a_device_that_lacks_reads_does_not_hold_the_dataset_alone() {
    let short = reconciled(Some(100 * MB), Some(50 * MB));
    assert_eq!(short, [Reconciliation::DeviceShort { share: 0.5 }]);
}

#[test]
fn what_is_unknown_is_told() {
    assert_eq!(reconciled(Some(100 * MB), None), [Reconciliation::DeviceUnknown]);
    assert_eq!(reconciled(None, Some(100 * MB)), [Reconciliation::ProcessUnknown]);
    assert_eq!(reconciled(None, None), [Reconciliation::ProcessUnknown, Reconciliation::DeviceUnknown]);
}

#[test]
fn nothing_asked_is_nothing_to_reconcile() {
    let mut one = rep(Some(4_096), Some(4_096));
    one.counters.insert(counter::BYTES.to_owned(), 0);
    let figures = figures(&[one]);
    assert_eq!(figures.reconciliation, []);
    assert_eq!((figures.process_amplification, figures.device_amplification), (None, None));
}

#[test]
fn counts_are_compared_by_the_spans_in_which_they_were_taken() {
    let mut late = rep(Some(96 * MB), Some(96 * MB));
    late.usage.wall_ns = 960_000_000;
    late.system.device.as_mut().unwrap().wall_ns = 960_000_000;
    assert_eq!(figures(&[late]).reconciliation, [AGREES]);
}

#[test]
fn a_damaged_record_is_no_panic() {
    let mut one = rep(Some(u64::MAX), Some(u64::MAX));
    for name in [counter::OPS, counter::BYTES] {
        one.counters.insert(name.to_owned(), u64::MAX);
    }
    let device = one.system.device.as_mut().unwrap();
    (device.reads, device.reads_merged, device.wall_ns) = (u64::MAX, u64::MAX, 0);
    (one.window_ns, one.usage.wall_ns) = (0, 0);
    let reps = [one.clone(), one];
    let figures = figures(&reps);
    assert_eq!((figures.device, figures.process, figures.cores), (None, None, None));
}
