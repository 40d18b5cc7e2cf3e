//! A storage of known truth, a need and a load, drawn from one number and written as a scenario.

use std::ops::Div as _;

use crate::draw::Draw;
use crate::storage::{Change, Device, JITTER, Others};
use crate::truth::{Job, Pipe};

/// Needs by what the storage gives.
// None at 1.0: a storage that gives exactly the line is neither right nor wrong, and every word would count
// as luck. 0.9 and 1.1 are the nearest that a run of five repetitions should tell apart.
const NEEDS: [f64; 6] = [0.5, 0.8, 0.9, 1.1, 1.2, 2.0];

/// What kind of world it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Reads in a closed loop at some depths.
    Closed,
    /// Reads offered at the rate of the line.
    Paced,
    /// A training job.
    Training,
    /// A training job that streams shards.
    Shards,
    /// A training job whose readers decode.
    Decode,
    /// A training job whose accelerators wait for each other.
    Barrier,
    /// Samples of another size than the need's.
    Held,
    /// The client takes in no more than so many operations, and its ceiling is known.
    Client,
    /// Throughput moves by a straight line.
    Drift,
    /// Throughput changes at one time.
    Step,
    /// Throughput falls when credits are spent.
    Credits,
    /// Others use the storage too.
    Others,
    /// Reads fail.
    Errors,
    /// Many hosts are needed and one is measured.
    Hosts,
    /// The server keeps in memory what was read before.
    ServerCache,
}

/// Worlds in which nothing but noise moves the storage, and nothing keeps it from being judged.
const PLAIN: [Class; 7] =
    [Class::Closed, Class::Paced, Class::Training, Class::Shards, Class::Decode, Class::Barrier, Class::Held];

/// How worlds are loaded of whose class that is no part.
const LOADED_AS: [Class; 3] = [Class::Closed, Class::Paced, Class::Training];

impl Class {
    /// How often each is drawn.
    // By weight: plain loads are most of what users run, and a wrong FEEDS among them is what the bounds of
    // the table are for. Each special class still gets some sixty of 2,000 worlds.
    const DRAWN: [Self; 30] = [
        Self::Closed,
        Self::Closed,
        Self::Closed,
        Self::Closed,
        Self::Closed,
        Self::Paced,
        Self::Paced,
        Self::Paced,
        Self::Training,
        Self::Training,
        Self::Training,
        Self::Training,
        Self::Training,
        Self::Shards,
        Self::Shards,
        Self::Shards,
        Self::Decode,
        Self::Decode,
        Self::Barrier,
        Self::Held,
        Self::Held,
        Self::Client,
        Self::Client,
        Self::Drift,
        Self::Step,
        Self::Credits,
        Self::Others,
        Self::Errors,
        Self::Hosts,
        Self::ServerCache,
    ];

    /// What the table calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed loop",
            Self::Paced => "paced at the line",
            Self::Training => "training",
            Self::Shards => "training on shards",
            Self::Decode => "training with decoding",
            Self::Barrier => "training with a barrier",
            Self::Held => "samples of another size",
            Self::Client => "a limit of the client",
            Self::Drift => "drift",
            Self::Step => "one change",
            Self::Credits => "burst credits",
            Self::Others => "others read too",
            Self::Errors => "failed reads",
            Self::Hosts => "one host of many",
            Self::ServerCache => "cache of the server",
        }
    }

    /// Whether nothing but noise moves the storage, and nothing keeps it from being judged.
    pub fn is_plain(self) -> bool {
        PLAIN.contains(&self)
    }

    fn trains(self) -> bool {
        matches!(self, Self::Training | Self::Shards | Self::Decode | Self::Barrier)
    }
}

/// How the storage is loaded.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    /// A closed loop at each of these depths.
    Closed {
        /// Reads outstanding.
        depths: Vec<u32>,
        /// Whether they are searched from the shallowest on.
        auto: bool,
    },
    /// Arrivals at the line.
    Paced,
    /// A training job.
    Training {
        /// The job.
        job: Job,
    },
}

