"""The fixtures in suites of a user's own: plain, `unittest`, coroutines, several workers."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from widerow.testing.plugin import __all__ as fixtures

HEAD: Final = """
import asyncio
import unittest
import pytest
from tablestore import (
    CapacityUnit, Condition, OTSServiceError, ReservedThroughput, Row, RowExistenceExpectation,
    TableMeta, TableOptions,
)

def make(client):
    client.create_table(
        TableMeta("t", [("id", "INTEGER")]),
        TableOptions(time_to_live=60),
        ReservedThroughput(CapacityUnit(0, 0)),
    )

def put(client, number):
    row = Row([("id", number)], [("v", number)])
    client.put_row("t", row, Condition(RowExistenceExpectation.IGNORE))

def there(client, number):
    return client.get_row("t", [("id", number)])[1] is not None
"""


# Every test begins with nothing, in either order; the session's own data stays, so this is last.
ALONE: Final = """
@pytest.fixture(scope="module")
def shared(widerow_session):
    client = widerow_session.client()
    make(client)
    put(client, 7)
    return client

@pytest.mark.parametrize("number", [1, 2, 3])
def test_alone(tablestore_client, widerow_instance, number, shared):
    assert list(tablestore_client.list_table()) == []
    make(tablestore_client)
    put(tablestore_client, number)
    assert there(shared, 7)
    assert not there(shared, number)

def test_one_server(widerow_instance, widerow_session):
    assert widerow_instance.server is widerow_session
    assert widerow_session.instances() == {"test"}  # what tests made is gone

def test_own_server(widerow_server, widerow_instance, tablestore_client, widerow_session):
    assert widerow_server is not widerow_session
    assert widerow_instance.server is widerow_server
    assert widerow_server.instances() == frozenset()
    widerow_server.stop()
"""

# The clock goes back behind each test.
CLOCK: Final = """
import time

@pytest.mark.parametrize("round", [1, 2])
def test_clock(tablestore_client, widerow_clock, widerow_session, round):
    assert abs(widerow_clock.now_us() / 1e6 - time.time()) < 60
    assert not widerow_clock.running
    make(tablestore_client)
    put(tablestore_client, 1)
    widerow_clock.advance(59)
    assert there(tablestore_client, 1)
    widerow_clock.advance(1)
    assert not there(tablestore_client, 1)
    widerow_clock.set(1000)
    assert widerow_session.clock.now_us() == 1_000_000
    widerow_clock.run()
    before = widerow_clock.now_us()
    while widerow_clock.now_us() == before:
        pass
    widerow_clock.freeze()
    assert widerow_clock.now_us() == widerow_clock.now_us()
    widerow_clock.run()
"""

# Faults end with their test.
FAULTS: Final = """
@pytest.mark.parametrize("round", [1, 2])
def test_faults(tablestore_client, widerow_faults, widerow_session, round):
    make(tablestore_client)
    put(tablestore_client, 1)
    assert widerow_faults.all() == []
    number = widerow_faults.add("OTSServerBusy", action="GetRow")
    with pytest.raises(OTSServiceError, match="OTSServerBusy"):
        there(tablestore_client, 1)
    assert widerow_faults.struck(number) == 1
    assert list(widerow_session.client().list_table()) == []  # of another instance
    widerow_faults.remove(number)
    with pytest.raises(KeyError):
        widerow_faults.remove(number)
    with pytest.raises(Exception, match="probability: must be a number from 0 to 1"):
        widerow_faults.add("OTSServerBusy", probability=2)
    widerow_faults.add("OTSServerBusy")
"""

# An instance goes back to what was kept.
BACK: Final = """
def test_back(tablestore_client, widerow_instance):
    make(tablestore_client)
    put(tablestore_client, 1)
    widerow_instance.keep("one")
    put(tablestore_client, 2)
    widerow_instance.reset("one")
    assert [there(tablestore_client, n) for n in (1, 2)] == [True, False]
    widerow_instance.reset()
    assert list(tablestore_client.list_table()) == []
    with pytest.raises(Exception, match="snapshot: must be one of this instance's: one"):
        widerow_instance.reset("two")
