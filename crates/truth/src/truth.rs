//! What a storage gives by the arithmetic of its model.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::draw::Draw;

/// A storage as operations see it: one size, no change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pipe {
    /// Operations per second at most.
    pub ops_per_s: f64,
    /// Latency of one that waits for no other, seconds, in the mean.
    pub latency_s: f64,
    /// Share by which the latency of one lies beside the mean at most. A step waits for the latest of its reads.
    pub jitter: f64,
    /// Standard deviation of the logarithm by which it is faster in one run than in another.
    pub noise: f64,
}

impl Pipe {
    /// Operations per second with so many outstanding.
    pub fn at_depth(self, depth: u32) -> f64 {
        // No model of queues near the knee: no world is drawn there, and its solver would have to be held
        // against something too.
        self.ops_per_s.min(f64::from(depth) / self.latency_s)
    }

    /// Whether it is the latency that decides at a depth, and not the rate.
    pub fn is_latency_bound(self, depth: u32) -> bool {
        f64::from(depth) / self.latency_s < self.ops_per_s
    }
}

/// A training job, whose readers each read what they need one operation after the other.
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
    /// Samples that one operation brings on average: 1 where each sample is an operation.
    pub samples_per_read: f64,
    /// Time that a reader takes to decode a sample before it reads on, seconds.
    pub decode_s: f64,
    /// Whether every step waits until all accelerators have ended the one before it.
    pub barrier: bool,
}

/// What a job waits for. Each part can be taken out of the arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The latency of operations.
    Latency,
    /// The rate of the storage.
    Rate,
    /// Decoding.
    Decode,
    /// Other accelerators.
    Barrier,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Latency, Self::Rate, Self::Decode, Self::Barrier];
}

impl Job {
    /// Reads that it has outstanding at most.
    pub fn concurrency(self) -> u32 {
        self.accelerators * self.readers.min(self.prefetch.max(1))
    }

    /// Accelerator utilization on a storage: compute time by wall time, the first fill counted, the mean of all
    /// accelerators, and of as many runs as settle it.
    pub fn utilization(self, pipe: Pipe) -> f64 {
        let mut runs = Vec::new();
        for round in 0..ROUNDS_MAX {
            runs.extend(self.utilizations(pipe, round));
            if standard_error(&runs) < SETTLED {
                break;
            }
        }
        mean(&runs)
    }

    /// The utilization of runs that differ as those of a storage do. Accelerators that fetch in turn may keep out of each
    /// other's way in one run, and meet at every step in the next. The runs of one round have other
    /// reads and rates than those of another.
    fn utilizations(self, pipe: Pipe, round: u64) -> [f64; RUNS.len()] {
        let computed = f64::from(self.steps) * self.compute_s;
        RUNS.map(|deviations| {
            let mut draw = Draw::new(deviations.to_bits() ^ round);
            // Where the rate binds, nothing but another rate makes another run.
            let beside = if round == 0 { 0.0 } else { draw.between(-BESIDE, BESIDE) };
            // libm and not the standard library: its results are the same on every machine, and a seed that
            // fails must fail everywhere.
            let faster = libm::exp(pipe.noise * (deviations + beside));
            let pipe =
                Pipe { ops_per_s: pipe.ops_per_s * faster, latency_s: pipe.latency_s / faster, ..pipe };
            let mut played = Playing::new(self, pipe, draw);
            played.run();
            // Each by its own end: DLIO takes the mean over ranks as well, and not the slowest one.
            let each = played.accelerators.iter().map(|one| computed / one.end_s);
            each.sum::<f64>() / f64::from(self.accelerators)
        })
    }

    /// How much its utilization gains where one part takes no time.
    pub fn gain_without(self, part: Part, pipe: Pipe) -> f64 {
        let (job, freed) = match part {
            Part::Latency => (self, Pipe { latency_s: 0.0, ..pipe }),
            Part::Rate => (self, Pipe { ops_per_s: f64::INFINITY, ..pipe }),
            Part::Decode => (Self { decode_s: 0.0, ..self }, pipe),
            Part::Barrier => (Self { barrier: false, ..self }, pipe),
        };
        job.utilization(freed) - self.utilization(pipe)
    }

