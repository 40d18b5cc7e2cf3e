//! Records that a test builds, held to those on disk.

use std::path::Path;

use record::RunRecord;

/// Holds the record in `dir` to the one that a test builds; with `FEEDLINE_BLESS` set it is written anew first.
pub(crate) fn assert_on_disk(dir: &Path, built: &RunRecord, scenario: &str) {
    if std::env::var_os("FEEDLINE_BLESS").is_some() {
        let _ = std::fs::remove_dir_all(dir);
        let redactor = record::Redactor::new(Vec::new());
        let mut writer = record::RunWriter::create(dir, &built.run, scenario, &built.env, redactor)
            .expect("the fixture can be written");
        for line in &built.lines {
            writer.append(line).expect("the fixture can be written");
        }
    }
    assert_eq!(record::read_run(dir).expect("the golden record is readable"), *built);
}
