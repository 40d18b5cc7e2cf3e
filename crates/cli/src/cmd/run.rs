//! `feedline run`: scenario, plan, prepare, execute, record, verdict.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use analysis::{GateResult, Summary};
use anyhow::Context as _;
use backend::Clock;
use engine::{Bench, BenchSettings, Event, Progress as Counters, Seat};
use plan::Plan;
use record::{End, Line, Redactor, Role, Run, RunRecord, RunWriter};
use report::RenderError;
use rustix::fs::{Access, access};

use crate::args::RunArgs;
use crate::data::{self, Data, Slot};
use crate::exit::{Exit, Failure};
use crate::load::{self, Loaded};
use crate::open::Stores;
use crate::progress::Progress;
use crate::{describe, environment, output, signals};

pub(crate) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let loaded = load::load(&args.input)?;
    let stop = signals::stop_flag()?;
    let counters = Arc::new(Counters::default());
    let progress = Progress::new(args.no_progress, &counters);
    let cores = environment::usable_cores();

    let results = writable_folder(&args.results)?;
    let stores = Stores::open(&loaded.plan)?;
    progress.phase("making the datasets ready");
    let report = |target: &str, done, total| progress.writing(target, done, total);
    let data = data::make_ready(&loaded.plan, &stores, cores, &report, &stop)?;

    let mut session = Session::begin(&results, args.no_redact, &loaded, (&data, &stores))?;
    let bench = (&*stop, &*counters, cores);
    let interrupted = session.execute(&loaded.plan, (&data, &stores), bench, &progress)?;
    progress.finish();

    let summary = conclude(&session.folder)?;
    output::print(&format!("record {}\n", session.folder.display()))?;
    output::print(&format!("{}\n", report::terminal(&summary).trim_end()))?;
    Ok(if interrupted { Exit::Interrupted } else { exit_of(&summary, args.strict) })
}

/// The folder for runs, made and tried before hours are spent on a dataset.
fn writable_folder(path: &Path) -> Result<PathBuf, Failure> {
    let tried =
        std::fs::create_dir_all(path).and_then(|()| Ok(access(path, Access::WRITE_OK | Access::EXEC_OK)?));
    tried.with_context(|| {
        format!("cannot write results into `{}` (choose another folder with --results)", path.display())
    })?;
    Ok(path.to_owned())
}

/// A record being written, and its lines so far.
struct Session {
    folder: PathBuf,
    writer: RunWriter,
    so_far: RunRecord,
}

impl Session {
    fn begin(
        results: &Path,
        keep_names: bool,
        loaded: &Loaded,
        (data, stores): (&Data, &Stores),
    ) -> Result<Self, Failure> {
        let run: Run = describe::run(&loaded.plan, data, stores, !keep_names);
        let env = environment::capture();
        let secrets = if keep_names { Vec::new() } else { environment::secrets() };
        let folder = results.join(&run.run_id);
        let writer = RunWriter::create(&folder, &run, &loaded.text, &env, Redactor::new(secrets))?;
        Ok(Self { folder, writer, so_far: RunRecord { run, env, lines: Vec::new(), loss: None } })
    }

    /// Runs ceilings, rounds and confirmation; returns whether a signal ended it.
    fn execute(
        &mut self,
        plan: &Plan,
        (data, stores): (&Data, &Stores),
        (stop, counters, cores): (&AtomicBool, &Counters, u32),
        progress: &Progress,
    ) -> Result<bool, Failure> {
        let seats = seats(plan, data, stores);
        let clock = Clock::real();
        let settings =
            BenchSettings { measure: plan.measure.clone(), cores, rank: (0, 1), variant: "base".to_owned() };
        let mut bench = Bench::new(&plan.cells, &seats, settings, &clock, stop, counters);
        let confirming = confirming(plan);
        progress.expect(plan.cells.len() as u64 * u64::from(plan.measure.repetitions) + confirming);

        progress.phase("measuring the client's own ceiling");
        bench.ceilings(&mut |event| self.take(event, progress))?;
        progress.phase("measuring the cells, interleaved");
        let mut not_run = bench.measure(confirming, &mut |event| self.take(event, progress))?;
        progress.phase("confirming the chosen cells with fresh repetitions");
        let chosen = self.chosen(plan);
        not_run.extend(bench.confirm(&chosen, &mut |event| self.take(event, progress))?);

        let interrupted = stop.load(Ordering::Relaxed);
        let changed = changed(plan, data, stores, cores);
        self.append(Line::End(End { interrupted, elapsed_ns: clock.now_ns(), not_run, changed }))?;
        Ok(interrupted)
    }

