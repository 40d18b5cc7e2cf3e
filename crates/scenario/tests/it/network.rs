//! Targets behind a network: their plans, and what is refused of them.

use std::fmt::Write as _;

use plan::{Addresses, AzureConfig, BackendConfig, Cell, Engine, Keys, Operation, Plan};
use scenario::Source;

use crate::machine::{resolve, resolve_on, with};

fn planned(text: &str) -> Plan {
    resolve(text).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn only(target: &str, lines: &str) -> String {
    format!("version = 1\nneed = \"8xh100:resnet50\"\ntargets.t = {target}\n{lines}\n")
}

fn refusals(texts: &[String]) -> String {
    let mut shown = String::new();
    for text in texts {
        let refused = resolve(text).err().unwrap_or_else(|| panic!("accepted: {text}"));
        writeln!(shown, "{refused}\n{}\n", "-".repeat(60)).unwrap();
    }
    shown
}

fn connections(cells: &[Cell]) -> Vec<(u32, u32, u32)> {
    cells.iter().map(|cell| (cell.queue_depth, cell.threads, cell.connections)).collect()
}

#[test]
fn urls_and_paths_are_compared_in_one_scenario() {
    let text = "version = 1\nneed = \"8xh100:resnet50\"\n[targets]\n\
                nvme = { at = \"/mnt/nvme\" }\n\
                nfs = { at = \"nfs://filer:2049/export/bench\", connections = [1, 8], server_memory = \"128 GiB\" }\n\
                s3 = { at = \"s3://train/bench\", region = \"eu-central-1\", engine = [\"lean\", \"sdk\"] }\n\
                [load]\nqueue_depth = [8, 128]\ncache = [\"cold\", \"bypass\"]\n";
    let plan = planned(text);
    let mut shown = String::new();
    plan.targets.iter().for_each(|target| writeln!(shown, "{target:?}").unwrap());
    for cell in &plan.cells {
        let Cell { slug, threads, connections, retries, submit_batch, complete_batch, .. } = cell;
        writeln!(
            shown,
            "{slug} x{threads} c{connections} retries {retries} batches {submit_batch} {complete_batch}"
        )
        .unwrap();
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn connections_follow_the_depth_of_a_bucket_and_are_few_to_a_filer() {
    let load = "load.queue_depth = [1, 8, 512]";
    let bucket = planned(&only("{ at = \"s3://train\" }", load));
    assert_eq!(connections(&bucket.cells), [(1, 1, 1), (8, 1, 8), (512, 8, 512)]);
    let filer = planned(&only("{ at = \"nfs://filer/e\" }", load));
    assert_eq!(connections(&filer.cells), [(1, 1, 1), (8, 1, 4), (512, 8, 8)]);
}

#[test]
fn a_bucket_has_no_more_connections_than_requests_under_way() {
    let target = "{ at = \"s3://train\", connections = [4, 56], part_size = \"16 KiB\" }";
    let load = "dataset.sample_size = \"104 KiB\"\nload = { queue_depth = 8, operation = [\"read\", \"read_file\"] }";
    let plan = planned(&only(target, load));
    let of = |operation: Operation| -> Vec<u32> {
        plan.cells.iter().filter(|cell| cell.operation() == operation).map(|cell| cell.connections).collect()
    };
    assert_eq!((of(Operation::Read), of(Operation::ReadFile)), (vec![4, 8], vec![4, 56]));
}

#[test]
fn connections_follow_depth_and_parts_up_to_a_bound_that_is_never_below_the_depth() {
    let of = |sample: &str, existing: bool| -> Vec<(u32, u32)> {
        let load = "load = { queue_depth = [1, 8, 64, 512], operation = \"read_file\" }";
        let data = if existing { "dataset.source = \"existing\"" } else { sample };
        let text = only("{ at = \"s3://train\", part_size = \"16 KiB\" }", &format!("{data}\n{load}"));
        // Connections do not depend on the need, which would have to say what it holds of samples of other sizes.
        let text = text.replace("\"8xh100:resnet50\"", "\"1 GB/s\"");
        planned(&text).cells.iter().map(|cell| (cell.queue_depth, cell.connections)).collect()
    };
    let seven = of("dataset.sample_size = \"100 KiB\"", false);
    assert_eq!(seven, [(1, 7), (8, 56), (64, 256), (512, 512)]);
    let many = of("dataset.sample_size = \"100 MiB\"", false);
    assert_eq!(many, [(1, 16), (8, 128), (64, 256), (512, 512)], "no more parts than are under way at once");
    let one = of("dataset.sample_size = \"16 KiB\"", false);
    assert_eq!(one, [(1, 1), (8, 8), (64, 64), (512, 512)], "nothing is cut");
    assert_eq!(of("", true)[0], (1, 16), "of the user's objects the size is not known");
}

#[test]
fn fewer_connections_mean_fewer_threads_and_each_counts_as_an_open_file() {
    let text = only("{ at = \"nfs://filer/e\", connections = 2 }", "load.queue_depth = 512");
    assert_eq!(connections(&planned(&text).cells), [(512, 2, 2)]);
    let limited = |connections: u32| {
        let target = format!("{{ at = \"nfs://filer/e\", connections = {connections} }}");
        resolve_on(&only(&target, "load.queue_depth = 512"), &[], |host| host.open_files_max = 100)
    };
    assert!(limited(64).is_ok());
    assert!(limited(100).is_err());
}

#[test]
fn a_search_for_the_depth_is_one_curve_for_each_number_of_connections() {
    let plan = planned(&only("{ at = \"nfs://filer/e\", connections = [1, 4] }", ""));
    let groups: Vec<_> = plan.cells.iter().map(|cell| cell.auto_group.unwrap()).collect();
    assert_eq!(groups, [[0; 10], [1; 10]].concat());
    let slugs: std::collections::BTreeSet<_> = plan.cells.iter().map(|cell| &cell.slug).collect();
    assert_eq!(slugs.len(), 20);
}

#[test]
fn every_engine_does_what_its_protocol_can() {
    let filer =
        only("{ at = \"nfs://filer/e\" }", "load = { operation = [\"stat\", \"getattr\", \"list\"] }");
    assert!(planned(&filer).cells.iter().all(|cell| cell.engine == Engine::Nfs3 && cell.retries == 0));
    let bucket =
        only("{ at = \"s3://train\" }", "load = { operation = [\"stat\", \"list\", \"read_file\"] }");
    assert!(planned(&bucket).cells.iter().all(|cell| cell.engine == Engine::Lean && cell.retries == 2));
}

#[test]
fn a_container_is_read_as_a_bucket_is() {
    let target = "{ at = \"az://train/bench/\", endpoint = \"https://mine.blob.core.windows.net/\", anonymous = true, \
                  part_size = \"16 KiB\", head = true, ca = \"/etc/ca.pem\", addresses = \"all\" }";
    let plan = planned(&only(target, "load = { operation = \"read_file\", queue_depth = 8 }"));
    assert_eq!(
        plan.targets[0].config,
        BackendConfig::Azure(AzureConfig {
            container: "train".to_owned(),
            prefix: "bench".to_owned(),
            endpoint: Some("https://mine.blob.core.windows.net".to_owned()),
            ca: Some("/etc/ca.pem".into()),
            anonymous: true,
            addresses: Addresses::All,
            part_bytes: Some(16 << 10),
            head: true,
        })
    );
    let cell = &plan.cells[0];
    // 112 KiB of a sample are seven parts.
    assert_eq!((cell.engine, cell.retries, cell.connections), (Engine::Lean, 2, 56));
    let same = planned(&only(&target.replace("az://train", "s3://train"), "load.operation = \"read_file\""));
    assert!(!same.targets[0].config.overlaps(&plan.targets[0].config), "a bucket is no container");
    let below = planned(&only(&target.replace("bench", "bench/below"), "load.operation = \"read_file\""));
    assert!(below.targets[0].config.overlaps(&plan.targets[0].config));
}

#[test]
fn what_is_s3s_alone_is_refused_of_a_container() {
    for (key, says) in [
        ("region = \"r\"", "`region` is for s3:// targets"),
        ("style = \"path\"", "`style` is for s3:// targets"),
        ("profile = \"p\"", "`profile` is for s3:// targets"),
        ("prefixes = 4", "`prefixes` is for s3:// targets"),
        ("checksum = true", "`checksum` is for s3:// targets"),
        ("emulate = { profile = \"s3-like\" }", "`emulate` is for paths, nfs:// and s3:// targets"),
        ("engine = \"sdk\"", "sdk"),
        ("direct = true", "takes no part here"),
    ] {
        let refused =
            resolve(&only(&format!("{{ at = \"az://train\", {key} }}"), "")).unwrap_err().to_string();
        assert!(refused.contains(says), "{key}: {refused}");
    }
    assert!(resolve(&only("{ at = \"az://train\" }", "load.operation = \"getattr\"")).is_err());
}

#[test]
fn a_signature_in_an_address_is_refused_and_not_shown() {
    for at in ["az://train/p?sv=1&sig=hunter2%3D&sp=r", "https://mine.blob.core.windows.net/c?sig=hunter2"] {
        let refused = resolve(&only(&format!("{{ at = \"{at}\" }}"), "")).unwrap_err().to_string();
        assert!(refused.contains("sig=*******") && !refused.contains("hunter2"), "{refused}");
    }
}

#[test]
fn files_of_the_users_may_lie_behind_a_network() {
    let plan = planned(&only("{ at = \"s3://train/imagenet\" }", "dataset.source = \"existing\""));
    assert_eq!(plan.datasets, [plan::DatasetSpec::Existing(plan::Existing::any(None))]);
}

#[test]
fn an_emulated_server_is_what_its_profile_says_and_what_is_written_over_it() {
    let target = "{ at = \"s3://demo\", emulate = { profile = \"s3-like\", first_byte = { p50 = \"20ms\", \
                  p99 = \"90ms\" }, faults = { slow_down = 0.02 } } }";
    let emulation = planned(&only(target, "")).targets.remove(0).emulate.unwrap();
    let profile = plan::profile("s3-like").unwrap();
    assert_eq!(emulation.first_byte, Some(plan::Delay::LogNormal { p50_ns: 20_000_000, p99_ns: 90_000_000 }));
    assert_eq!(emulation.requests_per_s, profile.requests_per_s);
    assert!((emulation.faults.slow_down - 0.02).abs() < 1e-12);
}

#[test]
fn remotes_need_no_machine_and_leave_out_what_feedline_starts() {
    let text = "targets.a.at = \"/mnt/a\"\ntargets.b = { at = \"s3://train/x\", anonymous = true }\n\
                targets.c = { at = \"nfs://filer/e\", emulate = {} }\n";
    let parse = |text: &str| scenario::parse(&Source { name: "s.toml".into(), text: text.into() }, &[]);
    let remotes = parse(text).remotes().unwrap();
    let [(at, BackendConfig::S3(config))] = remotes.as_slice() else { panic!("{remotes:?}") };
    assert_eq!((at.as_str(), &config.keys), ("s3://train/x", &Keys::Anonymous));
    assert!(parse("targets.a.at = \"s3://x\"").remotes().is_err());
}

#[test]
fn wrong_urls_are_refused_with_what_to_write() {
    let addresses = [
        "nfs://filer",
        "nfs://root@filer/export",
        "nfs://filer/export#x",
        "nfs://filer/export?version=4",
        "nfs://filer:2049/export?nfsport=2049",
        "nfs://filer:99999/export",
        "nfs://fd00::1/export",
        "nfs://[fd00::1/export",
        "nfs:///export",
        "nfs://filer/a/../b",
        "s3://",
        "s3://ab",
        "s3://AKIAEXAMPLE:secret@bucket/x",
        "s3://bucket/a%20b",
        "s3://bucket/a//b",
        "s3://bucket?region=eu",
        "s3://bucket#x",
    ];
    let texts: Vec<_> = addresses.iter().map(|at| only(&format!("{{ at = \"{at}\" }}"), "")).collect();
    insta::assert_snapshot!(refusals(&texts));
}

#[test]
fn keys_of_other_kinds_of_targets_are_refused() {
    let lines = [
        "targets.b = { at = \"/mnt/b\", connections = 8, retries = 1, region = \"x\", emulate = {} }",
        "targets.b = { at = \"nfs://filer/e\", direct = true, registered = \"off\", prefixes = 4, head = true, \
         price = { currency = \"USD\" } }",
        "targets.b = { at = \"s3://bucket\", madvise = \"random\", on_unavailable = \"skip\" }",
        "targets.b = { at = \"null:\", connections = 4, server_memory = \"1 GB\" }",
        "targets.b = { at = \"/mnt/b\", engine = [\"lean\", \"io_uring\"] }",
        "targets.b = { at = \"nfs://filer/e\", engine = \"lean\" }",
        "targets.b = { at = \"s3://bucket\", engine = [\"nfs3\", \"sdk\"] }",
        "targets.b = { at = \"s3://bucket\", part_size = \"8 MiB\", head = true }",
        "targets.b = { at = \"s3://bucket\", prefixes = 8 }\ndataset.source = \"existing\"",
        "targets.b = { at = \"s3://bucket\", profile = \"a\", anonymous = true }",
        "targets.b = { at = \"s3://bucket\", endpoint = \"bucket.example.com\" }",
        "targets.b = { at = \"s3://bucket\", endpoint = \"https://id:secret@example.com\" }",
        "targets.b = { at = \"nfs://filer/e\", connections = [2, 8] }\nload = { queue_depth = 64, threads = 4 }",
        "targets.b = { at = \"s3://bucket\", connections = [4, 9, 64] }\nload = { queue_depth = [1, 8] }",
        "targets.b = { at = \"s3://bucket\", connections = 129, part_size = \"1 MiB\" }\n\
         dataset = { source = \"existing\" }\nload = { queue_depth = 8, operation = \"read_file\" }",
        "load = { operation = \"getattr\" }",
        "targets.b = { at = \"s3://bucket\" }\nload = { operation = [\"getattr\", \"stat\"] }",
    ];
    let texts: Vec<_> = lines.iter().map(|line| with(line)).collect();
    insta::assert_snapshot!(refusals(&texts));
}

#[test]
fn servers_that_feedline_starts_are_refused_what_is_about_others() {
    let targets = [
        "{ at = \"s3://demo\", emulate = { profile = \"s3\" } }",
        "{ at = \"s3://demo\", emulate = { first_byte = 20 } }",
        "{ at = \"s3://demo\", emulate = { first_byte = { from = \"1ms\", p99 = \"9ms\" } } }",
        "{ at = \"s3://demo\", emulate = { metadata = { from = \"9ms\", to = \"1ms\" } } }",
        "{ at = \"s3://demo\", emulate = { faults = { reset = 0.6, stall = 0.6 } } }",
        "{ at = \"s3://demo\", emulate = { faults = { reset = 5, stal = 0.1 } } }",
        "{ at = \"s3://demo\", emulate = \"s3-like\" }",
        "{ at = \"s3://demo\", emulate = {}, endpoint = \"http://h\", price = { per_gb = 1 } }",
    ];
    let mut texts: Vec<_> = targets.iter().map(|target| only(target, "")).collect();
    texts.push(only("{ at = \"nfs://demo/e\", emulate = {} }", "dataset.source = \"existing\""));
    insta::assert_snapshot!(refusals(&texts));
}

#[test]
fn a_cache_of_this_machine_is_refused_where_no_target_has_one() {
    let texts = [
        only("{ at = \"nfs://filer/e\" }", "load.cache = [\"cold\", \"bypass\"]"),
        only("{ at = \"s3://bucket\" }", "load.cache = \"warm\""),
    ];
    insta::assert_snapshot!(refusals(&texts));
    assert!(resolve(&only("{ at = \"s3://bucket\" }", "load.cache = \"bypass\"")).is_ok());
}
