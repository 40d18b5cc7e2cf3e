//! What the GPUs of this machine did, as NVIDIA's management library (NVML) counts it. Nothing where there is no GPU or no library.

mod nvml;

use std::ffi::OsStr;
use std::sync::OnceLock;

use backend::Clock;
use record::Gpu;

use nvml::Nvml;

/// As the driver installs it.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// `NVML_FI_DEV_PCIE_COUNT_TX_BYTES` and `_RX_BYTES`: bytes that the GPU sent and received over PCIe.
// The counter that `nvmlDeviceGetPcieThroughput` looks at twice, 20 ms apart: it would hold whoever asks as long, and say nothing of the
// rest of a window.
const PCIE_BYTES: [u32; 2] = [197, 198];

/// Below this a counter may be one of 32 bits, which begins anew several times a second at the rate of a link.
const BEYOND_32_BITS: u64 = 1 << 32;

/// The GPUs of this machine from one look at them to the next. They are looked at outside the window: each takes some hundred
/// microseconds, and machines have eight.
#[derive(Debug)]
pub struct Gpus {
    clock: Clock,
    source: Option<GpuSource>,
    last: (u64, Vec<GpuReading>),
}

impl Gpus {
    /// The first look; at none where time is virtual.
    pub fn look(clock: &Clock) -> Self {
        let mut source = if clock.runs_by_itself() { GpuSource::open() } else { None };
        let readings = source.as_mut().map(GpuSource::read).unwrap_or_default();
        Self { clock: clock.clone(), source, last: (clock.now_ns(), readings) }
    }

    /// The next, and what each did since the one before.
    pub fn since(&mut self) -> Vec<Gpu> {
        let Some(source) = &mut self.source else { return Vec::new() };
        let (now_ns, after) = (self.clock.now_ns(), source.read());
        let (before_ns, before) = std::mem::replace(&mut self.last, (now_ns, after));
        source.between(&before, &self.last.1, now_ns.saturating_sub(before_ns))
    }
}

/// Where they are counted.
struct GpuSource {
    nvml: &'static Nvml,
    gpus: Vec<Watched>,
}

struct Watched {
    index: u32,
    name: String,
    device: nvml::Device,
    /// When the last sample was taken that was seen, in the library's time.
    seen_us: u64,
}

// SAFETY: NVML may be called by any thread, and its handles belong to the process.
unsafe impl Send for Watched {}

/// One GPU at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct GpuReading {
    /// Samples of how busy it was since the reading before, percent.
    busy_percent: Vec<u32>,
    sent_bytes: Option<u64>,
    received_bytes: Option<u64>,
}

impl GpuSource {
    /// `None` where there is none.
    fn open() -> Option<Self> {
        // Once: initialising the library takes tens of milliseconds where there are many GPUs.
        static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
        Self::of(NVML.get_or_init(|| Nvml::open(OsStr::new(LIBRARY))).as_ref()?)
    }

    fn of(nvml: &'static Nvml) -> Option<Self> {
        let watched = |(index, device)| {
            let name = nvml.name(device).unwrap_or_default();
            Watched { index, name, device, seen_us: 0 }
        };
        let gpus: Vec<Watched> = nvml.devices().into_iter().map(watched).collect();
        (!gpus.is_empty()).then_some(Self { nvml, gpus })
    }

    fn read(&mut self) -> Vec<GpuReading> {
        let nvml = self.nvml;
        let reading = |gpu: &mut Watched| {
            let samples = nvml.utilization(gpu.device, gpu.seen_us);
            gpu.seen_us = samples.iter().map(|(at_us, _)| *at_us).fold(gpu.seen_us, u64::max);
            let [sent_bytes, received_bytes] = nvml.counters(gpu.device, PCIE_BYTES);
            let busy_percent = samples.into_iter().map(|(_, percent)| percent).collect();
            GpuReading { busy_percent, sent_bytes, received_bytes }
        };
        self.gpus.iter_mut().map(reading).collect()
    }

    /// What each did from one reading to the next, `wall_ns` apart.
    fn between(&self, before: &[GpuReading], after: &[GpuReading], wall_ns: u64) -> Vec<Gpu> {
        let of = |(gpu, (before, after)): (&Watched, (&GpuReading, &GpuReading))| {
            after.since(before, gpu, wall_ns)
        };
        self.gpus.iter().zip(before.iter().zip(after)).map(of).collect()
    }
}

