//! The caches between the reads and the storage, tier by tier: what was proven of each, and what was not.

use std::collections::BTreeSet;

use record::{Cell, Line, RunRecord, Target};

use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;
use crate::cell::facts::{fact, has_own_cache, has_server, memory_device, server_is_local};
use crate::cell::flag::Flag;
use crate::cell::operation;
use crate::cell::page_cache::USER_SPACE;

/// Beginnings of the names that the kernel gives to disks that a hypervisor makes.
const VIRTUAL_NAMES: [&str; 2] = ["vd", "xvd"];

/// Parts of the model names of such disks where they look like others: QEMU, VMware, VirtualBox, Hyper-V, and the
/// volumes of Amazon, Google and Microsoft.
const VIRTUAL_MODELS: [&str; 9] = [
    "qemu",
    "virtual",
    "vbox",
    "vmware",
    "msft",
    "amazon elastic",
    "google",
    "persistentdisk",
    "nvme_card-pd",
];

// At three times, a cache that is full of the dataset holds a third of it. Where each sample is read once an epoch and
// what was used least recently goes first, it serves 1/3 + 2/3 ln(2/3) of the reads, which is 6 %.
/// How many times the server's memory a dataset must be for its reads to come from below it.
const WORKING_SET_MIN: f64 = 3.0;

/// A cache between the reads of a target and its storage.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheTier {
    /// Name of the target.
    pub target: String,
    /// Which cache, and what is known of it.
    pub known: TierKnown,
}

/// A cache between reads and storage, and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub enum TierKnown {
    /// The client's page cache.
    PageCache(PageCacheKnown),
    /// Names and inodes in the client's memory.
    Names(NamesKnown),
    /// A cache below the client.
    Below {
        /// Which.
        cache: CacheBelow,
        /// Whether it may have served reads.
        known: BelowKnown,
    },
    /// This machine's cache of the file below a loop device, which no proof of this run reaches.
    BackingFile {
        /// The file.
        path: String,
    },
}

/// What is known of the client's page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageCacheKnown {
    /// The server runs on this machine and reads through it.
    ServerIsLocal,
    /// Storage is reached in user space, so that it takes no part.
    UserSpace,
    /// No bytes were read.
    NothingRead,
    /// It was as asked in so many cells.
    AsAsked {
        /// Cells in which that is proven.
        proven: usize,
        /// Cells that read.
        cells: usize,
    },
}

/// What is known of names and inodes in the client's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamesKnown {
    /// They were in memory, or their blocks on the device were.
    InMemory,
    /// They were dropped before each repetition.
    Dropped,
    /// They were dropped before some cold cells.
    SomeDropped,
    /// Nothing was done about them.
    AsTheyWere,
}

/// A cache below the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheBelow {
    /// The file system's own.
    FileSystem,
    /// The server's, whose size only the user knows.
    Server,
    /// The hypervisor's, below a virtual disk.
    Hypervisor,
    /// The device's.
    Device,
    /// The device's and the hypervisor's: the record does not say which there is.
    DeviceOrHypervisor,
}

/// Whether a cache below the client may have served reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BelowKnown {
    /// The dataset is too large for it.
    Excluded {
        /// How many times its memory the dataset is.
        times: f64,
        /// Its memory, as the user states it.
        memory_bytes: u64,
    },
    /// Reads repeat, so that it may have.
    ReadsRepeat,
    /// No byte was read twice.
    ReadOnce {
        /// Whether feedline wrote the data before the run: then what was written may still be there.
        generated: bool,
    },
}

/// What is known of each tier, for each storage target that was measured. Records of format 1.0 hold too little.
pub(crate) fn of_run(record: &RunRecord, cells: &Cells<'_>) -> Vec<CacheTier> {
    // Records of that version do not say what the file system is or whether names were dropped, and a sentence about a
    // tier that cannot be known would be a guess.
    if is_of_first_format(record) {
        return Vec::new();
    }
    let storage = cells.targets.iter().filter(|target| target.storage);
    let kernel = through_the_kernel(record);
    storage.flat_map(|target| of_target(record, cells, &kernel, target)).collect()
}

