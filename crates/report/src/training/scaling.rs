//! What several hosts got together, beside as many times one alone.

use analysis::{Scaled, Sizing, Summary};

use crate::grid::{Column, Grid, Width};
use crate::number::{RateUnit, interval, percent};
use crate::words;

/// What each number of hosts that `size` tried got.
pub(crate) fn table(summary: &Summary) -> Grid {
    let of_search = |of| move |one| (of, one);
    let rows: Vec<(&Sizing, &Scaled)> =
        summary.sizings.iter().flat_map(|of| of.scaling.iter().map(of_search(of))).collect();
    let largest = rows.iter().map(|(_, one)| one.bps.mean).fold(0.0, f64::max);
    let unit = RateUnit::for_largest(largest);
    let counted = if rows.iter().all(|(of, _)| of.on_hosts) { "hosts" } else { "processes" };
    let title =
        format!("scaling: what so many {counted} got together, and its share of as many times one alone");
    Grid::of(title, &rows)
        .name("target", |(of, _)| words::sizing::place(of))
        .number(counted, |(_, one)| one.hosts.to_string())
        .figure(unit.name, |(_, one)| Some(unit.write(one.bps.mean)))
        .column(Column::figure("95 % interval").short("95 %"), |(_, one)| {
            interval(&one.bps, |bps| unit.write(bps))
        })
        .column(Column::figure("each").only(Width::Wide), |(_, one)| {
            Some(unit.write(one.bps.mean / f64::from(one.hosts)))
        })
        .figure("of one", |(_, one)| one.of_one.map(percent))
        .note(|(of, one)| {
            let full = of.full.filter(|full| full.from == one.hosts).map(|_| "full from here on".to_owned());
            full.into_iter().chain(one.doubt.as_ref().map(words::flag::words)).collect::<Vec<_>>().join("; ")
        })
        .done()
}
