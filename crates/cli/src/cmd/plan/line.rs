//! The line of a need, for each size of samples that a plan reads.

use feed::units::{format_bps, format_count, group_digits};
use plan::{DatasetSpec, Plan, Task};

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
    let sizes = sizes(plan);
    let idle = need.idle_at_line().map(|idle| format!(" ({idle})")).unwrap_or_default();
    let of_size = |bytes: &Option<f64>| match bytes {
        Some(bytes) => format!(
            "{} samples/s = {} at {} B a sample",
            format_count(need.line_samples_per_s(*bytes)),
            format_bps(need.line_bps(*bytes)),
            group_digits(*bytes as u64),
        ),
        None => "per sample, known once the folder is listed".to_owned(),
    };
    let figures: Vec<String> = sizes.iter().map(of_size).collect();
    let known: Vec<f64> = sizes.iter().flatten().copied().collect();
    let held = need.held(&known).map(|held| format!("; {held}")).unwrap_or_default();
    let written = |bps| format!("; and {} written at once", format_bps(bps * need.utilization));
    let written = need.write_bps.map(written).unwrap_or_default();
    format!("{}{idle}: {}{held}{written}", need.at_line(), figures.join("; "))
}

/// The sizes of samples that are read, each once; `None` is not known before the folder is listed.
fn sizes(plan: &Plan) -> Vec<Option<f64>> {
    // A checkpoint that is read back is no part of what the line asks for.
    let fed = |index: &usize| {
        let mut users = plan.cells.iter().filter(|cell| cell.dataset == *index).peekable();
        users.peek().is_none() || users.any(|cell| !matches!(cell.task, Task::Restore(_)))
    };
    let bytes = |index: usize| match &plan.datasets[index] {
        DatasetSpec::Generate(generate) => Some(generate.sample_bytes),
        DatasetSpec::Existing(existing) => existing.sample_bytes,
    };
    let mut sizes: Vec<Option<f64>> = Vec::new();
    for size in (0..plan.datasets.len()).filter(fed).map(|index| bytes(index).map(|bytes| bytes as f64)) {
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    sizes
}
