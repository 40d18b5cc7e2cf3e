//! A run in progress: what it was made ready with, its record on disk, and what is asked of the engine.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use analysis::{SearchValue, Summary};
use anyhow::Context as _;
use backend::{Clock, Store, numa};
use describe::{Begun, Datasets, OnTarget};
use engine::{Bench, BenchSettings, CellSetup, Event, Progress as Counters};
use plan::{Plan, Share};
use record::{
    End, Line, NotLookedAt, NotRun, Redactor, Reread, Role, Run, RunRecord, RunWriter, Segment, Variant,
};
use rustix::fs::{Access, access};

use crate::announce::{self, Announced};
use crate::args::{MeasureArgs, ShowArgs};
use crate::at_last::AtLast;
use crate::checkpoints::Checkpoints;
use crate::claim::{self, Claim, Held, Used};
use crate::conclusion::{self, Conclusion};
use crate::data;
use crate::exit::Failure;
use crate::load::Loaded;
use crate::open::Stores;
use crate::progress::{Display, Progress};
use crate::resume::{Before, Interrupted};
use crate::slots::Slots;
use crate::suspended::Suspensions;
use crate::team::lead::Leading;
use crate::{environment, host, output, proof, resume, signals};

/// Everything that is opened and written before anything is measured.
pub(crate) struct Ready {
    pub(crate) loaded: Loaded,
    pub(crate) progress: Progress,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) cores: u32,
    results: PathBuf,
    /// Before the stores, with which servers end that hold them.
    pub(crate) checkpoints: Arc<Checkpoints>,
    pub(crate) stores: Stores,
    pub(crate) data: Datasets,
    /// The datasets, until the run has come to its end.
    _held: Held,
    /// The folders that they and what else it writes lie in.
    _places: Used,
}

impl Ready {
    /// Opens the storages of a scenario, says what will be done, and makes its datasets ready.
    pub(crate) fn make(
        loaded: Loaded,
        args: &MeasureArgs,
        asked: &Announced,
        claim: &Claim,
    ) -> Result<Self, Failure> {
        let stop = signals::stop_flag_within(signals::GRACE)?;
        let stores = open(&loaded.plan)?;
        announce::announce(&loaded.plan, &stores, args, asked)?;
        Self::with(loaded, stores, Shown::of(args)?, claim, stop)
    }

    /// The same without a word, ended by `stop`.
    pub(crate) fn with(
        loaded: Loaded,
        stores: Stores,
        shown: Shown,
        claim: &Claim,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let Shown { results, display } = shown;
        let counters = Arc::new(Counters::default());
        let progress = Progress::new(display, &counters);
        if display == Display::Watch {
            let named = |(index, target): (usize, &plan::Target)| {
                (target.name.clone(), Arc::clone(stores.data(index)))
            };
            progress.watch(loaded.plan.targets.iter().enumerate().map(named).collect())?;
        }
        let cores = environment::usable_cores();
        // Before any dataset is written: the folder is made only after it.
        Checkpoints::check_room(&loaded.plan, &stores)?;
        progress.phase("making the datasets ready");
        let places = claim::use_places(&loaded.plan, &stores, &stop)?;
        let report = |target: &str, done, total| progress.writing(target, done, total);
        let data = data::make_ready(&loaded.plan, &stores, cores, &report, &stop)?;
        // After they are written: the marker that is locked is made with them.
        let held = claim::claim(&loaded.plan, (&data, &stores), claim, &stop)?;
        let checkpoints = Arc::new(Checkpoints::make(&loaded.plan, &stores)?);
        Ok(Self {
            loaded,
            progress,
            stop,
            counters,
            cores,
            results,
            checkpoints,
            stores,
            data,
            _held: held,
            _places: places,
        })
    }
}

/// Where a run leaves what it shows, and how it shows how far it is.
pub(crate) struct Shown {
    results: PathBuf,
    display: Display,
}

impl Shown {
    /// As asked; the folder is made and tried before hours are spent on a dataset.
    pub(crate) fn of(args: &MeasureArgs) -> Result<Self, Failure> {
        Ok(Self { results: writable_folder(&args.results)?, display: Display::of(args) })
    }

