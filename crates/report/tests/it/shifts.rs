//! Shifts between two runs, and runs over time.

use std::collections::BTreeMap;

use analysis::{
    Break, Difference, Exclusion, GapCause, History, HistoryCell, HistoryPoint, HistoryValue, Ratio, Shift,
    ShiftPoint, shift,
};
use feed::Compared;
use proptest::prelude::*;
use report::{RenderError, ShiftHead, ShiftSide, history_svg, shift_svg};

use crate::checks::{assert_whole, words};
use crate::plots::kept;
use crate::synthetic::{Made, STORES, Store, made};

fn head() -> ShiftHead {
    let side = |name: &str, run: &str| ShiftSide { name: name.to_owned(), run_id: run.to_owned() };
    ShiftHead {
        scenario: "Which store for the cluster".to_owned(),
        before: side("base", "20261121T044123Z-compare-3f9a"),
        after: side("head", "20261121T044124Z-compare-77b0"),
        machine: "AMD EPYC 9354, 64 cores, 512 GiB, kernel 6.12".to_owned(),
        command: "feedline run compare.toml --variant base: --variant head:bin=./feedline-head"
            .split(' ')
            .map(str::to_owned)
            .collect(),
    }
}

#[test]
fn a_shift_of_two_runs() {
    let slower: Vec<Store> = STORES
        .iter()
        .map(|store| Store { latency_ns: store.latency_ns * 1.2, tail: store.tail * 1.5, ..*store })
        .collect();
    let (mut before, _) = made(&Made { depths: &[1, 16, 64], ..Made::USUAL });
    let (mut after, _) = made(&Made { stores: &slower, depths: &[1, 16, 64], seed: 1, ..Made::USUAL });
    for (number, (record, name)) in [(&mut before, "base"), (&mut after, "head")].into_iter().enumerate() {
        record.run.variant = Some(record::Variant {
            name: name.to_owned(),
            group: "compare".to_owned(),
            number: number as u32,
            settings: Vec::new(),
        });
    }
    let shifts = shift(&before, &after).expect("variants of one run");
    assert_eq!(shifts.len(), 9);
    let plot = shift_svg(&shifts, &head()).unwrap();
    kept("usual", &plot);
    assert_whole(&plot);
    let single = shift_svg(&shifts[..1], &head()).unwrap();
    kept("single", &single);
    assert_whole(&single);
    assert_eq!(plot, shift_svg(&shifts, &head()).unwrap());
    let words: Vec<String> = words(&plot.svg).into_iter().map(|one| one.words).collect();
    assert!(words.iter().any(|words| words.contains("20261121T044124Z-compare-77b0")), "{words:?}");
}

#[test]
fn nothing_to_shift_is_told() {
    let error = shift_svg(&[], &head()).unwrap_err();
    assert!(matches!(error, RenderError::NothingMeasured { .. }));
    let empty =
        History { scenario: "s".to_owned(), run_ids: Vec::new(), cells: Vec::new(), breaks: Vec::new() };
    assert!(matches!(history_svg(&empty).unwrap_err(), RenderError::NothingMeasured { .. }));
}

#[test]
fn cells_that_move_no_bytes_are_left_out_of_a_plot_of_bytes() {
    let mut runs = history(4, &[0.4e9, 1.2e9], &[]);
    runs.cells[1].counts_bytes = false;
    let plot = history_svg(&runs).unwrap();
    assert!(plot.table.rows.iter().all(|row| row[0] == "cell0"), "{:?}", plot.table.rows);
    let words: Vec<String> = words(&plot.svg).into_iter().map(|one| one.words).collect();
    assert!(words.iter().any(|words| words.contains("1 cell without bytes left out")), "{words:?}");
    runs.cells[0].counts_bytes = false;
    assert!(matches!(history_svg(&runs).unwrap_err(), RenderError::NothingMeasured { .. }));
}

fn other_kernel_from(run_id: String) -> Break {
    let [what, before, after] = ["kernel", "6.1", "6.6"].map(str::to_owned);
    Break { run_id, differences: vec![Difference { what, before, after, may: None }] }
}

