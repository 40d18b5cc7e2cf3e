//! `feedline what-if`: answers by arithmetic, and the scenario that would measure each.

mod asked;
mod known;
mod scenarios;

use asked::{
    Around, CacheAsked, CheckpointAsked, CodecAsked, CopyAsked, IdleAsked, JobAsked, MemoryAsked, OrderAsked,
    PolicyAsked, Question, ReadersAsked, ShardsAsked, StartAsked, TransferAsked,
};
use clap::Args;
use feed::what_if::{
    CacheBefore, Checkpoints, Codec, CopyFirst, Idle, Memory, Readers, Reading, Shards, Start, State,
    Transfer, WhatIfError,
};
use feed::{CacheOrder, Need, Sheet, TierPolicy, UTILIZATION_DEFAULT};
use known::{Job, Known, RateOf};
use scenarios::Measured;

use super::init;
use crate::exit::{Exit, Failure};
use crate::{load, output};

const SECONDS_PER_HOUR: f64 = 3_600.0;

#[derive(Debug, Args)]
pub(crate) struct WhatIfArgs {
    #[command(subcommand)]
    question: Question,
}

/// Figures from which an answer follows, the scenario that would measure them, and the record that gave some of them.
struct Asked<'a> {
    around: &'a Around,
    known: Known,
    title: &'static str,
    measured: Measured,
}

pub(crate) fn what_if(args: &WhatIfArgs) -> Result<Exit, Failure> {
    match &args.question {
        Question::Copy(asked) => copy(asked),
        Question::Cache(asked) => cache(asked),
        Question::Checkpoint(asked) => checkpoint(asked),
        Question::Readers(asked) => readers(asked),
        Question::Memory(asked) => memory(asked),
        Question::Codec(asked) => codec(asked),
        Question::Shards(asked) => shards(asked),
        Question::Start(asked) => start(asked),
        Question::Transfer(asked) => transfer(asked),
        Question::Idle(asked) => idle(asked),
    }
}

impl Asked<'_> {
    /// Prints the answer, and writes the scenario where one is asked for.
    fn answer(&self, answer: impl Fn(&mut Sheet) -> Result<(), WhatIfError>) -> Result<Exit, Failure> {
        let mut sheet = Sheet::titled(self.title);
        self.known.list(&mut sheet);
        answer(&mut sheet).map_err(|error| Failure::usage(format!("error: {error}")))?;
        if let Some(file) = &self.around.scenario {
            let text = self
                .measured
                .scenario()
                .map_err(|why| Failure::usage(format!("error: no scenario measures this\n  hint: {why}")))?;
            scenario::check_shape(&text).map_err(Failure::usage)?;
            init::create(file, &text)?;
        }
        sheet.section("measured by", &self.measured_by());
        output::print(&format!("{sheet}\n"))?;
        Ok(Exit::Ok)
    }

    fn measured_by(&self) -> String {
        match (&self.around.scenario, self.measured.scenario()) {
            (Some(file), _) => format!("feedline plan {}, then feedline run", file.display()),
            (None, Ok(_)) => "the scenario that --scenario FILE writes".to_owned(),
            (None, Err(why)) => format!("no scenario: {why}"),
        }
    }
}

fn known(around: &Around) -> Result<Known, Failure> {
    Known::of(around.from.as_deref())
}

fn need(text: Option<&str>) -> Result<Option<Need>, Failure> {
    text.map(load::need).transpose()
}

/// Bytes per second that the accelerators of a need take of samples of its own size.
fn need_bps(need: Option<&Need>) -> Option<f64> {
    need.map(|need| need.demand_bps(need.sample_bytes().unwrap_or(1.0)))
}

/// The job: a need that names accelerators, what is stated, else that of the record.
fn job(asked: &JobAsked, known: &mut Known) -> Result<Job, Failure> {
    if let Some(need) = need(asked.need.as_deref())? {
        let step = need.batch.zip(need.step_time_s);
        let (batch, step_s) = step.ok_or_else(|| {
            Failure::usage(
                "error: a rate names no accelerators\n  hint: state for example --need 8xh100:resnet50",
            )
        })?;
        return Ok(Job { accelerators: need.accelerators, batch, step_s, utilization: need.utilization });
    }
    if let (Some(accelerators), Some(batch), Some(step_s)) = (asked.accelerators, asked.batch, asked.step) {
        return Ok(Job { accelerators, batch, step_s, utilization: UTILIZATION_DEFAULT });
    }
    let job = known.job()?;
    Ok(Job {
        accelerators: asked.accelerators.unwrap_or(job.accelerators),
        batch: asked.batch.unwrap_or(job.batch),
        step_s: asked.step.unwrap_or(job.step_s),
        utilization: job.utilization,
    })
}

