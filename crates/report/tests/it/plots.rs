//! Percentiles, latency against throughput, heatmaps, courses, sizes, supply and demand.

use analysis::{over_time, summarise};
use proptest::prelude::*;
use record::{Device, Line, Look, Memory, RecordedIntervals, RunRecord, System};
use report::{Plot, plots, png};

use crate::checks::{assert_whole, words};
use crate::records;
use crate::synthetic::{Made, STORES, Store, made};

fn rendered(record: &RunRecord, seconds: &RecordedIntervals) -> Vec<Plot> {
    plots(&summarise(record), &over_time(record, seconds)).unwrap()
}

fn plot(record: &RunRecord, seconds: &RecordedIntervals, name: &str) -> Option<Plot> {
    rendered(record, seconds).into_iter().find(|plot| plot.name == name)
}

/// Writes plots where `FEEDLINE_PLOTS` says so, to be looked at.
pub(crate) fn kept(name: &str, plot: &Plot) {
    let Some(dir) = std::env::var_os("FEEDLINE_PLOTS") else { return };
    let at = |end: &str| std::path::Path::new(&dir).join(format!("{name}-{}{end}", plot.name));
    std::fs::write(at(".svg"), &plot.svg).unwrap();
    for (end, dark) in [(".png", false), ("-dark.png", true)] {
        std::fs::write(at(end), png(&plot.svg, dark).unwrap()).unwrap();
    }
}

fn many_stores() -> Vec<Store> {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    names
        .iter()
        .enumerate()
        .map(|(number, name)| {
            let scale = 1.0 + 0.02 * number as f64;
            let title = if number == 3 { "a storage whose title is longer than any margin" } else { name };
            Store { name, title, latency_ns: 100e3 * scale, top_bps: 3e9 / scale, ..STORES[0] }
        })
        .collect()
}

fn variants() -> Vec<(&'static str, (RunRecord, RecordedIntervals))> {
    let usual = Made::USUAL;
    let one = made(&Made { stores: &STORES[..1], ..usual.clone() });
    let mut no_need = made(&Made { sizes: &[4_096, 131_072, 1_048_576], ..usual.clone() });
    no_need.0.run.need.samples_per_s = None;
    let mut in_bytes = made(&Made { sizes: &[4_096, 131_072, 1_048_576], ..usual.clone() });
    in_bytes.0.run.need.samples_per_s = None;
    in_bytes.0.run.need.bytes_per_s = Some(2.5e9);
    let mut paced = made(&Made { stores: &STORES[..2], depths: &[64], ..usual.clone() });
    pace(&mut paced.0);
    let mut no_histograms = made(&Made { stores: &STORES[..1], ..usual.clone() });
    for line in &mut no_histograms.0.lines {
        if let Line::Rep(rep) = line {
            rep.histograms.clear();
            rep.second_bytes.clear();
        }
    }
    no_histograms.1.reps.clear();
    let mut failed = made(&usual);
    for line in &mut failed.0.lines {
        if let Line::Rep(rep) = line
            && rep.cell.contains("filer")
        {
            rep.outcome = record::Outcome::Failed { reason: "the mount is gone".to_owned() };
        }
    }
    vec![
        ("usual", made(&usual)),
        ("one-store", one),
        ("sizes", made(&Made { sizes: &[16_384, 114_660, 1_048_576, 8_388_608], ..usual.clone() })),
        ("no-need", no_need),
        ("in-bytes", in_bytes),
        ("many", made(&Made { stores: &many_stores(), depths: &[1, 8, 64], ..usual.clone() })),
        (
            "deep",
            made(&Made { depths: &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024], reps: 3, ..usual.clone() }),
        ),
        (
            "one-point",
            made(&Made { stores: &STORES[..1], depths: &[32], reps: 1, seconds: 1, ..usual.clone() }),
        ),
        ("one-rep", made(&Made { reps: 1, seconds: 60, ..usual.clone() })),
        ("few-reads", made(&Made { ops_max: 150, ..usual.clone() })),
        ("long", made(&Made { stores: &STORES[..1], depths: &[64], reps: 1, seconds: 1_300, ..usual })),
        ("paced", paced),
        ("looked-at", looked_at(made(&Made { stores: &STORES[..2], ..Made::USUAL }))),
        ("no-histograms", no_histograms),
        ("failed", failed),
        ("golden", (records::golden(), RecordedIntervals::default())),
        ("networks", (records::networks(), RecordedIntervals::default())),
    ]
}

