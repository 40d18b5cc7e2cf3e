use feed::Judgement;
use record::{Rep, Role, RunRecord};

use crate::cell::slow_rank::{SlowBy, SlowRank, SlowRanks};
use crate::fixture::{Builder, cell_of_job, job_rep, rep, team};
use crate::{Cause, CellRanks, Flag, Gravity, RankFigures, Stall, Summary, Verdict, summarise};

/// When the first window opens.
const OPENING_NS: u64 = 1_795_236_083_000_000_000;

fn builder(ranks: u32) -> Builder {
    let mut builder = Builder::new();
    (builder.run.ranks, builder.run.team) = (ranks, Some(team(ranks)));
    builder.cell("c", "disk", 16);
    builder
}

/// The parts that a repetition of each rank has, whose windows open a millisecond after each other.
fn push(builder: &mut Builder, number: u32, role: Role, of_each: &[Rep]) {
    for (rank, one) in (0_u32..).zip(of_each) {
        let opens = OPENING_NS + u64::from(number) * 10_000_000_000 + u64::from(rank) * 1_000_000;
        builder.push(Rep {
            rank,
            ranks: of_each.len() as u32,
            role,
            window_unix_ns: Some(opens),
            ..one.clone()
        });
    }
}

/// A run of ranks that read at these rates in each of three rounds, and in three fresh ones.
fn run(rates: &[[f64; 3]]) -> RunRecord {
    let mut builder = builder(rates.len() as u32);
    for number in 0..3 {
        let reps: Vec<Rep> = rates.iter().map(|of_rank| rep("c", number, of_rank[number as usize])).collect();
        push(&mut builder, number, Role::Measure, &reps);
        push(&mut builder, number, Role::Confirm, &reps);
    }
    builder.record()
}

fn slow(rates: &[[f64; 3]]) -> Vec<(u32, Option<String>)> {
    let summary = summarise(&run(rates));
    let slow = summary.ranks[0].slow.iter().flat_map(|of| &of.slow);
    slow.map(|one| (one.rank, one.host.clone())).collect()
}

fn flag(summary: &Summary) -> Option<&Flag> {
    summary.cells[0].flags().into_iter().find(|flag| matches!(flag, Flag::SlowRanks(_)))
}

fn host(number: u32) -> String {
    format!("host-{number}")
}

#[test]
fn two_processes_on_a_throttled_link_and_two_that_are_not_are_told_apart_with_their_hosts() {
    let summary = summarise(&run(&[[8e8; 3], [2e8; 3], [8e8; 3], [2e8; 3]]));
    let slow = |rank: u32| SlowRank { rank, host: Some(host(rank + 1)), by: SlowBy::Rate, of_others: 0.25 };
    let found = SlowRanks { slow: vec![slow(1), slow(3)], ranks: 4 };
    assert_eq!(flag(&summary), Some(&Flag::SlowRanks(found.clone())));
    assert_eq!(Flag::SlowRanks(found.clone()).gravity(), Gravity::Informs);
    let reads = summary.verdicts.iter().find_map(Verdict::of_reads).unwrap();
    assert_eq!(reads.slow, Some(found));
}

/// The line is 0.9 GB/s, 0.225 for each of four hosts.
#[test]
fn hosts_that_starve_are_not_fed_by_what_others_get_too_much() {
    let judged = |record: &RunRecord| {
        let summary = summarise(record);
        let reads = summary.verdicts[0].of_reads().unwrap();
        (reads.judgement, reads.cause.clone())
    };
    let uneven = run(&[[4e8; 3], [1e8; 3], [4e8; 3], [1e8; 3]]);
    let (judgement, cause) = judged(&uneven);
    assert_eq!(judgement, Judgement::Uncertain);
    let Cause::Flagged(Flag::HostsBelow { hosts, of: 4, least }) = cause else { panic!("{cause:?}") };
    assert_eq!(hosts, [host(2), host(4)]);
    assert!((least - 1e8 / (Builder::LINE_BPS / 4.0)).abs() < 1e-6, "{least}");
    assert_eq!(judged(&run(&[[2.5e8; 3], [2.4e8; 3], [2.6e8; 3], [2.5e8; 3]])).0, Judgement::Feeds);
    assert_eq!(judged(&run(&[[2e8; 3], [1e8; 3], [2e8; 3], [1e8; 3]])).0, Judgement::Starves);
    // Processes of one machine share what it gets.
    let mut one_machine = uneven.clone();
    for member in &mut one_machine.run.team.as_mut().unwrap().members {
        member.machine /= 2;
    }
    assert_eq!(judged(&one_machine).0, Judgement::Feeds);
    // Merged from processes that were started one by one.
    let mut by_hand = uneven;
    by_hand.run.team = None;
    let Cause::Flagged(Flag::HostsBelow { hosts, .. }) = judged(&by_hand).1 else { panic!("not below") };
    assert_eq!(hosts, ["rank 1", "rank 3"]);
}

