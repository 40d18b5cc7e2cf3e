//! Counts of words, right and wrong, by kind of world.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use feed::Judgement;

use crate::judge::Finding;
use crate::world::{Class, World};

/// Standard deviation between repetitions up to which a world is quiet.
const QUIET: f64 = 0.02;

/// Of noisy worlds: most that may say FEEDS, STARVES and UNCERTAIN when they should not.
// A wrong FEEDS buys the wrong storage, a wrong STARVES a second look: so the bounds differ by four. A 95 %
// interval alone would allow 2.5 % of each.
const NOISY_FEEDS_MAX: f64 = 0.005;
const NOISY_STARVES_MAX: f64 = 0.02;
// Without a bound on silence the safest tool would say UNCERTAIN of everything.
const MISSED_MAX: f64 = 0.05;

/// Seeds that are kept of each kind of mistake.
// Enough to replay; all of them stand in no line that anybody reads.
const SEEDS: usize = 8;

#[derive(Debug, Clone, Default)]
struct Row {
    worlds: u64,
    feeds: u64,
    starves: u64,
    uncertain: u64,
    open: u64,
    wrong_feeds: u64,
    wrong_starves: u64,
    decidable: u64,
    missed: u64,
    too_many: u64,
    causes: u64,
    wrong_causes: u64,
}

impl Row {
    fn add(&mut self, finding: &Finding) {
        let is_wrong = finding.is_wrong();
        self.worlds += 1;
        match finding.word {
            Judgement::Feeds => {
                self.feeds += 1;
                self.wrong_feeds += u64::from(is_wrong);
            }
            Judgement::Starves => {
                self.starves += 1;
                self.wrong_starves += u64::from(is_wrong);
            }
            Judgement::Uncertain => self.uncertain += 1,
        }
        self.open += u64::from(finding.is_open);
        self.decidable += u64::from(finding.is_decidable);
        self.missed += u64::from(finding.is_missed());
        self.too_many += u64::from(finding.feeds_too_many);
        self.causes += u64::from(finding.cause_is_wrong.is_some());
        self.wrong_causes += u64::from(finding.cause_is_wrong == Some(true));
    }

    fn merge(&mut self, other: &Self) {
        self.worlds += other.worlds;
        self.feeds += other.feeds;
        self.starves += other.starves;
        self.uncertain += other.uncertain;
        self.open += other.open;
        self.wrong_feeds += other.wrong_feeds;
        self.wrong_starves += other.wrong_starves;
        self.decidable += other.decidable;
        self.missed += other.missed;
        self.too_many += other.too_many;
        self.causes += other.causes;
        self.wrong_causes += other.wrong_causes;
    }
}

/// Findings, counted.
#[derive(Debug, Clone, Default)]
pub struct Table {
    rows: BTreeMap<(Class, bool), Row>,
    /// Seeds of mistakes, by their kind.
    mistakes: BTreeMap<(&'static str, Class), Vec<u64>>,
    /// Worlds that could not be played, and why.
    broken: Vec<(u64, String)>,
}

impl Table {
    /// Counts a world.
    pub fn add(&mut self, world: &World, finding: &Finding) {
        self.rows.entry((world.class, world.device.noise > QUIET)).or_default().add(finding);
        let kinds = [
            ("wrong FEEDS", finding.word == Judgement::Feeds && finding.is_wrong()),
            ("wrong STARVES", finding.word == Judgement::Starves && finding.is_wrong()),
            ("UNCERTAIN, 10 % away", finding.is_missed()),
            ("too many accelerators", finding.feeds_too_many),
            ("wrong cause", finding.cause_is_wrong == Some(true)),
        ];
        for (kind, _) in kinds.into_iter().filter(|(_, is_so)| *is_so) {
            self.mistakes.entry((kind, world.class)).or_default().push(world.seed);
        }
    }

    /// Counts a world that could not be played.
    pub fn add_broken(&mut self, seed: u64, why: String) {
        self.broken.push((seed, why));
    }

