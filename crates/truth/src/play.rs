//! A world, played from its scenario to its verdict.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use analysis::Summary;
use backend::{Clock, SharedStore};
use describe::{Begun, Datasets, OnTarget, StoreFacts};
use engine::{Bench, BenchSettings, CellSetup, Event, Progress};
use plan::Plan;
use prepare::Prepared;
use record::{
    Ceiling, Device, End, Environment, Line, NotRun, Redactor, Rep, RunRecord, RunWriter, System, Usage,
    counter,
};
use scenario::{HostFacts, PathFacts, Source};

use crate::storage::{Model, RepTruth};
use crate::world::World;

/// Every so many worlds, one is written to a folder and read back.
// One in fifty is enough to hold that a record says the same once it is read back, and spares the files of
// the others.
const STORED: u64 = 50;

/// Processors of the host that worlds are played on, whatever this machine has.
// More than a job of four accelerators uses, so that no world is limited by its client unless its class
// says so.
pub(crate) const CORES: u32 = 8;

/// What came of a world.
#[derive(Debug)]
pub struct Played {
    /// The record.
    pub record: RunRecord,
    /// What is concluded from it.
    pub summary: Summary,
    /// What each repetition met, in their order.
    pub met: Vec<RepTruth>,
}

/// Plays a world.
///
/// # Errors
/// When the scenario does not resolve, or the record cannot be stored: both are mistakes of this crate or of feedline.
pub fn play(world: &World) -> Result<Played, Box<dyn Error>> {
    let plan = resolve("world", world.scenario(), &[])?;
    let data = imagined(&plan)?;
    // A run of minutes takes milliseconds, and a busy machine changes nothing in it.
    let clock = Clock::simulated();
    let model = Model::new(world.device.clone(), world.seed, &clock);
    let store: SharedStore = Arc::new(model.clone());
    let facts = plan.targets.iter().map(|_| store.facts()).collect();
    let setups = setups(&plan, &data, &vec![store; plan.targets.len()]);
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let mut bench = Bench::new(&plan.cells, &setups, settings(&plan), &clock, &stop, &progress);
    let mut record = begun(&plan, &data, facts);
    record.lines.extend(ceiling(world, &plan).map(Line::Ceiling));
    let not_run = measure(&mut bench, &plan, &mut record, &|rep| with_others(rep, &model))?;
    let end = End { elapsed_ns: clock.now_ns(), not_run, ..End::default() };
    record.lines.push(Line::End(end));
    if world.seed.is_multiple_of(STORED) {
        record = stored(&record, &world.scenario())?;
    }
    Ok(Played { summary: analysis::summarise(&record), record, met: model.repetitions() })
}

/// One process that measures all of a plan on the imagined host.
pub(crate) fn settings(plan: &Plan) -> BenchSettings {
    BenchSettings::alone(plan.measure.clone(), CORES)
}

/// What the client of a world takes in, as the null target would show it: what the null target shows of this machine is
/// nothing of the world's.
fn ceiling(world: &World, plan: &Plan) -> Option<Ceiling> {
    const WINDOW_NS: u64 = 1_000_000_000;
    let ops = world.device.client_ops_per_s;
    ops.is_finite().then(|| Ceiling {
        cells: plan.cells.iter().map(|cell| cell.slug.clone()).collect(),
        copies: false,
        ops: ops as u64,
        bytes: ops as u64 * u64::from(plan.cells[0].block_bytes),
        window_ns: WINDOW_NS,
        cpu_ns: 0,
        trained: None,
    })
}

/// Interleaved rounds, and fresh repetitions of what was chosen: what `feedline run` does between opening the storages and
/// concluding. `counted` puts in what the kernel of the imagined host would have counted.
pub(crate) fn measure(
    bench: &mut Bench<'_>,
    plan: &Plan,
    record: &mut RunRecord,
    counted: &dyn Fn(&mut Rep),
) -> Result<Vec<NotRun>, Infallible> {
    let mut not_run = bench.measure(0, &mut keep(record, counted))?;
    while let Some(look) = analysis::next_look(record) {
        let chosen: Vec<usize> =
            (0..plan.cells.len()).filter(|index| look.cells.contains(&plan.cells[*index].slug)).collect();
        not_run.extend(bench.confirm(&chosen, look.rounds, &mut keep(record, counted))?);
    }
    Ok(not_run)
}

