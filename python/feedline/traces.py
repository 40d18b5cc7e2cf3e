"""What processes of a job touched and hold, as Linux tells it: whether a library that is loaded, and cannot be heard, has read.

The kernel marks each page of memory that is touched. Where no page of a library's code was, none of it ran, so it read nothing, in
whichever way it reads. The same mark tells of a file that is mapped whether anybody looked at it. Where Linux does not tell
(macOS, `hidepid`, a kernel without these marks), nothing is proven.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from . import machine
from .opens import is_data

GONE = " (deleted)"
# Maps without a file that bear a name, and memory that is shared between processes.
NO_FILES = ("/memfd:", "/dev/", "/SYSV", "/anon_hugepage", "/[")
# What calls functions of C by their names, and so any of the kernel's: what it calls for nobody knows.
FOREIGN_CALLS = ("libffi", "_cffi_backend")
# ... of which this one does so by the first, or by a copy that is part of it.
CTYPES = "_ctypes."


@dataclass
class Trace:
    """One process: what it touched since `machine.forget_touched`, and what it holds now."""

    code: dict[str, bool] = field(default_factory=dict)
    """Files that are mapped to be run, and whether any of each was."""
    maps: dict[str, bool] = field(default_factory=dict)
    """Other files that are mapped, and whether any of each was touched."""
    files: set[str] = field(default_factory=set)
    """Files that are open to be read."""
    sockets: set[str] = field(default_factory=set)
    """Sockets but those within the machine."""


Traces = Mapping[int, Trace]


def of_job() -> Traces | None:
    """Of each process of the job, or None where one of them does not tell."""
    found = {}
    for process in machine.tree(os.getpid()):
        try:
            found[process] = _of(process)
        except (OSError, ValueError):
            return None
    return found


def idle(
    code: Mapping[str, Iterable[str]], opened: Iterable[str], before: Traces, after: Traces, receiver: int | None
) -> set[str]:
    """Those libraries that did not run in a pass in which nothing else read past Python either, as far as it left traces.

    `code` says where the code of each lies, `opened` what was heard to be opened, and `receiver` is the process that only takes what
    the others read.
    """
    heard = {os.path.realpath(path) for path in opened}
    held = Trace()
    for trace in before.values():
        held.maps |= trace.maps
        held.files |= trace.files
        held.sockets |= trace.sockets
    for process, trace in after.items():
        # Of a process that was at work some code is marked, or the kernel marks none.
        marked = any(trace.code.values())
        read = process != receiver and (any(trace.maps.values()) or _called(trace.code) or not marked)
        if read or trace.maps.keys() - held.maps.keys() or trace.files - held.files - heard or trace.sockets - held.sockets:
            return set()
    readers = [trace for process, trace in after.items() if process != receiver]
    return {name for name, places in code.items() if _slept(tuple(places), readers)}


def _called(code: Mapping[str, bool]) -> bool:
    """Whether a function of C was called by its name, as far as what calls it is a file of its own."""
    if "_ctypes" in sys.builtin_module_names:
        return True
    files = [(os.path.basename(path), ran) for path, ran in code.items()]
    calls = FOREIGN_CALLS if any(name.startswith(FOREIGN_CALLS[0]) for name, _ in files) else (*FOREIGN_CALLS, CTYPES)
    return any(ran for name, ran in files if name.startswith(calls))


def _slept(places: tuple[str, ...], readers: Iterable[Trace]) -> bool:
    """Whether code that lies there is loaded, and none of it ran."""
    found = [
        ran
        for reader in readers
        for path, ran in reader.code.items()
        if path.startswith(places) or os.path.basename(path).startswith(places)
    ]
    return bool(found) and not any(found)


def _of(process: int) -> Trace:
    trace = Trace()
    mapped: dict[str, bool] = {}
    path, runs = "", False
    with open(f"/proc/{process}/smaps", encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            fields = line.split(maxsplit=5)
            if not fields[0].endswith(":"):
                path, runs = fields[5].rstrip("\n") if len(fields) > 5 else "", "x" in fields[1]
                if path.startswith("/"):
                    (trace.code if runs else mapped).setdefault(path, False)
            elif fields[0] == "Referenced:" and path.startswith("/") and fields[1] != "0":
                (trace.code if runs else mapped)[path] = True
    trace.maps = {path: touched for path, touched in mapped.items() if path not in trace.code and _may_be_data(path)}
    here = _within_the_machine(process)
    for descriptor in os.listdir(f"/proc/{process}/fd"):
        # It may be closed meanwhile; that of this folder is.
        with suppress(FileNotFoundError):
            to = os.readlink(f"/proc/{process}/fd/{descriptor}")
            if to.startswith("socket:["):
                trace.sockets |= {to} - here
            elif _may_be_data(to) and _is_to_be_read(process, descriptor):
                trace.files.add(to)
    return trace


def _may_be_data(path: str) -> bool:
    return is_data(path) or (path.startswith("/") and path.endswith(GONE) and not path.startswith(NO_FILES))


def _is_to_be_read(process: int, descriptor: str) -> bool:
    fields = Path(f"/proc/{process}/fdinfo/{descriptor}").read_text(encoding="ascii").split()
    return int(fields[fields.index("flags:") + 1], 8) & os.O_ACCMODE != os.O_WRONLY


def _within_the_machine(process: int) -> set[str]:
    """Sockets that lead to another process, or to the kernel."""
    found = set()
    for kind, place in (("unix", 6), ("netlink", 9)):
        for line in Path(f"/proc/{process}/net/{kind}").read_text(encoding="utf-8", errors="replace").splitlines()[1:]:
            found.add(f"socket:[{line.split()[place]}]")
    return found
