//! What else the machine was short of while it measured.

use crate::cell::cell_summary::CellSummary;
use crate::cell::cells::Cells;
use crate::cell::crowd;
use crate::cell::lines::Lines;

// A percent of waiting moves no rate that is judged at a few.
/// Share of the time from which on waiting is worth a word.
const SHARE_MIN: f64 = 0.01;

/// What the machine was short of, each in the cell in which it was most; absent where that is too little for a word.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pressures {
    /// Some task waited for a processor.
    pub cpu: Option<Pressed>,
    /// Some task waited for I/O.
    pub io: Option<Pressed>,
    /// Some task waited for memory.
    pub memory: Option<Pressed>,
    /// The hypervisor took processor time.
    pub stolen: Option<Pressed>,
}

/// A cell in which the machine was short of something.
#[derive(Debug, Clone, PartialEq)]
pub struct Pressed {
    /// Its name.
    pub cell: String,
    /// Share of the time, 0 to 1.
    pub share: f64,
}

/// `None` where it was short of nothing, or where the record does not say.
pub(crate) fn of_run(lines: &Lines<'_>, cells: &Cells<'_>, cores_online: Option<u32>) -> Option<Pressures> {
    let found = Pressures {
        cpu: worst(cells, |cell| cell.system.as_ref()?.pressure.cpu),
        io: worst(cells, |cell| cell.system.as_ref()?.pressure.io),
        memory: worst(cells, |cell| cell.system.as_ref()?.pressure.memory),
        stolen: worst(cells, |cell| {
            // Records of format 1.0 have no figures of the machine, and are told as they were.
            cell.system.as_ref()?;
            crowd::stolen_from_machine(lines.of_cell(&cell.cell.cell).iter().copied(), cores_online)
        }),
    };
    (found != Pressures::default()).then_some(found)
}

fn worst(cells: &Cells<'_>, of: impl Fn(&CellSummary) -> Option<f64>) -> Option<Pressed> {
    let shares = cells.all.iter().filter_map(|cell| Some((of(cell)?, &cell.cell.cell)));
    let (share, cell) = shares.max_by(|a, b| a.0.total_cmp(&b.0))?;
    // One line for the worst cell: pressure is the machine's, and forty cells of a run tell the same of it.
    (share > SHARE_MIN).then(|| Pressed { cell: cell.clone(), share })
}

#[cfg(test)]
mod tests {
    use record::Rep;

    use super::*;
    use crate::fixture::{Builder, rep};
    use crate::{Note, summarise};

    fn notes(edit: impl Fn(&mut Rep)) -> Vec<Note> {
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
        assert_eq!(notes(calm), []);
    }

    #[test]
    fn what_it_waited_for_is_told_with_the_worst_cell() {
        let busy = |rep: &mut Rep| {
            rep.usage.psi_cpu_some_ns = Some(120_000_000);
            rep.usage.psi_memory_some_ns = Some(1_000_000);
            rep.usage.steal_ns = Some(160_000_000);
        };
        let worst = |share| Some(Pressed { cell: "c".to_owned(), share });
        let expected = Pressures { cpu: worst(0.12), stolen: worst(0.02), ..Pressures::default() };
        assert_eq!(notes(busy), [Note::Pressure(expected)]);
        let old = |rep: &mut Rep| {
            busy(rep);
            rep.system = record::System::default();
        };
        assert_eq!(notes(old), [], "a record of format 1.0 is told as it was");
    }
}
