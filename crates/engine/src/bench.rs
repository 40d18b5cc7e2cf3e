//! A whole run: ceilings, interleaved repetitions, confirmation.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use backend::null::NullStore;
use backend::numa::Beside;
use backend::{Clock, SharedStore, Store};
use dataset::Data;
use plan::{Cell, Limit, Load, Measure, OVERHEAD_NS, Operation, Share, Task};
use record::{Ceiling, NotRun, Outage, Outcome, Rep, RepIntervals, Reread, Role, Trained, counter};

use crate::ceiling;
use crate::checkpoint::Destination;
use crate::copy::Copies;
use crate::error::RepError;
use crate::outage::{self, Sign, Waited};
use crate::outcome::Measured;
use crate::progress::Progress;
use crate::rep::run_rep;
use crate::sampled::{Kept, Second};
use crate::schedule::{Schedule, ScheduleSettings, Turn};
use crate::server::Server;
use crate::spec::RepSpec;

/// More epochs than the repetitions of a run read.
// Each time that something is made again it reads in a range of epochs of its own, so the ranges must not touch.
const EPOCHS_MAX: u64 = 1 << 24;

/// What a cell reads, and through what.
#[derive(Clone)]
pub struct CellSetup {
    /// The storage, opened for the cell's engine.
    pub store: SharedStore,
    /// The server behind it, where feedline started that.
    pub server: Option<Arc<dyn Server>>,
    /// The dataset.
    pub data: Arc<Data>,
    /// Where the cell's checkpoints go, where it makes any.
    pub checkpoints: Option<Destination>,
    /// Bytes of one training sample.
    pub sample_bytes: f64,
    /// Samples per second of the feed line for this cell.
    pub line_samples_per_s: f64,
    /// Where the dataset is copied to, by a cell that does that.
    pub copy_to: Option<SharedStore>,
    /// The processors on which the cell's threads are kept; `None` where they may be anywhere.
    pub beside: Option<Beside>,
}

impl CellSetup {
    /// What `work` makes, on threads that are kept where the cell's are.
    fn kept<T>(&self, work: impl FnOnce() -> Result<T, RepError>) -> Result<T, RepError> {
        // Threads run where the one does that starts them, so that none can be forgotten.
        let _kept = self.beside.as_ref().map(Beside::keep).transpose()?;
        work()
    }
}

/// What a run needs besides its cells.
#[derive(Debug, Clone)]
pub struct BenchSettings {
    /// How long, how often, in which order.
    pub measure: Measure,
    /// Processors this process may use.
    pub cores: u32,
    /// Memory that reads of the null target are copied from, bytes.
    pub copy_source_bytes: u64,
    /// This process among those of the run.
    pub rank: Share,
    /// Whether single repetitions are asked for, by a search: each then reads on in an epoch of its own.
    pub searches: bool,
    /// Variant under comparison.
    pub variant: String,
    /// This variant among those whose repetitions are interleaved. Each reads epochs of its own, so that none finds
    /// data in a cache behind the client that another has just read.
    pub variants: Share,
    /// Nanoseconds since 1970 at which the run's clock began; absent where that is not real.
    pub began_unix_ns: Option<u64>,
}

impl BenchSettings {
    /// Those of one process that compares no variants, on a clock that is not the machine's.
    pub fn alone(measure: Measure, cores: u32) -> Self {
        Self {
            measure,
            cores,
            copy_source_bytes: 1 << 20,
            rank: Share::WHOLE,
            searches: false,
            variant: "base".to_owned(),
            variants: Share::WHOLE,
            began_unix_ns: None,
        }
    }
}

/// What happens during a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// A repetition begins.
    Begin {
        /// Its cell.
        cell: &'a Cell,
        /// Why it is made.
        role: Role,
        /// Its number and round.
        turn: Turn,
    },
    /// The server of a cell's target does not answer, and is waited for.
    Away {
        /// The cell.
        cell: &'a Cell,
        /// For how long at most.
        at_most_ns: u64,
    },
    /// The client's ceiling for some cells.
    Ceiling(Ceiling),
    /// A repetition ended.
    Rep(Box<Rep>, RepIntervals),
    /// A repetition was made before the run was interrupted.
    Made(Box<Rep>),
    /// A repetition made before the interruption does not follow from the plan, so nothing made now would belong to it.
    Astray {
        /// What was made.
        made: Box<Rep>,
        /// The cell whose turn it is.
        cell: &'a Cell,
    },
}

