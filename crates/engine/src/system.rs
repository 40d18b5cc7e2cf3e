//! What the whole machine did while a window was open: the device below, the network, the processors, the memory.

mod counters;
mod gpu;
mod network;
mod nfs;
mod parse;
mod programs;
mod text;

use std::path::{Path, PathBuf};

use backend::SharedStore;
use record::{Memory, System};

use counters::DeviceCounters;
use network::{NetworkCounters, NetworkSource};
use nfs::{NfsCounters, NfsSource};

pub use gpu::Gpus;
pub(crate) use programs::Programs;
pub(crate) use text::Text;

/// What of the machine stands between this process and a storage.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// The block device below, as `/proc/diskstats` calls it.
    pub(crate) device: Option<String>,
    /// The network interface towards it.
    pub(crate) interface: Option<String>,
    /// Where the kernel's NFS client has it mounted.
    pub(crate) nfs_mount_point: Option<PathBuf>,
}

impl Watched {
    /// What a store says of itself.
    pub(crate) fn of(store: &SharedStore) -> Self {
        Self {
            device: store.block_device(),
            interface: store.network_interface(),
            nfs_mount_point: store.nfs_mount_point(),
        }
    }
}

/// Files of the kernel that stay open between the two readings; each may be missing.
#[derive(Debug)]
pub(crate) struct Sources {
    device: Option<DeviceSource>,
    network: Option<NetworkSource>,
    nfs: Option<NfsSource>,
    process_io: Option<Text>,
    stat: Option<Text>,
    meminfo: Option<Text>,
}

impl Sources {
    /// Opens what the kernel offers, and reads each file once, so that its buffer has its size before it counts.
    pub(crate) fn open(watched: &Watched) -> Self {
        let mut sources = Self {
            device: watched.device.as_deref().and_then(DeviceSource::open),
            network: watched.interface.as_deref().and_then(NetworkSource::open),
            nfs: watched.nfs_mount_point.as_deref().and_then(NfsSource::open),
            process_io: Text::open("/proc/self/io"),
            stat: Text::open("/proc/stat"),
            meminfo: Text::open("/proc/meminfo"),
        };
        // The first reading of a large `/proc` file grows its buffer, which is an allocation.
        sources.read();
        sources
    }

    /// One reading. What is compared with each other is read first, at once.
    pub(crate) fn read(&mut self) -> Reading {
        // Device, network and process together: what one of them delivered is held against what the others asked.
        let device = self.device.as_mut().and_then(DeviceSource::read);
        let network = self.network.as_mut().and_then(NetworkSource::read);
        let nfs = self.nfs.as_mut().and_then(NfsSource::read);
        let process_read_bytes = self.read_process_bytes();
        let (core_busy_ns, steal_ns) =
            read(&mut self.stat, |stat| Some((parse::core_busy_ns(stat), parse::steal_ns(stat))))
                .unwrap_or_default();
        let memory = read(&mut self.meminfo, parse::memory);
        Reading { device, network, nfs, process_read_bytes, core_busy_ns, steal_ns, memory }
    }

    /// Bytes that storage has delivered to this process so far, alone.
    pub(crate) fn read_process_bytes(&mut self) -> Option<u64> {
        read(&mut self.process_io, parse::process_read_bytes)
    }

    /// What changed from `before` to `after`, read `wall_ns` apart.
    pub(crate) fn between(&self, before: &Reading, after: &Reading, wall_ns: u64) -> System {
        let device = || {
            let name = &self.device.as_ref()?.name;
            after.device?.since(before.device.as_ref()?, name, wall_ns)
        };
        let network = || self.network.as_ref()?.between(before.network?, after.network?, wall_ns);
        let process_read_bytes = || after.process_read_bytes?.checked_sub(before.process_read_bytes?);
        System {
            process_read_bytes: process_read_bytes(),
            device: device(),
            core_busy_ns: busy_between(&before.core_busy_ns, &after.core_busy_ns).unwrap_or_default(),
            memory_before: before.memory,
            memory_after: after.memory,
            network: network(),
            // They are looked for outside the window.
            others: Vec::new(),
            gpus: Vec::new(),
            nfs_mount: after.nfs.zip(before.nfs).and_then(|(after, before)| after.since(&before)),
        }
    }
}

/// What the machine does between this process and a storage, from one look to the next, for whoever watches a run.
#[derive(Debug)]
pub struct Live {
    sources: Sources,
    statm: Option<Text>,
    before: Reading,
}

