//! Training jobs beside cells of the golden record: simulated steps, and figures made of them by hand.

use std::sync::LazyLock;

use analysis::{
    Bound, CellSummary, Diagnosis, Figures, Idle, LittlesLaw, LoopPair, Measurement, PredictedAu, Rate,
    Remedy, Stall, Summary, Symptom, TrainingFigures, summarise,
};
use record::{Line, TrainedStep};

use crate::records;

const COMPUTE_NS: u64 = 224_000_000;
const THRESHOLD: f64 = 0.9;

/// A job to make figures of.
#[derive(Debug, Clone)]
pub(crate) struct Made {
    pub(crate) target: &'static str,
    pub(crate) accelerators: u32,
    /// Absent where reads share the depth of the cell.
    pub(crate) readers: Option<u32>,
    pub(crate) prefetch: u32,
    pub(crate) steps: u64,
    /// Time from which on a batch is ready after the one before; of every eighth step twice as long.
    pub(crate) batch_ns: u64,
}

impl Made {
    pub(crate) fn of(target: &'static str, batch_ms: u64) -> Self {
        Self {
            target,
            accelerators: 8,
            readers: Some(8),
            prefetch: 2,
            steps: 120,
            batch_ns: batch_ms * 1_000_000,
        }
    }

    pub(crate) fn slug(&self) -> String {
        let fetch = self.readers.map_or("shared".to_owned(), |readers| format!("r{readers}"));
        format!("{}/train/n{}/{fetch}/p{}", self.target, self.accelerators, self.prefetch)
    }

    /// The steps of an accelerator whose batches are made one after the other, and taken as soon as they are there.
    fn timeline(&self) -> Vec<TrainedStep> {
        let mut steps: Vec<TrainedStep> = Vec::new();
        let mut ready_ns = 0;
        for number in 0..self.steps {
            let slow = if number % 8 == 5 { 2 } else { 1 };
            let ahead = number.checked_sub(u64::from(self.prefetch) + 1);
            let allowed_ns = ahead.map_or(0, |taken| steps[taken as usize].start_ns);
            ready_ns = allowed_ns.max(ready_ns) + self.batch_ns * slow;
            let start_ns = steps.last().map_or(0, |step| step.end_ns).max(ready_ns);
            steps.push(TrainedStep { ready_ns, start_ns, end_ns: start_ns + COMPUTE_NS });
        }
        steps
    }

    pub(crate) fn figures(&self) -> TrainingFigures {
        let steps = self.timeline();
        let wall_ns = steps.last().map_or(1, |step| step.end_ns);
        let mut before_ns = 0;
        let mut waits: Vec<u64> = Vec::new();
        for step in &steps {
            waits.push(step.start_ns - before_ns);
            before_ns = step.end_ns;
        }
        let late = waits.iter().skip(1).filter(|ns| **ns > 0).count() as u64;
        waits.sort_unstable();
        let au = self.steps as f64 * COMPUTE_NS as f64 / wall_ns as f64;
        let many = u64::from(self.accelerators) * 5;
        let wait = 1.0 - au;
        TrainingFigures {
            au: rate(au, 0.006),
            least_au: None,
            worst_au: au - 0.004,
            dlio_au: Some((au + 0.02).min(1.0)),
            steps: self.steps * many,
            late: late * many,
            first_batch_ns: steps.first().map_or(0, |step| step.ready_ns),
            fill: steps.first().map_or(0.0, |step| step.ready_ns as f64 / wall_ns as f64),
            wait_p50_ns: waits.get(waits.len() / 2).copied(),
            wait_p99_ns: (self.steps * many >= 1_000).then(|| waits[waits.len() * 99 / 100]),
            wait_max_ns: waits.last().copied(),
            waits: (1..=waits.len()).map(|n| (n as f64 / waits.len() as f64, waits[n - 1])).collect(),
            timeline: steps.into_iter().take(100).collect(),
            fetch_p50_ns: Some(self.batch_ns),
            fetch_mean_ns: Some(self.batch_ns as f64),
            lag_p99_ns: Some(20_000),
            stall: Stall {
                storage: wait * 0.9,
                decode: 0.0,
                client: wait * 0.1,
                startup: 0.0,
                barrier: 0.0,
                ..Stall::default()
            },
            occupancy: vec![wait, au],
            lost_samples: 0,
            null_au: Some(0.9997),
            not_predicted: None,
            predicted: None,
            diagnosis: None,
            idle: Idle { gpu_hours_per_day: 24.0 * f64::from(self.accelerators) * wait, price_per_day: None },
        }
    }
}

