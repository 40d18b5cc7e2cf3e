//! Layouts, epochs, checkpoints and copies through every rendering.

use std::path::Path;

use analysis::{Summary, over_time, summarise};
use record::{CheckpointOutcome, Line, RecordedIntervals, Rep, RunRecord};
use report::{Plot, Screen, markdown, plots, terminal};

use crate::checks::{assert_whole, words};
use crate::plots::kept;

pub(crate) fn stored() -> RunRecord {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../analysis/tests/fixtures/stored");
    record::read_run(&dir).expect("the golden record is readable")
}

fn edited(edit: impl Fn(&mut Rep)) -> RunRecord {
    let mut record = stored();
    for line in &mut record.lines {
        if let Line::Rep(rep) = line {
            edit(rep);
        }
    }
    record
}

fn rendered(record: &RunRecord) -> Vec<Plot> {
    plots(&summarise(record), &over_time(record, &RecordedIntervals::default())).unwrap()
}

fn own(record: &RunRecord) -> Vec<Plot> {
    let is_own = |plot: &Plot| ["layouts", "epochs", "checkpoints"].contains(&plot.name);
    rendered(record).into_iter().filter(is_own).collect()
}

/// Records that a layout may stumble over, by name.
fn variants() -> Vec<(&'static str, RunRecord)> {
    let mut unmarked = stored();
    unmarked.run.need.samples_per_s = None;
    unmarked.run.expect = None;
    let mut one_depth = stored();
    one_depth.run.cells.retain(|cell| cell.queue_depth == 128);
    let mut two_targets = stored();
    for cell in &mut two_targets.run.cells {
        if cell.cell.starts_with("bucket/files/qd32") {
            (cell.target, cell.cell) = ("nvme".to_owned(), "nvme/files/qd32".to_owned());
        }
    }
    for line in &mut two_targets.lines {
        if let Line::Rep(rep) = line
            && rep.cell == "bucket/files/qd32"
        {
            "nvme/files/qd32".clone_into(&mut rep.cell);
        }
    }
    vec![
        ("stored", stored()),
        ("stored-unmarked", unmarked),
        ("stored-one-depth", one_depth),
        ("stored-two-targets", two_targets),
        ("stored-one-epoch", edited(|rep| rep.epochs.truncate(1))),
        ("stored-many-epochs", edited(many_epochs)),
        (
            "stored-from-memory",
            edited(|rep| rep.epochs.iter_mut().for_each(|one| one.storage_bytes = Some(0))),
        ),
        ("stored-untold", edited(|rep| rep.second_bytes.clear())),
        ("stored-failed", edited(failed)),
    ]
}

fn many_epochs(rep: &mut Rep) {
    let Some(first) = rep.epochs.first().cloned() else { return };
    rep.epochs = (0..60)
        .map(|epoch| record::Epoch {
            epoch,
            begun_ns: epoch * 500_000_000,
            first_ns: epoch * 500_000_000 + 1_000_000,
            ended_ns: epoch * 500_000_000 + 499_000_000,
            tier_bytes: None,
            ..first.clone()
        })
        .collect();
}

fn failed(rep: &mut Rep) {
    for one in &mut rep.checkpoints {
        one.outcome = CheckpointOutcome::Failed { reason: "no space left on device".to_owned() };
        (one.write_ns, one.publish_ns) = (0, 0);
    }
}

#[test]
fn plots_of_shards_epochs_and_checkpoints_hold_whatever_they_show() {
    for (name, record) in variants() {
        for plot in rendered(&record) {
            kept(name, &plot);
            assert_whole(&plot);
        }
        for page in [terminal(&summarise(&record), Screen::PLAIN), markdown(&summarise(&record))] {
            assert!(!page.contains("NaN") && !page.contains(" inf"), "{name}: {page}");
        }
    }
}

#[test]
fn each_plot_says_what_it_shows_with_units() {
    let plots = own(&stored());
    assert_eq!(plots.iter().map(|plot| plot.name).collect::<Vec<_>>(), ["layouts", "epochs", "checkpoints"]);
    let said = |number: usize| words(&plots[number].svg).into_iter().map(|one| one.words).collect::<Vec<_>>();
    let holds = |number: usize, part: &str| said(number).iter().any(|words: &String| words.contains(part));
    for part in ["samples/s, log scale", "queue depth", "webdataset", "files", "line 12,857"] {
        assert!(holds(0, part), "{part}: {:?}", said(0));
    }
    for part in ["throughput of an epoch, GB/s", "hits of the cache tier, % of bytes", "predicted hits"] {
        assert!(holds(1, part), "{part}: {:?}", said(1));
    }
    for part in ["reads, GB/s", "AU 83.0 % (92.0 % without)", "stand still", "overrun"] {
        assert!(holds(2, part), "{part}: {:?}", said(2));
    }
}

