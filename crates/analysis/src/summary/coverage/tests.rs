use crate::fixture::{Builder, rep};
use crate::{CacheBelow, Condition, NotTested, Note, summarise};

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.push(rep("c", 0, 1e9));
    builder
}

const NO_DECODE: NotTested = NotTested::Decode { cost: false, checksum: false };

fn caches_are_open(not_tested: &[NotTested]) -> bool {
    not_tested.iter().any(|one| matches!(one, NotTested::CachesBelow { .. }))
}

#[test]
fn a_quiet_run_still_names_decode_and_opening() {
    let builder = builder();
    let summary = summarise(&builder.record());
    let later = NotTested::Later { under_load_ns: 1_000_000_000 };
    assert_eq!(summary.not_tested, [later, NotTested::Opening { opens: 0 }, NO_DECODE]);
    assert_eq!(summary.notes, []);
}

#[test]
fn the_longest_part_of_an_interrupted_run_was_under_load() {
    let mut builder = builder();
    builder.edit_reps("c", |rep| rep.window_start_ns = 9_000_000_000);
    let mut later = rep("c", 1, 1e9);
    (later.order, later.window_start_ns) = (1, 10_000_000_000);
    builder.push(later);
    let mut record = builder.record();
    let later = |under_load_s: u64| NotTested::Later { under_load_ns: under_load_s * 1_000_000_000 };
    let whole = summarise(&record).not_tested;
    assert!(whole.contains(&later(2)), "{whole:?}");
    let segment = record::testing::segment(&record, 10_000_000_000);
    record.segments.push(segment);
    record.run.datasets[0].source = "existing".to_owned();
    let summary = summarise(&record);
    let found = &summary.not_tested;
    assert!(found.contains(&NotTested::SecondReading) && found.contains(&later(1)), "{found:?}");
    // Each part came to an end of its own, at which it read again what it had read.
    let end = record.lines.last().unwrap().clone();
    record.lines.insert(1, end);
    let found = summarise(&record).not_tested;
    assert!(!found.contains(&NotTested::SecondReading), "{found:?}");
    assert!(
        matches!(&summary.notes[0], Note::GoneOn { at_ns: 10_000_000_000, started, adds_rounds: false } if started.starts_with("2026-")),
        "{:?}",
        summary.notes
    );
    let record::Line::End(end) = &mut record.lines[1] else { unreachable!("it was put there") };
    end.elapsed_ns = 10_000_000_000;
    let notes = summarise(&record).notes;
    assert!(matches!(&notes[0], Note::GoneOn { adds_rounds: true, .. }), "{notes:?}");
}

#[test]
fn failed_cells_are_counted() {
    let mut builder = builder();
    builder.cell("d", "disk", 16);
    builder.push(rep("d", 0, 0.0));
    let summary = summarise(&builder.record());
    assert!(summary.not_tested.contains(&NotTested::FailedCells { cells: 1 }), "{:?}", summary.not_tested);
}

#[test]
fn cells_that_the_budget_left_out_are_counted_and_their_targets_named() {
    let mut builder = builder();
    let demo = record::Target { name: "demo".to_owned(), demo: true, ..builder.run.targets[0].clone() };
    builder.run.targets.push(demo);
    for (cell, target, reason) in
        [("d", "disk", "budget"), ("s", "disk", "gain below 5 %"), ("e", "demo", "budget")]
    {
        builder.cell(cell, target, 16);
        let (cell, reason) = (cell.to_owned(), reason.to_owned());
        builder.end.as_mut().unwrap().not_run.push(record::NotRun { cell, repetitions: 3, reason });
    }
    let found = summarise(&builder.record()).not_tested;
    let expected = NotTested::LeftOut { cells: 2, all: 4, targets: vec!["demo".to_owned()] };
    assert!(found.contains(&expected), "{found:?}");
}

#[test]
fn bytes_read_again_leave_caches_below_in_doubt() {
    let mut twice = builder();
    twice.run.datasets[0].bytes = 1_000_000_000_000;
    twice.push(rep("c", 1, 1e9));
    let summary = summarise(&twice.record());
    assert!(caches_are_open(&summary.not_tested), "{:?}", summary.not_tested);
    let mut over = builder();
    over.run.datasets[0].bytes -= 1;
    assert!(caches_are_open(&summarise(&over.record()).not_tested));
    let mut random = builder();
    random.edit_cell("c", |cell| cell.access = "random".into());
    assert!(caches_are_open(&summarise(&random.record()).not_tested));
}

