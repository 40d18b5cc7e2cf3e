//! Servers that a run starts by itself, and those that `emulate` starts for others.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::harness::{Bench, Ended, SMALL, by_count, finish, network, until, wait};
use crate::local::count;

const DISK: &str = r#"targets.disk = { at = "data", engine = "io_uring" }"#;
const FILER: &str = r#"targets.filer = { at = "nfs://demo/export/run", emulate = { first_byte = "1ms" } }"#;
const BUCKET: &str = r#"targets.bucket = { at = "s3://demo/run", engine = ["lean", "sdk"], emulate = { first_byte = "1ms" } }"#;

fn all_three(measure: &str) -> Bench {
    let bench = Bench::new();
    bench.write("s.toml", &by_count(&network("", &[DISK, FILER, BUCKET].join("\n")), measure));
    bench
}

/// Servers that a run in this folder started.
fn servers(bench: &Bench) -> Vec<String> {
    let folder = bench.path("").canonicalize().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is_server = |process: &std::path::PathBuf| {
        fs::read_link(process.join("cwd")).is_ok_and(|at| at == folder)
            && fs::read(process.join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains("--control"))
    };
    processes.filter(is_server).map(|process| process.display().to_string()).collect()
}

#[track_caller]
fn no_server_is_left(bench: &Bench) {
    for _ in 0..600 {
        if servers(bench).is_empty() {
            return;
        }
        Command::new("sleep").arg("0.1").status().unwrap();
    }
    panic!("left behind: {:?}", servers(bench));
}

/// The last word on a target.
pub(crate) fn verdict<'a>(page: &'a str, target: &str) -> &'a str {
    let words = ["DEMO", "FEEDS", "STARVES", "UNCERTAIN", "UNJUDGED"];
    let mut said = page.lines().filter_map(|line| {
        let (word, rest) = line.split_once(' ')?;
        (words.contains(&word) && rest.split_whitespace().next() == Some(target)).then_some(word)
    });
    said.next_back().unwrap_or_else(|| panic!("no verdict on {target} in:\n{page}"))
}

/// By the name of Google Cloud Storage, whose XML API is S3's.
#[test]
fn a_bucket_of_google_is_read_as_one_of_s3_is() {
    let bench = Bench::new();
    bench.write("s.toml", &by_count(&network("", &BUCKET.replace("s3://", "gs://")), SMALL));
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    assert_eq!(verdict(&ran.out, "bucket"), "DEMO");
    assert_eq!(bench.run_json()["targets"][0]["at"], "gs://demo/run");
    let reps = bench.reps();
    for engine in ["lean", "sdk"] {
        let of_engine = reps.iter().find(|rep| rep["cell"].as_str().unwrap().contains(engine)).unwrap();
        assert!(count(of_engine, "ops") > 0, "{of_engine}");
    }
    assert!(reps.iter().all(|rep| rep["errors"] == serde_json::json!({})));
}

#[test]
fn a_disk_is_judged_and_servers_of_its_own_are_shown() {
    let bench = all_three(SMALL);
    let ran = bench.run(&["run", "s.toml"]).exits(0);
    assert_eq!(verdict(&ran.out, "filer"), "DEMO");
    assert_eq!(verdict(&ran.out, "bucket"), "DEMO");
    assert!(["FEEDS", "STARVES", "UNCERTAIN"].contains(&verdict(&ran.out, "disk")), "{}", ran.out);
    no_server_is_left(&bench);
    let targets = bench.run_json()["targets"].clone();
    for target in targets.as_array().unwrap() {
        assert_eq!(target["demo"], target["name"] != "disk", "{target}");
    }
    for rep in bench.reps() {
        let cell = rep["cell"].as_str().unwrap();
        assert_eq!((count(&rep, "ops") > 0, &rep["errors"]), (true, &serde_json::json!({})), "{rep}");
        let served = &rep["emulated"];
        if cell.starts_with("disk/") {
            assert!(served.is_null(), "{rep}");
        } else {
            assert!(served["requests"].as_u64().unwrap() >= count(&rep, "ops"), "{rep}");
            assert!(served["asked_ns"].is_string() || served["asked_ns"].is_object(), "{served}");
        }
    }
}

#[test]
fn the_same_data_is_read_in_the_same_order_wherever_it_lies() {
    let bench = Bench::new();
    let hash = |name: &str, target: &str| {
        bench.write(name, &network("", target));
        let page = bench.run(&["plan", name]).exits(0).out;
        let line = page.lines().find(|line| line.starts_with("plan ")).unwrap();
        line.to_owned()
    };
    let disk = hash("disk.toml", DISK);
    assert_eq!(disk, hash("filer.toml", FILER));
    assert_eq!(disk, hash("bucket.toml", BUCKET));
    bench.run(&["run", "bucket.toml"]).exits(0);
    assert!(disk.ends_with(bench.run_json()["plan_hash"].as_str().unwrap()), "{disk}");
}

