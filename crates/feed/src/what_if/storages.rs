//! Where data lie, and in what form: copies, caches, codecs, shards.

use super::error::{WhatIfError, above_zero};
use crate::sheet::Sheet;
use crate::units::{
    counted_noun, format_about_bytes, format_bps, format_count, format_percent, format_seconds,
};
use crate::words::{CacheOrder, TierPolicy};
use crate::{bounds, formula};

/// Epochs of draws after which a cache is full, or holds all but nothing: 64 leave `exp(-64)` unread.
const EPOCHS_UNTIL_FULL: u32 = 64;

/// Bytes per second of an epoch: what the storage gives, and no more than the accelerators take.
fn epoch_bps(storage_bps: f64, need_bps: Option<f64>) -> f64 {
    formula::pipeline_per_s(&[storage_bps, need_bps.unwrap_or(f64::INFINITY)])
}

/// An epoch of a dataset as a row; returns its seconds.
fn epoch(sheet: &mut Sheet, label: &str, bytes: f64, (storage_bps, need_bps): (f64, Option<f64>)) -> f64 {
    let bps = epoch_bps(storage_bps, need_bps);
    let epoch_s = formula::staging_s(bytes, bps);
    let sum = format!("{} / {} = {}", format_about_bytes(bytes), format_bps(bps), format_seconds(epoch_s));
    if bps < storage_bps {
        sheet.by("F23, F42", label, &format!("{sum}: the accelerators take no more"));
    } else {
        sheet.by("F42", label, &sum);
    }
    epoch_s
}

/// Epochs of a job without a cache and with one, as a row.
fn job(sheet: &mut Sheet, epochs: u32, (without_s, with_s): (f64, f64)) {
    let (without, with) = (format_seconds(without_s), format_seconds(with_s));
    let label = counted_noun(u64::from(epochs), "epoch");
    sheet.by("F42", &label, &format!("{without} without the cache, {with} with it"));
}

/// Whether a dataset is copied nearer before it is read epoch after epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CopyFirst {
    /// Bytes of the dataset.
    pub dataset_bytes: f64,
    /// Bytes per second at which a job reads it where it lies.
    pub source_bps: f64,
    /// Bytes per second at which it is copied.
    pub copying_bps: f64,
    /// Bytes per second at which a job reads the copy.
    pub copy_bps: f64,
    /// Bytes per second that the accelerators take; no epoch is shorter than that.
    pub need_bps: Option<f64>,
    /// Epochs of the job, where they are known.
    pub epochs: Option<u32>,
}

impl CopyFirst {
    /// Writes the arithmetic down.
    ///
    /// # Errors
    /// [`WhatIfError`] for figures that are not above zero.
    pub fn answer(&self, sheet: &mut Sheet) -> Result<(), WhatIfError> {
        above_zero(&[
            ("the dataset", self.dataset_bytes),
            ("the rate of the source", self.source_bps),
            ("the rate of copying", self.copying_bps),
            ("the rate of the copy", self.copy_bps),
            ("the need", self.need_bps.unwrap_or(1.0)),
            ("the number of epochs", self.epochs.map_or(1.0, f64::from)),
        ])?;
        let bytes = self.dataset_bytes;
        let copied_s = formula::staging_s(bytes, self.copying_bps);
        let (dataset, copying) = (format_about_bytes(bytes), format_bps(self.copying_bps));
        let copied = format_seconds(copied_s);
        sheet.section("arithmetic", "");
        sheet.by("F42", "copying", &format!("{dataset} / {copying} = {copied}"));
        let source_s = epoch(sheet, "epoch of source", bytes, (self.source_bps, self.need_bps));
        let copy_s = epoch(sheet, "epoch of copy", bytes, (self.copy_bps, self.need_bps));
        let (source, copy) = (format_seconds(source_s), format_seconds(copy_s));
        let pays = formula::break_even_epochs(copied_s, source_s, copy_s);
        if let Some(pays) = pays {
            let sum = format!("{copied} / ({source} - {copy}) = {} epochs", format_count(pays));
            sheet.by("F42", "pays after", &sum);
        }
        if let Some(epochs) = self.epochs {
            let (there, here) = (f64::from(epochs) * source_s, copied_s + f64::from(epochs) * copy_s);
            let job = counted_noun(u64::from(epochs), "epoch");
            let sum = format!(
                "{epochs} x {source} = {} of the source; {copied} + {epochs} x {copy} = {} with the copy",
                format_seconds(there),
                format_seconds(here)
            );
            sheet.by("F42", &job, &sum);
        }
        sheet.section("answer", &self.said(pays));
        Ok(())
    }

