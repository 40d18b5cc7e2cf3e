//! Which cell of a target is measured again, and judged.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use feed::{Access, Flow, Pages, SaveKind};
use record::axis::{self, Groups, Places, alike, others};
use record::{Axis, Cell};

use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;
use crate::cell::figures::Figures;
use crate::cell::looks::CANDIDATES_MAX;
use crate::cell::mix;
use crate::cell::operation;
use crate::cell::samples;
use crate::cell::set_apart::is_set;
use crate::curve::treatment::{self, FromMemory};

/// The cell of `target` that its verdict should rest on, from the interleaved repetitions alone.
///
/// A verdict is about training, so cells are considered in this order of preference, and only the most
/// preferred that were measured: storage before the client's page cache (`warm`), writes that are kept before those of which
/// nothing is promised, buffers of base pages and threads that nobody places, as a loader has them, before huge ones and threads kept
/// beside the device, a training
/// job that was played before
/// reads without one, readers as a `DataLoader` has them before reads that share a depth, whole files (`read_file`)
/// before blocks of files held open, the order of a training job before others, the sample size nearest to the one the
/// need names, of mixes the share of writes nearest to the need's own, and of paced loads the one that offers no more than the line. Paced loads that offer less, jobs of more
/// or fewer accelerators than the need names, depths beyond the reach of a loader that the scenario states, and cells that look up or list names, write or read checkpoints, or copy,
/// are never chosen. Where several sizes, forms, blocks, orders or jobs are left, nothing says which of them is the user's, and the hardest decides:
/// the one whose best cell has the smallest share of its line. Among those, the shallowest valid cell whose interval clears the
/// line, of training jobs the one with the fewest readers times batches ahead; cells limited by the client come after
/// the others, and of equals the first in the record stands unless the interval of another lies wholly above its own.
/// If none clears, the shallowest valid cell that is no worse than the one nearest to the line, client-limited ones
/// included: behind one of those the storage may well do more, and only its fresh repetitions can say so.
pub(crate) fn chosen<'a>(cells: &Cells<'a>, target: &str) -> Option<&'a CellSummary> {
    let of_target = cells.all.iter().filter(|cell| cell.cell.target == target);
    among(of_target, Eligibility::of(cells, target))
}

/// Cells of one target that are measured afresh at most: the candidates and a control.
pub const FRESH_CELLS_MAX: usize = CANDIDATES_MAX + 1;
/// A mean this near to the best is no worse than it: the shallower of the two is named.
pub(crate) const EQUAL_SHARE: f64 = 0.95;

/// The cells of a target of which fresh repetitions are made.
///
/// Which cells they are follows from the interleaved repetitions alone. Their own figures would not do: a cell that was
/// chosen because it was fast was lucky too.
#[derive(Debug)]
pub(crate) struct Fresh<'a> {
    /// Cells whose fresh repetitions may decide, the one to be named first: the chosen cell, and the fastest of those read
    /// alike where that is another.
    pub(crate) candidates: Vec<&'a CellSummary>,
    /// A cell at another depth, chosen by its depth and not by its figures: it shows whether the storage has changed. Absent
    /// where no cell is left.
    pub(crate) control: Option<&'a CellSummary>,
}

impl<'a> Fresh<'a> {
    /// All of them, candidates first.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &'a CellSummary> + '_ {
        self.candidates.iter().copied().chain(self.control)
    }
}

/// The cells of `target` to measure afresh; `None` where nothing was measured that may be judged.
pub(crate) fn fresh<'a>(cells: &Cells<'a>, target: &str) -> Option<Fresh<'a>> {
    let of_target = cells.all.iter().filter(|cell| cell.cell.target == target);
    let pool = most_preferred(of_target, Eligibility::of(cells, target));
    let named = named(&pool)?;
    let best = nearest_to_the_line(&pool).filter(|best| !std::ptr::eq(best.cell, named.cell));
    let candidates: Vec<&CellSummary> =
        std::iter::once(named).chain(best).map(|candidate| candidate.cell).collect();
    // The control is not chosen by its figures: a cell chosen for being fast falls back by chance alone when it is
    // measured again, and would look as if the storage had slowed down.
    let is_left =
        |one: &&Candidate<'_>| candidates.iter().all(|candidate| !std::ptr::eq(*candidate, one.cell));
    let control = pool.iter().filter(is_left).min_by_key(|one| one.distance_in_depth(&named));
    Some(Fresh { control: control.map(|one| one.cell), candidates })
}

/// Another cell read like those of `fresh` that may reach the line for all that is known: its mean does, or what makes its
/// figures invalid leaves it open, and none of its repetitions is fresh.
pub(crate) fn above_the_line<'a>(
    cells: &Cells<'a>,
    target: &str,
    fresh: &Fresh<'_>,
) -> Option<&'a CellSummary> {
    let eligibility = Eligibility::of(cells, target);
    let of_target = || cells.all.iter().filter(|cell| cell.cell.target == target);
    let named = fresh.candidates.first()?;
    let is_fresh = |one: &Candidate<'_>| fresh.cells().any(|cell| std::ptr::eq(cell, one.cell));
    // Only cells read alike can contradict a STARVES: another size or order that clears is another question, and is
    // said beside the verdict.
    let ways = Ways::of(cells, of_target());
    let read_alike = of_target().filter(|cell| ways.is_one(cell, named) && eligibility.is_reached(cell));
    let mut others =
        read_alike.filter_map(|cell| Candidate::of(cell, eligibility)).filter(|one| !is_fresh(one));
    let may_reach = |one: &Candidate<'_>| {
        let high = one.figures.samples_per_s.interval.zip(one.cell.line);
        // A cell whose figures are invalid is no proof that the line is reached, but neither that it is not: its upper
        // bound may.
        let is_open = high.is_some_and(|(interval, line)| interval.high >= line.samples_per_s);
        one.share() >= 1.0 || (is_open && !one.figures.is_valid())
    };
    others.find(may_reach).map(|one| one.cell)
}

