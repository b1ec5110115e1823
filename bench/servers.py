"""The servers that are measured as processes, and what the system says they use. Linux only."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.support.http import Wire

_QUIET_SECONDS: Final = 1.0
_SETTLE_SECONDS_MAX: Final = 180.0
_QUIET_SHARE: Final = 0.03  # of a core: the server looks for something to do a few times a second
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_RESIDENT: Final = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)
_COUNTER: Final = re.compile(r"^widerow_(\w+_total) (\d+)$", re.MULTILINE)
_METRICS: Final = b"GET /metrics HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


class Place(NamedTuple):
    """Where a server answers, and the process whose tree does the work."""

    endpoint: str
    process: int


def processor_seconds(process: int) -> float:
    """What a process, its threads and all its children have used, those that ended included."""
    ticks, waiting = 0, [process]
    while waiting:
        each = waiting.pop()
        try:
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            children = Path(f"/proc/{each}/task/{each}/children").read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended meanwhile; its parent has what it used
        ticks += sum(map(int, fields[11:15]))  # its own and of children it waited for
        waiting += map(int, children)
    return ticks / _TICKS


def settle(process: int) -> None:
    """Wait until a server that nobody asks has ended what it does by itself: compactions mostly.

    One that is not quiet after `_SETTLE_SECONDS_MAX` is measured as it is, and that is said.
    """
    ends = time.monotonic() + _SETTLE_SECONDS_MAX
    while time.monotonic() < ends:
        before = processor_seconds(process)
        time.sleep(_QUIET_SECONDS)
        if processor_seconds(process) - before <= _QUIET_SECONDS * _QUIET_SHARE:
            return
    print(f"process {process} is still busy; measured as it is", file=sys.stderr)


def resident_mebibytes(process: int) -> float:
    """What a process holds in memory now."""
    found = _RESIDENT.search(Path(f"/proc/{process}/status").read_text())
    assert found is not None, "the kernel says how much"
    return int(found[1]) / 1024


def counters(endpoint: str) -> dict[str, int]:
    """The counters without labels on widerow's metrics page, such as `commits_total`."""
    with Wire(endpoint) as wire:
        page = wire.ask(_METRICS).body.decode()
    return {name: int(value) for name, value in _COUNTER.findall(page)}


@contextmanager
def echo_server(log: Path | None = None) -> Iterator[Place]:
    """Widerow's listener with nothing behind it but, if given, a log to append to: `echo.py`."""
    program = Path(__file__).with_name("echo.py")
    command = [sys.executable, str(program), *([str(log)] if log else [])]
    with subprocess.Popen(  # noqa: S603  # our own program
        command, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = dict(each.split("=", 1) for each in process.stdout.readline().split())
        try:
            yield Place(said["endpoint"], int(said["pid"]))
        finally:
            process.terminate()