fn of_target(
    record: &RunRecord,
    cells: &Cells<'_>,
    kernel: &BTreeSet<&str>,
    target: &Target,
) -> Vec<CacheTier> {
    let of_target: Vec<&CellSummary> = measured(cells, target).collect();
    if of_target.is_empty() {
        return Vec::new();
    }
    let pages = TierKnown::PageCache(pages(kernel, target, &of_target));
    let names = names(&of_target).map(TierKnown::Names);
    let known = match excluded(record, target) {
        Some(excluded) => excluded,
        None if is_read_again(cells, target) => BelowKnown::ReadsRepeat,
        None => BelowKnown::ReadOnce { generated: is_generated(record, target) },
    };
    let below = below(record, target).into_iter().map(|cache| TierKnown::Below { cache, known });
    let backing_file =
        fact(target, "backing_file").map(|path| TierKnown::BackingFile { path: path.to_owned() });
    let all = std::iter::once(pages).chain(names).chain(below).chain(backing_file);
    all.map(|known| CacheTier { target: target.name.clone(), known }).collect()
}

pub(crate) fn measured<'a>(cells: &Cells<'a>, target: &Target) -> impl Iterator<Item = &'a CellSummary> {
    let name = target.name.clone();
    let of_target = cells.all.iter().filter(move |cell| cell.cell.target == name);
    of_target.filter(|cell| cell.is_measured())
}

fn pages(kernel: &BTreeSet<&str>, target: &Target, cells: &[&CellSummary]) -> PageCacheKnown {
    if server_is_local(target) {
        return PageCacheKnown::ServerIsLocal;
    }
    if !cells.iter().any(|cell| kernel.contains(cell.cell.cell.as_str())) {
        return PageCacheKnown::UserSpace;
    }
    let reading: Vec<&&CellSummary> =
        cells.iter().filter(|cell| cell.figures().is_some() && operation::reads_bytes(&cell.cell)).collect();
    if reading.is_empty() {
        return PageCacheKnown::NothingRead;
    }
    let proven = reading.iter().filter(|cell| is_proven(cell)).count();
    PageCacheKnown::AsAsked { proven, cells: reading.len() }
}

fn is_proven(cell: &CellSummary) -> bool {
    let doubts = |flag: &&Flag| {
        matches!(
            flag,
            Flag::NotCold { .. } | Flag::NotWarm { .. } | Flag::NotBypassed { .. } | Flag::NotDropped { .. }
        )
    };
    let figures = cell.figures().into_iter().chain(cell.confirmed.iter().filter_map(|one| one.figures()));
    cell.flags().iter().all(|flag| !doubts(flag))
        && figures.into_iter().all(|figures| figures.cache.is_known())
}

/// Names matter to cells that ask for them alone: the others hold their files open.
fn names(cells: &[&CellSummary]) -> Option<NamesKnown> {
    let asking: Vec<&&CellSummary> =
        cells.iter().filter(|cell| operation::touches_names(&cell.cell)).collect();
    let in_memory = |cell: &&&CellSummary| cell.flags().contains(&&Flag::NamesInMemory);
    let cold = asking.iter().filter(|cell| cell.names_are_dropped()).count();
    match cold {
        _ if asking.is_empty() => None,
        _ if asking.iter().any(in_memory) => Some(NamesKnown::InMemory),
        0 => Some(NamesKnown::AsTheyWere),
        all if all == asking.len() => Some(NamesKnown::Dropped),
        _ => Some(NamesKnown::SomeDropped),
    }
}

/// The tiers below this client's own memory.
pub(crate) fn below(record: &RunRecord, target: &Target) -> Vec<CacheBelow> {
    let kind = fact(target, "file_system").unwrap_or_default();
    let mut tiers = Vec::new();
    if has_own_cache(kind) {
        tiers.push(CacheBelow::FileSystem);
    }
    if has_server(kind) || is_behind_a_network(record, target) {
        tiers.push(CacheBelow::Server);
    } else if fact(target, "backing_file").is_none() && memory_device(target).is_none() {
        tiers.push(match is_virtual_disk(record, target) {
            Some(true) => CacheBelow::Hypervisor,
            Some(false) => CacheBelow::Device,
            None => CacheBelow::DeviceOrHypervisor,
        });
    }
    tiers
}