/// The cell on which the verdict of `target` rests where one alone may: the one that was confirmed, else the one to
/// confirm.
///
/// The record, not today's rule, says what was confirmed: an old record keeps its verdict.
pub(crate) fn judged<'a>(cells: &Cells<'a>, target: &str) -> Option<&'a CellSummary> {
    let of_target = || cells.all.iter().filter(|cell| cell.cell.target == target);
    let eligibility = Eligibility::of(cells, target);
    // Fresh repetitions say which cell a run chose. To choose anew would let an old verdict change with the rule of a
    // newer version.
    let confirmed: Vec<&CellSummary> =
        of_target().filter(|cell| cell.confirmed.is_some() && eligibility.may_be_judged(cell)).collect();
    among(confirmed.iter().copied(), eligibility)
        .or_else(|| confirmed.first().copied())
        .or_else(|| among(of_target(), eligibility))
}

/// A cell of `target` that would be judged before every one that was measured, or beside it, had it not failed in all its
/// repetitions. What was asked for and failed is judged, and nothing stands in for it.
pub(crate) fn failed_instead<'a>(cells: &Cells<'a>, target: &str) -> Option<&'a CellSummary> {
    let eligibility = Eligibility::of(cells, target);
    let of_target = || cells.all.iter().filter(|cell| cell.cell.target == target);
    let mut failed =
        of_target().filter(|cell| has_failed(cell) && eligibility.may_be_judged(cell)).peekable();
    failed.peek()?;
    let measured: Vec<Candidate<'_>> =
        of_target().filter_map(|cell| Candidate::of(cell, eligibility)).collect();
    // A cell that failed is judged only if it would have been judged had it worked: a failed cell of a way that nobody
    // would choose says nothing of the need.
    let best = measured.iter().map(|one| one.preference(eligibility)).min();
    let ways = Ways::of(cells, of_target());
    let numbered = measured.iter().map(|one| &one.cell.cell).enumerate();
    let places = Places::of(cells, numbered, others(&ways.but));
    failed.find(|cell| {
        let preference = preference(cell, None, eligibility);
        let mut beside = places.beside(cells, &cell.cell).iter();
        let mut of_way = || beside.any(|at| ways.is_one(measured[*at].cell, cell));
        match best {
            None => true,
            Some(best) => preference < best || (preference == best && !of_way()),
        }
    })
}

fn has_failed(cell: &CellSummary) -> bool {
    matches!(cell.measured, crate::cell::cell_summary::Measurement::Failed { .. })
}

/// The cell that would be chosen of `target` if `engine` were its only one.
pub(crate) fn of_engine<'a>(cells: &Cells<'a>, target: &str, engine: &str) -> Option<&'a CellSummary> {
    let of_engine = |cell: &&CellSummary| cell.cell.target == target && cell.cell.engine == engine;
    among(cells.all.iter().filter(of_engine), Eligibility::of(cells, target))
}

/// What of the need says which cells may be judged by it.
#[derive(Clone, Copy)]
pub(crate) struct Eligibility<'a> {
    cells: Cells<'a>,
    /// Bytes of a sample, where it names them.
    sample_bytes: Option<f64>,
    /// Accelerators; 0 where it names none.
    pub(crate) accelerators: u32,
    /// Reads that the job's loader has outstanding at most, where the scenario states one.
    pub(crate) loader_depth: Option<u32>,
    /// Who waits for the checkpoints that are asked for; `None` where none are.
    saves: Option<SaveKind>,
    /// Whether reads are asked for, writes, or both.
    asked: Flow,
    /// Whether its datasets are of several forms.
    has_forms: bool,
}

impl<'a> Eligibility<'a> {
    /// Of the cells of a target.
    pub(crate) fn of(cells: &Cells<'a>, target: &str) -> Self {
        let need = cells.need.as_ref().ok();
        let mut of_target = cells.all.iter().filter(|cell| cell.cell.target == target);
        let sample_bytes = need.and_then(feed::Need::sample_bytes);
        Self {
            cells: *cells,
            sample_bytes: sample_bytes.filter(|bytes| crate::cell::need::positive(*bytes)),
            accelerators: need.map_or(0, |need| need.accelerators),
            loader_depth: need.and_then(|need| need.loader_depth),
            asked: need.map_or(Flow::Reads, feed::Need::flow),
            saves: need.and_then(|need| need.checkpoint.as_ref()).map(|of| of.kind),
            has_forms: of_target.any(|cell| cell.cell.form().next().is_some()),
        }
    }

    /// Bytes of a sample that are held against those of the need: as stored, but where there are several forms as the scenario
    /// asks for them.
    // Decided for all cells of a target at once. By what shards put beside a sample, or compress away, no form is nearer to
    // the need than another, nor is a layout that knows no such forms.
    fn asked_bytes(self, cell: &CellSummary) -> Option<f64> {
        samples::payload(&cell.cell).filter(|_| self.has_forms).or(cell.sample_bytes)
    }

