//! What stays of a workload's need where samples are of another size: a line must not move unasked.

use std::fmt::Write as _;

use plan::Plan;

use crate::machine::{resolve, resolve_on, with};

const OWN_BYTES: f64 = 146_600_628.0;
const SMALL_BYTES: f64 = 4_194_304.0;

/// 8 h100 on unet3d, with samples of 4 MiB and whatever is said of them.
fn shrunken(key: &str) -> String {
    let need = "need = { workload = \"unet3d\", accelerator = \"h100\", count = 8 KEY }".replace("KEY", key);
    with("dataset.sample_size = \"4 MiB\"").replace("need = \"8xh100:resnet50\"", &need)
}

fn plan(text: &str) -> Plan {
    resolve(text).unwrap_or_else(|refused| panic!("{refused}"))
}

#[track_caller]
fn assert_close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-9, "{value} is not {expected}");
}

fn refusals(texts: &[String]) -> String {
    let mut shown = String::new();
    for text in texts {
        match resolve(text) {
            Ok(plan) => panic!("accepted with {} cells:\n{text}", plan.cells.len()),
            Err(refused) => writeln!(shown, "{refused}\n{}\n", "-".repeat(60)).unwrap(),
        }
    }
    shown
}

/// Samples of 4 MiB in place of 147 MB divided the line by 35, and a disk of 1 GB/s was said to feed 25 GB/s.
#[test]
fn a_shrunken_sample_does_not_move_the_line_unasked() {
    let refused = resolve(&shrunken("")).unwrap_err().to_string();
    let need = |hold| plan(&shrunken(&format!(", hold = \"{hold}\""))).need;
    let (samples, bytes) = (need("samples"), need("bytes"));
    assert_close(samples.line_bps(SMALL_BYTES) * OWN_BYTES / SMALL_BYTES, bytes.line_bps(SMALL_BYTES));
    assert_close(bytes.line_bps(SMALL_BYTES), 0.9 * 8.0 * 7.0 / 0.323 * OWN_BYTES);
    for need in [samples, bytes] {
        let line = feed::format_bps(need.line_bps(SMALL_BYTES));
        assert!(refused.contains(&line), "{line} is missing in\n{refused}");
    }
}

#[test]
fn a_need_must_say_what_it_holds() {
    let columns = "dataset = { layout = \"parquet\", columns = 4, read_columns = 1 }";
    let batch = "need = { batch = 8, step_time = \"1s\", sample_size = \"1 MB\", count = 8 }";
    let of_batch = |line: &str| with(line).replace("need = \"8xh100:resnet50\"", batch);
    insta::assert_snapshot!(refusals(&[
        with("dataset.sample_size = [\"16 KiB\", \"120 kB\", \"1 MiB\"]"),
        shrunken(""),
        with(columns),
        of_batch("dataset.sample_size = \"64 KiB\""),
    ]));
}

#[test]
fn what_is_held_for_nothing_is_refused() {
    let held = |hold: &str, line: &str| {
        let need = format!(
            "need = {{ workload = \"resnet50\", accelerator = \"h100\", count = 8, hold = \"{hold}\" }}"
        );
        with(line).replace("need = \"8xh100:resnet50\"", &need)
    };
    let rate = "need = { rate = \"1 GB/s\", hold = \"bytes\", scope = \"host\" }";
    insta::assert_snapshot!(refusals(&[
        held("samples", "dataset.size = \"1 GiB\""),
        held("bytes", "dataset.sample_size = \"1 MiB\"\nload.operation = \"stat\""),
        held("bytes", "dataset = { sample_size = \"1 MiB\", layout = [\"files\", \"webdataset\"] }"),
        held("bytes", "dataset.sample_size = \"1 MiB\"\nload.mode = \"training\""),
        held("all", "dataset.sample_size = \"1 MiB\""),
        with("").replace("need = \"8xh100:resnet50\"", rate),
    ]));
}

#[test]
fn sizes_within_a_tenth_and_data_of_the_users_need_no_word() {
    for size in ["104 kB", "126 kB"] {
        assert_eq!(plan(&with(&format!("dataset.sample_size = \"{size}\""))).need.hold, None);
    }
    let existing = "dataset = { source = \"existing\", sample_size = \"1 MiB\" }";
    let need = plan(&with(existing)).need;
    assert_close(need.line_bps(1_048_576.0), 0.9 * 3_200.0 / 0.224 * 1_048_576.0);
    assert_eq!(need.held(&[1_048_576.0]).unwrap(), "samples held: 1,048,576 B each in place of 114,660 B");
    // 40 of the 200 columns are what the workload counts.
    let dlrm =
        "dataset = { layout = \"parquet\", columns = 200, read_columns = 40, sample_size = \"761 B\" }";
    assert_eq!(plan(&with(dlrm).replace("8xh100:resnet50", "b200:dlrm")).need.hold, None);
}

#[test]
fn a_job_that_takes_the_bytes_of_its_workload_is_played() {
    let held = shrunken(", hold = \"bytes\"").replace("h100\", count = 8", "h100\", count = 1");
    let text = format!("{held}load.mode = \"training\"\ntraining = {{ batch = 245, prefetch = 2 }}\n");
    let plan = plan(&text);
    assert_close(plan.need.line_bps(SMALL_BYTES), 0.9 * 7.0 / 0.323 * OWN_BYTES);
    let other = resolve(&text.replace("batch = 245", "batch = 7")).unwrap_err().to_string();
    assert!(other.contains("write training.batch = 245"), "{other}");
}

#[test]
fn a_key_is_set_in_a_short_form_too() {
    let text = with("dataset.sample_size = \"1 MiB\"");
    let held = resolve_on(&text, &["need.hold=bytes"], |_| ()).unwrap().need;
    assert_eq!((held.label.as_str(), held.hold), ("8 x h100 resnet50", Some(feed::Hold::Bytes)));
    let shared = resolve_on(&with(""), &["need.hosts=4", "need.scope=host"], |_| ()).unwrap().need;
    assert_eq!((shared.accelerators, shared.count, shared.scope), (2, 8, feed::Scope::Host));
    let rate = resolve_on(&with("").replace("8xh100:resnet50", "2 GB/s"), &["need.utilization=0.5"], |_| ());
    assert_close(rate.unwrap().need.line_bps(1.0), 1e9);
}

#[test]
fn a_closed_loop_takes_the_loader_that_is_stated() {
    let depth = |line: &str| plan(&with(line)).need.loader_depth;
    assert_eq!(depth("training.readers = 4"), Some(32));
    assert_eq!(depth("training.readers = 4\nload.mode = \"closed\""), Some(32));
    assert_eq!(depth(""), None, "the profile's readers are not the scenario's");
    assert_eq!(depth("training.readers = 4\nload.mode = \"training\""), None, "played, and not held against");
}
