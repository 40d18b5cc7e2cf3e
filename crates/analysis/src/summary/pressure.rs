//! What else the machine was short of while it measured.

use record::Rep;

use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;
use crate::cell::flag::percent;
use crate::cell::lines::Lines;

/// Share of the time from which on waiting is worth a word.
const SHARE_MIN: f64 = 0.01;

/// `pressure, in the worst cell: some task waited for a processor 12 % (nvme/io_uring/qd32)`; nothing where all is below 1 %, or where the record does not say.
pub(crate) fn note(lines: &Lines<'_>, cells: &Cells<'_>, cores_online: Option<u32>) -> Option<String> {
    let waits = [
        worst(cells, "for a processor", |cell| cell.system.as_ref()?.pressure.cpu),
        worst(cells, "for I/O", |cell| cell.system.as_ref()?.pressure.io),
        worst(cells, "for memory", |cell| cell.system.as_ref()?.pressure.memory),
    ];
    let waits: Vec<String> = waits.into_iter().flatten().collect();
    let waits = (!waits.is_empty()).then(|| format!("some task waited {}", waits.join(", ")));
    let stolen = worst(cells, "stolen by the hypervisor", |cell| {
        cell.system.as_ref()?;
        stolen(lines.of_cell(&cell.cell.cell).iter().copied(), cores_online)
    });
    let parts: Vec<String> = waits.into_iter().chain(stolen).collect();
    (!parts.is_empty()).then(|| format!("pressure, in the worst cell: {}", parts.join("; ")))
}

fn worst(cells: &Cells<'_>, what: &str, of: impl Fn(&CellSummary) -> Option<f64>) -> Option<String> {
    let shares = cells.all.iter().filter_map(|cell| Some((of(cell)?, &cell.cell.cell)));
    let (share, cell) = shares.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (share > SHARE_MIN).then(|| format!("{what} {} ({cell})", percent(share)))
}

/// Share of the machine's processor time that the hypervisor took.
fn stolen<'a>(reps: impl Iterator<Item = &'a Rep>, cores_online: Option<u32>) -> Option<f64> {
    let (mut steal, mut machine) = (0.0, 0.0);
    for rep in reps {
        if let Some(ns) = rep.usage.steal_ns {
            steal += ns as f64;
            machine += rep.usage.wall_ns as f64 * f64::from(cores_online.unwrap_or(rep.usage.cores));
        }
    }
    (machine > 0.0).then(|| steal / machine)
}

#[cfg(test)]
mod tests {
    use record::Rep;

    use crate::fixture::{Builder, rep};
    use crate::summarise;

    fn notes(edit: impl Fn(&mut Rep)) -> Vec<String> {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.push(rep("c", 0, 1e9));
        builder.edit_reps("c", |rep| rep.system.process_read_bytes = Some(1_000_000_000));
        builder.edit_reps("c", edit);
        summarise(&builder.record()).notes
    }

    #[test]
    fn a_calm_machine_has_no_note() {
        let calm = |rep: &mut Rep| {
            rep.usage.psi_cpu_some_ns = Some(10_000_000);
            rep.usage.steal_ns = Some(0);
        };
        assert_eq!(notes(calm), Vec::<String>::new());
    }

    #[test]
    fn what_it_waited_for_is_told_with_the_worst_cell() {
        let busy = |rep: &mut Rep| {
            rep.usage.psi_cpu_some_ns = Some(120_000_000);
            rep.usage.psi_memory_some_ns = Some(1_000_000);
            rep.usage.steal_ns = Some(160_000_000);
        };
        let words = "pressure, in the worst cell: some task waited for a processor 12 % (c); \
                     stolen by the hypervisor 2.0 % (c)";
        assert_eq!(notes(busy), [words]);
        let old = |rep: &mut Rep| {
            busy(rep);
            rep.system = record::System::default();
        };
        assert_eq!(notes(old), Vec::<String>::new(), "a record of format 1.0 is told as it was");
    }
}