    /// Adds the counts of another table.
    pub fn merge(&mut self, other: Self) {
        for (key, row) in other.rows {
            self.rows.entry(key).or_default().merge(&row);
        }
        for (kind, seeds) in other.mistakes {
            let all = self.mistakes.entry(kind).or_default();
            all.extend(seeds);
            all.sort_unstable();
        }
        self.broken.extend(other.broken);
        // Threads end in any order, and the page is kept in the book byte for byte.
        self.broken.sort();
    }

    fn sum(&self, of: impl Fn(Class, bool) -> bool) -> Row {
        let mut sum = Row::default();
        self.rows.iter().filter(|((class, noisy), _)| of(*class, *noisy)).for_each(|(_, row)| sum.merge(row));
        sum
    }

    /// What is beyond its bound, in words; empty when all is well.
    pub fn beyond(&self) -> Vec<String> {
        let mut beyond = Vec::new();
        let quiet = self.sum(|_, noisy| !noisy);
        let noisy = self.sum(|_, noisy| noisy);
        let mut hold = |what: &str, count: u64, of: u64, most: f64| {
            if count as f64 > most * of as f64 {
                beyond.push(format!("{what}: {count} of {of}, at most {:.1} %", most * 100.0));
            }
        };
        // None at all: where nothing but 2 % of noise moves a storage that is 10 % away, a wrong word is a
        // mistake of the rules and no bad luck.
        hold("wrong FEEDS in quiet worlds", quiet.wrong_feeds, quiet.worlds, 0.0);
        hold("wrong STARVES in quiet worlds", quiet.wrong_starves, quiet.worlds, 0.0);
        hold("UNCERTAIN in quiet worlds 10 % away", quiet.missed, quiet.decidable, MISSED_MAX);
        hold("too many accelerators in quiet worlds", quiet.too_many, quiet.worlds, 0.0);
        hold("wrong FEEDS in noisy worlds", noisy.wrong_feeds, noisy.worlds, NOISY_FEEDS_MAX);
        hold("wrong STARVES in noisy worlds", noisy.wrong_starves, noisy.worlds, NOISY_STARVES_MAX);
        hold("UNCERTAIN in noisy worlds 10 % away", noisy.missed, noisy.decidable, MISSED_MAX);
        let all = self.sum(|_, _| true);
        hold("wrong causes", all.wrong_causes, all.causes, NOISY_STARVES_MAX);
        hold("worlds that could not be played", self.broken.len() as u64, all.worlds, 0.0);
        beyond
    }

    /// The table, in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::from(
            "| worlds | noise | played | FEEDS | wrong | STARVES | wrong | UNCERTAIN | the right word for | \
             missed 10 % away | too many accelerators | wrong cause |\n\
             |---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for ((class, noisy), row) in &self.rows {
            line(&mut text, class.name(), if *noisy { "2 to 10 %" } else { "up to 2 %" }, row);
        }
        line(&mut text, "**all**", "up to 2 %", &self.sum(|_, noisy| !noisy));
        line(&mut text, "**all**", "2 to 10 %", &self.sum(|_, noisy| noisy));
        text
    }

    /// Seeds of mistakes, a line for each kind, and worlds that could not be played.
    pub fn mistakes(&self) -> String {
        let mut text = String::new();
        for ((kind, class), seeds) in &self.mistakes {
            let shown: Vec<String> = seeds.iter().take(SEEDS).map(u64::to_string).collect();
            let _ = writeln!(text, "{kind}, {}: {}, seeds {}", class.name(), seeds.len(), shown.join(" "));
        }
        for (seed, why) in self.broken.iter().take(SEEDS) {
            let _ = writeln!(text, "could not be played: seed {seed}: {why}");
        }
        text
    }
}

fn line(text: &mut String, name: &str, noise: &str, row: &Row) {
    let _ = writeln!(
        text,
        "| {name} | {noise} | {} | {} | {} | {} | {} | {} | {} | {} of {} | {} | {} of {} |",
        row.worlds,
        row.feeds,
        row.wrong_feeds,
        row.starves,
        row.wrong_starves,
        row.uncertain,
        row.open,
        row.missed,
        row.decidable,
        row.too_many,
        row.wrong_causes,
        row.causes
    );
}
