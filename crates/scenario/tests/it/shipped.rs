//! Scenarios that come with feedline.

use std::path::PathBuf;

use plan::{DatasetSpec, Fetch, Limit, Load, Plan};
use scenario::Source;

use crate::machine::machine;
use crate::schema::schema;

const NEED: &str = "8xh100:resnet50";

pub(crate) fn resolved(source: &Source) -> Plan {
    let scenario = scenario::parse(source, &[]);
    let host = machine(&scenario.local_paths());
    scenario::resolve(&scenario, &host).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

pub(crate) fn shipped() -> Vec<(String, Source)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut shipped: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name.clone(), Source { name, text: std::fs::read_to_string(path).unwrap() })
        })
        .collect();
    shipped.sort_by(|a, b| a.0.cmp(&b.0));
    shipped
}

pub(crate) fn assert_valid(name: &str, text: &str) {
    let value: toml::Value = toml::from_str(text).unwrap();
    let value = serde_json::to_value(value).unwrap();
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{name}: {errors:?}");
}

#[test]
fn shipped_scenarios_resolve_and_match_the_schema() {
    let shipped = shipped();
    assert!(shipped.len() >= 2);
    for (name, source) in shipped {
        assert!(source.text.starts_with("#:schema ../schema/scenario-v1.json\n# Why: "), "{name}");
        assert_valid(&name, &source.text);
        assert_eq!(format!("{}.toml", resolved(&source).name), name);
    }
}

/// Sixteen short cells, labelled so; under a minute and a half with the ceiling and the confirmation.
#[test]
fn the_quick_start_is_quick() {
    let (_, source) = shipped().into_iter().find(|(name, _)| name == "quickstart.toml").unwrap();
    let plan = resolved(&source);
    assert_eq!(plan.cells.len(), 16);
    assert!(plan.title.as_ref().is_some_and(|title| title.contains("quick look")));
    let Limit::Duration { duration_ns } = plan.measure.limit else { panic!("{:?}", plan.measure.limit) };
    let measured_ns = (plan.measure.warmup_ns + duration_ns) * u64::from(plan.measure.repetitions) * 16;
    assert!(measured_ns <= 40_000_000_000, "{measured_ns}");
    let written: u64 = plan.datasets.iter().filter_map(DatasetSpec::total_bytes).sum();
    assert!(written <= (1 << 30) + (4 << 20), "{written}");
}

/// Cells as the head of each file states them, a few minutes, and at most 4 GiB (30 samples of unet3d are a little
/// more).
#[test]
fn the_local_scenarios_are_as_long_as_they_say() {
    let stated = [
        ("direct-vs-buffered.toml", 18),
        ("files-on-nvme.toml", 16),
        ("files-or-shards.toml", 12),
        ("imagenet-files.toml", 8),
        ("llm-tokens.toml", 15),
        ("queue-depth.toml", 32),
    ];
    for (name, cells) in stated {
        let (_, source) = shipped().into_iter().find(|(found, _)| found == name).unwrap();
        let plan = resolved(&source);
        assert_eq!(plan.cells.len(), cells, "{name}");
        assert!(source.text.contains(&format!("{cells} cells of ")), "{name}");
        let Limit::Duration { duration_ns } = plan.measure.limit else { panic!("{:?}", plan.measure.limit) };
        let repetitions = u64::from(plan.measure.repetitions) * cells as u64;
        let measured_ns = (plan.measure.warmup_ns + duration_ns) * repetitions;
        let budget_ns = plan.measure.budget_ns.unwrap();
        assert!(measured_ns <= 300_000_000_000 && budget_ns >= measured_ns * 3 / 2, "{name}: {measured_ns}");
        let written: u64 = plan.datasets.iter().filter_map(DatasetSpec::total_bytes).sum();
        assert!(written <= (4 << 30) + (128 << 20), "{name}: {written}");
    }
}

