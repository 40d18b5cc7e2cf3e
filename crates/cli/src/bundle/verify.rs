//! Checks a bundle as a third party does: that nothing was changed, and that its report is what its record gives.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path};

use anyhow::{Context as _, anyhow, bail};
use flate2::read::GzDecoder;
use report::words::verdict::sentence;

use super::{Entry, README_FILE, SUMS_FILE, derived, sum, unpack};
use crate::exit::Failure;
use feed::plain;

/// Most bytes that a bundle may unpack to, since it is held in memory: the record of a night of short repetitions has a
/// tenth of it.
// A bundle comes from others: a megabyte of gzip can unpack to a gigabyte of zeros.
const UNPACKED_BYTES_MAX: u64 = 512 << 20;

const MAKE_ONE: &str = "make a bundle with `feedline export --bundle RUN -o FILE.tar.gz`";
const ASK_AGAIN: &str = "do not trust its figures; ask for the bundle again from whoever made it";
const NAME_ONE: &str = "name a bundle, FILE.tar.gz, or the folder it was unpacked to";

type Files = BTreeMap<String, Vec<u8>>;

/// Verifies a bundle, packed or unpacked; what was found, in words.
pub(crate) fn verify(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let read = if path.is_dir() { of_folder } else { of_archive };
    let files = read(path, UNPACKED_BYTES_MAX).with_context(|| format!("cannot verify `{shown}`"))?;
    // First, since what was changed must not be shown as figures at all.
    check_sums(&files).with_context(|| format!("`{shown}` is not as it was made"))?;
    let entry =
        |(name, bytes): (&String, &Vec<u8>)| Entry { name: name.clone(), about: "", bytes: bytes.clone() };
    let folder = unpack(&files.iter().map(entry).collect::<Vec<_>>())?;
    let record = record::read_run(folder.path())?;
    // A sum shows that nothing was changed since, and not that the report follows from the record: so it is
    // made again.
    let made = derived(folder.path())?;
    let differing: Vec<&str> = made
        .iter()
        .filter(|entry| files.get(&entry.name) != Some(&entry.bytes))
        .map(|entry| entry.name.as_str())
        .collect();
    if !differing.is_empty() {
        return Err(Failure::Error(anyhow!(
            "`{shown}`: {} not what this feedline, {}, makes of the record\n  \
             hint: {README_FILE} names the version that made the bundle; verify with that one before you doubt it",
            is_are(&differing),
            env!("CARGO_PKG_VERSION")
        )));
    }
    Ok(words(&record, files.len()))
}

fn is_are(names: &[&str]) -> String {
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", names.join(", "))
}

fn words(record: &record::RunRecord, files: usize) -> String {
    let summary = analysis::summarise(record);
    let head = &summary.head;
    let mut lines = vec![
        format!("verified: {files} files are as they were bundled, and the report is what the record gives"),
        format!("run {}, measured by feedline {} ({})", head.run_id, head.tool.version, head.tool.profile),
        format!("machine {}", report::machine(&head.machine)),
    ];
    let verdicts = summary.verdicts.iter();
    let said = verdicts.map(|one| format!("{} {}: {}", one.word(), one.target, sentence(one)));
    lines.extend(said);
    lines.push("not verified: who made it, and that the machine was what it says".to_owned());
    lines.join("\n")
}

fn check_sums(files: &Files) -> anyhow::Result<()> {
    let Some(sums) = files.get(SUMS_FILE) else {
        bail!("it has no {SUMS_FILE}\n  hint: {MAKE_ONE}");
    };
    let sums =
        std::str::from_utf8(sums).map_err(|_| anyhow!("{SUMS_FILE} is no text\n  hint: {ASK_AGAIN}"))?;
    let mut listed = BTreeMap::new();
    for line in sums.lines() {
        let (hex, name) = line.split_once("  ").ok_or_else(|| {
            anyhow!("{SUMS_FILE} holds `{}`, which is no sum\n  hint: {ASK_AGAIN}", plain(line))
        })?;
        listed.insert(name, hex);
    }
    let mut wrong = Vec::new();
    for (name, hex) in &listed {
        match files.get(*name) {
            None => wrong.push(format!("{name} is missing")),
            Some(bytes) if sum(bytes) != *hex => wrong.push(format!("{name} was changed")),
            Some(_) => {}
        }
    }
    let unlisted = files.keys().filter(|name| *name != SUMS_FILE && !listed.contains_key(name.as_str()));
    wrong.extend(unlisted.map(|name| format!("{name} was added")));
    if wrong.is_empty() { Ok(()) } else { bail!("{}\n  hint: {ASK_AGAIN}", plain(&wrong.join(", "))) }
}