    fn said(&self, pays: Option<f64>) -> String {
        let keeps_up = self.need_bps.is_some_and(|need| self.source_bps >= need);
        match pays {
            None if keeps_up => {
                "the source gives what the accelerators take already: no copy makes an epoch shorter"
                    .to_owned()
            }
            None => "the copy never pays: its epochs are no shorter than those of the source".to_owned(),
            Some(pays) if self.epochs.is_some_and(|epochs| pays > f64::from(epochs)) => format!(
                "the copy does not pay within the job: it would within epoch {}",
                format_count(pays.ceil())
            ),
            Some(pays) if pays <= 1.0 => "the copy pays within the first epoch".to_owned(),
            Some(pays) => format!("the copy pays within epoch {}, and not before", format_count(pays.ceil())),
        }
    }
}

/// Whether a cache before a storage makes later epochs shorter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheBefore {
    /// Bytes of the dataset.
    pub dataset_bytes: f64,
    /// Bytes that the cache holds.
    pub cache_bytes: f64,
    /// Bytes per second of the storage.
    pub source_bps: f64,
    /// Bytes per second of the cache.
    pub cache_bps: f64,
    /// Order of the reads.
    pub order: CacheOrder,
    /// What a full cache drops.
    pub policy: TierPolicy,
    /// Bytes per second that the accelerators take; no epoch is shorter than that.
    pub need_bps: Option<f64>,
    /// Epochs of the job, where they are known.
    pub epochs: Option<u32>,
}

impl CacheBefore {
    /// Writes the arithmetic down.
    ///
    /// # Errors
    /// [`WhatIfError`] for figures that are not above zero.
    pub fn answer(&self, sheet: &mut Sheet) -> Result<(), WhatIfError> {
        above_zero(&[
            ("the dataset", self.dataset_bytes),
            ("the cache", self.cache_bytes),
            ("the rate of the source", self.source_bps),
            ("the rate of the cache", self.cache_bps),
            ("the need", self.need_bps.unwrap_or(1.0)),
            ("the number of epochs", self.epochs.map_or(1.0, f64::from)),
        ])?;
        let bytes = self.dataset_bytes;
        sheet.section("arithmetic", "");
        let sizes = format!("{} / {}", format_about_bytes(self.cache_bytes), format_about_bytes(bytes));
        sheet.row("held", &format!("{sizes} = {} of the dataset", format_percent(self.cache_bytes / bytes)));
        match self.order {
            CacheOrder::Drawn => self.of_draws(sheet),
            CacheOrder::Same | CacheOrder::Permuted => self.of_passes(sheet),
        }
        sheet.row("", "that the cache is filled beside the reads is taken to cost nothing");
        Ok(())
    }

    /// Share of the dataset that the cache can hold.
    fn share(&self) -> f64 {
        (self.cache_bytes / self.dataset_bytes).min(1.0)
    }

    /// F45 as a row; returns the bytes per second.
    fn rate(&self, sheet: &mut Sheet, label: &str, hits: f64) -> f64 {
        let bps = formula::cached_bps(hits, self.source_bps, self.cache_bps);
        let (source, cache) = (format_bps(self.source_bps), format_bps(self.cache_bps));
        let (missed, hit) = (format_percent(1.0 - hits), format_percent(hits));
        let sum = format!("1 / ({missed} / {source} + {hit} / {cache})");
        sheet.by("F45", label, &format!("{sum} = {}", format_bps(bps)));
        bps
    }

