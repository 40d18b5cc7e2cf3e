//! One pair of records with every verdict, kept on disk, and what each way of comparing says of it.
//!
//! The figures are invented. Set `FEEDLINE_BLESS=1` to write the fixtures anew after a change here.

use std::path::{Path, PathBuf};

use analysis::{
    Comparison, Effect, Exclusion, GapCause, Margins, RunSample, calibrate, compare_stored, compare_targets,
    compare_variants, history,
};
use record::{End, Line, Outcome, Rep, RunRecord, Variant, counter};

use crate::{golden, on_disk};

const REPETITIONS: u32 = 5;
const SAMPLE_BYTES: u64 = 114_660;
/// The spread of repetitions before, and after: not the same, so that their difference has one.
const CALM: [[f64; 5]; 2] = [[0.990, 1.000, 1.010, 1.000, 1.004], [0.995, 1.004, 1.008, 0.996, 1.000]];
const STORMY: [[f64; 5]; 2] = [[0.80, 1.10, 1.00, 0.90, 1.20], [1.15, 0.85, 1.05, 1.10, 0.80]];

/// A cell: its depth, how fast it is after by before, and the spread of its repetitions.
struct Plan {
    depth: u32,
    gbps: f64,
    after: f64,
    spread: &'static [[f64; 5]; 2],
}

const PLANS: [Plan; 6] = [
    Plan { depth: 8, gbps: 1.0, after: 0.80, spread: &CALM },
    Plan { depth: 16, gbps: 2.0, after: 1.25, spread: &CALM },
    Plan { depth: 32, gbps: 3.0, after: 1.00, spread: &CALM },
    Plan { depth: 64, gbps: 3.5, after: 1.00, spread: &STORMY },
    Plan { depth: 128, gbps: 4.0, after: 0.50, spread: &CALM },
    Plan { depth: 256, gbps: 4.0, after: 1.00, spread: &CALM },
];
/// After, this cell runs out of processor time, and the next one fails.
const LIMITED: usize = 4;
const GONE: usize = 5;

fn name(target: &str, plan: &Plan) -> String {
    format!("{target}/io_uring/qd{}", plan.depth)
}

/// The repetitions of one target: side 0 as before, side 1 as after; all of them `day` times as fast.
fn reps(template: &Rep, target: &str, side: usize, day: f64) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, plan) in PLANS.iter().enumerate() {
        let by = if side == 0 { 1.0 } else { plan.after } * day;
        for number in 0..REPETITIONS {
            let mut one = template.clone();
            (one.cell, one.rep, one.round) = (name(target, plan), number, number);
            one.order = lines.len() as u32;
            let speed = by * plan.spread[side][number as usize];
            let ops = (plan.gbps * speed * 2e9 / SAMPLE_BYTES as f64).round() as u64;
            one.counters.insert(counter::OPS.to_owned(), ops);
            one.counters.insert(counter::BYTES.to_owned(), ops * SAMPLE_BYTES);
            let mut service = record::new_histogram();
            service.record_n((2e6 / speed) as u64, ops - ops / 50).expect("within the range");
            service.record_n((8e6 / speed) as u64, ops / 50).expect("within the range");
            one.histograms.insert("service_ns".to_owned(), record::encode(&service));
            (one.usage.cpu_user_ns, one.usage.cpu_system_ns) = (0, (40_000.0 / speed * ops as f64) as u64);
            if side == 1 && index == LIMITED {
                one.usage.cpu_system_ns = 7_900_000_000;
            }
            if side == 1 && index == GONE {
                one.outcome = Outcome::Failed { reason: "cannot open 256 files".to_owned() };
            }
            lines.push(Line::Rep(Box::new(one)));
        }
    }
    lines
}

