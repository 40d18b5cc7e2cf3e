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
        Tag { md5: self.md5, parts: 0 }.e_tag()
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

/// What an ETag is made of.
#[derive(Debug, Clone, Copy)]
struct Tag {
    /// Of the bytes; where they were uploaded in parts, of the parts' own MD5s one after the other.
    md5: [u8; 16],
    /// 0 where they were uploaded at once.
    parts: usize,
}

impl Tag {
    fn e_tag(self) -> ETag {
        let md5 = format!("{:032x}", u128::from_be_bytes(self.md5));
        ETag::Strong(if self.parts == 0 { md5 } else { format!("{md5}-{}", self.parts) })
    }
}

/// An object, complete.
#[derive(Debug)]
pub(super) struct Object {
    /// Shared with its copies.
    pub(super) content: Arc<Content>,
    pub(super) description: Description,
    tag: Tag,
    modified_s: u64,
    /// The upload whose parts it is made of.
    upload: Option<String>,
}

impl Object {
    fn new(content: Arc<Content>, description: Description, tag: Tag) -> Self {
        Self { content, description, tag, modified_s: u64::from(clock::unix_time().0), upload: None }
    }

    /// The object that was uploaded at once.
    pub(super) fn of_part(part: Part, description: Description) -> Self {
        Self::new(Arc::new(part.content), description, Tag { md5: part.md5, parts: 0 })
    }

    /// The object that these parts of an upload make, into `whole`.
    pub(super) fn of_parts(
        mut whole: Content,
        parts: Vec<Part>,
        description: Description,
        upload: String,
    ) -> Self {
        // As S3 makes it: the MD5 of the parts' MD5s, and how many they were.
        let (mut md5, count) = (Md5::new(), parts.len());
        for part in parts {
            md5.update(part.md5);
            whole.append(part.content);
        }
        let tag = Tag { md5: md5.finalize().into(), parts: count };
        Self { upload: Some(upload), ..Self::new(Arc::new(whole), description, tag) }
    }

    /// A copy with the ETag of this one. That of an object in parts is no MD5 of its bytes, in S3 that of its copy is.
    pub(super) fn copied(&self, description: Description) -> Self {
        // The bytes are shared: a copy of a dataset takes no memory, as the dataset takes none.
        Self::new(Arc::clone(&self.content), description, self.tag)
    }

    pub(super) fn e_tag(&self) -> ETag {
        self.tag.e_tag()
    }

    /// Whether it is what this upload was completed to.
    pub(super) fn is_of_upload(&self, id: &str) -> bool {
        self.upload.as_deref() == Some(id)
    }

    pub(super) fn modified(&self) -> Timestamp {
        timestamp(self.modified_s)
    }
}

pub(super) fn timestamp(unix_s: u64) -> Timestamp {
    (UNIX_EPOCH + Duration::from_secs(unix_s)).into()
}
