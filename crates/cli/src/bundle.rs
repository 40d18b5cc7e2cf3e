//! A run with everything that another needs to verify its figures: record, plots, report, tuning, sums.

mod verify;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use flate2::Compression;
use flate2::write::GzEncoder;
use record::{
    CELLS_FILE, ENV_FILE, INTERVALS_FILE, RUN_FILE, Redactor, RunRecord, SCENARIO_FILE, SEGMENTS_FILE,
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::derived::Derived;
use crate::exit::Failure;
use crate::{environment, files};

pub(crate) use verify::verify;

const SUMS_FILE: &str = "SHA256SUMS";
const README_FILE: &str = "README.txt";
const REPORT_FILE: &str = "report.md";
const TUNING_FILE: &str = "TUNING.md";

/// What goes into a bundle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// The seconds of each repetition.
    pub(crate) intervals: bool,
    /// Names of hosts, users and home folders as they are in the record. Credentials leave it all the same.
    pub(crate) keep_names: bool,
}

/// One file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: String,
    about: &'static str,
    bytes: Vec<u8>,
}

/// A bundle in memory: what is listed is what is written.
#[derive(Debug)]
pub(crate) struct Bundle {
    folder: String,
    entries: Vec<Entry>,
}

impl Bundle {
    /// Everything that is to be published of the run in `dir`. Writes nothing beside a temporary folder.
    pub(crate) fn of(dir: &Path, record: &RunRecord, options: Options) -> Result<Self, Failure> {
        // Refused and not redacted here: what was kept in free text cannot be found with certainty
        // afterwards.
        if !record.run.redacted && !options.keep_names {
            return Err(Failure::Error(anyhow!(
                "cannot bundle `{}`: its record kept the names of hosts, users and home folders\n  \
                 hint: run again without --no-redact, or publish the names too with export --bundle --no-redact",
                dir.display()
            )));
        }
        let secrets = if options.keep_names { Vec::new() } else { environment::secrets() };
        let redactor = Redactor::new(secrets);
        let mut entries = recorded(dir, &redactor)?;
        if options.intervals {
            entries.extend(intervals(dir, &redactor)?);
        }
        // The figures are those of the record that is published, not of the one that lies here.
        let published = unpack(&entries)?;
        entries.extend(derived(published.path())?);
        let run_id = redactor.text(&record.run.run_id);
        entries.push(readme(&run_id));
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        // Last, as it names all the others.
        entries.push(sums(&entries));
        Ok(Self { folder: plain_name(&run_id), entries })
    }

    /// Every file with its size and what it holds.
    pub(crate) fn listing(&self) -> String {
        let mut text = format!("{}/\n", self.folder);
        for entry in &self.entries {
            let size = feed::format_bytes(entry.bytes.len() as u64);
            let _ = writeln!(text, "  {:<30} {size:>10}  {}", entry.name, entry.about);
        }
        let total: usize = self.entries.iter().map(|entry| entry.bytes.len()).sum();
        let _ = writeln!(text, "  {} files, {}", self.entries.len(), feed::format_bytes(total as u64));
        text
    }

    /// Writes the bundle; never over a file that is there.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        let bytes = self.archive().context("cannot make the archive in memory")?;
        files::write_new(path, &bytes)
    }

    /// The same bytes for the same files: no time, no owner, one order, one mode.
    fn archive(&self) -> std::io::Result<Vec<u8>> {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
        for entry in &self.entries {
            let mut header = tar::Header::new_ustar();
            header.set_entry_type(tar::EntryType::Regular);
            header.set_size(entry.bytes.len() as u64);
            header.set_mode(0o644);
            // Two bundles of one record are the same bytes, so that their sums can be compared.
            header.set_mtime(0);
            header.set_uid(0);
            header.set_gid(0);
            let path = format!("{}/{}", self.folder, entry.name);
            archive.append_data(&mut header, path, entry.bytes.as_slice())?;
        }
        archive.into_inner()?.finish()
    }
}

/// The files of the record, redacted once more: a record may have been changed by hand since.
fn recorded(dir: &Path, redactor: &Redactor) -> Result<Vec<Entry>, Failure> {
    let read = |name: &str| {
        let path = dir.join(name);
        fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))
    };
    let json = |name: &str| -> Result<Vec<u8>, Failure> { Ok(json_file(&read(name)?, redactor)?) };
    let scenario = String::from_utf8_lossy(&read(SCENARIO_FILE)?).into_owned();
    let entry = |name: &str, about, bytes| Entry { name: name.to_owned(), about, bytes };
    let mut entries = vec![
        entry(RUN_FILE, "what was planned: need, data, targets, cells", json(RUN_FILE)?),
        entry(ENV_FILE, "the machine", json(ENV_FILE)?),
        entry(SCENARIO_FILE, "the scenario as it ran", redactor.text(&scenario).into_bytes()),
        entry(CELLS_FILE, "every repetition as it was counted", lines(&read(CELLS_FILE)?, redactor)?),
    ];
    if dir.join(SEGMENTS_FILE).exists() {
        let segments = lines(&read(SEGMENTS_FILE)?, redactor)?;
        entries.push(entry(SEGMENTS_FILE, "when it was gone on with, and the machine then", segments));
    }
    Ok(entries)
}

