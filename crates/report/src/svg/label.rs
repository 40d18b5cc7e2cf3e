//! Labels in the margin, one below the other: as near to what they name as they can be without touching.

/// A label that wants to stand at a height.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wish {
    /// Height of what is named, pixels from the top.
    pub(super) at: f64,
    /// Height of the label itself.
    pub(super) height: f64,
}

/// Centres of the labels, in the order of `wishes`, within `top..bottom`.
///
/// Labels that would touch form a stack that stands at the mean of what its members wish, which moves
/// them the least in sum of squares; stacks that touch are joined. When all of them are higher than the
/// space, they start at `top` and the caller has chosen too low a panel.
pub(super) fn place(wishes: &[Wish], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    // By what they name, so that no leader crosses another; by their number where that is the same, so that the picture
    // does not depend on the sort.
    order.sort_by(|a, b| wishes[*a].at.total_cmp(&wishes[*b].at).then(a.cmp(b)));
    let mut stacks: Vec<Stack> = Vec::new();
    for index in order {
        stacks.push(Stack::of(index, &wishes[index], top, bottom));
        // Joined again and again: a stack that grew may touch the one above it.
        while let [.., above, below] = stacks.as_slice()
            && above.start + above.height > below.start
        {
            let below = stacks.pop().unwrap_or_default();
            if let Some(above) = stacks.last_mut() {
                above.join(below, top, bottom);
            }
        }
    }
    let mut centres = vec![0.0; wishes.len()];
    for stack in stacks {
        let mut at = stack.start;
        for index in stack.members {
            centres[index] = at + wishes[index].height / 2.0;
            at += wishes[index].height;
        }
    }
    centres
}

#[derive(Debug, Default)]
struct Stack {
    members: Vec<usize>,
    /// Sum over members of where each would have the stack start.
    // Kept as a sum: a stack that joins another needs no look at its members.
    starts: f64,
    start: f64,
    height: f64,
}

impl Stack {
    fn of(index: usize, wish: &Wish, top: f64, bottom: f64) -> Self {
        let mut stack = Self {
            members: vec![index],
            starts: wish.at - wish.height / 2.0,
            start: 0.0,
            height: wish.height,
        };
        stack.settle(top, bottom);
        stack
    }

    fn join(&mut self, below: Self, top: f64, bottom: f64) {
        self.starts += below.starts - self.height * below.members.len() as f64;
        self.height += below.height;
        self.members.extend(below.members);
        self.settle(top, bottom);
    }

    fn settle(&mut self, top: f64, bottom: f64) {
        let wish = self.starts / self.members.len() as f64;
        // The upper end wins where both cannot be kept: what is cut is cut at the bottom.
        self.start = wish.min(bottom - self.height).max(top);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn placed(heights: &[f64]) -> Vec<f64> {
        let wishes: Vec<Wish> = heights.iter().map(|at| Wish { at: *at, height: 10.0 }).collect();
        place(&wishes, 0.0, 100.0)
    }

    #[test]
    fn labels_with_room_stand_at_what_they_name() {
        assert_eq!(placed(&[20.0, 50.0, 80.0]), [20.0, 50.0, 80.0]);
    }

    #[test]
    fn labels_that_would_touch_share_the_way() {
        assert_eq!(placed(&[50.0, 52.0]), [46.0, 56.0]);
        assert_eq!(placed(&[52.0, 50.0]), [56.0, 46.0], "in the order of what they name");
    }

    #[test]
    fn the_margin_has_ends() {
        assert_eq!(placed(&[0.0, 0.0]), [5.0, 15.0]);
        assert_eq!(placed(&[100.0, 99.0]), [95.0, 85.0]);
    }

    proptest! {
        #[test]
        fn labels_never_overlap_nor_leave_the_margin(
            wishes in prop::collection::vec((-50.0..450.0_f64, 8.0..40.0_f64), 0..10)
        ) {
            let wishes: Vec<Wish> = wishes.into_iter().map(|(at, height)| Wish { at, height }).collect();
            let centres = place(&wishes, 0.0, 400.0);
            let mut spans: Vec<(f64, f64)> = wishes
                .iter()
                .zip(&centres)
                .map(|(wish, centre)| (centre - wish.height / 2.0, centre + wish.height / 2.0))
                .collect();
            spans.sort_by(|a, b| a.0.total_cmp(&b.0));
            for pair in spans.windows(2) {
                prop_assert!(pair[0].1 <= pair[1].0 + 1e-9, "{spans:?}");
            }
            for span in spans {
                prop_assert!(span.0 >= -1e-9 && span.1 <= 400.0 + 1e-9, "{span:?}");
            }
        }
    }
}
