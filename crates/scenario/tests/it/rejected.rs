//! Snapshots of refused scenarios: every class of mistake, with what a user sees.

use std::fmt::Write as _;

use scenario::HostFacts;

use crate::machine::{held, resolve, resolve_on, with};

fn refusal(text: &str, overrides: &[&str], change: impl Fn(&mut HostFacts)) -> String {
    match resolve_on(text, overrides, change) {
        Ok(plan) => panic!("accepted with {} cells:\n{text}", plan.cells.len()),
        Err(diagnostics) => diagnostics.to_string(),
    }
}

/// One line added to the shortest scenario, case after case; samples are held where their size is written.
fn refusals(lines: &[&str]) -> String {
    let mut shown = String::new();
    for line in lines {
        let text = if line.contains("sample_size =") { held(line) } else { with(line) };
        writeln!(shown, "{}\n{}\n", refusal(&text, &[], |_| ()), "-".repeat(60)).unwrap();
    }
    shown
}

#[test]
fn unknown_keys() {
    insta::assert_snapshot!(refusals(&[
        "titel = \"x\"",
        "load = { queue_dept = 8 }",
        "load.rate = \"1 GB/s\"",
        "training = { reader = 4 }",
        "copy = { from = \"data\", too = \"x\" }",
        "xyzzy = 1",
        "targets.other = { at = \"/mnt/other\", engines = [\"pread\"] }",
        "targets.other = { at = \"/mnt/other\", layout = \"tar\" }",
        "dataset.shard = \"64 MiB\"",
    ]));
}

#[test]
fn wrong_types() {
    insta::assert_snapshot!(refusals(&[
        "load = { queue_depth = \"32\" }",
        "load = { queue_depth = 8.5 }",
        "load = { queue_depth = \"many\" }",
        "load = { block_size = 131072 }",
        "load = 8",
        "measure = { duration = 10 }",
        "measure = { repetitions = [5, 10] }",
        "measure = { warmup = 2024-01-01 }",
        "title = 5",
        "title = \"two\\nlines\"",
        "gate = { feeds = \"data\" }",
        "targets.other = \"/mnt/other\"",
        "targets.other = { at = \"/mnt/other\", direct = \"yes\" }",
    ]));
}

#[test]
fn wrong_words() {
    insta::assert_snapshot!(refusals(&[
        "load = { access = \"shuffled-epoch\" }",
        "load = { access = [\"sequential\", \"zipf\"] }",
        "load = { mode = \"trained\" }",
        "load = { cache = \"dropped\" }",
        "dataset = { source = \"exists\" }",
        "targets.other = { at = \"/mnt/other\", engine = \"uring\" }",
        "measure = { cell_order = \"shuffled\" }",
    ]));
}

#[test]
fn wrong_units_and_ranges() {
    insta::assert_snapshot!(refusals(&[
        "load = { block_size = \"4k\" }",
        "load = { block_size = \"0 B\" }",
        "load = { block_size = \"-4 KiB\" }",
        "load = { block_size = \"2 GiB\" }",
        "load = { queue_depth = 0 }",
        "load = { queue_depth = -1 }",
        "load = { queue_depth = 5000 }",
        "load = { queue_depth = 99999999999999999999999999999999999999999 }",
        "dataset = { size = \"99999999 EiB\" }",
        "dataset = { sample_size = \"1 PB\", samples = 4000000000 }",
        "dataset = { sample_size = \"1 B\", size = \"8 GiB\" }",
        "measure = { duration = \"0s\" }",
        "measure = { duration = \"ten seconds\" }",
        "measure = { repetitions = 101 }",
        "measure = { seed = -1 }",
    ]));
}

#[test]
fn lists() {
    insta::assert_snapshot!(refusals(&[
        "load = { queue_depth = [] }",
        "load = { queue_depth = [8, 0, 8, \"x\"] }",
        "load = { block_size = [\"4 KiB\", \"4096 B\"] }",
        "gate = { feeds = [] }",
        "gate = { feeds = [\"data\", \"data\"] }",
        "dataset = { sample_size = [\"1 MiB\", \"1 MiB\"] }",
    ]));
}

#[test]
fn needs() {
    let with_need =
        |need: &str| format!("version = 1\nneed = {need}\ntargets.data = {{ at = \"/mnt/bench\" }}\n");
    let shown: Vec<_> = [
        "\"8 h100 resnet50\"",
        "\"8xh100:resnet5\"",
        "3",
        "{}",
        "{ workload = \"resnet50\" }",
        "{ workload = \"resnet50\", accelerator = \"h1000\", count = 8 }",
        "{ workload = \"resnet50\", accelerator = \"h100\", count = 8, rate = \"2 GB/s\" }",
        "{ rate = \"2 GB/s\", hosts = 2, count = 3 }",
        "{ rate = \"2 GB\" }",
        "{ workload = \"resnet50\", accelerator = \"h100\", count = 8, hosts = 3 }",
        "{ workload = \"resnet50\", accelerator = \"h100\", count = 8, utilization = 90 }",
        "{ tokens_per_second = 0, token_size = \"4 B\" }",
        "{ batch = 400, step_time = \"0.224s\", count = 8 }",
    ]
    .into_iter()
    .map(|need| refusal(&with_need(need), &[], |_| ()))
    .collect();
    insta::assert_snapshot!(shown.join("\n------\n"));
}

