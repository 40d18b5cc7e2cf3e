use proptest::prelude::*;
use record::{Line, Outcome, Run};

use super::against::command_for;
use super::*;
use crate::fixture::{Builder, ceiling, confirmation, confirmed_at, confirmed_job, rep};
use crate::summarise;

fn verdict_of(builder: &Builder) -> Verdict {
    summarise(&builder.record()).verdicts[0].clone()
}

fn words(builder: &Builder) -> String {
    let verdict = verdict_of(builder);
    format!("{} {}", verdict.judgement.name(), verdict.sentence())
}

#[test]
fn the_line_is_cleared_by_the_lower_bound() {
    assert_eq!(
        words(&confirmed_at(&[1.1, 1.1, 1.1])),
        "FEEDS 8 x h100 resnet50 from depth 8 (io_uring); 8 outstanding take 1 worker for each of 8 \
         accelerators with blocking reads; screen, cache open"
    );
    let verdict = verdict_of(&confirmed_at(&[1.0, 1.1, 1.2]));
    assert_eq!(verdict.judgement, Judgement::Uncertain, "the mean clears, the lower bound does not");
}

#[test]
fn starving_says_by_how_much_and_what_is_fed() {
    let verdict = verdict_of(&confirmed_at(&[0.8, 0.81, 0.79]));
    assert_eq!(verdict.judgement, Judgement::Starves);
    // The lower bound is 0.775 of the line: 6 of 8.
    assert_eq!(verdict.feeds, Some(6));
    assert_eq!(
        verdict.sentence(),
        "20 % short at depth 8 (io_uring); feeds 6 by division; screen, cache open"
    );
}

#[test]
fn a_straddling_interval_says_so() {
    let text = words(&confirmed_at(&[0.95, 1.0, 1.05]));
    assert!(text.starts_with("UNCERTAIN interval straddles the line at depth 8 (io_uring)"), "{text}");
    assert!(
        text.contains("88 to 112 % of it; no number of rounds that pays would decide (3 rounds made)"),
        "{text}"
    );
}

#[test]
fn a_suggested_command_has_each_option_once_and_none_for_display() {
    let command = |given: &str| {
        let command = given.split_whitespace().map(str::to_owned).collect();
        command_for(&Run { command, ..confirmed_at(&[1.0; 3]).run }, 12)
    };
    assert_eq!(command(""), "feedline run --rounds +12");
    let run = "feedline run a.toml --set load.threads=2 --set load.pages=huge";
    for given in [
        "feedline run a.toml --full --set load.threads=2 --no-progress --set load.pages=huge --rounds +3",
        "feedline run --rounds=+3 a.toml --set load.threads=2 --set load.pages=huge",
    ] {
        let suggested = command(given);
        assert_eq!(suggested, format!("{run} --rounds +15"), "what was added before is added again");
    }
}

#[test]
fn the_interleaved_repetitions_of_a_chosen_cell_decide_nothing() {
    let mut builder = confirmed_at(&[0.8, 0.8, 0.8]);
    builder.cell("slower", "disk", 4);
    (0..3).for_each(|number| builder.push(rep("slower", number, 0.5 * Builder::LINE_BPS)));
    builder.edit_reps("c", |rep| {
        if rep.role == record::Role::Measure {
            rep.counters.insert("bytes".to_owned(), 9_000_000_000);
        }
    });
    assert_eq!(verdict_of(&builder).judgement, Judgement::Starves);
}

#[test]
fn without_confirmation_there_is_no_verdict() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    (0..3).for_each(|number| builder.push(rep("c", number, 9e9)));
    let end = builder.end.as_mut().unwrap();
    end.not_run.push(record::NotRun { cell: "c".to_owned(), repetitions: 3, reason: "budget".to_owned() });
    assert_eq!(words(&builder), "UNCERTAIN not confirmed at depth 8 (io_uring): budget; screen, cache open");
    builder.end = None;
    assert!(words(&builder).contains(": the run was cut before it; screen"));
}

#[test]
fn two_confirmations_are_too_few() {
    assert!(words(&confirmed_at(&[2.0, 2.0])).starts_with("UNCERTAIN too few repetitions at depth 8"));
}

