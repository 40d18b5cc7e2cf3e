//! What a storage gives by the arithmetic of its model.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A storage as operations see it: one size, no noise, no change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pipe {
    /// Operations per second at most.
    pub ops_per_s: f64,
    /// Latency of one that waits for no other, seconds.
    pub latency_s: f64,
}

impl Pipe {
    /// Operations per second with so many outstanding.
    pub fn at_depth(self, depth: u32) -> f64 {
        self.ops_per_s.min(f64::from(depth) / self.latency_s)
    }

    /// Whether it is the latency that decides at a depth, and not the rate.
    pub fn is_latency_bound(self, depth: u32) -> bool {
        f64::from(depth) / self.latency_s < self.ops_per_s
    }
}

/// A training job, each of whose samples is one operation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// Accelerators.
    pub accelerators: u32,
    /// Readers of each.
    pub readers: u32,
    /// Batches asked for beyond the one that is taken next.
    pub prefetch: u32,
    /// Samples of a batch.
    pub batch: u32,
    /// Time that a step computes, seconds.
    pub compute_s: f64,
    /// Steps.
    pub steps: u32,
}

impl Job {
    /// Reads that it has outstanding at most.
    pub fn concurrency(self) -> u32 {
        self.accelerators * self.readers.min(self.prefetch.max(1))
    }

    /// Accelerator utilization on a storage: compute time by wall time, the first fill counted, the mean of all
    /// accelerators.
    pub fn utilization(self, pipe: Pipe) -> f64 {
        let mut played = Playing::new(self, pipe);
        played.run();
        let computed = f64::from(self.steps) * self.compute_s;
        played.accelerators.iter().map(|one| computed / one.end_s).sum::<f64>() / f64::from(self.accelerators)
    }
}

/// A time that orders, seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct At(f64);

impl Eq for At {}

impl PartialOrd for At {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for At {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Read { accelerator: usize, reader: usize },
    StepEnd { accelerator: usize },
}

#[derive(Debug, Default)]
struct Accelerator {
    /// Steps begun.
    taken: u32,
    computes: bool,
    /// By batch.
    ready: Vec<bool>,
    readers: Vec<Reader>,
    end_s: f64,
}

#[derive(Debug, Clone, Copy)]
struct Reader {
    /// The batch that it fetches or waits to be allowed to.
    batch: u32,
    /// Samples that it lacks; `None` while it waits.
    left: Option<u32>,
}

/// A job on its way: a reader fetches a batch, one sample after the other.
#[derive(Debug)]
struct Playing {
    job: Job,
    pipe: Pipe,
    pipe_free_s: f64,
    events: BinaryHeap<Reverse<(At, Event)>>,
    accelerators: Vec<Accelerator>,
}

impl Playing {
    fn new(job: Job, pipe: Pipe) -> Self {
        let accelerator = || Accelerator {
            ready: vec![false; job.steps as usize],
            readers: (0..job.readers).map(|batch| Reader { batch, left: None }).collect(),
            ..Accelerator::default()
        };
        let accelerators = (0..job.accelerators).map(|_| accelerator()).collect();
        Self { job, pipe, pipe_free_s: 0.0, events: BinaryHeap::new(), accelerators }
    }

    fn run(&mut self) {
        for accelerator in 0..self.accelerators.len() {
            self.fetch(accelerator, 0.0);
        }
        while let Some(Reverse((At(now_s), event))) = self.events.pop() {
            match event {
                Event::Read { accelerator, reader } => self.read(accelerator, reader, now_s),
                Event::StepEnd { accelerator } => {
                    let one = &mut self.accelerators[accelerator];
                    (one.computes, one.end_s) = (false, now_s);
                    self.step(accelerator, now_s);
                    self.fetch(accelerator, now_s);
                }
            }
        }
    }