/// Cells of which some repetition does not say that the kernel's page cache takes no part.
fn through_the_kernel(record: &RunRecord) -> BTreeSet<&str> {
    let cells = record.lines.iter().filter_map(|line| match line {
        Line::Rep(rep) if rep.cache.method != USER_SPACE => Some(rep.cell.as_str()),
        _ => None,
    });
    cells.collect()
}

/// Whether feedline itself reaches a target over connections.
fn is_behind_a_network(record: &RunRecord, target: &Target) -> bool {
    record.run.cells.iter().any(|cell| cell.target == target.name && cell.connections > 0)
}

/// What excludes the memory below the client, where the user says how much it is and the working set is large enough.
fn excluded(record: &RunRecord, target: &Target) -> Option<BelowKnown> {
    let memory_bytes = target.server_memory_bytes.filter(|bytes| *bytes > 0)?;
    let cells = || record.run.cells.iter().filter(|cell| cell.target == target.name);
    // What is read in sequence, or by a list, begins with the same bytes in each repetition.
    if cells().any(|cell| cell.access == feed::Access::Sequential || cell.access == feed::Access::List) {
        return None;
    }
    let datasets = cells().filter_map(|cell| record.run.datasets.get(cell.dataset));
    let times = datasets.map(|dataset| dataset.bytes).min()? as f64 / memory_bytes as f64;
    (times >= WORKING_SET_MIN).then_some(BelowKnown::Excluded { times, memory_bytes })
}

/// What the caches below a client may have done for a cell: all that is said of them beside a verdict follows from this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BelowCell {
    /// What they may have served of what it reads.
    pub(crate) served: Option<Served>,
    /// Whether they may hold in memory alone what it writes.
    pub(crate) holds: bool,
}

/// What a cache may have served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Served {
    /// What had been read before.
    ReadAgain,
    /// What had just been written.
    // Generated data, and checkpoints that are read back, were written through it, even if no byte is read twice.
    JustWritten,
}

impl BelowCell {
    pub(crate) fn of(record: &RunRecord, cells: &Cells<'_>, target: &Target, cell: &Cell) -> Self {
        let served = if !operation::reads_bytes(cell) || excluded(record, target).is_some() {
            None
        } else if is_read_again(cells, target) {
            Some(Served::ReadAgain)
        } else {
            is_generated(record, target).then_some(Served::JustWritten)
        };
        // Of what is kept when it ends no cache stands in for the storage.
        Self { served, holds: operation::writes_over(cell) && !operation::is_kept(cell) }
    }

    fn is_open(self) -> bool {
        self.served.is_some() || self.holds
    }
}

/// Caches below the client that may stand for the storage in what a cell does, and those that cannot: where no byte was read
/// twice of data that were there before the run, and where the user says how much memory a server has and the dataset is
/// a multiple of it. None of either for writes that are kept.
pub(crate) fn caches_of(
    record: &RunRecord,
    cells: &Cells<'_>,
    target: &Target,
    cell: &Cell,
) -> (Vec<CacheBelow>, Vec<CacheBelow>) {
    let is_open = BelowCell::of(record, cells, target, cell).is_open();
    let tiers = if is_open || operation::reads_bytes(cell) { below(record, target) } else { Vec::new() };
    tiers.into_iter().partition(|_| is_open)
}

fn is_generated(record: &RunRecord, target: &Target) -> bool {
    let mut datasets = record.run.datasets.iter().filter(|dataset| dataset.target == target.name);
    datasets.any(|dataset| dataset.source == "generate")
}

/// What lies below each loop device that was measured, which no proof of this run reaches.
pub(crate) fn backing_files<'a>(cells: &Cells<'a>) -> Vec<&'a str> {
    let is_measured = |target: &&Target| measured(cells, target).next().is_some();
    let storage = cells.targets.iter().filter(|target| target.storage);
    let mut files: Vec<&str> =
        storage.filter(is_measured).filter_map(|target| fact(target, "backing_file")).collect();
    files.dedup();
    files
}

/// Whether any cell may have read bytes of its dataset twice from this target.
pub(crate) fn is_read_again(cells: &Cells<'_>, target: &Target) -> bool {
    let repeats = |dataset: usize| cells.datasets.get(dataset).is_some_and(|figures| figures.reads_repeat);
    cells.all.iter().any(|cell| cell.cell.target == target.name && repeats(cell.cell.dataset))
}

