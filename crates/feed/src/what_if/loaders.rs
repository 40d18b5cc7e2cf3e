//! Loaders: readers, what they hold in memory, how they start, and the way to the accelerator.

use super::error::{WhatIfError, a_share, above_zero};
use crate::formula;
use crate::loader::{Curve, Fetchers, Loader, Side};
use crate::sheet::Sheet;
use crate::units::{
    counted_noun, format_about_bytes, format_bps, format_count, format_percent, format_seconds,
};

/// Readers of one accelerator that are tried.
// As far as scenarios go: 64 readers of one accelerator are beyond what any guide names.
const READERS_MAX: u32 = 64;

/// What is known of one read.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// Seconds of one sample, whatever else is read: a storage that latency binds.
    Sample {
        /// Seconds.
        read_s: f64,
    },
    /// What closed loops measured, by the reads outstanding.
    Measured(Curve),
}

/// How many readers keep accelerators busy.
#[derive(Debug, Clone, PartialEq)]
pub struct Readers {
    /// Accelerators on this host.
    pub accelerators: u32,
    /// Samples of one step of one accelerator.
    pub batch: u32,
    /// Seconds that one step computes.
    pub step_s: f64,
    /// What reading one sample takes.
    pub reading: Reading,
    /// Seconds of decoding one sample, on one core; 0 where nothing is decoded.
    pub decode_s: f64,
    /// Batches that each reader fetches ahead.
    pub prefetch: u32,
    /// Cores of this host, where they are known.
    pub cores: Option<u32>,
    /// Share of the time that accelerators shall compute.
    pub utilization: f64,
}

/// How busy accelerators are, the least and the most that is known.
#[derive(Debug, Clone, Copy)]
struct Busy {
    least: f64,
    most: f64,
}

impl Readers {
    /// Writes the arithmetic down.
    ///
    /// # Errors
    /// [`WhatIfError`] for figures that are not above zero.
    pub fn answer(&self, sheet: &mut Sheet) -> Result<(), WhatIfError> {
        let read_s = if let Reading::Sample { read_s } = self.reading { read_s } else { 1.0 };
        above_zero(&[
            ("the number of accelerators", f64::from(self.accelerators)),
            ("the batch", f64::from(self.batch)),
            ("the step time", self.step_s),
            ("the time of a read", read_s),
            ("the number of batches ahead", f64::from(self.prefetch)),
            ("the number of cores", self.cores.map_or(1.0, f64::from)),
        ])?;
        a_share("the utilization", self.utilization)?;
        if !(self.decode_s.is_finite() && self.decode_s >= 0.0) {
            return Err(WhatIfError::NotAboveZero { name: "the time of decoding", value: self.decode_s });
        }
        sheet.section("arithmetic", "");
        let one_per_s = formula::samples_per_s(1, self.batch, self.step_s);
        let sum = format!(
            "{} / {} = {} samples/s",
            format_count(f64::from(self.batch)),
            format_seconds(self.step_s),
            format_count(one_per_s)
        );
        sheet.by("F01", "an accelerator", &sum);
        if let Reading::Sample { read_s } = self.reading {
            self.by_times(sheet, read_s, one_per_s);
        }
        self.by_cores(sheet, one_per_s);
        sheet.section("busy", "by readers of each accelerator");
        let tried = (0..).map(|power| 1_u32 << power).take_while(|readers| *readers <= READERS_MAX);
        for readers in tried {
            let busy = self.busy(readers);
            sheet.by(self.formula(), &counted_noun(u64::from(readers), "reader"), &self.shown(readers, busy));
            if busy.least >= 1.0 - 1e-6 {
                break;
            }
        }
        self.rules(sheet);
        sheet.section("answer", &self.said());
        Ok(())
    }

    /// F38, from the time of one sample.
    fn by_times(&self, sheet: &mut Sheet, read_s: f64, one_per_s: f64) {
        let sample_s = read_s + self.decode_s;
        let sum = format!(
            "{} + {} = {}",
            format_seconds(read_s),
            format_seconds(self.decode_s),
            format_seconds(sample_s)
        );
        sheet.row("a sample", &format!("read + decoded = {sum}"));
        let readers = formula::readers_of_demand(one_per_s, sample_s);
        let sum = format!(
            "ceil({} samples/s x {}) = {}",
            format_count(one_per_s),
            format_seconds(sample_s),
            format_count(readers)
        );
        sheet.by("F38", "readers", &format!("{sum} for each accelerator"));
    }

