//! `env.json`: the machine that measured. Any fact may be missing, and then says why.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One fact, or the reason why it is not known: `{"value": 8}` or `{"unavailable": "cannot read ..."}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Captured<T> {
    /// What was found.
    Value(T),
    /// Why nothing was found.
    // With its reason, and not only absent: in a container or a virtual machine half of the facts cannot be
    // had, and a reader asks why.
    Unavailable(String),
}

impl<T> Captured<T> {
    /// What was found, if anything was.
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Unavailable(_) => None,
        }
    }
}

impl<T> Default for Captured<T> {
    /// A fact that an older record does not hold.
    fn default() -> Self {
        Self::Unavailable("not in this record".to_owned())
    }
}

impl<T> From<Result<T, String>> for Captured<T> {
    fn from(result: Result<T, String>) -> Self {
        result.map_or_else(Self::Unavailable, Self::Value)
    }
}

/// A cap that may be absent: `"unlimited"` or `{"at": 2.5}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit<T> {
    /// There is no cap.
    Unlimited,
    /// The cap.
    At(T),
}

/// The machine, the limits this process lives under, and the load it started in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// What tells this machine from others and tells nobody which it is: the beginning of a keyed hash of its machine id.
    /// Not in records before format 1.4.
    // Keyed, since ids of machines can be looked up in lists of hashes otherwise.
    pub machine: Captured<String>,
    /// Release of the kernel, as `uname -r` prints it.
    pub kernel: Captured<String>,
    /// Machine architecture, `x86_64`.
    pub architecture: Captured<String>,
    /// Model of the first processor.
    pub cpu_model: Captured<String>,
    /// Processors that are online.
    pub cores_online: Captured<u32>,
    /// Processors that this process may use: affinity and cgroup quota, rounded up.
    // Beside those that are online: a container with two of 128 cores is limited by two.
    pub cores_usable: Captured<u32>,
    /// Processors of each NUMA node, as the kernel lists them: `0-23`. Not in records before format 1.17.
    pub numa_nodes: Captured<BTreeMap<u32, String>>,
    /// The processors that this process may use by its affinity, likewise: where it was kept by others (`numactl`, a container, a
    /// launcher).
    pub processors_allowed: Captured<String>,
    /// Memory of the machine.
    pub memory_bytes: Captured<u64>,
    /// Frequency governor of the first processor.
    pub governor: Captured<String>,
    /// Where the kernel's monotonic clock reads time; anything but `tsc` costs more per reading.
    // A clock that is read by a system call (`hpet`, `acpi_pm`) may cost more than a read from memory
    // takes.
    pub clocksource: Captured<String>,
    /// Mode of transparent huge pages: `always`, `madvise`, `never`.
    pub transparent_huge_pages: Captured<String>,
    /// Hypervisor, `none` on bare metal.
    pub virtualization: Captured<String>,
    /// Container runtime, `none` outside of any.
    pub container: Captured<String>,
    /// Processors granted by the tightest cgroup quota.
    pub cgroup_cpu_cores: Captured<Limit<f64>>,
    /// Memory granted by the tightest cgroup limit; it caps the page cache too.
    pub cgroup_memory_bytes: Captured<Limit<u64>>,
    /// Soft limit of open files.
    pub open_files_max: Captured<Limit<u64>>,
    /// Soft limit of locked memory; registered buffers count against it on some kernels.
    pub locked_memory_bytes_max: Captured<Limit<u64>>,
    /// `kernel.io_uring_disabled`: 0 allowed, 1 for privileged processes only, 2 forbidden.
    pub io_uring_disabled: Captured<u32>,
    /// Processor vulnerabilities by name, with the mitigation in force.
    pub mitigations: Captured<BTreeMap<String, String>>,
    /// Load averages before the run.
    // Before the run, so that it is the load of others.
    pub load_average: Captured<LoadAverage>,
}

/// Runnable and blocked tasks, averaged by the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LoadAverage {
    /// Over one minute.
    pub one_minute: f64,
    /// Over five minutes.
    pub five_minutes: f64,
    /// Over fifteen minutes.
    pub fifteen_minutes: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_written_as_its_value_or_as_the_reason_why_there_is_none() {
        let env = Environment {
            cores_online: Captured::Value(8),
            cgroup_cpu_cores: Captured::Value(Limit::At(2.5)),
            open_files_max: Captured::Value(Limit::Unlimited),
            governor: Captured::Unavailable("no cpufreq".to_owned()),
            ..Environment::default()
        };
        let json = serde_json::to_value(&env).unwrap();
        assert_eq!(json["cores_online"], serde_json::json!({ "value": 8 }));
        assert_eq!(json["cgroup_cpu_cores"], serde_json::json!({ "value": { "at": 2.5 } }));
        assert_eq!(json["open_files_max"], serde_json::json!({ "value": "unlimited" }));
        assert_eq!(json["governor"], serde_json::json!({ "unavailable": "no cpufreq" }));
        assert_eq!(serde_json::from_value::<Environment>(json).unwrap(), env);
    }

    #[test]
    fn a_record_of_another_version_is_read_with_its_gaps_named() {
        let json = r#"{ "kernel": { "value": "6.1" }, "a later field": { "value": 1 } }"#;
        let env: Environment = serde_json::from_str(json).unwrap();
        assert_eq!(env.kernel.value().map(String::as_str), Some("6.1"));
        assert_eq!(env.cores_online, Captured::Unavailable("not in this record".to_owned()));
    }
}
