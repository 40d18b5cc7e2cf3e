//! `intervals.jsonl.gz`: the seconds of each repetition, one gzip member per repetition.
//!
//! Members can be appended and are found again after a cut; `zcat` shows one line per repetition.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde::{Deserialize, Serialize};

use crate::reader::{ReadError, open_optional};
use crate::{HistogramText, INTERVALS_FILE, Role, System};

/// Longest repetition that is read, inflated: a day of seconds at 3 KB each.
const MEMBER_BYTES_MAX: u64 = 256 << 20;

/// The seconds of one repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RepIntervals {
    /// Which cell.
    pub cell: String,
    /// Why the repetition was made.
    pub role: Role,
    /// Number among the repetitions of this cell and role, from 0.
    pub rep: u32,
    /// Its seconds, in order.
    pub seconds: Vec<Interval>,
    /// What the machine did meanwhile, in order. Empty before format 1.14, and where several ranks, whose machines may differ, were
    /// added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<Look>,
}

/// What the machine did from one look at it to the next: about a second, longer behind the first hour of a window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// When, from the opening of the window. The last comes as this process has noticed its end.
    pub at_ns: u64,
    /// Time since the look before, or since the first reading, which comes as a worker has noticed that the window is open.
    pub span_ns: u64,
    /// Memory of this process that was resident then.
    pub resident_bytes: Option<u64>,
    /// What changed in it. Device and interface have no names here.
    pub system: System,
}

/// One second of a repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Number from the opening of the window, from 0.
    pub second: u32,
    /// Reads that ended in it.
    pub ops: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their latencies, submission to completion, 2 digits.
    pub service_ns: HistogramText,
}

/// What `intervals.jsonl.gz` holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecordedIntervals {
    /// Repetitions, in the order in which they ran; none where the file was left out of a published record.
    pub reps: Vec<RepIntervals>,
    /// What a cut file lost, in words.
    pub loss: Option<String>,
}

/// Reads the seconds of all repetitions of a run.
pub fn read_intervals(dir: &Path) -> Result<RecordedIntervals, ReadError> {
    read_intervals_of(dir, |_| true)
}

/// The same, and lets go of the seconds of cells that are not `wanted`: those of all cells of a long run do not fit into memory.
pub fn read_intervals_of(dir: &Path, wanted: impl Fn(&str) -> bool) -> Result<RecordedIntervals, ReadError> {
    let path = dir.join(INTERVALS_FILE);
    let Some(mut file) = open_optional(&path)? else { return Ok(RecordedIntervals::default()) };
    let mut found = RecordedIntervals::default();
    for member in 1_u64.. {
        if file.fill_buf().map_err(|source| ReadError::io(&path, source))?.is_empty() {
            break;
        }
        let begins = file.stream_position().map_err(|source| ReadError::io(&path, source))?;
        match inflate(&mut file) {
            Ok(json) => {
                let mut rep: RepIntervals = serde_json::from_slice(&json)
                    .map_err(|cause| ReadError::member(&path, member, cause.to_string()))?;
                if !wanted(&rep.cell) {
                    (rep.seconds, rep.looks) = (Vec::new(), Vec::new());
                }
                found.reps.push(rep);
            }
            Err(cause)
                if cause.kind() == std::io::ErrorKind::UnexpectedEof
                    || holds_zeros(&mut file, begins).map_err(|source| ReadError::io(&path, source))? =>
            {
                found.loss = Some(format!("member {member} of {INTERVALS_FILE} is cut and was left out"));
                break;
            }
            Err(cause) => return Err(ReadError::member(&path, member, cause.to_string())),
        }
    }
    Ok(found)
}

/// Whether nothing but zeros lies from `begins` on: where the power went out, a file may have the length of what was being
/// written, and not its bytes.
fn holds_zeros(file: &mut BufReader<File>, begins: u64) -> std::io::Result<bool> {
    file.seek(SeekFrom::Start(begins))?;
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(true);
        }
        if bytes.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        let length = bytes.len();
        file.consume(length);
    }
}

/// Bytes of a file of members up to the end of the last that is whole.
pub(crate) fn whole_bytes(path: &Path) -> std::io::Result<u64> {
    let mut file = BufReader::new(File::open(path)?);
    let mut whole = 0;
    while !file.fill_buf()?.is_empty() && inflate(&mut file).is_ok() {
        whole = file.stream_position()?;
    }
    Ok(whole)
}

/// One gzip member that holds one repetition.
pub(crate) fn member(rep: &RepIntervals) -> serde_json::Result<Vec<u8>> {
    let mut json = serde_json::to_vec(rep)?;
    json.push(b'\n');
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&json).and_then(|()| encoder.finish()).map_err(serde_json::Error::io)
}

fn inflate(file: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut json = Vec::new();
    GzDecoder::new(file).take(MEMBER_BYTES_MAX).read_to_end(&mut json)?;
    if json.len() as u64 == MEMBER_BYTES_MAX {
        return Err(std::io::Error::other(format!("it inflates to more than {MEMBER_BYTES_MAX} bytes")));
    }
    Ok(json)
}
