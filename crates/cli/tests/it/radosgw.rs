//! A real S3 gateway, from the scenario to the verdict.

use std::path::Path;
use std::process::Command;

use servers::{Authority, Radosgw, or_skip};

use crate::emulated::verdict;
use crate::harness::{Bench, by_count, finish, network, skip};
use crate::local::count;

/// Far off, seconds since 1970.
const EXPIRES: &str = "9999999999";

/// A request by `curl`, signed by the owner's keys: its answer. Signed in the old way (version 2, in the query), which
/// takes an HMAC and nothing else; `curl` 7 signs in the new way what the gateway does not accept.
pub(crate) fn curl(server: &Radosgw, path: &str, method: &str, args: &[&str]) -> String {
    let owner = server.owner();
    let object = path.split('?').next().unwrap();
    let sign = "printf \"$1\\n\\n\\n$2\\n/$3\" | openssl dgst -sha1 -hmac \"$4\" -binary | base64";
    let signed =
        Command::new("sh").args(["-c", sign, "sh", method, EXPIRES, object, owner.secret]).output().unwrap();
    let signature = String::from_utf8(signed.stdout).unwrap();
    let signature = signature.trim().replace('+', "%2B").replace('/', "%2F").replace('=', "%3D");
    let joint = if path.contains('?') { '&' } else { '?' };
    let url = format!(
        "{}/{path}{joint}AWSAccessKeyId={}&Expires={EXPIRES}&Signature={signature}",
        server.endpoint(),
        owner.id
    );
    let mut command = Command::new("curl");
    let output =
        command.args(["-sS", "--fail-with-body", "-X", method]).args(args).arg(url).output().unwrap();
    assert!(output.status.success(), "{path}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A command of feedline's by the owner of the gateway.
pub(crate) fn command(bench: &Bench, server: &Radosgw, args: &[&str]) -> Command {
    let variables = [
        ("AWS_ACCESS_KEY_ID", server.owner().id),
        ("AWS_SECRET_ACCESS_KEY", server.owner().secret),
        ("AWS_ENDPOINT_URL", &*server.endpoint()),
        ("AWS_REGION", "us-east-1"),
    ];
    bench.keyed(args, &variables)
}

/// Two passes over the data in each repetition.
fn counted(load: &str, target: &str) -> String {
    by_count(&network(load, target), "epochs = 2, repetitions = 3")
}

/// Keys in the bucket.
fn keys(server: &Radosgw) -> Vec<String> {
    let listing = curl(server, "bench?list-type=2", "GET", &[]);
    listing.split("<Key>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
}

#[test]
fn a_bucket_is_filled_measured_and_left_as_it_was() {
    for (program, version) in [("curl", "--version"), ("openssl", "version")] {
        if Command::new(program).arg(version).output().is_err() {
            return skip(&format!("{program} is not installed"));
        }
    }
    let Some(server) = or_skip(Radosgw::start()) else { return };
    curl(&server, "bench", "PUT", &[]);
    let bench = Bench::new();
    bench.write("mine.txt", "keep me");
    let mine = bench.path("mine.txt").display().to_string();
    let upload = ["-T", &*mine];
    curl(&server, "bench/run/mine.txt", "PUT", &upload);
    let load = r#"operation = ["read", "read_file", "stat", "list"]"#;
    bench.write(
        "s.toml",
        &counted(load, r#"targets.gw = { at = "s3://bench/run", engine = ["lean", "sdk"] }"#),
    );
    let verb = |args: &[&str]| finish(command(&bench, &server, args));
    let beside = |verb: &str| {
        let args = [verb, "s.toml", "--set", "dataset.beside_others=true"];
        finish(command(&bench, &server, &args))
    };

    verb(&["prepare", "s.toml"]).exits(2).says("files that feedline did not write: `mine.txt`");
    beside("prepare").exits(0);
    let ran = beside("run").exits(0);
    assert!(["FEEDS", "STARVES", "UNCERTAIN"].contains(&verdict(&ran.out, "gw")), "{}", ran.out);
    assert_eq!(bench.run_json()["cells"].as_array().unwrap().len(), 8);
    for rep in bench.reps() {
        assert!(count(&rep, "ops") > 0 && rep["errors"] == serde_json::json!({}), "{rep}");
    }
    let inside = keys(&server)
        .into_iter()
        .find(|key| Path::new(key).extension().is_some_and(|ending| ending == "bin"))
        .unwrap();
    let folder = inside.split('/').take(2).collect::<Vec<_>>().join("/");
    curl(&server, &format!("bench/{folder}/mine.txt"), "PUT", &upload);
    verb(&["clean", "s3://bench/run"]).exits(0).says("18 files").says("mine.txt");
    assert_eq!(keys(&server), [format!("{folder}/mine.txt"), "run/mine.txt".to_owned()]);

    beside("prepare").exits(1).says("feedline");
    // The marker beside which leases on the root lie is no dataset's.
    let besides_leases = |keys: Vec<String>| -> Vec<String> {
        keys.into_iter().filter(|key| !key.starts_with("run/feedline-in-use/")).collect()
    };
    let left = besides_leases(keys(&server));
    assert_eq!(left.len(), 2, "nothing was written where something of another's lies: {left:?}");
    curl(&server, &format!("bench/{folder}/mine.txt"), "DELETE", &[]);
    beside("prepare").exits(0);
    verb(&["clean", "s.toml"]).exits(0);
    assert_eq!(keys(&server), ["run/mine.txt"]);
    it_is_measured_over_tls_by_who_trusts_it(&server);
}

fn it_is_measured_over_tls_by_who_trusts_it(server: &Radosgw) {
    let bench = Bench::new();
    let variables =
        [("AWS_ACCESS_KEY_ID", server.owner().id), ("AWS_SECRET_ACCESS_KEY", server.owner().secret)];
    let target = |ca: &Path| {
        format!(
            r#"targets.gw = {{ at = "s3://bench/tls", endpoint = "{}", ca = "{}", engine = ["lean", "sdk"] }}"#,
            server.encrypted_endpoint(),
            ca.display()
        )
    };
    bench.write("s.toml", &counted(r#"operation = ["read", "read_file"]"#, &target(&server.authority())));
    let ran = finish(bench.keyed(&["run", "s.toml"], &variables)).exits(0);
    assert!(["FEEDS", "STARVES", "UNCERTAIN"].contains(&verdict(&ran.out, "gw")), "{}", ran.out);
    assert_eq!(bench.run_json()["cells"].as_array().unwrap().len(), 4);
    for rep in bench.reps() {
        assert!(count(&rep, "ops") > 0 && rep["errors"] == serde_json::json!({}), "{rep}");
    }
    finish(bench.keyed(&["clean", "s.toml"], &variables)).exits(0);

    let stranger = Authority::new().unwrap();
    bench.write("wrong.toml", &network("", &target(&stranger.path())));
    finish(bench.keyed(&["run", "wrong.toml"], &variables))
        .exits(1)
        .says("an authority that this machine does not trust")
        .says(r#"name the authority's certificate by ca = "FILE""#);
}
