//! Records of several ranks, as one or refused.

use std::collections::BTreeMap;

use record::{
    Cell, End, Line, Member, Need, NeedPart, NotLookedAt, NotRun, RankRecord, RecordedIntervals, Rep,
    RepIntervals, Reread, Role, Run, RunRecord, Team, head_of_all, merge,
};

use crate::sample;

/// The sample run as one rank wrote it.
fn of_rank(rank: u32, ranks: u32) -> RankRecord {
    let run = Run { rank, ranks, size: None, ..sample::run() };
    let mut lines = sample::lines();
    for line in &mut lines {
        if let Line::Rep(rep) = line {
            (rep.rank, rep.ranks) = (rank, ranks);
        }
    }
    let record = RunRecord { run, env: sample::environment(), lines, segments: Vec::new(), loss: None };
    let intervals = RecordedIntervals { reps: sample::intervals(), loss: None };
    RankRecord { name: format!("run-{rank}"), record, intervals }
}

fn both() -> [RankRecord; 2] {
    [of_rank(0, 2), of_rank(1, 2)]
}

fn refused(records: Vec<RankRecord>) -> Vec<String> {
    merge(records, "merged").unwrap_err()
}

fn reps(lines: &[Line]) -> Vec<&Rep> {
    lines.iter().filter_map(|line| if let Line::Rep(rep) = line { Some(&**rep) } else { None }).collect()
}

#[test]
fn every_line_of_every_rank_is_kept_behind_one_head_and_before_one_end() {
    let [a, mut b] = both();
    let end = End {
        interrupted: true,
        elapsed_ns: u64::MAX,
        not_run: vec![NotRun { cell: "x".to_owned(), repetitions: 1, reason: "interrupted".to_owned() }],
        changed: vec![1],
        not_looked_at: vec![NotLookedAt { dataset: 0, reason: "timed out".to_owned() }],
        reread: vec![Reread {
            rank: 1,
            order: 2,
            checked: 64,
            wrong: 1,
            summed: 60,
            unread: BTreeMap::from([("permission".to_owned(), 2)]),
        }],
    };
    b.record.lines.retain(|line| !matches!(line, Line::End(_)));
    b.record.lines.push(Line::End(end.clone()));
    // Given in any order, they are written rank by rank.
    let merged = merge(vec![b.clone(), a.clone()], "merged").unwrap();
    assert_eq!((merged.run.run_id.as_str(), merged.run.rank, merged.run.ranks), ("merged", 0, 2));
    let all = [a, b].map(|one| one.record.lines);
    let expected: Vec<&Rep> = all.iter().flat_map(|lines| reps(lines)).collect();
    assert_eq!(reps(&merged.lines), expected);
    let ends: Vec<&End> = merged
        .lines
        .iter()
        .filter_map(|line| if let Line::End(end) = line { Some(end) } else { None })
        .collect();
    assert_eq!(ends.len(), 1);
    assert!(matches!(merged.lines.last(), Some(Line::End(_))));
    assert!(ends[0].interrupted && ends[0].changed.contains(&1) && ends[0].not_run.contains(&end.not_run[0]));
    assert_eq!(ends[0].elapsed_ns, u64::MAX);
}

#[test]
fn the_head_says_what_all_hosts_together_need_and_hold_open() {
    let merged = merge(both().into(), "merged").unwrap().run;
    let one = sample::run();
    assert_eq!(merged.need.label, "2 hosts x 8 x h100 resnet50");
    assert_eq!(merged.need.samples_per_s, one.need.samples_per_s.map(|per_s| per_s * 2.0));
    assert_eq!(merged.need.write_bytes_per_s, one.need.write_bytes_per_s.map(|per_s| per_s * 2.0));
    let parts = |run: &Run| run.need.parts.iter().map(|part| part.bytes_per_s).collect::<Vec<_>>();
    assert_eq!(parts(&merged), parts(&one).iter().map(|bps| bps * 2.0).collect::<Vec<_>>());
    assert_eq!((merged.need.accelerators, merged.need.sample_bytes), (16, one.need.sample_bytes));
    assert_eq!((merged.need.count, merged.need.loader_depth), (Some(16), Some(128)));
    let counts = |cell: &Cell| (cell.queue_depth, cell.threads, cell.connections);
    for (together, alone) in merged.cells.iter().zip(&one.cells) {
        let (depth, threads, connections) = counts(alone);
        let hosts = alone.ranks.unwrap_or(2);
        assert_eq!(counts(together), (hosts * depth, hosts * threads, hosts * connections));
        let accelerators = |cell: &Cell| cell.training.as_ref().map(|job| job.accelerators);
        assert_eq!(accelerators(together), accelerators(alone).map(|count| hosts * count));
        assert_eq!(together.cell, alone.cell);
    }
}