/// Cells as the head of each file states them, a minute or two if the storage keeps up, and no sample read twice.
#[test]
fn the_training_scenarios_are_as_long_as_they_say() {
    for (name, cells, most_s) in [
        ("training-resnet50.toml", 3, 90),
        ("training-unet3d.toml", 3, 30),
        ("training-readers.toml", 13, 100),
    ] {
        let (_, source) = shipped().into_iter().find(|(found, _)| found == name).unwrap();
        let plan = resolved(&source);
        assert!(source.text.contains(&format!("{cells} cells of ")), "{name}");
        assert_eq!(plan.cells.len(), cells, "{name}");
        let Limit::Steps { steps, otherwise_ns } = plan.measure.limit else {
            panic!("{:?}", plan.measure.limit)
        };
        let measured_ns = otherwise_ns * u64::from(plan.measure.repetitions) * cells as u64;
        assert!(measured_ns <= most_s * 1_000_000_000, "{name}: {measured_ns}");
        let DatasetSpec::Generate(plan::Generate { samples, sample_bytes, .. }) = plan.datasets[0] else {
            panic!("{name}")
        };
        assert!(samples * sample_bytes <= (4 << 30) + (16 << 20), "{name}");
        for cell in &plan.cells {
            if let Load::Training(training) = cell.load {
                assert!(steps * training.samples_per_step() <= samples, "{name}");
                assert_eq!(training.accelerators, plan.need.accelerators, "{name}");
            }
        }
    }
}

/// A tenth of the volume and a tenth of the step are the same bytes a second, by the same readers.
#[test]
fn the_small_unet3d_asks_for_as_much_as_mlperfs() {
    let (_, source) = shipped().into_iter().find(|(name, _)| name == "training-unet3d.toml").unwrap();
    let plan = resolved(&source);
    let full = feed::NeedSpec::parse_short("1xh100:unet3d").unwrap().resolve().unwrap();
    let bps = |need: &feed::Need| need.demand_bps(need.sample_bytes().unwrap());
    assert!((bps(&plan.need) / bps(&full) - 1.0).abs() < 1e-6, "{}", bps(&plan.need));
    let Load::Training(job) = plan.cells[0].load else { panic!("{:?}", plan.cells[0]) };
    let readers = full.readers.unwrap();
    assert_eq!((job.fetch, job.prefetch), (Fetch::Readers { count: readers }, readers));
}

/// Where the kernel has no RWF_DONTCACHE, the override that the file names makes it run.
#[test]
fn direct_or_buffered_runs_on_older_kernels() {
    let (_, source) = shipped().into_iter().find(|(name, _)| name == "direct-vs-buffered.toml").unwrap();
    let resolve = |overrides: &[String]| {
        let scenario = scenario::parse(&source, overrides);
        let mut host = machine(&scenario.local_paths());
        host.paths.values_mut().for_each(|facts| facts.dontcache = false);
        scenario::resolve(&scenario, &host)
    };
    let refused = resolve(&[]).unwrap_err();
    assert!(refused.messages().all(|message| message.contains("RWF_DONTCACHE")), "{refused}");
    let set = source.text.split("--set load.cache='").nth(1).unwrap().split('\'').next().unwrap();
    assert_eq!(resolve(&[format!("load.cache={set}")]).unwrap().cells.len(), 12);
}

/// Small enough for a test to run, and labelled as what decides nothing.
#[test]
fn shards_behind_latency_are_a_quick_look_at_a_server_of_feedlines() {
    let (_, source) = shipped().into_iter().find(|(name, _)| name == "shards-behind-latency.toml").unwrap();
    let plan = resolved(&source);
    assert_eq!(plan.cells.len(), 4);
    assert!(plan.title.as_ref().is_some_and(|title| title.contains("quick look")));
    assert!(plan.targets.iter().all(|target| target.emulate.is_some()));
    let written: u64 = plan.datasets.iter().filter_map(DatasetSpec::total_bytes).sum();
    assert!(written <= (32 << 20) + (1 << 20), "{written}");
}

