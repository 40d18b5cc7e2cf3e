//! Records that a test builds, held to those on disk.

use std::path::Path;

use record::RunRecord;

/// Holds the record in `dir` to the one that a test builds; with `FEEDLINE_BLESS` set it is written anew first, file by
/// file, since other tests read it at the same time.
pub(crate) fn assert_on_disk(dir: &Path, built: &RunRecord, scenario: &str) {
    if std::env::var_os("FEEDLINE_BLESS").is_some() {
        write(dir, built, scenario).expect("the fixture can be written");
    }
    assert_eq!(record::read_run(dir).expect("the golden record is readable"), *built);
}

fn write(dir: &Path, built: &RunRecord, scenario: &str) -> Result<(), Box<dyn std::error::Error>> {
    let fresh = dir.with_extension("new");
    let redactor = record::Redactor::new(Vec::new());
    let mut writer = record::RunWriter::create(&fresh, &built.run, scenario, &built.env, redactor)?;
    for line in &built.lines {
        writer.append(line)?;
    }
    drop(writer);
    std::fs::create_dir_all(dir)?;
    for file in std::fs::read_dir(&fresh)? {
        let file = file?;
        std::fs::rename(file.path(), dir.join(file.file_name()))?;
    }
    Ok(std::fs::remove_dir(&fresh)?)
}
