//! Samples made from a seed.

use decode::{Decoder, StandIn};
use plan::Work;
use proptest::prelude::*;

use crate::decode;

const WORKS: [Work; 4] = [Work::Gzip, Work::Zstd, Work::Jpeg, Work::Png];

fn off(made: usize, asked: u64) -> f64 {
    (made as f64 / asked as f64 - 1.0).abs()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_stand_in_is_within_5_percent_of_its_size_and_decodes(asked in 2048_u64..150_000, seed: u64) {
        for work in WORKS {
            let made = StandIn::new(work, asked, seed).unwrap();
            let name = work.name();
            let length = made.bytes().len();
            prop_assert!(off(length, asked) <= 0.05, "{name}: {length} for {asked}");
            let out = decode(work, made.bytes()).unwrap();
            prop_assert!(out > asked, "{name}: {out} of {asked}");
        }
    }
}

#[test]
fn large_stand_ins_keep_their_size_too() {
    for asked in [1 << 20, 3_000_000, 9_000_001] {
        for work in WORKS {
            let made = StandIn::new(work, asked, 7).unwrap();
            assert!(off(made.bytes().len(), asked) <= 0.05, "{} of {asked}", work.name());
        }
    }
}

#[test]
fn the_smallest_stand_ins_decode() {
    for work in WORKS {
        for asked in [0, 1, 20, 100, 500, 1000, 1999] {
            let made = StandIn::new(work, asked, asked).unwrap();
            let out = decode(work, made.bytes());
            assert!(out.is_ok(), "{} of {asked}: {out:?}", work.name());
        }
    }
}

#[test]
fn plain_data_of_archives_are_about_twice_as_large_and_pixels_five_times() {
    for (work, low, high) in
        [(Work::Gzip, 1.5, 2.5), (Work::Zstd, 1.3, 2.5), (Work::Jpeg, 4.8, 5.3), (Work::Png, 1.5, 2.0)]
    {
        let made = StandIn::new(work, 114_660, 1).unwrap();
        let ratio = decode(work, made.bytes()).unwrap() as f64 / made.bytes().len() as f64;
        assert!((low..high).contains(&ratio), "{}: {ratio}", work.name());
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_others() {
    for work in WORKS {
        let made = |seed| StandIn::new(work, 10_000, seed).unwrap().bytes().to_vec();
        assert_eq!(made(1), made(1), "{}", work.name());
        assert_ne!(made(1), made(2), "{}", work.name());
    }
}

/// The photograph depends on nothing but this crate: a change of its bytes changes what earlier runs measured.
#[test]
fn the_bytes_of_an_image_do_not_change_from_release_to_release() {
    let image = StandIn::new(Work::Jpeg, 114_660, 1).unwrap();
    assert_eq!((image.bytes().len(), crc32fast::hash(image.bytes())), (114_655, 4_069_131_314));
}

#[test]
fn a_decoder_with_a_stand_in_ignores_the_bytes_that_it_is_given() {
    for work in WORKS {
        let made = StandIn::new(work, 3000, 1).unwrap();
        let own = decode(work, made.bytes());
        let mut decoder = Decoder::new(work, Some(&made));
        assert_eq!(decoder.decode(b"random bytes"), own);
        assert_eq!(decoder.decode(&[]), own);
    }
}

#[test]
fn a_checksum_and_a_cost_need_no_stand_in() {
    assert!(StandIn::new(Work::Checksum, 1000, 1).is_none());
    assert!(StandIn::new(Work::Cost { per_sample_ns: 1 }, 1000, 1).is_none());
}