    /// Its utilization where nothing but one part takes any time.
    pub fn with_nothing_but(self, part: Part, pipe: Pipe) -> f64 {
        let is = |one: Part| part == one;
        let job = Self {
            decode_s: if is(Part::Decode) { self.decode_s } else { 0.0 },
            barrier: self.barrier && is(Part::Barrier),
            ..self
        };
        job.utilization(Pipe {
            ops_per_s: if is(Part::Rate) { pipe.ops_per_s } else { f64::INFINITY },
            latency_s: if is(Part::Latency) { pipe.latency_s } else { 0.0 },
            ..pipe
        })
    }

    /// Samples that the first `reads` of a reader bring.
    fn samples_after(self, reads: u32) -> u32 {
        (f64::from(reads) * self.samples_per_read + ROUNDING) as u32
    }
}

/// What sums of fractions may lack of a whole number.
// Far below the part of a sample that a read can bring, far above what thousands of additions lose.
const ROUNDING: f64 = 1e-6;

/// Runs, by how many standard deviations the storage is faster in each: the middles of eight parts of a normal distribution
/// that are equally likely.
// Fixed and not drawn: eight draws would differ in their mean by a third of the noise, more than what is to
// be told apart.
const RUNS: [f64; 8] = [-1.534, -0.887, -0.489, -0.157, 0.157, 0.489, 0.887, 1.534];

/// Rounds of these runs at most, and the standard error of their mean that needs no further one. Eight runs of a job with
/// two steady states lie 2 % beside what many come to.
const ROUNDS_MAX: u64 = 16;
// A seventh of the 2 % that the judge allows the arithmetic of a job.
const SETTLED: f64 = 0.003;

/// Standard deviations by which a run of a further round lies beside one of the first at most.
const BESIDE: f64 = 0.1;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn standard_error(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64 / values.len() as f64).sqrt()
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
        // Times are never NaN, and a heap needs an order of all of them.
        self.0.total_cmp(&other.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Read { accelerator: usize, reader: usize },
    Decoded { accelerator: usize, reader: usize },
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
    /// Whether it fetches.
    fetches: bool,
    /// Reads that have ended.
    read: u32,
    /// Samples that it has decoded.
    decoded: u32,
}

/// A job on its way: a reader fetches a batch, one operation after the other.
#[derive(Debug)]
struct Playing {
    job: Job,
    pipe: Pipe,
    draw: Draw,
    pipe_free_s: f64,
    events: BinaryHeap<Reverse<(At, Event)>>,
    accelerators: Vec<Accelerator>,
}

impl Playing {
    fn new(job: Job, pipe: Pipe, draw: Draw) -> Self {
        let reader = |batch| Reader { batch, fetches: false, read: 0, decoded: 0 };
        let accelerator = || Accelerator {
            ready: vec![false; job.steps as usize],
            readers: (0..job.readers).map(reader).collect(),
            ..Accelerator::default()
        };
        let accelerators = (0..job.accelerators).map(|_| accelerator()).collect();
        Self { job, pipe, draw, pipe_free_s: 0.0, events: BinaryHeap::new(), accelerators }
    }

    fn run(&mut self) {
        self.fetch_all(0.0);
        while let Some(Reverse((At(now_s), event))) = self.events.pop() {
            match event {
                Event::Read { accelerator, reader } => {
                    self.accelerators[accelerator].readers[reader].read += 1;
                    self.go_on(accelerator, reader, now_s);
                }
                Event::Decoded { accelerator, reader } => self.go_on(accelerator, reader, now_s),
                Event::StepEnd { accelerator } => {
                    let one = &mut self.accelerators[accelerator];
                    (one.computes, one.end_s) = (false, now_s);
                    // Behind a barrier the end of one step may let every accelerator begin the next.
                    (0..self.accelerators.len()).for_each(|other| self.step(other, now_s));
                    self.fetch_all(now_s);
                }
            }
        }
    }

