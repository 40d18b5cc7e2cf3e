//! What the machine is and what this process may use of it, read from `/proc` and `/sys`.
//!
//! Every function takes the root of the tree that it reads, so that a test can hand it another machine. A
//! fact that cannot be read is recorded as the reason why; nothing here fails.

mod machine;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use record::{Captured, Environment, Limit, LoadAverage};

const CPU: &str = "sys/devices/system/cpu";

/// Version 1 of cgroups writes "no limit" as the largest page-aligned `i64`; pages are at most 64 KiB.
const CGROUP_V1_UNLIMITED_BYTES: u64 = i64::MAX as u64 - 65_535;

/// Everything about this machine.
pub(crate) fn capture() -> Environment {
    capture_below(Path::new("/"))
}

// The root is a parameter, so that tests hold kernels and containers that no test machine has.
fn capture_below(root: &Path) -> Environment {
    Environment {
        machine: line(root, "etc/machine-id").and_then(|id| machine::of(&id)).into(),
        kernel: line(root, "proc/sys/kernel/osrelease").into(),
        architecture: Captured::Value(std::env::consts::ARCH.to_owned()),
        cpu_model: cpu_info(root, "model name").into(),
        cores_online: cores_online(root).into(),
        cores_usable: Captured::Value(usable_cores_of(root, affinity_cores())),
        numa_nodes: numa_nodes(root).into(),
        processors_allowed: processors_allowed(root).into(),
        memory_bytes: memory_bytes(root).into(),
        governor: line(root, &format!("{CPU}/cpu0/cpufreq/scaling_governor")).into(),
        clocksource: line(root, "sys/devices/system/clocksource/clocksource0/current_clocksource").into(),
        transparent_huge_pages: transparent_huge_pages(root).into(),
        virtualization: virtualization(root).into(),
        container: container(root).into(),
        cgroup_cpu_cores: cgroup_cpu_cores(root).into(),
        cgroup_memory_bytes: cgroup_memory_bytes(root).into(),
        open_files_max: process_limit(root, "Max open files").into(),
        locked_memory_bytes_max: process_limit(root, "Max locked memory").into(),
        io_uring_disabled: number(root, "proc/sys/kernel/io_uring_disabled").into(),
        mitigations: mitigations(root).into(),
        load_average: load_average(root).into(),
    }
}

/// Processors that this process may use: those of its affinity, or fewer by a cgroup quota, rounded up.
pub(crate) fn usable_cores() -> u32 {
    usable_cores_of(Path::new("/"), affinity_cores())
}

fn usable_cores_of(root: &Path, affinity_cores: u32) -> u32 {
    match cgroup_cpu_cores(root) {
        // Rounded up: with a quota of 2.5 three threads can run, though not all the time.
        Ok(Limit::At(quota)) => affinity_cores.min(quota.ceil() as u32).max(1),
        Ok(Limit::Unlimited) | Err(_) => affinity_cores,
    }
}

/// Memory that this process may have, bytes: the machine's, or less by a limit of its cgroup.
pub(crate) fn usable_memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    usable_memory_of(Path::new("/"), info.totalram * u64::from(info.mem_unit))
}

fn usable_memory_of(root: &Path, machine_bytes: u64) -> u64 {
    match cgroup_memory_bytes(root) {
        Ok(Limit::At(bytes)) => machine_bytes.min(bytes),
        Ok(Limit::Unlimited) | Err(_) => machine_bytes,
    }
}

/// The largest last-level cache of a processor of this machine, bytes; `None` where the kernel does not say.
pub(crate) fn cache_bytes() -> Option<u64> {
    cache_bytes_of(Path::new("/"))
}

