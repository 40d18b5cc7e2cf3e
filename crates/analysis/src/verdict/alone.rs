//! Each of several rates by itself.

use feed::{Demand, Interval, Judgement, Need};

use super::against::judged;
use super::cause::Cause;
use super::narrower::narrower;
use super::read_verdict::{AloneVerdict, ReadVerdict};
use super::source::Source;
use crate::cell::cell_summary::{CellSummary, Measurement};
use crate::cell::figures::Figures;

/// What each rate of the need is told by the cell on which the verdict on all at once rests. Empty where that rests on no figures.
pub(super) fn of_all(source: &Source<'_>, cell: &CellSummary, all: &ReadVerdict) -> Vec<AloneVerdict> {
    let Ok(need @ Need { demand: Demand::Bytes { per_s, .. }, .. }) = source.cells.need else {
        return Vec::new();
    };
    let Some((rate, line)) = all.samples_per_s.zip(cell.line) else { return Vec::new() };
    let told = |part: &feed::Part| {
        let share = part.bytes_per_s / per_s;
        let of_line = |samples_per_s: f64| samples_per_s / (line.samples_per_s * share);
        let (judgement, open) = judgement(source, cell, all, share);
        AloneVerdict {
            need: part.label.clone(),
            line_bps: line.bps * share,
            of_line: Interval { low: of_line(rate.low), mean: of_line(rate.mean), high: of_line(rate.high) },
            judgement,
            open,
        }
    };
    need.parts.iter().map(told).collect()
}

/// The judgement at `share` of the line, and what leaves open what the interval would say. Whatever limits what all at once are
/// told limits this too.
fn judgement(
    source: &Source<'_>,
    cell: &CellSummary,
    all: &ReadVerdict,
    share: f64,
) -> (Judgement, Option<Cause>) {
    let figures = cell.confirmed.as_ref().and_then(Measurement::figures);
    let (Some(line), Some(figures)) = (cell.line, figures) else {
        return (Judgement::Uncertain, Some(all.cause.clone()));
    };
    let (judgement, open) = judged(source.cells, cell, figures, line.samples_per_s * share);
    let open = match judgement {
        Judgement::Feeds => falls_short(source, cell, all, line.bps * share),
        Judgement::Starves => may_reach(source, (cell, figures), all, share),
        Judgement::Uncertain => open,
    };
    (if open.is_some() { Judgement::Uncertain } else { judgement }, open)
}

/// What keeps a rate that the interval clears from being fed.
fn falls_short(source: &Source<'_>, cell: &CellSummary, all: &ReadVerdict, line_bps: f64) -> Option<Cause> {
    let falls_below = all.changed.filter(|(before, after)| before.min(*after) < line_bps);
    let saves = Some(&all.cause).filter(|cause| matches!(cause, Cause::SavesTooOften { .. }));
    let utilization = source.cells.need.as_ref().map_or(1.0, |need| need.utilization);
    let changed = falls_below.map(|bps| Cause::Changed { bps });
    changed
        .or_else(|| saves.cloned())
        .or_else(|| narrower(&source.cells, cell, all.scope.as_ref(), utilization))
}

/// What keeps a rate that the interval lies below from being starved: what starves one of them starves all of them, no other way of
/// reading may reach this line, and no trend lead to it, whose flag is by the line of all.
fn may_reach(
    source: &Source<'_>,
    (cell, figures): (&CellSummary, &Figures),
    all: &ReadVerdict,
    share: f64,
) -> Option<Cause> {
    let line_bps = cell.line?.bps * share;
    let of_all = Some(&all.cause).filter(|_| all.judgement != Judgement::Starves);
    let rises = all.changed.filter(|(before, after)| before.max(*after) >= line_bps);
    let unsteady = figures.flags.iter().find(|flag| flag.is_unsteady()).cloned();
    of_all
        .cloned()
        .or_else(|| rises.map(|bps| Cause::Changed { bps }))
        .or_else(|| unsteady.map(Cause::Flagged))
        .or_else(|| other_above(source, cell, share))
}

/// Another cell of the target that may reach `share` of its line, in whatever way it was read, or this one by its first repetitions.
fn other_above(source: &Source<'_>, deciding: &CellSummary, share: f64) -> Option<Cause> {
    let of_target = source.cells.all.iter().filter(|cell| cell.cell.target == deciding.cell.target);
    let measured = of_target.flat_map(|cell| {
        let fresh = cell.confirmed.as_ref().filter(|_| cell.cell.cell != deciding.cell.cell);
        let both = [Some(&cell.measured), fresh];
        both.into_iter().flatten().filter_map(Measurement::figures).map(move |figures| (cell, figures))
    });
    let mut reaching = measured.filter_map(|(cell, figures)| {
        let (rate, line) = (&figures.samples_per_s, cell.line?.samples_per_s * share);
        let high = rate.interval.map_or(rate.mean, |interval| interval.high);
        let above = Cause::OthersAbove { queue_depth: cell.cell.queue_depth, share: rate.mean / line };
        (high >= line).then_some(above)
    });
    reaching.next()
}