    /// The cells on which the verdicts will rest.
    fn chosen(&self, plan: &Plan) -> Vec<usize> {
        let names = analysis::choose_for_confirmation(&self.so_far);
        (0..plan.cells.len()).filter(|index| names.contains(&plan.cells[*index].slug)).collect()
    }

    fn take(&mut self, event: Event<'_>, progress: &Progress) -> Result<(), Failure> {
        match event {
            Event::Begin { cell, role, rep } => {
                let why = if role == Role::Confirm { " (confirming)" } else { "" };
                progress.step(format!("{} repetition {}{why};", cell.slug, rep + 1));
                Ok(())
            }
            Event::Ceiling(ceiling) => self.append(Line::Ceiling(ceiling)),
            Event::Rep(rep, intervals) => {
                self.writer.append_intervals(&intervals)?;
                self.append(Line::Rep(rep))
            }
        }
    }

    fn append(&mut self, line: Line) -> Result<(), Failure> {
        self.writer.append(&line)?;
        self.so_far.lines.push(line);
        Ok(())
    }
}

fn seats(plan: &Plan, data: &Data, stores: &Stores) -> Vec<Seat> {
    let seat = |cell: &plan::Cell| {
        let prepared = data.of(cell);
        Seat {
            store: Arc::clone(stores.get(cell.target, cell.engine)),
            server: stores.server(cell.target),
            objects: Arc::clone(&prepared.objects),
            verify_seed: prepared.seed,
            sample_bytes: prepared.sample_bytes,
            line_samples_per_s: plan.need.line_samples_per_s(prepared.sample_bytes),
        }
    };
    plan.cells.iter().map(seat).collect()
}

/// Repetitions that the confirmation will make: those of one cell for each storage.
fn confirming(plan: &Plan) -> u64 {
    let storages = plan.targets.iter().filter(|target| target.config.is_storage()).count();
    storages as u64 * u64::from(plan.measure.repetitions)
}

/// Datasets whose files are no longer what they were when the run began. One that cannot even be looked at
/// has changed.
fn changed(plan: &Plan, data: &Data, stores: &Stores, threads: u32) -> Vec<usize> {
    let has_changed = |slot: &Slot| {
        let target = &plan.targets[slot.target];
        target.config.is_storage()
            && prepare::recheck(&**stores.data(slot.target), &slot.prepared, threads).unwrap_or(true)
    };
    let slots = data.slots().iter().enumerate();
    slots.filter(|(_, slot)| has_changed(slot)).map(|(index, _)| index).collect()
}

/// Derives everything from the record as it lies on disk, and leaves report and plot beside it.
fn conclude(folder: &Path) -> Result<Summary, Failure> {
    let record = record::read_run(folder)?;
    let summary = analysis::summarise(&record);
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write `{}`", path.display()))
    };
    write("report.md", &report::markdown(&summary))?;
    match report::throughput_svg(&summary) {
        Ok(svg) => write("throughput.svg", &svg)?,
        // A run that was interrupted early has nothing to plot, and says so in its table.
        Err(RenderError::NothingMeasured { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(summary)
}

/// The exit code of a run that came to its end. The reasons are on the page that was printed.
fn exit_of(summary: &Summary, strict: bool) -> Exit {
    if !summary.cells.iter().any(analysis::CellSummary::is_measured) {
        return Exit::Error;
    }
    match analysis::gate(summary) {
        GateResult::Missed(_) => Exit::GateMissed,
        GateResult::Inconclusive(_) if strict => Exit::Inconclusive,
        GateResult::None | GateResult::Met | GateResult::Inconclusive(_) => Exit::Ok,
    }
}