/// Reads that a paced load has outstanding at most.
// The default of the scenario. It is not written, so that the default itself is played.
pub(crate) const PACED_DEPTH: u32 = 64;

/// How much deeper the deeper one of the closed loops beside a job reads.
// As the scenario's own closed loops beside a job read: once as deep as its readers reach, and once deeper.
const BESIDE: u32 = 4;
/// How far the knee of a storage is from every depth that is tested, in doublings.
// 0.45 doublings are a factor of 1.37. Nearer to the knee latency and rate bind by turns, and the smaller
// of the two is more than the storage gives.
const FAR: f64 = 0.45;
/// How far beyond the knee a search for the depth goes.
// The search stops when the gain is small, which it is a few doublings beyond the knee; windows for depths
// that are never tried would only take time.
const SEARCHED: f64 = 8.0;
/// What a window holds at least: turns of the deepest queue, reads, seconds, and steps of a job.
// A window holds whole turns of the queue and a part of one: with 30 of them that part is at most 3 %.
const TURNS: f64 = 30.0;
// Jitter of 20 % by read is below 1 % in the mean of 400.
const READS_MIN: f64 = 400.0;
const SECONDS_MIN: f64 = 0.12;
// The first fill counts in the window; of fewer steps it is most of what is measured.
const STEPS_MIN: u32 = 30;

/// What stays of a need where the samples that are read are not of its own size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Bytes of the need's own sample.
    pub need_bytes: u64,
    /// Whether bytes per second stay, and not samples per second.
    pub bytes: bool,
}

/// One world.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "settings that are independent of each other")]
pub struct World {
    /// What it was drawn from.
    pub seed: u64,
    /// Its kind.
    pub class: Class,
    /// The storage.
    pub device: Device,
    /// The load.
    pub load: Load,
    /// The line by what the storage gives to the load, before it changes.
    pub need: f64,
    /// Accelerators of a host.
    pub accelerators: u32,
    /// Hosts that are needed; one is measured.
    pub hosts: u32,
    /// Samples of a step.
    pub batch: u32,
    /// Time that a step computes.
    pub step_ns: u64,
    /// Whether the need is written as a rate of bytes, which names no accelerators.
    pub states_rate: bool,
    /// Utilization at which the line is drawn.
    pub utilization: f64,
    /// Bytes of a sample.
    pub sample_bytes: u64,
    /// What the need says of samples of another size, where they are.
    pub held: Option<Held>,
    /// Samples of the dataset.
    pub samples: u64,
    /// Whether samples lie in shards that are streamed.
    pub shards: bool,
    /// Shards that are read side by side; as many as are outstanding, at most 16, where it is not written.
    pub streams: Option<u32>,
    /// Whether samples are read as whole files.
    pub whole_files: bool,
    /// Whether samples are written over, and the need is one of writes, or of both.
    pub writes: bool,
    /// What of them is read instead, where the need is of reads and writes at once.
    pub mix: Option<Mixed>,
    /// Whether the client's page cache is emptied instead of bypassed.
    pub cold: bool,
    /// Whether the storage is behind a network.
    pub network: bool,
    /// Memory of the server as the scenario states it, bytes.
    pub server_memory_bytes: Option<u64>,
    /// Before the window.
    pub warmup_ns: u64,
    /// The window.
    pub window_ns: u64,
}

/// What a shard of the layout `webdataset` stores for a sample: a header and the sample, filled up to blocks of 512 B.
fn stored_bytes(sample_bytes: u64) -> u64 {
    512 + sample_bytes.next_multiple_of(512)
}

/// Bytes of one read of a shard.
const SHARD_BLOCK_BYTES: u64 = 65_536;

/// Samples of a shard.
const SHARD_SAMPLES: u64 = 512;