/// Adds looks at a machine whose device reads twice what the run does, two of its four processors half busy.
fn looked_at(mut made: (RunRecord, RecordedIntervals)) -> (RunRecord, RecordedIntervals) {
    for rep in &mut made.1.reps {
        let look = |second: &record::Interval| {
            let device = Device { reads: second.ops, read_bytes: second.bytes * 2, ..Device::default() };
            let memory = Memory { available_bytes: 25_000_000_000, ..Memory::default() };
            let system = System {
                device: Some(device),
                core_busy_ns: vec![500_000_000, 500_000_000, 0, 0],
                memory_after: Some(memory),
                ..System::default()
            };
            Look {
                at_ns: u64::from(second.second + 1) * 1_000_000_000,
                span_ns: 1_000_000_000,
                resident_bytes: Some(40_000_000),
                system,
            }
        };
        rep.looks = rep.seconds.iter().map(look).collect();
    }
    made
}

/// Makes every cell a paced load that was served but for three in a thousand.
fn pace(record: &mut RunRecord) {
    for cell in &mut record.run.cells {
        cell.pace = Some(record::Pace {
            rate_bps: None,
            of_line: Some(1.0),
            arrivals: "poisson".to_owned(),
            batch_samples: None,
            spin_ns: 0,
        });
    }
    for line in &mut record.lines {
        let Line::Rep(rep) = line else { continue };
        let issued = rep.counters[record::counter::OPS];
        let counters = [
            (record::counter::ARRIVALS, issued + issued / 300),
            (record::counter::SERVED, issued),
            (record::counter::NOT_ISSUED, issued / 300),
            (record::counter::OFFERED_BPS, 1_474_200_000),
        ];
        rep.counters.extend(counters.map(|(name, count)| (name.to_owned(), count)));
        let mut response = record::new_histogram();
        for step in rep.histograms["service_ns"].decode().unwrap().iter_recorded() {
            let ns = step.value_iterated_to() * 3 / 2 + 200_000;
            response.record_n(ns, step.count_at_value()).unwrap();
        }
        rep.histograms.insert("response_ns".to_owned(), record::encode(&response));
    }
}

#[test]
fn plots_hold_whatever_they_show() {
    for (name, (record, seconds)) in variants() {
        let plots = rendered(&record, &seconds);
        for plot in &plots {
            kept(name, plot);
            assert_whole(plot);
            assert!(plot.svg.len() < 400_000, "{name} {}: {} bytes", plot.name, plot.svg.len());
        }
        assert_eq!(plots, rendered(&record, &seconds), "{name}");
    }
}

#[test]
fn a_run_has_the_plots_that_it_has_something_to_show_in() {
    let variants = variants();
    let names = |of: &str| -> Vec<&'static str> {
        let (_, (record, seconds)) = variants.iter().find(|(name, _)| *name == of).unwrap();
        rendered(record, seconds).iter().map(|plot| plot.name).collect()
    };
    let all = ["throughput", "percentiles", "tradeoff", "heatmap", "over-time", "roofline"];
    assert_eq!(names("usual"), all);
    assert_eq!(
        names("sizes"),
        ["throughput", "percentiles", "tradeoff", "heatmap", "over-time", "sizes", "roofline"]
    );
    assert_eq!(names("no-histograms"), ["throughput", "roofline"]);
    assert_eq!(names("one-point"), ["throughput", "percentiles", "heatmap", "roofline"]);
    assert_eq!(names("paced"), ["percentiles", "heatmap", "over-time"]);
}

#[test]
fn the_machine_is_drawn_over_the_seconds_in_which_it_was_looked_at() {
    let (record, seconds) =
        looked_at(made(&Made { stores: &STORES[..1], reps: 2, seconds: 3, ..Made::USUAL }));
    let found = plot(&record, &seconds, "machine").unwrap();
    let deepest = seconds.reps.iter().rfind(|rep| rep.rep == 0).unwrap();
    let bytes: Vec<u64> = deepest.seconds.iter().map(|second| second.bytes).collect();
    let rows = &found.table.rows;
    assert_eq!((rows.len(), rows[0].len()), (6, found.table.columns.len()));
    let of = |name: &str| found.table.columns.iter().position(|column| column == name).unwrap();
    for (row, bytes) in rows.iter().zip(bytes) {
        assert_eq!(row[of("read MB/s")].replace(' ', ""), format!("{:.0}", bytes as f64 * 2.0 / 1e6));
        let others = ["cores busy", "busiest core", "available GB", "this process GB", "in MB/s"]
            .map(|name| row[of(name)].as_str());
        assert_eq!(others, ["1.00", "0.50", "25.0", "0.040", "-"]);
    }
    let said: Vec<String> = words(&found.svg).into_iter().map(|words| words.words).collect();
    for name in ["this run", "device reads", "all processors", "available"] {
        assert!(said.iter().any(|words| words == name), "{name}: {said:?}");
    }
    for name in ["network in", "device writes"] {
        assert!(!said.iter().any(|words| words == name), "{name} was not counted, or nothing");
    }
    assert!(plot(&record, &RecordedIntervals::default(), "machine").is_none());
}

