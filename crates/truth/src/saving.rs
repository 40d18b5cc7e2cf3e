//! Saves of known truth: a storage that writes at a rate that is known, played from the scenario to the verdict.
//!
//! A [`SavingWorld`] is a need of checkpoints alone. How long a save takes follows from its bytes, the rate of the storage and the
//! time in which it makes them durable; how long a restore takes from the rate of its reads.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use analysis::{CheckpointPart, CheckpointVerdict};
use backend::scripted::{Scripted, Writing};
use backend::{Clock, SharedStore};
use dataset::{Key, Marker, Objects};
use describe::Datasets;
use engine::{Bench, CellSetup, Destination, Progress};
use feed::Judgement;
use plan::{Cell, Checkpoint, Plan};
use record::{End, Line};

use crate::draw::Draw;
use crate::judge::is_wrong;
use crate::play;
use crate::storage::{Device, Model};

/// Times that a save may take, by what it does.
// As in the other worlds none lies at 1: a storage that takes exactly the time is neither right nor wrong.
const NEEDS: [f64; 6] = [0.5, 0.9, 0.97, 1.03, 1.1, 2.0];
/// How far from the truth a time has to be for a word to be asked for, with the noise of these worlds.
const DECIDABLE: f64 = 0.05;
/// What the time of a restore may come to by the latency of single reads and whole blocks.
const COUNTING: f64 = 0.01;
/// Bytes of a save, and of each call that writes.
const BYTES: u64 = 2 << 20;
const BLOCK_BYTES: u64 = 1 << 18;
/// How many times as long a slow save takes, and one of how many is slow.
const SLOW: f64 = 4.0;
const SLOW_EACH: u64 = 12;
const FAILS_EACH: u64 = 17;

/// What kind of world it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavingClass {
    /// Nothing but noise.
    Plain,
    /// One save of some takes several times as long.
    Slow,
    /// One save of some fails.
    Failing,
    /// Nothing that is written is made durable.
    Kept,
    /// Many hosts write, and one is measured.
    Hosts,
}

/// A storage that is written to, and what is asked of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SavingWorld {
    /// The number that it was drawn from.
    pub seed: u64,
    /// Its kind.
    pub class: SavingClass,
    /// Bytes per second that it writes.
    pub write_bps: f64,
    /// Bytes per second that it reads.
    pub read_bps: f64,
    /// Seconds until a save is durable under its name, once it is written.
    pub publish_s: f64,
    /// Standard deviation of the logarithm of what each save, and each restore, multiplies its time with.
    pub noise: f64,
    /// Time that a save may take, by what it does in the mean.
    pub write_need: f64,
    /// The same of a restore.
    pub restore_need: f64,
}

/// What was said of one part of a world, and what may be.
#[derive(Debug, Clone, PartialEq)]
pub struct SavingFinding {
    /// Which part.
    pub part: CheckpointPart,
    /// What was said.
    pub word: Judgement,
    /// Whether FEEDS would be right.
    pub may_feed: bool,
    /// Whether STARVES would be right.
    pub may_starve: bool,
    /// Whether UNCERTAIN is a miss.
    pub is_decidable: bool,
    /// The whole verdict.
    pub verdict: CheckpointVerdict,
}

impl SavingFinding {
    /// FEEDS or STARVES that is not so.
    pub fn is_wrong(&self) -> bool {
        is_wrong(self.word, (self.may_feed, self.may_starve))
    }

    /// No word where one could be had.
    pub fn is_missed(&self) -> bool {
        self.word == Judgement::Uncertain && self.is_decidable
    }
}

impl SavingWorld {
    /// The world of a number.
    pub fn of_seed(seed: u64) -> Self {
        use SavingClass::{Failing, Hosts, Kept, Plain, Slow};
        let mut draw = Draw::new(seed);
        let class = draw.pick(&[Plain, Plain, Plain, Plain, Slow, Failing, Kept, Hosts]);
        // Between a quarter of a second and four for a save and a restore: shorter windows are refused.
        let rates = BYTES as f64;
        Self {
            seed,
            class,
            write_bps: rates * draw.log_between(0.25, 4.0),
            read_bps: rates * draw.log_between(0.25, 4.0),
            publish_s: draw.log_between(0.01, 0.5),
            noise: draw.log_between(0.002, 0.01),
            write_need: draw.pick(&NEEDS),
            restore_need: draw.pick(&NEEDS),
        }
    }

    /// Seconds of a save that is not slow, in the mean.
    fn save_s(&self) -> f64 {
        BYTES as f64 / self.write_bps + self.publish_s
    }

    /// The same of all saves.
    fn mean_save_s(&self) -> f64 {
        let slow = if self.class == SavingClass::Slow { (SLOW - 1.0) / SLOW_EACH as f64 } else { 0.0 };
        self.save_s() * (1.0 + slow)
    }

    fn restore_s(&self) -> f64 {
        BYTES as f64 / self.read_bps
    }

    fn hosts(&self) -> u64 {
        if self.class == SavingClass::Hosts { 4 } else { 1 }
    }

    /// The scenario of this world.
    pub fn scenario(&self) -> String {
        let within = |seconds: f64| format!("\"{}us\"", (seconds * 1e6).round() as u64);
        let mut text = "version = 1\n".to_owned();
        let hosts = self.hosts();
        let (write, restore) = (self.write_need * self.mean_save_s(), self.restore_need * self.restore_s());
        let _ = writeln!(
            text,
            "need.checkpoint = {{ bytes = \"{} B\", hosts = {hosts}, within = {}, restore_within = {} }}",
            BYTES * hosts,
            within(write),
            within(restore)
        );
        let durable = self.class != SavingClass::Kept;
        let _ = writeln!(text, "targets.world = {{ at = \"/mnt/world\", engine = \"io_uring\" }}");
        let _ = writeln!(text, "checkpoint = {{ block_size = \"{BLOCK_BYTES} B\", durable = {durable} }}");
        let _ = writeln!(text, "measure = {{ warmup = \"0s\", duration = \"10s\", repetitions = 5 }}");
        text
    }

