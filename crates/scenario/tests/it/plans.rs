//! Snapshots of resolved plans, in a compact form.

use std::fmt::Write as _;

use feed::Compared;
use plan::{Access, BackendConfig, Cell, Engine, Evidence, Gate, Load, Margin, MayDiffer, Operation, Plan};

use crate::machine::{held, resolve, resolve_on, with};

/// Everything of a plan that a user would want to check, a line for each thing.
pub(crate) fn describe(plan: &Plan) -> String {
    let mut text = String::new();
    writeln!(text, "{} {:?}; {} at {}", plan.name, plan.title, plan.need.label, plan.need.utilization)
        .unwrap();
    plan.need.caveats.iter().for_each(|caveat| writeln!(text, "caveat: {caveat}").unwrap());
    plan.datasets.iter().for_each(|dataset| writeln!(text, "{dataset:?}").unwrap());
    plan.targets.iter().for_each(|target| writeln!(text, "{target:?}").unwrap());
    plan.skipped.iter().for_each(|skipped| writeln!(text, "{skipped:?}").unwrap());
    writeln!(text, "{:?}\n{:?}", plan.measure, plan.gate).unwrap();
    plan.cells.iter().for_each(|cell| writeln!(text, "{}", line(cell)).unwrap());
    text
}

fn line(cell: &Cell) -> String {
    let mut line = format!(
        "{} t{} d{} x{} batch {} {} seed {}",
        cell.slug,
        cell.target,
        cell.dataset,
        cell.threads,
        cell.submit_batch,
        cell.registered.name(),
        cell.seed
    );
    if let Some(group) = cell.auto_group {
        write!(line, " auto {group}").unwrap();
    }
    if let Some(reason) = &cell.stands_in_for {
        write!(line, " [{reason}]").unwrap();
    }
    if cell.operation() != Operation::Read {
        write!(line, " {:?} in {} B", cell.operation(), cell.block_bytes).unwrap();
    }
    if cell.engine == Engine::Mmap {
        write!(line, " {:?}", cell.advice).unwrap();
    }
    if let Load::Paced(pace) = cell.load {
        write!(line, " {pace:?}").unwrap();
    }
    if let Load::Training(training) = cell.load {
        write!(line, " {training:?}").unwrap();
    }
    line
}

fn described(text: &str) -> String {
    describe(&resolve(text).unwrap_or_else(|diagnostics| panic!("{diagnostics}")))
}

#[test]
fn writes_have_data_of_their_own_and_are_kept_in_each_way() {
    insta::assert_snapshot!(described(
        "version = 1\nneed = { write_rate = \"1 GB/s\" }\ntargets.data = { at = \"/mnt/data/bench\" }\n\
         load = { operation = [\"read\", \"write\"], durability = [\"data\", \"none\"], queue_depth = 8 }\n"
    ));
}

#[test]
fn whole_objects_are_written_anew_by_the_engine_that_can_and_sizes_may_spread() {
    insta::assert_snapshot!(described(
        "version = 1\nneed = { write_rate = \"1 GB/s\" }\ntargets.data = { at = \"/mnt/data/bench\" }\n\
         targets.s3 = { at = \"s3://bucket/run\" }\nload = { operation = \"write_file\", queue_depth = 8 }\n\
         dataset = { sample_size = \"3 MB\", distribution = \"lognormal\", sample_size_stdev = \"1 MB\" }\n"
    ));
}

#[test]
fn a_need_of_reads_and_writes_is_a_mix_of_its_own_share() {
    let both = "version = 1\nneed = { rate = \"1 GB/s\", write_rate = \"250 MB/s\" }\n\
                targets.data = { at = \"/mnt/data/bench\" }\nload.queue_depth = 8\n";
    let listed =
        "load.operation = [\"read\", \"write\", \"mix\"]\nload.mix = { write = [\"10 %\", \"50 %\"] }\n";
    insta::assert_snapshot!(format!("{}\n{}", described(both), described(&format!("{both}{listed}"))));
}