    /// Epochs that read each sample once: the first finds nothing, and all later ones as much.
    fn of_passes(&self, sheet: &mut Sheet) {
        let bytes = self.dataset_bytes;
        let hits = formula::hits(self.order, self.policy, self.share());
        sheet.by("F44", "hits", &format!("{} from epoch 2 on: {}", format_percent(hits), self.reads()));
        let bps = self.rate(sheet, "rate", hits);
        let first_s = epoch(sheet, "epoch 1", bytes, (self.source_bps, self.need_bps));
        let later_s = epoch(sheet, "later epochs", bytes, (bps, self.need_bps));
        if let Some(epochs) = self.epochs {
            let with_s = first_s + f64::from(epochs - 1) * later_s;
            job(sheet, epochs, (f64::from(epochs) * first_s, with_s));
        }
        sheet.section("answer", &self.said(hits, first_s, later_s));
    }

    /// Epochs of draws: samples come back before all are read, so that the first finds some too, and the next ones more.
    fn of_draws(&self, sheet: &mut Sheet) {
        let (bytes, share) = (self.dataset_bytes, self.share());
        let hits = |epoch| formula::hits_of_drawn_epoch(share, epoch);
        let full = formula::hits(self.order, self.policy, share);
        let (first, second) = (format_percent(hits(1)), format_percent(hits(2)));
        let sum =
            format!("{first} of epoch 1, {second} of epoch 2, {} of a full cache", format_percent(full));
        sheet.by("F44", "hits", &format!("{sum}: {}", self.reads()));
        let of_epoch = |hits| {
            let bps = formula::cached_bps(hits, self.source_bps, self.cache_bps);
            formula::staging_s(bytes, epoch_bps(bps, self.need_bps))
        };
        let without_s = epoch(sheet, "uncached", bytes, (self.source_bps, self.need_bps));
        let mut row = |label: &str, hits| {
            let bps = self.rate(sheet, &format!("rate, {label}"), hits);
            epoch(sheet, label, bytes, (bps, self.need_bps))
        };
        let first_s = row("epoch 1", hits(1));
        let second_s = if self.epochs == Some(1) { first_s } else { row("epoch 2", hits(2)) };
        let later_s =
            if self.epochs.is_some_and(|epochs| epochs <= 2) { second_s } else { row("full", full) };
        if let Some(epochs) = self.epochs {
            let filling = epochs.min(EPOCHS_UNTIL_FULL);
            let filled_s: f64 = (1..=filling).map(|epoch| of_epoch(hits(epoch))).sum();
            let with_s = filled_s + f64::from(epochs - filling) * of_epoch(full);
            job(sheet, epochs, (f64::from(epochs) * without_s, with_s));
        }
        sheet.section("answer", &self.said_of_draws(without_s, [first_s, second_s, later_s]));
    }

    fn said_of_draws(&self, without_s: f64, [first_s, second_s, later_s]: [f64; 3]) -> String {
        if later_s >= without_s {
            return self.no_gain().to_owned();
        }
        let shorter = |epoch_s: f64| format_percent(1.0 - epoch_s / without_s);
        let first = format!("epoch 1 is {} shorter than without the cache", shorter(first_s));
        match self.epochs {
            Some(1) => first,
            Some(2) => format!("{first}, and epoch 2 {}", shorter(second_s)),
            _ => format!(
                "{first}, epoch 2 {}, and later ones up to {} once the cache is full",
                shorter(second_s),
                shorter(later_s)
            ),
        }
    }

