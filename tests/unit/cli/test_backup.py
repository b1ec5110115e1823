"""`widerow backup` and `widerow restore` as people type them (docs/operating/backup.md)."""

import json
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from click.testing import CliRunner
from tests.support.buffers import cell, row_buffer
from tests.support.forked import ForkedServer, run_forked
from tests.support.http import Sender, Wire
from tests.support.requests import ANY, create_table_request, get_row_request

from widerow.cli import backup
from widerow.cli.main import app
from widerow.engine.check import check_store
from widerow.engine.digest import store_digest
from widerow.errors import WiderowError
from widerow.storage.backup import BackupFailed
from widerow.storage.interface import Transaction
from widerow.storage.opener import open_store
from widerow.wire.tablestore import messages as m

TABLE: Final = "T"
SENDER: Final = Sender()


def run(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_forked(*arguments, cwd=cwd, timeout=50)


def done(cwd: Path, *arguments: str) -> dict[str, Any]:
    """What a command that succeeds prints as JSON."""
    ended = run(cwd, *arguments, "--json")
    assert (ended.returncode, ended.stderr) == (0, "")
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def put(number: int) -> bytes:
    """A PutRow request for the row of a number, which holds the number once more."""
    row = row_buffer((("k", f"{number:07}"), ("n", number)), [cell("c", f"value of {number}")])
    message = m.PutRowRequest(table_name=TABLE, row=row, condition=ANY)
    return SENDER.request("PutRow", message.SerializeToString())


def get(number: int) -> bytes:
    message = get_row_request(TABLE)
    message.primary_key = row_buffer((("k", f"{number:07}"), ("n", number)))
    return SENDER.request("GetRow", message.SerializeToString())


def fill(endpoint: str, count: int) -> None:
    with Wire(endpoint) as wire:
        create = create_table_request(TABLE).SerializeToString()
        assert wire.ask(SENDER.request("CreateTable", create)).status == 200
        for number in range(count):
            assert wire.ask(put(number)).status == 200


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the store `data`, which no server has open."""
    folder = tmp_path_factory.mktemp("filled")
    with ForkedServer("--path", str(folder / "data")) as server:
        fill(server.endpoint, 50)
    return folder


@pytest.fixture
def folder(filled: Path, tmp_path: Path) -> Iterator[Path]:
    """The same for one test, whose store is the same afterwards."""
    before = digest(filled / "data")
    (tmp_path / "data").symlink_to(filled / "data")
    yield tmp_path
    assert digest(filled / "data") == before


def digest(directory: Path) -> str:
    with open_store(str(directory)) as store:
        return store_digest(store.snapshot())


def test_a_restored_store_holds_the_same_to_the_byte(folder: Path) -> None:
    told = done(folder, "backup", "b", "--path", "data")
    assert told["online"] is False
    restored = done(folder, "restore", "b", "--path", "again")
    assert restored["clean"] is True
    assert restored["digest"] == told["digest"]
    assert digest(folder / "again") == digest(folder / "data")
    printed = [done(folder, "doctor", "--digest", "--path", name) for name in ("data", "again")]
    assert printed[0]["digest"] == printed[1]["digest"] == digest(folder / "again")


def put_pair(key: bytes, value: bytes, inside: Transaction) -> None:
    inside.put(key, value)


def test_a_digest_tells_stores_apart(tmp_path: Path) -> None:
    seen = set()
    for number, pairs in enumerate(([], [(b"", b"")], [(b"a", b"")], [(b"", b"a")])):
        with open_store(str(tmp_path / str(number))) as store:
            for key, value in pairs:
                at = b"\x10s" + key
                store.transact((at,), partial(put_pair, at, value))
            seen.add(store_digest(store.snapshot()))
    assert len(seen) == 4


def test_a_backup_under_load_has_all_that_was_acknowledged_before(tmp_path: Path) -> None:
    acknowledged: list[int] = []
    stop = threading.Event()
    first = threading.Event()

    def write(endpoint: str, start: int) -> None:
        with Wire(endpoint) as wire:
            for number in range(start, start + 100_000):
                if stop.is_set():
                    return
                assert wire.ask(put(number)).status == 200
                acknowledged.append(number)
                if len(acknowledged) > 200:
                    first.set()

    with ForkedServer("--path", str(tmp_path / "data")) as server:
        fill(server.endpoint, 0)
        writers = [
            threading.Thread(target=write, args=(server.endpoint, number * 1_000_000))
            for number in range(2)
        ]
        for writer in writers:
            writer.start()
        try:
            assert first.wait(timeout=30)
            before = set(acknowledged)
            told = done(tmp_path, "backup", "b", "--path", "data")
            during = len(acknowledged) - len(before)
        finally:
            stop.set()
            for writer in writers:
                writer.join()
        assert told["online"] is True
        assert during > 0, "writes stood still during the backup"
        assert done(tmp_path, "restore", "b", "--path", "again")["clean"] is True
    everyone = set(acknowledged)
    with ForkedServer("--path", str(tmp_path / "again")) as server, Wire(server.endpoint) as wire:
        found = {each for each in everyone if b"value of" in wire.ask(get(each)).body}
    assert before <= found <= everyone
    # Each writer's rows are there up to some moment, and none behind it.
    for start in (0, 1_000_000):
        mine = sorted(each for each in found if start <= each < start + 1_000_000)
        assert mine == list(range(start, start + len(mine)))
    assert not list((tmp_path / "data").glob("backup-*"))


def test_a_checked_backup_leaves_nothing(folder: Path) -> None:
    done(folder, "backup", "b", "--path", "data")
    before = sorted(folder.iterdir())
    told = run(folder, "restore", "b", "--check")
    assert told.returncode == 0
    assert "is whole; every record was verified" in told.stdout
    assert sorted(folder.iterdir()) == before


def test_a_backup_of_a_damaged_store_is_found_out(folder: Path, tmp_path: Path) -> None:
    done(folder, "restore", str(make_backup(folder)), "--path", "spoilt")
    with open_store(str(tmp_path / "spoilt")) as store:
        key, record = next(iter(store.snapshot().scan(b"\x10", b"\x11")))
        store.transact((key,), lambda inside: inside.put(key, record[:-1]))
        assert check_store(store)
    done(folder, "backup", "b2", "--path", "spoilt")
    ended = run(folder, "restore", "b2", "--path", "never")
    assert ended.returncode == 1
    assert "the store in it is damaged" in ended.stderr
    assert not (folder / "never").exists()


def make_backup(folder: Path) -> Path:
    done(folder, "backup", "made", "--path", "data")
    return folder / "made"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("backup", "b", "--path", "absent"), "there is no store at absent"),
        (("backup", "b", "--store", "memory:"), "a store in memory has no directory"),
        (("backup", "data/inside", "--path", "data"), "lies inside the store"),
        (("backup", "file", "--path", "data"), "file exists"),
        (("backup", "link", "--path", "data"), "link exists"),
        (("backup", "no/where/b", "--path", "data"), "cannot create no/where/b"),
        (("restore", "file", "--path", "new"), "cannot read the backup file"),
        (("restore", "data", "--path", "new"), "not a finished backup"),
        (("restore", "made", "--path", "data"), "data exists"),
        (("restore", "made", "--path", "link"), "link exists"),
        (("restore", "made", "--path", "file/in/the/way"), "cannot create"),
        (("restore", "made", "--path", "no/where/new"), "there is no directory no/where"),
        (("restore", "made", "--path", "no/where", "--check"), "there is no directory no"),
        (("restore", "absent", "--path", "no/where"), "there is no backup at absent"),
        (("backup", "b", "--path", "."), "there is no store at . (it holds other files)"),
        (("doctor", "--path", "absent"), "there is no store at absent (there is no such"),
        (("doctor", "--path", "file"), "there is no store at file (it is not a directory)"),
        (("doctor", "--path", "."), "there is no store at . (it holds other files)"),
        (("doctor", "--path", "empty"), "there is no store at empty (it is empty)"),
        (("partitions", "t", "--path", "empty"), "there is no store at empty (it is empty)"),
        (("advise", "keys", "--table", "t", "--path", "empty"), "there is no store at empty"),
    ],
)
def test_what_does_not_work_is_one_line_and_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    """As a process, such an error is a line and exit code 2: test_commands.py."""
    (folder / "file").write_text("")
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("nowhere")
    if "made" in arguments:
        make_backup(folder)
    before = sorted(folder.rglob("*"))
    monkeypatch.chdir(folder)
    ended = CliRunner().invoke(app, arguments)
    assert isinstance(ended.exception, WiderowError)
    said = str(ended.exception)
    assert words in said
    assert "\n" not in said
    assert ended.output == ""
    assert sorted(folder.rglob("*")) == before


def test_a_disk_without_room_is_said_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = make_backup(folder)
    monkeypatch.setattr(backup, "free_bytes", lambda _: 1024)
    with pytest.raises(BackupFailed, match="make room"):
        backup.restore_store(made, {"path": str(folder / "new"), "check": False, "as_json": False})
    assert capsys.readouterr().out == ""
    assert not (folder / "new").exists()


def test_a_backup_cannot_be_served_by_mistake(folder: Path) -> None:
    made = make_backup(folder)
    ended = run(folder, "serve", "--port", "0", "--path", str(made))
    assert ended.returncode == 2
    assert "not a widerow store" in ended.stderr
    assert done(folder, "restore", str(made), "--path", "again")["clean"] is True
