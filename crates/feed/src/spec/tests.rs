use proptest::prelude::*;

use super::*;
use crate::{PROFILES, Provenance};

fn of_profile(workload: &str, accelerator: &str, count: u32, hosts: u32) -> NeedSpec {
    let (workload, accelerator) = (workload.to_owned(), accelerator.to_owned());
    NeedSpec::Profile { workload, accelerator, count, hosts, utilization: None }
}

fn of_batch(batch: u32, step_time_s: f64, sample_bytes: u64, count: u32) -> NeedSpec {
    NeedSpec::Batch { batch, step_time_s, sample_bytes, count, hosts: 1, utilization: None }
}

fn of_tokens(tokens_per_s: f64, hosts: u32) -> NeedSpec {
    NeedSpec::Tokens { tokens_per_s, token_bytes: 2.0, hosts, utilization: None }
}

#[track_caller]
fn error_of(result: Result<Need, NeedError>) -> String {
    result.expect_err("refused").to_string()
}

#[track_caller]
fn assert_close(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 1e-9, "{value} is not {expected}");
}

#[test]
fn eight_h100_of_resnet50() {
    let need = of_profile("resnet50", "h100", 8, 1).resolve().expect("in the table");
    assert_eq!(need.label, "8 x h100 resnet50");
    assert_eq!(need.source, "MLPerf Storage 2.0, measured");
    assert_eq!(need.provenance, Some(Provenance::Measured));
    assert_eq!((need.accelerators, need.hosts, need.utilization), (8, 1, 0.90));
    assert_eq!((need.batch, need.step_time_s), (Some(400), Some(0.224)));
    assert_eq!((need.readers, need.prefetch), (Some(8), Some(2)));
    assert_eq!(need.sample_bytes(), Some(114_660.07));
    assert!(need.caveats.is_empty());
    assert_close(need.demand_samples_per_s(1.0), 3_200.0 / 0.224);
    assert_close(need.line_samples_per_s(1.0), 0.9 * 3_200.0 / 0.224);
}

#[test]
fn every_profile_resolves_with_its_own_threshold_and_caveat() {
    for profile in PROFILES {
        let need = of_profile(profile.workload, profile.accelerator, 1, 1).resolve().expect("in the table");
        assert_close(need.utilization, profile.utilization);
        assert_eq!(need.provenance, Some(profile.provenance));
        assert_eq!(need.caveats.concat(), profile.caveat);
    }
}

#[test]
fn hosts_share_the_accelerators_equally_or_not_at_all() {
    let need = of_profile("resnet50", "h100", 64, 8).resolve().expect("equal shares");
    assert_eq!((need.accelerators, need.hosts), (8, 8));
    assert_eq!(need.label, "8 x h100 resnet50, one of 8 hosts");
    assert_close(need.demand_samples_per_s(1.0), 3_200.0 / 0.224);

    assert_eq!(
        error_of(of_profile("resnet50", "h100", 10, 4).resolve()),
        "10 accelerators cannot be shared equally by 4 hosts\n  \
         hint: count is that of all hosts together: write a multiple of 4"
    );
}

#[test]
fn only_words_in_each_others_place_are_called_swapped() {
    let error = |workload, accelerator| of_profile(workload, accelerator, 1, 1).resolve().unwrap_err();
    assert!(matches!(error("h100", "resnet50"), NeedError::Swapped { .. }));
    for (workload, accelerator) in [("h100", "h100"), ("resnet50", "resnet50"), ("resnet50", "h1000")] {
        assert!(
            !matches!(error(workload, accelerator), NeedError::Swapped { .. }),
            "{workload} {accelerator}"
        );
    }
}

#[test]
fn the_users_own_step_is_the_same_arithmetic() {
    let need = of_batch(400, 0.224, 114_660, 8).resolve().expect("plausible");
    assert_eq!(need.label, "batch 400 / 0.224 s x 8");
    assert_eq!((need.provenance, need.utilization), (None, 0.90));
    assert_eq!((need.readers, need.prefetch), (None, None), "nobody measured with them");
    assert_eq!(need.source, "stated by the user");
    assert_close(need.demand_bps(114_660.0), 3_200.0 / 0.224 * 114_660.0);
}

