"""The page cache under the files of a job: emptied, filled, and looked at, as proof of either."""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import itertools
import mmap
import os
import random
from collections.abc import Sequence

# Places that are looked at to say how much of all files is in memory, and what is looked at from each of them on.
PLACES = 256
PLACE_BYTES = 256 << 10
CHUNK_BYTES = 1 << 20
# Of the memory that is free, what files are read into.
FILLED_SHARE_MAX = 0.5


def evict(files: Sequence[str]) -> float | None:
    """Asks the kernel to drop these files from memory; the share that stayed, None where it cannot be told."""
    for path, _ in _sizes(files):
        with contextlib.suppress(FileNotFoundError), _opened(path) as handle:
            os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return resident(files)


def fill(files: Sequence[str]) -> float | None:
    """Reads these files once, if memory has room for them; the share of them that is there, None where it cannot be told."""
    sizes = _sizes(files)
    if sum(size for _, size in sizes) > FILLED_SHARE_MAX * _available_bytes():
        return resident(files)
    buffer = bytearray(CHUNK_BYTES)
    for path, _ in sizes:
        with contextlib.suppress(FileNotFoundError), _opened(path) as handle:
            while handle.readinto(buffer):
                pass
    return resident(files)


def resident(files: Sequence[str]) -> float | None:
    """Share of these files' bytes that is in memory, by places drawn from all bytes; None where the kernel does not tell."""
    sizes = [(path, size) for path, size in _sizes(files) if size]
    ends = list(itertools.accumulate(size for _, size in sizes))
    if not ends:
        return None
    # Of its own, as the random state of the job is not to be touched; one place in each stretch of as many bytes.
    drawn = random.Random(len(files))
    shares = []
    for place in range(PLACES):
        at = int(ends[-1] * (place + drawn.random()) / PLACES)
        which = min(bisect.bisect_right(ends, at), len(ends) - 1)
        path, size = sizes[which]
        share = _resident(path, size, at - (ends[which] - size))
        if share is None:
            return None
        shares.append(share)
    return sum(shares) / len(shares)


def _sizes(files: Sequence[str]) -> list[tuple[str, int]]:
    """These files with their bytes, without those that are gone: a job may remove what it has read."""
    found = []
    for path in files:
        with contextlib.suppress(FileNotFoundError):
            found.append((path, os.path.getsize(path)))
    return found


def _opened(path: str):  # type: ignore[no-untyped-def]
    return open(path, "rb", buffering=0)


def _available_bytes() -> int:
    with open("/proc/meminfo", encoding="ascii") as told:
        return next((int(line.split()[1]) << 10 for line in told if line.startswith("MemAvailable:")), 0)


def _resident(path: str, size: int, offset: int) -> float | None:
    """Share of some pages from that offset on that is in memory."""
    # The kernel tells an owner, or who may write; to others all pages seem to be there.
    if not (os.access(path, os.W_OK) or os.stat(path).st_uid == os.geteuid()):
        return None
    begin = offset - offset % mmap.ALLOCATIONGRANULARITY
    length = min(PLACE_BYTES, size - begin)
    count = -(-length // mmap.PAGESIZE)
    told = (ctypes.c_ubyte * count)()
    with _opened(path) as handle, mmap.mmap(handle.fileno(), length, access=mmap.ACCESS_COPY, offset=begin) as mapped:
        # A private map is never touched here: the kernel tells of the file's own pages.
        window = ctypes.c_char.from_buffer(mapped)
        answer = ctypes.CDLL(None, use_errno=True).mincore(ctypes.c_void_p(ctypes.addressof(window)), ctypes.c_size_t(length), told)
        del window
    return sum(page & 1 for page in told) / count if answer == 0 else None
