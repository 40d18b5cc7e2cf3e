//! The answer as an object for programs.

use std::path::Path;

use analysis::{Summary, summarise};
use record::RunRecord;
use report::{ANSWER_SCHEMA, Paths, answer_json};
use serde_json::Value;

use crate::{records, trained};

/// The object, which is what the committed schema says.
pub(crate) fn object(summary: &Summary) -> Value {
    let paths = Paths { run: "results/golden".to_owned(), page: None };
    let object: Value = serde_json::from_str(&answer_json(summary, &[], None, &paths)).unwrap();
    let schema: Value = serde_json::from_str(ANSWER_SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mistakes: Vec<String> = validator.iter_errors(&object).map(|error| error.to_string()).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}\n{object:#}");
    object
}

#[test]
fn the_object_of_the_golden_record() {
    insta::assert_snapshot!(format!("{:#}", object(&records::golden_summary())));
}

/// Real runs: of files, of training jobs, of layouts, checkpoints, a search, variants.
fn committed() -> Vec<RunRecord> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let entries = std::fs::read_dir(results).unwrap().map(|entry| entry.unwrap().path());
    entries.filter_map(|folder| record::read_run(&folder).ok()).collect()
}

#[test]
fn every_run_gives_an_object_that_the_schema_allows() {
    let committed = committed();
    assert!(committed.len() > 5, "the curated runs were not found");
    let made = [1e-9, 1.0, 1e9].map(records::scaled);
    for record in committed.iter().chain(&made) {
        object(&summarise(record));
    }
    object(&trained::two_targets());
    let mut cut = records::golden();
    for lines in 0..cut.lines.len() {
        cut.lines.truncate(cut.lines.len() - 1);
        if lines % 7 == 0 {
            object(&summarise(&cut));
        }
    }
    cut.run.cells.clear();
    cut.run.need = record::Need::default();
    assert_eq!(object(&summarise(&cut))["need"], Value::Null);
}

#[test]
fn words_and_figures_are_those_of_the_answer() {
    for record in [records::golden(), records::scaled(0.5), records::scaled(2.0)] {
        let summary = summarise(&record);
        let object = object(&summary);
        for (verdict, told) in summary.verdicts.iter().zip(object["verdicts"].as_array().unwrap()) {
            assert_eq!(
                (&told["target"], &told["verdict"]),
                (&verdict.target.as_str().into(), &verdict.word().into())
            );
            assert_eq!(told["deciding"]["cell"].as_str(), verdict.cell());
            let low = &told["deciding"]["samples_per_s"]["low"];
            assert_eq!(
                low.as_f64(),
                verdict.of_reads().and_then(|reads| reads.samples_per_s).map(|interval| interval.low)
            );
            let [best, deciding] = ["best", "deciding"].map(|cell| &told[cell]);
            assert_eq!(best["cache"], deciding["cache"], "it is read alike");
        }
    }
}