    /// Of a process that leaves nothing, as another one does that for it.
    pub(crate) fn nothing() -> Self {
        Self { results: PathBuf::new(), display: Display::Hidden }
    }
}

/// Opens the storages of a plan. What may not be written there is refused before anybody is asked, or connected to.
pub(crate) fn open(plan: &Plan) -> Result<Stores, Failure> {
    data::check_places(plan)?;
    Stores::open(plan)
}

/// The folder for runs, made and tried before hours are spent on a dataset.
pub(crate) fn writable_folder(path: &Path) -> Result<PathBuf, Failure> {
    let tried =
        // Tried and not only made: a folder on a full or read-only disk fails after hours otherwise.
        std::fs::create_dir_all(path).and_then(|()| Ok(access(path, Access::WRITE_OK | Access::EXEC_OK)?));
    tried.with_context(|| {
        format!("cannot write results into `{}` (choose another folder with -o)", path.display())
    })?;
    Ok(path.to_owned())
}

/// What kind of run a record is of; by default one process that measures and judges a scenario.
#[derive(Default)]
pub(crate) struct RunKind {
    /// The axis along which an edge is searched.
    pub(crate) size: Option<&'static str>,
    /// The variant that is measured, and how many there are. Its record lies in a folder of its name.
    pub(crate) variant: Option<(Variant, u32)>,
    /// The timetable of a rank.
    pub(crate) slots: Option<Slots>,
    /// The processes of a launcher that this one leads.
    pub(crate) leading: Option<Arc<Leading>>,
    /// The command line, where that is not this process's.
    pub(crate) command: Option<Vec<String>>,
    /// How the answer is shown of a run that a signal ends.
    pub(crate) show: ShowArgs,
}

/// Cells by their index in the plan, and the numbers of the rounds that are made of them.
pub(crate) type Rounds = (Vec<usize>, Range<u32>);

/// A record being written, and its lines so far.
pub(crate) struct Session<'a> {
    ready: &'a Ready,
    variants: Share,
    slots: Option<Slots>,
    leading: Option<Arc<Leading>>,
    folder: PathBuf,
    writer: Arc<Mutex<RunWriter>>,
    so_far: RunRecord,
    clock: Clock,
    /// What is gone on with, of a run that is.
    before: Before,
}

impl<'a> Session<'a> {
    /// Begins the record.
    pub(crate) fn begin(ready: &'a Ready, keep_names: bool, kind: RunKind) -> Result<Self, Failure> {
        let Ready { loaded, results, .. } = ready;
        let RunKind { size, variant, slots, leading, command, show } = kind;
        let led = leading.as_ref().map_or(Share::WHOLE, |leading| leading.share());
        let Share { index: rank, of: ranks } = slots.map_or(led, |slots| slots.rank);
        let described = described(ready, keep_names, ranks);
        let (variant, variants) = match variant {
            Some((variant, count)) => (Some(variant), count),
            None => (None, 1),
        };
        let mut command = command.unwrap_or_else(|| described.command.clone());
        command.extend(slots.iter().flat_map(Slots::unsaid));
        let own = Run { size: size.map(str::to_owned), variant, rank, ranks, command, ..described };
        let run = match &leading {
            Some(leading) => leading.head(own),
            None => own,
        };
        let env = environment::capture();
        let folder = results.join(run.variant.as_ref().map_or(&run.run_id, |variant| &variant.name));
        // Once for all processes: a name that one of them alone hid would make its lines unlike those of the others.
        let redactor = match &leading {
            Some(leading) => Redactor::new(leading.secrets()),
            None => redactor(keep_names),
        };
        let writer = RunWriter::create(&folder, &run, &loaded.text, &env, redactor)?;
        let index = run.variant.as_ref().map_or(0, |variant| variant.number);
        let variants = Share { index, of: variants };
        // What is under way has no end yet; without a team that does not make it one whose processes were lost.
        let run = Run { team: None, ..run };
        let so_far = RunRecord { run, env, lines: Vec::new(), segments: Vec::new(), loss: None };
        let (writer, clock, before) = (Arc::new(Mutex::new(writer)), Clock::real(), Before::default());
        let session = Self { ready, variants, slots, leading, folder, writer, so_far, clock, before };
        session.keep_at_last(show);
        Ok(session)
    }

