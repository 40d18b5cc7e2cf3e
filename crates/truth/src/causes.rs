//! Scenarios of known cause: each is played as it is shipped, from its file to the reason that is given for it.
//!
//! A path that a scenario slows down is slowed down by the code that does so in a run, over a storage that takes no time. A server
//! that it declares is a model of that server, since the emulated one keeps the machine's time. What no scenario declares is imagined:
//! a client that takes in so many operations, others that hold its processors, and a disk that writes checkpoints.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use analysis::{Bound, CellSummary, Diagnosis, Remedy, Summary, TrainingFigures};
use backend::scripted::{Scripted, Writing};
use backend::slowed::{Slowed, Slowness};
use backend::{Clock, SharedStore};
use describe::Datasets;
use engine::{Bench, CellSetup, Event, Progress};
use plan::{Cell, Delay, Emulation, Load, Measure, Plan, Target, Training};
use record::{Ceiling, End, Line, OtherProgram, Rep, counter};

use crate::play::{self, CORES};
use crate::saving::destination;
use crate::storage::{Device, Model};

/// Operations per second that the imagined client takes in: about what a loader written in Python does.
const CLIENT_OPS_PER_S: f64 = 50_000.0;
/// Those of a client whose processors others hold.
const BESIDE_OTHERS_OPS_PER_S: f64 = 4_000.0;
/// Bytes per second at which the imagined disk writes a checkpoint, and the time in which it makes it durable.
const WRITE_BPS: f64 = 500e6;
const DURABLE_NS: u64 = 5_000_000;

/// A cause that a diagnosis can name, and the scenario that has it.
#[derive(Debug, Clone)]
pub struct Cause {
    /// Name of the scenario, below `scenarios/causes`.
    pub name: &'static str,
    /// What is in it.
    text: &'static str,
    /// What is to be named.
    pub bound: Bound,
    /// What is to be advised, where one cause has several remedies.
    pub remedy: Option<Remedy>,
    /// What a run of the scenario needs besides, where it does not have the cause by itself.
    pub needs: Option<&'static str>,
}

macro_rules! cause {
    ($name:literal, $bound:ident) => {
        Cause {
            name: $name,
            text: include_str!(concat!("../../../scenarios/causes/", $name, ".toml")),
            bound: Bound::$bound,
            remedy: None,
            needs: None,
        }
    };
}

/// All of them, in the order in which the diagnosis looks for them.
pub static CAUSES: [Cause; 13] = [
    cause!("checkpoint", Checkpoint),
    cause!("barrier", Barrier),
    cause!("client", Client),
    Cause {
        needs: Some("others that hold the processors meanwhile: feedline starts no other work"),
        ..cause!("others", Others)
    },
    cause!("first-fill", FirstFill),
    cause!("decode", Decode),
    cause!("startup", Startup),
    Cause { remedy: Some(Remedy::FewerRefusals), ..cause!("refused", Rate) },
    cause!("metadata", Metadata),
    Cause { remedy: Some(Remedy::FewerRequests), ..cause!("rate", Rate) },
    cause!("bandwidth", Bandwidth),
    cause!("latency", Latency),
    cause!("mixed", Mixed),
];

impl Cause {
    /// Plays its scenario.
    ///
    /// # Errors
    /// When it does not resolve, or a dataset of it cannot be imagined.
    pub fn play(&self) -> Result<Summary, Box<dyn Error>> {
        // Of several threads the order in which they come to a virtual clock would be this machine's.
        let plan = play::resolve(self.name, self.text.to_owned(), &["load.threads=1".to_owned()])?;
        let data = play::imagined(&plan)?;
        let clock = Clock::simulated();
        let stores: Vec<SharedStore> =
            plan.targets.iter().map(|target| self.storage(target, &plan, &clock)).collect();
        let setups = setups(&plan, &data, &stores, &clock)?;
        let facts = stores.iter().map(|store| store.facts()).collect();
        let (stop, progress) = (AtomicBool::new(false), Progress::default());
        let mut bench = Bench::new(&plan.cells, &setups, play::settings(&plan), &clock, &stop, &progress);
        let mut record = play::begun(&plan, &data, facts);
        record.lines.extend(from_memory(&plan, &data)?.into_iter().map(Line::Ceiling));
        let not_run = play::measure(&mut bench, &plan, &mut record, &|rep| self.count(rep))?;
        record.lines.push(Line::End(End { elapsed_ns: clock.now_ns(), not_run, ..End::default() }));
        Ok(analysis::summarise(&record))
    }

    fn storage(&self, target: &Target, plan: &Plan, clock: &Clock) -> SharedStore {
        let mut device = Device { client_ops_per_s: CLIENT_OPS_PER_S, ..Device::IDEAL };
        if self.bound == Bound::Others {
            device.client_ops_per_s = BESIDE_OTHERS_OPS_PER_S;
        }
        let writes = plan.cells.iter().any(|cell| cell.job_checkpoints.is_some());
        match &target.emulate {
            Some(asked) if target.is_slowed_here() => {
                let inner = Arc::new(Model::new(device, 0, clock));
                Arc::new(Slowed::new(inner, Arc::new(Slowness::new(asked))))
            }
            Some(asked) => Arc::new(Model::new(served(asked, &device), 0, clock)),
            None if writes => Arc::new(Model::new(device, 0, clock).beside_writers()),
            None => Arc::new(Model::new(device, 0, clock)),
        }
    }

