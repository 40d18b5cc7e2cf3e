"""The executable as Python speaks to it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import feedline
from feedline import _binary, diagnosis
from feedline.scenario import Scenario, below, of_files, of_suffix

SCENARIO = """
version = 1
need = { rate = "1 kB/s" }
dataset = { source = "existing" }
targets.data = { at = DATA, engine = "pread" }
load = { queue_depth = 2, operation = "read_file", cache = "warm" }
measure = { bytes = "300 kB", repetitions = 3 }
"""


class Fake(unittest.TestCase):
    """An executable that says what it is told to, and keeps what it was asked."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        before = os.environ.get("FEEDLINE")
        os.environ["FEEDLINE"] = str(self.folder / "feedline")
        self.addCleanup(lambda: os.environ.pop("FEEDLINE") if before is None else os.environ.update(FEEDLINE=before))

    def says(self, out: str, words: str = "", code: int = 0) -> None:
        path = self.folder / "feedline"
        path.write_text(
            f'#!/bin/sh\nprintf "%s\\n" "$@" >{self.folder}/asked\ncat <<"X"\n{out}\nX\ncat >&2 <<"X"\n{words}\nX\nexit {code}\n'
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def asked(self) -> list[str]:
        return (self.folder / "asked").read_text().splitlines()

    def test_overrides_become_keys_as_toml_writes_them(self) -> None:
        self.says('{"verdicts": []}')
        feedline.run(
            "job.toml",
            results=self.folder,
            strict=True,
            only="s3",
            need={"batch": 4, "step_time": "2ms"},
            load={"threads": 2, "access": ["random", "sequential"]},
            title='a "b"',
            **{"measure.repetitions": 3, "training.barrier": True},
        )
        self.assertEqual(
            self.asked(),
            [
                "run", "job.toml", "--json", "--quiet", "--yes", "--results", str(self.folder), "--strict", "--only=s3",
                '--need={ batch = 4, step_time = "2ms" }', "--set=load.threads=2", '--set=load.access=["random", "sequential"]',
                '--set=title="a \\"b\\""', "--set=measure.repetitions=3", "--set=training.barrier=true",
            ],
        )  # fmt: skip
        with self.assertRaisesRegex(TypeError, "set is no value of a scenario"):
            feedline.run("job.toml", load={"threads": {1}})
        with self.assertRaisesRegex(TypeError, "where a report has none, it says why"):
            feedline.run(None)

    def test_each_exit_code_is_an_exception_with_the_tools_words_and_its_answer(self) -> None:
        for code, kind in ((1, feedline.Failed), (2, feedline.Refused), (3, feedline.GateMissed), (4, feedline.Regressed),
                           (5, feedline.Inconclusive), (130, feedline.Interrupted)):  # fmt: skip
            self.says('{"verdicts": [{"sentence": "starves"}], "gate": {"outcome": "missed"}}', "error: words", code)
            with self.assertRaises(kind) as raised:
                feedline.run("job.toml", results=self.folder)
            self.assertEqual((type(raised.exception), raised.exception.code), (kind, code))
            self.assertIn("error: words", str(raised.exception))
            assert raised.exception.answer is not None
            self.assertIn("starves", str(raised.exception))
        self.says("", "error: unknown key `cashe`", 2)
        with self.assertRaisesRegex(feedline.Refused, "unknown key") as refused:
            feedline.check("job.toml")
        self.assertIsNone(refused.exception.answer)

    def test_an_executable_that_is_none_is_named(self) -> None:
        with self.assertRaisesRegex(FileNotFoundError, "FEEDLINE names .*/feedline, which is no file that can be run"):
            feedline.check("job.toml")

    def test_no_folder_stays_of_a_run_that_measured_nothing(self) -> None:
        self.says("", "error: words", 2)
        with self.assertRaises(feedline.Refused):
            feedline.run("job.toml")
        asked = self.asked()
        self.assertFalse(os.path.exists(asked[asked.index("--results") + 1]))

    def test_what_a_diagnosis_measures_leaves_no_record(self) -> None:
        self.says('{"verdicts": []}')
        diagnosis.Around().play(Scenario(4, 1.5e6, 5_000, 2, 4, 16, "/data", ".bin", "files"))
        asked = self.asked()
        self.assertFalse(os.path.exists(asked[asked.index("--results") + 1]))
        self.assertFalse(os.path.exists(asked[1]))

    def test_rows_are_the_lines_of_a_record(self) -> None:
        self.says('{"rep": 0, "throughput_bps": 2.5}\n{"rep": 1, "throughput_bps": 3}')
        rows = feedline.load({"paths": {"run": "results/a", "page": None}})
        self.assertEqual([row["throughput_bps"] for row in rows], [2.5, 3])
        self.assertEqual(self.asked(), ["export", "results/a", "--format", "jsonl"])


class Files(unittest.TestCase):
    def test_files_have_a_root_and_a_pattern_where_their_suffix_is_one(self) -> None:
        self.assertEqual(of_files(["/a/b/c.jpg", "/a/d/e.jpg", "/labels.json"]), ("/a", ".jpg"))
        self.assertEqual(of_files(["/a/b/c"]), ("/a/b", ""))

    def test_links_are_the_files_that_they_name(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            root = os.path.realpath(folder)
            for name in ("data", "links"):
                os.mkdir(f"{root}/{name}")
            for at in range(3):
                Path(f"{root}/data/{at}.bin").touch()
                os.symlink(f"../data/{at}.bin", f"{root}/links/{at}")
            os.symlink("data", f"{root}/folder")
            opened = [f"{root}/links/2", f"{root}/folder/1.bin"]
            self.assertEqual(of_files(opened), (f"{root}/data", ".bin"))
            self.assertEqual(below(f"{root}/data", opened), ("2.bin", "1.bin"))

    def test_names_that_no_scenario_can_hold_are_refused_in_words(self) -> None:
        for name in ("a\tb", "a\x7fb", "a\x85b", "a\udcffb"):
            with self.assertRaisesRegex(ValueError, "a control character, or what is no UTF-8") as raised:
                of_files([f"/data/{name}.bin"])
            str(raised.exception).encode()
        self.assertEqual(_binary.toml("a\tb\x7fc\u2028"), '"a\\tb\\u007fc\u2028"')

    def test_texts_are_utf_8_whatever_the_locale_says(self) -> None:
        scenario = Scenario(4, 1.5e6, 5_000, 2, 4, 16, "/dätä", ".bin", "files", opened=("ü.bin",))
        # The encoding of the locale is taken as Python starts.
        code = f"import sys, pathlib, feedline.scenario as s; s.{scenario!a}.save(sys.argv[1], order=sys.argv[2])"
        with tempfile.TemporaryDirectory() as folder:
            paths = [f"{folder}/mine.toml", f"{folder}/order.txt"]
            environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
            subprocess.run([sys.executable, "-c", code, *paths], env=environment, check=True)
            self.assertIn('at = "/dätä"', Path(paths[0]).read_text(encoding="utf-8"))
            self.assertEqual(Path(paths[1]).read_bytes(), "ü.bin\n".encode())


def real() -> str | None:
    """The executable itself, where this machine has one."""
    try:
        found = _binary.executable()
    except FileNotFoundError:
        return None
    return found if os.access(found, os.X_OK) else None


@unittest.skipUnless(real() or os.environ.get("CI"), "no executable: FEEDLINE=/its/path names one")
class Real(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        data = self.folder / "data"
        data.mkdir()
        for at in range(64):
            (data / f"{at}.bin").write_bytes(os.urandom(5_000))
        (self.folder / "job.toml").write_text(SCENARIO.replace("DATA", _binary.toml(data)))

    def test_a_run_gives_an_answer_and_rows(self) -> None:
        answer = feedline.run(self.folder / "job.toml", results=self.folder / "results", measure={"repetitions": 4})
        self.assertEqual(answer["verdicts"][0]["target"], "data")
        rows = feedline.load(answer)
        self.assertGreaterEqual(len([row for row in rows if row["role"] == "measure"]), 4)
        self.assertTrue(all(row["counters"]["bytes"] > 0 for row in rows if row["outcome"] == "complete"))

    def test_what_is_wrong_is_said_in_the_tools_words(self) -> None:
        self.assertTrue(feedline.check(self.folder / "job.toml").startswith("ok:"))
        with self.assertRaisesRegex(feedline.Refused, "did you mean `cache`"):
            feedline.check(self.folder / "job.toml", load={"cashe": "warm"})
        with self.assertRaisesRegex(feedline.Refused, "cannot read the scenario"):
            feedline.run(self.folder / "nothing.toml")
        with self.assertRaises(feedline.Failed):
            feedline.load(self.folder / "nothing")

    def test_the_scenario_of_a_diagnosis_is_right_here_and_on_other_storage(self) -> None:
        data = self.folder / "data"
        for suffix, decode_ns, burns in ((".bin", 2e6, True), ("", 2e6, False), ("", 0, False)):
            scenario = Scenario(4, 1.5e6, 5_000, 2, 4, 16, str(data), suffix, "files", decode_ns, burns)
            path = self.folder / "mine.toml"
            scenario.save(path)
            self.assertIn("ok:", feedline.check(path))
            self.assertIn("ok:", feedline.check(scenario))
            self.assertIn("ok:", feedline.check(scenario.reading_alone("60s")))
            scenario.save(path, at=self.folder / "new")
            self.assertIn("ok:", feedline.check(path))

    def test_files_are_read_in_the_order_of_the_job(self) -> None:
        data = self.folder / "data"
        (data / "deep").mkdir(parents=True)
        for name in ("a.bin", "b.bin", "deep/c.bin"):
            (data / name).write_bytes(bytes(5_000))
        heard = [str(data / "deep/c.bin"), "/elsewhere/d.bin", str(data / "a.bin"), str(data / "l.txt")]
        opened = below(str(data), of_suffix(".bin", heard))
        self.assertEqual(opened, ("deep/c.bin", "a.bin"))
        scenario = Scenario(2, 1.5e6, 5_000, 1, 2, 16, str(data), ".bin", "files", opened=opened)
        path, order = self.folder / "mine.toml", self.folder / "order.txt"
        scenario.save(path, order=order)
        self.assertEqual(order.read_text(), "deep/c.bin\na.bin\n")
        self.assertIn("ok:", feedline.check(path))
        for unknown in (scenario, replace(scenario, opened=())):
            with self.assertRaisesRegex(ValueError, "an order is that of the job"):
                unknown.save(path, order=order, at=None if not unknown.opened else self.folder / "new")


if __name__ == "__main__":
    unittest.main()
