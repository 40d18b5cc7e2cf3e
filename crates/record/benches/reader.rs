//! How fast a record becomes memory, and a histogram figures: `cargo bench -p record`.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use record::{CELLS_FILE, ENV_FILE, Line, RUN_FILE};

/// Times that the repetitions of the curated quick start are written one after another: as large as a thousand cells by
/// five.
const TIMES: usize = 60;

fn reader(criterion: &mut Criterion) {
    let quickstart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/quickstart");
    let dir = std::env::temp_dir().join(format!("feedline-reader-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("a folder for temporary files");
    for name in [RUN_FILE, ENV_FILE] {
        fs::copy(quickstart.join(name), dir.join(name)).expect("the curated record is there");
    }
    let lines = fs::read_to_string(quickstart.join(CELLS_FILE)).expect("the curated record is there");
    let lines = lines.repeat(TIMES);
    fs::write(dir.join(CELLS_FILE), &lines).expect("there is room for the lines");

    let mut group = criterion.benchmark_group("record");
    group.sample_size(20).throughput(Throughput::Bytes(lines.len() as u64));
    group.bench_function("read_run", |bencher| {
        bencher.iter(|| record::read_run(black_box(&dir)).expect("the record can be read"));
    });
    let record = record::read_run(&dir).expect("the record can be read");
    let texts = record.lines.iter().filter_map(|line| match line {
        Line::Rep(rep) => rep.histograms.get("service_ns"),
        _ => None,
    });
    let texts: Vec<_> = texts.take(1_000).collect();
    group.throughput(Throughput::Elements(texts.len() as u64));
    group.bench_function("decode", |bencher| {
        bencher.iter(|| {
            texts.iter().map(|text| text.decode().map_or(0, |histogram| histogram.len())).sum::<u64>()
        });
    });
    group.finish();
    // What is left behind in a folder for temporary files harms nobody.
    let _ = fs::remove_dir_all(&dir);
}

criterion_group!(benches, reader);
criterion_main!(benches);