/// A record with these targets, each as before or after.
fn record(id: &str, targets: &[(&str, usize)], day: f64) -> RunRecord {
    let mut found = golden::read();
    let template = found.lines.iter().find_map(|line| match line {
        Line::Rep(rep) if rep.cell == "nvme/io_uring/qd32" => Some((**rep).clone()),
        _ => None,
    });
    let mut template = template.expect("the golden record has this cell");
    // What the kernel counted belongs to other figures than these.
    template.system = record::System::default();
    let cell = found.run.cells[0].clone();
    (found.run.run_id, found.run.scenario) = (id.to_owned(), "compared".to_owned());
    found.run.started = format!("{}-{}-{}T00:00:00Z", &id[..4], &id[4..6], &id[6..8]);
    (found.run.gate, found.run.skipped) = (record::Gate::default(), Vec::new());
    found.run.targets.retain(|target| targets.iter().any(|(name, _)| *name == target.name));
    found.run.cells.clear();
    found.lines.clear();
    for (target, side) in targets {
        found.run.cells.extend(PLANS.iter().map(|plan| record::Cell {
            cell: name(target, plan),
            target: (*target).to_owned(),
            queue_depth: plan.depth,
            ..cell.clone()
        }));
        found.lines.extend(reps(&template, target, *side, day));
    }
    let elapsed_ns = 90_000_000_000;
    found.lines.push(Line::End(End { elapsed_ns, ..End::default() }));
    found
}

/// A variant of one group: the record before, or the one after.
fn variant(name: &str, side: usize) -> RunRecord {
    let mut found = record(&format!("20261122T100000Z-compared-{side:04}"), &[("nvme", side)], 1.0);
    found.run.variant = Some(Variant {
        name: name.to_owned(),
        group: "20261122T100000Z-compared".to_owned(),
        number: side as u32,
        settings: if side == 0 { Vec::new() } else { vec!["load.threads=8".to_owned()] },
    });
    for line in &mut found.lines {
        if let Line::Rep(rep) = line {
            name.clone_into(&mut rep.variant);
        }
    }
    found
}

fn dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/compared").join(name)
}

const SCENARIO: &str = "version = 1\ntargets.nvme = { at = \"/mnt/nvme/bench\" }\n";

#[test]
fn the_records_on_disk_are_those_built_here() {
    on_disk::assert_on_disk(&dir("base"), &variant("base", 0), SCENARIO);
    on_disk::assert_on_disk(&dir("head"), &variant("head", 1), SCENARIO);
}

fn effect_words(effect: &Effect) -> String {
    let Effect { metric, before, after, ratio, .. } = effect;
    let detectable = effect.detectable.map_or_else(|| "none".to_owned(), |share| format!("{share:.3}"));
    let because = effect.because.map_or_else(String::new, |because| format!(": {because:.3?}"));
    format!(
        "{} {before:.3e} {after:.3e} | {:.3} {:.3} {:.3} | {}/{} {detectable} {:.2} | {:?}{because}",
        metric.word(),
        ratio.low,
        ratio.mean,
        ratio.high,
        effect.samples_before,
        effect.samples_after,
        effect.margin,
        effect.change,
    )
}

/// Everything that a comparison found, one line for each effect.
fn words(comparison: &Comparison) -> String {
    let mut lines = vec![format!(
        "{:?} {}: {} {:?} -> {} {:?}",
        comparison.pairing,
        comparison.scenario,
        comparison.before.name,
        comparison.before.run_ids.len(),
        comparison.after.name,
        comparison.after.run_ids.len()
    )];
    for headline in &comparison.headlines {
        lines.push(format!("{} ({} cells)", headline.target, headline.cells));
        lines.push(format!("  {}", effect_words(&headline.effect)));
    }
    for cell in &comparison.cells {
        let excluded =
            cell.excluded.as_ref().map_or_else(String::new, |excluded| format!(" EXCLUDED {excluded:.3?}"));
        lines.push(format!("{} of {} ({}){excluded}", cell.cell, cell.target, cell.label));
        lines.extend(cell.effects.iter().map(|effect| format!("  {}", effect_words(effect))));
    }
    lines.extend(comparison.gaps.iter().map(|gap| format!("gap {gap:.3?}")));
    lines.extend(comparison.notes.iter().map(|note| format!("note {note:.3?}")));
    lines.join("\n")
}