"""

# Snapshots end with their test: a session may have more tests than a server has snapshots.
SNAPSHOTS: Final = """
@pytest.mark.parametrize("number", range(70))
def test_kept(tablestore_client, widerow_instance, number):
    make(tablestore_client)
    widerow_instance.keep("empty")
    widerow_instance.reset("empty")
"""

# Classes of unittest take the fixtures.
CLASSES: Final = """
class SessionTest(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _widerow(self, tablestore_client, widerow_clock):
        self.client, self.clock = tablestore_client, widerow_clock

    def setUp(self):
        make(self.client)

    def test_expiry(self):
        put(self.client, 1)
        self.clock.advance(60)
        self.assertFalse(there(self.client, 1))

    def test_nothing_is_left(self):
        self.assertFalse(there(self.client, 1))
"""

# The server has a loop of its own, so one that runs in the test is not in its way.
COROUTINES: Final = """
class AsyncTest(unittest.IsolatedAsyncioTestCase):
    @pytest.fixture(autouse=True)
    def _widerow(self, tablestore_client, widerow_instance, widerow_faults):
        self.client, self.instance = tablestore_client, widerow_instance
        self.faults = widerow_faults

    async def test_in_a_loop(self):
        make(self.client)
        await asyncio.gather(*[asyncio.to_thread(put, self.client, n) for n in range(5)])
        assert there(self.client, 4)
        self.instance.keep("five")
        self.faults.add("OTSServerBusy", action="GetRow", count=1)
        with self.assertRaisesRegex(OTSServiceError, "OTSServerBusy"):
            await asyncio.to_thread(there, self.client, 4)
        self.instance.reset("five")
        assert there(self.client, 4)
"""

SUITES: Final = {
    "test_back": BACK,
    "test_classes": CLASSES,
    "test_clock": CLOCK,
    "test_coroutines": COROUTINES,
    "test_faults": FAULTS,
    "test_snapshots": SNAPSHOTS,
    "test_z_alone": ALONE,
}


def suite(folder: Path, *options: str, **tests: str) -> str:
    """What pytest says of tests in a folder that knows nothing of this repository."""
    for name, text in tests.items():
        (folder / f"{name}.py").write_text(text)
    command = [sys.executable, "-W", "error", "-W", "ignore::ImportWarning", "-m", "pytest", "-ra"]
    done = subprocess.run(  # noqa: S603  # our own interpreter
        [*command, "-p", "no:cacheprovider", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_fixtures_do_what_the_guide_says(tmp_path: Path) -> None:
    said = suite(tmp_path, **{name: HEAD + tests for name, tests in SUITES.items()})
    assert "83 passed" in said


@pytest.mark.night
def test_each_worker_has_a_server(tmp_path: Path) -> None:
    tests = """
@pytest.mark.parametrize("number", range(6))
def test_alone(tablestore_client, widerow_clock, number):
    assert list(tablestore_client.list_table()) == []
    make(tablestore_client)
    put(tablestore_client, 1)
    widerow_clock.advance(60)
    assert not there(tablestore_client, 1)
"""
    assert "6 passed" in suite(tmp_path, "-n", "2", test_suite=HEAD + tests)


def test_without_the_sdk_a_test_is_skipped_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "tablestore.py").write_text("raise ImportError('not here')\n")
    tests = """
def test_client(tablestore_client):
    raise AssertionError

def test_no_client(widerow_instance):
    assert widerow_instance.endpoint.startswith("http://127.0.0.1:")
    assert widerow_instance.name
"""
    said = suite(tmp_path, test_suite=tests)
    assert "1 passed, 1 skipped" in said
    assert "pip install tablestore" in said


def test_fixtures_say_what_they_are(tmp_path: Path) -> None:
    said = suite(tmp_path, "--fixtures", "-p", "no:xdist")
    for name in fixtures:
        assert f"{name} " in said
