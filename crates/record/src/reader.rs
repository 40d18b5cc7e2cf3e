//! Reading a run directory, whole or cut: complete lines are read and the loss is named.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::{
    CELLS_FILE, ENV_FILE, Environment, Format, FormatError, Line, RANKS_MAX, RUN_FILE, Run, SEGMENTS_FILE,
    Segment,
};

/// Longest `run.json` or `env.json` that is read: a thousand times a run of a thousand cells.
// Bounded since records are sent around: a file that claims to be one must not fill the memory of whoever
// looks at it.
const HEAD_BYTES_MAX: u64 = 512 << 20;

/// Longest line of `cells.jsonl` that is read; one repetition takes some 10 KB.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// A run, as far as it was written.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// What was planned.
    pub run: Run,
    /// The machine.
    pub env: Environment,
    /// What was measured, in the order in which it ran.
    pub lines: Vec<Line>,
    /// When it was gone on with after an interruption; empty before format 1.9.
    pub segments: Vec<Segment>,
    /// What a cut record lost, in words; `None` for a run that came to its end.
    pub loss: Option<String>,
}

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file of the record is not there.
    #[error("cannot read the record: `{}` is missing\n  hint: {hint}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What to do next.
        hint: &'static str,
    },
    /// The operating system refused.
    #[error("cannot read `{}`: {source}\n  hint: check that the file is readable by you", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file of the record holds something else.
    #[error("cannot read `{}`: {cause}\n  hint: {hint}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
        /// What to do next.
        hint: &'static str,
    },
    /// A complete line of `cells.jsonl` is damaged.
    #[error(
        "cannot read line {line} of `{}`: {cause}\n  \
         hint: the file was changed after it was written; restore it, or run again",
        path.display()
    )]
    Line {
        /// The file.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong.
        cause: String,
    },
    /// A repetition of `intervals.jsonl.gz` is damaged.
    #[error(
        "cannot read member {member} of `{}`: {cause}\n  \
         hint: restore the file, or delete it: only plots over time need it",
        path.display()
    )]
    Member {
        /// The file.
        path: PathBuf,
        /// Number of the gzip member, from 1.
        member: u64,
        /// What is wrong.
        cause: String,
    },
    /// A newer feedline wrote it.
    #[error("cannot read `{}`: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The refusal.
        source: FormatError,
    },
}

impl ReadError {
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    pub(crate) fn member(path: &Path, member: u64, cause: String) -> Self {
        Self::Member { path: path.to_owned(), member, cause }
    }

    fn line(path: &Path, line: u64, cause: &dyn Display) -> Self {
        Self::Line { path: path.to_owned(), line, cause: cause.to_string() }
    }

    pub(crate) fn content(path: &Path, cause: &dyn Display) -> Self {
        let hint = "restore the file from a copy, or run again";
        Self::Content { path: path.to_owned(), cause: cause.to_string(), hint }
    }
}

/// The only part of `run.json` whose form never changes.
#[derive(Deserialize)]
// Read before the rest, so that a record of another major is refused as such and not by the first field
// that differs.
struct Head {
    format: Format,
}

/// Reads the run in `dir`.
pub fn read_run(dir: &Path) -> Result<RunRecord, ReadError> {
    let run_path = dir.join(RUN_FILE);
    // `run.json` is the last file that a writer makes: where it is, all others are.
    let text = read_head(&run_path, "name a run directory, such as `results/<run_id>`")?;
    let run: Run = parse_of_known_format(&run_path, &text)?;
    // Summaries keep a list for each rank, and a number from a file must not decide how long it is.
    if run.ranks > RANKS_MAX {
        let cause = format!("it names {} ranks, and a run has at most {RANKS_MAX}", run.ranks);
        return Err(ReadError::content(&run_path, &cause));
    }
    let env_path = dir.join(ENV_FILE);
    let env = parse(&env_path, &read_head(&env_path, "copy the whole run directory")?)?;
    let (lines, loss) = read_lines(&dir.join(CELLS_FILE))?;
    let segments = read_segments(&dir.join(SEGMENTS_FILE))?;
    Ok(RunRecord { run, env, lines, segments, loss })
}

/// Parses what says its format first; a newer major is refused before the rest is looked at.
pub(crate) fn parse_of_known_format<T: DeserializeOwned>(path: &Path, json: &[u8]) -> Result<T, ReadError> {
    let head: Head = parse(path, json)?;
    head.format.check_readable().map_err(|source| ReadError::Format { path: path.to_owned(), source })?;
    parse(path, json)
}