fn caches_on(file_system: &str) -> Vec<(CacheBelow, Vec<String>)> {
    let mut builder = builder();
    builder.push(rep("c", 1, 1e9));
    builder.run.targets[0].facts =
        vec![record::Fact { name: "file_system".to_owned(), value: file_system.to_owned() }];
    let mut not_tested = summarise(&builder.record()).not_tested.into_iter();
    let caches = not_tested.find_map(|one| match one {
        NotTested::CachesBelow { caches, .. } => Some(caches),
        _ => None,
    });
    caches.unwrap()
}

#[test]
fn caches_that_the_file_system_brings_are_named() {
    for (name, has_own, has_server) in [
        ("ext4", false, false),
        ("zfs", true, false),
        ("gpfs", true, true),
        ("beegfs", true, true),
        ("wekafs", false, true),
        ("fuse.sshfs", true, false),
        ("fuseblk", true, false),
        ("lustre", true, true),
        ("nfs", false, true),
        ("nfs4", false, true),
        ("cifs", false, true),
        ("smb3", false, true),
        ("ceph", false, true),
        ("9p", false, true),
        ("virtiofs", false, true),
    ] {
        let caches = caches_on(name);
        let names = |cache| caches.contains(&(cache, vec!["disk".to_owned()]));
        let found = (names(CacheBelow::FileSystem), names(CacheBelow::Server));
        assert_eq!(found, (has_own, has_server), "{name}: {caches:?}");
        assert_eq!(caches[0].0, CacheBelow::DeviceOrHypervisor);
    }
}

#[test]
fn files_that_were_opened_are_counted() {
    let mut builder = builder();
    builder.push(rep("c", 1, 1e9));
    builder.edit_reps("c", |rep| {
        rep.counters.insert(record::counter::OPENS.to_owned(), 700);
    });
    let list = summarise(&builder.record()).not_tested;
    assert_eq!(list[list.len() - 2], NotTested::Opening { opens: 1_400 });
    builder.run.targets[0].storage = false;
    let list = summarise(&builder.record()).not_tested;
    assert_eq!(list[list.len() - 2], NotTested::Opening { opens: 0 });
}

#[test]
fn opening_is_not_named_where_no_file_is_held_open() {
    let says = |edit: &dyn Fn(&mut Builder)| {
        let mut builder = builder();
        edit(&mut builder);
        summarise(&builder.record()).not_tested.contains(&NotTested::Opening { opens: 0 })
    };
    assert!(says(&|_| {}));
    assert!(!says(&|builder| builder.edit_cell("c", |cell| cell.operation = "stat".into())));
    let device = |builder: &mut Builder| {
        let fact = record::Fact { name: "device_node".to_owned(), value: "/dev/vdb".to_owned() };
        builder.run.targets[0].facts.push(fact);
    };
    assert!(!says(&device));
}

#[test]
fn names_in_memory_are_not_tested_by_files_that_are_opened() {
    let list = |dropped| {
        let mut builder = crate::fixture::confirmed_at(&[1.1; 3]);
        builder.edit_cell("c", |cell| {
            (cell.operation, cell.cache) = ("read_file".into(), "cold".into());
        });
        builder.edit_reps("c", |rep| rep.cache.names_dropped = dropped);
        let summary = summarise(&builder.record());
        let is_opening =
            |one: &&NotTested| matches!(one, NotTested::Opening { .. } | NotTested::OpeningByNewNames);
        let opening: Vec<NotTested> = summary.not_tested.iter().filter(is_opening).cloned().collect();
        (opening, summary.verdicts[0].of_reads().unwrap().conditions.clone())
    };
    for dropped in [None, Some(false)] {
        let conditions = vec![Condition::WholeFiles { names_dropped: false }];
        assert_eq!(list(dropped), (vec![NotTested::OpeningByNewNames], conditions));
    }
    assert_eq!(list(Some(true)), (Vec::new(), vec![Condition::WholeFiles { names_dropped: true }]));
}

#[test]
fn more_hosts_than_this_one_are_named() {
    let mut builder = builder();
    builder.run.need.hosts = 8;
    assert_eq!(summarise(&builder.record()).not_tested[0], NotTested::Hosts { hosts: 8 });
}