#[test]
fn needs_of_a_list_are_added_up() {
    let text = "version = 1\nneed = [\n  \"8xh100:resnet50\",\n  { rate = \"1 GB/s\", utilization = 0.9 },\n  \
                { write_rate = \"500 MB/s\", utilization = 0.9 },\n  { checkpoint = { bytes = \"1 GB\", within = \"10s\" } },\n]\n\
                targets.data = { at = \"/mnt/data/bench\" }\nload.queue_depth = 8\ndataset.sample_size = \"1 MiB\"\n";
    let need = resolve(text).unwrap_or_else(|diagnostics| panic!("{diagnostics}")).need;
    let resnet = feed::NeedSpec::parse_short("8xh100:resnet50").unwrap().resolve().unwrap();
    let own_bps = resnet.demand_bps(resnet.sample_bytes().unwrap());
    assert_eq!((need.demand_bps(1.0), need.write_bps, need.utilization), (own_bps + 1e9, Some(5e8), 0.9));
    assert_eq!((need.accelerators, need.checkpoint.map(|of| of.bytes)), (0, Some(1_000_000_000)));
    assert!(need.parts.is_empty(), "some read, and some write");
    assert!(
        need.label.starts_with("8 x h100 resnet50 and 1 GB/s and 500 MB/s written and "),
        "{}",
        need.label
    );
}

#[test]
fn the_shortest_scenario_has_careful_defaults() {
    insta::assert_snapshot!(described(&with("")));
}

#[test]
fn every_axis_multiplies() {
    insta::assert_snapshot!(described(&held(
        "targets.b = { at = \"/mnt/b\", engine = [\"io_uring\", \"pread\"], direct = [true, false], title = \"B\", \
         about = \"a disk\", registered = \"required\" }\n\
         [dataset]\nsamples = 64\nsample_size = [\"114660 B\", \"4 MiB\"]\nseed = 9\n\
         [load]\nqueue_depth = [1, 200]\naccess = [\"sequential\", \"random\"]\n\
         [measure]\nseed = 3\nduration = \"7s\"\nwarmup = \"0s\"\nbudget = \"1h\"\ncell_order = \"file\"\n\
         [gate]\nfeeds = [\"b\"]\np99 = \"20ms\"",
    )));
}

#[test]
fn every_key_of_a_gate_reaches_the_plan() {
    let plan = resolve(&with(
        "load.queue_depth = [1, 32]\ngate = { feeds = [\"data\"], utilization = \"95 %\", p99 = \"20ms\", at = 32, \
         regression = { p99 = \"25 %\", throughput = \"10 %\" }, baseline = \"nightly\", runs = 12, \
         may_differ = [\"kernel\", \"host\"], evidence = \"proof\", proof = { runs = 5 } }",
    ));
    let margin = |metric, share| Margin { metric, share };
    let expected = Gate {
        feeds: vec!["data".to_owned()],
        p99_ns: Some(20_000_000),
        utilization: Some(0.95),
        at_depth: Some(32),
        regression: vec![margin(Compared::Throughput, 0.1), margin(Compared::P99, 0.25)],
        calibration: None,
        baseline: Some("nightly".to_owned()),
        runs: Some(12),
        may_differ: vec![MayDiffer::Kernel, MayDiffer::Host],
        evidence: Evidence::Proof { runs: 5, span_ns: 86_400_000_000_000 },
    };
    assert_eq!(plan.unwrap().gate, expected);
    let calibrated = resolve(&with("gate.regression = \"results/noise.json\"")).unwrap().gate;
    assert_eq!(calibrated.calibration.as_deref(), Some("results/noise.json"));
    assert!(calibrated.feeds.is_empty() && calibrated.regression.is_empty());
}

#[test]
fn bytes_and_epochs_have_no_warm_up() {
    let plan = described(&with("measure.epochs = 2"));
    assert!(plan.contains("warmup_ns: 0, limit: Epochs { epochs: 2 }"), "{plan}");
}

#[test]
fn paths_decide_the_cache() {
    insta::assert_snapshot!(described(
        "version = 1\nneed = \"2.5 GB/s\"\n[targets]\nnull = { at = \"null:\" }\ndirect = { at = \"/mnt/a\" }\n\
         buffered = { at = \"/buffered/a\" }\n[load]\nqueue_depth = 4\n",
    ));
}

#[test]
fn memory_may_be_measured_for_what_it_is() {
    insta::assert_snapshot!(described(
        "version = 1\nneed = { batch = 32, step_time = \"100ms\", sample_size = \"150000 B\", count = 4, hosts = 2, \
         utilization = 0.8 }\ntargets.shm = { at = \"/shm/a\" }\nload = { queue_depth = 4, cache = \"warm\" }\n",
    ));
}

#[test]
fn files_of_the_users() {
    let text = "version = 1\nneed = { tokens_per_second = 2e6, token_size = \"2 B\" }\n\
                targets.a = { at = \"/readonly/a\" }\ndataset.source = \"existing\"\nload.queue_depth = [64, 65]\n";
    let stated = format!("{text}dataset.sample_size = \"6000 B\"\n");
    insta::assert_snapshot!(format!("{}\n{}", described(text), described(&stated)));
}

