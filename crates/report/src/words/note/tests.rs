use super::*;
use analysis::EngineCell;

#[test]
fn each_note_is_a_sentence_with_its_figures() {
    let text = |words: &str| words.to_owned();
    let engine = |engine: &str, bps| EngineCell { engine: text(engine), queue_depth: 512, bps };
    let met = |repetitions| Met { repetitions, made_again: 1 };
    let cases = [
        (
            Note::EmptyFiles { target: text("disk"), files: 1 },
            "1 file of disk holds nothing and was left out",
        ),
        (
            Note::EmptyFiles { target: text("disk"), files: 2 },
            "2 files of disk hold nothing and were left out",
        ),
        (
            Note::ReadWhole { target: text("disk"), what: text("a/x.h5 is HDF5") },
            "disk: a/x.h5 is HDF5, which holds many samples: each file is read as one sample, and not as a loader reads such \
             a file (its chunks); \"dataset.sample_size\" states how large one of them is",
        ),
        (Note::Twice { lines: 2 }, "2 lines of the record have repetitions again: each counts once"),
        (
            Note::Unallocated { target: text("disk"), share: 0.25 },
            "25 % of the bytes of disk have no storage allocated (holes, compression): reading them brings fewer bytes \
             from the device, or none",
        ),
        (
            Note::DirectNotProven { targets: vec![text("a"), text("b")] },
            "a, b: direct I/O not proven: residency unknown",
        ),
        (
            Note::CeilingUnknown { cells: vec![text("c")] },
            "the client's ceiling is unknown for c: no read ended in its window",
        ),
        (
            Note::CeilingUnknown { cells: vec![text("c"), text("d")] },
            "the client's ceiling is unknown for 2 cells, c among them: no read ended in their windows",
        ),
        (
            Note::FewerConnections { target: text("disk"), asked: 8 },
            "disk: 8 connections asked for, fewer made where fewer requests are under way",
        ),
        (
            Note::Away { target: text("filer"), away_ns: 2_300_000_000, met: met(2) },
            "filer did not answer for 2.3 s: 2 repetitions met that, 1 made again and in no figure",
        ),
        (
            Note::Away { target: text("filer"), away_ns: 0, met: met(1) },
            "filer did not answer: 1 repetition met that, 1 made again and in no figure",
        ),
        (
            Note::Suspended { target: text("filer"), met: met(1) },
            "filer: this process was stopped, or its machine suspended, during 1 repetition: 1 made again and in no figure",
        ),
        (
            Note::Engine(EngineBeside {
                target: text("s3"),
                other: engine("sdk", 920e6),
                best: engine("lean", 1.49e9),
            }),
            "s3: sdk reaches 62 % of lean (920 MB/s of 1.49 GB/s, at depths 512 and 512)",
        ),
        (Note::Ranks(Ranks::Alone { rank: 1, ranks: 4 }), "these are the figures of process 1 of 4 alone"),
        (
            Note::Ranks(Ranks::Together { ranks: 4, fewer: false, overlap: Some(0.949_9) }),
            "ranks 0 to 3 measured together, in windows that overlap by 94 % or more: each repetition is the sum of theirs, \
             and queue depth, threads and processors are those of all; what memory did on each is left out, and devices where they ran on several machines",
        ),
    ];
    for (note, expected) in cases {
        assert_eq!(words(&note), expected);
    }
}

#[test]
fn what_the_machine_was_short_of_is_said_with_the_worst_cell() {
    let pressed = |share| Some(Pressed { cell: "c".to_owned(), share });
    let stolen = Pressures { stolen: pressed(0.02), ..Pressures::default() };
    let both = Pressures { cpu: pressed(0.12), memory: pressed(0.05), ..stolen.clone() };
    let said = [stolen, both].map(|found| words(&Note::Pressure(found)));
    assert_eq!(
        said,
        [
            "pressure, in the worst cell: stolen by the hypervisor 2.0 % (c)",
            "pressure, in the worst cell: some task waited for a processor 12 % (c), for memory 5.0 % (c); stolen by the \
             hypervisor 2.0 % (c)",
        ]
    );
}

#[test]
fn a_soak_says_which_repetition_it_was_and_how_its_rate_went() {
    let course = Course { first_tenth: 4e9, last_tenth: 3.2e9, lowest_minute: 2.9e9, lowest_at_s: 900 };
    let soak = |role, rep, target_at_depth: Option<(&str, u32)>| {
        let target_at_depth = target_at_depth.map(|(target, depth)| (target.to_owned(), depth));
        let (cell, operation) = ("disk/qd8".to_owned(), "read".into());
        words(&Note::Soak(Soak { cell, target_at_depth, operation, role, rep, course }))
    };
    let went = "4 GB/s in the first tenth, 3.2 GB/s in the last (-20 %); lowest minute 2.9 GB/s at 15 min";
    let disk = Some(("disk", 8));
    assert_eq!(soak(Role::Measure, None, disk), format!("soak disk depth 8: {went}"));
    assert_eq!(soak(Role::Measure, Some(1), disk), format!("soak disk depth 8, repetition 2: {went}"));
    assert_eq!(soak(Role::Confirm, None, None), format!("soak disk/qd8, confirmation: {went}"));
    assert_eq!(soak(Role::Confirm, Some(1), None), format!("soak disk/qd8, confirmation 2: {went}"));
    let minutes = [0, 59, 780, 4_320, 14_399].map(clock);
    assert_eq!(minutes, ["0 min", "0 min", "13 min", "1 h 12 min", "3 h 59 min"]);
}
