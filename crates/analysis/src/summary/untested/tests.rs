use crate::fixture::{Builder, ceiling, rep};
use crate::summarise;

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.push(rep("c", 0, 1e9));
    builder
}

#[test]
fn a_quiet_run_still_names_decode_and_opening() {
    let builder = builder();
    let summary = summarise(&builder.record());
    let later = "burst credits and slow changes (1 s under load)";
    assert_eq!(summary.not_tested, [later, "opening files per sample (files are held open)", "decode"]);
    assert_eq!(summary.notes, Vec::<String>::new());
}

#[test]
fn the_longest_part_of_an_interrupted_run_was_under_load() {
    let mut builder = builder();
    let mut later = rep("c", 1, 1e9);
    (later.order, later.window_start_ns) = (1, 20_000_000_000);
    builder.push(later);
    let mut record = builder.record();
    let has = |not_tested: &[String], words: &str| not_tested.iter().any(|one| one == words);
    let whole = summarise(&record).not_tested;
    assert!(has(&whole, "burst credits and slow changes (2 s under load)"), "{whole:?}");
    record.segments.push(record::Segment {
        started: "2026-11-24T11:28:34Z".to_owned(),
        at_ns: 10_000_000_000,
        command: Vec::new(),
        env: record.env.clone(),
    });
    record.run.datasets[0].source = "existing".to_owned();
    let summary = summarise(&record);
    let found = &summary.not_tested;
    assert!(has(found, "a second reading of what was read before the interruption"), "{found:?}");
    assert!(has(found, "burst credits and slow changes (1 s under load)"), "{found:?}");
    // Each part came to an end of its own, at which it read again what it had read.
    let end = record.lines.last().unwrap().clone();
    record.lines.insert(1, end);
    let found = summarise(&record).not_tested;
    assert!(!has(&found, "a second reading of what was read before the interruption"), "{found:?}");
    assert!(
        summary.notes[0].starts_with("interrupted after 10 s, and gone on with at 2026-"),
        "{:?}",
        summary.notes
    );
}

#[test]
fn what_a_users_files_lack_is_said() {
    let mut builder = builder();
    let dataset = &mut builder.run.datasets[0];
    (dataset.empty_files, dataset.unallocated_bytes) = (2, dataset.bytes / 4);
    let notes = summarise(&builder.record()).notes;
    assert!(notes[0].starts_with("2 files of disk hold nothing"), "{notes:?}");
    assert!(notes[1].starts_with("25 % of the bytes of disk have no storage allocated"), "{notes:?}");
    builder.run.datasets[0].unallocated_bytes = builder.run.datasets[0].bytes / 1000;
    assert_eq!(summarise(&builder.record()).notes.len(), 1, "a thousandth is not worth a word");
}

#[test]
fn failed_cells_are_counted() {
    let mut builder = builder();
    builder.cell("d", "disk", 16);
    builder.push(rep("d", 0, 0.0));
    let summary = summarise(&builder.record());
    assert!(summary.not_tested.contains(&"1 cell failed".to_owned()), "{:?}", summary.not_tested);
}

#[test]
fn bytes_read_again_leave_caches_below_in_doubt() {
    let mut twice = builder();
    twice.run.datasets[0].bytes = 1_000_000_000_000;
    twice.push(rep("c", 1, 1e9));
    let summary = summarise(&twice.record());
    assert!(summary.not_tested.iter().any(|line| line.contains("hypervisor")), "{:?}", summary.not_tested);
    let mut over = builder();
    over.run.datasets[0].bytes -= 1;
    assert!(summarise(&over.record()).not_tested.iter().any(|line| line.contains("hypervisor")));
    let mut random = builder();
    random.edit_cell("c", |cell| cell.access = "random".into());
    assert!(summarise(&random.record()).not_tested.iter().any(|line| line.contains("hypervisor")));
}

fn not_tested_on(file_system: &str) -> String {
    let mut builder = builder();
    builder.push(rep("c", 1, 1e9));
    builder.run.targets[0].facts =
        vec![record::Fact { name: "file_system".to_owned(), value: file_system.to_owned() }];
    summarise(&builder.record()).not_tested.join("; ")
}

