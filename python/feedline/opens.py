"""Which files a loader opens, and in which order, as Python itself tells of it.

An audit hook in each process that reads hears of every file that is opened through Python. Libraries that open files in C, C++ or
Rust are not heard: they are named where they are loaded, and what they read is said to be unseen.
"""

from __future__ import annotations

import errno
import os
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import accelerators, machine

# Libraries that open files past Python and read them by calls, which the kernel counts ...
COUNTED_READERS = ("cv2", "h5py", "torchvision.io")
# ... that map files, or read them by what nothing here counts ...
UNCOUNTED_READERS = ("deeplake", "lmdb", "nvidia.dali", "pyarrow", "safetensors", "tensorflow")
# ... of which pandas, datasets and transformers load these in jobs that read nothing by them ...
OFTEN_LOADED = ("pyarrow", "safetensors")
# ... and that read over connections.
REMOTE_READERS = ("awscrt", "boto3", "google.cloud.storage", "s3fs", "s3torchconnector")

# What stands for a connection in the list of what was opened.
CONNECTED = "/\x00connected"

# Where the hook of this process writes, if anywhere: a hook cannot be taken away again.
_sink: str | None = None
_hooked = False


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    sink = _sink
    if sink is None:
        return
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        # A connection over a network; one within the machine has a path. No file has this name.
        arguments = (CONNECTED, None, os.O_RDONLY)
    elif event != "open":
        return
    path, _, flags = arguments
    if not isinstance(path, (str, bytes)) or not isinstance(flags, int) or flags & os.O_ACCMODE != os.O_RDONLY:
        return
    try:
        name = os.path.abspath(os.fsencode(path))
        if b"\n" not in name:
            _write(sink, b"%d %s\n" % (time.monotonic_ns(), name))
    except Exception:
        # It would be raised by the job's own `open`. A file that is gone already has nobody who reads it: workers that persist
        # outlive the diagnosis that started them.
        _tear(sink)


def _write(sink: str, line: bytes) -> None:
    # Opened for each line: a descriptor that is kept may be closed, and be that of a file of the job, before it is written to.
    handle = os.open(sink, os.O_WRONLY | os.O_APPEND)
    try:
        if os.write(handle, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(handle)


def _tear(sink: str) -> None:
    """Hears of nothing any more for that file, and says so by a name, which needs no room."""
    global _sink
    if _sink == sink:
        _sink = None
    with suppress(OSError):
        os.rename(sink.removesuffix(".opens") + ".loaded", sink.removesuffix(".opens") + ".torn")


def start(folder: str) -> None:
    """Hears of what this process opens from now on, into a file of its own in that folder."""
    global _sink, _hooked
    _sink = None
    if not _hooked:
        sys.addaudithook(_hear)
        _hooked = True
    loaded = [name for name in COUNTED_READERS + UNCOUNTED_READERS + REMOTE_READERS if name in sys.modules]
    # What a worker read until now is its own code.
    read = str(machine.bytes_read(os.getpid()))
    Path(folder, f"{os.getpid()}.loaded").write_text("\n".join([read, *loaded]), encoding="utf-8")
    sink = os.path.join(folder, f"{os.getpid()}.opens")
    os.close(os.open(sink, os.O_WRONLY | os.O_CREAT, 0o600))
    _sink = sink


def stop() -> None:
    """Hears of nothing any more in this process."""
    global _sink
    _sink = None


class InWorker:
    """`worker_init_fn` of a loader: begins to hear, then does what the job's own function does."""

    def __init__(self, folder: str, own: Callable[[int], None] | None) -> None:
        self._folder = folder
        self._own = own

    def __call__(self, worker: int) -> None:
        # A worker that is late starts when nobody hears any more.
        with suppress(FileNotFoundError):
            start(self._folder)
        if self._own is not None:
            self._own(worker)


@dataclass
class Opens:
    """Files that were opened to be read, in order."""

    order: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    """Libraries in the reading processes whose reads are not heard."""
    worker_start_bytes: int = 0
    """What workers had read before they were heard."""
    other_bytes: int = 0
    """Bytes of files that are opened and are no data, code above all, and of what was opened twice before it was read."""
    connections: int = 0
    """Connections over a network that were begun."""

    @property
    def files(self) -> list[str]:
        """Each file once."""
        return list(dict.fromkeys(self.order))

    def bytes(self) -> int:
        """Bytes of all that was opened, each time it was."""
        sizes = {path: _size(path) for path in self.files}
        return sum(sizes[path] for path in self.order)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the order, one path a line."""
        Path(path).write_text("".join(f"{name}\n" for name in self.order), encoding="utf-8", errors="surrogateescape")


@contextmanager
def hearing(loader: Any) -> Iterator[Opens]:
    """What `loader` opens within; its workers are told as they start, and this process reads where it has none."""
    found = Opens()
    loader = accelerators.unprepared(loader)
    with tempfile.TemporaryDirectory(prefix="feedline-", ignore_cleanup_errors=True) as folder:
        own = getattr(loader, "worker_init_fn", None)
        workers = getattr(loader, "num_workers", 0) if hasattr(loader, "worker_init_fn") else 0
        if workers:
            loader.worker_init_fn = InWorker(folder, own)
        else:
            start(folder)
        try:
            yield found
        finally:
            if workers:
                loader.worker_init_fn = own
            else:
                stop()
            _gather(Path(folder), found)
        if list(Path(folder).glob("*.torn")):
            raise OSError(
                f"the list of opened files could not be written to {folder}: is there room? TMPDIR=/its/path names another"
            )


def _gather(folder: Path, found: Opens) -> None:
    lines: list[tuple[int, str]] = []
    for file in sorted(folder.glob("*.opens")):
        last = b""
        # What follows the last line break is a line that was not written whole.
        for line in file.read_bytes().split(b"\n")[:-1]:
            stamp, _, name = line.partition(b" ")
            if name == os.fsencode(CONNECTED):
                found.connections += 1
                continue
            # Some libraries open a file several times before they read it once.
            if name != last:
                lines.append((int(stamp), os.fsdecode(name)))
            else:
                found.other_bytes += _size(os.fsdecode(name))
            last = name
    kept: dict[str, bool] = {}
    for _, opened in sorted(lines):
        if opened not in kept:
            kept[opened] = _is_data(opened)
        if kept[opened]:
            found.order.append(opened)
        else:
            found.other_bytes += _size(opened)
    loaded = set()
    for file in folder.glob("*.loaded"):
        start_bytes, *names = file.read_text(encoding="utf-8").split()
        loaded.update(names)
        found.worker_start_bytes += int(start_bytes) if file.stem != str(os.getpid()) else 0
    found.loaded[:] = sorted(loaded)


def _size(path: str) -> int:
    # A job may have removed what it has read.
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _is_data(name: str) -> bool:
    code = (".py", ".pyc", ".so")
    python = tuple(os.path.join(sysconfig.get_path(kind), "") for kind in ("stdlib", "purelib", "platlib"))
    system = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/share/zoneinfo/")
    return not name.endswith(code) and not name.startswith(python + system) and os.path.isfile(name)
