//! A scene, played: what `feedline run` does between opening the storages and concluding.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use analysis::Summary;
use backend::{Clock, SharedStore};
use dataset::Data;
use describe::{Datasets, OnTarget};
use engine::{Bench, Event, Progress};
use plan::Plan;
use prepare::Prepared;
use record::{
    CELLS_FILE, End, Environment, Line, NotRun, Outcome, Redactor, Rep, RepIntervals, Reread, Role,
    RunRecord, RunWriter, Segment,
};

use crate::disturbed::met::Met;
use crate::disturbed::scene::{Interruption, Scene};
use crate::disturbed::script::Script;
use crate::disturbed::witness::{Log, Misbehaving, Witness};
use crate::play;

/// Seed of the bytes of all datasets.
const CONTENT: u64 = 7;

/// Rounds of fresh repetitions at most: two looks at them.
const FRESH_ROUNDS: u32 = 5;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Ending {
    /// By itself.
    Whole,
    /// By a signal as this operation begins.
    Signal(u64),
    /// Killed when so many repetitions were recorded and the next is.
    Kill(u32),
}

impl Ending {
    pub(crate) fn of(interruption: Interruption) -> Self {
        match interruption {
            Interruption::Signal { operation } => Self::Signal(operation),
            Interruption::Kill { repetitions, .. } => Self::Kill(repetitions),
        }
    }
}

/// Repetitions that the engine was asked for at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) role: Role,
    pub(crate) cells: Vec<String>,
    pub(crate) rounds: Range<u32>,
    /// What it said it had not made.
    pub(crate) not_run: Vec<NotRun>,
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) record: RunRecord,
    /// What the queue of each repetition saw, by its place in the run. None where no queue opened.
    pub(crate) logs: BTreeMap<u32, Log>,
    pub(crate) asked: Vec<Asked>,
    /// What queues were asked and may not be.
    pub(crate) wrongs: Vec<String>,
    /// Repetitions that were made before it went on.
    pub(crate) passed_over: usize,
    /// Place of the first repetition that it made itself.
    pub(crate) begun: u32,
    pub(crate) is_killed: bool,
    /// Bytes of the line that was being written as it was killed.
    pub(crate) last_line_bytes: Option<u64>,
}

impl Ran {
    /// Whether it did not come to its end.
    pub(crate) fn is_broken_off(&self) -> bool {
        self.is_killed || matches!(self.record.lines.last(), Some(Line::End(End { interrupted: true, .. })))
    }

    pub(crate) fn reps(&self) -> impl Iterator<Item = &Rep> {
        reps(&self.record)
    }

    /// The lines that it wrote itself.
    pub(crate) fn own_lines(&self) -> &[Line] {
        &self.record.lines[self.passed_over..]
    }

    pub(crate) fn met(&self, summary: &Summary) -> Met {
        let count = |is: fn(&&Rep) -> bool| self.reps().filter(is).count() as u64;
        Met {
            repetitions: self.reps().count() as u64,
            outages: count(|rep| rep.outage.is_some()),
            failed: count(|rep| matches!(rep.outcome, Outcome::Failed { .. })),
            errors: self.reps().flat_map(|rep| rep.errors.values()).sum(),
            lies_seen: count(|rep| rep.errors.contains_key("corrupt")),
            abandoned: self.logs.values().filter_map(|log| log.abandoned).map(u64::from).sum(),
            gone_on: 0,
            feeds: summary.verdicts.iter().filter(|one| one.judgement() == feed::Judgement::Feeds).count()
                as u64,
        }
    }
}

pub(crate) fn reps(record: &RunRecord) -> impl Iterator<Item = &Rep> {
    record.lines.iter().filter_map(|line| if let Line::Rep(rep) = line { Some(&**rep) } else { None })
}

/// What a scene is played with.
pub(crate) struct Stage<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) plan: Plan,
    data: Datasets,
}

impl<'a> Stage<'a> {
    pub(crate) fn of(scene: &'a Scene) -> Result<Self, Box<dyn Error>> {
        let mut plan = play::resolve("world", scene.scenario.clone(), &[])?;
        plan.measure.fresh_rounds = FRESH_ROUNDS;
        let imagined = play::imagined(&plan)?;
        let data = if scene.is_checked { known(&imagined) } else { imagined };
        Ok(Self { scene, plan, data })
    }

