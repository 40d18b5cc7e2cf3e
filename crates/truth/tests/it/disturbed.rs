//! Storages that misbehave: what holds of every run, over many of them.
//!
//! `FEEDLINE_SEEDS` says how many are played, and `FEEDLINE_SEED` plays one alone.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use truth::disturbed::{Met, Scene, check};

/// Seeds that are played unless more are asked for.
const SEEDS: u64 = 80;

/// Failing seeds that are told in full.
const TOLD: usize = 3;

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: `{text}`")))
}

/// Plays the scene of a seed; a panic is an answer too.
fn play(seed: u64) -> Result<Met, String> {
    match catch_unwind(AssertUnwindSafe(|| check(seed).map_err(|error| error.to_string()))) {
        Ok(played) => played,
        Err(panic) => {
            let words = panic.downcast_ref::<String>().cloned();
            let words = words.or_else(|| panic.downcast_ref::<&str>().map(|words| (*words).to_owned()));
            Err(format!("it panicked: {}", words.unwrap_or_default()))
        }
    }
}

/// What all scenes came to, and the seeds that did not hold.
fn play_all(seeds: std::ops::Range<u64>) -> (Met, Vec<(u64, String)>) {
    let next = AtomicU64::new(seeds.start);
    let work = || {
        let (mut met, mut failed) = (Met::default(), Vec::new());
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return (met, failed);
            }
            match play(seed) {
                Ok(one) => met.add(&one),
                Err(why) => failed.push((seed, why)),
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let (mut met, mut failed) = (Met::default(), Vec::new());
        for worker in workers {
            let (one, mut of_one) = worker.join().unwrap();
            met.add(&one);
            failed.append(&mut of_one);
        }
        failed.sort_unstable();
        (met, failed)
    })
}

#[test]
fn whatever_storages_do_a_run_ends_and_says_what_it_met() {
    let seeds = match number("FEEDLINE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("FEEDLINE_SEEDS").unwrap_or(SEEDS),
    };
    let is_many = seeds.end - seeds.start >= SEEDS;
    let (met, failed) = play_all(seeds);
    let told = failed.iter().take(TOLD).map(|(seed, why)| {
        format!(
            "seed {seed}:\n{why}\n{:?}\nreproduce it: FEEDLINE_SEED={seed} cargo test -p truth --test it disturbed\n",
            Scene::of_seed(*seed)
        )
    });
    let told: String = told.collect();
    let seeds: Vec<u64> = failed.iter().map(|(seed, _)| *seed).collect();
    assert!(failed.is_empty(), "{told}\n{} seeds failed: {seeds:?}", failed.len());
    let reached = [
        met.repetitions,
        met.outages,
        met.failed,
        met.errors,
        met.lies_seen,
        met.abandoned,
        met.gone_on,
        met.feeds,
    ];
    assert!(!is_many || reached.iter().all(|count| *count > 0), "something was never met: {met:?}");
}