/// Holds what is said to the text beside this file.
#[track_caller]
fn assert_words(comparison: &Comparison, name: &str) {
    let path = dir(name);
    let found = words(comparison) + "\n";
    if std::env::var_os("FEEDLINE_BLESS").is_some() {
        std::fs::write(&path, &found).expect("the fixture can be written");
    }
    assert_eq!(found, std::fs::read_to_string(&path).expect("the fixture can be read"));
}

fn sides() -> [RunSample; 2] {
    ["base", "head"].map(|name| {
        let record = record::read_run(&dir(name)).expect("the golden record is readable");
        RunSample::of(&record)
    })
}

#[test]
fn variants_show_every_verdict() {
    let [base, head] = sides();
    let found = compare_variants(&base, &head, &Margins::INTERLEAVED).expect("variants of one run");
    assert_words(&found, "variants.txt");
}

/// Nights that differ by a per cent or two; the second last of the cells spreads wider by itself.
fn nights() -> Vec<RunSample> {
    let days = [1.00, 0.985, 1.01, 1.02, 0.99, 1.00, 0.98, 1.015];
    let night = |(night, day): (usize, &f64)| {
        let mut found =
            record(&format!("202611{:02}T020000Z-compared-0000", night + 10), &[("nvme", 0)], *day);
        let stormy = name("nvme", &PLANS[3]);
        for line in &mut found.lines {
            if let Line::Rep(rep) = line
                && rep.cell == stormy
            {
                let share = if night % 2 == 0 { 1.2 } else { 0.85 };
                rep.window_ns = (rep.window_ns as f64 / share) as u64;
            }
        }
        RunSample::of(&found)
    };
    days.iter().enumerate().map(night).collect()
}

fn tonight() -> RunSample {
    RunSample::of(&record("20261122T020000Z-compared-0001", &[("nvme", 1)], 1.0))
}

#[test]
fn a_night_against_its_history_shows_every_verdict() {
    let found =
        compare_stored("nightly", &nights(), &tonight(), 8, &[], &Margins::STORED).expect("comparable");
    assert_words(&found, "stored.txt");
}

#[test]
fn targets_of_one_run_show_every_verdict() {
    let run = RunSample::of(&record("20261122T100000Z-compared-0002", &[("nvme", 0), ("filer", 1)], 1.0));
    let found = compare_targets(&run, "nvme", "filer", &Margins::INTERLEAVED).expect("both are in the run");
    assert_words(&found, "targets.txt");
}

/// By hand: every ratio of the first cell is 0.80 by those of its spread, whose logarithms add up to
/// ln(0.995 / 0.990) + ln(1.004) + ln(1.008 / 1.010) + ln(0.996) + ln(1.000 / 1.004) = -0.000941.
#[test]
fn the_ratio_of_the_slower_cell_is_the_one_that_was_planned() {
    let [base, head] = sides();
    let found = compare_variants(&base, &head, &Margins::INTERLEAVED).expect("variants of one run");
    let ratio = found.cells[0].effects[0].ratio.mean;
    assert!((ratio / (0.80 * (-0.000_941_f64 / 5.0).exp()) - 1.0).abs() < 1e-4, "{ratio}");
}

#[test]
fn the_same_records_can_be_seen_over_time_and_calibrated() {
    let mut runs = nights();
    runs.push(tonight());
    let seen = history(&runs).expect("there are runs");
    assert_eq!((seen.run_ids.len(), seen.cells.len(), seen.breaks.len()), (9, PLANS.len(), 0));
    let gone = seen.cells[GONE].points.last().expect("tonight is a point");
    let reason = Exclusion::Gap(GapCause::Recorded("cannot open 256 files".to_owned()).into());
    assert_eq!((gone.values.len(), &gone.excluded[..]), (0, &[reason][..]));
    let [base, _] = sides();
    let calibrated = calibrate(&base, &base).expect("a run is like itself");
    assert_eq!((calibrated.samples, calibrated.noise.len()), (REPETITIONS, 4));
}