#[test]
fn caches_that_the_file_system_brings_are_named() {
    let (own, server) = ("the file system's own cache (disk)", "the server's cache (disk)");
    for (name, has_own, has_server) in [
        ("ext4", false, false),
        ("zfs", true, false),
        ("gpfs", true, false),
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
        let text = not_tested_on(name);
        assert_eq!((text.contains(own), text.contains(server)), (has_own, has_server), "{name}: {text}");
        assert!(text.contains("the device's and the hypervisor's cache"), "{text}");
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
    let words = "opening a file for each sample (1,400 reads opened theirs, the others found it open)";
    assert_eq!(list[list.len() - 2], words);
    builder.run.targets[0].storage = false;
    let list = summarise(&builder.record()).not_tested;
    assert!(list[list.len() - 2].contains("files are held open"), "{list:?}");
}

#[test]
fn opening_is_not_named_where_no_file_is_held_open() {
    let says = |edit: &dyn Fn(&mut Builder)| {
        let mut builder = builder();
        edit(&mut builder);
        summarise(&builder.record()).not_tested.iter().any(|words| words.contains("held open"))
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
        let opening = summary.not_tested.iter().filter(|words| words.starts_with("opening"));
        (opening.cloned().collect::<String>(), summary.verdicts[0].conditions.clone().unwrap())
    };
    let unproven = ("opening with names not in memory", "files opened one by one, names possibly in memory");
    for dropped in [None, Some(false)] {
        let (not_tested, conditions) = list(dropped);
        assert_eq!((not_tested.as_str(), conditions.as_str()), unproven);
    }
    let (not_tested, conditions) = list(Some(true));
    assert!(!not_tested.contains("opening"), "{not_tested}");
    assert_eq!(conditions, "files opened one by one");
}

#[test]
fn a_generated_dataset_of_which_no_read_was_checked_is_noted() {
    let notes = |edit: fn(&mut Builder)| {
        let mut builder = builder();
        builder.push(rep("c", 1, 1e9));
        edit(&mut builder);
        summarise(&builder.record()).notes
    };
    let clear = |builder: &mut Builder| {
        builder.edit_reps("c", |rep| {
            rep.counters.remove(record::counter::VERIFIED);
        });
    };
    assert_eq!(notes(clear), ["disk: no read was checked against what was written"]);
    let one_of_two = |builder: &mut Builder| {
        builder.edit_reps("c", |rep| {
            rep.counters.insert(record::counter::VERIFIED.to_owned(), u64::from(rep.rep));
        });
    };
    assert_eq!(notes(one_of_two), Vec::<String>::new());
    let existing = |builder: &mut Builder| {
        builder.run.datasets[0].source = "existing".to_owned();
        builder.edit_reps("c", |rep| {
            rep.counters.remove(record::counter::VERIFIED);
        });
    };
    assert_eq!(notes(existing), Vec::<String>::new());
}

#[test]
fn connections_that_a_cell_has_no_requests_for_are_noted() {
    let notes = |made: u32| {
        let mut builder = builder();
        builder.push(rep("c", 1, 1e9));
        builder.edit_cell("c", |cell| {
            cell.connections = made;
            let (name, value) = ("connections".to_owned(), "8".to_owned());
            cell.axes = vec![record::AxisWords { name, value, unit: String::new() }];
        });
        summarise(&builder.record()).notes
    };
    let note = "disk: 8 connections asked for, fewer made where fewer requests are under way";
    assert_eq!(notes(4), [note]);
    assert_eq!((notes(8), notes(0)), (Vec::<String>::new(), Vec::new()), "all are there; an older record");
}

#[test]
fn direct_reads_of_unknown_residency_are_noted() {
    let mut builder = builder();
    builder.edit_reps("c", |rep| rep.cache.after_bytes = None);
    let words = "disk: direct I/O not proven: residency unknown";
    assert_eq!(summarise(&builder.record()).notes, [words]);
    builder.edit_cell("c", |cell| cell.cache = "cold".into());
    assert_eq!(summarise(&builder.record()).notes, Vec::<String>::new());
}

#[test]
fn a_ceiling_without_a_read_is_noted_as_unknown() {
    let mut builder = builder();
    builder.push_ceiling(ceiling("c", false, 0, 0));
    let summary = summarise(&builder.record());
    assert_eq!(summary.notes, ["the client's ceiling is unknown for c: no read ended in its window"]);
    assert_eq!(summary.head.ceiling_ops_per_s, None);
    builder.push_ceiling(ceiling("c", false, 50_000, 1));
    let summary = summarise(&builder.record());
    assert_eq!(summary.notes, Vec::<String>::new());
    assert_eq!(summary.head.ceiling_ops_per_s, Some((5e4, 5e4)));
}

#[test]
fn more_hosts_than_this_one_are_named() {
    let mut builder = builder();
    builder.run.need.hosts = 8;
    assert_eq!(summarise(&builder.record()).not_tested[0], "8 hosts at once");
}

#[test]
fn what_may_mislead_is_noted() {
    let mut builder = builder();
    builder.run.tool.profile = "debug".to_owned();
    builder.run.targets[0].facts =
        vec![record::Fact { name: "file_system".to_owned(), value: "tmpfs".to_owned() }];
    builder.push(rep("elsewhere", 0, 1e9));
    builder.end = None;
    let mut record = builder.record();
    record.loss = Some("the last line is incomplete".to_owned());
    let notes = summarise(&record).notes.join("\n");
    for words in ["debug build", "no last line", "is incomplete", "lies in memory (tmpfs)", "of cells that"] {
        assert!(notes.contains(words), "{words} not in:\n{notes}");
    }
}
