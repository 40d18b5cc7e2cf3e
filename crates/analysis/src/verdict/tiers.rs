//! The caches between the reads and the storage, tier by tier: what was proven of each, and what was not.

use record::{Line, RunRecord, Target};

use feed::counted_noun;

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

/// The tier whose size only the user knows.
const SERVER: &str = "the server's cache";

/// How many times the server's memory a dataset must be for its reads to come from below it.
const WORKING_SET_MIN: f64 = 3.0;

/// What is known of each tier, for each storage target that was measured. Records of format 1.0 hold too little.
pub(crate) fn of_run(record: &RunRecord, cells: &Cells<'_>) -> Vec<String> {
    if is_of_first_format(record) {
        return Vec::new();
    }
    let storage = cells.targets.iter().filter(|target| target.storage);
    storage.flat_map(|target| of_target(record, cells, target)).collect()
}

fn of_target(record: &RunRecord, cells: &Cells<'_>, target: &Target) -> Vec<String> {
    let of_target: Vec<&CellSummary> = measured(cells, target).collect();
    if of_target.is_empty() {
        return Vec::new();
    }
    let above = [Some(pages(record, target, &of_target)), names(&of_target)].into_iter().flatten();
    let repeats = is_read_again(cells, target);
    let generated = is_generated(record, target);
    let words = |tier| match excluded(record, target) {
        Some(words) => format!("{tier}: {words}"),
        None => format!("{tier}: {}", doubt(repeats, generated)),
    };
    let below = below(record, target).into_iter().map(words);
    let loops = backing_file(target).into_iter();
    above.chain(below).chain(loops).map(|words| format!("{}: {words}", target.name)).collect()
}

fn measured<'a>(cells: &Cells<'a>, target: &Target) -> impl Iterator<Item = &'a CellSummary> {
    let name = target.name.clone();
    let of_target = cells.all.iter().filter(move |cell| cell.cell.target == name);
    of_target.filter(|cell| cell.is_measured())
}

/// `the client's page cache: as asked in 3 of 4 cells`.
fn pages(record: &RunRecord, target: &Target, cells: &[&CellSummary]) -> String {
    if server_is_local(target) {
        return "the client's page cache: not excluded, the server runs on this machine and reads through it"
            .to_owned();
    }
    if cells.iter().all(|cell| is_in_user_space(record, &cell.cell.cell)) {
        return "the client's page cache: takes no part, storage is reached in user space".to_owned();
    }
    let reading: Vec<&&CellSummary> =
        cells.iter().filter(|cell| cell.figures().is_some() && operation::reads_bytes(&cell.cell)).collect();
    let proven = reading.iter().filter(|cell| is_proven(cell)).count();
    let all = counted_noun(reading.len() as u64, "cell");
    if reading.is_empty() {
        "the client's page cache: no bytes were read".to_owned()
    } else if proven == reading.len() {
        format!("the client's page cache: proven to be as asked, in {all}")
    } else {
        format!("the client's page cache: proven to be as asked in {proven} of {all}")
    }
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
fn names(cells: &[&CellSummary]) -> Option<String> {
    let asking: Vec<&&CellSummary> =
        cells.iter().filter(|cell| operation::touches_names(&cell.cell)).collect();
    let in_memory = |cell: &&&CellSummary| cell.flags().contains(&&Flag::NamesInMemory);
    let cold = asking.iter().filter(|cell| cell.names_are_dropped()).count();
    let words = if asking.is_empty() {
        return None;
    } else if asking.iter().any(in_memory) {
        "in memory, or their blocks on the device were (root with access to the device drops them)"
    } else if cold == asking.len() {
        "dropped before each repetition"
    } else if cold > 0 {
        "dropped before some cold cells, as they were before others"
    } else {
        "as they were: in memory for all that is known"
    };
    Some(format!("names and inodes: {words}"))
}

/// The tiers below this client's own memory, in words.
fn below(record: &RunRecord, target: &Target) -> Vec<&'static str> {
    let kind = fact(target, "file_system").unwrap_or_default();
    let mut tiers = Vec::new();
    if has_own_cache(kind) {
        tiers.push("the file system's own cache");
    }
    if has_server(kind) || is_behind_a_network(record, target) {
        tiers.push(SERVER);
    } else if fact(target, "backing_file").is_none() && memory_device(target).is_none() {
        tiers.push(match is_virtual_disk(record, target) {
            Some(true) => "the hypervisor's cache below the virtual disk",
            Some(false) => "the device's cache",
            None => "the device's and the hypervisor's cache",
        });
    }
    tiers
}

