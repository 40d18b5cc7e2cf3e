//! A record as text.

use std::fmt::Write as _;

use crate::figures::Spread;
use crate::record::{Record, TargetMet};

/// The table of one record, for a terminal.
pub(crate) fn terminal(record: &Record) -> String {
    let quick = if record.quick { ", a quick look" } else { "" };
    let mut text = format!("\n{}  {}\n", record.case, record.about);
    let _ = writeln!(
        text,
        "{} rounds of {} s and {} s{quick}; {} cores, Linux {}",
        record.rounds.len(),
        record.lengths.short_s,
        record.lengths.long_s,
        record.host.cores,
        record.host.kernel
    );
    let _ = writeln!(
        text,
        "{:12} {:>26} {:>12} {:>26} {:>12}",
        "", "CPU ns/op [min..max]", "ops/s", "MB/s [min..max]", "KiB/request"
    );
    for figures in &record.summary.figures {
        let _ = writeln!(
            text,
            "{:12} {:>26} {:>12} {:>26} {:>12}",
            figures.contestant,
            ranged(figures.cpu_ns_per_op, 0),
            middle(figures.ops_per_s, 0),
            ranged(figures.mb_per_s, 0),
            middle(figures.device_kib_per_request, 1),
        );
    }
    for ratio in &record.summary.ratios {
        let name = format!("feedline / {}", ratio.against);
        let _ = writeln!(text, "{name:24} {:12} {}", words(&ratio.measure), ranged(Some(ratio.spread), 2));
    }
    for target in &record.summary.targets {
        let _ = writeln!(text, "target  {}", told(target));
    }
    for contestant in record.contestants.iter().filter(|contestant| !contestant.variant.is_empty()) {
        let _ = writeln!(text, "ran     {}: {}", contestant.name, contestant.variant.join("; "));
    }
    for warning in &record.summary.warnings {
        let _ = writeln!(text, "warning {warning}");
    }
    text
}

/// Records as one Markdown table: a row for each target.
pub(crate) fn markdown(records: &[Record]) -> String {
    let mut text = String::from("| case | figure | feedline | peer | ratio [min..max] | target | |\n");
    text.push_str("|---|---|---|---|---|---|---|\n");
    for record in records {
        for target in &record.summary.targets {
            let _ = writeln!(text, "{}", row(record, target));
        }
    }
    text
}

fn row(record: &Record, target: &TargetMet) -> String {
    let figure = |name: &str| {
        let figures = record.summary.figures.iter().find(|figures| figures.contestant == name);
        let figures = figures.map(|figures| match target.measure.as_str() {
            "cpu_per_op" => middle(figures.cpu_ns_per_op, 0),
            _ => middle(figures.mb_per_s, 0),
        });
        figures.unwrap_or_else(|| "-".to_owned())
    };
    let ratio = record
        .summary
        .ratios
        .iter()
        .find(|ratio| ratio.against == target.against && ratio.measure == target.measure)
        .map(|ratio| ratio.spread);
    let unit = if target.measure == "cpu_per_op" { "CPU ns per operation" } else { "MB/s" };
    let quick = if record.quick { " (quick)" } else { "" };
    format!(
        "| {}{quick} | {unit} | {} | {}: {} | {} | {} | {} |",
        record.case,
        figure(crate::duel::FEEDLINE),
        target.against.trim_start_matches("fio "),
        figure(&target.against),
        ranged(ratio, 3),
        target.bound,
        verdict(target)
    )
}

fn told(target: &TargetMet) -> String {
    let ratio = target.ratio.map_or_else(|| "unknown".to_owned(), |ratio| format!("{ratio:.3}"));
    let measure = words(&target.measure);
    format!("{measure} {} of {}: {ratio} {}", target.bound, target.against, verdict(target))
}

fn verdict(target: &TargetMet) -> &'static str {
    if target.met { "met" } else { "MISSED" }
}

fn words(measure: &str) -> &str {
    match measure {
        "cpu_per_op" => "CPU per op",
        other => other,
    }
}

fn middle(spread: Option<Spread>, digits: usize) -> String {
    spread.map_or_else(|| "-".to_owned(), |spread| format!("{:.digits$}", spread.median))
}

fn ranged(spread: Option<Spread>, digits: usize) -> String {
    spread.map_or_else(
        || "-".to_owned(),
        |spread| format!("{:.digits$} [{:.digits$}..{:.digits$}]", spread.median, spread.min, spread.max),
    )
}
