use crate::fixture::{Builder, ceiling, rep};
use crate::{Note, summarise};

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.push(rep("c", 0, 1e9));
    builder
}

#[test]
fn what_a_users_files_lack_is_said() {
    let mut builder = builder();
    let dataset = &mut builder.run.datasets[0];
    (dataset.empty_files, dataset.unallocated_bytes) = (2, dataset.bytes / 4);
    let notes = summarise(&builder.record()).notes;
    let target = || "disk".to_owned();
    let empty = Note::EmptyFiles { target: target(), files: 2 };
    assert_eq!(notes, [empty, Note::Unallocated { target: target(), share: 0.25 }]);
    let (name, value) = (record::READ_WHOLE.to_owned(), "x.h5 is HDF5".to_owned());
    builder.run.datasets[0].packing = vec![record::Fact { name, value }];
    let whole = Note::ReadWhole { target: target(), what: "x.h5 is HDF5".to_owned() };
    assert_eq!(summarise(&builder.record()).notes[1], whole);
    builder.run.datasets[0].packing.clear();
    builder.run.datasets[0].unallocated_bytes = builder.run.datasets[0].bytes / 1000;
    assert_eq!(summarise(&builder.record()).notes.len(), 1, "a thousandth is not worth a word");
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
    assert_eq!(notes(clear), [Note::Unchecked { target: "disk".to_owned() }]);
    let one_of_two = |builder: &mut Builder| {
        builder.edit_reps("c", |rep| {
            rep.counters.insert(record::counter::VERIFIED.to_owned(), u64::from(rep.rep));
        });
    };
    assert_eq!(notes(one_of_two), []);
    let existing = |builder: &mut Builder| {
        builder.run.datasets[0].source = "existing".to_owned();
        builder.edit_reps("c", |rep| {
            rep.counters.remove(record::counter::VERIFIED);
        });
    };
    assert_eq!(notes(existing), []);
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
    assert_eq!(notes(4), [Note::FewerConnections { target: "disk".to_owned(), asked: 8 }]);
    assert_eq!((notes(8), notes(0)), (Vec::new(), Vec::new()), "all are there; an older record");
}

#[test]
fn direct_reads_of_unknown_residency_are_noted() {
    let mut builder = builder();
    builder.edit_reps("c", |rep| rep.cache.after_bytes = None);
    let targets = vec!["disk".to_owned()];
    assert_eq!(summarise(&builder.record()).notes, [Note::DirectNotProven { targets }]);
    builder.edit_cell("c", |cell| cell.cache = "cold".into());
    assert_eq!(summarise(&builder.record()).notes, []);
}

#[test]
fn a_ceiling_without_a_read_is_noted_as_unknown() {
    let mut builder = builder();
    builder.push_ceiling(ceiling("c", false, 0, 0));
    let summary = summarise(&builder.record());
    assert_eq!(summary.notes, [Note::CeilingUnknown { cells: vec!["c".to_owned()] }]);
    assert_eq!(summary.head.ceiling_ops_per_s, None);
    builder.push_ceiling(ceiling("c", false, 50_000, 1));
    let summary = summarise(&builder.record());
    assert_eq!(summary.notes, []);
    assert_eq!(summary.head.ceiling_ops_per_s, Some((5e4, 5e4)));
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
    let text = |words: &str| words.to_owned();
    let expected = [
        Note::Build { profile: text("debug") },
        Note::Cut,
        Note::Damaged { loss: text("the last line is incomplete") },
        Note::InMemory { target: text("disk"), file_system: text("tmpfs") },
        Note::Strays { repetitions: 1 },
    ];
    assert_eq!(summarise(&record).notes, expected);
}
