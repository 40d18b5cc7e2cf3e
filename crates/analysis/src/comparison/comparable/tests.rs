use record::{Captured, Fact, Variant};

use super::*;
use crate::fixture::Builder;

fn sample(edit: impl FnOnce(&mut RunSample)) -> RunSample {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    let facts = [("file_system", "ext4"), ("mount_source", "/dev/vda"), ("mount_options", "rw,relatime")];
    builder.run.targets[0].facts = facts.map(|(name, value)| fact(name, value)).into();
    let mut sample =
        RunSample { run: builder.record().run, env: record::Environment::default(), cells: Vec::new() };
    sample.env.kernel = Captured::Value("6.1".to_owned());
    sample.env.machine = Captured::Value("a1".to_owned());
    edit(&mut sample);
    sample
}

fn fact(name: &str, value: &str) -> Fact {
    Fact { name: name.to_owned(), value: value.to_owned() }
}

fn found(edit: impl FnOnce(&mut RunSample)) -> Vec<(String, Option<MayDiffer>)> {
    let differences = stored(&sample(|_| {}), &sample(edit));
    differences.into_iter().map(|difference| (difference.to_string(), difference.may)).collect()
}

#[track_caller]
fn one(edit: impl FnOnce(&mut RunSample), words: &str, may: Option<MayDiffer>) {
    assert_eq!(found(edit), [(words.to_owned(), may)]);
}

#[test]
fn the_same_run_differs_in_nothing_and_neither_does_one_of_more_repetitions() {
    assert_eq!(found(|_| {}), []);
    assert_eq!(found(|sample| sample.run.measure.repetitions = 99), []);
    assert_eq!(found(|sample| sample.run.datasets[0].fingerprint = "other".to_owned()), []);
    assert_eq!(found(|sample| sample.run.tool.version = "0.9.7".to_owned()), []);
}

#[test]
fn what_makes_it_another_measurement_can_not_be_declared() {
    one(|sample| sample.run.scenario = "other".to_owned(), "scenario unit -> other", None);
    one(|sample| sample.run.plan_hash = "8d".to_owned(), "plan 7c1e09aa -> 8d", None);
    one(|sample| sample.run.tool.version = "1.0.0".to_owned(), "tool 0 -> 1", None);
    one(|sample| sample.run.tool.profile = "debug".to_owned(), "profile release -> debug", None);
    one(|sample| sample.run.ranks = 2, "ranks 1 -> 2", None);
    let longer = |sample: &mut RunSample| sample.run.measure.duration_ns = Some(2_000_000_000);
    one(longer, "measure window 1 s after 0 ns -> window 2 s after 0 ns", None);
    let options =
        |sample: &mut RunSample| sample.run.targets[0].facts[2].value = "relatime,rw,sync".to_owned();
    one(options, "mount_options of disk relatime,rw -> relatime,rw,sync", None);
    let pages = |sample: &mut RunSample| sample.run.cells[0].pages = Some("base".into());
    one(pages, "pages of buffers huge if given -> base", None);
    let more = |sample: &mut RunSample| sample.run.datasets[0].files = 10;
    let before = "generate, 10,000 files, 1,000,000,000 B, samples of 100000 B";
    let after = "generate, 10 files, 1,000,000,000 B, samples of 100000 B";
    one(more, &format!("dataset of disk {before} -> {after}"), None);
}

#[test]
fn shards_are_the_same_by_their_layout_their_samples_and_how_they_are_packed() {
    let dataset =
        |edit: fn(&mut record::Dataset)| move |sample: &mut RunSample| edit(&mut sample.run.datasets[0]);
    assert_eq!(found(dataset(|one| one.layout = "tfrecord".to_owned())).len(), 1);
    assert_eq!(found(dataset(|one| one.samples = Some(7))).len(), 1);
    assert_eq!(found(dataset(|one| one.packing = vec![fact("compressible_percent", "50")])).len(), 1);
    let words = found(dataset(|one| one.packing = vec![fact("members", "2")]));
    assert!(words[0].0.ends_with(", members 2"), "{words:?}");
}

#[test]
fn other_passes_or_bytes_are_another_measurement_where_both_records_say() {
    let ended = |epochs: Option<u64>, bytes: Option<u64>| {
        sample(|sample| {
            let measure = &mut sample.run.measure;
            (measure.duration_ns, measure.epochs, measure.bytes) = (None, epochs, bytes);
        })
    };
    let words = |before: &RunSample, after: &RunSample| -> Vec<String> {
        stored(before, after).iter().map(Difference::to_string).collect()
    };
    let one = ended(Some(1), None);
    assert_eq!(words(&one, &ended(Some(3), None)), ["end of the window 1 epoch -> 3 epochs"]);
    assert_eq!(words(&one, &ended(None, Some(7))), ["end of the window 1 epoch -> 7 B"]);
    assert!(words(&one, &one).is_empty() && words(&one, &ended(None, None)).is_empty());
}

