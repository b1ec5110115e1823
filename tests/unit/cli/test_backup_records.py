"""`widerow backup` and `restore` of records, as people type them (docs/operating/backup.md).

A store moves from a directory into PostgreSQL and back while servers write, and commands that are
killed are gone on with.
"""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from tests.postgres import fresh_url
from tests.support.forked import ForkedServer
from tests.support.http import Wire
from tests.unit.cli.test_backup import done, fill, get, put, run

from widerow.backups.notes import PROGRESS
from widerow.engine.check import check_store
from widerow.keys.layout import STORE_FORMAT_KEY
from widerow.storage.interface import Store
from widerow.storage.opener import open_store

ROWS: Final = 300
SMALL: Final = """
import sys
from widerow.backups import making, parts, restoring
making.PART_BYTES = parts.FRAME_BYTES = restoring.GROUP_BYTES = 400
from widerow.cli.main import run_program
sys.exit(run_program())
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a store, which no server has open."""
    folder = tmp_path_factory.mktemp("records") / "data"
    with ForkedServer("--path", str(folder)) as server:
        fill(server.endpoint, ROWS)
    return folder


def present(endpoint: str, numbers: set[int]) -> set[int]:
    with Wire(endpoint) as wire:
        return {each for each in numbers if b"value of" in wire.ask(get(each)).body}


@contextmanager
def writing(endpoint: str) -> Iterator[list[int]]:
    """The numbers of rows that a thread has put, once there are some; it goes on inside."""
    made: list[int] = []
    first, over = threading.Event(), threading.Event()

    def write() -> None:
        with Wire(endpoint) as wire:
            for number in range(1_000_000, 2_000_000):
                if over.is_set():
                    return
                assert wire.ask(put(number)).status == 200
                made.append(number)
                if len(made) == 50:
                    first.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert first.wait(30)
        yield made
    finally:
        over.set()
        writer.join()


@pytest.mark.night
def test_a_store_moves_into_a_database_and_back_while_servers_write(
    filled: Path, tmp_path: Path
) -> None:
    url = fresh_url()
    assert done(tmp_path, "restore", str(filled_copy(filled, tmp_path)), "--path", "data")["clean"]
    with (
        ForkedServer("--path", str(tmp_path / "data")) as server,
        writing(server.endpoint) as made,
    ):
        first = set(made) | set(range(ROWS))
        told = done(tmp_path, "backup", "there", "--records", "--path", "data")
        assert told["one_moment"] is True
    restored = done(tmp_path, "restore", "there", "--store", url)
    assert (restored["clean"], restored["digest"]) == (True, told["digest"])
    assert done(tmp_path, "doctor", "--store", url)["clean"] is True
    with ForkedServer("--store", url) as server:
        assert first == present(server.endpoint, first)
        with Wire(server.endpoint) as wire:
            assert wire.ask(put(5_000_000)).status == 200
        with writing(server.endpoint) as made:
            second = set(made) | {5_000_000} | first
            told = done(tmp_path, "backup", "back", "--store", url)
    assert told["one_moment"] is True
    assert done(tmp_path, "restore", "back", "--path", "again")["clean"] is True
    with ForkedServer("--path", str(tmp_path / "again")) as server:
        assert second == present(server.endpoint, second)


def filled_copy(filled: Path, folder: Path) -> Path:
    """A backup of the files of the filled store."""
    done(folder, "backup", "files", "--path", str(filled))
    return folder / "files"


def killed(until: Callable[[], bool], cwd: Path, *arguments: str) -> None:
    """Run the command with small parts, and kill it at a moment when `until` holds."""
    command = [sys.executable, "-c", SMALL, *arguments]
    with subprocess.Popen(command, cwd=cwd) as process:  # noqa: S603  # our own command
        while not until():
            assert process.poll() is None, "it came to its end"
        process.send_signal(signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL


def test_a_killed_backup_is_gone_on_with(filled: Path, tmp_path: Path) -> None:
    arguments = ("backup", "b", "--records", "--path", str(filled))
    notes = tmp_path / "b" / PROGRESS
    killed(lambda: notes.exists() and notes.read_bytes().count(b"\n") > 5, tmp_path, *arguments)
    ended = run(tmp_path, "restore", "b", "--path", "never")
    assert (ended.returncode, "not a finished backup" in ended.stderr) == (2, True)
    before = sorted((tmp_path / "b" / "data").iterdir())[:4]
    content = [each.read_bytes() for each in before]
    assert done(tmp_path, *arguments)["one_moment"] is False
    assert [each.read_bytes() for each in before] == content
    assert not notes.exists()
    assert done(tmp_path, "restore", "b", "--path", "again")["clean"] is True
    with ForkedServer("--path", str(tmp_path / "again")) as server:
        assert len(present(server.endpoint, set(range(ROWS)))) == ROWS


@pytest.mark.night
def test_a_killed_restore_is_refused_by_servers_and_gone_on_with(
    filled: Path, tmp_path: Path
) -> None:
    url = fresh_url()
    done(tmp_path, "backup", "b", "--records", "--path", str(filled))
    with open_store(url) as store:
        killed(lambda: state(store).get("done", 0) >= 1, tmp_path, "restore", "b", "--store", url)
        assert state(store)
    ended = run(tmp_path, "serve", "--port", "0", "--store", url)
    assert ended.returncode == 2
    assert "run widerow restore again" in ended.stderr
    ended = run(tmp_path, "backup", "of-it", "--store", url)
    assert (ended.returncode, "run widerow restore again" in ended.stderr) == (2, True)
    assert done(tmp_path, "restore", "b", "--store", url)["clean"] is True
    with open_store(url) as store:
        assert check_store(store) == []
    with ForkedServer("--store", url) as server:
        assert len(present(server.endpoint, set(range(ROWS)))) == ROWS


def state(store: Store) -> dict[str, Any]:
    """How far a restore into the store has come; empty: none is under way."""
    found = store.snapshot().get(STORE_FORMAT_KEY) or b""
    at = found.find(b"{")
    state: dict[str, Any] = json.loads(found[at:]) if at >= 0 else {}
    return state


def test_a_checked_backup_of_records_leaves_nothing(filled: Path, tmp_path: Path) -> None:
    done(tmp_path, "backup", "b", "--records", "--path", str(filled))
    before = sorted(tmp_path.iterdir())
    for target in (("--path", "new"), ("--store", "postgresql://nobody@192.0.2.1/none")):
        ended = run(tmp_path, "restore", "b", "--check", *target)
        assert "is whole; every record was verified" in ended.stdout
        assert sorted(tmp_path.iterdir()) == before


def test_files_of_an_embedded_store_are_not_restored_into_a_database(
    filled: Path, tmp_path: Path
) -> None:
    made = filled_copy(filled, tmp_path)
    ended = run(tmp_path, "restore", str(made), "--store", "postgresql://nobody@192.0.2.1/none")
    assert ended.returncode == 2
    assert "make a backup of that with --records" in ended.stderr


def test_a_database_that_holds_a_store_is_not_overwritten(filled: Path, tmp_path: Path) -> None:
    url = fresh_url()
    done(tmp_path, "backup", "b", "--records", "--path", str(filled))
    done(tmp_path, "restore", "b", "--store", url)
    ended = run(tmp_path, "restore", "b", "--store", url)
    assert ended.returncode == 2
    assert "the store is not empty" in ended.stderr
