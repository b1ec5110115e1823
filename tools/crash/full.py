"""A disk that fills up while clients write, and gets room again: nothing lost, no restart.

By turns, the disk is filled to where the server stops taking writes by itself, and to its very end,
which what the engine does in the background meets. Then: everything can be read, a write is
refused; the room comes back, and soon a write is taken again.
"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tools.crash.clients import Crew, Mark, ServerWrong, probe
from tools.crash.disks import Disk
from tools.crash.ledger import Violation
from tools.crash.rounds import PLANTED_PATH
from tools.evidence import Fact

from widerow.testing.process import WiderowProcess

__all__ = ["RESUME_SECONDS_MAX", "Outcome", "run_full"]

RESUME_SECONDS_MAX: Final = 10.0
"""From the moment there is room again to the first write that is taken."""

_MIB: Final = 1024 * 1024
_DISK_MB: Final = 400
_LEFT_BYTES: Final = (48 * _MIB, 0)  # below the room that the server wants, and nothing at all
_MEMTABLE_KB: Final = 256
_WORK_SECONDS: Final = 0.5
_POLL_SECONDS: Final = 0.05


@dataclass
class Outcome:
    """What a run came to."""

    cycles: int = 0
    violations: list[Violation] = field(default_factory=list)
    resumed: list[float] = field(default_factory=list)  # seconds
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def facts(self) -> Mapping[str, Fact]:
        """For a line of evidence."""
        return {**self.counts, "resumed_seconds": round(max(self.resumed, default=0.0), 2)}


def run_full(
    directory: Path,
    cycles: int,
    *,
    seed: int,
    variant: str = "",
    tell: Callable[[int], None] = lambda _: None,
) -> Outcome:
    """Fill the disk and make room again, `cycles` times, under one server.

    `variant`: the defect that is planted in it.
    """
    outcome = Outcome()
    with (
        TemporaryDirectory(prefix="widerow-ledger-") as ledgers,
        Disk("ext4", directory, size_mb=_DISK_MB) as disk,
    ):
        crew = Crew(Path(ledgers), seed, persistent=True)
        outcome.violations = crew.violations
        environment = {
            "PYTHONPATH": PLANTED_PATH,
            "CRASH_MEMTABLE_KB": str(_MEMTABLE_KB),
            "CRASH_VARIANT": variant,
        }
        flags = ("--path", str(disk.place / "store"), "--log-level", "critical")
        process = WiderowProcess(*flags, environment=environment)
        process.start()
        try:
            crew.verify(process.endpoint)
            for cycle in range(cycles):
                _cycle(process.endpoint, crew, disk, cycle, outcome)
                tell(cycle + 1)
            process.kill()
            process.start()
            crew.verify(process.endpoint)
        finally:
            process.stop()
            crew.close()
        outcome.counts = crew.totals
    return outcome


def _cycle(endpoint: str, crew: Crew, disk: Disk, cycle: int, outcome: Outcome) -> None:
    """Fill it under load, look, make room, wait for the first write."""
    mark = Mark(strict=False)
    wait = crew.work(endpoint, mark, cycle)
    time.sleep(_WORK_SECONDS)
    ballast = disk.place / "ballast"
    _fill(ballast, _LEFT_BYTES[cycle % len(_LEFT_BYTES)])
    time.sleep(_WORK_SECONDS)
    mark.set()
    wait()
    try:
        crew.verify(endpoint, settle=False)
        if probe(endpoint) != 503:
            _note(crew, "a write was taken on a full disk")
    except ServerWrong as wrong:
        _note(crew, f"reading from a full disk: {wrong}")
    ballast.unlink()
    begun = time.monotonic()
    while probe(endpoint) != 200:
        if time.monotonic() - begun > RESUME_SECONDS_MAX:
            _note(crew, "no write was taken although there is room again")
            break
        time.sleep(_POLL_SECONDS)
    outcome.resumed.append(time.monotonic() - begun)
    crew.verify(endpoint)
    outcome.cycles += 1


def _note(crew: Crew, told: str) -> None:
    crew.violations.append(Violation("unexpected", ("", 0), told))


def _fill(ballast: Path, left: int) -> None:
    """Take all room but `left` bytes. Others write meanwhile, so it is done piece by piece."""
    with ballast.open("wb", buffering=0) as file:
        piece = _MIB
        while piece >= 4096:
            status = os.statvfs(ballast)
            free = status.f_bavail * status.f_frsize
            if free - piece < left:
                piece //= 2
                continue
            try:
                os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), piece)
            except OSError:
                piece //= 2
