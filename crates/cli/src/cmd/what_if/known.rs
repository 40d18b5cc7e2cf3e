//! Figures that a question takes from the record of a run, each with where it is from.

use std::path::{Path, PathBuf};

use analysis::{CellSummary, CopyFigures, Payoff, Summary};
use feed::what_if::Ahead;
use feed::{Curve, Sheet, format_bps, format_bytes, format_count, format_duration_ns};
use record::{Datasets as _, RunRecord};

use super::asked::rate;
use crate::exit::Failure;
use crate::samples;

/// PyTorch, `torch.utils.data.DataLoader`: its `prefetch_factor`, where none is stated and no record says what a job had.
const PREFETCH_DEFAULT: u32 = 2;

/// The record that was named, and what was taken from it.
pub(super) struct Known {
    run: Option<Opened>,
    taken: Vec<(String, String)>,
}

/// A record that was read.
struct Opened {
    folder: PathBuf,
    record: RunRecord,
    summary: Summary,
}

/// A figure of a record, and where it is from.
struct Taken<T> {
    value: T,
    from: String,
}

/// What a record gives where a rate is not stated.
#[derive(Debug, Clone, Copy)]
pub(super) enum RateOf {
    /// The rate of its only storage, in the cell that its verdict rests on.
    OnlyTarget,
    /// Its only copy of a dataset.
    Copying,
    /// The source of that copy, by the fastest cell that reads it.
    SourceOfCopy,
    /// That copy, as read by the cell that is alike.
    CopyOfSource,
    /// Its only checkpoint that is written and nothing else.
    Checkpoint,
    /// Nothing: it has to be stated or named.
    Named,
}

/// The job of accelerators.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Job {
    pub(super) accelerators: u32,
    pub(super) batch: u32,
    pub(super) step_s: f64,
    /// Share of the time that accelerators shall compute.
    pub(super) utilization: f64,
}

impl Known {
    /// Reads the record, where one is named.
    pub(super) fn of(from: Option<&Path>) -> Result<Self, Failure> {
        let open = |folder: &Path| -> Result<Opened, Failure> {
            let record = samples::record(folder)?;
            Ok(Opened { folder: folder.to_owned(), summary: analysis::summarise(&record), record })
        };
        Ok(Self { run: from.map(open).transpose()?, taken: Vec::new() })
    }

    /// Lists what was taken from the record, as a section.
    pub(super) fn list(&self, sheet: &mut Sheet) {
        let Some(run) = &self.run else { return };
        sheet.section("from the record", &run.folder.display().to_string());
        for (label, words) in &self.taken {
            sheet.row(label, words);
        }
    }

    /// Bytes per second: as stated, of the target or cell that is named, else what the record gives.
    pub(super) fn rate(
        &mut self,
        flag: &str,
        given: Option<&str>,
        otherwise: RateOf,
    ) -> Result<f64, Failure> {
        let taken = match (given.map(|text| (text, rate(text))), &self.run) {
            (Some((_, Ok(bps))), _) => return Ok(bps),
            (Some((text, Err(_))), Some(run)) => run.rate_of(text)?,
            (Some((text, Err(error))), None) => {
                let hint = "name a target or a cell only with --from RUN";
                return Err(Failure::usage(format!("error: --{flag} `{text}`: {error}\n  hint: {hint}")));
            }
            (None, Some(run)) => run.rate(flag, otherwise)?,
            (None, None) => return Err(missing(flag, "500MB/s")),
        };
        Ok(self.take(flag, taken, format_bps))
    }

    /// Bytes of the dataset; where the record holds several, these flags state what is meant.
    pub(super) fn dataset_bytes(&mut self, given: Option<f64>, stated_by: &str) -> Result<f64, Failure> {
        self.figure(("dataset", "166GB"), given, bytes, |run| {
            let set = run.dataset(stated_by)?;
            Ok(Taken { value: set.bytes as f64, from: format!("dataset of target {}", set.target) })
        })
    }

    /// Bytes of one sample, with the flags of [`Self::dataset_bytes`].
    pub(super) fn sample_bytes(&mut self, given: Option<f64>, stated_by: &str) -> Result<f64, Failure> {
        self.figure(("sample", "130kB"), given, bytes, |run| {
            let set = run.dataset(stated_by)?;
            Ok(Taken { value: set.sample_bytes, from: format!("dataset of target {}", set.target) })
        })
    }

