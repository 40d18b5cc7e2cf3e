//! What a run and the machine below it do, second by second, on standard error: the figures of iostat, dstat and free.
//!
//! A row in which a target is come to has what was measured before it too, and `>` before its name.
//!
//! By a thread of its own, from counters that workers and the kernel keep anyway. The record has the same counters for each
//! repetition, watched or not.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use backend::{Clock, SharedStore};
use engine::{Gpus, Live, Progress as Counters};
use record::{Gpu, System};

use crate::output;

/// Time of a row.
const EACH: Duration = Duration::from_secs(1);

/// Rows after which the names of the columns are said again.
const PAGE: u64 = 20;

const NAMES: &str = "    s  target          MB/s    ops/s |     r/s   rMB/s   r ms |     w/s   wMB/s   w ms | in MB/s  out MB/s | cores  free GB";

/// Where the machine has any.
const GPU_NAMES: &str = " | gpu % in MB/s  out MB/s";

/// Rows that are printed until they are ended; by default none.
#[derive(Clone, Default)]
pub(crate) struct Watch {
    target: Arc<AtomicUsize>,
    running: Arc<Mutex<Option<Running>>>,
}

struct Running {
    ends: Sender<()>,
    thread: JoinHandle<()>,
}

impl Watch {
    /// Begins to print what the targets of these names do, of which the first is measured first.
    ///
    /// # Errors
    /// Where no thread can be had.
    pub(crate) fn begin(
        &self,
        targets: Vec<(String, SharedStore)>,
        counters: &Arc<Counters>,
    ) -> io::Result<()> {
        let (ends, is_over) = channel();
        let (counters, target) = (Arc::clone(counters), Arc::clone(&self.target));
        let thread = thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || print(&targets, &counters, &target, &is_over))?;
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(Running { ends, thread });
        Ok(())
    }

    /// Goes on with another target, by its index.
    pub(crate) fn target(&self, index: usize) {
        self.target.store(index, Ordering::Relaxed);
    }

    /// Prints the last row, of what is left of its second.
    pub(crate) fn end(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Running { ends, thread }) = running else { return };
        drop(ends);
        let _ = thread.join();
    }
}

fn print(
    targets: &[(String, SharedStore)],
    counters: &Counters,
    target: &AtomicUsize,
    is_over: &Receiver<()>,
) {
    let mut machines: Vec<Live> = targets.iter().map(|(_, store)| Live::of(store)).collect();
    let clock = Clock::real();
    let mut gpus = Gpus::look(&clock);
    let (mut last_ns, mut before, mut measured) = (clock.now_ns(), counters.get(), 0);
    let began_ns = last_ns;
    for row in 0.. {
        let is_last = is_over.recv_timeout(EACH) != Err(RecvTimeoutError::Timeout);
        let now_ns = clock.now_ns();
        let took_ns = now_ns.saturating_sub(last_ns).max(1);
        // All of them, so that the next row of another target is of one second too.
        let looks: Vec<System> = machines.iter_mut().map(|machine| machine.look(took_ns)).collect();
        let used = gpus.since();
        let after = counters.get();
        let per_s = |after: u64, before: u64| after.saturating_sub(before) as f64 * 1e9 / took_ns as f64;
        let moved = Moved {
            wall_ns: took_ns,
            bytes_per_s: per_s(after.1, before.1),
            ops_per_s: per_s(after.0, before.0),
        };
        (last_ns, before) = (now_ns, after);
        let index = target.load(Ordering::Relaxed).min(targets.len().saturating_sub(1));
        // Of the one that was measured before as well.
        let came = if index == measured { "" } else { ">" };
        measured = index;
        if row % PAGE == 0 {
            output::say(&format!("{NAMES}{}", if used.is_empty() { "" } else { GPU_NAMES }));
        }
        if let (Some((name, _)), Some(look)) = (targets.get(index), looks.get(index)) {
            let row = words((now_ns - began_ns) / 1_000_000_000, &format!("{came}{name}"), moved, look);
            output::say(&(row + &gpu_words(&used)));
        }
        if is_last {
            break;
        }
    }
}

/// What the run moved.
#[derive(Clone, Copy)]
struct Moved {
    /// Time in which it did, nanoseconds.
    wall_ns: u64,
    bytes_per_s: f64,
    ops_per_s: f64,
}

