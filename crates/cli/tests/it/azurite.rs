//! Azure Blob Storage, from the scenario to the verdict, on Azurite.

use std::path::Path;
use std::process::Command;

use servers::{Azurite, or_skip};

use crate::emulated::verdict;
use crate::harness::{Bench, by_count, finish, network, skip};
use crate::local::count;

/// A request by `curl` with every right: its answer.
fn curl(server: &Azurite, path: &str, method: &str, args: &[&str]) -> String {
    let joint = if path.contains('?') { '&' } else { '?' };
    let url = format!("{}/{path}{joint}{}", server.endpoint(), server.owner());
    let mut command = Command::new("curl");
    let output =
        command.args(["-sS", "--fail-with-body", "-X", method]).args(args).arg(url).output().unwrap();
    assert!(output.status.success(), "{path}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A command of feedline's with no way to Azure but `variables`.
fn command(bench: &Bench, args: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = bench.keyed(args, variables);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("AZURE_") && !variables.iter().any(|(known, _)| *known == name) {
            command.env_remove(&*name);
        }
    }
    command
}

/// Names in the container.
fn blobs(server: &Azurite) -> Vec<String> {
    let listing = curl(server, "bench?restype=container&comp=list", "GET", &[]);
    listing.split("<Name>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect()
}

#[test]
fn a_container_is_filled_measured_and_left_as_it_was() {
    if Command::new("curl").arg("--version").output().is_err() {
        return skip("curl is not installed");
    }
    let Some(server) = or_skip(Azurite::start()) else { return };
    server.make_container("bench").unwrap();
    let bench = Bench::new();
    bench.write("mine.txt", "keep me");
    let mine = bench.path("mine.txt").display().to_string();
    let upload = ["-H", "x-ms-blob-type: BlockBlob", "-T", &*mine];
    curl(&server, "bench/run/mine.txt", "PUT", &upload);
    let target = format!(r#"targets.az = {{ at = "az://bench/run", endpoint = "{}" }}"#, server.endpoint());
    let load = r#"operation = ["read", "read_file", "stat", "list"]"#;
    bench.write("s.toml", &by_count(&network(load, &target), "epochs = 2, repetitions = 3"));
    let key = [("AZURE_STORAGE_KEY", server.key())];
    let token = [("AZURE_STORAGE_SAS_TOKEN", server.owner())];
    let beside = |verb: &str, variables: &[(&str, &str)]| {
        finish(command(&bench, &[verb, "s.toml", "--set", "dataset.beside_others=true"], variables))
    };

    finish(command(&bench, &["prepare", "s.toml"], &key))
        .exits(2)
        .says("files that feedline did not write: `mine.txt`");
    beside("prepare", &key).exits(0);
    // Another's rights on the same data: what one wrote the other measures.
    let ran = beside("run", &token).exits(0);
    assert!(["FEEDS", "STARVES", "UNCERTAIN"].contains(&verdict(&ran.out, "az")), "{}", ran.out);
    let record = bench.run_json();
    assert_eq!(record["cells"].as_array().unwrap().len(), 4);
    for rep in bench.reps() {
        assert!(count(&rep, "ops") > 0 && rep["errors"] == serde_json::json!({}), "{rep}");
    }
    let text = record.to_string();
    assert!(text.contains("shared access signature") && !text.contains("sig="), "{text}");
    let inside = blobs(&server)
        .into_iter()
        .find(|name| Path::new(name).extension().is_some_and(|ending| ending == "bin"))
        .unwrap();
    let folder = inside.split('/').take(2).collect::<Vec<_>>().join("/");
    curl(&server, &format!("bench/{folder}/mine.txt"), "PUT", &upload);
    let connection = format!(
        "BlobEndpoint={};AccountName={};AccountKey={}",
        server.endpoint(),
        server.account(),
        server.key()
    );
    let connection = [("AZURE_STORAGE_CONNECTION_STRING", &*connection)];
    finish(command(&bench, &["clean", "az://bench/run"], &connection)).exits(0).says("mine.txt");
    assert_eq!(blobs(&server), [format!("{folder}/mine.txt"), "run/mine.txt".to_owned()]);
    curl(&server, &format!("bench/{folder}/mine.txt"), "DELETE", &[]);
    beside("prepare", &key).exits(0);
    finish(command(&bench, &["clean", "s.toml"], &key)).exits(0);
    assert_eq!(blobs(&server), ["run/mine.txt"]);
    what_others_leave_out_works_here_too(&server, &bench);
}

/// The user's own data, shards, a cache before the container, and checkpoints, which are sent in blocks.
fn what_others_leave_out_works_here_too(server: &Azurite, bench: &Bench) {
    let key = [("AZURE_STORAGE_KEY", server.key())];
    let at = |prefix: &str| {
        format!(r#"targets.az = {{ at = "az://bench/{prefix}", endpoint = "{}" }}"#, server.endpoint())
    };
    let run = |name: &str, text: &str| {
        let file = format!("{name}.toml");
        bench.write(&file, text);
        let out = format!("out-{name}");
        let ended = finish(command(bench, &["run", &file, "-o", &out], &key)).exits(0);
        assert!(["FEEDS", "STARVES", "UNCERTAIN"].contains(&verdict(&ended.out, "az")), "{}", ended.out);
        finish(command(bench, &["clean", &file], &key)).exits(0);
    };
    let plain =
        |load: &str, prefix: &str| by_count(&network(load, &at(prefix)), "epochs = 2, repetitions = 3");
    bench.write("own.bin", &"x".repeat(20_000));
    let own = bench.path("own.bin").display().to_string();
    for name in ["a.bin", "b.bin"] {
        let upload = ["-H", "x-ms-blob-type: BlockBlob", "-T", &*own];
        curl(server, &format!("bench/own/{name}"), "PUT", &upload);
    }
    let existing = plain(r#"operation = "read_file""#, "own").replace(
        r#"dataset = { size = "1 MiB", sample_size = "64 KiB" }"#,
        r#"dataset = { source = "existing" }"#,
    );
    run("own", &existing);
    let shards = plain("", "shards").replace("dataset = {", r#"dataset = { layout = "webdataset","#);
    run("shards", &shards);
    let cached = format!("{}cache_tier = {{ at = \"cache\", capacity = \"4 MiB\" }}\n", plain("", "cached"));
    run("cached", &cached);
    run("saved", &format!("{}checkpoint = {{ size = \"20 MiB\" }}\n", plain("", "saved")));
    assert_eq!(blobs(server), ["own/a.bin", "own/b.bin", "run/mine.txt"]);
}