fn history(runs: usize, rates: &[f64], breaks: &[usize]) -> History {
    let id = |run: usize| format!("202611{:02}T0441{:02}Z-nightly-{run:04x}", run / 2 + 1, run % 60);
    let point = |run: usize, bps: f64| {
        let wobble = 1.0 + 0.02 * ((run * 7) % 5) as f64 - 0.04;
        let bps = bps * wobble * if run >= 9 { 0.88 } else { 1.0 };
        let value = HistoryValue { value: bps, low: bps * 0.97, high: bps * 1.03 };
        HistoryPoint {
            run_id: id(run),
            started: format!("2026-11-{:02}T04:41:23Z", run / 2 + 1),
            values: BTreeMap::from([(Compared::Throughput, value)]),
            excluded: (run == 4)
                .then(|| Exclusion::Gap(GapCause::Recorded("drifts".to_owned()).into()))
                .into_iter()
                .collect(),
        }
    };
    let cell = |(number, bps): (usize, &f64)| HistoryCell {
        cell: format!("cell{number}"),
        target: format!("store {}", number / 5),
        label: format!("io_uring, depth {}", 1 << (number % 5 * 2)),
        counts_bytes: true,
        line_bps: Some(1.474e9),
        points: (0..runs).map(|run| point(run, *bps)).collect(),
    };
    History {
        scenario: "nightly".to_owned(),
        run_ids: (0..runs).map(id).collect(),
        cells: rates.iter().enumerate().map(cell).collect(),
        breaks: breaks.iter().map(|run| other_kernel_from(id(*run))).collect(),
    }
}

#[test]
fn runs_over_time() {
    let rates = [0.4e9, 1.2e9, 2.5e9, 3.2e9, 3.3e9, 0.1e9, 0.4e9, 0.9e9, 1.6e9, 1.9e9];
    for (name, history) in [
        ("nightly", history(14, &rates, &[9])),
        ("first", history(1, &rates[..2], &[])),
        ("year", history(50, &rates[..4], &[5, 6, 30, 31, 32, 40, 41])),
        ("wide", history(6, &[1.0, 1e12], &[])),
    ] {
        let plot = history_svg(&history).unwrap();
        kept(name, &plot);
        assert_whole(&plot);
        assert_eq!(plot, history_svg(&history).unwrap());
        assert_eq!(plot.table.rows.len(), history.cells.len() * history.run_ids.len());
    }
}

#[test]
fn a_break_cuts_the_curves() {
    let whole = history_svg(&history(6, &[1e9], &[])).unwrap();
    let cut = history_svg(&history(6, &[1e9], &[3])).unwrap();
    assert_eq!((pieces(&whole.svg), pieces(&cut.svg)), (1, 2));
    assert!(words(&cut.svg).iter().any(|one| one.words.starts_with("1: not comparable from 2026")));
}

/// Pieces of the first curve.
fn pieces(svg: &str) -> usize {
    let is_piece = |line: &&str| {
        line.starts_with("<polyline")
            && line.contains("class=\"l-s1\"")
            && line.contains("stroke-width=\"2\"")
    };
    svg.lines().filter(is_piece).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn odd_ratios_make_whole_plots(
        ratios in prop::collection::vec((-12.0..12.0_f64, 0.0..9.0_f64, any::<bool>()), 2..40)
    ) {
        let point = |(number, (log, half, known)): (usize, &(f64, f64, bool))| {
            let mean = 10_f64.powf(*log);
            let ratio = if *known {
                Ratio { low: mean / 10_f64.powf(*half), mean, high: mean * 10_f64.powf(*half) }
            } else {
                Ratio { low: 0.0, mean, high: f64::INFINITY }
            };
            ShiftPoint { q: 1.0 - 10_f64.powf(-(number as f64) / 10.0), ratio }
        };
        let shift = Shift {
            cell: "c".to_owned(),
            target: "disk".to_owned(),
            label: "io_uring, depth 8".to_owned(),
            is_response: false,
            pairs: 3,
            points: ratios.iter().enumerate().map(point).collect(),
        };
        let plot = shift_svg(std::slice::from_ref(&shift), &head()).unwrap();
        prop_assert!(plot.svg.len() > 1_000);
        let one = Shift { points: shift.points[..1].to_vec(), ..shift };
        prop_assert!(shift_svg(&[one], &head()).is_ok());
    }

    #[test]
    fn odd_histories_make_whole_plots(
        runs in 1..30_usize,
        rates in prop::collection::vec(-3.0..14.0_f64, 1..12),
        broken in prop::collection::vec(0..30_usize, 0..5),
    ) {
        let rates: Vec<f64> = rates.into_iter().map(|log| 10_f64.powf(log)).collect();
        assert_whole(&history_svg(&history(runs, &rates, &broken)).unwrap());
    }
}
