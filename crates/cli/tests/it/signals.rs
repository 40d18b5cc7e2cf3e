//! Each signal that asks for an end, in each phase of a run: what was measured is kept, whatever is waited for.
//!
//! A phase is held open by a server that answers nothing, or by more than can be done; it is told by what is said or recorded,
//! never by time.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command};

use crate::emulated::Served;
use crate::faults::signal;
use crate::harness::{Bench, DISK, Ended, REP, by_count, in_child, network, scenario, until, wait};

/// So many repetitions that a run is never over before it is ended.
const ENDLESS: &str = r#"bytes = "16 MiB", repetitions = 100"#;

/// The same from the page cache.
const LONG: &str = r#"bytes = "256 MiB", repetitions = 100"#;

/// A run in one phase.
struct Phase {
    /// The server that it talks to, as `feedline emulate` is told; none where it reads this machine's disk.
    server: Option<&'static [&'static str]>,
    /// The scenario, from the line of the server's target.
    scenario: fn(&str) -> String,
    /// Options of `run`.
    options: &'static [&'static str],
    /// Whether the run is in the phase.
    is_reached: fn(&Running<'_>) -> bool,
    /// What becomes of the server before the run.
    server_is: fn(&mut Served),
    /// What becomes of it in the phase.
    server_becomes: fn(&mut Served),
    /// What is said before the signal comes.
    says: &'static str,
    /// What is left.
    leaves: Leaves,
}

const THERE: fn(&mut Served) = |_| ();
const SILENT: fn(&mut Served) = |server| server.freeze();

/// What a run leaves that a signal ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    /// Nothing was measured.
    Nothing,
    /// A record that was ended, without a repetition.
    Ceilings,
    /// A record that was ended.
    Record,
    /// The same, with what was measured.
    Repetitions,
    /// The same, and on this machine's disk no more than before: its data, and what is restored.
    NoCheckpoints,
    /// The same of each variant.
    Variants,
}

/// A run that was started, and what it says.
struct Running<'a> {
    bench: &'a Bench,
    child: u32,
}

impl Running<'_> {
    fn said(&self) -> String {
        fs::read_to_string(self.bench.path("said")).unwrap()
    }

    /// Whether it catches SIGTERM (proc(5), `SigCgt`: bit n - 1 for signal n).
    fn hears(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child)).unwrap_or_default();
        let mask = status
            .lines()
            .find_map(|line| u64::from_str_radix(line.strip_prefix("SigCgt:")?.trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (libc::SIGTERM - 1) & 1 == 1)
    }

    /// Folders below a path of the bench whose names begin so.
    fn folders(&self, below: &str, name: &str) -> usize {
        let entries = fs::read_dir(self.bench.path(below)).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(name)).count()
    }
}

/// Data of a server that takes 20 s to write.
fn slowly_written(target: &str) -> String {
    network("", target).replace("size = \"1 MiB\"", "samples = 400")
}

fn endless(target: &str) -> String {
    by_count(&network("", target), ENDLESS)
}

fn local(measure: &str, load: &str) -> String {
    by_count(&scenario(DISK).replace("queue_depth = [1, 4]", load), measure)
}

