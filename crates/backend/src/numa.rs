//! The NUMA node that a storage is at, and keeping threads there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::store::Store;

/// Why threads cannot be kept beside a storage.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumaError {
    /// There is nothing to be beside.
    #[error("no block device below it is known, and no network interface towards it")]
    NoDevice,
    /// The kernel says nothing.
    #[error("the kernel does not say which NUMA node `{0}` is at")]
    NotSaid(String),
    /// It is made of several that lie apart.
    #[error("`{device}` is at several NUMA nodes ({nodes})")]
    Several {
        /// The device.
        device: String,
        /// The numbers of the nodes.
        nodes: String,
    },
    /// Affinity or a container's set of processors leaves none there.
    #[error("this process may use no processor of NUMA node {0}, where the device is")]
    NoProcessor(u32),
    /// The kernel refused.
    #[error("cannot keep threads on the processors of a NUMA node: {0}")]
    Refused(Errno),
}

/// The NUMA node of the block device below a store, or of the interface towards it.
///
/// # Errors
/// Where there is neither, or the kernel does not say.
pub fn node_of(store: &dyn Store) -> Result<u32, NumaError> {
    let device = store.block_device().map(|name| Device { class: "block", name });
    let interface = || store.network_interface().map(|name| Device { class: "net", name });
    device.or_else(interface).ok_or(NumaError::NoDevice)?.node(Path::new("/sys"))
}

/// Name of the fact that [`fact`] tells.
pub const FACT: &str = "numa_node";

/// The fact for the record; nothing where it is not known.
pub fn fact(store: &dyn Store) -> Option<(&'static str, String)> {
    node_of(store).ok().map(|node| (FACT, node.to_string()))
}

/// The processors beside a storage that this process may use.
#[derive(Debug, Clone)]
pub struct Beside {
    processors: CpuSet,
}

impl Beside {
    /// Those of the node of a store.
    ///
    /// # Errors
    /// See [`node_of`]; and where this process may use none of them.
    pub fn of(store: &dyn Store) -> Result<Self, NumaError> {
        let node = node_of(store)?;
        let list = format!("/sys/devices/system/node/node{node}/cpulist");
        let own = sched_getaffinity(None).map_err(NumaError::Refused)?;
        let mut processors = CpuSet::new();
        // A processor beyond the set is none that `own` has.
        let of_node = fs::read_to_string(list).ok().and_then(|list| numbers(&list)).unwrap_or_default();
        of_node
            .into_iter()
            .filter(|number| *number < CpuSet::MAX_CPU && own.is_set(*number))
            .for_each(|number| processors.set(number));
        if processors.count() == 0 { Err(NumaError::NoProcessor(node)) } else { Ok(Self { processors }) }
    }

    /// How many they are.
    pub fn cores(&self) -> u32 {
        self.processors.count()
    }

    /// Keeps this thread there, and with it all that it starts, until what is returned is dropped. The kernel gives memory of the
    /// node on which it is first written.
    ///
    /// # Errors
    /// Where the kernel refuses.
    pub fn keep(&self) -> Result<Kept, NumaError> {
        let before = sched_getaffinity(None).map_err(NumaError::Refused)?;
        sched_setaffinity(None, &self.processors).map_err(NumaError::Refused)?;
        Ok(Kept { before })
    }
}

/// See [`Beside::keep`].
#[must_use]
#[derive(Debug)]
pub struct Kept {
    before: CpuSet,
}

impl Drop for Kept {
    fn drop(&mut self) {
        // What was in force a moment ago is refused only where the set of a container shrank meanwhile, which the kernel then applies.
        let _ = sched_setaffinity(None, &self.before);
    }
}

/// A device by its class and name below `/sys/class`.
struct Device {
    class: &'static str,
    name: String,
}