    fn reads(&self) -> &'static str {
        match (self.order, self.policy) {
            (CacheOrder::Drawn, _) => "samples drawn with replacement",
            (CacheOrder::Same, TierPolicy::Lru) => "one order for all epochs, least recently used dropped",
            (CacheOrder::Same, TierPolicy::Random) => "one order for all epochs, any sample dropped",
            (CacheOrder::Permuted, TierPolicy::Lru) => "a new order each epoch, least recently used dropped",
            (CacheOrder::Permuted, TierPolicy::Random) => "a new order each epoch, any sample dropped",
        }
    }

    fn said(&self, hits: f64, first_s: f64, later_s: f64) -> String {
        if hits <= 0.0 {
            return "no later epoch finds anything in the cache".to_owned();
        }
        if self.epochs == Some(1) {
            return "a job of one epoch gains nothing: it reads each sample before the cache holds it"
                .to_owned();
        }
        if later_s < first_s {
            let shorter = format_percent(1.0 - later_s / first_s);
            return format!(
                "later epochs are {shorter} shorter than the first: the cache pays from epoch 2 on"
            );
        }
        self.no_gain().to_owned()
    }

    /// Why an epoch with hits takes as long as one without.
    fn no_gain(&self) -> &'static str {
        match self.need_bps.filter(|need| self.source_bps >= *need) {
            Some(_) => "the source gives what the accelerators take already: no cache makes an epoch shorter",
            None => "the cache is no faster than the source: it makes no epoch shorter",
        }
    }
}

/// Whether data are stored compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Codec {
    /// Bytes per second that the storage or the link to it carries.
    pub link_bps: f64,
    /// Bytes of the samples by those that are stored.
    pub ratio: f64,
    /// Readers that unpack.
    pub readers: u32,
    /// Bytes of samples per second that one of them unpacks.
    pub unpack_bps: f64,
}

impl Codec {
    /// Writes the arithmetic down.
    ///
    /// # Errors
    /// [`WhatIfError`] for figures that are not above zero, and a codec that makes data larger.
    pub fn answer(&self, sheet: &mut Sheet) -> Result<(), WhatIfError> {
        above_zero(&[
            ("the rate of the link", self.link_bps),
            ("the ratio of the codec", self.ratio),
            ("the number of readers", f64::from(self.readers)),
            ("the rate of unpacking", self.unpack_bps),
        ])?;
        if self.ratio < 1.0 {
            return Err(WhatIfError::Impossible {
                why: format!("a ratio of {} makes the data larger", format_count(self.ratio)),
                hint: "the ratio is the bytes of the samples by those that are stored: 5 of 100 GB in 20"
                    .to_owned(),
            });
        }
        let (carried_bps, unpacked_bps) =
            (self.link_bps * self.ratio, f64::from(self.readers) * self.unpack_bps);
        let bps = formula::decoded_bps(self.link_bps, self.ratio, self.readers, self.unpack_bps);
        let (link, unpack) = (format_bps(self.link_bps), format_bps(self.unpack_bps));
        let (carried, unpacked) = (format_bps(carried_bps), format_bps(unpacked_bps));
        sheet.section("arithmetic", "in bytes of samples");
        sheet.by("F41", "link", &format!("{link} x {} = {carried}", format_count(self.ratio)));
        sheet.by("F41", "unpacking", &format!("{} x {unpack} = {unpacked}", self.readers));
        let binds = if unpacked_bps < carried_bps { "unpacking" } else { "the link" };
        let sum = format!("min({carried}, {unpacked}) = {}: {binds} binds", format_bps(bps));
        sheet.by("F41", "together", &sum);
        let all = format_count((carried_bps / self.unpack_bps).ceil());
        sheet.by(
            "F14",
            "readers",
            &format!("ceil({carried} / {unpack}) = {all} unpack all that the link carries"),
        );
        let gain = bps / self.link_bps;
        let said = if gain > 1.0 {
            format!("{} times what the link carries of samples that are not compressed", format_count(gain))
        } else {
            format!("no gain: samples that are not compressed come at {link}")
        };
        sheet.section("answer", &said);
        Ok(())
    }
}

/// How a dataset is packed into shards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shards {
    /// Bytes of the dataset.
    pub dataset_bytes: f64,
    /// Bytes of one sample.
    pub sample_bytes: f64,
    /// Bytes of one shard.
    pub shard_bytes: f64,
    /// Processes that share the shards: ranks, each with so many readers as open one at a time.
    pub ranks: u32,
    /// Seconds to the first byte of a file or a shard, and bytes per second of one stream, where both are known.
    pub stream: Option<(f64, f64)>,
}