#[cfg(test)]
mod tests {
    use feed::Judgement::{self, Feeds, Starves, Uncertain};
    use record::NeedPart;

    use crate::fixture::{Builder, confirmation, confirmed_at, need_in_bytes, rep};
    use crate::{Cause, summarise};

    /// A need that is the sum of these shares of the line, read at so much of it.
    fn listed(shares: &[f64], of_line: f64) -> Builder {
        let mut builder = confirmed_at(&[of_line, of_line + 0.01, of_line + 0.02]);
        let utilization = builder.run.need.utilization;
        let whole_bps = Builder::LINE_BPS / utilization;
        let part = |share: &f64| NeedPart { label: format!("{share} of it"), bytes_per_s: share * whole_bps };
        builder.run.need = need_in_bytes(whole_bps);
        builder.run.need.utilization = utilization;
        builder.run.need.parts = shares.iter().map(part).collect();
        builder
    }

    fn judged(builder: &Builder) -> (Judgement, Vec<Judgement>) {
        let verdict = summarise(&builder.record()).verdicts.remove(0);
        let reads = verdict.of_reads().unwrap();
        (verdict.judgement(), reads.alone.iter().map(|one| one.judgement).collect())
    }

    /// What leaves each of them open.
    fn open(builder: &Builder) -> Vec<Option<Cause>> {
        let verdict = summarise(&builder.record()).verdicts.remove(0);
        verdict.of_reads().unwrap().alone.iter().map(|one| one.open.clone()).collect()
    }

    #[test]
    fn a_storage_that_starves_all_rates_at_once_may_feed_each_of_them() {
        let judged = |of_line| judged(&listed(&[0.7, 0.3], of_line));
        assert_eq!(judged(1.1), (Feeds, vec![Feeds, Feeds]));
        assert_eq!(judged(0.8), (Starves, vec![Feeds, Feeds]));
        assert_eq!(judged(0.5), (Starves, vec![Starves, Feeds]));
        assert_eq!(judged(0.2), (Starves, vec![Starves, Starves]));
        assert_eq!(judged(0.69), (Starves, vec![Uncertain, Feeds]));
        assert_eq!(open(&listed(&[0.7, 0.3], 0.69)), [None, None], "its interval says so");
        let verdict = summarise(&listed(&[0.7, 0.3], 0.5).record()).verdicts.remove(0);
        let told = &verdict.of_reads().unwrap().alone[1];
        assert_eq!(told.need, "0.3 of it");
        assert!((told.line_bps / (0.3 * Builder::LINE_BPS) - 1.0).abs() < 1e-9, "{told:?}");
        assert!((told.of_line.mean / (0.51 / 0.3) - 1.0).abs() < 1e-9, "{told:?}");
    }

    #[test]
    fn a_rate_that_another_cell_may_reach_does_not_starve_by_itself() {
        let mut builder = listed(&[0.7, 0.3], 0.5);
        builder.cell("deeper", "disk", 16);
        for number in 0..3 {
            builder.push(rep("deeper", number, 0.75 * Builder::LINE_BPS));
        }
        assert_eq!(judged(&builder), (Starves, vec![Uncertain, Feeds]));
        assert!(matches!(open(&builder)[..], [Some(Cause::OthersAbove { queue_depth: 16, .. }), None]));
    }

    #[test]
    fn a_rate_whose_line_the_storage_crossed_does_not_starve_by_itself() {
        let mut builder = Builder::new();
        builder.run.need = listed(&[0.7, 0.3], 1.0).run.need.clone();
        builder.cell("c", "disk", 8);
        for number in 0..3 {
            builder.push(rep("c", number, 0.8 * Builder::LINE_BPS));
            builder.push(confirmation("c", number, 0.5 * Builder::LINE_BPS));
        }
        assert_eq!(judged(&builder), (Starves, vec![Uncertain, Feeds]));
        assert!(matches!(open(&builder)[..], [Some(Cause::Changed { .. }), None]), "{:?}", open(&builder));
    }

    #[test]
    fn what_limits_all_at_once_limits_each() {
        let mut hosts = listed(&[0.7, 0.3], 1.1);
        hosts.run.need.hosts = 4;
        assert_eq!(judged(&hosts), (Uncertain, vec![Uncertain; 2]));
        assert_eq!(open(&hosts), vec![Some(Cause::HostsOpen { hosts: 3 }); 2]);
        let mut loader = listed(&[0.7, 0.3], 0.8);
        loader.run.need.loader_depth = Some(4);
        assert!(judged(&loader).1.iter().all(|one| *one == Uncertain), "{:?}", judged(&loader));
    }

    #[test]
    fn a_damaged_part_is_none_and_the_others_stand() {
        let mut builder = listed(&[0.7, 0.3], 0.5);
        builder.run.need.parts[0].bytes_per_s = 0.0;
        assert_eq!(judged(&builder), (Starves, vec![Feeds]));
        builder.run.need.parts.clear();
        assert_eq!(judged(&builder), (Starves, Vec::new()));
    }
}
