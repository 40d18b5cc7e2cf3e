//! Answers by arithmetic, and what is then measured.

use std::fs;
use std::path::Path;

use crate::harness::{Bench, Ended};

/// A bench that sees the committed records under the name that the book gives them.
fn bench() -> Bench {
    let bench = Bench::new();
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results").canonicalize().unwrap();
    std::os::unix::fs::symlink(results, bench.path("results")).unwrap();
    bench
}

fn asked(bench: &Bench, words: &str) -> Ended {
    bench.run(&[&["what-if"], &words.split_whitespace().collect::<Vec<_>>()[..]].concat())
}

/// The number before `unit` in the row of this label.
#[track_caller]
fn figure(ended: &Ended, label: &str, unit: &str) -> f64 {
    let row = ended.out.lines().find(|line| line.trim_start().starts_with(label));
    let row = row.unwrap_or_else(|| panic!("no {label} in:\n{}", ended.out));
    let before = row.split(&format!(" {unit}")).next().unwrap();
    before.split_whitespace().next_back().unwrap().parse().unwrap_or_else(|_| panic!("{row}"))
}

#[track_caller]
fn agree(expected: f64, measured: f64) {
    assert!((expected / measured - 1.0).abs() < 0.1, "{expected} and {measured}");
}

#[test]
fn answers_show_their_arithmetic() {
    let bench = bench();
    let said = |words: &str| asked(&bench, words).exits(0).out;
    insta::assert_snapshot!(
        "copy",
        said(
            "copy --dataset 166.4GB --source 0.5GB/s --copying 2GB/s --copy 7GB/s --need 8xh100:resnet50 --epochs 10"
        )
    );
    insta::assert_snapshot!("copy_of_a_record", said("copy --from results/stage-or-stream"));
    insta::assert_snapshot!(
        "cache",
        said("cache --dataset 1TB --cache 500GB --source 2GB/s --cached 10GB/s --epochs 90")
    );
    insta::assert_snapshot!(
        "checkpoint",
        said("checkpoint --parameters 70e9 --write 10GB/s --every 15m --accelerators 512 --price 3")
    );
    insta::assert_snapshot!(
        "checkpoint_of_a_record",
        said("checkpoint --from results/checkpoint --every 15m --links 8 --link 25GB/s")
    );
    insta::assert_snapshot!(
        "readers",
        said("readers --need 8xh100:resnet50 --read 4ms --decode 2ms --cores 96")
    );
    insta::assert_snapshot!("readers_of_a_record", said("readers --from results/training-throttled"));
    insta::assert_snapshot!(
        "memory",
        said(
            "memory --need 8xh100:resnet50 --readers 8 --decoded 602112B --shuffle 5000 --sample 130kB --index 50e6 \
             --entry 80B --reader-memory 1GB --memory 256GB"
        )
    );
    insta::assert_snapshot!(
        "memory_of_a_record",
        said("memory --from results/training-throttled --decoded 602112B")
    );
    insta::assert_snapshot!("codec", said("codec --source 2GB/s --ratio 5 --readers 8 --unpack 400MB/s"));
    insta::assert_snapshot!(
        "shards",
        said(
            "shards --dataset 50TB --sample 130kB --shard 1GB --ranks 256 --first-byte 30ms --stream 90MB/s"
        )
    );
    insta::assert_snapshot!("start", said("start --start 60s --epoch 125s --epochs 10"));
    insta::assert_snapshot!(
        "transfer",
        said("transfer --need h100:resnet50 --decoded 602112B --pageable 8GB/s --pinned 28GB/s")
    );
    insta::assert_snapshot!(
        "transfer_that_binds",
        said(
            "transfer --accelerators 8 --batch 4000 --step 10ms --decoded 602112B --pageable 8GB/s --pinned 28GB/s"
        )
    );
    insta::assert_snapshot!("idle", said("idle --accelerators 8 --busy 0.3 --reachable 0.9 --price 3"));
}

/// What is foretold from part of a record lies within 10 % of what the rest of it measured.
#[test]
fn what_a_record_foretells_is_what_it_measured() {
    let bench = bench();
    // 0.27 epochs, and 1.34 s for which a job stood still, stand on the pages of these records.
    let copy = asked(&bench, "copy --from results/stage-or-stream").exits(0);
    agree(figure(&copy, "pays after", "epochs"), 0.27);
    let page = bench.run(&["report", "results/stage-or-stream"]).exits(0);
    assert!(page.prints("bucket disk 16 5.66 0.026 - 1.51 0.27"), "{}", page.out);
    let checkpoint = asked(&bench, "checkpoint --from results/checkpoint --every 15m").exits(0);
    agree(figure(&checkpoint, "writing", "s (F47)"), 1.34);
    // The record wrote a part of a checkpoint, and the answer is no more than that.
    assert!(checkpoint.prints("answer checkpoints of 1.76 GB take 0.15"), "{}", checkpoint.out);
    assert!(checkpoint.prints("that is llama3-8b, 1/64 of it; --size or --parameters"), "{}", checkpoint.out);
    let stated = asked(&bench, "checkpoint --from results/checkpoint --every 15m --size 112GB").exits(0);
    assert!(!stated.out.contains("1/64"), "{}", stated.out);
    let page = bench.run(&["report", "results/checkpoint"]).exits(0);
    assert!(page.prints("sync checkpoints: a checkpoint stops the accelerators for 1.34 s"), "{}", page.out);
    // 402 to 406 MB/s of the epochs through a cache of half the data, which lies on a disk of some GB/s.
    let cache = asked(&bench, "cache --from results/cache-tier --cache 32MiB --cached 5GB/s").exits(0);
    agree(figure(&cache, "rate", "MB/s (F45)"), 404.0);
    // The job was played with 8 readers.
    let readers = asked(&bench, "readers --from results/training-throttled").exits(0);
    let idle = asked(&bench, "idle --from results/training-throttled --reachable 1").exits(0);
    agree(figure(&readers, "8 readers", "% busy"), figure(&idle, "busy", "%:"));
}