#[test]
fn a_rate_is_bytes() {
    let of = |utilization| NeedSpec::Rate { bytes_per_s: 2.5e9, utilization }.resolve().expect("plausible");
    let need = of(Some(0.8));
    assert_eq!(need.label, "2.5 GB/s");
    let demand = Demand::Bytes { per_s: 2.5e9, sample_bytes: None };
    assert_eq!((need.demand, need.utilization, need.accelerators), (demand, 0.8, 0));
    assert_close(of(None).line_bps(1.0), 2.5e9);
}

#[test]
fn tokens_are_bytes_shared_by_the_hosts() {
    let need = of_tokens(2e6 / 3.0, 64).resolve().expect("plausible");
    assert_eq!(need.label, "667 k tokens/s, one of 64 hosts");
    assert!(need.caveats.is_empty(), "{:?}", need.caveats);
    assert_close(need.demand_bps(1.0), 2e6 / 3.0 * 2.0 / 64.0);
    assert_close(need.utilization, 0.90);
}

/// Claim C77: the article's 667 M tokens/s is a thousand times the truth, and F04 shows it.
#[test]
fn a_corpus_read_within_the_hour_is_impossible() {
    assert_eq!(
        error_of(of_tokens(667e6, 64).resolve()),
        "impossible need: at 667 M tokens/s a corpus of 2 T tokens is read in 50 min\n  \
         hint: tokens_per_second is tokens per step divided by the step time in seconds"
    );
}

/// Claim C25: 2 M tokens are what the article's step holds, not what eight accelerators train on in a
/// second (F05).
#[test]
fn a_corpus_read_within_six_hours_is_impossible() {
    let within = |hours: f64| of_tokens(2e12 / (hours * 3_600.0), 1_000_000).resolve();
    assert!(error_of(within(5.99)).contains("a corpus of 2 T tokens is read in"));
    assert!(within(6.01).is_ok());
}

#[test]
fn a_rate_beyond_the_compute_of_its_hosts_is_remarked_on() {
    let caveats = of_tokens(2e6, 1).resolve().expect("resolved with a caveat").caveats;
    assert_eq!(
        caveats,
        ["8 h100 at 40 % of their peak train a model of 10^9 parameters on at most 527 k tokens/s, larger \
          ones on fewer: is 2 M the number per step, or are there more hosts than 1?"]
    );
    assert!(of_tokens(2e6, 4).resolve().expect("plausible").caveats.is_empty());
}

#[test]
fn a_need_beyond_the_links_of_a_host_is_remarked_on() {
    // Milliseconds written as if they were microseconds: 0.000224 s for 0.224 s.
    let caveats = of_batch(400, 0.000_224, 114_660, 8).resolve().expect("resolved with caveats").caveats;
    assert_eq!(
        caveats,
        [
            "each accelerator would take 205 GB/s, more than PCIe 5.0 x16 carries (63 GB/s): check the step \
             time and the batch",
            "one host would take 1.64 TB/s, more than eight 400 Gb/s ports carry (400 GB/s): state how many \
             hosts share the need",
        ]
    );
}

#[test]
fn an_endless_demand_is_impossible() {
    let error = error_of(of_batch(400, 1e-300, 114_660, 8).resolve());
    assert!(error.starts_with("impossible need: the demand is more than 18.4 EB per second"), "{error}");
    let error = error_of(NeedSpec::Rate { bytes_per_s: 1e30, utilization: None }.resolve());
    assert!(error.starts_with("impossible need"), "{error}");
}

