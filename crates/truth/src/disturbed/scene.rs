//! What is measured of misbehaving storages, drawn from one number.

use crate::disturbed::script::Script;
use crate::draw::Draw;

/// Bytes of a block.
const BLOCK_BYTES: u64 = 1_024;

/// Samples of a step.
const BATCH: u32 = 8;

/// Utilization at which the line is drawn.
const UTILIZATION: f64 = 0.9;

/// How the storages are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A closed loop at given depths.
    Closed,
    /// A search for the depth.
    Auto,
    /// Arrivals at the line.
    Paced,
    /// A training job.
    Training,
}

/// How a run ends before its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Interruption {
    /// A signal comes as this operation begins.
    Signal {
        /// Number of the operation, from 1.
        operation: u64,
    },
    /// The process is killed, or its machine, as it records this repetition.
    Kill {
        /// How many were recorded.
        repetitions: u32,
        /// The share of its line that is on storage, 0 to 1.
        torn: f64,
    },
}

/// A run of misbehaving storages.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// What it was drawn from.
    pub seed: u64,
    /// How they are loaded.
    pub mode: Mode,
    /// The scenario.
    pub scenario: String,
    /// The storages, one for each target.
    pub scripts: Vec<Script>,
    /// Whether the bytes are known beforehand; else a second reading checks them.
    pub is_checked: bool,
    /// Whether failed operations are attempted again.
    pub retries: bool,
    /// When this process is stopped, on the run's clock.
    pub suspended_ns: Vec<u64>,
    /// How a second run of it is broken off, and gone on with.
    pub interruption: Option<Interruption>,
}

impl Scene {
    /// The scene of a number.
    pub fn of_seed(seed: u64) -> Self {
        let mut draw = Draw::new(seed ^ 0x5ce9e);
        let mode = draw.pick(&[Mode::Closed, Mode::Closed, Mode::Auto, Mode::Paced, Mode::Training]);
        let is_calm = draw.unit() < 0.2;
        let targets = draw.pick(&[1, 1, 2]);
        let script = |target: u64, draw: &mut Draw| match draw.pick(&[0, 1, 1, 2, 3]) {
            0 if target > 0 => Script::calm(seed, draw),
            _ if is_calm => Script::calm(seed, draw),
            troubles => Script::troubled(seed ^ target, troubles.max(1), draw),
        };
        let scripts: Vec<Script> = (0..targets).map(|target| script(target, &mut draw)).collect();
        let retries = draw.unit() < 0.4;
        let scenario = scenario(seed, mode, &scripts, retries, &mut draw);
        let suspended = if is_calm || draw.unit() < 0.85 { 0 } else { draw.pick(&[1, 2, 40]) };
        let interruption = match draw.pick(&[0, 1, 2]) {
            0 => None,
            1 => Some(Interruption::Signal { operation: draw.log_between(1.0, 3e4) as u64 }),
            _ => Some(Interruption::Kill {
                repetitions: draw.log_between(1.0, 24.0) as u32 - 1,
                torn: draw.unit(),
            }),
        };
        Self {
            seed,
            mode,
            scenario,
            scripts,
            is_checked: draw.unit() < 0.7,
            retries,
            suspended_ns: (0..suspended).map(|_| (draw.unit() * 2.5e9) as u64).collect(),
            interruption,
        }
    }

    /// Whether nothing goes wrong.
    pub fn is_calm(&self) -> bool {
        self.suspended_ns.is_empty() && self.scripts.iter().all(|script| script.troubles.is_empty())
    }
}

/// The scenario of targets that follow `scripts`.
fn scenario(seed: u64, mode: Mode, scripts: &[Script], retries: bool, draw: &mut Draw) -> String {
    let is_network = retries || draw.unit() < 0.5;
    let depths: &[u32] = draw.pick(&[&[4][..], &[2, 8], &[1, 4, 16]]);
    let readers = draw.pick(&[1, 2, 4]);
    let deepest = if mode == Mode::Training { readers } else { depths[depths.len() - 1] };
    let sample_bytes = draw.pick(&[1, 1, 3]) * BLOCK_BYTES;
    let reads = (sample_bytes / BLOCK_BYTES) as f64;
    let gives = f64::from(deepest.min(scripts[0].channels)) / (scripts[0].latency_ns as f64 / 1e9) / reads;
    let step_ns = f64::from(BATCH) / (draw.pick(&[0.4, 0.9, 1.5]) * gives / UTILIZATION) * 1e9;
    let duration = "duration = \"120ms\"";
    let window = draw.pick(&[duration, duration, "bytes = \"256 KiB\"", "epochs = 1"]);
    let has_time = mode != Mode::Training && window == duration;
    let samples = if has_time { draw.pick(&[256, 1 << 14, 1 << 14]) } else { 256 };
    let mut lines = vec![
        "version = 1".to_owned(),
        format!("title = \"scene {seed}\""),
        format!(
            "need = {{ batch = {BATCH}, step_time = \"{step_ns:.0}ns\", sample_size = \"{sample_bytes} B\", count = 1, \
             utilization = {UTILIZATION} }}"
        ),
        format!("[dataset]\nsamples = {samples}\nsample_size = \"{sample_bytes} B\""),
    ];
    lines.extend((0..scripts.len()).map(|target| target_lines(target, is_network, retries)));
    lines.extend(["[load]\nthreads = 1".to_owned(), format!("block_size = \"{BLOCK_BYTES} B\"")]);
    lines.push(format!("operation = \"{}\"", if draw.unit() < 0.3 { "read_file" } else { "read" }));
    lines.extend((!is_network && draw.unit() < 0.5).then(|| "cache = \"cold\"".to_owned()));
    lines.push(match mode {
        Mode::Closed => format!("queue_depth = {depths:?}"),
        Mode::Auto => "queue_depth = \"auto\"".to_owned(),
        Mode::Paced => "mode = \"paced\"".to_owned(),
        Mode::Training => {
            format!("mode = \"training\"\n[training]\nreaders = {readers}\nprefetch = 2\nsteps = 30")
        }
    });
    lines.push(format!("[measure]\nrepetitions = 3\nseed = {}", seed % 1_000));
    lines.extend((mode != Mode::Training).then(|| window.to_owned()));
    let (warmup_ms, budget_s) = (draw.pick(&[0, 20]), draw.pick(&[0, 0, 0, 1, 20]));
    lines.extend(has_time.then(|| format!("warmup = \"{warmup_ms}ms\"")));
    lines.extend((budget_s > 0 && has_time).then(|| format!("budget = \"{budget_s}s\"")));
    lines.join("\n") + "\n"
}

fn target_lines(target: usize, is_network: bool, retries: bool) -> String {
    if !is_network {
        return format!("[targets.t{target}]\nat = \"/storage/t{target}\"\nengine = \"io_uring\"");
    }
    let retries = if retries { 3 } else { 0 };
    format!(
        "[targets.t{target}]\nat = \"nfs://filer/export/t{target}\"\nconnections = 1\nretries = {retries}"
    )
}
