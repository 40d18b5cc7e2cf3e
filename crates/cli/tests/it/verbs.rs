//! The verbs around a run.

use std::fs;

use crate::harness::{Bench, DISK, scenario};
use crate::terminal::{Output, run_in};

#[test]
fn check_reports_every_mistake_and_exits_with_two() {
    let bench = Bench::new();
    bench.write(
        "bad.toml",
        r#"version = 1
need = "8xh100:resnet50"
dataset = { size = "4k", sample_size = [] }
load = { queue_dept = 4, block_size = "0 B" }
targets.disk = { at = "data", direct = "yes" }
"#,
    );
    let ended = bench.run(&["check", "bad.toml"]).exits(2);
    for mistake in
        ["4k", "sample_size", "queue_dept", "queue_depth", "0 B", "direct", "bad.toml:3", "bad.toml:5"]
    {
        assert!(ended.err.contains(mistake), "{mistake} is not in:\n{}", ended.err);
    }
}

#[test]
fn the_version_is_said_alike_by_either_name_and_with_anything_else_it_is_a_mistake() {
    let bench = Bench::new();
    let long = bench.run(&["--version"]).exits(0);
    assert_eq!(long.out, format!("feedline {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(bench.run(&["-V"]).exits(0).out, long.out);
    bench.run(&["check", "--version"]).exits(2);
}

#[test]
fn check_and_plan_write_nothing() {
    let bench = Bench::with(DISK);
    bench.run(&["check", "s.toml"]).exits(0).says("ok: 2 cells");
    bench.run(&["plan", "s.toml"]).exits(0).says("64 files of 65,536 B").says("2 x 5 repetitions");
    let left: Vec<_> = fs::read_dir(bench.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["s.toml"]);
}

#[test]
fn a_folder_with_files_of_others_gets_no_dataset_unless_told() {
    let bench = Bench::small(DISK);
    fs::create_dir_all(bench.path("data/train")).unwrap();
    fs::create_dir_all(bench.path("data/lost+found")).unwrap();
    fs::write(bench.path("data/.note"), "hidden").unwrap();
    bench.run(&["check", "s.toml"]).exits(0);
    fs::write(bench.path("data/train/a.jpg"), "mine").unwrap();
    for verb in ["check", "plan", "prepare", "run"] {
        let ended = bench.run(&[verb, "s.toml"]).exits(2).says("`train/a.jpg`").says("`disk` at `data`");
        ended.says("dataset.source = \"existing\"").says("dataset.beside_others = true");
    }
    assert!(bench.data_files().is_empty() && !bench.path("results").exists());
    let odd: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"caf\xe9");
    fs::create_dir(bench.path("odd")).unwrap();
    fs::write(bench.path("odd").join(odd), "mine").unwrap();
    bench
        .run(&["check", "odd", "--need", "1 MB/s"])
        .exits(2)
        .says("feedline did not write")
        .says("not UTF-8");
    // Who asked by flags is told flags.
    let by_flags = bench.run(&["check", "data", "--need", "8xh100:resnet50"]).exits(2);
    by_flags.says("--existing reads these files").says("--set dataset.beside_others=true");
    bench
        .run(&["check", "new", "--need", "8xh200:resnet50"])
        .exits(2)
        .says("no profile")
        .says("--need '{ batch = 400");
    let told = ["--set", "dataset.beside_others=true"];
    bench.run(&[&["prepare", "s.toml"], &told[..]].concat()).exits(0).says("written");
    // What is there already is read wherever it lies.
    bench.run(&["check", "s.toml"]).exits(0);
    bench.run(&["check", "s.toml", "--set", "dataset.seed=2"]).exits(2).says("`train/a.jpg`");
}

#[test]
fn a_plan_larger_than_the_disk_is_refused() {
    let bench = Bench::with(DISK);
    bench.run(&["plan", "s.toml", "--set", "dataset.size=\"40 TiB\""]).exits(2).says("free");
}

#[test]
fn a_missing_scenario_and_a_path_without_a_need_are_usage_errors() {
    let bench = Bench::new();
    bench.run(&["run", "no.toml"]).exits(2).says("no.toml");
    bench.run(&["run", "/some/path"]).exits(2).says("--need");
    bench.run(&["frobnicate"]).exits(2);
}

#[test]
fn need_prints_its_arithmetic_and_lists_the_profiles() {
    let bench = Bench::new();
    bench.run(&["need", "8xh100:resnet50"]).exits(0).says("14,286").says("measured");
    bench.run(&["need"]).exits(0).says("unet3d").says("extrapolated");
    bench.run(&["need", "8xh100:resnet5"]).exits(2).says("resnet50");
    bench.run(&["need", "8xh200:resnet50"]).exits(2).says("feedline need '{ batch = ");
    // Several at once, as in a file; what one host carries is said of all of them.
    let two = "[{ rate = \"300 GB/s\" }, { rate = \"300 GB/s\" }]";
    bench.run(&["need", two]).exits(0).says("300 GB/s and 300 GB/s").says("one host would take 600 GB/s");
    bench.run(&["need", "[{ rate = \"10 EB/s\" }, { rate = \"10 EB/s\" }]"]).exits(2).says("impossible need");
    bench.run(&["need", "[]"]).exits(2).says("feedline need '[\"8xh100:resnet50\", { write_rate = ");
    bench.run(&["need", "[\"8xh100:resnet50\", { write_rate = \"500 MB/s\", utilization = 0.9 }]"]).exits(0);
    // No place is asked for, and none is written to.
    let mix = "{ workload = \"resnet50\", accelerator = \"h100\", count = 8, write_rate = \"100 MB/s\" }";
    bench.run(&["need", mix]).exits(0).says("100 MB/s written");
}

/// Samples of 4 MiB divided the line of samples of 147 MB by 35, and whatever was measured fed eight H100.
#[test]
fn a_shrunken_sample_is_refused_until_it_is_said_what_is_held() {
    let bench = Bench::new();
    let run = |verb, hold: &[&'static str]| {
        let asked =
            ["data", "--need", "8xh100:unet3d", "--set", "dataset={ samples = 2, sample_size = \"4 MiB\" }"];
        bench.run(&[&[verb], &asked[..], hold].concat())
    };
    for verb in ["check", "run"] {
        run(verb, &[]).exits(2).says("--hold samples: 156 samples/s = 654 MB/s");
        run(verb, &[]).exits(2).says("--hold bytes: 5,454 samples/s = 22.9 GB/s");
    }
    assert!(!bench.path("data").exists(), "nothing is written for what is refused");
    run("plan", &["--hold", "bytes"])
        .exits(0)
        .says("5,454 samples/s = 22.9 GB/s at 4,194,304 B")
        .says("bytes held");
    run("check", &["--hold", "samples"]).exits(0).says("156 samples/s = 654 MB/s").says("samples held");
    run("check", &["--hold", "both"]).exits(2);
}

#[test]
fn what_holds_nothing_is_refused() {
    let bench = Bench::with(DISK);
    bench.run(&["check", "s.toml", "--hold", "bytes"]).exits(2).says("means nothing beside a rate");
    bench
        .run(&["check", "data", "--need", "1xh100:resnet50", "--hold", "bytes"])
        .exits(2)
        .says("changes nothing");
}

#[test]
fn a_line_says_what_it_leaves_idle() {
    let bench = Bench::new();
    let sets = "need={ workload = \"resnet50\", accelerator = \"h100\", count = 512, hosts = 64 }";
    let text = scenario(DISK).replace("rate = \"1 MB/s\"", "rate = \"500 MB/s\"");
    bench.write("s.toml", &text);
    bench.run(&["check", "s.toml"]).exits(0).says("line at 100 % of the need: 7,629 samples/s = 500 MB/s");
    let many = ["--set", sets, "--set", "training.readers=4", "--hold", "samples"];
    let words = "at 90 % busy (51 of 512 accelerators' worth idle)";
    bench
        .run(&[&["plan", "s.toml"], &many[..]].concat())
        .exits(0)
        .says(words)
        .says("32 reads outstanding at most");
    bench.run(&["need", "s.toml"]).exits(0).says("as read     line at 100 % of the need");
}

#[test]
fn init_writes_a_scenario_that_checks_and_never_overwrites() {
    let bench = Bench::new();
    bench.run(&["init", "mine.toml", "--at", "data"]).exits(0);
    bench.run(&["check", "mine.toml"]).exits(0);
    bench.run(&["init", "mine.toml"]).exits(1).says("never overwritten");
    bench.run(&["init", "mine"]).exits(2).says(".toml");
    bench.run(&["init", "other.toml", "--at", "hdfs://name"]).exits(2).says("hdfs");
}

#[test]
fn prepare_writes_once_and_clean_removes_only_what_it_wrote() {
    let bench = Bench::with(DISK);
    bench.run(&["prepare", "s.toml"]).exits(0).says("written");
    bench.run(&["prepare", "s.toml"]).exits(0).says("found as it was");
    let foreign = bench.data_files()[0].with_file_name("mine.txt");
    fs::write(&foreign, "keep me").unwrap();
    bench.run(&["clean", "s.toml"]).exits(0).says("66 files").says("mine.txt");
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "keep me");
    assert_eq!(bench.data_files().len(), 0);
}

