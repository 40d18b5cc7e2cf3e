//! Processes of one launcher that measure together, and what becomes of them where one does not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

use serde_json::Value;
use servers::{mpirun, or_skip};

use crate::harness::{Bench, DISK, Ended, SMALL, by_count, finish, network, scenario, start, until, wait};

/// A filer of feedline's own.
const FILER: &str = r#"targets.filer = { at = "nfs://demo/export/run", emulate = { first_byte = "1ms" } }"#;

/// No process of a test is lost because this machine is busy.
const PATIENT: [&str; 2] = ["--patience", "5m"];

/// The binary with `args`, in the folder of `bench`.
fn program(args: &[&str]) -> Vec<String> {
    let words = std::iter::once(env!("CARGO_BIN_EXE_feedline")).chain(args.iter().copied());
    words.map(str::to_owned).collect()
}

/// Programs under a launcher, each in so many processes; `None` where there is no launcher here.
fn launched(bench: &Bench, programs: &[(u32, Vec<String>)]) -> Option<Command> {
    let mut command = or_skip(mpirun(programs))?;
    command.current_dir(bench.path("")).env("HOME", "/home/canary-home").env("USER", "canary-user");
    Some(command)
}

fn run(args: &[&str]) -> Vec<String> {
    program(&[&["run", "s.toml", "--full"][..], &PATIENT, args].concat())
}

/// Runs processes to the end of their run. On a busy machine their windows may not overlap enough for a figure.
#[track_caller]
fn ends(command: Command) -> Ended {
    let ended = finish(command);
    assert!(matches!(ended.code, Some(0 | 1)), "stdout:\n{}\nstderr:\n{}", ended.out, ended.err);
    ended
}

/// Repetitions of a run by what they are: cell, role, number.
fn by_turn(bench: &Bench) -> BTreeMap<(String, String, u64), Vec<Value>> {
    let mut turns: BTreeMap<_, Vec<Value>> = BTreeMap::new();
    for rep in bench.reps() {
        let word = |name: &str| rep[name].as_str().unwrap().to_owned();
        let turn = (word("cell"), word("role"), rep["rep"].as_u64().unwrap());
        turns.entry(turn).or_default().push(rep);
    }
    turns
}

fn ops(rep: &Value) -> u64 {
    rep["counters"]["ops"].as_u64().unwrap()
}

/// The process of a rank that runs in the folder of `bench`.
fn process(bench: &Bench, rank: u32) -> Option<i32> {
    let folder = bench.path("").canonicalize().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_it = |process: &PathBuf| {
        let variables = fs::read(process.join("environ")).unwrap_or_default();
        let mut variables = variables.split(|byte| *byte == 0);
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        fs::read_link(process.join("cwd")).is_ok_and(|at| at == folder)
            && variables.any(|variable| variable == format!("PMIX_RANK={rank}").as_bytes())
            // Not the server that a rank started, which has its variables.
            && !String::from_utf8_lossy(&line).contains("--control")
    };
    processes.filter(is_it).find_map(|process| process.file_name()?.to_str()?.parse().ok())
}

