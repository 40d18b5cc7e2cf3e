//! Panels and curves of throughput against depth.

use analysis::{Caching, Curve, Distinction, Panel, Pieces, Shape, TierSize, Treatment, WayApart};
use feed::{Operation, Words as _};
use record::Axis;

use super::form;

/// `114,660 B samples, 128 KiB blocks, shuffled_epoch, bypass`.
pub(crate) fn conditions(panel: &Panel) -> String {
    said(&parts(panel))
}

/// The same without the form, for a place that has said it.
pub(super) fn conditions_beside_form(panel: &Panel) -> String {
    let [layout, samples, _form, rest @ ..] = parts(panel);
    format!("{}, {}", said(&[layout, samples]), said(&rest))
}

/// The same, with several treatments of the page cache apart.
pub(crate) fn conditions_in_lines(panel: &Panel) -> Vec<String> {
    let [read @ .., page_cache, tier] = parts(panel);
    match panel.treatments.len() {
        0 | 1 => vec![said(&[said(&read), page_cache, tier])],
        _ => vec![said(&read), page_cache],
    }
}

/// How samples lie, their size, their form, what is done, in which order, and which caches lie before it. Each has its place,
/// and is empty where there is nothing to say.
pub(crate) fn parts(panel: &Panel) -> [String; 7] {
    let samples = panel.sample_bytes.map_or_else(|| "samples of unknown size".to_owned(), samples);
    let [page_cache, tier] = match treatments(&panel.treatments) {
        Some(all) => [all, String::new()],
        None => caches(&panel.caching),
    };
    [
        panel.layout.clone().unwrap_or_default(),
        samples,
        form::all(&panel.form),
        pieces(&panel.pieces),
        panel.access.clone(),
        page_cache,
        tier,
    ]
}

fn said(parts: &[String]) -> String {
    let parts = parts.iter().map(String::as_str).filter(|words| !words.is_empty());
    parts.collect::<Vec<_>>().join(", ")
}

/// What sets one way of reading apart from another: `256 KiB samples, random`.
pub(crate) fn way(apart: &WayApart) -> String {
    let pieces = apart.pieces.as_ref().map(pieces);
    let parts = [
        apart.layout.clone(),
        apart.sample_bytes.map(samples),
        Some(form::all(&apart.form)),
        pieces,
        apart.access.clone(),
        apart.caching.as_ref().map(caching),
        apart.fetches.map(|fetches| format!("{} of each reader", feed::counted_noun(fetches.into(), "read"))),
    ];
    said(&parts.map(Option::unwrap_or_default))
}

/// `114,660 B samples`.
fn samples(bytes: f64) -> String {
    format!("{} samples", feed::format_bytes(bytes.round() as u64))
}

/// `128 KiB blocks`, `files in 128 KiB pieces`, `writes of 128 KiB blocks`, `128 KiB blocks, 30 % of them written`.
fn pieces(of: &Pieces) -> String {
    let block = feed::format_bytes(of.block_bytes);
    match (Operation::of_word(&of.operation), of.write_percent) {
        (Some(Operation::ReadFile), _) => format!("files in {block} pieces"),
        (Some(Operation::WriteFile), _) => format!("files written anew in {block} pieces"),
        (Some(Operation::Write), _) => format!("writes of {block} blocks"),
        (_, Some(percent)) => format!("{block} blocks, {percent} % of them written"),
        _ => format!("{block} blocks"),
    }
}

/// `bypass`, `cold, lru tier of 10 GB`.
fn caching(of: &Caching) -> String {
    said(&caches(of))
}

/// The treatment of the page cache, and a tier where there is one.
fn caches(of: &Caching) -> [String; 2] {
    let tier = of.tier.as_ref().map(|TierSize { capacity_bytes, policy }| {
        format!("{policy} tier of {}", feed::format_bytes(*capacity_bytes))
    });
    [of.page_cache.to_string(), tier.unwrap_or_default()]
}