/// Why a repetition failed during which this process was away.
const SUSPENDED: &str = "this process was stopped meanwhile, or its machine suspended";

/// What came of one repetition of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Try {
    /// It ended.
    Ended {
        /// Accelerator utilization, 0 to 1.
        au: f64,
    },
    /// It could not be measured.
    Failed,
    /// The budget has no room for it beside the fresh repetitions of what was found.
    OutOfTime,
    /// The run is to end.
    Stopped,
}

impl Try {
    /// What came of a repetition that was not cut short, by what each process that made it reached.
    fn of(reached: Option<f64>) -> Self {
        reached.map_or(Self::Failed, |au| Self::Ended { au })
    }
}

/// A run in progress.
pub struct Bench<'a> {
    cells: &'a [Cell],
    setups: &'a [CellSetup],
    settings: BenchSettings,
    clock: &'a Clock,
    stop: &'a AtomicBool,
    progress: &'a Progress,
    made: u32,
    /// What a repetition takes: an estimate, then the longest so far.
    cost_ns: u64,
    /// What each repetition waits for, once its cache is set; it is told the repetition's place in the run.
    start: Option<&'a (dyn Fn(u32) + Sync)>,
    /// What the processes that this one leads made of the repetition that was handed over last.
    others: Option<&'a (dyn Fn() -> Vec<Rep> + Sync)>,
    /// Whether this process was away since it was last asked.
    suspended: Option<&'a (dyn Fn() -> bool + Sync)>,
    copies: Copies,
    /// Indices of targets whose server did not come back in time. They are not waited for again until they answer.
    lost: BTreeSet<usize>,
    /// By cell: reads that are held against a second reading.
    kept: Vec<Kept>,
    /// Repetitions that were made before the run was interrupted and are still to be passed over, in their order.
    made_before: VecDeque<Rep>,
    /// How often the run was resumed; 0 once the first repetition since then has begun.
    gone_on: u32,
}

impl<'a> Bench<'a> {
    /// A run over `cells`, each with its setup. It ends early once `stop` is set.
    pub fn new(
        cells: &'a [Cell],
        setups: &'a [CellSetup],
        settings: BenchSettings,
        clock: &'a Clock,
        stop: &'a AtomicBool,
        progress: &'a Progress,
    ) -> Self {
        // A mistake of the caller's: with fewer setups, a cell would silently read another's storage.
        assert_eq!(cells.len(), setups.len(), "every cell has a setup");
        let least_ns = settings.measure.warmup_ns + OVERHEAD_NS;
        let cost_ns = settings.measure.repetition_ns().unwrap_or(least_ns);
        Self {
            cells,
            setups,
            settings,
            clock,
            stop,
            progress,
            made: 0,
            cost_ns,
            start: None,
            others: None,
            suspended: None,
            copies: Copies::default(),
            lost: BTreeSet::new(),
            kept: cells.iter().map(|_| Kept::default()).collect(),
            made_before: VecDeque::new(),
            gone_on: 0,
        }
    }

    /// Skips the repetitions made before the run was interrupted, so that the rest follows in the order of an undisturbed
    /// run. A repetition that a signal ended is made again. `begun` says how many were begun, whether they count or not, and
    /// `times` how often the run was resumed: the repetition that was under way may have left data in a cache, recorded or not.
    pub fn go_on_after(&mut self, mut made: Vec<Rep>, begun: u32, times: u32) {
        (self.made, self.gone_on) = (begun, times);
        made.sort_by_key(|rep| rep.order);
        made.retain(|rep| rep.outcome != Outcome::Interrupted);
        self.made_before = made.into();
    }

    /// Lets every repetition from now on wait for `start`, which is told its place in the run, after its cache is set
    /// and before its threads start. It is called once for each, for one that fails before its threads start too.
    pub fn start_by(&mut self, start: &'a (dyn Fn(u32) + Sync)) {
        self.start = Some(start);
    }

    /// Leads other processes that make the same repetitions: once one is handed over, `others` says what they made of it, and
    /// a search goes by the mean of all.
    pub fn lead(&mut self, others: &'a (dyn Fn() -> Vec<Rep> + Sync)) {
        self.others = Some(others);
    }

    /// Asks `suspended` around every repetition whether this process was away since the last call: stopped by a signal, or
    /// its machine suspended. A repetition measured meanwhile is made again.
    pub fn notice(&mut self, suspended: &'a (dyn Fn() -> bool + Sync)) {
        self.suspended = Some(suspended);
    }

