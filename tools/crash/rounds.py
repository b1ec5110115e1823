"""Round after round: start, compare with the ledger, write, cut.

What a round finds is what the round before it left, so the last one only looks. In between the
directory is copied as the cut left it, opened and checked from key to key (`engine/check.py`), as
`widerow doctor` does.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random  # noqa: TID251  # seeded, so that a run can be told apart
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from tools.crash.clients import Crew, Mark, ServerWrong
from tools.crash.disks import Disk
from tools.crash.ledger import Violation
from tools.evidence import Fact

from widerow.engine.check import check_store
from widerow.errors import WiderowError
from widerow.storage.opener import open_store
from widerow.testing.process import ServeFailed, WiderowProcess

__all__ = ["POINTS", "KillSite", "Outcome", "PowerSite", "Run", "Site", "powered", "run_rounds"]

POINTS: Final = (
    *("open", "write-before", "sync-before", "sync-after"),
    *("reply-before", "catalog-before", "flush", "compaction"),
)
VARIANTS: Final = Path(__file__).parent / "variants"
PLANTED_PATH: Final = os.pathsep.join(
    (str(VARIANTS), *filter(None, (os.environ.get("PYTHONPATH"),)))
)
"""The PYTHONPATH of a planted server: the variants first, then what this process was given, which
says whether the compiled modules run."""

_POINT_VISITS: Final = {"open": 1, "catalog-before": 6, "flush": 3, "compaction": 2}
_POINT_SECONDS: Final = 5.0  # a point that is not reached by then is not reached in this round
_WORK_SECONDS: Final = (0.02, 0.4)
_MEMTABLE_KB: Final = 256


class Site(Protocol):
    """Where the store is, and how it is cut."""

    store: Path
    mark_strict: bool

    def cut(self, process: WiderowProcess, chance: Random) -> None:
        """End the server the hard way."""
        ...

    def restore(self, cycle: int) -> None:
        """Make the directory usable again."""
        ...


class KillSite:
    """A directory; the server is killed, now and then while it is stopping."""

    mark_strict = False

    def __init__(self, directory: Path) -> None:
        """The store lies in `directory`."""
        self.store = directory / "store"

    def cut(self, process: WiderowProcess, chance: Random) -> None:
        """SIGKILL; one time in eight SIGTERM a moment before."""
        if chance.random() < 1 / 8:
            os.kill(process.pid, 15)
            time.sleep(chance.uniform(0, 0.1))
        process.kill()

    def restore(self, cycle: int) -> None:
        """Nothing is to be done; `cycle` is the number of the round."""


class PowerSite:
    """A file system of its own, whose power is cut."""

    mark_strict = True

    def __init__(self, disk: Disk) -> None:
        """The store lies on `disk`."""
        self._disk = disk
        self.store = disk.place / "store"

    def cut(self, process: WiderowProcess, chance: Random) -> None:  # noqa: ARG002  # no chance here
        """The power goes, and the server with it."""
        self.lose_power()
        process.kill()

    def lose_power(self) -> None:
        """Drop what no sync has covered; whoever uses the disk gets errors from now on."""
        self._disk.cut()

    def restore(self, cycle: int) -> None:
        """Mount it again, ext4 with another time between two commits of its journal."""
        self._disk.unmount()
        commits: tuple[tuple[str, ...], ...] = ((),)
        if self._disk.kind == "ext4":
            commits = ("commit=1",), ("commit=5",), ("commit=1000",), ("data=writeback",)
        self._disk.mount(commits[cycle % len(commits)])


@contextmanager
def powered(kind: str) -> Iterator[PowerSite]:
    """A store on a file system of its own, unmounted at the end whatever happens."""
    with (
        TemporaryDirectory(prefix="widerow-power-") as directory,
        Disk(kind, Path(directory)) as disk,
    ):
        yield PowerSite(disk)


@dataclass
class Outcome:
    """What a run came to."""

    cuts: int = 0
    missed: int = 0  # kill points that were not reached
    violations: list[Violation] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)  # seconds from exec to the ready line
    counts: dict[str, int] = field(default_factory=dict)
    points: dict[str, int] = field(default_factory=dict)

    @property
    def facts(self) -> Mapping[str, Fact]:
        """For a line of evidence."""
        kinds = (
            "lost",
            "resurrected",
            "torn",
            "alien",
            "backwards",
            "unsound",
            "unexpected",
            "unavailable",
        )
        found = {kind: sum(each.kind == kind for each in self.violations) for kind in kinds}
        cuts = (
            quantiles(self.starts, n=100, method="inclusive")
            if len(self.starts) > 1
            else [0.0] * 99
        )
        restarts: dict[str, Fact] = {
            "restart_p50_seconds": round(cuts[49], 2),
            "restart_p99_seconds": round(cuts[98], 2),
        }
        return {**self.counts, **found, **restarts, **self.points}


@dataclass(frozen=True, slots=True)
class Run:
    """How a run is to be made.

    `variant` names a planted defect, `launcher` a command in front of the server's. With `points`
    every other round ends at a named point instead of at a random time.
    """

    cycles: int
    seed: int
    points: bool = False
    variant: str = ""
    launcher: tuple[str, ...] = ()


def run_rounds(
    site: Site,
    run: Run,
    *,
    tell: Callable[[int], None] = lambda _: None,
    enough: Callable[[Outcome], bool] = lambda _: False,
) -> Outcome:
    """Start, compare, write and cut as often as `run` says, then start and compare once more.

    `tell` hears how many rounds are done; `enough` ends early.
    """
    outcome = Outcome()
    with ExitStack() as stack:
        directory = stack.enter_context(TemporaryDirectory(prefix="widerow-ledger-"))
        crew = Crew(Path(directory), run.seed)
        stack.callback(crew.close)
        outcome.violations = crew.violations
        rounds = _Rounds(site, crew, outcome, run)
        for cycle in range(run.cycles):
            point = POINTS[cycle // 2 % len(POINTS)] if run.points and cycle % 2 else ""
            rounds.round(cycle, point)
            tell(cycle + 1)
            if enough(outcome):
                break
        else:
            rounds.look()
        outcome.counts = {**crew.totals, "reads": crew.reads, "points_missed": outcome.missed}
    return outcome


def copy_store(place: Path, copy: Path) -> None:
    """Copy a directory that no server uses; a socket that a killed one left stays behind."""
    shutil.copytree(place, copy, ignore=shutil.ignore_patterns("*.sock"))


@dataclass
class _Rounds:
    """What stays from round to round."""

    site: Site
    crew: Crew
    outcome: Outcome
    how: Run

    def round(self, cycle: int, point: str) -> None:
        """One round, with `point` up to that point."""
        chance = Random(f"{self.how.seed} {cycle}")  # noqa: S311  # no secret
        visits = chance.randint(1, _POINT_VISITS.get(point, 60))
        environment = {
            "PYTHONPATH": PLANTED_PATH,
            "CRASH_VARIANT": self.how.variant,
            "CRASH_MEMTABLE_KB": str(_MEMTABLE_KB),
            "CRASH_POINT": f"{point}:{visits}" if point else "",
        }
        process = self._process(environment)
        try:
            self._start_and_compare(process)
            self._write_and_cut(process, cycle, chance, to_the_point=bool(point))
        except (ServeFailed, OSError) as failed:
            if point:
                self._reached(process, point)
            else:
                self._note("unavailable", str(failed))
        else:
            if point:
                self._reached(process, point)
        finally:
            if process.pid:
                process.kill()
        self.outcome.cuts += 1
        self.site.restore(cycle)
        self._check()

    def look(self) -> None:
        """The last round: compare, and stop as one does."""
        process = self._process({})
        try:
            self._start_and_compare(process)
        finally:
            if process.pid:
                process.stop()

    def _process(self, environment: Mapping[str, str]) -> WiderowProcess:
        flags = ("--store", f"rocksdb:{self.site.store}", "--log-level", "critical")
        return WiderowProcess(*flags, launcher=self.how.launcher, environment=environment)

    def _start_and_compare(self, process: WiderowProcess) -> None:
        begun = time.perf_counter()
        process.start()
        self.outcome.starts.append(time.perf_counter() - begun)
        try:
            self.crew.verify(process.endpoint)
        except ServerWrong as wrong:
            self._note("unexpected", str(wrong))

    def _write_and_cut(
        self, process: WiderowProcess, cycle: int, chance: Random, *, to_the_point: bool
    ) -> None:
        mark = Mark(strict=self.site.mark_strict)
        wait = self.crew.work(process.endpoint, mark, cycle)
        if to_the_point:
            end = time.monotonic() + _POINT_SECONDS
            while process.running and time.monotonic() < end:
                time.sleep(0.01)
            mark.set()
            wait()
            return
        time.sleep(chance.uniform(*_WORK_SECONDS))
        mark.set()
        self.site.cut(process, chance)
        wait()

    def _reached(self, process: WiderowProcess, point: str) -> None:
        if process.pid and process.running:
            self.outcome.missed += 1
            return
        name = "at_" + point.replace("-", "_")
        self.outcome.points[name] = self.outcome.points.get(name, 0) + 1

    def _check(self) -> None:
        """Check a copy of what the cut left. Where nothing is left, the ledger will say so."""
        if not self.site.store.exists():
            return
        with TemporaryDirectory(prefix="widerow-check-") as directory:
            copy = Path(directory) / "store"
            copy_store(self.site.store, copy)
            try:
                with open_store(f"rocksdb:{copy}") as store:
                    findings = check_store(store)
            except WiderowError as error:
                self._note("unsound", str(error))
                return
        for finding in findings:
            self._note("unsound", f"{finding.key}: {finding.problem}")

    def _note(self, kind: str, told: str) -> None:
        self.crew.violations.append(Violation(kind, ("", 0), told))
