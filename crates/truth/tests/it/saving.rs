//! Saves and restores of known truth.

use analysis::CheckpointPart;
use feed::Judgement;
use truth::{SavingClass, SavingFinding, SavingWorld};

fn findings(seed: u64) -> Vec<SavingFinding> {
    SavingWorld::of_seed(seed).findings().unwrap()
}

#[test]
fn no_word_on_saves_and_restores_is_wrong() {
    let (mut said, mut missed) = ([0, 0], Vec::new());
    for seed in 0..48 {
        for finding in findings(seed) {
            assert!(!finding.is_wrong(), "seed {seed}: {finding:?}");
            match finding.word {
                Judgement::Feeds => said[0] += 1,
                Judgement::Starves => said[1] += 1,
                Judgement::Uncertain => missed.extend(finding.is_missed().then_some((seed, finding))),
            }
        }
    }
    // Both words are there to be wrong, and doubt is no way out.
    assert!(said[0] > 15 && said[1] > 15, "{said:?}");
    assert!(missed.len() <= 2, "{missed:#?}");
}

#[test]
fn saves_and_restores_take_what_the_model_gives() {
    for seed in 0..16 {
        let world = SavingWorld::of_seed(seed);
        for finding in world.findings().unwrap() {
            let within = finding.verdict.within_s;
            let Some(time) = finding.verdict.timed.as_ref().and_then(|timed| timed.time_s) else { continue };
            let (need, most) = match finding.part {
                // A slow save of a dozen is not in every repetition.
                CheckpointPart::Write if world.class != SavingClass::Plain => continue,
                CheckpointPart::Write => (world.write_need, 3.0 * world.noise),
                CheckpointPart::Restore => (world.restore_need, 0.01 + 3.0 * world.noise),
            };
            let off = time.mean / (within / need) - 1.0;
            assert!(off.abs() < most, "seed {seed}, {:?}: {off} off", finding.part);
        }
    }
}

#[test]
fn each_class_keeps_from_feeding_what_it_spoils() {
    for class in [SavingClass::Failing, SavingClass::Kept, SavingClass::Hosts, SavingClass::Slow] {
        let is_so = |world: &SavingWorld| world.class == class && world.write_need > 1.9;
        let world = (0..10_000).map(SavingWorld::of_seed).find(is_so).unwrap();
        let write = &world.findings().unwrap()[0];
        assert_eq!(
            (write.part, write.word),
            (CheckpointPart::Write, Judgement::Uncertain),
            "{class:?}: {write:?}"
        );
    }
}

#[test]
fn a_world_of_saves_is_played_the_same_again() {
    assert_eq!(findings(3), findings(3));
}