impl Device {
    fn node(&self, sys: &Path) -> Result<u32, NumaError> {
        // A `/` in a device's name is a `!` in its folder's: `cciss!c0d0`.
        let folder = sys.join("class").join(self.class).join(self.name.replace('/', "!"));
        let not_said = || NumaError::NotSaid(self.name.clone());
        let mut nodes = BTreeSet::new();
        for place in places(&folder) {
            nodes.insert(node_above(&place).or_else(|| only_node(sys)).ok_or_else(not_said)?);
        }
        match (nodes.pop_first(), nodes.pop_first()) {
            (Some(node), None) => Ok(node),
            (None, _) => Err(not_said()),
            (Some(first), Some(second)) => {
                let nodes: Vec<String> =
                    [first, second].into_iter().chain(nodes).map(|node| node.to_string()).collect();
                Err(NumaError::Several { device: self.name.clone(), nodes: nodes.join(", ") })
            }
        }
    }
}

/// Where the hardware of a device lies: its own place, or those of the devices that it is made of.
fn places(folder: &Path) -> Vec<PathBuf> {
    let entries = |name: &str| {
        let entries = fs::read_dir(folder.join(name)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    // A partition says nothing of what its disk is made of.
    if folder.join("partition").exists() {
        return folder.canonicalize().ok().and_then(|own| Some(places(own.parent()?))).unwrap_or_default();
    }
    let named = |begin: &'static str| {
        move |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin))
    };
    // md and device mapper; bonds, bridges and VLANs of interfaces.
    let mut members: Vec<PathBuf> = entries("slaves").chain(entries("").filter(named("lower_"))).collect();
    let Ok(own) = folder.canonicalize() else { return Vec::new() };
    // A drive with several paths to it hangs on no controller: those that lead to it stand beside it.
    if let Some(subsystem) = own.parent().filter(|above| named("nvme-subsys")(&above.to_path_buf())) {
        let paths = fs::read_dir(subsystem).into_iter().flatten().flatten().map(|entry| entry.path());
        members.extend(paths.filter(named("nvme")).filter(|path| path.is_symlink()));
    }
    if members.is_empty() {
        return vec![own];
    }
    // The kernel lets none be its own member.
    members.iter().flat_map(|member| places(member)).collect()
}

/// The node of the nearest of the folders above a device that has one: of its controller, as a rule.
fn node_above(place: &Path) -> Option<u32> {
    let said = place.ancestors().find_map(|folder| fs::read_to_string(folder.join("numa_node")).ok())?;
    said.trim().parse().ok()
}

/// The one node of a machine that has no other, where all is: firmware and hypervisors of these place nothing.
fn only_node(sys: &Path) -> Option<u32> {
    let online = fs::read_to_string(sys.join("devices/system/node/online")).ok()?;
    let nodes = numbers(&online)?;
    if let [node] = nodes[..] { u32::try_from(node).ok() } else { None }
}