    /// Goes on with the record of a run, where all that it was made of is as it was.
    pub(crate) fn go_on(
        ready: &'a Ready,
        keep_names: bool,
        show: ShowArgs,
        interrupted: Interrupted,
    ) -> Result<Self, Failure> {
        let (env, redactor) = (environment::capture(), redactor(keep_names));
        // As the record has it and will have it: a name that was hidden is the same name.
        let now = record::redacted(&redactor, &described(ready, keep_names, 1))?;
        let at_ns = interrupted.at_ns();
        let (started, command, tool) = (now.started.clone(), now.command.clone(), Some(now.tool.clone()));
        let segment = record::redacted(&redactor, &Segment { started, at_ns, command, env, tool })?;
        resume::refuse_other(&interrupted, &now, &segment)?;
        let Interrupted { folder, record, more, anyway: _ } = interrupted;
        let mut writer = RunWriter::reopen(&folder, redactor)?;
        resume::refuse_grown(&folder, &record)?;
        // Only of a run that is gone on with: nothing that another process measures is this one's.
        writer.go_on(&segment)?;
        let RunRecord { run, env, lines, mut segments, .. } = record;
        segments.push(segment);
        let (before, lines) = Before::of(lines, more);
        let session = Self {
            ready,
            variants: Share::WHOLE,
            slots: None,
            leading: None,
            folder,
            writer: Arc::new(Mutex::new(writer)),
            so_far: RunRecord { run, env, lines, segments, loss: None },
            clock: Clock::real_from(at_ns),
            before,
        };
        session.keep_at_last(show);
        Ok(session)
    }

    /// Says what is left to do where the run does not end by itself after a signal.
    fn keep_at_last(&self, show: ShowArgs) {
        let Ready { loaded, data, checkpoints, progress, .. } = self.ready;
        let at_last = AtLast {
            folder: self.folder.clone(),
            // What a variant measured is shown by its parent.
            show: self.so_far.run.variant.is_none().then_some(show),
            writer: Arc::downgrade(&self.writer),
            checkpoints: Arc::downgrade(checkpoints),
            clock: self.clock.clone(),
            datasets: on_storage(&loaded.plan, data).map(|(index, _)| index).collect(),
            progress: progress.clone(),
        };
        signals::keep(move || at_last.end());
    }

    /// Cells that no ceiling was measured for, by their index.
    pub(crate) fn without_ceiling(&self) -> Vec<usize> {
        let measured: BTreeSet<&str> = self.so_far.lines.iter().flat_map(ceiling_cells).collect();
        let cells = self.ready.loaded.plan.cells.iter().enumerate();
        cells.filter(|(_, cell)| !measured.contains(cell.slug.as_str())).map(|(index, _)| index).collect()
    }