#[test]
fn whole_files_and_their_names() {
    insta::assert_snapshot!(described(&with(
        "targets.b = { at = \"/mnt/b\", engine = [\"pread\"] }\ntargets.null = { at = \"null:\" }\n\
         [dataset]\ndistribution = \"lognormal\"\nsample_size_stdev = \"50 kB\"\nfiles_per_folder = 100000\n\
         [load]\noperation = [\"read_file\", \"stat\"]\nqueue_depth = [1, 128]\n\
         block_size = [\"16 KiB\", \"1 MiB\"]",
    )));
}

#[test]
fn folders_are_listed_by_pread_without_asking() {
    insta::assert_snapshot!(described(&with("load = { operation = \"list\", queue_depth = 4 }")));
}

#[test]
fn a_map_is_advised_and_the_others_are_not() {
    insta::assert_snapshot!(described(
        "version = 1\nneed = \"2.5 GB/s\"\n[targets.a]\nat = \"/mnt/a\"\n\
         engine = [\"io_uring\", \"mmap\"]\nmadvise = [\"normal\", \"willneed\"]\n\
         [load]\nqueue_depth = [1, 8]\nblock_size = \"4 KiB\"\n",
    ));
}

#[test]
fn a_paced_load_has_one_depth_and_many_rates() {
    let rates =
        with("load = { mode = \"paced\", rate = [\"line\", \"7 %\", \"2.5 GB/s\"], spin = \"60us\" }");
    let steps = with("load = { mode = \"paced\", arrivals = \"batch\", queue_depth = [8, 16] }");
    insta::assert_snapshot!(format!("{}\n{}", described(&rates), described(&steps)));
}

#[test]
fn a_step_is_that_of_this_client() {
    let need = "need = { workload = \"resnet50\", accelerator = \"h100\", count = 8, hosts = 4 }";
    let text =
        with("load = { mode = \"paced\", arrivals = \"batch\" }").replace("need = \"8xh100:resnet50\"", need);
    let plan = resolve(&text).unwrap();
    let Load::Paced(pace) = plan.cells[0].load else { panic!("{:?}", plan.cells[0].load) };
    assert_eq!(pace.arrivals, plan::Arrivals::Batch { samples: 800 });
}

#[test]
fn submissions_as_written_are_those_of_a_ring() {
    let plan = resolve(&with(
        "targets.b = { at = \"/mnt/b\", engine = \"pread\" }\n\
         load = { queue_depth = [8, 16], submit_batch = 4, access = [\"sequential\", \"random\"] }",
    ))
    .unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let batches = |engine: Engine| {
        let of_engine = plan.cells.iter().filter(move |cell| cell.engine == engine);
        of_engine.map(|cell| cell.submit_batch).collect::<Vec<_>>()
    };
    assert_eq!(batches(Engine::IoUring), [4; 4]);
    assert_eq!(batches(Engine::Pread), [1; 4]);
    let by_default =
        resolve(&with("load = { queue_depth = 8, access = [\"sequential\", \"random\"] }")).unwrap();
    let batch = |access| by_default.cells.iter().find(|cell| cell.access == access).unwrap().submit_batch;
    assert_eq!((batch(Access::Sequential), batch(Access::Random)), (2, 8));
}

#[test]
fn pages_are_those_of_a_loader_and_said_where_they_are_not() {
    let cells = |load: &str| -> Vec<(&str, Option<String>, bool)> {
        let plan = resolve(&with(load)).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let said = |cell: &Cell| Some(cell.axes.iter().find(|axis| axis.name == "pages")?.value.clone());
        let one = |cell: &Cell| (cell.pages.name(), said(cell), cell.slug.contains("-pages/"));
        plan.cells.iter().map(one).collect()
    };
    let said = |word: &'static str| (word, Some(word.to_owned()), true);
    assert_eq!(cells("load = { queue_depth = 8 }"), [("base", None, false)]);
    assert_eq!(cells("load = { queue_depth = 8, pages = \"base\" }"), [("base", None, false)]);
    assert_eq!(cells("load = { queue_depth = 8, pages = \"huge\" }"), [said("huge")]);
    assert_eq!(
        cells("load = { queue_depth = 8, pages = [\"base\", \"huge\"] }"),
        [said("base"), said("huge")]
    );
    let mixed = "load = { queue_depth = 8, operation = [\"read\", \"stat\"], pages = [\"base\", \"huge\"] }";
    assert_eq!(cells(mixed), [said("base"), said("huge"), ("base", None, false)], "names need no pages");
    let refused =
        resolve(&with("load = { operation = \"stat\", pages = \"huge\" }")).unwrap_err().to_string();
    assert!(refused.contains("`load.pages` means nothing where no bytes are moved"), "{refused}");
}

