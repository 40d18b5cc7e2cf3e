//! Writes a shard of each layout and codec into a folder, for `tests/readback.py` to read with Python's libraries:
//! `cargo run -p formats --example shards -- FOLDER`.
//!
//! Byte B of sample N is (31 N + 7 B) mod 251.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use formats::{Samples, ZARR_METADATA, extension, write, zarr_chunk_name, zarr_metadata};
use plan::{Codec, Layout, Packing};

const COUNT: u64 = 20;
const SAMPLE_BYTES: u64 = 5000;
const CHUNKS: u64 = 2;

/// Samples of a file of HDF5 whose B-tree has three levels, and bytes of each.
const MANY: u64 = 4200;
const SMALL_BYTES: u64 = 50;

/// Samples of one size, from number `first` on.
struct Counted {
    first: u64,
    count: u64,
    bytes: u64,
}

impl Samples for Counted {
    fn count(&self) -> u64 {
        self.count
    }

    fn number(&self, index: u64) -> u64 {
        self.first + index
    }

    fn bytes(&self, _: u64) -> u64 {
        self.bytes
    }

    fn fill(&mut self, index: u64, offset: u64, out: &mut [u8]) {
        let number = self.number(index);
        for (byte, at) in out.iter_mut().zip(offset..) {
            *byte = ((31 * number + 7 * at) % 251) as u8;
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("name a folder")?);
    fs::create_dir_all(&folder)?;
    let plain = |layout| Packing {
        layout,
        shard_bytes: COUNT * SAMPLE_BYTES,
        members: if layout == Layout::WebDataset { 4 } else { 1 },
        codec: Codec::None,
        columns: if layout == Layout::Parquet { 3 } else { 1 },
        columns_read: 1,
        row_group_bytes: 6 * SAMPLE_BYTES,
    };
    for (layout, codec) in [
        (Layout::WebDataset, Codec::None),
        (Layout::WebDataset, Codec::Gzip),
        (Layout::WebDataset, Codec::Zstd),
        (Layout::TfRecord, Codec::None),
        (Layout::TfRecord, Codec::Gzip),
        (Layout::Records, Codec::None),
        (Layout::Indexed, Codec::None),
        (Layout::Parquet, Codec::None),
    ] {
        let path = folder.join(format!("shard{}", extension(layout, codec)));
        written(&path, &Packing { codec, ..plain(layout) }, 0, COUNT)?;
    }
    let array = folder.join("array.zarr");
    let per_chunk = COUNT / CHUNKS;
    for chunk in 0..CHUNKS {
        let path = array.join(zarr_chunk_name(chunk));
        fs::create_dir_all(path.parent().ok_or("a chunk lies in a folder")?)?;
        written(&path, &plain(Layout::Zarr), chunk * per_chunk, per_chunk)?;
    }
    fs::write(array.join(ZARR_METADATA), zarr_metadata(CHUNKS, per_chunk, SAMPLE_BYTES))?;
    for codec in [Codec::None, Codec::Gzip] {
        let packing = Packing { codec, ..plain(Layout::Hdf5) };
        written(&folder.join(format!("{}.h5", codec.name())), &packing, 0, COUNT)?;
        let many = Counted { first: 0, count: MANY, bytes: SMALL_BYTES };
        made(&folder.join(format!("many_{}.h5", codec.name())), &packing, many)?;
    }
    Ok(())
}

fn written(path: &Path, packing: &Packing, first: u64, count: u64) -> Result<(), Box<dyn Error>> {
    made(path, packing, Counted { first, count, bytes: SAMPLE_BYTES })
}

fn made(path: &Path, packing: &Packing, mut samples: Counted) -> Result<(), Box<dyn Error>> {
    write(packing, &mut samples, &mut File::create(path)?)?;
    Ok(())
}