#[test]
fn what_is_impossible_or_not_there_is_an_error() {
    let bench = bench();
    let refused = |words: &str, said: &str| {
        let ended = asked(&bench, words).exits(2).says(said).says("hint: ");
        assert!(ended.out.is_empty(), "{}", ended.out);
    };
    let copy = "copy --dataset 1GB --copying 1GB/s --copy 1GB/s";
    refused(copy, "--source is missing");
    refused(&format!("{copy} --source disk"), "only with --from RUN");
    refused("copy --from results/quickstart", "holds no copy of a dataset");
    refused("copy --from results/quickstart/run.json", "is a file of a run");
    refused("copy --from results/quickstart --source fast", "no target or cell");
    refused("cache --from results/quickstart --cache 1GB --cached 1GB/s", "holds several targets");
    refused("cache --from results/c09-files-or-shards --cache 1GB", "holds several datasets");
    refused(
        "shards --from results/c09-files-or-shards --shard 1MB",
        "state what you mean: --dataset, --sample",
    );
    // No flag is advised that the question does not take.
    let copied = asked(&bench, "copy --from results/c09-files-or-shards").exits(2);
    assert!(copied.says("state what you mean: --dataset").err.trim_end().ends_with("--dataset"));
    refused("cache --from results/cache-tier --cache 1GB", "--cached is missing");
    refused("checkpoint --from results/quickstart --every 1m", "holds no checkpoints");
    refused("checkpoint --size 1TB --write 1GB/s --every 1m --accelerators 8", "is written in 16.7 min");
    refused("readers --need 8xh100:resnet50", "the time of a read is missing");
    refused("readers --read 4ms --batch 4", "what the accelerators do in a step is missing");
    refused("readers --need 1GB/s --read 4ms", "a rate names no accelerators");
    refused("readers --need 8xh100:resnet --read 4ms", "did you mean `resnet50`?");
    refused("memory --from results/quickstart --decoded 1MB", "holds no training job");
    refused("codec --source 1GB/s --ratio 0.5 --readers 1 --unpack 1GB/s", "makes the data larger");
    refused("shards --dataset 1GB --sample 1MB --shard 100MB --ranks 64", "10 shards for 64 ranks");
    refused("start --from results/quickstart --start 1s --epochs 3", "holds no training job");
    refused("idle --accelerators 8 --busy 1.5", "no share");
    refused("idle --from results/checkpoint", "holds several jobs: disk/pread/");
    refused("start --from results/checkpoint --start 1s --epochs 3", "checkpoint-async");
    refused("idle --accelerators 8 --busy 0.9 --reachable 0.5", "to reach is less");
    // A rate that nothing may rest on is not taken.
    refused(
        "cache --from results/training-throttled --source disk --cache 1MB --cached 1GB/s",
        "is what its load asked for",
    );
    asked(&bench, "copy --dataset 1 --source 1GB/s").exits(2).says("`1` has no unit");
    asked(&bench, "fly").exits(2);
}

#[test]
fn a_question_writes_the_scenario_that_measures_it() {
    let bench = bench();
    let scenarios = [
        "copy --dataset 166GB --source 0.5GB/s --copying 2GB/s --copy 7GB/s --need 8xh100:resnet50",
        "cache --from results/cache-tier --cache 32MiB --cached 5GB/s",
        "checkpoint --parameters 70e9 --write 10GB/s --every 1h --accelerators 8",
        "readers --from results/training-throttled",
        "shards --dataset 1TB --sample 130kB --shard 100MB",
    ];
    for words in scenarios {
        let file = format!("{}.toml", words.split(' ').next().unwrap());
        let write = format!("{words} --scenario {file}");
        asked(&bench, &write).exits(0).says(&format!("feedline plan {file}, then feedline run"));
        assert!(fs::read_to_string(bench.path(&file)).unwrap().starts_with("# Why: "));
        asked(&bench, &write).exits(1).says("a file that exists is never overwritten");
    }
    // On folders of this machine it is a run.
    let small = [
        "--set",
        "targets.source.at=\"a\"",
        "--set",
        "targets.near.at=\"b\"",
        "--set",
        "dataset.size=\"4 MiB\"",
    ];
    bench.run(&[&["plan", "copy.toml"], &small[..]].concat()).exits(0).says("copy");
    asked(&bench, "start --start 1s --epoch 9s --epochs 3 --scenario start.toml")
        .exits(2)
        .says("no scenario measures this");
    assert!(!bench.path("start.toml").exists());
    asked(&bench, "shards --dataset 1TB --sample 1MB --shard 1GB --scenario s.txt")
        .exits(2)
        .says("must end in .toml");
}