    /// Begins a step where its batch is there.
    fn step(&mut self, accelerator: usize, now_s: f64) {
        let one = &mut self.accelerators[accelerator];
        if one.computes || !one.ready.get(one.taken as usize).is_some_and(|ready| *ready) {
            return;
        }
        one.taken += 1;
        one.computes = true;
        self.events.push(Reverse((At(now_s + self.job.compute_s), Event::StepEnd { accelerator })));
    }

    /// Lets readers begin what is allowed.
    fn fetch(&mut self, accelerator: usize, now_s: f64) {
        let one = &self.accelerators[accelerator];
        // Without a batch ahead, one is fetched once it is waited for.
        let ahead = if self.job.prefetch == 0 { u32::from(!one.computes) } else { self.job.prefetch };
        let allowed = (one.taken + ahead).min(self.job.steps);
        for reader in 0..self.accelerators[accelerator].readers.len() {
            let waiting = &mut self.accelerators[accelerator].readers[reader];
            if waiting.left.is_none() && waiting.batch < allowed {
                waiting.left = Some(self.job.batch);
                self.issue(accelerator, reader, now_s);
            }
        }
    }

    fn issue(&mut self, accelerator: usize, reader: usize, now_s: f64) {
        self.pipe_free_s = self.pipe_free_s.max(now_s) + 1.0 / self.pipe.ops_per_s;
        let done_s = self.pipe_free_s.max(now_s + self.pipe.latency_s);
        self.events.push(Reverse((At(done_s), Event::Read { accelerator, reader })));
    }

    fn read(&mut self, accelerator: usize, reader: usize, now_s: f64) {
        let one = &mut self.accelerators[accelerator];
        let own = &mut one.readers[reader];
        match own.left {
            Some(left) if left > 1 => {
                own.left = Some(left - 1);
                self.issue(accelerator, reader, now_s);
            }
            _ => {
                one.ready[own.batch as usize] = true;
                *own = Reader { batch: own.batch + self.job.readers, left: None };
                self.step(accelerator, now_s);
                self.fetch(accelerator, now_s);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Job = Job { accelerators: 1, readers: 1, prefetch: 2, batch: 10, compute_s: 0.1, steps: 20 };

    fn close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-9, "{value} for {expected}");
    }

    #[test]
    fn the_rate_or_the_latency_decides() {
        let pipe = Pipe { ops_per_s: 1_000.0, latency_s: 0.01 };
        close(pipe.at_depth(4), 400.0);
        close(pipe.at_depth(32), 1_000.0);
        assert!(pipe.is_latency_bound(4) && !pipe.is_latency_bound(32));
    }

    #[test]
    fn the_first_fill_counts() {
        // A batch takes 50 ms, a step 100.
        close(JOB.utilization(Pipe { ops_per_s: 1e9, latency_s: 0.005 }), 2.0 / 2.05);
    }

    #[test]
    fn a_storage_of_half_the_rate_is_waited_for_at_every_step() {
        // A batch takes 200 ms.
        close(JOB.utilization(Pipe { ops_per_s: 1e9, latency_s: 0.02 }), 2.0 / 4.1);
        close(JOB.utilization(Pipe { ops_per_s: 50.0, latency_s: 1e-6 }), 2.0 / 4.1);
    }

    #[test]
    fn without_a_batch_ahead_reads_and_steps_take_turns() {
        let job = Job { prefetch: 0, ..JOB };
        close(job.utilization(Pipe { ops_per_s: 1e9, latency_s: 0.005 }), 2.0 / 3.0);
    }

    #[test]
    fn readers_beyond_the_batches_ahead_wait() {
        // Two batches of 400 ms each are fetched side by side, whatever the readers.
        let pipe = Pipe { ops_per_s: 1e9, latency_s: 0.04 };
        let [two, four] = [2, 4].map(|readers| Job { readers, steps: 400, ..JOB }.utilization(pipe));
        assert!((two - four).abs() < 0.01 && (two - 0.5).abs() < 0.13, "{two} {four}");
    }
}