    /// Plays it, and compares what is concluded with what is true.
    ///
    /// # Errors
    /// When the scenario does not resolve: a mistake of this crate or of feedline.
    pub fn findings(&self) -> Result<Vec<SavingFinding>, Box<dyn Error>> {
        let summary = self.play()?;
        let verdict = summary.verdicts.first().ok_or("no verdict")?;
        Ok(verdict.checkpoints.iter().map(|one| self.judge(one)).collect())
    }

    fn judge(&self, verdict: &CheckpointVerdict) -> SavingFinding {
        let is_write = verdict.part == CheckpointPart::Write;
        let (need, tolerance) = if is_write { (self.write_need, 0.0) } else { (self.restore_need, COUNTING) };
        let spoils = match self.class {
            SavingClass::Plain => false,
            // Each save has to be in time, not the mean of them.
            SavingClass::Slow => is_write && SLOW * self.save_s() > need * self.mean_save_s(),
            SavingClass::Failing | SavingClass::Kept => is_write,
            SavingClass::Hosts => true,
        };
        let in_time = need >= 1.0 - tolerance;
        SavingFinding {
            part: verdict.part,
            word: verdict.judgement,
            may_feed: in_time && !spoils,
            may_starve: need < 1.0 + tolerance,
            is_decidable: (self.class == SavingClass::Plain || !is_write)
                && self.class != SavingClass::Hosts
                && (need - 1.0).abs() >= DECIDABLE,
            verdict: verdict.clone(),
        }
    }

    fn play(&self) -> Result<analysis::Summary, Box<dyn Error>> {
        let plan = play::resolve("world", self.scenario(), &[])?;
        let data = play::imagined(&plan)?;
        let clock = Clock::simulated();
        let written = self.storage(&clock);
        let device =
            Device { rate_bps: self.read_bps, latency_ns: 1_000.0, noise: self.noise, ..Device::IDEAL };
        let read = Model::new(device, self.seed, &clock);
        let stores: (SharedStore, SharedStore) = (Arc::new(written), Arc::new(read.clone()));
        let facts = plan.targets.iter().map(|_| stores.1.facts()).collect();
        let setups = setups(&plan, &data, &stores)?;
        let (stop, progress) = (AtomicBool::new(false), Progress::default());
        let mut bench = Bench::new(&plan.cells, &setups, play::settings(&plan), &clock, &stop, &progress);
        let mut record = play::begun(&plan, &data, facts);
        let not_run = play::measure(&mut bench, &plan, &mut record, &|_| ())?;
        record.lines.push(Line::End(End { elapsed_ns: clock.now_ns(), not_run, ..End::default() }));
        Ok(analysis::summarise(&record))
    }

    /// Each object is a save: a need of bytes has one file where it names no accelerators.
    fn storage(&self, clock: &Clock) -> Scripted {
        let draws = Mutex::new((Draw::new(self.seed ^ 0x5a5a), BTreeMap::<u64, f64>::new()));
        let (world, blocks) = (self.clone(), BYTES.div_ceil(BLOCK_BYTES));
        Scripted::new(clock, move |save| {
            let mut draws = draws.lock().unwrap_or_else(PoisonError::into_inner);
            let (draw, drawn) = &mut *draws;
            let factor = *drawn.entry(save).or_insert_with(|| draw.log_normal(world.noise));
            let is_each = |class: SavingClass, each: u64| world.class == class && save % each == each - 1;
            let slow = if is_each(SavingClass::Slow, SLOW_EACH) { SLOW } else { 1.0 };
            let ns = |seconds: f64| (seconds * factor * slow * 1e9).round() as u64;
            Writing {
                write_ns: ns(BYTES as f64 / world.write_bps / blocks as f64),
                finish_ns: ns(world.publish_s),
                fails: is_each(SavingClass::Failing, FAILS_EACH),
            }
        })
    }
}

/// What each cell writes to or reads from: `stores` are what is written to and what is read.
fn setups(
    plan: &Plan,
    data: &Datasets,
    stores: &(SharedStore, SharedStore),
) -> Result<Vec<CellSetup>, Box<dyn Error>> {
    let all = play::setups(plan, data, &vec![Arc::clone(&stores.1); plan.targets.len()]);
    let with = |(cell, setup): (&Cell, CellSetup)| -> Result<CellSetup, Box<dyn Error>> {
        let Some(of) = cell.writes_checkpoints() else { return Ok(setup) };
        let checkpoints = Some(destination(of, &stores.0)?);
        Ok(CellSetup { store: Arc::clone(&stores.0), checkpoints, ..setup })
    };
    plan.cells.iter().zip(all).map(with).collect()
}

/// Where checkpoints of a plan go on a scripted storage.
pub(crate) fn destination(of: &Checkpoint, store: &SharedStore) -> Result<Destination, Box<dyn Error>> {
    let folder = Key::new("feedline-saves")?;
    let marker = Marker { format: 1, note: String::new(), dataset: "checkpoints".to_owned() };
    let owned = store.create_folder(&folder, &marker)?;
    let objects = Arc::new(Objects::uniform(folder, of.files * (of.keep + 1), of.file_bytes));
    Ok(Destination::new(Arc::clone(store), owned, objects, (of, 7)))
}