fn cache_bytes_of(root: &Path) -> Option<u64> {
    let folders = |path: &Path, name: &'static str| {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let numbered = move |path: &PathBuf| {
            let number = path.file_name()?.to_str()?.strip_prefix(name)?;
            number.parse::<u32>().ok()
        };
        entries.map(|entry| entry.path()).filter(move |path| numbered(path).is_some())
    };
    let caches = folders(&root.join(CPU), "cpu").flat_map(|cpu| folders(&cpu.join("cache"), "index"));
    let bytes = |cache: PathBuf| {
        let size = std::fs::read_to_string(cache.join("size")).ok()?;
        size.trim().strip_suffix('K')?.parse::<u64>().ok()?.checked_mul(1024)
    };
    // The largest of a processor is its last: each level holds more than the one before it.
    caches.filter_map(bytes).max()
}

/// Beyond 1024 processors the kernel refuses the fixed-size set, and the standard library's count stands in.
fn affinity_cores() -> u32 {
    rustix::thread::sched_getaffinity(None).map_or_else(
        |_| std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
        |set| set.count(),
    )
}

/// Names that must not leave this machine, each with the label that stands for it: the home folder, the host's name and the
/// user's. `root`, `/` and `localhost` identify nobody and stay.
pub(crate) fn secrets() -> Vec<(String, String)> {
    let variable = |name| std::env::var(name).ok();
    labels(
        variable("HOME").as_deref(),
        rustix::system::uname().nodename().to_str().ok(),
        variable("USER").or_else(|| variable("LOGNAME")).as_deref(),
    )
}

/// The home folder comes first, as it contains the user's name.
fn labels(home: Option<&str>, host: Option<&str>, user: Option<&str>) -> Vec<(String, String)> {
    let home = home.map(|home| home.trim_end_matches('/'));
    [(home, "~"), (host, "host-1"), (user, "user-1")]
        .into_iter()
        .filter_map(|(secret, label)| Some((secret?, label)))
        // Hiding them would take the word out of ordinary text, and hide nobody.
        .filter(|(secret, _)| !matches!(*secret, "" | "root" | "localhost" | "(none)"))
        .map(|(secret, label)| (secret.to_owned(), label.to_owned()))
        .collect()
}

fn read(root: &Path, path: &str) -> Result<String, String> {
    std::fs::read_to_string(root.join(path)).map_err(|cause| format!("cannot read /{path}: {cause}"))
}

fn line(root: &Path, path: &str) -> Result<String, String> {
    let text = read(root, path)?;
    match text.trim() {
        "" => Err(format!("/{path} is empty")),
        line => Ok(line.to_owned()),
    }
}

fn number(root: &Path, path: &str) -> Result<u32, String> {
    let text = line(root, path)?;
    text.parse().map_err(|_| format!("/{path} holds `{text}` instead of a number"))
}

fn cpu_info(root: &Path, key: &str) -> Result<String, String> {
    read(root, "proc/cpuinfo")?
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim().to_owned())
        .ok_or_else(|| format!("/proc/cpuinfo has no `{key}`"))
}

fn cores_online(root: &Path) -> Result<u32, String> {
    let path = format!("{CPU}/online");
    let text = line(root, &path)?;
    let cores = backend::numa::numbers(&text).map(|cores| cores.len() as u32);
    cores.ok_or_else(|| format!("/{path} holds `{text}`"))
}

fn numa_nodes(root: &Path) -> Result<BTreeMap<u32, String>, String> {
    let path = "sys/devices/system/node";
    let failed = |cause| format!("cannot read /{path}: {cause}");
    let mut nodes = BTreeMap::new();
    for entry in std::fs::read_dir(root.join(path)).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if let Some(number) = name.strip_prefix("node").and_then(|number| number.parse().ok()) {
            // Empty where a node has memory alone.
            let processors = read(root, &format!("{path}/{name}/cpulist"))?;
            nodes.insert(number, processors.trim().to_owned());
        }
    }
    if nodes.is_empty() { Err(format!("/{path} has no nodes")) } else { Ok(nodes) }
}

fn processors_allowed(root: &Path) -> Result<String, String> {
    let found = read(root, "proc/self/status")?
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:").map(|list| list.trim().to_owned()));
    found.ok_or_else(|| "/proc/self/status has no `Cpus_allowed_list`".to_owned())
}

fn memory_bytes(root: &Path) -> Result<u64, String> {
    read(root, "proc/meminfo")?
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok())
        .map(|kib| kib * 1024)
        .ok_or_else(|| "/proc/meminfo has no `MemTotal`".to_owned())
}

