use feed::Judgement;
use record::{Device, OtherProgram, Rep};

use crate::cell::diagnosis::symptom::Symptom;
use crate::cell::flag::{Flag, Gravity};
use crate::cell::training::Stall;
use crate::cell::training::bound::Bound;
use crate::fixture::{Builder, ceiling, confirmed_at, confirmed_job, figures, job_rep, null_control};
use crate::{Cause, ReadVerdict};

const SECOND_NS: u64 = 1_000_000_000;

/// The verdict where three repetitions reach this share of the line.
fn verdict(of_line: f64, edit: impl Fn(&mut Rep)) -> ReadVerdict {
    let mut builder = confirmed_at(&[of_line; 3]);
    builder.edit_reps("c", edit);
    crate::fixture::reads_of(&builder)
}

/// Its eight threads waited so long, added up.
fn waits(ns: u64) -> impl Fn(&mut Rep) {
    move |rep| rep.usage.waited_ns = Some(ns)
}

/// Others kept seven and a half of eight cores busy, and this process the rest of one.
fn crowded(rep: &mut Rep) {
    rep.usage.waited_ns = Some(2 * SECOND_NS);
    rep.usage.cpu_user_ns = SECOND_NS / 4;
    rep.usage.cpu_system_ns = SECOND_NS / 4;
    rep.system.core_busy_ns = vec![SECOND_NS; 8];
    let program = |name: &str, cpu_s: u64, read_bytes| OtherProgram {
        name: name.to_owned(),
        cpu_ns: cpu_s * SECOND_NS,
        read_bytes,
    };
    rep.system.others =
        vec![program("tar", 1, Some(1 << 30)), program("stress", 6, None), program("cron", 0, Some(9))];
}

/// The device delivered so many bytes for each of this process's own.
fn device(factor: f64) -> impl Fn(&mut Rep) {
    move |rep| {
        crowded(rep);
        rep.usage.waited_ns = Some(0);
        let own = rep.counters["bytes"];
        rep.system.process_read_bytes = Some(own);
        let read_bytes = (own as f64 * factor) as u64;
        let name = "nvme0n1".to_owned();
        rep.system.device = Some(Device { name, read_bytes, wall_ns: SECOND_NS, ..Device::default() });
    }
}

#[test]
fn threads_that_waited_for_a_processor_forbid_starves_alone() {
    let judged = |of_line, ns| verdict(of_line, waits(ns)).judgement;
    // 5 % of the time of eight threads in one second.
    assert_eq!(judged(0.5, 400_000_000), Judgement::Starves);
    assert_eq!(judged(0.5, 410_000_000), Judgement::Uncertain);
    assert_eq!(judged(1.5, 410_000_000), Judgement::Feeds);
    assert_eq!(
        verdict(0.5, |_| ()).judgement,
        Judgement::Starves,
        "records that do not tell are judged as they were"
    );
}

#[test]
fn who_held_the_processors_is_found() {
    let crowd = |edit: &dyn Fn(&mut Rep)| match verdict(0.5, edit).cause {
        Cause::Flagged(Flag::Waited { share, crowd }) => {
            assert!((share - 0.25).abs() < 1e-9);
            crowd
        }
        other => panic!("{other:?}"),
    };
    let others = crowd(&crowded).unwrap();
    assert!((others.others_cores - 7.5).abs() < 1e-9 && others.is_of_others(), "{others:?}");
    assert_eq!(others.names, ["stress", "tar"]);
    let own = crowd(&|rep| {
        crowded(rep);
        rep.usage.cpu_user_ns = 6 * SECOND_NS;
    });
    assert!(!own.unwrap().is_of_others());
    assert_eq!(crowd(&waits(2 * SECOND_NS)), None);
}

#[test]
fn a_client_whose_processors_others_held_is_not_called_limited() {
    let flags = |edit: fn(&mut Rep)| {
        let mut builder = confirmed_at(&[0.5; 3]);
        builder.push_ceiling(ceiling("c", false, 5_000, 1));
        builder.edit_reps("c", edit);
        figures(&builder, "c").flags
    };
    assert!(flags(|_| ())[0].is_client_limit(), "the ceiling is near");
    let crowded = flags(crowded);
    assert!(matches!(crowded[..], [Flag::Waited { .. }]), "{crowded:?}");
    let own = flags(|rep| {
        super::tests::crowded(rep);
        rep.usage.cpu_user_ns = 7 * SECOND_NS;
    });
    assert!(own.iter().any(Flag::is_client_limit), "its own threads fill its processors: {own:?}");
}

