//! Targets at URLs, without a server: what is refused, and how soon it is over.

use crate::harness::Bench;

const NEED: [&str; 2] = ["--need", "1 GB/s"];

#[test]
fn wrong_urls_are_usage_errors_that_say_what_to_write() {
    let bench = Bench::new();
    let check = |url: &str| bench.run(&["check", url, NEED[0], NEED[1]]).exits(2);
    check("gs://id:secret@bucket").says("never from a scenario");
    check("nfs://filer").says("nfs://host/export");
    check("s3://id:secret@bucket").says("never from a scenario");
    bench.run(&["run", "s3://bucket"]).exits(2).says("--need");
    bench.run(&["clean", "smb://filer/x"]).exits(2).says("no smb backend");
}

#[test]
fn check_and_plan_connect_to_nothing() {
    let bench = Bench::new();
    let url = format!("nfs://127.0.0.1:{}/export", servers::closed_port().unwrap());
    bench.run(&["check", &url, NEED[0], NEED[1]]).exits(0).says("ok:");
    bench
        .run(&["plan", "s3://bucket/x", NEED[0], NEED[1]])
        .exits(0)
        .says("GET and HEAD a second")
        .says(" while its own ceilings are measured");
    let google = bench.run(&["plan", "gs://bucket/x", NEED[0], NEED[1]]).exits(0);
    google.says("region auto").says("endpoint https://storage.googleapis.com").says("GET and HEAD a second");
}

#[test]
fn a_refused_connection_is_an_error_that_names_the_target() {
    let bench = Bench::new();
    let url = format!("nfs://127.0.0.1:{}/export", servers::closed_port().unwrap());
    bench.run(&["run", &url, NEED[0], NEED[1]]).exits(1).says("target `data`").says("127.0.0.1");
    bench.run(&["clean", &url]).exits(1).says("cannot clean");
}