/// Opens a file that a record may leave out.
pub(crate) fn open_optional(path: &Path) -> Result<Option<BufReader<File>>, ReadError> {
    match File::open(path) {
        Ok(file) => Ok(Some(BufReader::new(file))),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(ReadError::io(path, cause)),
    }
}

fn open(path: &Path, hint: &'static str) -> Result<BufReader<File>, ReadError> {
    open_optional(path)?.ok_or_else(|| ReadError::Missing { path: path.to_owned(), hint })
}

pub(crate) fn read_head(path: &Path, hint: &'static str) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    open(path, hint)?
        .take(HEAD_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(|cause| ReadError::io(path, cause))?;
    if bytes.is_empty() {
        return Err(ReadError::content(path, &"the file is empty"));
    }
    // A file cut at the limit might parse by chance and say something else.
    if bytes.len() as u64 == HEAD_BYTES_MAX {
        return Err(ReadError::content(path, &format!("the file is longer than {HEAD_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

fn parse<T: DeserializeOwned>(path: &Path, json: &[u8]) -> Result<T, ReadError> {
    serde_json::from_slice(json).map_err(|cause| ReadError::content(path, &cause))
}

/// The complete lines, and what is missing after them.
fn read_lines(path: &Path) -> Result<(Vec<Line>, Option<String>), ReadError> {
    // Nothing was read yet, so that no bytes are in its buffer.
    let file = Arc::new(open(path, "copy the whole run directory")?.into_inner());
    let lines = BufReader::new(Arc::clone(&file));
    let (lines, mut losses) = whole_lines(lines, path, |line, text| leave_histograms(line, &file, text))?;
    // Behind the last line of an interrupted run stands what was measured when it was gone on with.
    if !matches!(lines.last(), Some(Line::End(_))) {
        // First, since it says that the run did not end; which bytes are missing is a detail.
        losses.insert(0, format!("the run was cut: {CELLS_FILE} ends without its last line"));
    }
    Ok((lines, if losses.is_empty() { None } else { Some(losses.join("; ")) }))
}

/// The segments after the first, in order; none of a run that was made in one.
fn read_segments(path: &Path) -> Result<Vec<Segment>, ReadError> {
    Ok(match open_optional(path)? {
        Some(file) => whole_lines(file, path, |_, _| ())?.0,
        None => Vec::new(),
    })
}

/// Leaves the histograms of a line in its file.
fn leave_histograms(line: &mut Line, file: &Arc<File>, text: (&[u8], u64)) {
    let Line::Rep(rep) = line else { return };
    // In the order of the line, so that each is looked for behind the one before.
    let of_rep = rep.histograms.values_mut();
    let of_server = rep.emulated.iter_mut().flat_map(|emulated| emulated.histograms().into_iter().flatten());
    // The first that is not found ends it: those of a line that was written otherwise would all be looked for in vain.
    let _ = of_rep.chain(of_server).try_fold(0, |from, histogram| histogram.leave_in(file, text, from));
}

/// The whole lines of a file, and what is lost of others, in words. Each goes through `take` with its text and the byte of the
/// file at which that begins.
fn whole_lines<T: DeserializeOwned>(
    mut file: impl BufRead,
    path: &Path,
    take: impl Fn(&mut T, (&[u8], u64)),
) -> Result<(Vec<T>, Vec<String>), ReadError> {
    let (mut lines, mut losses, mut text) = (Vec::new(), Vec::new(), Vec::new());
    let mut begins = 0;
    for number in 1_u64.. {
        begins += text.len() as u64;
        text.clear();
        let length = (&mut file).take(LINE_BYTES_MAX).read_until(b'\n', &mut text);
        if length.map_err(|cause| ReadError::io(path, cause))? == 0 {
            break;
        }
        if text.len() as u64 == LINE_BYTES_MAX {
            return Err(ReadError::line(path, number, &format!("longer than {LINE_BYTES_MAX} bytes")));
        }
        match serde_json::from_slice(&text) {
            Ok(mut line) => {
                take(&mut line, (&text, begins));
                lines.push(line);
            }
            // A line that has its end was written whole, and is damaged since. One without is what a crash
            // leaves, and costs itself alone.
            Err(cause) if text.ends_with(b"\n") => return Err(ReadError::line(path, number, &cause)),
            Err(_) => {
                let bytes = text.len();
                let name = path.file_name().unwrap_or_default().display();
                losses
                    .push(format!("line {number} of {name} is incomplete ({bytes} bytes) and was left out"));
            }
        }
    }
    Ok((lines, losses))
}
