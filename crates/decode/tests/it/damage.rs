//! Bytes that no encoder wrote end in an error and never in a panic.

use decode::{Decoder, StandIn};
use plan::Work;
use proptest::prelude::*;

const WORKS: [Work; 4] = [Work::Gzip, Work::Zstd, Work::Jpeg, Work::Png];

/// First bytes that lead into each decoder.
const BEGINNINGS: [&[u8]; 4] = [
    &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0],
    &[0x28, 0xb5, 0x2f, 0xfd],
    &[0xff, 0xd8, 0xff],
    b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR",
];

proptest! {
    #[test]
    fn random_bytes_never_panic(noise: Vec<u8>) {
        for (work, beginning) in WORKS.into_iter().zip(BEGINNINGS) {
            let mut decoder = Decoder::new(work, None);
            let _ = decoder.decode(&noise);
            let _ = decoder.decode(&[beginning, &noise].concat());
        }
    }

    #[test]
    fn damaged_samples_never_panic_and_cut_ones_are_refused(
        seed: u64, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end: prop::sample::Index,
    ) {
        for work in WORKS {
            let sample = StandIn::new(work, 2500, seed).unwrap();
            let mut decoder = Decoder::new(work, None);
            let mut bytes = sample.bytes().to_vec();
            prop_assert!(decoder.decode(&bytes[..end.index(bytes.len())]).is_err());
            for (at, value) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *value;
            }
            let _ = decoder.decode(&bytes);
            prop_assert!(decoder.decode(sample.bytes()).is_ok());
        }
    }
}

proptest! {
    #[test]
    fn damaged_files_of_other_encoders_never_panic(
        at: prop::sample::Index, value: u8, which in 0_usize..5,
    ) {
        let images = crate::jpeg::IMAGES;
        let mut bytes = images[which].to_vec();
        let at = at.index(bytes.len());
        bytes[at] = value;
        let _ = Decoder::new(Work::Jpeg, None).decode(&bytes);
    }
}
