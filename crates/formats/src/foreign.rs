//! Formats that hold many samples in a file and that no layout reads. They are known by their first bytes, so that such a file
//! is not taken for one sample without a word.

/// First bytes of an Arrow IPC file ("Arrow Columnar Format", IPC File Format), and of Feather's first version.
const ARROW: [&[u8]; 2] = [b"ARROW1\0\0", b"FEA1"];

/// First bytes of a message of an Arrow IPC stream. They say little, so the name is asked too.
const ARROW_STREAM: &[u8] = &[0xff, 0xff, 0xff, 0xff];

/// Metadata of an array, and of a group of arrays, of Zarr's second version.
const ZARR_V2: [&str; 3] = [".zarray", ".zgroup", ".zmetadata"];

/// A format of many samples that no layout reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// Arrow IPC, as Hugging Face's datasets keeps tables, and Feather.
    Arrow,
    /// An array of Zarr's second version, of whose files each is a chunk.
    ZarrV2,
}

impl Foreign {
    /// What people call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrow => "Arrow",
            Self::ZarrV2 => "Zarr v2",
        }
    }
}

/// The format of a file by its first bytes and its name, where that is one of many samples that no layout reads.
pub fn foreign(name: &str, head: &[u8]) -> Option<Foreign> {
    let is_stream = || head.starts_with(ARROW_STREAM) && name.to_ascii_lowercase().ends_with(".arrow");
    if ARROW.iter().any(|magic| head.starts_with(magic)) || is_stream() {
        Some(Foreign::Arrow)
    } else {
        foreign_by_name(name)
    }
}

/// The same of a file that is not looked into.
pub fn foreign_by_name(name: &str) -> Option<Foreign> {
    let last = name.rsplit('/').next().unwrap_or(name);
    ZARR_V2.contains(&last).then_some(Foreign::ZarrV2)
}