/// Takes what happens into the record.
fn keep<'a>(
    record: &'a mut RunRecord,
    counted: &'a dyn Fn(&mut Rep),
) -> impl FnMut(Event<'_>) -> Result<(), Infallible> + 'a {
    move |event| {
        if let Event::Rep(mut rep, _) = event {
            without_this_machine(&mut rep);
            counted(&mut rep);
            record.lines.push(Line::Rep(rep));
        }
        Ok(())
    }
}

/// Takes out what the engine counted of the machine that plays: real seconds of its processors against virtual windows
/// would make a client that is busy, or a machine that is stolen.
pub(crate) fn without_this_machine(rep: &mut Rep) {
    rep.usage = Usage { wall_ns: rep.window_ns, cores: CORES, ..Usage::default() };
    rep.system = System::default();
}

/// Puts in what others took of the simulated storage, as the kernel would count it.
fn with_others(rep: &mut Rep, model: &Model) {
    let others = model.repetitions().last().map_or(0.0, |met| met.others);
    if others == 0.0 {
        return;
    }
    let count = |name| rep.counters.get(name).copied().unwrap_or(0);
    let (own_reads, own_bytes) = (count(counter::OPS), count(counter::BYTES));
    let all = |own: u64| (own as f64 / (1.0 - others)) as u64;
    rep.system.process_read_bytes = Some(own_bytes);
    rep.system.device = Some(Device {
        name: "sim0".to_owned(),
        reads: all(own_reads),
        read_bytes: all(own_bytes),
        busy_ns: rep.window_ns,
        wall_ns: rep.window_ns,
        ..Device::default()
    });
}

/// The plan of a scenario on the imagined host.
pub(crate) fn resolve(name: &str, text: String, overrides: &[String]) -> Result<Plan, Box<dyn Error>> {
    let source = Source { name: format!("{name}.toml"), text };
    let scenario = scenario::parse(&source, overrides);
    let facts = PathFacts { file_system: "ext4".to_owned(), ..PathFacts::generous() };
    let host = HostFacts {
        cores: CORES,
        memory_bytes: 1 << 36,
        cache_bytes: Some(32 << 20),
        open_files_max: 1 << 20,
        io_uring: Ok(()),
        order: None,
        paths: scenario
            .local_paths()
            .into_iter()
            .map(|path| (path, facts.clone()))
            .collect::<BTreeMap<_, _>>(),
    };
    Ok(scenario::resolve(&scenario, &host).map_err(|error| error.to_string())?)
}

/// The datasets of a plan as arithmetic.
pub(crate) fn imagined(plan: &Plan) -> Result<Datasets, Box<dyn Error>> {
    let slot = |(target, dataset): (usize, usize)| {
        let prepared = Prepared::imagined(&plan.datasets[dataset]).ok_or("a dataset cannot be imagined")?;
        Ok::<_, Box<dyn Error>>(OnTarget { target, dataset, prepared })
    };
    Ok(Datasets::new(plan.places().into_iter().map(slot).collect::<Result<_, _>>()?))
}

/// What each cell reads, and through which of the `stores` of the targets.
pub(crate) fn setups(plan: &Plan, data: &Datasets, stores: &[SharedStore]) -> Vec<CellSetup> {
    let setup = |cell: &plan::Cell| {
        let prepared = data.of(cell);
        let sample_bytes = describe::sample_bytes(prepared, plan.dataset(cell), cell);
        CellSetup {
            store: Arc::clone(&stores[cell.target]),
            server: None,
            data: Arc::clone(&prepared.data),
            checkpoints: None,
            sample_bytes,
            line_samples_per_s: plan.line_samples_per_s(cell, sample_bytes),
            copy_to: None,
            beside: None,
        }
    };
    plan.cells.iter().map(setup).collect()
}

/// The head of a record, and nothing measured.
pub(crate) fn begun(plan: &Plan, data: &Datasets, facts: Vec<StoreFacts>) -> RunRecord {
    let begun = Begun {
        run_id: format!("20260101T000000Z-{}-0000", plan.name),
        started: "2026-01-01T00:00:00Z".to_owned(),
        command: vec!["feedline".to_owned(), "run".to_owned(), "world.toml".to_owned()],
        redacted: true,
        ranks: 1,
    };
    let run = describe::run(plan, data, facts, begun);
    RunRecord { run, env: Environment::default(), lines: Vec::new(), segments: Vec::new(), loss: None }
}

/// The record as it is read back from a folder.
fn stored(record: &RunRecord, scenario: &str) -> Result<RunRecord, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let run = folder.path().join("run");
    let mut writer = RunWriter::create(&run, &record.run, scenario, &record.env, Redactor::new(Vec::new()))?;
    for line in &record.lines {
        writer.append(line)?;
    }
    drop(writer);
    Ok(record::read_run(&run)?)
}
