//! Servers that went away during the run.

use record::Rep;

use crate::cell::cells::Cells;
use crate::cell::lines::Lines;
use crate::summary::not_tested::NotTested;
use crate::summary::note::{Met, Note};

/// Each target that did not answer, and what was made again for it.
pub(crate) fn notes(lines: &Lines<'_>, cells: &Cells<'_>) -> Vec<Note> {
    let of_target = |(name, outages): (&str, Vec<Outage>)| {
        // Told apart, as the one is the storage's and says something of it, the other this machine's and says nothing.
        let (suspended, away): (Vec<Outage>, Vec<Outage>) =
            outages.into_iter().partition(|one| one.is_suspended);
        let target = || name.to_owned();
        let away_ns = away.iter().map(|one| one.away_ns).sum();
        let away = met(&away).map(|met| Note::Away { target: target(), away_ns, met });
        away.into_iter().chain(met(&suspended).map(|met| Note::Suspended { target: target(), met }))
    };
    by_target(lines, cells).into_iter().flat_map(of_target).collect()
}

/// `None` where there was no outage.
fn met(outages: &[Outage]) -> Option<Met> {
    // Those that were not made again count as what they are, failures included.
    let made_again = outages.iter().filter(|one| one.is_made_again).count();
    (!outages.is_empty()).then_some(Met { repetitions: outages.len(), made_again })
}

/// What a job does meanwhile; nothing where no server was away.
pub(crate) fn not_tested(lines: &Lines<'_>, cells: &Cells<'_>) -> Option<NotTested> {
    // What a job does while its own process is stopped is nobody's question.
    let is_away = |(_, outages): &(&str, Vec<Outage>)| outages.iter().any(|one| !one.is_suspended);
    let targets: Vec<String> =
        by_target(lines, cells).into_iter().filter(is_away).map(|(name, _)| name.to_owned()).collect();
    (!targets.is_empty()).then_some(NotTested::Outage { targets })
}

/// A repetition that met an outage.
struct Outage {
    away_ns: u64,
    is_made_again: bool,
    /// Whether it was this process that was away.
    is_suspended: bool,
}

fn by_target<'a>(lines: &Lines<'_>, cells: &Cells<'a>) -> Vec<(&'a str, Vec<Outage>)> {
    if lines.met_outages.is_empty() {
        return Vec::new();
    }
    let by_name = cells.by_name();
    let of_target = |name: &str| {
        // By target: all cells of it met the same server, and a line for each would say one outage ten times.
        let is_of = |rep: &Rep| by_name.get(rep.cell.as_str()).is_some_and(|cell| cell.cell.target == name);
        let met = lines.met_outages.iter().filter(|(rep, _)| is_of(rep));
        let met = met.filter_map(|(rep, is_made_again)| {
            let record::Outage { away_ns, suspended } = rep.outage?;
            Some(Outage { away_ns, is_made_again: *is_made_again, is_suspended: suspended })
        });
        met.collect::<Vec<Outage>>()
    };
    let all = cells.targets.iter().map(|target| (target.name.as_str(), of_target(&target.name)));
    all.filter(|(_, met)| !met.is_empty()).collect()
}