    /// Plays it, recording into `folder` where there is one; goes on with what was made `before` it was broken off.
    pub(crate) fn run(
        &self,
        ending: &Ending,
        folder: Option<&Path>,
        before: Option<&RunRecord>,
    ) -> Result<Ran, Box<dyn Error>> {
        let clock = Clock::simulated();
        let stop = Arc::new(AtomicBool::new(false));
        let witness = match ending {
            Ending::Signal(operation) => Witness::stopping(*operation, &stop),
            Ending::Whole | Ending::Kill(_) => Witness::default(),
        };
        let store = |script: &Script| -> SharedStore {
            Arc::new(Misbehaving::new(script.clone(), CONTENT, &clock, &witness))
        };
        let stores: Vec<SharedStore> = self.scene.scripts.iter().map(store).collect();
        let setups = play::setups(&self.plan, &self.data, &stores);
        let progress = Progress::default();
        let mut bench =
            Bench::new(&self.plan.cells, &setups, play::settings(&self.plan), &clock, &stop, &progress);
        let seen_ns = AtomicU64::new(0);
        let suspended = || {
            let until_ns = clock.now_ns();
            let since_ns = seen_ns.swap(until_ns, Ordering::Relaxed);
            self.scene.suspended_ns.iter().any(|at_ns| (since_ns..until_ns).contains(at_ns))
        };
        bench.notice(&suspended);
        let facts = stores.iter().map(|store| store.facts()).collect();
        let mut keeper = Keeper {
            kill: if let Ending::Kill(repetitions) = ending { Some(*repetitions) } else { None },
            ..Keeper::new(play::begun(&self.plan, &self.data, facts), &witness)
        };
        if let Some(folder) = folder {
            keeper.writer = Some(self.writer(folder, &mut keeper.ran.record, before, &clock)?);
            keeper.folder = Some(folder);
        }
        let made: Vec<Rep> = before.into_iter().flat_map(reps).cloned().collect();
        let begun = made.iter().map(|rep| rep.order + 1).max().unwrap_or(0);
        keeper.ran.begun = begun;
        bench.go_on_after(made, begun, keeper.ran.record.segments.len() as u32);
        match self.steps(&mut bench, &mut keeper) {
            Ok(()) => {}
            Err(Broken::Killed) => keeper.ran.is_killed = true,
            Err(Broken::Error(error)) => return Err(error),
        }
        if !keeper.ran.is_killed {
            let not_run = keeper.ran.asked.iter().flat_map(|asked| asked.not_run.clone()).collect();
            let (interrupted, elapsed_ns) = (stop.load(Ordering::Relaxed), clock.now_ns());
            let reread = self.reread(&bench, &stores);
            keeper.line(Line::End(End { interrupted, elapsed_ns, not_run, reread, ..End::default() }))?;
        }
        keeper.ran.wrongs = witness.wrongs();
        Ok(keeper.ran)
    }

    fn writer(
        &self,
        folder: &Path,
        record: &mut RunRecord,
        before: Option<&RunRecord>,
        clock: &Clock,
    ) -> Result<RunWriter, Box<dyn Error>> {
        let redactor = Redactor::new(Vec::new());
        let Some(before) = before else {
            return Ok(RunWriter::create(folder, &record.run, &self.scene.scenario, &record.env, redactor)?);
        };
        let ends = before.lines.iter().map(|line| match line {
            Line::Rep(rep) => rep.window_start_ns + rep.window_ns,
            Line::End(end) => end.elapsed_ns,
            Line::Ceiling(_) => 0,
        });
        let at_ns = ends.max().unwrap_or(0);
        clock.advance_to(at_ns);
        let segment = Segment {
            started: String::new(),
            at_ns,
            command: Vec::new(),
            env: Environment::default(),
            tool: None,
        };
        record.segments.clone_from(&before.segments);
        record.segments.push(segment.clone());
        let mut writer = RunWriter::reopen(folder, redactor)?;
        writer.go_on(&segment)?;
        Ok(writer)
    }

    fn steps(&self, bench: &mut Bench<'_>, keeper: &mut Keeper<'_>) -> Result<(), Broken> {
        let cells = &self.plan.cells;
        let rounds = 0..self.plan.measure.repetitions;
        let not_run = bench.measure(0, &mut |event| keeper.take(event))?;
        let slugs = cells.iter().map(|cell| cell.slug.clone()).collect();
        keeper.ran.asked.push(Asked { role: Role::Measure, cells: slugs, rounds, not_run });
        while let Some(look) = analysis::next_look(&keeper.ran.record) {
            let chosen: Vec<usize> =
                (0..cells.len()).filter(|index| look.cells.contains(&cells[*index].slug)).collect();
            let rounds = look.rounds.clone();
            let not_run = bench.confirm(&chosen, rounds.clone(), &mut |event| keeper.take(event))?;
            let is_over = !not_run.is_empty();
            keeper.ran.asked.push(Asked { role: Role::Confirm, cells: look.cells, rounds, not_run });
            if is_over {
                break;
            }
        }
        Ok(())
    }

