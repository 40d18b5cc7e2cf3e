//! Where PMIx's library lies.

use std::fs;
use std::path::{Path, PathBuf};

use super::abi::Api;
use crate::error::LaunchError;

/// The name under which every version since 2018 is installed.
const NAME: &str = "libpmix.so.2";

/// Processes above this one that are looked at: a launcher is seldom further away.
const ANCESTORS_MAX: usize = 8;

/// Opens the library that is named; else that of the launcher, else the loader's.
///
/// # Errors
/// For a static executable, and a library that cannot be opened.
pub(super) fn open(named: Option<&Path>) -> Result<Api, LaunchError> {
    if cfg!(target_feature = "crt-static") {
        return Err(LaunchError::Static);
    }
    if let Some(path) = named {
        return Api::open(path);
    }
    // The launcher's own first: two versions of one protocol may not understand each other.
    let of_launcher = of_ancestors(Path::new("/proc"), std::process::id()).filter(|path| path.exists());
    if let Some(api) = of_launcher.as_deref().and_then(|path| Api::open(path).ok()) {
        return Ok(api);
    }
    Api::open(Path::new(NAME)).map_err(|error| match error {
        LaunchError::Library { cause, .. } => {
            let tried = "that of the launcher, and the system's libpmix.so.2".to_owned();
            LaunchError::Library { tried, cause }
        }
        other => other,
    })
}

/// The library that the nearest process above `pid` has mapped, as far as this user may see that.
fn of_ancestors(proc: &Path, pid: u32) -> Option<PathBuf> {
    let mut pid = pid;
    for _ in 0..ANCESTORS_MAX {
        pid = parent(proc, pid)?;
        let maps = fs::read_to_string(proc.join(pid.to_string()).join("maps")).unwrap_or_default();
        if let Some(path) = mapped(&maps) {
            return Some(path);
        }
    }
    None
}

fn parent(proc: &Path, pid: u32) -> Option<u32> {
    let status = fs::read_to_string(proc.join(pid.to_string()).join("status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())?;
    (parent > 0).then_some(parent)
}

/// The library in a list of mappings (proc(5)), whose path is the sixth field.
fn mapped(maps: &str) -> Option<PathBuf> {
    let mut paths = maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..]));
    let is_it = |path: &&str| path.rsplit('/').next().is_some_and(|name| name.starts_with(NAME));
    paths.find(is_it).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_of_the_nearest_launcher_is_found() {
        let maps = "7f00-7f01 r-xp 0000 08:01 12 /usr/lib/libc.so.6\n\
                    7f02-7f03 r--p 0000 08:01 13                  /opt/pm ix/lib/libpmix.so.2.6.2\n";
        assert_eq!(mapped(maps), Some(PathBuf::from("/opt/pm ix/lib/libpmix.so.2.6.2")));
        assert_eq!(mapped("7f00-7f01 r-xp 0000 08:01 12 /usr/lib/libpmix_other.so\n"), None);

        let proc = std::env::temp_dir().join(format!("launch-library-{}", std::process::id()));
        for (pid, parent, maps) in [(30, 20, ""), (20, 10, ""), (10, 1, maps), (1, 0, "")] {
            let folder = proc.join(pid.to_string());
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("status"), format!("Name:\tx\nPPid:\t{parent}\n")).unwrap();
            fs::write(folder.join("maps"), maps).unwrap();
        }
        assert_eq!(of_ancestors(&proc, 30), mapped(maps));
        assert_eq!(of_ancestors(&proc, 10), None);
        fs::remove_dir_all(&proc).unwrap();
    }

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let error = open(Some(Path::new("/nowhere/libpmix.so.2"))).err().unwrap().to_string();
        assert!(error.starts_with("cannot open PMIx's library (/nowhere/libpmix.so.2): "), "{error}");
        assert!(error.contains("--pmix"), "{error}");
    }

    #[test]
    fn a_library_that_is_another_one_is_refused() {
        let error = open(Some(Path::new("libc.so.6"))).err().unwrap();
        assert_eq!(error.to_string().lines().next(), Some("`libc.so.6` has no function PMIx_Init"));
    }
}
