use record::{AxisWords, Claim, Dataset, Expect, ExpectFigures, ExpectTarget, Mixing};

use crate::fixture::{Builder, rep};
use crate::{Layouts, OrderFact, summarise};

fn payload(bytes: u64) -> AxisWords {
    AxisWords { name: "sample_size".to_owned(), value: bytes.to_string(), unit: "B".to_owned() }
}

/// Files of 100 kB at 200 MB/s, and shards of a thousand of them, of 104 kB each, at 1.04 GB/s.
fn both() -> Builder {
    let mut builder = Builder::new();
    let files = builder.run.datasets[0].clone();
    builder.run.datasets.push(Dataset {
        files: 10,
        bytes: 1_040_000_000,
        sample_bytes: 104_000.0,
        layout: "tfrecord".to_owned(),
        samples: Some(10_000),
        ..files
    });
    for (name, dataset, bps) in [("files", 0, 200e6), ("shards", 1, 1.04e9)] {
        builder.cell(name, "disk", 8);
        builder.edit_cell(name, |cell| {
            cell.dataset = dataset;
            cell.axes.push(payload(100_000));
        });
        for number in 0..3 {
            builder.push(rep(name, number, bps));
        }
    }
    builder.edit_cell("shards", |cell| cell.access = "shuffled_shards".into());
    builder
}

fn found(builder: &Builder) -> Layouts {
    summarise(&builder.record()).layouts
}

fn claim(first_byte_s: Option<f64>) -> Expect {
    let figures = ExpectFigures { first_byte_s, connection_bps: Some(100e6), ..ExpectFigures::default() };
    Expect {
        claim: Some(Claim { words: "fast".to_owned(), source: None, figures }),
        targets: vec![ExpectTarget {
            target: "disk".to_owned(),
            prefixes: 1,
            one_at_a_time: true,
            lookups_per_file: 0,
            in_parts: false,
            emulated: None,
        }],
    }
}

#[test]
fn a_run_of_files_alone_says_nothing_of_layouts() {
    let mut builder = both();
    builder.run.datasets[1].layout = "files".to_owned();
    assert_eq!(found(&builder), Layouts::default());
}

#[test]
fn overhead_is_what_is_stored_beyond_the_payload() {
    let layouts = found(&both());
    let overheads: Vec<f64> = layouts.datasets.iter().filter_map(|one| one.overhead).collect();
    assert!(overheads[0].abs() < 1e-12 && (overheads[1] - 0.04).abs() < 1e-12, "{overheads:?}");
}

#[test]
fn the_gain_is_in_samples_at_the_same_depth() {
    let layouts = found(&both());
    assert_eq!(layouts.gains.len(), 1);
    assert!((layouts.gains[0].gain - 5.0).abs() < 1e-9 && layouts.gains[0].predicted.is_none());
    let mut deeper = both();
    deeper.edit_cell("shards", |cell| cell.queue_depth = 16);
    assert!(found(&deeper).gains.is_empty());
}

#[test]
fn samples_of_another_payload_and_reads_from_memory_are_not_held_against_files() {
    let mut other = both();
    other.edit_cell("shards", |cell| cell.axes = vec![payload(50_000)]);
    assert!(found(&other).gains.is_empty());
    let mut warm = both();
    warm.edit_cell("files", |cell| cell.cache = "warm".into());
    assert!(found(&warm).gains.is_empty());
    let mut later = both();
    later.edit_cell("files", |cell| cell.cache = "cold".into());
    assert_eq!(found(&later).gains.len(), 1, "direct and evicted reads both reach storage");
    later.edit_cell("files", |cell| cell.cache = "cold_start".into());
    assert!(found(&later).gains.is_empty(), "later passes of the one may come from memory");
}

#[test]
fn data_that_were_there_before_are_alike_by_their_number_of_samples() {
    let mut existing = both();
    for name in ["files", "shards"] {
        existing.edit_cell(name, |cell| cell.axes.clear());
    }
    assert_eq!(found(&existing).gains.len(), 1);
    existing.run.datasets[1].samples = Some(9_999);
    assert!(found(&existing).gains.is_empty());
}

#[test]
fn f18_is_given_where_latency_and_rate_are_known() {
    let mut builder = both();
    builder.run.expect = Some(claim(Some(0.010)));
    // A block holds one sample of 100 kB of the 104 kB stored: no request brings more than one.
    let predicted = found(&builder).gains[0].predicted.unwrap();
    assert!((predicted.gain - 1.0).abs() < 1e-9 && predicted.of_claim, "{predicted:?}");
    builder.edit_cell("shards", |cell| cell.block_bytes = 4_160_000);
    builder.edit_reps("shards", |rep| {
        rep.counters.insert("ops".to_owned(), 250);
    });
    let predicted = found(&builder).gains[0].predicted.unwrap();
    assert!((predicted.samples_per_request - 40.0).abs() < 1e-9, "{predicted:?}");
    assert!((predicted.gain - 0.011 / (0.010 / 40.0 + 0.001)).abs() < 1e-9);
    builder.run.expect = Some(claim(None));
    assert!(found(&builder).gains[0].predicted.is_none());
}

#[test]
fn the_order_of_streams_is_told_and_a_damaged_one_is_not() {
    let mut builder = both();
    let mixing = Mixing { buffer_samples: 800, displacement: 0.5, neighbours_kept: 0.25, imbalance: 0.0 };
    builder.edit_cell("shards", |cell| {
        (cell.streams, cell.shuffle_buffer, cell.mixing) = (Some(8), Some(100), Some(mixing));
    });
    let side_by_side = OrderFact::SideBySide { shards: 8, asked: None, buffer_samples: 100 };
    assert_eq!(found(&builder).streamed[0].order, [side_by_side, OrderFact::Mixed(mixing)]);
    builder.edit_cell("shards", |cell| {
        cell.mixing = Some(Mixing { displacement: f64::NAN, ..mixing });
    });
    assert_eq!(found(&builder).streamed[0].order.len(), 1);
}

#[test]
fn no_more_shards_are_said_to_be_read_side_by_side_than_there_are() {
    let mut builder = both();
    builder.edit_cell("shards", |cell| cell.streams = Some(16));
    let side_by_side = OrderFact::SideBySide { shards: 10, asked: Some(16), buffer_samples: 0 };
    assert_eq!(found(&builder).streamed[0].order, [side_by_side]);
}