#[test]
fn a_run_of_files_alone_has_none_of_these_plots_and_parts() {
    let golden = crate::records::golden();
    assert!(own(&golden).is_empty());
    let report = markdown(&summarise(&golden));
    for heading in ["## Layouts", "## Epochs", "## Checkpoints", "## Copies"] {
        assert!(!report.contains(heading));
    }
}

#[test]
fn one_epoch_and_one_layout_are_no_plot() {
    let one_epoch = edited(|rep| rep.epochs.truncate(1));
    assert!(own(&one_epoch).iter().all(|plot| plot.name != "epochs"));
    let mut packed = stored();
    packed.run.cells.retain(|cell| cell.dataset != 0);
    assert!(own(&packed).iter().all(|plot| plot.name != "layouts"));
}

#[test]
fn the_terminal_page_of_shards_epochs_and_checkpoints() {
    let page = terminal(&summarise(&stored()), Screen::PLAIN);
    let is_plain = |line: &str| line.len() <= 80 && line.is_ascii() && line == line.trim_end();
    assert!(page.lines().all(is_plain), "{page}");
    insta::assert_snapshot!(page);
}

#[test]
fn the_markdown_report_of_shards_epochs_and_checkpoints() {
    let report = markdown(&summarise(&stored()));
    let (_, from) = report.split_once("## Layouts\n").unwrap();
    insta::assert_snapshot!(from.split_once("\n## Predicted").unwrap().0);
}

#[test]
fn the_plots_of_shards_epochs_and_checkpoints() {
    for plot in own(&stored()) {
        insta::assert_snapshot!(format!("the_plot_of_{}", plot.name), plot.svg);
    }
}

#[test]
fn the_page_has_the_tables_and_plots_of_each() {
    let record = stored();
    let (summary, plots) = (summarise(&record), own(&record));
    let page = report::html(&[report::Page {
        summary: &summary,
        plots: &plots,
        scenario: "",
        environment: &record.env,
    }]);
    for part in [
        "plot-layouts",
        "plot-epochs",
        "plot-checkpoints",
        "layouts-table1",
        "checkpoints-table3",
        "copies-table2",
    ] {
        assert!(page.contains(&format!("id=\"{part}\"")), "{part}");
    }
}

#[test]
fn exports_have_the_new_columns_last_and_the_new_figures() {
    let record = stored();
    let summary = summarise(&record);
    let table = report::export::csv(&record, &summary).text;
    let header = table.lines().next().unwrap();
    assert!(
        header.ends_with(
            "gap,layout,streams,shuffle_buffer,checkpoint,tier,copy_to,durability,shard_bytes,members,codec,\
             compressible_percent,write_percent"
        ),
        "{header}"
    );
    for metric in ["tier_hits_last", "cache_share_last", "checkpoint_bps", "checkpoints_overrun", "epochs"] {
        assert!(table.contains(&format!(",{metric},")), "{metric}");
    }
    let tier = table.lines().find(|line| line.contains("tier_hits_last")).unwrap();
    assert!(tier.ends_with(",webdataset,16,1000,,lru,,,,,,,"), "{tier}");
    let objects = report::export::jsonl(&record, &summary).text;
    assert!(objects.contains("\"displacement\":0.62") && objects.contains("\"outcome\":\"overrun\""));
}

#[test]
fn failed_checkpoints_say_why() {
    let summary: Summary = summarise(&edited(failed));
    let report = markdown(&summary);
    assert!(report.contains("0 whole, 12 failed (no space left on device)"), "{report}");
}

#[test]
fn samples_of_two_sizes_are_two_panels_of_layouts_and_rows_that_name_them() {
    let sized = |sizes: [&str; 2]| {
        let mut record = stored();
        for (index, cell) in record.run.cells.iter_mut().enumerate() {
            let value = sizes[usize::from(index % 4 >= 2)].to_owned();
            cell.axes.retain(|axis| axis.name != "sample_size");
            cell.axes.push(record::AxisWords { name: "sample_size".to_owned(), value, unit: "B".to_owned() });
        }
        record
    };
    let page = |record: &RunRecord| markdown(&summarise(record));
    assert!(!page(&sized(["16384", "16384"])).contains("16 KiB samples, shuffled"));
    assert!(page(&sized(["16384", "131072"])).contains("16 KiB samples, shuffled"));
}

#[test]
fn plots_tell_caches_and_kinds_of_checkpoints_apart() {
    let record = stored();
    let plots = own(&record);
    let svg = |name: &str| plots.iter().find(|plot| plot.name == name).map(|plot| plot.svg.clone()).unwrap();
    assert!(svg("epochs").contains(", lru cache"), "the policy of a tier is in its title");
    assert!(svg("checkpoints").contains("async checkpoints"), "and the mode of checkpoints in theirs");
}
