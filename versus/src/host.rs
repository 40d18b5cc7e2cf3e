//! What machine this is.

use std::fs;

use rustix::system::uname;
use serde::{Deserialize, Serialize};

/// Facts without which a figure says little.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Host {
    /// Release of the kernel.
    pub(crate) kernel: String,
    /// Processor, as the kernel names it.
    pub(crate) cpu_model: String,
    /// Processors that this process may use.
    pub(crate) cores: usize,
    /// Memory.
    pub(crate) memory_bytes: u64,
    /// Whether the kernel gives huge pages: always, when asked (madvise), never.
    pub(crate) transparent_huge_pages: String,
}

/// This host.
pub(crate) fn facts() -> Host {
    let info = rustix::system::sysinfo();
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let huge = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    Host {
        kernel: uname().release().to_string_lossy().into_owned(),
        cpu_model: cpu_model(&cpuinfo),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: info.totalram * u64::from(info.mem_unit),
        transparent_huge_pages: bracketed(&huge),
    }
}

/// Load average over one minute.
pub(crate) fn load_average() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Seconds since 1970.
pub(crate) fn unix_s() -> i64 {
    rustix::time::clock_gettime(rustix::time::ClockId::Realtime).tv_sec
}

fn cpu_model(cpuinfo: &str) -> String {
    let named = |line: &str| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == "model name").then(|| value.trim().to_owned())
    };
    // Not all architectures name their processors here.
    cpuinfo.lines().find_map(named).unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// The chosen one of `always [madvise] never`.
fn bracketed(choices: &str) -> String {
    let chosen = choices.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.map_or_else(|| "unknown".to_owned(), |(chosen, _)| chosen.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: AMD EPYC\nmodel\t: 2\n"), "AMD EPYC");
        assert_eq!(cpu_model("processor\t: 0\n"), std::env::consts::ARCH);
    }

    #[test]
    fn the_chosen_word_is_the_bracketed() {
        assert_eq!(bracketed("always [madvise] never\n"), "madvise");
        assert_eq!(bracketed(""), "unknown");
    }
}
