//! How fast samples are decoded: `cargo bench -p decode`. Rates are of the encoded bytes.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use decode::{Decoder, StandIn};
use plan::Work;

/// The mean sample of ImageNet.
const SAMPLE_BYTES: u64 = 114_660;

fn work(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decode");
    for work in [Work::Checksum, Work::Copy, Work::Gzip, Work::Zstd, Work::Jpeg, Work::Png] {
        let bytes = StandIn::new(work, SAMPLE_BYTES, 1)
            .map_or_else(|| vec![7; SAMPLE_BYTES as usize], |stand_in| stand_in.bytes().to_vec());
        let mut decoder = Decoder::new(work, None);
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(work.name(), |bencher| {
            bencher.iter(|| decoder.decode(&bytes));
        });
    }
    group.finish();
}

criterion_group!(benches, work);
criterion_main!(benches);
