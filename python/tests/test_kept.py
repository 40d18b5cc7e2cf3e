"""What is put back, and what is said where something cannot be."""

from __future__ import annotations

import random
import unittest
from typing import Any

from feedline.kept import Kept


class Counter:
    """State of which a part may refuse to be put back."""

    def __init__(self, refuses: bool = False) -> None:
        self.count = 0
        self.refuses = refuses

    def state_dict(self) -> dict[str, Any]:
        return {"count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        if self.refuses:
            raise KeyError("count")
        self.count = state["count"]


class Refused(unittest.TestCase):
    def setUp(self) -> None:
        self.refuses, self.other = Counter(refuses=True), Counter()
        self.kept = Kept([self.refuses, self.other])
        self.other.count = 3
        self.drawn = random.getstate()
        random.random()

    def restored(self) -> None:
        self.assertEqual((self.other.count, random.getstate()), (0, self.drawn))

    def test_what_cannot_be_restored_is_told_once_the_rest_is(self) -> None:
        with self.assertRaisesRegex(RuntimeError, r"not restored: Counter \(KeyError: 'count'\)"):
            self.kept.restore()
        self.restored()

    def test_it_is_no_error_in_the_place_of_the_jobs_own(self) -> None:
        with self.assertWarnsRegex(RuntimeWarning, "not restored: Counter"), self.assertRaises(ZeroDivisionError):
            try:
                raise ZeroDivisionError
            finally:
                self.kept.restore()
        self.restored()

    def test_an_error_from_before_is_not_the_jobs(self) -> None:
        try:
            raise ZeroDivisionError
        except ZeroDivisionError:
            kept = Kept([self.refuses])
            with self.assertRaisesRegex(RuntimeError, "not restored"):
                kept.restore()


if __name__ == "__main__":
    unittest.main()