    /// Bytes of one checkpoint, and what the record says they are of.
    pub(super) fn checkpoint_bytes(&mut self, given: Option<f64>) -> Result<(f64, Option<String>), Failure> {
        let value = self.figure(("size", "1.12TB"), given, bytes, |run| {
            let cell = run.checkpoint()?.1;
            let plan = cell.cell.checkpoint.as_ref().filter(|plan| plan.bytes > 0);
            let plan = plan.ok_or_else(|| run.lacks("the size of a checkpoint", "size"))?;
            Ok(Taken { value: plan.bytes as f64, from: plan.label.clone() })
        })?;
        let of_record = self.run.as_ref().filter(|_| given.is_none()).map(Opened::checkpoint).transpose()?;
        let label = of_record.and_then(|(_, cell)| cell.cell.checkpoint.as_ref());
        Ok((value, label.map(|plan| plan.label.clone())))
    }

    /// Accelerators of the whole job.
    pub(super) fn accelerators(&mut self, given: Option<u32>) -> Result<u32, Failure> {
        self.figure(
            ("accelerators", "8"),
            given,
            |count| count.to_string(),
            |run| {
                let need = run.summary.need.as_ref().ok().filter(|need| need.count > 0);
                let need = need.ok_or_else(|| run.lacks("a need that names accelerators", "accelerators"))?;
                Ok(Taken { value: need.count, from: format!("need {}", need.label) })
            },
        )
    }

    /// Readers of each accelerator.
    pub(super) fn readers(&mut self, given: Option<u32>) -> Result<u32, Failure> {
        self.figure(
            ("readers", "8"),
            given,
            |count| count.to_string(),
            |run| {
                let cell = run.job_cell("readers")?;
                let readers = cell.cell.training.as_ref().and_then(|job| job.readers);
                let value = readers.ok_or_else(|| run.lacks("readers: its job has none", "readers"))?;
                Ok(Taken { value, from: named(cell) })
            },
        )
    }

    /// Batches ahead: of each reader as stated, else of each accelerator as the record has it.
    pub(super) fn ahead(&mut self, given: Option<u32>) -> Result<Ahead, Failure> {
        if given.is_some() || self.run.is_none() {
            return Ok(Ahead::OfReader(given.unwrap_or(PREFETCH_DEFAULT)));
        }
        let shown = |count: u32| format!("{count} of each accelerator");
        let ahead = self.figure(("prefetch", "2"), None, shown, |run| {
            let cell = run.job_cell("prefetch")?;
            let ahead = cell.cell.training.as_ref().map(|job| job.prefetch).filter(|ahead| *ahead > 0);
            let value = ahead.ok_or_else(|| run.lacks("batches ahead: its job has none", "prefetch"))?;
            Ok(Taken { value, from: named(cell) })
        })?;
        Ok(Ahead::OfAccelerator(ahead))
    }

    /// Share of the time that accelerators compute.
    pub(super) fn utilization(&mut self, given: Option<f64>) -> Result<f64, Failure> {
        let shown = |share: f64| format!("{:.1} %", share * 100.0);
        self.figure(("busy", "0.8"), given, shown, |run| {
            let cell = run.only_job("busy")?;
            let trained = cell.figures().and_then(|figures| figures.training.as_ref());
            let trained = trained.ok_or_else(|| run.lacks("a utilization", "busy"))?;
            Ok(Taken { value: trained.au.mean, from: named(cell) })
        })
    }

    /// Seconds of an epoch.
    pub(super) fn epoch_s(&mut self, given: Option<f64>) -> Result<f64, Failure> {
        self.figure(("epoch", "120s"), given, seconds, |run| {
            let cell = run.only_job("epoch")?;
            let starts = cell.cell.training.as_ref().is_some_and(|job| job.startup_ns > 0);
            let of_cell = |epochs: &&analysis::CellEpochs| {
                run.summary.cells.get(epochs.cell).is_some_and(|one| std::ptr::eq(one, cell))
            };
            let epochs = run.summary.epochs.iter().find(of_cell);
            // The first reads into an empty loader, and one that the window cut is no epoch.
            let whole = epochs.iter().flat_map(|of| &of.epochs).rfind(|one| one.complete && !starts);
            let whole =
                whole.ok_or_else(|| run.lacks("a whole epoch without a start of readers", "epoch"))?;
            let from = format!("epoch {} of {}", whole.epoch + 1, named(cell));
            Ok(Taken { value: whole.ended_s - whole.begun_s, from })
        })
    }

