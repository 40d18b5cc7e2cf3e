//! Requests and bytes of one sample and of one copy, by how samples lie in their objects.

use plan::{Access, Cell, Charged, Copy, DatasetSpec, Generate, Layout, Operation, Packing, Task};
use prepare::Prepared;

/// Objects of feedline's own in a dataset: its marker and its manifest.
// Two PUTs more are nothing beside a dataset, but a plan that counts to the object is believed.
const OWN_OBJECTS: u64 = 2;

/// What one sample asks of a service, or one copy.
#[derive(Debug, PartialEq)]
pub(super) struct SampleRequests {
    /// Requests that read.
    pub(super) reads: f64,
    /// Bytes that are read, or put.
    pub(super) bytes: f64,
    /// Objects that are put.
    pub(super) writes: f64,
}

/// Objects that feedline puts for a dataset, its own included; `None` for the user's.
pub(super) fn objects(spec: &DatasetSpec) -> Option<u64> {
    let DatasetSpec::Generate(Generate { samples, sample_bytes, packing, .. }) = spec else { return None };
    // An array of Zarr has a description beside its chunks.
    let beside = packing.map_or(0, |packing| u64::from(packing.layout == Layout::Zarr));
    let data = packing.map_or(*samples, |packing| packing.shards(*samples, *sample_bytes));
    Some(data.saturating_add(beside + OWN_OBJECTS))
}

/// What a cell asks for one sample; `None` where nothing is read or put, or the size of a sample is not known.
///
/// Shards that are streamed are asked for block by block, so that a request brings many small samples; samples read by
/// index are asked for one by one, those of a Parquet file a row group at a time.
pub(super) fn sample(cell: &Cell, spec: &DatasetSpec, charged: Charged) -> Option<SampleRequests> {
    let of_size = |bytes: f64| {
        if cell.operation() == Operation::WriteFile {
            return Some(SampleRequests { reads: 0.0, bytes, writes: 1.0 });
        }
        let reads = charged.reads_per_sample(cell.operation(), bytes, cell.block_bytes)?;
        Some(SampleRequests { reads, bytes, writes: 0.0 })
    };
    let block_bytes = f64::from(cell.block_bytes.max(1));
    let streams = cell.task == Task::Read && !cell.access.is_by_index();
    match spec {
        DatasetSpec::Generate(Generate { packing: Some(packing), .. }) => {
            let stored = stored(spec, cell.access)?;
            if streams {
                let reads = stored.blocks(cell.block_bytes) / stored.samples;
                return Some(SampleRequests { reads, bytes: stored.sample_bytes, writes: 0.0 });
            }
            if packing.layout == Layout::Parquet {
                return Some(of_row_group(packing, stored.sample_bytes, block_bytes));
            }
            of_size(stored.sample_bytes)
        }
        DatasetSpec::Generate(generate) => of_size(generate.sample_bytes as f64),
        DatasetSpec::Existing(existing) => {
            let bytes = existing.sample_bytes? as f64;
            let is_packed = existing.layout.is_some_and(|layout| layout != Layout::Files);
            if streams && is_packed {
                return Some(SampleRequests { reads: bytes / block_bytes, bytes, writes: 0.0 });
            }
            of_size(bytes)
        }
    }
}

/// What one copy of a dataset asks; `None` for the user's, whose objects are not known yet.
pub(super) fn copy(cell: &Cell, copy: Copy, spec: &DatasetSpec) -> Option<SampleRequests> {
    let DatasetSpec::Generate(Generate { samples, sample_bytes, .. }) = spec else { return None };
    let all = stored(spec, Access::Sequential)?;
    let bytes = copy.size_bytes.map_or(all.bytes, |bytes| (bytes as f64).min(all.bytes));
    let share = bytes / all.bytes;
    let writes =
        copy.packing.map_or(all.objects as f64, |packing| packing.shards(*samples, *sample_bytes) as f64);
    Some(SampleRequests {
        reads: (all.blocks(cell.block_bytes) * share).ceil(),
        bytes,
        writes: (writes * share).ceil(),
    })
}

fn of_row_group(packing: &Packing, sample_bytes: f64, block_bytes: f64) -> SampleRequests {
    // The samples that are read of a group are as many as those that fill it.
    let whole = sample_bytes * f64::from(packing.columns) / f64::from(packing.columns_read.max(1));
    let samples = (packing.row_group_bytes.min(packing.shard_bytes) as f64 / whole).ceil().max(1.0);
    let reads = (samples * sample_bytes / block_bytes).ceil().max(1.0);
    SampleRequests { reads: reads / samples, bytes: sample_bytes, writes: 0.0 }
}

/// A dataset as it will be stored, about where the format decides.
struct Stored {
    objects: u64,
    samples: f64,
    bytes: f64,
    /// Bytes read for a sample in the order that was asked for.
    sample_bytes: f64,
}

impl Stored {
    /// Blocks of all objects, each read from its beginning to its end.
    fn blocks(&self, block_bytes: u32) -> f64 {
        let objects = self.objects as f64;
        (self.bytes / objects / f64::from(block_bytes.max(1))).ceil() * objects
    }
}