impl GpuReading {
    fn since(&self, before: &Self, gpu: &Watched, wall_ns: u64) -> Gpu {
        let bytes = |after: Option<u64>, before: Option<u64>| {
            let before = before.filter(|bytes| *bytes >= BEYOND_32_BITS)?;
            after?.checked_sub(before)
        };
        let samples = self.busy_percent.len() as u64;
        let sum: u64 = self.busy_percent.iter().map(|percent| u64::from(*percent)).sum();
        Gpu {
            index: gpu.index,
            name: gpu.name.clone(),
            busy_permille: (sum * 10).checked_div(samples).and_then(|permille| u32::try_from(permille).ok()),
            received_bytes: bytes(self.received_bytes, before.received_bytes),
            sent_bytes: bytes(self.sent_bytes, before.sent_bytes),
            wall_ns,
        }
    }
}

impl std::fmt::Debug for GpuSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.gpus.iter().map(|gpu| &gpu.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// A library of two GPUs: one that is half busy and moves 3 GB between readings; one that counts nothing.
    const PLAYED: &str = r#"
        use std::sync::atomic::{AtomicU64, Ordering};
        static TURN: AtomicU64 = AtomicU64::new(0);
        #[repr(C)] pub struct Sample { at_us: u64, value: u64 }
        #[repr(C)] pub struct Field { id: u32, scope: u32, at_us: i64, latency_us: i64, kind: i32, returned: i32, value: u64 }
        #[no_mangle] pub extern "C" fn nvmlInit_v2() -> i32 { 0 }
        #[no_mangle] pub extern "C" fn nvmlDeviceGetCount_v2(count: &mut u32) -> i32 { *count = 2; 0 }
        #[no_mangle] pub extern "C" fn nvmlDeviceGetHandleByIndex_v2(index: u32, device: &mut usize) -> i32 { *device = index as usize + 1; 0 }
        #[no_mangle] pub extern "C" fn nvmlDeviceGetName(_: usize, name: *mut u8, _: u32) -> i32 {
            unsafe { std::ptr::copy_nonoverlapping(b"Played\0".as_ptr(), name, 7) }; 0
        }
        #[no_mangle] pub extern "C" fn nvmlDeviceGetSamples(device: usize, _: i32, seen_us: u64, kind: &mut i32, count: &mut u32, samples: *mut Sample) -> i32 {
            if device == 2 { return 3; }
            *kind = 1;
            *count = 2;
            if !samples.is_null() {
                for (number, value) in [(0, 40), (1, 60)] {
                    unsafe { *samples.add(number) = Sample { at_us: seen_us + 1 + number as u64, value } };
                }
            }
            0
        }
        #[no_mangle] pub extern "C" fn nvmlDeviceGetFieldValues(device: usize, count: i32, fields: *mut Field) -> i32 {
            let turn = TURN.fetch_add(1, Ordering::SeqCst) / 2;
            for number in 0..count as usize {
                let field = unsafe { &mut *fields.add(number) };
                field.kind = if device == 2 { 1 } else { 3 };
                field.returned = 0;
                field.value = if field.id == 198 { 5_000_000_000 + 3_000_000_000 * turn } else { 1_000 * turn };
            }
            0
        }
    "#;

    fn played(folder: &Path) -> GpuSource {
        let (source, library) = (folder.join("played.rs"), folder.join("libplayed.so"));
        std::fs::write(&source, PLAYED).unwrap();
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let built = Command::new(compiler)
            .args(["--edition", "2021", "--crate-type", "cdylib", "-o"])
            .args([&library, &source])
            .status();
        assert!(built.unwrap().success());
        GpuSource::of(Box::leak(Box::new(Nvml::open(library.as_os_str()).unwrap()))).unwrap()
    }

    #[test]
    fn gpus_are_as_busy_as_their_samples_and_moved_what_their_counters_say() {
        let folder = tempfile::tempdir().unwrap();
        let mut source = played(folder.path());
        let before = source.read();
        let after = source.read();
        let gpus = source.between(&before, &after, 7);
        let plain = Gpu { name: "Played".to_owned(), wall_ns: 7, ..Gpu::default() };
        let first = Gpu { busy_permille: Some(500), received_bytes: Some(3_000_000_000), ..plain.clone() };
        // What it sent is below 32 bits, and may have begun anew; the other counts with 32 bits, and takes no samples.
        assert_eq!(gpus, [first, Gpu { index: 1, ..plain }]);
        assert_eq!(source.gpus[0].seen_us, 4, "no sample is seen twice");
    }

    #[test]
    fn a_machine_without_the_library_has_no_gpus() {
        assert!(Nvml::open(OsStr::new("libno-such-library.so.1")).is_none());
        // One that is there and is another.
        assert!(Nvml::open(OsStr::new("libc.so.6")).is_none());
    }
}
