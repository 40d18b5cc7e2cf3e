//! Which cell runs next: interleaved rounds, the search for a queue depth, the budget.
//!
//! Pure: it is told what time it is and what was measured.

use std::collections::{BTreeMap, VecDeque};

use dataset::Permutation;
use plan::{Cell, CellOrder};
use record::NotRun;

/// `queue_depth = "auto"` stops once a depth clears the line by this factor: deeper would only add latency.
const HEADROOM: f64 = 1.2;

/// A doubling of the depth that gains less than this is a small gain.
const SMALL_GAIN: f64 = 0.05;

/// Small gains in a row that end the search. One alone is within the noise of a single repetition.
const SMALL_GAINS_MAX: u32 = 2;

/// What the order of cells depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScheduleSettings {
    /// Number of the first round, above 0 where earlier rounds of the same cells were made before.
    pub(crate) first: u32,
    /// Repetitions of each cell.
    pub(crate) repetitions: u32,
    /// Order within a round.
    pub(crate) cell_order: CellOrder,
    /// Seed of random orders.
    pub(crate) seed: u64,
    /// No repetition starts that would end later than this, on the run's clock.
    pub(crate) deadline_ns: Option<u64>,
}

/// One repetition to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Index of the cell.
    pub cell: usize,
    /// Number of this repetition of the cell.
    pub rep: u32,
    /// Round.
    pub round: u32,
    /// How often it was made before, and met an outage.
    pub again: u32,
}

/// Cells that are tried one after the other in the first round: a single one, or the depths of a search.
#[derive(Debug)]
struct Lane {
    waiting: VecDeque<usize>,
    searched: bool,
    best: Option<f64>,
    small_gains: u32,
}

/// The order of a run.
#[derive(Debug)]
pub(crate) struct Schedule<'a> {
    cells: &'a [Cell],
    settings: ScheduleSettings,
    lanes: Vec<Lane>,
    /// Lanes of the first round, in the order in which they get their turns.
    first_round: VecDeque<usize>,
    /// Cells of the present round, after the first.
    present: VecDeque<usize>,
    round: u32,
    /// Repetitions begun, for each cell that takes part.
    begun: BTreeMap<usize, u32>,
    /// Repetitions that met an outage and are made again after the last round.
    put_off: VecDeque<Turn>,
    /// A repetition of a search that met an outage and is made again at once.
    next_up: Option<Turn>,
    not_run: Vec<NotRun>,
}

impl<'a> Schedule<'a> {
    /// A schedule over the cells numbered in `chosen`. With `search`, the cells of an auto group are searched for a depth.
    pub(crate) fn new(cells: &'a [Cell], chosen: &[usize], search: bool, settings: ScheduleSettings) -> Self {
        let lanes = lanes(cells, chosen, search);
        // A lane as often as it has cells, in random order: which depth it is when its turn comes is always the
        // shallowest left, so that a search is interleaved with all else.
        let slots: Vec<usize> =
            lanes.iter().enumerate().flat_map(|(lane, of)| of.waiting.iter().map(move |_| lane)).collect();
        let begun = chosen.iter().map(|cell| (*cell, 0)).collect();
        let mut schedule = Self {
            cells,
            settings,
            lanes,
            first_round: VecDeque::new(),
            present: VecDeque::new(),
            round: 0,
            begun,
            put_off: VecDeque::new(),
            next_up: None,
            not_run: Vec::new(),
        };
        schedule.first_round = schedule.ordered(&slots);
        schedule
    }

    /// The next repetition, if one is left that ends in time: `cost_ns` is what one takes.
    pub(crate) fn next(&mut self, now_ns: u64, cost_ns: u64) -> Option<Turn> {
        // Before a repetition and never inside one: a window that was cut is no measurement, and would be thrown
        // away.
        if self.settings.deadline_ns.is_some_and(|deadline_ns| now_ns + cost_ns > deadline_ns) {
            self.give_up("budget");
            return None;
        }
        if let Some(turn) = self.next_up.take() {
            return Some(turn);
        }
        let Some(cell) = self.next_cell() else {
            let late = self.put_off.pop_front()?;
            return Some(Turn { round: self.settings.first + self.settings.repetitions, ..late });
        };
        let begun = self.begun.entry(cell).or_insert(0);
        // Numbers go on from where the earlier rounds ended, since a reader tells fresh repetitions by them.
        let rep = self.settings.first + *begun;
        *begun += 1;
        Some(Turn { cell, rep, round: self.settings.first + self.round, again: 0 })
    }

    /// Takes back a repetition that met an outage. It is made again after the last round, when the server's caches may be
    /// warm again; in a search it is made at once, because the search goes on from its result.
    pub(crate) fn put_off(&mut self, turn: Turn) {
        let turn = Turn { again: turn.again + 1, ..turn };
        match self.searching(turn.cell) {
            Some(_) => self.next_up = Some(turn),
            None => self.put_off.push_back(turn),
        }
    }