/// A load of reads and writes at once, and what of it the need asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixed {
    /// Share of the operations that write, percent.
    pub write_percent: u8,
    /// Share of the reads at the line that the need asks for, 0 to 1; one of both is 1.
    pub reads: f64,
    /// Share of the writes.
    pub writes: f64,
}

impl Mixed {
    fn write_share(self) -> f64 {
        f64::from(self.write_percent) / 100.0
    }

    /// How many times as long as a read an operation takes, where a write takes `write_cost` times as long.
    fn mean_cost(self, write_cost: f64) -> f64 {
        1.0 + self.write_share() * (write_cost - 1.0)
    }

    /// Whether the load is as the need has it.
    fn is_own(self) -> bool {
        (self.reads - self.writes).abs() < 1e-9
    }

    /// The need whose line this load of `bps` bytes per second just reaches.
    fn need(self, bps: f64) -> String {
        let (read, written) = (bps * (1.0 - self.write_share()), bps * self.write_share());
        format!("rate = \"{:.0} B/s\", write_rate = \"{:.0} B/s\"", read * self.reads, written * self.writes)
    }
}

impl World {
    /// The world of a number.
    pub fn of_seed(seed: u64) -> Self {
        let mut draw = Draw::new(seed);
        let class = draw.pick(&Class::DRAWN);
        // Noise and a change at once would leave no word that is surely right.
        let is_noisy = class.is_plain() && draw.unit() < 0.5;
        let noise = if is_noisy { draw.between(0.02, 0.10) } else { draw.between(0.0, 0.02) };
        Self::drawn(seed, class, noise, &mut draw)
    }

    /// A world of a class whose repetitions differ by `noise`, the rest of it drawn.
    pub fn of_class(seed: u64, class: Class, noise: f64) -> Self {
        Self::drawn(seed, class, noise, &mut Draw::new(seed))
    }

    fn drawn(seed: u64, class: Class, noise: f64, draw: &mut Draw) -> Self {
        let sample_bytes = draw.pick(&[16_384, 32_768, 65_536]);
        let loaded_as = match class {
            // These classes change the question and not the load, so that each load meets them.
            Class::Hosts | Class::Held => draw.pick(&LOADED_AS),
            _ => class,
        };
        let trains = loaded_as.trains();
        let load = match loaded_as {
            _ if trains => Load::Training { job: drawn_job(draw) },
            Class::Paced => Load::Paced,
            _ => drawn_depths(draw),
        };
        let shards = match class {
            Class::Shards => true,
            Class::Decode => draw.unit() < 0.3,
            _ => !trains && class != Class::ServerCache && draw.unit() < 0.3,
        };
        let network = class == Class::ServerCache || draw.unit() < 0.3;
        let mut world = Self {
            seed,
            class,
            device: Device::IDEAL,
            load,
            need: draw.pick(&NEEDS),
            accelerators: draw.pick(&[1, 2, 4, 8]),
            hosts: if class == Class::Hosts { draw.pick(&[2, 8, 64, 512]) } else { 1 },
            batch: draw.pick(&[8, 32, 128]),
            step_ns: 1,
            // A job that may not wait for its first batch is fed by nothing.
            utilization: draw.pick(if trains { &[0.9, 0.7] } else { &[0.9, 0.7, 1.0] }),
            states_rate: !trains && !matches!(class, Class::Hosts | Class::Held) && draw.unit() < 0.2,
            sample_bytes,
            held: None,
            // More than a run reads as a rule: no sample comes twice, and no cache can matter by accident.
            samples: 1 << 20,
            shards,
            streams: (shards && !trains && draw.unit() < 0.5).then_some(8),
            whole_files: !shards && draw.unit() < 0.3,
            writes: false,
            mix: None,
            // NFS in user space has no page cache of this machine to be cold.
            cold: !network && draw.unit() < 0.3,
            network,
            server_memory_bytes: None,
            warmup_ns: 0,
            window_ns: 0,
        };
        if class == Class::Held {
            // Bytes of samples in shards cannot be held, and a job takes batches of whole samples.
            let bytes = !shards && !trains && draw.unit() < 0.5;
            world.held = Some(Held { need_bytes: draw.pick(&[sample_bytes / 4, 3 * sample_bytes]), bytes });
        }
        world.take_device(noise, draw);
        world.take_time();
        world.take_job(draw);
        world.take_need();
        world.take_change(draw);
        // Drawn last, so that what was drawn before there were writes stays as it is.
        let may_write = world.states_rate && !world.shards && class != Class::ServerCache;
        world.writes = may_write && draw.unit() < 0.5;
        if world.writes {
            (world.whole_files, world.cold) = (false, false);
            world.take_mix(draw);
        }
        world
    }