/// Readers fetch ahead what no step takes: as many bytes were moved for the one host as for the other.
#[test]
fn a_host_of_a_job_is_fed_by_what_its_accelerators_took() {
    let judged = |aus: [f64; 2]| {
        let mut builder = builder(2);
        builder.edit_cell("c", |cell| {
            cell_of_job(cell);
            cell.training.as_mut().unwrap().barrier = false;
        });
        for number in 0..3 {
            let of_each = aus.map(|au| Rep {
                window_ns: 1_000_000_000,
                ..job_rep("c", number, Stall { storage: 1.0 - au, ..Stall::default() }, 64.0)
            });
            push(&mut builder, number, Role::Measure, &of_each);
            push(&mut builder, number, Role::Confirm, &of_each);
        }
        let summary = summarise(&builder.record());
        summary.ranks[0].below.clone()
    };
    let Some(Flag::HostsBelow { hosts, of: 2, least }) = judged([0.99, 0.85]) else { panic!("not below") };
    assert!(hosts == [host(2)] && (least - 0.85 / 0.9).abs() < 1e-6, "{hosts:?} {least}");
    assert_eq!(judged([0.99, 0.91]), None);
}

/// Offers are whole bytes a second, which the part of a line need not be.
#[test]
fn hosts_that_are_offered_their_part_of_the_line_have_it() {
    let mut builder = builder(7);
    for number in 0..3 {
        let of_each = vec![rep("c", number, 1e8); 7];
        push(&mut builder, number, Role::Measure, &of_each);
        push(&mut builder, number, Role::Confirm, &of_each);
    }
    builder.pace("c", 1.0 / 7.0, 1.0);
    builder.edit_cell("c", |cell| cell.pace.as_mut().unwrap().of_line = Some(1.0));
    assert_eq!(summarise(&builder.record()).ranks[0].below, None);
}

#[test]
fn equal_processes_and_what_is_slow_once_are_no_finding() {
    assert_eq!(
        slow(&[[8e8; 3], [7.4e8; 3], [8e8; 3], [8e8; 3]]),
        [],
        "some percent are what equal hosts differ by"
    );
    assert_eq!(slow(&[[8e8; 3], [8e8, 8e8, 1e8], [8e8; 3], [8e8; 3]]), [], "one repetition of three");
    assert_eq!(slow(&[[8e8; 3], [6e8, 6.1e8, 5.9e8]]), [(1, Some(host(2)))], "the slower of two");
    // Of three that are alike and one that is better none is slow.
    assert_eq!(slow(&[[2e8; 3], [2e8; 3], [2e8; 3], [8e8; 3]]), []);
}

/// A host whose accelerators read enough together may have one that waits.
#[test]
fn a_process_with_one_accelerator_that_waits_is_slow_by_its_least_utilization() {
    let mut builder = builder(3);
    builder.edit_cell("c", cell_of_job);
    let even = job_rep("c", 0, Stall { storage: 0.05, ..Stall::default() }, 64.0);
    let mut uneven = even.clone();
    let one = &mut uneven.trained.as_mut().unwrap().accelerators[3];
    one.compute_ns /= 2;
    for number in 0..3 {
        let of_each = [&even, &uneven, &even].map(|one| Rep {
            rep: number,
            round: number,
            order: number,
            ..one.clone()
        });
        push(&mut builder, number, Role::Measure, &of_each);
    }
    let summary = summarise(&builder.record());
    let Some(Flag::SlowRanks(SlowRanks { slow, ranks: 3 })) = flag(&summary) else {
        panic!("{:?}", summary.cells[0].flags())
    };
    let [SlowRank { rank: 1, by: SlowBy::Utilization, of_others, .. }] = slow[..] else { panic!("{slow:?}") };
    assert!((of_others - 0.5).abs() < 1e-6, "{of_others}");
    let (au, least) = summary.ranks[0].each[1].au.unwrap();
    assert!((au - 0.95 * 15.0 / 16.0).abs() < 1e-6 && (least - 0.475).abs() < 1e-6, "{au} {least}");
}

#[test]
fn each_process_has_its_rate_its_share_and_how_late_it_began() {
    let summary = summarise(&run(&[[8e8; 3], [4e8; 3]]));
    let [CellRanks { cell, repetitions: 6, each, .. }] = &summary.ranks[..] else {
        panic!("{:?}", summary.ranks)
    };
    assert_eq!((cell.as_str(), each.len()), ("c", 2));
    let RankFigures { rank: 1, host: Some(host), per_s, of_mean, au: None, late_ns } = &each[1] else {
        panic!("{:?}", each[1])
    };
    assert_eq!((host.as_str(), *late_ns), ("host-2", Some((1_000_000, 1_000_000))));
    assert!((per_s.mean - 4e8).abs() < 1.0 && (of_mean - 2.0 / 3.0).abs() < 1e-9, "{per_s:?} {of_mean}");
    assert_eq!(each[0].late_ns, Some((0, 0)));
}

#[test]
fn processes_without_a_launcher_have_numbers_and_no_hosts() {
    let mut record = run(&[[8e8; 3], [4e8; 3]]);
    record.run.team = None;
    let summary = summarise(&record);
    let slow = summary.ranks[0].slow.as_ref().unwrap();
    assert_eq!((slow.slow[0].rank, &slow.slow[0].host), (1, &None));
}

#[test]
fn a_run_of_one_process_or_of_one_rank_alone_has_no_table_of_them() {
    let mut builder = builder(2);
    builder.push(Rep { rank: 1, ranks: 2, ..rep("c", 0, 8e8) });
    assert!(summarise(&builder.record()).ranks.is_empty());
    let mut builder = Builder::new();
    builder.cell("c", "disk", 16);
    builder.push(rep("c", 0, 8e8));
    assert!(summarise(&builder.record()).ranks.is_empty());
}