#[test]
fn numbers_that_say_nothing_are_refused_by_the_name_of_their_key() {
    let rate = |bytes_per_s| NeedSpec::Rate { bytes_per_s, utilization: None };
    let of = |spec: NeedSpec| match spec.resolve() {
        Err(NeedError::NotAboveZero { key, .. }) => key,
        other => panic!("{other:?}"),
    };
    assert_eq!(of(rate(0.0)), "rate");
    assert_eq!(of(rate(-1.0)), "rate");
    assert_eq!(of(rate(f64::NAN)), "rate");
    assert_eq!(of(rate(f64::INFINITY)), "rate");
    assert_eq!(of(of_batch(0, 0.2, 1_000, 8)), "batch");
    assert_eq!(of(of_batch(4, f64::NAN, 1_000, 8)), "step_time");
    assert_eq!(of(of_batch(4, -0.2, 1_000, 8)), "step_time");
    assert_eq!(of(of_batch(4, 0.2, 0, 8)), "sample_size");
    assert_eq!(of(of_batch(4, 0.2, 1_000, 0)), "count");
    assert_eq!(of(of_profile("resnet50", "h100", 8, 0)), "hosts");
    assert_eq!(of(of_tokens(0.0, 1)), "tokens_per_second");
    assert_eq!(of(of_tokens(1e3, 0)), "hosts");
}

#[test]
fn the_line_lies_within_the_demand() {
    for utilization in [0.0, -0.5, 1.01, 90.0, f64::NAN] {
        let spec = NeedSpec::Rate { bytes_per_s: 1e9, utilization: Some(utilization) };
        assert!(matches!(spec.resolve(), Err(NeedError::Utilization { .. })), "{utilization}");
    }
}

#[test]
fn unknown_names_list_what_is_known() {
    let step = "need = { batch = 400, step_time = \"224ms\", sample_size = \"114660 B\", count = 8 }";
    assert_eq!(
        error_of(of_profile("resnet", "h100", 8, 1).resolve()),
        format!(
            "unknown workload `resnet`, did you mean `resnet50`?\n  hint: known are unet3d, resnet50, cosmoflow, \
             retinanet, flux, dlrm, vit-l16, llama3-8b, llama3-70b, llama3-405b; for any other, state {step}, or a rate"
        )
    );
    // The figures of one accelerator say nothing of another: none stands in.
    for accelerator in ["h200", "gb200", "h1000", "b200"] {
        assert_eq!(
            error_of(of_profile("resnet50", accelerator, 8, 1).resolve()),
            format!(
                "there is no profile of resnet50 on `{accelerator}`\n  hint: state what it does in one step: \
                 {step}; profiles of resnet50: a100, h100"
            )
        );
    }
    assert!(!error_of(of_profile("llama", "h100", 8, 1).resolve()).contains("did you mean"));
    assert_eq!(
        error_of(of_profile("h100", "resnet50", 8, 1).resolve()),
        "`h100` is an accelerator and `resnet50` a workload\n  hint: swap them: h100:resnet50 in the short \
         form"
    );
}

#[test]
fn jobs_without_figures_are_refused_by_name() {
    let error = |name| error_of(of_profile(name, "h100", 8, 1).resolve());
    for (name, says) in [
        ("ViT-L", "hint: ViT-L has a profile of one RTX 3090, vit-l16; for another accelerator state a step"),
        ("llama-7b", "no profile is of 7B, so take llama3-8b, or state tokens_per_second"),
        ("llama2-70b", "is llama3-70b; for another model state tokens_per_second"),
        ("video", "16 frames of 224 x 224 are 2.41 MB raw"),
    ] {
        let error = error(name);
        assert!(error.contains(says) && error.contains("for any other, state need = {"), "{error}");
        // Another model's name would be taken by whoever is in a hurry, and its figures with it.
        assert!(!error.contains("did you mean"), "{error}");
    }
    // Slips of a known name are still slips.
    assert!(error("lama3-8b").contains("did you mean `llama3-8b`"));
}

/// The figures that those refusals give.
#[test]
fn refusals_give_figures_that_follow() {
    let flop_an_image = 304e6 * 197.0 * 6.0;
    assert!((2_752.0..2_753.0).contains(&(0.989e15 / flop_an_image)));
    assert_eq!(224 * 224 * 16 * 3, 2_408_448);
}

