//! Storages of known truth through the whole path: the model against what is measured, and words against the truth.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod causes;
mod disturbed;
mod saving;

use analysis::CellSummary;
use feed::Judgement;
use truth::{Class, Finding, Load, Table, World, judge, play};

/// What whole operations counted in short windows may come to.
const COUNTING: f64 = 0.03;
const COUNTING_OF_JOB: f64 = 0.02;

fn found(world: &World) -> Finding {
    judge(world, &play(world).unwrap())
}

/// What a cell gives by the line, as the model has it.
fn expected(world: &World, cell: &CellSummary) -> f64 {
    match (&world.load, &cell.cell.training) {
        (Load::Training { job }, Some(_)) => job.utilization(world.pipe()) / world.utilization,
        _ => world.at_depth(cell.cell.queue_depth) / world.line(),
    }
}

#[test]
fn what_is_measured_is_what_the_model_gives() {
    let mut cells = 0;
    for seed in 0..24 {
        let class = [Class::Closed, Class::Training][seed as usize % 2];
        let world = World::of_class(seed, class, 0.0);
        for cell in &play(&world).unwrap().summary.cells {
            // A search leaves depths out, and loops beside a job have no warm-up before their window.
            let is_beside = class == Class::Training && cell.cell.training.is_none();
            let Some(figures) = cell.figures().filter(|_| !is_beside) else { continue };
            let measured = figures.of_line.unwrap();
            let expected = expected(&world, cell);
            let off = measured / expected - 1.0;
            let most = if class == Class::Training { COUNTING_OF_JOB } else { COUNTING };
            assert!(off.abs() < most, "seed {seed}, {}: {measured} for {expected}", cell.cell.cell);
            cells += 1;
        }
    }
    assert!(cells > 30);
}

#[test]
fn a_world_is_played_the_same_again() {
    for seed in [3, 50] {
        let world = World::of_seed(seed);
        let [first, second] = [play(&world), play(&world)].map(|played| played.unwrap().record);
        assert_eq!(first, second, "seed {seed}");
    }
}

fn needs(world: &World, of_what_is_given: f64) -> bool {
    (world.need - of_what_is_given).abs() < 1e-9
}

/// The first world of a class that is so.
fn world(class: Class, is_so: impl Fn(&World) -> bool) -> World {
    (0..1_000).map(|seed| World::of_class(seed, class, 0.002)).find(is_so).unwrap()
}

#[test]
fn plain_storages_get_the_right_word() {
    for class in [Class::Closed, Class::Paced, Class::Training] {
        for (need, word) in [(0.5, Judgement::Feeds), (2.0, Judgement::Starves)] {
            let world = world(class, |world| needs(world, need) && !world.shards && is_ahead(world));
            let found = found(&world);
            assert_eq!((found.word, found.is_wrong()), (word, false), "{class:?} {need}: {found:?}");
        }
    }
}

/// Whether a job, where there is one, fetches ahead: without, no storage feeds it.
fn is_ahead(world: &World) -> bool {
    match &world.load {
        Load::Training { job } => job.prefetch >= 2 * job.readers,
        Load::Closed { .. } | Load::Paced => true,
    }
}

#[test]
fn words_that_the_truth_forbids_are_wrong() {
    let hosts = world(Class::Hosts, |world| world.need < 1.0);
    let found_of_hosts = found(&hosts);
    assert!(!found_of_hosts.may_feed && !found_of_hosts.may_starve);
    let crossed = world(Class::Step, |world| {
        needs(world, 0.9) && {
            let truth::Change::Step { to, .. } = world.device.change else { return false };
            to < world.need
        }
    });
    let found_of_change = found(&crossed);
    assert!(!found_of_change.may_feed && !found_of_change.may_starve, "{found_of_change:?}");
}

#[test]
fn mistakes_are_counted_and_named_by_their_seed() {
    let world = world(Class::Closed, |world| needs(world, 0.5));
    let right = found(&world);
    let wrong = Finding { word: Judgement::Starves, may_starve: false, ..right.clone() };
    let mut table = Table::default();
    table.add(&world, &right);
    assert_eq!((table.beyond().len(), table.mistakes()), (0, String::new()));
    table.add(&world, &wrong);
    assert_eq!(table.beyond(), ["wrong STARVES in quiet worlds: 1 of 2, at most 0.0 %"]);
    assert_eq!(table.mistakes(), format!("wrong STARVES, closed loop: 1, seeds {}\n", world.seed));
}

/// What is known to be wrong is counted by `just truth`; here it is enough that every world can be played.
#[test]
fn worlds_of_every_kind_are_played() {
    for seed in 0..40 {
        let world = World::of_seed(seed);
        let played = play(&world).unwrap();
        assert!(!played.summary.verdicts.is_empty(), "seed {seed}\n{}", world.scenario());
        let _ = judge(&world, &played);
    }
}