#[test]
fn processes_that_share_a_machine_are_no_hosts() {
    let of_machines = |machines: [u32; 2], hosts: u32| {
        let member = |machine| Member {
            host: format!("host-{machine}"),
            machine,
            clock_ahead_ns: 0,
            clock_uncertainty_ns: 0,
        };
        let team = Team { launcher: "Slurm".to_owned(), members: machines.map(member).to_vec() };
        let mut one = Run { ranks: 2, team: Some(team), ..sample::run() };
        one.need.label = format!("16 x h100 resnet50, one of {hosts} hosts");
        one.need.hosts = hosts;
        let label = format!("8 x h100 resnet50, one of {hosts} hosts");
        one.need.parts = vec![NeedPart { label, bytes_per_s: 1e9 }];
        head_of_all(&one).need
    };
    let whole = of_machines([0, 1], 2);
    assert_eq!((whole.label.as_str(), whole.hosts), ("16 x h100 resnet50", 1));
    let part = |need: &Need| (need.parts[0].label.clone(), need.parts[0].bytes_per_s);
    assert_eq!(part(&whole), ("8 x h100 resnet50".to_owned(), 2e9));
    assert_eq!(part(&of_machines([0, 1], 4)), ("8 x h100 resnet50, 2 of 4 hosts".to_owned(), 2e9));
    // Two processes of one machine: one of the two hosts was measured, and the label does not say otherwise.
    let shared = of_machines([0, 0], 2);
    assert_eq!(shared.label, "2 processes x 16 x h100 resnet50, one of 2 hosts");
    assert_eq!(shared.hosts, 2);
    assert_eq!(shared.samples_per_s, whole.samples_per_s);
}

#[test]
fn a_need_that_the_hosts_share_is_the_need_of_the_whole_job() {
    let shared = |ranks: u32, hosts: u32| {
        let records = (0..ranks).map(|rank| {
            let mut one = of_rank(rank, ranks);
            one.record.run.need.label = format!("16 x h100 resnet50, one of {hosts} hosts");
            one.record.run.need.hosts = hosts;
            one
        });
        merge(records.collect(), "merged").unwrap().run.need
    };
    let whole = shared(2, 2);
    assert_eq!((whole.label.as_str(), whole.hosts), ("16 x h100 resnet50", 1));
    assert_eq!(whole.count, Some(8), "that of all hosts already");
    assert_eq!(shared(2, 8).label, "16 x h100 resnet50, 2 of 8 hosts");
}

#[test]
fn seconds_are_added_and_those_that_a_rank_lacks_are_left_out() {
    let [a, mut b] = both();
    b.intervals.reps.retain(|rep| rep.rep != 1);
    let merged = merge(vec![a, b], "merged").unwrap();
    let alone = sample::intervals();
    assert_eq!(merged.intervals.iter().map(|rep| rep.rep).collect::<Vec<_>>(), [0, 2]);
    let total = |rep: &RepIntervals| -> (u64, u64, u64) {
        let ops = |one: &record::Interval| (one.ops, one.bytes, one.service_ns.decode().unwrap().len());
        rep.seconds.iter().map(ops).fold((0, 0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1, sum.2 + one.2))
    };
    let (ops, bytes, recorded) = total(&alone[0]);
    assert_eq!(total(&merged.intervals[0]), (2 * ops, 2 * bytes, 2 * recorded));
    assert_eq!(merged.intervals[0].role, Role::Confirm);
}

#[test]
fn everything_that_does_not_fit_is_said_at_once() {
    let [a, mut b] = both();
    let run = &mut b.record.run;
    "other".clone_into(&mut run.scenario);
    "beef".clone_into(&mut run.plan_hash);
    "0.2.0".clone_into(&mut run.tool.version);
    run.measure.repetitions += 1;
    run.need.utilization = 0.5;
    run.cells[0].queue_depth = 1;
    assert_eq!(
        refused(vec![a, b]),
        [
            "scenario: sample in `run-0` and other in `run-1`",
            "plan: 7c1e09 in `run-0` and beef in `run-1`",
            "feedline: 0.1.0 in `run-0` and 0.2.0 in `run-1`",
            "the cells of `run-0` and `run-1` differ",
            "the settings under `measure` of `run-0` and `run-1` differ",
            "the needs of `run-0` and `run-1` differ",
        ]
    );
}

#[test]
fn ranks_that_are_missing_or_double_or_of_another_number_are_named() {
    assert_eq!(refused(vec![of_rank(0, 3), of_rank(2, 3)]), ["rank 1 of 3 is missing"]);
    let [a, b] = both();
    let again = RankRecord { name: "again".to_owned(), ..b.clone() };
    assert_eq!(refused(vec![a.clone(), b, again]), ["rank 1 is there more than once: `run-1`, `again`"]);
    let found = refused(vec![a, of_rank(1, 3)]);
    assert_eq!(found, ["rank 2 of 3 is missing", "ranks: 2 in `run-0` and 3 in `run-1`"]);
    assert_eq!(refused(Vec::new()), ["no record was given"]);
    assert_eq!(
        refused(vec![of_rank(0, 2), of_rank(5, 2)]),
        ["rank 1 of 2 is missing", "`run-5` has rank 5 of 2",]
    );
}

#[test]
fn records_that_are_cut_or_empty_or_of_one_process_or_merged_are_refused() {
    let [a, mut b] = both();
    b.record.loss = Some("the run was cut: cells.jsonl ends without its last line".to_owned());
    let found = refused(vec![a.clone(), b]);
    assert_eq!(found, ["`run-1` is not whole: the run was cut: cells.jsonl ends without its last line"]);

    let mut empty = of_rank(1, 2);
    empty.record.lines.retain(|line| !matches!(line, Line::Rep(_)));
    assert_eq!(refused(vec![a.clone(), empty]), ["`run-1` holds no repetition"]);

    let merged = merge(both().into(), "merged").unwrap();
    let record = RunRecord { run: merged.run, lines: merged.lines, ..a.record.clone() };
    let merged = RankRecord { name: "merged".to_owned(), record, ..a };
    assert_eq!(refused(vec![merged, of_rank(1, 2)]), ["`merged` is a merged record already"]);

    assert_eq!(refused(vec![of_rank(0, 1)]), ["`run-0` was not run with --rank and --ranks"]);
}