#[test]
fn the_short_form() {
    let eight = of_profile("resnet50", "h100", 8, 1);
    for text in ["8xh100:resnet50", " 8 x h100:resnet50 ", "8 x h100 : resnet50", "8\u{d7}h100:resnet50"] {
        assert_eq!(NeedSpec::parse_short(text).as_ref(), Ok(&eight), "{text}");
    }
    assert_eq!(NeedSpec::parse_short("h100:resnet50"), Ok(of_profile("resnet50", "h100", 1, 1)));
    assert_eq!(
        NeedSpec::parse_short("25 Gb/s"),
        Ok(NeedSpec::Rate { bytes_per_s: 3.125e9, utilization: None })
    );
}

#[test]
fn a_wrong_short_form_says_what_to_write() {
    let error = |text: &str| NeedSpec::parse_short(text).expect_err("refused").to_string();
    let shape =
        "\n  hint: write COUNTxACCELERATOR:WORKLOAD, for example 8xh100:resnet50, or a rate such as 2.5 GB/s";
    for text in
        ["", "resnet50", "8xh100", "8 h100:resnet50", "8x:resnet50", "8xh100:", "8xh100:resnet50:x", "x/s"]
    {
        assert_eq!(error(text), format!("`{text}` is not a need{shape}"));
    }
    for count in ["0", "4294967296"] {
        assert_eq!(
            error(&format!("{count}xh100:resnet50")),
            format!(
                "`{count}` is not a number of accelerators\n  hint: write a whole number from 1 to \
                 1,000,000"
            )
        );
    }
    assert_eq!(error("2.5 GB"), "`GB` in `2.5 GB` is not a unit of a rate: write 2.5 GB/s");
    assert!(error("-2.5 GB/s").contains("is negative"));
    // Of the right form, and of no model that is known.
    for name in ["a_b", "a.b", "a-b"] {
        let spec = NeedSpec::parse_short(&format!("8xh100:{name}")).unwrap();
        assert!(error_of(spec.resolve()).contains(&format!("`{name}`")));
    }
}

proptest! {
    #[test]
    fn any_text_is_a_need_or_an_error_with_a_hint(text in "\\PC{0,30}") {
        if let Err(error) = NeedSpec::parse_short(&text).and_then(|spec| spec.resolve()) {
            prop_assert!(error.to_string().contains("hint: ") || error.to_string().contains(": write "));
        }
    }

    #[test]
    fn every_profile_can_be_written_short(count in 1..=COUNT_MAX, index in 0..PROFILES.len()) {
        let profile = &PROFILES[index];
        let text = format!("{count}x{}:{}", profile.accelerator, profile.workload);
        let expected = of_profile(profile.workload, profile.accelerator, count, 1);
        prop_assert_eq!(NeedSpec::parse_short(&text), Ok(expected));
    }

    #[test]
    fn what_resolves_is_finite_and_draws_its_line_within_the_demand(
        batch: u32, step_time_s: f64, sample_bytes: u64, count: u32, hosts in 0..64u32,
        utilization: Option<f64>,
    ) {
        let spec = NeedSpec::Batch { batch, step_time_s, sample_bytes, count, hosts, utilization };
        if let Ok(need) = spec.resolve() {
            let own_bytes = need.sample_bytes().expect("a batch has samples");
            prop_assert!(need.demand_bps(own_bytes).is_finite() && need.demand_bps(own_bytes) >= 0.0);
            prop_assert!(need.line_bps(own_bytes) <= need.demand_bps(own_bytes));
            prop_assert_eq!(u64::from(need.accelerators) * u64::from(need.hosts), u64::from(count));
            prop_assert!(need.explain().lines().count() > 5);
        }
    }
}

