//! The arguments of a PyTorch `DataLoader` with the reason for each.

use analysis::{DataLoader, MeasuredDecoding};
use feed::{Judgement, counted_noun, format_bytes, format_duration_ns};

/// `num_workers=8: readers of each accelerator`, in the order to be written. What follows from them, and what was not
/// measured, comes last, without a value.
pub(crate) fn arguments(loader: &DataLoader) -> Vec<String> {
    let DataLoader { readers, prefetch, .. } = *loader;
    let fed = match loader.judgement {
        Some(Judgement::Feeds) => ", with which it is fed",
        Some(Judgement::Starves) => ", the best of those measured, with which it starves",
        Some(Judgement::Uncertain) | None => "",
    };
    let decoding = match loader.decoding {
        MeasuredDecoding::No => "a lower bound: decode was not measured",
        MeasuredDecoding::StatedCost => "decode was a stated cost, not work",
        MeasuredDecoding::Yes => "decode was measured with it",
    };
    let mut lines = Vec::new();
    if prefetch == 0 {
        lines.push(format!("num_workers=0: batches were fetched once they were waited for{fed}; {decoding}"));
    } else {
        lines.push(format!("num_workers={readers}: readers of each accelerator{fed}; {decoding}"));
        let batches = if prefetch == 1 { "batch" } else { "batches" };
        // PyTorch counts batches ahead by worker; here they are counted by accelerator.
        let (factor, over) = (prefetch.div_ceil(readers), counted_noun(readers.into(), "reader"));
        lines.push(format!("prefetch_factor={factor}: {prefetch} {batches} ahead over {over}, rounded up"));
        lines.push(format!("persistent_workers=True: {}", persistent(loader.startup_ns)));
    }
    if loader.fetches > 1 {
        let fetches = loader.fetches;
        lines.push(format!("reads at once in each reader: {fetches}, by threads or requests of the dataset's own; no argument"));
    }
    // Without a value: what was not measured is not recommended.
    lines.push("pin_memory: left to you: copies to accelerators are not played".to_owned());
    lines.extend(loader.ahead_bytes.map(|bytes| {
        let bytes = format_bytes(bytes);
        format!("memory: {bytes} of samples as stored are held ahead on this client; decoded ones take more")
    }));
    lines
}

fn persistent(startup_ns: u64) -> String {
    if startup_ns == 0 {
        return "readers start once, not in each epoch: no time to start was played".to_owned();
    }
    let startup = format_duration_ns(startup_ns);
    format!("readers start once; the {startup} that they took to start were played before each epoch")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_argument_stands_with_its_reason() {
        let loader = DataLoader {
            readers: 8,
            fetches: 1,
            prefetch: 12,
            startup_ns: 0,
            decoding: MeasuredDecoding::No,
            judgement: Some(Judgement::Feeds),
            ahead_bytes: Some(1_200_000_000),
        };
        assert_eq!(
            arguments(&loader),
            [
                "num_workers=8: readers of each accelerator, with which it is fed; a lower bound: decode was not measured",
                "prefetch_factor=2: 12 batches ahead over 8 readers, rounded up",
                "persistent_workers=True: readers start once, not in each epoch: no time to start was played",
                "pin_memory: left to you: copies to accelerators are not played",
                "memory: 1.2 GB of samples as stored are held ahead on this client; decoded ones take more",
            ]
        );
        let in_turn = DataLoader {
            prefetch: 0,
            decoding: MeasuredDecoding::Yes,
            judgement: None,
            ahead_bytes: None,
            ..loader
        };
        assert_eq!(
            arguments(&in_turn),
            [
                "num_workers=0: batches were fetched once they were waited for; decode was measured with it",
                "pin_memory: left to you: copies to accelerators are not played",
            ]
        );
    }
}
