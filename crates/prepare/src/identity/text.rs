//! The text of an identity, as it is kept in marker and manifest and read back.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use dataset::Manifest;
use plan::{Codec, DatasetSpec, Distribution, FILES_PER_FOLDER, Layout, Packing, Words as _};

use super::Identity;

/// The text kept in marker and manifest. Settings at their default are left out.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} samples of {} B, ", self.count, self.bytes)?;
        if let Some(stdev_bytes) = self.stdev_bytes() {
            write!(f, "{LOGNORMAL}{stdev_bytes} B, ")?;
        }
        if self.files_per_folder != FILES_PER_FOLDER {
            write!(f, "{}{PER_FOLDER}, ", self.files_per_folder)?;
        }
        if let Some(packing) = &self.packing {
            write!(f, "{}, ", of_packing(packing))?;
        }
        if self.compressible_percent > 0 {
            write!(f, "{}{COMPRESSIBLE}, ", self.compressible_percent)?;
        }
        if self.written_over {
            write!(f, "{WRITTEN_OVER}, ")?;
        }
        write!(f, "seed {}", self.seed)
    }
}

const LOGNORMAL: &str = "lognormal with a standard deviation of ";
const PER_FOLDER: &str = " files per folder";
const COMPRESSIBLE: &str = " % compressible";
const WRITTEN_OVER: &str = "written over";
const SHARDS: &str = " shards of ";
const MEMBERS: &str = " members";
const COLUMNS: &str = " columns";
const ROW_GROUPS: &str = "row groups of ";

/// The text of a packing, without settings that its layout does not have.
fn of_packing(packing: &Packing) -> String {
    let mut text = format!("{}{SHARDS}{} B", packing.layout.name(), packing.shard_bytes);
    if packing.layout == Layout::WebDataset {
        _ = write!(text, " with {}{MEMBERS}", packing.members);
    }
    if packing.layout == Layout::Parquet {
        _ = write!(text, " with {}{COLUMNS} with {ROW_GROUPS}{} B", packing.columns, packing.row_group_bytes);
    }
    if packing.codec != Codec::None {
        _ = write!(text, " with {}", packing.codec.name());
    }
    text
}

/// The packing that a text states.
fn packing_of(text: &str) -> Option<Packing> {
    let mut parts = text.split(" with ");
    let (name, shard) = parts.next()?.strip_suffix(" B")?.split_once(SHARDS)?;
    let layout = Layout::of_word(name)?;
    let shard_bytes: u64 = shard.parse().ok().filter(|bytes| *bytes > 0)?;
    let mut packing = Packing {
        layout,
        shard_bytes,
        members: 1,
        codec: Codec::None,
        columns: 1,
        columns_read: 1,
        row_group_bytes: shard_bytes,
    };
    for part in parts {
        if let Some(members) = part.strip_suffix(MEMBERS) {
            packing.members = members.parse().ok()?;
        } else if let Some(columns) = part.strip_suffix(COLUMNS) {
            packing.columns = columns.parse().ok()?;
            packing.columns_read = packing.columns;
        } else if let Some(group) = part.strip_prefix(ROW_GROUPS) {
            packing.row_group_bytes = group.strip_suffix(" B")?.parse().ok()?;
        } else {
            packing.codec = [Codec::Gzip, Codec::Zstd].into_iter().find(|codec| codec.name() == part)?;
        }
    }
    // Whatever order or repetition the parts came in: only the text that would be written for it is accepted.
    (layout != Layout::Files && of_packing(&packing) == text).then_some(packing)
}

/// The text is not one that [`Identity`] writes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotAnIdentity;

impl Identity {
    /// The identity that a manifest states, without a packing that this version does not know.
    pub(crate) fn described(manifest: &Manifest) -> Self {
        let spread = |stdev_bytes| Distribution::LogNormal { stdev_bytes };
        let samples = manifest.samples.and_then(|samples| u32::try_from(samples).ok());
        Self {
            packing: manifest.packing.as_deref().and_then(packing_of),
            compressible_percent: manifest.compressible_percent,
            count: samples.unwrap_or(manifest.count),
            bytes: manifest.bytes,
            distribution: manifest.lognormal_stdev_bytes.map_or(Distribution::Fixed, spread),
            files_per_folder: manifest.files_per_folder,
            seed: manifest.seed,
            written_over: manifest.written_over,
        }
    }

    /// Text of the packing, as it is kept in a manifest.
    pub(crate) fn packing_text(&self) -> Option<String> {
        self.packing.as_ref().map(of_packing)
    }
}

impl FromStr for Identity {
    type Err = NotAnIdentity;

    fn from_str(text: &str) -> Result<Self, NotAnIdentity> {
        let spec = spec_of(text).ok_or(NotAnIdentity)?;
        match Self::of(&spec) {
            // A text of a newer version has parts that this one does not know. It must not be read as a dataset
            // without them: `clean` would remove by wrong names.
            Ok(Some(identity)) if identity.to_string() == text => Ok(identity),
            _ => Err(NotAnIdentity),
        }
    }
}

fn spec_of(text: &str) -> Option<DatasetSpec> {
    let mut parts = text.split(", ").peekable();
    let (samples, sample_bytes) = parts.next()?.strip_suffix(" B")?.split_once(" samples of ")?;
    let mut distribution = Distribution::Fixed;
    if let Some(stdev) = parts.peek().and_then(|part| part.strip_prefix(LOGNORMAL)?.strip_suffix(" B")) {
        distribution = Distribution::LogNormal { stdev_bytes: stdev.parse().ok()? };
        parts.next();
    }
    let mut files_per_folder = FILES_PER_FOLDER;
    if let Some(number) = parts.peek().and_then(|part| part.strip_suffix(PER_FOLDER)) {
        files_per_folder = number.parse().ok()?;
        parts.next();
    }
    let packing = parts.peek().and_then(|part| packing_of(part));
    if packing.is_some() {
        parts.next();
    }
    let mut compressible_percent = 0;
    if let Some(percent) = parts.peek().and_then(|part| part.strip_suffix(COMPRESSIBLE)) {
        compressible_percent = percent.parse().ok()?;
        parts.next();
    }
    let written_over = parts.peek() == Some(&WRITTEN_OVER);
    if written_over {
        parts.next();
    }
    Some(DatasetSpec::Generate(plan::Generate {
        samples: samples.parse().ok()?,
        sample_bytes: sample_bytes.parse().ok()?,
        distribution,
        files_per_folder,
        seed: parts.next()?.strip_prefix("seed ")?.parse().ok()?,
        packing,
        compressible_percent,
        beside_others: false,
        written_over,
    }))
}
