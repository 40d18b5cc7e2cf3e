//! What one client has to deliver.

use crate::units::{format_count, format_percent, group_digits};
use crate::{CheckpointNeed, Flow, Provenance};

/// Share by which samples that are read may differ in size from those of the workload and still pass for them.
// A block size rounded up to a page and a mean of spread sizes lie within it. Beyond it the line moves as
// far as the samples do: with unet3d in samples of 4 MiB it fell to a 35th, and everything fed it.
const SAMPLE_TOLERANCE: f64 = 0.1;

/// How fast one client has to read, or to write, at a utilization of 1.00.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Demand {
    /// A fixed rate of samples; the bytes follow from the sample size of what is read.
    Samples {
        /// Samples per second.
        per_s: f64,
        /// Bytes of one sample, as the workload stores it.
        sample_bytes: f64,
    },
    /// A fixed rate of bytes; the samples follow from the sample size of what is read.
    Bytes {
        /// Bytes per second.
        per_s: f64,
        /// Bytes of one sample of the workload whose bytes are held; `None` where a rate of bytes was stated.
        sample_bytes: Option<f64>,
    },
    /// No rate: checkpoints are all that is asked for.
    Nothing,
}

/// What stays of a workload's need where the samples that are read are not of the workload's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Samples per second.
    Samples,
    /// Bytes per second.
    Bytes,
}

crate::words!(Hold { Samples = "samples", Bytes = "bytes" });

/// Whose feeding a verdict is about, where several hosts share a need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// All hosts of the need.
    #[default]
    Cluster,
    /// The host that measures.
    Host,
}

crate::words!(Scope { Cluster = "cluster", Host = "host" });

/// Most needs that are asked for at once: each is told by itself too.
pub const NEEDS_MAX: usize = 16;

/// One of the rates that are asked for at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// As [`Need::label`].
    pub label: String,
    /// Bytes per second of this client at a utilization of 1.00: of reads those of the workload's own samples.
    pub bytes_per_s: f64,
}

/// What the accelerators behind one client consume, and where the line is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Need {
    /// `8 x h100 resnet50`, `2.5 GB/s`, `batch 400 / 0.224 s x 8`, `2 M tokens/s`.
    pub label: String,
    /// The demand of this client: the whole one divided by `hosts`.
    pub demand: Demand,
    /// The share of the demand at which the line is drawn, above 0 and at most 1.
    pub utilization: f64,
    /// Accelerators behind this client; 0 when the need names none.
    pub accelerators: u32,
    /// Accelerators of all clients together; 0 when the need names none.
    pub count: u32,
    /// Clients that share the whole need.
    pub hosts: u32,
    /// Where a profile's figures come from; `None` for what the user stated.
    pub provenance: Option<Provenance>,
    /// `MLPerf Storage 2.0, measured`, or `stated by the user`.
    pub source: String,
    /// What a reader must know before trusting the need.
    pub caveats: Vec<String>,
    /// Samples per step and accelerator, where the need names them.
    pub batch: Option<u32>,
    /// Seconds per step, where the need names them.
    pub step_time_s: Option<f64>,
    /// Readers of one accelerator, where a profile names them.
    pub readers: Option<u32>,
    /// Batches that the readers of one accelerator fetch ahead, where a profile names them: [`Profile::prefetch`].
    ///
    /// [`Profile::prefetch`]: crate::Profile::prefetch
    pub prefetch: Option<u32>,
    /// What stays where other samples are read, as the user said; `None` where nobody did.
    pub hold: Option<Hold>,
    /// Whose feeding is asked about.
    pub scope: Scope,
    /// Reads that the job's loader has outstanding on this client at most: accelerators x readers. `None` where the
    /// scenario states no loader.
    pub loader_depth: Option<u32>,
    /// What checkpoints ask for, beside the reads or alone.
    pub checkpoint: Option<CheckpointNeed>,
    /// Whether the demand is one of writes, and not of reads.
    pub writes: bool,
    /// Bytes per second that this client has to write at a utilization of 1.00 while it reads; `None` where reads, or writes, are
    /// all that is asked for.
    pub write_bps: Option<f64>,
    /// The rates that this one is the sum of, in the order in which they were listed. Empty where it is one, and where some are of
    /// reads and some of writes.
    pub parts: Vec<Part>,
}

impl Need {
    /// Whether a rate is asked for, of reads or of writes.
    pub fn asks_rate(&self) -> bool {
        self.demand != Demand::Nothing
    }

    /// What it asks for: reads, writes, or both at once.
    pub fn flow(&self) -> Flow {
        Flow::of_need(self.writes, self.write_bps.is_some())
    }

