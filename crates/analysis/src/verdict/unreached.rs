//! Other ways of reading a target that do not reach the line, beside its verdict.

use record::CheckpointPlan;
use record::axis::{self, Groups, agree};

use super::way_apart::WayApart;
use crate::cell::cell_summary::CellSummary;
use crate::cell::figures::Figures;
use crate::cell::operation;
use crate::curve::Panel;
use crate::curve::treatment::FromMemory;
use crate::verdict::source::Source;

/// Ways named one by one; the others are counted.
// A verdict is a sentence: the table of cells has the others.
const NAMED_MAX: usize = 3;

/// What a target does not reach the line with, or only with, beside its verdict.
#[derive(Debug, Clone, PartialEq)]
pub enum Unreached {
    /// Another way of reading it.
    Otherwise {
        /// What sets it apart from the way that is judged.
        apart: WayApart,
        /// Lowest and highest mean of a cell, by the line.
        of_line: (f64, f64),
        /// Shallowest and deepest depth with figures.
        depths: (u32, u32),
    },
    /// So many other ways more.
    More(usize),
    /// The job that is judged writes checkpoints.
    JudgedWithCheckpoints {
        /// Which.
        plan: CheckpointPlan,
        /// Utilization of the same job without; absent where it was not played.
        without_au: Option<f64>,
    },
    /// The same job with checkpoints misses its target.
    WithCheckpoints {
        /// Which.
        plan: CheckpointPlan,
        /// Its utilization.
        au: f64,
    },
}

/// The first other way of reading a target that clears the line, where the one that is judged does not.
#[derive(Debug, Clone, PartialEq)]
pub struct ClearsOtherwise {
    /// What sets it apart.
    pub apart: WayApart,
    /// The shallowest depth that clears.
    pub queue_depth: u32,
    /// How many more ways clear.
    pub more: usize,
}

/// The furthest from its line first, and at most three of them.
///
/// Of the ways in which `judged`'s target was read from storage, all but that of `judged` itself.
pub(crate) fn beside(source: &Source<'_>, judged: &CellSummary) -> Vec<Unreached> {
    let (own, others) = ways(source, judged);
    let mut short: Vec<&WayMeasured> = others.iter().filter(|way| way.reaches_at.is_none()).collect();
    // By the best cell of each: a way is as far from its line as its best depth is.
    short.sort_by(|a, b| a.of_line.1.total_cmp(&b.of_line.1));
    let more = short.len().saturating_sub(NAMED_MAX);
    let named = short.iter().take(NAMED_MAX).map(|way| Unreached::Otherwise {
        apart: WayApart::of(&way.way, &[&own]),
        of_line: way.of_line,
        depths: way.depths,
    });
    named.chain((more > 0).then_some(Unreached::More(more))).collect()
}

/// The first other way that reaches the line, and how many more do.
pub(crate) fn clearing(source: &Source<'_>, judged: &CellSummary) -> Option<ClearsOtherwise> {
    let (own, others) = ways(source, judged);
    let mut clearing = others.iter().filter_map(|other| Some((&other.way, other.reaches_at?)));
    let (way, queue_depth) = clearing.next()?;
    Some(ClearsOtherwise { apart: WayApart::of(way, &[&own]), queue_depth, more: clearing.count() })
}

/// The way in which `judged` was read, and the others in which its target was read from storage under the same load.
fn ways(source: &Source<'_>, judged: &CellSummary) -> (Panel, Vec<WayMeasured>) {
    let cells = &source.cells;
    let own = Panel::of(judged);
    let mut others: Vec<(Panel, Vec<&CellSummary>)> = Vec::new();
    let mut groups = Groups::along(axis::PANEL.iter().copied());
    let of_target = cells.all.iter().filter(|cell| cell.cell.target == judged.cell.target);
    // Panels are of closed loops alone, and a job is read in several ways as they are.
    let alike = of_target.filter(|cell| {
        operation::moves_samples(&cell.cell) && agree(cells, &judged.cell, &cell.cell, axis::LOAD)
    });
    for cell in alike.filter(|cell| !own.is_way_of(cells, cell)) {
        let reads_so = |at: usize| others[at].0.is_way_of(cells, cell);
        let at = groups.place(cells, &cell.cell, reads_so);
        if at == others.len() {
            others.push((Panel::of(cell), Vec::new()));
        }
        others[at].1.push(cell);
    }
    // What came from the page cache says nothing of the storage, neither for it nor against it.
    others.retain(|(way, _)| way.lets_come() == FromMemory::Nothing);
    let measured = others.into_iter().filter_map(|(way, cells)| WayMeasured::of(way, &cells));
    (own, measured.collect())
}

