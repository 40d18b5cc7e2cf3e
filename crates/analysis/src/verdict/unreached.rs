//! Other ways of reading a target that do not reach the line, said next to its verdict.

use crate::cell::cell_summary::CellSummary;
use crate::cell::figures::Figures;
use crate::curve::Panel;
use crate::curve::treatment::FromMemory;
use crate::verdict::source::Source;
use feed::counted_noun;

/// Ways told one by one; the others are counted.
const TOLD_MAX: usize = 3;

/// `not at 256 KiB samples (depths 1-32: 36 to 60 % of its line)`, the furthest from its line first, and at most three of them.
///
/// Of the ways in which `judged`'s target was read from storage, all but that of `judged` itself.
pub(crate) fn beside(source: &Source<'_>, judged: &CellSummary) -> Vec<String> {
    let own = |panel: &&Panel| panel.holds(&source.cells, judged);
    let Some(own) = source.panels.iter().find(own) else { return Vec::new() };
    let others = source
        .panels
        .iter()
        .filter(|panel| !panel.holds(&source.cells, judged) && panel.lets_come() == FromMemory::Nothing);
    let mut short: Vec<(f64, String)> =
        others.filter_map(|panel| Way::of(source, panel, &judged.cell.target)?.words(own)).collect();
    short.sort_by(|a, b| a.0.total_cmp(&b.0));
    let more = short.len().saturating_sub(TOLD_MAX);
    let mut told: Vec<String> = short.into_iter().take(TOLD_MAX).map(|(_, words)| words).collect();
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told
}

/// `not confirmed: clears at 128 KiB blocks, depth 2`, of the first other way that reaches the line; the others are counted.
pub(crate) fn clearing(source: &Source<'_>, judged: &CellSummary) -> Option<String> {
    let own = source.panels.iter().find(|panel| panel.holds(&source.cells, judged))?;
    let others = source
        .panels
        .iter()
        .filter(|panel| !panel.holds(&source.cells, judged) && panel.lets_come() == FromMemory::Nothing);
    let mut clearing = others.filter_map(|panel| {
        let way = Way::of(source, panel, &judged.cell.target)?;
        Some(format!("not confirmed: clears at {}, depth {}", difference(panel, own), way.reaches_at?))
    });
    let first = clearing.next()?;
    let more = clearing.count();
    Some(if more > 0 { format!("{first}, and in {}", counted_noun(more as u64, "other way")) } else { first })
}

/// One way in which a target was read, against its line.
struct Way<'a> {
    panel: &'a Panel,
    /// Lowest and highest mean of a cell, by the line.
    range: (f64, f64),
    /// Shallowest and deepest depth with figures.
    depths: (u32, u32),
    /// The shallowest depth that clears the line where nothing forbids to say so; absent when none does.
    reaches_at: Option<u32>,
}

impl<'a> Way<'a> {
    /// Nothing without figures and a line.
    fn of(source: &Source<'_>, panel: &'a Panel, target: &str) -> Option<Self> {
        let curves = panel.curves.iter().filter(|curve| curve.target == target);
        let cells: Vec<&CellSummary> =
            curves.flat_map(|curve| &curve.cells).map(|index| &source.cells.all[*index]).collect();
        let measured = || cells.iter().filter_map(|cell| Some((cell.cell.queue_depth, cell.figures()?)));
        let shares = || measured().filter_map(|(_, figures)| figures.of_line);
        let depths = || measured().map(|(depth, _)| depth);
        let range = (shares().reduce(f64::min)?, shares().reduce(f64::max)?);
        let clearing =
            cells.iter().filter(|cell| cell.clears() && cell.figures().is_some_and(Figures::is_valid));
        let reaches_at = clearing.map(|cell| cell.cell.queue_depth).min();
        Some(Self { panel, range, depths: (depths().min()?, depths().max()?), reaches_at })
    }

    /// The share of its best cell, and the words; nothing when it reaches the line.
    fn words(&self, own: &Panel) -> Option<(f64, String)> {
        let (low, high) = self.range;
        let not = if high < 1.0 { "not" } else { "not proven" };
        let way = difference(self.panel, own);
        let (from, to) = (points(low), points(high));
        let words = if from == to {
            format!("{not} at {way}: {to} % of its line")
        } else {
            format!("{not} at {way} ({}: {from} to {to} % of its line)", self.depth_words())
        };
        self.reaches_at.is_none().then_some((high, words))
    }

    /// `depths 1-32`, `depth 8`.
    fn depth_words(&self) -> String {
        match self.depths {
            (one, same) if one == same => format!("depth {one}"),
            (first, last) => format!("depths {first}-{last}"),
        }
    }
}