/// `from storage: bypass (io_uring, nfs3), cold (mmap)`, by targets where an engine read in both ways; nothing for one
/// treatment.
fn treatments(all: &[Treatment]) -> Option<String> {
    let shares = |one: &Treatment| {
        let others = all.iter().filter(|other| other.caching != one.caching);
        others.flat_map(|other| &other.engines).any(|engine| one.engines.contains(engine))
    };
    // By engines where they tell the treatments apart: an engine is named in every row, targets may be many.
    let by_target = all.iter().any(shares);
    let words = all.iter().map(|one| {
        let names = if by_target { &one.targets } else { &one.engines };
        format!("{} ({})", caching(&one.caching), names.join(", "))
    });
    (all.len() > 1).then(|| format!("from storage: {}", words.collect::<Vec<_>>().join(", ")))
}

/// `flat from 32: bandwidth-bound`.
pub(crate) fn shape(of: Shape) -> String {
    match of {
        Shape::Flat { from } => format!("flat from {from}: bandwidth-bound"),
        Shape::Falling { beyond } => format!("falls beyond depth {beyond}: contention, not bandwidth"),
        Shape::Proportional { latency_ns, depth_needed } => {
            let latency = feed::format_duration_ns(latency_ns as u64);
            let needed = depth_needed.map(|depth| feed::format_count(depth.ceil()));
            let needed = needed.map(|depth| format!("; the line needs depth {depth} at that"));
            format!("latency-bound at {latency} per read{}", needed.unwrap_or_default())
        }
        Shape::Rising { deepest } => format!("still rising at the deepest, {deepest}: try more depth"),
    }
}

/// `nvme io_uring`, with what else distinguishes it.
pub(crate) fn label(curve: &Curve) -> String {
    // A target without a title is called by its name, which may be that of its engine.
    let name = if curve.title == curve.engine {
        curve.title.clone()
    } else {
        format!("{} {}", curve.title, curve.engine)
    };
    std::iter::once(name).chain(curve.distinctions.iter().map(distinction)).collect::<Vec<_>>().join(", ")
}

/// What distinguishes a curve beside its target and engine: `2 streams, stand-in`; often empty.
pub(crate) fn distinctions(curve: &Curve) -> String {
    curve.distinctions.iter().map(distinction).collect::<Vec<_>>().join(", ")
}

/// What reads pass that go through a tier of feedline's own.
pub(crate) const THROUGH_A_CACHE: &str = "through a cache";

fn distinction(of: &Distinction) -> String {
    match of {
        Distinction::Along(words) => match words.axis() {
            // The engine beside it says whose advice it is.
            Axis::Advice => words.value.clone(),
            // Columns are narrow: what differs comes first.
            Axis::Pages => format!("{} pages", words.value),
            Axis::Durability => format!("kept: {}", words.value),
            _ => format!("{} {}{}", words.name, words.value, words.unit),
        },
        Distinction::Streams(streams) => feed::counted_noun((*streams).into(), "stream"),
        Distinction::Threads(threads) => format!("{threads} threads"),
        Distinction::ThroughCache => THROUGH_A_CACHE.to_owned(),
        Distinction::StandIn => "stand-in".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_says_what_it_means() {
        let said = [
            (Shape::Flat { from: 32 }, "flat from 32: bandwidth-bound"),
            (Shape::Falling { beyond: 16 }, "falls beyond depth 16: contention, not bandwidth"),
            (
                Shape::Proportional { latency_ns: 33e6, depth_needed: Some(620.2) },
                "latency-bound at 33 ms per read; the line needs depth 621 at that",
            ),
            (Shape::Proportional { latency_ns: 33e6, depth_needed: None }, "latency-bound at 33 ms per read"),
            (Shape::Rising { deepest: 512 }, "still rising at the deepest, 512: try more depth"),
        ];
        for (of, expected) in said {
            assert_eq!(shape(of), expected);
        }
    }
}