fn copy(asked: &CopyAsked) -> Result<Exit, Failure> {
    let mut known = known(&asked.around)?;
    let question = CopyFirst {
        dataset_bytes: known.dataset_bytes(asked.dataset, "--dataset")?,
        source_bps: known.rate("source", asked.source.as_deref(), RateOf::SourceOfCopy)?,
        copying_bps: known.rate("copying", asked.copying.as_deref(), RateOf::Copying)?,
        copy_bps: known.rate("copy", asked.copy.as_deref(), RateOf::CopyOfSource)?,
        need_bps: need_bps(need(asked.need.as_deref())?.as_ref()),
        epochs: asked.epochs,
    };
    let measured = Measured::Copy { question, need: asked.need.clone() };
    let title = "what if the dataset is copied before the job?";
    Asked { around: &asked.around, known, title, measured }.answer(|sheet| question.answer(sheet))
}

fn cache(asked: &CacheAsked) -> Result<Exit, Failure> {
    let mut known = known(&asked.around)?;
    let question = CacheBefore {
        dataset_bytes: known.dataset_bytes(asked.dataset, "--dataset")?,
        cache_bytes: asked.cache,
        source_bps: known.rate("source", asked.source.as_deref(), RateOf::OnlyTarget)?,
        cache_bps: known.rate("cached", asked.cached.as_deref(), RateOf::Named)?,
        order: match asked.order {
            OrderAsked::New => CacheOrder::Permuted,
            OrderAsked::Same => CacheOrder::Same,
            OrderAsked::Drawn => CacheOrder::Drawn,
        },
        policy: match asked.policy {
            PolicyAsked::Lru => TierPolicy::Lru,
            PolicyAsked::Random => TierPolicy::Random,
        },
        need_bps: need_bps(need(asked.need.as_deref())?.as_ref()),
        epochs: asked.epochs,
    };
    let measured = Measured::Cache { question, need: asked.need.clone() };
    let title = "what if a cache lies before the storage?";
    Asked { around: &asked.around, known, title, measured }.answer(|sheet| question.answer(sheet))
}

fn checkpoint(asked: &CheckpointAsked) -> Result<Exit, Failure> {
    let mut known = known(&asked.around)?;
    let (state, of_record) = if let Some(count) = asked.parameters {
        (State::Parameters { count, bytes_each: asked.bytes_each }, None)
    } else {
        let (bytes, label) = known.checkpoint_bytes(asked.size)?;
        (State::Bytes(bytes), label)
    };
    let question = Checkpoints {
        state,
        write_bps: known.rate("write", asked.write.as_deref(), RateOf::Checkpoint)?,
        interval_s: asked.every,
        copied_over: asked.links.zip(asked.link),
        accelerators: known.accelerators(asked.accelerators)?,
        price: asked.price,
    };
    let title = "what if checkpoints are written?";
    let measured = Measured::Checkpoint { question };
    Asked { around: &asked.around, known, title, measured }.answer(|sheet| {
        question.answer(sheet)?;
        // A record may have written a part of a checkpoint, and the answer holds for no more.
        if let Some(label) = &of_record {
            sheet.row("", &format!("that is {label}; --size or --parameters states another"));
        }
        Ok(())
    })
}

fn readers(asked: &ReadersAsked) -> Result<Exit, Failure> {
    let mut known = known(&asked.around)?;
    let job = job(&asked.job, &mut known)?;
    let reading = match asked.read {
        Some(read_s) => Reading::Sample { read_s },
        None => Reading::Measured(known.curve(asked.source.as_deref())?),
    };
    let question = Readers {
        accelerators: job.accelerators,
        batch: job.batch,
        step_s: job.step_s,
        reading,
        decode_s: asked.decode.unwrap_or(0.0),
        prefetch: asked.prefetch,
        cores: asked.cores,
        utilization: asked.busy.unwrap_or(job.utilization),
    };
    let measured = Measured::Readers { question: question.clone(), need: asked.job.need.clone() };
    let title = "what if each accelerator has more readers?";
    Asked { around: &asked.around, known, title, measured }.answer(|sheet| question.answer(sheet))
}

