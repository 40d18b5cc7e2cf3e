//! FFCV's files, made here as `ffcv/writer.py` makes them.

use formats::FormatError;
use plan::{Codec, Layout};
use proptest::prelude::*;

use crate::support::indexed;

const ROWS: u64 = 24 + 2 * 1041;
const PAGES: u64 = 4096;
const TABLE: u64 = 3 * 4096;

/// Two fields, three samples, and a table of these pieces.
fn beton(pieces: &[[u64; 3]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(2_u16.to_le_bytes());
    bytes.extend(2_u16.to_le_bytes());
    bytes.extend((8_u32 << 20).to_le_bytes());
    bytes.extend(3_u64.to_le_bytes());
    bytes.extend(TABLE.to_le_bytes());
    for (kind, name) in [(2_u8, b"image"), (3, b"notes")] {
        let mut field = vec![kind];
        field.extend(name);
        field.resize(1041, 0);
        bytes.extend(field);
    }
    assert_eq!(bytes.len() as u64, ROWS);
    bytes.resize(TABLE as usize, 7);
    bytes.extend(pieces.iter().flatten().flat_map(|number| number.to_le_bytes()));
    bytes
}

/// As two processes write them: out of order, each sample's pieces together.
const PIECES: [[u64; 3]; 5] =
    [[2, PAGES, 100], [2, PAGES + 100, 20], [0, PAGES + 200, 50], [0, PAGES + 300, 10], [1, PAGES + 400, 5]];

#[test]
fn samples_of_ffcv_are_found_by_its_table() {
    let file = beton(&PIECES);
    assert_eq!(formats::detect("shard", &file[..512]), Some((Layout::Ffcv, Codec::None)));
    assert_eq!(
        indexed(Layout::Ffcv, &file).unwrap(),
        [
            // Pieces that touch are read at once.
            (1, vec![(PAGES, 120)]),
            (1, vec![(PAGES + 200, 50), (PAGES + 300, 10)]),
            (1, vec![(PAGES + 400, 5)]),
        ]
    );
}

#[test]
fn hostile_files_of_ffcv_are_refused_with_what_is_wrong() {
    let edited = |at: usize, by: &[u8]| {
        let mut file = beton(&PIECES);
        file[at..at + by.len()].copy_from_slice(by);
        file
    };
    let piece = |piece: [u64; 3]| beton(&[PIECES[0], piece, PIECES[4]]);
    let far = [0xff; 8];
    for (file, reason) in [
        (edited(0, &[1, 0]), "version 1, of which only 2"),
        (edited(0, &[3, 0]), "version 3, of which only 2"),
        (edited(4, &[1, 0, 0, 0]), "pages of 1 B"),
        (edited(8, &[0; 8]), "no sample"),
        (edited(8, &far), "runs of pieces"),
        (edited(8, &[4]), "3 runs of pieces for 4 samples"),
        (edited(16, &[0; 8]), "where descriptions of fields lie"),
        (edited(16, &far), "cut off or empty"),
        (edited(2, &far[..2]), "where descriptions of fields lie"),
        (beton(&[]), "cut off or empty"),
        (beton(&PIECES)[..TABLE as usize + 25].to_vec(), "cut off or empty"),
        (beton(&PIECES)[..20].to_vec(), "ends inside the header"),
        (piece([3, PAGES, 1]), "a piece of sample 3"),
        (piece([0, 8, 1]), "a piece of sample 0 at 8"),
        (piece([0, TABLE - 1, 2]), "ends inside the piece"),
        (piece([0, 1 << 63, 1 << 63]), "ends inside the piece"),
        (piece([0, u64::MAX, u64::MAX]), "ends inside the piece"),
        (beton(&[PIECES[0], PIECES[2], PIECES[1], PIECES[4]]), "4 runs of pieces for 3 samples"),
    ] {
        let error = indexed(Layout::Ffcv, &file).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}, not {reason}");
    }
    assert!(matches!(indexed(Layout::Ffcv, b""), Err(FormatError::Empty)));
}

proptest! {
    #[test]
    fn any_edit_of_a_file_of_ffcv_is_looked_at(
        at in 0..TABLE as usize + 120,
        by in proptest::collection::vec(any::<u8>(), 1..10),
        end in 0..TABLE as usize + 120,
    ) {
        let mut file = beton(&PIECES);
        for (byte, new) in file[at..].iter_mut().zip(&by) {
            *byte = *new;
        }
        for file in [&file[..], &file[..end]] {
            for (_, extents) in indexed(Layout::Ffcv, file).unwrap_or_default() {
                for (offset, length) in extents {
                    prop_assert!(offset.checked_add(length).unwrap() <= file.len() as u64);
                }
            }
        }
    }
}