/// Whether every repetition of a cell says that the kernel's page cache takes no part.
fn is_in_user_space(record: &RunRecord, cell: &str) -> bool {
    let mut methods = record.lines.iter().filter_map(|line| match line {
        Line::Rep(rep) if rep.cell == cell => Some(rep.cache.method.as_str()),
        _ => None,
    });
    methods.next().is_some_and(|first| first == USER_SPACE && methods.all(|method| method == USER_SPACE))
}

/// Whether feedline itself reaches a target over connections.
fn is_behind_a_network(record: &RunRecord, target: &Target) -> bool {
    record.run.cells.iter().any(|cell| cell.target == target.name && cell.connections > 0)
}

/// What excludes the memory below the client, where the user says how much it is and the working set is large enough.
fn excluded(record: &RunRecord, target: &Target) -> Option<String> {
    let memory = target.server_memory_bytes.filter(|bytes| *bytes > 0)?;
    let cells = || record.run.cells.iter().filter(|cell| cell.target == target.name);
    // What is read in sequence begins with the same bytes in each repetition.
    if cells().any(|cell| cell.access == feed::Access::Sequential) {
        return None;
    }
    let datasets = cells().filter_map(|cell| record.run.datasets.get(cell.dataset));
    let times = datasets.map(|dataset| dataset.bytes).min()? as f64 / memory as f64;
    (times >= WORKING_SET_MIN).then(|| {
        format!("excluded, the dataset is {times:.1} times its memory of {}", feed::format_bytes(memory))
    })
}

fn doubt(repeats: bool, generated: bool) -> &'static str {
    match (repeats, generated) {
        (true, _) => "not excluded, reads repeat",
        (false, true) => "no byte was read twice; what was written before the run may still be there",
        (false, false) => "no byte was read twice",
    }
}

/// Caches below the client that may have served reads of a target, and those that cannot have: where no byte was read
/// twice of data that were there before the run, and where the user says how much memory a server has and the dataset is
/// a multiple of it.
pub(crate) fn caches_of(
    record: &RunRecord,
    cells: &Cells<'_>,
    target: &Target,
) -> (Vec<&'static str>, Vec<&'static str>) {
    let read_once = !is_read_again(cells, target) && !is_generated(record, target);
    let is_excluded = read_once || excluded(record, target).is_some();
    below(record, target).into_iter().partition(|_| !is_excluded)
}

fn is_generated(record: &RunRecord, target: &Target) -> bool {
    let mut datasets = record.run.datasets.iter().filter(|dataset| dataset.target == target.name);
    datasets.any(|dataset| dataset.source == "generate")
}