    /// The same need, of which `hold` stays where the samples that are read are not of the workload's size. A stated rate
    /// of bytes has no samples to hold and is left as it is.
    #[must_use]
    // Not a default: either answer is right for somebody, and they differ by the ratio of the sizes.
    pub fn holding(mut self, hold: Hold) -> Self {
        self.hold = Some(hold);
        if let (Hold::Bytes, Demand::Samples { per_s, sample_bytes }) = (hold, self.demand) {
            self.demand = Demand::Bytes { per_s: per_s * sample_bytes, sample_bytes: Some(sample_bytes) };
        }
        self
    }

    /// Whether samples of so many bytes pass for those of the workload: they differ by at most a tenth. True where no
    /// workload says how large they are.
    pub fn is_own_sample(&self, sample_bytes: f64) -> bool {
        self.sample_bytes().is_none_or(|own| (sample_bytes / own - 1.0).abs() <= SAMPLE_TOLERANCE)
    }

    /// What stays where samples of these sizes are read, in words: `samples held: 65,536 B each in place of 114,660 B`.
    /// `None` where all of them pass for those of the workload.
    pub fn held(&self, sample_bytes: &[f64]) -> Option<String> {
        let digits = |bytes: f64| format!("{} B", group_digits(bytes.round() as u64));
        let apart = sample_bytes.iter().filter(|bytes| !self.is_own_sample(**bytes));
        let read: Vec<String> = apart.map(|bytes| digits(*bytes)).collect();
        let own = self.sample_bytes().filter(|_| !read.is_empty())?;
        let held = match self.demand {
            Demand::Samples { .. } => Hold::Samples,
            Demand::Bytes { .. } => Hold::Bytes,
            Demand::Nothing => return None,
        };
        Some(format!("{} held: {} each in place of {}", held.name(), read.join(", "), digits(own)))
    }

    /// Where the line is drawn: `at 90 % busy`; `at 100 % of the need` where it names no accelerators.
    pub fn at_line(&self) -> String {
        let share = format_percent(self.utilization);
        if self.accelerators > 0 { format!("at {share} busy") } else { format!("at {share} of the need") }
    }

    /// What a storage that is at the line leaves idle, in accelerators of all hosts: `51 of 512 accelerators' worth
    /// idle`. `None` where that is nothing, and where the need names no accelerators.
    pub fn idle_at_line(&self) -> Option<String> {
        let idle = f64::from(self.count) * (1.0 - self.utilization);
        // 1 - 0.9 is not 0.1 in binary; nobody has a millionth of an accelerator.
        (idle > 1e-6).then(|| {
            // Below ten a tenth of an accelerator is worth saying (0.8 of 8); of hundreds nobody counts
            // parts.
            let whole = if idle < 10.0 { idle } else { idle.round() };
            format!(
                "{} of {} accelerators' worth idle",
                format_count(whole),
                group_digits(u64::from(self.count))
            )
        })
    }

    /// Samples per second at a utilization of 1.00, when one sample read is `sample_bytes`.
    pub fn demand_samples_per_s(&self, sample_bytes: f64) -> f64 {
        match self.demand {
            Demand::Samples { per_s, .. } => per_s,
            Demand::Bytes { per_s, .. } => per_s / sample_bytes,
            // No number, so that whatever is held against it is UNCERTAIN: anything would feed a line of 0.
            Demand::Nothing => f64::NAN,
        }
    }

    /// Samples per second at the utilization target.
    // The line is scaled from the demand each time and stored nowhere: a second copy would have to follow
    // `holding`.
    pub fn line_samples_per_s(&self, sample_bytes: f64) -> f64 {
        self.demand_samples_per_s(sample_bytes) * self.utilization
    }

    /// Bytes per second at a utilization of 1.00, when one sample read is `sample_bytes`.
    pub fn demand_bps(&self, sample_bytes: f64) -> f64 {
        match self.demand {
            Demand::Samples { per_s, .. } => per_s * sample_bytes,
            Demand::Bytes { per_s, .. } => per_s,
            Demand::Nothing => f64::NAN,
        }
    }

    /// Bytes per second at the utilization target.
    pub fn line_bps(&self, sample_bytes: f64) -> f64 {
        self.demand_bps(sample_bytes) * self.utilization
    }