/// What sets one way apart from another: `256 KiB samples, random`.
fn difference(panel: &Panel, own: &Panel) -> String {
    let layout = panel.layout.clone().filter(|_| panel.layout != own.layout);
    let samples = panel.sample_bytes.filter(|_| panel.sample_bytes != own.sample_bytes);
    let samples = samples.map(|bytes| format!("{} samples", feed::format_bytes(bytes.round() as u64)));
    let is_other = panel.block_bytes != own.block_bytes || panel.operation != own.operation;
    let blocks = is_other.then(|| panel.pieces());
    let access = (panel.access != own.access).then(|| panel.access.clone());
    let cache = (!panel.is_treated_like(own)).then(|| panel.cache.clone());
    [layout, samples, blocks, access, cache].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Hundredths, cut and not rounded: 99.7 is not 100.
fn points(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 10.0 {
        return format!("{:.1}", (percent * 10.0).floor() / 10.0);
    }
    feed::group_digits(percent as u64)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{Builder, need_in_bytes, rep};
    use crate::summarise;

    /// A need without a size, and one cell for each share of the line, of ever larger samples.
    fn unreached(shares: &[f64], edit: impl FnOnce(&mut Builder)) -> Vec<String> {
        let mut words = Vec::new();
        unreached_of(shares, edit, |verdict| words.clone_from(&verdict.unreached));
        words
    }

    fn unreached_of(shares: &[f64], edit: impl FnOnce(&mut Builder), read: impl FnOnce(&crate::Verdict)) {
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
        read(&summarise(&builder.record()).verdicts[0]);
    }

    #[test]
    fn the_other_sizes_below_the_line_are_said() {
        let words = unreached(&[0.4, 0.605, 1.8], |_| {});
        assert_eq!(words, ["not at 2 KiB samples: 60 % of its line"], "the verdict rests on 1 KiB");
        assert_eq!(unreached(&[1.2, 1.8], |_| {}), Vec::<String>::new());
    }

    #[test]
    fn a_range_over_depths_and_the_worst_first() {
        let deeper = |builder: &mut Builder| {
            let mut cell = builder.run.cells[1].clone();
            (cell.cell, cell.queue_depth) = ("deep".to_owned(), 32);
            builder.run.cells.push(cell);
            (0..3).for_each(|number| builder.push(rep("deep", number, 0.805 * Builder::LINE_BPS)));
        };
        let words = unreached(&[0.05, 0.365, 0.705], deeper);
        let expected = [
            "not at 4 KiB samples: 70 % of its line",
            "not at 2 KiB samples (depths 8-32: 36 to 80 % of its line)",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn the_ways_that_clear_are_named_beside_a_verdict_that_starves() {
        let confirmed = |shares: &[f64]| {
            let shares = shares.to_vec();
            let edit = |builder: &mut Builder| {
                (0..3).for_each(|n| {
                    builder.push(crate::fixture::confirmation("c0", n, 0.4 * Builder::LINE_BPS));
                });
            };
            let mut sentence = String::new();
            unreached_of(&shares, edit, |verdict| sentence = verdict.sentence());
            sentence
        };
        let one = confirmed(&[0.4, 1.5]);
        assert!(one.contains("; not confirmed: clears at 2 KiB samples, depth 8; 1 KiB samples"), "{one}");
        let two = confirmed(&[0.4, 1.5, 1.6]);
        assert!(
            two.contains("; not confirmed: clears at 2 KiB samples, depth 8, and in 1 other way"),
            "{two}"
        );
        assert!(!confirmed(&[0.4, 0.5]).contains("clears"));
    }

    #[test]
    fn three_are_told_and_the_others_counted() {
        let words = unreached(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], |_| {});
        assert_eq!(words.len(), 4);
        assert_eq!(words[3], "and 2 more");
    }

    #[test]
    fn the_page_cache_is_no_storage_to_warn_of() {
        let warm = |builder: &mut Builder| builder.edit_cell("c1", |cell| cell.cache = "warm".into());
        assert_eq!(unreached(&[0.4, 0.2], warm), Vec::<String>::new());
    }

    #[test]
    fn a_way_whose_mean_alone_reaches_the_line_is_not_proven() {
        let spread = |builder: &mut Builder| {
            builder.edit_reps("c1", |rep| rep.window_ns += 50_000_000 * u64::from(rep.rep));
        };
        let words = unreached(&[0.4, 1.1], spread);
        assert!(words[0].starts_with("not proven at 2 KiB samples: 10"), "{words:?}");
    }
}
