//! What goes wrong on real machines: each a clear error or a recorded failure, and nothing lost.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Child;

use crate::harness::{Bench, DISK, finish, finish_as_nobody, forbid, in_child, limit, skip, until, wait};

const URING: &str = r#"targets.disk = { at = "data", engine = "io_uring" }"#;
/// So many repetitions, and such long ones, that a run is never over before it is ended.
const LONG: [&str; 6] =
    ["run", "s.toml", "--set", "measure.repetitions=100", "--set", "measure.bytes=\"256 MiB\""];
/// So many that most of a run is still to come when the first is recorded.
const SEVERAL: [&str; 4] = ["run", "s.toml", "--set", "measure.repetitions=20"];

pub(crate) fn signal(child: &Child, signal: libc::c_int) {
    // SAFETY: a plain system call; the child is ours and has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id().cast_signed(), signal) }, 0);
}

#[test]
fn a_killed_run_leaves_a_record_that_reports() {
    let bench = Bench::small(DISK);
    let mut child = bench.spawn(&LONG);
    until(&mut child, || bench.reps_so_far() >= 2);
    signal(&child, libc::SIGKILL);
    child.wait().unwrap();
    bench.run(&["report", bench.run_folder().to_str().unwrap()]).exits(0).says("cut");
}

#[test]
fn a_killed_preparation_is_taken_up_again() {
    let bench = Bench::with(DISK);
    let large = ["--set", "dataset.size=\"256 MiB\"", "--set", "dataset.sample_size=\"1 MiB\""];
    let mut args = vec!["prepare", "s.toml"];
    args.extend(large);
    let mut child = bench.spawn(&args);
    until(&mut child, || bench.data_files().len() >= 3);
    signal(&child, libc::SIGKILL);
    child.wait().unwrap();
    let kept = bench.data_files().len();
    bench.run(&args).exits(0).says("256 files");
    assert!((3..=256).contains(&kept));
    assert_eq!(bench.data_files().len(), 256);
    bench.run(&["clean", "s.toml"]).exits(0);
    assert_eq!(fs::read_dir(bench.path("data")).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn two_preparations_at_once_make_one_dataset() {
    let bench = Bench::with(DISK);
    let args =
        ["prepare", "s.toml", "--set", "dataset.size=\"64 MiB\"", "--set", "dataset.sample_size=\"256 KiB\""];
    let both = [bench.spawn(&args), bench.spawn(&args)];
    for child in both {
        wait(child).exits(0).says("256 files");
    }
    bench.run(&args).exits(0).says("found as it was");
}

#[test]
fn a_killed_preparation_can_be_cleaned_from_a_disk_that_is_full() {
    let bench = Bench::with(DISK);
    let large =
        ["prepare", "s.toml", "--set", "dataset.size=\"256 MiB\"", "--set", "dataset.sample_size=\"1 MiB\""];
    let mut child = bench.spawn(&large);
    until(&mut child, || bench.data_files().len() >= 3);
    signal(&child, libc::SIGKILL);
    child.wait().unwrap();
    bench.write("s.toml", &fs::read_to_string(bench.path("s.toml")).unwrap().replace("4 MiB", "900 TiB"));
    bench.run(&["clean", "s.toml"]).exits(0);
    assert_eq!(bench.data_files().len(), 0);
    bench.run(&["clean", "data"]).exits(0).says("0 files");
    bench.run(&["clean", "not/there"]).exits(2).says("`not/there` does not exist");
}

#[test]
fn a_run_without_any_figure_is_an_error() {
    let bench = Bench::with(DISK);
    bench.run(&["prepare", "s.toml"]).exits(0);
    let mut child = bench.spawn(&["run", "s.toml", "--set", "measure.warmup=\"1s\""]);
    until(&mut child, || {
        bench.path("results").is_dir() && fs::read_dir(bench.path("results")).unwrap().count() > 0
    });
    fs::remove_dir_all(bench.path("data")).unwrap();
    wait(child).exits(1);
}

#[test]
fn threads_that_cannot_be_had_are_a_failed_cell_and_no_hang() {
    let bench = Bench::small(DISK);
    let unlimited = || Ok(());
    let Some(prepared) = finish_as_nobody(bench.command(&["prepare", "s.toml"]), unlimited) else { return };
    prepared.exits(0);
    let deep = ["run", "s.toml", "--set", "load.queue_depth=[1, 600]", "--set", "load.cache=\"bypass\""];
    let ended = finish_as_nobody(bench.command(&deep), || limit(libc::RLIMIT_NPROC, 300));
    ended.unwrap().says("cannot start 600 threads");
}

#[test]
fn a_dataset_that_changed_since_it_was_written_is_refused() {
    let bench = Bench::small(DISK);
    bench.run(&["prepare", "s.toml"]).exits(0);
    fs::write(&bench.data_files()[7], "tampered").unwrap();
    bench.run(&["run", "s.toml"]).exits(1).says("000000007.bin").says("feedline clean");
}

#[test]
fn files_truncated_during_a_run_are_counted_and_spoil_the_verdict() {
    let bench = Bench::small(DISK);
    bench.run(&["prepare", "s.toml"]).exits(0);
    let mut child = bench.spawn(&SEVERAL);
    until(&mut child, || bench.reps_so_far() >= 1);
    for file in bench.data_files() {
        fs::OpenOptions::new().write(true).open(file).unwrap().set_len(100).unwrap();
    }
    let ended = wait(child).exits(1);
    assert!(ended.out.contains("UNCERTAIN") && !ended.out.contains("FEEDS"), "{}", ended.out);
    let cells = fs::read_to_string(bench.run_folder().join("cells.jsonl")).unwrap();
    assert!(cells.contains(r#""eof":"#), "{cells}");
    assert!(cells.lines().last().unwrap().contains(r#""changed":[0]"#), "{cells}");
}

#[test]
fn files_deleted_during_a_run_are_found_to_have_changed() {
    let bench = Bench::small(DISK);
    bench.run(&["prepare", "s.toml"]).exits(0);
    let mut child = bench.spawn(&SEVERAL);
    until(&mut child, || bench.reps_so_far() >= 1);
    fs::remove_dir_all(bench.path("data")).unwrap();
    let ended = wait(child).exits(1);
    assert!(!ended.out.contains("FEEDS "), "{}", ended.out);
    let cells = fs::read_to_string(bench.run_folder().join("cells.jsonl")).unwrap();
    assert!(cells.lines().last().unwrap().contains(r#""changed":[0]"#), "{cells}");
}

#[test]
fn io_uring_that_is_forbidden_is_an_error_and_on_unavailable_decides() {
    for (choice, code, text) in [("fail", 2, "seccomp"), ("skip", 2, "io_uring"), ("pread", 0, "pread")] {
        let bench = Bench::small(URING);
        let choice = format!("targets.disk.on_unavailable=\"{choice}\"");
        let mut command = bench.command(&["run", "s.toml", "--set", &choice]);
        in_child(&mut command, || forbid(libc::SYS_io_uring_setup));
        finish(command).exits(code).says(text);
    }
}

/// Without a file nobody asked for an engine: another one reads, and every row of it says so.
#[test]
fn where_io_uring_is_forbidden_a_path_is_read_by_pread() {
    let bench = Bench::new();
    let args = [
        "run",
        "data",
        "--need",
        "1 MB/s",
        "--set",
        "dataset={ size = \"1 MiB\", sample_size = \"64 KiB\" }",
    ];
    let sets = ["--set", "load.queue_depth=2", "--set", "measure={ bytes = \"1 MiB\", repetitions = 3 }"];
    let mut command = bench.command(&[&args[..], &sets].concat());
    in_child(&mut command, || forbid(libc::SYS_io_uring_setup));
    finish(command).exits(0).says("pread for io_uring").says("seccomp");
}

#[test]
fn io_uring_that_is_skipped_leaves_the_other_engine_and_a_reason_in_the_record() {
    let bench = Bench::judged(
        r#"targets.disk = { at = "data", engine = ["io_uring", "pread"], on_unavailable = "skip" }"#,
    );
    let mut command = bench.command(&["run", "s.toml"]);
    in_child(&mut command, || forbid(libc::SYS_io_uring_setup));
    finish(command).exits(0).says("io_uring").feeds();
    let run = fs::read_to_string(bench.run_folder().join("run.json")).unwrap();
    assert!(run.contains("seccomp"), "{run}");
}

#[test]
fn a_small_limit_of_locked_memory_is_named_when_registration_is_required() {
    let bench = Bench::small(URING);
    let locked = |required: &str| {
        let registered = format!("targets.disk.registered=\"{required}\"");
        let command = bench.command(&["run", "s.toml", "--set", &registered]);
        finish_as_nobody(command, || limit(libc::RLIMIT_MEMLOCK, 16_384))
    };
    let Some(auto) = locked("auto") else { return };
    auto.exits(0);
    let cells = fs::read_to_string(bench.run_folder().join("cells.jsonl")).unwrap();
    let recorded = cells.contains("not registered: ") && cells.contains("RLIMIT_MEMLOCK");
    assert!(recorded, "what was not granted is not recorded");
    let required = locked("required").unwrap().exits(1);
    let all = format!("{}{}", required.out, required.err);
    assert!(all.contains("RLIMIT_MEMLOCK") && !all.contains("FEEDS "), "{all}");
}

#[test]
fn sixty_four_open_files_are_enough() {
    let bench = Bench::judged(r#"targets.disk = { at = "data", engine = ["io_uring", "pread"] }"#);
    let mut command = bench.command(&[
        "run",
        "s.toml",
        "--set",
        "dataset.samples=200",
        "--set",
        "dataset.sample_size=\"16 KiB\"",
        "--set",
        "measure.bytes=\"64 MiB\"",
    ]);
    bench.write(
        "s.toml",
        &fs::read_to_string(bench.path("s.toml")).unwrap().replace("size = \"4 MiB\", ", ""),
    );
    in_child(&mut command, || limit(libc::RLIMIT_NOFILE, 64));
    finish(command).exits(0).feeds();
    let cells = fs::read_to_string(bench.run_folder().join("cells.jsonl")).unwrap();
    assert!(!cells.contains("too_many_open"), "{cells}");
}

#[test]
fn a_folder_without_permission_is_an_error_that_names_it() {
    let bench = Bench::small(DISK);
    fs::create_dir(bench.path("data")).unwrap();
    fs::set_permissions(bench.path("data"), fs::Permissions::from_mode(0o555)).unwrap();
    if let Some(ended) = finish_as_nobody(bench.command(&["run", "s.toml"]), || Ok(())) {
        ended.exits(2).says("data");
    }
}

#[test]
fn memory_is_not_sold_as_storage() {
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return skip("there is no /dev/shm");
    }
    let folder = tempfile::TempDir::new_in(memory).unwrap();
    let bench = Bench::small("");
    let at = format!("targets.ram={{ at = \"{}\", engine = \"pread\" }}", folder.path().display());
    bench.run(&["run", "s.toml", "--set", &at, "--set", "load.cache=\"bypass\""]).exits(2).says("memory");
    bench.run(&["run", "s.toml", "--set", &at, "--set", "load.cache=\"warm\""]).exits(0).says("tmpfs");
}
