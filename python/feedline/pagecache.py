"""The page cache under the files of a job: emptied, filled, and looked at, as proof of either."""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Sequence

# Files that are looked at to say how much of all of them is in memory.
LOOKED_AT_MAX = 64
CHUNK_BYTES = 1 << 20


def evict(files: Sequence[str]) -> float | None:
    """Asks the kernel to drop these files from memory; the share that stayed, None where it cannot be told."""
    for path in files:
        with _opened(path) as handle:
            os.posix_fadvise(handle.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return resident(files)


def fill(files: Sequence[str]) -> float | None:
    """Reads these files once, so that they are in memory where there is room; the share that is, None where it cannot be told."""
    buffer = bytearray(CHUNK_BYTES)
    for path in files:
        with _opened(path) as handle:
            while handle.readinto(buffer):
                pass
    return resident(files)


def resident(files: Sequence[str]) -> float | None:
    """Share of these files' bytes that is in memory, from up to 64 of them; None where the kernel does not tell."""
    some = files[:: max(1, -(-len(files) // LOOKED_AT_MAX))]
    pages = there = 0
    for path in some:
        # The kernel tells an owner, or who may write; to others all pages seem to be there.
        if not (os.access(path, os.W_OK) or os.stat(path).st_uid == os.geteuid()):
            return None
        counted = _pages(path)
        if counted is None:
            return None
        pages += counted[0]
        there += counted[1]
    return there / pages if pages else None


def _opened(path: str):  # type: ignore[no-untyped-def]
    return open(path, "rb", buffering=0)


def _pages(path: str) -> tuple[int, int] | None:
    size = os.path.getsize(path)
    if size == 0:
        return 0, 0
    count = -(-size // mmap.PAGESIZE)
    told = (ctypes.c_ubyte * count)()
    with _opened(path) as handle, mmap.mmap(handle.fileno(), size, access=mmap.ACCESS_COPY) as mapped:
        # A private map is never touched here: the kernel tells of the file's own pages.
        window = ctypes.c_char.from_buffer(mapped)
        answer = ctypes.CDLL(None, use_errno=True).mincore(ctypes.c_void_p(ctypes.addressof(window)), ctypes.c_size_t(size), told)
        del window
    return (count, sum(page & 1 for page in told)) if answer == 0 else None