#[test]
fn needs_at_once_are_added_up() {
    let job = |accelerator: &str, workload: &str| {
        let (workload, accelerator) = (workload.to_owned(), accelerator.to_owned());
        NeedSpec::Profile { workload, accelerator, count: 8, hosts: 1, utilization: None }.resolve().unwrap()
    };
    let resnet = job("h100", "resnet50");
    let of = |bytes_per_s: f64| NeedSpec::Rate { bytes_per_s, utilization: Some(0.9) }.resolve().unwrap();
    let written =
        |bytes_per_s: f64| NeedSpec::WriteRate { bytes_per_s, utilization: Some(0.9) }.resolve().unwrap();
    let together = |needs: &[&Need]| {
        Need::together(needs.iter().map(|need| (*need).clone()).collect()).unwrap().unwrap()
    };

    let alone = together(&[&resnet]);
    assert_eq!(alone, resnet);
    let beside_writes = together(&[&written(1e9), &resnet, &written(2e9)]);
    assert_eq!(
        (beside_writes.demand, beside_writes.accelerators),
        (resnet.demand, 8),
        "one job knows its samples"
    );
    assert_eq!(beside_writes.write_bps, Some(3e9));
    assert_eq!(beside_writes.label, "1 GB/s written and 8 x h100 resnet50 and 2 GB/s written");

    let two = together(&[&resnet, &of(1e9).with_writes(5e8).unwrap(), &written(1e9)]);
    let own_bps = resnet.demand_bps(resnet.sample_bytes().unwrap());
    assert_eq!(two.demand, Demand::Bytes { per_s: own_bps + 1e9, sample_bytes: None });
    assert_eq!((two.accelerators, two.write_bps, two.utilization), (0, Some(1.5e9), 0.9));

    let parts = |needs: &[&Need]| {
        together(needs).parts.into_iter().map(|part| (part.label, part.bytes_per_s)).collect::<Vec<_>>()
    };
    let of_resnet = ("8 x h100 resnet50".to_owned(), own_bps);
    assert_eq!(parts(&[&of(1e9), &resnet]), [("1 GB/s".to_owned(), 1e9), of_resnet], "as they were listed");
    assert_eq!(parts(&[&written(1e9), &written(2e9)]).len(), 2);
    assert_eq!(parts(&[&resnet, &of(1e9), &written(1e9)]), [], "no part is of what reads and writes at once");
    assert_eq!(parts(&[&resnet]), []);

    let job_that_writes = resnet.clone().with_writes(5e8).unwrap();
    assert_eq!(job_that_writes.label, "8 x h100 resnet50 and 500 MB/s written");

    let writes = together(&[&written(1e9), &written(2e9)]);
    assert_eq!((writes.writes, writes.write_bps, writes.demand_bps(1.0)), (true, None, 3e9));
    assert!(Need::together(Vec::new()).unwrap().is_none());
}

/// Whatever comes first, a sum says what is known of any of its parts.
#[test]
fn needs_of_a_sum_say_who_shares_them_and_where_they_come_from() {
    let rate = NeedSpec::Rate { bytes_per_s: 1e9, utilization: Some(0.9) }.resolve().unwrap();
    let here = Need { scope: crate::Scope::Host, ..rate.clone() };
    let shared = NeedSpec::Profile {
        workload: "resnet50".to_owned(),
        accelerator: "h100".to_owned(),
        count: 8,
        hosts: 4,
        utilization: None,
    };
    let shared = shared.resolve().unwrap();
    let together = |needs: [&Need; 2]| Need::together(needs.map(Clone::clone).to_vec()).unwrap().unwrap();
    for needs in [[&here, &shared], [&shared, &here]] {
        let sum = together(needs);
        assert_eq!((sum.hosts, sum.provenance, sum.scope), (4, shared.provenance, crate::Scope::Host));
        assert_eq!(sum.source, format!("{}; {}", needs[0].source, needs[1].source));
    }
    assert_eq!(together([&rate, &rate]).source, rate.source, "once");
    // Of two jobs that read nobody knows which sample, step or accelerator is meant, and every remark stands.
    let jobs = together([&shared, &Need { caveats: vec!["a remark".to_owned()], ..shared.clone() }]);
    assert_eq!((jobs.count, jobs.accelerators, jobs.batch, jobs.step_time_s), (0, 0, None, None));
    assert_eq!((jobs.readers, jobs.prefetch, jobs.hold), (None, None, None));
    assert!(jobs.caveats.contains(&"a remark".to_owned()), "{:?}", jobs.caveats);
    assert_eq!(together([&rate, &rate]).scope, crate::Scope::Cluster);
    let tokens = of_tokens(1e6, 4).resolve().unwrap();
    assert_eq!(tokens.hosts, 4);
    let whole = NeedSpec::Rate { bytes_per_s: 1e9, utilization: Some(1.0) };
    assert_eq!(whole.resolve().map(|need| need.utilization), Ok(1.0), "the most there is");
}