    /// The job, as far as it is not stated.
    pub(super) fn job(&mut self) -> Result<Job, Failure> {
        let Some(run) = &self.run else {
            return Err(Failure::usage(
                "error: what the accelerators do in a step is missing\n  hint: state --need 8xh100:resnet50, or \
                 --accelerators, --batch and --step, or take it from a record: --from RUN",
            ));
        };
        let cell = run.job_cell("accelerators, --batch and --step")?;
        let lacking = || run.lacks("the job of accelerators", "need");
        let job = cell.cell.training.as_ref().ok_or_else(lacking)?;
        let (step_s, utilization) = (job.compute_ns as f64 / 1e9, job.threshold);
        let value = Job { accelerators: job.accelerators, batch: job.batch, step_s, utilization };
        let shown =
            |job: Job| format!("{} x batch {} / {}", job.accelerators, job.batch, seconds(job.step_s));
        let taken = Taken { value, from: named(cell) };
        Ok(self.take("job", taken, shown))
    }

    /// Samples per second by the reads outstanding, of the target or cell that is named, else of the only target.
    pub(super) fn curve(&mut self, name: Option<&str>) -> Result<Curve, Failure> {
        let Some(run) = &self.run else {
            return Err(Failure::usage(
                "error: the time of a read is missing\n  hint: state --read 4ms, or take what was measured: --from RUN",
            ));
        };
        let like = run.named_or_only(name, "source")?;
        let loops = analysis::ClosedLoops::of(&run.record.run, &run.summary.cells).by_depth(like);
        let rate = |cell: &&CellSummary| Some((cell.cell.queue_depth, cell.figures()?.samples_per_s.mean));
        let value = Curve::new(loops.iter().filter_map(rate));
        let value =
            value.ok_or_else(|| run.lacks(&format!("valid closed loops of {}", like.cell.target), "read"))?;
        let depths: Vec<String> = loops.iter().map(|cell| cell.cell.queue_depth.to_string()).collect();
        let words = format!("closed loops at depth {}", depths.join(", "));
        let from = format!("{}{}", like.cell.target, run.demo(like));
        Ok(self.take("reads", Taken { value, from }, |_| words.clone()))
    }

    fn figure<T: Copy>(
        &mut self,
        (flag, example): (&str, &str),
        given: Option<T>,
        shown: impl Fn(T) -> String,
        of_run: impl Fn(&Opened) -> Result<Taken<T>, Failure>,
    ) -> Result<T, Failure> {
        match (given, &self.run) {
            (Some(value), _) => Ok(value),
            (None, None) => Err(missing(flag, example)),
            (None, Some(run)) => {
                let taken = of_run(run)?;
                Ok(self.take(flag, Taken { value: taken.value, from: taken.from }, shown))
            }
        }
    }

    fn take<T: Clone>(&mut self, label: &str, taken: Taken<T>, shown: impl Fn(T) -> String) -> T {
        self.taken.push((label.to_owned(), format!("{}: {}", shown(taken.value.clone()), taken.from)));
        taken.value
    }
}

impl Opened {
    /// A figure that the record does not hold.
    fn lacks(&self, what: &str, flag: &str) -> Failure {
        let folder = self.folder.display();
        Failure::usage(format!("error: the record of `{folder}` holds no {what}\n  hint: state it: --{flag}"))
    }

