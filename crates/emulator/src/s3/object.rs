//! Objects, and the parts that they are made of.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use md5::{Digest as _, Md5};
use s3s::dto::{Checksum, CompletedPart, ETag, Timestamp};

use crate::clock;
use crate::content::Content;

use super::description::Description;

/// Objects in the order of their keys.
pub(super) type Objects = BTreeMap<String, Arc<Object>>;

/// Bytes that came or were copied: an object to be, or a part of one.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) content: Content,
    pub(super) md5: [u8; 16],
    /// Those that were declared of it.
    pub(super) checksum: Checksum,
}

impl Part {
    pub(super) fn e_tag(&self) -> ETag {
        e_tag(self.md5, 0)
    }

    /// Whether it is what a client takes it for that completes an upload.
    pub(super) fn is_as_listed(&self, listed: &CompletedPart) -> bool {
        let kept = &self.checksum;
        let sums = [
            (&listed.checksum_crc32, &kept.checksum_crc32),
            (&listed.checksum_crc32c, &kept.checksum_crc32c),
            (&listed.checksum_crc64nvme, &kept.checksum_crc64nvme),
            (&listed.checksum_sha1, &kept.checksum_sha1),
            (&listed.checksum_sha256, &kept.checksum_sha256),
        ];
        listed.e_tag.as_ref().is_none_or(|e_tag| *e_tag == self.e_tag())
            && sums.iter().all(|(listed, kept)| listed.is_none() || listed == kept)
    }
}

/// An object, complete.
#[derive(Debug)]
pub(super) struct Object {
    /// Shared with its copies.
    pub(super) content: Arc<Content>,
    pub(super) description: Description,
    /// Of the bytes; where it was uploaded in parts, of the parts' own MD5s one after the other.
    md5: [u8; 16],
    /// 0 where it was uploaded at once.
    parts: usize,
    modified_s: u64,
}

impl Object {
    fn new(content: Arc<Content>, description: Description, (md5, parts): ([u8; 16], usize)) -> Self {
        Self { content, description, md5, parts, modified_s: u64::from(clock::unix_time().0) }
    }

    /// The object that was uploaded at once.
    pub(super) fn of_part(part: Part, description: Description) -> Self {
        Self::new(Arc::new(part.content), description, (part.md5, 0))
    }

    /// The object that these parts make, into `whole`.
    pub(super) fn of_parts(mut whole: Content, parts: Vec<Part>, description: Description) -> Self {
        let (mut md5, count) = (Md5::new(), parts.len());
        for part in parts {
            md5.update(part.md5);
            whole.append(part.content);
        }
        Self::new(Arc::new(whole), description, (md5.finalize().into(), count))
    }

    /// A copy with the ETag of this one. That of an object in parts is no MD5 of its bytes, in S3 that of its copy is.
    pub(super) fn copied(&self, description: Description) -> Self {
        Self::new(Arc::clone(&self.content), description, (self.md5, self.parts))
    }

    pub(super) fn e_tag(&self) -> ETag {
        e_tag(self.md5, self.parts)
    }

    pub(super) fn modified(&self) -> Timestamp {
        timestamp(self.modified_s)
    }
}

pub(super) fn timestamp(unix_s: u64) -> Timestamp {
    (UNIX_EPOCH + Duration::from_secs(unix_s)).into()
}

/// As S3 has it: the MD5, and behind it the number of parts where there were some.
fn e_tag(md5: [u8; 16], parts: usize) -> ETag {
    let md5 = format!("{:032x}", u128::from_be_bytes(md5));
    ETag::Strong(if parts == 0 { md5 } else { format!("{md5}-{parts}") })
}