    /// What the cores decode, where both are known.
    fn by_cores(&self, sheet: &mut Sheet, one_per_s: f64) {
        let Some(per_s) = self.decoded_per_s() else { return };
        let cores = self.cores.unwrap_or(0);
        let need = format_count(one_per_s * f64::from(self.accelerators));
        let decoded = format_count(per_s);
        let sum = format!(
            "{cores} cores / {} = {decoded} samples/s of the {need} that are needed",
            format_seconds(self.decode_s)
        );
        sheet.by("F23", "decoding", &sum);
        if let Some(step_s) = self.slower_decoded_step_s() {
            let sum = format!("{} x {} / {decoded} samples/s", self.accelerators, self.batch);
            let step = format_seconds(step_s);
            sheet.by("F23", "", &format!("{sum} = {step}: the cores decode the batches of a step in that"));
        }
    }

    /// Seconds in which the cores of this host decode a batch for each accelerator, where that is longer than a step.
    fn slower_decoded_step_s(&self) -> Option<f64> {
        let batches = f64::from(self.accelerators) * f64::from(self.batch);
        self.decoded_per_s().map(|per_s| batches / per_s).filter(|step_s| *step_s > self.step_s)
    }

    /// Samples per second that the cores of this host decode; `None` where nothing limits it.
    fn decoded_per_s(&self) -> Option<f64> {
        self.cores.filter(|_| self.decode_s > 0.0).map(|cores| f64::from(cores) / self.decode_s)
    }

    fn formula(&self) -> &'static str {
        match self.reading {
            Reading::Sample { .. } => "F25, F26",
            Reading::Measured(_) => "F12, F23, F25",
        }
    }

    fn loader(&self, readers: u32) -> Loader {
        Loader {
            accelerators: self.accelerators,
            batch: self.batch,
            compute_s: self.step_s,
            fetchers: Fetchers::Readers(readers),
            prefetch: readers.saturating_mul(self.prefetch),
            decode_s: self.decode_s,
            decode_threads: None,
            startup_s: 0.0,
        }
    }

    /// How busy so many readers keep an accelerator, in the long run.
    fn busy(&self, readers: u32) -> Busy {
        let need_per_s = formula::samples_per_s(self.accelerators, self.batch, self.step_s);
        let decoded = self.decoded_per_s().map_or(1.0, |per_s| (per_s / need_per_s).min(1.0));
        let (least, most) = match &self.reading {
            Reading::Sample { read_s } => {
                let batch_s = f64::from(self.batch) * (read_s + self.decode_s);
                let busy = formula::overlapped_utilization(batch_s / f64::from(readers), self.step_s);
                (busy, busy)
            }
            Reading::Measured(storage) => {
                let loader = self.loader(readers);
                let of = |side| self.step_s / loader.step_s(storage, side);
                (of(Side::Least), of(Side::Most))
            }
        };
        Busy { least: least.min(most).min(decoded), most: most.max(least).min(decoded) }
    }

    fn shown(&self, readers: u32, busy: Busy) -> String {
        match &self.reading {
            Reading::Sample { read_s } => {
                let batch_s = f64::from(self.batch) * (read_s + self.decode_s);
                let speed_up = formula::reader_speed_up(readers, batch_s, self.step_s);
                let (step, each_s) = (format_seconds(self.step_s), batch_s / f64::from(readers));
                let (cores, bound) = match self.slower_decoded_step_s() {
                    Some(cores_s) if cores_s > each_s => {
                        (format!(", {}", format_seconds(cores_s)), ", bound by the cores".to_owned())
                    }
                    _ => (String::new(), format!(", {} times as fast as in turns", format_count(speed_up))),
                };
                let sum = format!("{step} / max({} / {readers}, {step}{cores})", format_seconds(batch_s));
                format!("{sum}: {} busy{bound}", format_percent(busy.least))
            }
            Reading::Measured(_) => {
                let reads = counted_noun(u64::from(self.accelerators) * u64::from(readers), "read");
                format!("{reads} outstanding at most: {} busy", range(busy.least, busy.most))
            }
        }
    }

    /// F37 beside it.
    fn rules(&self, sheet: &mut Sheet) {
        let Some(cores) = self.cores else { return };
        sheet.section("rules of thumb", "readers of this host, which know neither storage nor decoding");
        for rule in formula::reader_rules(self.accelerators, cores) {
            let (least, most) = rule.readers;
            let number = if least == most { least.to_string() } else { format!("{least} to {most}") };
            sheet.by("F37", "", &format!("{}: {number}", rule.words));
        }
    }

    /// Where the cores decode less than the target takes: what readers cannot change, and the cores that would.
    fn too_few_cores(&self) -> Option<String> {
        let (cores, per_s) = self.cores.zip(self.decoded_per_s())?;
        let need_per_s = formula::samples_per_s(self.accelerators, self.batch, self.step_s);
        if per_s / need_per_s >= self.utilization {
            return None;
        }
        let needed = formula::readers_of_demand(self.utilization * need_per_s, self.decode_s);
        Some(format!(
            "no number of readers keeps an accelerator {} busy: {} decode {} of {} samples/s, and {} would do (F23)",
            format_percent(self.utilization),
            counted_noun(u64::from(cores), "core"),
            format_count(per_s),
            format_count(need_per_s),
            format_count(needed)
        ))
    }

    fn said(&self) -> String {
        if let Some(said) = self.too_few_cores() {
            return said;
        }
        let target = format_percent(self.utilization);
        let fewest = |of: fn(Busy) -> f64| {
            (1..=READERS_MAX).find(|readers| of(self.busy(*readers)) >= self.utilization)
        };
        let (for_sure, perhaps) = (fewest(|busy| busy.least), fewest(|busy| busy.most));
        match (for_sure, perhaps) {
            (Some(most), Some(least)) if most == least => {
                format!(
                    "{} of each accelerator are the fewest that keep it {target} busy",
                    counted_noun(u64::from(most), "reader")
                )
            }
            (Some(most), Some(least)) => {
                format!(
                    "the fewest that keep an accelerator {target} busy lie between {least} and {most} readers"
                )
            }
            (None, Some(least)) => {
                format!(
                    "{least} readers may keep an accelerator {target} busy; what was measured leaves it open up to {READERS_MAX}"
                )
            }
            (_, None) => format!("not even {READERS_MAX} readers keep an accelerator {target} busy"),
        }
    }
}

