//! Words inside a plot: each beside its mark, where it touches neither another word nor a mark nor a line.

use super::sheet::LETTER_BY_SIZE;

/// Left, top, right, bottom, pixels.
type Block = [f64; 4];

/// What is taken inside a plot.
pub(super) struct Room {
    within: Block,
    taken: Vec<Block>,
}

/// A place for words: the middle of their left end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spot {
    pub(super) left: i32,
    pub(super) middle: i32,
}

impl Room {
    /// The inside of a plot, empty.
    pub(super) fn within(across: &std::ops::Range<i32>, down: &std::ops::Range<i32>) -> Self {
        let within = [across.start, down.start, across.end, down.end].map(f64::from);
        Self { within, taken: Vec::new() }
    }

    /// Keeps words off a mark.
    pub(super) fn mark(&mut self, (x, y): (i32, i32), reach: f64) {
        let (x, y) = (f64::from(x), f64::from(y));
        self.taken.push([x - reach, y - reach, x + reach, y + reach]);
    }

    /// Keeps words off a line, which is taken in short pieces.
    pub(super) fn line(&mut self, from: (i32, i32), to: (i32, i32)) {
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        // Boxes of four pixels: exact intersections with a slanted line would be more code than the few pixels are
        // worth.
        let pieces = (dx.hypot(dy) / 4.0).ceil().clamp(1.0, 400.0);
        for piece in 0..=pieces as u32 {
            let share = f64::from(piece) / pieces;
            let (x, y) = (f64::from(from.0) + dx * share, f64::from(from.1) + dy * share);
            self.taken.push([x - 2.0, y - 2.0, x + 2.0, y + 2.0]);
        }
    }

    /// The first free place beside a mark, which is then taken; `None` where there is none.
    pub(super) fn find(&mut self, (x, y): (i32, i32), words: &str, size: f64) -> Option<Spot> {
        let width = words.chars().count() as f64 * size * LETTER_BY_SIZE;
        let (half, gap) = (size / 2.0 + 1.0, 9.0);
        let (x, y) = (f64::from(x), f64::from(y));
        let (right, left, centre) = (x + gap, x - gap - width, x - width / 2.0);
        let (up, down) = (y - half - gap, y + half + gap);
        // Right of the mark first, where a reader looks; then nearer places before farther ones, so that words never
        // seem to belong to another mark.
        let near = [(right, y), (centre, up), (left, y), (centre, down)];
        let corners = [
            (right - 3.0, up + 3.0),
            (left + 3.0, up + 3.0),
            (right - 3.0, down - 3.0),
            (left + 3.0, down - 3.0),
        ];
        let far = [(right, up - 10.0), (left, up - 10.0), (right, down + 10.0), (left, down + 10.0)];
        let farther = [24.0, 38.0].into_iter().flat_map(|off| {
            [
                (centre, up - off),
                (centre, down + off),
                (right, up - off),
                (left, up - off),
                (right, down + off),
                (left, down + off),
            ]
        });
        let spots = near.into_iter().chain(corners).chain(far).chain(farther);
        let block = |(left, middle): (f64, f64)| [left, middle - half, left + width, middle + half];
        let (left, middle) = spots.into_iter().find(|spot| self.is_free(&block(*spot)))?;
        self.taken.push(block((left, middle)));
        Some(Spot { left: left.round() as i32, middle: middle.round() as i32 })
    }

    fn is_free(&self, block: &Block) -> bool {
        let inside = block[0] >= self.within[0] + 2.0
            && block[1] >= self.within[1] + 2.0
            && block[2] <= self.within[2] - 2.0
            && block[3] <= self.within[3] - 2.0;
        let apart = |other: &Block| {
            block[2] + 1.0 <= other[0]
                || other[2] + 1.0 <= block[0]
                || block[3] + 1.0 <= other[1]
                || other[3] + 1.0 <= block[1]
        };
        inside && self.taken.iter().all(apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_right_of_a_mark_with_room_and_elsewhere_without() {
        let mut room = Room::within(&(0..200), &(0..100));
        room.mark((50, 50), 6.0);
        let first = room.find((50, 50), "32", 11.0).unwrap();
        assert_eq!(first, Spot { left: 59, middle: 50 });
        let second = room.find((50, 50), "64", 11.0).unwrap();
        assert!(second.middle < 50, "{second:?}");
        let at_edge = room.find((195, 50), "128", 11.0).unwrap();
        assert!(at_edge.left + 19 <= 200, "{at_edge:?}");
    }

    #[test]
    fn words_without_any_room_are_left_out() {
        let mut room = Room::within(&(0..200), &(0..100));
        for y in (0..100).step_by(4) {
            room.line((0, y), (200, y));
        }
        assert_eq!(room.find((50, 50), "32", 11.0), None);
    }
}
