"""What other users of the machine may read: nothing of a store, and of keys with a warning."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES, SEARCH_BODIES

from widerow.engine.tablestore.delivery.names import DeliveredFile
from widerow.server.delivery.files import DeliveryRoot
from widerow.storage.opener import open_store
from widerow.testing.process import WiderowProcess

KEYS = '[[key]]\nid = "widerow"\nsecret = "widerow"\n'


@pytest.fixture(autouse=True)
def usual_rights() -> Iterator[None]:
    """The rights that files get where nobody says anything else: everyone may read them."""
    former = os.umask(0o022)
    yield
    os.umask(former)


def open_to_others(folder: Path) -> list[Path]:
    """The files and directories, `folder` among them, that others have any right to."""
    found = []
    for each in (folder, *folder.rglob("*")):
        with suppress(FileNotFoundError):  # RocksDB deletes a file once it has merged it
            if each.stat().st_mode & 0o077:
                found.append(each)
    return found


@pytest.mark.parametrize("made", [False, True])
def test_nobody_else_may_read_a_store(tmp_path: Path, *, made: bool) -> None:
    """Not a file of it: the directory may be one that somebody made, and opens again."""
    data = tmp_path / "data"
    if made:
        data.mkdir(mode=0o755)
    sender = Sender()
    for _ in range(2):
        with WiderowProcess("--path", str(data)) as server, Wire(server.endpoint) as wire:
            for action, body in (
                ("CreateTable", BODIES["CreateTable"]("T")),
                ("CreateSearchIndex", SEARCH_BODIES["CreateSearchIndex"]("T")),
                ("PutRow", BODIES["PutRow"]("T")),
            ):
                wire.ask(sender.request(action, body))
            if made:
                data.chmod(0o755)  # the files by themselves are for nobody else
            assert [each for each in open_to_others(data) if each != data] == []
            assert made or open_to_others(data) == []
            assert "every user" not in server.written()
    assert len(list(data.iterdir())) > 5


def test_a_program_that_keeps_rows_itself_lets_nobody_in(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir(mode=0o755)
    for name in ("empty", "new"):
        open_store(f"rocksdb:{tmp_path / name}").close()
        assert tmp_path / name not in open_to_others(tmp_path)


def test_delivered_rows_are_for_their_owner(tmp_path: Path) -> None:
    file = DeliveredFile(("a", "b"), "name")
    with DeliveryRoot(tmp_path).draft("bucket", file) as draft:
        draft.sync()
        draft.publish()
    assert (tmp_path / "bucket/a/b/name").is_file()
    assert open_to_others(tmp_path / "bucket") == []


def test_a_store_that_everyone_may_read_is_told(tmp_path: Path) -> None:
    data = tmp_path / "data"
    open_store(f"rocksdb:{data}").close()
    for each in (data, *data.rglob("*")):
        each.chmod(0o755)
    with WiderowProcess("--path", str(data)) as server:
        told = server.written()
    assert "every user of this machine may read the store" in told
    assert str(data) in told


@pytest.mark.parametrize(("mode", "warns"), [(0o600, False), (0o640, False), (0o644, True)])
def test_a_file_of_keys_that_everyone_may_read_is_told_and_used(
    tmp_path: Path, mode: int, *, warns: bool
) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text(KEYS)
    keys.chmod(mode)
    with WiderowProcess("--memory", "--credentials", str(keys)) as server:
        with Wire(server.endpoint) as wire:
            assert wire.ask(Sender().request("ListTable")).status == 200
        told = server.written()
    warning = "every user of this machine may read a file of keys"
    warned = [line for line in told.splitlines() if warning in line]
    assert [str(keys) in line for line in warned] == [True] * warns