/// `77 %`, or `77 to 80 %`.
fn range(least: f64, most: f64) -> String {
    let (low, high) = (format_percent(least), format_percent(most));
    if low == high { low } else { format!("{} to {high}", low.trim_end_matches(" %")) }
}

/// Batches that the loader of one accelerator fetches ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// So many by each reader.
    OfReader(u32),
    /// So many by all its readers together, as records hold it.
    OfAccelerator(u32),
}

impl Ahead {
    fn count(self) -> u32 {
        match self {
            Self::OfReader(count) | Self::OfAccelerator(count) => count,
        }
    }
}

/// What a loader holds in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Memory {
    /// Accelerators on this host, each with readers of its own.
    pub accelerators: u32,
    /// Readers of one accelerator.
    pub readers: u32,
    /// Batches that are fetched ahead.
    pub ahead: Ahead,
    /// Samples of a batch.
    pub batch: u32,
    /// Bytes of a decoded sample in memory.
    pub decoded_bytes: f64,
    /// Samples of the shuffle buffer of each reader, and bytes of a stored one.
    pub shuffle: Option<(f64, f64)>,
    /// Samples of an index that is held in memory, and bytes of an entry.
    pub index: Option<(f64, f64)>,
    /// Bytes of a reader's own process, beside all of these.
    pub reader_bytes: Option<f64>,
    /// Seconds of a step: how long the batches ahead last.
    pub step_s: Option<f64>,
    /// Bytes of memory that there are.
    pub ram_bytes: Option<f64>,
}