/// The kernel lists all modes and puts the one in force into brackets.
fn transparent_huge_pages(root: &Path) -> Result<String, String> {
    let path = "sys/kernel/mm/transparent_hugepage/enabled";
    let text = line(root, path)?;
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.map(|(mode, _)| mode.to_owned()).ok_or_else(|| format!("/{path} holds `{text}`"))
}

/// The processor says whether there is a hypervisor; the firmware's tables mostly say which.
fn virtualization(root: &Path) -> Result<String, String> {
    // Xen and ARM say it here, where no flag of the processor does.
    if let Ok(name) = line(root, "sys/hypervisor/type") {
        return Ok(name);
    }
    if let Ok(name) = line(root, "proc/device-tree/hypervisor/compatible") {
        return Ok(name.trim_end_matches('\0').to_owned());
    }
    if !cpu_info(root, "flags")?.split_whitespace().any(|flag| flag == "hypervisor") {
        return Ok("none".to_owned());
    }
    // Clouds write their names into the firmware's tables: that is the nearest to a machine type.
    let firmware: Vec<String> = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|name| line(root, &format!("sys/class/dmi/id/{name}")).ok())
        .collect();
    Ok(if firmware.is_empty() { "a hypervisor without a name".to_owned() } else { firmware.join(" ") })
}

/// By the files that container runtimes leave inside, then by the names of the first process' cgroups.
fn container(root: &Path) -> Result<String, String> {
    if let Ok(name) = line(root, "run/systemd/container") {
        return Ok(name);
    }
    for (file, name) in [(".dockerenv", "docker"), ("run/.containerenv", "podman")] {
        if root.join(file).exists() {
            return Ok(name.to_owned());
        }
    }
    let cgroups = read(root, "proc/1/cgroup")?;
    // Kubernetes before the runtime that it uses: that a pod limits is what a reader has to know.
    let runtimes = [("kubepods", "kubernetes"), ("docker", "docker"), ("libpod", "podman"), ("lxc", "lxc")];
    let found = runtimes.iter().find(|(part, _)| cgroups.contains(part));
    Ok(found.map_or("none", |(_, name)| name).to_owned())
}

fn cgroup_cpu_cores(root: &Path) -> Result<Limit<f64>, String> {
    let version_1 = |folder: &str| {
        let quota_us: f64 = line(root, &format!("{folder}/cpu.cfs_quota_us")).ok()?.parse().ok()?;
        let period_us: f64 = line(root, &format!("{folder}/cpu.cfs_period_us")).ok()?.parse().ok()?;
        (quota_us > 0.0 && period_us > 0.0).then(|| quota_us / period_us)
    };
    let version_2 = |folder: &str| {
        let text = line(root, &format!("{folder}/cpu.max")).ok()?;
        let (quota_us, period_us) = text.split_once(' ')?;
        Some(quota_us.parse::<f64>().ok()? / period_us.parse::<f64>().ok()?)
    };
    Ok(tightest(&cgroup_folders(root, "cpu")?, version_1, version_2))
}

fn cgroup_memory_bytes(root: &Path) -> Result<Limit<u64>, String> {
    let version_1 = |folder: &str| {
        let bytes = line(root, &format!("{folder}/memory.limit_in_bytes")).ok()?.parse().ok()?;
        (bytes < CGROUP_V1_UNLIMITED_BYTES).then_some(bytes)
    };
    let version_2 = |folder: &str| line(root, &format!("{folder}/memory.max")).ok()?.parse().ok();
    Ok(tightest(&cgroup_folders(root, "memory")?, version_1, version_2))
}

/// Folders of this process' cgroups and of all above them: each may limit.
struct CgroupFolders {
    version_1: Vec<String>,
    version_2: Vec<String>,
}