#[test]
fn a_client_limited_cell_may_feed_but_cannot_starve() {
    let limited = |of_line: f64| {
        let mut builder = confirmed_at(&[of_line; 3]);
        builder.push_ceiling(ceiling("c", true, 1, (of_line * Builder::LINE_BPS * 1.2) as u64));
        words(&builder)
    };
    assert!(limited(1.5).starts_with("FEEDS"));
    let starving = limited(0.5);
    assert!(starving.starts_with("UNCERTAIN CLIENT-LIMITED, 83 % of ceiling at depth 8"), "{starving}");
}

#[test]
fn failed_reads_above_one_percent_leave_it_open() {
    let mut builder = confirmed_at(&[2.0; 3]);
    builder.edit_reps("c", |rep| {
        rep.errors.insert("io".to_owned(), 300);
    });
    let text = words(&builder);
    assert!(text.starts_with("UNCERTAIN 1.6 % errors: 900 io at depth 8"), "{text}");
    assert!(!text.contains("feeds"), "a flag that forbids a verdict forbids a number too: {text}");
    assert_eq!(verdict_of(&builder).feeds, None);
}

#[test]
fn a_cold_cell_that_is_not_proven_cold_leaves_it_open() {
    let mut builder = confirmed_at(&[2.0; 3]);
    builder.edit_cell("c", |cell| cell.cache = "cold".into());
    builder.edit_reps("c", |rep| rep.cache.before_bytes = None);
    assert!(words(&builder).starts_with("UNCERTAIN cold not proven"));
}

#[test]
fn a_failed_confirmation_leaves_feeds_open_and_starves_standing() {
    let failing = |of_line: f64| {
        let mut builder = confirmed_at(&[of_line; 3]);
        let mut failed = confirmation("c", 3, 1e9);
        failed.outcome = Outcome::Failed { reason: "file is gone".to_owned() };
        builder.push(failed);
        verdict_of(&builder).judgement
    };
    assert_eq!(failing(2.0), Judgement::Uncertain);
    assert_eq!(failing(0.5), Judgement::Starves);
}

#[test]
fn a_warm_verdict_says_that_it_is_the_page_caches() {
    let mut builder = confirmed_at(&[2.0; 3]);
    builder.edit_cell("c", |cell| cell.cache = "warm".into());
    builder.edit_reps("c", |rep| rep.cache.before_bytes = Some(rep.cache.total_bytes));
    assert!(words(&builder).contains("; from the client's page cache (warm), not from storage; screen"));
}

#[test]
fn a_target_read_in_several_ways_names_the_way() {
    let mut builder = confirmed_at(&[2.0; 3]);
    builder.cell("d", "disk", 8);
    builder.edit_cell("d", |cell| cell.access = "sequential".into());
    assert!(
        words(&builder).contains("; 100,000 B samples, 100,000 B blocks, shuffled_epoch, bypass; screen"),
        "{}",
        words(&builder)
    );
}

#[test]
fn nothing_measured_and_no_line_are_said() {
    let mut builder = Builder::new();
    builder.cell("c", "disk", 8);
    builder.end.as_mut().unwrap().not_run.push(record::NotRun {
        cell: "c".to_owned(),
        repetitions: 3,
        reason: "budget".to_owned(),
    });
    assert_eq!(words(&builder), "UNCERTAIN nothing was measured: budget");

    let mut builder = confirmed_at(&[2.0; 3]);
    builder.run.need.samples_per_s = None;
    assert!(words(&builder).contains("the record states no need"));
}

#[test]
fn the_null_target_has_a_ceiling_and_no_verdict() {
    let mut builder = confirmed_at(&[2.0; 3]);
    builder.run.targets[0].storage = false;
    let summary = summarise(&builder.record());
    assert_eq!(summary.verdicts, []);
    assert_eq!(summary.ceilings[0].fastest.unwrap().queue_depth, 8);
}

#[test]
fn an_older_choice_keeps_its_verdict() {
    // Today's rule would confirm the shallower cell; the record confirmed the deeper one.
    let mut builder = confirmed_at(&[1.2; 3]);
    builder.cell("shallow", "disk", 4);
    (0..3).for_each(|number| builder.push(rep("shallow", number, 1.2 * Builder::LINE_BPS)));
    let verdict = verdict_of(&builder);
    assert_eq!((verdict.judgement, verdict.queue_depth), (Judgement::Feeds, Some(8)));
}

