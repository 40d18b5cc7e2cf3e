//! What is written for a need of checkpoints, where no table says how much.

use feed::{CheckpointModel, CheckpointNeed, SaveKind};
use plan::Checkpoint;

/// Share of the free room that checkpoints take at most.
// A disk that is full to its end writes slower, and others write to it too.
const ROOM_PART: f64 = 0.9;

/// What one host writes of a checkpoint of `need`: what to call it, bytes, files. Each accelerator writes a file where no model
/// says who writes what.
pub(super) fn size(
    need: &CheckpointNeed,
    model: Option<CheckpointModel>,
    accelerators: u32,
) -> (String, u64, u32) {
    let label = if need.hosts > 1 {
        format!("{}, one of {} hosts", need.label, need.hosts)
    } else {
        need.label.clone()
    };
    let files = model.map(|model| model.host_share(model.processes().div_ceil(need.hosts)).files);
    (label, need.host_bytes, files.unwrap_or(accelerators))
}

/// The largest power of two bytes of a checkpoint that fits into `free_bytes` with those that lie beside it, and with one to
/// restore; `None` where all of it fits, and where no byte for each file does.
// A power of two: cells are named by what they write, and the free room differs from run to run.
pub(super) fn fitting(of: &Checkpoint, free_bytes: u64, is_restored: bool) -> Option<Checkpoint> {
    let room_bytes = (free_bytes as f64 * ROOM_PART) as u64;
    let fits = |of: &Checkpoint| {
        let restored = if is_restored { of.bytes() } else { 0 };
        of.disk_bytes().saturating_add(restored) <= room_bytes
    };
    if fits(of) {
        return None;
    }
    let files = u64::from(of.files);
    let powers = (0..=of.bytes().max(1).ilog2()).rev().map(|power| 1_u64 << power);
    let parts = powers.take_while(|bytes| *bytes >= files).map(|bytes| {
        let part = Checkpoint { file_bytes: bytes / files, ..of.clone() };
        let label = format!("{}, {} of it", of.label, feed::format_bytes(part.bytes()));
        Checkpoint { label, ..part }
    });
    parts.into_iter().find(|part| part.bytes() < of.bytes() && fits(part))
}

/// Beside which jobs checkpoints are written by default. Both kinds, where nobody needs one of them.
pub(super) fn kinds(need: Option<&CheckpointNeed>) -> Vec<SaveKind> {
    match need.map(|need| need.kind) {
        // A job that stands still reads no more than it fetches ahead, so that writes alone are what the storage sees. What a
        // job loses follows from their time: a run is too short for saves that come every half hour.
        Some(SaveKind::Sync) => Vec::new(),
        Some(SaveKind::Async) => vec![SaveKind::Async],
        None => vec![SaveKind::Sync, SaveKind::Async],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(files: u32, file_bytes: u64) -> Checkpoint {
        Checkpoint {
            label: "1 GB".to_owned(),
            files,
            file_bytes,
            to: 0,
            durable: true,
            keep: 2,
            block_bytes: 8 << 20,
        }
    }

    #[test]
    fn what_fits_is_left_as_it_is_and_else_a_power_of_two_of_it_is_written() {
        let whole = checkpoint(4, 250_000_000);
        assert_eq!(fitting(&whole, 10_000_000_000, true), None);
        // Four of them lie there at once, and a tenth of the room is left to others.
        let part = fitting(&whole, 4_000_000_000, true).unwrap();
        assert_eq!((part.files, part.bytes(), part.label.as_str()), (4, 1 << 29, "1 GB, 512 MiB of it"));
        assert_eq!(fitting(&whole, 3_800_000_000, true), fitting(&whole, 4_000_000_000, true));
        assert_eq!(fitting(&whole, 3_800_000_000, false), None, "without one to restore all of it fits");
        assert_eq!(fitting(&whole, 3_000_000_000, false).unwrap().bytes(), 1 << 29);
        assert_eq!(fitting(&whole, 1_000, true), None, "then it is refused");
    }
}