/// A folder without a limit gives `None`, as does one that a container does not show.
fn tightest<T: PartialOrd + Copy>(
    folders: &CgroupFolders,
    version_1: impl Fn(&str) -> Option<T>,
    version_2: impl Fn(&str) -> Option<T>,
) -> Limit<T> {
    let limits = folders.version_1.iter().filter_map(|folder| version_1(folder));
    let limits = limits.chain(folders.version_2.iter().filter_map(|folder| version_2(folder)));
    let tightest = limits.reduce(|a, b| if b < a { b } else { a });
    tightest.map_or(Limit::Unlimited, Limit::At)
}

/// Lines read `4:memory:/path` in version 1 and `0::/path` in version 2; a hybrid system has both, and
/// mounts version 2 in a folder of its own.
fn cgroup_folders(root: &Path, controller: &str) -> Result<CgroupFolders, String> {
    let mut folders = CgroupFolders { version_1: Vec::new(), version_2: Vec::new() };
    for line in read(root, "proc/self/cgroup")?.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        if controllers.is_empty() {
            folders.version_2.extend(with_ancestors("sys/fs/cgroup", path));
            folders.version_2.extend(with_ancestors("sys/fs/cgroup/unified", path));
        } else if controllers.split(',').any(|name| name == controller) {
            folders.version_1.extend(with_ancestors(&format!("sys/fs/cgroup/{controller}"), path));
            folders.version_1.extend(with_ancestors(&format!("sys/fs/cgroup/{controllers}"), path));
        }
    }
    Ok(folders)
}

fn with_ancestors(mount: &str, path: &str) -> Vec<String> {
    let path = path.trim_matches('/');
    // Every ancestor may hold the tighter limit: Kubernetes sets some on the pod and some on its
    // containers.
    let ends = path.match_indices('/').map(|(end, _)| end).chain([path.len()]);
    let below = ends.map(|end| format!("{mount}/{}", &path[..end]));
    [mount.to_owned()].into_iter().chain(below).collect()
}

/// The soft limit: the first figure after the name, in columns of spaces.
fn process_limit(root: &Path, name: &str) -> Result<Limit<u64>, String> {
    let text = read(root, "proc/self/limits")?;
    let soft = text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next());
    match soft {
        Some("unlimited") => Ok(Limit::Unlimited),
        // The soft limit is the one in force, until a process raises it.
        Some(figure) => figure.parse().map(Limit::At).map_err(|_| format!("`{name}` is `{figure}`")),
        None => Err(format!("/proc/self/limits has no `{name}`")),
    }
}

fn mitigations(root: &Path) -> Result<BTreeMap<String, String>, String> {
    let path = format!("{CPU}/vulnerabilities");
    let failed = |cause| format!("cannot read /{path}: {cause}");
    let mut mitigations = BTreeMap::new();
    for entry in std::fs::read_dir(root.join(&path)).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if let Ok(state) = line(root, &format!("{path}/{name}")) {
            mitigations.insert(name, state);
        }
    }
    Ok(mitigations)
}

