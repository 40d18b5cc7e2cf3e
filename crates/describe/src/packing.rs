//! How samples lie in their files, in words.

use feed::units::{counted_noun, format_bytes, group_digits};
use plan::{Codec, DatasetSpec, Existing, Generate, Layout, Packing};
use prepare::Prepared;

/// What is recorded of a dataset's packing, in a fixed order.
pub(crate) fn facts(spec: &DatasetSpec, prepared: &Prepared) -> Vec<(&'static str, String)> {
    let mut facts = match spec {
        DatasetSpec::Generate(Generate { packing, compressible_percent, .. }) => {
            let mut facts = packing.as_ref().map(of_packing).unwrap_or_default();
            if *compressible_percent > 0 {
                facts.push(("compressibility", format!("{compressible_percent} %")));
            }
            facts
        }
        DatasetSpec::Existing(existing) => of_existing(existing),
    };
    if let Some(digest) = &prepared.order_digest {
        // Never the names: a list has megabytes of them.
        let reads = counted_noun(prepared.data.sample_count(), "read");
        let files = counted_noun(u64::from(prepared.data.objects().count()), "file");
        facts.push(("order", format!("{reads} of {files}, {digest}")));
    }
    if let Some(counted) = prepared.counted_shards {
        let shards = prepared.data.objects().count();
        facts.push(("samples", format!("estimated from {counted} of {shards} shards")));
    }
    if let Some((object, format)) = &prepared.foreign {
        facts.push((record::READ_WHOLE, format!("{object} is {}", format.name())));
    }
    if prepared.other_files > 0 {
        facts.push(("other files", counted_noun(prepared.other_files, "file") + " left out: no shards"));
    }
    facts
}

fn of_packing(packing: &Packing) -> Vec<(&'static str, String)> {
    let mut facts = vec![("shard size", format_bytes(packing.shard_bytes))];
    match packing.layout {
        Layout::WebDataset => facts.push(("members", packing.members.to_string())),
        Layout::Parquet => facts.extend([
            ("columns", format!("{} of {} read", packing.columns_read, packing.columns)),
            ("row group size", format_bytes(packing.row_group_bytes)),
        ]),
        _ => {}
    }
    if packing.codec != Codec::None {
        facts.push(("codec", packing.codec.name().to_owned()));
    }
    facts
}

fn of_existing(existing: &Existing) -> Vec<(&'static str, String)> {
    let columns = Some(existing.columns.join(", ")).filter(|columns| !columns.is_empty());
    let shards = existing.shards.clone();
    [("shards", shards), ("columns", columns)]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// What a dataset of shards holds: `40 webdataset shards with 35,714 samples of 116,224 B as stored (1.4 % over the
/// 114,660 B of the need)`; `None` for files.
pub fn words(prepared: &Prepared, needed_bytes: Option<f64>) -> Option<String> {
    if prepared.layout == Layout::Files {
        return None;
    }
    let samples = counted_noun(prepared.data.sample_count(), "sample");
    let about = if prepared.counted_shards.is_some() { "about " } else { "" };
    let over = needed_bytes.map(|needed| overhead(prepared.sample_bytes, needed)).unwrap_or_default();
    let shards = counted_noun(
        u64::from(prepared.data.objects().count()),
        &format!("{} shard", prepared.layout.name()),
    );
    let bytes = group_digits(prepared.sample_bytes.round() as u64);
    Some(format!("{shards} with {about}{samples} of {bytes} B as stored{over}"))
}

/// By how much the stored bytes differ from those of a sample.
fn overhead(stored: f64, needed: f64) -> String {
    let share = (stored / needed - 1.0) * 100.0;
    let needed = group_digits(needed.round() as u64);
    let word = if share < 0.0 { "less than" } else { "over" };
    format!(" ({:.1} % {word} the {needed} B of the need)", share.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(packing: Packing) -> (DatasetSpec, Prepared) {
        let spec = DatasetSpec::Generate(Generate {
            samples: 10,
            sample_bytes: 1000,
            packing: Some(packing),
            compressible_percent: 50,
            ..Generate::NONE
        });
        (spec.clone(), Prepared::imagined(&spec).expect("it can be generated"))
    }

    const PACKING: Packing = Packing {
        layout: Layout::WebDataset,
        shard_bytes: 5000,
        members: 2,
        codec: Codec::None,
        columns: 1,
        columns_read: 1,
        row_group_bytes: 5000,
    };

    #[test]
    fn shards_are_said_with_what_they_store() {
        let (spec, prepared) = prepared(PACKING);
        // 1,000 B are padded to 1,024, behind a header, and beside a label in a block of its own with its header. Two
        // empty blocks end each shard.
        assert_eq!(
            words(&prepared, Some(1000.0)).unwrap(),
            "2 webdataset shards with 10 samples of 2,765 B as stored (176.5 % over the 1,000 B of the need)"
        );
        let facts: Vec<_> = facts(&spec, &prepared).into_iter().map(|(name, _)| name).collect();
        assert_eq!(facts, ["shard size", "members", "compressibility"]);
    }

    #[test]
    fn an_estimate_and_files_left_out_are_said() {
        let (_, prepared) = prepared(PACKING);
        let prepared = Prepared { counted_shards: Some(1), other_files: 3, ..prepared };
        let spec = DatasetSpec::Existing(Existing::any(None));
        assert_eq!(
            facts(&spec, &prepared),
            [
                ("samples", "estimated from 1 of 2 shards".to_owned()),
                ("other files", "3 files left out: no shards".to_owned())
            ]
        );
        assert!(words(&prepared, None).unwrap().contains("about 10 samples"));
    }
}
