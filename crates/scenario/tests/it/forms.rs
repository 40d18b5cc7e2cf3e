//! Lists of what sets datasets of one layout and sample size apart: shard sizes, members, codecs, compressibility.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use plan::{DatasetSpec, Operation, Plan};

use crate::machine::{resolve, with};

fn planned(lines: &str) -> Plan {
    resolve(&with(lines)).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

/// A scenario of tar shards of eight reads at once, with more keys of its dataset.
fn shards(keys: &str) -> String {
    format!(
        "load.queue_depth = 8\ndataset = {{ size = \"1 GiB\", layout = \"webdataset\"{}{keys} }}",
        if keys.is_empty() { "" } else { ", " }
    )
}

/// Each key with two of its values, and what each is called in the name of a cell.
const KEYS: [(&str, [&str; 2], [&str; 2]); 4] = [
    ("shard_size", ["\"64 MiB\"", "\"200 MB\""], ["shards-64MiB", "shards-200000000B"]),
    ("members", ["1", "3"], ["members-1", "members-3"]),
    ("codec", ["\"none\"", "\"zstd\""], ["codec-none", "codec-zstd"]),
    ("compressibility", ["\"0 %\"", "\"50 %\""], ["compressible-0%", "compressible-50%"]),
];

#[test]
fn every_list_multiplies() {
    let plan = planned(&shards(
        "shard_size = [\"64 MiB\", \"128 MiB\"], members = [1, 2], codec = [\"none\", \"gzip\"], \
         compressibility = [\"0 %\", \"50 %\"]",
    ));
    let mut shown = String::new();
    plan.datasets.iter().for_each(|dataset| writeln!(shown, "{dataset:?}").unwrap());
    for cell in &plan.cells {
        let axes = cell.axes.iter().map(|axis| format!("{}={}{}", axis.name, axis.value, axis.unit));
        writeln!(shown, "{} d{}\n  {}", cell.slug, cell.dataset, axes.collect::<Vec<_>>().join(" ")).unwrap();
    }
    insta::assert_snapshot!(shown);
}

/// Names of folders and plan hashes follow from a dataset and a cell, which therefore must stay as they were.
#[test]
fn one_value_is_what_it_was_before_there_were_lists() {
    for (key, values, _) in KEYS {
        for value in values {
            let alone = planned(&shards(&format!("{key} = {value}")));
            let listed = planned(&shards(&format!("{key} = [{value}]")));
            assert_eq!((&alone.datasets, &alone.cells), (&listed.datasets, &listed.cells), "{key} = {value}");
            assert_eq!(alone.cells[0].slug, planned(&shards("")).cells[0].slug, "{key} = {value} is unsaid");
        }
    }
}

#[test]
fn each_value_of_a_list_is_the_dataset_that_it_is_alone_and_says_its_name() {
    for (key, values, words) in KEYS {
        let both = planned(&shards(&format!("{key} = [{}]", values.join(", "))));
        assert_eq!((both.datasets.len(), both.cells.len()), (2, 2), "{key}");
        for (index, (value, word)) in values.iter().zip(words).enumerate() {
            let alone = planned(&shards(&format!("{key} = {value}")));
            assert_eq!(both.datasets[index], alone.datasets[0], "{key} = {value}");
            let cell = &both.cells[index];
            assert_eq!(cell.dataset, index);
            assert!(cell.slug.split('/').any(|part| part == word), "{} has no {word}", cell.slug);
            assert!(cell.axes.iter().any(|axis| axis.name == key), "{:?}", cell.axes);
            let rest: Vec<&str> = cell.slug.split('/').filter(|part| *part != word).collect();
            assert_eq!(rest.join("/"), alone.cells[0].slug, "nothing else of the name changes");
        }
    }
}

#[test]
fn a_layout_without_shards_has_one_dataset_beside_the_lists_of_others() {
    let plan = planned(
        "load.queue_depth = 8\n\
         dataset = { size = \"1 GiB\", layout = [\"files\", \"webdataset\", \"tfrecord\"], \
         shard_size = [\"64 MiB\", \"128 MiB\"], members = [1, 2] }",
    );
    let layouts = plan.datasets.iter().map(|dataset| match dataset {
        DatasetSpec::Generate(generate) => generate.packing.map_or("files", |of| of.layout.name()),
        DatasetSpec::Existing(existing) => panic!("{existing:?}"),
    });
    let layouts: Vec<&str> = layouts.collect();
    let expected = [&["files"][..], &["webdataset"; 4], &["tfrecord"; 2]].concat();
    assert_eq!(layouts, expected);
    let names: BTreeSet<&str> = plan.cells.iter().map(|cell| cell.slug.as_str()).collect();
    assert_eq!((plan.cells.len(), names.len()), (7, 7));
}

#[test]
fn copies_of_several_forms_are_cells_of_their_own() {
    let plan = planned(&format!(
        "{}\ntargets.u = {{ at = \"/mnt/u\" }}\ncopy = {{ from = \"data\", to = \"u\" }}",
        shards("shard_size = [\"64 MiB\", \"128 MiB\"], codec = [\"none\", \"gzip\"]")
    ));
    let copies = plan.cells.iter().filter(|cell| cell.operation() == Operation::Copy);
    let names: BTreeSet<&str> = copies.map(|cell| cell.slug.as_str()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn what_cannot_be_is_refused_by_its_name() {
    let mut shown = String::new();
    for lines in [
        shards("shard_size = [\"64 MiB\", \"2 GiB\"]"),
        shards("shard_size = [\"64 MiB\", \"65536 KiB\"]"),
        shards("shard_size = [\"64 MiB\", \"1 B\", \"20 kB\"]"),
        shards("codec = [\"none\", \"gzip\", \"zstd\"]") + "\nload.access = \"shuffled_epoch\"",
        shards("members = [2, 9], compressibility = [\"50 %\", \"101 %\"]"),
        shards("codec = []"),
        "dataset.layout = [\"webdataset\", \"tfrecord\"]\ndataset.codec = [\"none\", \"zstd\"]".to_owned(),
        "dataset.layout = \"records\"\ndataset.codec = [\"none\", \"gzip\"]".to_owned(),
        "dataset.shard_size = [\"64 MiB\", \"128 MiB\"]".to_owned(),
        "dataset = { source = \"existing\", layout = \"webdataset\", codec = [\"none\", \"gzip\"] }".to_owned(),
        "dataset = { layout = \"parquet\", shard_size = [\"16 MiB\", \"64 MiB\"], row_group_size = \"32 MiB\" }"
            .to_owned(),
    ] {
        let refused = match resolve(&with(&lines)) {
            Ok(plan) => panic!("accepted with {} cells: {lines}", plan.cells.len()),
            Err(diagnostics) => diagnostics.to_string(),
        };
        writeln!(shown, "{refused}\n{}\n", "-".repeat(60)).unwrap();
    }
    insta::assert_snapshot!(shown);
}

/// A product of lists is counted before any of it is made.
#[test]
fn too_many_datasets_are_refused_with_their_sum() {
    let sizes: Vec<String> = (1..=1000).map(|number| format!("\"{number} MB\"")).collect();
    let percents: Vec<String> = (0..=100).map(|percent| format!("\"{percent} %\"")).collect();
    let lists = format!("shard_size = [{}], compressibility = [{}]", sizes.join(", "), percents.join(", "));
    let refused = resolve(&with(&shards(&lists))).unwrap_err().to_string();
    let sum =
        "1000 shard sizes x 101 shares that compress = 101,000 cells; at most 10,000 are measured in one run";
    assert!(refused.contains(sum), "{refused}");
}