    /// How far the share of writes of a mix is from the one that the need has; 0 of other cells.
    fn beside_own_mix(self, cell: &CellSummary) -> f64 {
        let own = |sample_bytes| self.cells.need.as_ref().ok()?.write_share(sample_bytes);
        let apart = mix::share(&cell.cell).zip(cell.sample_bytes.and_then(own));
        apart.map_or(0.0, |(share, own)| (share - own).abs())
    }

    /// Whether a loader reaches the depth of a cell; true of what is no closed loop, and where no loader is stated.
    pub(crate) fn is_reached(self, cell: &CellSummary) -> bool {
        let is_closed = cell.cell.training.is_none() && cell.cell.pace.is_none();
        self.loader_depth.is_none_or(|reach| !is_closed || cell.cell.queue_depth <= reach)
    }

    /// Not where no bytes are moved, nor where less than the line is offered, nor where another job is played.
    fn may_be_judged(self, cell: &CellSummary) -> bool {
        // A load that offers less than the line can neither reach it nor miss it.
        let paced = cell.figures().and_then(|figures| figures.paced);
        let offers_less = paced.is_some_and(|paced| paced.of_line.is_some() && !paced.offers_line);
        let job = cell.cell.training.as_ref();
        // More accelerators take more of the storage, and fewer less, so that the rate of such a job is not that of the
        // need.
        let is_other_job = job.is_some_and(|job| job.accelerators != self.accelerators);
        operation::is_asked_for(&cell.cell, self.asked) && !offers_less && !is_other_job
    }
}

fn among<'a>(
    cells: impl Iterator<Item = &'a CellSummary>,
    eligibility: Eligibility<'_>,
) -> Option<&'a CellSummary> {
    named(&most_preferred(cells, eligibility)).map(|one| one.cell)
}

/// The most preferred of `cells`, all read in one way.
fn most_preferred<'a>(
    cells: impl Iterator<Item = &'a CellSummary>,
    eligibility: Eligibility<'_>,
) -> Vec<Candidate<'a>> {
    let measured: Vec<Candidate<'a>> = cells.filter_map(|cell| Candidate::of(cell, eligibility)).collect();
    // Validity comes first: the best of the doubtful is worth less than the worst of the sound. Where all are doubtful
    // one is still named, so that the verdict can say what is wrong with it.
    let valid: Vec<Candidate<'a>> = measured.iter().filter(|one| one.figures.is_valid()).copied().collect();
    // Reads without a job stand in for no job that was asked for: where every job is doubtful, that is the answer.
    let plays = |one: &Candidate<'_>| one.cell.cell.training.is_some();
    // Nor do writes of which nothing is promised for writes that are kept.
    let is_kept = |one: &Candidate<'_>| operation::is_kept(&one.cell.cell);
    // Nor does a job that does not save, or saves otherwise, for one that saves as the need has it.
    let saves = |one: &Candidate<'_>| !saves_otherwise(&one.cell.cell, eligibility.saves);
    let only_doubtful =
        |of: &dyn Fn(&Candidate<'_>) -> bool| measured.iter().any(of) && !valid.iter().any(of);
    let would_stand_in = only_doubtful(&plays) || only_doubtful(&is_kept) || only_doubtful(&saves);
    let pool = if valid.is_empty() || would_stand_in {
        measured
    } else {
        with_doubtful_forms(valid, measured, eligibility)
    };
    let reached: Vec<Candidate<'a>> =
        pool.iter().filter(|one| eligibility.is_reached(one.cell)).copied().collect();
    let pool = if reached.is_empty() { pool } else { reached };
    let preference = |one: &Candidate<'_>| one.preference(eligibility);
    let Some(best) = pool.iter().map(preference).min() else { return Vec::new() };
    let pool: Vec<Candidate<'a>> = pool.into_iter().filter(|one| preference(one) == best).collect();
    hardest_way(&eligibility.cells, &pool)
}

/// `valid`, and what was measured of forms of which nothing is valid: one that starves may be too slow for a valid window, and none
/// that feeds stands in for it.
fn with_doubtful_forms<'a>(
    valid: Vec<Candidate<'a>>,
    measured: Vec<Candidate<'a>>,
    eligibility: Eligibility<'_>,
) -> Vec<Candidate<'a>> {
    if !eligibility.has_forms {
        return valid;
    }
    // Each form is a dataset of its own.
    let sound: BTreeSet<usize> = valid.iter().map(|one| one.cell.cell.dataset).collect();
    let stays = |one: &Candidate<'_>| one.figures.is_valid() || !sound.contains(&one.cell.cell.dataset);
    measured.into_iter().filter(stays).collect()
}

/// The cell that a verdict would name: the shallowest that clears, else the shallowest that is no worse than the best.
fn named<'a>(pool: &[Candidate<'a>]) -> Option<Candidate<'a>> {
    shallowest_that_clears(pool).or_else(|| {
        let best = nearest_to_the_line(pool)?;
        let equal = pool.iter().copied().filter(|one| one.share() >= best.share() * EQUAL_SHARE);
        equal.min_by_key(Candidate::effort)
    })
}

