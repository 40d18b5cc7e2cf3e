//! Datasets of several forms that store as many bytes: each is a way of reading, and a verdict says of which one it is.

use feed::Judgement;
use record::{AxisWords, Role, RunRecord};

use super::{ReadVerdict, Unreached, WayApart};
use crate::fixture::{Builder, cell_of_job, confirmation, job_rep, rep};
use crate::{Condition, Sizing, Stall, summarise};

fn words(name: &str, value: &str, unit: &str) -> AxisWords {
    AxisWords { name: name.to_owned(), value: value.to_owned(), unit: unit.to_owned() }
}

fn shards(mib: u64) -> AxisWords {
    words("shard_size", &(mib << 20).to_string(), "B")
}

/// A dataset that stores as many bytes as the others, and the cell that reads it at a share of the line. Files where there is
/// no shard size, and fetched by index as those of a loader are.
type Form = (Option<u64>, f64);

fn name(mib: Option<u64>) -> String {
    mib.map_or("files".to_owned(), |mib| format!("{mib} MiB"))
}

/// The scenario's cells in this order, of which that of `confirmed` was measured afresh.
fn built(forms: &[Form], confirmed: Option<u64>, edit: impl Fn(&mut Builder, &str)) -> RunRecord {
    let mut builder = Builder::new();
    let dataset = builder.run.datasets.remove(0);
    for (index, (mib, of_line)) in forms.iter().enumerate() {
        let name = name(*mib);
        builder.run.datasets.push(dataset.clone());
        builder.cell(&name, "disk", 8);
        builder.edit_cell(&name, |cell| {
            cell.dataset = index;
            cell.axes = vec![words("layout", if mib.is_some() { "webdataset" } else { "files" }, "")];
            cell.axes.extend(mib.map(shards));
            if mib.is_some() {
                cell.access = "shuffled_shards".into();
            }
        });
        edit(&mut builder, &name);
        let is_job = builder.run.cells[index].training.is_some();
        for number in 0..3 {
            let bps = of_line * Builder::LINE_BPS;
            let stall = Stall { storage: 1.0 - of_line * 0.9, ..Stall::default() };
            let one = if is_job { job_rep(&name, number, stall, 64.0) } else { rep(&name, number, bps) };
            let again = record::Rep { role: Role::Confirm, order: 1_000 + number, ..one.clone() };
            builder.push(one);
            if *mib == confirmed {
                builder.push(if is_job { again } else { confirmation(&name, number, bps) });
            }
        }
    }
    builder.record()
}

fn verdict(record: &RunRecord) -> ReadVerdict {
    summarise(record).verdicts[0].of_reads().cloned().unwrap()
}

/// In both orders of the scenario.
fn verdicts(forms: &[Form], confirmed: Option<u64>, edit: impl Fn(&mut Builder, &str)) -> [ReadVerdict; 2] {
    let turned: Vec<Form> = forms.iter().rev().copied().collect();
    [forms, &turned].map(|forms| verdict(&built(forms, confirmed, &edit)))
}

/// The other ways that a verdict names, each with the least and the most of its line in hundredths.
fn named(verdict: &ReadVerdict) -> Vec<(WayApart, [u64; 2])> {
    let otherwise = |one: &Unreached| match one {
        Unreached::Otherwise { apart, of_line: (low, high), .. } => {
            (apart.clone(), [*low, *high].map(|share| (share * 100.0).round() as u64))
        }
        other => panic!("{other:?}"),
    };
    verdict.unreached.iter().map(otherwise).collect()
}

fn apart(mib: u64) -> WayApart {
    WayApart { form: vec![shards(mib)], ..WayApart::default() }
}

#[test]
fn what_starves_names_the_form_that_it_judged_and_the_one_that_clears() {
    for found in verdicts(&[(Some(64), 0.4), (Some(256), 1.5)], Some(64), |_, _| {}) {
        assert_eq!((found.judgement, &found.form), (Judgement::Starves, &vec![shards(64)]));
        let clears = found.clears.expect("the other form clears");
        assert_eq!((clears.apart, clears.queue_depth, clears.more), (apart(256), 8, 0));
        assert!(found.unreached.is_empty(), "{:?}", found.unreached);
        assert!(matches!(&found.conditions[..], [Condition::OneOfSeveral(_)]), "{:?}", found.conditions);
    }
}

#[test]
fn what_feeds_names_each_form_that_does_not_reach_the_line() {
    for found in verdicts(&[(Some(64), 1.2), (Some(256), 0.5)], Some(64), |_, _| {}) {
        assert_eq!((found.judgement, &found.form), (Judgement::Feeds, &vec![shards(64)]));
        assert_eq!(named(&found), [(apart(256), [50, 50])]);
    }
    // Files come first, since a loader that fetches by index is preferred. Of three forms beside them one clears.
    let forms = [(None, 1.5), (Some(64), 0.7), (Some(128), 1.5), (Some(256), 0.4)];
    for found in verdicts(&forms, None, |_, _| {}) {
        assert_eq!((found.judgement, &found.form), (Judgement::Feeds, &Vec::new()));
        let beside_files = |mib| WayApart {
            layout: Some("webdataset".to_owned()),
            access: Some("shuffled_shards".to_owned()),
            ..apart(mib)
        };
        assert_eq!(named(&found), [(beside_files(256), [40, 40]), (beside_files(64), [70, 70])]);
    }
}