    /// The same need as one rate of reads and writes together, for a load of which `write_share` are written; itself where not
    /// both are asked for.
    ///
    /// A load of another share than the need's own has to be faster than the sum of both: the one decides that gets less of
    /// what it asks for.
    #[must_use]
    pub fn of_mix(&self, write_share: f64, sample_bytes: f64) -> Self {
        let Some(write_bps) = self.write_bps else { return self.clone() };
        let per_s = (write_bps / write_share).max(self.demand_bps(sample_bytes) / (1.0 - write_share));
        Self { demand: Demand::Bytes { per_s, sample_bytes: self.sample_bytes() }, ..self.clone() }
    }

    /// The share of writes in all that is moved; `None` where not both are asked for.
    pub fn write_share(&self, sample_bytes: f64) -> Option<f64> {
        let write_bps = self.write_bps?;
        Some(write_bps / (write_bps + self.demand_bps(sample_bytes)))
    }

    /// The whole percent of writes that comes nearest to the need: at which both together need not be faster than at any other.
    /// `None` where not both are asked for.
    // Not the share rounded: 1.4 % written as 1 % asks for 1.4 times the reads.
    pub fn write_percent(&self, sample_bytes: f64) -> Option<u8> {
        let percent = self.write_share(sample_bytes)? * 100.0;
        let asked = |percent: f64| self.of_mix(percent / 100.0, sample_bytes).demand_bps(sample_bytes);
        let [less, more] = [percent.floor(), percent.ceil()].map(|percent| percent.clamp(1.0, 99.0));
        Some(if asked(less) < asked(more) { less } else { more } as u8)
    }