/// The cells read in the way whose best cell has the smallest share of its line; of equals, the first way.
fn hardest_way<'a>(cells: &Cells<'_>, pool: &[Candidate<'a>]) -> Vec<Candidate<'a>> {
    let mut found: Vec<Vec<Candidate<'a>>> = Vec::new();
    let ways = Ways::of(cells, pool.iter().map(|one| one.cell));
    let mut groups = Groups::along(others(&ways.but));
    for one in pool {
        match groups.place(cells, &one.cell.cell, |at| ways.is_one(found[at][0].cell, one.cell)) {
            at if at < found.len() => found[at].push(*one),
            _ => found.push(vec![*one]),
        }
    }
    // The best cell stands for a way, since the user may choose its depth; between ways the hardest decides, since
    // nothing says that the user may choose those.
    let best = |way: &Vec<Candidate<'_>>| way.iter().map(Candidate::share).fold(0.0, f64::max);
    found.into_iter().min_by(|a, b| best(a).total_cmp(&best(b))).unwrap_or_default()
}

#[derive(Clone, Copy)]
struct Candidate<'a> {
    cell: &'a CellSummary,
    figures: &'a Figures,
}

impl<'a> Candidate<'a> {
    /// `None` without figures, and where no verdict may rest on them.
    fn of(cell: &'a CellSummary, eligibility: Eligibility<'_>) -> Option<Self> {
        cell.figures().filter(|_| eligibility.may_be_judged(cell)).map(|figures| Self { cell, figures })
    }

    fn preference(&self, eligibility: Eligibility<'_>) -> Preference {
        preference(self.cell, Some(self.figures), eligibility)
    }

    /// What it takes of the client: the least comes first.
    fn effort(&self) -> (bool, u64, u32) {
        (self.figures.is_client_limited(), held_ahead(&self.cell.cell), self.cell.cell.queue_depth)
    }

    /// How far its depth, or what its job holds ahead, lies from that of `named`; of two at one distance the shallower
    /// is nearer, and cells of one engine are nearer than all others.
    fn distance_in_depth(&self, named: &Candidate<'_>) -> (bool, u64, bool) {
        let (own, other) = (&self.cell.cell, &named.cell.cell);
        // By doublings: the control shows a change of the storage best where its depth is nearly that of the candidate.
        let steps =
            |cell: &record::Cell| (held_ahead(cell).max(1) * u64::from(cell.queue_depth)).max(1).ilog2();
        let (own_steps, other_steps) = (steps(own), steps(other));
        (own.engine != other.engine, u64::from(own_steps.abs_diff(other_steps)), own_steps > other_steps)
    }

    fn mean(&self) -> f64 {
        self.figures.samples_per_s.mean
    }

    /// The need may fix bytes or samples, so cells of unlike samples are compared by their share of the line.
    fn share(&self) -> f64 {
        self.figures.of_line.unwrap_or_else(|| self.mean())
    }

    fn lies_wholly_above(&self, other: &Candidate<'_>) -> bool {
        let intervals = self.figures.samples_per_s.interval.zip(other.figures.samples_per_s.interval);
        intervals.is_some_and(|(own, others)| own.low > others.high)
    }
}

/// Lower is preferred: from memory, writes that may lie in memory, how many of buffers and threads are as no loader has them, job, whether it saves otherwise than the need has it, blocks, access, then the distance in size, in thousandths of a doubling, and what
/// is offered beyond the line, in thousandths of it. Between both comes of mixes the distance from the share of writes that the need
/// has, in thousandths of the whole: each size has a share of its own, rounded to percents.
type Preference = (FromMemory, bool, u8, u8, bool, bool, u8, u64, u64, u64);

/// How much a cell is preferred; without figures nothing is known of its offer.
fn preference(cell: &CellSummary, figures: Option<&Figures>, eligibility: Eligibility<'_>) -> Preference {
    let access = match cell.cell.access.known() {
        Some(Access::ShuffledEpoch) => 0,
        Some(Access::Random) => 1,
        _ => 2,
    };
    // By the logarithm: half the size and twice the size are equally far.
    let distance = eligibility
        .sample_bytes
        .zip(eligibility.asked_bytes(cell))
        .map_or(0.0, |(named, own)| (own / named).log2().abs());
    // A rate in bytes offers fewer samples of a form that stores more for each: held against the line as samples are asked for, it
    // offers as many of every form.
    let in_bytes = cell.cell.pace.as_ref().is_some_and(|pace| pace.rate_bps.is_some());
    let stored = cell.sample_bytes.zip(eligibility.asked_bytes(cell)).filter(|_| in_bytes);
    let stored = stored.map_or(1.0, |(stored, asked)| stored / asked);
    let offered = figures.and_then(|figures| figures.paced?.of_line);
    let beyond = offered.map_or(0.0, |share| share * stored - 1.0);
    // Whole thousandths, so that shares that differ by rounding alone are one preference and keep their cells in one
    // pool.
    let thousandths = |share: f64| (share * 1e3).round() as u64;
    let blocks = !operation::is_whole_file(&cell.cell);
    let job = match &cell.cell.training {
        Some(job) if job.readers.is_some() => 0,
        Some(_) => 1,
        None => 2,
    };
    let huge = cell.cell.pages.as_ref().is_some_and(|pages| *pages == Pages::Huge);
    let saves = saves_otherwise(&cell.cell, eligibility.saves);
    (
        treatment::from_cache(&cell.cell),
        operation::writes_over(&cell.cell) && !operation::is_kept(&cell.cell),
        u8::from(huge) + u8::from(cell.cell.is_beside_device()),
        job,
        saves,
        blocks,
        access,
        thousandths(distance),
        thousandths(eligibility.beside_own_mix(cell)),
        thousandths(beyond),
    )
}