    /// Reads and writes at once in half of the worlds that write. What both together come to stays what it was.
    fn take_mix(&mut self, draw: &mut Draw) {
        if draw.unit() < 0.5 {
            return;
        }
        let write_percent = draw.pick(&[5, 30, 60, 95]);
        // Of a load that is not the need's own mix one of both has to bring less than its part.
        let (reads, writes) = draw.pick(&[(1.0, 1.0), (1.0, 0.4), (0.4, 1.0)]);
        let mix = Mixed { write_percent, reads, writes };
        self.device.write_cost = draw.pick(&[1.0, 3.0]);
        self.device.rate_bps *= mix.mean_cost(self.device.write_cost);
        self.mix = Some(mix);
    }

    /// A storage whose knee, where latency and rate bind alike, is at no depth that is tested: there the arithmetic is
    /// coarse.
    fn take_device(&mut self, noise: f64, draw: &mut Draw) {
        let depths = match &self.load {
            Load::Closed { depths, .. } => depths.clone(),
            Load::Paced => vec![PACED_DEPTH],
            Load::Training { job } => vec![job.concurrency(), BESIDE * job.concurrency()],
        };
        let far = |knee: &f64| depths.iter().all(|depth| libm::log2(knee / f64::from(*depth)).abs() > FAR);
        let mut drawn = (0..64).map(|_| if draw.unit() < 0.2 { 0.2 } else { draw.log_between(4.0, 128.0) });
        let knee = drawn.find(far).unwrap_or(0.2);
        // From a disk array behind a network to one NVMe drive; in the logarithm, or nearly all worlds
        // would be fast.
        let ops_per_s = draw.log_between(1e3, 2e4);
        self.device = Device {
            rate_bps: ops_per_s * self.mean_read_bytes(),
            latency_ns: knee / ops_per_s * 1e9,
            noise,
            ..Device::IDEAL
        };
        if self.class == Class::Errors {
            // Below, above and far above the share from which no verdict is given.
            self.device.errors = draw.pick(&[5e-4, 0.03, 0.10]);
        }
        if self.class == Class::Client {
            // The client is the limit, is near it, and is out of the question.
            let times = draw.pick(&[0.5, 1.3, 4.0]);
            self.device.client_ops_per_s = times * self.pipe().at_depth(self.deepest());
        }
        if self.class == Class::Others {
            let repetitions = draw.pick(&[0.2, 0.5, 1.0]);
            self.device.others = Some(Others { repetitions, share: draw.between(0.2, 0.5) });
        }
    }

    /// A read at the deepest queue, that of the closed loops beside a job included.
    fn turn_s(&self) -> f64 {
        let pipe = self.pipe();
        let beside = if matches!(self.load, Load::Training { .. }) { BESIDE } else { 1 };
        let mut deepest = f64::from(beside * self.deepest());
        if matches!(self.load, Load::Closed { auto: true, .. }) {
            deepest = deepest.min(SEARCHED * (pipe.latency_s * pipe.ops_per_s).max(1.0));
        }
        pipe.latency_s.max(deepest / pipe.ops_per_s)
    }

    fn take_time(&mut self) {
        let turn_s = self.turn_s();
        let reads_s = READS_MIN / self.pipe().at_depth(self.deepest());
        let window_s = (TURNS * turn_s).max(reads_s).max(SECONDS_MIN);
        (self.warmup_ns, self.window_ns) = ((4e9 * turn_s) as u64 + 1, (window_s * 1e9) as u64);
    }

