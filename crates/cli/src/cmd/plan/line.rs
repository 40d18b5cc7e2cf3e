//! The line of a need, for each size of samples and each share of writes in a plan.

use feed::Flow;
use feed::units::{format_bps, format_count, group_digits};
use plan::{DatasetSpec, Mix, Plan, Task};

/// `at 90 % busy (0.8 of 8 accelerators' worth idle): 12,857 samples/s = 1.47 GB/s at 114,660 B a sample`, and what is held
/// where samples are not of the need's size.
///
/// Of checkpoints what one host is held against, behind the reads or alone.
pub(crate) fn words(plan: &Plan) -> String {
    let need = &plan.need;
    let checkpoint = need.checkpoint.as_ref().map(|of| {
        let restore = of.restore_bps().map(|bps| format!(", restore {}", format_bps(bps)));
        format!(
            "checkpoints {}: write {}{}",
            of.host_words(),
            format_bps(of.write_bps()),
            restore.unwrap_or_default()
        )
    });
    let reads = need.asks_rate().then(|| of_reads(plan));
    reads.into_iter().chain(checkpoint).collect::<Vec<_>>().join("; ")
}

fn of_reads(plan: &Plan) -> String {
    let need = &plan.need;
    let kinds = kinds(plan);
    let idle = need.idle_at_line().map(|idle| format!(" ({idle})")).unwrap_or_default();
    let of_kind = |(bytes, share): &Kind| {
        let Some(bytes) = *bytes else { return "per sample, known once the folder is listed".to_owned() };
        let need = share.map_or_else(|| need.clone(), |share| need.of_mix(share, bytes));
        let written = share.map(|share| format!(", {:.0} % of it written", share * 100.0));
        format!(
            "{} samples/s = {} at {} B a sample{}",
            format_count(need.line_samples_per_s(bytes)),
            format_bps(need.line_bps(bytes)),
            group_digits(bytes as u64),
            written.unwrap_or_default(),
        )
    };
    let figures: Vec<String> = kinds.iter().map(of_kind).collect();
    let known: Vec<f64> = kinds.iter().filter_map(|(bytes, _)| *bytes).collect();
    let held = need.held(&known).map(|held| format!("; {held}")).unwrap_or_default();
    format!("{}{idle}: {}{held}", need.at_line(), figures.join("; "))
}

/// Bytes of a sample, `None` before the folder is listed; and the share of writes, where both are asked for.
type Kind = (Option<f64>, Option<f64>);

/// What has a line of its own, each once.
fn kinds(plan: &Plan) -> Vec<Kind> {
    let is_both = plan.need.flow() == Flow::Both;
    let mut kinds: Vec<Kind> = Vec::new();
    for (index, dataset) in plan.datasets.iter().enumerate() {
        let bytes = match dataset {
            DatasetSpec::Generate(generate) => Some(generate.sample_bytes),
            DatasetSpec::Existing(existing) => existing.sample_bytes,
        };
        let mut users = plan.cells.iter().filter(|cell| cell.dataset == index).peekable();
        let unused = users.peek().is_none().then_some(None);
        // A checkpoint that is read back is no part of what the line asks for.
        let fed = users.filter(|cell| !matches!(cell.task, Task::Restore(_)));
        let shares = fed.map(|cell| cell.task.mix().filter(|_| is_both).map(Mix::write_share));
        for share in shares.chain(unused) {
            let kind = (bytes.map(|bytes| bytes as f64), share);
            // Of a need of both, what reads or writes alone is held against nothing.
            if is_both == share.is_some() && !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
    }
    kinds
}
