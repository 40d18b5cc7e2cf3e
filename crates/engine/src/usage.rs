//! What the process and the machine used while a window was open.

use backend::Clock;
use record::{Look, System, Usage};

use crate::course::Course;
use crate::system::{self, Text, Watched};

const NS_PER_US: u64 = 1_000;

/// Reads the counters twice, when the window opens and when it closes, from files held open.
#[derive(Debug)]
pub(crate) struct Meter {
    sources: Sources,
    course: Option<Course>,
    cores: u32,
    /// What storage had delivered to this process as each epoch began, by their numbers.
    epochs: Vec<(u16, Option<u64>)>,
    opened: Option<(u64, Counters)>,
    closed: Option<(u64, Counters)>,
}

impl Meter {
    /// A meter for a process that may use `cores` processors and reads from the storage behind `watched`, on the run's clock.
    pub(crate) fn new(cores: u32, clock: &Clock, watched: &Watched) -> Self {
        Self {
            sources: Sources::open(watched),
            course: Course::begin(clock, watched),
            cores,
            epochs: vec![(0, None)],
            opened: None,
            closed: None,
        }
    }

    /// Takes the first reading once the window is open.
    #[inline]
    pub(crate) fn open_once(&mut self, now_ns: u64, window_open_ns: u64) {
        if self.opened.is_none() && now_ns >= window_open_ns {
            let counters = self.sources.read();
            // Of an epoch that began before the window, what was delivered inside it counts.
            if let Some(epoch) = self.epochs.last_mut() {
                epoch.1 = counters.system.process_read_bytes();
            }
            self.opened = Some((now_ns, counters));
            if let Some(course) = &self.course {
                course.open(window_open_ns);
            }
        }
    }

    /// Takes a reading as this worker begins an epoch, before it submits what it reads first. What other workers have
    /// outstanding then, of the epoch before or already of this one, is between the two.
    #[cold]
    pub(crate) fn begin_epoch(&mut self, epoch: u16) {
        match self.epochs.last_mut() {
            Some((last, _)) if *last >= epoch => {}
            Some(last) if self.opened.is_none() => *last = (epoch, None),
            _ => self.epochs.push((epoch, self.sources.system.read_process_bytes())),
        }
    }

    /// What storage delivered to this process from the beginning of each epoch, or of the window, to that of the next, or
    /// to the end of the window; absent where the kernel does not say, and where this worker had nothing of the next.
    pub(crate) fn epochs_storage_bytes(&self) -> Vec<Option<u64>> {
        let closed = self.closed.as_ref().and_then(|(_, counters)| counters.system.process_read_bytes());
        let mut bytes = Vec::new();
        for (index, (epoch, begun)) in self.epochs.iter().enumerate() {
            let ended = match self.epochs.get(index + 1) {
                Some((next, begun)) if *next == epoch + 1 => *begun,
                Some(_) => None,
                None => closed,
            };
            bytes.resize(usize::from(*epoch) + 1, None);
            bytes[usize::from(*epoch)] =
                ended.zip(*begun).and_then(|(ended, begun)| ended.checked_sub(begun));
        }
        bytes
    }

    /// Takes the second reading.
    pub(crate) fn close(&mut self, now_ns: u64) {
        self.closed = Some((now_ns, self.sources.read()));
        if let Some(course) = &self.course {
            course.close();
        }
    }

    /// What the machine did second by second; nothing in virtual time.
    pub(crate) fn looks(&self) -> Vec<Look> {
        self.course.as_ref().map(Course::looks).unwrap_or_default()
    }

    /// What the process used, and what the machine did; all zero and unknown when the window never opened.
    pub(crate) fn measured(&self) -> (Usage, System) {
        // A repetition that failed in its warm-up has no window to speak of.
        let (Some((opened_ns, before)), Some((closed_ns, after))) = (&self.opened, &self.closed) else {
            return (Usage { cores: self.cores, ..Usage::default() }, System::default());
        };
        let wall_ns = closed_ns - opened_ns;
        let usage = Usage { wall_ns, cores: self.cores, ..after.since(before) };
        (usage, self.sources.system.between(&before.system, &after.system, wall_ns))
    }
}

/// How long a thread was runnable and waited for a processor while a window was open.
#[derive(Debug)]
pub(crate) struct RunDelay {
    schedstat: Option<Text>,
    is_open: bool,
    opened_ns: u64,
}

impl RunDelay {
    /// Of the calling thread. On a virtual clock a window takes no time that a thread could wait in.
    pub(crate) fn of_this_thread(clock: &Clock) -> Self {
        let schedstat = clock.runs_by_itself().then(|| Text::open("/proc/thread-self/schedstat")).flatten();
        Self { schedstat, is_open: false, opened_ns: 0 }
    }

    /// Takes the first reading once the window is open.
    #[inline]
    pub(crate) fn open_once(&mut self, now_ns: u64, window_open_ns: u64) {
        if !self.is_open && now_ns >= window_open_ns {
            self.is_open = true;
            // So that a later reading is below it and nothing is said, rather than all that the thread ever waited.
            self.opened_ns = self.read().unwrap_or(u64::MAX);
        }
    }