    /// What the job reads and decodes, by what the storage gives.
    fn take_job(&mut self, draw: &mut Draw) {
        let (gives, class) = (self.gives(), self.class);
        let samples_per_read = self.mean_read_bytes() / self.stored_bytes() as f64;
        let Load::Training { job } = &mut self.load else { return };
        job.samples_per_read = samples_per_read;
        job.barrier = class == Class::Barrier;
        if class == Class::Decode {
            let by_storage = draw.pick(&[0.2, 1.0, 3.0]);
            let each_ns = by_storage * f64::from(job.concurrency()) / gives * 1e9;
            job.decode_s = each_ns.ceil() / 1e9;
        }
    }

    /// The step time that makes the need of what the storage gives.
    // The need follows from the truth and not the other way round: the line then lies at an exact share of
    // what the storage gives, whatever was drawn.
    fn take_need(&mut self) {
        let demand = self.need * self.gives() / self.utilization / self.own_samples_of_one();
        if let Load::Training { job } = &self.load {
            (self.accelerators, self.batch) = (job.accelerators, job.batch);
        }
        let per_step = f64::from(self.accelerators * self.batch);
        self.step_ns = (per_step / demand * 1e9).round().max(1.0) as u64;
        let compute_s = self.step_ns as f64 / 1e9;
        let turn_s = self.turn_s();
        if let Load::Training { job } = &mut self.load {
            job.compute_s = compute_s;
            job.steps =
                (TURNS * turn_s).max(SECONDS_MIN).div(compute_s).max(f64::from(STEPS_MIN)).ceil() as u32;
        }
    }

    fn take_change(&mut self, draw: &mut Draw) {
        let run_ns = self.planned_run_ns();
        let crosses = draw.unit() < 0.6;
        // Behind the change the storage gives a share of the line that is clearly on one side of it.
        // Behind a change to 1.05 of the line no run could say on which side it is.
        let beside = draw.between(1.15, 1.5);
        let above = self.need < 1.0;
        let of_line = if above == crosses { 1.0 / beside } else { beside };
        let to = of_line * self.need;
        let at_ns = (run_ns * draw.between(0.3, 0.7)) as u64;
        match self.class {
            Class::Drift => self.device.change = Change::Linear { to, at_ns: run_ns as u64 },
            Class::Step => self.device.change = Change::Step { to, at_ns },
            Class::Credits => {
                // Credits that are spent never make a storage faster.
                let to = to.min(0.9);
                let bps = self.gives() * self.stored_bytes() as f64;
                let bytes = (bps * run_ns / 1e9 * draw.between(0.2, 0.5)) as u64;
                self.device.change = Change::Credits { to, bytes };
            }
            Class::ServerCache if crosses => {
                self.device.cached = 3.0;
                // So few that a run reads them over and over, and the server's cache serves most of it.
                self.samples = 1 << 12;
            }
            Class::ServerCache => {
                self.device.cached = 3.0;
                self.server_memory_bytes = Some(1 << 30);
            }
            _ => {}
        }
    }

    /// Five rounds of every cell and of one more, nanoseconds.
    fn planned_run_ns(&self) -> f64 {
        let cells = match &self.load {
            Load::Closed { depths, .. } => depths.len(),
            Load::Paced => 1,
            Load::Training { .. } => 3,
        };
        // An estimate: fresh rounds come on top. A change has to fall into the run, and where in it does
        // not matter.
        5.0 * (cells + 1) as f64 * (self.window_ns + self.warmup_ns) as f64
    }

    /// Bytes that are read for a sample.
    pub fn stored_bytes(&self) -> u64 {
        if self.shards { stored_bytes(self.sample_bytes) } else { self.sample_bytes }
    }