fn rate(mean: f64, half: f64) -> Rate {
    let interval = feed::Interval { low: mean - half, mean, high: mean + half };
    Rate { mean, interval: Some(interval), min: mean - half / 2.0, max: mean + half / 2.0 }
}

/// The golden record with the deeper cells of two targets alone.
pub(crate) fn without_jobs() -> Summary {
    static ONCE: LazyLock<Summary> = LazyLock::new(summarised);
    ONCE.clone()
}

fn summarised() -> Summary {
    let mut record = records::golden();
    let kept = |cell: &record::Cell| {
        ["nvme", "filer"].contains(&cell.target.as_str())
            && cell.engine == "io_uring"
            && [32, 128].contains(&cell.queue_depth)
    };
    record.run.cells.retain(kept);
    record.run.skipped.clear();
    let names: Vec<String> = record.run.cells.iter().map(|cell| cell.cell.clone()).collect();
    record.run.targets.retain(|target| ["nvme", "filer"].contains(&target.name.as_str()));
    record.lines.retain(|line| !matches!(line, Line::Rep(rep) if !names.contains(&rep.cell)));
    summarise(&record)
}

/// Adds a cell for each job, like the first of its target.
pub(crate) fn with_jobs(mut summary: Summary, jobs: &[Made]) -> Summary {
    for made in jobs {
        let cell = cell(&summary, made);
        summary.cells.push(cell);
    }
    summary
}

fn cell(summary: &Summary, made: &Made) -> CellSummary {
    let like = summary.cells.iter().find(|cell| cell.cell.target == made.target && cell.figures().is_some());
    let mut cell = like.expect("a cell of the target has figures").clone();
    cell.cell.cell = made.slug();
    cell.cell.operation = feed::Operation::ReadFile.into();
    cell.cell.queue_depth = made.accelerators * made.readers.unwrap_or(8);
    cell.cell.axes.clear();
    cell.cell.training = Some(record::Training {
        fetch: if made.readers.is_some() { "readers" } else { "shared" }.to_owned(),
        readers: made.readers,
        prefetch: made.prefetch,
        threshold: THRESHOLD,
        ..record::testing::training(made.accelerators, 400, COMPUTE_NS)
    });
    cell.confirmed = None;
    edit_figures(&mut cell, |figures| {
        figures.flags.clear();
        figures.phases.clear();
        figures.training = Some(made.figures());
    });
    cell
}

/// Changes the figures of a cell.
pub(crate) fn edit_figures(cell: &mut CellSummary, edit: impl FnOnce(&mut Figures)) {
    if let Measurement::Figures(figures) = &mut cell.measured {
        edit(figures);
    }
}

/// Changes what a job came to.
pub(crate) fn edit(summary: &mut Summary, slug: &str, edit: impl FnOnce(&mut TrainingFigures)) {
    let cell = summary.cells.iter_mut().find(|cell| cell.cell.cell == slug).expect("a cell of that name");
    edit_figures(cell, |figures| edit(figures.training.as_mut().expect("figures of a job")));
}