    /// A figure that the record holds several times.
    fn several<'a>(&self, what: &str, flag: &str, names: impl Iterator<Item = &'a str>) -> Failure {
        let (folder, names) = (self.folder.display(), names.collect::<Vec<_>>().join(", "));
        Failure::usage(format!(
            "error: the record of `{folder}` holds several {what}: {names}\n  hint: state it, or name one: --{flag}"
        ))
    }

    fn rate(&self, flag: &str, of: RateOf) -> Result<Taken<f64>, Failure> {
        match of {
            RateOf::OnlyTarget => self.rate_in(self.named_or_only(None, flag)?),
            RateOf::Copying => self.rate_in(self.copying(flag)?.1),
            RateOf::SourceOfCopy => self.rate_in(&self.summary.cells[self.payoff(flag)?.source]),
            RateOf::CopyOfSource => self.rate_in(&self.summary.cells[self.payoff(flag)?.copy]),
            RateOf::Checkpoint => {
                let (bps, cell) = self.checkpoint()?;
                Ok(Taken { value: bps, from: format!("{}{}", named(cell), self.demo(cell)) })
            }
            RateOf::Named => Err(Failure::usage(format!(
                "error: --{flag} is missing\n  hint: state a rate such as 10GB/s, or name a target or cell of the record"
            ))),
        }
    }

    fn rate_of(&self, name: &str) -> Result<Taken<f64>, Failure> {
        self.rate_in(self.find(name)?)
    }

    /// The rate of a cell, unless nothing may rest on it.
    fn rate_in(&self, cell: &CellSummary) -> Result<Taken<f64>, Failure> {
        let doubtful = |why: &str| {
            let folder = self.folder.display();
            Failure::usage(format!(
                "error: the rate of `{}` {why}\n  hint: name another cell, or state the rate; feedline report {folder} \
                 --full shows all of them",
                cell.cell.cell
            ))
        };
        if cell.cell.write_percent.is_some() {
            return Err(doubtful("is of reads and writes at once, and of neither"));
        }
        if cell.cell.training.is_some() || cell.cell.pace.is_some() {
            return Err(doubtful("is what its load asked for, and no rate of its storage"));
        }
        let figures = cell.figures().filter(|figures| figures.bps.mean > 0.0);
        let figures = figures.ok_or_else(|| doubtful("was not measured"))?;
        if !figures.is_valid() {
            return Err(doubtful("is doubtful"));
        }
        let client = if figures.is_client_limited() { ", limited by this client" } else { "" };
        Ok(Taken { value: figures.bps.mean, from: format!("{}{client}{}", named(cell), self.demo(cell)) })
    }

    /// The cell of this name, or the one that the verdict of the target of this name rests on.
    fn find(&self, name: &str) -> Result<&CellSummary, Failure> {
        let cell = self.summary.cell(name).or_else(|| analysis::choose_cell(&self.summary, name));
        cell.ok_or_else(|| {
            let targets: Vec<&str> = self.summary.targets.iter().map(|target| target.name.as_str()).collect();
            let folder = self.folder.display();
            Failure::usage(format!(
                "error: `{name}` is no rate, and no target or cell of `{folder}` that was measured\n  hint: its targets are \
                 {}; feedline report {folder} --full shows its cells",
                targets.join(", ")
            ))
        })
    }

    /// The cell that is named, else that of the only storage under test.
    fn named_or_only(&self, name: Option<&str>, flag: &str) -> Result<&CellSummary, Failure> {
        if let Some(name) = name {
            return self.find(name);
        }
        let storages = || self.summary.targets.iter().filter(|target| target.storage);
        let mut measured = storages().filter_map(|target| analysis::choose_cell(&self.summary, &target.name));
        match (measured.next(), measured.next()) {
            (Some(cell), None) => Ok(cell),
            (None, _) => Err(self.lacks("storage that was read", flag)),
            _ => Err(self.several("targets", flag, storages().map(|target| target.name.as_str()))),
        }
    }

    /// The only copy, with the cell that made it.
    fn copying(&self, flag: &str) -> Result<(&CopyFigures, &CellSummary), Failure> {
        let cell = |copy: &CopyFigures| &self.summary.cells[copy.cell];
        match self.summary.copies.as_slice() {
            [copy] => Ok((copy, cell(copy))),
            [] => Err(self.lacks("copy of a dataset", flag)),
            several => {
                let names = several.iter().map(|copy| cell(copy).cell.cell.as_str());
                Err(self.several("copies", flag, names))
            }
        }
    }

    /// The reads of the source and of the copy that are alike, those of the fastest source where there are several.
    // The fastest and not the slowest: whoever asks whether a copy pays would first read the source as well as it goes.
    fn payoff(&self, flag: &str) -> Result<Payoff, Failure> {
        let payoffs = &self.copying(flag)?.0.payoffs;
        let fastest = payoffs.iter().min_by(|a, b| a.source_epoch_s.total_cmp(&b.source_epoch_s));
        fastest.copied().ok_or_else(|| self.lacks("reads of a source and of its copy that are alike", flag))
    }

    /// The only cell that writes checkpoints and does nothing else, with its rate.
    fn checkpoint(&self) -> Result<(f64, &CellSummary), Failure> {
        let cell = |index: usize| &self.summary.cells[index];
        match self.summary.checkpoints.writes.as_slice() {
            [write] => {
                let plan = cell(write.cell).cell.checkpoint.as_ref();
                // By its mean seconds, as what is reckoned with are times: a mean of rates would promise shorter ones.
                let seconds = write.written.checkpoint_s.filter(|seconds| seconds.mean > 0.0);
                let bps = plan.zip(seconds).map(|(plan, seconds)| plan.bytes as f64 / seconds.mean);
                let bps = bps.filter(|bps| *bps > 0.0);
                Ok((bps.ok_or_else(|| self.lacks("whole checkpoint", "write"))?, cell(write.cell)))
            }
            [] => Err(self.lacks("checkpoints that were written alone", "write")),
            several => {
                let names = several.iter().map(|write| cell(write.cell).cell.cell.as_str());
                Err(self.several("cells of checkpoints", "write", names))
            }
        }
    }

    /// The only dataset, or one of several that are alike in bytes and samples.
    fn dataset(&self, stated_by: &str) -> Result<&record::Dataset, Failure> {
        let first = self.summary.dataset(0).ok_or_else(|| self.lacks("dataset", "dataset"))?;
        let is_alike = |one: &analysis::DatasetFigures| {
            let (a, b) = (&one.dataset, first);
            a.bytes == b.bytes && (a.sample_bytes - b.sample_bytes).abs() < 0.5
        };
        if self.summary.datasets.iter().all(is_alike) {
            return Ok(first);
        }
        let folder = self.folder.display();
        Err(Failure::usage(format!(
            "error: the record of `{folder}` holds several datasets\n  hint: state what you mean: {stated_by}"
        )))
    }

    /// The only job that was played; of several that differ in their readers, the one that the verdict rests on.
    fn job_cell(&self, flag: &str) -> Result<&CellSummary, Failure> {
        let jobs = self.jobs();
        let judged = |cell: &&&CellSummary| {
            let chosen = analysis::choose_cell(&self.summary, &cell.cell.target);
            chosen.is_some_and(|chosen| std::ptr::eq(chosen, **cell))
        };
        let mut chosen = jobs.iter().filter(judged);
        match (chosen.next(), chosen.next()) {
            (Some(cell), None) => Ok(cell),
            (None, _) => Err(self.lacks("training job that was played", flag)),
            _ => Err(self.several_jobs(flag, &jobs)),
        }
    }

    /// The only job that was played: of several each takes its own time, and the verdict's says nothing of the others.
    fn only_job(&self, flag: &str) -> Result<&CellSummary, Failure> {
        let jobs = self.jobs();
        match jobs.as_slice() {
            [_] | [] => self.job_cell(flag),
            _ => Err(self.several_jobs(flag, &jobs)),
        }
    }

    fn jobs(&self) -> Vec<&CellSummary> {
        self.summary.training().filter(|cell| cell.figures().is_some()).collect()
    }

    /// As [`Self::several`], where the flag takes a figure and no name.
    fn several_jobs(&self, flag: &str, jobs: &[&CellSummary]) -> Failure {
        let names: Vec<&str> = jobs.iter().map(|cell| cell.cell.cell.as_str()).collect();
        let (folder, names) = (self.folder.display(), names.join(", "));
        Failure::usage(format!(
            "error: the record of `{folder}` holds several jobs: {names}\n  hint: state the figure of the one that is meant: \
             --{flag}; feedline report {folder} --full shows them"
        ))
    }

    /// What is to be said of a target whose server feedline started.
    fn demo(&self, cell: &CellSummary) -> &'static str {
        let is_demo = |target: &&record::Target| target.name == cell.cell.target && target.demo;
        if self.summary.targets.iter().any(|target| is_demo(&target)) { ", DEMO" } else { "" }
    }
}

fn named(cell: &CellSummary) -> String {
    format!("cell {}", cell.cell.cell)
}

fn missing(flag: &str, example: &str) -> Failure {
    Failure::usage(format!(
        "error: --{flag} is missing\n  hint: state it, such as --{flag} {example}, or take it from a record: --from RUN"
    ))
}

fn bytes(bytes: f64) -> String {
    // A mean size is no whole number of bytes.
    if bytes < 1_000.0 { format!("{} B", format_count(bytes)) } else { format_bytes(bytes.round() as u64) }
}

fn seconds(seconds: f64) -> String {
    format_duration_ns((seconds * 1e9).round() as u64)
}