/// One row below [`NAMES`]; `-` where the kernel says nothing.
fn words(second: u64, target: &str, moved: Moved, system: &System) -> String {
    let (device, network) = (system.device.as_ref(), system.network.as_ref());
    let of_device = |of: fn(&record::Device) -> (u64, u64, u64)| -> [String; 3] {
        let Some(device) = device else { return ["-", "-", "-"].map(str::to_owned) };
        let (count, bytes, ns) = of(device);
        let per_s = |amount: u64| amount as f64 * 1e9 / device.wall_ns as f64;
        let each_ms = if count > 0 { figure(ns as f64 / 1e6 / count as f64) } else { "-".to_owned() };
        [figure(per_s(count)), figure(per_s(bytes) / 1e6), each_ms]
    };
    let [reads, read, read_ms] = of_device(|device| (device.reads, device.read_bytes, device.read_ns));
    let [writes, written, write_ms] =
        of_device(|device| (device.writes, device.write_bytes, device.write_ns));
    let [received, sent] = network.map_or_else(
        || ["-", "-"].map(str::to_owned),
        |network| {
            [network.received_bytes, network.sent_bytes]
                .map(|bytes| figure(bytes as f64 * 1e3 / network.wall_ns as f64))
        },
    );
    let busy_ns: u64 = system.core_busy_ns.iter().sum();
    let cores = || figure(busy_ns as f64 / moved.wall_ns as f64);
    let cores = if system.core_busy_ns.is_empty() { "-".to_owned() } else { cores() };
    let free = system
        .memory_after
        .map_or_else(|| "-".to_owned(), |memory| figure(memory.available_bytes as f64 / 1e9));
    let [moved_mb, ops] = [moved.bytes_per_s / 1e6, moved.ops_per_s].map(figure);
    format!(
        "{second:>5}  {target:<12.12} {moved_mb:>7} {ops:>8} | {reads:>7} {read:>7} {read_ms:>6} | {writes:>7} {written:>7} {write_ms:>6} | \
         {received:>7} {sent:>9} | {cores:>5} {free:>8}"
    )
}

/// Behind a row: the busiest of the GPUs, and what all of them moved over PCIe. Empty where there are none.
fn gpu_words(gpus: &[Gpu]) -> String {
    if gpus.is_empty() {
        return String::new();
    }
    let busy = gpus.iter().filter_map(|gpu| gpu.busy_permille).max();
    let busy = busy.map_or_else(|| "-".to_owned(), |permille| figure(f64::from(permille) / 10.0));
    let moved = |of: fn(&Gpu) -> Option<u64>| {
        let per_s: Option<f64> =
            gpus.iter().map(|gpu| Some(of(gpu)? as f64 * 1e3 / gpu.wall_ns.max(1) as f64)).sum();
        per_s.map_or_else(|| "-".to_owned(), figure)
    };
    let [received, sent] = [moved(|gpu| gpu.received_bytes), moved(|gpu| gpu.sent_bytes)];
    format!(" | {busy:>5} {received:>7} {sent:>9}")
}

/// Three digits, more or less.
fn figure(value: f64) -> String {
    match value {
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use record::{Device, Memory, Network};

    use super::*;

    #[test]
    fn a_row_has_its_figures_below_their_names() {
        let device = Device {
            name: "vda".to_owned(),
            reads: 2_000,
            read_bytes: 1_000_000_000,
            read_ns: 3_000_000_000,
            wall_ns: 2_000_000_000,
            ..Device::default()
        };
        let network = Network {
            interface: "eth0".to_owned(),
            received_bytes: 250_000_000,
            sent_bytes: 1_000_000,
            wall_ns: 2_000_000_000,
            ..Network::default()
        };
        let memory = Memory { available_bytes: 25_300_000_000, ..Memory::default() };
        let system = System {
            device: Some(device),
            network: Some(network),
            core_busy_ns: vec![2_000_000_000, 600_000_000],
            memory_after: Some(memory),
            ..System::default()
        };
        let moved = Moved { wall_ns: 2_000_000_000, bytes_per_s: 5.02e8, ops_per_s: 1_004.0 };
        let row = words(7, "disk", moved, &system);
        let columns = |text: &str| text.split('|').map(str::len).collect::<Vec<_>>();
        assert_eq!(columns(&row), columns(NAMES), "{row}");
        let figures: Vec<&str> = row.split_whitespace().filter(|word| *word != "|").collect();
        assert_eq!(
            figures,
            [
                "7", "disk", "502", "1004", "1000", "500", "1.50", "0.00", "0.00", "-", "125", "0.50",
                "1.30", "25.3"
            ]
        );
        let gpu = |busy_permille, received_bytes| Gpu {
            busy_permille,
            received_bytes,
            sent_bytes: Some(5_000_000),
            wall_ns: 1_000_000_000,
            ..Gpu::default()
        };
        let gpus = [gpu(Some(617), Some(3_000_000_000)), gpu(None, None)];
        let row = words(7, "disk", moved, &system) + &gpu_words(&gpus);
        assert_eq!(columns(&row), columns(&format!("{NAMES}{GPU_NAMES}")), "{row}");
        assert!(row.ends_with("|  61.7       -      10.0"), "{row}");
        let unknown = words(8, "bucket", moved, &System::default());
        assert_eq!(unknown.split_whitespace().filter(|word| *word == "-").count(), 10, "{unknown}");
    }
}
