//! What fuzzers found worth keeping: every committed input once more, without a fuzzer.
//!
//! Shards and compressed ones whose checksums no fuzzer could have guessed end there; `fuzz/run`, which takes any, begins with them.

use std::path::Path;

/// Gives each seed of `target` to it. Whatever panics says at which seed.
fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let mut seeds: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{}", folder.display());
    for seed in seeds {
        println!("{}", seed.display());
        run(&std::fs::read(&seed).unwrap());
    }
}

#[test]
fn seeds_of_services_of_blobs_are_answered() {
    replay("azure", fuzz::azure);
}

#[test]
fn seeds_of_filers_are_answered() {
    replay("nfs", fuzz::nfs);
}

#[test]
fn seeds_of_compressed_shards_are_counted_or_refused() {
    replay("packed", fuzz::packed);
}

#[test]
fn seeds_of_records_are_read_and_rendered_or_refused() {
    replay("record", fuzz::record);
}

#[test]
fn seeds_of_object_storages_are_answered() {
    replay("s3", fuzz::s3);
}

#[test]
fn seeds_of_scenarios_are_read_or_refused() {
    replay("scenario", fuzz::scenario);
}

#[test]
fn seeds_of_shards_are_indexed_or_refused() {
    replay("shards", fuzz::shards);
}
