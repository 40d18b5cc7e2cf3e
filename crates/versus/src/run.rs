//! `versus run`: all chosen cases, one after the other.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::args::RunArgs;
use crate::case::{self, Case, Data};
use crate::data::Place;
use crate::device::{Device, Zram};
use crate::duel::{Duel, Tools};
use crate::fio::Buffers;
use crate::memory::{self, Reservation};
use crate::process::{self, Interrupted};
use crate::record::{DeviceFacts, Lengths, Record};
use crate::scratch::Scratch;
use crate::{feedline, fio, host, interrupt, print, say, summary, table};

/// Settings of a device's queue that shape its requests.
const QUEUE_SETTINGS: [&str; 4] = ["scheduler", "max_sectors_kb", "max_segments", "nr_requests"];

/// Runs the cases that the command line names. One that cannot run does not keep the others from it.
pub(crate) fn run(args: &RunArgs) -> Result<()> {
    let cases = case::chosen(&args.cases)?;
    let rounds = args.rounds()?;
    args.check_lengths()?;
    interrupt::listen().context("cannot listen for Ctrl-C")?;
    let scratch = Scratch::new(&args.dir)?;
    let tools = tools(args, scratch.path())?;
    let (buffers, _reservation) = buffers(args);
    let mut failed = Vec::new();
    for case in cases {
        match one(case, args, rounds, &tools, buffers, scratch.path()) {
            Ok(record) => print(&table::terminal(&record))?,
            Err(error) if error.is::<Interrupted>() => return Err(error),
            Err(error) => {
                say(&format!("{}: {error:#}", case.name));
                failed.push(case.name);
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("no record of {}", failed.join(", "))
}

/// Both tools, by what they say of themselves.
fn tools(args: &RunArgs, scratch: &Path) -> Result<Tools> {
    let feedline = args.feedline()?;
    let version = |call| Ok::<_, anyhow::Error>(process::run(&call, scratch)?.out.trim().to_owned());
    let ours = version(feedline::call(&feedline, &["--version"]))?;
    let theirs = version(fio::version_call(&args.fio))?;
    Ok(Tools { feedline: (feedline, ours), fio: (args.fio.clone(), theirs) })
}

/// Where fio's buffers lie at its best, and the reservation that makes it so.
fn buffers(args: &RunArgs) -> (Buffers, Option<Reservation>) {
    if memory::reserved_are_free() {
        return (Buffers::Reserved, None);
    }
    if !args.allow_hugepages {
        return (Buffers::Advised, None);
    }
    match Reservation::make() {
        Ok(reservation) => (Buffers::Reserved, Some(reservation)),
        Err(error) => {
            say(&format!("iomem=mmaphuge not possible: {error:#}"));
            (Buffers::Advised, None)
        }
    }
}

fn one(
    case: &'static Case,
    args: &RunArgs,
    rounds: u32,
    tools: &Tools,
    buffers: Buffers,
    scratch: &Path,
) -> Result<Record> {
    let zram = (case.data == Data::Device && args.device.is_none()).then(Zram::add).transpose()?;
    let node = zram.as_ref().map(Zram::node).or_else(|| args.device.clone());
    let place = Place::of(case.data, &args.dir, node.as_deref())?;
    place.create()?;
    let device = Device::below(&place.at);
    let lengths = Lengths { short_s: args.short, long_s: args.long };
    let mut duel = Duel {
        tools,
        case,
        place: &place,
        device: device.as_ref().filter(|_| case.work.direct),
        scratch: scratch.to_owned(),
        lengths,
        buffers,
        more: &args.best_arg,
    };
    say(&format!("{}: {}", case.name, case.about));
    let begun_unix_s = host::unix_s();
    duel.prepare()?;
    let contestants = duel.introduce()?;
    let rounds = duel.rounds(rounds)?;
    let record = Record {
        format: Record::FORMAT,
        case: case.name.to_owned(),
        about: case.about.to_owned(),
        quick: args.quick,
        begun_unix_s,
        lengths,
        host: host::facts(),
        device: device.as_ref().map(device_facts),
        contestants,
        summary: summary::summarize(case, &rounds),
        rounds,
    };
    record.write(&args.out)?;
    Ok(record)
}

fn device_facts(device: &Device) -> DeviceFacts {
    let setting = |name: &&str| Some(((*name).to_owned(), device.queue_setting(name)?));
    DeviceFacts { name: device.name.clone(), queue: QUEUE_SETTINGS.iter().filter_map(setting).collect() }
}
