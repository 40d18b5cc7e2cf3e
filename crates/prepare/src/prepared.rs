//! A dataset that is there.

use std::sync::Arc;

use dataset::{Data, Key, Samples};
use formats::Foreign;
use plan::{Access, Layout, Streams};

/// A dataset that is there, complete, and as it was when it was fingerprinted.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// What can be read.
    pub data: Arc<Data>,
    /// Hash over names, sizes and modification times.
    pub fingerprint: String,
    /// How samples lie in the objects.
    pub layout: Layout,
    /// Bytes of one training sample: as the user says, else the mean that is read for it in the usual order of the layout.
    pub sample_bytes: f64,
    /// Whether it was there already, complete.
    pub reused: bool,
    /// Bytes written now.
    pub bytes_written: u64,
    /// Files of a user's folder that hold nothing and were left out.
    pub empty_files: u64,
    /// Files of a user's folder that were left out because they are not shards of the layout.
    pub other_files: u64,
    /// A file that is one of several samples in a format that no layout reads, and is read whole as one sample; the first that
    /// was found.
    pub foreign: Option<(Key, Foreign)>,
    /// Shards whose samples were counted, where the number of all is estimated from them; `None` where it is known.
    pub counted_shards: Option<u32>,
    /// Bytes of a user's files that no storage is allocated for, over the files that lack more than a tenth of
    /// theirs. They are holes, or the file system compresses, keeps small files among its names or does not count:
    /// reading them brings fewer bytes from the device, or none. That is no error, as a compressing file system is
    /// fed from like any other, but it is to be said beside every figure.
    pub unallocated_bytes: u64,
    /// Hash over the names that a list reads, in its order; `None` where there is no list.
    pub order_digest: Option<String>,
}

impl Prepared {
    /// Of data that was found complete.
    pub(crate) fn of(data: Data, layout: Layout, fingerprint: String) -> Self {
        // A sample's bytes depend on how it is read: streamed, its headers and padding are read with it; by index
        // they are not.
        let access =
            if layout.is_streamed() { Access::ShuffledShards(Streams::of(1)) } else { Access::ShuffledEpoch };
        let sample_bytes = match layout {
            // Files are read whole in every order, but those of a list as often as it names them.
            Layout::Files if *data.samples() == Samples::Objects => data.objects().mean_bytes(),
            _ => data.sample_bytes(access),
        };
        Self {
            data: Arc::new(data),
            layout,
            fingerprint,
            sample_bytes,
            reused: true,
            bytes_written: 0,
            empty_files: 0,
            other_files: 0,
            foreign: None,
            counted_shards: None,
            unallocated_bytes: 0,
            order_digest: None,
        }
    }
}
