//! Facts about the file system, the mount and the block device under a path, for the record.

use std::fs;
use std::path::{Path, PathBuf};

use crate::file_system::FileSystem;
use crate::lustre;
use crate::mounts::Mount;
use crate::tree;

/// What is known of the storage under `root`; what the system does not say is left out.
pub(crate) fn facts(root: &Path) -> Vec<(&'static str, String)> {
    let mount = Mount::of(root);
    let mut facts = Vec::new();
    let by_magic = || tree::open_root(root).ok().and_then(FileSystem::of).map(|found| found.name);
    // The list of mounts first: every FUSE file system has the same number, and only the list says
    // `fuse.sshfs`.
    if let Some(name) = mount.as_ref().map(|mount| mount.kind.clone()).or_else(by_magic) {
        let is_lustre = name == "lustre";
        facts.push(("file_system", name));
        facts.extend(if is_lustre { lustre::facts(root) } else { Vec::new() });
    }
    if let Some(mount) = &mount {
        facts.push(("mount_point", mount.point.display().to_string()));
        facts.push(("mount_source", mount.source.clone()));
        facts.push(("mount_options", mount.options.clone()));
        facts.extend(mount.nfs_facts());
    }
    let number =
        fs::metadata(root).ok().map(|metadata| device_number(std::os::unix::fs::MetadataExt::dev(&metadata)));
    // By the number of the file system: the kernel lists NFS here too, which has no device.
    if let Some(kib) =
        number.as_ref().and_then(|number| read(&Path::new("/sys/class/bdi").join(number), "read_ahead_kb"))
    {
        facts.push(("read_ahead_kb", kib));
    }
    let device = number.and_then(device_folder).or_else(|| device_of_source(mount.as_ref()?));
    if let Some(device) = device {
        facts.extend(device_facts(&device));
    }
    facts
}

/// What is known of a block device that is read itself.
pub(crate) fn of_device(node: &Path) -> Vec<(&'static str, String)> {
    let number = fs::metadata(node)
        .ok()
        .map(|metadata| device_number(std::os::unix::fs::MetadataExt::rdev(&metadata)));
    let mut facts = vec![("device_node", node.display().to_string())];
    let folder = number.as_ref().map(|number| Path::new("/sys/class/bdi").join(number));
    facts.extend(folder.and_then(|folder| Some(("read_ahead_kb", read(&folder, "read_ahead_kb")?))));
    if let Some(device) = number.and_then(device_folder) {
        facts.extend(device_facts(&device));
        facts.extend(
            read(&device, "queue/logical_block_size").map(|bytes| ("device_logical_block_bytes", bytes)),
        );
    }
    facts
}

fn device_number(device: u64) -> String {
    format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device))
}

/// File systems of several devices (btrfs) have a number of their own that is no device's.
fn device_of_source(mount: &Mount) -> Option<PathBuf> {
    let source = fs::metadata(Path::new(&mount.source)).ok()?;
    device_folder(device_number(std::os::unix::fs::MetadataExt::rdev(&source)))
}

/// The device's folder below `/sys`; a partition's is inside that of its disk.
fn device_folder(number: String) -> Option<PathBuf> {
    let folder = Path::new("/sys/dev/block").join(number).canonicalize().ok()?;
    if folder.join("partition").exists() { folder.parent().map(Path::to_owned) } else { Some(folder) }
}

