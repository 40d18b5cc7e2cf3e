//! Checkpoints: what is written where, the cells that it adds, and what is refused.

use plan::{
    Access, Cache, Cell, Checkpoint, DatasetSpec, Engine, JobCheckpoints, Load, Operation, Plan, Saving,
    Streams,
};

use crate::machine::{resolve, with};

const GIB: u64 = 1 << 30;

fn resolved(lines: &str) -> Plan {
    resolve(&with(lines)).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn refused(lines: &str) -> String {
    resolve(&with(lines)).unwrap_err().to_string()
}

fn of(plan: &Plan, operation: Operation) -> Vec<&Cell> {
    plan.cells.iter().filter(|cell| cell.operation() == operation).collect()
}

fn written(lines: &str) -> Checkpoint {
    let plan = resolved(lines);
    let cells = of(&plan, Operation::Checkpoint);
    cells[0].writes_checkpoints().unwrap().clone()
}

/// Mode, steps between two, time of the copy.
fn of_jobs(plan: &Plan) -> Vec<Option<(&'static str, u64, u64)>> {
    let jobs = plan.cells.iter().filter(|cell| matches!(cell.load, Load::Training(_)));
    let words = |one: &JobCheckpoints| (one.mode.name(), one.every_steps, one.mode.copy_ns());
    jobs.map(|cell| cell.job_checkpoints.as_ref().map(words)).collect()
}

#[test]
fn a_checkpoint_is_written_and_read_back_on_each_target_that_can_be_written_to() {
    let plan = resolved("targets.none.at = \"null:\"\ncheckpoint = { size = \"1 GB\" }");
    let (write, restore) = (of(&plan, Operation::Checkpoint), of(&plan, Operation::Restore));
    assert_eq!((write.len(), restore.len()), (1, 1));
    assert_eq!((write[0].engine, write[0].queue_depth, write[0].threads), (Engine::Pread, 8, 8));
    assert_eq!(write[0].slug, "data/pread/checkpoint/8x125000000B/qd8");
    assert_eq!((restore[0].engine, restore[0].cache), (Engine::IoUring, Cache::Cold));
    assert_eq!(restore[0].access, Access::ShuffledShards(Streams::of(8)));
    let DatasetSpec::Generate(read) = plan.datasets[restore[0].dataset] else { panic!("not generated") };
    assert_eq!((read.samples, read.sample_bytes), (8, 125_000_000));
    assert!(
        of(&resolved("checkpoint = { size = \"1 GB\", restore = false }"), Operation::Restore).is_empty()
    );
}

#[test]
fn a_model_says_the_size_and_the_files_of_this_clients_processes() {
    let eight = written("checkpoint.model = \"llama3-8b\"");
    assert_eq!((eight.files, eight.bytes(), eight.label.as_str()), (16, 105 * GIB, "llama3-8b"));
    let part = written("checkpoint = { model = \"llama3-8b\", scale = \"1/64\" }");
    assert_eq!((part.files, part.bytes()), (16, 105 * GIB / 64));
    assert_eq!(part.label, "llama3-8b, 1/64 of it");
    let large = written("checkpoint.model = \"llama3-405b\"");
    // Of two replicas the first writes the weights.
    let share = 755 * GIB * 8 / 256 + 4533 * GIB * 8 / 512;
    assert_eq!(large.label, "llama3-405b, 8 of 512 processes");
    assert!(large.bytes() >= share && large.bytes() < share + 16, "files are of one size");
}

#[test]
fn what_is_not_written_has_careful_defaults() {
    let plain = written("checkpoint.size = \"1 GB\"");
    assert!(plain.durable && plain.keep == 2 && plain.block_bytes == 8 << 20);
    let tiny = written("checkpoint = { size = \"3 B\", scale = 0.5, files = 7 }");
    assert_eq!((tiny.files, tiny.file_bytes), (7, 1), "no file is empty");
}

#[test]
fn every_job_is_played_without_checkpoints_and_with_those_of_each_mode() {
    let plan = resolved("load.mode = \"training\"\ncheckpoint = { size = \"80 GB\", scale = \"1/80\" }");
    // 1 GB over 8 links of 25 GB/s; 10 s hold 44 steps of 0.224 s.
    assert_eq!(of_jobs(&plan), [None, Some(("sync", 11, 0)), Some(("async", 11, 5_000_000))]);
    let axes: Vec<&str> = plan
        .cells
        .iter()
        .filter_map(|cell| Some(cell.axes.iter().find(|axis| axis.name == "checkpoint")?.value.as_str()))
        .collect();
    assert_eq!(axes, ["none", "sync", "async"]);
    let jobs: Vec<_> = plan.cells.iter().filter(|cell| matches!(cell.load, Load::Training(_))).collect();
    assert!(jobs.iter().all(|cell| cell.threads == 1), "one thread lets all of them wait");
    let slugs: std::collections::BTreeSet<_> = plan.cells.iter().map(|cell| &cell.slug).collect();
    assert_eq!(slugs.len(), plan.cells.len());
    let asked = "load.mode = \"training\"\ntraining.steps = 20\ncheckpoint = { size = \"1 GB\", mode = \"async\", \
                 copy_time = \"39ms\" }";
    assert_eq!(of_jobs(&resolved(asked)), [None, Some(("async", 5, 39_000_000))]);
}

#[test]
fn one_target_can_take_the_checkpoints_of_all() {
    let lines = "load.mode = \"training\"\ntargets.fast.at = \"/mnt/fast\"\ncheckpoint = { size = \"1 GB\", to = \"fast\", \
                 mode = \"sync\" }";
    let plan = resolved(lines);
    assert_eq!(of(&plan, Operation::Checkpoint).len(), 1);
    let to: Vec<usize> = plan.cells.iter().filter_map(|cell| Some(cell.writes_checkpoints()?.to)).collect();
    assert!(to.len() == 3 && to.iter().all(|to| *to == 1), "{to:?}");
    assert!(refused(&lines.replace("to = \"fast\"", "to = \"slow\"")).contains("which is no target"));
    let null = lines.replace("/mnt/fast", "null:");
    assert!(refused(&null).contains("nothing can be written to the target `fast`"));
}

#[test]
fn modes_are_words_of_the_plan() {
    assert_eq!((Saving::Sync.name(), Saving::Async { copy_ns: 1 }.name()), ("sync", "async"));
}

#[test]
fn what_goes_with_no_checkpoint_is_refused() {
    let contains = |lines: &str, words: &str| {
        let shown = refused(lines);
        assert!(shown.contains(words), "{lines}: {shown}");
    };
    contains("checkpoint.keep = 1", "neither a model nor a size");
    contains("checkpoint = { size = \"1 GB\", every = 10 }", "beside a training job");
    contains(
        "load.mode = \"paced\"\ncheckpoint = { size = \"1 GB\", mode = \"sync\" }",
        "closed and paced loads",
    );
    contains(
        "dataset.source = \"existing\"\ncheckpoint.size = \"1 GB\"",
        "nothing is written beside files of yours",
    );
    contains("checkpoint.size = \"1 TB\"", "free on this path");
    contains("checkpoint = { size = \"1 GB\", block_size = \"1 GiB\" }", "at most 64 MiB");
    contains("load = { mode = \"training\", threads = 2 }\ncheckpoint.size = \"1 GB\"", "fed by one thread");
    contains(
        "targets.s3.at = \"s3://bucket/x\"\ncheckpoint = { size = \"1 GB\", durable = false }",
        "is durable, or it is not written",
    );
}

#[test]
fn a_plan_without_checkpoints_is_what_it_was() {
    let plan = resolved("load.mode = \"training\"");
    assert!(plan.cells.iter().all(|cell| cell.writes_checkpoints().is_none()));
    assert!(plan.cells.iter().all(|cell| cell.axes.iter().all(|axis| axis.name != "checkpoint")));
}

/// The same with a need of checkpoints beside a rate, or alone, at a path.
fn needed(need: &str, at: &str, lines: &str) -> String {
    format!("version = 1\nneed = {{ {need} }}\ntargets.data = {{ at = \"{at}\" }}\n{lines}\n")
}

fn plan_of(need: &str, at: &str, lines: &str) -> Plan {
    resolve(&needed(need, at, lines)).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn saved(plan: &Plan) -> Checkpoint {
    of(plan, Operation::Checkpoint)[0].writes_checkpoints().unwrap().clone()
}

const ALONE: &str =
    "checkpoint = { model = \"llama3-70b\", within = \"30s\", hosts = 64, restore_within = \"5m\" }";
const BESIDE: &str = "rate = \"1 GB/s\", checkpoint = { bytes = \"1 GB\", within = \"5s\" }";

#[test]
fn a_need_of_checkpoints_alone_reads_nothing_but_what_it_restores() {
    let plan = plan_of(ALONE, "/mnt/bench", "");
    let operations: Vec<Operation> = plan.cells.iter().map(Cell::operation).collect();
    assert_eq!(operations, [Operation::Checkpoint, Operation::Restore]);
    assert_eq!((plan.datasets.len(), plan.cells[1].dataset), (1, 0));
    let need = plan.need.checkpoint.as_ref().unwrap();
    assert_eq!(
        (need.hosts, need.within_ns, need.restore_within_ns),
        (64, 30_000_000_000, Some(300_000_000_000))
    );
    assert_eq!((need.bytes, need.host_bytes), (911 * GIB, (911 * GIB).div_ceil(64)));
    assert_eq!((plan.need.demand, plan.need.hosts), (feed::Demand::Nothing, 64));
    let of_host = saved(&plan);
    assert_eq!((of_host.files, of_host.label.as_str()), (2, "llama3-70b, one of 64 hosts"));
    assert!(of_host.bytes() >= need.host_bytes && of_host.bytes() < need.host_bytes + 2);
}

#[test]
fn a_host_writes_as_large_a_part_as_there_is_room_for() {
    // Four of them lie there at once: 15 GB do not fit into 10 GiB.
    let plan = plan_of(ALONE, "/small/bench", "");
    assert_eq!((saved(&plan).bytes(), saved(&plan).files), (2 << 30, 2));
    assert_eq!(saved(&plan).label, "llama3-70b, one of 64 hosts, 2 GiB of it");
    let kept = plan_of(ALONE, "/small/bench", "checkpoint = { keep = 1, files = 8 }");
    assert_eq!((saved(&kept).bytes(), saved(&kept).files), (2 << 30, 8));
    // What a table says is written, or refused.
    let own = resolve(&needed(ALONE, "/small/bench", "checkpoint.size = \"15 GB\"")).unwrap_err().to_string();
    assert!(own.contains("free on this path"), "{own}");
}

#[test]
fn checkpoints_beside_reads_are_written_beside_the_job_only_where_it_goes_on() {
    let plan = plan_of(BESIDE, "/mnt/bench", "");
    assert_eq!((of(&plan, Operation::Checkpoint).len(), of(&plan, Operation::Restore).len()), (1, 1));
    assert!(of(&plan, Operation::Read).len() > 1);
    let job = |kind: &str| {
        let need = format!(
            "workload = \"resnet50\", accelerator = \"h100\", count = 8, checkpoint = {{ bytes = \"8 GB\", within = \
             \"5s\", every = \"1m\", kind = \"{kind}\" }}"
        );
        of_jobs(&plan_of(&need, "/mnt/bench", "load.mode = \"training\""))
    };
    assert_eq!(job("sync"), [None]);
    // 8 GB over 8 links of 25 GB/s; of 44 steps that a repetition holds a quarter, where a minute would be 267.
    assert_eq!(job("async"), [None, Some(("async", 11, 40_000_000))]);
}

#[test]
fn hosts_of_checkpoints_are_those_of_the_need() {
    let job = "workload = \"resnet50\", accelerator = \"h100\", count = 64, hosts = 8";
    let plan =
        plan_of(&format!("{job}, checkpoint = {{ bytes = \"8 GB\", within = \"5s\" }}"), "/mnt/bench", "");
    let need = plan.need.checkpoint.unwrap();
    assert_eq!((need.hosts, need.host_bytes), (8, 1_000_000_000));
}

#[test]
fn what_no_need_of_checkpoints_can_be_is_refused() {
    let contains = |need: &str, lines: &str, words: &str| {
        let shown = resolve(&needed(need, "/mnt/bench", lines)).unwrap_err().to_string();
        assert!(shown.contains(words), "{need} {lines}: {shown}");
    };
    contains("checkpoint = { within = \"5s\" }", "", "neither a model nor bytes");
    contains("checkpoint = { bytes = \"1 GB\" }", "", "`need.checkpoint.within` is missing");
    contains(
        "checkpoint = { bytes = \"1 GB\", model = \"llama3-8b\", within = \"5s\" }",
        "",
        "both say how much",
    );
    contains(
        "checkpoint = { bytes = \"1 GB\", within = \"5s\", every = \"4s\" }",
        "",
        "before the one before",
    );
    contains(
        "checkpoint = { model = \"llama3-8b\", within = \"5s\", hosts = 9 }",
        "",
        "9 hosts write a model of 8 processes",
    );
    contains(
        "count = 8, checkpoint = { bytes = \"1 GB\", within = \"5s\" }",
        "",
        "means nothing beside checkpoints alone",
    );
    contains(
        "workload = \"resnet50\", accelerator = \"h100\", count = 8, hosts = 2, checkpoint = { bytes = \"1 GB\", within = \
         \"5s\", hosts = 4 }",
        "",
        "one job has one number of hosts",
    );
    contains(ALONE, "dataset.size = \"1 GB\"", "`dataset` is about reads");
    contains(ALONE, "load.queue_depth = 8", "`load` is about reads");
    contains(ALONE, "checkpoint.restore = false", "reads one back");
    contains(ALONE, "gate = { feeds = [\"data\"], p99 = \"1ms\" }", "`gate.p99` is about reads");
    contains(
        "rate = \"1 GB/s\", checkpoint = { bytes = \"1 GB\", within = \"5s\", restore_within = \"5s\" }",
        "checkpoint.restore = false",
        "asks for a restore, and none is made",
    );
    contains(BESIDE, "dataset.source = \"existing\"", "nothing is written beside files of yours");
    contains(
        BESIDE,
        "targets.null.at = \"null:\"\ntargets.raw.at = \"/dev/nvme0n1\"",
        "no checkpoint can be written to `raw`",
    );
}