fn memory(asked: &MemoryAsked) -> Result<Exit, Failure> {
    let mut known = known(&asked.around)?;
    let job = job(&asked.job, &mut known)?;
    let question = Memory {
        accelerators: job.accelerators,
        readers: known.readers(asked.readers)?,
        ahead: known.ahead(asked.prefetch)?,
        batch: job.batch,
        decoded_bytes: asked.decoded,
        shuffle: asked.shuffle.zip(asked.sample),
        index: asked.index.zip(asked.entry),
        reader_bytes: asked.reader_memory,
        step_s: Some(job.step_s),
        ram_bytes: asked.memory,
    };
    let title = "what if a loader holds that much in memory?";
    let measured = Measured::None("batches are played without the memory that decoded ones take");
    Asked { around: &asked.around, known, title, measured }.answer(|sheet| question.answer(sheet))
}

fn codec(asked: &CodecAsked) -> Result<Exit, Failure> {
    let mut known = known(&asked.around)?;
    let question = Codec {
        link_bps: known.rate("source", asked.source.as_deref(), RateOf::OnlyTarget)?,
        ratio: asked.ratio,
        readers: asked.readers,
        unpack_bps: asked.unpack,
    };
    let title = "what if samples are stored compressed?";
    let why = "a run with dataset.codec measures what storage carries, and not the unpacking";
    let measured = Measured::None(why);
    Asked { around: &asked.around, known, title, measured }.answer(|sheet| question.answer(sheet))
}

fn shards(asked: &ShardsAsked) -> Result<Exit, Failure> {
    let mut known = known(&asked.around)?;
    let question = Shards {
        dataset_bytes: known.dataset_bytes(asked.dataset, "--dataset, --sample")?,
        sample_bytes: known.sample_bytes(asked.sample, "--dataset, --sample")?,
        shard_bytes: asked.shard,
        ranks: asked.ranks,
        stream: asked.first_byte.zip(asked.stream),
    };
    let title = "what if samples are packed into shards?";
    let measured = Measured::Shards { question };
    Asked { around: &asked.around, known, title, measured }.answer(|sheet| question.answer(sheet))
}

fn start(asked: &StartAsked) -> Result<Exit, Failure> {
    let mut known = known(&asked.around)?;
    let question = Start { start_s: asked.start, epoch_s: known.epoch_s(asked.epoch)?, epochs: asked.epochs };
    let title = "what if readers are started anew for each epoch?";
    let why =
        "training.startup states what a start takes; feedline.wrap(loader) in Python measures that of yours";
    let measured = Measured::None(why);
    Asked { around: &asked.around, known, title, measured }.answer(|sheet| question.answer(sheet))
}

fn transfer(asked: &TransferAsked) -> Result<Exit, Failure> {
    let mut known = known(&asked.around)?;
    let job = job(&asked.job, &mut known)?;
    let question = Transfer {
        batch: job.batch,
        decoded_bytes: asked.decoded,
        pageable_bps: asked.pageable,
        pinned_bps: asked.pinned,
        step_s: job.step_s,
    };
    let title = "what if batches are copied to the accelerator?";
    let measured = Measured::None("accelerators are emulated, and no batch is copied to one");
    Asked { around: &asked.around, known, title, measured }.answer(|sheet| question.answer(sheet))
}

fn idle(asked: &IdleAsked) -> Result<Exit, Failure> {
    let mut known = known(&asked.around)?;
    let question = Idle {
        accelerators: known.accelerators(asked.accelerators)?,
        utilization: known.utilization(asked.busy)?,
        reachable: asked.reachable,
        hours: asked.over / SECONDS_PER_HOUR,
        price: asked.price,
    };
    let title = "what if accelerators wait?";
    let why = "a training load measures how busy they are (what-if readers writes one), and training.price prices it";
    let measured = Measured::None(why);
    Asked { around: &asked.around, known, title, measured }.answer(|sheet| question.answer(sheet))
}