/// One way in which a target was read, against its line.
struct WayMeasured {
    way: Panel,
    of_line: (f64, f64),
    depths: (u32, u32),
    /// The shallowest depth that clears the line where nothing forbids to say so; absent when none does.
    reaches_at: Option<u32>,
}

impl WayMeasured {
    /// Nothing without figures and a line.
    fn of(way: Panel, cells: &[&CellSummary]) -> Option<Self> {
        let measured = || cells.iter().filter_map(|cell| Some((cell.cell.queue_depth, cell.figures()?)));
        let shares = || measured().filter_map(|(_, figures)| figures.of_line);
        let depths = || measured().map(|(depth, _)| depth);
        let of_line = (shares().reduce(f64::min)?, shares().reduce(f64::max)?);
        let clearing =
            cells.iter().filter(|cell| cell.clears() && cell.figures().is_some_and(Figures::is_valid));
        let reaches_at = clearing.map(|cell| cell.cell.queue_depth).min();
        Some(Self { way, of_line, depths: (depths().min()?, depths().max()?), reaches_at })
    }
}

#[cfg(test)]
mod tests {
    use super::Unreached;
    use crate::curve::Pieces;
    use crate::fixture::{Builder, need_in_bytes, rep};
    use crate::{ReadVerdict, WayApart};

    /// A need without a size, and one cell for each share of the line, of ever larger samples.
    fn verdict(shares: &[f64], edit: impl FnOnce(&mut Builder)) -> ReadVerdict {
        let mut builder = Builder::new();
        builder.run.need = need_in_bytes(1e9);
        for (index, share) in shares.iter().enumerate() {
            let name = format!("c{index}");
            builder.cell(&name, "disk", 8);
            let mut dataset = builder.run.datasets[0].clone();
            dataset.sample_bytes = (1_024_u64 << index) as f64;
            builder.run.datasets.push(dataset);
            builder.edit_cell(&name, |cell| cell.dataset = index + 1);
            for number in 0..3 {
                builder.push(rep(&name, number, share * Builder::LINE_BPS));
            }
        }
        edit(&mut builder);
        crate::fixture::reads_of(&builder)
    }

    /// Bytes of a sample, the range by the line in hundredths, and the depths, of each other way; then how many more.
    type Short = (u64, [u64; 2], (u32, u32));

    fn short(verdict: &ReadVerdict) -> (Vec<Short>, usize) {
        let mut more = 0;
        let named = verdict.unreached.iter().filter_map(|one| match one {
            Unreached::Otherwise { apart, of_line: (low, high), depths } => {
                let hundredths = [low, high].map(|share| (share * 100.0) as u64);
                Some((apart.sample_bytes.map_or(0, |bytes| bytes as u64), hundredths, *depths))
            }
            Unreached::More(count) => {
                more = *count;
                None
            }
            other => panic!("{other:?}"),
        });
        (named.collect(), more)
    }

    #[test]
    fn the_other_sizes_below_the_line_are_named() {
        let found = verdict(&[0.4, 0.605, 1.8], |_| {});
        assert_eq!(short(&found), (vec![(2_048, [60, 60], (8, 8))], 0), "the verdict rests on 1 KiB");
        assert!(verdict(&[1.2, 1.8], |_| {}).unreached.is_empty());
    }

