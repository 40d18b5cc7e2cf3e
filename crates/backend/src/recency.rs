//! The order in which places were used last.

/// The number of no place.
const NONE: u32 = u32::MAX;

/// Numbered places in the order of their last use. Adding and removing one takes constant time.
#[derive(Debug)]
pub struct Recency {
    // A list linked by index inside one allocation: moving a place in it allocates nothing while reads are measured.
    places: Vec<Neighbours>,
    oldest: u32,
    newest: u32,
}

#[derive(Debug, Clone, Copy)]
struct Neighbours {
    older: u32,
    newer: u32,
}

impl Recency {
    /// An empty list that has room for the places below `count`.
    pub fn new(count: u32) -> Self {
        let alone = Neighbours { older: NONE, newer: NONE };
        Self { places: vec![alone; count as usize], oldest: NONE, newest: NONE }
    }

    /// Adds a place that is not in the list, as the one used last.
    pub fn add(&mut self, place: u32) {
        let older = std::mem::replace(&mut self.newest, place);
        self.places[place as usize] = Neighbours { older, newer: NONE };
        match older {
            NONE => self.oldest = place,
            older => self.places[older as usize].newer = place,
        }
    }

    /// Removes a place that is in the list.
    pub fn remove(&mut self, place: u32) {
        let Neighbours { older, newer } = self.places[place as usize];
        match older {
            NONE => self.oldest = newer,
            older => self.places[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.places[newer as usize].older = older,
        }
    }

    /// The places in the list, the least recently used first.
    pub fn oldest_first(&self) -> impl Iterator<Item = u32> {
        let known = |place: u32| (place != NONE).then_some(place);
        std::iter::successors(known(self.oldest), move |place| known(self.places[*place as usize].newer))
    }
}
