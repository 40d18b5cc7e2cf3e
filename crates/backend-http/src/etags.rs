//! Which version of each object was seen first.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use dataset::Objects;

use crate::text::fnv;

/// A hash of the ETag of each object, as first seen: an object that is replaced while it is measured is found out.
#[derive(Debug)]
pub struct Etags(Vec<AtomicU64>);

impl Etags {
    /// Nothing seen of so many objects.
    pub fn new(objects: u32) -> Self {
        Self((0..objects).map(|_| AtomicU64::new(0)).collect())
    }

    /// Whether an object has the ETag that it had at first. Without one nothing can be told.
    pub fn agrees(&self, object: u32, etag: Option<&[u8]>) -> bool {
        let (Some(seen), Some(etag)) = (self.0.get(object as usize), etag) else {
            return true;
        };
        // 0 stands for nothing seen.
        let hash = fnv(etag).max(1);
        // Whichever queue is first decides; the number alone matters, so no order is needed.
        match seen.compare_exchange(0, hash, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => true,
            Err(first) => first == hash,
        }
    }
}

/// The ETags of the objects that a store was last asked for.
#[derive(Debug, Default)]
pub struct Seen(Mutex<Option<(Weak<Objects>, Arc<Etags>)>>);

impl Seen {
    /// The ETags of these objects, from whichever queue saw them first.
    pub fn of(&self, objects: &Arc<Objects>) -> Arc<Etags> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, etags)) = &*seen
            && of.upgrade().is_some_and(|of| Arc::ptr_eq(&of, objects))
        {
            return Arc::clone(etags);
        }
        let etags = Arc::new(Etags::new(objects.count()));
        *seen = Some((Arc::downgrade(objects), Arc::clone(&etags)));
        etags
    }

    /// Forgets what was seen, before something is written or removed.
    pub fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_etag_of_an_object_is_the_one_it_keeps() {
        let etags = Etags::new(2);
        assert!(etags.agrees(0, None) && etags.agrees(0, Some(b"\"a\"")) && etags.agrees(0, Some(b"\"a\"")));
        assert!(!etags.agrees(0, Some(b"\"b\"")) && etags.agrees(1, Some(b"\"b\"")));
        assert!(etags.agrees(7, Some(b"\"b\"")), "an object of another table");
    }
}