#[test]
fn many_ways_of_reading_are_cut_to_what_one_figure_holds_and_it_says_so() {
    let sizes: Vec<u64> = (1..=30).map(|number| number * 16_384).collect();
    let few = Made { stores: &STORES[..1], depths: &[8], sizes: &sizes[..24], ..Made::USUAL };
    let told = |sizes: &[u64]| {
        let (record, seconds) = made(&Made { sizes, ..few.clone() });
        let plot = plot(&record, &seconds, "throughput").unwrap();
        let said: Vec<String> = words(&plot.svg).into_iter().map(|words| words.words).collect();
        (said.join(" "), plot.table.rows.len())
    };
    let (said, rows) = told(&sizes);
    assert!(said.contains("the first 24 of 30 panels") && rows == 24, "{rows}: {said}");
    let (said, rows) = told(&sizes[..24]);
    assert!(!said.contains("the first") && rows == 24, "{rows}: {said}");
}

#[test]
fn shard_sizes_are_rows_of_the_plot_of_sizes_though_their_samples_differ_as_stored() {
    const SHARDS: [u64; 2] = [64 << 20, 256 << 20];
    let of_payloads = |payloads: [u64; 2]| {
        let (mut record, seconds) = made(&Made { sizes: &SHARDS, ..Made::USUAL });
        for (dataset, beside) in record.run.datasets.iter_mut().zip([340.0, 338.0]) {
            dataset.sample_bytes = 114_660.0 + beside;
        }
        for cell in &mut record.run.cells {
            let axis = |name: &str, bytes: u64| record::AxisWords {
                name: name.to_owned(),
                value: bytes.to_string(),
                unit: "B".to_owned(),
            };
            cell.block_bytes = 1 << 20;
            cell.axes.retain(|axis| axis.name != "sample_size");
            cell.axes.push(axis("sample_size", payloads[cell.dataset]));
            cell.axes.push(axis("shard_size", SHARDS[cell.dataset]));
        }
        plot(&record, &seconds, "sizes")
    };
    let plot = of_payloads([114_660; 2]).unwrap();
    let words: Vec<String> = words(&plot.svg).into_iter().map(|one| one.words).collect();
    assert!(
        ["64 MiB", "256 MiB", "shard"].iter().all(|row| words.iter().any(|words| words == row)),
        "{words:?}"
    );
    let shard = plot.table.columns.iter().position(|name| name == "shard B").unwrap();
    for bytes in SHARDS.map(|bytes| bytes.to_string()) {
        let rows = plot.table.rows.iter().filter(|row| row[shard] == bytes).count();
        assert_eq!(rows * 2, plot.table.rows.len());
    }
    assert!(of_payloads([114_660, 131_072]).is_none(), "shards of other samples are no row beside these");
}

#[test]
fn a_record_without_repetitions_has_no_plots() {
    let (mut record, _) = made(&Made::USUAL);
    record.lines.clear();
    assert!(rendered(&record, &RecordedIntervals::default()).is_empty());
}

#[test]
fn a_curve_of_percentiles_says_where_it_ends() {
    let usual =
        Made { stores: &STORES[..1], depths: &[1], reps: 1, seconds: 1, ops_max: 2_000, ..Made::USUAL };
    let (record, seconds) = made(&usual);
    let plot = plot(&record, &seconds, "percentiles").unwrap();
    let words: Vec<String> = words(&plot.svg).into_iter().map(|one| one.words).collect();
    assert!(words.iter().any(|words| words.contains("to 99.5 %")), "{words:?}");
    assert!(!words.contains(&"99.9 %".to_owned()), "no tick beyond the last operation");
}