fn load_average(root: &Path) -> Result<LoadAverage, String> {
    let text = line(root, "proc/loadavg")?;
    let figures: Vec<f64> = text.split(' ').map_while(|figure| figure.parse().ok()).collect();
    match figures[..] {
        [one_minute, five_minutes, fifteen_minutes, ..] => {
            Ok(LoadAverage { one_minute, five_minutes, fifteen_minutes })
        }
        _ => Err(format!("/proc/loadavg holds `{text}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of the given files.
    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        root
    }

    const SERVER: [(&str, &str); 17] = [
        ("proc/self/status", "Name:\tfeedline\nCpus_allowed_list:\t0-2\n"),
        ("sys/devices/system/node/node0/cpulist", "0-3\n"),
        ("sys/devices/system/node/node1/cpulist", "6,8-9\n"),
        ("proc/sys/kernel/osrelease", "6.8.0-45-generic\n"),
        ("proc/sys/kernel/io_uring_disabled", "2\n"),
        (
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t\t: fpu vme sse2\n\nprocessor\t: 1\n",
        ),
        ("proc/meminfo", "MemTotal:       2113549 kB\nMemFree:         1000 kB\n"),
        ("proc/loadavg", "0.25 1.50 3.00 2/345 6789\n"),
        ("proc/self/cgroup", "0::/user.slice/run.scope\n"),
        ("proc/1/cgroup", "0::/init.scope\n"),
        (
            "proc/self/limits",
            "Limit                     Soft Limit           Hard Limit           Units\n\
             Max locked memory         8388608              8388608              bytes\n\
             Max open files            unlimited            1048576              files\n",
        ),
        ("sys/devices/system/cpu/online", "0-3,6,8-9\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
        ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"),
    ];

    #[test]
    fn a_server_is_captured_whole() {
        let root = machine(&SERVER);
        let env = capture_below(root.path());
        let text = |fact: &Captured<String>| fact.value().cloned().unwrap_or_default();
        assert_eq!(text(&env.kernel), "6.8.0-45-generic");
        assert_eq!(text(&env.cpu_model), "AMD EPYC 9654");
        assert_eq!(text(&env.governor), "performance");
        assert_eq!(text(&env.clocksource), "tsc");
        assert_eq!(text(&env.transparent_huge_pages), "madvise");
        assert_eq!((text(&env.virtualization), text(&env.container)), ("none".to_owned(), "none".to_owned()));
        assert_eq!(
            (env.cores_online, env.memory_bytes),
            (Captured::Value(7), Captured::Value(2_113_549 * 1024))
        );
        let nodes = [(0, "0-3"), (1, "6,8-9")].map(|(node, processors)| (node, processors.to_owned()));
        assert_eq!(env.numa_nodes, Captured::Value(nodes.into()));
        assert_eq!(text(&env.processors_allowed), "0-2");
        assert_eq!(env.io_uring_disabled, Captured::Value(2));
        assert_eq!(env.open_files_max, Captured::Value(Limit::Unlimited));
        assert_eq!(env.locked_memory_bytes_max, Captured::Value(Limit::At(8 << 20)));
        assert_eq!(env.cgroup_cpu_cores, Captured::Value(Limit::Unlimited));
        assert_eq!(env.mitigations.value().unwrap()["meltdown"], "Not affected");
        let load = LoadAverage { one_minute: 0.25, five_minutes: 1.5, fifteen_minutes: 3.0 };
        assert_eq!(env.load_average, Captured::Value(load));
    }

    #[test]
    fn a_machine_that_tells_nothing_gives_reasons() {
        let root = machine(&[]);
        let json = serde_json::to_value(capture_below(root.path())).unwrap();
        for (name, fact) in json.as_object().unwrap() {
            let known_anywhere = ["architecture", "cores_usable"].contains(&name.as_str());
            assert_eq!(fact.get("unavailable").is_none(), known_anywhere, "{name}: {fact}");
        }
        assert_eq!(
            json["governor"]["unavailable"],
            "cannot read /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor: \
             No such file or directory (os error 2)"
        );
    }

    #[test]
    fn facts_that_make_no_sense_give_reasons() {
        let root = machine(&[
            ("proc/sys/kernel/osrelease", " \n"),
            ("proc/sys/kernel/io_uring_disabled", "maybe"),
            ("proc/loadavg", "0.1 x"),
            ("proc/meminfo", "MemTotal: lots"),
            ("proc/self/limits", "Max open files few"),
            ("sys/devices/system/cpu/online", "3-0"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always"),
        ]);
        let json = serde_json::to_value(capture_below(root.path())).unwrap();
        for name in [
            "kernel",
            "io_uring_disabled",
            "load_average",
            "memory_bytes",
            "open_files_max",
            "cores_online",
            "transparent_huge_pages",
        ] {
            assert!(json[name]["unavailable"].is_string(), "{name}: {}", json[name]);
        }
    }

    #[test]
    fn the_last_level_cache_is_the_largest_of_any_processor() {
        let cache = |cpu, index, size| (format!("{CPU}/cpu{cpu}/cache/index{index}/size"), size);
        let files = [
            cache(0, 0, "32K\n"),
            cache(0, 3, "32768K\n"),
            cache(12, 2, "1024K\n"),
            cache(12, 3, "98304K\n"),
            (format!("{CPU}/cpufreq/cache/index0/size"), "999999K\n"),
        ];
        let root = machine(&files.each_ref().map(|(path, size)| (path.as_str(), *size)));
        assert_eq!(cache_bytes_of(root.path()), Some(96 << 20));
        assert_eq!(cache_bytes_of(machine(&[]).path()), None);
    }

    #[test]
    fn the_tightest_quota_of_version_2_counts_up_to_the_root() {
        let root = machine(&[
            ("proc/self/cgroup", "0::/pod/job/task\n"),
            ("sys/fs/cgroup/pod/cpu.max", "250000 100000\n"),
            ("sys/fs/cgroup/pod/job/cpu.max", "900000 100000\n"),
            ("sys/fs/cgroup/pod/job/task/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/pod/job/memory.max", "4294967296\n"),
            ("sys/fs/cgroup/pod/memory.max", "max\n"),
        ]);
        assert_eq!(cgroup_cpu_cores(root.path()), Ok(Limit::At(2.5)));
        assert_eq!(cgroup_memory_bytes(root.path()), Ok(Limit::At(4 << 30)));
        assert_eq!([1, 8].map(|affinity| usable_cores_of(root.path(), affinity)), [1, 3]);
        assert_eq!([2 << 30, 8 << 30].map(|bytes| usable_memory_of(root.path(), bytes)), [2 << 30, 4 << 30]);
    }

    #[test]
    fn version_1_and_a_container_that_hides_its_path_are_understood() {
        let root = machine(&[
            ("proc/self/cgroup", "5:cpu,cpuacct:/docker/0a1b\n4:memory:/docker/0a1b\n0::/\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n"),
            ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        assert_eq!(cgroup_cpu_cores(root.path()), Ok(Limit::At(0.5)));
        assert_eq!(cgroup_memory_bytes(root.path()), Ok(Limit::Unlimited));
        assert_eq!(usable_cores_of(root.path(), 4), 1);
        assert_eq!(usable_memory_of(root.path(), 8 << 30), 8 << 30);
    }

    #[test]
    fn no_quota_leaves_the_affinity() {
        let root = machine(&[
            ("proc/self/cgroup", "1:cpu:/\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ]);
        assert_eq!(usable_cores_of(root.path(), 6), 6);
        assert_eq!(usable_cores_of(machine(&[]).path(), 6), 6);
    }

    #[test]
    fn hypervisors_and_containers_are_named() {
        let guest = "flags : fpu hypervisor sse2\n";
        let root = machine(&[
            ("proc/cpuinfo", guest),
            ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
            ("sys/class/dmi/id/product_name", "Standard PC\n"),
            ("proc/1/cgroup", "0::/kubepods/burstable/pod1\n"),
        ]);
        assert_eq!(virtualization(root.path()).unwrap(), "QEMU Standard PC");
        assert_eq!(container(root.path()).unwrap(), "kubernetes");
        let root = machine(&[("proc/cpuinfo", guest), (".dockerenv", "")]);
        assert_eq!(virtualization(root.path()).unwrap(), "a hypervisor without a name");
        assert_eq!(container(root.path()).unwrap(), "docker");
        assert_eq!(virtualization(machine(&[("sys/hypervisor/type", "xen\n")]).path()).unwrap(), "xen");
    }

    #[test]
    fn secrets_are_labelled_with_the_home_folder_first() {
        let of = |home, host, user| -> Vec<String> {
            let labels = labels(Some(home), Some(host), Some(user));
            labels.into_iter().map(|(secret, label)| format!("{secret}={label}")).collect()
        };
        assert_eq!(of("/home/ada/", "node7", "ada"), ["/home/ada=~", "node7=host-1", "ada=user-1"]);
        assert_eq!(of("/root", "localhost", "root"), ["/root=~"]);
        assert!(of("/", "", "root").is_empty());
    }

    /// The standard library rounds a quota down.
    #[test]
    fn this_machine_grants_at_least_what_the_standard_library_counts() {
        assert!(usable_cores() >= std::thread::available_parallelism().unwrap().get() as u32);
    }
}