#[test]
fn on_a_terminal_clean_lists_what_it_would_remove_and_asks() {
    let bench = Bench::with(DISK);
    bench.run(&["prepare", "s.toml"]).exits(0);
    let folder = fs::read_dir(bench.path("data")).unwrap().next().unwrap().unwrap().file_name();
    let listed = format!("data/{}: 66 files, ", folder.to_string_lossy());
    for (answer, says, left) in [("\n", "nothing was removed", 64), ("y\n", "removed 1 dataset", 0)] {
        let (ended, said) = run_in(80, bench.command(&["clean", "s.toml"]), answer, Output::Piped);
        ended.exits(0).says(says);
        assert!(said.contains(&listed) && said.contains("remove them? [y/N]"), "{said}");
        assert_eq!(bench.data_files().len(), left);
    }
}

#[test]
fn what_is_said_sends_no_command_to_a_terminal() {
    let bench = Bench::new();
    let ended = bench.run(&["check", "\u{1b}[2J\u{202e}x.toml"]).exits(2).says("[2J x.toml");
    assert!(!ended.err.chars().any(|c| feed::steers(c) && c != '\n'), "{:?}", ended.err);
}

/// A name of somebody else's file, which is printed since it stays.
#[test]
fn names_that_clean_leaves_send_no_command_to_a_terminal() {
    let bench = Bench::small(DISK);
    bench.run(&["prepare", "s.toml"]).exits(0);
    let folder = fs::read_dir(bench.path("data")).unwrap().next().unwrap().unwrap().path();
    fs::write(folder.join("\u{1b}[2J\u{202e}x"), "mine").unwrap();
    let ended = bench.run(&["clean", "s.toml", "--yes"]).exits(0).says("[2J x");
    assert!(!ended.out.chars().any(|c| feed::steers(c) && c != '\n'), "{:?}", ended.out);
    assert!(folder.join("\u{1b}[2J\u{202e}x").exists());
}

