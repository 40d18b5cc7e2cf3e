//! What the process and the machine used while a window was open.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use record::Usage;

const NS_PER_US: u64 = 1_000;
/// `/proc/stat` counts in ticks of `USER_HZ`, which is 100 on every Linux that feedline runs on.
const NS_PER_TICK: u64 = 10_000_000;

/// Reads the counters twice, when the window opens and when it closes, from files held open.
#[derive(Debug)]
pub(crate) struct Meter {
    sources: Sources,
    cores: u32,
    opened: Option<(u64, Counters)>,
    closed: Option<(u64, Counters)>,
}

impl Meter {
    /// A meter for a process that may use `cores` processors.
    pub(crate) fn new(cores: u32) -> Self {
        Self { sources: Sources::open(), cores, opened: None, closed: None }
    }

    /// Takes the first reading once the window is open.
    #[inline]
    pub(crate) fn open_once(&mut self, now_ns: u64, window_open_ns: u64) {
        if self.opened.is_none() && now_ns >= window_open_ns {
            self.opened = Some((now_ns, self.sources.read()));
        }
    }

    /// Takes the second reading.
    pub(crate) fn close(&mut self, now_ns: u64) {
        self.closed = Some((now_ns, self.sources.read()));
    }

    /// The difference; all zero when the window never opened.
    pub(crate) fn usage(&self) -> Usage {
        let (Some((opened_ns, before)), Some((closed_ns, after))) = (&self.opened, &self.closed) else {
            return Usage { cores: self.cores, ..Usage::default() };
        };
        let since = |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
        Usage {
            cpu_user_ns: after.cpu_user_ns - before.cpu_user_ns,
            cpu_system_ns: after.cpu_system_ns - before.cpu_system_ns,
            wall_ns: closed_ns - opened_ns,
            cores: self.cores,
            voluntary_switches: after.voluntary_switches - before.voluntary_switches,
            involuntary_switches: after.involuntary_switches - before.involuntary_switches,
            minor_faults: after.minor_faults - before.minor_faults,
            major_faults: after.major_faults - before.major_faults,
            steal_ns: since(after.steal_ns, before.steal_ns),
            psi_cpu_some_ns: since(after.psi_some_ns[0], before.psi_some_ns[0]),
            psi_io_some_ns: since(after.psi_some_ns[1], before.psi_some_ns[1]),
            psi_memory_some_ns: since(after.psi_some_ns[2], before.psi_some_ns[2]),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Counters {
    cpu_user_ns: u64,
    cpu_system_ns: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    minor_faults: u64,
    major_faults: u64,
    steal_ns: Option<u64>,
    /// Processor, I/O, memory.
    psi_some_ns: [Option<u64>; 3],
}

/// Files that stay open between the two readings; each may be missing.
#[derive(Debug)]
struct Sources {
    stat: Option<File>,
    pressure: [Option<File>; 3],
}

impl Sources {
    fn open() -> Self {
        let pressure = ["cpu", "io", "memory"].map(|kind| File::open(format!("/proc/pressure/{kind}")).ok());
        Self { stat: File::open("/proc/stat").ok(), pressure }
    }

    fn read(&self) -> Counters {
        let usage = process_usage();
        let time_ns =
            |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * NS_PER_US;
        Counters {
            cpu_user_ns: time_ns(usage.ru_utime),
            cpu_system_ns: time_ns(usage.ru_stime),
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            steal_ns: self.stat.as_ref().and_then(|file| steal_ns(&head(file)?)),
            psi_some_ns: [0, 1, 2]
                .map(|index| self.pressure[index].as_ref().and_then(|file| some_total_ns(&head(file)?))),
        }
    }
}

/// Processor time of every thread of the process, the kernel's I/O workers on its behalf included.
fn process_usage() -> libc::rusage {
    // SAFETY: `rusage` is plain numbers, for which zero is a value; the call fills it.
    unsafe {
        let mut usage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    }
}

fn head(file: &File) -> Option<String> {
    let mut buffer = [0; 512];
    let length = file.read_at(&mut buffer, 0).ok()?;
    Some(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

/// The eighth figure of the first line, `cpu user nice system idle iowait irq softirq steal …`.
fn steal_ns(stat: &str) -> Option<u64> {
    let ticks: u64 = stat.lines().next()?.split_whitespace().nth(8)?.parse().ok()?;
    Some(ticks * NS_PER_TICK)
}

/// `total=` of the line that begins with `some`, in microseconds.
fn some_total_ns(pressure: &str) -> Option<u64> {
    let line = pressure.lines().find(|line| line.starts_with("some"))?;
    let total: u64 = line.split("total=").nth(1)?.trim().parse().ok()?;
    Some(total * NS_PER_US)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_the_kernels_lines() {
        assert_eq!(steal_ns("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 …"), Some(80_000_000));
        let pressure = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 total=9\n";
        assert_eq!(some_total_ns(pressure), Some(1_234_000));
        assert_eq!(some_total_ns("garbage"), None);
        assert_eq!(steal_ns(""), None);
    }

    #[test]
    fn a_busy_process_uses_processor_time_between_the_readings() {
        let mut meter = Meter::new(2);
        meter.open_once(5, 10);
        assert!(meter.opened.is_none(), "the window is not open yet");
        meter.open_once(10, 10);
        (0..30_000_000_u64).for_each(|i| {
            std::hint::black_box(i);
        });
        meter.close(20);
        let usage = meter.usage();
        assert!(usage.cpu_user_ns + usage.cpu_system_ns > 0);
        assert_eq!((usage.wall_ns, usage.cores), (10, 2));
    }
}