/// The files of a bundle that was unpacked, which holds at most `most` bytes.
fn of_folder(path: &Path, most: u64) -> anyhow::Result<Files> {
    let mut files = Files::new();
    let mut left = most;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !entry.file_type()?.is_file() {
            bail!("`{}` in it is no plain file, which all of a bundle are\n  hint: {NAME_ONE}", plain(&name));
        }
        files.insert(name, read(File::open(entry.path())?, &mut left, most)?);
    }
    Ok(files)
}

/// The bytes of one file, as far as a bundle may hold as many more, which are counted.
fn read(file: impl Read, left: &mut u64, most: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One more than is left, or a file that ends exactly there could not be told from one that goes on.
    file.take(*left + 1).read_to_end(&mut bytes)?;
    *left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
        let most = feed::format_bytes(most);
        anyhow!("it unpacks to more than {most}, which no bundle of feedline's does\n  hint: {MAKE_ONE}")
    })?;
    Ok(bytes)
}

/// The files of a bundle that holds at most `most` bytes.
fn of_archive(path: &Path, most: u64) -> anyhow::Result<Files> {
    let file = File::open(path).map_err(|error| anyhow!("{error}\n  hint: {NAME_ONE}"))?;
    let is_cut = |error: io::Error| anyhow!("it is no .tar.gz, or a cut one ({error})\n  hint: {ASK_AGAIN}");
    // Headers and names too.
    let mut archive = tar::Archive::new(GzDecoder::new(file).take(most.saturating_mul(2)));
    let mut files = Files::new();
    let mut left = most;
    for entry in archive.entries()? {
        let mut entry = entry.map_err(is_cut)?;
        let path = entry.path()?.into_owned();
        let parts: Vec<Component<'_>> = path.components().collect();
        // One folder and a plain name: `..`, links and devices in an archive would write elsewhere when
        // unpacked by hand.
        let (true, [Component::Normal(_), Component::Normal(name)]) =
            (entry.header().entry_type().is_file(), parts.as_slice())
        else {
            bail!(
                "it holds `{}`, which no bundle of feedline's has\n  hint: {MAKE_ONE}",
                plain(&path.display().to_string())
            );
        };
        let name = name.to_string_lossy().into_owned();
        let bytes = read(&mut entry, &mut left, most).map_err(|error| match error.downcast() {
            Ok(error) => is_cut(error),
            Err(other) => other,
        })?;
        if files.insert(name.clone(), bytes).is_some() {
            bail!("it holds `{}` twice\n  hint: {ASK_AGAIN}", plain(&name));
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn a_bundle_that_unpacks_to_too_much_is_not_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.tar.gz");
        let mut archive =
            tar::Builder::new(GzEncoder::new(File::create(&path).unwrap(), Compression::fast()));
        for name in ["run/a", "run/b"] {
            let mut header = tar::Header::new_gnu();
            header.set_size(6_000);
            archive.append_data(&mut header, name, io::repeat(0).take(6_000)).unwrap();
        }
        archive.into_inner().unwrap().finish().unwrap();
        let names =
            |most| of_archive(&path, most).map(|files| files.len()).map_err(|error| error.to_string());
        assert_eq!(names(12_000), Ok(2));
        let refused = names(11_999).unwrap_err();
        assert!(refused.starts_with("it unpacks to more than 11,999 B"), "{refused}");
        // And the same where somebody has unpacked it.
        let unpacked = tempfile::tempdir().unwrap();
        File::create(unpacked.path().join("a")).unwrap().set_len(1 << 40).unwrap();
        let refused = of_folder(unpacked.path(), 11_999).map(drop).unwrap_err().to_string();
        assert!(refused.starts_with("it unpacks to more than 11,999 B"), "{refused}");
    }
}