#[test]
fn schema_completions_and_man_page_print() {
    let bench = Bench::new();
    bench.run(&["schema"]).exits(0).says("json-schema.org");
    bench.run(&["completions", "bash"]).exits(0).says("_feedline");
    bench.run(&["man"]).exits(0).says(".TH feedline");
}

#[test]
fn a_path_whose_parent_is_missing_is_most_likely_not_mounted() {
    Bench::new().run(&["check", "mnt/not/there", "--need", "8xh100:resnet50"]).exits(2).says("mounted?");
}

#[test]
fn the_shipped_scenarios_resolve() {
    let bench = Bench::new();
    let folder = |name: &str| fs::read_dir(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let entries = folder("scenarios").chain(folder("scenarios/claims")).map(|entry| entry.unwrap().path());
    for path in entries.filter(|path| path.is_file()) {
        // Here, and small: what they ask of a machine is the user's affair.
        let text = fs::read_to_string(&path).unwrap().replace("/mnt/nvme/bench", "data");
        bench.write("shipped.toml", &text);
        let small = match &text {
            text if text.contains("[need.checkpoint]") => "checkpoint.size=\"1 MB\"",
            text if text.contains("\nsamples = ") => "dataset.samples=8",
            _ => "dataset.size=\"256 MiB\"",
        };
        bench.run(&["plan", "shipped.toml", "--set", small]).exits(0).says("cells");
    }
}
