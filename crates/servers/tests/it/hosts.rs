//! Names that one program knows.

use std::fs;
use std::process::Command;

use servers::{Hosts, or_skip};

#[test]
fn a_name_has_its_addresses_within_and_none_without() {
    const NAME: &str = "two.servers.test";
    let before = fs::read_to_string("/etc/hosts").unwrap();
    let names = ["127.0.0.1", "127.0.0.2"].map(|address| (NAME, address.parse().unwrap()));
    let Some(hosts) = or_skip(Hosts::new(&names)) else { return };
    let mut script = Command::new("sh");
    script.args(["-c", "cat /etc/hosts; echo $MINE in $PWD"]).env("MINE", "set").current_dir("/tmp");
    let output = hosts.around(&script).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.starts_with(&before) && said.ends_with("set in /tmp\n"), "{said}");
    for address in ["127.0.0.1", "127.0.0.2"] {
        assert!(said.lines().any(|line| line == format!("{address} {NAME}")), "{said}");
    }
    assert_eq!(fs::read_to_string("/etc/hosts").unwrap(), before);
}
