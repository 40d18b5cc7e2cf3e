//! What the machine at hand allows, as data for the scenario's resolution, and the wall clock.

mod rfc3339;

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::process::{Resource, getrlimit};
use scenario::{HostFacts, ORDER_BYTES_MAX, PathFacts};

use crate::environment;

pub(crate) use rfc3339::{rfc3339_utc, unix_ns};

/// Probes the machine and the paths of a scenario. Changes nothing.
pub(crate) fn facts(paths: &[String]) -> HostFacts {
    HostFacts {
        cores: environment::usable_cores(),
        memory_bytes: environment::usable_memory_bytes(),
        cache_bytes: environment::cache_bytes(),
        open_files_max: getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX),
        // By making a ring: sysctls and versions do not tell what a seccomp filter forbids.
        io_uring: backend_file::probe_io_uring().map_err(|error| error.to_string()),
        paths: paths.iter().map(|at| (at.clone(), path_facts(at))).collect::<BTreeMap<_, _>>(),
        order: None,
    }
}

/// Memory that reads of the null target are copied from here, bytes.
pub(crate) fn copy_source_bytes() -> u64 {
    plan::copy_source_bytes(environment::cache_bytes(), environment::usable_memory_bytes())
}

/// The bytes of a list of files, no more than show that it has too many.
pub(crate) fn order(at: &str) -> Result<Vec<u8>, String> {
    let read = || {
        // A pipe would be read once here and be empty for the next, and one that nobody writes to would never end.
        if !std::fs::metadata(at)?.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(at)?.take(ORDER_BYTES_MAX + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_err(|error| error.to_string())
}

fn path_facts(at: &str) -> PathFacts {
    let probe = backend_file::probe_path(Path::new(at));
    let parent = Path::new(at).parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists());
    // Made by itself, a whole missing path is most likely a mount that is not there.
    let missing = parent.filter(|_| !probe.exists);
    let missing =
        missing.map(|parent| format!("`{}` does not exist: is the storage mounted?", parent.display()));
    PathFacts {
        free_bytes: probe.free_bytes.map(|free| free.saturating_add(own_bytes(Path::new(at)))),
        problem: probe.problem.or(missing),
        ..probe
    }
}

/// Bytes of the datasets, whole or begun, that feedline wrote directly below a path. A run may reuse them, so they
/// are not held against it here; the preparation counts exactly what is missing.
fn own_bytes(root: &Path) -> u64 {
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    folders
        .filter(|folder| folder.join(dataset::MARKER_NAME).is_file())
        .map(|folder| folder_bytes(&folder))
        .fold(0, u64::saturating_add)
}

fn folder_bytes(folder: &Path) -> u64 {
    // The manifest is one read; looking at a million files takes minutes on a network.
    if let Ok(text) = std::fs::read_to_string(folder.join(dataset::MANIFEST_NAME))
        && let Ok(manifest) = serde_json::from_str::<dataset::Manifest>(&text)
    {
        return u64::from(manifest.count).saturating_mul(manifest.bytes);
    }
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries(folder).flat_map(|inner| entries(&inner.path()));
    files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum()
}

/// Seconds and nanoseconds since 1970, for the name and the head of a record.
#[expect(clippy::disallowed_methods, reason = "the one place where wall-clock time enters")]
pub(crate) fn unix_time() -> std::time::Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

/// The same in nanoseconds.
pub(crate) fn unix_now_ns() -> u64 {
    unix_time().as_nanos() as u64
}

/// The time of day, as a record writes when its run began.
pub(crate) fn now_utc() -> String {
    rfc3339_utc(unix_time().as_secs())
}

/// The command line of this process, with `feedline` in place of the program's path.
pub(crate) fn command() -> Vec<String> {
    // Paths are bytes of any kind: what is none of UTF-8 is shown, and panics nobody.
    let given = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once("feedline".to_owned()).chain(given).collect()
}

/// The name of a run that began at `started`. Runs that begin in the same second differ in the last digits, which are as
/// good as random.
pub(crate) fn run_id(started: &str, name: &str) -> String {
    // No random number generator for sixteen bits that only have to differ.
    record::run_id(started, name, unix_time().subsec_nanos() as u16 ^ std::process::id() as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_of_impossible_size_does_no_harm() {
        let root = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            let folder = root.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join(dataset::MARKER_NAME), "{}").unwrap();
            let manifest = format!(
                r#"{{"format":1,"dataset":"d","count":{},"bytes":{},"seed":1,"fingerprint":""}}"#,
                u32::MAX,
                u64::MAX
            );
            std::fs::write(folder.join(dataset::MANIFEST_NAME), manifest).unwrap();
        }
        let facts = path_facts(root.path().to_str().unwrap());
        assert_eq!(facts.free_bytes, Some(u64::MAX));
    }
}
