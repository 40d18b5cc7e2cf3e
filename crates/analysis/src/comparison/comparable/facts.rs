//! What is known of the storages, as far as it must be equal.

use feed::MayDiffer;
use record::{Run, Target};

use crate::comparison::difference::Differences;

/// Facts that make a storage another one.
const STORAGE: [&str; 26] = [
    "file_system",
    "mount_options",
    "nfs_server",
    "nfs_version",
    "nfs_proto",
    "nfs_nconnect",
    "nfs_rsize_bytes",
    "nfs_wsize_bytes",
    "server",
    "export",
    "rtmax_bytes",
    "endpoint",
    "region",
    "bucket_style",
    "tls",
    "client",
    "head_before_get",
    "checksums_asked",
    "part_bytes",
    "prefixes",
    "medium",
    "device_model",
    "device_rotational",
    "device_write_cache",
    "device_fua",
    "device_logical_block_bytes",
];

/// Facts that another machine has for the same kind of storage.
const HOST: [&str; 5] = ["mount_source", "device", "device_node", "device_members", "backing_file"];

// A newer kernel may choose another scheduler for the same device, which is a difference of the kernel and excused with
// it.
/// Facts that a kernel chooses.
const KERNEL: [&str; 3] = ["device_scheduler", "device_max_sectors_kb", "read_ahead_kb"];

/// Facts of servers that feedline starts itself: each start has other ports.
const PORTS: [&str; 3] = ["server", "endpoint", "nfs_server"];

/// Differences between the targets that both runs have; those of one run alone are gaps between cells.
pub(super) fn targets(found: &mut Differences, before: &Run, after: &Run) {
    let same_version = before.tool.version == after.tool.version;
    for one in &before.targets {
        if let Some(other) = after.targets.iter().find(|other| other.name == one.name) {
            of_target(found, one, other, same_version);
        }
    }
}

fn of_target(found: &mut Differences, one: &Target, other: &Target, same_version: bool) {
    let of = |what: &str| format!("{what} of {}", one.name);
    let storage = |target: &Target| if target.storage { "storage" } else { "null" };
    found.check(of("kind"), storage(one), storage(other), None);
    let demo = |target: &Target| if target.demo { "demo" } else { "storage" };
    found.check(of("server"), demo(one), demo(other), None);
    found.check(of("emulation"), &emulation(one), &emulation(other), None);
    let mut names: Vec<&str> = one.facts.iter().chain(&other.facts).map(|fact| fact.name.as_str()).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    for name in names.into_iter().filter(|name| is_compared(name, one)) {
        let excuse = excuse(name, one);
        match [one, other].map(|target| fact(target, name)) {
            [Some(before), Some(after)] => found.check(of(name), &before, &after, excuse),
            // Another version may know more: what it adds is no difference of the storage.
            [before, after] if same_version => {
                let words = |value: Option<String>| value.unwrap_or_else(|| "not known".to_owned());
                found.check(of(name), &words(before), &words(after), excuse);
            }
            _ => {}
        }
    }
}

/// Whether a fact must be equal; others change from start to start, or say nothing of the storage.
fn is_compared(name: &str, target: &Target) -> bool {
    let is_known =
        STORAGE.contains(&name) || HOST.contains(&name) || KERNEL.contains(&name) || is_driver(name);
    is_known && !(target.demo && PORTS.contains(&name))
}

fn is_driver(name: &str) -> bool {
    name.contains("driver") || name.contains("firmware")
}

/// What excuses a fact that differs.
fn excuse(name: &str, target: &Target) -> Option<MayDiffer> {
    if is_driver(name) {
        return Some(MayDiffer::Driver);
    }
    if KERNEL.contains(&name) {
        return Some(MayDiffer::Kernel);
    }
    // What is mounted from a server is the same from every machine.
    let is_remote = name == "mount_source" && fact(target, name).is_some_and(|source| source.contains(':'));
    (HOST.contains(&name) && !is_remote).then_some(MayDiffer::Host)
}

fn fact(target: &Target, name: &str) -> Option<String> {
    let value = &target.facts.iter().find(|fact| fact.name == name)?.value;
    Some(if name == "mount_options" { options(value) } else { value.clone() })
}

/// Options in one order, without the address that the client itself has.
fn options(value: &str) -> String {
    let mut options: Vec<&str> = value.split([',', ' ']).collect();
    options.retain(|option| !option.is_empty() && !option.starts_with("clientaddr="));
    options.sort_unstable();
    options.dedup();
    options.join(",")
}

fn emulation(target: &Target) -> String {
    let Some(emulation) = &target.emulation else { return "none".to_owned() };
    let settings = emulation.settings.iter().map(|fact| format!("{} {}", fact.name, fact.value));
    emulation.profile.iter().cloned().chain(settings).collect::<Vec<_>>().join(", ")
}