#[test]
fn others_bytes_above_a_tenth_of_the_devices_forbid_starves_alone() {
    assert_eq!(verdict(0.5, device(1.1)).judgement, Judgement::Starves, "9.1 % are others'");
    let starved = verdict(0.5, device(1.64));
    assert_eq!(starved.judgement, Judgement::Uncertain);
    let Cause::Flagged(flag) = starved.cause else { panic!("{:?}", starved.cause) };
    let Flag::OthersRead { share, names } = flag else { panic!("{flag:?}") };
    assert!((share - 0.39).abs() < 5e-3 && names == ["tar", "cron"], "{share} {names:?}");
    assert_eq!(verdict(1.5, device(1.64)).judgement, Judgement::Feeds);
}

#[test]
fn bytes_that_others_write_to_the_device_forbid_starves_alone() {
    let written = |factor: f64| {
        move |rep: &mut Rep| {
            device(1.0)(rep);
            let own = rep.counters["bytes"] as f64;
            rep.system.device.as_mut().unwrap().write_bytes = (own * factor) as u64;
        }
    };
    assert_eq!(verdict(0.5, written(0.1)).judgement, Judgement::Starves, "9.1 % are written");
    let starved = verdict(0.5, written(0.5));
    assert_eq!(starved.judgement, Judgement::Uncertain);
    assert!(matches!(starved.cause, Cause::Flagged(Flag::OthersWrote { .. })), "{:?}", starved.cause);
    assert_eq!(verdict(1.5, written(0.5)).judgement, Judgement::Feeds);
}

#[test]
fn what_the_hypervisor_took_from_the_threads_forbids_starves() {
    // One processor of 64 is stolen: little of the machine, and half of what one busy thread has.
    let stolen = |rep: &mut Rep| {
        rep.usage.steal_ns = Some(SECOND_NS);
        (rep.usage.cpu_user_ns, rep.usage.cores) = (SECOND_NS, 64);
        rep.system.core_busy_ns = vec![SECOND_NS; 2];
    };
    let mut builder = confirmed_at(&[0.5; 3]);
    builder.edit_reps("c", stolen);
    let flag =
        figures(&builder, "c").flags.into_iter().find(|flag| matches!(flag, Flag::Stolen { .. })).unwrap();
    assert_eq!((flag.clone(), flag.gravity()), (Flag::Stolen { share: 0.125 }, Gravity::ForbidsStarves));
    assert_eq!(verdict(0.5, stolen).judgement, Judgement::Uncertain);
    assert_eq!(verdict(1.5, stolen).judgement, Judgement::Feeds);
}

#[test]
fn a_job_that_others_kept_from_the_processors_is_not_client_bound() {
    let played = |edit: &dyn Fn(&mut Rep)| {
        let mut builder: Builder = confirmed_job(&[]);
        let mut one = job_rep("c", 0, Stall { client: 0.4, ..Stall::default() }, 64.0);
        edit(&mut one);
        builder.push(one);
        builder.push_ceiling(null_control("c", 0.7));
        figures(&builder, "c")
    };
    let bound = |edit: &dyn Fn(&mut Rep)| played(edit).training.unwrap().diagnosis.unwrap();
    assert_eq!(bound(&|_| ()).bound, Bound::Client);
    let beside = |rep: &mut Rep| {
        crowded(rep);
        let wall_ns = rep.usage.wall_ns;
        rep.usage.waited_ns = Some(2 * wall_ns);
        rep.system.core_busy_ns = vec![wall_ns; 8];
    };
    let found = bound(&beside);
    assert_eq!(found.bound, Bound::Others);
    let by_others = |symptom: &Symptom| matches!(symptom, Symptom::Flagged(flag) if flag.is_crowd());
    assert!(by_others(&found.symptoms[0]), "{:?}", found.symptoms);
    let flags = played(&beside).flags;
    assert!(!flags.iter().any(Flag::is_client_limit), "{flags:?}");
    let of_client = |flag: &Flag| matches!(flag, Flag::WaitsElsewhere { cause: Bound::Client, .. });
    assert!(!flags.iter().any(of_client), "{flags:?}");
}
