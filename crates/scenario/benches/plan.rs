//! How long a scenario takes to become a plan: `cargo bench -p scenario`.

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use scenario::{HostFacts, PathFacts, Source};

fn host(at: &str) -> HostFacts {
    let path = PathFacts {
        exists: true,
        directory: true,
        writable: true,
        file_system: "ext4".to_owned(),
        in_memory: false,
        free_bytes: Some(1 << 50),
        direct_align_bytes: Some(512),
        block_device_bytes: None,
        dontcache: true,
        problem: None,
    };
    HostFacts {
        cores: 16,
        memory_bytes: 64 << 30,
        cache_bytes: Some(32 << 20),
        open_files_max: 1 << 20,
        io_uring: Ok(()),
        order: None,
        paths: BTreeMap::from([(at.to_owned(), path)]),
    }
}

fn plan(criterion: &mut Criterion) {
    let quickstart = include_str!("../../../scenarios/quickstart.toml").to_owned();
    let million = r#"version = 1
need = "8xh100:resnet50"
dataset = { samples = 1000000, sample_size = "114660 B" }
targets.disk = { at = "feedline-data" }
"#;
    let depths: Vec<String> = (1..=1000).map(|depth| depth.to_string()).collect();
    let cells = format!(
        "{million}load = {{ queue_depth = [{}], access = [\"random\", \"sequential\"] }}\n",
        depths.join(", ")
    );
    let host = host("feedline-data");
    for (name, text) in
        [("quickstart", quickstart), ("a million files", million.to_owned()), ("2,000 cells", cells)]
    {
        let source = Source { name: "bench.toml".to_owned(), text };
        criterion.bench_function(&format!("parse and resolve {name}"), |bencher| {
            bencher.iter(|| {
                let scenario = scenario::parse(black_box(&source), &[]);
                scenario::resolve(&scenario, &host).expect("the scenario resolves")
            });
        });
    }
}

criterion_group!(benches, plan);
criterion_main!(benches);
