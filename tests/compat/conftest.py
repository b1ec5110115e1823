"""Programs written with SDKs of other languages: run once, judged by many tests.

A program uses a `widerow serve` of its own on RocksDB and prints what it saw as one JSON object,
from the names of scenarios to facts. The workers of a parallel run share what it printed: the
first one that asks builds and runs it, the others wait.
"""

import fcntl
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from widerow.testing.process import ServeFailed, WiderowProcess

pytest.register_assert_rewrite("tests.compat.changes", "tests.compat.consumers")

Facts = dict[str, Any]
Build = Callable[[Path], list[str]]

SPLITTING: Final = (
    *("--partition-split-units", "50"),
    *("--partition-hot-seconds", "1"),
    *("--partitions-max", "4"),
)
"""Flags of a server that splits a table after a second of writes, and not without end."""

RUN_SECONDS_MAX: Final = 120  # a program takes one or two; a machine under load takes longer


@pytest.fixture(scope="session")
def run_program(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Facts]:
    """Run what `build` returns, once: the command of a program, to be given endpoint and instance.

    `build` gets an empty directory and skips where what it needs is not there. Behind it stand the
    flags of the server.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def run(name: str, build: Build, *flags: str) -> Facts:
        place = shared / f"program-{name}"
        place.mkdir(exist_ok=True)
        record = place / "outcome.json"
        with locked(place / "lock"):
            if not record.exists():
                record.write_text(json.dumps(outcome(build, place, flags)))
        found: dict[str, Facts] = json.loads(record.read_text())
        if "skipped" in found:
            pytest.skip(str(found["skipped"]))
        if "failed" in found:
            pytest.fail(str(found["failed"]), pytrace=False)
        return found["seen"]

    return run


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def outcome(build: Build, place: Path, flags: Sequence[str]) -> dict[str, Any]:
    """What the workers share: what the program saw, or why there is nothing."""
    work = place / "work"
    work.mkdir()
    try:
        command = build(work)
        files = place / "files"
        files.mkdir()
        given = ("--path", str(place / "store"), "--delivery-root", str(files), *flags)
        with WiderowProcess(*given) as server:
            ran = subprocess.run(  # noqa: S603  # our own program
                [*command, server.endpoint, "compat"],
                capture_output=True,
                text=True,
                timeout=RUN_SECONDS_MAX,
                check=True,
            )
        return {"seen": json.loads(ran.stdout)}
    except pytest.skip.Exception as why:
        return {"skipped": str(why)}
    except (subprocess.SubprocessError, ServeFailed) as error:
        said = getattr(error, "stderr", None) or getattr(error, "output", None) or ""
        return {"failed": f"{error}\n{said}"}
