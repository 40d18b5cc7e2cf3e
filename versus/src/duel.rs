//! The rounds of one case: each contestant in turn, the order reversed every second round.

use std::collections::BTreeMap;
use std::fs;
use std::iter;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use crate::case::{Case, Peer};
use crate::data::Place;
use crate::device::Device;
use crate::family::Seen;
use crate::fio::{self, Buffers};
use crate::output::say;
use crate::process::{self, Call, Interrupted, Report, Usage};
use crate::record::{Contestant, Lengths, Pair, Round, Run};
use crate::{bare, feedline, host};

/// Name of our side in records and tables.
pub(crate) const FEEDLINE: &str = "feedline";
/// What a tool takes to start its load. It is looked at after that and half a window; feedline makes two.
const START_MS: f64 = 250.0;

/// Who runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Feedline,
    Against(Peer),
}

impl Who {
    fn name(self) -> &'static str {
        match self {
            Self::Feedline => FEEDLINE,
            Self::Against(peer) => peer.name(),
        }
    }
}

/// The two programs, and what they say of themselves.
#[derive(Debug)]
pub(crate) struct Tools {
    /// feedline.
    pub(crate) feedline: (PathBuf, String),
    /// fio.
    pub(crate) fio: (PathBuf, String),
    /// What runs the bare loops.
    pub(crate) bare: PathBuf,
}

/// One case on one place.
#[derive(Debug)]
pub(crate) struct Duel<'a> {
    /// The programs.
    pub(crate) tools: &'a Tools,
    /// The case.
    pub(crate) case: &'a Case,
    /// Its data.
    pub(crate) place: &'a Place,
    /// The device below the data, where the reads of the case reach it.
    pub(crate) device: Option<&'a Device>,
    /// A folder for what is thrown away.
    pub(crate) scratch: PathBuf,
    /// Lengths of the runs.
    pub(crate) lengths: Lengths,
    /// Memory of fio's buffers at its best.
    pub(crate) buffers: Buffers,
    /// Options that the caller adds to fio's best.
    pub(crate) more: &'a [String],
}