/// Whether a job makes checkpoints in another way than is asked for. Where accelerators go on meanwhile, saves and reads at once
/// are what a storage has to bear; where they stand still, how long a save takes alone is what is judged, and not a job of
/// seconds that saves all the time. Nothing is preferred where no need of checkpoints says which.
fn saves_otherwise(cell: &Cell, asked: Option<SaveKind>) -> bool {
    let mode = cell.training.as_ref().map(|_| cell.checkpoint.as_ref().map(|plan| plan.mode.as_str()));
    match (asked, mode) {
        (None, _) | (_, None) => false,
        (Some(SaveKind::Sync), Some(mode)) => mode.is_some(),
        (Some(SaveKind::Async), Some(mode)) => mode != Some(SaveKind::Async.name()),
    }
}

/// Which cells are read in one way. Streams follow the depth where nobody says how many there are; several numbers of them
/// at one depth are several ways.
struct Ways<'a> {
    run: Cells<'a>,
    but: Vec<Axis>,
}

impl<'a> Ways<'a> {
    /// The ways of these cells.
    fn of<'c>(run: &Cells<'a>, cells: impl Iterator<Item = &'c CellSummary>) -> Self {
        let cells: Vec<&Cell> = cells.map(|one| &one.cell).collect();
        let streams_are_set = is_set(run, &cells, Axis::Streams);
        let may_differ = |axis: &Axis| *axis != Axis::Streams || !streams_are_set;
        Self { run: *run, but: axis::WAY.iter().copied().filter(may_differ).collect() }
    }

    fn is_one(&self, a: &CellSummary, b: &CellSummary) -> bool {
        alike(&self.run, &a.cell, &b.cell, &self.but)
    }
}

/// Readers by the batches that they hold ahead: what a job takes of its client; 0 for other loads.
fn held_ahead(cell: &record::Cell) -> u64 {
    cell.training.as_ref().map_or(0, |job| {
        let readers = job.readers.map_or(cell.queue_depth, |readers| readers.saturating_mul(job.fetches));
        u64::from(readers) * u64::from(job.prefetch.max(1))
    })
}

fn shallowest_that_clears<'a>(pool: &[Candidate<'a>]) -> Option<Candidate<'a>> {
    let clearing = || pool.iter().copied().filter(|one| one.cell.clears() && one.figures.is_valid());
    let least = clearing().map(|one| one.effort()).min()?;
    // Overlapping intervals do not tell two engines apart, and chance must not choose between them.
    clearing()
        .filter(|one| one.effort() == least)
        .reduce(|first, next| if next.lies_wholly_above(&first) { next } else { first })
}

fn nearest_to_the_line<'a>(pool: &[Candidate<'a>]) -> Option<Candidate<'a>> {
    let order = |one: &Candidate<'_>| Reverse(one.cell.cell.queue_depth);
    pool.iter().copied().max_by(|a, b| a.share().total_cmp(&b.share()).then(order(a).cmp(&order(b))))
}

#[cfg(test)]
mod tests {
    use record::RunRecord;

    use crate::fixture::{Builder, ceiling, rep};
    use crate::{choose_cell, summarise};

    /// A record of one target, with three equal repetitions of each cell at a share of the line.
    fn record_of(cells: &[(&str, u32, f64)], edit: impl FnOnce(&mut Builder)) -> RunRecord {
        let mut builder = Builder::new();
        for (name, depth, of_line) in cells {
            builder.cell(name, "disk", *depth);
            for n in 0..3 {
                builder.push(rep(name, n, of_line * Builder::LINE_BPS));
            }
        }
        edit(&mut builder);
        builder.record()
    }

    /// The cell of each storage target that a verdict would name.
    fn named_of(record: &RunRecord) -> Vec<String> {
        let summary = summarise(record);
        let storage = summary.targets.iter().filter(|target| target.storage);
        let named = storage.filter_map(|target| choose_cell(&summary, &target.name));
        named.map(|cell| cell.cell.cell.clone()).collect()
    }

    fn chosen(cells: &[(&str, u32, f64)], edit: impl FnOnce(&mut Builder)) -> Vec<String> {
        named_of(&record_of(cells, edit))
    }

    #[test]
    fn threads_that_nobody_places_before_those_beside_the_device() {
        let beside = |builder: &mut Builder| {
            for (cell, value) in [("a", "device"), ("b", "any")] {
                builder.edit_cell(cell, |cell| cell.axes.push(record::testing::words("numa", value)));
            }
        };
        assert_eq!(chosen(&[("a", 8, 1.5), ("b", 16, 1.1)], beside), ["b"]);
    }

    #[test]
    fn the_shallowest_cell_that_clears_not_the_fastest() {
        let cells = [("a", 8, 0.9), ("b", 16, 1.1), ("c", 32, 1.9), ("d", 64, 3.0)];
        assert_eq!(chosen(&cells, |_| {}), ["b"]);
    }

    #[test]
    fn the_cell_nearest_to_the_line_when_none_clears() {
        assert_eq!(chosen(&[("a", 8, 0.5), ("b", 16, 0.8), ("c", 32, 0.7)], |_| {}), ["b"]);
    }

