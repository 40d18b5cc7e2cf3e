//! The buckets that the server holds.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use s3s::dto::{Bucket as Entry, BucketLocationConstraint};
use s3s::{S3Result, s3_error};

use crate::content::Budget;
use crate::shape::Shape;

use super::bucket::Bucket;

/// Buckets of one account, and on a page of their list
/// (<https://docs.aws.amazon.com/AmazonS3/latest/userguide/BucketRestrictions.html>,
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListBuckets.html>).
const HELD_MAX: usize = 10_000;

/// Buckets by their names.
type Held = BTreeMap<String, Arc<Bucket>>;

/// All that the server holds.
pub(super) struct Buckets {
    pub(super) shape: Arc<Shape>,
    budget: Arc<Budget>,
    held: RwLock<Held>,
}

impl Buckets {
    /// One bucket, which is there from the start.
    pub(super) fn new(name: &str, shape: &Arc<Shape>, budget: &Arc<Budget>) -> Self {
        let first = (name.to_owned(), Arc::new(Bucket::new(budget, None)));
        Self { shape: Arc::clone(shape), budget: Arc::clone(budget), held: RwLock::new(Held::from([first])) }
    }

    fn held(&self) -> RwLockReadGuard<'_, Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn held_mut(&self) -> RwLockWriteGuard<'_, Held> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A bucket, if it is there.
    pub(super) fn bucket(&self, name: &str) -> S3Result<Arc<Bucket>> {
        self.held().get(name).cloned().ok_or_else(|| s3_error!(NoSuchBucket))
    }

    pub(super) fn create(&self, name: String, location: Option<BucketLocationConstraint>) -> S3Result<()> {
        let mut held = self.held_mut();
        // Tools often make their bucket first, and go on when it is theirs already.
        if held.contains_key(&name) {
            return Err(s3_error!(BucketAlreadyOwnedByYou));
        }
        if held.len() >= HELD_MAX {
            return Err(s3_error!(
                TooManyBuckets,
                "the emulated server holds at most {HELD_MAX}; delete some"
            ));
        }
        held.insert(name, Arc::new(Bucket::new(&self.budget, location)));
        Ok(())
    }

    pub(super) fn delete(&self, name: &str) -> S3Result<()> {
        let mut held = self.held_mut();
        let bucket = held.get(name).ok_or_else(|| s3_error!(NoSuchBucket))?;
        if !bucket.objects().is_empty() {
            return Err(s3_error!(BucketNotEmpty));
        }
        held.remove(name);
        Ok(())
    }

    /// One page of the list of buckets, and the name behind which the next goes on.
    pub(super) fn page(
        &self,
        prefix: &str,
        after: Option<&str>,
        most: Option<i32>,
    ) -> S3Result<(Vec<Entry>, Option<String>)> {
        let most = match most {
            None => HELD_MAX,
            Some(most) => usize::try_from(most)
                .ok()
                .filter(|most| (1..=HELD_MAX).contains(most))
                .ok_or_else(|| s3_error!(InvalidArgument, "max-buckets={most}: it is 1 to {HELD_MAX}"))?,
        };
        let from = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        let held = self.held();
        let mut left = held
            .range::<str, _>((from, Bound::Unbounded))
            .take_while(|(name, _)| name.starts_with(prefix))
            .map(|(name, bucket)| Entry {
                name: Some(name.clone()),
                creation_date: Some(bucket.created.clone()),
                ..Entry::default()
            });
        let page: Vec<Entry> = left.by_ref().take(most).collect();
        let is_truncated = left.next().is_some();
        let next = page.last().and_then(|last| last.name.clone()).filter(|_| is_truncated);
        Ok((page, next))
    }
}
