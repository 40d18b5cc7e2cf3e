//! The figures of cells that look up, list or change names.

use record::{Rep, counter};

use crate::cell::context::Context;
use crate::cell::counters::{cpu_ns, per_s, sum};
use crate::cell::figures::client_shares;
use crate::cell::flag::Flag;
use crate::cell::latency::{Latency, Merged, Phase, phases};
use crate::cell::rate::Rate;
use crate::cell::repetitions::Repetitions;
use crate::cell::validity::{self, names_dropped};

/// What the repetitions of one cell of `stat`, `list` or `names` say together. It moves no bytes: there is no throughput,
/// no line, and no verdict can rest on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Operations {
    /// Repetitions that make a point.
    pub repetitions: u32,
    /// Operations per second that ended well inside the window.
    pub ops_per_s: Rate,
    /// Names found per second; absent for cells that do not list.
    pub entries_per_s: Option<Rate>,
    /// Latency of single operations.
    pub latency: Latency,
    /// Where the time of one goes; empty of operations that are one call.
    pub phases: Vec<Phase>,
    /// Operations that ended well.
    pub ops: u64,
    /// Processor time of this process by operation, nanoseconds.
    pub cpu_ns_per_op: Option<f64>,
    /// Share of the processor time that its threads may use.
    pub cpu_share: Option<f64>,
    /// Whether every repetition began without names and inodes in memory; absent where that is not known.
    pub names_dropped: Option<bool>,
    /// Reasons to doubt these figures, gravest first.
    pub flags: Vec<Flag>,
}

impl Operations {
    /// The figures of `reps`; `None` when no repetition makes a point.
    pub(crate) fn of(context: &Context<'_>, reps: &Repetitions<'_>) -> Option<Self> {
        let used = reps.used.as_slice();
        let ops_per_s = rate(used, counter::OPS)?;
        let merged = Merged::of(used);
        let latency = merged.latency();
        // Names move no bytes: the zero keeps a ceiling of copies from saying anything of them.
        let client = client_shares(context, used, ops_per_s.mean, 0.0);
        let mut flags = validity::flags(context, reps, client, &merged);
        if latency.unreadable > 0 {
            flags.push(Flag::NoHistogram { repetitions: latency.unreadable });
        }
        let ops = sum(used, counter::OPS);
        Some(Self {
            repetitions: used.len() as u32,
            ops_per_s,
            entries_per_s: (context.cell.operation == feed::Operation::List)
                .then(|| rate(used, counter::ENTRIES))
                .flatten(),
            latency,
            phases: phases(&merged),
            ops,
            cpu_ns_per_op: (ops > 0).then(|| cpu_ns(used) / ops as f64),
            cpu_share: client.cpu,
            names_dropped: names_dropped(context.cell, used),
            flags,
        })
    }
}

fn rate(used: &[&Rep], name: &str) -> Option<Rate> {
    Rate::of(&used.iter().map(|rep| per_s(rep, name)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use record::counter;

    use crate::fixture::{Builder, rep};
    use crate::next_look;
    use crate::{CellSummary, summarise};

    fn metadata(operation: &str) -> Builder {
        let mut builder = Builder::new();
        builder.cell("c", "disk", 8);
        builder.edit_cell("c", |cell| cell.operation = operation.into());
        for number in 0..3 {
            let mut one = rep("c", number, 1e9);
            one.counters.remove(counter::BYTES);
            one.counters.insert(counter::ENTRIES.to_owned(), 500_000 + 100_000 * u64::from(number));
            builder.push(one);
        }
        builder
    }

    fn cell(builder: &Builder) -> CellSummary {
        summarise(&builder.record()).cells[0].clone()
    }

    #[test]
    fn names_have_operations_per_second_and_neither_line_nor_throughput() {
        let stat = cell(&metadata("stat"));
        let operations = stat.operations().unwrap();
        assert!((operations.ops_per_s.mean - 1e4).abs() < 1e-9 && operations.ops_per_s.interval.is_some());
        assert_eq!((operations.latency.count, operations.entries_per_s), (30_000, None));
        assert!(stat.figures().is_none() && stat.line.is_none());
    }

    #[test]
    fn a_listing_counts_the_names_it_found() {
        let list = cell(&metadata("list"));
        assert!((list.operations().unwrap().entries_per_s.unwrap().mean - 6e5).abs() < 1e-6);
    }

    #[test]
    fn no_verdict_rests_on_names() {
        let record = metadata("stat").record();
        assert_eq!(next_look(&record), None);
        let summary = summarise(&record);
        assert!(summary.verdicts.is_empty() && summary.panels.is_empty());
        assert_eq!(summary.unjudged.len(), 1);
        let operations = vec!["stat".to_owned()];
        assert_eq!(summary.unjudged[0].reason, crate::NoVerdict::NamesAlone { operations });
    }
}
