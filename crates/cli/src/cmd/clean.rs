//! `feedline clean`: removes what feedline wrote, and nothing else.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use anyhow::Context as _;
use backend::SharedStore;
use clap::Args;
use feed::units::{counted_noun, format_bytes};
use prepare::Cleaned;

use crate::claim::Removal;
use crate::exit::{Exit, Failure};
use crate::{in_use, load, open, output};

#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// Scenario file (*.toml), or a path
    pub(crate) input: String,
    /// Remove what is listed without asking; only a terminal is asked
    #[arg(long)]
    pub(crate) yes: bool,
}

pub(crate) fn clean(args: &CleanArgs) -> Result<Exit, Failure> {
    let places = stores(args)?;
    if !args.yes && output::can_ask() && !agrees(&places)? {
        output::print("nothing was removed\n")?;
        return Ok(Exit::Ok);
    }
    // After the question: whoever was asked may have taken an hour to answer. Of all places before anything is removed.
    let removal = Removal::new();
    let (mut locks, mut held, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (at, store) in &places {
        let folder = in_use::identity(Path::new(at));
        // One folder may have two names.
        let is_known = folder.is_some_and(|folder| !known.insert(folder));
        let lock = match folder {
            Some(_) if !is_known => in_use::hold_to_remove(Path::new(at))?,
            _ => None,
        };
        held.push(removal.hold(at, store, lock.is_some() || is_known)?);
        locks.extend(lock);
    }
    for ((at, store), held) in places.iter().zip(&held) {
        let cleaned = match held {
            // What another process writes there since is not ours to remove.
            None => Cleaned::default(),
            Some(_) => prepare::clean(&**store).with_context(|| format!("cannot clean `{at}`"))?,
        };
        output::print(&describe(at, &cleaned))?;
    }
    drop((locks, held));
    Ok(Exit::Ok)
}

/// Where datasets may lie, each under its address.
fn stores(args: &CleanArgs) -> Result<Vec<(String, SharedStore)>, Failure> {
    let load::Places { mut paths, remotes } = load::places(&args.input)?;
    paths.sort_unstable();
    paths.dedup();
    let mut stores = Vec::new();
    for at in paths {
        match kind(Path::new(&at)) {
            PathKind::Folder => stores.push((at.clone(), open::local(&at))),
            // A scenario may name places that were never written; a path that was typed is a mistake if
            // nothing is there.
            PathKind::Nothing if load::is_scenario(&args.input) => {
                output::print(&format!("{at}: nothing is there\n"))?;
            }
            PathKind::Nothing => return Err(Failure::usage(format!("error: `{at}` does not exist"))),
            PathKind::Device => {
                output::print(&format!("{at}: a block device, to which feedline never writes\n"))?;
            }
        }
    }
    for (at, config) in remotes {
        let store = open::connect(&config).with_context(|| format!("cannot clean `{at}`"))?;
        stores.push((at, store));
    }
    Ok(stores)
}

/// Shows what would be removed, if anything, and asks. An empty answer removes nothing.
fn agrees(places: &[(String, SharedStore)]) -> Result<bool, Failure> {
    let mut found = String::new();
    for (at, store) in places {
        let folders = prepare::find(&**store).with_context(|| format!("cannot clean `{at}`"))?;
        found.extend(folders.iter().map(|(folder, inside)| format!("{at}/{folder}: {}\n", amount(inside))));
    }
    if found.is_empty() {
        return Ok(true);
    }
    output::say(found.trim_end());
    // The careful answer is the default here, where `run` has the other one: what is removed took hours to
    // write.
    Ok(output::agrees("remove them?", false)?)
}

/// What lies at a path, as far as a removal is concerned.
enum PathKind {
    Folder,
    Device,
    Nothing,
}

fn kind(at: &Path) -> PathKind {
    match std::fs::metadata(at) {
        Ok(metadata) if metadata.file_type().is_block_device() => PathKind::Device,
        Err(error) if error.kind() == ErrorKind::NotFound => PathKind::Nothing,
        // What is wrong with it is said by the attempt.
        Ok(_) | Err(_) => PathKind::Folder,
    }
}

fn describe(at: &str, cleaned: &Cleaned) -> String {
    let datasets = counted_noun(cleaned.folders, "dataset");
    let removed = format!("{at}: removed {datasets}: {}\n", amount(cleaned));
    let left = cleaned.left.iter().map(|left| format!("  left, not made by feedline: {left}\n"));
    std::iter::once(removed).chain(left).collect()
}

fn amount(cleaned: &Cleaned) -> String {
    format!("{}, {}", counted_noun(cleaned.files, "file"), format_bytes(cleaned.bytes))
}
