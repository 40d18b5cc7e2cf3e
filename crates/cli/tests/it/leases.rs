//! One run at a time on a dataset that lies on a server.

use std::fs;
use std::process::Command;

use servers::{Radosgw, or_skip};

use crate::emulated::Served;
use crate::faults::signal;
use crate::harness::{Bench, SMALL, by_count, comes_while, finish, network, start, until, wait};
use crate::{ganesha, radosgw};

/// So many repetitions that a run is never over before it is killed.
const ENDLESS: &str = r#"bytes = "16 MiB", repetitions = 100"#;

/// Holds a dataset by a run that is killed in the end. `command` makes a command line of feedline on the scenario.
fn one_run_at_a_time(bench: &Bench, command: &dyn Fn(&[&str]) -> Command) {
    let scenario = fs::read_to_string(bench.path("s.toml")).unwrap();
    bench.write("s.toml", &by_count(&scenario, ENDLESS));
    let mut child = start(command(&["run", "s.toml"]));
    until(&mut child, || bench.reps_so_far() >= 1);
    let holder = format!("is being measured by another run (process {} on ", child.id());
    bench.write("s.toml", &by_count(&scenario, SMALL));
    finish(command(&["run", "s.toml", "--results", "other"])).exits(1).says(&holder);
    finish(command(&["clean", "s.toml", "--yes"])).exits(1).says(&holder);
    signal(&child, libc::SIGKILL);
    wait(child);
    // What it left is nobody's: the process is gone.
    finish(command(&["run", "s.toml", "--results", "other"])).exits(0);
    // Variants share it, and leave nothing.
    let variants =
        ["--variant", "a:", "--variant", "b:load.queue_depth=1", "--no-compare", "--results", "third"];
    finish(command(&[&["run", "s.toml"], &variants[..]].concat())).exits(0);
    let cleaned = finish(command(&["clean", "s.toml", "--yes"])).exits(0);
    assert!(cleaned.prints("removed 1 dataset: 18 files") && !cleaned.prints("left"), "{cleaned:?}");
}

#[test]
fn a_dataset_on_a_server_is_measured_by_one_run_at_a_time() {
    for protocol in ["s3", "nfs"] {
        let bench = Bench::new();
        let server = Served::start(&bench, &[protocol]);
        bench.write("s.toml", &network("", server.target()));
        one_run_at_a_time(&bench, &|args| bench.keyed(args, &server.keys()));
    }
}

#[test]
fn a_dataset_on_a_filer_is_measured_by_one_run_at_a_time() {
    let Some(server) = ganesha::start() else { return };
    let bench = ganesha::bench(&server, "", "");
    one_run_at_a_time(&bench, &|args| bench.command(args));
}

#[test]
fn a_dataset_in_a_bucket_is_measured_by_one_run_at_a_time() {
    let Some(server) = or_skip(Radosgw::start()) else { return };
    let bench = Bench::new();
    bench.write("s.toml", &network("", r#"targets.gw = { at = "s3://leases/run" }"#));
    radosgw::curl(&server, "leases", "PUT", &[]);
    one_run_at_a_time(&bench, &|args| radosgw::command(&bench, &server, args));
}

/// What is being written has no lease of its own yet.
#[test]
fn a_dataset_that_is_being_written_is_not_cleaned() {
    for protocol in ["s3", "nfs"] {
        let bench = Bench::new();
        let server = Served::start(&bench, &[protocol]);
        // So much that it is never whole before it is killed; two targets that are one place.
        let target = server.target();
        let targets = format!("{target}\n{}", target.replacen("targets.demo", "targets.again", 1));
        bench.write("s.toml", &network("", &targets).replace(r#"size = "1 MiB""#, r#"size = "64 GiB""#));
        let command = |args: &[&str]| bench.keyed(args, &server.keys());
        let clean = || finish(command(&["clean", "s.toml", "--yes"]));
        let child = loop {
            let mut child = start(command(&["prepare", "s.toml"]));
            let writes = format!("another run writes there (process {} on ", child.id());
            // One that begins while `clean` looks is refused, and does not write.
            if comes_while(&mut child, || clean().err.contains(&writes)) {
                clean().exits(1).says("cannot clean `").says(&writes);
                break child;
            }
            wait(child);
        };
        signal(&child, libc::SIGKILL);
        wait(child);
        assert!(!clean().exits(0).prints("left"));
        assert!(clean().exits(0).prints("removed 0 datasets: 0 files"), "nothing is left of leases");
    }
}