/// A record of format 1.0 says of its caches what it said when it was published.
pub(crate) fn is_of_first_format(record: &RunRecord) -> bool {
    let format = record.run.format;
    (format.major, format.minor) == (1, 0)
}

/// `None` where the record knows neither the machine nor the disk.
fn is_virtual_disk(record: &RunRecord, target: &Target) -> Option<bool> {
    let device = fact(target, "device");
    // The name of the device decides before that of its model: virtio disks have no model.
    let by_name = device.is_some_and(|name| VIRTUAL_NAMES.iter().any(|start| name.starts_with(start)));
    let model = fact(target, "device_model").map(str::to_lowercase);
    let by_model = model.is_some_and(|model| VIRTUAL_MODELS.iter().any(|part| model.contains(part)));
    if by_name || by_model {
        return Some(true);
    }
    record.env.virtualization.value().map(|hypervisor| hypervisor != "none")
}

#[cfg(test)]
mod tests {
    use record::{Captured, Fact};

    use super::{BelowKnown, CacheBelow, NamesKnown, PageCacheKnown, TierKnown};
    use crate::fixture::{Builder, rep};
    use crate::{Cause, Flag, NotTested, Summary, summarise};

    fn summary(facts: &[(&str, &str)], hypervisor: Option<&str>, edit: impl FnOnce(&mut Builder)) -> Summary {
        let mut builder = Builder::new();
        builder.run.format.minor = 1;
        builder.cell("c", "disk", 8);
        (0..2).for_each(|number| builder.push(rep("c", number, 1e9)));
        let fact =
            |(name, value): &(&str, &str)| Fact { name: (*name).to_owned(), value: (*value).to_owned() };
        builder.run.targets[0].facts = facts.iter().map(fact).collect();
        edit(&mut builder);
        let mut record = builder.record();
        if let Some(hypervisor) = hypervisor {
            record.env.virtualization = Captured::Value(hypervisor.to_owned());
        }
        summarise(&record)
    }

    fn below(facts: &[(&str, &str)], hypervisor: Option<&str>) -> NotTested {
        summary(facts, hypervisor, |_| {}).not_tested[0].clone()
    }

    /// Caches below `disk` that may have served what was read again.
    fn open(caches: &[CacheBelow]) -> NotTested {
        let of = |cache: &CacheBelow| (*cache, vec!["disk".to_owned()]);
        NotTested::CachesBelow { caches: caches.iter().map(of).collect(), read_again: true }
    }

    #[test]
    fn a_virtual_disk_has_the_hypervisors_cache_below_it() {
        let device = open(&[CacheBelow::Device]);
        assert_eq!(below(&[("device", "nvme0n1")], Some("none")), device);
        let host = open(&[CacheBelow::Hypervisor]);
        assert_eq!(below(&[("device", "vda")], Some("none")), host.clone());
        assert_eq!(below(&[("device_model", "Amazon Elastic Block Store")], None), host.clone());
        assert_eq!(below(&[("device", "nvme0n1")], Some("kvm")), host);
        let either = open(&[CacheBelow::DeviceOrHypervisor]);
        assert_eq!(below(&[("device", "nvme0n1")], None), either);
    }

    #[test]
    fn a_network_file_system_has_its_server_below_it() {
        assert_eq!(below(&[("file_system", "nfs4")], Some("kvm")), open(&[CacheBelow::Server]));
        let both = open(&[CacheBelow::FileSystem, CacheBelow::Server]);
        assert_eq!(below(&[("file_system", "lustre")], None), both);
    }

    fn tiers(summary: Summary) -> Vec<TierKnown> {
        assert!(summary.tiers.iter().all(|tier| tier.target == "disk"));
        summary.tiers.into_iter().map(|tier| tier.known).collect()
    }

    #[test]
    fn each_tier_says_what_is_proven_of_it() {
        let facts = [("file_system", "ext4"), ("device", "vda")];
        let as_asked = |proven| TierKnown::PageCache(PageCacheKnown::AsAsked { proven, cells: 1 });
        let below = TierKnown::Below { cache: CacheBelow::Hypervisor, known: BelowKnown::ReadsRepeat };
        assert_eq!(tiers(summary(&facts, Some("kvm"), |_| {})), [as_asked(1), below]);
        let unknown = |builder: &mut Builder| builder.edit_reps("c", |rep| rep.cache.after_bytes = None);
        assert_eq!(tiers(summary(&facts, None, unknown))[0], as_asked(0));
    }

