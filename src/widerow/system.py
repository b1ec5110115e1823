"""The real clock, entropy and processors. No other module asks the system for these values."""

import os
import secrets
from math import ceil, inf
from pathlib import Path, PurePosixPath
from time import monotonic_ns, time_ns
from typing import Final

__all__ = ["SystemClock", "SystemEntropy", "processors", "processors_granted"]

# Compiled, a global name of the module is found without a look-up.
_monotonic_ns: Final = monotonic_ns
_time_ns: Final = time_ns


class SystemClock:
    """The machine's clocks."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC by the machine's clock, which may be wrong."""
        return _time_ns() // 1000

    def monotonic_ns(self) -> int:
        """Nanoseconds that never go backwards; for durations only."""
        return _monotonic_ns()


class SystemEntropy:
    """The operating system's source of unpredictable bytes."""

    def token_bytes(self, size: int) -> bytes:
        """`size` unpredictable bytes."""
        return secrets.token_bytes(size)


def processors() -> int:
    """How many processors this process may use; all of them if the system does not say."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # outside Linux
        return os.cpu_count() or 1


def processors_granted(root: Path = Path("/")) -> int:
    """How many processors' time this process is given: as `processors`, and by quotas of cgroups.

    `root`: where `proc` and `sys` are. A part of a processor counts as one.
    """
    granted = float(processors())
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:  # outside Linux
        return int(granted)
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2: a quota of each group above counts, too
            groups = PurePosixPath(path.lstrip("/"))
            for group in (groups, *groups.parents):
                granted = min(granted, _quota(root / "sys/fs/cgroup" / group / "cpu.max"))
        elif "cpu" in controllers.split(","):
            for own in (path.lstrip("/"), ""):  # a container sees its own group as the first
                folder = root / "sys/fs/cgroup/cpu" / own
                granted = min(
                    granted, _quota(folder / "cpu.cfs_quota_us", folder / "cpu.cfs_period_us")
                )
    return max(1, ceil(granted))


def _quota(*files: Path) -> float:
    """Processors that a group of processes may use, by its file or files; infinity: as they are."""
    try:
        quota, period = " ".join(file.read_text() for file in files).split()
    except (OSError, ValueError):  # no such group here
        return inf
    return inf if quota in ("max", "-1") else int(quota) / int(period)
