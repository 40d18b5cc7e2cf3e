//! What goes wrong on the way to a server: counted by kind, tried again where that helps, told where it does not.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use emulator::{Protocol, Server, Settings};
use plan::{Emulation, Faults};
use serde_json::Value;

use crate::emulated::Served;
use crate::harness::{Bench, Ended, by_count, finish, network};
use crate::local_faults::last_line;

/// Runs over both protocols with what `emulate` declares.
fn run(operation: &str, emulate: &str, retries: u32) -> Bench {
    let bench = Bench::new();
    let target = |name: &str, at: &str, more: &str| {
        format!(
            "targets.{name} = {{ at = \"{at}\", emulate = {{ {emulate} }}, retries = {retries}{more} }}\n"
        )
    };
    let targets = [
        target("filer", "nfs://demo/export/run", ""),
        target("bucket", "s3://demo/run", r#", engine = ["lean", "sdk"]"#),
    ];
    let scenario = network(&format!("operation = \"{operation}\""), &targets.concat());
    bench.write("s.toml", &by_count(&scenario, r#"bytes = "4 MiB", repetitions = 3"#));
    bench.run(&["run", "s.toml"]).exits(0).says("DEMO");
    bench
}

/// Sums over the repetitions of an engine: of a map of theirs, by its keys.
fn sums(bench: &Bench, engine: &str, pointer: &str) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for rep in bench.reps().iter().filter(|rep| rep["cell"].as_str().unwrap().contains(engine)) {
        for (name, value) in rep.pointer(pointer).and_then(Value::as_object).into_iter().flatten() {
            *sums.entry(name.clone()).or_default() += value.as_u64().unwrap_or(0);
        }
    }
    sums
}

/// The dataset of [`network`].
const OWN: &str = r#"size = "1 MiB", sample_size = "64 KiB""#;

const ENGINES: [&str; 3] = ["/nfs3/", "/lean/", "/sdk/"];

#[test]
fn each_fault_is_counted_as_what_it_is() {
    let cases = [
        ("read", "slow_down", 0, ["throttled"; 3]),
        ("read", "server_error", 0, ["server"; 3]),
        ("read_file", "reset", 0, ["reset"; 3]),
        // A short READ of NFS is gone on with.
        ("read", "truncated", 0, ["", "truncated", "truncated"]),
        // Of no use to try again.
        ("read", "stale", 2, ["stale", "not_found", "not_found"]),
        // Bytes that feedline wrote are known.
        ("read", "corrupted", 2, ["corrupt"; 3]),
    ];
    for (operation, fault, retries, kinds) in cases {
        let bench = run(operation, &format!("faults = {{ {fault} = 0.2 }}"), retries);
        for (engine, kind) in ENGINES.into_iter().zip(kinds) {
            let made = sums(&bench, engine, "/emulated/faults");
            assert!(made[fault] > 0, "{fault} {engine}");
            let counted: Vec<String> = sums(&bench, engine, "/errors").into_keys().collect();
            let expected: Vec<&str> = [kind].into_iter().filter(|kind| !kind.is_empty()).collect();
            assert_eq!(counted, expected, "{fault} {engine}");
            let counters = sums(&bench, engine, "/counters");
            assert!(counters["ops"] > 0, "the others are served: {counters:?}");
            assert_eq!(counters.get("recovered").copied().unwrap_or(0), 0, "{fault} {engine}");
        }
    }
}

/// What feedline did not write has nothing but the sums of its service to be held against, where it comes wrong each time.
#[test]
fn objects_that_come_wrong_twice_are_found_by_the_sums_of_their_service() {
    let faults = Faults { corrupted: 0.7, ..Faults::default() };
    let emulation = Emulation { faults, ..Emulation::default() };
    let server = Server::start(&Settings { emulation, ..Settings::new(Protocol::S3) }).unwrap();
    let bench = Bench::new();
    let at = format!(r#"at = "s3://bench/run", endpoint = "http://127.0.0.1:{}""#, server.port());
    let target = format!(r#"targets.t = {{ {at}, region = "us-east-1", anonymous = true }}"#);
    let written = network(r#"operation = "read_file""#, &target);
    bench.write("written.toml", &written.replace("64 KiB", "4 KiB"));
    bench.write("s.toml", &written.replace(OWN, r#"source = "existing""#));
    server.rest();
    bench.run(&["prepare", "written.toml"]).exits(0).says("256 files");
    server.begin();
    let ran = bench.run(&["run", "s.toml"]);
    assert!(!ran.prints("FEEDS") && ran.prints("checked reads held wrong bytes"), "{ran:?}");
    assert!(server.end().faults["corrupted"] > 0);
    let reread = &last_line(&bench)["reread"];
    let sum =
        |what: &str| reread.as_array().unwrap().iter().filter_map(|one| one[what].as_u64()).sum::<u64>();
    // Two readings of an object differ in 42 of 100 cases, and in 91 one of them is wrong.
    assert!(sum("summed") > 0 && sum("wrong") * 3 > sum("checked") * 2, "{reread}");
}

#[test]
fn requests_that_are_refused_are_tried_again() {
    let bench = run("read", "faults = { slow_down = 0.2 }", 3);
    for engine in ENGINES {
        let counters = sums(&bench, engine, "/counters");
        assert!(counters["recovered"] > 0, "{engine}: {counters:?}");
        assert!(counters["attempts"] > counters["started"], "{engine}: {counters:?}");
        let failed = sums(&bench, engine, "/errors").values().sum::<u64>();
        assert!(failed < counters["attempt_errors/throttled"], "{engine}: {failed}, {counters:?}");
    }
}

#[test]
fn requests_beyond_a_rate_are_throttled() {
    // A repetition that no refusal meets takes 13 s at least over its 256 reads.
    let bench = run("read", "requests_per_second = 20", 0);
    for engine in ENGINES {
        let throttled = sums(&bench, engine, "/errors");
        let kinds: Vec<&str> = throttled.keys().map(String::as_str).collect();
        assert_eq!(kinds, ["throttled"], "{engine}: {:?}", sums(&bench, engine, "/counters"));
    }
}

/// A server that says the same to everybody who has said something, whatever it was.
fn parrot(says: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(says.as_bytes());
        }
    });
    port
}

const SECRET: &str = "CANARYsecretCANARYsecretCANARYsecret0000";
const TOKEN: &str = "CANARYtokenCANARYtoken";
const CANARIES: [(&str, &str); 3] = [
    ("AWS_ACCESS_KEY_ID", "AKIACANARYCANARY0000"),
    ("AWS_SECRET_ACCESS_KEY", SECRET),
    ("AWS_SESSION_TOKEN", TOKEN),
];

/// Tries a scenario whose only target is this, which must fail with code 1, and with a cause and a hint.
#[track_caller]
fn refused(bench: &Bench, target: &str, variables: &[(&str, &str)]) -> Ended {
    bench.write("s.toml", &network("", &format!("targets.t = {{ {target} }}")));
    let ended = finish(bench.keyed(&["run", "s.toml"], variables)).exits(1).says("target `t`").says("hint: ");
    assert!(!ended.err.contains("panicked") && !ended.err.contains("CANARY"), "{}", ended.err);
    no_canary(bench, &ended);
    ended
}

#[track_caller]
fn no_canary(bench: &Bench, ended: &Ended) {
    for secret in [SECRET, TOKEN] {
        assert!(!ended.out.contains(secret) && !ended.err.contains(secret), "{ended:?}");
        holds_not(&bench.path("results"), secret);
    }
}

#[track_caller]
fn holds_not(folder: &Path, secret: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            holds_not(&path, secret);
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(secret), "{} holds it", path.display());
        }
    }
}

fn s3(bucket: &str, endpoint: &str) -> String {
    format!("at = \"s3://{bucket}/run\", endpoint = \"{endpoint}\", region = \"us-east-1\"")
}

#[test]
fn what_is_wrong_with_a_bucket_is_told() {
    let bench = Bench::new();
    let server = Served::start(&bench, &["s3"]);
    let endpoint = server.quoted("endpoint");
    refused(&bench, &s3("bench", endpoint), &[]).says("no credentials").says("AWS_ACCESS_KEY_ID");
    refused(&bench, &s3("bench", endpoint), &CANARIES).says("403");
    refused(&bench, &s3("other", endpoint), &server.keys()).says("bucket `other` does not exist");
    refused(&bench, &s3("bench", endpoint), &[server.keys()[0], CANARIES[1]]).says("SignatureDoesNotMatch");
    let closed = format!("http://127.0.0.1:{}", servers::closed_port().unwrap());
    refused(&bench, &s3("bench", &closed), &CANARIES).says("refuses connections");
    refused(&bench, &s3("bench", "http://nowhere.invalid"), &CANARIES).says("has no address");
    for says in
        ["SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"]
    {
        let other = format!("http://127.0.0.1:{}", parrot(says));
        refused(&bench, &s3("bench", &other), &CANARIES);
    }
}

#[test]
fn what_is_wrong_with_an_export_is_told() {
    let bench = Bench::new();
    let server = Served::start(&bench, &["nfs"]);
    let authority = server.quoted("at").split('/').nth(2).unwrap().to_owned();
    let at = |authority: &str, path: &str| format!("at = \"nfs://{authority}/{path}\"");
    refused(&bench, &at(&authority, "other/run"), &[]).says("MNT3ERR_NOENT").says("exports /export");
    refused(&bench, &at(&format!("127.0.0.1:{}", servers::closed_port().unwrap()), "export/run"), &[])
        .says("Connection refused");
    refused(&bench, &at("nowhere.invalid", "export/run"), &[]).says("has no address");
    let ssh = parrot("SSH-2.0-OpenSSH_9.6\r\n");
    refused(&bench, &at(&format!("127.0.0.1:{ssh}"), "export/run"), &[]);
}

#[test]
fn keys_appear_nowhere() {
    let bench = Bench::new();
    let keys = [("FEEDLINE_EMULATE_ACCESS_KEY", CANARIES[0].1), ("FEEDLINE_EMULATE_SECRET", SECRET)];
    let server = Served::start_with(&bench, &["s3"], &keys);
    assert!(!server.greeting.contains(SECRET), "{}", server.greeting);
    bench.write("s.toml", &network("", server.target()));
    let ended = finish(bench.keyed(&["run", "s.toml", "--no-redact"], &CANARIES[..2])).exits(0);
    assert!(!ended.out.contains(CANARIES[0].1), "{}", ended.out);
    no_canary(&bench, &ended);
    holds_not(&bench.path("results"), CANARIES[0].1);
}

#[test]
fn a_plan_estimates_what_a_bucket_costs() {
    let bench = Bench::new();
    // Only the reading of a stated time has a price beforehand.
    let price = r#"targets.t = { at = "s3://bucket/run", price = { currency = "EUR", per_1000_reads = 1000, per_1000_writes = 5, per_gb = 0.09 } }"#;
    bench.write("s.toml", &by_count(&network("", price), r#"duration = "1s""#));
    finish(bench.keyed(&["plan", "s.toml"], &[])).exits(0).says("EUR").says("by the prices of the scenario");
}
