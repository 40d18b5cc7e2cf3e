//! `--set` as a user types it.

use plan::Limit;
use scenario::Source;

use crate::machine::{machine, resolve_on, with};

#[test]
fn values_are_toml_or_plain_text() {
    let plan = resolve_on(
        &with("load = { queue_depth = 4 }"),
        &[
            "load.queue_depth=[1,8]",
            "measure.duration=250ms",
            "measure.repetitions = 7",
            "dataset.size=\"1 GiB\"",
            "targets.data.at=/mnt/else=where",
            "targets.b={ at = \"/mnt/b\" }",
            "title=3 targets",
            "need=2.5 GB/s",
        ],
        |_| (),
    )
    .unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    assert_eq!(plan.cells.iter().map(|cell| cell.queue_depth).collect::<Vec<_>>(), [1, 8, 1, 8]);
    assert_eq!(plan.measure.limit, Limit::Duration { duration_ns: 250_000_000 });
    assert_eq!(plan.measure.repetitions, 7);
    assert_eq!(
        plan.targets.iter().map(|target| target.at.as_str()).collect::<Vec<_>>(),
        ["/mnt/else=where", "/mnt/b"]
    );
    assert_eq!(plan.title.as_deref(), Some("3 targets"));
    assert_eq!(plan.need.label, "2.5 GB/s");
}

#[test]
fn the_last_of_several_holds() {
    let plan = resolve_on(&with(""), &["measure.seed=2", "measure.seed=3"], |_| ()).unwrap();
    assert_eq!(plan.measure.seed, 3);
}

#[test]
fn an_override_mends_a_mistake() {
    let plan = resolve_on(&with("load = { queue_depth = 0 }"), &["load.queue_depth=2"], |_| ()).unwrap();
    assert_eq!(plan.cells.len(), 1);
}

#[test]
fn the_text_as_run_names_its_overrides() {
    let source = Source { name: "a.toml".to_owned(), text: with("title = \"x\"").trim_end().to_owned() };
    let overrides = ["load.queue_depth=[1,8]".to_owned(), "title=\"\"\"a\nb\"\"\"".to_owned()];
    let as_run = scenario::parse(&source, &overrides).as_run();
    let expected = "# run with --set load.queue_depth=[1,8]\n# run with --set title=\"\"\"a b\"\"\"\n";
    assert_eq!(as_run, format!("{}\n{expected}", source.text));
    toml::from_str::<toml::Value>(&as_run).unwrap();
}

#[test]
fn only_the_targets_that_are_named_are_left() {
    let more = r#"
        targets.b = { at = "/mnt/b" }
        targets.c = { at = "/mnt/c" }
        gate.feeds = ["b"]"#;
    let source = Source { name: "a.toml".to_owned(), text: with(more) };
    let only = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let scenario = scenario::parse(&source, &[]).only(&names);
        let paths = scenario.local_paths();
        (scenario.as_run(), scenario::resolve(&scenario, &machine(&paths)))
    };
    let (text, plan) = only(&["c", "b"]);
    let plan = plan.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    assert_eq!(plan.targets.iter().map(|target| target.name.as_str()).collect::<Vec<_>>(), ["b", "c"]);
    assert_eq!(text, format!("{}\n# run with --only c\n# run with --only b\n", source.text.trim_end()));
    let refused = only(&["d"]).1.unwrap_err().to_string();
    assert!(
        refused.contains("--only names `d`, which is no target") && refused.contains("targets: data, b, c")
    );
    let refused = only(&["c"]).1.unwrap_err().to_string();
    assert!(refused.contains("`gate.feeds` names `b`, which is no target"), "{refused}");
}