impl Shards {
    /// Writes the arithmetic down.
    ///
    /// # Errors
    /// [`WhatIfError`] for figures that are not above zero, samples larger than their shard, and fewer shards than ranks.
    pub fn answer(&self, sheet: &mut Sheet) -> Result<(), WhatIfError> {
        let (first_s, stream_bps) = self.stream.unwrap_or((1.0, 1.0));
        above_zero(&[
            ("the dataset", self.dataset_bytes),
            ("the sample", self.sample_bytes),
            ("the shard", self.shard_bytes),
            ("the number of ranks", f64::from(self.ranks)),
            ("the time to the first byte", first_s),
            ("the rate of a stream", stream_bps),
        ])?;
        let shards = formula::shards(self.dataset_bytes, self.shard_bytes) as u64;
        self.refuse(shards)?;
        let (dataset, shard) = (format_about_bytes(self.dataset_bytes), format_about_bytes(self.shard_bytes));
        let sample = format_about_bytes(self.sample_bytes);
        let ranks = u64::from(self.ranks);
        sheet.section("arithmetic", "");
        sheet.by("F34", "shards", &format!("ceil({dataset} / {shard}) = {}", format_count(shards as f64)));
        let samples = (self.shard_bytes / self.sample_bytes).floor();
        sheet.by("F35", "samples of each", &format!("floor({shard} / {sample}) = {}", format_count(samples)));
        let over = formula::tar_member_bytes(self.sample_bytes) / self.sample_bytes - 1.0;
        sheet.by("F35", "as tar", &format!("headers and padding add {}", format_percent(over)));
        let most = formula::shards_per_rank(shards, ranks);
        let tail = formula::shard_tail(shards, ranks);
        let sum = format!(
            "ceil({} / {ranks}) = {} at most",
            format_count(shards as f64),
            format_count(most as f64)
        );
        sheet.by("F33", "for each rank", &sum);
        sheet.by(
            "F33",
            "waiting",
            &format!("{} of an epoch, until the fullest rank has read its share", format_percent(tail)),
        );
        let Some((first_s, stream_bps)) = self.stream else {
            let said = format!("{} of about {shard}", counted_noun(shards, "shard"));
            sheet.section("answer", &said);
            return Ok(());
        };
        let gain = formula::shard_gain(first_s, self.sample_bytes, stream_bps, samples);
        let half = bounds::half_point_bytes(first_s, stream_bps);
        let (first, stream) = (format_seconds(first_s), format_bps(stream_bps));
        let file_s = format_seconds(bounds::read_s(first_s, self.sample_bytes, stream_bps));
        sheet.by("F11", "a file", &format!("{first} + {sample} / {stream} = {file_s}"));
        sheet.by(
            "F17",
            "half of the time",
            &format!(
                "{first} x {stream} = {}: of larger files bytes move longer than that",
                format_about_bytes(half)
            ),
        );
        sheet.by("F18", "gain of shards", &format!("{} times, each stream for itself", format_count(gain)));
        sheet.section(
            "answer",
            &format!(
                "{} of about {shard}, which one stream reads {} times as fast as files",
                counted_noun(shards, "shard"),
                format_count(gain)
            ),
        );
        Ok(())
    }

    fn refuse(&self, shards: u64) -> Result<(), WhatIfError> {
        let impossible =
            |why: String, hint: &str| Err(WhatIfError::Impossible { why, hint: hint.to_owned() });
        let (sample, shard) = (format_about_bytes(self.sample_bytes), format_about_bytes(self.shard_bytes));
        if self.sample_bytes > self.shard_bytes {
            return impossible(
                format!("a shard of {shard} holds no sample of {sample}"),
                "a shard holds whole samples: make it larger than one",
            );
        }
        if self.sample_bytes > self.dataset_bytes {
            let dataset = format_about_bytes(self.dataset_bytes);
            return impossible(
                format!("a dataset of {dataset} holds no sample of {sample}"),
                "the dataset is all samples together",
            );
        }
        if shards < u64::from(self.ranks) {
            return impossible(
                format!("{} for {} ranks leave some without any", counted_noun(shards, "shard"), self.ranks),
                "make shards smaller, at least as many as ranks times readers",
            );
        }
        Ok(())
    }
}
