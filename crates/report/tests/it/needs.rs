//! Several needs of one target: reads, and checkpoints in time.

use analysis::{Summary, summarise};
use record::{CheckpointNeed, Line, NeedPart, Rep, Role, RunRecord};
use report::{Screen, markdown, terminal};

use crate::answer::{assert_answer, at};
use crate::json::object;
use crate::records::golden;
use crate::stored::stored;

/// The golden record of checkpoints, whose bucket is asked for them in so many seconds.
fn asked(within_s: u64, edit: impl FnOnce(&mut RunRecord)) -> RunRecord {
    let mut record = stored();
    record.run.need.checkpoint = Some(CheckpointNeed {
        label: "llama3-8b".to_owned(),
        bytes: 128_000_000_000,
        host_bytes: 16_000_000_000,
        hosts: 8,
        within_ns: within_s * 1_000_000_000,
        every_ns: Some(1_800_000_000_000),
        restore_within_ns: Some(60_000_000_000),
        kind: "sync".to_owned(),
        beside_others: false,
    });
    "host".clone_into(&mut record.run.need.scope);
    let parts = ["vault/checkpoint/qd4", "vault/restore/qd4"];
    for cell in record.run.cells.iter_mut().filter(|cell| parts.contains(&cell.cell.as_str())) {
        "bucket".clone_into(&mut cell.target);
    }
    let fresh = |line: &Line| match line {
        Line::Rep(rep) if parts.contains(&rep.cell.as_str()) => Some(Line::Rep(Box::new(Rep {
            role: Role::Confirm,
            order: rep.order + 10_000,
            ..(**rep).clone()
        }))),
        _ => None,
    };
    let fresh: Vec<Line> = record.lines.iter().filter_map(fresh).collect();
    let end = record.lines.len() - 1;
    record.lines.splice(end..end, fresh);
    edit(&mut record);
    record
}

fn alone(record: &mut RunRecord) {
    let need = &mut record.run.need;
    (need.samples_per_s, need.sample_bytes, need.bytes_per_s) = (None, None, None);
    (need.accelerators, need.label) = (0, "checkpoints of llama3-8b, one of 8 hosts".to_owned());
}

fn of_bucket(summary: &Summary) -> serde_json::Value {
    let all = object(summary)["verdicts"].as_array().unwrap().clone();
    all.into_iter().find(|verdict| verdict["target"] == "bucket").unwrap()
}

#[test]
fn each_need_has_a_row_a_reason_and_an_object() {
    let summary = summarise(&asked(30, |_| ()));
    insta::assert_snapshot!("the_answer_of_reads_and_checkpoints", at(&summary, 100));
    insta::assert_snapshot!(
        "the_object_of_reads_and_checkpoints",
        format!("{:#}", of_bucket(&summary)["needs"])
    );
    let summary = summarise(&asked(1, alone));
    insta::assert_snapshot!("the_answer_of_checkpoints_alone", at(&summary, 100));
    assert_eq!(of_bucket(&summary)["verdict"], "STARVES");
}

/// The golden record, whose need is the sum of one of this share and of the rest.
fn listed(share: f64) -> RunRecord {
    let mut record = golden();
    let sum = &mut record.run.need;
    let bps = sum.samples_per_s.unwrap() * sum.sample_bytes.unwrap();
    (sum.samples_per_s, sum.sample_bytes, sum.bytes_per_s) = (None, None, Some(bps));
    (sum.accelerators, sum.count) = (0, None);
    let part = |label: &str, share: f64| NeedPart { label: label.to_owned(), bytes_per_s: bps * share };
    let parts = vec![part("8 x h100 resnet50", share), part("tokens of the larger job", 1.0 - share)];
    sum.label = format!("{} and {}", parts[0].label, parts[1].label);
    sum.parts = parts;
    record
}

#[test]
fn each_of_several_needs_has_a_row_by_itself() {
    let summary = summarise(&listed(0.3));
    insta::assert_snapshot!("the_answer_of_several_needs", at(&summary, 100));
    insta::assert_snapshot!("the_answer_of_several_needs_narrow", at(&summary, 72));
    let object = object(&summary);
    let verdict = &object["verdicts"][0];
    let told = verdict["alone"].as_array().unwrap();
    assert_eq!(told[0]["need"], "8 x h100 resnet50");
    assert_eq!(told.len(), 2);
    let page = markdown(&summary);
    for one in &summary.verdicts[0].of_reads().unwrap().alone {
        let word = format!("{} alone {}", one.need, one.judgement.name());
        assert!(page.contains(&word), "{word}\n{page}");
    }
    assert_answer(&listed(0.5));
    let mut of_hosts = listed(0.3);
    of_hosts.run.need.hosts = 4;
    let page = markdown(&summarise(&of_hosts));
    assert!(page.contains("tokens of the larger job alone UNCERTAIN"), "{page}");
    assert!(page.contains("; this host is fed at") && page.contains("; 3 more were not tested"), "{page}");
}

#[test]
fn answers_and_pages_hold_every_need_whatever_they_are() {
    for within_s in [1, 30, 3_600] {
        for record in [asked(within_s, |_| ()), asked(within_s, alone)] {
            assert_answer(&record);
            let summary = summarise(&record);
            let bucket = summary.verdicts.iter().find(|verdict| verdict.target == "bucket").unwrap();
            let screen = Screen { columns: 100, is_coloured: false };
            for page in [terminal(&summary, screen), markdown(&summary)] {
                assert!(page.contains("write ") && page.contains("restore "), "{page}");
                assert!(page.contains(bucket.word()), "{page}");
                assert!(!page.contains("NaN") && !page.contains("inf "), "{page}");
            }
        }
    }
}