    #[test]
    fn a_client_limited_cell_comes_after_a_deeper_one_that_clears_too() {
        let limited =
            |b: &mut Builder| b.push_ceiling(ceiling("a", true, 1, (1.2 * Builder::LINE_BPS) as u64));
        assert_eq!(chosen(&[("a", 8, 1.1), ("b", 16, 1.1)], limited), ["b"]);
        let limited =
            |b: &mut Builder| b.push_ceiling(ceiling("a", true, 1, (1.2 * Builder::LINE_BPS) as u64));
        assert_eq!(chosen(&[("a", 8, 1.1), ("b", 16, 0.9)], limited), ["a"]);
    }

    #[test]
    fn a_client_limited_cell_below_the_line_is_confirmed_when_it_is_the_nearest() {
        let limited = |b: &mut Builder| b.push_ceiling(ceiling("b", true, 1, Builder::LINE_BPS as u64));
        assert_eq!(chosen(&[("a", 8, 0.8), ("b", 16, 0.95)], limited), ["b"]);
    }

    #[test]
    fn a_cell_with_failed_reads_is_passed_over() {
        let errors = |b: &mut Builder| b.doubt("a");
        assert_eq!(chosen(&[("a", 8, 1.5), ("b", 16, 0.9)], errors), ["b"]);
        assert_eq!(chosen(&[("a", 8, 1.5)], errors), ["a"], "better a doubtful cell than none");
    }

    #[test]
    fn storage_comes_before_the_page_cache_and_the_training_order_before_others() {
        let warm = |b: &mut Builder| b.edit_cell("a", |cell| cell.cache = "warm".into());
        assert_eq!(chosen(&[("a", 8, 9.0), ("b", 16, 0.9)], warm), ["b"]);
        let again = |b: &mut Builder| b.edit_cell("a", |cell| cell.cache = "cold_start".into());
        assert_eq!(
            chosen(&[("a", 8, 9.0), ("b", 16, 0.9)], again),
            ["b"],
            "later epochs may come from memory"
        );
        let sequential = |b: &mut Builder| b.edit_cell("a", |cell| cell.access = "sequential".into());
        assert_eq!(chosen(&[("a", 8, 9.0), ("b", 16, 0.9)], sequential), ["b"]);
    }

    #[test]
    fn of_layouts_streams_and_checkpoints_the_hardest_is_judged_and_not_what_happens_to_clear() {
        let other_dataset = |b: &mut Builder| {
            let dataset = b.run.datasets[0].clone();
            b.run.datasets.push(dataset);
            b.edit_cell("a", |cell| cell.dataset = 1);
        };
        assert_eq!(chosen(&[("a", 8, 1.5), ("b", 8, 0.5)], other_dataset), ["b"]);
        let streams = |b: &mut Builder| b.edit_cell("a", |cell| cell.streams = Some(16));
        assert_eq!(chosen(&[("a", 8, 1.5), ("b", 8, 0.5)], streams), ["b"]);
        let runs = |b: &mut Builder| b.edit_cell("a", |cell| cell.run_length = Some(16));
        assert_eq!(chosen(&[("a", 8, 1.5), ("b", 8, 0.5)], runs), ["b"]);
        let saves = |b: &mut Builder| {
            b.edit_cell("b", |cell| {
                cell.checkpoint = Some(record::CheckpointPlan {
                    label: "1 GB".to_owned(),
                    bytes: 1 << 30,
                    files: 1,
                    mode: "sync".to_owned(),
                    every_steps: Some(10),
                    copy_ns: 0,
                    durable: true,
                    keep: 1,
                    price_per_hour: None,
                });
            });
        };
        assert_eq!(chosen(&[("a", 8, 1.5), ("b", 8, 0.5)], saves), ["b"]);
    }

    #[test]
    fn whole_files_come_before_blocks_and_after_storage() {
        let files = |b: &mut Builder| b.edit_cell("b", |cell| cell.operation = "read_file".into());
        assert_eq!(chosen(&[("a", 8, 9.0), ("b", 16, 0.9)], files), ["b"]);
        let warm_files = |b: &mut Builder| {
            b.edit_cell("b", |cell| {
                cell.operation = "read_file".into();
                cell.cache = "warm".into();
            });
        };
        assert_eq!(chosen(&[("a", 8, 0.9), ("b", 16, 9.0)], warm_files), ["a"]);
        let sequential_files = |b: &mut Builder| {
            b.edit_cell("b", |cell| {
                cell.operation = "read_file".into();
                cell.access = "sequential".into();
            });
        };
        assert_eq!(chosen(&[("a", 8, 0.9), ("b", 16, 9.0)], sequential_files), ["b"]);
    }

    #[test]
    fn names_are_never_chosen() {
        let stat = |b: &mut Builder| b.edit_cell("a", |cell| cell.operation = "stat".into());
        assert_eq!(chosen(&[("a", 8, 9.0), ("b", 16, 0.9)], stat), ["b"]);
        assert_eq!(chosen(&[("a", 8, 9.0)], stat), Vec::<String>::new());
    }

