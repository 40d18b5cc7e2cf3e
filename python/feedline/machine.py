"""Who used the processors of this machine while a job was measured: the job, or others.

Linux says how long each thread waited for a processor although it could have run. Where others held the processors meanwhile,
no part of the job is its limit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
# feedline's own bounds: others above a tenth of the machine, and a tenth of the time waited for a processor.
OTHERS_SHARE_MIN = 0.10
DELAYED_SHARE_MIN = 0.10
# Threads of one process may wait at the same time: more than this is no more doubt.
DELAYED_SHARE_MAX = 0.95


@dataclass(frozen=True)
class Use:
    """Processor time of a process and its children between two moments."""

    wall_ns: int
    own_ns: int
    delayed_ns: int
    """How long threads of one process of the job were ready and had no processor, of that where it was longest."""
    others_ns: int
    cores: int

    @property
    def others_share(self) -> float:
        """Of all processors' time, what others used."""
        return self.others_ns / max(1, self.wall_ns * self.cores)

    @property
    def delayed_share(self) -> float:
        """Of the time, what that process of the job waited for a processor which waited longest."""
        return min(DELAYED_SHARE_MAX, self.delayed_ns / max(1, self.wall_ns))

    @property
    def taken_share(self) -> float:
        """Of the time, what others may have taken; workers that only wait for each other lose nothing to others."""
        return self.delayed_share if self.others_share >= OTHERS_SHARE_MIN else 0.0

    @property
    def held_up(self) -> bool:
        """Whether others kept the job waiting for processors."""
        return self.taken_share >= DELAYED_SHARE_MIN


@dataclass(frozen=True)
class Moment:
    """Counters of the kernel at one moment."""

    at_ns: int
    machine_ns: int
    processes: dict[int, tuple[int, int]] = field(default_factory=dict)
    """For each process of the job: time on a processor, and time ready without one."""
    read_bytes: dict[int, int] = field(default_factory=dict)
    """For each process: bytes that its calls to read returned."""


def cores(root: str = "/") -> int:
    """Processors that this process may use, by what it is bound to and by the time that its control groups have."""
    quotas = [quota for folder in _cpu_groups(Path(root)) if (quota := _quota(folder)) is not None]
    return max(1, min([len(os.sched_getaffinity(0)), *map(round, quotas)]))


def _cpu_groups(root: Path) -> Iterator[Path]:
    """Folders of this process' control groups and of all above them: each may limit."""
    for line in _text(f"{root}/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = root / "sys/fs/cgroup" / controllers
        group = Path(path)
        for inner in (group, *group.parents):
            yield mount / str(inner).lstrip("/")
            # Version 1 is often mounted by the name of one of its controllers.
            yield root / "sys/fs/cgroup/cpu" / str(inner).lstrip("/")


def _quota(folder: Path) -> float | None:
    """Processors whose time a control group may use, if it is limited."""
    told = _text(f"{folder}/cpu.max").split() or [_text(f"{folder}/cpu.cfs_{of}_us").strip() for of in ("quota", "period")]
    quota, period = told if len(told) == 2 else ("", "")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() and int(period) else None


def moment(now_ns: int) -> Moment:
    """Counters of this process, of its children and of the machine."""
    processes, read_bytes = {}, {}
    for process in _tree(os.getpid()):
        used = _used(process)
        if used is not None:
            processes[process] = used
            read_bytes[process] = bytes_read(process)
    return Moment(now_ns, _machine_ns(), processes, read_bytes)


def between(before: Moment, after: Moment) -> Use:
    """What was used between two moments; a process that is gone is not counted, so take the second one while workers live."""
    own = delayed = 0
    for process, (on, waited) in after.processes.items():
        on_before, waited_before = before.processes.get(process, (0, 0))
        own += on - on_before
        delayed = max(delayed, waited - waited_before)
    others = max(0, after.machine_ns - before.machine_ns - own)
    return Use(after.at_ns - before.at_ns, own, delayed, others, os.cpu_count() or 1)


def bytes_between(before: Moment, after: Moment, without: int | None = None) -> int:
    """Bytes that calls to read returned between two moments: of pipes and files, not of maps and most sockets.

    Of all processes of the job but `without`.
    """
    return sum(read - before.read_bytes.get(process, 0) for process, read in after.read_bytes.items() if process != without)


def _tree(process: int) -> list[int]:
    found = [process]
    for at in found:
        for thread in _entries(f"/proc/{at}/task"):
            for child in _text(f"/proc/{at}/task/{thread}/children").split():
                if int(child) not in found:
                    found.append(int(child))
    return found


def _used(process: int) -> tuple[int, int] | None:
    on = waited = 0
    threads = _entries(f"/proc/{process}/task")
    for thread in threads:
        fields = _text(f"/proc/{process}/task/{thread}/schedstat").split()
        if len(fields) >= 2:
            on += int(fields[0])
            waited += int(fields[1])
    return (on, waited) if threads else None


def bytes_read(process: int) -> int:
    """What calls to read returned to a process since it began."""
    for line in _text(f"/proc/{process}/io").splitlines():
        if line.startswith("rchar:"):
            return int(line.split()[1])
    return 0


def _machine_ns() -> int:
    fields = [int(field) for field in _text("/proc/stat").partition("\n")[0].split()[1:]]
    # user, nice, system, idle, iowait, irq, softirq, steal: what a hypervisor took is others' time too.
    busy = sum(fields[:3]) + sum(fields[5:8]) if len(fields) >= 8 else 0
    return busy * TICK_NS


def _entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