#[test]
fn threads_are_beside_the_device_where_that_is_asked() {
    let cells = |text: &str| -> Vec<(&str, Option<String>, String)> {
        let plan = resolve(text).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let said = |cell: &Cell| Some(cell.axes.iter().find(|axis| axis.name == "numa")?.value.clone());
        let word = |cell: &Cell| cell.slug.split('/').filter(|word| word.starts_with("numa-")).collect();
        plan.cells.iter().map(|cell| (cell.numa.name(), said(cell), word(cell))).collect()
    };
    let any = ("any", None, String::new());
    let said = |word: &'static str| (word, Some(word.to_owned()), format!("numa-{word}"));
    assert_eq!(cells(&with("load = { queue_depth = 8, numa = \"any\" }")), std::slice::from_ref(&any));
    assert_eq!(cells(&with("load = { queue_depth = 8, numa = \"device\" }")), [said("device")]);
    let both =
        with("targets.null = { at = \"null:\" }\nload = { queue_depth = 8, numa = [\"any\", \"device\"] }");
    assert_eq!(cells(&both), [said("any"), said("device"), any], "nothing lies anywhere without storage");
    let nowhere = "version = 1\nneed = { rate = \"1 GB/s\" }\ndataset = { size = \"64 MiB\", sample_size = \"1 MiB\" }\n\
                   targets.null = { at = \"null:\" }\nload = { queue_depth = 8, numa = \"device\" }";
    let refused = resolve(nowhere).unwrap_err().to_string();
    assert!(refused.contains("`load.numa` means nothing where there is no storage"), "{refused}");
}

#[test]
fn a_deep_queue_of_direct_reads_is_refilled_in_parts() {
    let batches = |load: &str| -> Vec<u32> {
        let plan = resolve(&with(load)).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        plan.cells.iter().map(|cell| cell.complete_batch).collect()
    };
    assert_eq!(batches("load = { queue_depth = [1, 8, 32, 64], access = \"random\" }"), [1, 1, 4, 8]);
    assert_eq!(batches("load = { queue_depth = 32, access = \"sequential\" }"), [1]);
    assert_eq!(batches("load = { queue_depth = 32, cache = \"warm\" }"), [1]);
    assert_eq!(batches("load = { queue_depth = 32, mode = \"paced\" }"), [1]);
    assert_eq!(batches("load = { queue_depth = 32, complete_batch = 2 }"), [2]);
}

#[test]
fn a_block_device_is_read_in_samples_of_the_need() {
    let text = "version = 1\nneed = \"8xh100:resnet50\"\ntargets.raw = { at = \"/dev/nvme0n1\" }\n\
                dataset.source = \"existing\"\nload.queue_depth = [1, 64]\n";
    insta::assert_snapshot!(described(text));
    let stated = format!("{text}dataset.sample_size = \"1 MiB\"\ntargets.b = {{ at = \"/mnt/b\" }}\n");
    let plan = resolve(&stated).unwrap_or_else(|e| panic!("{e}"));
    let files = plan::Existing { layout: Some(plan::Layout::Files), ..plan::Existing::any(Some(1 << 20)) };
    assert_eq!(plan.datasets, [plan::DatasetSpec::Existing(files)]);
    assert!(matches!(plan.targets[0].config, BackendConfig::Device { .. }));
    assert!(matches!(plan.targets[1].config, BackendConfig::File { .. }));
}

#[test]
fn a_workload_that_states_its_spread_needs_no_other() {
    let text = with("dataset = { distribution = \"lognormal\", samples = 10 }");
    for need in ["8xh100:unet3d", "8xb200:unet3d"] {
        let plan = resolve(&text.replace("8xh100:resnet50", need)).unwrap_or_else(|e| panic!("{e}"));
        let expected = plan::Distribution::LogNormal { stdev_bytes: 68_341_808 };
        let plan::DatasetSpec::Generate(plan::Generate { sample_bytes, distribution, .. }) = plan.datasets[0]
        else {
            panic!()
        };
        assert_eq!((sample_bytes, distribution), (146_600_628, expected));
    }
}