fn stored(spec: &DatasetSpec, access: Access) -> Option<Stored> {
    let DatasetSpec::Generate(generate) = spec else { return None };
    let samples = generate.samples as f64;
    let objects = generate
        .packing
        .map_or(generate.samples, |packing| packing.shards(generate.samples, generate.sample_bytes));
    if objects == 0 {
        return None;
    }
    let exact =
        prepare::planned(spec).and_then(|_| Prepared::imagined(spec)).filter(|_| generate.packing.is_some());
    if let Some(known) = exact {
        let bytes = known.data.objects().total_bytes() as f64;
        return Some(Stored { objects, samples, bytes, sample_bytes: known.data.sample_bytes(access) });
    }
    let columns = |packing: Packing| f64::from(packing.columns_read) / f64::from(packing.columns.max(1));
    let read = generate.packing.filter(|_| access.is_by_index()).map_or(1.0, columns);
    let payload = generate.sample_bytes as f64;
    let (bytes, sample_bytes) = (payload * samples, payload * read);
    Some(Stored { objects, samples, bytes, sample_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHARGED: Charged = Charged { part_bytes: None, head: false, prefixes: 1 };

    fn packed(layout: Layout) -> DatasetSpec {
        let packing = Packing {
            layout,
            shard_bytes: 4 << 20,
            members: 2,
            codec: plan::Codec::None,
            columns: 4,
            columns_read: 2,
            row_group_bytes: 1 << 20,
        };
        DatasetSpec::Generate(Generate {
            samples: 147,
            sample_bytes: 114_660,
            packing: Some(packing),
            ..Generate::NONE
        })
    }

    fn cell(access: Access) -> Cell {
        Cell { access, ..Cell::plain(plan::Engine::Pread, 1 << 20, 2) }
    }

    #[test]
    fn a_stream_brings_many_samples_with_a_request() {
        let asked =
            sample(&cell(Access::ShuffledShards(plan::Streams::of(2))), &packed(Layout::WebDataset), CHARGED)
                .unwrap();
        // 4 shards of 4.27 MB: 5 blocks each for 37 samples, 20 for all 147.
        assert!((asked.reads - 20.0 / 147.0).abs() < 1e-9, "{asked:?}");
        assert!(asked.bytes > 114_660.0 && asked.bytes < 120_000.0, "headers are read too: {asked:?}");
    }

    #[test]
    fn a_sample_by_index_is_a_request_and_a_row_group_is_one_for_many() {
        let one = sample(&cell(Access::ShuffledEpoch), &packed(Layout::Indexed), CHARGED).unwrap();
        assert!((one.reads - 1.0).abs() < 1e-9);
        let group = sample(&cell(Access::ShuffledEpoch), &packed(Layout::Parquet), CHARGED).unwrap();
        // 10 samples fill a row group; half the columns of them are 573 kB, less than a block.
        assert!((group.reads - 0.1).abs() < 1e-9, "{group:?}");
        assert!((group.bytes - 57_330.0).abs() < 1e-9, "{group:?}");
    }

    #[test]
    fn shards_and_not_samples_are_put() {
        assert_eq!(objects(&packed(Layout::WebDataset)), Some(4 + 2));
        assert_eq!(objects(&packed(Layout::Zarr)), Some(4 + 1 + 2));
        let DatasetSpec::Generate(generate) = packed(Layout::WebDataset) else { unreachable!() };
        assert_eq!(objects(&DatasetSpec::Generate(Generate { packing: None, ..generate })), Some(147 + 2));
    }

    #[test]
    fn an_object_that_is_written_anew_is_one_put() {
        let cell = Cell { task: Task::WriteFile(plan::Durability::Data), ..cell(Access::ShuffledEpoch) };
        let DatasetSpec::Generate(generate) = packed(Layout::WebDataset) else { unreachable!() };
        let files = DatasetSpec::Generate(Generate { packing: None, sample_bytes: 5 << 20, ..generate });
        let asked = sample(&cell, &files, CHARGED);
        assert_eq!(asked, Some(SampleRequests { reads: 0.0, bytes: 5_242_880.0, writes: 1.0 }));
    }

    #[test]
    fn a_copy_reads_each_object_once_and_puts_it_or_what_it_is_packed_into() {
        let cell = Cell { task: Task::Copy(Copy::whole(0)), ..cell(Access::Sequential) };
        let DatasetSpec::Generate(generate) = packed(Layout::WebDataset) else { unreachable!() };
        let files = DatasetSpec::Generate(Generate { packing: None, ..generate });
        let plain = copy(&cell, Copy::whole(0), &files).unwrap();
        assert_eq!((plain.reads, plain.writes), (147.0, 147.0));
        let packing = Copy { packing: generate.packing, ..Copy::whole(0) };
        assert!((copy(&cell, packing, &files).unwrap().writes - 4.0).abs() < 1e-9);
    }
}