    /// Begins a step where its batch is there, and nobody has to be waited for.
    fn step(&mut self, accelerator: usize, now_s: f64) {
        let one = &self.accelerators[accelerator];
        let is_behind = |other: &Accelerator| other.taken - u32::from(other.computes) < one.taken;
        let waits = self.job.barrier && self.accelerators.iter().any(is_behind);
        if waits || one.computes || !one.ready.get(one.taken as usize).is_some_and(|ready| *ready) {
            return;
        }
        let one = &mut self.accelerators[accelerator];
        one.taken += 1;
        one.computes = true;
        self.events.push(Reverse((At(now_s + self.job.compute_s), Event::StepEnd { accelerator })));
    }

    fn fetch_all(&mut self, now_s: f64) {
        (0..self.accelerators.len()).for_each(|accelerator| self.fetch(accelerator, now_s));
    }

    /// Lets readers begin what is allowed.
    fn fetch(&mut self, accelerator: usize, now_s: f64) {
        for reader in 0..self.accelerators[accelerator].readers.len() {
            let one = &self.accelerators[accelerator];
            // Without a batch ahead, one is fetched once it is waited for.
            let ahead = if self.job.prefetch == 0 { u32::from(!one.computes) } else { self.job.prefetch };
            let allowed = (one.taken + ahead).min(self.job.steps);
            let waiting = &mut self.accelerators[accelerator].readers[reader];
            if !waiting.fetches && waiting.batch < allowed {
                waiting.fetches = true;
                self.go_on(accelerator, reader, now_s);
            }
        }
    }

    /// The next thing that a reader does: it decodes what it has of its batch, reads on where samples are missing, or ends it.
    fn go_on(&mut self, accelerator: usize, reader: usize, now_s: f64) {
        let job = self.job;
        let own = &mut self.accelerators[accelerator].readers[reader];
        let end = (own.batch / job.readers + 1) * job.batch;
        let there = job.samples_after(own.read).min(end);
        let fresh = there - own.decoded;
        own.decoded = there;
        if fresh > 0 && job.decode_s > 0.0 {
            let done_s = now_s + f64::from(fresh) * job.decode_s;
            self.events.push(Reverse((At(done_s), Event::Decoded { accelerator, reader })));
        } else if there < end {
            self.issue(accelerator, reader, now_s);
        } else {
            let batch = own.batch;
            (own.batch, own.fetches) = (batch + job.readers, false);
            self.accelerators[accelerator].ready[batch as usize] = true;
            self.step(accelerator, now_s);
            self.fetch(accelerator, now_s);
        }
    }