fn device_facts(device: &Path) -> Vec<(&'static str, String)> {
    let named = device.file_name().map(|name| name.to_string_lossy().into_owned());
    // md and device mapper link their members here; a disk of its own has an empty folder.
    let members = fs::read_dir(device.join("slaves")).ok().map(|entries| {
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names.join(" ")
    });
    let in_memory = named.as_deref().is_some_and(is_memory).then(|| "memory".to_owned());
    [
        ("device", named),
        ("medium", in_memory),
        ("backing_file", read(device, "loop/backing_file")),
        ("device_members", members.filter(|names| !names.is_empty())),
        ("device_model", read(device, "device/model")),
        // NVMe names it `firmware_rev`, SCSI `rev`.
        ("device_firmware", read(device, "device/firmware_rev").or_else(|| read(device, "device/rev"))),
        ("device_driver", driver(device)),
        ("device_rotational", read(device, "queue/rotational")),
        // Whether it has a cache that loses its bytes with its power, and whether a write can go past that alone (FUA).
        ("device_write_cache", read(device, "queue/write_cache")),
        ("device_fua", read(device, "queue/fua")),
        ("device_scheduler", read(device, "queue/scheduler").map(|text| chosen(&text))),
        ("device_max_sectors_kb", read(device, "queue/max_sectors_kb")),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// The driver of the device, or where that is a layer between (a namespace of an NVMe controller), of the one above it.
fn driver(device: &Path) -> Option<String> {
    let link = ["device/driver", "device/device/driver"]
        .iter()
        .find_map(|at| fs::read_link(device.join(at)).ok())?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

/// Whether a device is memory by its name: compressed (zram), or as it is (brd).
fn is_memory(name: &str) -> bool {
    let number = name.strip_prefix("zram").or_else(|| name.strip_prefix("ram"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

fn read(folder: &Path, name: &str) -> Option<String> {
    let text = fs::read_to_string(folder.join(name)).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// `none [mq-deadline] kyber` → `mq-deadline`.
fn chosen(schedulers: &str) -> String {
    let chosen = schedulers.split(' ').find_map(|name| name.strip_prefix('[')?.strip_suffix(']'));
    chosen.unwrap_or(schedulers).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_use_is_the_one_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber"), "mq-deadline");
        assert_eq!(chosen("none"), "none");
    }

    #[test]
    fn a_device_says_its_name_members_and_queue() {
        let dir = tempfile::tempdir().unwrap();
        let device = dir.path().join("md0");
        for folder in ["queue", "slaves/nvme1n1", "slaves/nvme0n1"] {
            fs::create_dir_all(device.join(folder)).unwrap();
        }
        fs::write(device.join("queue/scheduler"), "[none] kyber\n").unwrap();
        fs::write(device.join("queue/max_sectors_kb"), "1280\n").unwrap();
        let expected = [
            ("device", "md0"),
            ("device_members", "nvme0n1 nvme1n1"),
            ("device_scheduler", "none"),
            ("device_max_sectors_kb", "1280"),
        ];
        assert_eq!(device_facts(&device), expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn the_driver_of_a_namespace_is_that_of_its_controller() {
        let dir = tempfile::tempdir().unwrap();
        let device = dir.path().join("nvme0n1");
        fs::create_dir_all(device.join("device/device")).unwrap();
        fs::write(device.join("device/firmware_rev"), "EDA7602Q\n").unwrap();
        std::os::unix::fs::symlink("/sys/bus/pci/drivers/nvme", device.join("device/device/driver")).unwrap();
        let expected = [("device", "nvme0n1"), ("device_firmware", "EDA7602Q"), ("device_driver", "nvme")];
        assert_eq!(device_facts(&device), expected.map(|(name, value)| (name, value.to_owned())));
    }

    #[test]
    fn a_device_that_is_memory_or_a_file_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let facts = |name: &str| {
            let device = dir.path().join(name);
            fs::create_dir_all(device.join("loop")).unwrap();
            device_facts(&device).into_iter().find(|(fact, _)| *fact == "medium")
        };
        for (name, memory) in
            [("zram0", true), ("ram15", true), ("sda", false), ("ramdisk", false), ("ram", false)]
        {
            assert_eq!(facts(name), memory.then(|| ("medium", "memory".to_owned())), "{name}");
        }
        fs::create_dir_all(dir.path().join("loop3/loop")).unwrap();
        fs::write(dir.path().join("loop3/loop/backing_file"), "/srv/disk image\n").unwrap();
        let expected = [("device", "loop3"), ("backing_file", "/srv/disk image")];
        assert_eq!(
            device_facts(&dir.path().join("loop3")),
            expected.map(|(name, value)| (name, value.to_owned()))
        );
    }

    #[test]
    fn a_real_path_has_a_file_system_and_a_mount() {
        let facts = facts(Path::new("/proc"));
        assert!(facts.contains(&("file_system", "proc".to_owned())), "{facts:?}");
        assert!(facts.iter().any(|(name, _)| *name == "mount_options"), "{facts:?}");
    }
}