impl Memory {
    /// Writes the arithmetic down.
    ///
    /// # Errors
    /// [`WhatIfError`] for figures that are not above zero.
    pub fn answer(&self, sheet: &mut Sheet) -> Result<(), WhatIfError> {
        let (buffered, stored_bytes) = self.shuffle.unwrap_or((1.0, 1.0));
        let (entries, entry_bytes) = self.index.unwrap_or((1.0, 1.0));
        above_zero(&[
            ("the number of accelerators", f64::from(self.accelerators)),
            ("the number of readers", f64::from(self.readers)),
            ("the number of batches ahead", f64::from(self.ahead.count())),
            ("the batch", f64::from(self.batch)),
            ("the decoded sample", self.decoded_bytes),
            ("the shuffle buffer", buffered),
            ("the stored sample", stored_bytes),
            ("the index", entries),
            ("the entry of the index", entry_bytes),
            ("the memory of a reader", self.reader_bytes.unwrap_or(1.0)),
            ("the step time", self.step_s.unwrap_or(1.0)),
            ("the memory", self.ram_bytes.unwrap_or(1.0)),
        ])?;
        sheet.section("arithmetic", "");
        let total = self.prefetched(sheet) + self.buffers(sheet);
        if let Some(step_s) = self.step_s {
            let ahead = self.batches();
            let cover = format_seconds(formula::burst_cover_s(ahead, step_s));
            sheet.by(
                "F30",
                "covers",
                &format!("{ahead} x {} = {cover} without any delivery", format_seconds(step_s)),
            );
        }
        let said = match self.ram_bytes {
            None => format!("{} of this host's memory", format_about_bytes(total)),
            Some(ram) if total > ram => format!(
                "{} do not fit into {}: fewer readers, batches or buffered samples",
                format_about_bytes(total),
                format_about_bytes(ram)
            ),
            Some(ram) => format!(
                "{} are {} of {}; what is left holds the page cache and the job itself",
                format_about_bytes(total),
                format_percent(total / ram),
                format_about_bytes(ram)
            ),
        };
        sheet.section("answer", &said);
        Ok(())
    }

    /// F28: the batches that one accelerator has ahead of it.
    fn batches(&self) -> u64 {
        match self.ahead {
            Ahead::OfReader(each) => formula::prefetched_batches(self.readers, each),
            Ahead::OfAccelerator(all) => u64::from(all),
        }
    }

    /// F28, F29: the batches ahead; returns their bytes.
    fn prefetched(&self, sheet: &mut Sheet) -> f64 {
        let ahead = self.batches();
        let each = format!("{ahead} for each accelerator");
        match self.ahead {
            Ahead::OfReader(of_reader) => {
                sheet.by("F28", "batches ahead", &format!("{} x {of_reader} = {each}", self.readers));
            }
            Ahead::OfAccelerator(_) => sheet.row("batches ahead", &each),
        }
        let all = ahead.saturating_mul(u64::from(self.accelerators));
        let bytes = formula::prefetch_bytes(all, self.batch, self.decoded_bytes);
        let sum = format!(
            "{all} x {} x {} = {}",
            self.batch,
            format_about_bytes(self.decoded_bytes),
            format_about_bytes(bytes)
        );
        sheet.by("F29", "held by them", &sum);
        bytes
    }

    /// F31, F32, F39: what else is held; returns its bytes.
    fn buffers(&self, sheet: &mut Sheet) -> f64 {
        let readers = f64::from(self.readers) * f64::from(self.accelerators);
        let (count, mut total) = (format_count(readers), 0.0);
        let mut row = |formula, label, factors: String, bytes: f64| {
            sheet.by(formula, label, &format!("{factors} = {}", format_about_bytes(bytes)));
            total += bytes;
        };
        if let Some((samples, bytes)) = self.shuffle {
            let factors = format!("{} x {} x {count}", format_count(samples), format_about_bytes(bytes));
            row("F31", "shuffle buffers", factors, formula::shuffle_bytes(samples, bytes, readers));
        }
        if let Some((samples, bytes)) = self.index {
            let factors = format!("{} x {}", format_count(samples), format_about_bytes(bytes));
            row("F32", "index", factors, formula::index_bytes(samples, bytes));
        }
        if let Some(bytes) = self.reader_bytes {
            let factors = format!("{count} x {}", format_about_bytes(bytes));
            row("F39", "readers", factors, formula::reader_memory_bytes(readers, bytes));
        }
        total
    }
}

/// Readers that are started for each epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    /// Seconds until readers fetch.
    pub start_s: f64,
    /// Seconds of an epoch without that.
    pub epoch_s: f64,
    /// Epochs of the job.
    pub epochs: u32,
}

