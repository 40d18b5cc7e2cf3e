//! `feedline clean`: removes what feedline wrote, and nothing else.

use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use anyhow::Context as _;
use feed::units::counted_noun;
use prepare::Cleaned;

use crate::args::CleanArgs;
use crate::exit::{Exit, Failure};
use crate::{load, open, output};

pub(crate) fn clean(args: &CleanArgs) -> Result<Exit, Failure> {
    let load::Places { mut paths, remotes } = load::places(&args.input)?;
    paths.sort_unstable();
    paths.dedup();
    for at in paths {
        match kind(Path::new(&at)) {
            Kind::Folder => {}
            Kind::Nothing if load::is_scenario(&args.input) => {
                output::print(&format!("{at}: nothing is there\n"))?;
                continue;
            }
            Kind::Nothing => return Err(Failure::usage(format!("error: `{at}` does not exist"))),
            Kind::Device => {
                output::print(&format!("{at}: a block device, to which feedline never writes\n"))?;
                continue;
            }
        }
        let cleaned = prepare::clean(&*open::local(&at)).with_context(|| format!("cannot clean `{at}`"))?;
        output::print(&describe(&at, &cleaned))?;
    }
    for (at, config) in remotes {
        let store = open::connect(&config).with_context(|| format!("cannot clean `{at}`"))?;
        let cleaned = prepare::clean(&*store).with_context(|| format!("cannot clean `{at}`"))?;
        output::print(&describe(&at, &cleaned))?;
    }
    Ok(Exit::Ok)
}

/// What lies at a path, as far as a removal is concerned.
enum Kind {
    Folder,
    Device,
    Nothing,
}

fn kind(at: &Path) -> Kind {
    match std::fs::metadata(at) {
        Ok(metadata) if metadata.file_type().is_block_device() => Kind::Device,
        Err(error) if error.kind() == ErrorKind::NotFound => Kind::Nothing,
        // What is wrong with it is said by the attempt.
        Ok(_) | Err(_) => Kind::Folder,
    }
}

fn describe(at: &str, cleaned: &Cleaned) -> String {
    let bytes = feed::units::format_bytes(cleaned.bytes);
    let [files, datasets] = [(cleaned.files, "file"), (cleaned.folders, "dataset")]
        .map(|(count, noun)| counted_noun(count, noun));
    let removed = format!("{at}: removed {datasets}: {files}, {bytes}\n");
    let left = cleaned.left.iter().map(|left| format!("  left, not made by feedline: {left}\n"));
    std::iter::once(removed).chain(left).collect()
}
