//! Servers that went away during the run.

use feed::{counted_noun, format_duration_ns};
use record::Rep;

use crate::cell::cells::Cells;
use crate::cell::lines::Lines;

/// Each target that did not answer, and what was made again for it.
pub(crate) fn notes(lines: &Lines<'_>, cells: &Cells<'_>) -> Vec<String> {
    let of_target = |(name, met): (&str, Vec<Met>)| {
        let repetitions = counted_noun(met.len() as u64, "repetition");
        let again = met.iter().filter(|one| one.is_made_again).count();
        format!(
            "{name} did not answer{}: {repetitions} met that, {again} made again and in no figure",
            away(&met)
        )
    };
    by_target(lines, cells).into_iter().map(of_target).collect()
}

/// What a job does meanwhile; nothing where no server was away.
pub(crate) fn not_tested(lines: &Lines<'_>, cells: &Cells<'_>) -> Option<String> {
    let names: Vec<&str> = by_target(lines, cells).into_iter().map(|(name, _)| name).collect();
    (!names.is_empty()).then(|| format!("what a job does while {} is away, as it was here", names.join(", ")))
}

/// A repetition that met an outage.
struct Met {
    away_ns: u64,
    is_made_again: bool,
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
            Some(Met { away_ns: rep.outage?.away_ns, is_made_again: *is_made_again })
        });
        met.collect::<Vec<Met>>()
    };
    let all = cells.targets.iter().map(|target| (target.name.as_str(), of_target(&target.name)));
    all.filter(|(_, met)| !met.is_empty()).collect()
}