impl Start {
    /// Writes the arithmetic down.
    ///
    /// # Errors
    /// [`WhatIfError`] for figures that are not above zero.
    pub fn answer(&self, sheet: &mut Sheet) -> Result<(), WhatIfError> {
        above_zero(&[
            ("the start", self.start_s),
            ("the epoch", self.epoch_s),
            ("the number of epochs", f64::from(self.epochs)),
        ])?;
        let (start, epoch) = (format_seconds(self.start_s), format_seconds(self.epoch_s));
        let share = format_percent(formula::start_share(self.start_s, self.epoch_s));
        sheet.section("arithmetic", "");
        sheet.by("F43", "of each epoch", &format!("{start} / ({start} + {epoch}) = {share}"));
        let saved_s = f64::from(self.epochs - 1) * self.start_s;
        let all_s = f64::from(self.epochs) * (self.start_s + self.epoch_s);
        let saved = format!("({} - 1) x {start} = {}", self.epochs, format_seconds(saved_s));
        let of_job = format_percent(saved_s / all_s);
        sheet.row("saved", &format!("{saved}, {of_job} of {}", format_seconds(all_s)));
        sheet.section("answer", &format!("readers that stay from epoch to epoch save {of_job} of the job"));
        Ok(())
    }
}

/// Batches that cross the link to an accelerator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Samples of a batch.
    pub batch: u32,
    /// Bytes of a decoded sample.
    pub decoded_bytes: f64,
    /// Bytes per second of a copy from pageable memory.
    pub pageable_bps: f64,
    /// The same from pinned memory.
    pub pinned_bps: f64,
    /// Seconds that a step computes.
    pub step_s: f64,
}

impl Transfer {
    /// Writes the arithmetic down.
    ///
    /// # Errors
    /// [`WhatIfError`] for figures that are not above zero.
    pub fn answer(&self, sheet: &mut Sheet) -> Result<(), WhatIfError> {
        above_zero(&[
            ("the batch", f64::from(self.batch)),
            ("the decoded sample", self.decoded_bytes),
            ("the rate from pageable memory", self.pageable_bps),
            ("the rate from pinned memory", self.pinned_bps),
            ("the step time", self.step_s),
        ])?;
        let bytes = f64::from(self.batch) * self.decoded_bytes;
        let step = format_seconds(self.step_s);
        sheet.section("arithmetic", "");
        sheet.row(
            "a batch",
            &format!(
                "{} x {} = {}",
                self.batch,
                format_about_bytes(self.decoded_bytes),
                format_about_bytes(bytes)
            ),
        );
        let mut crossing = |label, bps| {
            let taken_s = formula::transfer_s(self.batch, self.decoded_bytes, bps);
            let (taken, share) = (format_seconds(taken_s), format_percent(taken_s / self.step_s));
            sheet.by(
                "F36",
                label,
                &format!(
                    "{} / {} = {taken}, {share} of a step of {step}",
                    format_about_bytes(bytes),
                    format_bps(bps)
                ),
            );
            taken_s
        };
        let (pageable_s, pinned_s) =
            (crossing("pageable", self.pageable_bps), crossing("pinned", self.pinned_bps));
        sheet.section("answer", &self.said(pageable_s, pinned_s));
        Ok(())
    }

    fn said(&self, pageable_s: f64, pinned_s: f64) -> String {
        if pinned_s > self.step_s {
            let busy = |copied_s| format_percent(formula::overlapped_utilization(copied_s, self.step_s));
            return format!(
                "the link binds: a pinned batch crosses in {}, so that an accelerator is {} busy at most, and {} with \
                 pageable ones (F25)",
                format_seconds(pinned_s),
                busy(pinned_s),
                busy(pageable_s)
            );
        }
        let saved = format_percent((pageable_s - pinned_s) / self.step_s);
        let turns = format!(
            "pinned memory saves {saved} of a step where copies and steps take turns; beside each other"
        );
        if pageable_s > self.step_s {
            format!("{turns} pinned copies are hidden, and pageable ones last longer than a step")
        } else if pageable_s > pinned_s {
            format!("{turns} both are hidden")
        } else {
            "pinned memory saves nothing at these rates".to_owned()
        }
    }
}