    /// Measures what `steps` asks for, and ends the record; returns whether a signal ended it.
    pub(crate) fn execute(
        &mut self,
        steps: impl FnOnce(&mut Self, &mut Bench<'_>) -> Result<Vec<NotRun>, Failure>,
    ) -> Result<bool, Failure> {
        let Ready { loaded, data, stores, stop, counters, cores, progress, checkpoints, .. } = self.ready;
        let plan = &loaded.plan;
        let setups = setups(plan, (data, checkpoints), stores);
        let clock = self.clock.clone();
        let mut measure = plan.measure.clone();
        if let Some(more) = &self.before.more {
            // What is added is asked for anew, and so is the time for it.
            measure.budget_ns = measure.budget_ns.map(|budget_ns| budget_ns.saturating_add(more.since_ns));
        }
        let settings = BenchSettings {
            measure,
            cores: *cores,
            copy_source_bytes: host::copy_source_bytes(),
            rank: self.share(),
            searches: self.so_far.run.size.is_some(),
            variant: self.so_far.run.variant.as_ref().map_or("base", |variant| &variant.name).to_owned(),
            variants: self.variants,
            // Where the run's clock stood at zero, so that a run that is gone on with has one time line.
            began_unix_ns: Some((host::unix_time().as_nanos() as u64).saturating_sub(clock.now_ns())),
        };
        let (slots, leading) = (self.slots, self.leading.clone());
        let start = |repetition| {
            if let Some(slots) = slots {
                slots.wait(repetition, stop);
            }
            if let Some(leading) = &leading {
                leading.start();
            }
        };
        let others = || leading.as_ref().map_or_else(Vec::new, |leading| leading.others());
        let mut bench = Bench::new(&plan.cells, &setups, settings, &clock, stop, counters);
        bench.start_by(&start);
        if leading.is_some() {
            bench.lead(&others);
        }
        let suspensions = Suspensions::heard()?;
        let suspended = || suspensions.any_since();
        bench.notice(&suspended);
        let parts = self.so_far.segments.len() as u32;
        bench.go_on_after(std::mem::take(&mut self.before.made), self.before.begun, parts);
        let not_run = steps(self, &mut bench)?;
        let not_run = self.left_out_before().chain(not_run).collect();
        let interrupted = stop.load(Ordering::Relaxed);
        let elapsed_ns = clock.now_ns();
        let look = || {
            let (changed, not_looked_at) = last_look(plan, data, stores, *cores);
            let reread = reread(&bench, plan, (data, &changed), stores);
            End { interrupted, elapsed_ns, not_run, changed, not_looked_at, reread }
        };
        let end = match &leading {
            Some(leading) => leading.end(look)?,
            None => look(),
        };
        // Only now: the last look and the second reading may meet a server that does not answer.
        signals::ended_by_itself();
        let interrupted = end.interrupted;
        self.append(Line::End(end))?;
        progress.finish();
        Ok(interrupted)
    }

    /// This process among those of the run.
    fn share(&self) -> Share {
        let led = self.leading.as_ref().map_or(Share::WHOLE, |leading| leading.share());
        self.slots.map_or(led, |slots| slots.rank)
    }

    /// Lets the processes that this one leads measure their ceilings beside its own.
    pub(crate) fn begin_ceilings(&self, cells: &[usize]) -> Result<(), Failure> {
        self.leading.as_ref().map_or(Ok(()), |leading| leading.ceilings(cells))
    }

    /// Takes what they measured.
    pub(crate) fn end_ceilings(&mut self) -> Result<(), Failure> {
        let Some(leading) = self.leading.clone() else { return Ok(()) };
        for ceiling in leading.ceilings_made()? {
            self.append(Line::Ceiling(ceiling))?;
        }
        Ok(())
    }

    /// What the run itself left out, and what was added does not make up for: repetitions that are interleaved.
    fn left_out_before(&self) -> impl Iterator<Item = NotRun> + use<> {
        let planned = self.ready.loaded.plan.measure.repetitions;
        let made = |cell: &str, role: Role| {
            let of_cell =
                |line: &&Line| matches!(line, Line::Rep(rep) if rep.cell == cell && rep.role == role);
            self.so_far.lines.iter().filter(of_cell).count()
        };
        let mut left = self.before.not_run.clone();
        left.retain(|one| {
            made(&one.cell, Role::Confirm) == 0 || made(&one.cell, Role::Measure) < planned as usize
        });
        left.into_iter()
    }

    /// The name of the run.
    pub(crate) fn run_id(&self) -> &str {
        &self.so_far.run.run_id
    }

    /// As `conclude`; for a run that a signal ended it also says what is kept and how to go on.
    pub(crate) fn conclude(
        self,
        show: ShowArgs,
        proof: Option<&proof::ProofPlan>,
        results: Option<&Path>,
    ) -> Result<Conclusion, Failure> {
        let concluded = conclusion::conclude(&self.folder, show, proof, results)?;
        if concluded.summary.head.interrupted {
            output::say(&conclusion::interrupted(&self.so_far, &self.folder));
        }
        Ok(concluded)
    }

    /// Derives everything from the record and leaves report and plots beside it, without a word.
    pub(crate) fn leave(self) -> Result<Summary, Failure> {
        conclusion::derive(&self.folder)
    }

    /// The fresh repetitions to make next: cells by their index in the plan, and the numbers of the rounds; `None` once the
    /// verdicts are decided, or no round is left.
    pub(crate) fn next_look(&self) -> Result<Option<Rounds>, Failure> {
        let look = || match &self.before.more {
            None => analysis::next_look(&self.so_far),
            Some(more) => analysis::next_added_look(&self.so_far, more),
        };
        let look = self.thinking(look)?;
        let cells = &self.ready.loaded.plan.cells;
        let chosen = |look: &analysis::Look| {
            (0..cells.len()).filter(|index| look.cells.contains(&cells[*index].slug)).collect()
        };
        Ok(look.map(|look| (chosen(&look), look.rounds)))
    }

    /// Rows of cells along which an edge is searched; their indices are those of the plan.
    pub(crate) fn rows(&self, axis: &str) -> Vec<Vec<SearchValue>> {
        let cells: Vec<&record::Cell> = self.so_far.run.cells.iter().collect();
        analysis::search_rows(&self.so_far.run, &cells, axis)
    }

    /// Utilizations of training cells over their fresh repetitions; `None` where none made a point.
    pub(crate) fn confirmed_aus(&self, cells: &[usize]) -> Result<Vec<Option<f64>>, Failure> {
        let summary = self.thinking(|| analysis::summarise(&self.so_far))?;
        let au = |cell: &usize| {
            let cell = summary.cell(&self.ready.loaded.plan.cells[*cell].slug)?;
            Some(cell.confirmed.as_ref()?.figures()?.training.as_ref()?.au.mean)
        };
        Ok(cells.iter().map(au).collect())
    }

    /// Works while the processes that this one leads wait, if there are any.
    fn thinking<T>(&self, work: impl FnOnce() -> T) -> Result<T, Failure> {
        match &self.leading {
            Some(leading) => leading.thinking(work),
            None => Ok(work()),
        }
    }

    /// Takes what happened into the record.
    pub(crate) fn take(&mut self, event: Event<'_>) -> Result<(), Failure> {
        match event {
            Event::Begin { cell, role, turn } => {
                if let Some(leading) = &self.leading {
                    leading.repeat(turn, role)?;
                }
                let fresh = if role == Role::Confirm { "fresh " } else { "" };
                let target = &self.ready.loaded.plan.targets[cell.target].name;
                self.ready.progress.target(cell.target);
                // What tells a cell from others comes first: a terminal may have no room for the rest.
                let (depth, engine, rep) = (cell.queue_depth, cell.engine.name(), turn.rep + 1);
                let of = cell
                    .ranks
                    .map_or_else(String::new, |ranks| format!(", {ranks} of {} processes", self.share().of));
                let text = format!("{target} depth {depth}{of}, {fresh}repetition {rep}, {engine}");
                self.ready.progress.step(text, self.line_bps(cell));
                Ok(())
            }
            Event::Ceiling(ceiling) => self.append(Line::Ceiling(ceiling)),
            Event::Away { cell, at_most_ns } => {
                let target = &self.ready.loaded.plan.targets[cell.target].name;
                let at_most = feed::format_duration_ns(at_most_ns);
                self.ready
                    .progress
                    .phase(&format!("{target} does not answer: waiting for it, {at_most} at most"));
                Ok(())
            }
            Event::Made(rep) => {
                self.ready.progress.add(u64::from(rep.outage.is_some()));
                self.ready.progress.step("what was made before".to_owned(), 0.0);
                self.so_far.lines.push(Line::Rep(rep));
                Ok(())
            }
            Event::Astray { made, cell } => Err(resume::astray(&made, cell)),
            Event::Rep(rep, intervals) => {
                self.ready.progress.add(u64::from(rep.outage.is_some()));
                let (reps, intervals) = match &self.leading {
                    Some(leading) => leading.made(rep, intervals)?,
                    None => (vec![*rep], Some(intervals)),
                };
                // The seconds before the line: a repetition that is in the record has its seconds, and not
                // the other way round.
                if let Some(intervals) = intervals {
                    self.writer().append_intervals(&intervals)?;
                }
                reps.into_iter().try_for_each(|rep| self.append(Line::Rep(Box::new(rep))))
            }
        }
    }

    /// The line of a cell, bytes per second.
    fn line_bps(&self, cell: &plan::Cell) -> f64 {
        let Loaded { plan, .. } = &self.ready.loaded;
        let sample_bytes = describe::sample_bytes(self.ready.data.of(cell), plan.dataset(cell), cell);
        plan.line_samples_per_s(cell, sample_bytes) * sample_bytes
    }

    fn writer(&self) -> MutexGuard<'_, RunWriter> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append(&mut self, line: Line) -> Result<(), Failure> {
        self.writer().append(&line)?;
        self.so_far.lines.push(line);
        Ok(())
    }
}