impl Live {
    /// Begins to look at what is below a store.
    pub fn of(store: &SharedStore) -> Self {
        Self::below(&Watched::of(store))
    }

    pub(crate) fn below(watched: &Watched) -> Self {
        let mut sources = Sources::open(watched);
        let before = sources.read();
        Self { sources, statm: Text::open("/proc/self/statm"), before }
    }

    /// Memory of this process that is resident; `None` where the kernel does not say.
    pub(crate) fn resident_bytes(&mut self) -> Option<u64> {
        read(&mut self.statm, |statm| parse::resident_bytes(statm, rustix::param::page_size() as u64))
    }

    /// Lets the next look tell what changes from now on.
    pub(crate) fn begin(&mut self) {
        self.before = self.sources.read();
    }

    /// What changed since the last look, `wall_ns` ago.
    pub fn look(&mut self, wall_ns: u64) -> System {
        let after = self.sources.read();
        let system = self.sources.between(&self.before, &after, wall_ns);
        self.before = after;
        system
    }
}

/// The counters at one moment; each may be unknown.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    device: Option<DeviceCounters>,
    network: Option<NetworkCounters>,
    nfs: Option<NfsCounters>,
    process_read_bytes: Option<u64>,
    core_busy_ns: Vec<u64>,
    /// Time stolen by the hypervisor, all processors.
    pub(crate) steal_ns: Option<u64>,
    memory: Option<Memory>,
}

impl Reading {
    /// Bytes that storage had delivered to this process.
    pub(crate) fn process_read_bytes(&self) -> Option<u64> {
        self.process_read_bytes
    }
}

fn read<T>(source: &mut Option<Text>, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    parse(source.as_mut()?.read()?)
}

/// Nothing where processors came or went, or a counter went backwards.
fn busy_between(before: &[u64], after: &[u64]) -> Option<Vec<u64>> {
    // A processor that was taken offline shifts all rows behind it.
    if before.len() != after.len() {
        return None;
    }
    after.iter().zip(before).map(|(after, before)| after.checked_sub(*before)).collect()
}

/// Where one device's counters are read.
#[derive(Debug)]
struct DeviceSource {
    name: String,
    row: Row,
    flushes: FlushSource,
}

/// Where the flushes of a device are counted: of a disk alone, not of its partitions, and only where it is driven by requests. What is
/// made of others (md, device mapper, NVMe of several paths) passes them on and counts none.
#[derive(Debug)]
enum FlushSource {
    /// Nowhere.
    None,
    /// In the device's own row.
    Own,
    /// In that of the disk which it is a part of.
    Disk(Text),
}

impl FlushSource {
    fn of(name: &str) -> Self {
        let own = format!("/sys/class/block/{}", name.replace('/', "!"));
        let is_part = Path::new(&own).join("partition").exists();
        let disk = if is_part { format!("{own}/..") } else { own };
        // The queues of requests of blk-mq, which every driver of disks has used since Linux 5.0.
        match Path::new(&disk).join("mq").exists() {
            true if is_part => Text::open(&format!("{disk}/stat")).map_or(Self::None, Self::Disk),
            true => Self::Own,
            false => Self::None,
        }
    }
}

/// The same figures, from either place.
#[derive(Debug)]
enum Row {
    /// `/sys/class/block/NAME/stat`: the kernel adds up this device alone. For `/proc/diskstats` it adds up every
    /// counter of every device over every processor, which takes milliseconds on a large machine.
    Own(Text),
    /// `/proc/diskstats`, where `/sys` is hidden.
    Among(Text),
}

impl DeviceSource {
    fn open(name: &str) -> Option<Self> {
        // A `/` in a device's name is a `!` in its folder's: `cciss!c0d0`.
        let own = Text::open(&format!("/sys/class/block/{}/stat", name.replace('/', "!"))).map(Row::Own);
        let row = own.or_else(|| Text::open("/proc/diskstats").map(Row::Among))?;
        Some(Self { name: name.to_owned(), row, flushes: FlushSource::of(name) })
    }

    fn read(&mut self) -> Option<DeviceCounters> {
        let row = match &mut self.row {
            Row::Own(stat) => stat.read()?,
            Row::Among(diskstats) => parse::row_of(diskstats.read()?, &self.name)?,
        };
        let counters = DeviceCounters::parse(row)?;
        let flushes = match &mut self.flushes {
            FlushSource::None => None,
            FlushSource::Own => counters.flushes,
            FlushSource::Disk(stat) => DeviceCounters::parse(stat.read()?)?.flushes,
        };
        Some(DeviceCounters { flushes, ..counters })
    }
}