#[test]
fn absent_tables() {
    insta::assert_snapshot!(refusal("", &[], |_| ()));
}

#[test]
fn other_versions() {
    insta::assert_snapshot!(refusal(&with("").replace("version = 1", "version = 2"), &[], |_| ()));
}

#[test]
fn conflicting_keys() {
    insta::assert_snapshot!(refusals(&[
        "dataset = { samples = 100, size = \"1 GiB\" }",
        "dataset = { source = \"existing\", samples = 100, seed = 2 }",
        "dataset = { source = \"existing\", sample_size = [\"1 MiB\", \"2 MiB\"] }",
        "measure = { duration = \"10s\", bytes = \"1 GiB\", epochs = 2 }",
        "measure = { epochs = 2, warmup = \"1s\", budget = \"1m\" }",
        "load = { cache = \"cold\" }\ntargets.b = { at = \"/mnt/b\", direct = true }",
        "load = { cache = [\"warm\", \"bypass\"] }\ntargets.b = { at = \"/mnt/b\", direct = true }",
        "load = { cache = \"bypass\" }\ntargets.b = { at = \"/mnt/b\", direct = false }",
        "load = { cache = \"bypass\" }\ntargets.b = { at = \"/mnt/b\", direct = [true, false] }",
        "load = { threads = 4, queue_depth = [4, 8] }\ntargets.b = { at = \"/mnt/b\", engine = \"pread\" }",
        "load = { threads = 16, queue_depth = [4, 8] }",
        "targets.b = { at = \"/mnt/b\", engine = \"pread\", registered = \"required\" }",
    ]));
}

#[test]
fn a_cold_cell_is_not_asked_for_several_passes() {
    let said = |body: &str| refusals(&[body]);
    let several = said("measure.epochs = 2\nload.cache = [\"warm\", \"cold\"]");
    assert!(several.contains("ends with its first pass") && several.contains("cold_start"), "{several}");
    let one = said("measure = { epochs = 1, warmup = \"1s\" }\nload.cache = \"cold\"");
    assert!(!one.contains("first pass"), "{one}");
    let started = said("measure = { epochs = 2, warmup = \"1s\" }\nload.cache = \"cold_start\"");
    assert!(!started.contains("first pass"), "{started}");
}

#[test]
fn operations() {
    insta::assert_snapshot!(refusals(&[
        "load.operation = \"list\"\ntargets.b = { at = \"/mnt/b\", engine = [\"io_uring\", \"pread\"] }",
        "load.operation = [\"read_file\", \"list\"]",
        "load.operation = \"read_file\"\ntargets.b = { at = \"/mnt/b\", engine = \"mmap\" }",
        "load = { operation = [\"stat\", \"list\"], block_size = \"4 KiB\" }\n\
         targets.b = { at = \"null:\" }",
        "load = { operation = [\"read_file\", \"stat\"], cache = \"bypass\" }",
        "load = { operation = \"stat\", cache = [\"dontcache\", \"warm\"] }",
        "load.operation = \"stat\"\ntargets.b = { at = \"/mnt/b\", direct = true }",
        "load = { operation = \"read_file\", block_size = \"5000 B\", cache = [\"cold\", \"bypass\"] }",
        "load.operation = [\"stat\"]\ngate.feeds = [\"data\"]",
        "load = { operation = \"lst\", cache = \"bypass\" }",
    ]));
}

