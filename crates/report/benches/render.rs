//! From a run of a thousand cells to its summary, its plots and its page: `cargo bench -p report`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use report::{Page, Screen};

mod support;

fn render(criterion: &mut Criterion) {
    let record = support::run(1_000, 5);
    let dir = tempfile::tempdir().expect("a folder for temporary files");
    support::write(dir.path(), &record, 0).expect("there is room for the run");
    let summary = analysis::summarise(&record);
    let plots = report::plots(&summary, &[]).expect("the run has plots");
    let page =
        || Page { summary: &summary, plots: &plots, scenario: "version = 1", environment: &record.env };
    let mut group = criterion.benchmark_group("1,000 cells x 5");
    group.sample_size(10);
    group.bench_function("disk to page", |bencher| {
        bencher.iter(|| {
            let record = record::read_run(black_box(dir.path())).expect("the run can be read");
            let summary = analysis::summarise(&record);
            let plots = report::plots(&summary, &[]).expect("the run has plots");
            let environment = &record.env;
            report::html(&[Page { summary: &summary, plots: &plots, scenario: "version = 1", environment }])
        });
    });
    group.bench_function("summarise", |bencher| {
        bencher.iter(|| analysis::summarise(black_box(&record)));
    });
    group.bench_function("plots", |bencher| {
        bencher.iter(|| report::plots(black_box(&summary), &[]).expect("the run has plots"));
    });
    group.bench_function("html", |bencher| bencher.iter(|| report::html(black_box(&[page()]))));
    group.bench_function("terminal", |bencher| {
        bencher.iter(|| report::terminal(black_box(&summary), Screen::PLAIN));
    });
    group.bench_function("markdown", |bencher| bencher.iter(|| report::markdown(black_box(&summary))));
    group.finish();
}

criterion_group!(benches, render);
criterion_main!(benches);
