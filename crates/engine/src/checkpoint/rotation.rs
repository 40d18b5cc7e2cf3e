//! Which place the next checkpoint takes, and which one goes for it.

use std::collections::VecDeque;

/// Places of the checkpoints that lie somewhere at once: those that are kept, and one more.
#[derive(Debug)]
pub(super) struct Rotation {
    kept: VecDeque<u32>,
    keep: u32,
}

impl Rotation {
    /// Keeps `keep` checkpoints, at least one.
    pub(super) fn new(keep: u32) -> Self {
        Self { kept: VecDeque::new(), keep: keep.max(1) }
    }

    /// Place of the next one.
    pub(super) fn next(&self) -> u32 {
        // The lowest that is free: one that was given up leaves its place to the next, and no number beyond the
        // folder's names is used.
        (0..=self.keep).find(|slot| !self.kept.contains(slot)).unwrap_or(0)
    }

    /// Takes the one at `slot`, which is whole now; returns the place of the one that is one too many.
    pub(super) fn keep(&mut self, slot: u32) -> Option<u32> {
        self.kept.push_back(slot);
        (self.kept.len() > self.keep as usize).then(|| self.kept.pop_front()).flatten()
    }

    /// The places of all that are kept.
    pub(super) fn kept(&self) -> impl Iterator<Item = u32> + '_ {
        self.kept.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_once_there_are_more_than_are_kept() {
        let mut rotation = Rotation::new(2);
        let mut gone = Vec::new();
        for _ in 0..5 {
            let slot = rotation.next();
            assert!(slot <= 2 && !rotation.kept().any(|kept| kept == slot));
            gone.push(rotation.keep(slot));
        }
        assert_eq!(gone, [None, None, Some(0), Some(1), Some(2)]);
        assert_eq!(rotation.kept().count(), 2);
    }

    #[test]
    fn a_checkpoint_that_failed_leaves_its_place_to_the_next() {
        let rotation = Rotation::new(1);
        assert_eq!((rotation.next(), rotation.next()), (0, 0));
    }
}