prop_compose! {
    /// Up to four cells with up to five repetitions of either role, some failed or interrupted.
    fn records()(
        shares in prop::collection::vec(prop::collection::vec((0.2..2.0_f64, 0..10_u8, any::<bool>()), 0..6), 1..4)
    ) -> Builder {
        let mut builder = Builder::new();
        let mut order = 0;
        for (index, reps) in shares.iter().enumerate() {
            let name = format!("c{index}");
            builder.cell(&name, "disk", 1 << index);
            for (number, (share, fate, confirms)) in reps.iter().enumerate() {
                let make = if *confirms { confirmation } else { rep };
                let mut one = make(&name, number as u32, share * Builder::LINE_BPS);
                one.order = order;
                order += 1;
                match fate {
                    0 => one.outcome = Outcome::Failed { reason: "drawn".to_owned() },
                    1 => one.outcome = Outcome::Interrupted,
                    2 => one.window_ns = 0,
                    _ => {}
                }
                builder.push(one);
            }
        }
        builder
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn feeds_never_with_the_lower_bound_below_the_line(builder in records()) {
        let verdict = verdict_of(&builder);
        if verdict.judgement == Judgement::Feeds {
            let interval = verdict.samples_per_s.unwrap();
            prop_assert!(interval.low >= verdict.line_samples_per_s.unwrap());
            prop_assert!(verdict.feeds.unwrap() >= 8);
        }
        if verdict.judgement == Judgement::Starves {
            prop_assert!(verdict.samples_per_s.unwrap().high < verdict.line_samples_per_s.unwrap());
            prop_assert!(verdict.feeds.unwrap() < 8);
        }
        prop_assert!(!verdict.sentence().is_empty());
    }

    #[test]
    fn interleaved_repetitions_alone_never_make_a_verdict(mut builder in records()) {
        builder.lines.retain(|line| !matches!(line, Line::Rep(rep) if rep.role == record::Role::Confirm));
        prop_assert_eq!(verdict_of(&builder).judgement, Judgement::Uncertain);
    }

    #[test]
    fn the_order_of_lines_does_not_matter((builder, shuffled) in records().prop_flat_map(|builder| {
        let lines = Just(builder.lines.clone()).prop_shuffle();
        let like = builder.clone();
        let shuffled = move |lines| {
            let mut builder = like.clone();
            builder.lines = lines;
            builder
        };
        (Just(builder), lines.prop_map(shuffled))
    })) {
        prop_assert_eq!(summarise(&builder.record()), summarise(&shuffled.record()));
    }
}

#[test]
fn wrong_bytes_in_any_cell_of_a_target_leave_it_open() {
    let mut builder = confirmed_at(&[1.1, 1.1, 1.1]);
    assert_eq!(verdict_of(&builder).judgement, Judgement::Feeds);
    builder.cell("other", "disk", 64);
    let mut wrong = rep("other", 0, 1e9);
    wrong.errors.insert("corrupt".to_owned(), 3);
    builder.push(wrong);
    assert_eq!(
        words(&builder),
        "UNCERTAIN 3 of 8 checked reads held wrong bytes; trust no figure of this storage; look for \
         what corrupts or rewrites its files; screen, cache open"
    );
    builder.edit_cell("other", |cell| cell.target = "elsewhere".to_owned());
    assert_eq!(verdict_of(&builder).judgement, Judgement::Feeds);
}

#[test]
fn bytes_in_the_page_cache_and_few_reads_leave_a_verdict_open() {
    let mut cached = confirmed_at(&[1.1, 1.1, 1.1]);
    cached.edit_reps("c", |rep| rep.cache.after_bytes = Some(rep.cache.total_bytes));
    let text = words(&cached);
    assert!(text.starts_with("UNCERTAIN not bypassed: 100 % resident after at depth 8"), "{text}");
    let mut few = confirmed_at(&[0.5, 0.5, 0.5]);
    few.edit_cell("c", |cell| cell.queue_depth = 1_024);
    let text = words(&few);
    assert!(text.starts_with("UNCERTAIN window of 4.4 queue turns: 20 are needed at depth 1024"), "{text}");
}

#[test]
fn a_job_that_is_fed_says_its_utilization_and_its_target() {
    assert_eq!(
        words(&confirmed_job(&[0.960, 0.961, 0.962])),
        "FEEDS 8 x h100 resnet50 with 8 readers, prefetch 8: AU 96.1 % (target 90 %), io_uring; files \
         opened one by one, names possibly in memory; screen, cache open"
    );
}

#[test]
fn a_job_that_starves_says_what_it_needs_and_why() {
    let verdict = verdict_of(&confirmed_job(&[0.712, 0.713, 0.714]));
    assert_eq!((verdict.judgement, verdict.feeds), (Judgement::Starves, None));
    assert_eq!(
        verdict.sentence(),
        "AU 71.3 % of the 90 % it needs with 8 readers, prefetch 8 (io_uring); latency-bound: \
         1.3 times as much in flight would do (11 readers); files opened one by one, names possibly in memory; screen, cache open"
    );
}

#[test]
fn a_job_at_the_target_by_chance_stays_open() {
    let text = words(&confirmed_job(&[0.88, 0.90, 0.92]));
    let expected = "UNCERTAIN interval straddles the line with 8 readers, prefetch 8 (io_uring): 94 to \
                    106 % of it; no number of rounds that pays would decide (3 rounds made)";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn a_job_is_fed_exactly_where_its_utilization_reaches_the_target() {
    for (au, judgement) in [(0.9, Judgement::Feeds), (0.899_9, Judgement::Starves)] {
        assert_eq!(verdict_of(&confirmed_job(&[au; 3])).judgement, judgement, "{au}");
    }
}

#[test]
fn a_job_of_a_demo_is_shown_with_its_utilization() {
    let mut builder = confirmed_job(&[0.95; 3]);
    builder.run.targets[0].demo = true;
    let text = verdict_of(&builder).sentence();
    assert!(text.starts_with("AU 95.0 % with 8 readers, prefetch 8 (io_uring)"), "{text}");
}

#[test]
fn a_job_of_other_accelerators_alone_has_no_verdict() {
    let mut builder = confirmed_job(&[0.95; 3]);
    builder.edit_cell("c", |cell| cell.training.as_mut().unwrap().accelerators = 4);
    let summary = summarise(&builder.record());
    assert!(summary.verdicts.is_empty());
    let words = "jobs of up to 4 accelerators were played, the need names 8: no verdict";
    assert_eq!(summary.unjudged[0].reason, words);
}

#[test]
fn a_job_that_failed_altogether_is_judged_as_failed() {
    let mut builder = confirmed_job(&[0.95; 3]);
    builder.edit_reps("c", |rep| rep.trained = None);
    builder.lines.retain(|line| matches!(line, Line::Rep(rep) if rep.role == record::Role::Measure));
    let summary = summarise(&builder.record());
    assert!(summary.unjudged.is_empty());
    assert!(
        matches!(&summary.verdicts[0].cause, Cause::AskedFailed { reason } if reason.contains("became of"))
    );
}

#[test]
fn a_job_just_below_its_target_shows_that_it_is() {
    let text = words(&confirmed_job(&[0.899_9; 3]));
    assert!(text.starts_with("STARVES AU 89.99 % of the 90.00 % it needs with 8 readers"), "{text}");
}

#[test]
fn a_verdict_on_huge_pages_says_so() {
    let sentence = |pages: Option<&str>| {
        let mut builder = confirmed_at(&[1.5; 3]);
        builder.edit_cell("c", |cell| cell.pages = pages.map(Into::into));
        summarise(&builder.record()).verdicts[0].sentence()
    };
    assert!(
        sentence(Some("huge")).contains("; into buffers of huge pages, which loaders do not have; screen")
    );
    assert_eq!(sentence(Some("base")), sentence(None));
}

#[test]
fn from_a_depth_on_is_said_where_the_deeper_ones_stand_at_the_line_too() {
    let with_deeper = |share: f64| {
        let mut builder = confirmed_at(&[1.1, 1.1, 1.1]);
        builder.cell("deeper", "disk", 16);
        (0..3).for_each(|number| builder.push(rep("deeper", number, share * Builder::LINE_BPS)));
        words(&builder)
    };
    assert!(with_deeper(1.05).contains(" from depth 8 (io_uring)"), "{}", with_deeper(1.05));
    assert!(with_deeper(0.9).contains(" at depth 8 (io_uring)"), "{}", with_deeper(0.9));
}