/// Whole files are opened one by one: a limit that forbids as many at once as the dataset has does not matter.
#[test]
fn open_files_are_those_under_way() {
    let limited = |operation: &str, depth: u32| {
        let text = with(&format!("load = {{ operation = \"{operation}\", queue_depth = {depth} }}"));
        resolve_on(&text, &[], |host| host.open_files_max = 64)
    };
    assert!(limited("read_file", 40).is_ok());
    assert!(limited("read_file", 64).is_err());
    assert!(limited("stat", 64).is_ok());
    assert!(limited("list", 17).is_err(), "17 folders, 17 threads with 2 files each, and 16 others");
    let device = "version = 1\nneed = \"8xh100:resnet50\"\ntargets.raw = { at = \"/dev/a\" }\n\
                  dataset.source = \"existing\"\nload.queue_depth = 512\n";
    assert!(resolve_on(device, &[], |host| host.open_files_max = 64).is_ok());
}

#[test]
fn threads_as_written_never_exceed_the_depth() {
    insta::assert_snapshot!(described(&with("load = { threads = 6, queue_depth = [1, 8, 64] }")));
}

#[test]
fn a_missing_io_uring_is_skipped_or_replaced() {
    let without_ring = |text: &str| {
        let plan = resolve_on(text, &[], |host| host.io_uring = Err("memlock is 8 MiB".to_owned()));
        describe(&plan.unwrap_or_else(|diagnostics| panic!("{diagnostics}")))
    };
    let target = |otherwise: &str| {
        with(&format!(
            "load.queue_depth = [2, 4]\ntargets.data.engine = [\"io_uring\", \"pread\"]\n\
             targets.data.on_unavailable = \"{otherwise}\""
        ))
        .replace("targets.data = { at = \"/mnt/bench\" }", "targets.data.at = \"/mnt/bench\"")
    };
    insta::assert_snapshot!(format!("{}\n{}", without_ring(&target("skip")), without_ring(&target("pread"))));
}

#[test]
fn targets_and_curves_keep_the_order_of_the_file() {
    let plan = resolve(&with("targets.zebra.at = \"/z\"\ntargets.ant.at = \"/a\"")).unwrap();
    let names: Vec<_> = plan.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["data", "zebra", "ant"]);
    let groups: Vec<_> = plan.cells.iter().map(|cell| cell.auto_group.unwrap()).collect();
    assert_eq!(groups, [[0; 10], [1; 10], [2; 10]].concat());
}

#[test]
fn two_targets_on_one_path_are_one_dataset_on_disk() {
    let twice = "targets.b = { at = \"/small/x\" }\ntargets.c = { at = \"/small/x\", engine = \"pread\" }\n\
                 dataset.size = \"8 GiB\"";
    assert!(resolve(&with(twice)).is_ok());
}

#[test]
fn cells_are_named_apart() {
    let plan = resolve(&held(
        "targets.b = { at = \"/b\", engine = [\"io_uring\", \"pread\"] }\n\
         [dataset]\nsample_size = [\"1025 KiB\", \"1 MiB\", \"1000001 B\"]\n\
         [load]\nblock_size = [\"512 B\", \"1 KiB\", \"1000448 B\"]\naccess = [\"random\", \"sequential\"]\n\
         cache = [\"cold\", \"warm\", \"bypass\"]\nqueue_depth = [1, 2]",
    ))
    .unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let slugs: std::collections::BTreeSet<_> = plan.cells.iter().map(|cell| &cell.slug).collect();
    assert_eq!((plan.cells.len(), slugs.len()), (324, 324));
    let plan = resolve(&with(
        "targets.b = { at = \"/b\", engine = [\"io_uring\", \"pread\"] }\n[load]\nqueue_depth = [1, 2]\n\
         operation = [\"read\", \"read_file\", \"stat\"]\nblock_size = [\"4 KiB\", \"8 KiB\"]\n\
         cache = [\"cold\", \"warm\"]",
    ))
    .unwrap();
    let slugs: std::collections::BTreeSet<_> = plan.cells.iter().map(|cell| &cell.slug).collect();
    assert_eq!((plan.cells.len(), slugs.len()), (60, 60));
}