#[cfg(test)]
mod tests {
    use record::Device;

    use super::counters::Flushes;
    use super::*;

    const COUNTERS: DeviceCounters = DeviceCounters {
        reads: 10,
        reads_merged: 20,
        read_bytes: 30,
        read_ns: 40,
        writes: 50,
        write_bytes: 60,
        write_ns: 70,
        busy_ns: 80,
        weighted_ns: 90,
        flushes: None,
    };

    #[test]
    fn a_devices_figures_are_what_was_added() {
        let after = DeviceCounters { reads: 13, read_bytes: 530, weighted_ns: 97, ..COUNTERS };
        let device = after.since(&COUNTERS, "vda", 1_000).unwrap();
        let expected = Device {
            name: "vda".to_owned(),
            reads: 3,
            read_bytes: 500,
            weighted_ns: 7,
            wall_ns: 1_000,
            ..Device::default()
        };
        assert_eq!(device, expected);
    }

    #[test]
    fn flushes_are_those_of_a_device_that_counts_them() {
        let counted =
            |count| DeviceCounters { flushes: Some(Flushes { count, time_ns: 1_000 * count }), ..COUNTERS };
        let since = |after: u64, before: u64| counted(after).since(&counted(before), "vda", 1_000);
        let flushes = |device: Device| (device.flushes, device.flush_ns);
        assert_eq!(since(9, 7).map(flushes), Some((Some(2), Some(2_000))));
        assert_eq!(since(7, 7).map(flushes), Some((Some(0), Some(0))), "it would count them");
        assert_eq!(since(6, 7), None);
        assert_eq!(COUNTERS.since(&COUNTERS, "vda", 1_000).map(flushes), Some((None, None)));
    }

    #[test]
    fn a_counter_that_went_backwards_is_no_figure() {
        let wrapped = DeviceCounters { weighted_ns: 5, ..COUNTERS };
        assert_eq!(wrapped.since(&COUNTERS, "vda", 1_000), None);
        let replaced = DeviceCounters { reads: 1, ..COUNTERS };
        assert_eq!(replaced.since(&COUNTERS, "vda", 1_000), None);
    }

    #[test]
    fn processors_that_came_or_went_leave_no_figure() {
        assert_eq!(busy_between(&[5, 7], &[8, 7]), Some(vec![3, 0]));
        assert_eq!(busy_between(&[5, 7], &[8]), None);
        assert_eq!(busy_between(&[5, 7], &[8, 6]), None);
    }

    #[test]
    fn a_device_that_vanished_is_none_and_hides_nothing_else() {
        let sources = Sources {
            device: Some(DeviceSource {
                name: "sdb".to_owned(),
                row: Row::Among(Text::open("/proc/diskstats").unwrap()),
                flushes: FlushSource::None,
            }),
            network: None,
            nfs: None,
            process_io: None,
            stat: None,
            meminfo: None,
        };
        let before = Reading { device: Some(COUNTERS), process_read_bytes: Some(5), ..Reading::default() };
        let after = Reading { process_read_bytes: Some(9), ..Reading::default() };
        let expected = System { process_read_bytes: Some(4), ..System::default() };
        assert_eq!(sources.between(&before, &after, 1_000), expected);
    }

    #[test]
    fn this_machine_is_read_without_a_device() {
        let mut sources =
            Sources::open(&Watched { device: Some("no-such-device".to_owned()), ..Watched::default() });
        let (before, after) = (sources.read(), sources.read());
        let system = sources.between(&before, &after, 1_000);
        assert_eq!(system.device, None);
        assert!(!system.core_busy_ns.is_empty());
        assert!(system.memory_after.unwrap().available_bytes > 0);
    }

    #[test]
    fn a_devices_own_file_and_its_row_among_all_say_the_same() {
        let diskstats = std::fs::read_to_string("/proc/diskstats").unwrap();
        let names = diskstats.lines().filter_map(|line| line.split_whitespace().nth(2));
        for name in names {
            let Some(mut own) = DeviceSource::open(name) else { continue };
            let row = Row::Among(Text::open("/proc/diskstats").unwrap());
            let mut among = DeviceSource { name: name.to_owned(), row, flushes: FlushSource::of(name) };
            let (first, row, last) = (own.read().unwrap(), among.read().unwrap(), own.read().unwrap());
            // Others may use the device meanwhile.
            assert!(first.read_bytes <= row.read_bytes && row.read_bytes <= last.read_bytes, "{name}");
            assert!(first.writes <= row.writes && row.writes <= last.writes, "{name}");
        }
    }
}
