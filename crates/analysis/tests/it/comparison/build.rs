//! Runs for comparisons, built from the head of the golden record.

use analysis::{CellSample, RepSample, RunSample};
use feed::Compared;
use record::{Run, Variant};

/// Values of one repetition, in the order of `Compared::ALL`.
pub(super) type Values = [f64; 5];

/// The head of a run with so many cells on one target.
pub(super) fn head(cells: usize) -> Run {
    let mut run = crate::golden::read().run;
    let cell = run.cells[0].clone();
    run.cells = (0..cells)
        .map(|index| record::Cell { cell: format!("nvme/io_uring/{index}"), ..cell.clone() })
        .collect();
    run.targets.retain(|target| target.name == "nvme");
    run
}

/// A run with these repetitions of each cell.
pub(super) fn sample(head: &Run, id: &str, cells: &[Vec<Values>]) -> RunSample {
    let mut run = head.clone();
    (run.run_id, run.started) = (id.to_owned(), id.to_owned());
    let reps = |values: &Vec<Values>| {
        let of = |(rep, values): (usize, &Values)| RepSample {
            rep: rep as u32,
            round: rep as u32,
            values: Compared::ALL.into_iter().zip(*values).collect(),
        };
        values.iter().enumerate().map(of).collect()
    };
    let of_cell = |(index, values)| CellSample { index, reps: reps(values), ..CellSample::default() };
    let cells = cells.iter().enumerate().map(of_cell).collect();
    RunSample { run, env: record::Environment::default(), cells }
}

/// Makes it a variant of the one group that these tests have.
pub(super) fn variant(mut sample: RunSample, name: &str, number: u32) -> RunSample {
    let (name, group) = (name.to_owned(), "20261121T044123Z-a-a".to_owned());
    sample.run.variant = Some(Variant { name, group, number, settings: Vec::new() });
    sample
}
