//! Servers that went away during the run.

use feed::{counted_noun, format_duration_ns};
use record::Rep;

use crate::cell::cells::Cells;
use crate::cell::lines::Lines;
use crate::summary::not_tested::NotTested;

/// Each target that did not answer, and what was made again for it.
pub(crate) fn notes(lines: &Lines<'_>, cells: &Cells<'_>) -> Vec<String> {
    let of_target = |(name, met): (&str, Vec<Met>)| {
        let (suspended, met): (Vec<Met>, Vec<Met>) = met.into_iter().partition(|one| one.is_suspended);
        let suspended = (!suspended.is_empty()).then(|| {
            let repetitions = counted_noun(suspended.len() as u64, "repetition");
            let again = suspended.iter().filter(|one| one.is_made_again).count();
            format!(
                "{name}: this process was stopped, or its machine suspended, during {repetitions}: {again} made again and \
                 in no figure"
            )
        });
        let away = (!met.is_empty()).then(|| away_words(name, &met));
        away.into_iter().chain(suspended)
    };
    by_target(lines, cells).into_iter().flat_map(of_target).collect()
}

/// `filer did not answer for 2.3 s: 2 repetitions met that, 2 made again and in no figure`.
fn away_words(name: &str, met: &[Met]) -> String {
    let repetitions = counted_noun(met.len() as u64, "repetition");
    let again = met.iter().filter(|one| one.is_made_again).count();
    format!("{name} did not answer{}: {repetitions} met that, {again} made again and in no figure", away(met))
}

/// What a job does meanwhile; nothing where no server was away.
pub(crate) fn not_tested(lines: &Lines<'_>, cells: &Cells<'_>) -> Option<NotTested> {
    let is_away = |(_, met): &(&str, Vec<Met>)| met.iter().any(|one| !one.is_suspended);
    let targets: Vec<String> =
        by_target(lines, cells).into_iter().filter(is_away).map(|(name, _)| name.to_owned()).collect();
    (!targets.is_empty()).then_some(NotTested::Outage { targets })
}

/// A repetition that met an outage.
struct Met {
    away_ns: u64,
    is_made_again: bool,
    /// Whether it was this process that was away.
    is_suspended: bool,
}

fn away(met: &[Met]) -> String {
    match met.iter().map(|one| one.away_ns).sum() {
        0 => String::new(),
        away_ns => format!(" for {}", format_duration_ns(away_ns)),
    }
}

fn by_target<'a>(lines: &Lines<'_>, cells: &Cells<'a>) -> Vec<(&'a str, Vec<Met>)> {
    let of_target = |name: &str| {
        let is_of = |rep: &Rep| cells.named(&rep.cell).is_some_and(|cell| cell.cell.target == name);
        let met = lines.met_outages.iter().filter(|(rep, _)| is_of(rep));
        let met = met.filter_map(|(rep, is_made_again)| {
            let record::Outage { away_ns, suspended } = rep.outage?;
            Some(Met { away_ns, is_made_again: *is_made_again, is_suspended: suspended })
        });
        met.collect::<Vec<Met>>()
    };
    let all = cells.targets.iter().map(|target| (target.name.as_str(), of_target(&target.name)));
    all.filter(|(_, met)| !met.is_empty()).collect()
}