    /// The lane whose search waits for what a repetition of `cell` reaches.
    fn searching(&self, cell: usize) -> Option<usize> {
        let group = self.cells[cell].auto_group.filter(|_| self.round == 0)?;
        self.lanes.iter().position(|lane| {
            let goes_on = |next: &usize| self.cells[*next].auto_group == Some(group);
            lane.searched && lane.waiting.front().is_some_and(goes_on)
        })
    }

    /// Says what a repetition of `cell` reached, so that a search can end. `None`: it failed.
    pub(crate) fn observe(&mut self, cell: usize, reached: Option<f64>, line: f64) {
        if let Some(position) = self.searching(cell)
            && let Some(reason) = self.lanes[position].verdict(reached, line)
        {
            self.cut(position, reason);
        }
    }

    /// Ends the run; everything left is listed with `reason`.
    pub(crate) fn give_up(&mut self, reason: &str) {
        let put_off = self.put_off.drain(..).chain(self.next_up.take());
        for turn in put_off {
            // It was counted when it was begun, and nothing came of it.
            self.begun.entry(turn.cell).and_modify(|begun| *begun -= 1);
        }
        for (cell, begun) in &self.begun {
            if *begun < self.settings.repetitions {
                self.not_run.push(NotRun {
                    cell: self.cells[*cell].slug.clone(),
                    repetitions: self.settings.repetitions - begun,
                    reason: reason.to_owned(),
                });
            }
        }
        self.begun.clear();
        self.present.clear();
        self.first_round.clear();
        self.round = self.settings.repetitions;
    }

    /// What was planned and not made, so far.
    pub(crate) fn into_not_run(self) -> Vec<NotRun> {
        self.not_run
    }

    fn next_cell(&mut self) -> Option<usize> {
        while self.round == 0 {
            match self.first_round.pop_front() {
                Some(lane) => {
                    if let Some(cell) = self.lanes[lane].waiting.pop_front() {
                        return Some(cell);
                    }
                }
                None => self.begin_round(),
            }
        }
        while self.round < self.settings.repetitions {
            if let Some(cell) = self.present.pop_front() {
                return Some(cell);
            }
            self.begin_round();
        }
        None
    }

    fn begin_round(&mut self) {
        self.round += 1;
        if self.round < self.settings.repetitions {
            // What a search has cut is gone from here, and so from all later rounds.
            let cells: Vec<usize> = self.begun.keys().copied().collect();
            self.present = self.ordered(&cells);
        }
    }

    fn ordered(&self, items: &[usize]) -> VecDeque<usize> {
        let items = items.iter().copied();
        match self.settings.cell_order {
            CellOrder::File => items.collect(),
            CellOrder::Random => {
                let items: Vec<usize> = items.collect();
                let n = items.len() as u64;
                let permutation = Permutation::new(
                    n.max(1),
                    // By the number of the round alone, so that a run that is gone on with has the order of an
                    // undisturbed one.
                    self.settings.seed ^ u64::from(self.settings.first + self.round),
                );
                (0..n).map(|index| items[permutation.at(index) as usize]).collect()
            }
        }
    }

    fn cut(&mut self, lane: usize, reason: &str) {
        for cell in std::mem::take(&mut self.lanes[lane].waiting) {
            self.begun.remove(&cell);
            self.not_run.push(NotRun {
                cell: self.cells[cell].slug.clone(),
                repetitions: self.settings.repetitions,
                reason: format!("auto: {reason}"),
            });
        }
    }
}

impl Lane {
    /// Whether the search ends with what the present depth reached, and why.
    fn verdict(&mut self, reached: Option<f64>, line: f64) -> Option<&'static str> {
        // Deeper queues would fail as well, and each failure may cost a time-out.
        let Some(reached) = reached else { return Some("a shallower depth failed") };
        if reached >= line * HEADROOM {
            return Some("a shallower depth clears the line with headroom");
        }
        let small = self.best.is_some_and(|best| reached < best * (1.0 + SMALL_GAIN));
        self.small_gains = if small { self.small_gains + 1 } else { 0 };
        // Against the best and not the last: a dip between two depths would make the recovery look like a gain.
        self.best = Some(self.best.map_or(reached, |best| best.max(reached)));
        (self.small_gains >= SMALL_GAINS_MAX).then_some("deeper queues gain less than 5 %")
    }
}

fn lanes(cells: &[Cell], chosen: &[usize], search: bool) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = Vec::new();
    let mut groups: BTreeMap<u32, usize> = BTreeMap::new();
    for cell in chosen {
        let group = cells[*cell].auto_group.filter(|_| search);
        if let Some(lane) = group.and_then(|group| groups.get(&group)) {
            lanes[*lane].waiting.push_back(*cell);
            continue;
        }
        if let Some(group) = group {
            groups.insert(group, lanes.len());
        }
        lanes.push(Lane {
            waiting: VecDeque::from([*cell]),
            searched: group.is_some(),
            best: None,
            small_gains: 0,
        });
    }
    lanes
}

#[cfg(test)]
mod tests {
    use plan::Engine;

    use super::*;