/// The tiers below the client that may have served what was read again, with their targets; none when nothing was.
pub(crate) fn open_below(record: &RunRecord, cells: &Cells<'_>) -> Vec<(&'static str, Vec<String>)> {
    if !cells.datasets.iter().any(|dataset| dataset.reads_repeat) {
        return Vec::new();
    }
    let again = |target: &&Target| target.storage && is_read_again(cells, target);
    let mut tiers: Vec<(&str, Vec<String>)> = Vec::new();
    for target in cells.targets.iter().filter(again) {
        let tiers_of_target =
            if excluded(record, target).is_none() { below(record, target) } else { Vec::new() };
        for tier in tiers_of_target {
            match tiers.iter_mut().find(|(known, _)| *known == tier) {
                Some((_, names)) => names.push(target.name.clone()),
                None => tiers.push((tier, vec![target.name.clone()])),
            }
        }
    }
    tiers
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

fn backing_file(target: &Target) -> Option<String> {
    let path = fact(target, "backing_file")?;
    Some(format!("loop device over {path}: this machine's cache of that file not excluded"))
}

/// Whether any cell may have read bytes of its dataset twice from this target.
pub(crate) fn is_read_again(cells: &Cells<'_>, target: &Target) -> bool {
    let repeats = |dataset: usize| cells.datasets.get(dataset).is_some_and(|figures| figures.reads_repeat);
    cells.all.iter().any(|cell| cell.cell.target == target.name && repeats(cell.cell.dataset))
}

/// A record of format 1.0 is told in the words in which it was published.
pub(crate) fn is_of_first_format(record: &RunRecord) -> bool {
    let format = record.run.format;
    (format.major, format.minor) == (1, 0)
}

/// `None` where the record knows neither the machine nor the disk.
fn is_virtual_disk(record: &RunRecord, target: &Target) -> Option<bool> {
    let device = fact(target, "device");
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

    use crate::fixture::{Builder, rep};
    use crate::{NotTested, Summary, summarise};

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
    fn open(caches: &[&'static str]) -> NotTested {
        let of = |cache: &&'static str| (*cache, vec!["disk".to_owned()]);
        NotTested::CachesBelow { caches: caches.iter().map(of).collect() }
    }

    #[test]
    fn a_virtual_disk_has_the_hypervisors_cache_below_it() {
        let device = open(&["the device's cache"]);
        assert_eq!(below(&[("device", "nvme0n1")], Some("none")), device);
        let host = open(&["the hypervisor's cache below the virtual disk"]);
        assert_eq!(below(&[("device", "vda")], Some("none")), host.clone());
        assert_eq!(below(&[("device_model", "Amazon Elastic Block Store")], None), host.clone());
        assert_eq!(below(&[("device", "nvme0n1")], Some("kvm")), host);
        let either = open(&["the device's and the hypervisor's cache"]);
        assert_eq!(below(&[("device", "nvme0n1")], None), either);
    }

    #[test]
    fn a_network_file_system_has_its_server_below_it() {
        let words = below(&[("file_system", "nfs4")], Some("kvm"));
        assert_eq!(words, open(&["the server's cache"]));
        let words = below(&[("file_system", "lustre")], None);
        assert_eq!(words, open(&["the file system's own cache", "the server's cache"]));
    }

    #[test]
    fn each_tier_says_what_is_proven_of_it() {
        let facts = [("file_system", "ext4"), ("device", "vda")];
        let tiers = summary(&facts, Some("kvm"), |_| {}).tiers;
        let expected = [
            "disk: the client's page cache: proven to be as asked, in 1 cell",
            "disk: the hypervisor's cache below the virtual disk: not excluded, reads repeat",
        ];
        assert_eq!(tiers, expected);
        let unknown = |builder: &mut Builder| builder.edit_reps("c", |rep| rep.cache.after_bytes = None);
        let tiers = summary(&facts, None, unknown).tiers;
        assert_eq!(tiers[0], "disk: the client's page cache: proven to be as asked in 0 of 1 cell");
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
        let words = "disk: names and inodes: in memory, or their blocks on the device were (root with access to the \
                     device drops them)";
        assert_eq!(summary(&[], None, files(false)).tiers[1], words);
        assert_eq!(
            summary(&[], None, files(true)).tiers[1],
            "disk: names and inodes: dropped before each repetition"
        );
    }

    #[test]
    fn no_byte_read_twice_leaves_only_what_was_written_before() {
        let once = |builder: &mut Builder| {
            builder.lines.truncate(1);
        };
        let summary = summary(&[("file_system", "nfs")], None, once);
        assert!(summary.tiers[1].ends_with("what was written before the run may still be there"));
        assert!(!summary.not_tested.iter().any(|one| matches!(one, NotTested::CachesBelow { .. })));
    }

    #[test]
    fn a_record_of_the_first_format_keeps_its_words() {
        let first = |builder: &mut Builder| builder.run.format.minor = 0;
        let summary = summary(&[("device", "vda")], Some("kvm"), first);
        assert_eq!(summary.tiers, Vec::<String>::new());
        let caches = vec![("the device's and the hypervisor's cache", Vec::new())];
        assert_eq!(summary.not_tested[0], NotTested::CachesBelow { caches });
    }

    #[test]
    fn a_loop_device_has_this_machines_cache_of_its_file_below_it() {
        let facts = [("device", "loop0"), ("backing_file", "/data/disk.img")];
        let summary = summary(&facts, Some("kvm"), |_| {});
        let words = "loop device over /data/disk.img: this machine's cache of that file not excluded";
        assert_eq!(summary.not_tested[0], NotTested::BackingFile { path: "/data/disk.img".to_owned() });
        assert_eq!(summary.tiers[1..], [format!("disk: {words}")]);
    }

    #[test]
    fn a_device_that_is_memory_has_no_verdict() {
        let facts = [("device", "zram0"), ("medium", "memory")];
        let confirmed = |builder: &mut Builder| {
            (0..3).for_each(|number| builder.push(crate::fixture::confirmation("c", number, 2e9)));
        };
        let summary = summary(&facts, None, confirmed);
        let verdict = &summary.verdicts[0];
        assert!(verdict.sentence().starts_with("the device is memory (zram) at depth 8"), "{verdict:?}");
        assert_eq!((verdict.judgement, verdict.feeds), (feed::Judgement::Uncertain, None));
        assert!(!summary.not_tested.iter().any(|one| matches!(one, NotTested::CachesBelow { .. })));
    }
}
