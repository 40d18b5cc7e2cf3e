//! How samples lie in files, and what goes with it.

use std::fmt::Write as _;

use feed::Access;
use plan::{Cache, Codec, DatasetSpec, Layout, Operation, Packing, Plan};

use crate::machine::{held, resolve, with};

fn planned(lines: &str) -> Plan {
    let text = if lines.contains("sample_size =") { held(lines) } else { with(lines) };
    resolve(&text).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn packing(plan: &Plan, dataset: usize) -> Packing {
    let DatasetSpec::Generate(plan::Generate { packing: Some(packing), .. }) = plan.datasets[dataset] else {
        panic!("{:?}", plan.datasets[dataset])
    };
    packing
}

#[test]
fn a_packed_dataset_has_careful_defaults() {
    let plan = planned("dataset = { layout = \"webdataset\" }");
    let expected = Packing {
        layout: Layout::WebDataset,
        shard_bytes: 256 << 20,
        members: 2,
        codec: Codec::None,
        columns: 1,
        columns_read: 1,
        row_group_bytes: 256 << 20,
    };
    assert_eq!(packing(&plan, 0), expected);
    let plan = planned("dataset = { layout = \"parquet\", size = \"1 GiB\" }");
    let parquet = packing(&plan, 0);
    assert_eq!((parquet.columns, parquet.columns_read, parquet.row_group_bytes), (4, 4, 64 << 20));
}

#[test]
fn a_shard_is_by_default_at_most_the_dataset_and_a_row_group_at_most_a_shard() {
    let plan = planned("dataset = { layout = \"parquet\", sample_size = \"1 MiB\", samples = 3 }");
    assert_eq!((packing(&plan, 0).shard_bytes, packing(&plan, 0).row_group_bytes), (3 << 20, 3 << 20));
}

#[test]
fn layouts_and_sample_sizes_are_a_product() {
    let plan = planned(
        "dataset = { layout = [\"files\", \"webdataset\", \"records\"], sample_size = [\"64 KiB\", \"1 MiB\"] }",
    );
    assert_eq!((plan.datasets.len(), plan.cells.len() % 6), (6, 0));
    let layouts: Vec<_> = plan
        .cells
        .iter()
        .map(|cell| {
            let axis = cell.axes.iter().find(|axis| axis.name == "layout").unwrap();
            assert!(cell.slug.contains(&format!("/{}/", axis.value)), "{}", cell.slug);
            axis.value.clone()
        })
        .collect();
    for layout in ["files", "webdataset", "records"] {
        assert_eq!(layouts.iter().filter(|found| *found == layout).count() * 3, layouts.len());
    }
}

#[test]
fn one_layout_of_files_is_not_said() {
    let (plain, named) = (planned(""), planned("dataset.layout = \"files\""));
    assert_eq!(plain.cells, named.cells);
    assert!(plain.cells[0].axes.iter().all(|axis| axis.name != "layout"));
}

#[test]
fn order_blocks_and_cache_follow_the_layout() {
    let of = |lines: &str| {
        let cell = planned(lines).cells.swap_remove(0);
        (cell.access.order(), cell.cache, cell.block_bytes)
    };
    let by_index = Access::ShuffledEpoch;
    let streamed = Access::ShuffledShards;
    assert_eq!(of(""), (by_index, Cache::Bypass, 114_688));
    assert_eq!(of("dataset.layout = \"webdataset\""), (streamed, Cache::Bypass, 1 << 20));
    assert_eq!(of("dataset.layout = \"tfrecord\""), (streamed, Cache::Bypass, 1 << 20));
    assert_eq!(of("dataset.layout = \"parquet\""), (by_index, Cache::Cold, 1 << 20));
    assert_eq!(of("dataset.layout = \"indexed\""), (by_index, Cache::Bypass, 114_688));
    assert_eq!(of("dataset.layout = \"records\""), (by_index, Cache::Cold, 114_688));
    assert_eq!(of("dataset.layout = \"zarr\""), (by_index, Cache::Cold, 114_688));
    assert_eq!(of("dataset.layout = \"hdf5\""), (by_index, Cache::Cold, 114_688));
    // Packing may make a chunk larger than its sample, and puts it anywhere.
    assert_eq!(of("dataset = { layout = \"hdf5\", codec = \"gzip\" }"), (by_index, Cache::Cold, 118_784));
    let pages = "dataset = { layout = \"hdf5\", sample_size = \"8 KiB\" }";
    assert_eq!(of(pages), (by_index, Cache::Bypass, 8192));
    let pages = "dataset = { layout = \"records\", sample_size = \"8 KiB\" }";
    assert_eq!(of(pages), (by_index, Cache::Bypass, 8192));
    let one_by_one = "dataset.layout = \"webdataset\"\nload.access = \"random\"";
    assert_eq!(of(one_by_one), (Access::Random, Cache::Cold, 118_784));
    let sequential = "dataset.layout = \"parquet\"\nload.access = \"sequential\"";
    assert_eq!(of(sequential), (Access::Sequential, Cache::Bypass, 1 << 20));
}

#[test]
fn a_training_job_reads_the_samples_of_shards_and_whole_files() {
    let job = "load.mode = \"training\"";
    assert_eq!(planned(job).cells[0].operation(), Operation::ReadFile);
    let shards = planned(&format!("{job}\ndataset.layout = \"records\""));
    assert_eq!(shards.cells[0].operation(), Operation::Read);
}

#[test]
fn the_users_layout_is_as_stated_or_found_unless_a_sample_size_says_that_files_are_read() {
    let existing = |keys: &str| {
        let plan = planned(&format!("dataset = {{ source = \"existing\"{keys} }}"));
        match plan.datasets.into_iter().next() {
            Some(DatasetSpec::Existing(existing)) => existing,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(existing("").layout, None);
    assert_eq!(existing(", sample_size = \"1 MiB\"").layout, Some(Layout::Files));
    let named =
        existing(", layout = \"parquet\", columns = [\"image\", \"label\"], shards = \"a/{0..3}.parquet\"");
    assert_eq!(named.layout, Some(Layout::Parquet));
    assert_eq!(named.columns, ["image", "label"]);
    assert_eq!(named.shards.as_deref(), Some("a/{0..3}.parquet"));
}

#[test]
fn compressibility_is_of_any_layout() {
    for layout in ["files", "webdataset"] {
        let plan = planned(&format!("dataset = {{ layout = \"{layout}\", compressibility = \"50 %\" }}"));
        let DatasetSpec::Generate(generate) = plan.datasets[0] else { panic!("{:?}", plan.datasets) };
        assert_eq!(generate.compressible_percent, 50);
    }
    assert_eq!(planned("").datasets, planned("dataset.compressibility = \"0 %\"").datasets);
}

#[test]
fn what_means_nothing_in_a_layout_is_refused() {
    let mut shown = String::new();
    for lines in [
        "dataset.shard_size = \"64 MiB\"",
        "dataset = { layout = \"tfrecord\", members = 2 }",
        "dataset = { layout = [\"files\", \"records\"], codec = \"gzip\", columns = 2 }",
        "dataset = { layout = [\"webdataset\", \"tfrecord\"], codec = \"zstd\" }",
        "dataset = { layout = \"zarr\", files_per_folder = 10 }",
        "dataset = { layout = [\"files\", \"ffcv\"] }",
        "dataset = { layout = [\"webdataset\", \"hdf5\"], codec = \"zstd\" }",
        "dataset = { layout = \"hdf5\", codec = \"lzf\" }",
        "dataset = { layout = \"hdf5\", distribution = \"lognormal\", sample_size_stdev = \"50 kB\" }",
        "dataset = { layout = \"hdf5\", columns = 2 }",
        "dataset = { layout = \"hdf5\", sample_size = \"5 GB\", size = \"10 GB\" }",
        "dataset = { layout = \"hdf5\", codec = \"gzip\" }\nload.cache = \"bypass\"",
        "dataset.layout = \"hdf5\"\nload.cache = \"bypass\"",
        "dataset = { layout = \"webdataset\", members = 9, codec = \"lzma\" }",
        "dataset = { layout = \"parquet\", columns = 2, read_columns = 3 }",
        "dataset = { layout = \"parquet\", columns = [\"a\"] }",
        "dataset = { layout = \"parquet\", shard_size = \"16 MiB\", row_group_size = \"32 MiB\" }",
        "dataset = { layout = \"records\", samples = 10, sample_size = \"1 MiB\", shard_size = \"16 MiB\" }",
        "dataset = { layout = \"tar\", shards = \"*.tar\" }",
        "dataset = { compressibility = \"12.5 %\" }",
        "dataset = { compressibility = \"101 %\" }",
        "dataset = { compressibility = 0.5 }",
        "dataset = { layout = \"zarr\", distribution = \"lognormal\", sample_size_stdev = \"50 kB\" }",
        "dataset = { shards = \"*.tar\" }",
        "dataset = { source = \"existing\", layout = [\"files\", \"webdataset\"] }",
        "dataset = { source = \"existing\", layout = \"webdataset\", members = 2, columns = [\"a\"] }",
        "dataset = { source = \"existing\", columns = 2 }",
        "dataset = { source = \"existing\", shard_size = \"1 GiB\", compressibility = \"50 %\" }",
        "dataset = { layout = \"webdataset\", codec = \"gzip\" }\nload.access = \"shuffled_epoch\"",
        "dataset.layout = \"webdataset\"\nload = { access = \"random\", cache = \"bypass\" }",
        "dataset.layout = \"records\"\nload.cache = [\"cold\", \"bypass\"]",
        "dataset.layout = \"parquet\"\ntargets.b = { at = \"/mnt/b\", direct = true }",
        "dataset.layout = [\"files\", \"webdataset\"]\nload.operation = [\"read\", \"read_file\", \"stat\"]",
    ] {
        let refused = match resolve(&with(lines)) {
            Ok(plan) => panic!("accepted with {} cells: {lines}", plan.cells.len()),
            Err(diagnostics) => diagnostics.to_string(),
        };
        writeln!(shown, "{refused}\n{}\n", "-".repeat(60)).unwrap();
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_device_has_no_layout() {
    let text = with("dataset = { source = \"existing\", layout = \"records\", shards = \"*\" }");
    let refused = resolve(&text.replace("/mnt/bench", "/dev/sda")).unwrap_err();
    assert_eq!(refused.len(), 2, "{refused}");
}

#[test]
fn behind_a_network_single_samples_of_any_layout_are_read() {
    let text = with("dataset.layout = \"webdataset\"\nload.access = \"random\"");
    let plan = resolve(&text.replace("/mnt/bench", "s3://train/bench")).unwrap();
    assert!(plan.cells.iter().all(|cell| cell.cache == Cache::Bypass));
}

#[test]
fn one_block_size_for_shards_reads_a_smaller_file_at_once() {
    let plan = planned(
        "dataset = { layout = [\"files\", \"tfrecord\"], sample_size = \"130 kB\", size = \"1 GB\" }\n\
         load = { block_size = \"8 MiB\", queue_depth = 1 }",
    );
    let blocks: Vec<u32> = plan.cells.iter().map(|cell| cell.block_bytes).collect();
    assert_eq!(blocks, [131_072, 8 << 20]);
}

#[test]
fn copies_of_several_layouts_are_cells_of_their_own_and_files_alone_are_packed() {
    let copies = |lines: &str| {
        let beside = "targets.u = { at = \"/mnt/u\" }\n";
        let plan = planned(&format!("{lines}\n{beside}"));
        let copies = plan.cells.into_iter().filter(|cell| cell.operation() == Operation::Copy);
        copies.map(|cell| cell.slug).collect::<Vec<_>>()
    };
    let both = "dataset = { layout = [\"files\", \"webdataset\"], samples = 600 }";
    let names = copies(&format!("{both}\ncopy = {{ from = \"data\", to = \"u\" }}"));
    assert!(names.len() == 2 && names[0] != names[1], "{names:?}");
    let names = copies(&format!("{both}\ncopy = {{ from = \"data\", to = \"u\", pack = \"webdataset\" }}"));
    assert_eq!(names.len(), 1, "{names:?}");
    let packed = "dataset = { layout = \"webdataset\", samples = 600 }\ntargets.u = { at = \"/mnt/u\" }\n\
                  copy = { from = \"data\", to = \"u\", pack = \"webdataset\" }";
    let refused = resolve(&with(packed)).unwrap_err().to_string();
    assert!(refused.contains("these samples are packed already"), "{refused}");
}
