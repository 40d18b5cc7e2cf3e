//! Lines of a record of any content are read, or their loss is named; what was read can be analysed and rendered.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

/// A folder with the head of a real run, whose lines are what is fuzzed.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("feedline-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the run");
        let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../crates/analysis/tests/fixtures/golden");
        for file in ["run.json", "env.json", "scenario.toml"] {
            std::fs::copy(golden.join(file), folder.join(file)).expect("the golden run");
        }
        folder
    })
}

fuzz_target!(|lines: &[u8]| {
    std::fs::write(folder().join("cells.jsonl"), lines).expect("the lines of the run");
    if let Ok(record) = record::read_run(folder()) {
        let summary = analysis::summarise(&record);
        let _ = report::terminal(&summary);
        let _ = report::throughput_svg(&summary);
    }
});