    #[test]
    fn a_range_over_depths_and_the_worst_first() {
        let deeper = |builder: &mut Builder| {
            let mut cell = builder.run.cells[1].clone();
            (cell.cell, cell.queue_depth) = ("deep".to_owned(), 32);
            builder.run.cells.push(cell);
            (0..3).for_each(|number| builder.push(rep("deep", number, 0.805 * Builder::LINE_BPS)));
        };
        let found = verdict(&[0.05, 0.365, 0.705], deeper);
        assert_eq!(short(&found).0, [(4_096, [70, 70], (8, 8)), (2_048, [36, 80], (8, 32))]);
    }

    #[test]
    fn the_ways_that_clear_are_named_beside_a_verdict_that_starves() {
        let clears = |shares: &[f64]| {
            let edit = |builder: &mut Builder| {
                (0..3).for_each(|n| {
                    builder.push(crate::fixture::confirmation("c0", n, 0.4 * Builder::LINE_BPS));
                });
            };
            let clears = verdict(shares, edit).clears;
            clears.map(|one| (one.apart.sample_bytes, one.queue_depth, one.more))
        };
        assert_eq!(clears(&[0.4, 1.5]), Some((Some(2_048.0), 8, 0)));
        assert_eq!(clears(&[0.4, 1.5, 1.6]), Some((Some(2_048.0), 8, 1)));
        assert_eq!(clears(&[0.4, 0.5]), None);
    }

    #[test]
    fn three_are_named_and_the_others_counted() {
        let (named, more) = short(&verdict(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], |_| {}));
        assert_eq!((named.len(), more), (3, 2));
    }

    #[test]
    fn the_page_cache_is_no_storage_to_warn_of() {
        let warm = |builder: &mut Builder| builder.edit_cell("c1", |cell| cell.cache = "warm".into());
        assert!(verdict(&[0.4, 0.2], warm).unreached.is_empty());
    }

    #[test]
    fn a_way_whose_mean_alone_reaches_the_line_is_not_proven() {
        let spread = |builder: &mut Builder| {
            builder.edit_reps("c1", |rep| rep.window_ns += 50_000_000 * u64::from(rep.rep));
        };
        let (named, _) = short(&verdict(&[0.4, 1.1], spread));
        assert!(named[0].1[1] >= 100, "{named:?}");
    }

    #[test]
    fn a_way_is_told_by_what_sets_it_apart_alone() {
        let apart = |edit: fn(&mut record::Cell)| {
            let alike = |builder: &mut Builder| {
                builder.edit_cell("c1", |cell| cell.dataset = 1);
                builder.edit_cell("c1", edit);
            };
            match &verdict(&[0.3, 0.4], alike).unreached[..] {
                [Unreached::Otherwise { apart, .. }] => apart.clone(),
                other => panic!("{other:?}"),
            }
        };
        let pieces = |operation: &str, block_bytes| {
            Some(Pieces { operation: operation.to_owned(), write_percent: None, block_bytes })
        };
        let smaller = apart(|cell| cell.block_bytes = 4_096);
        assert_eq!(smaller, WayApart { pieces: pieces("read", 4_096), ..WayApart::default() });
        let whole = apart(|cell| cell.operation = "read_file".into());
        assert_eq!(
            whole,
            WayApart { pieces: pieces("read", 100_000), ..WayApart::default() },
            "whole files are judged"
        );
        let ordered = apart(|cell| cell.access = "sequential".into());
        assert_eq!(ordered, WayApart { access: Some("sequential".to_owned()), ..WayApart::default() });
        let cold = apart(|cell| cell.cache = "cold".into());
        assert!(cold.caching.is_some());
        assert_eq!(WayApart { caching: None, ..cold }, WayApart::default());
        let packed = apart(|cell| {
            let (name, value) = ("layout".to_owned(), "webdataset".to_owned());
            cell.axes = vec![record::AxisWords { name, value, unit: String::new() }];
        });
        assert_eq!(packed, WayApart { layout: Some("webdataset".to_owned()), ..WayApart::default() });
    }
}