    /// Bytes of one read.
    fn read_bytes(&self) -> u64 {
        if self.shards { SHARD_BLOCK_BYTES } else { self.sample_bytes }
    }

    /// Mean bytes of one read: a shard's last is short.
    fn mean_read_bytes(&self) -> f64 {
        if !self.shards {
            return self.sample_bytes as f64;
        }
        let shard = SHARD_SAMPLES * self.stored_bytes() + 1024;
        shard as f64 / shard.div_ceil(SHARD_BLOCK_BYTES) as f64
    }

    /// The storage as reads see it through the client.
    pub fn pipe(&self) -> Pipe {
        let storage = self.storage();
        Pipe { ops_per_s: storage.ops_per_s.min(self.device.client_ops_per_s), ..storage }
    }

    /// The storage alone.
    pub fn storage(&self) -> Pipe {
        Pipe {
            ops_per_s: self.device.rate_bps / self.mean_cost() / self.mean_read_bytes(),
            latency_s: self.device.latency_ns / 1e9,
            jitter: JITTER,
            noise: self.device.noise,
        }
    }

    /// How many times as long as a read an operation takes in the pipe.
    fn mean_cost(&self) -> f64 {
        self.mix.map_or(1.0, |mix| mix.mean_cost(self.device.write_cost))
    }

    /// Most reads outstanding.
    pub fn deepest(&self) -> u32 {
        match &self.load {
            Load::Closed { depths, .. } => depths.iter().copied().max().unwrap_or(1),
            Load::Paced => PACED_DEPTH,
            Load::Training { job } => job.concurrency(),
        }
    }

    /// Samples per second that the storage gives with so many reads outstanding, before it changes.
    pub fn at_depth(&self, depth: u32) -> f64 {
        self.pipe().at_depth(depth) * self.mean_read_bytes() / self.stored_bytes() as f64
            // A failed read brings nothing and takes its place in the pipe.
            * (1.0 - self.device.errors)
    }

    /// Samples per second that the storage gives to the load at most.
    pub fn gives(&self) -> f64 {
        self.at_depth(self.deepest())
    }

    /// Samples per second of the line, of one host.
    pub fn line(&self) -> f64 {
        let demand = f64::from(self.accelerators * self.batch) / (self.step_ns as f64 / 1e9);
        demand * self.utilization * self.own_samples_of_one()
    }

    /// Samples as they are read that one of the need's own stands for.
    fn own_samples_of_one(&self) -> f64 {
        self.held
            .filter(|held| held.bytes)
            .map_or(1.0, |held| held.need_bytes as f64 / self.sample_bytes as f64)
    }

    /// The scenario.
    pub fn scenario(&self) -> String {
        let Self { sample_bytes, samples, .. } = self;
        let mut lines = vec![
            "version = 1".to_owned(),
            format!("title = \"world {}\"", self.seed),
            self.need_line(),
            format!("[dataset]\nsamples = {samples}\nsample_size = \"{sample_bytes} B\""),
        ];
        if self.shards {
            let shard_bytes = SHARD_SAMPLES * self.stored_bytes() + 1024;
            lines.push(format!("layout = \"webdataset\"\nmembers = 1\nshard_size = \"{shard_bytes} B\""));
        }
        lines.push("[targets.storage]".to_owned());
        lines.extend(if self.network {
            vec!["at = \"nfs://filer/export/bench\"".to_owned(), "connections = 1".to_owned()]
        } else {
            vec!["at = \"/storage\"".to_owned(), "engine = \"io_uring\"".to_owned()]
        });
        lines.extend(self.server_memory_bytes.map(|bytes| format!("server_memory = \"{bytes} B\"")));
        lines.extend(self.load_lines());
        // The scenario takes seeds of a bounded size; a million are more than a reader can keep apart
        // anyway.
        lines.push(format!("repetitions = 5\nseed = {}", self.seed % 1_000_000));
        lines.join("\n") + "\n"
    }