#[test]
fn of_three_forms_the_hardest_is_judged_and_the_others_are_told_apart() {
    let forms = [(Some(64), 0.8), (Some(128), 1.5), (Some(256), 0.4)];
    for found in verdicts(&forms, Some(256), |_, _| {}) {
        assert_eq!((found.judgement, &found.form), (Judgement::Starves, &vec![shards(256)]));
        assert_eq!(named(&found), [(apart(64), [80, 80])]);
        assert_eq!(found.clears.map(|clears| (clears.apart, clears.more)), Some((apart(128), 0)));
    }
}

#[test]
fn a_form_that_shares_a_part_with_the_one_judged_is_named_whole() {
    let compressed = |builder: &mut Builder, name: &str| {
        builder.edit_cell(name, |cell| cell.axes.push(words("codec", "gzip", "")));
    };
    let found = verdict(&built(&[(Some(64), 1.2), (Some(256), 0.5)], Some(64), compressed));
    let whole = WayApart { form: vec![shards(256), words("codec", "gzip", "")], ..WayApart::default() };
    assert_eq!(named(&found), [(whole, [50, 50])]);
}

#[test]
fn bytes_that_a_form_stores_for_the_same_samples_are_no_other_size() {
    let stored = |asked: [&'static str; 2]| {
        move |builder: &mut Builder, name: &str| {
            let index = builder.run.datasets.len() - 1;
            builder.run.datasets[index].sample_bytes += 1e3 * index as f64;
            builder.edit_cell(name, |cell| cell.axes.push(words("sample_size", asked[index], "B")));
        }
    };
    let forms = [(Some(64), 1.2), (Some(256), 0.5)];
    let same = verdict(&built(&forms, Some(64), stored(["100000", "100000"])));
    assert_eq!(named(&same)[0].0, apart(256));
    let other = verdict(&built(&forms, Some(64), stored(["100000", "101000"])));
    assert_eq!(named(&other)[0].0, WayApart { sample_bytes: Some(101_000.0), ..apart(256) });
}

#[test]
fn a_job_is_held_against_the_same_job_on_other_forms() {
    let jobs = |builder: &mut Builder, name: &str| {
        (builder.run.measure.duration_ns, builder.run.measure.steps) = (None, Some(100));
        builder.edit_cell(name, |cell| {
            cell_of_job(cell);
            (cell.operation, cell.queue_depth) = ("read".into(), 64);
        });
    };
    for found in verdicts(&[(Some(64), 1.05), (Some(256), 0.5)], Some(64), jobs) {
        assert_eq!((found.judgement, &found.form), (Judgement::Feeds, &vec![shards(64)]));
        assert_eq!(named(&found), [(apart(256), [50, 50])]);
    }
    let another_job = |builder: &mut Builder, name: &str| {
        jobs(builder, name);
        builder.edit_cell("256 MiB", |cell| cell.training.as_mut().unwrap().barrier = true);
    };
    let found = verdict(&built(&[(Some(64), 1.05), (Some(256), 0.5)], Some(64), another_job));
    assert_eq!(found.unreached, [], "another job is another question");
}

#[test]
fn the_form_is_said_though_its_bytes_came_from_memory() {
    let warm = |builder: &mut Builder, name: &str| {
        builder.edit_cell(name, |cell| cell.cache = "warm".into());
    };
    let found = verdict(&built(&[(Some(64), 1.5), (Some(256), 1.6)], Some(64), warm));
    assert_eq!((found.conditions, found.form), (vec![Condition::Warm], vec![shards(64)]));
}

#[test]
fn datasets_of_an_older_record_that_store_as_much_are_read_in_one_way() {
    let unsaid = |builder: &mut Builder, name: &str| {
        builder.edit_cell(name, |cell| cell.axes.retain(|words| words.name != "shard_size"));
    };
    for found in verdicts(&[(Some(64), 0.4), (Some(256), 1.5)], Some(64), unsaid) {
        assert_eq!((found.form, found.unreached, found.clears, found.conditions), Default::default());
    }
}

#[test]
fn what_a_search_found_says_of_which_form() {
    let jobs = |builder: &mut Builder, name: &str| {
        builder.run.size = Some("accelerators".to_owned());
        (builder.run.measure.duration_ns, builder.run.measure.steps) = (None, Some(100));
        builder.edit_cell(name, cell_of_job);
    };
    let sizings = |forms: &[Form]| summarise(&built(forms, None, jobs)).sizings;
    let of = |sizing: &Sizing| (sizing.apart.clone(), sizing.meets.is_some());
    let found: Vec<_> = sizings(&[(Some(64), 1.05), (Some(256), 0.5)]).iter().map(of).collect();
    assert_eq!(found, [(apart(64), true), (apart(256), false)]);
    assert_eq!(sizings(&[(Some(64), 1.05)])[0].apart, WayApart::default(), "one alone needs no words");
}