    #[test]
    fn of_paced_loads_the_one_at_the_line_is_judged() {
        let at = |shares: &'static [(&str, f64)]| {
            move |b: &mut Builder| {
                for (name, share) in shares {
                    b.pace(name, *share, 1.0);
                }
            }
        };
        let cells = [("a", 8, 0.5), ("b", 8, 1.0), ("c", 8, 1.5)];
        assert_eq!(chosen(&cells, at(&[("a", 0.5), ("b", 1.0), ("c", 1.5)])), ["b"]);
        assert_eq!(chosen(&cells, at(&[("a", 0.5), ("b", 0.8), ("c", 0.99)])), Vec::<String>::new());
    }

    #[test]
    fn the_null_target_and_a_target_without_figures_are_not_confirmed() {
        assert_eq!(chosen(&[("a", 8, 0.0)], |_| {}), Vec::<String>::new());
        let null = |b: &mut Builder| b.run.targets[0].storage = false;
        assert_eq!(chosen(&[("a", 8, 2.0)], null), Vec::<String>::new());
    }

    #[test]
    fn ties_at_one_depth_go_to_the_first_unless_another_is_wholly_faster() {
        assert_eq!(chosen(&[("a", 8, 1.2), ("b", 8, 1.4)], |_| {}), ["b"]);
        let spread = |b: &mut Builder| {
            b.edit_reps("a", |rep| rep.window_ns += 100_000_000 * u64::from(rep.rep));
        };
        assert_eq!(chosen(&[("a", 8, 1.5), ("b", 8, 1.6)], spread), ["a"], "the intervals overlap");
    }

    /// Cells `a`, `b`, `c` read samples of 100 kB, 200 kB and 400 kB.
    fn of_three_sizes(builder: &mut Builder) {
        for (index, name) in ["b", "c"].into_iter().enumerate() {
            let mut dataset = builder.run.datasets[0].clone();
            dataset.sample_bytes *= [2.0, 4.0][index];
            builder.run.datasets.push(dataset);
            builder.edit_cell(name, |cell| cell.dataset = index + 1);
        }
    }

    #[test]
    fn a_need_without_a_size_is_judged_at_the_hardest_size() {
        let unnamed = |builder: &mut Builder| {
            builder.run.need = crate::fixture::need_in_bytes(1e9);
            of_three_sizes(builder);
        };
        assert_eq!(chosen(&[("a", 8, 0.40), ("b", 8, 1.01), ("c", 8, 1.83)], unnamed), ["a"]);
        assert_eq!(chosen(&[("a", 8, 1.83), ("b", 8, 1.01), ("c", 8, 1.40)], unnamed), ["b"]);
    }

    #[test]
    fn a_need_with_a_size_is_judged_at_that_size() {
        let cells = [("a", 8, 3.0), ("b", 8, 0.6), ("c", 8, 0.1)];
        assert_eq!(chosen(&cells, of_three_sizes), ["a"], "the need names samples of 100 kB");
    }

    #[test]
    fn blocks_of_equal_preference_are_judged_at_the_hardest() {
        let blocks = |builder: &mut Builder| builder.edit_cell("a", |cell| cell.block_bytes = 4_096);
        assert_eq!(chosen(&[("a", 8, 0.5), ("b", 8, 1.5)], blocks), ["a"]);
    }

    #[test]
    fn of_several_forms_of_one_dataset_the_hardest_is_judged_and_not_what_is_stored_in_fewest_bytes() {
        let compressed = |builder: &mut Builder, says_form: bool| {
            let dataset = builder.run.datasets[0].clone();
            builder
                .run
                .datasets
                .push(record::Dataset { sample_bytes: dataset.sample_bytes / 2.0, ..dataset });
            for (name, dataset, codec) in [("plain", 0, "none"), ("gzip", 1, "gzip")] {
                builder.edit_cell(name, |cell| {
                    let words = |name: &str, value: &str, unit: &str| record::AxisWords {
                        name: name.to_owned(),
                        value: value.to_owned(),
                        unit: unit.to_owned(),
                    };
                    cell.dataset = dataset;
                    cell.axes.push(words("sample_size", "100000", "B"));
                    cell.axes.extend(says_form.then(|| words("codec", codec, "")));
                });
            }
        };
        // Below its line where the bytes are half: the hardest, though the need names the size of the other as it is stored.
        let cells = [("plain", 8, 1.5), ("gzip", 8, 0.2)];
        assert_eq!(chosen(&cells, |builder| compressed(builder, true)), ["gzip"]);
        assert_eq!(
            chosen(&cells, |builder| compressed(builder, false)),
            ["plain"],
            "as older records are judged"
        );
        // So slow that nothing of it is valid: what feeds stands in for no form that does not.
        let failing = |builder: &mut Builder| {
            compressed(builder, true);
            builder.doubt("gzip");
        };
        assert_eq!(chosen(&cells, failing), ["gzip"]);
        // A rate in bytes asks for half as many samples of what is stored in twice the bytes.
        let paced = |builder: &mut Builder| {
            compressed(builder, true);
            builder.pace("plain", 1.1, 1.0);
            builder.pace("gzip", 1.1, 0.1);
            for name in ["plain", "gzip"] {
                builder.edit_cell(name, |cell| {
                    let pace = cell.pace.as_mut().unwrap();
                    (pace.rate_bps, pace.of_line) = (Some(1.1 * Builder::LINE_BPS), None);
                });
            }
        };
        assert_eq!(chosen(&cells, paced), ["gzip"]);
    }

    #[test]
    fn a_layout_that_knows_no_such_form_is_as_near_to_the_need_as_those_that_do() {
        // Stored with their labels, a little above the 100 kB that the need names: `tfrecord` has no members to list.
        let laid_out = |builder: &mut Builder| {
            let plain = builder.run.datasets[0].clone();
            for (name, members, stored) in
                [("one", Some("1"), 1.03), ("two", Some("2"), 1.05), ("tfrecord", None, 1.01)]
            {
                let index = builder.run.datasets.len();
                builder.run.datasets.push(record::Dataset { sample_bytes: 1e5 * stored, ..plain.clone() });
                builder.edit_cell(name, |cell| {
                    let words = |name: &str, value: &str| record::AxisWords {
                        name: name.to_owned(),
                        value: value.to_owned(),
                        unit: String::new(),
                    };
                    cell.dataset = index;
                    cell.axes
                        .push(words("layout", if members.is_some() { "webdataset" } else { "tfrecord" }));
                    cell.axes.push(words("sample_size", "100000"));
                    cell.axes.extend(members.map(|members| words("members", members)));
                });
            }
        };
        let cells = |of_tfrecord| [("one", 8, 1.2), ("two", 8, 0.9), ("tfrecord", 8, of_tfrecord)];
        assert_eq!(chosen(&cells(0.5), laid_out), ["tfrecord"]);
        assert_eq!(chosen(&cells(1.5), laid_out), ["two"]);
    }

    /// Cells that play the job with these readers and batches ahead, at shares of the line; `None` is a closed loop.
    type Job = Option<(Option<u32>, u32)>;

    fn chosen_of_jobs(cells: &[(&str, Job, f64)], edit: impl FnOnce(&mut Builder)) -> Vec<String> {
        let mut builder = Builder::new();
        (builder.run.measure.duration_ns, builder.run.measure.steps) = (None, Some(100));
        for (name, job, of_line) in cells {
            builder.cell(name, "disk", 64);
            builder.edit_cell(name, |cell| cell.operation = "read_file".into());
            let Some((readers, prefetch)) = job else {
                (0..3).for_each(|n| builder.push(rep(name, n, of_line * Builder::LINE_BPS)));
                continue;
            };
            builder.edit_cell(name, |cell| {
                crate::fixture::cell_of_job(cell);
                let job = cell.training.as_mut().unwrap();
                (job.readers, job.prefetch) = (*readers, *prefetch);
            });
            let stall = crate::Stall { storage: 1.0 - of_line * 0.9, ..crate::Stall::default() };
            (0..3).for_each(|n| builder.push(crate::fixture::job_rep(name, n, stall, 64.0)));
        }
        edit(&mut builder);
        named_of(&builder.record())
    }

    const JOB: Job = Some((Some(8), 8));

    #[test]
    fn a_job_that_was_played_comes_before_closed_loops_and_after_storage() {
        assert_eq!(chosen_of_jobs(&[("a", None, 9.0), ("b", JOB, 0.5)], |_| {}), ["b"]);
        let warm = |b: &mut Builder| b.edit_cell("b", |cell| cell.cache = "warm".into());
        assert_eq!(chosen_of_jobs(&[("a", None, 0.9), ("b", JOB, 1.1)], warm), ["a"]);
        let doubtful = |b: &mut Builder| b.doubt("b");
        assert_eq!(
            chosen_of_jobs(&[("a", None, 9.0), ("b", JOB, 0.5)], doubtful),
            ["b"],
            "none stands in for it"
        );
        // A job has as much under way as its readers read: the reach of a loader is one of closed loops.
        let within_8 = |b: &mut Builder| {
            b.run.need.loader_depth = Some(8);
            b.edit_cell("a", |cell| cell.queue_depth = 4);
        };
        assert_eq!(chosen_of_jobs(&[("a", None, 9.0), ("b", JOB, 0.5)], within_8), ["b"]);
    }

    #[test]
    fn jobs_of_other_accelerators_are_never_chosen() {
        let other = |b: &mut Builder| {
            b.edit_cell("a", |cell| cell.training.as_mut().unwrap().accelerators = 4);
        };
        assert_eq!(chosen_of_jobs(&[("a", JOB, 1.1), ("b", None, 0.9)], other), ["b"]);
        assert_eq!(chosen_of_jobs(&[("a", JOB, 1.1)], other), Vec::<String>::new());
    }

    #[test]
    fn of_jobs_that_clear_the_one_that_holds_least_ahead_is_chosen() {
        let readers = |readers, prefetch| Some((Some(readers), prefetch));
        let cells = [
            ("a", readers(16, 16), 1.1),
            ("b", readers(8, 16), 1.05),
            ("c", readers(16, 4), 1.02),
            ("d", JOB, 0.9),
        ];
        assert_eq!(chosen_of_jobs(&cells, |_| {}), ["c"]);
        assert_eq!(chosen_of_jobs(&cells[3..], |_| {}), ["d"]);
    }

    #[test]
    fn readers_come_before_reads_that_share_a_depth() {
        assert_eq!(chosen_of_jobs(&[("a", Some((None, 2)), 1.1), ("b", JOB, 0.7)], |_| {}), ["b"]);
    }

    #[test]
    fn the_hardest_of_several_jobs_decides() {
        let barrier = |b: &mut Builder| {
            b.edit_cell("b", |cell| cell.training.as_mut().unwrap().barrier = true);
        };
        assert_eq!(chosen_of_jobs(&[("a", JOB, 1.1), ("b", JOB, 0.7)], barrier), ["b"]);
    }
}
