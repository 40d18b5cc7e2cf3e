//! What `/proc/diskstats` calls the block device below a path.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

use crate::mounts::Mount;

/// The mounted device that holds what is at `path`, which may be a partition or made of other devices. A file system
/// of several devices (btrfs) has a number that is no device's; the one that the list of mounts names then stands for
/// all. `None` where the path is on no device of this machine.
pub(crate) fn name_below(path: &Path) -> Option<String> {
    name_of(fs::metadata(path).ok()?.dev()).or_else(|| {
        let source = Mount::of(path)?.source;
        source.starts_with("/dev/").then(|| name_of_node(Path::new(&source))).flatten()
    })
}

/// The name of the device whose node is at `node`.
pub(crate) fn name_of_node(node: &Path) -> Option<String> {
    let metadata = fs::metadata(node).ok()?;
    metadata.file_type().is_block_device().then(|| name_of(metadata.rdev())).flatten()
}

/// The node of the device below a path, where it is in its usual place.
pub(crate) fn node_below(path: &Path) -> Option<PathBuf> {
    let name = name_below(path)?;
    let node = Path::new("/dev").join(&name);
    // Compared by number: in a container, /dev may hold another device, or none, under that name.
    (name_of_node(&node)? == name).then_some(node)
}

fn name_of(device: u64) -> Option<String> {
    find(&fs::read_to_string("/proc/diskstats").ok()?, major(device), minor(device))
}

/// ` 254       1 vda1 1234 …` (Documentation/admin-guide/iostats.rst).
fn find(diskstats: &str, major: u32, minor: u32) -> Option<String> {
    diskstats.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let mut number = || fields.next()?.parse::<u32>().ok();
        let found = (number()?, number()?) == (major, minor);
        fields.next().filter(|_| found).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
 254       0 vda 33497874 305029 7296721005 14057379 511644
 254       1 vda1 1 0 8 0 0
 253       1 dm-1 1 0 8 0 0
garbage
";

    #[test]
    fn a_device_is_found_by_its_number_and_a_partition_is_its_own() {
        assert_eq!(find(TEXT, 254, 0).unwrap(), "vda");
        assert_eq!(find(TEXT, 254, 1).unwrap(), "vda1");
        assert_eq!(find(TEXT, 253, 1).unwrap(), "dm-1");
        assert_eq!(find(TEXT, 0, 26), None);
    }

    #[test]
    fn what_is_on_no_device_has_none() {
        for path in ["/proc", "/surely/not/here"] {
            assert_eq!(name_below(Path::new(path)), None, "{path}");
        }
        assert_eq!(name_of_node(Path::new("/dev/null")), None);
    }
}
