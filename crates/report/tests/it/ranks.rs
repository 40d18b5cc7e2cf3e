//! Processes that measured together: which were slow, in the answer, the table and the plot.

use analysis::summarise;
use record::{Line, Member, RecordedIntervals, Rep, RunRecord, Team};
use report::{Screen, Surroundings, answer, plots, terminal};

use crate::checks::{assert_whole, words};
use crate::plots::kept;
use crate::synthetic::{Made, STORES, made};

/// When the first window opens.
const OPENING_NS: u64 = 1_795_236_083_000_000_000;

/// A filer read by processes that have these shares of it, each on a host of its own.
fn shared(shares: &[f64]) -> (RunRecord, RecordedIntervals) {
    let usual = Made { stores: &STORES[1..2], depths: &[4, 64], reps: 4, ..Made::USUAL };
    let (mut record, seconds) = made(&usual);
    let ranks = shares.len() as u32;
    let member = |rank: u32| Member {
        host: format!("host-{}", rank + 1),
        machine: rank,
        clock_ahead_ns: 0,
        clock_uncertainty_ns: 10_000,
    };
    record.run.team = Some(Team { launcher: "Slurm".to_owned(), members: (0..ranks).map(member).collect() });
    record.run.ranks = ranks;
    let of_ranks = |line: Line| match line {
        Line::Rep(rep) => (0..ranks)
            .map(|rank| Line::Rep(Box::new(part(&rep, (rank, ranks), shares[rank as usize]))))
            .collect(),
        other => vec![other],
    };
    record.lines = record.lines.into_iter().flat_map(of_ranks).collect();
    (record, seconds)
}

/// What one of the ranks has of a repetition.
fn part(rep: &Rep, (rank, ranks): (u32, u32), share: f64) -> Rep {
    let mut part = Rep { rank, ranks, ..rep.clone() };
    part.counters.values_mut().for_each(|count| *count = (*count as f64 * share) as u64);
    let opens = OPENING_NS + u64::from(rep.order) * 60_000_000_000;
    part.window_unix_ns = Some(opens + u64::from(rank) * 250_000);
    part
}

/// Two on a throttled link, and two that are not.
const THROTTLED: [f64; 4] = [0.4, 0.1, 0.4, 0.1];

#[test]
fn slow_processes_are_named_in_the_answer_with_their_hosts() {
    let (record, _) = shared(&THROTTLED);
    let screen = Screen { columns: 100, is_coloured: false };
    let surroundings =
        Surroundings { screen, folder: "results/a1", page: "a1.html", full: "feedline report", past: None };
    let answer = answer(&summarise(&record), surroundings).unwrap();
    let said = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected =
        "slow of 4 processes: rank 1 on host-2 at 25 % of the others' rate, rank 3 on host-4 at 25 %";
    assert!(said.contains(expected), "{answer}");
}

#[test]
fn what_each_process_did_is_a_table() {
    let (record, _) = shared(&THROTTLED);
    let page = terminal(&summarise(&record), Screen { columns: 100, is_coloured: false });
    let table: Vec<&str> = page.lines().skip_while(|line| !line.starts_with("- processes")).take(9).collect();
    insta::assert_snapshot!("the_table_of_processes", table.join("\n"));
    // Of many a terminal shows those that are looked for.
    let mut many = [0.01; 70];
    many[17] = 0.002;
    let (record, _) = shared(&many);
    let page = terminal(&summarise(&record), Screen { columns: 100, is_coloured: false });
    assert!(page.contains("of each cell the 64 slowest processes"), "{page}");
}

#[test]
fn the_plot_of_processes_rings_the_slow_ones_and_names_their_hosts() {
    let (record, seconds) = shared(&THROTTLED);
    let drawn = |record: &RunRecord| {
        let plots = plots(&summarise(record), &analysis::over_time(record, &seconds)).unwrap();
        plots.into_iter().find(|plot| plot.name == "ranks")
    };
    let plot = drawn(&record).unwrap();
    kept("processes", &plot);
    assert_whole(&plot);
    let said: Vec<String> = words(&plot.svg).into_iter().map(|words| words.words).collect();
    for wanted in ["host-2", "host-4", "slow: below 90 % of the median of the others"] {
        assert!(said.iter().any(|words| words == wanted), "{wanted} of {said:?}");
    }
    assert_eq!(plot.table.rows.len(), 4);
    let (alone, _) = made(&Made { stores: &STORES[1..2], depths: &[4], ..Made::USUAL });
    assert!(drawn(&alone).is_none(), "a run of one process");
    let mut many = [0.01; 24];
    (many[7], many[20]) = (0.004, 0.007);
    let plot = drawn(&shared(&many).0).unwrap();
    kept("many-processes", &plot);
    assert_whole(&plot);
    let mut more = [0.0025; 300];
    more[17] = 0.001;
    let (mut record, _) = shared(&more);
    // What takes time is adding histograms, of which this plot shows nothing.
    for line in &mut record.lines {
        if let Line::Rep(rep) = line {
            rep.histograms.clear();
        }
    }
    let plot = drawn(&record).unwrap();
    kept("hundreds-of-processes", &plot);
    assert_whole(&plot);
    assert!(plot.svg.len() < 200_000 && plot.svg.contains("host-18"), "{} bytes", plot.svg.len());
    assert_eq!(plot.table.rows.len(), 151);
}
