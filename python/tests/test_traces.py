"""Libraries that are loaded and cannot be heard: with real files, maps and sockets, and a clock that is played.

A job whose decoding is slow is named where such a library is merely loaded. It stays uncertain where anything reads past Python,
however little, in whichever way.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.machinery
import importlib.util
import mmap
import multiprocessing
import os
import shutil
import socket
import sys
import tempfile
import unittest
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import feedline
from feedline import machine, opens, traces
from feedline.diagnosis import Around

from .played import BATCH, Batch, Loader, Step, World

BATCHES = 28
SIZE = 20_000
TRIES = 5
# Far less than what may be read unheard by its bytes alone.
SMALL = 100


class Reading(World):
    """A played clock over what processes read, touch and hold in truth."""

    warm = False

    def moment(self, now_ns: int) -> machine.Moment:
        played = super().moment(now_ns)
        return machine.Moment(now_ns, played.machine_ns, played.processes, machine.moment(0).read_bytes)

    def evict(self, files: Sequence[str]) -> float:
        self.warm = False
        return 0.0

    def fill(self, files: Sequence[str]) -> float:
        self.warm = True
        return 1.0

    def around(self) -> Around:
        return Around(self.clock, self.moment, opens.hearing, self.evict, self.fill, lambda: 16, self.play, traces.of_job)


def serve(tasks: Any, init: Callable[[int], None] | None, read: Callable[[int], None], worker: int) -> None:
    if init is not None:
        init(worker)
    while (batch := tasks.recv()) is not None:
        read(batch)
        tasks.send(True)


class Reader(Loader):
    """Reads in this process, or in workers that are forked from it as a pass begins."""

    worker_init_fn = None

    def __init__(self, world: Reading, read: Callable[[int], None], workers: int) -> None:
        super().__init__(world, 5, 40, workers=workers, batches=BATCHES)
        self.read = read
        self.tasks: list[Any] = []

    def fetch_ns(self, batch: int) -> float:
        if self.tasks:
            tasks = self.tasks[batch % len(self.tasks)]
            tasks.send(batch)
            tasks.recv()
        else:
            self.read(batch)
        return self.world.lasts(0 if self.world.warm else self.read_ns) + self.world.computes(self.decode_ns)  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[Batch]:
        context = multiprocessing.get_context("fork")
        processes = []
        for worker in range(self.num_workers):
            here, there = context.Pipe()
            processes.append(context.Process(target=serve, args=(there, self.worker_init_fn, self.read, worker), daemon=True))
            processes[-1].start()
            self.tasks.append(here)
        try:
            yield from super().__iter__()
        finally:
            for tasks in self.tasks:
                tasks.send(None)
            self.tasks = []
            for process in processes:
                process.join()


class Proven(unittest.TestCase):
    """Reads files that are heard, and beside them what a test adds."""

    library = "library"

    def load(self) -> Any:
        """A library that reads by C: that of SQLite, of which no other process runs this copy."""
        own = importlib.util.find_spec("_sqlite3")
        if own is None or own.origin is None or not own.has_location:
            self.skipTest("SQLite is not installed, or part of the executable")
        os.mkdir(os.path.join(self.folder, "library"))
        copy = shutil.copy(own.origin, os.path.join(self.folder, "library"))
        loader = importlib.machinery.ExtensionFileLoader("_sqlite3", copy)
        loaded = importlib.util.module_from_spec(importlib.util.spec_from_file_location("_sqlite3", copy, loader=loader))  # type: ignore[arg-type]
        loader.exec_module(loaded)
        known = mock.patch.dict(sys.modules, {self.library: loaded})
        known.start()
        self.addCleanup(known.stop)
        return loaded

    def setUp(self) -> None:
        listed = mock.patch.object(opens, "UNCOUNTED_READERS", (self.library,))
        listed.start()
        self.addCleanup(listed.stop)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.loaded = self.load()
        for at in range(BATCHES * BATCH):
            Path(self.folder, f"{at}.jpg").write_bytes(os.urandom(SIZE))
        self.side = os.path.join(self.folder, "side")
        Path(self.side).write_bytes(b"x" * SMALL)
        # It visits objects by code of their library, here and there.
        gc.disable()
        self.addCleanup(gc.enable)
        if not os.path.exists("/proc/self/clear_refs"):
            self.skipTest("this kernel does not tell what is touched")
        if "_ctypes" in sys.builtin_module_names:
            self.skipTest("what calls functions of C is part of this Python")

    def named(self, beside: Callable[[int], Any], workers: int) -> tuple[str, str]:
        def read(batch: int) -> None:
            for at in range(BATCH):
                Path(self.folder, f"{batch * BATCH + at}.jpg").read_bytes()
            beside(batch)

        world = Reading(7)
        report = feedline.diagnose(Reader(world, read, workers), Step(world, 5), steps=40, state=[], around=world.around())
        return report.limit.name, str(report)

    def proven(self, beside: Callable[[int], Any]) -> None:
        """Named for its decoding. Another process that ends just then leaves marks on code that both run, and takes a proof away."""
        for workers in (0, 2):
            with self.subTest(workers=workers):
                for _ in range(TRIES):
                    name, said = self.named(beside, workers)
                    if name == "decoding":
                        break
                self.assertEqual(name, "decoding", said)
                self.assertNotIn(self.library, said)

    def uncertain(self, beside: Callable[[int], Any]) -> None:
        for workers in (0, 2):
            with self.subTest(workers=workers):
                name, said = self.named(beside, workers)
                self.assertEqual(name, "uncertain", said)
                self.assertIn(f"{self.library} is loaded in the loader, and what it opens is unseen", said)


class Unheard(Proven):
    def test_a_library_that_is_merely_loaded_keeps_no_limit_from_its_name(self) -> None:
        self.proven(lambda batch: None)

    def test_a_library_that_reads_its_own_file_is_no_idle_one(self) -> None:
        base = os.path.join(self.folder, "base")
        with closing(self.loaded.connect(base)) as made:
            made.execute("create table labels (label)")

        def query(batch: int) -> None:
            with closing(self.loaded.connect(base)) as opened:
                opened.execute("select * from labels").fetchall()

        self.uncertain(query)

    def test_one_read_in_the_last_batch_is_enough(self) -> None:
        def query(batch: int) -> None:
            if batch == 19:
                with closing(self.loaded.connect(":memory:")) as opened:
                    opened.execute("select 1").fetchall()

        self.uncertain(query)

    def test_a_library_that_is_loaded_in_a_later_pass_was_not_idle(self) -> None:
        Path(self.folder, "late_reader.py").write_text("", encoding="utf-8")
        self.addCleanup(sys.modules.pop, "late_reader", None)
        passes = []

        def load(batch: int) -> None:
            passes.extend([1] if batch == 0 else [])
            if len(passes) == 5:
                import late_reader  # type: ignore[import-not-found]  # noqa: F401

        with mock.patch.object(opens, "UNCOUNTED_READERS", ("late_reader",)), mock.patch.object(sys, "path", [self.folder]):
            name, said = self.named(load, 0)
        self.assertEqual(name, "uncertain", said)
        self.assertIn("late_reader is loaded in the loader", said)

    def test_a_library_that_begins_to_read_in_a_later_pass_is_found_in_that(self) -> None:
        passes = []

        def query(batch: int) -> None:
            passes.extend([1] if batch == 0 else [])
            # The first one looks, and of those that are measured four are of the loader from memory, or the job.
            if len(passes) == 5:
                self.loaded.connect(":memory:").close()

        name, said = self.named(query, 0)
        self.assertEqual(name, "uncertain", said)
        self.assertGreater(len(passes), 5)

    def test_reads_by_functions_of_c_that_are_called_by_name(self) -> None:
        c = ctypes.CDLL(None, use_errno=True)
        c.mmap.restype, c.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, *[ctypes.c_size_t] * 4, ctypes.c_long]
        c.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        c.pread.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long]
        buffer = ctypes.create_string_buffer(SMALL)
        side = os.fsencode(self.side)

        def mapped(batch: int) -> int:
            handle = c.open(side, os.O_RDONLY)
            at = c.mmap(None, SMALL, mmap.PROT_READ, mmap.MAP_PRIVATE, handle, 0)
            c.close(handle)
            self.assertEqual(ctypes.string_at(at, SMALL), b"x" * SMALL)
            return int(at)

        def unmapped(batch: int) -> None:
            self.assertEqual(c.munmap(mapped(batch), SMALL), 0)

        def read(batch: int) -> None:
            handle = c.open(side, os.O_RDONLY)
            self.assertEqual(c.pread(handle, buffer, SMALL, 0), SMALL)
            c.close(handle)

        for beside in (mapped, unmapped, read):
            with self.subTest(beside.__name__):
                self.uncertain(beside)

    def test_reads_from_a_socket_that_c_connected(self) -> None:
        c = ctypes.CDLL(None, use_errno=True)
        with socket.create_server(("127.0.0.1", 0), backlog=4096) as server:
            address = (socket.AF_INET).to_bytes(2, sys.byteorder) + server.getsockname()[1].to_bytes(2, "big")
            address += socket.inet_aton("127.0.0.1") + bytes(8)

            def connect(batch: int) -> None:
                handle = c.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
                self.assertEqual(c.connect(handle, address, len(address)), 0)
                c.close(handle)

            self.uncertain(connect)


class Held(Proven):
    """What other code than Python's, and than that of a library that is listed, leaves open or mapped. Here Python stands for it."""

    def test_files_that_are_open_since_before_the_pass(self) -> None:
        with open(self.side, "wb") as side:
            side.write(bytes(SIZE))
        with open(self.side, "rb") as side:
            self.uncertain(lambda batch: os.pread(side.fileno(), SIZE, 0))

    def test_files_that_are_mapped_since_before_the_pass(self) -> None:
        with open(self.side, "rb") as side, mmap.mmap(side.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            self.uncertain(lambda batch: mapped[0])
            # One that nobody looks at is no reading: weights of a model, in workers that were forked.
            self.proven(lambda batch: None)

    def test_a_map_a_descriptor_or_a_socket_that_is_new(self) -> None:
        code = {"library": {"/lib/library/"}}
        before = {1: traces.Trace({"/python": True, "/lib/library/a.so": False}, {"/held": False}, {"/open"}, {"socket:[1]"})}
        opened = ["/heard"]
        for maps, files, sockets, idle in (
            ({"/held": False}, {"/open", "/heard"}, {"socket:[1]"}, {"library"}),
            ({"/held": True}, set(), set(), set()),
            ({"/new": False}, set(), set(), set()),
            ({}, {"/new"}, set(), set()),
            ({}, set(), {"socket:[2]"}, set()),
        ):
            after = {1: traces.Trace(before[1].code, maps, files, sockets)}
            self.assertEqual(traces.idle(code, opened, before, after, None), idle)
        # A receiver may touch what it held, and hold nothing new.
        for maps, idle in (({"/held": True}, {"library"}), ({"/new": False}, set())):
            after = {1: traces.Trace(before[1].code, maps), 2: traces.Trace(before[1].code)}
            self.assertEqual(traces.idle(code, opened, before, after, 1), idle)

    def test_a_library_is_where_its_code_is(self) -> None:
        # With conda what reads lies elsewhere than what Python calls, and some of it beside that.
        outside, glue = (
            "/env/lib/libarrow.so.2600",
            "/env/lib/python3.11/site-packages/pyarrow/lib.cpython-311-x86_64-linux-gnu.so",
        )
        beside = "/env/lib/python3.11/site-packages/pyarrow/libarrow_python.so"
        for ran, idle in ((glue, {"pyarrow"}), (outside, set()), (beside, set())):
            left = {1: traces.Trace({"/env/bin/python3.11": True} | {path: path == ran for path in (outside, glue, beside)})}
            self.assertEqual(traces.idle({"pyarrow": opens._code_of("pyarrow")}, [], left, left, None), idle, ran)

    def test_calls_by_name_are_seen_where_what_calls_is(self) -> None:
        ctypes_, cffi, ffi = "/python/_ctypes.so", "/packages/_cffi_backend.so", "/lib/libffi.so.8"
        for code, idle in (
            # The collector of garbage visits ctypes by its own code.
            ({ctypes_: True, ffi: False}, {"library"}),
            ({ctypes_: True, ffi: True}, set()),
            ({ctypes_: True}, set()),
            ({ctypes_: False, cffi: True, ffi: False}, set()),
            ({ctypes_: False, cffi: False}, {"library"}),
        ):
            left = {1: traces.Trace({"/python/python": True, "/lib/library/a.so": False} | code)}
            self.assertEqual(traces.idle({"library": {"/lib/library/"}}, [], left, left, None), idle, code)

    def test_where_the_kernel_marks_nothing_nothing_is_proven(self) -> None:
        unmarked = {1: traces.Trace({"/python": False, "/lib/library/a.so": False})}
        self.assertEqual(traces.idle({"library": {"/lib/library/"}}, [], unmarked, unmarked, None), set())
        marked = {1: traces.Trace({"/python": True})}
        for places in ((), ("/lib/library/",)):
            self.assertEqual(traces.idle({"library": places}, [], marked, marked, None), set())

    def test_what_is_held_is_seen(self) -> None:
        pairs = socket.socketpair()
        with (
            open(self.side, "rb") as side,
            open(os.path.join(self.folder, "log"), "wb") as log,
            mmap.mmap(side.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
            socket.create_server(("127.0.0.1", 0)) as server,
            closing(pairs[0]) as pair,
            closing(pairs[1]),
        ):
            machine.forget_touched()
            left = (traces.of_job() or {})[os.getpid()]
            self.assertEqual((left.maps[self.side], self.side in left.files), (False, True))
            self.assertNotIn(log.name, left.files)
            told = [f"socket:[{os.fstat(one.fileno()).st_ino}]" in left.sockets for one in (server, pair)]
            self.assertEqual(told, [True, False])
            os.remove(self.side)
            self.assertEqual(mapped[0], ord("x"))
            left = (traces.of_job() or {})[os.getpid()]
            self.assertTrue(left.maps[self.side + traces.GONE])

    def test_a_process_that_does_not_tell_proves_nothing(self) -> None:
        with mock.patch.object(traces, "_of", side_effect=PermissionError):
            name, said = self.named(lambda batch: None, 0)
        self.assertEqual(name, "uncertain", said)


class Arrow(Proven):
    library = "pyarrow"

    def load(self) -> Any:
        if importlib.util.find_spec("pyarrow") is None:
            self.skipTest("not installed: pyarrow")
        return importlib.import_module("pyarrow")

    def test_its_own_ways_to_read_are_seen_where_they_are_used_and_only_there(self) -> None:
        import pyarrow
        import pyarrow.parquet

        table = os.path.join(self.folder, "table")
        pyarrow.parquet.write_table(pyarrow.table({"label": [1, 2, 3]}), table)
        held = pyarrow.memory_map(self.side)
        file = pyarrow.OSFile(self.side)
        for beside in (
            lambda batch: pyarrow.OSFile(self.side).read(),
            lambda batch: pyarrow.memory_map(self.side).read(),
            lambda batch: pyarrow.parquet.read_table(table),
            lambda batch: (held.seek(0), held.read()),
            lambda batch: (file.seek(0), file.read()),
        ):
            self.uncertain(beside)
        # It holds a map and a file, and they stay as they are; objects of it are visited.
        gc.enable()
        self.proven(lambda batch: gc.collect())

    def test_a_job_that_imports_pandas_and_never_reads_by_it_gets_its_name(self) -> None:
        if importlib.util.find_spec("pandas") is None:
            self.skipTest("not installed: pandas")
        import pandas

        gc.enable()
        frame = pandas.DataFrame({"label": range(BATCHES)})
        labels = frame["label"]
        self.proven(lambda batch: labels.iloc[batch])


if __name__ == "__main__":
    unittest.main()