    #[test]
    fn names_are_a_tier_of_cells_that_ask_for_them() {
        let files = |dropped: bool| {
            move |builder: &mut Builder| {
                builder.edit_cell("c", |cell| {
                    (cell.operation, cell.cache) = ("read_file".into(), "cold".into());
                });
                builder.edit_reps("c", |rep| rep.cache.names_dropped = Some(dropped));
            }
        };
        let names = |dropped| tiers(summary(&[], None, files(dropped))).swap_remove(1);
        assert_eq!(names(false), TierKnown::Names(NamesKnown::InMemory));
        assert_eq!(names(true), TierKnown::Names(NamesKnown::Dropped));
    }

    #[test]
    fn no_byte_read_twice_leaves_only_what_was_written_before() {
        let once = |builder: &mut Builder| {
            builder.lines.truncate(1);
        };
        let summary = summary(&[("file_system", "nfs")], None, once);
        let once = BelowKnown::ReadOnce { generated: true };
        assert_eq!(summary.tiers[1].known, TierKnown::Below { cache: CacheBelow::Server, known: once });
        let caches = vec![(CacheBelow::Server, vec!["disk".to_owned()])];
        assert_eq!(summary.not_tested[0], NotTested::CachesBelow { caches, read_again: false });
    }

    #[test]
    fn a_list_begins_with_the_same_files_and_may_name_them_again() {
        let known = |access: &'static str, reads| {
            let listed = |builder: &mut Builder| {
                builder.lines.truncate(1);
                builder.edit_cell("c", |cell| cell.access = access.into());
                let dataset = &mut builder.run.datasets[0];
                (dataset.source, dataset.samples) = ("existing".to_owned(), Some(reads));
                builder.run.targets[0].server_memory_bytes = Some(1);
            };
            match tiers(summary(&[("file_system", "nfs")], None, listed)).swap_remove(1) {
                TierKnown::Below { known, .. } => known,
                other => panic!("{other:?}"),
            }
        };
        // 10,000 files. A working set that excludes the server's memory in a shuffle does not in a list.
        assert!(matches!(known("shuffled_epoch", 10_000), BelowKnown::Excluded { .. }));
        assert_eq!(known("list", 10_000), BelowKnown::ReadOnce { generated: false });
        assert_eq!(known("list", 10_001), BelowKnown::ReadsRepeat);
    }

    #[test]
    fn a_record_of_the_first_format_says_what_it_said() {
        let first = |builder: &mut Builder| builder.run.format.minor = 0;
        let summary = summary(&[("device", "vda")], Some("kvm"), first);
        assert_eq!(summary.tiers, []);
        let caches = vec![(CacheBelow::DeviceOrHypervisor, Vec::new())];
        assert_eq!(summary.not_tested[0], NotTested::CachesBelow { caches, read_again: true });
    }

    #[test]
    fn a_loop_device_has_this_machines_cache_of_its_file_below_it() {
        let facts = [("device", "loop0"), ("backing_file", "/data/disk.img")];
        let summary = summary(&facts, Some("kvm"), |_| {});
        let path = || "/data/disk.img".to_owned();
        assert_eq!(summary.not_tested[0], NotTested::BackingFile { path: path() });
        assert_eq!(tiers(summary)[1..], [TierKnown::BackingFile { path: path() }]);
    }

    #[test]
    fn a_device_that_is_memory_has_no_verdict() {
        let facts = [("device", "zram0"), ("medium", "memory")];
        let confirmed = |builder: &mut Builder| {
            (0..3).for_each(|number| builder.push(crate::fixture::confirmation("c", number, 2e9)));
        };
        let summary = summary(&facts, None, confirmed);
        let verdict = summary.verdicts[0].of_reads().unwrap();
        assert!(matches!(&verdict.cause, Cause::Flagged(Flag::InMemory { .. })), "{verdict:?}");
        assert_eq!((verdict.judgement, verdict.feeds), (feed::Judgement::Uncertain, None));
        assert!(!summary.not_tested.iter().any(|one| matches!(one, NotTested::CachesBelow { .. })));
    }
}