    fn reread(&self, bench: &Bench<'_>, stores: &[SharedStore]) -> Vec<Reread> {
        let of_slot = |(index, slot): (usize, &OnTarget)| {
            let cells = self.plan.cells.iter().enumerate().filter(|(_, cell)| self.data.index(cell) == index);
            let cells: Vec<usize> = cells.map(|(cell, _)| cell).collect();
            bench.reread(&cells, &*stores[slot.target])
        };
        self.data.all().iter().enumerate().flat_map(of_slot).collect()
    }
}

/// The same datasets, whose bytes are what the simulated storage holds.
fn known(imagined: &Datasets) -> Datasets {
    let of_slot = |slot: &OnTarget| {
        let data = Data::files(Arc::clone(slot.prepared.data.objects()), Some(CONTENT));
        let prepared = Prepared { data: Arc::new(data), ..slot.prepared.clone() };
        OnTarget { target: slot.target, dataset: slot.dataset, prepared }
    };
    Datasets::new(imagined.all().iter().map(of_slot).collect())
}

/// Why a run is broken off.
enum Broken {
    Killed,
    Error(Box<dyn Error>),
}

impl From<Box<dyn Error>> for Broken {
    fn from(error: Box<dyn Error>) -> Self {
        Self::Error(error)
    }
}

/// Takes what happens into the record.
struct Keeper<'a> {
    ran: Ran,
    witness: &'a Witness,
    writer: Option<RunWriter>,
    folder: Option<&'a Path>,
    kill: Option<u32>,
}

impl<'a> Keeper<'a> {
    fn new(record: RunRecord, witness: &'a Witness) -> Self {
        let ran = Ran {
            record,
            logs: BTreeMap::new(),
            asked: Vec::new(),
            wrongs: Vec::new(),
            passed_over: 0,
            begun: 0,
            is_killed: false,
            last_line_bytes: None,
        };
        Self { ran, witness, writer: None, folder: None, kill: None }
    }

    fn take(&mut self, event: Event<'_>) -> Result<(), Broken> {
        match event {
            Event::Rep(mut rep, intervals) => {
                // The first queue is the repetition's own; others looked for a server that was away.
                let log = self.witness.take().into_iter().next();
                if let Some(log) = log.filter(|_| !rep.counters.is_empty()) {
                    self.ran.logs.insert(rep.order, log);
                }
                play::without_this_machine(&mut rep);
                self.rep(rep, &intervals)
            }
            Event::Made(rep) => {
                self.ran.passed_over += 1;
                self.ran.record.lines.push(Line::Rep(rep));
                Ok(())
            }
            Event::Astray { made, cell } => {
                let went =
                    format!("gone on with: {} was made where it is the turn of {}", made.cell, cell.slug);
                Err(Broken::Error(went.into()))
            }
            Event::Begin { .. } | Event::Away { .. } | Event::Ceiling(_) => Ok(()),
        }
    }

    fn rep(&mut self, rep: Box<Rep>, intervals: &RepIntervals) -> Result<(), Broken> {
        let is_last = self.kill.is_some_and(|kill| self.ran.reps().count() as u32 >= kill);
        if let Some(writer) = &mut self.writer {
            writer.append_intervals(intervals).map_err(|error| Broken::Error(error.into()))?;
        }
        if !is_last {
            return Ok(self.line(Line::Rep(rep))?);
        }
        let before = self.bytes()?;
        self.line(Line::Rep(rep))?;
        self.ran.last_line_bytes = Some(self.bytes()? - before);
        self.ran.record.lines.pop();
        Err(Broken::Killed)
    }

    fn bytes(&self) -> Result<u64, Box<dyn Error>> {
        Ok(match self.folder {
            Some(folder) => fs::metadata(folder.join(CELLS_FILE))?.len(),
            None => 0,
        })
    }

    fn line(&mut self, line: Line) -> Result<(), Box<dyn Error>> {
        if let Some(writer) = &mut self.writer {
            writer.append(&line)?;
        }
        self.ran.record.lines.push(line);
        Ok(())
    }
}