/// What one host carries is the sum, and each direction for itself.
#[test]
fn needs_at_once_are_held_against_a_host_together() {
    let reads = |bytes_per_s: f64| NeedSpec::Rate { bytes_per_s, utilization: None }.resolve().unwrap();
    let together = |needs: Vec<Need>| Need::together(needs).map(|need| need.unwrap().caveats);
    let two = |verb: &str, rate: &str| {
        format!(
            "one host would {verb} {rate}, more than eight 400 Gb/s ports carry (400 GB/s): state how many hosts share the need"
        )
    };
    assert_eq!(together(vec![reads(300e9), reads(300e9)]).unwrap(), [two("take", "600 GB/s")]);
    let three = together(vec![reads(500e9), reads(500e9), reads(1e12)]).unwrap();
    assert_eq!(three, [two("take", "2 TB/s")], "once, of all");
    let mix = reads(1e9).with_writes(600e9).unwrap();
    assert_eq!(mix.caveats, [two("write", "600 GB/s")]);
    assert!(together(vec![mix.clone()]).unwrap() == mix.caveats);
    assert_eq!(reads(500e9).with_writes(1e9).unwrap().caveats, [two("take", "500 GB/s")], "once");
    // Full duplex: neither direction is more than ports carry.
    assert!(reads(300e9).with_writes(300e9).unwrap().caveats.is_empty());
    let written = NeedSpec::WriteRate { bytes_per_s: 600e9, utilization: None }.resolve().unwrap();
    assert_eq!(written.caveats, [two("write", "600 GB/s")]);
    // As 20 EB/s are alone.
    let error = together(vec![reads(10e18), reads(10e18)]).expect_err("refused").to_string();
    assert!(error.starts_with("impossible need: the demand is more than 18.4 EB per second"), "{error}");
    let error = reads(10e18).with_writes(10e18).expect_err("refused").to_string();
    assert!(error.starts_with("impossible need"), "{error}");
}

#[test]
fn a_need_of_checkpoints_beside_others_keeps_their_line() {
    let asked = crate::CheckpointNeed {
        label: "1 GB".to_owned(),
        bytes: 1 << 30,
        host_bytes: 1 << 30,
        hosts: 1,
        within_ns: 1,
        every_ns: None,
        restore_within_ns: None,
        kind: crate::SaveKind::default(),
        beside_others: false,
    };
    let of_hosts = Need::of_checkpoints(crate::CheckpointNeed { hosts: 8, ..asked.clone() });
    assert_eq!((of_hosts.hosts, of_hosts.utilization), (8, 1.0));
    let rate = NeedSpec::WriteRate { bytes_per_s: 1e9, utilization: Some(0.5) }.resolve().unwrap();
    let both = Need::together(vec![Need::of_checkpoints(asked.clone()), rate]).unwrap().unwrap();
    assert_eq!((both.line_bps(1.0), both.writes), (0.5e9, true));
    // Whose line it is goes on while they are written.
    let beside = crate::CheckpointNeed { beside_others: true, ..asked.clone() };
    assert_eq!(both.checkpoint, Some(beside.clone()));

    let job = || NeedSpec::parse_short("8xh100:resnet50").unwrap().resolve().unwrap();
    let own = Need::together(vec![job().with_checkpoints(asked.clone())]).unwrap().unwrap();
    assert_eq!(own.checkpoint, Some(asked.clone()), "a job's own stop it");
    let two = Need::together(vec![job(), job().with_checkpoints(asked)]).unwrap().unwrap();
    assert_eq!(two.checkpoint, Some(beside));
}