/// The bytes as they are, unless something in them must not be published.
fn json_file(bytes: &[u8], redactor: &Redactor) -> serde_json::Result<Vec<u8>> {
    // As JSON and not as a type: a bundle passes on what a newer version wrote.
    let value: Value = serde_json::from_slice(bytes)?;
    let redacted = redactor.json(value.clone());
    if redacted == value { Ok(bytes.to_vec()) } else { serde_json::to_vec_pretty(&redacted) }
}

/// Complete lines; what a cut left of the last one stays here.
fn lines(bytes: &[u8], redactor: &Redactor) -> serde_json::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.ends_with(b"\n") {
            out.extend(json_line(line, redactor)?);
        }
    }
    Ok(out)
}

/// A line of the record; histograms go around the redactor, their base64 may hold anybody's name by accident.
fn json_line(line: &[u8], redactor: &Redactor) -> serde_json::Result<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(line)?;
    let histograms = value.get_mut("histograms").map(Value::take);
    let mut redacted = redactor.json(value.clone());
    if redacted == value {
        // Untouched where nothing is hidden: the sums of the parts then match those of the record.
        return Ok(line.to_vec());
    }
    if let Some(histograms) = histograms {
        redacted["histograms"] = histograms;
    }
    let mut bytes = serde_json::to_vec(&redacted)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// The seconds of each repetition; nothing where the record has none.
fn intervals(dir: &Path, redactor: &Redactor) -> Result<Option<Entry>, Failure> {
    let path = dir.join(INTERVALS_FILE);
    // Their names alone.
    let found = record::read_intervals_of(dir, |_| false)?;
    if found.reps.is_empty() {
        return Ok(None);
    }
    if let Some(rep) = found.reps.iter().find(|rep| redactor.text(&rep.cell) != rep.cell) {
        return Err(Failure::Error(anyhow!(
            "cannot bundle `{}`: the cell `{}` holds a name of this machine\n  hint: leave out --intervals",
            path.display(),
            redactor.text(&rep.cell)
        )));
    }
    let bytes = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let about = "latencies of each second, one gzip member per repetition";
    Ok(Some(Entry { name: INTERVALS_FILE.to_owned(), about, bytes }))
}

/// What the record in `dir` gives: report, tuning and plots.
fn derived(dir: &Path) -> Result<Vec<Entry>, Failure> {
    let record = record::read_run(dir)?;
    let Derived { summary, plots, .. } = Derived::from_record(dir, &record)?;
    let entry =
        |name: &str, about, text: String| Entry { name: name.to_owned(), about, bytes: text.into_bytes() };
    let mut entries = vec![
        entry(REPORT_FILE, "verdicts, every cell, doubts", report::markdown(&summary)),
        entry(
            TUNING_FILE,
            "device, mount, kernel, engine and limits as run",
            report::export::tuning(&record),
        ),
    ];
    for plot in plots {
        entries.push(entry(&format!("{}.svg", plot.name), "plot", plot.svg));
    }
    Ok(entries)
}

/// A temporary folder with the files of a record.
fn unpack(entries: &[Entry]) -> Result<tempfile::TempDir, Failure> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    for entry in entries {
        let path = folder.path().join(&entry.name);
        fs::write(&path, &entry.bytes).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(folder)
}

fn readme(run_id: &str) -> Entry {
    let version = env!("CARGO_PKG_VERSION");
    let text = format!(
        "Run {run_id}, bundled by feedline {version}.\n\n\
         To verify that no file was changed:\n\n    sha256sum -c {SUMS_FILE}\n\n\
         To verify that the report and the plots are what the record gives, with feedline {version}, here or before\n\
         unpacking:\n\n    feedline export --verify .\n    feedline export --verify FILE.tar.gz\n\n\
         To see the figures again:\n\n    feedline report .\n\n\
         To measure the same elsewhere, change the paths in {SCENARIO_FILE} and set the machine up as {TUNING_FILE}\n\
         says:\n\n    feedline run {SCENARIO_FILE}\n\n\
         The sums show that nothing was changed since the bundle was made, not who made it.\n"
    );
    Entry { name: README_FILE.to_owned(), about: "how to verify", bytes: text.into_bytes() }
}

fn sums(entries: &[Entry]) -> Entry {
    let mut text = String::new();
    for entry in entries {
        let _ = writeln!(text, "{}  {}", sum(&entry.bytes), entry.name);
    }
    Entry { name: SUMS_FILE.to_owned(), about: "checksums of all of these", bytes: text.into_bytes() }
}

/// SHA-256 in hexadecimal digits.
fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// A run is named by feedline; a record that was changed by hand must not name a path.
fn plain_name(run_id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
    // ustar has 100 bytes for a name, and the longest file of a bundle takes some of them.
    let name: String = run_id.chars().map(plain).take(90).collect();
    let name = name.trim_start_matches('.').to_owned();
    if name.is_empty() { "run".to_owned() } else { name }
}
