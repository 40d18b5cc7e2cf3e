"""What is heard of opened files, and that hearing does nothing to who opens them."""

from __future__ import annotations

import errno
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from feedline import opens


class Hearing(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name: str) -> str:
        path = os.path.join(self.folder, name)
        Path(path).write_bytes(b"whole")
        return path

    def test_names_are_heard_and_saved_as_they_are(self) -> None:
        names = [self.path(name) for name in ("a.bin", "b\rc.bin", "ü.bin", "d\udcff.bin")]
        with opens.hearing([]) as heard:
            for name in names:
                open(name, "rb").close()
        self.assertEqual(heard.order, names)
        saved = os.path.join(self.folder, "order.txt")
        heard.save(saved)
        self.assertEqual(Path(saved).read_bytes().split(b"\n")[:-1], [os.fsencode(name) for name in names])

    def test_a_list_that_cannot_be_written_is_told_at_the_end_and_the_job_opens_its_files(self) -> None:
        name = self.path("a.bin")
        written: list[int] = []

        def torn(handle: int, line: bytes) -> int:
            written.append(handle)
            return len(line) // 2

        for full in (mock.patch("os.write", torn), mock.patch("os.open", side_effect=OSError(errno.EMFILE, "too many"))):
            with self.assertRaisesRegex(OSError, "the list of opened files could not be written"), opens.hearing([]):
                with full:
                    self.assertEqual(Path(name).read_bytes(), b"whole")
        self.assertEqual(len(written), 1)

    def test_a_line_that_comes_late_is_written_to_no_file_of_the_job(self) -> None:
        name, mine = self.path("a.bin"), self.path("mine.bin")
        write = opens._write
        opened: list[Any] = []

        def late(sink: str, line: bytes) -> None:
            # Another thread ends the hearing, its folder too, and the job opens files under the descriptors that became free.
            opens.stop()
            opened.extend(open(mine, "r+b", buffering=0) for _ in range(8))
            for path in Path(sink).parent.iterdir():
                path.unlink()
            write(sink, line)

        with opens.hearing([]) as heard, mock.patch.object(opens, "_write", late):
            open(name, "rb").close()
        for file in opened:
            file.close()
        self.assertEqual((len(opened), heard.order, Path(mine).read_bytes()), (8, [], b"whole"))


if __name__ == "__main__":
    unittest.main()
