//! `versus run`: all chosen cases, one after the other.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::args::RunArgs;
use crate::case::{self, Case, Data};
use crate::data::Place;
use crate::device::{Device, Zram};
use crate::duel::{Duel, Tools};
use crate::fio::Buffers;
use crate::memory::{self, Reservation};
use crate::net::NetCase;
use crate::output::{print, say};
use crate::process::{self, Call, Interrupted};
use crate::record::{DeviceFacts, Lengths, Record};
use crate::scratch::Scratch;
use crate::{feedline, fio, host, interrupt, net, summary, table};

/// Settings of a device's queue that shape its requests.
const QUEUE_SETTINGS: [&str; 4] = ["scheduler", "max_sectors_kb", "max_segments", "nr_requests"];

/// Runs the cases that the command line names. One that cannot run does not keep the others from it.
pub(crate) fn run(args: &RunArgs) -> Result<()> {
    let (local, over_a_network) = chosen(&args.cases)?;
    let rounds = args.rounds()?;
    args.check_lengths()?;
    interrupt::listen().context("cannot listen for Ctrl-C")?;
    let scratch = Scratch::new(&args.dir)?;
    let mut done = Done::default();
    if !local.is_empty() {
        let tools = tools(args, scratch.path())?;
        let (buffers, _reservation) = buffers(args);
        for case in local {
            done.take(case.name, one(case, args, rounds, &tools, buffers, scratch.path()))?;
        }
    }
    if !over_a_network.is_empty() {
        let feedline = ours(args, scratch.path())?;
        for case in over_a_network {
            done.take(&case.name, one_net(&case, args, rounds, &feedline, scratch.path()))?;
        }
    }
    for mean in net::means(&done.records) {
        print(&format!("\n{mean}\n"))?;
    }
    if done.failed.is_empty() {
        return Ok(());
    }
    bail!("no record of {}", done.failed.join(", "))
}

/// The cases that `names` ask for, in the order of their tables; those over a network last.
fn chosen(names: &[String]) -> Result<(Vec<&'static Case>, Vec<NetCase>)> {
    let (local, over_a_network) = (case::CASES, net::cases());
    for name in names {
        let known = local.iter().map(|case| case.name).chain(over_a_network.iter().map(|case| &*case.name));
        if !known.into_iter().any(|case| case.starts_with(name.as_str())) {
            bail!("no case is called `{name}`\n  hint: `versus list` names them");
        }
    }
    let local = local.iter().filter(|case| case::asked_for(case.name, names)).collect();
    let over_a_network =
        over_a_network.into_iter().filter(|case| case::asked_for(&case.name, names)).collect();
    Ok((local, over_a_network))
}

/// What came of the cases.
#[derive(Default)]
struct Done {
    records: Vec<Record>,
    failed: Vec<String>,
}

impl Done {
    /// Prints a record, or notes that there is none. Interrupted work is not gone on with.
    fn take(&mut self, name: &str, ended: Result<Record>) -> Result<()> {
        match ended {
            Ok(record) => {
                print(&table::terminal(&record))?;
                self.records.push(record);
            }
            Err(error) if error.is::<Interrupted>() => return Err(error),
            Err(error) => {
                say(&format!("{name}: {error:#}"));
                self.failed.push(name.to_owned());
            }
        }
        Ok(())
    }
}

/// Both tools, by what they say of themselves.
fn tools(args: &RunArgs, scratch: &Path) -> Result<Tools> {
    let feedline = ours(args, scratch)?;
    let theirs = version(&fio::version_call(&args.fio), scratch)?;
    Ok(Tools { feedline, fio: (args.fio.clone(), theirs), bare: args.bare()? })
}

/// feedline, and what it says of itself.
fn ours(args: &RunArgs, scratch: &Path) -> Result<(PathBuf, String)> {
    let feedline = args.feedline()?;
    let version = version(&feedline::call(&feedline, &["--version"]), scratch)?;
    Ok((feedline, version))
}

fn version(call: &Call, scratch: &Path) -> Result<String> {
    Ok(process::run(call, scratch)?.out.trim().to_owned())
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

fn one_net(
    case: &NetCase,
    args: &RunArgs,
    rounds: u32,
    feedline: &(PathBuf, String),
    scratch: &Path,
) -> Result<Record> {
    say(&format!("{}: {}", case.name, case.about));
    let begun_unix_s = host::unix_s();
    let duel = net::Duel::prepare(case, feedline, args, scratch)?;
    let contestants = duel.introduce()?;
    let rounds = duel.rounds(rounds)?;
    let record = Record {
        format: Record::FORMAT,
        case: case.name.clone(),
        about: case.about.clone(),
        quick: args.quick,
        begun_unix_s,
        lengths: Lengths { short_s: args.short, long_s: args.long },
        host: host::facts(),
        device: None,
        contestants,
        summary: summary::summarize_net(case, &rounds),
        rounds,
    };
    record.write(&args.out)?;
    Ok(record)
}

fn device_facts(device: &Device) -> DeviceFacts {
    let setting = |name: &&str| Some(((*name).to_owned(), device.queue_setting(name)?));
    DeviceFacts { name: device.name.clone(), queue: QUEUE_SETTINGS.iter().filter_map(setting).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_case_is_an_error() {
        let unknown = chosen(&["nope".to_owned()]).unwrap_err().to_string();
        assert!(unknown.contains("`nope`"), "{unknown}");
        let (local, over_a_network) = chosen(&["mmap".to_owned(), "s3-4k".to_owned()]).unwrap();
        assert_eq!((local.len(), over_a_network.len()), (1, 2));
    }
}
