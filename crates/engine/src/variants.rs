//! In which order the variants of a comparison take their turns.

use dataset::Permutation;
use plan::CellOrder;

use crate::schedule::Turn;

/// One repetition of one variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VariantTurn {
    /// Number of the variant.
    pub variant: u32,
    /// Which repetition.
    pub turn: Turn,
}

/// A round: every cell once by every variant. Cells come in the order that the scenario asks for, random ones by `seed`;
/// the variants of a cell follow each other at once, in random order in any case, so that what is compared was measured
/// within the same minute and none always comes first.
pub fn round_of_variants(
    round: u32,
    cells: usize,
    variants: u32,
    order: CellOrder,
    seed: u64,
) -> Vec<VariantTurn> {
    let count = cells as u64;
    let permuted = Permutation::new(count.max(1), seed ^ u64::from(round));
    let cell_at = |index: u64| match order {
        CellOrder::File => index,
        CellOrder::Random => permuted.at(index),
    };
    let of_cell = |cell: u64| {
        // Of seeds that differ in few bits, each gives another order: a permutation mixes its seed.
        // Round and cell in bits of their own, so that no two pairs of them draw the same order.
        let place = (u64::from(round) << 32 | cell).rotate_left(8);
        let drawn = Permutation::new(u64::from(variants.max(1)), seed ^ place.wrapping_add(1));
        (0..u64::from(variants)).map(move |index| VariantTurn {
            variant: drawn.at(index) as u32,
            turn: Turn { cell: cell as usize, rep: round, round, again: 0 },
        })
    };
    (0..count).map(cell_at).flat_map(of_cell).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn round(number: u32, order: CellOrder) -> Vec<VariantTurn> {
        round_of_variants(number, 5, 3, order, 7)
    }

    #[test]
    fn a_round_has_every_cell_of_every_variant_once_and_variants_are_neighbours() {
        for order in [CellOrder::Random, CellOrder::File] {
            let turns = round(2, order);
            let distinct: BTreeSet<(usize, u32)> =
                turns.iter().map(|one| (one.turn.cell, one.variant)).collect();
            assert_eq!((turns.len(), distinct.len()), (15, 15));
            assert!(turns.iter().all(|one| (one.turn.rep, one.turn.round) == (2, 2)));
            for three in turns.chunks(3) {
                assert!(three.iter().all(|one| one.turn.cell == three[0].turn.cell), "{three:?}");
            }
        }
        let cells: Vec<usize> =
            round(0, CellOrder::File).iter().step_by(3).map(|one| one.turn.cell).collect();
        assert_eq!(cells, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_same_seed_draws_the_same_rounds_and_each_round_another_order() {
        assert_eq!(round(1, CellOrder::Random), round(1, CellOrder::Random));
        let orders: BTreeSet<Vec<usize>> =
            (0..8).map(|n| round(n, CellOrder::Random).iter().map(|one| one.turn.cell).collect()).collect();
        assert!(orders.len() > 4, "{orders:?}");
    }

    #[test]
    fn no_variant_comes_first_more_often_than_a_coin_would_have_it() {
        for seed in 0..20 {
            let firsts = (0..100)
                .flat_map(|number| round_of_variants(number, 4, 2, CellOrder::Random, seed))
                .step_by(2)
                .filter(|one| one.variant == 0)
                .count();
            // 400 throws: the standard deviation is 10.
            assert!((150..=250).contains(&firsts), "{firsts} of 400 with seed {seed}");
        }
    }
}
