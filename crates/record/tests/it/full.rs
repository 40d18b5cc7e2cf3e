//! Storage that takes a part of a line and then no more.

use std::path::PathBuf;
use std::process::Command;

use record::{Redactor, RunWriter, read_run};

use crate::sample;

/// Where the limited process writes.
const DIR_VARIABLE: &str = "RECORD_TEST_DIR";

#[test]
fn what_a_full_disk_took_of_a_line_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let limited = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 16; exec \"$0\" --ignored --exact full::write_until_refused"])
        .arg(std::env::current_exe().unwrap())
        .env(DIR_VARIABLE, &dir)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&limited.stdout);
    assert!(limited.status.success() && said.contains("1 passed"), "{said}");

    let record = read_run(&dir).unwrap();
    let all = sample::lines();
    assert!(record.lines.iter().eq(all.iter().cycle().take(record.lines.len())), "every line is whole");
    assert!(!record.loss.is_some_and(|loss| loss.contains("incomplete")));
}

#[test]
#[ignore = "runs only in the process that the test above limits"]
fn write_until_refused() {
    let Some(dir) = std::env::var_os(DIR_VARIABLE).map(PathBuf::from) else { return };
    let created = RunWriter::create(&dir, &sample::run(), "", &sample::environment(), Redactor::default());
    let mut writer = created.unwrap();
    let all = sample::lines();
    let refused = all.iter().cycle().find_map(|line| writer.append(line).err()).unwrap();
    assert!(refused.to_string().starts_with("cannot append to `"), "{refused}");

    // Where the next line fits into what is left, it follows the last whole one.
    let whole = read_run(&dir).unwrap().lines.len();
    let next = &all[whole % all.len()];
    let appended = usize::from(writer.append(next).is_ok());
    assert_eq!(read_run(&dir).unwrap().lines.len(), whole + appended);
}