    fn issue(&mut self, accelerator: usize, reader: usize, now_s: f64) {
        // The storage of the simulation serves in the order of submission, without a queue for each client:
        // so does this.
        self.pipe_free_s = self.pipe_free_s.max(now_s) + 1.0 / self.pipe.ops_per_s;
        let latency_s = self.pipe.latency_s * self.draw.beside_one(self.pipe.jitter);
        // A storage ends reads at whole nanoseconds: which of two accelerators is first is then nobody's choice.
        let done_s = (self.pipe_free_s.max(now_s + latency_s) * 1e9).ceil() / 1e9;
        self.events.push(Reverse((At(done_s), Event::Read { accelerator, reader })));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Job = Job {
        accelerators: 1,
        readers: 1,
        prefetch: 2,
        batch: 10,
        compute_s: 0.1,
        steps: 20,
        samples_per_read: 1.0,
        decode_s: 0.0,
        barrier: false,
    };

    fn steady(ops_per_s: f64, latency_s: f64) -> Pipe {
        Pipe { ops_per_s, latency_s, jitter: 0.0, noise: 0.0 }
    }

    fn close(value: f64, expected: f64) {
        // Reads end at whole nanoseconds.
        assert!((value / expected - 1.0).abs() < 1e-6, "{value} for {expected}");
    }

    #[test]
    fn the_rate_or_the_latency_decides() {
        let pipe = steady(1_000.0, 0.01);
        close(pipe.at_depth(4), 400.0);
        close(pipe.at_depth(32), 1_000.0);
        assert!(pipe.is_latency_bound(4) && !pipe.is_latency_bound(32));
    }

    /// Four accelerators that fetch in turn lose up to 15 % where they meet: eight runs of storages that differ by a
    /// millionth come to means that lie up to 5 % apart.
    #[test]
    fn a_job_with_two_steady_states_is_played_until_its_mean_is_settled() {
        let job = Job { accelerators: 4, prefetch: 0, batch: 4, compute_s: 0.001_313_629, steps: 92, ..JOB };
        let found = (0..10).map(|n| {
            let ops_per_s = 9_473.33 * (1.0 + 1e-6 * f64::from(n));
            job.utilization(Pipe { ops_per_s, latency_s: 21.1e-6, jitter: 0.2, noise: 0.0188 })
        });
        let found: Vec<f64> = found.collect();
        let (least, most) =
            found.iter().fold((f64::MAX, 0.0_f64), |(low, high), one| (low.min(*one), high.max(*one)));
        assert!(most / least < 1.02, "{found:?}");
    }

    #[test]
    fn the_first_fill_counts() {
        // A batch takes 50 ms, a step 100.
        close(JOB.utilization(steady(1e9, 0.005)), 2.0 / 2.05);
    }

    #[test]
    fn a_storage_of_half_the_rate_is_waited_for_at_every_step() {
        // A batch takes 200 ms.
        close(JOB.utilization(steady(1e9, 0.02)), 2.0 / 4.1);
        close(JOB.utilization(steady(50.0, 1e-6)), 2.0 / 4.1);
    }

    #[test]
    fn without_a_batch_ahead_reads_and_steps_take_turns() {
        let job = Job { prefetch: 0, ..JOB };
        close(job.utilization(steady(1e9, 0.005)), 2.0 / 3.0);
    }

    #[test]
    fn readers_beyond_the_batches_ahead_wait() {
        // Two batches of 400 ms each are fetched side by side, whatever the readers.
        let pipe = steady(1e9, 0.04);
        let [two, four] = [2, 4].map(|readers| Job { readers, steps: 400, ..JOB }.utilization(pipe));
        assert!((two - four).abs() < 0.01 && (two - 0.5).abs() < 0.13, "{two} {four}");
    }

    #[test]
    fn a_read_of_four_samples_leaves_the_rest_to_the_next_batch() {
        // Five reads for two batches of ten: 125 ms a batch in the long run, where steps take 100.
        let job = Job { samples_per_read: 4.0, steps: 400, ..JOB };
        let pipe = steady(1e9, 0.05);
        assert!((job.utilization(pipe) - 0.8).abs() < 0.005);
    }

    #[test]
    fn a_reader_decodes_before_it_reads_on() {
        // 10 ms to read a sample and 10 to decode it: 200 ms a batch.
        let job = Job { decode_s: 0.01, ..JOB };
        let pipe = steady(f64::INFINITY, 0.01);
        close(job.utilization(pipe), 2.0 / 4.1);
        close(job.with_nothing_but(Part::Decode, pipe), 2.0 / 2.1);
        let [reading, decoding] = [Part::Latency, Part::Decode].map(|part| job.gain_without(part, pipe));
        close(reading, decoding);
        close(job.gain_without(Part::Barrier, pipe) + 1.0, 1.0);
    }

    #[test]
    fn accelerators_behind_a_barrier_step_together() {
        let job = Job { accelerators: 2, barrier: true, ..JOB };
        let free = Job { barrier: false, ..job };
        // A pipe serves one accelerator before the other, and both are ready 5 ms apart at the first step alone.
        let pipe = steady(2_000.0, 1e-6);
        assert!(job.utilization(pipe) <= free.utilization(pipe));
        close(job.utilization(steady(1e9, 0.02)), 2.0 / 4.1);
    }
}
