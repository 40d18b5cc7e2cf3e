//! Orders of shards and of neighbours: what they take by default, what they are called, and what is refused.

use std::fmt::Write as _;

use plan::{Access, Cell, Load, Streams};

use crate::machine::{resolve, resolve_on, with};

fn cells(lines: &str) -> Vec<Cell> {
    resolve(&with(lines)).unwrap_or_else(|diagnostics| panic!("{diagnostics}")).cells
}

/// Access and depth.
fn orders(lines: &str) -> Vec<(Access, u32)> {
    cells(lines).iter().map(|cell| (cell.access, cell.queue_depth)).collect()
}

#[test]
fn shards_are_streamed_as_deep_as_the_queue_up_to_16_unless_it_is_written() {
    let shards = |count, shuffle_buffer| Access::ShuffledShards(Streams { count, shuffle_buffer });
    let of = |lines: &str| orders(&format!("load = {{ queue_depth = [4, 64], {lines} }}"));
    assert_eq!(of("access = \"shuffled_shards\""), [(shards(4, 0), 4), (shards(16, 0), 64)]);
    assert_eq!(
        of("access = \"shuffled_shards\", streams = 7, shuffle_buffer = 500"),
        [(shards(7, 500), 4), (shards(7, 500), 64)]
    );
    let runs = Access::Neighbours { run_length: 16 };
    assert_eq!(of("access = \"neighbours\""), [(runs, 4), (runs, 64)]);
    assert_eq!(of("access = \"random\"")[0], (Access::Random, 4));
}

#[test]
fn what_belongs_to_one_order_leaves_the_others_of_a_list_alone() {
    let found = orders(
        "load = { queue_depth = 4, access = [\"neighbours\", \"resampled_shards\", \"shuffled_epoch\"], \
         streams = 2, shuffle_buffer = 9, run_length = 3 }",
    );
    let expected = [
        (Access::Neighbours { run_length: 3 }, 4),
        (Access::ResampledShards(Streams { count: 2, shuffle_buffer: 9 }), 4),
        (Access::ShuffledEpoch, 4),
    ];
    assert_eq!(found, expected);
}

#[test]
fn every_reader_of_a_training_job_has_a_stream() {
    let lines = "load = { mode = \"training\", operation = \"read\", access = \"shuffled_shards\" }\n\
                 training = { accelerators = [2, 8], readers = [2, 4] }";
    let cells = cells(lines);
    let jobs: Vec<(u32, u32)> = cells
        .iter()
        .filter(|cell| matches!(cell.load, Load::Training(_)))
        .map(|cell| (cell.queue_depth, cell.access.streams().unwrap().count))
        .collect();
    assert_eq!(jobs, [(4, 4), (8, 8), (16, 16), (32, 32)]);
    let closed = cells.iter().filter(|cell| cell.load == Load::Closed);
    assert!(closed.clone().count() > 0);
    closed.for_each(|cell| assert_eq!(cell.access.streams().unwrap().count, cell.queue_depth.min(16)));
}

#[test]
fn shards_that_differ_in_their_blocks_are_streamed_by_a_training_job() {
    let lines = |access| {
        format!(
            "dataset.source = \"existing\"\n\
             load = {{ mode = \"training\", operation = \"read\", access = {access} }}"
        )
    };
    assert!(resolve(&with(&lines("[\"shuffled_shards\", \"resampled_shards\"]"))).is_ok());
    assert!(resolve(&with(&lines("[\"shuffled_shards\", \"shuffled_epoch\"]"))).is_err());
}

#[test]
fn streams_are_a_coordinate_and_part_of_the_name_where_there_are_some() {
    let [cell] = &cells("load = { queue_depth = 4, access = \"shuffled_shards\" }")[..] else {
        panic!("one")
    };
    assert!(cell.slug.contains("/shuffled_shards-s4/"), "{}", cell.slug);
    assert!(cell.axes.iter().any(|axis| (axis.name, axis.value.as_str()) == ("streams", "4")));
    let [cell] = &cells("load.queue_depth = 4")[..] else { panic!("one") };
    assert!(cell.slug.contains("/shuffled_epoch/"), "{}", cell.slug);
    assert!(cell.axes.iter().all(|axis| axis.name != "streams"));
}

#[test]
fn keys_of_other_orders_are_refused() {
    let mut shown = String::new();
    for lines in [
        "load.streams = 4",
        "load = { access = \"random\", streams = 4, shuffle_buffer = 10 }",
        "load = { access = [\"shuffled_shards\", \"random\"], run_length = 4 }",
        "load = { access = \"neighbours\", run_length = 0 }",
        "load = { mode = \"training\", operation = \"read\", access = \"shuffled_shards\", streams = 4 }",
    ] {
        let Err(refused) = resolve(&with(lines)) else { panic!("accepted: {lines}") };
        writeln!(shown, "{lines}\n{refused}").unwrap();
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_list_is_the_dataset_and_goes_with_every_load() {
    let existing = "dataset = { source = \"existing\", order = \"order.txt\" }\n";
    for load in [
        "load = { access = \"list\", operation = [\"read\", \"read_file\", \"stat\"] }",
        "load = { access = \"list\", mode = \"paced\", cache = \"cold\" }",
        "load = { access = \"list\", mode = \"training\" }",
    ] {
        let plan = resolve(&with(&format!("{existing}{load}"))).unwrap_or_else(|error| panic!("{error}"));
        assert!(plan.cells.iter().all(|cell| cell.access == Access::List), "{load}");
        let plan::DatasetSpec::Existing(data) = &plan.datasets[0] else { panic!("it is the user's") };
        let order = data.order.as_ref().unwrap();
        let names: Vec<_> = order.names().collect();
        assert_eq!(names, [(1, "a/1"), (2, "b/2"), (3, "a/3")]);
        assert_eq!((order.at.as_str(), order.repeats()), ("order.txt", false));
    }
}

/// What is read again may come from memory where the cache is only cold at the start, or be read anew.
#[test]
fn a_list_that_repeats_is_read_past_the_cache_or_from_a_cold_start() {
    let text = |cache: &str| {
        with(&format!(
            "dataset = {{ source = \"existing\", order = \"o\" }}\nload = {{ access = \"list\"{cache} }}"
        ))
    };
    let on = |text: &str| resolve_on(text, &[], |host| host.order = Some(Ok(b"a\na\n".to_vec())));
    assert!(on(&text("")).is_ok(), "direct I/O by default");
    assert!(on(&text(", cache = [\"cold_start\", \"warm\", \"bypass\"]")).is_ok());
    // Where there is no direct I/O, the default is cold.
    let refused = on(&text("").replace("/mnt/", "/buffered/")).unwrap_err().to_string();
    assert!(refused.contains("names 1 file 2 times"), "{refused}");
}