#[test]
fn a_new_scenario_is_good_as_it_is_and_with_every_example_in_it() {
    for at in ["/mnt/data/bench", "null:", "/odd \"path\"\\with ü"] {
        let text = scenario::init(at, NEED);
        assert_valid("init", &text);
        let plan = resolved(&Source { name: "new.toml".to_owned(), text });
        assert_eq!(plan.targets[0].at, at);
        assert_eq!(plan.need.label, "8 x h100 resnet50");
    }
    // Each commented setting of a table, uncommented, is a legal key with a legal value.
    let text = scenario::init("/mnt/data/bench", NEED);
    let commented: Vec<_> = text.lines().filter(|line| is_setting(line)).collect();
    assert!(commented.len() > 8, "{commented:?}");
    for line in commented {
        let text = text.replace(line, &line[2..]);
        assert_valid(line, &text);
    }
}

/// `# key = value`, without further indentation; tables in comments are left out.
fn is_setting(line: &str) -> bool {
    line.strip_prefix("# ").is_some_and(|rest| {
        let key = rest.split(" = ").next().unwrap_or_default();
        rest.contains(" = ")
            && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
            && key != "feeds"
            && key != "p99"
    })
}

#[test]
fn examples_of_the_reference_resolve() {
    let text = include_str!("../../../../docs/src/scenario.md");
    let examples: Vec<&str> =
        text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 2, "{examples:?}");
    for example in examples {
        assert_valid("reference", example);
        let plan = resolved(&Source { name: "reference.toml".to_owned(), text: example.to_owned() });
        assert!(!plan.cells.is_empty());
    }
}

#[test]
fn a_path_and_a_need_are_the_minimal_scenario() {
    let source = scenario::from_path("/mnt/data/bench", Some(NEED));
    assert_eq!(
        source.text,
        "version = 1\nneed = \"8xh100:resnet50\"\ntargets.data = { at = \"/mnt/data/bench\", on_unavailable = \"pread\" }\n"
    );
    assert_eq!(resolved(&source).name, "run");
    let remote = scenario::from_path("nfs://filer/export", Some(NEED));
    assert!(!remote.text.contains("on_unavailable"), "{}", remote.text);
}

/// Nobody asked for an engine there. Who writes a file says himself what is to stand in.
#[test]
fn a_path_is_read_by_pread_where_io_uring_is_forbidden() {
    let scenario = scenario::parse(&scenario::from_path("/mnt/data/bench", Some(NEED)), &[]);
    let mut host = machine(&scenario.local_paths());
    host.io_uring = Err("io_uring is forbidden by seccomp".to_owned());
    let plan = scenario::resolve(&scenario, &host).unwrap();
    let engine = |cell: &plan::Cell| {
        cell.engine == plan::Engine::Pread && cell.stands_in_for.as_deref().unwrap().contains("by seccomp")
    };
    assert!(plan.cells.iter().all(engine));
}

#[test]
fn a_path_with_a_need_in_keys_is_the_same_as_in_a_file() {
    let need = "{ batch = 400, step_time = \"224ms\", sample_size = \"114660 B\", count = 8 }";
    let plan = resolved(&scenario::from_path("/mnt/data/bench", Some(need)));
    assert_eq!((plan.need.batch, plan.need.accelerators), (Some(400), 8));
    let two = scenario::from_path("/mnt/data/bench", Some("{ rate = \"1 GB/s\" }\nversion = 2"));
    assert!(two.text.contains("need = \"") || two.text.contains("need = '"), "{}", two.text);
}

#[test]
fn a_device_and_a_need_are_only_ever_read() {
    let source = scenario::from_device("/dev/nvme0n1", Some(NEED));
    let plan = resolved(&source);
    assert!(matches!(plan.targets[0].config, plan::BackendConfig::Device { .. }), "{:?}", plan.targets);
    let device = plan::Existing { layout: Some(plan::Layout::Files), ..plan::Existing::any(Some(114_660)) };
    assert_eq!(plan.datasets, [DatasetSpec::Existing(device)]);
}

#[test]
fn a_path_without_a_need_says_what_to_add() {
    let source = scenario::from_path("/mnt/data/bench", None);
    let scenario = scenario::parse(&source, &[]);
    let refused = scenario::resolve(&scenario, &machine(&scenario.local_paths())).unwrap_err();
    insta::assert_snapshot!(refused.to_string());
}
