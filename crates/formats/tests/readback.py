#!/usr/bin/env python3
"""Reads the shards that `examples/shards.rs` wrote with the libraries that training jobs use, and checks all of it.

    crates/formats/tests/readback.py FOLDER

Needs numpy; says which of the others it did not find. Fails where a shard is not what was written.
"""

import gzip
import importlib.util
import struct
import sys
from pathlib import Path

import numpy

COUNT = 20
SAMPLE_BYTES = 5000
MANY = 4200
SMALL_BYTES = 50


def content(number, length):
    return ((31 * number + 7 * numpy.arange(length)) % 251).astype("uint8").tobytes()


EXPECTED = [content(number, SAMPLE_BYTES) for number in range(COUNT)]
skipped = []


def has(module, why):
    if importlib.util.find_spec(module):
        return True
    skipped.append(f"{why}: no {module} here")
    return False


def check(name, samples):
    assert len(samples) == COUNT, f"{name}: {len(samples)} samples"
    for number, sample in enumerate(samples):
        assert bytes(sample) == EXPECTED[number], f"{name}: sample {number} differs"
    print(f"{name}: {COUNT} samples, equal")


def webdatasets(folder):
    if not has("webdataset", "tar shards"):
        return
    import webdataset

    names = ["shard.tar", "shard.tar.gz"]
    if has("pyarrow", "tar shards packed with zstd"):
        import pyarrow

        stream = pyarrow.input_stream(str(folder / "shard.tar.zst"), compression="zstd")
        (folder / "unpacked.tar").write_bytes(stream.read())
        names.append("unpacked.tar")
    for name in names:
        samples = list(webdataset.WebDataset(str(folder / name), shardshuffle=False).decode())
        check(f"webdataset {name}", [sample["bin"] for sample in samples])
        for number, sample in enumerate(samples):
            assert sample["__key__"] == f"{number:09}", sample["__key__"]
            assert sample["cls"] == number % 10
            assert sample["json"] == {"key": f"{number:09}", "label": number % 10}
            assert sample["m3"] == f"{number:09}".encode()


def tensorflow_records(folder):
    name = "shard.tfrecord"
    if has("tensorflow", "TFRecord by TensorFlow itself"):
        import tensorflow

        features = {
            "x": tensorflow.io.FixedLenFeature([], tensorflow.string),
            "y": tensorflow.io.FixedLenFeature([], tensorflow.int64),
        }
        for suffix, codec in [("", ""), (".gz", "GZIP")]:
            dataset = tensorflow.data.TFRecordDataset(str(folder / (name + suffix)), compression_type=codec)
            found = [tensorflow.io.parse_single_example(record, features) for record in dataset]
            check(f"tensorflow {name}{suffix}", [record["x"].numpy() for record in found])
            assert [int(record["y"]) for record in found] == [number % 10 for number in range(COUNT)]
    # Both define the same messages, so that one process holds one of them.
    elif has("tfrecord", "TFRecord"):
        import tfrecord

        for suffix, codec in [("", None), (".gz", "gzip")]:
            found = list(
                tfrecord.tfrecord_loader(
                    str(folder / (name + suffix)), None, {"x": "byte", "y": "int"}, compression_type=codec
                )
            )
            check(f"tfrecord {name}{suffix}", [bytes(record["x"]) for record in found])
            assert [int(record["y"][0]) for record in found] == [number % 10 for number in range(COUNT)]
    # That package leaves the checksums alone.
    if has("google_crc32c", "checksums of TFRecord"):
        import google_crc32c

        def masked(data):
            crc = google_crc32c.value(data)
            return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF

        rest, records = (folder / name).read_bytes(), 0
        assert gzip.decompress((folder / (name + ".gz")).read_bytes()) == rest
        while rest:
            length, of_length = struct.unpack("<QI", rest[:12])
            assert of_length == masked(rest[:8])
            assert struct.unpack("<I", rest[12 + length : 16 + length])[0] == masked(rest[12 : 12 + length])
            rest, records = rest[16 + length :], records + 1
        assert records == COUNT
        print(f"google_crc32c {name}: {COUNT} records, checksums hold")


def arrays(folder):
    found = numpy.load(folder / "shard.npy", mmap_mode="r")
    assert found.dtype == numpy.uint8 and found.shape == (COUNT, SAMPLE_BYTES) and found.offset == 4096
    check("numpy shard.npy", [sample.tobytes() for sample in found])
    if has("zarr", "Zarr"):
        import zarr

        found = zarr.open_array(folder / "array.zarr", mode="r")
        assert found.metadata.zarr_format == 3 and found.shape == (COUNT, SAMPLE_BYTES)
        check("zarr array.zarr", [sample.tobytes() for sample in found[:]])


def parquets(folder):
    if not has("pyarrow", "Parquet"):
        return
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(folder / "shard.parquet")
    assert file.metadata.num_rows == COUNT and file.metadata.num_row_groups == 4, file.metadata
    assert file.schema_arrow.names == ["c0", "c1", "c2"]
    columns = [column.to_pylist() for column in file.read().columns]
    check("pyarrow shard.parquet", [b"".join(parts) for parts in zip(*columns)])


def hierarchies(folder):
    if not has("h5py", "HDF5"):
        return
    import h5py

    for codec, packed in [("none", (None, None)), ("gzip", ("gzip", 4))]:
        for name, count, length in [(f"{codec}.h5", COUNT, SAMPLE_BYTES), (f"many_{codec}.h5", MANY, SMALL_BYTES)]:
            with h5py.File(folder / name, "r") as file:
                assert list(file) == ["records"], list(file)
                found = file["records"]
                assert (found.shape, found.dtype, found.chunks) == ((count, length), "uint8", (1, length))
                assert (found.compression, found.compression_opts) == packed
                assert found.id.get_num_chunks() == count and found.id.get_create_plist().get_nfilters() == bool(packed[0])
                # Chunk by chunk, through the index, and all at once.
                for samples in [[found[number].tobytes() for number in range(count)], [row.tobytes() for row in found[:]]]:
                    assert samples == [content(number, length) for number in range(count)], f"{name}: samples differ"
            print(f"h5py {name}: {count} samples, equal")


def indexed(folder):
    """No library reads this one: the layout is read as `src/indexed.rs` describes it."""
    shard = (folder / "shard.idx").read_bytes()
    magic, version, page, count, table = struct.unpack("<8sIIQQ", shard[:32])
    assert (magic, version, page, count) == (b"FLINDEX1", 1, 4096, COUNT)
    places = [struct.unpack("<QQ", shard[table + 16 * at :][:16]) for at in range(count)]
    assert all(offset % page == 0 for offset, _ in places)
    check("by hand shard.idx", [shard[offset : offset + length] for offset, length in places])


if __name__ == "__main__":
    where = Path(sys.argv[1])
    for read in [webdatasets, tensorflow_records, arrays, parquets, hierarchies, indexed]:
        read(where)
    for reason in skipped:
        print(f"skipped {reason}")
