//! The machine, fact by fact, with the reason of each that is not known.

use std::fmt::Display;

use record::{Captured, Environment, Limit};

use crate::page::{Fact, Facts};

/// Each fact of the machine.
pub(crate) fn facts(env: &Environment) -> Facts {
    let facts = [
        ("machine", of(&env.machine, Clone::clone)),
        ("kernel", of(&env.kernel, Clone::clone)),
        ("architecture", of(&env.architecture, Clone::clone)),
        ("processor", of(&env.cpu_model, Clone::clone)),
        ("processors online", of(&env.cores_online, u32::to_string)),
        ("processors usable", of(&env.cores_usable, u32::to_string)),
        (
            "NUMA nodes",
            of(&env.numa_nodes, |nodes| {
                let node = |(node, processors): (&u32, &String)| format!("{node}: processors {processors}");
                nodes.iter().map(node).collect::<Vec<_>>().join("; ")
            }),
        ),
        ("processors allowed", of(&env.processors_allowed, Clone::clone)),
        ("memory", of(&env.memory_bytes, |bytes| feed::format_bytes(*bytes))),
        ("frequency governor", of(&env.governor, Clone::clone)),
        ("clock source", of(&env.clocksource, Clone::clone)),
        ("transparent huge pages", of(&env.transparent_huge_pages, Clone::clone)),
        ("hypervisor", of(&env.virtualization, Clone::clone)),
        ("container", of(&env.container, Clone::clone)),
        ("processors of the cgroup", limit(&env.cgroup_cpu_cores, f64::to_string)),
        ("memory of the cgroup", limit(&env.cgroup_memory_bytes, |bytes| feed::format_bytes(*bytes))),
        ("open files at most", limit(&env.open_files_max, |count| feed::group_digits(*count))),
        ("locked memory at most", limit(&env.locked_memory_bytes_max, |bytes| feed::format_bytes(*bytes))),
        ("io_uring", of(&env.io_uring_disabled, |level| ring(*level))),
        (
            "mitigations",
            of(&env.mitigations, |all| {
                all.iter().map(|(name, state)| format!("{name}: {state}")).collect::<Vec<_>>().join("; ")
            }),
        ),
        (
            "load average before",
            of(&env.load_average, |load| {
                format!("{}, {}, {} (1, 5, 15 min)", load.one_minute, load.five_minutes, load.fifteen_minutes)
            }),
        ),
    ];
    let facts = facts.into_iter().map(|(name, value)| Fact { name, value }).collect();
    Facts { about: String::new(), facts }
}

// The levels are those of the kernel's documentation of sysctl; a later one is shown as its number.
fn ring(level: u32) -> String {
    match level {
        0 => "allowed".to_owned(),
        1 => "for privileged processes alone".to_owned(),
        2 => "forbidden".to_owned(),
        other => format!("kernel.io_uring_disabled is {other}"),
    }
}

fn of<T>(fact: &Captured<T>, words: impl Fn(&T) -> String) -> Result<String, String> {
    match fact {
        Captured::Value(value) => Ok(words(value)),
        // Kept apart from values: a reason set in the type of a value would be read as one.
        Captured::Unavailable(reason) => Err(reason.clone()),
    }
}

fn limit<T: Display>(fact: &Captured<Limit<T>>, words: impl Fn(&T) -> String) -> Result<String, String> {
    of(fact, |limit| match limit {
        Limit::Unlimited => "unlimited".to_owned(),
        Limit::At(value) => words(value),
    })
}