#[test]
fn a_user_s_dataset_is_the_same_by_its_fingerprint() {
    let existing = |fingerprint: &str| {
        sample(|sample| {
            sample.run.datasets[0].source = "existing".to_owned();
            sample.run.datasets[0].fingerprint = fingerprint.to_owned();
        })
    };
    assert!(stored(&existing("f1"), &existing("f1")).is_empty());
    assert_eq!(stored(&existing("f1"), &existing("f2")).len(), 1);
}

#[test]
fn what_nightly_runs_change_can_be_declared() {
    let kernel = |sample: &mut RunSample| sample.env.kernel = Captured::Value("6.6".to_owned());
    one(kernel, "kernel 6.1 -> 6.6", Some(MayDiffer::Kernel));
    let machine = |sample: &mut RunSample| sample.env.machine = Captured::Value("b2".to_owned());
    one(machine, "machine a1 -> b2", Some(MayDiffer::Host));
    let source = |sample: &mut RunSample| sample.run.targets[0].facts[1].value = "/dev/vdb".to_owned();
    one(source, "mount_source of disk /dev/vda -> /dev/vdb", Some(MayDiffer::Host));
    let driver = |sample: &mut RunSample| sample.run.targets[0].facts.push(fact("device_driver", "1.2"));
    one(driver, "device_driver of disk not known -> 1.2", Some(MayDiffer::Driver));
}

#[test]
fn a_share_of_another_server_is_another_storage_on_whatever_host() {
    let with = |source: &str| sample(|sample| sample.run.targets[0].facts[1].value = source.to_owned());
    let found = stored(&with("filer:/a"), &with("filer:/b"));
    assert_eq!((found.len(), found[0].may), (1, None));
}

#[test]
fn the_client_s_own_address_and_the_order_of_options_are_no_difference() {
    let with = |options: &str| sample(|sample| sample.run.targets[0].facts[2].value = options.to_owned());
    assert!(
        stored(&with("rw,vers=3,clientaddr=10.0.0.1"), &with("vers=3,rw,clientaddr=10.0.0.2")).is_empty()
    );
}

#[test]
fn what_an_older_record_does_not_say_is_not_known_to_differ() {
    assert_eq!(found(|sample| sample.env.machine = Captured::default()), []);
    let older = |sample: &mut RunSample| {
        sample.run.tool.version = "0.0.9".to_owned();
        sample.run.targets[0].facts.truncate(1);
    };
    assert_eq!(found(older), []);
}

#[test]
fn a_refusal_names_the_declaration_that_helps() {
    let remedy = |differences: Vec<Difference>| NotComparable { differences }.hint();
    let edit = |sample: &mut RunSample| {
        sample.env.kernel = Captured::Value("6.6".to_owned());
        sample.env.machine = Captured::Value("b2".to_owned());
    };
    let mut differences = stored(&sample(|_| {}), &sample(edit));
    assert_eq!(remedy(differences.clone()), RefusalHint::Declare);
    let (left, declared) = split(differences.clone(), &[MayDiffer::Host]);
    assert_eq!((left.len(), declared.len(), left[0].may), (1, 1, Some(MayDiffer::Kernel)));
    differences.extend(stored(&sample(|_| {}), &sample(|sample| sample.run.ranks = 2)));
    assert_eq!(remedy(differences), RefusalHint::OtherRuns);
}

#[test]
fn variants_are_of_one_run_with_one_need_on_one_machine() {
    let variant = |group: &str| Variant {
        name: "a".to_owned(),
        group: group.to_owned(),
        number: 0,
        settings: vec!["load.cache=warm".to_owned()],
    };
    let with = |group: &str, edit: fn(&mut RunSample)| {
        sample(|sample| {
            sample.run.variant = Some(variant(group));
            edit(sample);
        })
    };
    let before = with("g", |_| {});
    assert_eq!(variants(&before, &with("g", |sample| sample.run.plan_hash = "other".to_owned())), Ok(()));
    let words = |after: &RunSample| {
        let refusal = variants(&before, after).unwrap_err();
        refusal.differences.iter().map(Difference::to_string).collect::<Vec<_>>()
    };
    assert_eq!(words(&with("h", |_| {})), ["run of the variants g -> h"]);
    assert_eq!(words(&sample(|_| {})), ["run of the variants g -> none"]);
    assert_eq!(words(&with("g", |sample| sample.run.cells.clear())), ["cells 1 -> 0"]);
    assert_eq!(words(&with("g", |sample| sample.run.need.utilization = 0.5)).len(), 1);
    assert_eq!(
        words(&with("g", |sample| sample.env.machine = Captured::Value("b2".to_owned()))),
        ["machine a1 -> b2"]
    );
}