    /// What was added since the first reading; absent where the kernel does not say, or the window never opened.
    pub(crate) fn since_opened_ns(&mut self) -> Option<u64> {
        let now_ns = self.read().filter(|_| self.is_open)?;
        now_ns.checked_sub(self.opened_ns)
    }

    fn read(&mut self) -> Option<u64> {
        waited_ns(self.schedstat.as_mut()?.read()?)
    }
}

/// The second figure of `schedstat`: time on a processor, time runnable and waiting for one, turns.
fn waited_ns(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

#[derive(Debug)]
struct Counters {
    cpu_user_ns: u64,
    cpu_system_ns: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    minor_faults: u64,
    major_faults: u64,
    /// Processor, I/O, memory.
    psi_some_ns: [Option<u64>; 3],
    system: system::Reading,
}

impl Counters {
    /// What was added since `before`; the span and the processors are not known here.
    fn since(&self, before: &Self) -> Usage {
        let since = |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
        let psi_some_ns = |kind: usize| since(self.psi_some_ns[kind], before.psi_some_ns[kind]);
        Usage {
            cpu_user_ns: self.cpu_user_ns - before.cpu_user_ns,
            cpu_system_ns: self.cpu_system_ns - before.cpu_system_ns,
            wall_ns: 0,
            cores: 0,
            voluntary_switches: self.voluntary_switches - before.voluntary_switches,
            involuntary_switches: self.involuntary_switches - before.involuntary_switches,
            minor_faults: self.minor_faults - before.minor_faults,
            major_faults: self.major_faults - before.major_faults,
            steal_ns: since(self.system.steal_ns, before.system.steal_ns),
            psi_cpu_some_ns: psi_some_ns(0),
            psi_io_some_ns: psi_some_ns(1),
            psi_memory_some_ns: psi_some_ns(2),
            // Each thread knows its own.
            waited_ns: None,
        }
    }
}

/// Files that stay open between the two readings; each may be missing.
#[derive(Debug)]
struct Sources {
    pressure: [Option<Text>; 3],
    system: system::Sources,
}

impl Sources {
    fn open(watched: &Watched) -> Self {
        let pressure = ["cpu", "io", "memory"].map(|kind| Text::open(&format!("/proc/pressure/{kind}")));
        Self { pressure, system: system::Sources::open(watched) }
    }

    fn read(&mut self) -> Counters {
        // First, because it holds what is compared with the bytes asked in the window.
        let system = self.system.read();
        let usage = process_usage();
        let time_ns =
            |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * NS_PER_US;
        let some_ns = |source: &mut Option<Text>| some_total_ns(source.as_mut()?.read()?);
        Counters {
            cpu_user_ns: time_ns(usage.ru_utime),
            cpu_system_ns: time_ns(usage.ru_stime),
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            psi_some_ns: self.pressure.each_mut().map(some_ns),
            system,
        }
    }
}

/// Processor time of every thread of the process, the kernel's I/O workers on its behalf included.
fn process_usage() -> libc::rusage {
    // SAFETY: `rusage` is plain numbers, for which zero is a value; the call fills it.
    unsafe {
        let mut usage = std::mem::zeroed();
        // Of all threads: `io_uring` may do a read on a kernel thread that is charged to this process.
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    }
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
    fn pressure_is_read_from_the_kernels_lines() {
        let pressure = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 total=9\n";
        assert_eq!(some_total_ns(pressure), Some(1_234_000));
        assert_eq!(some_total_ns("garbage"), None);
    }

    #[test]
    fn a_threads_wait_is_the_second_figure() {
        assert_eq!(waited_ns("4400123 9000 12\n"), Some(9_000));
        assert_eq!((waited_ns("7"), waited_ns("")), (None, None));
    }

    #[test]
    fn a_wait_is_known_of_an_open_window_in_real_time() {
        let mut real = RunDelay::of_this_thread(&Clock::real());
        assert_eq!(real.since_opened_ns(), None, "the window is not open");
        real.open_once(9, 10);
        assert_eq!(real.since_opened_ns(), None, "the window is not open");
        real.open_once(10, 10);
        assert_eq!(real.since_opened_ns().is_some(), real.schedstat.is_some());
        let mut simulated = RunDelay::of_this_thread(&Clock::simulated());
        simulated.open_once(10, 10);
        assert_eq!(simulated.since_opened_ns(), None);
    }

    #[test]
    fn a_busy_process_uses_processor_time_between_the_readings() {
        let mut meter = Meter::new(2, &Clock::simulated(), &Watched::default());
        meter.open_once(5, 10);
        assert!(meter.opened.is_none(), "the window is not open yet");
        meter.open_once(10, 10);
        (0..30_000_000_u64).for_each(|i| {
            std::hint::black_box(i);
        });
        meter.close(20);
        let (usage, system) = meter.measured();
        assert!(usage.cpu_user_ns + usage.cpu_system_ns > 0);
        assert_eq!((usage.wall_ns, usage.cores), (10, 2));
        assert!(!system.core_busy_ns.is_empty() && system.memory_before.is_some());
        assert_eq!(system.device, None, "no device was named");
    }

    #[test]
    fn a_window_that_never_opened_measures_nothing() {
        let mut meter = Meter::new(2, &Clock::simulated(), &Watched::default());
        meter.close(20);
        assert_eq!(meter.measured(), (Usage { cores: 2, ..Usage::default() }, System::default()));
    }
}
