//! Machines as data.

use plan::Plan;
use scenario::{Diagnostics, HostFacts, PathFacts, Source};

/// A machine with 16 cores, 64 GiB and io_uring, on which the first folder of a path says what it is.
pub(crate) fn machine(paths: &[String]) -> HostFacts {
    HostFacts {
        cores: 16,
        memory_bytes: 64 << 30,
        cache_bytes: Some(32 << 20),
        open_files_max: 4096,
        io_uring: Ok(()),
        order: Some(Ok(b"a/1\nb/2\na/3\n".to_vec())),
        paths: paths.iter().map(|path| (path.clone(), facts(path))).collect(),
    }
}

fn facts(path: &str) -> PathFacts {
    let disk = PathFacts {
        exists: true,
        directory: true,
        writable: true,
        file_system: "ext4".to_owned(),
        in_memory: false,
        free_bytes: Some(1 << 40),
        direct_align_bytes: Some(512),
        block_device_bytes: None,
        dontcache: true,
        problem: None,
    };
    match path.split('/').nth(1).unwrap_or_default() {
        "new" => PathFacts { exists: false, directory: false, ..disk },
        "file" => PathFacts { directory: false, ..disk },
        "readonly" => PathFacts { writable: false, ..disk },
        "small" => PathFacts { free_bytes: Some(10 << 30), ..disk },
        "align" => PathFacts { direct_align_bytes: Some(4096), ..disk },
        "dev" => PathFacts {
            directory: false,
            writable: false,
            free_bytes: None,
            block_device_bytes: Some(1 << 40),
            ..disk
        },
        "old" => PathFacts { dontcache: false, ..disk },
        "buffered" => PathFacts { file_system: "zfs".to_owned(), direct_align_bytes: None, ..disk },
        "shm" => {
            PathFacts { file_system: "tmpfs".to_owned(), in_memory: true, direct_align_bytes: None, ..disk }
        }
        "forbidden" => PathFacts {
            problem: Some(
                "permission denied\n  hint: ask its owner for read and execute permission".to_owned(),
            ),
            ..disk
        },
        _ => disk,
    }
}

/// Parses and resolves on [`machine`], changed by `change`.
pub(crate) fn resolve_on(
    text: &str,
    overrides: &[&str],
    change: impl Fn(&mut HostFacts),
) -> Result<Plan, Diagnostics> {
    let source = Source { name: "bench.toml".to_owned(), text: text.to_owned() };
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let scenario = scenario::parse(&source, &overrides);
    let mut host = machine(&scenario.local_paths());
    change(&mut host);
    scenario::resolve(&scenario, &host)
}

/// Parses and resolves on [`machine`].
pub(crate) fn resolve(text: &str) -> Result<Plan, Diagnostics> {
    resolve_on(text, &[], |_| ())
}

/// The shortest scenario, with `lines` added.
pub(crate) fn with(lines: &str) -> String {
    format!("version = 1\nneed = \"8xh100:resnet50\"\ntargets.data = {{ at = \"/mnt/bench\" }}\n{lines}\n")
}

/// [`with`] a need that holds samples, whatever their size.
pub(crate) fn held(lines: &str) -> String {
    let need = "{ workload = \"resnet50\", accelerator = \"h100\", count = 8, hold = \"samples\" }";
    with(lines).replace("\"8xh100:resnet50\"", need)
}