/// The head of a record that begins now.
pub(crate) fn described(ready: &Ready, keep_names: bool, ranks: u32) -> Run {
    let Ready { loaded, data, stores, .. } = ready;
    let started = host::now_utc();
    let begun = Begun {
        run_id: host::run_id(&started, &loaded.plan.name),
        started,
        command: host::command(),
        redacted: !keep_names,
        ranks,
    };
    let facts = |index| {
        let store: &dyn Store = &**stores.data(index);
        store.facts().into_iter().chain(numa::fact(store)).collect()
    };
    let facts = (0..loaded.plan.targets.len()).map(facts).collect();
    describe::run(&loaded.plan, data, facts, begun)
}

pub(crate) fn redactor(keep_names: bool) -> Redactor {
    Redactor::new(if keep_names { Vec::new() } else { environment::secrets() })
}

/// The cells that a line holds the ceiling of.
fn ceiling_cells(line: &Line) -> impl Iterator<Item = &str> {
    let ceiling = if let Line::Ceiling(ceiling) = line { Some(ceiling) } else { None };
    ceiling.into_iter().flat_map(|ceiling| ceiling.cells.iter().map(String::as_str))
}

/// What each cell reads, and through what.
pub(crate) fn setups(
    plan: &Plan,
    (data, checkpoints): (&Datasets, &Checkpoints),
    stores: &Stores,
) -> Vec<CellSetup> {
    let setup = |cell: &plan::Cell| {
        let prepared = data.of(cell);
        let sample_bytes = describe::sample_bytes(prepared, plan.dataset(cell), cell);
        CellSetup {
            store: Arc::clone(stores.get(cell)),
            server: stores.server(cell.target),
            data: Arc::clone(&prepared.data),
            checkpoints: checkpoints.of(cell),
            sample_bytes,
            line_samples_per_s: plan.line_samples_per_s(cell, sample_bytes),
            beside: stores.beside(cell),
            copy_to: cell.task.copy().map(|copy| Arc::clone(stores.data(copy.to))),
        }
    };
    plan.cells.iter().map(setup).collect()
}