#[test]
fn percentiles_and_courses_over_time_say_of_which_form_they_are() {
    let (mut record, seconds) = made(&Made { stores: &STORES[..1], ..Made::USUAL });
    let of_forms = |record: &RunRecord| {
        let plots = ["percentiles", "heatmap", "over-time"].map(|name| plot(record, &seconds, name).unwrap());
        plots.map(|plot| {
            let said: Vec<String> = words(&plot.svg).into_iter().map(|one| one.words).collect();
            (said.join(" ").contains("codec gzip"), plot.table)
        })
    };
    for (says, table) in of_forms(&record) {
        assert!(!says && !table.columns.contains(&"form".to_owned()), "{table:?}");
    }
    for cell in &mut record.run.cells {
        let (name, value) = ("codec".to_owned(), "gzip".to_owned());
        cell.axes.push(record::AxisWords { name, value, unit: String::new() });
    }
    let [percentiles, heatmap, over_time] = of_forms(&record);
    assert!(percentiles.0 && heatmap.0 && over_time.0);
    let table = percentiles.1;
    let form = table.columns.iter().position(|name| name == "form").unwrap();
    assert!(!table.rows.is_empty() && table.rows.iter().all(|row| row[form] == "codec gzip"), "{table:?}");
}

#[test]
fn every_depth_is_written_where_there_is_room() {
    let (record, seconds) = made(&Made { stores: &STORES[..1], ..Made::USUAL });
    let plot = plot(&record, &seconds, "tradeoff").unwrap();
    let words: Vec<String> = words(&plot.svg).into_iter().map(|one| one.words).collect();
    for depth in ["1", "4", "16", "64", "256"] {
        assert!(words.contains(&depth.to_owned()), "{depth} of {words:?}");
    }
}

#[test]
fn the_need_is_shown_once_among_the_demands() {
    let (record, seconds) = made(&Made::USUAL);
    let plot = plot(&record, &seconds, "roofline").unwrap();
    let words: Vec<String> = words(&plot.svg).into_iter().map(|one| one.words).collect();
    let has = |wanted: &str| words.iter().any(|words| words == wanted);
    assert!(has("unet3d") && has("cosmoflow") && !has("resnet50"), "{words:?}");
    assert!(words.iter().any(|words| words.starts_with("need: 8 x h100 resnet50")), "{words:?}");
}

#[test]
fn a_picture_has_twice_the_pixels_and_both_themes() {
    let (record, seconds) = made(&Made { stores: &STORES[..1], ..Made::USUAL });
    let plot = plot(&record, &seconds, "heatmap").unwrap();
    let (light, dark) = (png(&plot.svg, false).unwrap(), png(&plot.svg, true).unwrap());
    assert!(light != dark && light == png(&plot.svg, false).unwrap());
    assert!(light.starts_with(b"\x89PNG"));
    assert_eq!(u32::from_be_bytes(light[16..20].try_into().unwrap()), 2_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn odd_storages_make_whole_plots(
        latency in 1.0..9.0_f64,
        top in 2.0..13.0_f64,
        tail in 1.0..1e4_f64,
        depths in prop::sample::subsequence(vec![1_u32, 2, 7, 64, 4_096], 1..5),
        sizes in prop::sample::subsequence(vec![1_u64, 512, 1_000_000, 1 << 40], 1..4),
        shape in (1..5_u32, 1..8_u32, 1..3_000_u64),
    ) {
        let store = Store { latency_ns: 10_f64.powf(latency), top_bps: 10_f64.powf(top), tail, ..STORES[0] };
        let other = Store { latency_ns: store.latency_ns * 1e3, ..STORES[1] };
        let (reps, seconds, ops_max) = shape;
        let of = Made { stores: &[store, other], depths: &depths, sizes: &sizes, reps, seconds, ops_max, seed: 0 };
        let (record, kept) = made(&of);
        for plot in rendered(&record, &kept) {
            assert_whole(&plot);
        }
    }
}

#[test]
fn a_plot_of_writes_speaks_of_writes() {
    let (mut record, seconds) = made(&Made { stores: &STORES[..1], ..Made::USUAL });
    record.run.need.writes = true;
    for cell in &mut record.run.cells {
        cell.operation = "write".into();
    }
    for (name, said) in [("throughput", "below the line: writes are"), ("tradeoff", "left of it writes are")]
    {
        let plot = plot(&record, &seconds, name).unwrap();
        let words = words(&plot.svg).into_iter().map(|one| one.words).collect::<Vec<_>>().join(" ");
        assert!(words.contains(said) && !words.contains("accelerators starve"), "{words}");
        assert!(!words.contains("reads outstanding"), "{words}");
    }
}