impl Duel<'_> {
    /// Has feedline write the data, or find it written.
    pub(crate) fn prepare(&self) -> Result<()> {
        self.place.create()?;
        let scenario = self.write_scenario(self.lengths.short_s, self.case.work.threads)?;
        let call = feedline::call(&self.tools.feedline.0, &["prepare", &scenario]);
        process::run(&call, &self.scratch).map(drop)
    }

    /// Runs everybody once and throws the figures away: what cannot run fails here, the page cache is as the case
    /// has it, and it is seen what the tools were granted.
    pub(crate) fn introduce(&mut self) -> Result<Vec<Contestant>> {
        self.all().into_iter().map(|who| self.contestant(who)).collect()
    }

    fn all(&self) -> Vec<Who> {
        iter::once(Who::Feedline).chain(self.case.peers().into_iter().map(Who::Against)).collect()
    }

    /// Makes the rounds.
    pub(crate) fn rounds(&self, count: u32) -> Result<Vec<Round>> {
        (1..=count).map(|number| self.round(number, count)).collect()
    }

    fn round(&self, number: u32, count: u32) -> Result<Round> {
        say(&format!("{}: round {number} of {count}", self.case.name));
        let load_average = host::load_average();
        let mut order = self.all();
        if number.is_multiple_of(2) {
            order.reverse();
        }
        let mut pairs = BTreeMap::new();
        for who in order.iter().copied() {
            let pair = Pair {
                short: self.measure(who, self.lengths.short_s)?,
                long: self.measure(who, self.lengths.long_s)?,
            };
            pairs.insert(who.name().to_owned(), pair);
        }
        let order = order.into_iter().map(|who| who.name().to_owned()).collect();
        Ok(Round { number, load_average, order, pairs })
    }

    fn measure(&self, who: Who, window_s: f64) -> Result<Run> {
        let call = self.call(who, window_s)?;
        let counted = || self.device?.counted(self.case.work.moves());
        let before = counted();
        let (report, usage, _) = self.run(who, &call, None)?;
        let after = counted();
        let device = after.zip(before).map(|(after, before)| after.since(before));
        Ok(Run { usage, ops: report.ops, bytes: report.bytes, window_s: report.window_s, device })
    }

    fn run(
        &self,
        who: Who,
        call: &Call,
        look_after_ms: Option<i32>,
    ) -> Result<(Report, Usage, Option<Seen>)> {
        let ended = process::run_and_look(call, &self.scratch, look_after_ms)?;
        let report = match who {
            Who::Feedline => self.take_reports(1),
            Who::Against(Peer::Apart) => self.take_reports(self.case.work.threads),
            Who::Against(Peer::Bare) => bare::parse(&ended.out),
            Who::Against(Peer::Default | Peer::Best) => fio::parse(&ended.out),
        };
        let report = report.with_context(|| call.line().join(" "))?;
        Ok((report, ended.usage, ended.seen))
    }

    /// Reads the records of so many processes of feedline's, which ran side by side, and removes them, so that the next run's are
    /// alone again.
    fn take_reports(&self, processes: u32) -> Result<Report> {
        let mut total = Report::default();
        for number in 0..processes {
            let results = self.results(number);
            let report = feedline::report(&results)?;
            fs::remove_dir_all(&results).with_context(|| format!("cannot remove {}", results.display()))?;
            total.ops += report.ops;
            total.bytes += report.bytes;
            total.window_s += report.window_s / f64::from(processes);
            total.granted = report.granted;
        }
        Ok(total)
    }

    fn results(&self, number: u32) -> PathBuf {
        self.scratch.join(format!("results-{number}"))
    }

    fn write_scenario(&self, window_s: f64, threads: u32) -> Result<String> {
        let path = self.scratch.join("scenario.toml");
        fs::write(&path, feedline::scenario(self.case, self.place, window_s, threads))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path.display().to_string())
    }

    fn call(&self, who: Who, window_s: f64) -> Result<Call> {
        match who {
            Who::Feedline => {
                let scenario = self.write_scenario(window_s, self.case.work.threads)?;
                let results = self.results(0).display().to_string();
                let args = ["run", &scenario, "--results", &results, "--no-progress"];
                Ok(feedline::call(&self.tools.feedline.0, &args))
            }
            Who::Against(Peer::Apart) => {
                let scenario = self.write_scenario(window_s, 1)?;
                let results = (0..self.case.work.threads).map(|number| self.results(number));
                Ok(feedline::side_by_side(&self.tools.feedline.0, &scenario, results))
            }
            Who::Against(Peer::Bare) => bare::call(&self.tools.bare, self.case, self.place, window_s),
            Who::Against(peer) => fio::call(
                &self.tools.fio.0,
                (self.case, peer),
                (self.place, window_s),
                (self.buffers, self.more),
            ),
        }
    }

    fn contestant(&mut self, who: Who) -> Result<Contestant> {
        let variant = match self.try_once(who) {
            Err(error) if self.may_do_without_reserved(who, &error) => {
                self.buffers = Buffers::Advised;
                let mut variant = self.try_once(who)?;
                variant.insert(0, format!("iomem=mmaphuge refused: {}", last_line(&error.to_string())));
                variant
            }
            tried => tried?,
        };
        let version = match who {
            Who::Feedline | Who::Against(Peer::Apart) => &self.tools.feedline.1,
            Who::Against(Peer::Bare) => bare::VERSION,
            Who::Against(Peer::Default | Peer::Best) => &self.tools.fio.1,
        };
        let long_s = self.lengths.long_s;
        let threads = match who {
            Who::Feedline => Some(self.case.work.threads),
            Who::Against(Peer::Apart) => Some(1),
            Who::Against(_) => None,
        };
        Ok(Contestant {
            name: who.name().to_owned(),
            version: version.to_owned(),
            command: self.call(who, long_s)?.line(),
            scenario: threads.map(|threads| feedline::scenario(self.case, self.place, long_s, threads)),
            variant,
        })
    }

    fn may_do_without_reserved(&self, who: Who, error: &anyhow::Error) -> bool {
        who == Who::Against(Peer::Best)
            && self.buffers == Buffers::Reserved
            && fio::takes_huge_pages(self.case)
            && !error.is::<Interrupted>()
    }

    /// One short run, and what it says about the variant that runs.
    fn try_once(&self, who: Who) -> Result<Vec<String>> {
        let call = self.call(who, self.lengths.short_s)?;
        let look_after_ms = (START_MS + self.lengths.short_s * 500.0) as i32;
        let (report, _, seen) = self.run(who, &call, Some(look_after_ms))?;
        let mut variant: Vec<String> = match who {
            Who::Feedline | Who::Against(Peer::Apart) => {
                report.granted.iter().map(|(name, value)| format!("{name}: {value}")).collect()
            }
            Who::Against(Peer::Best) if fio::takes_huge_pages(self.case) => self.memory(seen),
            Who::Against(_) => seen.map(|seen| fio::pages(seen.huge_page_bytes)).into_iter().collect(),
        };
        if let Some(seen) = seen.filter(|seen| seen.io_workers > 0) {
            variant.push(format!("io_uring handed requests to {} threads of the kernel", seen.io_workers));
        }
        Ok(variant)
    }

    fn memory(&self, seen: Option<Seen>) -> Vec<String> {
        let buffers_kib = u64::from(self.case.work.queue_depth) * self.case.work.block_bytes / 1024;
        let seen = seen.map_or_else(
            || "it could not be seen how many it got".to_owned(),
            |seen| format!("{} KiB of them seen, buffers of {buffers_kib} KiB", seen.huge_page_bytes / 1024),
        );
        match self.buffers {
            Buffers::Reserved => vec![format!("buffers on reserved huge pages (iomem=mmaphuge): {seen}")],
            Buffers::Advised => vec![
                "iomem=mmaphuge not allowed: needs root and --allow-hugepages".to_owned(),
                format!("asked for huge pages by madvise instead (glibc.malloc.hugetlb=1): {seen}"),
            ],
        }
    }
}

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default().trim_start_matches([' ', '|'])
}