/// Datasets that lie on a storage, by their index.
fn on_storage<'a>(plan: &'a Plan, data: &'a Datasets) -> impl Iterator<Item = (usize, &'a OnTarget)> {
    data.all().iter().enumerate().filter(|(_, slot)| plan.targets[slot.target].config.is_storage())
}

/// Datasets whose files are no longer what they were when the run began, and those that cannot be looked at.
pub(crate) fn last_look(
    plan: &Plan,
    data: &Datasets,
    stores: &Stores,
    threads: u32,
) -> (Vec<usize>, Vec<NotLookedAt>) {
    let (mut changed, mut not_looked_at) = (Vec::new(), Vec::new());
    for (dataset, slot) in on_storage(plan, data) {
        match prepare::recheck(&**stores.data(slot.target), &slot.prepared, threads) {
            Ok(false) => {}
            Ok(true) => changed.push(dataset),
            Err(error) => not_looked_at.push(NotLookedAt { dataset, reason: error.to_string() }),
        }
    }
    (changed, not_looked_at)
}

/// What a second reading says of the bytes that cells read. A dataset that changed has no bytes to hold them against.
pub(crate) fn reread(
    bench: &Bench<'_>,
    plan: &Plan,
    (data, changed): (&Datasets, &[usize]),
    stores: &Stores,
) -> Vec<Reread> {
    let slots = on_storage(plan, data).filter(|(index, _)| !changed.contains(index));
    let of_slot = |(index, slot): (usize, &OnTarget)| {
        let cells = plan.cells.iter().enumerate().filter(|(_, cell)| data.index(cell) == index);
        let cells: Vec<usize> = cells.map(|(cell, _)| cell).collect();
        bench.reread(&cells, &**stores.data(slot.target))
    };
    slots.flat_map(of_slot).collect()
}
