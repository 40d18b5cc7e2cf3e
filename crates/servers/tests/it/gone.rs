//! Nothing is left of a server.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};

use servers::{Ganesha, GaneshaOptions, or_skip};

/// How often it is looked whether the kernel has ended a process, and the pause between.
const LOOKS: u32 = 500;
const PAUSE: rustix::time::Timespec = rustix::time::Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

fn is_there(server: &str) -> bool {
    let path = if server.starts_with("fl-") { "/sys/class/net" } else { "/proc" };
    Path::new(path).join(server).exists()
}

/// The names of what must not stay: processes and the interface.
fn names(server: &Ganesha) -> Vec<String> {
    let processes = server.processes().into_iter().map(|process| process.to_string());
    processes.chain([server.interface()]).collect()
}

#[test]
fn a_server_that_is_dropped_leaves_nothing() {
    let Some(server) = or_skip(Ganesha::start(&GaneshaOptions::default())) else { return };
    let (names, path) = (names(&server), server.path().to_owned());
    assert!(names.iter().all(|name| is_there(name)) && path.exists(), "{names:?}");
    drop(server);
    assert_gone(&names);
    assert!(!path.exists());
}

#[test]
fn a_test_that_is_killed_leaves_no_process_and_no_interface() {
    // What a killed test cannot remove is its temporary folder.
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .env("TMPDIR", folder.path())
        .args(["--exact", "--ignored", "--nocapture", "gone::holds_a_server_until_it_is_killed"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let told = lines.find(|line| line.starts_with("holds ") || line.contains("skipped"));
    let told = told.filter(|line| line.starts_with("holds "));
    let names: Vec<String> =
        told.iter().flat_map(|line| line.split(' ').skip(1)).map(str::to_owned).collect();
    let there: Vec<bool> = names.iter().map(|name| is_there(name)).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(there.iter().all(|there| *there), "{names:?}");
    assert_gone(&names);
}

/// Waits for the kernel, which takes a process and an interface away after what ended them.
fn assert_gone(names: &[String]) {
    for _ in 0..LOOKS {
        if !names.iter().any(|name| is_there(name)) {
            return;
        }
        let _ = rustix::thread::nanosleep(&PAUSE);
    }
    panic!("something is left of {names:?}");
}

/// Run by the test above, in a process of its own.
#[test]
#[ignore = "waits to be killed"]
fn holds_a_server_until_it_is_killed() {
    let Some(server) = or_skip(Ganesha::start(&GaneshaOptions::default())) else { return };
    println!("\nholds {}", names(&server).join(" "));
    // Ends as well when the other test has failed.
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}
