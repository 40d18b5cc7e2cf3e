//! Each need of a list by itself.

use record::{Need, Run, RunRecord};

use super::Verdict;

/// Adds to the verdicts on all that is asked for at once what each need would be told if it alone were asked for.
///
/// A storage that does not do for two jobs may do for one of them. Where both read and write, what did both at once says nothing of
/// either alone: such a need is told what cells of its own kind say, and nothing without any.
pub(crate) fn judge_alone(record: &RunRecord, verdicts: &mut [Verdict]) {
    let asks_rate = |need: &&Need| need.samples_per_s.or(need.bytes_per_s).is_some();
    let parts: Vec<&Need> = record.run.need.parts.iter().filter(asks_rate).take(feed::NEEDS_MAX).collect();
    if parts.len() < 2 {
        return;
    }
    let judged = verdicts.iter().any(|verdict| !verdict.demo);
    for part in parts.into_iter().filter(|_| judged) {
        // The same record with another need: whatever a verdict takes into account it takes into account here.
        let run = Run { need: Need { parts: Vec::new(), ..part.clone() }, ..record.run.clone() };
        let of_part = crate::summarise(&RunRecord { run, ..record.clone() });
        for one in of_part.verdicts {
            let Some(reads) = one.reads.filter(|reads| reads.samples_per_s.is_some()) else { continue };
            if let Some(verdict) = verdicts.iter_mut().find(|all| all.target == one.target && !all.demo) {
                verdict.alone.push(reads);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use feed::Judgement::{Feeds, Starves};
    use record::Need;

    use crate::fixture::{Builder, confirmed_at, need_in_bytes};
    use crate::summarise;

    /// Two needs that read these shares of the line, and the judgements where that share of their sum was read.
    fn judged(parts: [f64; 2], of_line: f64) -> (feed::Judgement, Vec<(String, feed::Judgement)>) {
        let mut builder = confirmed_at(&[of_line, of_line + 0.01, of_line + 0.02]);
        // The builder's own need is the sum of these.
        let sum = builder.run.need.clone();
        let part = |share: f64| Need {
            label: format!("{share} of it"),
            utilization: sum.utilization,
            ..need_in_bytes(share * Builder::LINE_BPS / sum.utilization)
        };
        builder.run.need.parts = parts.map(part).to_vec();
        let verdict = summarise(&builder.record()).verdicts.remove(0);
        let alone = verdict.alone.iter().map(|one| (one.need.clone(), one.judgement));
        (verdict.judgement(), alone.collect())
    }

    #[test]
    fn a_storage_that_starves_all_needs_at_once_may_feed_each_of_them() {
        let told = |large, small| vec![("0.7 of it".to_owned(), large), ("0.3 of it".to_owned(), small)];
        assert_eq!(judged([0.7, 0.3], 1.1), (Feeds, told(Feeds, Feeds)));
        assert_eq!(judged([0.7, 0.3], 0.8), (Starves, told(Feeds, Feeds)));
        assert_eq!(judged([0.7, 0.3], 0.5), (Starves, told(Starves, Feeds)));
        assert_eq!(judged([0.7, 0.3], 0.2), (Starves, told(Starves, Starves)));
    }

    #[test]
    fn what_reads_and_writes_at_once_says_nothing_of_either_alone() {
        let mut builder = confirmed_at(&[1.1, 1.11, 1.12]);
        let reads = need_in_bytes(0.7 * Builder::LINE_BPS);
        let writes = Need { writes: true, ..need_in_bytes(0.3 * Builder::LINE_BPS) };
        let parts = vec![reads.clone(), writes];
        builder.run.need = Need { write_bytes_per_s: Some(0.3 * Builder::LINE_BPS), parts, ..reads };
        builder.edit_cell("c", |cell| {
            cell.operation = "mix".into();
            cell.durability = Some("data".into());
            cell.write_percent = Some(30);
        });
        let summary = summarise(&builder.record());
        assert_eq!((summary.verdicts.len(), summary.verdicts[0].alone.len()), (1, 0));
    }

    #[test]
    fn one_need_is_told_once() {
        let mut builder = confirmed_at(&[1.1, 1.11, 1.12]);
        let checkpoints = Need { checkpoint: None, bytes_per_s: None, ..need_in_bytes(1.0) };
        builder.run.need.parts = vec![Need { parts: Vec::new(), ..builder.run.need.clone() }, checkpoints];
        assert!(summarise(&builder.record()).verdicts[0].alone.is_empty());
    }

    #[test]
    fn a_record_of_needs_within_needs_is_read_one_level_deep() {
        let mut builder = confirmed_at(&[1.1, 1.11, 1.12]);
        for _ in 0..6 {
            let need = builder.run.need.clone();
            builder.run.need.parts = vec![need; 2];
        }
        assert_eq!(summarise(&builder.record()).verdicts[0].alone.len(), 2);
    }
}