/// A copy from the server to this machine's disk, again and again.
fn copying(target: &str) -> String {
    let near = r#"targets.near = { at = "near", engine = "pread" }"#;
    endless(&[target, near, r#"copy = { from = "demo", to = "near" }"#].join("\n"))
}

/// A server that is read, and checkpoints on this machine's disk.
fn checkpointing(target: &str) -> String {
    let near = r#"targets.near = { at = "near", engine = "pread" }"#;
    endless(&[target, near, r#"checkpoint = { size = "3 MB", files = 2, keep = 1 }"#].join("\n"))
}

/// Measuring a bucket that stalls, and looking at its data for the last time. The other phases say where they differ.
const BUCKET: Phase = Phase {
    server: Some(&["s3"]),
    scenario: endless,
    options: &[],
    is_reached: |run| run.bench.reps_so_far() >= 1,
    server_is: THERE,
    server_becomes: SILENT,
    says: "",
    leaves: Leaves::Repetitions,
};

/// Connecting and listing.
const LISTING: Phase = Phase {
    scenario: |target| {
        network("", target)
            .replace("dataset = {", "dataset = { source = \"existing\",")
            .replace("size = \"1 MiB\", ", "")
    },
    is_reached: |run| run.hears(),
    server_is: SILENT,
    leaves: Leaves::Nothing,
    ..BUCKET
};

/// The same of a filer.
const FILER_LISTING: Phase = Phase { server: Some(&["nfs"]), ..LISTING };

/// Writing the data.
const WRITING: Phase = Phase {
    server: Some(&["s3", "--set", "requests_per_second=20"]),
    scenario: slowly_written,
    is_reached: |run| run.said().contains("making the datasets ready"),
    leaves: Leaves::Nothing,
    ..BUCKET
};

/// Ceilings.
const CEILINGS: Phase = Phase {
    server: None,
    // A ceiling for each depth.
    scenario: |_| local(LONG, &format!("queue_depth = {:?}", (1..=60).collect::<Vec<_>>())),
    is_reached: |run| run.bench.lines_so_far().contains(r#""line":"ceiling""#),
    server_becomes: THERE,
    leaves: Leaves::Ceilings,
    ..BUCKET
};

/// Measuring from the page cache.
const FROM_MEMORY: Phase =
    Phase { server: None, scenario: |_| local(LONG, "queue_depth = 1"), server_becomes: THERE, ..BUCKET };

/// Measuring a filer that stalls, and looking at its data for the last time.
const FILER: Phase = Phase { server: Some(&["nfs"]), ..BUCKET };

/// Playing a training job.
const TRAINING: Phase = Phase {
    scenario: |target| {
        format!(
            r#"version = 1
need = {{ batch = 2, step_time = "5ms", sample_size = "64 KiB", count = 1 }}
dataset = {{ size = "1 MiB" }}
load = {{ mode = "training", cache = "bypass" }}
training = {{ readers = 1, steps = 6 }}
measure = {{ repetitions = 100 }}
{target}
"#
        )
    },
    ..BUCKET
};

/// Waiting for a server that went away.
const OUTAGE: Phase =
    Phase { server_becomes: Served::kill, says: "does not answer: waiting for it", ..BUCKET };

/// Confirming.
const CONFIRMING: Phase = Phase {
    scenario: |target| by_count(&network("", target), r#"bytes = "1 MiB", repetitions = 20"#),
    is_reached: |run| run.bench.lines_so_far().contains(r#""role":"confirm""#),
    ..BUCKET
};

/// Copying.
const COPYING: Phase = Phase {
    scenario: copying,
    is_reached: |run| run.folders("near", "feedline-copy-") > 0,
    leaves: Leaves::Record,
    ..BUCKET
};

/// Beside checkpoints.
const CHECKPOINTS: Phase = Phase { scenario: checkpointing, leaves: Leaves::NoCheckpoints, ..BUCKET };

/// A variant in a call that does not return.
const VARIANTS: Phase = Phase {
    options: &["--variant", "a:", "--variant", "b:load.queue_depth=1", "--no-compare"],
    is_reached: |run| {
        let groups = fs::read_dir(run.bench.path("results")).into_iter().flatten().flatten();
        let mut records = groups.map(|group| group.path().join("a/cells.jsonl"));
        records.any(|record| fs::read_to_string(record).is_ok_and(|cells| cells.contains(REP)))
    },
    leaves: Leaves::Variants,
    ..BUCKET
};

/// A run that hears the signal. Where these tests are started so that they outlive their terminal, what they start inherits
/// that SIGHUP is ignored.
fn command(bench: &Bench, options: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = bench.keyed(&[&["run", "s.toml"], options].concat(), variables);
    in_child(&mut command, || {
        // SAFETY: a plain system call on a plain value.
        let before = unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
        if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
    });
    command
}

/// Starts the run of a phase, and ends it there.
fn ended_in(phase: &Phase, bench: &Bench, number: libc::c_int) -> Ended {
    let mut server = phase.server.map(|args| Served::start(bench, args));
    bench.write("s.toml", &(phase.scenario)(server.as_ref().map_or("", Served::target)));
    let (before, then) = (phase.server_is, phase.server_becomes);
    server.iter_mut().for_each(before);
    let keys = server.as_ref().map_or_else(Vec::new, |server| server.keys());
    let keys: Vec<(String, String)> =
        keys.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
    let keys: Vec<(&str, &str)> = keys.iter().map(|(key, value)| (&**key, &**value)).collect();
    let (out, said) = (File::create(bench.path("out")).unwrap(), File::create(bench.path("said")).unwrap());
    let mut child = command(bench, phase.options, &keys).stdout(out).stderr(said).spawn().unwrap();
    let running = Running { bench, child: child.id() };
    until(&mut child, || (phase.is_reached)(&running));
    server.iter_mut().for_each(then);
    until(&mut child, || running.said().contains(phase.says));
    signal(&child, number);
    ended(child, bench)
}

fn ended(child: Child, bench: &Bench) -> Ended {
    let code = wait(child).code;
    let text = |name: &str| fs::read_to_string(bench.path(name)).unwrap();
    Ended { code, out: text("out"), err: text("said") }
}

/// The folders of the records that a run left.
fn records(bench: &Bench) -> Vec<PathBuf> {
    let below =
        |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let runs = below(bench.path("results"));
    runs.flat_map(|run| if run.join("run.json").exists() { vec![run] } else { below(run).collect() })
        .collect()
}

fn every_signal_ends(phase: &Phase) {
    for number in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let bench = Bench::new();
        let ended = ended_in(phase, &bench, number);
        let told = format!("signal {number}: {ended:?}");
        assert_eq!(ended.code, Some(130), "{told}");
        let records = records(&bench);
        match phase.leaves {
            Leaves::Nothing => {
                assert!(ended.prints("interrupted before anything was measured"), "{told}");
                assert!(records.is_empty(), "{told}");
            }
            Leaves::Variants => assert_eq!(records.len(), 2, "{told}"),
            _ => {
                assert!(
                    ended.prints("kept in results/") && ended.prints("feedline run --resume results/"),
                    "{told}"
                );
                assert_eq!(records.len(), 1, "{told}");
            }
        }
        for record in records {
            let cells = fs::read_to_string(record.join("cells.jsonl")).unwrap();
            assert!(cells.lines().last().unwrap().contains(r#""interrupted":true"#), "{told}");
            assert!(record.join("report.html").exists(), "{told}");
            let has_reps = cells.contains(REP);
            match phase.leaves {
                Leaves::Ceilings => assert!(!has_reps, "{told}"),
                Leaves::Repetitions | Leaves::NoCheckpoints => assert!(has_reps, "{told}"),
                Leaves::Nothing | Leaves::Record | Leaves::Variants => {}
            }
        }
        if phase.leaves == Leaves::NoCheckpoints {
            assert_eq!(fs::read_dir(bench.path("near")).unwrap().count(), 2, "{told}");
        }
    }
}

#[test]
fn a_run_that_lists_its_data_ends() {
    every_signal_ends(&LISTING);
}

#[test]
fn a_run_that_writes_its_data_ends() {
    every_signal_ends(&WRITING);
}

#[test]
fn a_run_that_measures_its_client_ends() {
    every_signal_ends(&CEILINGS);
}

#[test]
fn a_run_keeps_what_was_measured() {
    every_signal_ends(&FROM_MEMORY);
}

#[test]
fn reads_from_a_bucket_that_stalls_end() {
    every_signal_ends(&BUCKET);
}

#[test]
fn reads_from_a_filer_that_stalls_end() {
    every_signal_ends(&FILER);
}

#[test]
fn a_run_that_lists_a_filer_ends() {
    every_signal_ends(&FILER_LISTING);
}

#[test]
fn a_training_job_whose_bucket_stalls_ends() {
    every_signal_ends(&TRAINING);
}

#[test]
fn a_run_that_waits_for_a_server_ends() {
    every_signal_ends(&OUTAGE);
}

#[test]
fn a_run_that_confirms_ends() {
    every_signal_ends(&CONFIRMING);
}

#[test]
fn a_run_that_copies_ends() {
    every_signal_ends(&COPYING);
}

#[test]
fn a_run_ends_with_its_checkpoints_whatever_stalls() {
    every_signal_ends(&CHECKPOINTS);
}

#[test]
fn one_signal_ends_variants_that_stall() {
    every_signal_ends(&VARIANTS);
}
