"""Programs written with SDKs of other languages: run once on each store, judged by many tests.

A program uses a `widerow serve` of its own and prints what it saw as one JSON object, from the
names of scenarios to facts. The workers of a parallel run share what it printed: the first one that
asks builds and runs it, the others wait.
"""

import fcntl
import json
import os
import subprocess
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pytest
from tests import hbase as cluster
from tests.compat.recording import FOLDER, record_requests
from tests.postgres import fresh_url
from tests.support.forked import ForkedServer

from widerow.testing.process import ServeFailed

pytest.register_assert_rewrite(
    "tests.compat.changes",
    "tests.compat.consumers",
    "tests.compat.series",
    "tests.compat.statements",
)

Facts = dict[str, Any]
Build = Callable[[Path], list[str]]

SPLITTING: Final = (
    *("--partition-split-units", "20"),
    *("--partition-hot-seconds", "1"),
    *("--partitions-max", "4"),
)
"""Flags of a server that splits a table after a second of writes, and not without end."""

LOG: Final = "server.log"
"""The file beside what a program printed: the log of its server."""

_LOG_CHARACTERS: Final = 20_000
"""So much of its end stands in the report of a test that fails."""

_PLACES: Final[dict[tuple[str, str], Path]] = {}
"""Of the programs that tests of this process have asked for: by name and store."""

# A program takes some seconds, and a machine under load takes longer.
RUN_SECONDS_MAX: Final = 900

STORES: Final[Mapping[str, Callable[[Path], tuple[str, str]]]] = MappingProxyType(
    {
        "rocksdb": lambda place: ("--path", str(place / "store")),
        "postgres": lambda _: ("--store", fresh_url()),
        "hbase": lambda _: ("--store", cluster.fresh_url()),
    }
)
"""The flags of a server with an empty store of each kind. They skip where there can be none."""

SHARED: Final = frozenset(("postgres", "hbase"))

_LATER: Final = "entries of global indexes follow their rows later"
# Tests, or parts of one, of what is not so where several servers can share a store.
NOT_SHARED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "test_entries_move_with_their_rows": _LATER,
        "test_a_small_table_is_indexed_when_create_index_answers": "the build follows later",
        "test_a_read_of_an_index_costs_what_its_entries_weigh": _LATER,
        "check_indexes_are_read": _LATER,
        "check_entries_follow_their_rows": _LATER,
        "check_indexes_made_later": _LATER,
    }
)


if FOLDER in os.environ:
    record_requests(Path(os.environ[FOLDER]))


SESSION: Final = frozenset(
    (
        "test_a_failed_row_does_not_stop_the_others",
        "test_every_type_comes_back_as_it_went",
        "test_options_are_kept_and_changed_at_once",
        "test_reads_take_repeated_keys_filters_and_columns",
        "test_rows_come_in_the_order_of_their_keys",
        "test_update_puts_deletes_and_increments",
    )
)
"""Tests of the Python SDK that `make test` runs over every store and in every way."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests run over RocksDB; over the other stores, but for a short session, in the night.

    The first test over a database may have to start it, to fetch it, and to run a program.
    """
    for item in items:
        store = _store_of(item)
        if store in SHARED:
            item.add_marker(pytest.mark.timeout(cluster.START_SECONDS + RUN_SECONDS_MAX))
        if store not in (None, "rocksdb") and item.name.partition("[")[0] not in SESSION:
            item.add_marker(pytest.mark.night)


def _store_of(item: pytest.Item) -> str | None:
    """That of a program, of the Python client, or of its table of a thousand rows."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return None
    named = (callspec.params.get(name) for name in ("store", "ots", "thousand"))
    return next((name for name in named if name), None)


@pytest.fixture(autouse=True)
def _offered(request: pytest.FixtureRequest) -> None:
    """Skip what is not so on a shared store (docs/operating/cluster.md)."""
    if _store_of(request.node) in SHARED:
        given = [getattr(each, "__name__", "") for each in request.node.callspec.params.values()]
        names = (request.node.originalname, request.node.path.stem, *given)
        if why := next((NOT_SHARED[name] for name in names if name in NOT_SHARED), None):
            pytest.skip(f"on a shared store {why}")


@pytest.fixture(
    scope="session",
    params=["rocksdb", "postgres", "hbase"],
)
def store(request: pytest.FixtureRequest) -> str:
    """Which of `STORES` the programs are run on."""
    return str(request.param)


@pytest.fixture(scope="session")
def run_program(store: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Facts]:
    """Run what `build` returns, once: the command of a program, to be given endpoint and instance.

    `build` gets an empty directory and skips where what it needs is not there. Behind it stand the
    flags of the server.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def run(name: str, build: Build, *flags: str) -> Facts:
        place = shared / f"program-{name}-{store}"
        place.mkdir(exist_ok=True)
        _PLACES[name, store] = place
        record = place / "outcome.json"
        with locked(place / "lock"):
            if not record.exists():
                record.write_text(json.dumps(outcome(build, place, store, flags)))
        found: dict[str, Facts] = json.loads(record.read_text())
        if "skipped" in found:
            pytest.skip(str(found["skipped"]))
        if "failed" in found:
            pytest.fail(str(found["failed"]), pytrace=False)
        return found["seen"]

    return run


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails shows the logs of the servers whose answers it judges."""
    report = yield
    if report.failed:
        for (name, store), place in _PLACES.items():
            log = place / LOG
            if store == _store_of(item) and name.startswith(item.path.parent.name) and log.exists():
                report.sections.append((f"server of {name}", log.read_text()[-_LOG_CHARACTERS:]))
    return report


@contextmanager
def _kept_log(server: ForkedServer, path: Path) -> Iterator[None]:
    try:
        yield
    finally:
        path.write_text(server.written())


@contextmanager
def locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def outcome(build: Build, place: Path, store: str, flags: Sequence[str]) -> dict[str, Any]:
    """What the workers share: what the program saw, or why there is nothing."""
    work = place / "work"
    work.mkdir()
    try:
        command = build(work)
        files = place / "files"
        files.mkdir()
        given = (*STORES[store](place), "--delivery-root", str(files), *flags)
        with ForkedServer(*given) as server, _kept_log(server, place / LOG):
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
