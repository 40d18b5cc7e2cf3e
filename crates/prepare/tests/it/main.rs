//! The life of a dataset: written, interrupted, reused, changed, removed.

#![expect(clippy::unwrap_used, reason = "a test panics at whatever goes wrong")]

mod checkpoints;
mod clean;
mod existing;
mod files;
mod generate;
mod lease;
mod memory;
mod packed;
mod shards;
mod storage;

use std::sync::atomic::AtomicBool;

use backend::Store;
use dataset::Objects;
use plan::{DatasetSpec, Distribution, FILES_PER_FOLDER};
use prepare::{PrepareError, Prepared};

/// 5 samples of 1000 B in one folder.
const SPEC: DatasetSpec = DatasetSpec::Generate(plan::Generate {
    samples: 5,
    sample_bytes: 1000,
    distribution: Distribution::Fixed,
    files_per_folder: FILES_PER_FOLDER,
    seed: 7,
    ..plan::Generate::NONE
});

/// [`SPEC`], allowed among files of others.
const BESIDE_OTHERS: DatasetSpec = match SPEC {
    DatasetSpec::Generate(spec) => DatasetSpec::Generate(plan::Generate { beside_others: true, ..spec }),
    DatasetSpec::Existing(_) => unreachable!(),
};

const SPEC_BYTES: u64 = 5 * 1000;

/// 9 samples of about 1000 B in three folders.
const SPREAD: DatasetSpec = DatasetSpec::Generate(plan::Generate {
    samples: 9,
    sample_bytes: 1000,
    distribution: Distribution::LogNormal { stdev_bytes: 600 },
    files_per_folder: 4,
    seed: 7,
    ..plan::Generate::NONE
});

/// The folder of [`SPEC`].
fn folder() -> String {
    prepare::identify(&SPEC).expect("it can be generated").to_string()
}

fn objects(spec: &DatasetSpec) -> Objects {
    let folder = prepare::identify(spec).expect("it can be generated");
    Objects::generated(folder, spec).expect("it can be generated")
}

fn prepare_with(store: &dyn Store, spec: &DatasetSpec, threads: u32) -> Result<Prepared, PrepareError> {
    prepare::prepare(store, spec, threads, &|_, _| {}, &AtomicBool::new(false))
}

fn prepare(store: &dyn Store) -> Result<Prepared, PrepareError> {
    prepare_with(store, &SPEC, 2)
}

/// Reads every object and compares it with what the seed says.
fn assert_content(store: &dyn Store, prepared: &Prepared) {
    for object in 0..prepared.data.objects().count() {
        let mut data = vec![0; prepared.data.objects().bytes(object) as usize];
        let length = store.read_at(&prepared.data.objects().key(object), 0, &mut data).unwrap();
        assert_eq!(length, data.len());
        assert_eq!(prepared.data.verify(object, 0, &data), Ok(true));
    }
}

/// Nothing lies on the null target, so nothing that is read from it is what was written.
#[test]
fn data_that_lie_nowhere_are_held_against_nothing() {
    let packed = |layout| {
        let packing = plan::Packing {
            layout,
            shard_bytes: 1 << 20,
            members: 1,
            codec: plan::Codec::None,
            columns: 1,
            columns_read: 1,
            row_group_bytes: 1 << 20,
        };
        DatasetSpec::Generate(plan::Generate {
            samples: 20,
            sample_bytes: 4096,
            packing: Some(packing),
            ..plan::Generate::NONE
        })
    };
    for spec in [SPEC, packed(plan::Layout::Indexed), packed(plan::Layout::TfRecord)] {
        let imagined = Prepared::imagined(&spec).unwrap();
        assert!(!imagined.data.is_checked() && imagined.data.sample_count() > 0);
    }
}