    /// Puts in what the kernel of a host would count whose processors others hold.
    fn count(&self, rep: &mut Rep) {
        if self.bound != Bound::Others {
            return;
        }
        let ns = rep.window_ns;
        (rep.usage.cpu_user_ns, rep.usage.waited_ns) = (ns / 4, Some(ns / 2));
        rep.system.core_busy_ns = vec![ns; CORES as usize];
        rep.system.others =
            vec![OtherProgram { name: "sh".to_owned(), cpu_ns: ns * u64::from(CORES - 1), read_bytes: None }];
    }
}

/// The job that waits most, and why it does.
pub fn diagnosed(summary: &Summary) -> Option<(&CellSummary, &TrainingFigures, &Diagnosis)> {
    let jobs = summary.cells.iter().filter_map(|cell| Some((cell, cell.figures()?.training.as_ref()?)));
    let (cell, job) = jobs.min_by(|a, b| a.1.au.mean.total_cmp(&b.1.au.mean))?;
    Some((cell, job, job.diagnosis.as_ref()?))
}

/// Heading of the table of the book.
pub const HEAD: &str = "| scenario | what the report says |\n|---|---|\n";

impl Cause {
    /// Its row of the table: its scenario, and what was said of it.
    pub fn row(&self, diagnosis: &Diagnosis) -> String {
        let needs = self.needs.map(|needs| format!(", and {needs}")).unwrap_or_default();
        let said = report::words::diagnosis::words(diagnosis);
        format!("| `feedline run causes/{}`{needs} | {said} |\n", self.name)
    }
}

/// The table of the book.
///
/// # Errors
/// As [`Cause::play`], and for a scenario of which nothing is said.
pub fn markdown() -> Result<String, Box<dyn Error>> {
    let mut text = HEAD.to_owned();
    for cause in &CAUSES {
        let summary = cause.play()?;
        let (_, _, diagnosis) = diagnosed(&summary).ok_or_else(|| format!("{}: no cause", cause.name))?;
        text += &cause.row(diagnosis);
    }
    Ok(text)
}

/// A server as it is declared. Rates of bytes and distributions of delays are not among what these scenarios declare of servers.
fn served(asked: &Emulation, client: &Device) -> Device {
    let constant_ns = |delay: Option<Delay>| match delay {
        Some(Delay::Constant { ns }) => ns as f64,
        Some(Delay::Uniform { .. } | Delay::LogNormal { .. }) | None => 0.0,
    };
    Device {
        latency_ns: constant_ns(asked.first_byte),
        lookup_ns: constant_ns(asked.metadata),
        taken_per_s: asked.requests_per_s.unwrap_or(f64::INFINITY),
        ..client.clone()
    }
}

/// What each cell reads, and where checkpoints beside a job go.
fn setups(
    plan: &Plan,
    data: &Datasets,
    stores: &[SharedStore],
    clock: &Clock,
) -> Result<Vec<CellSetup>, Box<dyn Error>> {
    let with = |(cell, setup): (&Cell, CellSetup)| -> Result<CellSetup, Box<dyn Error>> {
        let Some(of) = cell.writes_checkpoints() else { return Ok(setup) };
        let write_ns = (f64::from(of.block_bytes) / WRITE_BPS * 1e9) as u64;
        let disk = Scripted::new(clock, move |_| Writing { write_ns, finish_ns: DURABLE_NS, fails: false });
        let checkpoints = Some(destination(of, &(Arc::new(disk) as SharedStore))?);
        Ok(CellSetup { checkpoints, ..setup })
    };
    plan.cells.iter().zip(play::setups(plan, data, stores)).map(with).collect()
}

/// The same jobs with data from memory, on a client that nobody disturbs: what the null target would show of it.
fn from_memory(plan: &Plan, data: &Datasets) -> Result<Vec<Ceiling>, Box<dyn Error>> {
    let without = |cell: &Cell| {
        let Load::Training(job) = cell.load else { return None };
        let load = Load::Training(Training { decode: None, startup_ns: 0, ..job });
        Some(Cell { load, retries: 0, job_checkpoints: None, ..cell.clone() })
    };
    let cells: Vec<Cell> = plan.cells.iter().filter_map(without).collect();
    let plan = Plan { cells, measure: Measure { repetitions: 1, ..plan.measure.clone() }, ..plan.clone() };
    let clock = Clock::simulated();
    let client = Device { client_ops_per_s: CLIENT_OPS_PER_S, ..Device::IDEAL };
    let stores: Vec<SharedStore> =
        plan.targets.iter().map(|_| Arc::new(Model::new(client.clone(), 0, &clock)) as SharedStore).collect();
    let setups = play::setups(&plan, data, &stores);
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let mut bench = Bench::new(&plan.cells, &setups, play::settings(&plan), &clock, &stop, &progress);
    let mut ceilings = Vec::new();
    bench.measure(0, &mut |event: Event<'_>| {
        if let Event::Rep(rep, _) = event {
            let count = |name| rep.counters.get(name).copied().unwrap_or(0);
            ceilings.push(Ceiling {
                cells: vec![rep.cell.clone()],
                copies: false,
                ops: count(counter::OPS),
                bytes: count(counter::BYTES),
                window_ns: rep.window_ns,
                cpu_ns: 0,
                trained: rep.trained.clone(),
            });
        }
        Ok::<_, std::convert::Infallible>(())
    })?;
    Ok(ceilings)
}