#[test]
fn a_copy_is_a_cell_beside_the_others() {
    let text = with(
        "targets.disk = { at = \"s3://train/bench\" }\nload.queue_depth = [4, 24]\n\
         copy = { from = \"disk\", to = \"data\", pack = \"webdataset\", keep = true }",
    );
    let plan = resolve(&text).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let copies: Vec<_> = plan.cells.iter().filter(|cell| cell.task.copy().is_some()).collect();
    let [cell] = copies.as_slice() else { panic!("{copies:?}") };
    assert_eq!(cell.slug, "disk->data/lean/copy/114660B/112KiB/webdataset/t24");
    let copy = cell.task.copy().unwrap();
    let packing = copy.packing.unwrap();
    assert_eq!((plan.target(cell).name.as_str(), plan.targets[copy.to].name.as_str()), ("disk", "data"));
    assert_eq!((cell.threads, cell.queue_depth, cell.connections, cell.retries), (24, 24, 24, 2));
    assert_eq!((packing.members, packing.shard_bytes, copy.keep), (2, 256 << 20, true));
}

#[test]
fn a_cache_tier_is_an_axis_of_the_targets_that_are_read_through_it() {
    let text = "version = 1\nneed = \"1 GB/s\"\ntargets.disk.at = \"/mnt/bench\"\ntargets.s3.at = \"s3://train/bench\"\n\
                cache_tier = { at = \"/mnt/cache\", capacity = \"2 GB\", policy = [\"none\", \"lru\"] }\n\
                load.queue_depth = 4\n";
    let tiers = |text: &str| -> Vec<(usize, Option<plan::TierPolicy>)> {
        let plan = crate::machine::resolve(text).unwrap();
        plan.cells.iter().map(|cell| (cell.target, cell.tier.as_ref().map(|tier| tier.policy))).collect()
    };
    let lru = Some(plan::TierPolicy::Lru);
    assert_eq!(tiers(text), [(0, None), (1, None), (1, lru)], "behind a network alone, unless named");
    let named = text.replace("policy", "targets = [\"disk\"], policy");
    assert_eq!(tiers(&named), [(0, None), (0, lru), (1, None)]);
    let plan = crate::machine::resolve(text).unwrap();
    assert!(plan.cells[2].slug.contains("/tier-lru/") && plan.cells[1].slug.contains("/tier-none/"));
    assert_eq!(plan.cells[2].tier.as_ref().unwrap().capacity_bytes, 2_000_000_000);
}

#[test]
fn advice_is_an_axis_of_the_cells_that_read_open_files_through_the_page_cache() {
    let slugs = |lines: &str| -> Vec<(String, &'static str)> {
        let plan = resolve(&with(lines)).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        plan.cells.into_iter().map(|cell| (cell.slug, cell.advice.name())).collect()
    };
    let of = |load: &str| slugs(&format!("load = {{ queue_depth = 4, {load} }}"));
    let cell =
        |words: &str, advice| (format!("data/io_uring/114660B/112KiB/shuffled_epoch/{words}/qd4"), advice);
    let both = "fadvise = [\"normal\", \"random\"]";
    assert_eq!(of("cache = \"cold\", fadvise = \"normal\""), [cell("cold", "normal")], "as without it");
    assert_eq!(of("cache = \"cold\", fadvise = \"random\""), [cell("cold/fadvise-random", "random")]);
    let listed = [cell("cold/fadvise-normal", "normal"), cell("cold/fadvise-random", "random")];
    assert_eq!(of(&format!("cache = \"cold\", {both}")), listed);
    let beside = of(&format!("cache = [\"bypass\", \"cold\"], {both}"));
    assert_eq!(
        beside,
        [&[cell("bypass", "normal")], &listed[..]].concat(),
        "direct I/O takes none, and is once there"
    );
    // Nobody asked for direct I/O, which cannot read these samples: they are read through the page cache, with advice.
    let packed = slugs(&format!(
        "dataset = {{ layout = [\"files\", \"tfrecord\"] }}\n\
         load = {{ queue_depth = 4, access = \"shuffled_epoch\", {both} }}"
    ));
    let advice: Vec<_> = packed.iter().map(|(slug, advice)| (slug.contains("/tfrecord/"), *advice)).collect();
    assert_eq!(advice, [(false, "normal"), (true, "normal"), (true, "random")], "{packed:?}");
    let maps = slugs(
        "targets.map = { at = \"/mnt/map\", engine = [\"pread\", \"mmap\"], madvise = \"sequential\" }\n\
         load = { queue_depth = 4, cache = \"cold\", fadvise = \"random\" }",
    );
    let advice: Vec<_> = maps.iter().map(|(_, advice)| *advice).collect();
    assert_eq!(advice, ["random", "random", "sequential"], "each engine its own: {maps:?}");
}
