//! Each signal that asks for an end, in each phase of a run: what was measured is kept, whatever is waited for.

use std::fs::{self, File};
use std::io;
use std::process::Command;

use crate::emulated::Served;
use crate::faults::signal;
use crate::harness::{Bench, DISK, by_count, in_child, network, start, until, wait};

const SIGNALS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// So many repetitions, and such long ones, that a run is never over before it is ended.
const ENDLESS: &str = r#"bytes = "256 MiB", repetitions = 100"#;

/// A run that hears all of them. Where these tests are started so that they outlive their terminal, what they start
/// inherits that SIGHUP is ignored.
fn command(bench: &Bench, variables: &[(&str, &str)]) -> Command {
    let mut command = bench.keyed(&["run", "s.toml"], variables);
    in_child(&mut command, || {
        // SAFETY: a plain system call on a plain value.
        let before = unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
        if before == libc::SIG_ERR { Err(io::Error::last_os_error()) } else { Ok(()) }
    });
    command
}

#[test]
fn a_run_keeps_what_was_measured() {
    for number in SIGNALS {
        let bench = Bench::small(DISK);
        bench.write("s.toml", &by_count(&fs::read_to_string(bench.path("s.toml")).unwrap(), ENDLESS));
        let mut child = start(command(&bench, &[]));
        until(&mut child, || bench.reps_so_far() >= 1);
        signal(&child, number);
        let ended = wait(child).exits(130).says("kept in results/").says("feedline run --resume results/");
        assert!(ended.out.contains("UNCERTAIN"), "{}", ended.out);
        let cells = fs::read_to_string(bench.run_folder().join("cells.jsonl")).unwrap();
        assert!(cells.lines().last().unwrap().contains(r#""interrupted":true"#));
    }
}

#[test]
fn a_dataset_that_a_server_stops_taking_is_given_up() {
    for number in SIGNALS {
        let bench = Bench::new();
        // Its 400 objects take it 20 s.
        let server = Served::start(&bench, &["s3", "--set", "requests_per_second=20"]);
        let scenario = network("", server.target()).replace("size = \"1 MiB\"", "samples = 400");
        bench.write("s.toml", &scenario);
        let said = File::create(bench.path("said")).unwrap();
        let mut child = command(&bench, &server.keys()).stderr(said).spawn().unwrap();
        let is_writing =
            || fs::read_to_string(bench.path("said")).unwrap().contains("making the datasets ready");
        until(&mut child, is_writing);
        server.freeze();
        signal(&child, number);
        wait(child).exits(130);
        let said = fs::read_to_string(bench.path("said")).unwrap();
        assert!(said.contains("interrupted before anything was measured"), "{said}");
    }
}

#[test]
fn reads_from_a_server_that_stalls_end() {
    for number in SIGNALS {
        let bench = Bench::new();
        let server = Served::start(&bench, &["s3"]);
        bench.write("s.toml", &by_count(&network("", server.target()), ENDLESS));
        let mut child = start(command(&bench, &server.keys()));
        until(&mut child, || bench.reps_so_far() >= 1);
        server.freeze();
        signal(&child, number);
        wait(child).exits(130).says("kept in results/");
        assert!(bench.run_folder().join("report.html").exists());
    }
}
