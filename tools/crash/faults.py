"""One input or output call of the server fails, the n-th of its kind; then the ledger is compared.

strace makes the call fail (it counts in every thread by itself) and touches nothing but the files
of the store. Whatever fails, the server must refuse to start, or answer an error, or not need that
call: never hang, never answer with success and lose the change. After an error whose outcome it
does not know it must take no more writes, unless the disk was merely full.
"""

import re
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from tools.crash.clients import TABLE, Crew, Mark, ServerWrong, probe, read_everything
from tools.crash.rounds import PLANTED_PATH, copy_store
from tools.evidence import Fact

from widerow.errors import WiderowError
from widerow.testing.process import ServeFailed, WiderowProcess
from widerow.testing.server import WiderowServer

__all__ = [
    "CALLS",
    "ERRORS",
    "Call",
    "Load",
    "Report",
    "calls_until_untouched",
    "make_base",
    "try_fault",
    "why_not",
]

CALLS: Final = (
    *("write", "pwrite64", "fdatasync", "fsync", "ftruncate", "rename"),
    *("openat", "unlink", "read", "pread64", "mmap", "fallocate"),
)
ERRORS: Final = ("EIO", "ENOSPC", "EDQUOT", "EMFILE")

_MEMTABLE_KB: Final = 64
_NUMBERS: Final = 80  # files that the engine makes in such a run
_SECONDS_MAX: Final = 30.0  # from the first request to the end of the last
_FULL: Final = frozenset(("ENOSPC",))
_COMMIT_FAILED: Final = re.compile(r"(?:write|fdatasync)\(\d+<[^>]*\.log>.*\(INJECTED\)")

_STOPPED: Final = "--- SIGTERM "


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked of the server, and which server; `logs_only` leaves all other files alone."""

    clients: int = 2
    requests: int = 25
    variant: str = ""
    logs_only: bool = False


_USUAL: Final = Load()


class Call(NamedTuple):
    """The n-th `name` fails with `error`."""

    name: str
    error: str
    number: int


@dataclass
class Report:
    """What became of the runs."""

    refused: int = 0  # the server did not start
    errors: int = 0  # a write was answered with an error, or not at all
    unaffected: int = 0  # the engine did without that call
    untouched: int = 0  # there was no such call any more
    sites: set[tuple[str, int]] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """Runs in which a call failed."""
        return self.refused + self.errors + self.unaffected

    @property
    def facts(self) -> Mapping[str, Fact]:
        """For a line of evidence."""
        return {
            "refused": self.refused,
            "errors": self.errors,
            "unaffected": self.unaffected,
            "calls": len(self.sites),
        }


def why_not() -> str:
    """Why no call can be made to fail here; empty if it can."""
    if shutil.which("strace") is None:
        return "strace is not installed"
    return ""


def make_base(directory: Path) -> Path:
    """A store with an empty table, to start each run from."""
    place = directory / "base"
    with WiderowServer(place) as server:
        read_everything(server.endpoint)
    return place


def calls_until_untouched(
    base: Path, directory: Path, name: str, error: str, report: Report, *, step: int = 1
) -> Iterator[Call]:
    """Let the first, second, ... call of a kind fail, until a run finds none; every `step`-th."""
    number = 1
    while True:
        call = Call(name, error, number)
        if not try_fault(base, directory, call, report):
            return
        yield call
        number += step


def try_fault(base: Path, directory: Path, call: Call, report: Report, load: Load = _USUAL) -> bool:
    """One run. False if there was no such call; what was wrong is in the report."""
    place = directory / "store"
    copy_store(base, place)
    try:
        return _Run(place, directory, call, report, load).go()
    finally:
        shutil.rmtree(place)
        for file in directory.glob("*.ledger"):
            file.unlink()


class _Run:
    def __init__(
        self, place: Path, directory: Path, call: Call, report: Report, load: Load
    ) -> None:
        self._load = load
        self._place = place
        self._trace = directory / "trace"
        self._call = call
        self._report = report
        self._crew = Crew(directory, call.number, size=load.clients)

    def go(self) -> bool:
        """Start, write, stop, compare."""
        self._trace.unlink(missing_ok=True)
        refused = self._serve()
        trace = self._trace.read_text(encoding="utf-8")
        struck = "(INJECTED)" in trace
        told = self._crew.codes or self._crew.totals["indeterminate"]
        # What a server writes down after it was told to stop is nobody's request.
        served, _, _ = trace.partition(_STOPPED)
        if _COMMIT_FAILED.search(served) and not told and not refused:
            self._wrong("a commit failed and nobody was told")
        self._compare()
        self._crew.close()
        report = self._report
        if not struck:
            report.untouched += 1
            return False
        report.sites.add((self._call.name, self._call.number))
        if refused:
            report.refused += 1
        elif told:
            report.errors += 1
        else:
            report.unaffected += 1
        return True

    def _serve(self) -> bool:
        """Write through a server whose call fails; whether it refused to start."""
        name, error, number = self._call
        inject = f"inject={name}:error={error}:when={number}"
        launcher = ("strace", "-D", "-f", "-qq", "-y", "-o", str(self._trace), *self._paths())
        environment = {
            "PYTHONPATH": PLANTED_PATH,
            "CRASH_MEMTABLE_KB": str(_MEMTABLE_KB),
            "CRASH_VARIANT": self._load.variant,
        }
        process = WiderowProcess(
            *("--path", str(self._place), "--log-level", "critical"),
            launcher=(*launcher, "-e", f"trace={name}", "-e", inject),
            environment=environment,
        )
        try:
            process.start()
        except ServeFailed as failed:
            if "widerow: " not in str(failed):
                self._wrong(f"it died without a word: {failed}")
            return True
        begun = time.monotonic()
        try:
            self._crew.work(process.endpoint, Mark(strict=False), 0, self._load.requests)()
            self._probe(process.endpoint)
        finally:
            if time.monotonic() - begun > _SECONDS_MAX:
                self._wrong("it hung")
            process.stop()
        return False

    def _probe(self, endpoint: str) -> None:
        """After an outcome that is not known, no write may be taken."""
        open_end = "OTSServerUnavailable" in self._crew.codes
        if open_end and self._call.error not in _FULL and probe(endpoint) == 200:
            self._wrong("it took a write after a commit had failed")

    def _paths(self) -> list[str]:
        """The files of the store, those that it has and those that it may make."""
        names = [f"{number:06d}.log" for number in range(_NUMBERS)]
        if not self._load.logs_only:
            names += ("", "CURRENT", "IDENTITY", "LOCK", "LOG", "widerow-synced")
        for number in range(0 if self._load.logs_only else _NUMBERS):
            names += (f"{number:06d}.{suffix}" for suffix in ("sst", "dbtmp"))
            names += (f"{kind}-{number:06d}" for kind in ("MANIFEST", "OPTIONS"))
        return [word for name in names for word in ("-P", str(self._place / name).rstrip("/"))]

    def _compare(self) -> None:
        """What a server without faults finds."""
        try:
            with WiderowServer(self._place) as server:
                self._crew.verify(server.endpoint)
        except (WiderowError, ServerWrong) as error:
            self._wrong(f"{TABLE} cannot be read any more: {error}")
        for violation in self._crew.violations[:3]:
            self._wrong(f"{violation.kind} {violation.key} {violation.told}")

    def _wrong(self, told: str) -> None:
        self._report.wrong.append(f"{self._call}: {told}")
