//! Requests that operations make of a service that charges for them.

use crate::Operation;

/// How operations become requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charged {
    /// Size of the parts of a whole object; `None` where it is one request.
    pub part_bytes: Option<u64>,
    /// Whether the size of a whole object is asked first.
    pub head: bool,
    /// Prefixes over which objects are spread.
    // Listings are charged by request, and each prefix is listed by itself.
    pub prefixes: u32,
}

impl Charged {
    /// Requests that read (GET, HEAD), for one sample of `sample_bytes` read in blocks of `block_bytes`; `None` for an
    /// operation that is not one of samples.
    pub fn reads_per_sample(&self, operation: Operation, sample_bytes: f64, block_bytes: u32) -> Option<f64> {
        let requests_of = |bytes: f64| (sample_bytes / bytes).ceil().max(1.0);
        match operation {
            // A last block that is short is a whole request all the same.
            Operation::Read | Operation::Copy => Some(requests_of(f64::from(block_bytes))),
            Operation::ReadFile => {
                let gets = self.part_bytes.map_or(1.0, |bytes| requests_of(bytes as f64));
                Some(gets + if self.head { 1.0 } else { 0.0 })
            }
            Operation::Stat
            | Operation::List
            | Operation::GetAttr
            | Operation::Checkpoint
            | Operation::Restore
            | Operation::Write
            | Operation::Mix
            | Operation::WriteFile
            | Operation::Names => None,
        }
    }
}