    fn was_suspended(&self) -> bool {
        self.suspended.is_some_and(|suspended| suspended())
    }

    /// Makes the kept reads of `cells` again; all of them read one dataset of `store`. Nothing is kept where feedline
    /// wrote the data, which are checked at once. If the storage keeps checksums, whole objects are compared with
    /// them, within limits of bytes and time. Nothing of this is timed.
    pub fn reread(&self, cells: &[usize], store: &dyn Store) -> Vec<Reread> {
        let kept: Vec<&Kept> =
            cells.iter().map(|cell| &self.kept[*cell]).filter(|kept| !kept.is_empty()).collect();
        let Some(first) = cells.first().filter(|_| !kept.is_empty()) else { return Vec::new() };
        let objects = self.setups[*first].data.objects();
        Second::new(store, objects, self.clock).read(&kept, self.settings.rank.index)
    }

    /// Measures the null ceiling of every shape of load among the chosen cells that this process takes part in.
    pub fn ceilings<E>(
        &self,
        chosen: &[usize],
        emit: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        // What is written is filled once, and what a copy can do is decided by two storages: the client's own part of
        // either has no ceiling.
        let has_ceiling = |cell: &Cell| {
            !matches!(cell.task, Task::Copy(_) | Task::Checkpoint(_))
                && cell.part_of(self.settings.rank).is_some()
        };
        let chosen = chosen.iter().copied().filter(|index| has_ceiling(&self.cells[*index]));
        let shapes =
            ceiling::shapes(chosen.map(|index| (index, &self.cells[index], &*self.setups[index].data)));
        let cells = shapes.values().map(Vec::len).sum::<usize>() as u64;
        let window_ns = ceiling::window_ns(self.planned_ns(cells), shapes.len() as u64);
        let plain: SharedStore = Arc::new(NullStore::default());
        // Made for the first shape that copies, of which all are behind the others, and gone before the first repetition: it
        // would be missing from the page cache of a limited process.
        let mut copying: Option<(Option<usize>, SharedStore)> = None;
        for (shape, cells) in shapes {
            if self.stopped() {
                break;
            }
            let names: Vec<String> = cells.iter().map(|index| self.cells[*index].slug.clone()).collect();
            let of = |index: usize| (&self.cells[index], &*self.setups[index].data);
            let costliest = ceiling::costliest(shape, &cells, of);
            // What threads of a NUMA node copy from lies there, as what they read does.
            if shape.copies && copying.as_ref().is_none_or(|(beside, _)| *beside != shape.beside) {
                drop(copying.take());
                let bytes = self.settings.copy_source_bytes;
                let make = || Ok(Arc::new(NullStore::copying(bytes)) as SharedStore);
                copying = self.setups[costliest].kept(make).ok().map(|store| (shape.beside, store));
            }
            let source = copying.as_ref().filter(|_| shape.copies).map(|(_, store)| store);
            let store = source.unwrap_or(&plain);
            let stands = RepSpec { store, ..self.spec(costliest, 0) };
            // A shape that cannot even run on the null target fails as a repetition, where the reason is kept.
            let measure = || {
                self.was_suspended();
                let measure = || ceiling::measure(shape, &stands, window_ns, Vec::clone(&names));
                self.setups[costliest].kept(measure)
            };
            let mut measured = measure();
            for _ in 0..outage::AGAIN_MAX {
                if self.was_suspended() {
                    measured = measure();
                }
            }
            // A ceiling from which the process was away three times is still the best that is known; it can only be
            // too low, and then warns of a client that is too slow.
            if let Ok(ceiling) = measured {
                emit(Event::Ceiling(ceiling))?;
            }
        }
        Ok(())
    }