    /// Bytes of one sample as the workload stores it; `None` when the need is a plain rate.
    pub fn sample_bytes(&self) -> Option<f64> {
        match self.demand {
            Demand::Samples { sample_bytes, .. } => Some(sample_bytes),
            Demand::Bytes { sample_bytes, .. } => sample_bytes,
            Demand::Nothing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn need(demand: Demand, utilization: f64) -> Need {
        Need { utilization, ..crate::spec::stated(String::new(), demand) }
    }

    #[track_caller]
    fn assert_close(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 1e-12, "{value} is not {expected}");
    }

    #[test]
    fn samples_stay_and_bytes_follow_the_cell() {
        let need = need(Demand::Samples { per_s: 100.0, sample_bytes: 1_000.0 }, 0.5);
        assert_close(need.demand_samples_per_s(4_000.0), 100.0);
        assert_close(need.demand_bps(4_000.0), 400_000.0);
        assert_close(need.line_bps(4_000.0), 200_000.0);
        assert_eq!(need.sample_bytes(), Some(1_000.0));
    }

    #[test]
    fn bytes_stay_and_samples_follow_the_cell() {
        let need = need(Demand::Bytes { per_s: 400_000.0, sample_bytes: None }, 0.5);
        assert_close(need.demand_samples_per_s(4_000.0), 100.0);
        assert_close(need.line_samples_per_s(4_000.0), 50.0);
        assert_close(need.demand_bps(1.0), 400_000.0);
        assert_eq!(need.sample_bytes(), None);
    }

    #[test]
    fn a_mix_has_to_bring_both_whatever_its_share() {
        let reads = need(Demand::Samples { per_s: 100.0, sample_bytes: 1_000.0 }, 0.5);
        assert_eq!((reads.write_share(4_000.0), reads.of_mix(0.3, 4_000.0)), (None, reads.clone()));
        assert_eq!(reads.flow(), Flow::Reads);
        // 400 kB/s are read and 100 kB/s written: one in five.
        let both = reads.clone().with_writes(100_000.0).unwrap();
        assert_eq!(both.label, " read and 100 kB/s written");
        assert_close(both.write_share(4_000.0).unwrap(), 0.2);
        for (share, bps) in [(0.2, 500_000.0), (0.5, 800_000.0), (0.1, 1_000_000.0)] {
            assert_close(both.of_mix(share, 4_000.0).demand_bps(4_000.0), bps);
            assert_close(both.of_mix(share, 4_000.0).line_samples_per_s(4_000.0), bps / 4_000.0 * 0.5);
        }
        assert_eq!((both.flow(), both.write_percent(4_000.0)), (Flow::Both, Some(20)));
        for write_bps in [100.0, 5_600.0, 163_000.0, 380_000.0, 9e6, 28e6, 1e12] {
            let need = reads.clone().with_writes(write_bps).unwrap();
            let share = f64::from(need.write_percent(4_000.0).unwrap()) / 100.0;
            let more = need.of_mix(share, 4_000.0).demand_bps(4_000.0) / (400_000.0 + write_bps);
            assert!((1.0 - 1e-9..1.015).contains(&more), "{write_bps} B/s at {share}: {more} times the sum");
        }
        assert!(both.with_writes(0.0).is_err());
    }

    #[test]
    fn nothing_feeds_a_need_without_reads() {
        let need = need(Demand::Nothing, 0.9);
        assert!(!need.asks_rate() && need.line_bps(4_000.0).is_nan() && need.sample_bytes().is_none());
        let interval = crate::Interval { low: 1e9, mean: 1e9, high: 1e9 };
        assert_eq!(crate::judge(interval, need.line_samples_per_s(1.0)), crate::Judgement::Uncertain);
    }

    #[test]
    fn a_shrunken_sample_moves_the_line_unless_bytes_are_held() {
        let own = need(Demand::Samples { per_s: 100.0, sample_bytes: 140e6 }, 0.9);
        let samples = own.clone().holding(Hold::Samples);
        assert_close(samples.line_bps(4e6), 360e6);
        let bytes = own.clone().holding(Hold::Bytes);
        assert_close(bytes.line_bps(4e6), own.line_bps(140e6));
        assert_close(bytes.line_samples_per_s(4e6), 0.9 * 3_500.0);
        assert_eq!((bytes.hold, bytes.sample_bytes()), (Some(Hold::Bytes), Some(140e6)));
        // What another need states in bytes has nothing to hold.
        let stated = need(Demand::Bytes { per_s: 1e9, sample_bytes: None }, 1.0);
        assert_eq!(stated.clone().holding(Hold::Bytes).demand, stated.demand);
    }

    #[test]
    fn what_is_held_is_said_from_a_tenth_on() {
        let own = need(Demand::Samples { per_s: 100.0, sample_bytes: 1_000.0 }, 0.9);
        assert_eq!(
            [899.0, 901.0, 1_099.0, 1_101.0].map(|bytes| own.is_own_sample(bytes)),
            [false, true, true, false]
        );
        assert_eq!(own.held(&[1_050.0]), None);
        let words = "held: 4,000 B each in place of 1,000 B";
        assert_eq!(own.held(&[4_000.0]), Some(format!("samples {words}")));
        let several = "samples held: 500 B, 4,000 B each in place of 1,000 B";
        assert_eq!(own.held(&[500.0, 1_000.0, 4_000.0]).as_deref(), Some(several));
        assert_eq!(own.holding(Hold::Bytes).held(&[4_000.0]), Some(format!("bytes {words}")));
        let stated = need(Demand::Bytes { per_s: 1e9, sample_bytes: None }, 1.0);
        assert_eq!((stated.is_own_sample(1.0), stated.held(&[1.0])), (true, None));
    }

    #[test]
    fn the_line_says_what_it_leaves_idle() {
        let of = |accelerators: u32, hosts, utilization| {
            let demand = Demand::Samples { per_s: 1.0, sample_bytes: 1.0 };
            let count = accelerators * hosts;
            let need = Need { accelerators, count, hosts, ..need(demand, utilization) };
            (need.at_line(), need.idle_at_line())
        };
        let idle = |words: &str| Some(format!("{words} accelerators' worth idle"));
        assert_eq!(of(8, 64, 0.90), ("at 90 % busy".to_owned(), idle("51 of 512")));
        assert_eq!(of(8, 1, 0.90), ("at 90 % busy".to_owned(), idle("0.8 of 8")));
        assert_eq!(of(8, 1, 0.70), ("at 70 % busy".to_owned(), idle("2.4 of 8")));
        assert_eq!(of(16, 256, 0.70).1, idle("1,229 of 4,096"));
        assert_eq!(of(8, 1, 0.995).1, idle("0.04 of 8"));
        assert_eq!(of(8, 1, 1.0), ("at 100 % busy".to_owned(), None));
        assert_eq!(of(0, 64, 1.0), ("at 100 % of the need".to_owned(), None));
        assert_eq!(of(0, 1, 0.9), ("at 90 % of the need".to_owned(), None));
    }

    proptest! {
        #[test]
        fn samples_times_size_is_bytes(
            per_s in 1e-3..1e12f64, own_bytes in 1.0..1e9f64, cell_bytes in 1.0..1e9f64,
            utilization in 0.01..=1.0f64, in_samples: bool,
        ) {
            let demand = if in_samples {
                Demand::Samples { per_s, sample_bytes: own_bytes }
            } else {
                Demand::Bytes { per_s, sample_bytes: None }
            };
            let need = need(demand, utilization);
            let bps = need.line_samples_per_s(cell_bytes) * cell_bytes;
            prop_assert!((bps / need.line_bps(cell_bytes) - 1.0).abs() < 1e-12);
            prop_assert!(need.line_bps(cell_bytes) <= need.demand_bps(cell_bytes));
        }
    }
}