    fn need_line(&self) -> String {
        let Self { batch, step_ns, sample_bytes, hosts, utilization, .. } = self;
        let demand = if self.states_rate {
            let bps = self.line() / utilization * self.stored_bytes() as f64;
            match self.mix {
                Some(mix) => mix.need(bps),
                None if self.writes => format!("write_rate = \"{bps:.0} B/s\""),
                None => format!("rate = \"{bps:.0} B/s\""),
            }
        } else {
            let count = self.accelerators * hosts;
            let need_bytes = self.held.map_or(*sample_bytes, |held| held.need_bytes);
            let hold = |held: Held| format!(", hold = \"{}\"", if held.bytes { "bytes" } else { "samples" });
            format!(
                "batch = {batch}, step_time = \"{step_ns}ns\", sample_size = \"{need_bytes} B\", \
                 count = {count}, hosts = {hosts}{}",
                self.held.map(hold).unwrap_or_default()
            )
        };
        format!("need = {{ {demand}, utilization = {utilization:?} }}")
    }

    /// The load, and what ends its repetitions.
    fn load_lines(&self) -> Vec<String> {
        let mut lines = vec!["[load]".to_owned(), "threads = 1".to_owned()];
        lines.push(format!("block_size = \"{} B\"", self.read_bytes()));
        lines.extend(self.streams.map(|streams| format!("streams = {streams}")));
        // What is done where the need is of writes is the default.
        let operation = if self.whole_files { "read_file" } else { "read" };
        lines.extend((!self.writes).then(|| format!("operation = \"{operation}\"")));
        let share = |mix: Mixed| format!("mix = {{ write = \"{} %\" }}", mix.write_percent);
        lines.extend(self.mix.filter(|mix| !mix.is_own()).map(share));
        lines.extend(self.cold.then(|| "cache = \"cold\"".to_owned()));
        let window =
            format!("[measure]\nwarmup = \"{}ns\"\nduration = \"{}ns\"", self.warmup_ns, self.window_ns);
        match &self.load {
            Load::Closed { depths, auto } => {
                lines.push(if *auto {
                    "queue_depth = \"auto\"".to_owned()
                } else {
                    format!("queue_depth = {depths:?}")
                });
                // Waiting for several at once makes a queue shallower than it is called.
                lines.extend((!self.network).then(|| "complete_batch = 1".to_owned()));
                lines.push(window);
            }
            Load::Paced => lines.extend(["mode = \"paced\"".to_owned(), window]),
            Load::Training { job } => {
                lines.push("mode = \"training\"".to_owned());
                lines.push(format!(
                    "[training]\nreaders = {}\nprefetch = {}\nsteps = {}",
                    job.readers, job.prefetch, job.steps
                ));
                lines.extend(job.barrier.then(|| "barrier = true".to_owned()));
                let decode_ns = (job.decode_s * 1e9).round() as u64;
                lines.extend((decode_ns > 0).then(|| format!("decode = {{ cost = \"{decode_ns}ns\" }}")));
                lines.push("[measure]".to_owned());
            }
        }
        lines
    }
}

fn drawn_depths(draw: &mut Draw) -> Load {
    let depths = match draw.pick(&[0, 1, 2, 3, 4, 5]) {
        0 => vec![8],
        1 => vec![4, 16],
        2 => vec![2, 8, 32],
        3 => vec![1, 4, 16],
        4 => vec![2, 4, 8, 16],
        _ => return Load::Closed { depths: (0..10).map(|doublings| 1 << doublings).collect(), auto: true },
    };
    Load::Closed { depths, auto: false }
}

fn drawn_job(draw: &mut Draw) -> Job {
    Job {
        accelerators: draw.pick(&[1, 2, 4]),
        readers: draw.pick(&[1, 2, 4, 8]),
        prefetch: draw.pick(&[0, 1, 2, 4, 8]),
        batch: draw.pick(&[4, 8]),
        compute_s: 0.0,
        steps: 1,
        samples_per_read: 1.0,
        decode_s: 0.0,
        barrier: false,
    }
}