    fn cells(groups: &[Option<u32>]) -> Vec<Cell> {
        groups
            .iter()
            .enumerate()
            .map(|(index, group)| Cell {
                slug: format!("c{index}"),
                auto_group: *group,
                ..Cell::plain(Engine::Null, 4096, 1 << index)
            })
            .collect()
    }

    fn settings(repetitions: u32, cell_order: CellOrder) -> ScheduleSettings {
        ScheduleSettings { first: 0, repetitions, cell_order, seed: 5, deadline_ns: None }
    }

    fn drain(schedule: &mut Schedule<'_>, reached: impl Fn(usize) -> Option<f64>, line: f64) -> Vec<Turn> {
        let mut turns = Vec::new();
        while let Some(turn) = schedule.next(0, 0) {
            schedule.observe(turn.cell, reached(turn.cell), line);
            turns.push(turn);
        }
        turns
    }

    #[test]
    fn every_round_runs_every_cell_once_in_an_order_of_its_own() {
        let cells = cells(&[None; 8]);
        let all: Vec<usize> = (0..8).collect();
        let mut schedule = Schedule::new(&cells, &all, true, settings(3, CellOrder::Random));
        let turns = drain(&mut schedule, |_| Some(1.0), 9.0);
        assert_eq!(turns.len(), 24);
        let order = |round: usize| turns[round * 8..][..8].iter().map(|t| t.cell).collect::<Vec<_>>();
        for round in 0..3 {
            let mut sorted = order(round);
            sorted.sort_unstable();
            assert_eq!(sorted, all);
            assert!(turns[round * 8..][..8].iter().all(|t| (t.rep, t.round) == (round as u32, round as u32)));
        }
        assert_ne!(order(0), order(1));
        assert_ne!(order(1), order(2));
        assert!(schedule.into_not_run().is_empty());
    }

    #[test]
    fn later_rounds_go_on_where_the_earlier_ones_ended() {
        let cells = cells(&[None; 4]);
        let at_once = |first, repetitions| {
            let settings = ScheduleSettings { first, ..settings(repetitions, CellOrder::Random) };
            drain(&mut Schedule::new(&cells, &[0, 1, 2, 3], false, settings), |_| Some(1.0), 9.0)
        };
        let in_parts: Vec<Turn> = at_once(0, 3).into_iter().chain(at_once(3, 2)).collect();
        assert_eq!(in_parts, at_once(0, 5));
    }

    #[test]
    fn a_search_runs_from_the_shallowest_and_stops_when_the_line_is_cleared_with_headroom() {
        let cells = cells(&[Some(0); 6]);
        let all: Vec<usize> = (0..6).collect();
        let mut schedule = Schedule::new(&cells, &all, true, settings(2, CellOrder::Random));
        let turns = drain(&mut schedule, |cell| Some(100.0 * f64::from(1 << cell)), 300.0);
        let first: Vec<usize> = turns.iter().take(3).map(|turn| turn.cell).collect();
        assert_eq!(first, [0, 1, 2], "400 is 1.33 times the line");
        assert_eq!(turns.len(), 6);
        let left: Vec<String> = schedule.into_not_run().into_iter().map(|n| n.cell).collect();
        assert_eq!(left, ["c3", "c4", "c5"]);
    }

    #[test]
    fn a_search_stops_after_two_small_gains_but_not_after_one() {
        let cells = cells(&[Some(0); 6]);
        let all: Vec<usize> = (0..6).collect();
        let reached = [100.0, 101.0, 150.0, 151.0, 152.0, 400.0];
        let mut schedule = Schedule::new(&cells, &all, true, settings(1, CellOrder::File));
        let turns = drain(&mut schedule, |cell| Some(reached[cell]), 1e9);
        assert_eq!(turns.iter().map(|turn| turn.cell).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        let not_run = schedule.into_not_run();
        assert_eq!(
            (not_run.len(), not_run[0].reason.as_str()),
            (1, "auto: deeper queues gain less than 5 %")
        );
    }

    #[test]
    fn a_failed_depth_ends_its_own_search_only() {
        let cells = cells(&[Some(0), Some(0), Some(1), Some(1)]);
        let mut schedule = Schedule::new(&cells, &[0, 1, 2, 3], true, settings(1, CellOrder::File));
        let turns = drain(&mut schedule, |cell| (cell != 0).then_some(1.0), 1e9);
        assert_eq!(turns.iter().map(|turn| turn.cell).collect::<Vec<_>>(), [0, 2, 3]);
    }

    #[test]
    fn what_does_not_fit_the_budget_is_listed() {
        let cells = cells(&[None; 3]);
        let settings = ScheduleSettings { deadline_ns: Some(100), ..settings(2, CellOrder::File) };
        let mut schedule = Schedule::new(&cells, &[0, 1, 2], true, settings);
        let mut now = 0;
        while schedule.next(now, 25).is_some() {
            now += 25;
        }
        let left: Vec<(String, u32)> =
            schedule.into_not_run().into_iter().map(|n| (n.cell, n.repetitions)).collect();
        assert_eq!(left, [("c1".to_owned(), 1), ("c2".to_owned(), 1)]);
    }
}
