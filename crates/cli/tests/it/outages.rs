//! Real servers that go away in mid run, and come back.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use serde_json::Value;
use servers::{Radosgw, or_skip};

use crate::faults::signal;
use crate::harness::{Bench, REP, by_count, finish, network, until, wait};
use crate::local::count;
use crate::{ganesha, radosgw};

/// So many reads that most of a run is still to come when the server goes, however late a busy machine comes to it.
fn many(epochs: u32) -> String {
    format!("epochs = {epochs}, repetitions = 100")
}

/// Runs `command` until the server has been away and repetitions were made after that; what is recorded is told.
fn goes_and_comes_back(bench: &Bench, mut command: Command, (kill, restart): (&dyn Fn(), &dyn Fn())) {
    let said = bench.path("said");
    let mut child = command.stdout(Stdio::piped()).stderr(File::create(&said).unwrap()).spawn().unwrap();
    until(&mut child, || bench.reps_so_far() >= 2);
    kill();
    // A run that has no turn meanwhile would not have met it.
    until(&mut child, || fs::read_to_string(&said).unwrap().contains("does not answer: waiting"));
    restart();
    until(&mut child, || {
        let lines = bench.lines_so_far();
        lines.split_once(r#""outage":{"#).is_some_and(|(_, later)| later.matches(REP).count() >= 2)
    });
    signal(&child, libc::SIGINT);
    wait(child).exits(130);
    let (met, counted): (Vec<Value>, Vec<Value>) =
        bench.reps().into_iter().partition(|rep| rep["outage"].is_object());
    let failed = |rep: &Value| rep["outcome"]["failed"].is_object() || rep["errors"] != serde_json::json!({});
    assert!(met.iter().all(failed), "{met:?}");
    for rep in counted.iter().filter(|rep| rep["outcome"] != "interrupted") {
        assert!(count(rep, "ops") > 0 && !failed(rep), "{rep}");
    }
    let folder = bench.run_folder();
    let shown = bench.run(&["report", folder.to_str().unwrap(), "--full"]).exits(0);
    assert!(shown.prints("did not answer"), "{shown:?}");
}

#[test]
fn a_filer_that_goes_away_is_waited_for() {
    let Some(server) = ganesha::start() else { return };
    let bench = ganesha::bench(&server, "", ", retries = 0");
    bench.write("s.toml", &by_count(&fs::read_to_string(bench.path("s.toml")).unwrap(), &many(256)));
    let restart = || server.restart().unwrap();
    goes_and_comes_back(&bench, bench.command(&["run", "s.toml"]), (&|| server.kill(), &restart));
}

#[test]
fn a_gateway_that_goes_away_is_waited_for() {
    let Some(server) = or_skip(Radosgw::start()) else { return };
    let bench = Bench::new();
    let scenario =
        network("", r#"targets.gw = { at = "s3://outage/run", engine = ["lean", "sdk"], retries = 0 }"#);
    // A read takes ten times as long as of the filer.
    bench.write("s.toml", &by_count(&scenario, &many(8)));
    radosgw::curl(&server, "outage", "PUT", &[]);
    finish(radosgw::command(&bench, &server, &["prepare", "s.toml"])).exits(0);
    let restart = || server.restart().unwrap();
    let run = radosgw::command(&bench, &server, &["run", "s.toml"]);
    goes_and_comes_back(&bench, run, (&|| server.kill(), &restart));
}