/// The numbers of a list of ranges such as `0-3,8`, as the kernel writes them; `None` where it is none.
pub fn numbers(list: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for range in list.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?.min(NUMBER_MAX));
        if last < first {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// No machine has as many processors or nodes.
const NUMBER_MAX: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use crate::null::NullStore;

    use super::*;

    const CONTROLLERS: [(&str, &str); 3] =
        [("devices/pci0/nvme0", "0"), ("devices/pci1/nvme1", "1"), ("devices/pci2/host2", "-1")];

    /// A machine of these nodes, with controllers, devices on them, and each of the links from one place to another.
    fn machine(online: &str, devices: &[&str], links: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("devices/system/node/online", online);
        for (controller, node) in CONTROLLERS {
            write(&format!("{controller}/numa_node"), &format!("{node}\n"));
        }
        for device in devices {
            write(&format!("{device}/uevent"), "");
        }
        for (at, to) in links {
            let at = root.path().join(at);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            symlink(root.path().join(to), at).unwrap();
        }
        root
    }

    fn node(root: &tempfile::TempDir, class: &'static str, name: &str) -> Result<u32, NumaError> {
        Device { class, name: name.to_owned() }.node(root.path())
    }

    #[test]
    fn a_device_is_at_the_node_of_its_controller() {
        let part = "devices/pci1/nvme1/block/nvme1n1/nvme1n1p2";
        let root = machine(
            "0-1",
            &[part, "devices/pci0/nvme0/net/eth0"],
            &[("class/block/nvme1n1p2", part), ("class/net/eth0", "devices/pci0/nvme0/net/eth0")],
        );
        assert_eq!(node(&root, "block", "nvme1n1p2"), Ok(1));
        assert_eq!(node(&root, "net", "eth0"), Ok(0));
        assert_eq!(node(&root, "net", "eth1"), Err(NumaError::NotSaid("eth1".to_owned())));
    }

    #[test]
    fn what_is_made_of_several_is_where_all_of_them_are() {
        let (one, other) = ("devices/pci0/nvme0/block/a", "devices/pci1/nvme1/block/b");
        let third = "devices/pci1/nvme1/block/c";
        let (array, volume) = ("devices/virtual/block/md0", "devices/virtual/block/dm-0");
        let root = machine(
            "0-1",
            &[one, other, third, array, volume],
            &[
                ("class/block/md0", array),
                ("devices/virtual/block/md0/slaves/b", other),
                ("devices/virtual/block/md0/slaves/c", third),
                ("class/block/dm-0", volume),
                ("devices/virtual/block/dm-0/slaves/md0", array),
                ("devices/virtual/block/dm-0/slaves/a", one),
            ],
        );
        assert_eq!(node(&root, "block", "md0"), Ok(1));
        let apart = NumaError::Several { device: "dm-0".to_owned(), nodes: "0, 1".to_owned() };
        assert_eq!(node(&root, "block", "dm-0"), Err(apart));
    }

    #[test]
    fn a_drive_of_several_paths_is_where_its_controllers_are() {
        let drive = "devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1";
        let path = ("devices/virtual/nvme-subsystem/nvme-subsys1/nvme1", "devices/pci1/nvme1");
        let part = "devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1/nvme1n1p1";
        let links = [("class/block/nvme1n1", drive), ("class/block/nvme1n1p1", part), path];
        let root = machine("0-1", &[drive, part], &links);
        fs::write(root.path().join(part).join("partition"), "1").unwrap();
        assert_eq!(["nvme1n1", "nvme1n1p1"].map(|name| node(&root, "block", name)), [Ok(1), Ok(1)]);
    }

    #[test]
    fn on_a_machine_of_one_node_all_is_there() {
        let disk = "devices/pci2/host2/block/sda";
        let unplaced = ("class/block/sda", disk);
        assert_eq!(node(&machine("0", &[disk], &[unplaced]), "block", "sda"), Ok(0));
        let not_said = NumaError::NotSaid("sda".to_owned());
        assert_eq!(node(&machine("0-1", &[disk], &[unplaced]), "block", "sda"), Err(not_said));
    }

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        assert_eq!(numbers("0-2,8\n"), Some(vec![0, 1, 2, 8]));
        assert_eq!((numbers("\n"), numbers("0-x"), numbers("3-0")), (Some(vec![]), None, None));
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel itself")]
    fn threads_are_kept_until_the_guard_is_dropped_and_their_own_threads_with_them() {
        let before = sched_getaffinity(None).unwrap();
        let mut one = CpuSet::new();
        one.set((0..CpuSet::MAX_CPU).find(|number| before.is_set(*number)).unwrap());
        let beside = Beside { processors: one };
        let kept = beside.keep().unwrap();
        let of_thread = std::thread::spawn(|| sched_getaffinity(None).unwrap()).join().unwrap();
        assert_eq!((of_thread, beside.cores()), (one, 1));
        drop(kept);
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }

    #[test]
    fn there_is_nothing_to_be_beside_without_storage() {
        assert_eq!(Beside::of(&NullStore::default()).unwrap_err(), NumaError::NoDevice);
    }
}