/// Starts four processes that measure for long, sends `signal` to rank 2 once something is recorded, and waits for the end.
fn disturbed(bench: &Bench, patience: &str, signal: i32) -> Option<Ended> {
    let scenario = network("", FILER);
    bench.write("s.toml", &by_count(&scenario, r#"bytes = "1 MiB", repetitions = 100"#));
    let args = ["run", "s.toml", "--patience", patience];
    let mut child: Child = start(launched(bench, &[(4, program(&args))])?);
    until(&mut child, || bench.reps_so_far() >= 4);
    let rank = process(bench, 2).unwrap();
    // SAFETY: a plain system call; the process is one of those that this test started.
    assert_eq!(unsafe { libc::kill(rank, signal) }, 0);
    Some(wait(child))
}

/// What was measured is there to be read, and judges nothing.
#[track_caller]
fn is_kept_and_not_judged(bench: &Bench) {
    let folder = bench.run_folder();
    let report = bench.run(&["report", folder.to_str().unwrap()]).exits(0);
    let report = report.says("did not come to the end together: nothing is judged");
    for verdict in ["\nFEEDS ", "\nSTARVES ", "\nUNCERTAIN ", "\nDEMO "] {
        assert!(!report.out.contains(verdict), "{}", report.out);
    }
    assert!(bench.reps().len() >= 4);
}

#[test]
fn four_processes_give_one_record_that_is_the_sum_of_theirs() {
    let bench = Bench::new();
    bench.write("s.toml", &by_count(&network("", FILER), r#"duration = "1s", repetitions = 3"#));
    let Some(command) = launched(&bench, &[(4, run(&[]))]) else { return };
    let ended = ends(command);
    let head = bench.run_json();
    assert_eq!((&head["ranks"], &head["team"]["launcher"]), (&4.into(), &"Open MPI".into()));
    assert_eq!(head["team"]["members"].as_array().unwrap().len(), 4);
    assert_eq!(head["need"]["label"], "4 processes x 1 MB/s");
    let turns = by_turn(&bench);
    let roles: BTreeSet<&str> = turns.keys().map(|(_, role, _)| role.as_str()).collect();
    // Where windows did not overlap enough there is nothing to confirm.
    assert!(roles.contains("measure") && (ended.code == Some(1) || roles.contains("confirm")), "{roles:?}");
    for (turn, reps) in &turns {
        let ranks: Vec<u64> = reps.iter().map(|rep| rep["rank"].as_u64().unwrap()).collect();
        assert_eq!(ranks, [0, 1, 2, 3], "{turn:?}");
        assert!(reps.iter().all(|rep| rep["outcome"] == "complete" && ops(rep) > 0));
        let orders: BTreeSet<u64> = reps.iter().map(|rep| rep["order"].as_u64().unwrap()).collect();
        assert_eq!(orders.len(), 1, "all made it at one time: {turn:?}");
    }
    let ended = ended.says("DEMO filer").says("ranks 0 to 3 measured together");
    let ended =
        ended.says("4 processes on 1 machine, started by Open MPI, agreed on each repetition through PMIx");
    // One of them speaks.
    assert_eq!(ended.out.matches("\nDEMO filer").count(), 1, "{}", ended.out);
    let folder = bench.run_folder();
    assert!(bench.run(&["report", folder.to_str().unwrap()]).exits(0).prints("DEMO filer"));
    bench.run(&["run", "--resume", folder.to_str().unwrap()]).exits(2);
}

#[test]
fn a_search_for_the_depth_goes_on_at_all_processes_alike() {
    let bench = Bench::new();
    let scenario = network("", FILER).replace("queue_depth = 2", r#"queue_depth = "auto""#);
    bench.write("s.toml", &scenario);
    let Some(command) = launched(&bench, &[(2, run(&["--set", "measure.repetitions=1"]))]) else { return };
    ends(command);
    let turns = by_turn(&bench);
    assert!(turns.values().all(|reps| reps.len() == 2), "{:?}", turns.keys());
}

#[test]
fn a_dataset_is_written_once_and_its_names_are_hidden_alike() {
    let bench = Bench::new();
    bench.write("s.toml", &by_count(&scenario(DISK), SMALL));
    // A user whose name is the target's: hidden by one process alone, it would be another target's.
    let other = [vec!["env".to_owned(), "USER=disk".to_owned()], run(&[])].concat();
    let Some(command) = launched(&bench, &[(1, run(&[])), (1, other)]) else { return };
    ends(command);
    let head = bench.run_json();
    assert_eq!(head["targets"][0]["name"], "user-2", "{}", head["targets"]);
    let cells: BTreeSet<&str> =
        head["cells"].as_array().unwrap().iter().map(|cell| cell["cell"].as_str().unwrap()).collect();
    let reps = bench.reps();
    assert_eq!(reps.iter().map(|rep| rep["cell"].as_str().unwrap()).collect::<BTreeSet<_>>(), cells);
    assert!(by_turn(&bench).values().all(|reps| reps.len() == 2));
    let text = fs::read_to_string(bench.run_folder().join("run.json")).unwrap();
    assert!(!text.contains("canary"), "{text}");
    assert_eq!(fs::read_dir(bench.path("data")).unwrap().count(), 1, "one dataset");
}

#[test]
fn processes_that_would_measure_otherwise_are_named_before_anything_is_written() {
    let bench = Bench::with(DISK);
    let other = run(&["--set", "measure.repetitions=9"]);
    let Some(command) = launched(&bench, &[(2, run(&[])), (1, other)]) else { return };
    let ended = finish(command).exits(2).says("the processes would not measure the same as rank 0 on");
    let ended = ended.says("what is under `measure`: rank 2 on");
    assert_eq!(ended.err.matches("would not measure the same").count(), 1, "{}", ended.err);
    bench.write("bad.toml", "version = 2");
    let broken = program(&["run", "bad.toml", "--patience", "5m"]);
    let Some(command) = launched(&bench, &[(1, run(&[])), (1, broken)]) else { return };
    finish(command).exits(2).says("rank 1 on").says("bad.toml: 3 mistakes");
    let Some(command) = launched(&bench, &[(2, program(&["run", "nowhere.toml"]))]) else { return };
    let ended = finish(command).exits(2);
    assert_eq!(ended.err.matches("cannot read the scenario").count(), 1, "{}", ended.err);
    assert!(!bench.path("data").exists() && !bench.path("results").exists(), "nothing was written");
}

#[test]
fn a_process_that_cannot_go_on_says_so_with_its_host_and_ends_all() {
    let bench = Bench::small(DISK);
    bench.write("results", "no folder");
    let Some(command) = launched(&bench, &[(3, run(&[]))]) else { return };
    let ended = finish(command);
    // Open MPI 4's launcher may fall over when it ends a job that was aborted, so its code is not always that of the process.
    assert_ne!(ended.code, Some(0));
    let ended = ended.says("rank 0 on").says("cannot write results into `results`");
    assert_eq!(ended.err.matches("cannot write results into").count(), 1, "{}", ended.err);
}

#[test]
fn a_process_that_dies_ends_all_and_what_was_measured_judges_nothing() {
    let bench = Bench::new();
    let Some(ended) = disturbed(&bench, "5m", libc::SIGKILL) else { return };
    assert_ne!(ended.code, Some(0));
    // Who died is said by the launcher, which names another where one that noticed it ended before the launcher had looked.
    assert!(!ended.out.contains("\nDEMO"), "{}", ended.out);
    is_kept_and_not_judged(&bench);
}

#[test]
fn a_process_that_hangs_is_named_with_its_host_and_all_end() {
    let bench = Bench::new();
    let Some(ended) = disturbed(&bench, "15s", libc::SIGSTOP) else { return };
    let ended =
        ended.exits(1).says("error: rank 2 on").says("did not come within 15 s, where all others wait");
    assert_eq!(ended.err.matches("did not come within").count(), 1, "{}", ended.err);
    is_kept_and_not_judged(&bench);
    let lines = bench.lines_so_far();
    assert!(lines.lines().last().unwrap().contains(r#""interrupted":true"#), "{lines}");
}

#[test]
fn what_one_process_does_is_refused_of_several() {
    let bench = Bench::small(DISK);
    for (args, said) in [
        (vec!["prepare", "s.toml"], "`feedline prepare` is done by one process"),
        (vec!["size", "s.toml"], "`feedline size` is done by one process"),
        (vec!["calibrate", "s.toml"], "`feedline calibrate` is done by one process"),
        (
            vec!["run", "s.toml", "--variant", "a:", "--variant", "b:"],
            "`feedline run --variant` is done by one",
        ),
        (vec!["run", "s.toml", "--resume"], "`feedline run --resume` is done by one process"),
        (vec!["run", "s.toml", "--proof"], "--proof is not for several processes"),
        (vec!["run", "s.toml", "--add-to", "x"], "--add-to is not for several processes"),
    ] {
        let Some(command) = launched(&bench, &[(2, program(&args))]) else { return };
        let ended = finish(command).exits(2).says(said);
        assert_eq!(ended.err.matches(said).count(), 1, "{}", ended.err);
    }
    assert!(!bench.path("data").exists(), "nothing was written");
}

/// Each process wants 13 MB/s of a filer of feedline's own that has 30 MB/s for all.
const HOSTS: &str = r#"version = 1
need = { batch = 4, step_time = "20ms", sample_size = "64 KiB", count = 1 }
dataset = { size = "4 MiB" }
targets.filer = { at = "nfs://demo/export/run", emulate = { total_rate = "30 MB/s" } }
load = { mode = "training", cache = "bypass" }
training = { readers = 2 }
measure = { duration = "300ms", warmup = "0s", repetitions = 2 }
"#;

/// How many are fed is for no test to say: this machine may be busy.
#[test]
fn the_most_processes_that_are_fed_are_searched_together_and_the_rest_wait() {
    let bench = Bench::new();
    bench.write("s.toml", HOSTS);
    let args = program(&[&["size", "s.toml", "--find", "hosts", "--full"][..], &PATIENT].concat());
    let Some(command) = launched(&bench, &[(3, args)]) else { return };
    let ended = ends(command);
    assert_eq!(bench.run_json()["size"], "hosts");
    let cells = bench.run_json()["cells"].clone();
    let planned: BTreeMap<String, u64> = cells
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|cell| Some((cell["cell"].as_str()?.to_owned(), cell["ranks"].as_u64()?)))
        .collect();
    assert_eq!(planned.values().copied().collect::<Vec<_>>(), [1, 2, 3], "{planned:?}");
    let turns = by_turn(&bench);
    let mut orders = BTreeMap::new();
    for (turn, reps) in &turns {
        let ranks: Vec<u64> = reps.iter().map(|rep| rep["rank"].as_u64().unwrap()).collect();
        assert_eq!(ranks, (0..planned[&turn.0]).collect::<Vec<_>>(), "the first ones and no other: {turn:?}");
        assert!(reps.iter().all(|rep| rep["ranks"] == planned[&turn.0]), "{turn:?}");
        let made_at: BTreeSet<u64> = reps.iter().map(|rep| rep["order"].as_u64().unwrap()).collect();
        assert_eq!(made_at.len(), 1, "{turn:?}");
        orders.insert(*made_at.first().unwrap(), turn);
    }
    let first = [0, 1].map(|order| (orders[&order].0.rsplit('/').next().unwrap(), orders[&order].1.as_str()));
    assert_eq!(first, [("hosts1", "measure"), ("hosts3", "measure")]);
    let again = |hosts: &str| {
        let is_it = |turn: &&(String, String, u64)| turn.0.ends_with(hosts) && turn.1 == "confirm";
        turns.keys().filter(is_it).count()
    };
    assert_eq!((again("/hosts1"), again("/hosts3")), (2, 2), "beside which scaling is told");
    let last = ended.out.lines().last().unwrap();
    assert!(last.starts_with("SIZE filer (DEMO) nfs3: ") && last.contains("process"), "{last}");
    assert!(!last.contains("host"), "three on one machine are no hosts: {last}");
    let folder = bench.run_folder();
    assert!(bench.run(&["report", folder.to_str().unwrap()]).exits(0).prints(last));
}

/// What numbers a pod does not say whether it has others beside it.
#[test]
fn what_one_process_does_is_refused_of_a_numbered_pod() {
    let bench = Bench::with(DISK);
    let pod = [("JOB_COMPLETION_INDEX", "0")];
    let variants = ["run", "s.toml", "--variant", "a:", "--variant", "b:"];
    let resume = ["run", "s.toml", "--resume"];
    let cases =
        [(&["size", "s.toml"][..], "size"), (&variants[..], "run --variant"), (&resume[..], "run --resume")];
    let hosts = ["size", "s.toml", "--find", "hosts"];
    for (args, verb) in cases.into_iter().chain([(&hosts[..], "size")]) {
        let said = format!(
            "`feedline {verb}` is done by one process, and this is rank 0, started by an Indexed Job without PMIx"
        );
        stated(&bench, args, &pod).exits(2).says(&said).says("env -u JOB_COMPLETION_INDEX");
    }
    assert!(!bench.path("data").exists(), "nothing was written");
    stated(&bench, &[&resume[..], &["--ranks", "4"]].concat(), &pod).exits(2).says("is done by one process");
    stated(&bench, &[&resume[..], &["--ranks", "4"]].concat(), &[])
        .exits(2)
        .says("--ranks says that there are 4");
    // Refused for what it is, and not for its number.
    stated(&bench, &[&resume[..], &["--ranks", "1"]].concat(), &pod).says("s.toml");
    // It prepares what another prepares too.
    let small = Bench::small(DISK);
    stated(&small, &["prepare", "s.toml"], &pod).exits(0);
}

#[test]
fn options_of_processes_that_meet_are_refused_where_none_do() {
    let bench = Bench::with(DISK);
    let slots = ["--start-at", "2099-01-01T00:00:00Z", "--ranks", "3"];
    let numbered = [&slots[..], &["--rank", "0"]].concat();
    let pod = [("JOB_COMPLETION_INDEX", "0")];
    let alone = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "1")];
    for option in [["--patience", "60s"], ["--pmix", "/nowhere/libpmix.so.2"]] {
        let said = format!("error: {} is for processes of a launcher that meet, and here none do", option[0]);
        let refused = |more: &[&str], variables: &[(&str, &str)]| {
            let args = [&["run", "s.toml"], &option[..], more].concat();
            stated(&bench, &args, variables).exits(2).says(&said).says("hint: leave it out");
        };
        refused(&[], &[]);
        refused(&[], &alone);
        refused(&numbered, &[]);
        refused(&slots, &pod);
        refused(&["--ranks", "1"], &pod);
        for verb in [&["--resume"][..], &["--variant", "a:", "--variant", "b:"]] {
            let args = [&["run", "s.toml"], &option[..], verb].concat();
            stated(&bench, &args, &[]).exits(2).says(option[0]);
        }
    }
    for option in [["--patience", "60s"], ["--pmix", "/nowhere/libpmix.so.2"]] {
        let said = format!("error: {} is for processes of a launcher that meet, and here none do", option[0]);
        stated(&bench, &[&["size", "s.toml"], &option[..]].concat(), &[]).exits(2).says(&said);
    }
    let said = "error: --find hosts is for several processes of a launcher, and this is one";
    stated(&bench, &["size", "s.toml", "--find", "hosts"], &[])
        .exits(2)
        .says(said)
        .says("hint: start it on as");
    assert!(!bench.path("data").exists(), "nothing was written");
}

/// The binary as one of several processes, as the variables of a launcher say.
fn stated(bench: &Bench, args: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = bench.bare(args);
    command.envs(variables.iter().copied());
    finish(command)
}

#[test]
fn processes_that_take_themselves_for_the_only_one_are_refused() {
    let bench = Bench::with(DISK);
    let alone = [
        ("OMPI_COMM_WORLD_RANK", "0"),
        ("OMPI_COMM_WORLD_SIZE", "1"),
        ("SLURM_PROCID", "2"),
        ("SLURM_STEP_NUM_TASKS", "4"),
    ];
    let said = "OMPI_COMM_WORLD_SIZE=1 and SLURM_STEP_NUM_TASKS=4 contradict each other";
    stated(&bench, &["run", "s.toml"], &alone).exits(2).says(said);
    let step = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "4")];
    let said = "rank 0 of 4, started by Slurm without PMIx: its processes cannot talk to each other";
    stated(&bench, &["run", "s.toml"], &step).exits(2).says(said).says("--start-at TIME");
    let second = [("SLURM_PROCID", "1"), ("SLURM_STEP_NUM_TASKS", "4")];
    assert_eq!(stated(&bench, &["run", "s.toml"], &second).exits(2).err, "", "the first says it for all");
    let pod = [("JOB_COMPLETION_INDEX", "0")];
    stated(&bench, &["run", "s.toml"], &pod).exits(2).says("--start-at TIME --ranks N");
    let other = ["run", "s.toml", "--start-at", "2099-01-01T00:00:00Z", "--ranks", "3"];
    stated(&bench, &other, &step).exits(2).says("--rank or --ranks say otherwise");
    stated(&bench, &other, &[]).exits(2).says("--rank, --ranks and --start-at go together");
    // A batch script of Slurm's has the job's variables and is one process.
    let batch = [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")];
    stated(&bench, &["plan", "s.toml"], &batch).exits(0);
    let ended = stated(&bench, &["plan", "s.toml"], &step).exits(0);
    assert!(
        ended.out.starts_with("process    rank 0 of 4, started by Slurm without PMIx\n"),
        "{}",
        ended.out
    );
    assert!(!bench.path("data").exists(), "nothing was written");
}

#[test]
fn a_library_that_is_not_there_is_named_with_what_to_do() {
    let bench = Bench::with(DISK);
    let args = ["run", "s.toml", "--pmix", "/nowhere/libpmix.so.2"];
    let Some(command) = launched(&bench, &[(2, program(&args))]) else { return };
    finish(command).exits(2).says("cannot open PMIx's library (/nowhere/libpmix.so.2)").says("libpmix2");
}