#[test]
fn a_run_that_ends_early_takes_its_servers_with_it() {
    for (signal, code) in [(libc::SIGINT, Some(130)), (libc::SIGTERM, Some(130)), (libc::SIGKILL, None)] {
        let bench = all_three(r#"bytes = "16 MiB", repetitions = 100"#);
        let ended = bench.run_beside(&["run", "s.toml"], |child| {
            until(child, || bench.reps_so_far() >= 1);
            assert_eq!(servers(&bench).len(), 2);
            // SAFETY: a plain system call; the child is ours and has not been waited for.
            assert_eq!(unsafe { libc::kill(child.id().cast_signed(), signal) }, 0);
        });
        assert_eq!(ended.code, code, "{ended:?}");
        no_server_is_left(&bench);
    }
}

/// A server that `feedline emulate` runs, what it printed, and its end with this value.
pub(crate) struct Served {
    child: Option<Child>,
    pub(crate) greeting: String,
}

impl Served {
    pub(crate) fn start(bench: &Bench, args: &[&str]) -> Self {
        Self::start_with(bench, args, &[])
    }

    pub(crate) fn start_with(bench: &Bench, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = bench.keyed(&[&["emulate"], args].concat(), variables);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut greeting = String::new();
        while !greeting.contains("targets.demo") {
            assert_ne!(output.read_line(&mut greeting).unwrap(), 0, "it ended: {greeting}");
        }
        child.stdout = Some(output.into_inner());
        Self { child: Some(child), greeting }
    }

    pub(crate) fn target(&self) -> &str {
        self.greeting.lines().find(|line| line.starts_with("targets.demo")).unwrap()
    }

    /// What is to be exported.
    pub(crate) fn keys(&self) -> Vec<(&str, &str)> {
        let line = self.greeting.lines().find_map(|line| line.strip_prefix("export "));
        line.unwrap_or("").split_whitespace().filter_map(|pair| pair.split_once('=')).collect()
    }

    /// Its URL, as the target line has it behind `key`.
    pub(crate) fn quoted(&self, key: &str) -> &str {
        self.target().split_once(key).unwrap().1.split('"').nth(1).unwrap()
    }

    /// Where it listens: addresses as the kernel has them, in hexadecimal (proc(5), `/proc/net/tcp`).
    fn listens_at(&self) -> Vec<String> {
        let process = self.child.as_ref().unwrap().id();
        let fds = fs::read_dir(format!("/proc/{process}/fd")).unwrap();
        let links = fds.filter_map(|fd| fs::read_link(fd.unwrap().path()).ok());
        let own: Vec<String> = links.map(|link| link.display().to_string()).collect();
        let tables = ["tcp", "tcp6", "udp", "udp6"]
            .map(|table| fs::read_to_string(format!("/proc/net/{table}")).unwrap());
        let sockets = tables.iter().flat_map(|table| table.lines().skip(1));
        let fields = sockets.map(|line| line.split_whitespace().collect::<Vec<_>>());
        // State 0A listens, and 07 is that of any socket for datagrams.
        let heard = fields.filter(|fields| ["0A", "07"].contains(&fields[3]));
        heard
            .filter(|fields| own.contains(&format!("socket:[{}]", fields[9])))
            .map(|fields| fields[1].split(':').next().unwrap().to_owned())
            .collect()
    }

    /// It answers nothing from now on, and closes no connection.
    pub(crate) fn freeze(&self) {
        let child = self.child.as_ref().unwrap();
        // SAFETY: a plain system call; the child is ours and has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id().cast_signed(), libc::SIGSTOP) }, 0);
    }

    /// It goes away, with what it holds.
    pub(crate) fn kill(&mut self) {
        let child = self.child.as_mut().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn end(mut self) -> Ended {
        let child = self.child.take().unwrap();
        // SAFETY: a plain system call; the child is ours and has not been waited for.
        unsafe { libc::kill(child.id().cast_signed(), libc::SIGTERM) };
        wait(child)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn what_emulate_prints_is_a_target_and_still_a_demo() {
    for protocol in ["s3", "nfs"] {
        let bench = Bench::new();
        let server = Served::start(&bench, &[protocol, "--set", "metadata=\"1ms\""]);
        bench.write("s.toml", &network("", server.target()));
        let ran = finish(bench.keyed(&["run", "s.toml"], &server.keys())).exits(0);
        assert_eq!(verdict(&ran.out, "demo"), "DEMO", "{}", ran.out);
        assert_eq!(bench.run_json()["targets"][0]["demo"], true);
        finish(bench.keyed(&["clean", "s.toml"], &server.keys()))
            .exits(0)
            .says("removed 1 dataset: 18 files");
        server.end().exits(0).says("served ");
    }
}

#[test]
fn servers_listen_on_the_loopback_interface_alone() {
    let bench = Bench::new();
    for protocol in ["s3", "nfs"] {
        let at = Served::start(&bench, &[protocol]).listens_at();
        assert!(!at.is_empty() && at.iter().all(|address| address == "0100007F"), "{protocol}: {at:?}");
    }
}