#[test]
fn writes() {
    let of_writes = |line: &str| format!("version = 1\nneed = {{ write_rate = \"2 GB/s\" }}\n{line}\n");
    let disk = "targets.data = { at = \"/mnt/data/bench\" }";
    let mut shown = refusals(&[
        "load.operation = \"write\"",
        "load.durability = \"data\"",
        "load.operation = [\"read\", \"write\"]\ndataset.source = \"existing\"",
        "load.operation = [\"read\", \"write\"]\nload.mode = \"training\"",
        "load.operation = [\"read\", \"write\"]\ntargets.b = { at = \"s3://bucket/b\" }",
        "load.operation = [\"read\", \"write\"]\ntargets.b = { at = \"nfs://demo/export/b\", emulate = { seek = \"8ms\" } }",
        "load.operation = [\"read\", \"write\"]\ndataset.layout = \"webdataset\"",
        "load.operation = \"write_file\"",
    ]);
    for line in [
        "load.operation = \"read\"",
        "load.cache = \"cold\"",
        "load = { cache = \"warm\", durability = [\"data\", \"none\"] }",
        "load = { cache = \"warm\", durability = \"nome\" }",
        "dataset = { sample_size = \"100 kB\" }",
        "dataset = { sample_size = \"1 MiB\", distribution = \"lognormal\", sample_size_stdev = \"1 KiB\" }",
        "targets.b = { at = \"/mnt/b\", engine = \"mmap\" }",
        "targets.b = { at = \"s3://bucket/b\" }",
        "load.mode = \"training\"",
        "load.operation = \"write_file\"\ndataset.layout = \"webdataset\"",
        "load.operation = \"write_file\"\ntargets.b = { at = \"/mnt/b\", engine = [\"io_uring\", \"mmap\"] }",
        "load.operation = [\"write\", \"write_file\"]",
        "load.operation = \"write_file\"\ntargets.b = { at = \"s3://demo/b\", emulate = { first_byte = \"1ms\" } }",
        "load = { operation = \"write_file\", durability = \"full\" }\ntargets.b = { at = \"s3://bucket/b\" }",
        "load.operation = \"write_file\"\ndataset.sample_size = \"6 GiB\"\ntargets.b = { at = \"s3://bucket/b\" }",
        "load = { operation = \"write_file\", cache = \"warm\", durability = \"none\" }",
        "load = { operation = \"write_file\", cache = \"cold\" }",
        "load.operation = [\"write\", \"names\"]",
        "load.operation = [\"write_file\", \"names\"]\ntargets.b = { at = \"s3://bucket/b\" }",
        "load.operation = [\"write\", \"names\"]\ntargets.data.engine = \"pread\"\ntargets.b = { at = \"nfs://demo/export/b\", emulate = { seek = \"8ms\" } }",
        "load.operation = \"names\"\ndataset.source = \"existing\"",
    ] {
        let text = of_writes(&format!("{disk}\n{line}"));
        writeln!(shown, "{}\n{}\n", refusal(&text, &[], |_| ()), "-".repeat(60)).unwrap();
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn mixes() {
    let of_both = |line: &str| {
        format!("version = 1\nneed = {{ rate = \"2 GB/s\", write_rate = \"1 GB/s\" }}\n{line}\n")
    };
    let disk = "targets.data = { at = \"/mnt/data/bench\" }";
    let mut shown = refusals(&[
        "load.mix = { write = \"30 %\" }",
        "load.operation = \"mix\"",
        "load.operation = [\"read\", \"mix\"]",
        "load.operation = [\"read\", \"mix\"]\nload.mix = { write = [\"0 %\", \"100 %\"] }",
        "load.operation = \"read\"\nload.mix = { write = \"30 %\" }",
        "load.operation = [\"read\", \"mix\"]\nload.mix = { write = [0.3, 0.305, 30] }",
        "load.operation = [\"read\", \"mix\"]\nload.mix = { write = \"120 %\" }",
    ]);
    for line in [
        "load.operation = [\"read\", \"write\"]",
        "load.mode = \"training\"",
        "dataset.sample_size = \"100 kB\"",
        "load.cache = [\"warm\", \"bypass\"]",
        "dataset.source = \"existing\"",
        "targets.b = { at = \"/mnt/b\", engine = \"mmap\" }",
        "targets.b = { at = \"s3://bucket/b\" }",
    ] {
        let text = of_both(&format!("{disk}\n{line}"));
        writeln!(shown, "{}\n{}\n", refusal(&text, &[], |_| ()), "-".repeat(60)).unwrap();
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn several_needs() {
    let disk = "targets.data = { at = \"/mnt/data/bench\" }";
    let mut shown = String::new();
    for needs in [
        "[]",
        "[\"8xh100:resnet50\", { rate = \"1 GB/s\" }]",
        "[{ workload = \"resnet50\", accelerator = \"h100\", count = 8, hosts = 4 }, { workload = \"unet3d\", accelerator = \"h100\", count = 8, hosts = 2 }]",
        "[{ checkpoint = { bytes = \"1 GB\", within = \"1s\" } }, { rate = \"1 GB/s\", checkpoint = { bytes = \"1 GB\", within = \"2s\" } }]",
        "[{ rate = \"1 GB/s\" }, { rate = \"0 B/s\" }]",
        "[{ rate = \"10 EB/s\" }, { rate = \"10 EB/s\" }]",
        "{ rate = \"10 EB/s\", write_rate = \"10 EB/s\" }",
        "[[{ rate = \"1 GB/s\" }]]",
    ] {
        let text = format!("version = 1\nneed = {needs}\n{disk}\n");
        writeln!(shown, "{}\n{}\n", refusal(&text, &[], |_| ()), "-".repeat(60)).unwrap();
    }
    let many = vec!["{ rate = \"1 MB/s\" }"; feed::NEEDS_MAX + 1].join(", ");
    writeln!(shown, "{}", refusal(&format!("version = 1\nneed = [{many}]\n{disk}\n"), &[], |_| ())).unwrap();
    let jobs = "version = 1\nneed = [\"8xh100:resnet50\", \"8xh100:unet3d\"]\nload.mode = \"training\"\n";
    writeln!(shown, "{}", refusal(&format!("{jobs}{disk}\n"), &[], |_| ())).unwrap();
    insta::assert_snapshot!(shown);
}

#[test]
fn paths_that_are_slowed_down() {
    insta::assert_snapshot!(refusals(&[
        "targets.b = { at = \"/mnt/b\", emulate = { profile = \"s3-like\" } }",
        "targets.b = { at = \"/mnt/b\", emulate = { faults = { stall = 0.1 } } }",
        "targets.b = { at = \"/mnt/b\", emulate = { seek = \"8ms\" } }\ncheckpoint.size = \"1 MiB\"",
        "targets.b = { at = \"null:\", emulate = { seek = \"8ms\" } }",
        "targets.b = { at = \"az://train/b\", emulate = { seek = \"8ms\" } }",
    ]));
}

#[test]
fn checkpoints_of_a_need_on_a_path_that_is_slowed_down() {
    let need = r#"{ rate = "1 GB/s", checkpoint = { bytes = "8 MB", within = "5s" } }"#;
    let text = with("targets.b = { at = \"/mnt/b\", emulate = { seek = \"8ms\" } }")
        .replace("\"8xh100:resnet50\"", need);
    insta::assert_snapshot!(refusal(&text, &[], |_| ()));
}

#[test]
fn burst_credits() {
    let of_path = |emulate: &str| format!("targets.b = {{ at = \"/mnt/b\", emulate = {{ {emulate} }} }}");
    let requests = "requests_per_second = 300, request_burst = { per_second = 3000, credits = 5.4e6 }";
    let lines = [
        of_path("request_burst = { per_second = 3000, credits = 5.4e6 }"),
        of_path("profile = \"hdd-like\", rate_burst = { rate = \"200 MB/s\", credits = \"1 GB\" }"),
        of_path("requests_per_second = 300, request_burst = { per_second = 3000 }"),
        of_path("total_rate = \"40 MB/s\", rate_burst = { credits = \"1 TiB\", rate = 250 }"),
        of_path("total_rate = \"40 MB/s\", rate_burst = {}"),
        of_path(&requests.replace("5.4e6", "0")),
        format!("targets.b = {{ at = \"s3://train/b\", emulate = {{ {requests} }} }}"),
        "targets.b = { at = \"nfs://demo/e\", emulate = { profile = \"nfs-1gbe-like\", rate_burst = { rate = \"1 GB/s\", credits = \"1 GB\" } } }"
            .to_owned(),
    ];
    insta::assert_snapshot!(refusals(&lines.each_ref().map(String::as_str)));
}

#[test]
fn maps() {
    insta::assert_snapshot!(refusals(&[
        "targets.b = { at = \"/mnt/b\", engine = [\"mmap\", \"io_uring\"] }\nload.cache = [\"cold\", \"bypass\"]",
        "targets.b = { at = \"/mnt/b\", engine = \"mmap\", direct = [true, false] }",
        "targets.b = { at = \"/mnt/b\", engine = \"mmap\" }\nload.cache = \"dontcache\"",
        "targets.b = { at = \"/mnt/b\", engine = \"mmap\", registered = \"auto\" }",
        "targets.b = { at = \"/mnt/b\", engine = \"pread\", madvise = \"random\" }",
        "targets.b = { at = \"/mnt/b\", madvise = \"random\" }",
        "targets.b = { at = \"/mnt/b\", engine = \"mmap\", madvise = \"wilneed\" }",
        "targets.b = { at = \"null:\", madvise = \"random\" }",
        "targets.b = { at = \"/shm/b\", engine = \"mmap\", madvise = [\"random\", \"normal\"] }",
        "targets.b = { at = \"/old/b\" }\nload.cache = \"dontcache\"",
        "targets.b = { at = \"/mnt/b\", direct = true }\nload.cache = \"dontcache\"",
        "targets.b = { at = \"/mnt/b\", engine = \"mmap\" }\nload = { queue_depth = [1, 8], threads = 8 }",
    ]));
}

#[test]
fn paced_loads() {
    let shown = refusals(&[
        "load = { rate = \"line\", arrivals = \"poisson\", batch = 4, spin = \"60us\" }",
        "load = { mode = \"closed\", rate = [\"80 %\", \"line\"] }",
        "load = { mode = \"paced\", queue_depth = \"auto\" }",
        "load = { mode = \"paced\", operation = [\"read\", \"stat\"] }",
        "load = { mode = \"paced\", batch = 100 }",
        "load = { mode = \"paced\", arrivals = \"poisson\", batch = 100 }",
        "load = { mode = \"paced\", rate = [\"100 %\", \"line\"] }",
        "load = { mode = \"paced\", rate = [\"lines\", \"0 %\", \"80\", 80, \"2.5 GB\"] }",
        "load = { mode = \"paced\", rate = [\"50 %\", \"1 MB/s\"] }\ngate.feeds = [\"data\"]",
        "load = { mode = \"paced\", arrivals = \"bursts\", spin = 60 }",
    ]);
    let without_batch =
        with("load = { mode = \"paced\", arrivals = \"batch\" }").replace("8xh100:resnet50", "2.5 GB/s");
    insta::assert_snapshot!(format!("{shown}{}", refusal(&without_batch, &[], |_| ())));
}

#[test]
fn submissions() {
    let shown = refusals(&[
        "load = { submit_batch = 16, queue_depth = [8, 32] }",
        "load = { submit_batch = 16, queue_depth = 32, threads = 4 }",
        "load = { submit_batch = 2 }",
        "load = { submit_batch = 0 }",
        "load = { complete_batch = 16, queue_depth = 8 }",
        "load = { complete_batch = 4, mode = \"paced\" }",
        "load = { submit_batch = 4, operation = \"list\" }",
    ]);
    let pread = with("load = { submit_batch = 4, queue_depth = 8 }")
        .replace("bench\" }", "bench\", engine = \"pread\" }");
    insta::assert_snapshot!(format!("{shown}{}", refusal(&pread, &[], |_| ())));
}

#[test]
fn spread_sizes() {
    let shown = refusals(&[
        "dataset.distribution = \"lognormal\"",
        "dataset.sample_size_stdev = \"50 kB\"",
        "dataset = { distribution = \"fixed\", sample_size_stdev = \"50 kB\" }",
        "dataset = { distribution = \"lognormal\", sample_size_stdev = \"50 kB\", \
         sample_size = [\"100 kB\", \"1 MB\"] }",
        "dataset = { distribution = \"lognormal\", sample_size_stdev = \"11 MB\", sample_size = \"1 MB\" }",
        "dataset = { distribution = \"normal\" }",
        "dataset = { source = \"existing\", distribution = \"lognormal\", sample_size_stdev = \"50 kB\", \
         files_per_folder = 10 }",
        "dataset = { files_per_folder = 0 }",
        "dataset = { distribution = \"lognormal\", sample_size_stdev = \"50 kB\" }\nload.block_size = \"10000 B\"",
    ]);
    let its_own = with("dataset = { distribution = \"lognormal\", sample_size = \"1 MB\" }")
        .replace("resnet50", "unet3d");
    insta::assert_snapshot!(format!("{shown}{}", refusal(&its_own, &[], |_| ())));
}

#[test]
fn devices() {
    let device = |lines: &str| with(lines).replace("/mnt/bench", "/dev/sda");
    let shown: Vec<_> = [
        device(""),
        device("dataset.source = \"generate\""),
        device("dataset.source = \"existing\"\nload.operation = [\"read\", \"read_file\"]"),
        device("dataset.source = \"existing\"").replace("8xh100:resnet50", "2.5 GB/s"),
        device("dataset.source = \"existing\"\ntargets.b = { at = \"/mnt/b\" }"),
        device("dataset = { source = \"existing\", sample_size = \"2 TiB\" }"),
    ]
    .iter()
    .map(|text| refusal(text, &[], |_| ()))
    .collect();
    insta::assert_snapshot!(shown.join("\n------\n"));
}

#[test]
fn gates() {
    insta::assert_snapshot!(refusals(&[
        "gate = {}",
        "gate = { p99 = \"10ms\" }",
        "gate = { feeds = [\"dat\"] }",
        "targets.none = { at = \"null:\" }\ngate = { feeds = [\"none\"] }",
        "gate = { utilization = 0.9, at = 8, baseline = \"nightly\" }",
        "gate = { feeds = [\"data\"], utilization = 95 }",
        "gate = { feeds = [\"data\"], utilization = \"120 %\" }",
        "load.queue_depth = [1, 32]\ngate = { feeds = [\"data\"], p99 = \"10ms\", at = 8 }",
    ]));
}

#[test]
fn gates_on_regressions() {
    insta::assert_snapshot!(refusals(&[
        "gate = { regression = {} }",
        "gate = { regression = \"10 %\" }",
        "gate = { regression = 0.1 }",
        "gate = { regression = { throughput = 0.1, p50 = \"0 %\", p90 = \"10 %\", cpu = \"101 %\" } }",
        "gate = { regression = { au = \"5 %\" } }",
        "gate = { regression = { p50 = \"5 %\" }, baseline = \"runs of May\", runs = 2, may_differ = [\"hosts\"] }",
        "gate = { feeds = [\"data\"], baseline = \"nightly\", runs = 8, may_differ = [\"host\", \"kernel\"] }",
    ]));
}

#[test]
fn addresses() {
    insta::assert_snapshot!(refusals(&[
        "targets.b = { at = \"smb://filer/export\" }",
        "targets.b = { at = \"hdfs://name/prefix\" }",
        "targets.b = { at = \"https://bucket.s3.amazonaws.com/prefix\" }",
        "targets.b = { at = \"file:///mnt/b\" }",
        "targets.b = { at = \"~/bench\" }",
        "targets.b = { at = \"\" }",
        "targets.b = { at = \"null:x\" }",
        "targets.b = { title = \"B\" }",
        "targets.\"my disk\" = { at = \"/mnt/b\" }",
        "targets.b = { at = \"null:\", engine = \"pread\", direct = true }",
    ]));
}

#[test]
fn names_of_targets() {
    let long = format!("targets.{} = {{ at = \"/nvme/b\" }}", "a".repeat(65));
    insta::assert_snapshot!(refusals(&["targets.\"a b\" = { at = \"/nvme/b\" }", &long]));
}

#[test]
fn paths() {
    insta::assert_snapshot!(refusals(&[
        "targets.b = { at = \"/file/b\" }",
        "targets.b = { at = \"/readonly/b\" }",
        "targets.b = { at = \"/forbidden/b\" }",
        "targets.b = { at = \"/new/b\" }\ndataset.source = \"existing\"",
        "targets.b = { at = \"null:\" }\ndataset.source = \"existing\"",
        "targets.b = { at = \"/shm/b\" }",
        "targets.b = { at = \"/shm/b\", direct = true }",
        "targets.b = { at = \"/shm/b\" }\nload.cache = [\"warm\", \"cold\"]",
        "targets.b = { at = \"/buffered/b\", direct = true }",
        "targets.b = { at = \"/buffered/b\" }\nload.cache = \"bypass\"",
        "targets.b = { at = \"/small/b\" }\ndataset = { size = \"6 GiB\", sample_size = [\"1 MiB\", \"2 MiB\"] }",
    ]));
}

#[test]
fn blocks() {
    insta::assert_snapshot!(refusals(&[
        "dataset.sample_size = \"100 KiB\"\nload.block_size = \"128 KiB\"",
        "dataset.sample_size = [\"4 MiB\", \"5000 B\"]\nload.block_size = [\"8 KiB\", \"1 MiB\", \"8 MiB\"]",
        "dataset.sample_size = \"1 MiB\"\nload.block_size = \"5000 B\"",
        "dataset.sample_size = \"1 MiB\"\nload.block_size = \"512 B\"\ntargets.b.at = \"/align/b\"",
        "dataset.source = \"existing\"\nload.block_size = \"1000 B\"",
    ]));
}

#[test]
fn more_cells_than_can_be_meant() {
    let depths = (1..=1000).map(|depth| depth.to_string()).collect::<Vec<_>>().join(",");
    let sizes = (1..=1000).map(|size| format!("\"{} MiB\"", size + 1)).collect::<Vec<_>>().join(",");
    let load = format!(
        "[load]\nqueue_depth = [{depths}]\naccess = [\"random\", \"sequential\"]\nblock_size = [\"4 KiB\", \"8 KiB\", \
         \"16 KiB\", \"32 KiB\", \"64 KiB\"]\n[dataset]\nsample_size = [{sizes}]\n"
    );
    let diagnostics = resolve(&held(&load)).unwrap_err();
    let messages: Vec<_> = diagnostics.messages().collect();
    let sum = "1000 sample sizes x 5 block sizes x 2 access orders x 1000 depths = 10,000,000 cells; at most 10,000 are \
               measured in one run";
    assert!(messages.contains(&sum), "{messages:#?}");
}

#[test]
fn amounts_that_nobody_can_mean_are_refused_with_their_sums() {
    let list = |length: u32| (1..=length).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    insta::assert_snapshot!(refusals(&[
        &format!(
            "load.queue_depth = [{}]\ndataset.sample_size = [\"1 MiB\", \"2 MiB\"]\n\
             targets.b.at = \"/mnt/b\"\nmeasure = {{ duration = \"28s\", repetitions = 10, budget = \"10m\" }}",
            list(9)
        ),
        "measure = { warmup = \"200000 d\", duration = \"200000 d\" }",
        "measure = { duration = \"1 d\", budget = \"200000 d\" }",
        "measure = { bytes = \"18 EB\", repetitions = 100 }",
        "measure = { epochs = 1000000000 }",
        "dataset = { size = \"18 EB\", sample_size = \"1 B\" }",
        "dataset = { samples = 1000000000000000, sample_size = \"18 EB\" }",
        "dataset.samples = 99999999999999999999",
    ]));
}

#[test]
fn orders_of_lists() {
    let by = |dataset: &str, load: &str| {
        with(&format!("dataset = {{ source = \"existing\", {dataset} }}\nload = {{ {load} }}"))
    };
    let listed = by("order = \"order.txt\"", "access = \"list\"");
    let mut shown: Vec<String> = [
        by("order = \"order.txt\"", "queue_depth = 8"),
        by("sample_size = \"1 MiB\"", "access = \"list\""),
        with("dataset.order = \"order.txt\"\nload.access = \"list\""),
        by("order = \"order.txt\"", "access = [\"list\", \"random\"]"),
        by("order = \"order.txt\", shards = \"*\"", "access = \"list\", operation = \"list\""),
        by("order = \"order.txt\", layout = \"tfrecord\"", "access = \"list\""),
        listed.replace("/mnt/bench", "/dev/sda"),
        listed.clone() + "targets.b = { at = \"/mnt/b\" }\ncopy = { from = \"data\", to = \"b\" }\n",
    ]
    .iter()
    .map(|text| refusal(text, &[], |_| ()))
    .collect();
    let long = [&b"a\n"[..], &[b'x'; 5000]].concat();
    let contents: [Result<&[u8], &str>; 8] = [
        Err("No such file or directory (os error 2)"),
        Ok(b""),
        Ok(b"\n\r\n./\n"),
        Ok(b"a\nb\xff\n"),
        Ok(b"a\n/mnt/bench/a\n"),
        Ok(b"a\t1\n"),
        Ok(&long),
        Ok(b"a\nb\na\n"),
    ];
    for held in contents {
        let held = held.map(<[u8]>::to_vec).map_err(str::to_owned);
        let cold = listed.replace("access", "cache = [\"cold\", \"bypass\"], access");
        shown.push(refusal(&cold, &[], |host| host.order = Some(held.clone())));
    }
    insta::assert_snapshot!(shown.join("\n------\n"));
}

#[test]
fn limits_of_the_machine() {
    let forbidden =
        "the kernel forbids it (seccomp)\n  hint: allow io_uring_setup in the container's profile";
    let without_ring = |host: &mut HostFacts| host.io_uring = Err(forbidden.to_owned());
    let shown = [
        refusal(&with(""), &[], without_ring),
        refusal(&with("targets.b = { at = \"/b\", engine = [\"pread\", \"io_uring\"] }"), &[], without_ring),
        refusal(
            &with("").replace("bench\" }", "bench\", on_unavailable = \"io_uring\" }"),
            &[],
            without_ring,
        ),
        refusal(&with("").replace("bench\" }", "bench\", on_unavailable = \"skip\" }"), &[], without_ring),
        refusal(
            &held(
                "dataset.sample_size = \"1 GiB\"\nload = { block_size = \"1 GiB\", queue_depth = [1, 64] }",
            ),
            &[],
            |_| (),
        ),
        refusal(&with(""), &[], |host| host.memory_bytes = 64 << 20),
        // Direct reads fit into as much: nothing is copied to find their ceiling.
        refusal(&with("load.cache = [\"warm\", \"bypass\"]"), &[], |host| host.memory_bytes = 160 << 20),
        refusal(&with("load.queue_depth = [8, 64]"), &[], |host| host.open_files_max = 64),
    ];
    insta::assert_snapshot!(shown.join("\n------\n"));
}

#[test]
fn syntax() {
    let shown = [
        refusal(
            "version = 1\nneed = 8xh100:resnet50\n[load]\nqueue_depth = [8\nacces = \"random\"\n",
            &[],
            |_| (),
        ),
        refusal("version = 1\nversion = 1\n", &[], |_| ()),
        refusal("[load]\nqueue_dept = 8\nblock_size = \"4k\"\n[measure\n", &[], |_| ()),
        refusal("version: 1\nneed: resnet50\n", &[], |_| ()),
    ];
    insta::assert_snapshot!(shown.join("\n------\n"));
}

/// Neither in the lines after it, nor where the machine is asked. What follows from the broken line is not said.
#[test]
fn a_broken_line_hides_no_mistake_after_it() {
    let text = "\
version = 1
need = { workload = \"resnet50\", accelerator = \"h100\", count = 8
[dataset
size = 2 TiB
smaples = 3
[targets.data]
at = \"/mnt/bench\"
madvise = [
  \"random\",
  \"normal\",
]
engine = [\"pread\"
[load]
queue_depth = [
  8,
  x32,
]
block_size = \"4k\"
[measure]
repetitions = 3
repetitions = 0
";
    insta::assert_snapshot!(refusal(text, &[], |_| ()));
}

#[test]
fn all_mistakes_of_a_file_at_once() {
    let text = "\
version = 1
need = { workload = \"resnet50\", acelerator = \"h100\", count = 0 }

[dataset]
size = \"2 TiB\"
sample_size = [\"64 KiB\", \"1 MiB\"]

[targets.nvme]
at = \"/mnt/nvme\"
direct = true

[targets.scratch]
at = \"/buffered/scratch\"
direct = true

[targets.filer]
at = \"smb://filer/export\"

[load]
queue_depth = [8, 32, 8]
block_size = \"128 KiB\"
cache = \"bypass\"

[measure]
duration = \"10\"
epochs = 1

[gate]
feeds = [\"nvm\"]
";
    insta::assert_snapshot!(refusal(text, &[], |_| ()));
}

#[test]
fn cache_tiers() {
    insta::assert_snapshot!(refusals(&[
        "cache_tier = { at = \"/mnt/cache\", capacity = \"1 GB\" }",
        "cache_tier = { targets = [\"data\", \"other\"] }",
        "cache_tier = { at = \"/small/cache\", capacity = \"1 TB\", targets = [\"data\"], policy = \"lfu\" }",
        "cache_tier = { at = \"/dev/nvme0n1\", capacity = \"1 GB\", targets = [\"data\"] }",
        "cache_tier = { at = \"/readonly/cache\", capacity = \"1 GB\", targets = [\"data\"] }\n\
         load.operation = [\"read\", \"read_file\"]",
        "dataset = { source = \"existing\" }\n\
         cache_tier = { at = \"/mnt/bench/./sub/\", capacity = \"1 GB\", targets = [\"data\"] }",
    ]));
}

#[test]
fn overrides() {
    let text = with("load = { queue_depth = [8, 32] }");
    let shown: Vec<_> = [
        &["load.queue_depth=[1,8"][..],
        &["load.queue_depth"],
        &["=5"],
        &["load..queue_depth=5"],
        &["load.queue_dept=5"],
        &["measure.duration=10"],
        &["targets.data.at.count=4"],
        &["dataset.size=1 GiB", "dataset.samples=5"],
        &["load.queue_depth=0", "gate.feeds=[\"x\"]"],
    ]
    .into_iter()
    .map(|overrides| refusal(&text, overrides, |_| ()))
    .collect();
    insta::assert_snapshot!(shown.join("\n------\n"));
}

#[test]
fn copies() {
    let between = |lines: &str| {
        format!(
            "targets.other = {{ at = \"/mnt/other\", engine = \"io_uring\" }}\ntargets.inner = {{ at = \"/mnt/bench/./inner\" }}\n\
                 targets.none.at = \"null:\"\n{lines}"
        )
    };
    let cases = [
        "copy = { from = \"data\" }",
        "copy = {}",
        "copy = { from = \"data\", to = \"elsewhere\" }",
        "copy = { from = \"data\", to = \"data\" }",
        "copy = { from = \"data\", to = \"inner\" }",
        "copy = { from = \"data\", to = \"none\" }",
        "copy = { from = \"none\", to = \"data\" }",
        "targets.node.at = \"/dev/x\"\ndataset.source = \"existing\"\ncopy = { from = \"data\", to = \"node\" }",
        "copy = { from = \"data\", to = \"other\", block_size = \"2 GiB\" }",
        "copy = { from = \"data\", to = \"other\", block_size = \"5000 B\" }",
        "copy = { from = \"data\", to = \"other\", members = 3, codec = \"gzip\", shard_size = \"1 MiB\" }",
        "copy = { from = \"data\", to = \"other\", pack = \"tfrecord\", codec = \"zstd\" }",
        "copy = { from = \"data\", to = \"other\", pack = \"records\" }\ndataset = { distribution = \"lognormal\", sample_size_stdev = \"5 kB\" }",
        "copy = { from = \"data\", to = \"other\", pack = \"zip\" }",
        "copy = { from = \"data\", to = \"other\", threads = 300 }",
    ];
    let lines: Vec<String> = cases.iter().map(|case| between(case)).collect();
    insta::assert_snapshot!(refusals(&lines.iter().map(String::as_str).collect::<Vec<_>>()));
}

#[test]
fn advice_that_nothing_takes() {
    insta::assert_snapshot!(refusals(&[
        "load.fadvise = \"random\"",
        "load = { cache = \"bypass\", fadvise = [\"normal\", \"sequential\"] }",
        "load = { operation = \"read_file\", cache = \"cold\", fadvise = \"random\" }",
        "load = { cache = \"cold\", fadvise = \"willneed\" }",
        "targets.s3.at = \"s3://train/bench\"\ntargets.none.at = \"null:\"\n\
         targets.map = { at = \"/mnt/map\", engine = \"mmap\" }\nload.fadvise = \"random\"",
    ]));
}