    /// Runs every cell in interleaved rounds. Time for `kept_back` repetitions is left of the budget.
    pub fn measure<E>(
        &mut self,
        kept_back: u64,
        emit: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<Vec<NotRun>, E> {
        let all: Vec<usize> = (0..self.cells.len()).collect();
        let rounds = 0..self.settings.measure.repetitions;
        self.rounds(&all, Role::Measure, rounds, kept_back, emit)
    }

    /// Runs fresh repetitions of the chosen cells alone, in rounds of these numbers.
    pub fn confirm<E>(
        &mut self,
        chosen: &[usize],
        rounds: Range<u32>,
        emit: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<Vec<NotRun>, E> {
        self.rounds(chosen, Role::Confirm, rounds, 0, emit)
    }

    /// Runs one repetition of a training cell, for a search; again where it meets an outage.
    pub fn try_once<E>(
        &mut self,
        cell: usize,
        emit: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<Try, E> {
        for again in 0.. {
            if self.stopped() {
                break;
            }
            // Every trial is a round of its own: rounds pair repetitions of several cells, and a search has one cell at
            // a time.
            let turn = Turn { cell, rep: 0, round: self.made, again };
            let (came, is_met) = match self.made_before.pop_front() {
                Some(made) => {
                    self.cost_ns = self.cost_ns.max(self.cost_of(&made));
                    let (came, is_met, cell) =
                        (Try::of(used(&made)), made.outage.is_some(), &self.cells[cell]);
                    let is_next = (made.role, made.cell.as_str()) == (Role::Measure, cell.slug.as_str());
                    let made = Box::new(made);
                    emit(if is_next { Event::Made(made) } else { Event::Astray { made, cell } })?;
                    (came, is_met)
                }
                None if self.is_out_of_time() => return Ok(Try::OutOfTime),
                None => self.try_now(turn, emit)?,
            };
            if !is_met {
                return Ok(came);
            }
        }
        Ok(Try::Stopped)
    }

    /// Whether the budget has no room for a try and for both sides of an edge, of which at most half is kept.
    fn is_out_of_time(&self) -> bool {
        let measure = &self.settings.measure;
        // Nothing is known without a first try.
        let Some(budget_ns) = measure.budget_ns.filter(|_| self.made > 0) else { return false };
        let edge_ns = self.cost_ns.saturating_mul(2 * u64::from(measure.repetitions)).min(budget_ns / 2);
        self.clock.now_ns().saturating_add(self.cost_ns).saturating_add(edge_ns) > budget_ns
    }

    /// Makes a repetition of a search. Returns what came of it, and whether it met an outage.
    fn try_now<E>(
        &mut self,
        turn: Turn,
        emit: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(Try, bool), E> {
        let begun_ns = self.clock.now_ns();
        emit(Event::Begin { cell: &self.cells[turn.cell], role: Role::Measure, turn })?;
        let (mut rep, mut intervals, sign) = self.repetition(turn, Role::Measure);
        self.cost_ns = self.cost_ns.max(self.clock.now_ns() - begun_ns);
        rep.outage = self.outage(turn, sign, emit)?;
        let is_met = rep.outage.is_some();
        if is_met {
            intervals.seconds.clear();
        }
        let own = used(&rep);
        emit(Event::Rep(Box::new(rep), intervals))?;
        // Only now: what the others made is handed over with it.
        let came = Try::of(self.with_others(own, used));
        Ok((if self.stopped() { Try::Stopped } else { came }, is_met))
    }

    /// Counts a repetition that the other processes make and in which this one takes no part, so that what it makes next has its place
    /// among theirs.
    pub fn sit_out(&mut self) {
        self.made += 1;
    }

    /// Runs one repetition that another process asks for.
    pub fn once<E>(
        &mut self,
        turn: Turn,
        role: Role,
        emit: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        emit(Event::Begin { cell: &self.cells[turn.cell], role, turn })?;
        let (rep, intervals, _) = self.repetition(turn, role);
        emit(Event::Rep(Box::new(rep), intervals))
    }

    fn rounds<E>(
        &mut self,
        chosen: &[usize],
        role: Role,
        rounds: Range<u32>,
        kept_back: u64,
        emit: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<Vec<NotRun>, E> {
        let measure = &self.settings.measure;
        let settings = ScheduleSettings {
            first: rounds.start,
            repetitions: rounds.end.saturating_sub(rounds.start),
            cell_order: measure.cell_order,
            seed: measure.seed,
            deadline_ns: measure.budget_ns,
        };
        let mut schedule = Schedule::new(self.cells, chosen, role == Role::Measure, settings);
        self.pass_over(&mut schedule, role, emit)?;
        // What was made next was of another kind: time was up for the rest of these.
        if !self.made_before.is_empty() {
            schedule.give_up("budget");
            return Ok(schedule.into_not_run());
        }
        loop {
            let begun_ns = self.clock.now_ns();
            if self.stopped() {
                schedule.give_up("interrupted");
                break;
            }
            // What is kept back is for the confirmation: without it a run that ends with its budget would have
            // nothing that a verdict may rest on. At most half: there would be nothing to confirm.
            let half_ns = self.settings.measure.budget_ns.map_or(u64::MAX, |budget_ns| budget_ns / 2);
            let kept_ns = self.cost_ns.saturating_mul(kept_back).min(half_ns);
            let needed_ns = self.cost_ns.saturating_add(kept_ns);
            let Some(turn) = schedule.next(begun_ns, needed_ns) else { break };
            emit(Event::Begin { cell: &self.cells[turn.cell], role, turn })?;
            let (mut rep, mut intervals, sign) = self.repetition(turn, role);
            let measured_ns = self.clock.now_ns();
            rep.outage = self.outage(turn, sign, emit)?;
            // Waiting for a server is left out of what a repetition costs, or one outage would make all that follow
            // too dear for the budget.
            let waited_ns = self.clock.now_ns() - measured_ns;
            let is_put_off = rep.outage.is_some();
            if is_put_off {
                // The repetition that is made in its place has its number, and seconds of its own.
                intervals.seconds.clear();
            }
            let (reached, line) = self.reached(&rep, turn.cell);
            emit(Event::Rep(Box::new(rep), intervals))?;
            if is_put_off {
                schedule.put_off(turn);
            } else {
                let reached = self.with_others(reached, |rep| self.reached(rep, turn.cell).0);
                schedule.observe(turn.cell, reached, line);
            }
            self.cost_ns = self.cost_ns.max(self.clock.now_ns() - begun_ns - waited_ns);
        }
        Ok(schedule.into_not_run())
    }

    /// The least that a repetition of the record can have taken.
    // The longest so far is not in the record, and what its window took is.
    fn cost_of(&self, made: &Rep) -> u64 {
        self.settings.measure.warmup_ns.saturating_add(made.window_ns).saturating_add(OVERHEAD_NS)
    }

    /// Gives a schedule the repetitions that were made before.
    fn pass_over<E>(
        &mut self,
        schedule: &mut Schedule<'_>,
        role: Role,
        emit: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        // A cell is chosen anew for each kind: what is left belongs to the next.
        while self.made_before.front().is_some_and(|made| made.role == role) {
            let Some(turn) = schedule.next(0, 0) else { break };
            let Some(made) = self.made_before.pop_front() else { break };
            let cell = &self.cells[turn.cell];
            // The plan is the same, by its hash; another order means that the record was edited, or the schedule
            // changed between versions.
            if (made.cell.as_str(), made.rep) != (cell.slug.as_str(), turn.rep) {
                return emit(Event::Astray { made: Box::new(made), cell });
            }
            self.cost_ns = self.cost_ns.max(self.cost_of(&made));
            if made.outage.is_some() {
                schedule.put_off(turn);
            } else {
                let (reached, line) = self.reached(&made, turn.cell);
                schedule.observe(turn.cell, reached, line);
            }
            emit(Event::Made(Box::new(made)))?;
        }
        Ok(())
    }

    /// The outage that a repetition met, once it is over; the repetition is then made again. Processes that keep a common
    /// time do not wait, and a server that feedline started fails as it was told to.
    fn outage<E>(
        &mut self,
        turn: Turn,
        sign: Sign,
        emit: &mut dyn FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<Option<Outage>, E> {
        let cell = &self.cells[turn.cell];
        if sign == Sign::None {
            self.lost.remove(&cell.target);
        }
        if sign == Sign::Suspended {
            return Ok(self.makes_again(turn).then_some(Outage { away_ns: 0, suspended: true }));
        }
        if sign == Sign::None || !self.waits_for_server(turn) || self.lost.contains(&cell.target) {
            return Ok(None);
        }
        let now_ns = self.clock.now_ns();
        let until_ns =
            (now_ns + outage::WAIT_NS_MAX).min(self.settings.measure.budget_ns.unwrap_or(u64::MAX));
        let mut said = Ok(());
        let waited = outage::wait(&self.spec(turn.cell, 0), until_ns, &mut || {
            said = emit(Event::Away { cell, at_most_ns: until_ns.saturating_sub(now_ns) });
        });
        said?;
        Ok(match waited {
            Waited::Over(outage) => Some(outage),
            // The server answers again already. Where connections had been refused it was away for a moment all the
            // same; other failures may be those of a server that is asked too much, and stand.
            Waited::NotAway => (sign == Sign::Sure).then_some(Outage { away_ns: 0, suspended: false }),
            Waited::InVain => {
                // Five minutes for each cell of a dead target would take the budget from all the others.
                self.lost.insert(cell.target);
                None
            }
        })
    }

    /// Whether a repetition that did not come off may be made again.
    fn makes_again(&self, turn: Turn) -> bool {
        // Ranks start their repetitions at times that all of them computed beforehand; variants are interleaved by a
        // parent that waits for nobody.
        let is_alone = self.settings.rank.of == 1 && self.settings.variants.of == 1;
        is_alone && turn.again < outage::AGAIN_MAX
    }

    /// Whether it is, because of its server.
    fn waits_for_server(&self, turn: Turn) -> bool {
        // feedline's own server does not go away by itself: faults that the scenario asks for are what is measured.
        self.setups[turn.cell].server.is_none() && self.makes_again(turn)
    }

    fn repetition(&mut self, turn: Turn, role: Role) -> (Rep, RepIntervals, Sign) {
        let order = self.made;
        let epoch = self.epoch(turn, role);
        self.made += 1;
        let has_waited = AtomicBool::new(false);
        let wait = || {
            has_waited.store(true, Ordering::Relaxed);
            if let Some(start) = self.start {
                start(order);
            }
        };
        self.was_suspended();
        // Taken out while the spec borrows the run.
        let mut copies = std::mem::take(&mut self.copies);
        let ends_if_away = self.waits_for_server(turn);
        let spec = RepSpec { wait: Some(&wait), ends_if_away, ..self.spec(turn.cell, epoch) };
        let setup = &self.setups[turn.cell];
        let make = || match &setup.copy_to {
            Some(to) => copies.run(turn.cell, &spec, to),
            None => run_rep(&spec),
        };
        let made = setup.kept(make);
        self.copies = copies;
        // Others wait for this process even where its own repetition failed before it came so far.
        if !has_waited.load(Ordering::Relaxed) {
            wait();
        }
        let is_suspended = self.was_suspended();
        let sign = if is_suspended { Sign::Suspended } else { Sign::of(&made) };
        let cell = &self.cells[turn.cell];
        let Measured { mut rep, seconds, looks, sampled } =
            made.unwrap_or_else(|error| Measured::failed(cell, error.to_string(), self.clock.now_ns()));
        // One that a signal ended is made again as such.
        if is_suspended && rep.outcome != Outcome::Interrupted {
            rep.outcome = Outcome::Failed { reason: SUSPENDED.to_owned() };
        }
        self.kept[turn.cell].offer(order, sampled);
        let rep = Rep {
            role,
            rep: turn.rep,
            round: turn.round,
            order,
            rank: self.settings.rank.index,
            ranks: cell.ranks.unwrap_or(self.settings.rank.of),
            variant: self.settings.variant.clone(),
            window_unix_ns: self.settings.began_unix_ns.map(|began| began + rep.window_start_ns),
            ..rep
        };
        let intervals = RepIntervals { cell: rep.cell.clone(), role, rep: turn.rep, seconds, looks };
        (rep, intervals, sign)
    }

    /// The epoch in which the next repetition reads on.
    fn epoch(&mut self, turn: Turn, role: Role) -> u64 {
        let epoch = match role {
            // A search reads on in another epoch each time: what it read before may lie in a cache.
            _ if self.settings.searches => u64::from(self.made),
            Role::Measure => self.own_epoch(turn.cell, turn.rep),
            Role::Confirm => self.own_epoch(turn.cell, self.settings.measure.repetitions + turn.rep),
        };
        // What it has read of its epoch may lie in a cache by now.
        let gone_on = u64::from(std::mem::take(&mut self.gone_on)) * u64::from(outage::AGAIN_MAX + 1);
        let epoch = epoch + (u64::from(turn.again) + gone_on) * EPOCHS_MAX;
        let Share { index, of } = self.settings.variants;
        epoch * u64::from(of) + u64::from(index)
    }

    /// An epoch that no other cell reads, whatever the order of cells. Two cells of a round that read the same epoch would
    /// meet each other's data in a cache behind the client, however large the dataset is.
    fn own_epoch(&self, cell: usize, repetition: u32) -> u64 {
        u64::from(repetition) * self.cells.len() as u64 + cell as u64
    }

    fn spec(&self, cell: usize, epoch: u64) -> RepSpec<'_> {
        let setup = &self.setups[cell];
        let measure = &self.settings.measure;
        let part = self.cells[cell].part_of(self.settings.rank);
        let part = part.expect("a process makes what it takes part in");
        // A checkpoint is read back once and whole, by every client that has to.
        let (warmup_ns, limit, part) = match self.cells[cell].operation() {
            Operation::Restore => (0, Limit::Epochs { epochs: 1 }, Share::WHOLE),
            _ => (measure.warmup_ns, measure.limit, part),
        };
        RepSpec {
            cell: &self.cells[cell],
            store: &setup.store,
            server: setup.server.as_deref(),
            data: &setup.data,
            verify: true,
            sample_bytes: setup.sample_bytes,
            // The line in bytes of this cell: samples of another size need another rate of bytes for the same
            // accelerators.
            line_bps: setup.line_samples_per_s * setup.sample_bytes,
            checkpoints: setup.checkpoints.as_ref(),
            warmup_ns,
            limit,
            epoch,
            part,
            wait: None,
            ends_if_away: false,
            cores: setup.beside.as_ref().map_or(u32::MAX, Beside::cores).min(self.settings.cores),
            clock: self.clock,
            stop: self.stop,
            progress: self.progress,
        }
    }

    /// The rate of a repetition and the line that it has to clear, for the search. The record holds counters only. Operations
    /// that read no bytes have no line: their search ends where more depth gains nothing.
    fn reached(&self, rep: &Rep, cell: usize) -> (Option<f64>, f64) {
        let setup = &self.setups[cell];
        let failed = matches!(rep.outcome, Outcome::Failed { .. });
        if let Load::Training(training) = &self.cells[cell].load {
            return (used(rep).map(|au| au * training.demand_samples_per_s()), setup.line_samples_per_s);
        }
        let per_s = |name, each: f64| {
            let count = *rep.counters.get(name)?;
            (!failed && count > 0 && rep.window_ns > 0)
                .then(|| count as f64 / each / (rep.window_ns as f64 / 1e9))
        };
        if let Some(mix) = self.cells[cell].task.mix() {
            let counted = |name| rep.counters.get(name).copied().unwrap_or(0) as f64;
            let (moved, written) = (counted(counter::BYTES), counted(counter::WRITTEN_BYTES));
            let reached = per_s(counter::BYTES, setup.sample_bytes);
            return (reached.map(|per_s| per_s * mix.part(moved, written)), setup.line_samples_per_s);
        }
        if self.cells[cell].operation().reads_bytes() {
            (per_s(counter::BYTES, setup.sample_bytes), setup.line_samples_per_s)
        } else {
            // A line that is never cleared: the search for a depth goes on while there is a gain.
            (per_s(counter::OPS, 1.0), f64::INFINITY)
        }
    }

    /// The mean of what this process reached and what those reached that it leads and that took part; `None` where one of them
    /// failed.
    fn with_others(&self, own: Option<f64>, reached: impl Fn(&Rep) -> Option<f64>) -> Option<f64> {
        let Some(others) = self.others else { return own };
        let of_others = others().into_iter().map(|rep| reached(&rep));
        let all = std::iter::once(own).chain(of_others).collect::<Option<Vec<f64>>>()?;
        Some(all.iter().sum::<f64>() / all.len() as f64)
    }

    /// What the repetitions of so many cells take, as planned; `None` where the storage decides it.
    fn planned_ns(&self, cells: u64) -> Option<u64> {
        let measure = &self.settings.measure;
        let each_ns = measure.repetition_ns()?;
        let all_ns = each_ns.saturating_mul(cells).saturating_mul(u64::from(measure.repetitions));
        Some(all_ns.min(measure.budget_ns.unwrap_or(u64::MAX)))
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Accelerator utilization of a repetition; `None` where it failed, or none ran.
fn used(rep: &Rep) -> Option<f64> {
    let failed = matches!(rep.outcome, Outcome::Failed { .. });
    rep.trained.as_ref().filter(|_| !failed).and_then(utilization)
}

/// The mean over accelerators; `None` where none ran.
fn utilization(trained: &Trained) -> Option<f64> {
    // As MLPerf Storage has it: compute time over wall time of each accelerator, then the mean.
    let shares = trained.accelerators.iter().map(|one| one.compute_ns as f64 / one.wall_ns as f64);
    let mean = shares.sum::<f64>() / trained.accelerators.len() as f64;
    mean.is_finite().then_some(mean)
}