/// Two targets, each with the job of its verdict: one is fed, the other starves and is told why.
pub(crate) fn two_targets() -> Summary {
    let jobs = [Made::of("nvme", 60), Made::of("filer", 250)];
    let mut summary = with_jobs(without_jobs(), &jobs);
    for (made, judgement) in jobs.iter().zip([feed::Judgement::Feeds, feed::Judgement::Starves]) {
        let verdict = summary.verdicts.iter_mut().find(|verdict| verdict.target == made.target);
        let verdict = verdict.expect("a verdict of the target");
        let reads = verdict.reads.as_mut().unwrap();
        (reads.cell, reads.judgement) = (Some(made.slug()), judgement);
    }
    edit(&mut summary, &jobs[1].slug(), |of| {
        of.stall.decode = 0.012;
        of.lost_samples = 3;
        of.predicted = Some(PredictedAu {
            au: of.au.mean + 0.07,
            long_run: of.au.mean + 0.08,
            from: "filer/io_uring/qd32".to_owned(),
            depth: 32,
            samples_per_s: 11_200.0,
            demand_samples_per_s: 14_286.0,
            epochs: 1,
            steps: 200,
        });
        of.diagnosis = Some(Diagnosis {
            bound: Bound::Latency,
            symptoms: vec![
                Symptom::InFlight(LittlesLaw {
                    depth: 8.0,
                    latency_ns: 5.7e6,
                    in_flight: 7.9,
                    ops_per_s: 1_390.0,
                    target_au: 0.9,
                    needed_ops_per_s: 2_630.0,
                    needed: 15.0,
                    reading: 1.0,
                }),
                Symptom::Loops(LoopPair { deeper_depth: 128, deeper_bps: 2.7e9, depth: 32, bps: 1.3e9 }),
            ],
            remedy: Remedy::Times { times: 2.0, readers: Some(16.0), depth: 16.0 },
        });
        of.idle = Idle { gpu_hours_per_day: 54.1, price_per_day: Some(1_622.4) };
    });
    summary
}

/// A slow target and a fast one, each by one reader and by eight, with no batch ahead and with sixteen: more readers gain only
/// with batches ahead.
pub(crate) fn every_combination() -> Vec<Made> {
    let mut jobs = Vec::new();
    for (target, times) in [("filer", 4.0), ("nvme", 1.5)] {
        for readers in [1, 8] {
            for prefetch in [0, 16] {
                let side_by_side = if prefetch > 0 { f64::from(readers) } else { 1.0 };
                let batch_ns = (times / side_by_side * COMPUTE_NS as f64) as u64;
                let readers = Some(readers);
                jobs.push(Made { accelerators: 1, readers, prefetch, batch_ns, ..Made::of(target, 0) });
            }
        }
    }
    jobs
}

/// Jobs of one or more targets on every number of accelerators; of those that share a depth a utilization is predicted.
pub(crate) fn by_accelerators(targets: &[&'static str], numbers: &[u32]) -> Summary {
    let mut jobs = Vec::new();
    for target in targets {
        for accelerators in numbers {
            for readers in [Some(8), None] {
                let share = f64::from(*accelerators).log2() * 0.12;
                let slower = if readers.is_some() { 1.3 } else { 1.0 };
                let batch_ns = ((0.4 + share) * slower * COMPUTE_NS as f64) as u64;
                jobs.push(Made { accelerators: *accelerators, readers, batch_ns, ..Made::of(target, 0) });
            }
        }
    }
    let mut summary = with_jobs(without_jobs(), &jobs);
    for made in jobs.iter().filter(|made| made.readers.is_none()) {
        edit(&mut summary, &made.slug(), |of| {
            let au = (of.au.mean * 1.1).min(1.0);
            of.predicted = Some(PredictedAu {
                au,
                long_run: au,
                from: String::new(),
                depth: 32,
                samples_per_s: 11_200.0,
                demand_samples_per_s: 14_286.0,
                epochs: 1,
                steps: 200,
            });
        });
    }
    summary
}

/// Jobs of one target by readers and prefetch, and by a shared depth.
pub(crate) fn by_readers(target: &'static str, readers: &[u32], prefetch: &[u32]) -> Vec<Made> {
    let ways = readers.iter().copied().map(Some).chain([None]);
    let made = |readers: Option<u32>, prefetch: u32| {
        let together = f64::from(readers.unwrap_or(12)).powf(0.7);
        let batch_ns = (COMPUTE_NS as f64 * 4.0 / together) as u64;
        Made { readers, prefetch, batch_ns, ..Made::of(target, 0) }
    };
    ways.flat_map(|way| prefetch.iter().map(move |ahead| made(way, *ahead))).collect()
}
